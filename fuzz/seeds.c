/* SPDX-License-Identifier: MIT */
/* Writes the inputs that fuzzing starts from, in the current format, so that a change of format
 * does not leave a corpus of stale files. `seeds DIR` fills a folder in DIR for each target that
 * main names. */
#include <bloomery.h>
#include <bloomery/delta.h>
#include <bloomery/fixed.h>
#include <bloomery/guard.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[3000];

static void die(const char *what)
{
    fprintf(stderr, "seeds: %s\n", what);
    exit(1);
}

static void enter(const char *root, const char *name)
{
    if (mkdir(root, 0777) != 0 && errno != EEXIST)
        die(root);
    snprintf(folder, sizeof folder, "%s/%s", root, name);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        die(folder);
}

/* A full filter is a seed too. */
static bool added(blm_filter *f, unsigned i)
{
    blm_status st = blm_add(f, &i, sizeof i);
    return st >= 0 || st == BLM_E_FULL;
}

static blm_filter *filled(const blm_options *o, unsigned keys)
{
    blm_filter *f;
    blm_error   err;
    if (blm_create(o, &f, &err) != BLM_OK)
        die(err.text);
    for (unsigned i = 0; i < keys; i++)
        if (!added(f, i))
            die("add");
    return f;
}

/* A cascade is without as many keys again, and then without many. */
static blm_filter *built(const blm_options *o, unsigned keys)
{
    blm_builder *b;
    blm_filter  *f;
    blm_error    err;
    if (blm_builder_new(o, &b, &err) != BLM_OK)
        die(err.text);
    for (unsigned i = 0; i < keys * (keys == 60 ? 30 : 2); i++)
        if (i < keys)
            blm_builder_add_fixed(b, &i, sizeof i, 1);
        else if (o->kind == BLM_CASCADE)
            blm_builder_exclude_fixed(b, &i, sizeof i, 1);
    if (blm_builder_build(b, &f, &err) != BLM_OK)
        die(err.text);
    blm_builder_free(b);
    return f;
}

/* One small filter with few keys and a fixed seed, so that the bytes are the same (except for what
 * is random in a file). */
static void filter_seed(const char *name, const blm_options *o, unsigned keys)
{
    char        path[4096];
    blm_error   err;
    bool        adds = blm_kind_find(o->kind)->can & BLM_CAN_ADD;
    blm_filter *f    = adds ? filled(o, keys) : built(o, keys);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (blm_save(f, path, "native", BLM_REPLACE, &err) != BLM_OK)
        die(err.text);
    blm_free(f);
}

static void filter_seeds(void)
{
    char name[64];
    for (size_t k = 0; blm_kind_at(k); k++)
        for (unsigned keys = 0; keys <= 60; keys += 30) {
            blm_options o = BLM_OPTIONS_INIT;
            o.kind        = blm_kind_at(k)->kind;
            o.items       = 20;
            o.rate        = keys == 30 ? 1e-7 : 0.02;
            o.hash        = keys == 60 ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
            o.flags       = BLM_SEEDED;
            o.window_ms   = keys == 30 && o.kind == BLM_WINDOW ? 86400000 : 0;
            o.seed[0]     = 1;
            snprintf(name, sizeof name, "%s-%u", blm_kind_name(o.kind), keys);
            filter_seed(name, &o, keys);
        }
}

/* Eight-byte fields as fuzz_maths.c reads them: the limits of every domain in every place. */
static void maths_seeds(void)
{
    const union {
        double   d;
        uint64_t u;
    } corners[]        = { { .u = 0 },          { .u = 1 },         { .u = 1000000 },
                           { .u = UINT64_MAX }, { .d = 0.01 },      { .d = 1.0 },
                           { .d = 2.0 },        { .d = 0.5 },       { .d = 1e-300 },
                           { .d = INFINITY },   { .d = -INFINITY }, { .d = (double)NAN },
                           { .d = -0.0 },       { .u = 512 },       { .u = (uint64_t)1 << 48 } };
    const size_t count = sizeof corners / sizeof *corners;
    for (size_t i = 0; i < count * count; i++) {
        char     path[4096];
        uint64_t fields[10];
        for (size_t j = 0; j < 10; j++)
            fields[j] = corners[(i + j * (1 + i / count)) % count].u;
        snprintf(path, sizeof path, "%s/%zu", folder, i);
        FILE *out = fopen(path, "wb");
        if (!out || fwrite(fields, 8, 10, out) != 10 || fclose(out) != 0)
            die(path);
    }
}

static bool write_file(void *ctx, const void *bytes, size_t len)
{
    return fwrite(bytes, 1, len, ctx) == len;
}

/* As fuzz_patch.c reads them: the kind, then a delta from its filter of 30 keys to one of more. */
static void delta_seeds(void)
{
    for (size_t k = 0; blm_kind_at(k); k++)
        for (unsigned keys = 30; keys <= 300; keys += keys == 30 ? 1 : 269) {
            char        path[4096];
            blm_filter *from = NULL, *to = NULL;
            blm_options o = BLM_OPTIONS_INIT;
            if (!(blm_kind_at(k)->can & BLM_CAN_ADD))
                continue; /* a fixed filter has no later self */
            o.kind    = blm_kind_at(k)->kind;
            o.items   = 20;
            o.rate    = 0.02;
            o.flags   = BLM_SEEDED;
            o.seed[0] = 1;
            if (blm_create(&o, &from, NULL) != BLM_OK || blm_create(&o, &to, NULL) != BLM_OK)
                die("create");
            for (unsigned i = 0; i < keys; i++)
                if ((i < 30 && !added(from, i)) || !added(to, i))
                    die("add");
            snprintf(path, sizeof path, "%s/%s-%u", folder, blm_kind_name(o.kind), keys);
            FILE *out = fopen(path, "wb");
            if (!out || fputc((int)o.kind, out) == EOF ||
                blm_diff(from, to, write_file, out, NULL) != BLM_OK || fclose(out) != 0)
                die(path);
            blm_free(from);
            blm_free(to);
        }
}

/* As fuzz_stream.c reads them: how, then a filter. */
static void stream_seeds(void)
{
    for (int kind = BLM_CLASSIC; kind <= BLM_SCALABLE; kind++) {
        char        path[4096];
        blm_filter *f = NULL;
        blm_options o = BLM_OPTIONS_INIT;
        o.kind        = (blm_kind)kind;
        o.items       = 20;
        o.rate        = 0.02;
        o.flags       = BLM_SEEDED;
        snprintf(path, sizeof path, "%s/%s", folder, blm_kind_name(o.kind));
        FILE *out = fopen(path, "wb");
        if (!out || blm_create(&o, &f, NULL) != BLM_OK || blm_add(f, "key", 3) < 0 ||
            fputc(0, out) == EOF || blm_encode(f, "native", write_file, out, NULL) != BLM_OK ||
            fclose(out) != 0)
            die(path);
        blm_free(f);
    }
}

/* As fuzz_raw.c reads them: the options, then bits. */
static void raw_seeds(void)
{
    const blm_scheme_row *row;
    for (unsigned i = 0; (row = blm_scheme_at(i)); i++) {
        char    path[4096];
        uint8_t bytes[24 + 32] = { (uint8_t)i, 5, 0, 0, 1 }; /* 5 probes in 256 bits */
        memset(bytes + 24, (int)(0x11 * i), 32);
        snprintf(path, sizeof path, "%s/%s", folder, row->name);
        FILE *out = fopen(path, "wb");
        if (!out || fwrite(bytes, 1, sizeof bytes, out) != sizeof bytes || fclose(out) != 0)
            die(path);
    }
}

/* ---- a guard's note and mark, written by a guard ---- */

static char   mark[BLM_MARK_MAX];
static size_t mark_len;

static blm_status no_row(void *ctx, const void *key, size_t len, blm_write_fn value,
                         void *value_ctx, blm_error *err)
{
    (void)ctx, (void)key, (void)len, (void)value, (void)value_ctx, (void)err;
    return BLM_E_ABSENT;
}

static blm_status no_rows(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    (void)ctx, (void)each, (void)each_ctx, (void)err;
    return BLM_OK;
}

static blm_status mark_read(void *ctx, void *out, size_t *len, blm_error *err)
{
    (void)ctx, (void)err;
    memcpy(out, mark, mark_len);
    *len = mark_len;
    return mark_len ? BLM_OK : BLM_E_ABSENT;
}

static blm_status mark_write(void *ctx, const void *bytes, size_t len, blm_error *err)
{
    (void)ctx, (void)err;
    memcpy(mark, bytes, len);
    mark_len = len;
    return BLM_OK;
}

/* As fuzz_guard_note.c reads them: a quarter of the note's length, the note, the mark. */
static void note_seed(const char *filter, const char *name)
{
    char   path[4096], note[1020];
    size_t len;
    snprintf(path, sizeof path, "%s.guard", filter);
    FILE *in = fopen(path, "rb");
    if (!in || (len = fread(note, 1, sizeof note, in)) == sizeof note || fclose(in) != 0)
        die(path);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    if (!out || fputc((int)((len + 3) / 4), out) == EOF || fwrite(note, 1, len, out) != len ||
        fwrite(mark, 1, mark_len, out) != mark_len || fclose(out) != 0)
        die(path);
}

static void note_seeds(void)
{
    const blm_dataset d = { .size       = sizeof d,
                            .get        = no_row,
                            .scan       = no_rows,
                            .mark_read  = mark_read,
                            .mark_write = mark_write };
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_guard        *g;
    char              filter[4096], path[4200];
    blm_error         err;
    snprintf(filter, sizeof filter, "%s.blm", folder);
    o.items = 10;
    o.path  = filter;
    o.flags = BLM_GUARD_MANUAL;
    if (blm_guard_open(&o, &d, &g, &err) != BLM_OK || blm_guard_build(g, &err) != BLM_OK)
        die(err.text);
    note_seed(filter, "open");
    if (blm_guard_close(g, &err) != BLM_OK)
        die(err.text);
    note_seed(filter, "closed");
    unlink(filter);
    snprintf(path, sizeof path, "%s.guard", filter);
    unlink(path);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        die("usage: seeds DIR");
    enter(argv[1], "decode_native");
    filter_seeds();
    enter(argv[1], "open");
    filter_seeds();
    enter(argv[1], "sniff");
    filter_seeds();
    enter(argv[1], "far");
    filter_seeds();
    enter(argv[1], "stream");
    stream_seeds();
    enter(argv[1], "raw");
    raw_seeds();
    enter(argv[1], "guard_note");
    note_seeds();
    enter(argv[1], "maths");
    maths_seeds();
    enter(argv[1], "patch");
    delta_seeds();
    return 0;
}
