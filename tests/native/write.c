/* SPDX-License-Identifier: MIT */
/* Writes native files of every kind into the directory it runs in, and says of each, a line of
 * JSON: what the library knows of it, and what it answers to the keys on standard input
 * (hexadecimal, a line each; every other one is added). Uses public headers only. */
#include <bloomery.h>
#include <bloomery/fixed.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 4000u

static struct {
    uint8_t data[2100];
    size_t  len;
} keys[MOST];
static unsigned key_count;

static void must(bool truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "FAILED: %s\n", what);
        exit(1);
    }
}

static void read_keys(void)
{
    static char line[4400];
    while (fgets(line, sizeof line, stdin)) {
        must(key_count < MOST, "too many keys");
        size_t n = 0;
        for (char *p = line; p[0] > ' ' && p[1] > ' '; p += 2) {
            unsigned v;
            must(sscanf(p, "%2x", &v) == 1, "hexadecimal");
            keys[key_count].data[n++] = (uint8_t)v;
        }
        keys[key_count++].len = n;
    }
}

static void add_some(blm_filter *f, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i += 2)
        must(blm_add(f, keys[i].data, keys[i].len) >= 0, "add");
}

static void report(const char *name, const blm_filter *f)
{
    blm_stats s = { .size = sizeof s };
    must(blm_get_stats(f, &s) == BLM_OK, "stats");
    printf(
        "{\"file\": \"%s\", \"kind\": \"%s\", \"hash\": \"%s\", \"layers\": %u, \"bits\": %" PRIu64
        ", \"items\": %" PRIu64 ", \"ones\": %" PRIu64 ", \"rate\": %.17g, \"answers\": [",
        name, blm_kind_name(s.params.kind), s.params.hash, s.params.layers, s.params.bits,
        s.params.items, s.ones, s.params.rate);
    for (unsigned i = 0; i < key_count; i++)
        printf("%s%s", i ? ", " : "", blm_check(f, keys[i].data, keys[i].len) ? "true" : "false");
    printf("]}\n");
}

static void saved(const char *name, blm_options o)
{
    blm_filter *f;
    blm_error   e = { .text = "" };
    must(blm_create(&o, &f, &e) == BLM_OK, e.text);
    add_some(f, 0, key_count);
    if (o.kind == BLM_COUNTING || o.kind == BLM_CUCKOO)
        for (unsigned i = 0; i < key_count / 2; i += 4)
            must(blm_remove(f, keys[i].data, keys[i].len) == BLM_OK, "remove");
    must(blm_save(f, name, NULL, BLM_REPLACE, &e) == BLM_OK, e.text);
    report(name, f);
    blm_free(f);
}

/* Built at once; of the keys that are not in, a cascade is told as many as are to be excluded. */
static void built(const char *name, blm_options o, unsigned excluded)
{
    blm_builder *b;
    blm_filter  *f;
    blm_error    e = { .text = "" };
    must(blm_builder_new(&o, &b, &e) == BLM_OK, e.text);
    for (unsigned i = 0; i < key_count; i++) {
        blm_key k = { keys[i].data, keys[i].len };
        if (i % 2 == 0)
            must(blm_builder_add(b, &k, 1) == BLM_OK, "add");
        else if (i / 2 < excluded && k.len > 3) /* short keys may be in both lists */
            must(blm_builder_exclude(b, &k, 1) == BLM_OK, "exclude");
    }
    must(blm_builder_build(b, &f, &e) == BLM_OK, e.text);
    blm_builder_free(b);
    must(blm_save(f, name, NULL, BLM_REPLACE, &e) == BLM_OK, e.text);
    report(name, f);
    blm_free(f);
}

/* The plain copy of a counting filter. */
static void reduced(const char *name, blm_options o)
{
    blm_filter *f, *g;
    blm_error   e = { .text = "" };
    must(blm_create(&o, &f, &e) == BLM_OK, e.text);
    add_some(f, 0, key_count);
    must(blm_reduce(f, &g, &e) == BLM_OK, e.text);
    must(blm_save(g, name, NULL, BLM_REPLACE, &e) == BLM_OK, e.text);
    report(name, g);
    blm_free(f);
    blm_free(g);
}

/* Made as a file, changed, and closed, left open (the process ends without a word), or cleared. */
static void mapped(const char *name, blm_options o, char end)
{
    blm_filter *f;
    blm_error   e    = { .text = "" };
    unsigned    half = key_count / 4 * 2;
    must(blm_create_file(name, &o, &f, &e) == BLM_OK, e.text);
    add_some(f, 0, half);
    must(blm_sync(f, &e) == BLM_OK, e.text);
    if (end == 'c')
        must(blm_clear(f) == BLM_OK, "clear");
    add_some(f, half, key_count);
    report(name, f);
    if (end != 'd')
        must(blm_close(f, &e) == BLM_OK, e.text);
}

int main(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    read_keys();
    o.flags   = BLM_SEEDED;
    o.seed[0] = 0x0123456789abcdef;
    o.seed[1] = 0xfedcba9876543210;
    o.items   = key_count / 2;
    o.rate    = 0.02;
    saved("classic.blm", o);
    o.version = 1;
    saved("classic-version-1.blm", o);
    o.version = 0;
    o.rate    = 0.001;
    o.hash    = BLM_HASH_SIPHASH;
    saved("classic-siphash.blm", o);
    o.hash = BLM_HASH_XXH3;
    o.kind = BLM_BLOCKED;
    o.rate = 0.02;
    for (o.lines = 1; o.lines <= 3; o.lines++) {
        char name[32];
        snprintf(name, sizeof name, "blocked-%u.blm", o.lines);
        saved(name, o);
    }
    o.lines = 0;
    o.rate  = 0.001; /* all eight words of a line */
    saved("blocked-full.blm", o);
    o.kind = BLM_COUNTING;
    o.rate = 0.02;
    saved("counting.blm", o);
    o.lines = 3;
    saved("counting-3.blm", o);
    o.lines = 0;
    reduced("plain.blm", o);
    o.kind  = BLM_SCALABLE;
    o.items = key_count / 16;
    saved("scalable.blm", o);
    o.layer_classic = true;
    mapped("scalable-mapped.blm", o, 'k');
    mapped("scalable-cleared.blm", o, 'c');
    mapped("scalable-died.blm", o, 'd');
    o.layer_classic = false;
    o.kind          = BLM_WINDOW;
    o.items         = key_count / 2;
    saved("window-number.blm", o);
    o.slack = 0.05;
    saved("window-fine.blm", o);
    o.slack     = 0;
    o.window_ms = 86400000;
    saved("window-day.blm", o);
    mapped("window-mapped.blm", o, 'k');
    mapped("window-died.blm", o, 'd');
    o.window_ms = 0;
    o.items     = key_count / 6; /* half of the keys are forgotten */
    saved("window-forgets.blm", o);
    o.kind  = BLM_CUCKOO;
    o.items = key_count / 2;
    for (o.rate = 0.02; o.rate > 1e-7; o.rate /= 100) {
        char name[32];
        snprintf(name, sizeof name, "cuckoo-%.0f.blm", -log10(o.rate));
        saved(name, o);
    }
    o.rate = 0.02;
    mapped("cuckoo-mapped.blm", o, 'k');
    mapped("cuckoo-died.blm", o, 'd');
    o.growth = 2;
    o.items  = key_count / 16;
    saved("cuckoo-grown.blm", o);
    mapped("cuckoo-grown-mapped.blm", o, 'k');
    o.growth = 0;
    o.items  = 0;
    o.kind   = BLM_STATIC;
    for (o.rate = 0.3; o.rate > 1e-9; o.rate /= 7) {
        char name[32];
        snprintf(name, sizeof name, "static-%.0f.blm", -10 * log10(o.rate));
        built(name, o, 0);
    }
    o.kind = BLM_CASCADE;
    o.rate = 0;
    built("cascade-one-level.blm", o, 100);
    o.rate = 0.01;
    built("cascade.blm", o, key_count);
    o.rate = 0;
    built("cascade-all.blm", o, key_count);
    blm_options large = BLM_OPTIONS_INIT;
    large.flags       = BLM_SEEDED;
    large.bits        = 4 * 65536 * 8 - 1000;
    large.probes      = 5;
    mapped("large.blm", large, 'k');
    mapped("large-died.blm", large, 'd');
    large.flags |= BLM_SHARED;
    mapped("shared-died.blm", large, 'd');
    fflush(stdout);
    _exit(0); /* those that died are not closed */
}
