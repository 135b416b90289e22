/* SPDX-License-Identifier: MIT */
/*
 * Builds larger than memory that go on with what a directory has, if that was changed meanwhile. The
 * input's first bytes say which build and after how many keys it stopped; the rest are changes to its
 * files, of numbers, bytes and lengths. The state's checksum is made right again. Then the build goes
 * on: it ends, or says why not. Without changes it ends with every key.
 */
#include <bloomery/fixed.h>
#include <bloomery/spill.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>

#include "core/bytes.h"
#include "core/checksum.h"
#include "oracle.h"

#define KEYS 400u

struct build {
    blm_options  o;
    bool         spill;
    blm_spill   *s;
    blm_builder *b;
    char         dir[128], path[128];
};

/* Numbers in a state may be lengths of files: no more than 64 MiB come about. */
static void bound_files(void)
{
    struct rlimit most = { (rlim_t)64 << 20, (rlim_t)64 << 20 };
    signal(SIGXFSZ, SIG_IGN);
    must(setrlimit(RLIMIT_FSIZE, &most) == 0);
}

static bool said(blm_status st, const blm_error *err)
{
    must(st == BLM_OK || (err->status == st && err->text[0]));
    return st == BLM_OK;
}

static bool begin(struct build *w)
{
    blm_error err = { .status = BLM_OK };
    return said(w->spill ? blm_spill_open(w->dir, &w->o, 65536, &w->s, &err)
                         : blm_builder_open(w->dir, &w->o, 65536, &w->b, &err),
                &err);
}

/* A cascade is without the odd ones. */
static bool give(struct build *w, unsigned count)
{
    blm_error err = { .status = BLM_OK };
    bool      ok  = true;
    for (unsigned i = 0; i < count && ok; i++) {
        blm_key k = { &i, sizeof i };
        if (w->spill)
            ok = said(blm_spill_add_many(w->s, &k, 1, &err), &err);
        else if (w->o.kind == BLM_CASCADE && i % 2)
            ok = blm_builder_exclude(w->b, &k, 1) == BLM_OK;
        else
            ok = blm_builder_add(w->b, &k, 1) == BLM_OK;
    }
    return ok;
}

static bool pause_build(struct build *w)
{
    blm_error err = { .status = BLM_OK };
    return said(w->spill ? blm_spill_sync(w->s, &err) : blm_builder_sync(w->b, &err), &err);
}

static void leave(struct build *w)
{
    blm_spill_free(w->s);
    blm_builder_free(w->b);
    w->s = NULL;
    w->b = NULL;
}

static bool finish(struct build *w)
{
    blm_error err = { .status = BLM_OK };
    return said(w->spill ? blm_spill_finish(w->s, w->path, BLM_REPLACE, &err)
                         : blm_builder_save(w->b, w->path, BLM_REPLACE, &err),
                &err);
}

/* ---- changes ---- */

static int read_names(const char *dir, char names[16][64])
{
    DIR *d     = opendir(dir);
    int  count = 0;
    must(d != NULL);
    for (struct dirent *e; (e = readdir(d)) && count < 16;)
        if (e->d_name[0] != '.')
            snprintf(names[count++], 64, "%.60s", e->d_name);
    closedir(d);
    qsort(names, (size_t)count, 64, (int (*)(const void *, const void *))strcmp);
    return count;
}

static void seal(const char *path)
{
    uint8_t bytes[65536];
    FILE   *f = fopen(path, "r+b");
    if (!f)
        return;
    size_t n = fread(bytes, 1, sizeof bytes, f);
    if (n >= 16 && n % 8 == 0) {
        blm__put64le(bytes + n - 8, blm__checksum(bytes, n - 8));
        rewind(f);
        fwrite(bytes, 1, n, f);
    }
    fclose(f);
}

/* One change: a number at a place, a byte, or a length. */
static void change(const char *path, struct ops_input *in)
{
    static const uint64_t numbers[] = { 0,
                                        1,
                                        2,
                                        3,
                                        63,
                                        511,
                                        513,
                                        4096,
                                        65536,
                                        (uint64_t)1 << 32,
                                        (uint64_t)1 << 61,
                                        ((uint64_t)1 << 61) + 1,
                                        (uint64_t)1 << 62,
                                        UINT64_MAX / 8,
                                        UINT64_MAX - 1,
                                        UINT64_MAX };
    uint8_t               how = ops_byte(in), what = ops_byte(in);
    long                  at = ops_byte(in) | (how & 0x30) << 4;
    uint8_t               bytes[8];
    FILE                 *f = fopen(path, "r+b");
    if (!f)
        return;
    blm__put64le(bytes, how & 0x40 ? what : numbers[what % 16]);
    switch (how & 3) {
    case 0:
    case 1:
        if (fseek(f, at * 8, SEEK_SET) == 0)
            fwrite(bytes, 1, 8, f);
        break;
    case 2:
        if (fseek(f, at, SEEK_SET) == 0)
            fputc(what, f);
        break;
    default:
        if (ftruncate(fileno(f), at) != 0)
            perror(path);
    }
    fclose(f);
}

/* The state, a file that is there, or one of those that come later. */
static void choose_file(const struct build *w, uint8_t which, char path[256])
{
    static const char *const later[] = { "in",      "out",   "pass",  "level.0",
                                         "level.1", "fresh", "words", "part.0" };
    char                     names[16][64];
    int                      count = read_names(w->dir, names);
    const char              *name  = which & 0x80   ? "state"
                                     : which & 0x40 ? later[which % 8]
                                     : count == 0   ? "state"
                                                    : names[which % count];
    snprintf(path, 256, "%s/%s", w->dir, name);
    FILE *f = which & 0x40 ? fopen(path, "ab") : NULL;
    if (f)
        fclose(f);
}

static bool change_all(struct build *w, struct ops_input *in)
{
    char path[256];
    bool any = in->left > 0;
    for (int steps = 0; in->left && steps < 8; steps++) {
        choose_file(w, ops_byte(in), path);
        change(path, in);
    }
    snprintf(path, sizeof path, "%s/state", w->dir);
    seal(path);
    return any;
}

static void remove_all(const char *dir)
{
    char names[16][64], path[256];
    for (int n; access(dir, F_OK) == 0 && (n = read_names(dir, names)) > 0;)
        while (n-- > 0) {
            snprintf(path, sizeof path, "%s/%s", dir, names[n]);
            if (unlink(path) != 0) {
                remove_all(path);
                must(access(path, F_OK) != 0);
            }
        }
    rmdir(dir);
}

/* ---- */

static void holds(const struct build *w)
{
    blm_filter *f;
    must(blm_open(w->path, NULL, &f, NULL) == BLM_OK);
    for (unsigned i = 0; i < KEYS; i++) {
        bool out = w->o.kind == BLM_CASCADE && i % 2;
        must(out ? !blm_check(f, &i, sizeof i) : blm_check(f, &i, sizeof i));
    }
    blm_free(f);
}

static void choose(struct build *w, uint8_t how)
{
    static const blm_kind kinds[] = { BLM_BLOCKED, BLM_CLASSIC, BLM_STATIC, BLM_CASCADE };
    w->spill                      = (how & 7) < 4;
    w->o.kind                     = w->spill ? kinds[how & 1] : kinds[how & 3];
    w->o.lines                    = w->spill && w->o.kind == BLM_BLOCKED ? 1 + (how >> 1 & 1) : 0;
    w->o.items                    = how & 8 ? KEYS : 40 * KEYS; /* several parts */
    w->o.rate                     = w->o.lines == 2 ? 1e-6 : 0.01;
    w->o.flags                    = BLM_SEEDED;
    place_path(w->dir, "dir");
    place_path(w->path, "built");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool      bounded;
    struct ops_input in = { data, size };
    struct build     w  = { .o = BLM_OPTIONS_INIT };
    if (!bounded)
        bound_files();
    bounded = true;
    choose(&w, ops_byte(&in));
    unsigned stop = ops_byte(&in) * 2u;
    must(begin(&w) && give(&w, stop < KEYS ? stop : KEYS) && pause_build(&w));
    leave(&w);
    bool changed = change_all(&w, &in);
    bool built   = begin(&w) && give(&w, KEYS) && finish(&w);
    must(built || changed);
    leave(&w);
    if (!changed)
        holds(&w);
    remove_all(w.dir);
    unlink(w.path);
    return 0;
}
