/* SPDX-License-Identifier: MIT */
/* Rates of ten million keys, and of filters past 2^32 bits: optimised builds only, with
 * BLM_SLOW=1 (some 2 GB of memory, under a minute). */
#include "unit/rates.h"

#define PIECE 65536u

/* Keys first … first + n − 1, as 8 bytes each. Returns how many were new. */
static uint64_t add_range(blm_filter *f, uint64_t first, uint64_t n)
{
    static uint64_t keys[PIECE];
    static uint8_t  fresh[PIECE];
    uint64_t        news = 0;
    for (uint64_t at = 0; at < n; at += PIECE) {
        size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        for (size_t i = 0; i < some; i++)
            keys[i] = first + at + i;
        assert_status(blm_add_fixed(f, keys, 8, some, fresh, NULL), BLM_OK);
        for (size_t i = 0; i < some; i++)
            news += fresh[i];
    }
    return news;
}

static uint64_t count_range(const blm_filter *f, uint64_t first, uint64_t n)
{
    static uint64_t keys[PIECE];
    uint64_t        hits = 0;
    for (uint64_t at = 0; at < n; at += PIECE) {
        size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        for (size_t i = 0; i < some; i++)
            keys[i] = first + at + i;
        hits += blm_check_fixed(f, keys, 8, some, NULL);
    }
    return hits;
}

static void ten_million(void **state)
{
    (void)state;
    const uint64_t n = 10000000;
    if (!slow_tests())
        skip();
    EACH_FLAVOUR(v)
    {
        if (v->flags & BLM_SHARED || v->lines > 1)
            continue;
        blm_filter *f = make_flavour(v, n, 0.01, 12);
        add_range(f, 0, n);
        assert_true(count_range(f, 0, n) == n);
        double    rate = (double)count_range(f, n, n) / (double)n;
        blm_stats s    = stats_of(f);
        char      what[80];
        snprintf(what, sizeof what, "%s, ten million, by its bits", v->name);
        judge(what, rate, s.rate_now, sqrt(s.rate_now / (double)n), 0);
        if (v->kind != BLM_SCALABLE && is_bits(v)) {
            double model = modelled(&s.params, n);
            snprintf(what, sizeof what, "%s, ten million, by its size", v->name);
            judge(what, rate, model, sqrt(model / (double)n), 0.001);
        }
        assert_true(rate < 0.01 * (1 + Z_MOST / sqrt(0.01 * (double)n)));
        /* The estimate from the bits, at one part in a thousand. */
        assert_true(fabs(s.estimated.value / (double)n - 1) < 0.005);
        blm_free(f);
    }
}

/* A hundred million keys, three probes each, in 4.8e9 bits: sparse, so that it is quick to fill,
 * and yet every slice of the filter, those past 2^32 too, holds its share. */
static void past_32_bits(void **state)
{
    (void)state;
    const uint64_t n = 100000000, asked = 20000000;
    if (!slow_tests())
        skip();
    for (int kind = BLM_CLASSIC; kind <= BLM_BLOCKED; kind++) {
        blm_options o = BLM_OPTIONS_INIT;
        double      map[64];
        o.kind           = (blm_kind)kind;
        o.flags          = BLM_SEEDED;
        o.bits           = 4800000000u / 512 * 512;
        o.probes         = 3;
        blm_filter *f    = make(&o);
        uint64_t    news = add_range(f, 0, n);
        assert_true(news <= n && news > n - n / 1000);
        assert_true(count_range(f, 0, n) == n);
        blm_stats s     = stats_of(f);
        double    rate  = (double)count_range(f, n, asked) / (double)asked;
        double    model = modelled(&s.params, n);
        assert_true(s.params.bits > (uint64_t)1 << 32);
        judge(kind ? "blocked, past 2^32 bits" : "classic, past 2^32 bits", rate, model,
              sqrt(model / (double)asked), 0);
        assert_status(blm_fill_map(f, map, 64), BLM_OK);
        for (int i = 0; i < 64; i++) /* 75 million bits each, 4.6 million ones ± 2 200 */
            assert_true(fabs(map[i] / s.fill - 1) < 0.005);
        assert_true(fabs(s.estimated.value / (double)n - 1) < 0.001);
        blm_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_million),
        cmocka_unit_test(past_32_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
