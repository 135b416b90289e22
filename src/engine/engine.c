/* SPDX-License-Identifier: MIT */
/* The table of engines, and what can be asked of any layer. A new engine is a file beside this and
 * a row here; where its rule is new too, a number in core/body.h. */
#include "engine/engine.h"

#include <math.h>
#include <string.h>

extern const struct blm__engine blm__engine_chain, blm__engine_lines, blm__engine_short,
    blm__engine_counters, blm__engine_steps, blm__engine_positions, blm__engine_tallies,
    blm__engine_ages, blm__engine_buckets, blm__engine_slots, blm__engine_fuse;

static const struct blm__engine *const engines[] = {
    &blm__engine_chain,   &blm__engine_lines,     &blm__engine_short,   &blm__engine_counters,
    &blm__engine_steps,   &blm__engine_positions, &blm__engine_tallies, &blm__engine_ages,
    &blm__engine_buckets, &blm__engine_slots,     &blm__engine_fuse,
};
#define COUNT (sizeof engines / sizeof *engines)

static bool cells_fit(const struct blm__engine *e, uint32_t bits)
{
    return e->cell_bits ? bits == e->cell_bits : bits >= e->cell_least && bits <= e->cell_most;
}

const struct blm__engine *blm__engine_of(const struct blm__shape *s)
{
    bool steps = s->scheme && s->scheme->wrap;
    for (size_t i = 0; i < COUNT; i++) {
        const struct blm__engine *e = engines[i];
        if (e->rule == s->rule && cells_fit(e, s->cell_bits) && (steps || !e->steps))
            return e;
    }
    return NULL;
}

void blm__layer_ready(struct blm__layer *l)
{
    l->engine = blm__engine_of(&l->shape);
    if (l->engine && l->engine->ready)
        l->engine->ready(l);
}

void blm__body_ready(struct blm__body *b)
{
    struct blm__layer *l = b->layers;
    struct blm__quick *q = &b->quick;
    memset(q, 0, sizeof *q);
    q->add_len = SIZE_MAX;
    if (b->layer_count == 0)
        return;
    l->clock      = b->clock;
    q->words      = l->words;
    q->line_count = l->shape.line_count;
    if (!b->read_only && !b->shared && !l->marks && !l->live)
        q->add_len = 8;
    if (l->engine && l->engine->quick)
        l->engine->quick(b, q);
}

double blm__layer_rate_now(const struct blm__layer *l, uint64_t ones)
{
    return l->engine->rate_now(l, ones);
}

double blm__shape_rate(const struct blm__shape *s, uint64_t n)
{
    return blm__engine_of(s)->rate_at(s, n);
}

blm_model blm__shape_model(const struct blm__shape *s)
{
    const struct blm__engine *e = blm__engine_of(s);
    return e->native ? e->model : s->scheme->model;
}

double blm__layer_model(const struct blm__shape *s, uint64_t n)
{
    if (s->probes == 0)
        return 1; /* everything is "maybe" */
    double r = n ? blm__shape_rate(s, n) : 0;
    return r < 1 ? r : 1;
}

uint64_t blm__fold_unit(const struct blm__shape *s)
{
    return s->lines ? blm__line_cells(s->rule) : s->scheme->fold_unit;
}

void blm__estimate_add(blm_estimate *sum, const blm_estimate *e)
{
    double low  = sqrt(pow(sum->value - sum->low, 2) + pow(e->value - e->low, 2));
    double high = sqrt(pow(sum->high - sum->value, 2) + pow(e->high - e->value, 2));
    sum->value += e->value;
    sum->low  = sum->value - low;
    sum->high = sum->value + high;
    sum->saturated |= e->saturated;
}

/* ---- cells ---- */

/* Of a word's cells of `width` bits, a power of two, the lowest bit of those in use. */
static uint64_t used(uint64_t w, unsigned width)
{
    for (unsigned s = 1; s < width; s *= 2)
        w |= w >> s;
    return w & UINT64_MAX / (UINT64_MAX >> (64 - width));
}

/* Is one of bits from … to − 1 set? */
static bool any_set(const struct blm__layer *l, uint64_t from, uint64_t to)
{
    for (uint64_t take; from < to; from += take) {
        take       = 64 - (from & 63) < to - from ? 64 - (from & 63) : to - from;
        uint64_t w = blm__le64(__atomic_load_n(&l->words[from >> 6], __ATOMIC_RELAXED));
        if (w >> (from & 63) << (64 - take))
            return true;
    }
    return false;
}

static uint64_t one_by_one(const struct blm__layer *l, uint64_t from, uint64_t to)
{
    uint64_t width = l->shape.cell_bits, sum = 0;
    for (; from < to; from++)
        sum += any_set(l, from * width, (from + 1) * width);
    return sum;
}

uint64_t blm__cells_used(const struct blm__layer *l, uint64_t from, uint64_t to)
{
    unsigned width = l->shape.cell_bits;
    uint64_t sum   = 0;
    if (width & (width - 1)) /* cells lie across words */
        return one_by_one(l, from, to);
    for (uint64_t bit = from * width; bit < to * width;) {
        uint64_t w    = blm__le64(__atomic_load_n(&l->words[bit >> 6], __ATOMIC_RELAXED));
        unsigned skip = (unsigned)(bit & 63), take = 64 - skip;
        if (take > to * width - bit)
            take = (unsigned)(to * width - bit);
        w >>= skip;
        if (take < 64)
            w &= ((uint64_t)1 << take) - 1;
        sum += BLM__POPCOUNT64(used(w, width));
        bit += take;
    }
    return sum;
}

bool blm__cell_used(const struct blm__layer *l, uint64_t cell)
{
    return blm__cells_used(l, cell, cell + 1) != 0;
}
