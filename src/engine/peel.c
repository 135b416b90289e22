/* SPDX-License-Identifier: MIT */
#include "engine/peel.h"

#include <string.h>

#include "core/kernel/fuse.h"

/* ---- which keys ---- */

/* The first of n hashes that falls into this part or a later one. */
static size_t first_in(const uint64_t *h, size_t n, uint64_t part, uint64_t parts)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (blm__reduce(h[mid], parts) < part)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct blm__fuse_keys blm__fuse_keys_in(const struct blm__fuse_keys *all, uint64_t part,
                                        uint64_t parts)
{
    struct blm__fuse_keys k;
    for (unsigned i = 0; i < 2; i++) {
        size_t from = first_in(all->of[i], all->n[i], part, parts);
        k.of[i]     = from ? all->of[i] + from : all->of[i]; /* an empty list is NULL */
        k.n[i]      = first_in(k.of[i], all->n[i] - from, part + 1, parts);
    }
    return k;
}

uint64_t blm__fuse_keys_before(const struct blm__fuse_keys *all, uint64_t part, uint64_t parts)
{
    return part ? first_in(all->of[0], all->n[0], part, parts) +
                      first_in(all->of[1], all->n[1], part, parts)
                : 0;
}

/* ---- memory ---- */

uint64_t blm__peel_bytes(uint64_t cells) { return cells * 16; }

bool blm__peel_make(const blm_allocator *a, uint64_t cells, struct blm__peel *out)
{
    if (cells >= UINT32_MAX || !blm__block_alloc(a, blm__peel_bytes(cells), &out->block))
        return false;
    out->keys  = out->block.words;
    out->count = (uint32_t *)(void *)(out->keys + cells);
    out->order = out->count + cells;
    return true;
}

void blm__peel_free(const blm_allocator *a, struct blm__peel *p) { blm__block_free(a, &p->block); }

/* ---- taking keys away ---- */

uint64_t blm__fuse_factor(uint32_t level, uint32_t i)
{
    uint64_t f = level ? UINT64_MAX : 1;
    while (i-- > 0)
        f *= BLM__C;
    return f;
}

static void put_keys(struct blm__peel *p, const uint64_t *h, size_t n, uint32_t second,
                     struct blm__fuse_part part, uint64_t parts, uint64_t factor)
{
    for (size_t i = 0; i < n; i++) {
        struct blm__fuse_key k = blm__fuse_key_of(part, h[i] * parts, factor);
        for (unsigned j = 0; j < BLM__FUSE_PROBES; j++) {
            p->keys[k.cell[j]] ^= h[i];
            p->count[k.cell[j]] = (p->count[k.cell[j]] + 2) ^ second;
        }
    }
}

static bool alone(const struct blm__peel *p, uint64_t cell) { return p->count[cell] >> 1 == 1; }

bool blm__peel_keys(struct blm__peel *p, const struct blm__fuse_keys *k, struct blm__fuse_size size,
                    uint64_t parts, uint64_t factor)
{
    struct blm__fuse_part part = blm__fuse_part_of(size.cells, size.segment);
    size_t                all = k->n[0] + k->n[1], found = 0, taken = 0;
    memset(p->keys, 0, (size_t)size.cells * sizeof *p->keys);
    memset(p->count, 0, (size_t)size.cells * sizeof *p->count);
    for (uint32_t i = 0; i < 2; i++)
        put_keys(p, k->of[i], k->n[i], i, part, parts, factor);
    /* A cell is alone once at most, so `order` has room; what was taken stands at its front. */
    for (uint64_t c = 0; c < size.cells; c++)
        if (alone(p, c))
            p->order[found++] = (uint32_t)c;
    for (size_t at = 0; at < found; at++) {
        uint32_t c = p->order[at];
        if (!alone(p, c))
            continue; /* its key was taken away by another cell */
        uint64_t             h = p->keys[c], second = p->count[c] & 1;
        struct blm__fuse_key key = blm__fuse_key_of(part, h * parts, factor);
        p->order[taken++]        = c;
        for (unsigned j = 0; j < BLM__FUSE_PROBES; j++) {
            uint64_t other = key.cell[j];
            if (other == c)
                continue;
            p->keys[other] ^= h;
            p->count[other] = (p->count[other] - 2) ^ (uint32_t)second;
            if (alone(p, other))
                p->order[found++] = (uint32_t)other;
        }
        p->count[c] = (uint32_t)second; /* its key stays in keys[c] */
    }
    return taken == all;
}

/* ---- setting the cells ---- */

/* 64 bits from any bit on. A word that two parts share is set by each for itself. */
static void or_bits(uint64_t *words, uint64_t bit, uint64_t v)
{
    uint64_t *w     = words + (bit >> 6);
    unsigned  shift = (unsigned)bit & 63;
    __atomic_fetch_or(w, blm__le64(v << shift), __ATOMIC_RELAXED);
    if (v >> 1 >> (63 - shift))
        __atomic_fetch_or(w + 1, blm__le64(v >> 1 >> (63 - shift)), __ATOMIC_RELAXED);
}

/* Cells side by side, 64 bits at a time. */
static void pack(const uint32_t *values, uint64_t n, uint32_t bits, uint64_t *words, uint64_t bit)
{
    uint64_t gathered = 0;
    unsigned have     = 0;
    for (uint64_t i = 0; i < n; i++) {
        gathered |= (uint64_t)values[i] << have;
        have += bits;
        if (have >= 32) {
            or_bits(words, bit, gathered & UINT32_MAX);
            bit += 32;
            have -= 32;
            gathered >>= 32;
        }
    }
    if (have)
        or_bits(words, bit, gathered);
}

void blm__peel_put(const uint32_t *values, struct blm__layer *l, uint64_t part, uint64_t factor)
{
    uint64_t parts = l->shape.line_count, cells = blm__fuse_part_cells(&l->shape);
    uint32_t bits  = l->shape.cell_bits;
    l->words[part] = blm__le64(factor);
    pack(values, cells, bits, l->words, parts * 64 + part * cells * bits);
}

void blm__peel_set(struct blm__peel *p, size_t keys, struct blm__layer *l, uint64_t part,
                   uint64_t factor)
{
    uint64_t              parts = l->shape.line_count, cells = blm__fuse_part_cells(&l->shape);
    uint32_t              bits = l->shape.cell_bits, mask = UINT32_MAX >> (32 - bits);
    struct blm__fuse_part in = blm__fuse_part_of(cells, l->shape.aux[0]);
    if (keys == 0)
        return;
    while (keys-- > 0) {
        uint32_t             c = p->order[keys], second = p->count[c];
        struct blm__fuse_key k = blm__fuse_key_of(in, p->keys[c] * parts, factor);
        uint32_t             v = (uint32_t)(k.print >> (64 - bits)) ^ (second ? mask : 0);
        for (unsigned j = 0; j < BLM__FUSE_PROBES; j++)
            v ^= k.cell[j] == c ? 0 : p->count[k.cell[j]];
        p->count[c] = v;
    }
    blm__peel_put(p->count, l, part, factor);
}
