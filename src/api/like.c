/* SPDX-License-Identifier: MIT */
/* options.like: what else the options say must not contradict the filter that they name. A choice that
 * was dropped without a word would show much later, when two filters do not meet. */
#include <string.h>

#include "api/filter.h"
#include "core/ages.h"

static bool other_text(const char *asked, const char *is)
{
    return asked && (!is || strcmp(asked, is) != 0);
}

/* 0 is "as that one has it"; no number is equal to a NaN. */
static bool other_number(double asked, double is) { return asked != 0 && !(asked == is); }

static bool other_growth(double asked, const struct blm__body *b)
{
    return other_number(asked, b->growth) &&
           !(b->ops->growth && asked == b->ops->growth(b)); /* what blm_params tells */
}

static bool other_seed(const blm_options *o, const struct blm__body *b)
{
    const struct blm__hasher *h = &b->hasher;
    if (!(o->flags & BLM_SEEDED))
        return false;
    return h->policy == BLM_SEED_NONE || o->seed[0] != h->seed[0] || o->seed[1] != h->seed[1];
}

static bool other_window(uint64_t asked, const struct blm__shape *s)
{
    return asked && !(s->rule == BLM__AGES && blm__by_time(s) && blm__ages_window(s) == asked);
}

/* It is a bound: a window that keeps it agrees. */
static bool other_slack(double asked, const struct blm__shape *s)
{
    if (asked == 0 || s->rule != BLM__AGES)
        return asked != 0;
    double   window = (double)blm__ages_window(s);
    uint32_t ages   = blm__ages_of(s);
    double   over   = (double)blm__turn_length(blm__ages_window(s), ages) * ages - window;
    return !(over <= asked * window * (1 + 1e-9));
}

blm_status blm__like_agrees(const blm_options *o, blm_error *err)
{
    const struct blm__body  *b = &o->like->body;
    const struct blm__shape *s = &b->layers[0].shape;
    if (o->items || o->rate != 0 || o->bits || o->probes || o->memory)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "options.like gives the size: items, rate, bits, probes and memory must "
                         "be 0");
    const struct {
        bool        other;
        const char *name;
    } said[] = {
        { o->kind && o->kind != b->kind, "kind" },
        { o->scheme && blm__scheme_find(o->scheme) != b->scheme, "scheme" },
        { o->version && o->version != b->hasher.version, "version" },
        { o->hash && o->hash != b->hasher.id, "hash" },
        { other_text(o->hash_name, b->hasher.name), "hash's name" },
        { other_seed(o, b), "seed" },
        { o->variant && o->variant != s->variant, "variant" },
        { other_text(o->funnel, b->hasher.funnel), "funnel" },
        { o->lines && o->lines != s->lines, "number of lines" },
        { other_growth(o->growth, b), "growth" },
        { other_number(o->tightening, b->tightening), "tightening" },
        { other_number(o->rate_cap, b->rate_cap), "rate cap" },
        { other_window(o->window_ms, s), "window" },
        { other_slack(o->slack, s), "slack" },
        { o->layer_classic && s->kind != BLM_CLASSIC, "kind of the layers" },
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (said[i].other)
            return blm__fail(err, BLM_E_ARGUMENT,
                             "options.like is a filter with another %s: leave that out, or make a "
                             "filter without options.like",
                             said[i].name);
    return BLM_OK;
}
