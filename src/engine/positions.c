/* SPDX-License-Identifier: MIT */
/*
 * Positions: bits of other systems' schemes, where the scheme's list says; keys in groups whose
 * bits are asked for before they are used.
 *
 * Most schemes list 64-bit values and take each modulo m. There the listing is a few additions and
 * the divisions are the work, so they are left for the probes that are really made, and done by
 * multiplying with a reciprocal. The first bits of an absent key nearly always say no (half of a
 * full filter's are clear): a check divides and fetches FIRST of them, and the rest only for keys
 * that passed.
 *
 * Schemes that step (scheme.wrap) do without all that: engine/steps.c.
 */
#include <math.h>

#include "core/kernel/loops.h"
#include "engine/bits.h"
#include "maths/cover.h"
#include "maths/sizing.h"

#define GROUP BLM__BATCH_DIGESTS
#define FIRST 3u
#define AHEAD 16u /* keys between asking for bits and using them */

/* Keys whose positions fit the buffer at once; at least one, as BLM__MAX_PROBES fit. */
static size_t group_of(uint32_t k)
{
    size_t fit = k ? BLM__MAX_PROBES / k : GROUP;
    return fit < GROUP ? fit : GROUP;
}

/* v mod m. With r = ⌊(2^64 − 1) / m⌋ the quotient ⌊v·r / 2^64⌋ is right or one too small: r is less
 * than 2^64/m by at most 1, so v·r/2^64 is less than v/m by less than 1. */
struct modulus {
    uint64_t m, r;
};

static inline uint64_t mod(const struct modulus *by, uint64_t v)
{
    uint64_t left = v - blm__mulhi(v, by->r) * by->m;
    return left >= by->m ? left - by->m : left;
}

/* How a layer's positions are made: from raw values (by.m > 0) or by the scheme at once. */
static struct modulus modulus_of(const struct blm__shape *s)
{
    struct modulus by = { s->scheme->modulus ? s->scheme->modulus(s) : 0, 0 };
    if (by.m)
        by.r = UINT64_MAX / by.m;
    return by;
}

static void list(const struct blm__shape *s, const struct modulus *by, const blm_digest *d,
                 uint64_t *pos)
{
    if (by->m)
        s->scheme->positions_raw(s, d, pos);
    else
        s->scheme->positions(s, d, pos);
}

/* Positions from … to − 1 of a key, reduced and asked for. */
static inline void fetch(const struct blm__layer *l, const struct modulus *by, uint64_t *pos,
                         uint32_t from, uint32_t to, bool write)
{
    for (uint32_t j = from; j < to; j++) {
        if (by->m)
            pos[j] = mod(by, pos[j]);
        const uint64_t *w = &l->words[pos[j] >> 6];
        if (write)
            BLM__PREFETCH_W(w);
        else
            BLM__PREFETCH(w);
    }
}

static inline bool test(const struct blm__layer *l, const uint64_t *pos, uint32_t from, uint32_t to)
{
    unsigned all = 1;
    for (uint32_t j = from; j < to; j++)
        all &= blm__bit_get(l->words, pos[j]);
    return all;
}

/* ---- keys ---- */

static size_t list_add(struct blm__layer *l, const struct blm__keys *keys, uint8_t *fresh,
                       bool shared)
{
    const size_t         n  = keys->n;
    const uint32_t       k  = l->shape.probes;
    const struct modulus by = modulus_of(&l->shape);
    uint64_t             pos[BLM__MAX_PROBES];
    size_t               count = 0, group = group_of(k), ahead = n > AHEAD ? AHEAD : 0;
    for (size_t at = 0; at < n; at += group) {
        size_t some = n - at < group ? n - at : group;
        for (size_t i = 0; i < some + ahead; i++) {
            if (i < some) {
                list(&l->shape, &by, blm__digest_at(keys, at + i), pos + i * k);
                fetch(l, &by, pos + i * k, 0, k, true);
            }
            if (i < ahead)
                continue;
            unsigned        is_new = 0;
            const uint64_t *p      = pos + (i - ahead) * k;
            for (uint32_t j = 0; j < k; j++)
                is_new |= blm__bit_set(l, p[j], shared);
            count += fresh[at + i - ahead] = (uint8_t)is_new;
        }
    }
    return count;
}

static size_t check_group(const struct blm__layer *l, const struct modulus *by,
                          const struct blm__keys *keys, size_t from, size_t n, uint64_t *pos,
                          uint8_t *maybe)
{
    const uint32_t k = l->shape.probes, first = k < FIRST ? k : FIRST;
    size_t         hits = 0, ahead = n > AHEAD ? AHEAD : 0;
    for (size_t i = 0; i < n + 2 * ahead; i++) {
        if (i < n) {
            list(&l->shape, by, blm__digest_at(keys, from + i), pos + i * k);
            fetch(l, by, pos + i * k, 0, first, false);
        }
        if (i >= ahead && i - ahead < n) {
            size_t at = i - ahead;
            maybe[at] = test(l, pos + at * k, 0, first);
            if (maybe[at])
                fetch(l, by, pos + at * k, first, k, false);
        }
        if (i >= 2 * ahead && maybe[i - 2 * ahead])
            hits += maybe[i - 2 * ahead] = test(l, pos + (i - 2 * ahead) * k, first, k);
    }
    return hits;
}

size_t blm__positions_add(const struct blm__body *b, struct blm__layer *l,
                          const struct blm__keys *k, uint8_t *fresh)
{
    size_t count = list_add(l, k, fresh, b->shared);
    blm__layer_count(l, (int64_t)count);
    return count;
}

size_t blm__positions_check(const struct blm__body *b, const struct blm__layer *l,
                            const struct blm__keys *k, uint8_t *maybe)
{
    const size_t         n  = k->n;
    const struct modulus by = modulus_of(&l->shape);
    uint64_t             pos[BLM__MAX_PROBES];
    size_t               hits = 0, group = group_of(l->shape.probes);
    (void)b;
    for (size_t at = 0; at < n; at += group)
        hits += check_group(l, &by, k, at, n - at < group ? n - at : group, pos, maybe + at);
    return hits;
}

bool blm__positions_list(const struct blm__shape *s, const blm_digest *d, bool raw, uint64_t *out)
{
    if (raw)
        return s->scheme->positions_raw && s->scheme->positions_raw(s, d, out);
    s->scheme->positions(s, d, out);
    return true;
}

/* ---- rates ---- */

/* In small filters and at strict rates this is most of the rate. With more than 64 probes it is of rates that
 * nobody asks for, and would take milliseconds. */
double blm__in_step(const struct blm__shape *s, uint64_t n)
{
    const uint64_t m     = blm__shape_reach(s);
    const double   share = s->scheme->in_step[(m & (m - 1)) == 0];
    blm_rate       with = { .size = sizeof with }, without = { .size = sizeof without };
    if (share <= 0 || n == 0 || s->probes > BLM__COVER_MAX ||
        blm_rate_of(BLM_MODEL_DOUBLE, m, s->probes, 0, n, &with) != BLM_OK ||
        blm_rate_of(BLM_MODEL_INDEPENDENT, m, s->probes, 0, n, &without) != BLM_OK)
        return 0;
    return share * fmax(with.value - without.value, 0);
}

double blm__in_step_now(const struct blm__shape *s, uint64_t ones)
{
    const double m = (double)blm__shape_reach(s);
    if (s->scheme->in_step[0] <= 0 || ones == 0 || (double)ones >= m)
        return 0;
    const double fill = (double)ones / m;
    const double keys =
        s->scheme->keys ? s->scheme->keys(s, fill, NULL) : -log1p(-fill) * m / s->probes;
    return blm__in_step(s, (uint64_t)fmax(1, keys + 0.5));
}

double blm__fill_rate_now(const struct blm__layer *l, uint64_t ones)
{
    if (l->shape.scheme->rate_now)
        return l->shape.scheme->rate_now(l, ones);
    return pow((double)ones / (double)blm__shape_reach(&l->shape), l->shape.probes);
}

double blm__scheme_rate_at(const struct blm__shape *s, uint64_t n)
{
    if (s->scheme->rate_at)
        return fmin(s->scheme->rate_at(s, n) + blm__in_step(s, n), 1);
    blm_model model = s->scheme->in_step[0] > 0 ? BLM_MODEL_INDEPENDENT : s->scheme->model;
    blm_rate  r     = { .size = sizeof r };
    if (blm_rate_of(model, blm__shape_reach(s), s->probes, 0, n, &r) != BLM_OK)
        return 1;
    return fmin(r.value + blm__in_step(s, n), 1);
}

const struct blm__engine blm__engine_positions = {
    .name      = "positions",
    .rule      = BLM__POSITIONS,
    .kinds     = 1u << BLM_CLASSIC | 1u << BLM_BLOCKED,
    .add       = blm__positions_add,
    .check     = blm__positions_check,
    .positions = blm__positions_list,
    .rate_now  = blm__fill_rate_now,
    .rate_at   = blm__scheme_rate_at,
    BLM__BITS_ENGINE,
};
