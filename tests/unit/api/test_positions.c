/* SPDX-License-Identifier: MIT */
/* The positions a key probes are the cells it sets, and asking by them is asking by the key. */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "unit/support.h"

/* ---- positions ---- */

/* Positions are what add sets: a new filter's ones are exactly the distinct positions of the
 * layer that took the key, in range, and k of them a layer. */
static void positions_are_the_cells_a_key_sets(void **state)
{
    (void)state;
    struct key_set s = key_set_make(5, 40);
    EACH_BITS(v)
    {
        for (size_t i = 0; i < s.count; i++) {
            blm_filter *f = make_flavour(v, 1000, 1e-4, 11);
            blm_params  p = params_of(f);
            uint64_t    pos[100];
            size_t      n = 0, cell = v->kind == BLM_COUNTING ? 4 : 1;
            assert_status(blm_positions(f, s.keys[i].data, s.keys[i].len, pos, 100, &n), BLM_OK);
            assert_int_equal(n, p.probes);
            blm_add(f, s.keys[i].data, s.keys[i].len);
            const uint8_t *bytes    = blm_view(f, 0, NULL);
            uint64_t       distinct = 0;
            for (size_t j = 0; j < n; j++) {
                bool seen = false;
                assert_true(pos[j] < p.bits);
                for (size_t h = 0; h < j; h++)
                    seen |= pos[h] == pos[j];
                distinct += !seen;
                assert_true(bytes[pos[j] * cell / 8] >> pos[j] * cell % 8 & (cell == 4 ? 15 : 1));
            }
            assert_true(stats_of(f).ones == distinct);
            assert_true(blm_check_positions(f, pos, n));
            blm_free(f);
        }
    }
    key_set_free(&s);
}

/* A short buffer gets the first positions; the count is what there would be. */
static void positions_respect_the_buffer(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        blm_filter *f = make_flavour(v, 1000, 1e-4, 11);
        uint64_t    all[100], some[3] = { 1, 2, 0xfeed };
        size_t      n = 0, m = 0;
        assert_status(blm_positions(f, "key", 3, all, 100, &n), BLM_OK);
        assert_status(blm_positions(f, "key", 3, some, 2, &m), BLM_OK);
        assert_int_equal(n, m);
        assert_true(some[0] == all[0] && some[1] == all[1] && some[2] == 0xfeed);
        m = 0;
        assert_status(blm_positions(f, "key", 3, NULL, 0, &m), BLM_OK);
        assert_int_equal(n, m);
        blm_free(f);
    }
}

static bool is_lines(const struct flavour *v)
{
    return v->kind == BLM_BLOCKED || v->kind == BLM_COUNTING ||
           (v->kind == BLM_SCALABLE && !v->layer_classic);
}

/* check_positions answers as check does, for keys present and absent, over all layers. */
static void checking_positions_is_checking_the_key(void **state)
{
    (void)state;
    struct key_set s = key_set_make(6, 1200);
    EACH_BITS(v)
    {
        blm_filter *f    = make_flavour(v, 600, 0.05, 13);
        size_t      hits = 0;
        for (size_t i = 0; i < 600; i++)
            blm_add(f, s.keys[i].data, s.keys[i].len);
        for (size_t i = 0; i < s.count; i++) {
            uint64_t pos[600], raw[600];
            size_t   n = 0, r = 0;
            bool     want = blm_check(f, s.keys[i].data, s.keys[i].len);
            blm_positions(f, s.keys[i].data, s.keys[i].len, pos, 600, &n);
            assert_true(n <= 600);
            assert_int_equal(blm_check_positions(f, pos, n), want);
            blm_status st = blm_positions_raw(f, s.keys[i].data, s.keys[i].len, raw, 600, &r);
            if (is_lines(v)) {
                assert_status(st, BLM_E_UNSUPPORTED);
                continue;
            }
            assert_status(st, BLM_OK);
            assert_int_equal(r, n);
            assert_int_equal(blm_check_positions_raw(f, raw, r), want);
            hits += want;
            if (v->kind != BLM_SCALABLE)
                for (size_t j = 0; j < n; j++)
                    assert_true(blm__mulhi(raw[j], params_of(f).bits) == pos[j]);
        }
        assert_true(is_lines(v) || (hits >= 600 && hits < 800));
        blm_free(f);
    }
    key_set_free(&s);
}

/* What is no position of this filter cannot be known. */
static void positions_out_of_range_are_maybe(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        blm_filter *f = make_flavour(v, 1000, 0.01, 13);
        uint64_t    m = params_of(f).bits, out[] = { m, UINT64_MAX }, in[] = { m - 1 };
        uint64_t    mixed[] = { 0, m };
        assert_true(blm_check_positions(f, out, 2));
        assert_false(blm_check_positions(f, in, 1));
        assert_false(blm_check_positions(f, mixed, 2)); /* 0 is clear: that is known */
        assert_true(blm_check_positions(f, NULL, 0));
        blm_free(f);
    }
}

/* A list that is not a whole one of a filter with several layers, or not in their order, cannot be
 * known; a whole one of a stranger can. */
static void parts_of_a_list_are_maybe(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        if (v->kind != BLM_SCALABLE)
            continue;
        blm_filter *f = make_flavour(v, 200, 0.01, 13);
        uint64_t    pos[200], swapped[200];
        size_t      n = 0;
        for (uint32_t i = 0; i < 200; i++)
            blm_add(f, &i, 4);
        uint32_t stranger = 1000;
        while (blm_check(f, &stranger, 4))
            stranger++;
        blm_params first = { .size = sizeof first };
        blm_get_layer(f, 0, &first);
        assert_true(params_of(f).layers > 1);
        assert_status(blm_positions(f, &stranger, 4, pos, 200, &n), BLM_OK);
        assert_false(blm_check_positions(f, pos, n));
        for (size_t cut = 0; cut < n; cut++)
            assert_true(blm_check_positions(f, pos, cut));
        /* The first layer's positions again where the second's should be. */
        memcpy(swapped, pos, sizeof pos);
        for (size_t i = 0; i + first.probes < n; i++)
            swapped[first.probes + i] = pos[i % first.probes];
        assert_true(blm_check_positions(f, swapped, n));
        blm_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_are_the_cells_a_key_sets),
        cmocka_unit_test(positions_respect_the_buffer),
        cmocka_unit_test(checking_positions_is_checking_the_key),
        cmocka_unit_test(positions_out_of_range_are_maybe),
        cmocka_unit_test(parts_of_a_list_are_maybe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
