/* SPDX-License-Identifier: MIT */
/* DCSO's sizes and fingerprints, from tables the library printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "foreign.h"

/* Columns: n, p, m, k. m = 0 is what the original makes of a rate too easy; we refuse it. */
static void test_sizes(void **state)
{
    (void)state;
    struct golden_file f = golden_read("dcso/tables/sizing.tsv");
    char              *field[4], *line = golden_line(&f, NULL);
    size_t             rows = 0, none = 0;
    for (; (line = golden_line(&f, NULL)); rows++) {
        assert_int_equal(golden_fields(line, field, 4), 4);
        blm_options o = BLM_OPTIONS_INIT;
        blm_plan    p = { .size = sizeof p };
        o.scheme      = rows % 2 ? "dcso" : "dcso01"; /* one formula */
        o.items       = strtoull(field[0], NULL, 10);
        o.rate        = strtod(field[1], NULL);
        blm_status st = blm_plan_for(&o, &p, NULL);
        if (strcmp(field[2], "0") == 0) {
            none++;
            assert_int_equal(st, BLM_E_ARGUMENT);
            continue;
        }
        assert_int_equal(st, BLM_OK);
        assert_int_equal(p.bits, strtoull(field[2], NULL, 10));
        assert_int_equal(p.probes, strtoul(field[3], NULL, 10));
    }
    assert_int_equal(rows, 238);
    assert_true(none > 0);
    golden_free_file(&f);
}

static void check_positions(const char *scheme, uint64_t m, uint32_t k, const blm_key *key,
                            char *list)
{
    blm_options o = BLM_OPTIONS_INIT;
    uint64_t    pos[64];
    size_t      count;
    o.scheme      = scheme;
    o.bits        = m;
    o.probes      = k;
    blm_filter *f = create_or_fail(&o);
    assert_int_equal(blm_positions(f, key->data, key->len, pos, 64, &count), BLM_OK);
    assert_int_equal(count, k);
    for (uint32_t i = 0; i < k; i++, list++)
        assert_int_equal(pos[i], strtoull(list, &list, 10));
    assert_int_equal(list[-1], 0);
    blm_free(f);
}

/* Columns: key in hex, m, k, positions of dcso, of dcso01. */
static void test_fingerprints(void **state)
{
    (void)state;
    struct golden_file f = golden_read("dcso/tables/fingerprints.tsv");
    char              *field[5], *line = golden_line(&f, NULL);
    size_t             rows = 0;
    for (; (line = golden_line(&f, NULL)); rows++) {
        assert_int_equal(golden_fields(line, field, 5), 5);
        blm_key  key = { field[0], golden_unhex(field[0]) };
        uint64_t m   = strtoull(field[1], NULL, 10);
        uint32_t k   = (uint32_t)strtoul(field[2], NULL, 10);
        check_positions("dcso", m, k, &key, field[3]);
        check_positions("dcso01", m, k, &key, field[4]);
    }
    assert_int_equal(rows, 41);
    golden_free_file(&f);
}

/* A file needs n and p: they are made up from bits and probes when only those are given. */
static void test_by_bits(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_params  p = { .size = sizeof p };
    blm_error   err;
    blm_filter *f;
    o.scheme = "dcso";
    o.bits   = 1000;
    o.probes = 7;
    f        = create_or_fail(&o);
    blm_get_params(f, &p);
    assert_int_equal(p.capacity, 99); /* half of the bits set */
    assert_true(p.rate > 0.007 && p.rate < 0.008);
    blm_free(f);
    o.rate   = 0.01;
    o.probes = 0;
    f        = create_or_fail(&o);
    blm_get_params(f, &p);
    assert_int_equal(p.probes, 7);
    assert_int_equal(p.capacity, 104);
    blm_free(f);
    o.bits = 0;
    assert_int_equal(blm_create(&o, &f, &err), BLM_E_ARGUMENT);
    o.items = 100;
    o.rate  = 0;
    assert_int_equal(blm_create(&o, &f, &err), BLM_E_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_fingerprints),
        cmocka_unit_test(test_by_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
