/* SPDX-License-Identifier: MIT */
/* Every call of Go's bloom has a counterpart here (docs/formats/go.md has the table): sizes,
 * locations and rates are what Go printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "core/bytes.h"
#include "foreign.h"

static blm_filter *new_go(uint64_t m, uint32_t k)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "go";
    o.bits        = m;
    o.probes      = k;
    return create_or_fail(&o);
}

static blm_params params_of(const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    return p;
}

/* EstimateParameters and NewWithEstimates. Columns: n, p, m, k. */
static void test_estimate_parameters(void **state)
{
    (void)state;
    struct golden_file f = golden_read("go/tables/sizing.tsv");
    char              *field[4], *line = golden_line(&f, NULL);
    size_t             rows = 0;
    for (; (line = golden_line(&f, NULL)); rows++) {
        assert_int_equal(golden_fields(line, field, 4), 4);
        blm_options o = BLM_OPTIONS_INIT;
        blm_plan    p = { .size = sizeof p };
        o.scheme      = "go";
        o.items       = strtoull(field[0], NULL, 10);
        o.rate        = strtod(field[1], NULL);
        assert_int_equal(blm_plan_for(&o, &p, NULL), BLM_OK);
        assert_int_equal(p.bits, strtoull(field[2], NULL, 10));
        assert_int_equal(p.probes, strtoul(field[3], NULL, 10));
    }
    assert_int_equal(rows, 238);
    golden_free_file(&f);
}

/* New, Cap, K: 0 becomes 1. */
static void test_new(void **state)
{
    (void)state;
    static const struct {
        uint64_t m;
        uint32_t k;
        uint64_t cap;
        uint32_t probes;
    } rows[] = { { 1000, 4, 1000, 4 }, { 0, 4, 1, 4 }, { 1000, 0, 1000, 1 }, { 0, 0, 1, 1 } };
    for (size_t i = 0; i < 4; i++) {
        blm_filter *f = new_go(rows[i].m, rows[i].k);
        assert_int_equal(params_of(f).bits, rows[i].cap);
        assert_int_equal(params_of(f).probes, rows[i].probes);
        blm_free(f);
    }
    blm_filter        *f    = new_go(0, 3);
    struct golden_file want = golden_read("go/lengths/new-0-3.bin"), got = encode_as(f, NULL);
    assert_same_bytes(&got, &want);
    blm_free(f);
    golden_free_file(&want);
    golden_free_file(&got);
}

/* From and FromWithM: the caller's words, not cleared, and changed by adds. */
static void test_from(void **state)
{
    (void)state;
    uint64_t    words[4] = { 0 };
    blm_options o        = BLM_OPTIONS_INIT;
    o.scheme             = "go";
    o.probes             = 5;
    o.words              = words;
    o.word_count         = 4;
    blm_filter *f        = create_or_fail(&o);
    assert_int_equal(params_of(f).bits, 256);
    blm_add(f, "love", 4);
    assert_true(words[0] | words[1] | words[2] | words[3]);
    blm_filter *again = create_or_fail(&o);
    assert_true(blm_check(again, "love", 4));
    blm_free(f);
    blm_free(again);
    memset(words, 0, sizeof words);
    o.bits   = 130;
    o.probes = 2;
    f        = create_or_fail(&o);
    assert_int_equal(params_of(f).bits, 130);
    struct golden_file got = encode_as(f, NULL); /* the set is as long as the words */
    assert_int_equal(got.len, 24 + 32);
    assert_int_equal(blm__get64be(got.data + 16), 256);
    blm_free(f);
    golden_free_file(&got);
}

/* Add, Test, TestAndAdd, TestOrAdd: what add returns is what Test would have said before. */
static void test_add(void **state)
{
    (void)state;
    blm_filter *f = new_go(1000, 4);
    assert_false(blm_check(f, "love", 4));
    assert_int_equal(blm_add(f, "love", 4), BLM_OK);
    assert_int_equal(blm_add(f, "love", 4), BLM_PRESENT);
    assert_true(blm_check(f, "love", 4));
    for (uint32_t i = 0; i < 2000; i++) {
        bool before = blm_check(f, &i, sizeof i);
        assert_int_equal(blm_add(f, &i, sizeof i), before ? BLM_PRESENT : BLM_OK);
    }
    blm_free(f);
}

/* Locations: eight unreduced values a key, as Go printed them; TestLocations over them. */
static void test_locations(void **state)
{
    (void)state;
    struct golden_file f = golden_read("go/tables/locations.tsv");
    char              *field[2], *line = golden_line(&f, NULL);
    size_t             rows = 0;
    blm_filter        *g    = new_go(1000, 8);
    for (; (line = golden_line(&f, NULL)); rows++) {
        uint64_t raw[8], pos[8];
        size_t   count;
        assert_int_equal(golden_fields(line, field, 2), 2);
        blm_key key  = { field[0], golden_unhex(field[0]) };
        char   *list = field[1];
        assert_int_equal(blm_positions_raw(g, key.data, key.len, raw, 8, &count), BLM_OK);
        assert_int_equal(count, 8);
        assert_int_equal(blm_locations("go", 8, key.data, key.len, pos), BLM_OK);
        assert_memory_equal(pos, raw, sizeof raw);
        assert_int_equal(blm_locations("go", 3, key.data, key.len, pos), BLM_OK);
        assert_memory_equal(pos, raw, 3 * sizeof *raw);
        assert_int_equal(blm_positions(g, key.data, key.len, pos, 8, &count), BLM_OK);
        for (size_t i = 0; i < 8; i++, list++) {
            assert_int_equal(raw[i], strtoull(list, &list, 10));
            assert_int_equal(pos[i], raw[i] % 1000);
        }
        blm_clear(g);
        assert_false(blm_check_positions_raw(g, raw, 8));
        blm_add(g, key.data, key.len);
        assert_true(blm_check_positions_raw(g, raw, 8));
        assert_true(blm_check_positions_raw(g, raw, 3));
        assert_true(blm_check_positions_raw(g, raw, 0));
    }
    assert_int_equal(rows, 51);
    blm_free(g);
    golden_free_file(&f);
}

/* Merge, Copy, ClearAll, Equal. */
static void test_sets(void **state)
{
    (void)state;
    blm_filter *f = new_go(1000, 4), *g = new_go(1000, 4), *other = new_go(1001, 4), *copy;
    blm_filter *fewer = new_go(1000, 3);
    blm_error   err;
    blm_add(f, "a", 1);
    blm_add(g, "b", 1);
    assert_int_equal(blm_union(f, other, &err), BLM_E_MISMATCH);
    assert_int_equal(blm_union(f, fewer, &err), BLM_E_MISMATCH);
    assert_int_equal(blm_union(f, g, &err), BLM_OK);
    assert_true(blm_check(f, "a", 1) && blm_check(f, "b", 1));
    assert_int_equal(blm_copy(f, &copy, &err), BLM_OK);
    assert_true(blm_equal(f, copy));
    assert_false(blm_equal(f, g));
    assert_false(blm_equal(f, other));
    assert_int_equal(blm_clear(f), BLM_OK);
    assert_false(blm_check(f, "a", 1));
    assert_true(blm_check(copy, "a", 1));
    blm_free(f);
    blm_free(g);
    blm_free(other);
    blm_free(fewer);
    blm_free(copy);
}

/* ApproximatedSize, as the vectors' meta.json has it. */
static void test_approximated_size(void **state)
{
    (void)state;
    static const char *const dirs[] = { "go/binary200",   "go/empty",   "go/emptykey",
                                        "go/med1000-p03", "go/small10", "go/union" };
    for (size_t i = 0; i < 6; i++) {
        struct golden_file bytes = golden_read_in(dirs[i], "filter.bin");
        blm_filter        *f     = decode_bytes(&bytes, NULL);
        blm_stats          s     = { .size = sizeof s };
        assert_int_equal(blm_get_stats(f, &s), BLM_OK);
        assert_int_equal((uint64_t)floor(s.estimated.value + 0.5),
                         golden_meta(dirs[i], "approximatedSize"));
        blm_free(f);
        golden_free_file(&bytes);
    }
}

/* EstimateFalsePositiveRate(m, k, n): the same number as Go's, to the last hit. */
static double estimate_rate(uint64_t m, uint32_t k, uint32_t n)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_trial   t = { .size = sizeof t };
    o.scheme      = "go";
    o.bits        = m;
    o.probes      = k;
    assert_int_equal(blm_try_options(&o, n, &t, NULL), BLM_OK);
    return t.rate;
}

static void test_estimate_rate(void **state)
{
    (void)state;
    struct golden_file f = golden_read("go/tables/rates.tsv");
    char              *field[4], *line = golden_line(&f, NULL);
    size_t             rows = 0;
    for (; (line = golden_line(&f, NULL)); rows++) {
        assert_int_equal(golden_fields(line, field, 4), 4);
        double rate =
            estimate_rate(strtoull(field[0], NULL, 10), (uint32_t)strtoul(field[1], NULL, 10),
                          (uint32_t)strtoul(field[2], NULL, 10));
        if (rate != strtod(field[3], NULL))
            fail_msg("%s %s %s: %.17g, not %s", field[0], field[1], field[2], rate, field[3]);
    }
    assert_int_equal(rows, 8);
    golden_free_file(&f);
}

static void test_refused(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.scheme = "go";
    o.items  = 100; /* n without p */
    assert_int_equal(blm_create(&o, &f, NULL), BLM_E_ARGUMENT);
    o.items = 0;
    o.rate  = 0.1; /* p without n: Go would divide by 0 */
    assert_int_equal(blm_create(&o, &f, NULL), BLM_E_ARGUMENT);
    o.items = 100;
    o.rate  = 1;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_E_ARGUMENT);
    o.rate  = 0.01;
    o.items = UINT64_MAX;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_E_LIMIT);
    o.items  = 0;
    o.rate   = 0;
    o.bits   = 100;
    o.probes = 2049;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_estimate_parameters),
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_from),
        cmocka_unit_test(test_add),
        cmocka_unit_test(test_locations),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_approximated_size),
        cmocka_unit_test(test_estimate_rate),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
