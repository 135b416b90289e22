/* SPDX-License-Identifier: MIT */
/* The maths take any numbers and return an error or finite results in their domain, never a NaN,
 * and never hang. The input is eight-byte fields, read in order; missing ones are zero. */
#include <bloomery.h>
#include <bloomery/maths.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *data;
    size_t         len;
};

static uint64_t whole(struct input *in)
{
    uint64_t v = 0;
    size_t   n = in->len < sizeof v ? in->len : sizeof v;
    if (n)
        memcpy(&v, in->data, n);
    in->data += n;
    in->len -= n;
    return v;
}

static double real(struct input *in)
{
    uint64_t bits = whole(in);
    double   d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

static void must(bool truth)
{
    if (!truth)
        abort();
}

static bool is_rate(double p) { return p >= 0 && p <= 1; } /* false for NaN */

/* In order, and only high may be infinite. */
static void sound(const blm_estimate *e)
{
    must(isfinite(e->value) && isfinite(e->low) && !isnan(e->high));
    must(e->low <= e->value && e->value <= e->high);
}

static void plan(struct input *in)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = (blm_kind)(whole(in) % 9);
    o.items       = whole(in);
    o.rate        = real(in);
    o.bits        = whole(in);
    o.memory      = whole(in);
    o.probes      = (uint32_t)whole(in);
    o.lines       = (uint32_t)whole(in);
    o.growth      = real(in);
    o.tightening  = real(in);
    o.rate_cap    = real(in);
    o.window_ms   = whole(in);
    o.slack       = real(in);
    blm_plan   p  = { .size = sizeof p };
    blm_error  err;
    blm_status s = blm_plan_for(&o, &p, &err);
    if (s != BLM_OK) {
        must(s < 0 && err.status == s && err.text[0]);
        return;
    }
    must(is_rate(p.rate) && is_rate(p.asked) && isfinite(p.bits_per_item));
    must(p.bits > 0 && p.probes > 0 && p.bytes > 0);
}

static void rates(struct input *in)
{
    blm_model model = (blm_model)(whole(in) % 5);
    uint64_t  m = whole(in), n = whole(in), ones = whole(in), ones_b = whole(in), or = whole(in);
    uint32_t  k = (uint32_t)whole(in), lines = (uint32_t)whole(in);
    double    p = real(in), confidence = real(in), low, high;

    blm_rate r = { .size = sizeof r };
    if (blm_rate_of(model, m, k, lines, n, &r) == BLM_OK)
        must(is_rate(r.value) && is_rate(r.low) && is_rate(r.high) && r.low <= r.value &&
             r.value <= r.high);
    blm_estimate e;
    if (blm_fill_interval(m, k, n, (ones & 1) != 0, confidence, &e) == BLM_OK)
        sound(&e);
    if (blm_estimate_items(m, k, ones, &e) == BLM_OK)
        sound(&e);
    blm_overlap v = { .size = sizeof v };
    if (blm_estimate_overlap(m, k, ones, ones_b, or, &v) == BLM_OK) {
        sound(&v.a);
        sound(&v.b);
        sound(&v.both);
        sound(&v.either);
        sound(&v.jaccard);
    }
    if (blm_binomial_interval(ones, n, confidence, &low, &high) == BLM_OK)
        must(is_rate(low) && is_rate(high) && low <= high);
    uint64_t m2, n2;
    uint32_t k2;
    if (blm_textbook(n, p, &m2, &k2) == BLM_OK)
        must(m2 > 0 && k2 > 0);
    if (blm_best_probes(m, n, &k2) == BLM_OK)
        must(k2 > 0);
    if (blm_probes_for_rate(p, &k2) == BLM_OK)
        must(k2 > 0);
    if (blm_best_rate(m, n, &p) == BLM_OK)
        must(is_rate(p));
    (void)blm_capacity_for(m, k, p, &n2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    plan(&in);
    in = (struct input){ data, size };
    rates(&in);
    return 0;
}
