/* SPDX-License-Identifier: MIT */
/* Spill directories whose files changed after a kill: every byte of them in turn. It is found, and the
 * user is told what to do, or the filter is the one that would have been made anyway. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bloomery/embed.h"
#include "bloomery/spill.h"
#include "core/os.h"
#include "unit/fixed.h"

#include "foreign.h" /* after what defines asserts */

#define KEYS   40u
#define MEMORY 65536u
#define FILES  8u

static char           dir[64], out[96], spill[96];
static struct blm__os before;

/* Nothing here is about power cuts. */
static int no_sync_file(int fd)
{
    (void)fd;
    return 0;
}
static int no_sync_map(void *map, size_t len)
{
    (void)map, (void)len;
    return 0;
}
static int no_sync_dir(const char *path)
{
    (void)path;
    return 0;
}

static int begin(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/bloomery-damage-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(out, sizeof out, "%s/out.blm", dir);
    snprintf(spill, sizeof spill, "%s/spill", dir);
    before            = blm__os;
    blm__os.sync_file = no_sync_file;
    blm__os.sync_map  = no_sync_map;
    blm__os.sync_dir  = no_sync_dir;
    return 0;
}

static void empty_spill(void)
{
    char path[512];
    DIR *d = opendir(spill);
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", spill, e->d_name);
        if (e->d_name[0] != '.')
            remove(path);
    }
    if (d)
        closedir(d);
    rmdir(spill);
}

static int end(void **state)
{
    (void)state;
    blm__os = before;
    empty_spill();
    remove(out);
    return rmdir(dir);
}

/* ---- a directory in memory ---- */

struct kept {
    struct {
        char               name[32];
        struct golden_file is;
    } file[FILES];
    size_t count;
};

static struct golden_file file_bytes(const char *path)
{
    struct golden_file f  = { malloc(1 << 20), 0, 0 };
    FILE              *in = fopen(path, "rb");
    assert_non_null(in);
    f.len = fread(f.data, 1, 1 << 20, in);
    fclose(in);
    return f;
}

static void keep(struct kept *k)
{
    char path[512];
    DIR *d = opendir(spill);
    assert_non_null(d);
    k->count = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.' || strcmp(e->d_name, "bloomery.lock") == 0)
            continue;
        assert_true(k->count < FILES);
        snprintf(path, sizeof path, "%s/%s", spill, e->d_name);
        snprintf(k->file[k->count].name, sizeof k->file[0].name, "%.31s", e->d_name);
        k->file[k->count++].is = file_bytes(path);
    }
    closedir(d);
}

static void put_back(const struct kept *k)
{
    char path[512];
    empty_spill();
    assert_int_equal(mkdir(spill, 0700), 0);
    for (size_t i = 0; i < k->count; i++) {
        snprintf(path, sizeof path, "%s/%s", spill, k->file[i].name);
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(k->file[i].is.data, 1, k->file[i].is.len, f), k->file[i].is.len);
        fclose(f);
    }
}

static void forget(struct kept *k)
{
    for (size_t i = 0; i < k->count; i++)
        golden_free_file(&k->file[i].is);
}

/* ---- every byte ---- */

typedef blm_status (*run_fn)(const void *how, const char *path, blm_error *err);
typedef bool (*right_fn)(const void *how, const char *name);

/* Changes each byte of the directory and runs it to its end; how often that was found. */
static size_t change_each(struct kept *k, run_fn run, right_fn right, const void *how)
{
    size_t found = 0;
    for (size_t i = 0; i < k->count; i++)
        for (size_t at = 0; at < k->file[i].is.len; at++) {
            blm_error err = { .status = BLM_OK };
            uint8_t  *b = (uint8_t *)k->file[i].is.data + at, was = *b;
            *b ^= (uint8_t)(1u << at % 8);
            put_back(k);
            *b = was;
            remove(out);
            if (run(how, out, &err) == BLM_OK) {
                if (!right(how, k->file[i].name))
                    fail_msg("byte %zu of %s became a wrong filter", at, k->file[i].name);
                continue;
            }
            found++;
            if (!strstr(err.text, "start again") && !strstr(err.text, "other parameters") &&
                !strstr(err.text, "past the last one"))
                fail_msg("byte %zu of %s: %s", at, k->file[i].name, err.text);
        }
    return found;
}

static bool same_as(const struct golden_file *want)
{
    struct golden_file got  = file_bytes(out);
    bool               same = got.len == want->len && memcmp(got.data, want->data, got.len) == 0;
    golden_free_file(&got);
    return same;
}

/* ---- filters that are filled ---- */

static const blm_options filled[] = {
    { .size  = sizeof(blm_options),
      .flags = BLM_SEEDED,
      .seed  = { 9 },
      .kind  = BLM_BLOCKED,
      .items = KEYS,
      .rate  = 1e-3 },
    { .size  = sizeof(blm_options),
      .flags = BLM_SEEDED,
      .seed  = { 9 },
      .kind  = BLM_CLASSIC,
      .items = KEYS,
      .rate  = 0.01 },
};

struct filling {
    const blm_options *o;
    struct golden_file want;
};

static blm_status give(blm_spill *s, blm_error *err)
{
    blm_status st = BLM_OK;
    for (uint64_t i = 0; i < KEYS && st == BLM_OK && !blm_spill_filling(s); i++)
        st = blm_spill_add_many(s, &(blm_key){ &i, sizeof i }, 1, err);
    return st;
}

static blm_status fill(const void *how, const char *path, blm_error *err)
{
    const struct filling *f = how;
    blm_spill            *s;
    blm_status            st = blm_spill_open(spill, f->o, MEMORY, &s, err);
    if (st != BLM_OK)
        return st;
    st = give(s, err);
    if (st == BLM_OK)
        st = blm_spill_finish(s, path, 0, err);
    blm_spill_free(s);
    return st;
}

/* `fresh` only says how many keys there are. */
static bool filled_right(const void *how, const char *name)
{
    const struct filling *f = how;
    return strcmp(name, "fresh") == 0 || same_as(&f->want);
}

static void a_changed_byte_of_records_or_words_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(filled); i++) {
        struct filling f = { .o = &filled[i] };
        struct kept    k;
        blm_error      err;
        blm_spill     *s;
        assert_int_equal(fill(&f, out, &err), BLM_OK);
        f.want = file_bytes(out);
        /* Records, and nothing filled. */
        assert_int_equal(blm_spill_open(spill, f.o, MEMORY, &s, &err), BLM_OK);
        assert_int_equal(give(s, &err), BLM_OK);
        assert_int_equal(blm_spill_sync(s, &err), BLM_OK);
        blm_spill_free(s);
        keep(&k);
        size_t bytes = 0;
        for (size_t j = 0; j < k.count; j++)
            bytes += k.file[j].is.len;
        assert_int_equal(change_each(&k, fill, filled_right, &f), bytes);
        /* Words, and nowhere to save them to. */
        put_back(&k);
        forget(&k);
        assert_int_not_equal(fill(&f, "/nonexistent/a/b", &err), BLM_OK);
        keep(&k);
        assert_true(change_each(&k, fill, filled_right, &f) > 200);
        forget(&k);
        golden_free_file(&f.want);
        empty_spill();
    }
}

/* ---- filters that are built ---- */

struct building {
    blm_options        o;
    uint64_t           excluded;
    struct golden_file want;
};

static blm_status take(blm_builder *b, uint64_t from, uint64_t to, uint64_t excluded)
{
    blm_status st = BLM_OK;
    for (uint64_t i = from; i < to && st == BLM_OK; i++)
        st = blm_builder_add_fixed(b, &i, 8, 1);
    for (uint64_t i = 1000; i < 1000 + excluded && st == BLM_OK; i++)
        st = blm_builder_exclude(b, &(blm_key){ &i, sizeof i }, 1);
    return st;
}

static blm_status build(const void *how, const char *path, blm_error *err)
{
    const struct building *f = how;
    blm_builder           *b;
    blm_status             st = blm_builder_open(spill, &f->o, MEMORY, &b, err);
    if (st != BLM_OK)
        return st;
    st = take(b, 0, KEYS, f->excluded);
    if (st == BLM_OK)
        st = blm_builder_save(b, path, 0, err);
    blm_builder_free(b);
    return st;
}

/* A cell that no key has may be changed: all keys were looked for. */
static bool built_right(const void *how, const char *name)
{
    const struct building *f = how;
    blm_filter            *is;
    blm_error              err;
    bool                   right = true;
    if (strncmp(name, "level", 5) != 0)
        return same_as(&f->want);
    assert_int_equal(blm_open(out, 0, &is, &err), BLM_OK);
    for (uint64_t i = 0; i < KEYS; i++)
        right &= blm_check(is, &i, sizeof i);
    for (uint64_t i = 1000; i < 1000 + f->excluded; i++)
        right &= !blm_check(is, &i, sizeof i);
    blm_close(is, NULL);
    return right;
}

static void a_changed_byte_of_runs_or_lists_is_found(void **state)
{
    (void)state;
    for (int cascade = 0; cascade < 2; cascade++) {
        struct building f = { .o = fixed_options(cascade ? BLM_CASCADE : BLM_STATIC,
                                                 cascade ? 0 : 0.004, 9),
                              .excluded = cascade ? KEYS : 0 };
        struct kept     k;
        blm_error       err;
        blm_builder    *b;
        assert_int_equal(build(&f, out, &err), BLM_OK);
        f.want = file_bytes(out);
        /* Two runs of what is in. */
        assert_int_equal(blm_builder_open(spill, &f.o, MEMORY, &b, &err), BLM_OK);
        assert_int_equal(take(b, 0, KEYS / 2, 0), BLM_OK);
        assert_int_equal(blm_builder_sync(b, &err), BLM_OK);
        assert_int_equal(take(b, KEYS / 2, KEYS, f.excluded), BLM_OK);
        assert_int_equal(blm_builder_sync(b, &err), BLM_OK);
        blm_builder_free(b);
        keep(&k);
        assert_int_equal(k.count, 4 + cascade); /* one is a mark: its name is all there is */
        size_t bytes = 0;
        for (size_t i = 0; i < k.count; i++)
            bytes += k.file[i].is.len;
        assert_int_equal(change_each(&k, build, built_right, &f), bytes);
        /* Merged and built, and nowhere to save it to. */
        put_back(&k);
        forget(&k);
        assert_int_not_equal(build(&f, "/nonexistent/a/b", &err), BLM_OK);
        keep(&k);
        assert_true(change_each(&k, build, built_right, &f) > KEYS * 8);
        forget(&k);
        golden_free_file(&f.want);
        empty_spill();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_changed_byte_of_records_or_words_is_found, begin, end),
        cmocka_unit_test_setup_teardown(a_changed_byte_of_runs_or_lists_is_found, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
