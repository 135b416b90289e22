/* SPDX-License-Identifier: MIT */
#include "unit/files.h"
#include "unit/fixed.h"
#include "unit/rates.h"

#define FAR ((uint64_t)1 << 40)

static void exact_on(const blm_filter *f, size_t in, size_t out)
{
    assert_int_equal(maybes(f, 0, in), in);
    assert_int_equal(maybes(f, in, out), 0);
}

static blm_filter *cascade(size_t in, size_t out, double rate, uint64_t seed)
{
    blm_options o = fixed_options(BLM_CASCADE, rate, seed);
    return fixed_of(&o, in, out);
}

static void no_error_on_either_list_of_any_ratio(void **state)
{
    (void)state;
    static const size_t in[]    = { 1, 2, 3, 10, 100, 1000 };
    static const double ratio[] = { 0, 0.01, 0.5, 1, 2, 3, 5, 10, 30, 100, 1000 };
    for (size_t i = 0; i < COUNT_OF(in); i++)
        for (size_t j = 0; j < COUNT_OF(ratio); j++)
            for (uint64_t seed = 1; seed <= 3; seed++) {
                size_t      out = (size_t)(ratio[j] * (double)in[i]);
                blm_filter *f   = cascade(in[i], out, 0, seed);
                blm_fixed   x   = facts_of(f);
                exact_on(f, in[i], out);
                assert_int_equal(x.included, in[i]);
                assert_int_equal(x.excluded, out);
                assert_true(x.passed <= out);
                for (uint64_t k = 0; k < 3 && k < in[i] + out; k++)
                    assert_int_equal(blm_check(f, &k, 8), k < in[i]);
                blm_free(f);
            }
}

static void random_universes(void **state)
{
    (void)state;
    struct rng r = { 2026 };
    for (unsigned i = 0; i < (quick_tests() ? 5u : 300u); i++) {
        size_t      in = rng_size(&r, 3000), out = rng_size(&r, 1u << rng_size(&r, 17));
        double      rate = rng_below(&r, 2) ? ldexp(1, -(int)rng_below(&r, 12) - 1) : 0;
        blm_filter *f    = cascade(in, out, rate, rng_next(&r));
        exact_on(f, in, out);
        assert_true(rate == 0 || facts_of(f).rate <= rate);
        blm_free(f);
    }
}

/* log2 of the number of ways to choose `in` keys of all: what no exact structure can do without. */
static double least_bits(double in, double out)
{
    return (lgamma(in + out + 1) - lgamma(in + 1) - lgamma(out + 1)) / log(2);
}

/* Bits of a filter beside that: of all that it keeps, and of its cells alone. A level also has its
 * parts' factors and a word for reading beyond the end. */
struct space {
    double all, cells;
};

static struct space space_of(size_t in, size_t out, uint64_t seed)
{
    blm_filter  *f    = cascade(in, out, 0, seed);
    blm_params   p    = params_of(f);
    double       bits = 8 * (double)p.bytes, least = least_bits((double)in, (double)out);
    struct space s = { bits / least, (bits - 128 * (double)p.layers) / least };
    exact_on(f, in, out);
    blm_free(f);
    return s;
}

static void space_is_near_the_least(void **state)
{
    (void)state;
    static const double ratio[] = { 1, 1.5, 2, 3, 4, 5, 7, 10, 20, 50, 100, 300, 1000 };
    static const size_t many[]  = { 30,   50,   100,   200,   300,   500,   1000,
                                    2000, 5000, 10000, 20000, 30000, 100000 };
    if (quick_tests())
        return;
    for (size_t i = 0; i < COUNT_OF(many); i++)
        for (size_t j = 0; j < COUNT_OF(ratio); j++) {
            size_t out = (size_t)(ratio[j] * (double)many[i]);
            if (out > 2000000)
                continue;
            struct space s = space_of(many[i], out, 8);
            if (getenv("BLM_SHOW"))
                print_message("%zu : %zu  %.3f of the least, cells %.3f\n", many[i], out, s.all,
                              s.cells);
            if (many[i] >= 500 && s.cells > 1.3)
                fail_msg("the cells of %zu:%zu take %.3f of the least", many[i], out, s.cells);
            if (many[i] >= 5000 && s.all > 1.3)
                fail_msg("%zu:%zu takes %.3f of the least", many[i], out, s.all);
        }
}

static void it_says_what_other_keys_get(void **state)
{
    (void)state;
    static const double ratio[] = { 0.5, 4, 64 };
    for (size_t i = 0; i < COUNT_OF(ratio); i++) {
        size_t      n = 1000000, in = 2000;
        blm_filter *f = cascade(in, (size_t)(ratio[i] * (double)in), 0, 21);
        blm_fixed   x = facts_of(f);
        assert_true(fabs(stats_of(f).rate_now - x.rate) < 1e-12);
        judge("cascade, unknown keys", (double)maybes(f, FAR, n) / (double)n, x.rate,
              sqrt(x.rate * (1 - x.rate) / (double)n), 0);
        blm_free(f);
    }
    blm_filter *f = cascade(1000, 10, 0.001, 3);
    assert_true(facts_of(f).rate <= 0.001);
    assert_true(params_of(f).rate == 0.001);
    blm_free(f);
}

/* ---- the levels know nothing of each other ---- */

/* The same filter, built on disk. */
static blm_filter *cascade_on_disk(size_t in, size_t out, double rate, uint64_t seed)
{
    blm_options  o    = fixed_options(BLM_CASCADE, rate, seed);
    const char  *path = at("cascade.blm");
    uint64_t    *k    = numbers(0, in + out);
    blm_builder *b;
    blm_filter  *f;
    assert_status(blm_builder_open(at("spill"), &o, 1 << 20, &b, NULL), BLM_OK);
    assert_status(blm_builder_add_fixed(b, k, 8, in), BLM_OK);
    assert_status(blm_builder_exclude_fixed(b, k + in, 8, out), BLM_OK);
    assert_status(blm_builder_save(b, path, 0, NULL), BLM_OK);
    assert_status(blm_open(path, NULL, &f, NULL), BLM_OK);
    blm_builder_free(b);
    unlink(path);
    free(k);
    return f;
}

struct asked {
    uint64_t hits, trials;
    double   said;
};

static void ask(const blm_filter *f, uint64_t n, struct asked *a)
{
    a->hits += maybes(f, FAR + a->trials, (size_t)n);
    a->trials += n;
    a->said = facts_of(f).rate;
}

/* One interval in a million misses the rate by chance. */
static void assert_rate(const char *what, size_t in, size_t out, const struct asked *a)
{
    double low, high;
    assert_status(blm_binomial_interval(a->hits, a->trials, 1 - 1e-6, &low, &high), BLM_OK);
    if (getenv("BLM_SHOW"))
        print_message("%s, %zu in, %zu out: said %.6g, measured %.6g\n", what, in, out, a->said,
                      (double)a->hits / (double)a->trials);
    if (!(low <= a->said && a->said <= high))
        fail_msg("%s, %zu in, %zu out: said %g, measured %g to %g", what, in, out, a->said, low,
                 high);
}

static void rate_of(size_t in, size_t out, double rate)
{
    unsigned     filters = in < 1000 ? 20 : in < 10000 ? 5 : 1;
    uint64_t     n       = (quick_tests() ? 20000u : 200000u) / filters;
    struct asked memory = { 0 }, disk = { 0 };
    for (uint64_t seed = 1; seed <= filters; seed++) {
        blm_filter *f = cascade(in, out, rate, seed);
        ask(f, n, &memory);
        if (seed == 1) {
            blm_filter *g = cascade_on_disk(in, out, rate, seed);
            assert_true(blm_equal(f, g));
            ask(g, n * filters, &disk);
            blm_free(g);
        }
        blm_free(f);
    }
    assert_rate("in memory", in, out, &memory);
    assert_rate("on disk", in, out, &disk);
}

/* Where no excluded key passes the first level, or few, both levels have nearly the same keys in as
 * many cells. Working out their cells from the same places, the second lets pass whatever the first
 * does. */
static void a_level_is_no_copy_of_the_other(void **state)
{
    (void)state;
    static const size_t in[]   = { 1, 3, 30, 300, 3000, 50000 };
    static const size_t out[]  = { 0, 1, 20, 100, 1000 };
    static const double rate[] = { 0.2, 0.01, 0.001 };
    for (size_t i = 0; i < COUNT_OF(in); i++)
        for (size_t j = 0; j < COUNT_OF(out); j++)
            for (size_t p = 0; p < COUNT_OF(rate); p++)
                rate_of(in[i], out[j], rate[p]);
    if (slow_tests()) /* several parts */
        for (size_t j = 0; j < COUNT_OF(out); j += 2)
            rate_of(2500000, out[j], 0.01);
}

static void empty_lists(void **state)
{
    (void)state;
    blm_filter *f = cascade(0, 0, 0, 1);
    assert_int_equal(maybes(f, 0, 1000), 0);
    blm_free(f);
    f = cascade(0, 500, 0, 1);
    assert_int_equal(maybes(f, 0, 10000), 0);
    assert_int_equal(facts_of(f).included, 0);
    assert_int_equal(facts_of(f).excluded, 500);
    blm_free(f);
    f = cascade(500, 0, 0, 1);
    assert_int_equal(maybes(f, 0, 500), 500);
    assert_int_equal(facts_of(f).excluded, 0);
    blm_free(f);
}

static void it_travels_and_is_whole_or_refused(void **state)
{
    (void)state;
    for (unsigned two = 0; two < 2; two++) {
        size_t       in = 3000, out = two ? 60000 : 3000;
        blm_filter  *f    = cascade(in, out, 0, 17), *g, *copy;
        struct bytes enc  = encoded(f);
        const char  *path = at("cascade.blm");
        assert_int_equal(params_of(f).layers, 1 + two);
        assert_int_equal(params_of(f).items, in);
        assert_status(blm_decode(enc.p, enc.len, NULL, &g, NULL), BLM_OK);
        assert_true(blm_equal(f, g));
        exact_on(g, in, out);
        assert_int_equal(facts_of(g).excluded, out);
        blm_free(g);
        assert_status(blm_copy(f, &copy, NULL), BLM_OK);
        exact_on(copy, in, out);
        blm_free(copy);
        assert_status(blm_save(f, path, NULL, 0, NULL), BLM_OK);
        assert_status(blm_open(path, NULL, &g, NULL), BLM_OK);
        exact_on(g, in, out);
        blm_free(g);
        /* One bit of either level, without BLM_VERIFY. */
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        for (uint32_t level = 0; level <= two; level++) {
            uint64_t    bytes;
            const void *bits  = blm_view(f, level, &bytes);
            const void *found = memmem(enc.p, enc.len, bits, (size_t)bytes);
            assert_non_null(found);
            off_t   place = (const uint8_t *)found - enc.p + (off_t)bytes / 2;
            uint8_t byte;
            int     fd = open(path, O_RDWR);
            assert_int_equal(pread(fd, &byte, 1, place), 1);
            byte ^= 16;
            assert_int_equal(pwrite(fd, &byte, 1, place), 1);
            assert_status(blm_open(path, NULL, &g, NULL), BLM_E_CHECKSUM);
            byte ^= 16;
            assert_int_equal(pwrite(fd, &byte, 1, place), 1);
            close(fd);
        }
        assert_status(blm_open(path, NULL, &g, NULL), BLM_OK);
        blm_free(g);
        unlink(path);
        free(enc.p);
        blm_free(f);
    }
}

static void nothing_can_be_changed(void **state)
{
    (void)state;
    blm_filter *f = cascade(100, 1000, 0, 1), *out;
    blm_options o = fixed_options(BLM_CASCADE, 0.01, 1);
    blm_plan    p = { .size = sizeof p };
    o.items       = 100;
    assert_status(blm_add(f, "a", 1), BLM_E_UNSUPPORTED);
    assert_status(blm_clear(f), BLM_E_UNSUPPORTED);
    assert_status(blm_create(&o, &out, NULL), BLM_E_UNSUPPORTED);
    assert_status(blm_plan_for(&o, &p, NULL), BLM_E_UNSUPPORTED);
    exact_on(f, 100, 1000);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_error_on_either_list_of_any_ratio),
        cmocka_unit_test(random_universes),
        cmocka_unit_test(space_is_near_the_least),
        cmocka_unit_test(it_says_what_other_keys_get),
        cmocka_unit_test(a_level_is_no_copy_of_the_other),
        cmocka_unit_test(empty_lists),
        cmocka_unit_test(it_travels_and_is_whole_or_refused),
        cmocka_unit_test(nothing_can_be_changed),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
