/* SPDX-License-Identifier: MIT */
#include "bloomery/delta.h"
#include "bloomery/embed.h"
#include "core/kernel/kernel.h"
#include "unit/bytes.h"
#include "unit/files.h"
#include "unit/fixed.h"
#include "unit/rates.h"

#define FAR ((uint64_t)1 << 40) /* numbers from here on are in no set */

static blm_filter *statics(size_t n, double rate, uint64_t seed)
{
    blm_options o = fixed_options(BLM_STATIC, rate, seed);
    return fixed_of(&o, n, 0);
}

static void every_key_of_every_small_set_is_found(void **state)
{
    (void)state;
    for (size_t n = 0; n <= 300; n++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            blm_filter *f   = statics(n, 0.01, seed * 1000 + n);
            uint64_t    one = n / 2;
            assert_int_equal(maybes(f, 0, n), n);
            assert_true(n == 0 || blm_check(f, &one, 8));
            assert_int_equal(params_of(f).items, n);
            blm_free(f);
        }
}

/* More bits than 2^64 are no number of keys (undefined), but the most that a filter can have. */
static void plans_by_all_the_memory_there_could_be(void **state)
{
    (void)state;
    static const uint64_t memory[] = { (uint64_t)1 << 60, (uint64_t)1 << 62, UINT64_MAX };
    for (size_t i = 0; i < COUNT_OF(memory); i++) {
        blm_options o = fixed_options(BLM_STATIC, 0.9, 1);
        blm_plan    p = { .size = sizeof p };
        o.memory      = memory[i];
        assert_status(blm_plan_for(&o, &p, NULL), BLM_OK);
        assert_true(p.items == BLM__MAX_BITS / 2 / p.lines);
    }
}

static void an_empty_set_has_nothing(void **state)
{
    (void)state;
    blm_filter *f = statics(0, 0.5, 7);
    assert_int_equal(maybes(f, 0, 10000), 0);
    assert_false(blm_check(f, "", 0));
    assert_true(stats_of(f).rate_now == 0);
    blm_free(f);
}

/* Fingerprints of every length, by their rate: exactly 2^-f. */
static void the_rate_is_what_the_fingerprint_gives(void **state)
{
    (void)state;
    for (uint32_t bits = 1; bits <= 32; bits++) {
        double      rate = ldexp(1, -(int)bits) * (1 + 1e-3), n = 2e6;
        blm_filter *f = statics(3000, rate, bits);
        char        what[32];
        assert_int_equal(params_of(f).cell_bits, bits);
        assert_int_equal(maybes(f, 0, 3000), 3000);
        snprintf(what, sizeof what, "static, %u bits", (unsigned)bits);
        double model = stats_of(f).rate_now, got = (double)maybes(f, FAR, (size_t)n) / n;
        assert_true(fabs(model * ldexp(1, (int)bits) - 1) < 1e-5);
        if (bits <= 16)
            judge(what, got, model, sqrt(model / n), 0);
        else
            assert_true(got * n <= 130); /* 17 bits: 15 of two million */
        blm_free(f);
    }
}

static void the_rate_holds_in_small_sets_over_many_seeds(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1, 2, 10, 100 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct tally t = { 0, 0, 0, 0 };
        for (uint64_t seed = 1; seed <= 2000; seed++) {
            blm_filter *f = statics(sizes[i], 0.02, seed);
            tally_add(&t, (double)maybes(f, FAR, 500) / 500, stats_of(f).rate_now);
            blm_free(f);
        }
        judge("static, small", tally_mean(&t), t.model / t.n, tally_error(&t), 0);
    }
}

/* Cells of every width, fetched ahead or not, in batches of any length: what single calls say. */
static void batches_answer_as_single_calls(void **state)
{
    (void)state;
    uint64_t was = atomic_load(&blm__in_cache_bytes);
    for (uint32_t bits = 1; bits <= 32; bits++) {
        blm_filter *f = statics(700, ldexp(1, -(int)bits) * (1 + 1e-3), bits);
        uint64_t   *k = numbers(0, 1400);
        uint8_t     one[1400], many[1400];
        for (size_t i = 0; i < 1400; i++)
            one[i] = blm_check(f, &k[i], 8);
        for (size_t fetched = 0; fetched < 2; fetched++) {
            atomic_store(&blm__in_cache_bytes, fetched ? 0 : was);
            for (size_t n = 0; n <= 1400; n += n < 80 ? 1 : 330) {
                memset(many, 9, sizeof many);
                blm_check_fixed(f, k + 1400 - n, 8, n, many);
                assert_memory_equal(many, one + 1400 - n, n);
                assert_int_equal(many[n < 1400 ? n : 0], n < 1400 ? 9 : one[0]);
            }
        }
        atomic_store(&blm__in_cache_bytes, was);
        blm_free(f);
        free(k);
    }
}

static void a_million_keys_take_nine_bits(void **state)
{
    (void)state;
    size_t n = 1000000;
    if (quick_tests())
        return;
    blm_filter *f    = statics(n, 0.004, 3);
    double      bits = (double)params_of(f).bytes * 8 / (double)n;
    assert_true(bits <= 9.1);
    assert_int_equal(maybes(f, 0, n), n);
    double got = (double)maybes(f, FAR, n) / (double)n;
    assert_true(got <= 0.0042);
    blm_free(f);
}

/* Two parts and more, by any number of threads, are the same filter. */
static void parts_and_threads_change_no_bit(void **state)
{
    (void)state;
    size_t      n = 3300000;
    blm_options o = fixed_options(BLM_STATIC, 0.004, 11);
    if (quick_tests())
        return;
    blm_filter *one = fixed_of(&o, n, 0);
    o.threads       = 3;
    blm_filter *f   = fixed_of(&o, n, 0);
    assert_true(same_bits(one, f));
    assert_true(blm_equal(one, f));
    assert_int_equal(maybes(f, 0, n), n);
    assert_true((double)params_of(f).bytes * 8 / (double)n <= 9.1);
    blm_free(one);
    blm_free(f);
}

static void keys_that_come_often_count_once(void **state)
{
    (void)state;
    blm_options  o    = fixed_options(BLM_STATIC, 0.01, 5);
    blm_builder *b    = builder_of(&o);
    blm_filter  *once = fixed_of(&o, 5000, 0);
    uint64_t    *k    = numbers(0, 5000);
    for (size_t i = 0; i < 20; i++)
        assert_status(blm_builder_add_fixed(b, k + i * 100, 8, 5000 - i * 100), BLM_OK);
    blm_filter *f = build_and_free(b);
    assert_int_equal(params_of(f).items, 5000);
    assert_true(same_bits(f, once));
    blm_free(f);
    blm_free(once);
    free(k);
}

/* A hash that is no hash: the numbers themselves, close together. */
static uint64_t no_hash(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    uint64_t v = 0;
    (void)ctx, (void)seed;
    memcpy(&v, key, len < 8 ? len : 8);
    return v;
}

static void hashes_that_crowd_are_built_too(void **state)
{
    (void)state;
    blm_options o = fixed_options(BLM_STATIC, 0.01, 5);
    o.hash        = BLM_HASH_CUSTOM;
    o.hash_fn     = no_hash;
    o.hash_name   = "none";
    for (size_t n = 1; n <= 100000; n *= 10) {
        blm_filter *f = fixed_of(&o, n, 0);
        assert_int_equal(maybes(f, 0, n), n);
        assert_true(params_of(f).bits < 4 * n + 16);
        blm_free(f);
    }
}

static void nothing_can_be_changed(void **state)
{
    (void)state;
    blm_filter *f = statics(100, 0.01, 1), *g = statics(100, 0.01, 1), *out;
    blm_options o   = fixed_options(BLM_STATIC, 0.01, 1);
    blm_overlap v   = { .size = sizeof v };
    blm_error   err = { .status = BLM_OK };
    double      map[4];
    uint64_t    h = 5;
    size_t      done;
    assert_status(blm_add(f, "a", 1), BLM_E_UNSUPPORTED);
    assert_status(blm_add_fixed(f, &h, 8, 1, NULL, &done), BLM_E_UNSUPPORTED);
    assert_status(blm_add_hashes(f, &h, 1, NULL, &done), BLM_E_UNSUPPORTED);
    assert_status(blm_remove(f, "a", 1), BLM_E_UNSUPPORTED);
    assert_status(blm_clear(f), BLM_E_UNSUPPORTED);
    assert_status(blm_union(f, g, NULL), BLM_E_UNSUPPORTED);
    assert_status(blm_intersect(f, g, NULL), BLM_E_UNSUPPORTED);
    assert_status(blm_compare(f, g, &v, NULL), BLM_E_UNSUPPORTED);
    assert_status(blm_fold(f, 2, &out, NULL), BLM_E_UNSUPPORTED);
    assert_status(blm_reduce(f, &out, NULL), BLM_E_UNSUPPORTED);
    assert_status(blm_fill_map(f, map, 4), BLM_E_UNSUPPORTED);
    o.items = 100;
    assert_status(blm_create(&o, &out, &err), BLM_E_UNSUPPORTED);
    check_error(&err, BLM_E_UNSUPPORTED, "built from all its keys");
    o      = (blm_options)BLM_OPTIONS_INIT;
    o.like = f;
    assert_status(blm_create(&o, &out, NULL), BLM_E_UNSUPPORTED);
    assert_true(same_bits(f, g));
    blm_free(f);
    blm_free(g);
}

static void it_travels_as_any_filter(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 100, 20000 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        blm_filter  *f    = statics(sizes[i], 0.003, 9), *g, *copy;
        struct bytes enc  = encoded(f);
        const char  *path = at("static.blm");
        assert_status(blm_copy(f, &copy, NULL), BLM_OK);
        assert_true(blm_equal(f, copy));
        assert_status(blm_decode(enc.p, enc.len, NULL, &g, NULL), BLM_OK);
        assert_true(blm_equal(f, g));
        assert_int_equal(maybes(g, 0, sizes[i]), sizes[i]);
        assert_int_equal(params_of(g).items, sizes[i]);
        blm_free(g);
        assert_status(blm_save(f, path, NULL, 0, NULL), BLM_OK);
        assert_status(blm_open(path, NULL, &g, NULL), BLM_OK);
        assert_int_equal(params_of(g).backing, BLM_FILE_READ);
        assert_true(blm_equal(f, g));
        assert_int_equal(maybes(g, 0, sizes[i]), sizes[i]);
        blm_verdict v = { .size = sizeof v };
        assert_status(blm_verify(g, &v, NULL), BLM_OK);
        blm_free(g);
        unlink(path);
        free(enc.p);
        blm_free(copy);
        blm_free(f);
    }
}

/* Sets of the same size and seed may have the same shape; then a delta leads from one to the other. */
static void deltas_lead_from_one_set_to_another(void **state)
{
    (void)state;
    blm_options  o = fixed_options(BLM_STATIC, 0.01, 4);
    blm_filter  *f = fixed_of(&o, 1000, 0);
    blm_builder *b = builder_of(&o);
    uint64_t    *k = numbers(100, 1000);
    struct bytes d = { 0 };
    blm_error    e = { .text = "" };
    assert_status(blm_builder_add_fixed(b, k, 8, 1000), BLM_OK);
    blm_filter *g = build_and_free(b), *out = NULL;
    assert_int_equal(params_of(f).bits, params_of(g).bits);
    if (blm_diff(f, g, bytes_add, &d, &e) != BLM_OK ||
        blm_patch(f, bytes_get, &d, &out, &e) != BLM_OK)
        fail_msg("%s", e.text);
    assert_true(blm_equal(out, g));
    assert_int_equal(maybes(out, 100, 1000), 1000);
    free(d.p);
    blm_free(out);
    free(k);
    blm_free(f);
    blm_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_of_every_small_set_is_found),
        cmocka_unit_test(plans_by_all_the_memory_there_could_be),
        cmocka_unit_test(an_empty_set_has_nothing),
        cmocka_unit_test(the_rate_is_what_the_fingerprint_gives),
        cmocka_unit_test(the_rate_holds_in_small_sets_over_many_seeds),
        cmocka_unit_test(batches_answer_as_single_calls),
        cmocka_unit_test(a_million_keys_take_nine_bits),
        cmocka_unit_test(parts_and_threads_change_no_bit),
        cmocka_unit_test(keys_that_come_often_count_once),
        cmocka_unit_test(hashes_that_crowd_are_built_too),
        cmocka_unit_test(nothing_can_be_changed),
        cmocka_unit_test(it_travels_as_any_filter),
        cmocka_unit_test(deltas_lead_from_one_set_to_another),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
