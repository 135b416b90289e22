/* SPDX-License-Identifier: MIT */
/* Writes the inputs that fuzzing starts from, in the current format, so that a change of format
 * does not leave a corpus of stale files. `seeds DIR` fills DIR/decode_native, DIR/maths and
 * DIR/patch. */
#include <bloomery.h>
#include <bloomery/delta.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

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

/* One small filter with few keys and a fixed seed, so that the bytes are the same (except for what
 * is random in a file). */
static void filter_seed(const char *name, const blm_options *o, unsigned keys)
{
    char        path[4096];
    blm_filter *f;
    blm_error   err;
    if (blm_create(o, &f, &err) != BLM_OK)
        die(err.text);
    for (unsigned i = 0; i < keys; i++)
        if (blm_add(f, &i, sizeof i) < 0)
            die("add");
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (blm_save(f, path, "native", BLM_REPLACE, &err) != BLM_OK)
        die(err.text);
    blm_free(f);
}

static void filter_seeds(void)
{
    char name[64];
    for (int kind = BLM_CLASSIC; kind <= BLM_SCALABLE; kind++) {
        for (unsigned keys = 0; keys <= 60; keys += 30) {
            blm_options o = BLM_OPTIONS_INIT;
            o.kind        = (blm_kind)kind;
            o.items       = 20;
            o.rate        = keys == 30 ? 1e-7 : 0.02;
            o.hash        = keys == 60 ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
            o.flags       = BLM_SEEDED;
            o.seed[0]     = 1;
            snprintf(name, sizeof name, "%s-%u", blm_kind_name(o.kind), keys);
            filter_seed(name, &o, keys);
        }
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
    for (int kind = BLM_CLASSIC; kind <= BLM_SCALABLE; kind++)
        for (unsigned keys = 30; keys <= 300; keys += keys == 30 ? 1 : 269) {
            char        path[4096];
            blm_filter *from = NULL, *to = NULL;
            blm_options o = BLM_OPTIONS_INIT;
            o.kind        = (blm_kind)kind;
            o.items       = 20;
            o.rate        = 0.02;
            o.flags       = BLM_SEEDED;
            o.seed[0]     = 1;
            if (blm_create(&o, &from, NULL) != BLM_OK || blm_create(&o, &to, NULL) != BLM_OK)
                die("create");
            for (unsigned i = 0; i < keys; i++)
                if ((i < 30 && blm_add(from, &i, sizeof i) < 0) || blm_add(to, &i, sizeof i) < 0)
                    die("add");
            snprintf(path, sizeof path, "%s/%s-%u", folder, blm_kind_name(o.kind), keys);
            FILE *out = fopen(path, "wb");
            if (!out || fputc(kind, out) == EOF ||
                blm_diff(from, to, write_file, out, NULL) != BLM_OK || fclose(out) != 0)
                die(path);
            blm_free(from);
            blm_free(to);
        }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        die("usage: seeds DIR");
    enter(argv[1], "decode_native");
    filter_seeds();
    enter(argv[1], "maths");
    maths_seeds();
    enter(argv[1], "patch");
    delta_seeds();
    return 0;
}
