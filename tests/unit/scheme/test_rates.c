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
        cmocka_unit_test(test_bip37_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
