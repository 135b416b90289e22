/* SPDX-License-Identifier: MIT */
/*
 * Fuse with AVX-512: eight keys are placed at once, and their cells gathered eight at a time. A gather
 * reads whole words: of cells that never cross one (1, 2, 4, 8, 16, 32 bits) the aligned word, which
 * lies in the line that was fetched.
 *
 * What was placed waits in a ring for 64 keys while its cells are fetched; in cache, for the next step.
 * Emerald Rapids, ns a key of 8 bytes, AVX2's loop (core/kernel/fuse_ring.h) → this one, and the three
 * lines alone: 1e5 keys 3.3 → 2.0 (1.5), 1e6 3.6 → 2.2 (1.8), 1e7 7.1 → 6.4 (5.4).
 */
#include "core/kernel/fuse.h"

#include "core/kernel/avx512.h"

#ifdef BLM__HAVE_AVX512
#include "core/kernel/stream.h"

#define STEP  8u
#define STEPS 16u /* in the ring: a power of two, and two more than … */
#define LAG   8u  /* … those between a step and its lookup */

/* How cells lie. */
enum cells {
    BYTES, /* each in its own */
    WORDS, /* each in one word of 8 bytes */
    ANY
};

struct ring {
    _Alignas(64) uint64_t at[BLM__FUSE_PROBES][STEP * STEPS];
    _Alignas(64) uint64_t print[STEP * STEPS];
};

BLM__AVX512_INLINE __m512i wide(uint64_t v) { return _mm512_set1_epi64((long long)v); }
BLM__AVX512_INLINE __m512i load(const void *p) { return _mm512_loadu_si512(p); }
BLM__AVX512_INLINE void    store(void *p, __m512i v) { _mm512_storeu_si512(p, v); }

/* Of eight hashes: where a key's part begins, its share of it and its factor. */
struct shares {
    __m512i from, share, factor;
};

BLM__AVX512_INLINE void find_shares(const struct blm__fuse_layer *f, __m512i h, bool several,
                                    struct shares *out)
{
    out->from   = _mm512_setzero_si512();
    out->share  = h;
    out->factor = wide(f->factors[0]);
    if (several) {
        __m512i part = blm__avx512_reduce(h, wide(f->parts));
        out->from    = _mm512_mul_epu32(part, wide(f->part_cells));
        out->share   = _mm512_mullo_epi64(h, wide(f->parts));
        out->factor  = blm__avx512_gather(f->factors, _mm512_slli_epi64(part, 3));
    }
}

/* Eight keys: where their cells begin, in bytes where a cell is one, else in bits; and what these must
 * add up to. */
struct places {
    __m512i at[BLM__FUSE_PROBES], print;
};

BLM__AVX512_INLINE __m512i begins(const struct blm__fuse_layer *f, __m512i cell, enum cells cells)
{
    return cells == BYTES ? cell : _mm512_mul_epu32(cell, wide(f->bits));
}

/* Keys i … i + 7 of the stream. */
BLM__AVX512_INLINE void locate(const struct blm__fuse_layer *f, const struct blm__stream *s,
                               size_t i, enum cells cells, bool several, struct places *out)
{
    const __m512i low = wide(f->part.segment - 1), segment = wide(f->part.segment);
    __m512i       h = load(s->from + 8 * i);
    if (s->keys) {
        BLM__PREFETCH_NEAR((const void *)((uintptr_t)s->from + 8 * i + BLM__KEYS_AHEAD));
        h = blm__avx512_hash(h, wide(s->flip));
    }
    struct shares in;
    find_shares(f, h, several, &in);
    __m512i z = _mm512_mullo_epi64(in.share, in.factor), x = _mm512_mullo_epi64(z, wide(BLM__C));
    __m512i first  = _mm512_add_epi64(blm__avx512_reduce(z, wide(f->part.span)), in.from);
    __m512i second = _mm512_add_epi64(first, segment), third = _mm512_add_epi64(second, segment);
    second        = _mm512_xor_si512(second, _mm512_and_si512(_mm512_srli_epi64(x, 46), low));
    third         = _mm512_xor_si512(third, _mm512_and_si512(_mm512_srli_epi64(x, 28), low));
    __m512i print = _mm512_xor_si512(x, _mm512_srli_epi64(x, 32));
    print         = _mm512_mullo_epi64(print, wide(BLM__D));
    print         = _mm512_srl_epi64(print, _mm_cvtsi32_si128(64 - (int)f->bits));
    if (several) { /* of a part without keys: more bits than a cell's */
        __mmask8 none = _mm512_testn_epi64_mask(in.factor, in.factor);
        print         = _mm512_mask_mov_epi64(print, none, wide(UINT64_MAX));
    }
    out->at[0] = begins(f, first, cells);
    out->at[1] = begins(f, second, cells);
    out->at[2] = begins(f, third, cells);
    out->print = print;
}

/* The cells that begin there, with others' bits above them. */
BLM__AVX512_INLINE __m512i cells_at(const struct blm__fuse_layer *f, __m512i at, enum cells cells)
{
    __m512i byte  = cells == BYTES ? at : _mm512_srli_epi64(at, 3);
    __m512i shift = _mm512_and_si512(at, wide(cells == WORDS ? 63 : 7));
    if (cells == BYTES)
        shift = _mm512_slli_epi64(shift, 3);
    if (cells != ANY)
        byte = _mm512_and_si512(byte, wide(~(uint64_t)7));
    return _mm512_srlv_epi64(blm__avx512_gather(f->cells, byte), shift);
}

BLM__AVX512_INLINE void look(const struct blm__fuse_layer *f, const struct places *p,
                             enum cells cells, uint8_t *maybe)
{
    __m512i v    = _mm512_xor_si512(cells_at(f, p->at[0], cells), cells_at(f, p->at[1], cells));
    v            = _mm512_xor_si512(v, cells_at(f, p->at[2], cells));
    v            = _mm512_xor_si512(_mm512_and_si512(v, wide(f->mask)), p->print);
    __mmask8 has = _mm512_testn_epi64_mask(v, v);
    __m512i  one = _mm512_mask_mov_epi64(_mm512_setzero_si512(), has, wide(1));
    _mm_storel_epi64((void *)maybe, _mm512_cvtepi64_epi8(one));
}

/* ---- a ring, while cells are fetched ---- */

BLM__AVX512_INLINE void put(struct ring *r, size_t j, const struct places *p)
{
    for (unsigned i = 0; i < BLM__FUSE_PROBES; i++)
        store(r->at[i] + j, p->at[i]);
    store(r->print + j, p->print);
}

BLM__AVX512_INLINE void get(const struct ring *r, size_t j, struct places *p)
{
    for (unsigned i = 0; i < BLM__FUSE_PROBES; i++)
        p->at[i] = load(r->at[i] + j);
    p->print = load(r->print + j);
}

BLM__AVX512_INLINE void ask(const struct blm__fuse_layer *f, const struct ring *r, size_t j,
                            enum cells cells)
{
    for (size_t q = 0; q < STEP; q++)
        for (unsigned i = 0; i < BLM__FUSE_PROBES; i++)
            BLM__PREFETCH(f->cells + (r->at[i][j + q] >> (cells == BYTES ? 0 : 3)));
}

/* The place of step i in the ring, and its first key: the last step may have some of the one before. */
BLM__AVX512_INLINE size_t slot(size_t i) { return i % STEPS * STEP; }
BLM__AVX512_INLINE size_t first_of(size_t i, size_t n)
{
    size_t at = i * STEP, last = n - STEP;
    return at < last ? at : last;
}

/* At least a step of keys. A step is taken one before it is fetched, so that the fetches do not wait for
 * its products. */
BLM__AVX512_INLINE size_t check_far(const struct blm__layer *l, struct blm__stream s,
                                    uint8_t *maybe, enum cells cells, bool several)
{
    const struct blm__fuse_layer f     = blm__fuse_of(l);
    const size_t                 steps = (s.n + STEP - 1) / STEP;
    struct ring                  r;
    struct places                p;
    locate(&f, &s, 0, cells, several, &p);
    put(&r, 0, &p);
    for (size_t i = 0; i < steps + LAG; i++) {
        if (i + 1 < steps) {
            locate(&f, &s, first_of(i + 1, s.n), cells, several, &p);
            put(&r, slot(i + 1), &p);
        }
        if (i < steps)
            ask(&f, &r, slot(i), cells);
        if (i >= LAG) {
            get(&r, slot(i - LAG), &p);
            look(&f, &p, cells, maybe + first_of(i - LAG, s.n));
        }
    }
    return blm__ones(maybe, s.n);
}

BLM__AVX512_INLINE size_t check_near(const struct blm__layer *l, struct blm__stream s,
                                     uint8_t *maybe, enum cells cells, bool several)
{
    const struct blm__fuse_layer f     = blm__fuse_of(l);
    const size_t                 steps = (s.n + STEP - 1) / STEP;
    struct places                p, next;
    locate(&f, &s, 0, cells, several, &p);
    for (size_t i = 0; i + 1 < steps; i++) {
        locate(&f, &s, first_of(i + 1, s.n), cells, several, &next);
        look(&f, &p, cells, maybe + first_of(i, s.n));
        p = next;
    }
    look(&f, &p, cells, maybe + first_of(steps - 1, s.n));
    return blm__ones(maybe, s.n);
}

BLM__AVX512_INLINE size_t check_cells(const struct blm__layer *l, struct blm__stream s,
                                      uint8_t *maybe, enum cells cells)
{
    if (blm__layer_small(l))
        return l->shape.line_count > 1 ? check_near(l, s, maybe, cells, true)
                                       : check_near(l, s, maybe, cells, false);
    return l->shape.line_count > 1 ? check_far(l, s, maybe, cells, true)
                                   : check_far(l, s, maybe, cells, false);
}

BLM__AVX512_INLINE size_t check_stream(const struct blm__layer *l, struct blm__stream s,
                                       uint8_t *maybe)
{
    if (l->shape.cell_bits == 8)
        return check_cells(l, s, maybe, BYTES);
    return 64 % l->shape.cell_bits == 0 ? check_cells(l, s, maybe, WORDS)
                                        : check_cells(l, s, maybe, ANY);
}

/* Too few keys, or too many cells for 32 bits; or no key in a layer of one part. */
static bool other(const struct blm__layer *l, size_t n)
{
    return n < STEP || l->shape.bits >> 32 || l->shape.line_count >> 32 || l->words[0] == 0;
}

BLM__AVX512 static size_t check(const struct blm__layer *l, const uint64_t *h, size_t n,
                                uint8_t *maybe)
{
    if (other(l, n))
        return blm__fuse_avx2.check(l, h, n, maybe);
    return check_stream(l, blm__stream_hashes(h, n), maybe);
}

BLM__AVX512 static size_t check8(const struct blm__layer *l, uint64_t flip, const void *keys,
                                 size_t n, uint8_t *maybe)
{
    if (other(l, n))
        return blm__fuse_avx2.check8(l, flip, keys, n, maybe);
    return check_stream(l, blm__stream_keys(keys, n, flip), maybe);
}

const struct blm__fuse blm__fuse_avx512 = { .check = check, .check8 = check8 };
#endif
