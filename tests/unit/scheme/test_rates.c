/* SPDX-License-Identifier: MIT */
/* The rate that each scheme promises, models and shows is the one that trials find. */
#include "unit/rates.h"

#define KEYS 1500u

/* ASCII text of 12 to 20 bytes, which every funnel takes. The low five bits of the last byte are all
 * equally likely, as the model of md5-or has it. */
static size_t random_key(struct rng *r, char *out)
{
    size_t len = 12 + rng_size(r, 9);
    for (size_t i = 0; i < len; i++)
        out[i] = (char)(32 + rng_below(r, 96));
    return len;
}

/* Means over filters: measured against the rate now (of each filter's bits), and against the rate
 * that was modelled before any key came. */
static void judge_scheme(const char *scheme, double rate)
{
    struct tally now = { 0 }, planned = { 0 };
    double       promised = 0;
    int          filters = quick_tests() ? 2 : 24, trials = 40000;
    for (int i = 0; i < filters; i++) {
        blm_options o  = BLM_OPTIONS_INIT;
        blm_filter *f  = NULL;
        blm_stats   s  = { .size = sizeof s };
        struct rng  r  = { (uint64_t)i * 1000003 + 17 };
        blm_error   e  = { .text = "" };
        double      at = 0;
        char        key[24];
        int         hits = 0;
        o.scheme         = scheme;
        o.items          = KEYS;
        o.rate           = rate;
        if (strcmp(scheme, "native") == 0) { /* the only one that has a random seed otherwise */
            o.flags   = BLM_SEEDED;
            o.seed[0] = (uint64_t)i;
        }
        if (blm_create(&o, &f, &e) != BLM_OK)
            fail_msg("%s: %s", scheme, e.text);
        for (unsigned j = 0; j < KEYS; j++) {
            size_t len = random_key(&r, key);
            blm_add(f, key, len);
        }
        for (int j = 0; j < trials; j++) {
            size_t len = random_key(&r, key);
            hits += blm_check(f, key, len);
        }
        blm_get_stats(f, &s);
        blm_rate_at(f, KEYS, &at);
        tally_add(&now, (double)hits / trials - s.rate_now, 0);
        tally_add(&planned, (double)hits / trials, at);
        promised = s.params.rate;
        blm_free(f);
    }
    char   what[80];
    double measured = tally_mean(&planned), model = planned.model / planned.n;
    snprintf(what, sizeof what, "%s, rate now", scheme);
    judge(what, measured, measured - tally_mean(&now), tally_error(&now), 0);
    snprintf(what, sizeof what, "%s, planned", scheme);
    judge(what, measured, model, tally_error(&planned), 0);
    if (!quick_tests() && measured > promised * 1.1 + 4.5 * tally_error(&planned))
        fail_msg("%s promises %g and gives %g", scheme, promised, measured);
}

static void test_every_scheme(void **state)
{
    (void)state;
    const blm_scheme_row *row;
    for (size_t i = 0; (row = blm_scheme_at(i)); i++)
        if (row->creates && !row->by_caller && !row->means)
            judge_scheme(row->name, 0.03);
}

/* A hundred keys, planned for one in a million. Probes in step with one another make it a hundred times as
 * many, and the rate now says so. */
static void judge_strict(const char *scheme, uint64_t bits, double low, double high)
{
    enum { KEYS_HERE = 100, TRIALS = 200000 };
    double shown = 0, planned = 0, hits = 0, fill = 0;
    int    filters = quick_tests() ? 4 : 40;
    for (int i = 0; i < filters; i++) {
        blm_options o  = BLM_OPTIONS_INIT;
        blm_filter *f  = NULL;
        blm_stats   s  = { .size = sizeof s };
        blm_trial   t  = { .size = sizeof t };
        struct rng  r  = { (uint64_t)i * 1000003 + 17 };
        double      at = 0;
        char        key[24];
        o.scheme = scheme;
        o.bits   = bits;
        o.probes = bits ? 20 : 0;
        o.items  = bits ? 0 : KEYS_HERE;
        o.rate   = bits ? 0 : 1e-6;
        assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
        for (int j = 0; j < KEYS_HERE; j++) {
            size_t len = random_key(&r, key);
            blm_add(f, key, len);
        }
        assert_int_equal(blm_get_stats(f, &s), BLM_OK);
        assert_int_equal(blm_rate_at(f, KEYS_HERE, &at), BLM_OK);
        assert_int_equal(blm_try_rate(f, NULL, TRIALS, rng_next(&r), &t, NULL), BLM_OK);
        shown += s.rate_now / filters;
        planned += at / filters;
        fill += pow(s.fill, s.params.probes) / filters;
        hits += (double)t.hits;
        blm_free(f);
    }
    double measured = hits / TRIALS / filters;
    if (quick_tests()) /* of four filters */
        low /= 2, high *= 2;
    if (getenv("BLM_SHOW"))
        print_message("%-12s measured %.3g  rate now %.3g  planned %.3g  fill^k %.3g\n", scheme,
                      measured, shown, planned, fill);
    if (!(shown > low * measured && shown < high * measured))
        fail_msg("%s: measured %g, and %g is shown", scheme, measured, shown);
    if (!(planned > low * measured && planned < high * measured))
        fail_msg("%s: measured %g, and %g was planned", scheme, measured, planned);
}

static void test_strict_rates(void **state)
{
    (void)state;
    judge_strict("guava64", 0, 0.4, 2.5);
    judge_strict("guava32", 0, 0.4, 2.5);
    judge_strict("spark1", 0, 0.4, 2.5);
    judge_strict("spark2", 0, 0.4, 2.5);
    judge_strict("dcso01", 0, 0.4, 2.5);
    judge_strict("redisbloom", 0, 0.4, 2.5);
    judge_strict("guava64", 2048, 0.4, 2.5); /* half as many again as half full */
    judge_strict("guava32", 2048, 0.4, 2.5);
    judge_strict("spark1", 2048, 0.4, 2.5);
    judge_strict("spark2", 2048, 0.4, 2.5);
    if (!quick_tests()) /* a hit in a million */
        judge_strict("go", 0, 0.4, 2.5);
}

/* With an even m the low bits of a hash say where several probes of a key go: the rate is up to thousands of times
 * what m and k give, and fewer bits are set, or by more chance. */
static void test_even_dcso(void **state)
{
    (void)state;
    static const struct {
        const char *scheme;
        uint64_t    bits;
        uint32_t    probes, keys;
        double      off; /* of the rate at most, in shares of it */
    } rows[] = {
        { "dcso01", 9585, 7, 1000, 0.03 },  { "dcso01", 9586, 7, 1000, 0.03 },
        { "dcso01", 9588, 7, 1000, 0.03 },  { "dcso01", 9584, 7, 1000, 0.03 },
        { "dcso01", 5752, 20, 200, 0.15 },  { "dcso01", 2880, 20, 100, 0.15 },
        { "dcso01", 16384, 7, 1638, 0.15 }, { "dcso", 9585, 7, 1000, 0.03 },
        { "dcso", 16384, 7, 1638, 0.03 },   { "dcso", 16384, 13, 800, 0.1 },
        { "dcso", 49152, 7, 4900, 0.1 },    { "dcso", 28672, 7, 2867, 0.2 },
        { "dcso", 16384, 20, 500, 0.1 },    { "dcso", 63936, 7, 6393, 0.1 },
    };
    const unsigned filters = quick_tests() ? 20 : 100;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        double   measured = 0, shown = 0, planned = 0;
        unsigned held = 0;
        for (unsigned j = 0; j < filters; j++) {
            blm_options o = BLM_OPTIONS_INIT;
            blm_stats   s = { .size = sizeof s };
            blm_trial   t = { .size = sizeof t };
            struct rng  r = { j * 1000003 + 17 };
            double      at;
            char        key[24];
            o.scheme      = rows[i].scheme;
            o.bits        = rows[i].bits;
            o.probes      = rows[i].probes;
            blm_filter *f = NULL;
            assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
            for (unsigned n = 0; n < rows[i].keys; n++) {
                size_t len = random_key(&r, key);
                blm_add(f, key, len);
            }
            assert_int_equal(blm_get_stats(f, &s), BLM_OK);
            assert_int_equal(blm_rate_at(f, rows[i].keys, &at), BLM_OK);
            assert_int_equal(blm_try_rate(f, NULL, 20000, rng_next(&r), &t, NULL), BLM_OK);
            held += s.estimated.low <= rows[i].keys && rows[i].keys <= s.estimated.high;
            measured += t.rate / filters;
            shown += s.rate_now / filters;
            planned += at / filters;
            blm_free(f);
        }
        if (getenv("BLM_SHOW"))
            print_message("%s, m %llu, k %u, %u keys: measured %.3g  rate now %.3g  planned %.3g  "
                          "held %u of %u\n",
                          rows[i].scheme, (unsigned long long)rows[i].bits,
                          (unsigned)rows[i].probes, (unsigned)rows[i].keys, measured, shown,
                          planned, held, filters);
        double off = rows[i].off + (quick_tests() ? 0.4 : 0);
        if (fabs(shown / measured - 1) > off || fabs(planned / measured - 1) > off)
            fail_msg("%s, m %llu: measured %g, and %g is shown, %g was planned", rows[i].scheme,
                     (unsigned long long)rows[i].bits, measured, shown, planned);
        if (held < filters * 85 / 100) /* 95, less 4.5 standard errors */
            fail_msg("%s, m %llu: %u of %u intervals held", rows[i].scheme,
                     (unsigned long long)rows[i].bits, held, filters);
    }
}

/* One key, and all that probes can lead to: the figures are figures. */
static void test_dcso_at_the_ends(void **state)
{
    (void)state;
    static const uint64_t sizes[]  = { 1, 2, 8, 9, 40, 1000, 1024, (uint64_t)1 << 24 };
    static const uint32_t probes[] = { 1, 2, 7, 30, 2000 };
    for (size_t i = 0; i < 2 * COUNT_OF(sizes) * COUNT_OF(probes); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f = NULL;
        blm_stats   s = { .size = sizeof s };
        blm_overlap v = { .size = sizeof v };
        struct rng  r = { 17 };
        double      at;
        char        key[24];
        o.scheme      = i % 2 ? "dcso" : "dcso01";
        o.bits        = sizes[i / 2 % COUNT_OF(sizes)];
        o.probes      = probes[i / 2 / COUNT_OF(sizes)];
        o.items       = 1;
        blm_status st = blm_create(&o, &f, NULL);
        assert_true(st == BLM_OK ||
                    (st == BLM_E_LIMIT && o.bits < o.probes)); /* says maybe to all */
        for (unsigned n = 0; f && n < 5000; n++) {
            size_t len = random_key(&r, key);
            blm_add(f, key, len);
            if (n && n != 20 && n != 4999)
                continue;
            assert_int_equal(blm_get_stats(f, &s), BLM_OK);
            blm_estimate e = s.estimated;
            assert_true(e.value >= 0 && !isinf(e.value) && e.low <= e.value && e.high >= e.value);
            assert_true(e.saturated == !!isinf(e.high));
            assert_true(s.rate_now >= 0 && s.rate_now <= 1);
            if (e.saturated)
                assert_true(s.rate_now == 1);
            else
                assert_true(n > 0 || o.bits < 1 << 24 || o.probes > 7 ||
                            (e.low <= 1 && e.high >= 1));
            assert_int_equal(blm_compare(f, f, &v, NULL), BLM_OK);
            assert_true(v.both.low <= v.both.value && v.both.value <= v.both.high);
            assert_true(v.jaccard.low >= 0 && v.jaccard.high <= 1 && v.jaccard.value <= 1);
            assert_true(v.either.saturated == v.both.saturated);
        }
        if (f)
            assert_int_equal(blm_rate_at(f, 1000, &at), BLM_OK);
        assert_true(!f || (at >= 0 && at <= 1));
        blm_free(f);
    }
}

/* What two of them have in common, and how many either has. */
static void test_even_dcso01_compared(void **state)
{
    (void)state;
    enum { EACH = 800, SOME = 500, TRIALS = 100 };
    const double truth[] = { EACH, EACH, EACH - SOME, EACH + SOME,
                             (EACH - SOME) / (EACH + SOME * 1.0) };
    double       mean[5] = { 0 };
    unsigned     held[5] = { 0 };
    for (unsigned t = 0; t < TRIALS; t++) {
        blm_filter *f[2];
        blm_options o = BLM_OPTIONS_INIT;
        blm_overlap v = { .size = sizeof v };
        o.scheme      = "dcso01";
        o.bits        = 9588;
        o.probes      = 7;
        for (unsigned i = 0; i < 2; i++) {
            struct rng r = { t * 1000003 + 17 };
            char       key[24];
            assert_int_equal(blm_create(&o, &f[i], NULL), BLM_OK);
            for (unsigned j = 0; j < SOME + EACH; j++) {
                size_t len = random_key(&r, key);
                if (j >= SOME * i && j < SOME * i + EACH)
                    blm_add(f[i], key, len);
            }
        }
        assert_int_equal(blm_compare(f[0], f[1], &v, NULL), BLM_OK);
        const blm_estimate *e[] = { &v.a, &v.b, &v.both, &v.either, &v.jaccard };
        for (size_t i = 0; i < 5; i++) {
            held[i] += e[i]->low <= truth[i] && truth[i] <= e[i]->high;
            mean[i] += e[i]->value / TRIALS;
        }
        assert_true(v.both.high <= fmin(v.a.high, v.b.high));
        blm_free(f[0]);
        blm_free(f[1]);
    }
    for (size_t i = 0; i < 5; i++)
        if (held[i] < 85 || fabs(mean[i] / truth[i] - 1) > 0.02)
            fail_msg("number %zu: %g of the truth, %u of %u intervals held", i, mean[i] / truth[i],
                     held[i], (unsigned)TRIALS);
}

/* There is no original that takes so many bytes, and an odd m keeps the rate. */
static void test_dcso_of_so_many_bytes(void **state)
{
    (void)state;
    static const char *const schemes[] = { "dcso", "dcso01" };
    for (size_t i = 0; i < 2; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f = NULL;
        blm_params  p = { .size = sizeof p };
        o.scheme      = schemes[i];
        o.memory      = 16384;
        o.items       = 13000;
        assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
        blm_get_params(f, &p);
        assert_int_equal(p.bits, 131071);
        assert_int_equal(p.bytes, 16384);
        assert_null(p.notice);
        assert_true(p.rate < 0.0085);
        blm_free(f);
    }
}

/* Bitcoin Core cuts a filter at 36 000 bytes: the rate is what those give. */
static void test_bip37_cut(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    blm_params  p = { .size = sizeof p };
    o.scheme      = "bip37";
    o.items       = 40000;
    o.rate        = 1e-4;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
    blm_get_params(f, &p);
    assert_int_equal(p.bytes, 36000);
    assert_true(p.rate > 0.03 && p.rate < 0.035);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_scheme),
        cmocka_unit_test(test_strict_rates),
        cmocka_unit_test(test_even_dcso),
        cmocka_unit_test(test_dcso_at_the_ends),
        cmocka_unit_test(test_even_dcso01_compared),
        cmocka_unit_test(test_dcso_of_so_many_bytes),
        cmocka_unit_test(test_bip37_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
