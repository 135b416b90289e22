/* SPDX-License-Identifier: MIT */
/* Native files asked by small reads: the answers of the filter itself, for every kind that can; what
 * the reads cost; and readers that fail, lie or hold damaged bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "bloomery/far.h"
#include "bloomery/fixed.h"
#include "foreign.h"

#define KEYS 20000u

struct far_file {
    struct golden_file bytes;
    uint64_t           reads, fail_at; /* the number of the read that fails */
    blm_status         with;
    uint64_t           largest;
};

static blm_status read_far(void *ctx, uint64_t offset, void *bytes, size_t len, blm_error *err)
{
    struct far_file *f = ctx;
    if (f->reads++ == f->fail_at) {
        if (f->with == BLM_E_CANCELLED)
            snprintf(err->text, sizeof err->text, "the bucket is closed");
        memset(bytes, 0, len); /* what a careless caller would take for clear cells */
        return f->with;
    }
    assert_true(len > 0 && offset <= f->bytes.len && len <= f->bytes.len - offset);
    memcpy(bytes, f->bytes.data + offset, len);
    if (len > f->largest)
        f->largest = len;
    return BLM_OK;
}

static blm_far *open_far(struct far_file *file, uint32_t flags)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_far    *far;
    blm_error   err;
    o.flags = flags;
    if (blm_far_open(read_far, file, file->bytes.len, &o, &far, &err) != BLM_OK)
        fail_msg("%s", err.text);
    return far;
}

static struct far_file file_of(const blm_filter *f)
{
    struct far_file file = { .bytes = encode_as(f, "native"), .fail_at = UINT64_MAX };
    return file;
}

struct flavour {
    const char *name;
    blm_options o;
    uint64_t    opening, one; /* reads at most: to open, and for one check, with a gap of 0 */
};

#define O(...)                                                                       \
    {                                                                                \
        .size = sizeof(blm_options), .flags = BLM_SEEDED, .seed = { 7 }, __VA_ARGS__ \
    }
#define F(...)                                   \
    {                                            \
        .size = sizeof(blm_options), __VA_ARGS__ \
    }
static const struct flavour flavours[] = {
    { "blocked", O(.kind = BLM_BLOCKED, .items = KEYS, .rate = 0.01), 1, 1 },
    { "blocked, three lines", O(.kind = BLM_BLOCKED, .items = KEYS, .rate = 1e-7, .lines = 3), 1,
      3 },
    { "classic", O(.kind = BLM_CLASSIC, .items = KEYS, .rate = 0.01), 1, 7 },
    { "counting", O(.kind = BLM_COUNTING, .items = KEYS, .rate = 0.01), 1, 3 },
    { "scalable", O(.kind = BLM_SCALABLE, .items = KEYS / 20, .rate = 0.01), 3, 6 },
    { "cuckoo", O(.kind = BLM_CUCKOO, .items = KEYS, .rate = 0.001), 1, 2 },
    { "cuckoo that grew", O(.kind = BLM_CUCKOO, .items = KEYS / 4, .rate = 0.001, .growth = 2), 3,
      6 },
    { "siphash", O(.kind = BLM_BLOCKED, .items = KEYS, .rate = 0.01, .hash = BLM_HASH_SIPHASH), 1,
      1 },
    { "guava", F(.scheme = "guava", .items = KEYS, .rate = 0.01), 1, 7 },
    { "redisbloom", F(.scheme = "redisbloom", .items = KEYS, .rate = 0.01), 1, 8 },
    { "static", O(.kind = BLM_STATIC, .rate = 0.004), 2, 3 },
    { "static, odd cells", O(.kind = BLM_STATIC, .rate = 1e-6), 2, 3 },
    { "cascade", O(.kind = BLM_CASCADE, .rate = 0.001), 7, 6 },
    { "parquet", F(.scheme = "parquet", .items = KEYS, .rate = 0.01), 1, 8 },
    { "spark2", F(.scheme = "spark2", .items = KEYS, .rate = 0.01), 1, 7 },
    { "bip37", F(.scheme = "bip37", .items = KEYS / 40, .rate = 0.01), 1, 7 },
    { "counting polynomial",
      F(.kind = BLM_COUNTING, .scheme = "polynomial", .items = KEYS, .rate = 0.01), 1, 7 },
};
#define FLAVOURS (sizeof flavours / sizeof *flavours)

/* The numbers up to KEYS; a cascade's excluded keys are half of those after them. */
static blm_filter *built(const blm_options *o)
{
    blm_builder *b;
    blm_filter  *f;
    assert_int_equal(blm_builder_new(o, &b, NULL), BLM_OK);
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal(blm_builder_add_fixed(b, &i, 8, 1), BLM_OK);
    for (uint64_t i = KEYS; o->kind == BLM_CASCADE && i < 2 * KEYS; i += 2)
        assert_int_equal(blm_builder_exclude_fixed(b, &i, 8, 1), BLM_OK);
    assert_int_equal(blm_builder_build(b, &f, NULL), BLM_OK);
    blm_builder_free(b);
    return f;
}

static blm_filter *filled(const blm_options *o)
{
    if (o->kind == BLM_STATIC || o->kind == BLM_CASCADE)
        return built(o);
    blm_filter *f    = create_or_fail(o);
    uint64_t    most = strcmp(o->scheme ? o->scheme : "", "bip37") == 0 ? KEYS / 40 : KEYS;
    for (uint64_t i = 0; i < most; i++)
        assert_true(blm_add(f, &i, sizeof i) >= 0);
    return f;
}

static blm_key key_at(uint64_t *store, uint64_t i)
{
    store[i] = i;
    return (blm_key){ &store[i], sizeof *store };
}

/* One by one and in batches, with and without checksums: the filter's own answers. */
static void test_answers(void **state)
{
    (void)state;
    static uint64_t store[2 * KEYS];
    static blm_key  keys[2 * KEYS];
    static uint8_t  want[2 * KEYS], got[2 * KEYS];
    for (uint64_t i = 0; i < 2 * KEYS; i++)
        keys[i] = key_at(store, i);
    for (size_t k = 0; k < FLAVOURS; k++) {
        blm_filter     *f    = filled(&flavours[k].o);
        struct far_file file = file_of(f);
        blm_check_many(f, keys, 2 * KEYS, want);
        for (uint32_t verify = 0; verify <= BLM_VERIFY; verify += BLM_VERIFY) {
            blm_far  *far = open_far(&file, verify);
            blm_error err;
            assert_int_equal(blm_far_check_many(far, keys, 2 * KEYS, got, &err), BLM_OK);
            for (size_t i = 0; i < 2 * KEYS; i++)
                if (got[i] != want[i])
                    fail_msg("%s: key %zu is %d, not %d", flavours[k].name, i, got[i], want[i]);
            for (uint64_t i = 0; i < 2 * KEYS; i += verify ? 997 : 41) {
                bool maybe;
                assert_int_equal(blm_far_check(far, keys[i].data, keys[i].len, &maybe, &err),
                                 BLM_OK);
                assert_int_equal(maybe, want[i]);
            }
            blm_far_free(far);
        }
        blm_free(f);
        golden_free_file(&file.bytes);
    }
}

/* What opening and a check cost, and that a batch reads each stretch once. */
static void test_costs(void **state)
{
    (void)state;
    for (size_t k = 0; k < FLAVOURS; k++) {
        blm_filter     *f     = filled(&flavours[k].o);
        struct far_file file  = file_of(f);
        blm_far        *far   = open_far(&file, 0);
        blm_far_reads   reads = { .size = sizeof reads };
        blm_error       err;
        if (file.reads > flavours[k].opening)
            fail_msg("%s: opened by %d reads", flavours[k].name, (int)file.reads);
        blm_far_set_gap(far, 0);
        uint64_t before, worst = 0;
        file.largest = 0;
        for (uint64_t i = 0; i<2 * KEYS; i += 13, worst = file.reads> worst ? file.reads : worst) {
            bool maybe;
            file.reads = 0;
            assert_int_equal(blm_far_check(far, &i, sizeof i, &maybe, &err), BLM_OK);
        }
        blm_far_set_gap(far, 63);
        worst = 0;
        for (uint64_t i = 0; i<2 * KEYS; i += 13, worst = file.reads> worst ? file.reads : worst) {
            bool maybe;
            file.reads = 0;
            assert_int_equal(blm_far_check(far, &i, sizeof i, &maybe, &err), BLM_OK);
        }
        bool regions = flavours[k].o.kind == BLM_CASCADE; /* always verified */
        if (worst > flavours[k].one || worst == 0 || (file.largest > 64 * 8 && !regions))
            fail_msg("%s: a check took %d reads, one of %d bytes", flavours[k].name, (int)worst,
                     (int)file.largest);
        assert_int_equal(blm_far_get_reads(far, &reads), BLM_OK);
        before = reads.reads;
        blm_far_set_gap(far, 1 << 20);
        static uint64_t store[2000];
        static blm_key  keys[2000];
        static uint8_t  maybe[2000];
        for (uint64_t i = 0; i < 2000; i++)
            keys[i] = key_at(store, i);
        assert_int_equal(blm_far_check_many(far, keys, 2000, maybe, &err), BLM_OK);
        assert_int_equal(blm_far_get_reads(far, &reads), BLM_OK);
        assert_true(reads.reads - before <= 6); /* a layer each, as they are small */
        assert_true(reads.bytes > 0);
        blm_far_free(far);
        blm_free(f);
        golden_free_file(&file.bytes);
    }
}

/* A cascade's bytes are verified without being asked: a damaged one answers nothing. */
static void test_damaged_cascade(void **state)
{
    (void)state;
    blm_options o   = O(.kind = BLM_CASCADE, .rate = 0.001);
    blm_filter *f   = filled(&o);
    uint64_t    key = 5;
    for (size_t level = 0; level < 2; level++) {
        struct far_file file = file_of(f);
        size_t          at   = level ? file.bytes.len - 4096 : file.bytes.len / 4;
        blm_far        *far  = NULL;
        blm_error       err;
        bool            maybe = false;
        file.bytes.data[at] ^= 4;
        blm_status st = blm_far_open(read_far, &file, file.bytes.len, NULL, &far, &err);
        for (; st == BLM_OK && key < 2 * KEYS; key++)
            st = blm_far_check(far, &key, sizeof key, &maybe, &err);
        assert_int_equal(st, BLM_E_CHECKSUM);
        assert_true(!far || maybe);
        blm_far_free(far);
        golden_free_file(&file.bytes);
    }
    blm_free(f);
}

static void test_params(void **state)
{
    (void)state;
    blm_filter     *f    = filled(&flavours[0].o);
    struct far_file file = file_of(f);
    blm_far        *far  = open_far(&file, 0);
    blm_params      p = { .size = sizeof p }, q = { .size = sizeof q };
    blm_error       err;
    bool            maybe;
    assert_int_equal(blm_far_get_params(far, &p), BLM_OK);
    assert_int_equal(blm_get_params(f, &q), BLM_OK);
    assert_int_equal(p.kind, BLM_BLOCKED);
    assert_int_equal(p.bits, q.bits);
    assert_int_equal(p.items, q.items);
    assert_int_equal(blm_far_check_many(far, NULL, 1, NULL, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_far_check_many(far, NULL, 0, NULL, &err), BLM_OK);
    assert_int_equal(blm_far_check(far, NULL, 3, &maybe, &err), BLM_E_ARGUMENT);
    assert_true(maybe);
    assert_int_equal(blm_far_get_reads(far, &(blm_far_reads){ .size = 0 }), BLM_E_ARGUMENT);
    blm_far_free(far);
    blm_far_free(NULL);
    assert_int_equal(blm_far_open(NULL, NULL, 0, NULL, &far, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_far_open(read_far, &file, file.bytes.len, NULL, NULL, &err),
                     BLM_E_ARGUMENT);
    blm_free(f);
    golden_free_file(&file.bytes);
}

static blm_status far_status(struct far_file *file, uint64_t size, blm_error *err)
{
    blm_far   *far = NULL;
    blm_status st  = blm_far_open(read_far, file, size, NULL, &far, err);
    assert_true((st == BLM_OK) == (far != NULL));
    blm_far_free(far);
    return st;
}

/* Kinds of which more than cells decide, files with a writer, and what is no native file. */
static void test_refused(void **state)
{
    (void)state;
    blm_options     o    = O(.kind = BLM_WINDOW, .items = 1000, .rate = 0.01);
    blm_filter     *f    = create_or_fail(&o);
    struct far_file file = file_of(f);
    blm_error       err;
    assert_int_equal(far_status(&file, file.bytes.len, &err), BLM_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "window"));
    blm_free(f);
    golden_free_file(&file.bytes);
    file.bytes = golden_read("guava/m64-small10/filter.bin");
    assert_int_equal(far_status(&file, file.bytes.len, &err), BLM_E_FORMAT);
    golden_free_file(&file.bytes);

    char        dir[] = "/tmp/bloomery-far-XXXXXX", path[64];
    blm_options made  = O(.items = 1000, .rate = 0.01);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/f.blm", dir);
    assert_int_equal(blm_create_file(path, &made, &f, &err), BLM_OK);
    blm_add(f, "key", 3);
    FILE *in        = fopen(path, "rb");
    file.bytes.data = malloc(1 << 20);
    file.bytes.len  = fread(file.bytes.data, 1, 1 << 20, in);
    fclose(in);
    assert_int_equal(far_status(&file, file.bytes.len, &err), BLM_E_BUSY);
    golden_free_file(&file.bytes);
    blm_free(f);
    remove(path);
    rmdir(dir);
}

static void test_cut(void **state)
{
    (void)state;
    blm_options     o    = O(.items = 1000, .rate = 0.01);
    blm_filter     *f    = create_or_fail(&o);
    struct far_file file = file_of(f);
    blm_error       err;
    for (uint64_t size = 0; size < file.bytes.len; size += size < 2000 ? 1 : 97) {
        blm_status st = far_status(&file, size, &err);
        assert_true(st == BLM_E_TRUNCATED || st == BLM_E_FORMAT);
        assert_true(err.text[0]);
    }
    blm_free(f);
    golden_free_file(&file.bytes);
}

/* Every read fails once, in the opening and in a batch: never a no, and by its own name. */
static void test_reader_fails(void **state)
{
    (void)state;
    static const blm_status with[] = { BLM_E_IO, BLM_E_CANCELLED, BLM_PRESENT };
    for (size_t k = 0; k < FLAVOURS; k++)
        for (size_t w = 0; w < 3; w++) {
            blm_filter     *f    = filled(&flavours[k].o);
            struct far_file file = file_of(f);
            file.with            = with[w];
            uint64_t   store[64];
            blm_key    keys[64];
            blm_error  err;
            blm_status expect = with[w] < 0 ? with[w] : BLM_E_IO;
            for (uint64_t i = 0; i < 64; i++) {
                store[i] = i * 1000;
                keys[i]  = (blm_key){ &store[i], sizeof *store };
            }
            file.fail_at = 0;
            assert_int_equal(far_status(&file, file.bytes.len, &err), expect);
            file.fail_at = UINT64_MAX;
            blm_far *far = open_far(&file, 0);
            blm_far_set_gap(far, 0);
            blm_status st = expect;
            for (uint64_t at = 0; st != BLM_OK; at++) {
                uint8_t maybe[64];
                file.reads   = 0;
                file.fail_at = at;
                err.text[0]  = 0;
                st           = blm_far_check_many(far, keys, 64, maybe, &err);
                assert_true(st == BLM_OK || st == expect);
                for (int i = 0; i < 64 && st != BLM_OK; i++)
                    assert_true(maybe[i]);
                assert_true(st == BLM_OK || err.text[0]);
                if (st == BLM_E_CANCELLED)
                    assert_string_equal(err.text, "the bucket is closed");
            }
            bool maybe   = false;
            file.reads   = 0;
            file.fail_at = 0;
            assert_int_equal(blm_far_check(far, "absent", 6, &maybe, &err), expect);
            assert_true(maybe);
            blm_far_free(far);
            blm_free(f);
            golden_free_file(&file.bytes);
        }
}

/* A flipped bit in the header, slots or record is found when the file is opened; in the cells, with
 * BLM_VERIFY, by whoever reads them. */
static void test_damage(void **state)
{
    (void)state;
    blm_options     o    = O(.items = 200000, .rate = 0.01);
    blm_filter     *f    = create_or_fail(&o);
    struct far_file file = file_of(f);
    blm_error       err;
    uint64_t        words = file.bytes.len;
    for (size_t at = 0; at < 512; at += 7) {
        file.bytes.data[at] ^= 4;
        assert_true(far_status(&file, file.bytes.len, &err) < 0);
        file.bytes.data[at] ^= 4;
    }
    for (size_t i = 0; i < 3; i++) { /* one region's last byte: the others still answer */
        blm_far *far  = open_far(&file, BLM_VERIFY);
        size_t   at   = file.bytes.len / 2 + i * 60000;
        uint64_t good = 0, bad = 0;
        file.bytes.data[at] ^= 16;
        for (uint64_t key = 0; key < 200; key++) {
            bool       maybe;
            blm_status st = blm_far_check(far, &key, sizeof key, &maybe, &err);
            assert_true(st == BLM_E_CHECKSUM || (st == BLM_OK && !maybe));
            assert_true(st == BLM_OK ||
                        (maybe && strstr(err.text, "damaged") && err.offset < words));
            good += st == BLM_OK;
            bad += st != BLM_OK;
        }
        assert_true(good > 0 && bad > 0);
        file.bytes.data[at] ^= 16;
        blm_far_free(far);
    }
    blm_free(f);
    golden_free_file(&file.bytes);
}

static void test_starved(void **state)
{
    (void)state;
    blm_filter     *f    = filled(&flavours[4].o);
    struct far_file file = file_of(f);
    struct counted  memory;
    blm_options     o  = BLM_OPTIONS_INIT;
    blm_status      st = BLM_E_MEMORY;
    blm_error       err;
    o.flags     = BLM_VERIFY;
    o.allocator = &memory.allocator;
    for (size_t fail_at = 1; st != BLM_OK; fail_at++) {
        blm_far *far   = NULL;
        bool     maybe = false;
        counted_start(&memory);
        memory.fail_at = fail_at;
        st             = blm_far_open(read_far, &file, file.bytes.len, &o, &far, &err);
        if (st == BLM_OK)
            st = blm_far_check(far, "absent", 6, &maybe, &err);
        assert_true(st == BLM_OK || st == BLM_E_MEMORY);
        assert_true(!far || st == BLM_OK || maybe);
        blm_far_free(far);
        assert_int_equal(memory.now, 0);
        assert_true(fail_at < 100);
    }
    blm_free(f);
    golden_free_file(&file.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),         cmocka_unit_test(test_costs),
        cmocka_unit_test(test_damaged_cascade), cmocka_unit_test(test_params),
        cmocka_unit_test(test_refused),         cmocka_unit_test(test_cut),
        cmocka_unit_test(test_reader_fails),    cmocka_unit_test(test_damage),
        cmocka_unit_test(test_starved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
