/* SPDX-License-Identifier: MIT */
/* Filters larger than memory: the bytes of the filter made in memory, after any number of stops. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bloomery/embed.h"
#include "bloomery/spill.h"
#include "core/os.h"
#include "foreign.h"

#define KEYS   50000u
#define MEMORY 65536u /* parts of 32 KiB */

#define O(...)                                                                       \
    {                                                                                \
        .size = sizeof(blm_options), .flags = BLM_SEEDED, .seed = { 9 }, __VA_ARGS__ \
    }
static const blm_options shapes[] = {
    O(.kind = BLM_BLOCKED, .items = KEYS, .rate = 1e-3),
    O(.kind = BLM_BLOCKED, .items = KEYS, .rate = 1e-5, .lines = 2),
    O(.kind = BLM_BLOCKED, .items = KEYS, .rate = 1e-8, .lines = 3),
    O(.kind = BLM_CLASSIC, .items = KEYS, .rate = 1e-3),
    O(.kind = BLM_CLASSIC, .items = KEYS, .rate = 1e-6, .hash = BLM_HASH_SIPHASH),
    O(.kind = BLM_CLASSIC, .bits = 1000003, .probes = 1),
    O(.kind = BLM_BLOCKED, .rate = 0.3, .items = 5), /* one part, overfilled */
};
#define SHAPES (sizeof shapes / sizeof *shapes)

static char dir[64], out[96], spill[96];

static int begin(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/bloomery-spill-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(out, sizeof out, "%s/out.blm", dir);
    snprintf(spill, sizeof spill, "%s/spill", dir);
    return 0;
}

static int end(void **state)
{
    (void)state;
    char        path[512];
    DIR        *d = opendir(spill);
    const char *name;
    for (struct dirent *e; d && (e = readdir(d));) {
        name = e->d_name;
        snprintf(path, sizeof path, "%s/%s", spill, name);
        remove(path);
    }
    if (d)
        closedir(d);
    rmdir(spill);
    remove(out);
    return rmdir(dir);
}

/* Every third key came before. */
static uint64_t key_of(uint64_t i) { return i % 3 == 2 ? i / 2 : i; }

static blm_spill *open_or_fail(const blm_options *o)
{
    blm_spill *s;
    blm_error  err;
    if (blm_spill_open(spill, o, MEMORY, &s, &err) != BLM_OK)
        fail_msg("%s", err.text);
    return s;
}

static blm_status give(blm_spill *s, uint64_t from, uint64_t to, blm_error *err)
{
    blm_status st = BLM_OK;
    for (uint64_t i = from; i < to && st == BLM_OK; i++) {
        uint64_t key = key_of(i);
        blm_key  k   = { &key, sizeof key };
        st           = blm_spill_add_many(s, &k, 1, err);
    }
    return st;
}

static struct golden_file file_bytes(const char *path)
{
    struct golden_file f  = { malloc(1 << 24), 0, 0 };
    FILE              *in = fopen(path, "rb");
    assert_non_null(in);
    f.len = fread(f.data, 1, 1 << 24, in);
    fclose(in);
    return f;
}

static struct golden_file in_memory(const blm_options *o)
{
    blm_filter *f = create_or_fail(o);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t key = key_of(i);
        blm_add(f, &key, sizeof key);
    }
    struct golden_file bytes = encode_as(f, "native");
    blm_free(f);
    return bytes;
}

static void assert_result(const blm_options *o)
{
    struct golden_file want = in_memory(o), got = file_bytes(out);
    struct stat        st;
    assert_same_bytes(&got, &want);
    assert_int_equal(stat(spill, &st), -1);
    golden_free_file(&want);
    golden_free_file(&got);
    remove(out);
}

static void test_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        blm_error       err;
        blm_spill      *s  = open_or_fail(&shapes[i]);
        blm_spill_state is = { .size = sizeof is };
        assert_int_equal(give(s, 0, KEYS, &err), BLM_OK);
        assert_int_equal(blm_spill_get_state(s, &is), BLM_OK);
        assert_int_equal(is.keys, KEYS);
        assert_true(is.parts == (is.bytes + MEMORY / 2 - 1) / (MEMORY / 2));
        assert_int_equal(blm_spill_finish(s, out, 0, &err), BLM_OK);
        blm_spill_free(s);
        assert_result(&shapes[i]);
    }
}

/* No keys, and a random seed: opened again, it is the same seed. */
static void test_empty_and_seed(void **state)
{
    (void)state;
    blm_options o = O(.items = KEYS, .rate = 1e-3);
    blm_error   err;
    blm_filter *f;
    blm_params  p = { .size = sizeof p };
    uint64_t    hash[2];
    blm_key     k = { "key", 3 };
    o.flags       = 0;
    blm_spill *s  = open_or_fail(&o);
    assert_int_equal(blm_spill_hash_many(s, &k, 1, &hash[0]), BLM_OK);
    blm_spill_free(s);
    s = open_or_fail(&o);
    assert_int_equal(blm_spill_hash_many(s, &k, 1, &hash[1]), BLM_OK);
    assert_int_equal(hash[0], hash[1]);
    assert_int_equal(blm_spill_add_many(s, &k, 1, &err), BLM_OK);
    assert_int_equal(blm_spill_finish(s, out, 0, &err), BLM_OK);
    assert_int_equal(blm_spill_finish(s, out, 0, &err), BLM_E_ARGUMENT);
    blm_spill_free(s);
    assert_int_equal(blm_open(out, NULL, &f, &err), BLM_OK);
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_int_equal(p.seed_policy, BLM_SEED_RANDOM);
    assert_int_equal(p.items, 1);
    assert_true(blm_check(f, "key", 3));
    blm_free(f);
}

/* Closed without a finish after every so many keys, synced or not. */
static void test_resumed(void **state)
{
    (void)state;
    for (size_t i = 0; i < SHAPES; i++) {
        blm_error err;
        for (uint64_t stop = 1; stop < KEYS; stop = stop * 3 + 700) {
            blm_spill      *s  = open_or_fail(&shapes[i]);
            blm_spill_state is = { .size = sizeof is };
            assert_int_equal(give(s, 0, stop, &err), BLM_OK);
            if (stop % 2)
                assert_int_equal(blm_spill_sync(s, &err), BLM_OK);
            assert_int_equal(blm_spill_get_state(s, &is), BLM_OK);
            assert_true(is.kept < stop);
            blm_spill_free(s);
        }
        blm_spill *s = open_or_fail(&shapes[i]);
        assert_int_equal(give(s, 0, KEYS, &err), BLM_OK);
        assert_int_equal(blm_spill_finish(s, out, 0, &err), BLM_OK);
        blm_spill_free(s);
        assert_result(&shapes[i]);
    }
}

/* ---- a disk that is full at any write, and flushes that fail ---- */

static struct blm__os real;
static uint64_t       calls, fail_at;
static int            fail_with;

static int failing_write(int fd, const void *bytes, size_t len, uint64_t at)
{
    return calls++ == fail_at ? fail_with : real.write_at(fd, bytes, len, at);
}
static int failing_sync(int fd) { return calls++ == fail_at ? fail_with : real.sync_file(fd); }
static int failing_rename(const char *from, const char *to)
{
    return calls++ == fail_at ? fail_with : real.rename_over(from, to);
}
static int failing_reserve(int fd, uint64_t at, uint64_t len)
{
    return calls++ == fail_at ? fail_with : real.reserve(fd, at, len);
}

static blm_status whole_run(const blm_options *o, blm_error *err)
{
    blm_spill *s;
    blm_status st = blm_spill_open(spill, o, MEMORY, &s, err);
    if (st != BLM_OK)
        return st;
    if (!blm_spill_filling(s))
        st = give(s, 0, KEYS / 2, err);
    if (st == BLM_OK)
        st = blm_spill_sync(s, err);
    if (st == BLM_OK && !blm_spill_filling(s))
        st = give(s, KEYS / 2, KEYS, err);
    if (st == BLM_OK)
        st = blm_spill_finish(s, out, 0, err);
    else if (!blm_spill_filling(s))
        assert_true(blm_spill_finish(s, out, 0, &(blm_error){ 0 }) < 0);
    blm_spill_free(s);
    return st;
}

static void test_full_disk(void **state)
{
    (void)state;
    static const size_t picked[] = { 0, 1, 3 };
    real                         = blm__os;
    for (size_t i = 0; i < 3; i++) {
        const blm_options *o     = &shapes[picked[i]];
        bool               ended = false;
        for (uint64_t at = 0; !ended;
             at += 1 + at / 8) { /* one failure after another, one filter */
            blm_error err       = { .offset = BLM_NO_OFFSET };
            calls               = 0;
            fail_at             = at;
            fail_with           = at % 2 ? ENOSPC : EIO;
            blm__os.write_at    = failing_write;
            blm__os.sync_file   = failing_sync;
            blm__os.rename_over = failing_rename;
            blm__os.reserve     = failing_reserve;
            blm_status st       = whole_run(o, &err);
            blm__os             = real;
            assert_true(st == BLM_OK || (st == (at % 2 ? BLM_E_SPACE : BLM_E_IO) && err.text[0]));
            ended = st == BLM_OK;
        }
        assert_result(o);
    }
}

static bool stop_at(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *left = ctx;
    assert_true(done <= total);
    return (*left)-- > 0;
}

/* Progress that cancels the saving, again and again. */
static void test_cancelled(void **state)
{
    (void)state;
    blm_options o    = shapes[3];
    uint64_t    left = 0, stops = 0;
    blm_status  st = BLM_E_CANCELLED;
    o.progress     = stop_at;
    o.progress_ctx = &left;
    for (uint64_t most = 0; st == BLM_E_CANCELLED; most++) {
        blm_error err;
        left = most;
        st   = whole_run(&o, &err);
        stops += st == BLM_E_CANCELLED;
        assert_true(st == BLM_OK || st == BLM_E_CANCELLED);
    }
    assert_true(stops > 0);
    assert_result(&shapes[3]);
}

static blm_status open_status(const char *where, const blm_options *o, uint64_t memory)
{
    blm_spill *s   = NULL;
    blm_error  err = { 0 };
    blm_status st  = blm_spill_open(where, o, memory, &s, &err);
    assert_true(st == BLM_OK || (err.text[0] && !s));
    blm_spill_free(s);
    return st;
}

static void test_refused(void **state)
{
    (void)state;
    blm_options counting = O(.kind = BLM_COUNTING, .items = KEYS, .rate = 0.01),
                guava    = { .size = sizeof guava, .scheme = "guava", .items = KEYS };
    blm_options scalable = O(.kind = BLM_SCALABLE, .items = KEYS, .rate = 0.01), huge = shapes[0];
    blm_error   err;
    blm_spill  *s;
    assert_int_equal(open_status(spill, &counting, MEMORY), BLM_E_UNSUPPORTED);
    assert_int_equal(open_status(spill, &scalable, MEMORY), BLM_E_UNSUPPORTED);
    assert_int_equal(open_status(spill, &guava, MEMORY), BLM_E_UNSUPPORTED);
    huge.items = 1000000000;
    assert_int_equal(open_status(spill, &huge, MEMORY), BLM_E_LIMIT);
    assert_int_equal(open_status(spill, &shapes[0], 100), BLM_E_ARGUMENT);
    assert_int_equal(open_status(NULL, &shapes[0], MEMORY), BLM_E_ARGUMENT);
    assert_int_equal(open_status("/nowhere/at/all", &shapes[0], MEMORY), BLM_E_IO);

    s = open_or_fail(&shapes[0]);
    assert_int_equal(open_status(spill, &shapes[0], MEMORY), BLM_E_BUSY);
    assert_int_equal(give(s, 0, 1000, &err), BLM_OK);
    assert_int_equal(blm_spill_sync(s, &err), BLM_OK);
    assert_int_equal(blm_spill_finish(s, NULL, 0, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_spill_add_hashes(s, NULL, 1, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_spill_add_many(s, &(blm_key){ NULL, 3 }, 1, &err), BLM_E_ARGUMENT);
    blm_spill_free(s);
    blm_options other = shapes[0];
    other.seed[0]     = 10;
    assert_int_equal(open_status(spill, &other, MEMORY), BLM_E_MISMATCH);
    other.seed[0] = 9;
    other.seed[1] = 1;
    assert_int_equal(open_status(spill, &other, MEMORY), BLM_E_MISMATCH);
    assert_int_equal(open_status(spill, &shapes[1], MEMORY), BLM_E_MISMATCH);
    assert_int_equal(open_status(spill, &shapes[0], MEMORY * 4), BLM_OK); /* as it was begun */

    s = open_or_fail(&shapes[0]); /* other keys */
    assert_int_equal(give(s, 1, 1000, &err), BLM_OK);
    assert_int_equal(give(s, 1, 2, &err), BLM_E_MISMATCH);
    blm_spill_free(s);
    s = open_or_fail(&shapes[0]); /* fewer keys */
    assert_int_equal(give(s, 0, 999, &err), BLM_OK);
    assert_int_equal(blm_spill_finish(s, out, 0, &err), BLM_E_MISMATCH);
    assert_int_equal(give(s, 999, 3000, &err), BLM_OK); /* the rest after all */
    assert_int_equal(blm_spill_finish(s, out, 0, &err), BLM_OK);
    blm_spill_free(s);
    blm_spill_free(NULL);
}

/* What is wrong with the path is said before anything is done. */
static void test_paths_refused(void **state)
{
    (void)state;
    blm_error  err;
    blm_spill *s = open_or_fail(&shapes[0]);
    FILE      *f = fopen(out, "wb");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(give(s, 0, 1000, &err), BLM_OK);
    assert_int_equal(blm_spill_finish(s, out, 0, &err), BLM_E_EXISTS);
    assert_non_null(strstr(err.text, out));
    assert_int_equal(blm_spill_finish(s, "/nowhere/at/all", 0, &err), BLM_E_IO);
    assert_int_equal(blm_spill_finish(s, out, 1u << 31, &err), BLM_E_ARGUMENT);
    assert_false(blm_spill_filling(s));
    assert_int_equal(give(s, 1000, 2000, &err), BLM_OK);
    assert_int_equal(blm_spill_finish(s, out, BLM_REPLACE, &err), BLM_OK);
    blm_spill_free(s);
}

static void damage(const char *name, long at)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", spill, name);
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    fputc(0xff, f);
    fclose(f);
}

static void test_damaged(void **state)
{
    (void)state;
    blm_error  err;
    char       path[512];
    blm_spill *s = open_or_fail(&shapes[3]);
    assert_int_equal(give(s, 0, 10000, &err), BLM_OK);
    assert_int_equal(blm_spill_sync(s, &err), BLM_OK);
    blm_spill_free(s);
    damage("part.1", 19); /* in its first record */
    s = open_or_fail(&shapes[3]);
    assert_int_equal(give(s, 0, 10000, &err), BLM_OK);
    assert_int_equal(blm_spill_finish(s, out, 0, &err), BLM_E_CHECKSUM);
    blm_spill_free(s);
    snprintf(path, sizeof path, "%s/part.2", spill);
    assert_int_equal(truncate(path, 5), 0);
    assert_int_equal(open_status(spill, &shapes[3], MEMORY), BLM_E_TRUNCATED);
    damage("state", 40);
    assert_int_equal(open_status(spill, &shapes[3], MEMORY), BLM_E_CHECKSUM);
}

/* The words are gone when a save that was stopped is gone on with. */
static void test_words_cut_off(void **state)
{
    (void)state;
    blm_error   err;
    blm_options o = shapes[3];
    uint64_t    left, hash;
    blm_spill  *s;
    char        path[512];
    o.progress     = stop_at;
    o.progress_ctx = &left;
    snprintf(path, sizeof path, "%s/words", spill);
    for (uint64_t most = 0;; most++) { /* until it is the save that is stopped */
        left = most;
        s    = open_or_fail(&o);
        if (!blm_spill_filling(s))
            assert_int_equal(give(s, 0, KEYS, &err), BLM_OK);
        assert_int_equal(blm_spill_finish(s, out, 0, &err), BLM_E_CANCELLED);
        blm_status st = blm_spill_hash_many(s, &(blm_key){ "a", 1 }, 1, &hash);
        blm_spill_free(s);
        if (st == BLM_E_ARGUMENT)
            break;
    }
    assert_int_equal(truncate(path, 100), 0);
    s = open_or_fail(&shapes[3]);
    assert_int_equal(blm_spill_finish(s, out, 0, &err), BLM_E_TRUNCATED);
    blm_spill_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_bytes, begin, end),
        cmocka_unit_test_setup_teardown(test_empty_and_seed, begin, end),
        cmocka_unit_test_setup_teardown(test_resumed, begin, end),
        cmocka_unit_test_setup_teardown(test_full_disk, begin, end),
        cmocka_unit_test_setup_teardown(test_cancelled, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_paths_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_damaged, begin, end),
        cmocka_unit_test_setup_teardown(test_words_cut_off, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
