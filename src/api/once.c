/* SPDX-License-Identifier: MIT */
/* Questions for which a filter is made, asked and thrown away. */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "core/bytes.h"
#include "engine/engine.h"

/* ---- the rate of a filter that is filled for it ---- */

#define ASKED 100000u /* as many as Go's EstimateFalsePositiveRate asks */
#define SOME  4096u   /* at once; divides nothing in particular */

/* Numbers from … on as keys: four bytes, big-endian. */
static void number_keys(uint64_t from, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++)
        blm__put32be(out + 4 * i, (uint32_t)(from + i));
}

static size_t least(uint64_t left) { return left < SOME ? (size_t)left : SOME; }

static blm_status fill(blm_filter *f, uint64_t n, blm_error *err)
{
    uint8_t    keys[4 * SOME];
    blm_status st = BLM_OK;
    for (uint64_t at = 0; st == BLM_OK && at < n; at += SOME) {
        number_keys(at, least(n - at), keys);
        st = blm_add_fixed(f, keys, 4, least(n - at), NULL, NULL);
        if (st == BLM_OK && !blm__go_on(&f->body, at, n))
            st = BLM_E_CANCELLED;
    }
    return st == BLM_OK ? st : blm__fail(err, st, "%s", blm_status_text(st));
}

static uint64_t count_hits(const blm_filter *f, uint64_t from, uint64_t n)
{
    uint8_t  keys[4 * SOME];
    uint64_t hits = 0;
    for (uint64_t at = 0; at < n; at += SOME) {
        number_keys(from + at, least(n - at), keys);
        hits += blm_check_fixed(f, keys, 4, least(n - at), NULL);
    }
    return hits;
}

blm_status blm_try_options(const blm_options *o, uint64_t n, blm_trial *out, blm_error *err)
{
    blm_filter *f    = NULL;
    blm_trial   none = { .size = 0 };
    if (blm__emit(out, &none, sizeof none) != BLM_OK)
        return blm__fail(err, BLM_E_ARGUMENT, "trial.size is not set");
    if (n > UINT32_MAX - ASKED)
        return blm__fail(err, BLM_E_LIMIT, "%llu keys: they are numbers of 32 bits",
                         (unsigned long long)n);
    blm_status st = blm_create(o, &f, err);
    if (st == BLM_OK)
        st = fill(f, n, err);
    if (st == BLM_OK) {
        blm_trial t = { .trials = ASKED, .hits = count_hits(f, n + 1, ASKED) };
        t.rate      = (double)t.hits / ASKED;
        t.promised  = f->body.rate;
        blm_binomial_interval(t.hits, ASKED, 0.95, &t.low, &t.high);
        t.holds = !(t.promised > 0) || t.low <= t.promised;
        st      = blm_rate_at(f, n, &t.modelled);
        st      = st == BLM_OK ? blm__emit(out, &t, sizeof t)
                               : blm__fail(err, st, "the filter has no model for so many keys");
    }
    blm_free(f);
    return st;
}

/* ---- the values of a key ---- */

/* A shape of k probes: the values do not depend on its size, which is any that schemes take. */
static blm_status prepare(const struct blm__scheme *s, uint32_t k, blm_filter **out,
                          struct blm__shape *shape)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = s->row.name;
    o.bits        = 1u << 16;
    o.probes      = k;
    if (s->row.seeded && s->native)
        o.flags = BLM_SEEDED; /* by 0: never a random one */
    return blm__filter_prepare(&o, out, shape, NULL);
}

blm_status blm_locations(const char *scheme, uint32_t k, const void *key, size_t len, uint64_t *out)
{
    const struct blm__scheme *s = blm__scheme_find(scheme);
    struct blm__shape         shape;
    blm_filter               *f = NULL;
    blm_digest                d;
    if (!s || (!key && len) || !out || k == 0)
        return BLM_E_ARGUMENT;
    if (s->missing)
        return BLM_E_UNSUPPORTED;
    blm_status st = prepare(s, k, &f, &shape);
    if (st != BLM_OK)
        return st;
    if (shape.probes != k) { /* the scheme has a number of its own */
        st = BLM_E_UNSUPPORTED;
    } else {
        s->digest(&f->body.hasher, k, key ? key : "", len, &d);
        st = blm__engine_of(&shape)->positions(&shape, &d, true, out) ? BLM_OK : BLM_E_UNSUPPORTED;
    }
    blm_free(f);
    return st;
}
