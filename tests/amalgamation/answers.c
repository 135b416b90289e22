/* SPDX-License-Identifier: MIT */
/* Prints what the library answers, over every kind, hash and way to ask, from fixed seeds: two
 * builds of one library print the same, on any machine. Leaves KIND.blm behind for each kind; given
 * such files, prints their answers instead. Uses public headers only. */
#include <bloomery.h>
#ifndef BLOOMERY_MATHS_H /* the two-file form has all headers in one */
#include <bloomery/embed.h>
#include <bloomery/maths.h>
#endif
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS 3000u

static void must(bool truth, const char *what)
{
    if (!truth) {
        printf("FAILED: %s\n", what);
        exit(1);
    }
}

/* Keys of 0 to 300 bytes, all byte values: every path of the hash. */
static size_t key_of(uint32_t i, uint8_t *out)
{
    uint32_t x = i * 2654435761u + 12345;
    for (size_t j = 0; j < 300; j++) {
        x      = x * 1664525u + 1013904223u;
        out[j] = (uint8_t)(x >> 24);
    }
    return i % 301;
}

static void put_stats(const blm_filter *f)
{
    blm_stats s = { .size = sizeof s };
    uint8_t   mark[16];
    must(blm_get_stats(f, &s) == BLM_OK, "stats");
    must(blm_fingerprint(f, mark) == BLM_OK, "fingerprint");
    printf("  %s %s bits %" PRIu64 " probes %u lines %u layers %u items %" PRIu64 " ones %" PRIu64
           " rate %.9g estimated %.9g\n  fingerprint ",
           blm_kind_name(s.params.kind), s.params.hash, s.params.bits, s.params.probes,
           s.params.lines, s.params.layers, s.params.items, s.ones, s.rate_now, s.estimated.value);
    for (int i = 0; i < 16; i++)
        printf("%02x", mark[i]);
    printf("\n");
}

static void put_answers(const blm_filter *f)
{
    uint8_t  key[300];
    uint64_t pos[64], seen = 0, maybe = 0;
    size_t   count;
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        size_t len = key_of(i, key);
        if (blm_check(f, key, len)) {
            maybe++;
            seen = seen * 31 + i;
        } else {
            must(i >= KEYS, "a key that was added is there");
        }
    }
    must(blm_positions(f, "position", 8, pos, 64, &count) == BLM_OK, "positions");
    printf("  maybe %" PRIu64 " (%016" PRIx64 "), positions", maybe, seen);
    for (size_t i = 0; i < count && i < 64; i++)
        printf(" %" PRIu64, pos[i]);
    blm_trial t = { .size = sizeof t };
    must(blm_try_rate(f, NULL, 20000, 1, &t, NULL) == BLM_OK, "a rate that is tried");
    printf(", %" PRIu64 " of 20000 random keys\n", t.hits);
}

static size_t fill(void *ctx, void *bytes, size_t len) /* blm_read_fn over a FILE */
{
    return fread(bytes, 1, len, ctx);
}

static bool drain(void *ctx, const void *bytes, size_t len)
{
    return fwrite(bytes, 1, len, ctx) == len;
}

/* Through a stream and through a file, and still the same filter. */
static void travel(const blm_filter *f, blm_kind kind)
{
    char        path[32];
    blm_filter *back = NULL;
    blm_error   err  = { .text = "" };
    FILE       *tmp  = tmpfile();
    must(tmp && blm_encode(f, NULL, drain, tmp, &err) == BLM_OK, err.text);
    rewind(tmp);
    must(blm_decode_stream(fill, tmp, NULL, &back, &err) == BLM_OK, err.text);
    must(blm_equal(f, back), "decode gives what was encoded");
    fclose(tmp);
    blm_free(back);
    snprintf(path, sizeof path, "%s.blm", blm_kind_name(kind));
    must(blm_save(f, path, NULL, BLM_REPLACE, &err) == BLM_OK, err.text);
    must(blm_open(path, NULL, &back, &err) == BLM_OK, err.text);
    must(blm_equal(f, back), "open gives what was saved");
    blm_free(back);
}

static void one_filter(const blm_options *o)
{
    blm_filter *f;
    blm_error   err = { .text = "" };
    uint8_t     key[300];
    must(blm_create(o, &f, &err) == BLM_OK, err.text);
    for (uint32_t i = 0; i < KEYS; i++) {
        size_t len = key_of(i, key);
        must(blm_add(f, key, len) >= 0, "add");
    }
    uint8_t numbers[500][8]; /* by bytes: the same keys in either byte order */
    for (unsigned i = 0; i < 500; i++)
        for (unsigned j = 0; j < 8; j++)
            numbers[i][j] = (uint8_t)(i * 151 >> j);
    must(blm_add_fixed(f, numbers, 8, 500, NULL, NULL) == BLM_OK, "add_fixed");
    must(blm_check_fixed(f, numbers, 8, 500, NULL) == 500, "check_fixed");
    put_stats(f);
    put_answers(f);
    travel(f, o->kind);
    blm_free(f);
}

static void read_file(const char *path)
{
    blm_options o   = BLM_OPTIONS_INIT;
    blm_error   err = { .text = "" };
    blm_filter *f;
    o.flags = BLM_VERIFY;
    must(blm_open(path, &o, &f, &err) == BLM_OK, err.text);
    put_stats(f);
    put_answers(f);
    blm_free(f);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        read_file(argv[i]);
    if (argc > 1)
        return 0;
    const double rates[] = { 0.03, 0.001, 1e-7 };
    printf("bloomery %s\n", blm_version());
    for (int kind = BLM_CLASSIC; kind <= BLM_SCALABLE; kind++) {
        for (size_t r = 0; r < 3; r++) {
            blm_options o = BLM_OPTIONS_INIT;
            o.kind        = (blm_kind)kind;
            o.items       = kind == BLM_SCALABLE ? 400 : 5000;
            o.rate        = rates[r];
            o.flags       = BLM_SEEDED;
            o.seed[0]     = 42 + r;
            o.seed[1]     = 7;
            o.hash        = r == 1 ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
            blm_plan p    = { .size = sizeof p };
            must(blm_plan_for(&o, &p, NULL) == BLM_OK, "plan");
            printf("%s %g: plan %" PRIu64 " bits, %u probes, rate %.9g\n", blm_kind_name(o.kind),
                   o.rate, p.bits, p.probes, p.rate);
            one_filter(&o);
        }
    }
    return 0;
}
