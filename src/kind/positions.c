/* SPDX-License-Identifier: MIT */
/*
 * Bits of other systems' schemes: positions from the scheme, keys in groups whose bits are asked
 * for before they are used.
 *
 * Most schemes list 64-bit values and take each modulo m. There the listing is a few additions and
 * the divisions are the work, so they are left for the probes that are really made, and done by
 * multiplying with a reciprocal. An absent key is nearly always settled by its first bits (half of
 * a full filter's are clear): a check divides and fetches FIRST of them, and the rest only for keys
 * that passed.
 *
 * Schemes that step (scheme.wrap) do without all that: core/kernel/steps.h.
 */
#include "core/kernel/steps.h"
#include "kind/kind.h"
#include "scheme/scheme.h"

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
static struct modulus modulus_of(const struct blm_shape *s)
{
    struct modulus by = { s->scheme->modulus ? s->scheme->modulus(s) : 0, 0 };
    if (by.m)
        by.r = UINT64_MAX / by.m;
    return by;
}

static void list(const struct blm_shape *s, const struct modulus *by, const blm_digest *d,
                 uint64_t *pos)
{
    if (by->m)
        s->scheme->positions_raw(s, d, pos);
    else
        s->scheme->positions(s, d, pos);
}

/* Positions from … to − 1 of a key, reduced and asked for. */
static inline void fetch(const struct blm_layer *l, const struct modulus *by, uint64_t *pos,
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

static inline bool test(const struct blm_layer *l, const uint64_t *pos, uint32_t from, uint32_t to)
{
    unsigned all = 1;
    for (uint32_t j = from; j < to; j++)
        all &= blm__bit_get(l->words, pos[j]);
    return all;
}

static inline const blm_digest *digest_at(const struct blm_batch *b, size_t i)
{
    return &b->d[b->pick ? b->pick[i] : i];
}

/* ---- steps ---- */

static size_t step_add(const struct blm_body *b, struct blm_layer *l, const struct blm_batch *k,
                       uint8_t *fresh)
{
    size_t count = 0;
    if (k->n > 1 && l->shape.probes <= BLM__STEPS_MOST)
        return blm__stepper_of(b->kernel)->add(l, k->h, k->step, k->n, fresh, b->shared);
    for (size_t i = 0; i < k->n; i++)
        count += fresh[i] = (uint8_t)blm__steps_add_one(l, k->h[i], k->step[i], b->shared);
    return count;
}

static size_t step_check(const struct blm_body *b, const struct blm_layer *l,
                         const struct blm_batch *k, uint8_t *maybe)
{
    if (k->n > 1 && l->shape.probes <= BLM__STEPS_MOST)
        return blm__stepper_of(b->kernel)->check(l, k->h, k->step, k->n, maybe);
    return blm__steps_check_alone(l, k->h, k->step, k->n, maybe);
}

/* ---- lists ---- */

static size_t list_add(struct blm_layer *l, const struct blm_batch *b, uint8_t *fresh, bool shared)
{
    const size_t         n  = b->n;
    const uint32_t       k  = l->shape.probes;
    const struct modulus by = modulus_of(&l->shape);
    uint64_t             pos[BLM__MAX_PROBES];
    size_t               count = 0, group = group_of(k), ahead = n > AHEAD ? AHEAD : 0;
    for (size_t at = 0; at < n; at += group) {
        size_t some = n - at < group ? n - at : group;
        for (size_t i = 0; i < some + ahead; i++) {
            if (i < some) {
                list(&l->shape, &by, digest_at(b, at + i), pos + i * k);
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

static size_t check_group(const struct blm_layer *l, const struct modulus *by,
                          const struct blm_batch *b, size_t from, size_t n, uint64_t *pos,
                          uint8_t *maybe)
{
    const uint32_t k = l->shape.probes, first = k < FIRST ? k : FIRST;
    size_t         hits = 0, ahead = n > AHEAD ? AHEAD : 0;
    for (size_t i = 0; i < n + 2 * ahead; i++) {
        if (i < n) {
            list(&l->shape, by, digest_at(b, from + i), pos + i * k);
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

static size_t list_check(const struct blm_layer *l, const struct blm_batch *b, uint8_t *maybe)
{
    const size_t         n  = b->n;
    const struct modulus by = modulus_of(&l->shape);
    uint64_t             pos[BLM__MAX_PROBES];
    size_t               hits = 0, group = group_of(l->shape.probes);
    for (size_t at = 0; at < n; at += group)
        hits += check_group(l, &by, b, at, n - at < group ? n - at : group, pos, maybe + at);
    return hits;
}

size_t blm__positions_add(const struct blm_body *b, struct blm_layer *l, const struct blm_batch *k,
                          uint8_t *fresh)
{
    return k->step ? step_add(b, l, k, fresh) : list_add(l, k, fresh, b->shared);
}

size_t blm__positions_check(const struct blm_body *b, const struct blm_layer *l,
                            const struct blm_batch *k, uint8_t *maybe)
{
    return k->step ? step_check(b, l, k, maybe) : list_check(l, k, maybe);
}
