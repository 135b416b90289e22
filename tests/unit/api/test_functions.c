/* SPDX-License-Identifier: MIT */
/* The caller's own hash functions, and the caller's own positions. */
#include "bloomery/embed.h"
#include "unit/support.h"

#include "unit/files.h"

/* A textbook's two functions of a number: x mod m, and 3x + 1 mod m. */
static uint64_t two(void *ctx, uint32_t i, const void *key, size_t len)
{
    uint64_t x = 0;
    if (ctx)
        ++*(int *)ctx;
    for (size_t j = 0; j < len && j < 8; j++)
        x |= (uint64_t)((const uint8_t *)key)[j] << 8 * j;
    return i == 0 ? x : 3 * x + 1;
}

static blm_options ten_bits(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "functions";
    o.bits        = 10;
    o.probes      = 2;
    o.probe_fn    = two;
    o.hash_name   = "x-3x+1";
    return o;
}

static blm_status add(blm_filter *f, uint8_t x) { return blm_add(f, &x, 1); }
static bool       check(const blm_filter *f, uint8_t x) { return blm_check(f, &x, 1); }

/* 7 sets bits 7 and 2, 9 sets 9 and 8. Then 17 is a false positive, and 4 is absent. */
static void ten_bits_and_two_functions(void **state)
{
    (void)state;
    blm_options o     = ten_bits();
    int         calls = 0;
    o.probe_ctx       = &calls;
    blm_filter *f     = make(&o);
    uint64_t    pos[2], bytes;
    size_t      count;
    uint8_t     seven = 7;
    assert_int_equal(params_of(f).bits, 10);
    assert_string_equal(params_of(f).scheme, "functions");
    assert_string_equal(params_of(f).hash, "x-3x+1");
    assert_status(blm_positions(f, &seven, 1, pos, 2, &count), BLM_OK);
    assert_true(count == 2 && pos[0] == 7 && pos[1] == 2);
    assert_status(blm_positions_raw(f, &seven, 1, pos, 2, &count), BLM_OK);
    assert_true(count == 2 && pos[0] == 7 && pos[1] == 22);
    assert_int_equal(calls, 4);
    assert_status(add(f, 7), BLM_OK);
    assert_status(add(f, 9), BLM_OK);
    const uint8_t *bits = blm_view(f, 0, &bytes);
    assert_true(bytes == 2 && bits[0] == (1 << 7 | 1 << 2) && bits[1] == 3);
    assert_true(check(f, 7) && check(f, 9) && check(f, 17));
    assert_false(check(f, 4) || check(f, 3));
    assert_status(add(f, 17), BLM_PRESENT);
    assert_int_equal(params_of(f).items, 2);
    uint8_t keys[] = { 4, 7, 17, 3 }, maybe[4];
    assert_int_equal(blm_check_fixed(f, keys, 1, 4, maybe), 2);
    assert_memory_equal(maybe, ((uint8_t[]){ 0, 1, 1, 0 }), 4);
    blm_free(f);
}

static void counters_take_keys_back(void **state)
{
    (void)state;
    blm_options o = ten_bits();
    o.kind        = BLM_COUNTING;
    blm_filter *f = make(&o), *plain;
    uint8_t     x = 7;
    add(f, 7);
    add(f, 7);
    add(f, 9);
    assert_status(blm_remove(f, &x, 1), BLM_OK);
    assert_true(check(f, 7) && check(f, 9));
    assert_status(blm_reduce(f, &plain, NULL), BLM_OK);
    assert_true(check(plain, 7) && check(plain, 9) && !check(plain, 4));
    assert_status(blm_remove(f, &x, 1), BLM_OK);
    assert_true(!check(f, 7) && check(f, 9) && check(plain, 7));
    assert_status(blm_remove(f, &x, 1), BLM_E_ABSENT);
    blm_free(f);
    blm_free(plain);
}

/* Files say which functions they need, and are not opened without. */
static void files_remember_the_name(void **state)
{
    (void)state;
    blm_options o = ten_bits();
    blm_filter *f, *g;
    blm_error   e;
    assert_status(blm_create_file(at("f"), &o, &f, NULL), BLM_OK);
    add(f, 7);
    assert_status(blm_save(f, at("copy"), NULL, 0, NULL), BLM_OK);
    assert_status(blm_close(f, NULL), BLM_OK);
    for (int i = 0; i < 2; i++) {
        const char *path = at(i ? "copy" : "f");
        assert_status(blm_open(path, NULL, &g, &e), BLM_E_HASH);
        check_error(&e, BLM_E_HASH, "x-3x+1");
        blm_options wrong = ten_bits();
        wrong.hash_name   = "x-3x+2";
        assert_status(blm_open(path, &wrong, &g, &e), BLM_E_HASH);
        wrong          = ten_bits();
        wrong.probe_fn = NULL;
        assert_status(blm_open(path, &wrong, &g, &e), BLM_E_HASH);
        assert_status(blm_open(path, &o, &g, &e), BLM_OK);
        assert_true(check(g, 7) && !check(g, 4));
        blm_free(g);
    }
}

/* Bits alone say nothing: they are read by the functions that they are read with. */
static void raw_bits_need_them_too(void **state)
{
    (void)state;
    const uint8_t bits[2] = { 1 << 7 | 1 << 2, 0 };
    blm_options   o       = ten_bits();
    blm_filter   *f;
    o.format = "raw";
    assert_status(blm_decode(bits, 2, &o, &f, NULL), BLM_OK);
    assert_true(check(f, 7) && !check(f, 4));
    blm_free(f);
    o.probe_fn = NULL;
    assert_status(blm_decode(bits, 2, &o, &f, NULL), BLM_E_HASH);
    o.probe_fn  = two;
    o.hash_name = NULL;
    assert_status(blm_decode(bits, 2, &o, &f, NULL), BLM_E_HASH);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    blm_options o = ten_bits();
    blm_filter *f;
    blm_error   e;
    o.probe_fn = NULL;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "probe_fn");
    o           = ten_bits();
    o.hash_name = NULL;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "hash_name");
    o.hash_name = "sixteen bytes...";
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    o        = ten_bits();
    o.probes = 27;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    o      = ten_bits();
    o.kind = BLM_BLOCKED;
    assert_status(blm_create(&o, &f, &e), BLM_E_UNSUPPORTED);
}

/* Two filters of the same functions meet; of others, they do not. */
static void they_meet_by_name(void **state)
{
    (void)state;
    blm_options o = ten_bits();
    blm_filter *f = make(&o), *g = make(&o), *other, *copy;
    o.hash_name = "others";
    other       = make(&o);
    add(g, 9);
    assert_status(blm_union(f, g, NULL), BLM_OK);
    assert_true(check(f, 9));
    assert_status(blm_can_meet(f, other, NULL), BLM_E_MISMATCH);
    assert_status(blm_copy(f, &copy, NULL), BLM_OK);
    assert_true(check(copy, 9) && blm_equal(f, copy));
    blm_digest d;
    uint8_t    nine = 9;
    assert_status(blm_digest_of(f, &nine, 1, &d), BLM_OK);
    assert_true(blm_check_digest(copy, &d));
    assert_status(blm_add_digest(other, &d), BLM_E_MISMATCH);
    blm_free(f);
    blm_free(g);
    blm_free(other);
    blm_free(copy);
}

/* ---- positions ---- */

/* A key's positions, added, are the key, added. */
static void positions_are_the_key(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        blm_filter *f = make_flavour(v, 300, 0.01, 3), *g = make_flavour(v, 300, 0.01, 3);
        uint64_t    pos[64];
        size_t      count;
        for (uint64_t i = 0; i < 400; i++) {
            assert_status(blm_positions(g, &i, 8, pos, 64, &count), BLM_OK);
            if (v->kind == BLM_SCALABLE) {
                assert_status(blm_add_positions(g, pos, count), BLM_E_UNSUPPORTED);
                break;
            }
            assert_int_equal(blm_add_positions(g, pos, count), blm_add(f, &i, 8));
        }
        if (v->kind != BLM_SCALABLE) {
            assert_true(same_bits(f, g));
            assert_int_equal(params_of(f).items, params_of(g).items);
        }
        blm_free(f);
        blm_free(g);
    }
}

static void what_is_no_position(void **state)
{
    (void)state;
    blm_options o      = ten_bits();
    blm_filter *f      = make(&o);
    uint64_t    pos[3] = { 1, 10, 2 };
    assert_status(blm_add_positions(f, pos, 3), BLM_E_ARGUMENT);
    assert_int_equal(stats_of(f).ones, 0);
    assert_status(blm_add_positions(f, NULL, 1), BLM_E_ARGUMENT);
    assert_status(blm_add_positions(f, NULL, 0), BLM_PRESENT);
    pos[1] = 9;
    assert_status(blm_add_positions(f, pos, 3), BLM_OK);
    assert_status(blm_add_positions(f, pos, 2), BLM_PRESENT);
    assert_true(blm_check_positions(f, pos, 3) && params_of(f).items == 1);
    blm_free(f);
}

/* A file keeps them; one that is only read takes none. */
static void files_keep_them(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    uint64_t    pos[2] = { 3, 700 };
    o.bits             = 1000;
    o.probes           = 2;
    assert_status(blm_create_file(at("f"), &o, &f, NULL), BLM_OK);
    assert_status(blm_add_positions(f, pos, 2), BLM_OK);
    assert_status(blm_close(f, NULL), BLM_OK);
    assert_status(blm_open(at("f"), NULL, &f, NULL), BLM_OK);
    assert_true(blm_check_positions(f, pos, 2) && params_of(f).items == 1);
    assert_status(blm_verify(f, NULL, NULL), BLM_OK);
    assert_status(blm_add_positions(f, pos, 2), BLM_E_READONLY);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_bits_and_two_functions),
        cmocka_unit_test(counters_take_keys_back),
        file_test(files_remember_the_name),
        cmocka_unit_test(raw_bits_need_them_too),
        cmocka_unit_test(what_is_missing_is_named),
        cmocka_unit_test(they_meet_by_name),
        cmocka_unit_test(positions_are_the_key),
        cmocka_unit_test(what_is_no_position),
        file_test(files_keep_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
