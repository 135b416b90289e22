/* SPDX-License-Identifier: MIT */
/*
 * The plan of windows. The keys of one turn are those of a small blocked filter whose lines are
 * words of 56 cells, and the window is S of them beside each other, all full when a turn ends. A
 * question passes if it passes one of them: so each may have the rate 1 − (1 − p)^(1/S).
 */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "core/ages.h"
#include "core/error.h"
#include "maths/plan.h"
#include "maths/sizing.h"

double blm__rate_ages(uint64_t spans, uint32_t words, uint32_t lines, uint64_t turn, uint32_t ages)
{
    double each = blm__rate_lines(BLM__AGE_CELLS, spans, words, lines, turn);
    return -expm1(ages * log1p(-each));
}

static double each_of(double rate, uint32_t ages) { return -expm1(log1p(-rate) / ages); }

/* The bytes of a window whose turns have as many cells. */
static uint64_t bytes_of(uint64_t cells, uint32_t ages)
{
    return blm__ages_words(cells / BLM__AGE_CELLS, ages) * 8;
}

/* What the rate takes, if it is not the size that was given: a turn's bytes_needed are whole words, and
 * spans of 56 cells cannot be counted from those. */
static uint64_t bytes_needed(const blm_options *one, const blm_plan *p, uint32_t ages)
{
    blm_options strict = *one;
    blm_plan    need   = { .size = sizeof need };
    strict.bits        = 0;
    if (p->bytes_needed == 0 || p->bytes_needed == UINT64_MAX)
        return p->bytes_needed;
    if (one->bits == 0 || one->items == 0)
        return bytes_of(p->bits, ages);
    return blm__plan_words(&strict, &need, NULL) == BLM_OK ? bytes_of(need.bits, ages) : UINT64_MAX;
}

static blm_status again(const void *ages, const blm_options *o, blm_plan *out)
{
    return blm__plan_ages(o, *(const uint32_t *)ages, out, NULL);
}

/* The keys of one turn have the rate of one turn. Said in numbers of the whole, which the caller
 * gave. */
static blm_status want_hashes(const blm_options *o, const uint32_t *ages, blm_error *err)
{
    double all = (double)blm__turn_length(o->items, *ages) * *ages;
    if (o->bits || o->memory || !o->items || !(o->rate > 0 && o->rate < 1))
        return BLM_OK;
    return blm__want_hashes(o, (double)o->items / all, again, ages, err);
}

/* What is wanted of the whole, as it is wanted of one turn. */
static blm_status of_one_turn(const blm_options *o, uint32_t ages, blm_options *out, blm_error *err)
{
    uint64_t bytes = o->bits ? (o->bits - 1) / 64 * 8 + 8 : o->memory, spans;
    *out           = *o;
    out->memory = out->max_bytes = 0;
    if (o->rate != 0 && !(o->rate > 0 && o->rate < 1))
        return BLM_OK; /* for the caller to refuse */
    out->items = blm__turn_length(o->items, ages);
    /* 0 would be no rate; so small a one is refused like others that cannot be reached. */
    out->rate = o->rate > 0 ? fmax(each_of(o->rate, ages), DBL_MIN) : 0;
    if (bytes == 0)
        return BLM_OK;
    if (o->memory && bytes > o->memory)
        return blm__fail(err, BLM_E_LIMIT,
                         "bits = %" PRIu64 " does not fit memory = %" PRIu64
                         " bytes; give one of the two, or more memory",
                         o->bits, o->memory);
    spans = blm__ages_spans(bytes / 8, ages);
    if (spans == 0)
        return blm__fail(err, BLM_E_LIMIT, "%" PRIu64 " bytes hold no window: it takes at least %u",
                         bytes, (unsigned)(blm__ages_words(1, ages) * 8));
    out->bits = spans * BLM__AGE_CELLS;
    if (!o->items && out->rate == 0 && o->probes == 0)
        out->rate = each_of(BLM__DEFAULT_RATE, ages);
    return BLM_OK;
}

blm_status blm__plan_ages(const blm_options *o, uint32_t ages, blm_plan *out, blm_error *err)
{
    blm_options one;
    blm_status  st = of_one_turn(o, ages, &one, err);
    if (st == BLM_OK)
        st = want_hashes(o, &ages, err);
    if (st == BLM_OK)
        st = blm__plan_words(&one, out, err);
    if (st != BLM_OK)
        return st;
    out->bytes_needed = bytes_needed(&one, out, ages);
    out->items        = o->items ? o->items : out->items * (ages - 1);
    out->rate         = -expm1(ages * log1p(-out->rate));
    out->asked        = o->rate > 0 ? o->rate : one.rate > 0 ? BLM__DEFAULT_RATE : 0;
    out->bytes        = bytes_of(out->bits, ages);
    out->bits         = out->bytes * 8;
    if (out->bits > BLM__MAX_BITS)
        return blm__fail(err, BLM_E_LIMIT,
                         "a window of more than 2^48 bits; raise the rate, or "
                         "split the keys over several filters");
    out->bits_per_item = (double)out->bits / (double)out->items;
    out->model         = BLM_MODEL_WINDOW;
    for (uint32_t s = BLM__AGES_LEAST; s < ages; s *= 2)
        out->model++;
    if (o->max_bytes && out->bytes > o->max_bytes)
        return blm__fail(err, BLM_E_LIMIT,
                         "the window takes %" PRIu64 " bytes, more than the limit of %" PRIu64,
                         out->bytes, o->max_bytes);
    return BLM_OK;
}
