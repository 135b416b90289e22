/* SPDX-License-Identifier: MIT */
/* The native format, version 1, byte for byte, with the scheme's versions 1 and 2 (keyed-…, whose keys
 * have every length up to 600): files of every kind in tests/golden/native, which
 * are read for ever, and which the same filters, made anew, must still be written as. If this
 * fails, the format has changed, or the hash, the probes, the sizing: files out there can no longer
 * be read, or filters of two versions no longer meet. Do not write the files anew;
 * make a new version.
 *
 * BLM_WRITE_GOLDEN=1 writes those that are missing, for kinds to come. */
#include "unit/support.h"

#include "api/filter.h"
#include "golden.h"
#include "unit/files.h"
#include "unit/fixed.h"

#define KEYS      200u
#define LONG_KEYS 601u

struct pinned {
    const char *name;
    blm_options o;
    bool        plain; /* what blm_reduce makes of it */
    bool        long_keys;
};

#define OPTIONS(...)                                                      \
    {                                                                     \
        .size = sizeof(blm_options), .flags = BLM_SEEDED, .rate = 0.01,   \
        .seed = { 0x0123456789abcdefu, 0xfedcba9876543210u }, __VA_ARGS__ \
    }

/* Later than any machine's time: a window goes on from there, whenever the file is read. */
static uint64_t far_ahead(void *ctx)
{
    (void)ctx;
    return (uint64_t)1 << 43;
}

static const struct pinned pinned[] = {
    { "classic", OPTIONS(.version = 1, .kind = BLM_CLASSIC, .items = KEYS), false, false },
    { "classic-siphash",
      OPTIONS(.version = 1, .kind = BLM_CLASSIC, .items = KEYS, .hash = BLM_HASH_SIPHASH), false,
      false },
    { "blocked-1", OPTIONS(.version = 1, .kind = BLM_BLOCKED, .items = KEYS, .lines = 1), false,
      false },
    { "blocked-2", OPTIONS(.version = 1, .kind = BLM_BLOCKED, .items = KEYS, .lines = 2), false,
      false },
    { "blocked-3", OPTIONS(.version = 1, .kind = BLM_BLOCKED, .items = KEYS, .lines = 3), false,
      false },
    { "counting-1", OPTIONS(.version = 1, .kind = BLM_COUNTING, .items = KEYS, .lines = 1), false,
      false },
    { "counting-5", OPTIONS(.version = 1, .kind = BLM_COUNTING, .items = KEYS, .lines = 5), false,
      false },
    { "plain", OPTIONS(.version = 1, .kind = BLM_COUNTING, .items = KEYS, .lines = 2), true,
      false },
    { "scalable", OPTIONS(.version = 1, .kind = BLM_SCALABLE, .items = 10), false, false },
    { "scalable-classic",
      OPTIONS(.version = 1, .kind = BLM_SCALABLE, .items = 50, .growth = 2, .layer_classic = true),
      false, false },
    { "keyed-classic", OPTIONS(.kind = BLM_CLASSIC, .items = LONG_KEYS), false, true },
    { "keyed-blocked-1", OPTIONS(.kind = BLM_BLOCKED, .items = LONG_KEYS, .lines = 1), false,
      true },
    { "keyed-counting-1", OPTIONS(.kind = BLM_COUNTING, .items = LONG_KEYS, .lines = 1), false,
      true },
    { "keyed-scalable", OPTIONS(.kind = BLM_SCALABLE, .items = 10), false, true },
    { "window", OPTIONS(.kind = BLM_WINDOW, .items = 100), false, true },
    { "window-64", OPTIONS(.kind = BLM_WINDOW, .items = 630, .slack = 0.016), false, true },
    { "window-time",
      OPTIONS(.kind = BLM_WINDOW, .items = LONG_KEYS, .window_ms = 86400000, .clock = far_ahead),
      false, true },
    { "cuckoo-even", OPTIONS(.kind = BLM_CUCKOO, .items = LONG_KEYS), false, true },
    { "cuckoo-even-grown", OPTIONS(.kind = BLM_CUCKOO, .items = 50, .growth = 2), false, true },
    { "keyed-static", OPTIONS(.kind = BLM_STATIC), false, true },
    { "cascade-apart", OPTIONS(.kind = BLM_CASCADE), false, true },
};

static void key_of(uint64_t i, uint8_t key[LONG_KEYS])
{
    for (size_t j = 0; j < LONG_KEYS; j++)
        key[j] = (uint8_t)(i * 131 + j * 29);
    blm__put64le(key, i);
}

/* Built at once; a cascade is without the numbers from KEYS on, of eight bytes. */
static blm_filter *built(const struct pinned *p)
{
    blm_builder *b   = builder_of(&p->o);
    uint64_t    *out = numbers(KEYS, 20 * KEYS);
    for (uint64_t i = 0; i < 20 * KEYS; i++)
        blm__put64le((uint8_t *)(out + i), KEYS + i);
    for (size_t i = 0; i < LONG_KEYS; i++) {
        uint8_t key[LONG_KEYS];
        blm_key k = { key, i };
        key_of(i, key);
        if (i != 8)
            assert_status(blm_builder_add(b, &k, 1), BLM_OK);
    }
    if (p->o.kind == BLM_CASCADE)
        assert_status(blm_builder_exclude_fixed(b, out, 8, 20 * KEYS), BLM_OK);
    free(out);
    return build_and_free(b);
}

static blm_filter *made(const struct pinned *p)
{
    if (!(blm_kind_find(p->o.kind)->can & BLM_CAN_ADD))
        return built(p);
    blm_filter *f = make(&p->o), *g;
    for (size_t i = 0; i < (p->long_keys ? LONG_KEYS : KEYS); i++) {
        uint8_t key[LONG_KEYS];
        key_of(i, key);
        assert_true(blm_add(f, key, p->long_keys ? i : 8) >= 0);
    }
    if (!p->plain)
        return f;
    assert_status(blm_reduce(f, &g, NULL), BLM_OK);
    blm_free(f);
    return g;
}

static void write_missing(const char *path, const blm_filter *f)
{
    FILE *there = fopen(path, "rb");
    if (there) {
        fclose(there);
        return;
    }
    assert_status(blm_save(f, path, "native", 0, NULL), BLM_OK);
}

static void files_are_what_they_were(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pinned); i++) {
        char        name[64], path[512];
        blm_filter *f = made(&pinned[i]), *g = NULL;
        blm_error   e = { .text = "" };
        snprintf(name, sizeof name, "native/%s.blm", pinned[i].name);
        snprintf(path, sizeof path, TEST_DATA "/golden/%s", name);
        if (getenv("BLM_WRITE_GOLDEN"))
            write_missing(path, f);
        struct golden_file file = golden_read(name);
        blm_status         st   = blm_decode(file.data, file.len, NULL, &g, &e);
        if (st != BLM_OK)
            fail_msg("%s: %s", name, e.text);
        if (!blm_equal(f, g) || params_of(f).items != params_of(g).items)
            fail_msg("%s: the same keys give another filter", name);
        assert_true(params_of(g).rate == params_of(f).rate);
        struct bytes now = encoded(f);
        if (now.len != file.len || memcmp(now.p, file.data, now.len) != 0)
            fail_msg("%s: the same filter is now written otherwise", name);
        free(now.p);
        golden_free_file(&file);
        blm_free(f);
        blm_free(g);
    }
}

/* Such a file answers for the keys that it was made of (but for one length) and is written back as it
 * is. */
static void is_kept(const char *name, size_t but, uint64_t ones)
{
    struct golden_file file = golden_read(name);
    blm_filter        *f    = NULL;
    assert_status(blm_decode(file.data, file.len, NULL, &f, NULL), BLM_OK);
    for (size_t j = 0; j < LONG_KEYS; j++) {
        uint8_t key[LONG_KEYS];
        key_of(j, key);
        assert_true(j == but || blm_check(f, key, j));
    }
    assert_true(params_of(f).items == LONG_KEYS - (but < LONG_KEYS));
    assert_true(ones == 0 || stats_of(f).ones == ones);
    struct bytes now = encoded(f);
    assert_int_equal(now.len, file.len);
    assert_memory_equal(now.p, file.data, now.len);
    free(now.p);
    golden_free_file(&file);
    blm_free(f);
}

static void excludes(const char *name)
{
    blm_filter        *f    = NULL;
    struct golden_file file = golden_read(name);
    assert_status(blm_decode(file.data, file.len, NULL, &f, NULL), BLM_OK);
    for (uint64_t i = KEYS; i < 21 * KEYS; i++) {
        uint8_t key[8];
        blm__put64le(key, i);
        assert_false(blm_check(f, key, 8));
    }
    golden_free_file(&file);
    blm_free(f);
}

/* Cuckoo files of when a key went into the first of its buckets that had a free cell, and a cascade of
 * when keys were only taken away, and of when both levels began with the same factor: where a key lies,
 * and in how many cells, is the writer's choice. */
static void a_writer_s_choice_is_kept(void **state)
{
    (void)state;
    is_kept("native/cuckoo.blm", LONG_KEYS, LONG_KEYS);
    is_kept("native/cuckoo-grown.blm", LONG_KEYS, LONG_KEYS);
    is_kept("native/keyed-cascade.blm", 8, 0);
    is_kept("native/cascade-solved.blm", 8, 0);
    excludes("native/keyed-cascade.blm");
    excludes("native/cascade-solved.blm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_what_they_were),
        cmocka_unit_test(a_writer_s_choice_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
