/* SPDX-License-Identifier: MIT */
/* BIP37's scheme: Core's table of sizes, tweaks, options outside the protocol. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/embed.h"
#include "golden_filter.h"

static void test_sizes(void **state)
{
    (void)state;
    struct golden_file t = golden_read("bip37/tables/sizing.tsv");
    char              *field[5], *line = golden_line(&t, NULL);
    size_t             rows = 0;
    for (; (line = golden_line(&t, NULL)); rows++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_params  p = { .size = sizeof p };
        assert_int_equal(golden_fields(line, field, 5), 5);
        o.scheme                 = "bip37";
        o.items                  = strtoull(field[0], NULL, 10);
        o.rate                   = strtod(field[1], NULL);
        blm_filter        *f     = create_or_fail(&o);
        struct golden_file b     = encode_as(f, NULL);
        uint64_t           bytes = strtoull(field[2], NULL, 10), k = strtoull(field[3], NULL, 10);
        size_t             prefix = bytes < 0xfd ? 1 : 3;
        assert_int_equal(b.len, prefix + bytes + 9);
        assert_int_equal(b.data[prefix + bytes], k);
        assert_int_equal(blm_get_params(f, &p), BLM_OK);
        assert_true((p.notice != NULL) == (bytes == 0 || k == 0));
        assert_true(blm_check(f, "x", 1) == (bytes == 0 || k == 0));
        free(b.data);
        blm_free(f);
    }
    assert_int_equal(rows, 192);
    golden_free_file(&t);
}

static void test_options(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "bip37";
    create_is(o, BLM_E_ARGUMENT);
    o.bits = 800;
    create_is(o, BLM_E_ARGUMENT);
    o.probes = 5;
    create_is(o, BLM_OK);
    o.probes = 51;
    create_is(o, BLM_E_LIMIT);
    o.probes = 50;
    o.bits   = 36000 * 8;
    create_is(o, BLM_OK);
    o.bits = 36001 * 8;
    create_is(o, BLM_E_LIMIT);
    o.bits = 801;
    create_is(o, BLM_E_LIMIT);
    o.bits    = 800;
    o.variant = 256;
    create_is(o, BLM_E_ARGUMENT);
    o.variant = 255;
    create_is(o, BLM_OK);
    o.flags   = BLM_SEEDED;
    o.seed[0] = (uint64_t)1 << 32;
    create_is(o, BLM_E_ARGUMENT);
    o.seed[0] = UINT32_MAX;
    create_is(o, BLM_OK);
    o.kind = BLM_COUNTING;
    create_is(o, BLM_E_UNSUPPORTED);
}

/* Memory is what the words take, whatever the size on the wire. */
static void test_memory(void **state)
{
    (void)state;
    for (uint64_t memory = 1; memory <= 36008; memory += memory < 200 ? 1 : 5) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_params  p = { .size = sizeof p };
        o.scheme      = "bip37";
        o.items       = 10;
        o.memory      = memory;
        if (memory < 8 || memory >= 36008) {
            create_is(o, memory < 8 ? BLM_E_ARGUMENT : BLM_E_LIMIT);
            continue;
        }
        blm_filter *f = create_or_fail(&o);
        assert_int_equal(blm_get_params(f, &p), BLM_OK);
        assert_true(p.bytes <= memory && p.bytes > memory - 8 && p.bits == p.bytes * 8);
        blm_free(f);
    }
}

/* Seeds of probes wrap in 32 bits, and another tweak is another filter. */
static void test_tweak(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    uint64_t    a[50], b[50];
    size_t      n;
    o.scheme      = "bip37";
    o.bits        = 8000;
    o.probes      = 50;
    blm_filter *f = create_or_fail(&o);
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 0xFBA4C795u; /* hash i here is hash i + 1 there */
    blm_filter *g = create_or_fail(&o);
    assert_int_equal(blm_positions_raw(f, "key", 3, a, 50, &n), BLM_OK);
    assert_int_equal(blm_positions_raw(g, "key", 3, b, 50, &n), BLM_OK);
    assert_int_equal(n, 50);
    assert_memory_equal(a + 1, b, 49 * sizeof *a);
    assert_int_equal(blm_union(f, g, NULL), BLM_E_MISMATCH);
    blm_free(f);
    blm_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_tweak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
