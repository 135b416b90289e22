/* SPDX-License-Identifier: MIT */
/* Lines: every probe of a key in one 64-byte line (two or three at strict rates), so that a key
 * costs one memory access instead of k. What the blocked kind and layers of scalable are made of. */
#include <math.h>

#include "core/kernel/loops.h"
#include "engine/bits.h"
#include "maths/sizing.h"

/* ---- keys ---- */

static size_t add(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  uint8_t *fresh)
{
    const struct blm__kernel *v = b->kernel;
    size_t count = (b->shared ? v->lines_add_shared : v->lines_add)(l, k->hashes, k->n, fresh);
    blm__layer_count(l, (int64_t)count);
    return count;
}

static size_t check(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe)
{
    return b->kernel->lines_check(l, k->hashes, k->n, maybe);
}

static bool check_one(const struct blm__body *b, const struct blm__layer *l, uint64_t h)
{
    return b->kernel->lines_check_one(l, h);
}

/* ---- from bytes to answers in one loop: 8-byte keys, and lists of keys; and hashes that the caller
 * brings, where cutting them into batches would only let the fetches run dry ---- */

static bool takes(const struct blm__body *b, const struct blm__layer *l, const struct blm__keys *k)
{
    if (k->hashes)
        return true;
    return (k->list || (k->fixed && k->width == 8)) && l->shape.lines == 1 &&
           b->hasher.id == BLM_HASH_XXH3;
}

static size_t add_raw(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                      uint8_t *fresh)
{
    const struct blm__kernel *v = b->kernel;
    if (k->hashes)
        return add(b, l, k, fresh);
    size_t count = k->list ? v->line_add_keys(l, &b->hasher, k->list, k->n, fresh)
                           : v->line_add8(l, blm__hasher_flip(&b->hasher), k->fixed, k->n, fresh);
    blm__layer_count(l, (int64_t)count);
    return count;
}

static size_t check_raw(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, uint8_t *maybe)
{
    const struct blm__kernel *v = b->kernel;
    if (k->hashes)
        return check(b, l, k, maybe);
    if (k->list)
        return v->line_check_keys(l, &b->hasher, k->list, k->n, maybe);
    return v->line_check8(l, blm__hasher_flip(&b->hasher), k->fixed, k->n, maybe);
}

static void singles(struct blm__body *b, const struct blm__shape *s, bool only)
{
    const struct blm__kernel *v = b->kernel;
    if (!only || b->hasher.id != BLM_HASH_XXH3)
        return;
    bool one     = s->lines == 1;
    b->check_key = one ? v->line_check_key : v->lines_check_key;
    b->add_key   = b->shared ? v->lines_add_key_shared : one ? v->line_add_key : v->lines_add_key;
}

static void quick(struct blm__body *b, struct blm__quick *q)
{
    b->kernel->quick(q, b->layers[0].shape.probes);
}

/* ---- positions ---- */

bool blm__lines_positions(const struct blm__shape *s, const blm_digest *d, bool raw, uint64_t *out)
{
    uint64_t h     = d->w[0];
    uint32_t cells = blm__line_cells(s->rule), group = cells / BLM__LINE_WORDS;
    if (raw)
        return false;
    for (uint32_t l = 0; l < s->lines; l++) {
        uint64_t line = blm__reduce(h, s->line_count), x = blm__line_x(h);
        unsigned words = blm__line_words(x, s->probes);
        for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
            if (words >> j & 1)
                *out++ = line * cells + j * group +
                         (group == 64 ? blm__line_bit(x, j) : blm__short_cell(x, j));
        h = blm__line_next(x);
    }
    return true;
}

/* ---- rates ---- */

/* Lines are unequally full, and a query meets a fuller one no more often than an emptier one: the
 * rate is the mean over lines of the chance to pass, not the chance at the mean fill. */
double blm__pass_chance(const double *fill, uint32_t k)
{
    double sum = 0;
    for (uint64_t r = 0; r < 8; r++) {
        unsigned words = blm__line_words(r << 61, k);
        double   pass  = 1;
        for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
            if (words >> j & 1)
                pass *= fill[j];
        sum += pass;
    }
    return sum / 8;
}

/* The share of cells in use in each eighth of line i: a word of bits or of counters, or 16 bits. */
static void fill_of(const struct blm__layer *l, uint64_t i, double *fill)
{
    const bool bits = l->shape.cell_bits == 1, narrow = bits && l->shape.rule == BLM__SHORT;
    for (unsigned j = 0; j < BLM__LINE_WORDS; j++) {
        uint64_t at = narrow ? i * 2 + j / 4 : i * BLM__LINE_WORDS + j;
        uint64_t w  = blm__le64(blm__load(&l->words[at]));
        if (narrow)
            w = w >> 16 * (j % 4) & 0xffff;
        else if (!bits)
            w = (w | w >> 1 | w >> 2 | w >> 3) & 0x1111111111111111u;
        fill[j] = BLM__POPCOUNT64(w) * 8.0 / blm__line_cells(l->shape.rule);
    }
}

double blm__lines_rate_now(const struct blm__layer *l, uint64_t ones)
{
    double sum = 0, fill[BLM__LINE_WORDS];
    (void)ones;
    for (uint64_t i = 0; i < l->shape.line_count; i++) {
        fill_of(l, i, fill);
        sum += blm__pass_chance(fill, l->shape.probes);
    }
    return pow(sum / (double)l->shape.line_count, l->shape.lines);
}

double blm__lines_rate_at(const struct blm__shape *s, uint64_t n)
{
    return blm__rate_lines(blm__line_cells(s->rule), s->line_count, s->probes, s->lines, n);
}

const struct blm__engine blm__engine_lines = {
    .name      = "lines",
    .rule      = BLM__LINES,
    .kinds     = 1u << BLM_BLOCKED,
    .native    = true,
    .model     = BLM_MODEL_LINES,
    .sorting   = BLM__SORTS_LINES,
    .stretches = true,
    .add       = add,
    .check     = check,
    .check_one = check_one,
    .takes     = takes,
    .add_raw   = add_raw,
    .check_raw = check_raw,
    .singles   = singles,
    .quick     = quick,
    .positions = blm__lines_positions,
    .rate_now  = blm__lines_rate_now,
    .rate_at   = blm__lines_rate_at,
    BLM__BITS_ENGINE,
};
