/* SPDX-License-Identifier: MIT */
/*
 * Makes a filter from what a command asked for, and replicates that to replicas and the append-only
 * file. A filter made by an add is replicated with its parameters, and a native filter with its
 * seed, so that a replica gets the same filter whatever its own defaults are.
 */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "bf.h"
#include "bloomery/maths.h"

#define SCALING (BLM_CHAIN_NOROUND | BLM_CHAIN_FORCE64)

struct bf_wanted bf_defaults(void)
{
    struct bf_wanted w = { .rate      = bf_config.rate,
                           .capacity  = bf_config.capacity,
                           .expansion = bf_config.expansion };
    return w;
}

/* Why it could not be made. Plans it again without the cap, because 64-bit hashes cannot reach
 * every rate. */
static const char *why_not(blm_options *o, blm_status st)
{
    static char text[4 + sizeof(blm_error)];
    blm_error   err;
    blm_plan    p = { .size = sizeof p };
    o->max_bytes  = 0;
    if (st == BLM_E_MEMORY)
        return "ERR Insufficient memory to create filter";
    if (blm_plan_for(o, &p, &err) == BLM_OK)
        return BF_TOO_LARGE;
    if (err.status == BLM_E_FULL) /* a chain's first layer has half the rate, which is 0 */
        return "ERR error rate is too small";
    snprintf(text, sizeof text, "ERR %s", err.text);
    return text;
}

static void chain_options(const struct bf_wanted *w, blm_options *o)
{
    bool fixed = w->nonscaling || w->expansion == 0;
    o->scheme  = "redisbloom";
    o->kind    = BLM_SCALABLE;
    o->rate    = w->rate;
    o->items   = (uint64_t)w->capacity;
    o->growth  = fixed ? 2 : (double)w->expansion;
    o->variant = fixed ? SCALING | BLM_CHAIN_NO_SCALING : SCALING;
}

static void native_options(const struct bf_wanted *w, blm_options *o)
{
    o->kind      = w->kind;
    o->rate      = w->rate;
    o->items     = (uint64_t)w->capacity;
    o->seed[0]   = w->seed[0];
    o->seed[1]   = w->seed[1];
    o->flags     = BLM_SEEDED;
    o->window_ms = w->window_ms;
    if (w->slack_ms)
        o->slack = (double)w->slack_ms / (double)w->window_ms;
    if (bf_grows(w->kind))
        o->growth = (double)w->expansion;
}

struct value *bf_make(Ctx *ctx, const struct bf_wanted *w, const char **why)
{
    blm_options o = bf_options(bf_cap(ctx));
    blm_filter *f = NULL;
    if (w->native)
        native_options(w, &o);
    else
        chain_options(w, &o);
    blm_status    st = blm_create(&o, &f, NULL);
    struct value *v  = st == BLM_OK ? bf_value(f, w->native) : NULL;
    if (!v) {
        *why = why_not(&o, st == BLM_OK ? BLM_E_MEMORY : st);
        return NULL;
    }
    v->saturate = w->saturate;
    bf_value_tally(v);
    return v;
}

bool bf_complete_wanted(struct bf_wanted *w)
{
    if (!w->explicit_ && !w->native && !w->nonscaling && bf_config.auto_growth &&
        w->expansion == BF_DEFAULT_EXPANSION) {
        double marked = bf_auto_rate(w->rate);
        if (bf_is_auto(marked / 2))
            w->rate = marked;
    }
    if (w->native && bf_grows(w->kind)) { /* the configured expansion may be out of its range */
        w->expansion = w->expansion < 2               ? BF_DEFAULT_EXPANSION
                       : w->expansion > BF_MAX_GROWTH ? BF_MAX_GROWTH
                                                      : w->expansion;
    }
    if (w->native && !w->seeded) {
        w->seeded = true;
        return getrandom(w->seed, sizeof w->seed, 0) == (ssize_t)sizeof w->seed;
    }
    return true;
}

static void replicate_native(Ctx *ctx, Str *key, const struct bf_wanted *w, const char *rate)
{
    char seed[40];
    if (w->seed[1]) /* a module of before that had 128 bits reads the other form only */
        snprintf(seed, sizeof seed, "0x%llx%016llx", (unsigned long long)w->seed[1],
                 (unsigned long long)w->seed[0]);
    else
        snprintf(seed, sizeof seed, "%llu", (unsigned long long)w->seed[0]);
    const char *kind = blm_kind_name(w->kind);
    if (w->window_ms) {
        char window[24], slack[24];
        snprintf(window, sizeof window, "%.3f", (double)w->window_ms / 1000);
        snprintf(slack, sizeof slack, "%.3f", (double)w->slack_ms / 1000);
        if (w->slack_ms)
            api.Replicate(ctx, "BF.RESERVE", "sclcccccccc", key, rate, w->capacity, "KIND", kind,
                          "WINDOW", window, "SLACK", slack, "SEED", seed);
        else
            api.Replicate(ctx, "BF.RESERVE", "sclcccccc", key, rate, w->capacity, "KIND", kind,
                          "WINDOW", window, "SEED", seed);
    } else if (w->saturate)
        api.Replicate(ctx, "BF.RESERVE", "sclccccc", key, rate, w->capacity, "KIND", kind, "SEED",
                      seed, "SATURATE");
    else if (bf_grows(w->kind))
        api.Replicate(ctx, "BF.RESERVE", "sclccclcc", key, rate, w->capacity, "KIND", kind,
                      "EXPANSION", w->expansion, "SEED", seed);
    else
        api.Replicate(ctx, "BF.RESERVE", "sclcccc", key, rate, w->capacity, "KIND", kind, "SEED",
                      seed);
}

void bf_replicate_make(Ctx *ctx, Str *key, const struct bf_wanted *w)
{
    char rate[32];
    snprintf(rate, sizeof rate, "%.17g", w->rate);
    if (w->native)
        replicate_native(ctx, key, w, rate);
    else if (w->nonscaling || w->expansion == 0)
        api.Replicate(ctx, "BF.RESERVE", "sclc", key, rate, w->capacity, "NONSCALING");
    else
        api.Replicate(ctx, "BF.RESERVE", "sclcl", key, rate, w->capacity, "EXPANSION",
                      w->expansion);
}
