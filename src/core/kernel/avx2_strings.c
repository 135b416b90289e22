/* SPDX-License-Identifier: MIT */
/*
 * XXH3-64 of many keys of any lengths, for strings of 17 to 128 bytes; bit for bit blm__xxh3_many.
 *
 * XXH3 mixes such a key in pieces of 16 bytes from both ends: one piece from each end for 17 to 32
 * bytes, two up to 64, three up to 96, four up to 128. Two things make that slow: a branch on the
 * length, which the next key breaks, and a 64 × 64 → 128 multiply for each piece. So
 *
 *   - four keys of one class are hashed together, two pieces of each, from the back, in general
 *     registers and the rest in vectors: both halves of the processor multiply;
 *   - 64 keys are looked at together. Where the last piece is the only question (48 to 96 bytes, as
 *     URLs are), it is always mixed, and masked; where lengths differ more, the keys are listed by
 *     class, with no branch on any length.
 *
 * Zen 3, ns a key, by blm__xxh3_many and by this: URLs of about 70 bytes 6.9 → 4.7, 60 bytes 4.3 →
 * 3.3, 33 to 64 at random 4.3 → 3.2, 17 to 128 at random 11.9 → 7.9, 8 to 40 8.2 → 5.3; 0 to 300,
 * of which most are long, 9% worse. URLs with all pieces in general registers 5.6,
 * all in vectors 5.2.
 *
 * From keys to answers (line_check_keys, line_add_keys) the same rounds roll: when four keys are
 * hashed, their lines are asked for and four keys of LAG before are looked up. So the processor waits
 * for the keys' bytes, for the lines and for the multiplications at the same time.
 */
#include "core/kernel/kernel.h"

#ifdef BLM__HAVE_AVX2
#include "core/kernel/avx2_line.h"

#define ROUND 64u
#define LAG   64u /* keys between asking for a line and using it */

/* Words 4i and 4i + 1 for piece i from the front, the next two for that from the back: the keyed
 * hash's secret, or XXH3's with the seed in it. `keyed` says which, and is a constant where code is
 * made of it. */
struct words {
    const uint64_t           *w;
    const struct blm__hasher *by;
    bool                      keyed;
};

static void seeded(uint64_t seed, uint64_t w[16])
{
    static const uint64_t plain[16] = {
        0xbe4ba423396cfeb8u, 0x1cad21f72c81017cu, 0xdb979083e96dd4deu, 0x1f67b3b7a4a44072u,
        0x78e5c0cc4ee679cbu, 0x2172ffcc7dd05a82u, 0x8e2443f7744608b8u, 0x4c263a81e69035e0u,
        0xcb00c391bb52283cu, 0xa32e531b8b65d088u, 0x4ef90da297486471u, 0xd8acdea946ef1938u,
        0x3f349ce33f76faa8u, 0x1d4f0bc7c7bbdcf9u, 0x3159b4cd4be0518au, 0x647378d9c97e9fc8u
    };
    for (unsigned i = 0; i < 16; i++)
        w[i] = i & 1 ? plain[i] - seed : plain[i] + seed;
}

/* The halves of four products, or sums of them. */
struct halves {
    __m256i lo, hi;
};

/* Four products of 64 bits, from 32-bit multiplies. */
BLM__AVX2_INLINE struct halves product4(__m256i a, __m256i b)
{
    const __m256i low = _mm256_set1_epi64x(0xffffffff);
    __m256i       ah = _mm256_srli_epi64(a, 32), bh = _mm256_srli_epi64(b, 32);
    __m256i       ll = _mm256_mul_epu32(a, b), lh = _mm256_mul_epu32(a, bh);
    __m256i       hl = _mm256_mul_epu32(ah, b), hh = _mm256_mul_epu32(ah, bh);
    __m256i       t = _mm256_add_epi64(lh, _mm256_srli_epi64(ll, 32)); /* no carry out of either */
    __m256i       u = _mm256_add_epi64(hl, _mm256_and_si256(t, low));
    struct halves p = { _mm256_blend_epi32(ll, _mm256_slli_epi64(u, 32), 0xaa),
                        _mm256_add_epi64(_mm256_add_epi64(hh, _mm256_srli_epi64(t, 32)),
                                         _mm256_srli_epi64(u, 32)) };
    return p;
}

BLM__AVX2_INLINE __m256i pair(const uint8_t *a, const uint8_t *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)a)),
                                   _mm_loadu_si128((const void *)b), 1);
}

_Static_assert(sizeof(blm_key) == 16, "two keys a vector");

BLM__AVX2_INLINE __m256i lengths4(const blm_key *k)
{
    __m256i a = _mm256_loadu_si256((const void *)k), b = _mm256_loadu_si256((const void *)(k + 2));
    return _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xd8);
}

/* A piece of each of four keys. XXH3 has one sum, of both halves' xor. */
BLM__AVX2_INLINE void mix4(struct halves *t, const uint8_t *a, const uint8_t *b, const uint8_t *c,
                           const uint8_t *d, const uint64_t *secret, bool keyed)
{
    __m256i s = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)secret));
    __m256i x = pair(a, c), y = pair(b, d);
    x               = keyed ? _mm256_add_epi64(x, s) : _mm256_xor_si256(x, s);
    y               = keyed ? _mm256_add_epi64(y, s) : _mm256_xor_si256(y, s);
    struct halves p = product4(_mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y));
    t->lo           = _mm256_add_epi64(t->lo, keyed ? p.lo : _mm256_xor_si256(p.lo, p.hi));
    if (keyed)
        t->hi = _mm256_add_epi64(t->hi, p.hi);
}

BLM__AVX2_INLINE void mix1(struct blm__sums *t, const uint8_t *p, const uint64_t *secret,
                           bool keyed)
{
    if (keyed)
        blm__sum_piece(t, p, secret);
    else
        t->lo += blm__xxh3_fold(blm__get64le(p) ^ secret[0], blm__get64le(p + 8) ^ secret[1]);
}

/* Four keys' sums. */
BLM__AVX2_INLINE struct halves four(const __m128i *q)
{
    __m256i       x = _mm256_inserti128_si256(_mm256_castsi128_si256(q[0]), q[2], 1);
    __m256i       y = _mm256_inserti128_si256(_mm256_castsi128_si256(q[1]), q[3], 1);
    struct halves v = { _mm256_unpacklo_epi64(x, y), _mm256_unpackhi_epi64(x, y) };
    return v;
}

/* From the sums to the hashes. */
BLM__AVX2_INLINE __m256i end4(struct halves t, const struct words *s)
{
    if (s->keyed) {
        __m256i       f = _mm256_set1_epi64x((long long)s->by->secret->fold);
        struct halves p = product4(t.lo, _mm256_add_epi64(t.hi, f));
        return _mm256_xor_si256(p.lo, p.hi);
    }
    __m256i acc = _mm256_xor_si256(t.lo, _mm256_srli_epi64(t.lo, 37));
    acc         = blm__avx2_mul64(acc, BLM__XXH3_PRIME_MX1);
    return _mm256_xor_si256(acc, _mm256_srli_epi64(acc, 32));
}

/* Four keys of 32 · (pieces − 1) + 1 to 32 · pieces bytes (one piece: from 17 on). With `either`
 * the last pieces may count or not: keys of 48 bytes on, where they can be read. */
BLM__AVX2_INLINE __m256i hash4(const blm_key *const *k, unsigned pieces, bool either,
                               const struct words *s)
{
    const uint8_t  *a = k[0]->data, *b = k[1]->data, *c = k[2]->data, *d = k[3]->data;
    const uint8_t  *ends[4];
    const uint64_t *w = s->w;
    __m128i         back[4];
    uint64_t        length;
    struct halves   acc, last = { _mm256_setzero_si256(), _mm256_setzero_si256() };
    __asm__("" : "+r"(w)); /* or the compiler keeps it in registers that it has not */
    length = s->keyed ? s->by->secret->length : BLM__XXH3_PRIME_1;
    for (unsigned i = 0; i < 4; i++) {
        struct blm__sums t = { k[i]->len * length, 0 };
        ends[i]            = (const uint8_t *)k[i]->data + k[i]->len;
        mix1(&t, ends[i] - 16, w + 2, s->keyed);
        if (pieces > 1)
            mix1(&t, ends[i] - 32, w + 6, s->keyed);
        back[i] = _mm_set_epi64x((long long)t.hi, (long long)t.lo);
        if (s->keyed)
            __asm__ volatile("" : "+x"(back[i])); /* now: general registers are few */
    }
    acc = four(back);
    mix4(&acc, a, b, c, d, w, s->keyed);
    if (pieces > 1)
        mix4(&acc, a + 16, b + 16, c + 16, d + 16, w + 4, s->keyed);
    if (pieces > 2) {
        mix4(&last, a + 32, b + 32, c + 32, d + 32, w + 8, s->keyed);
        mix4(&last, ends[0] - 48, ends[1] - 48, ends[2] - 48, ends[3] - 48, w + 10, s->keyed);
    }
    if (either) {
        __m256i more = _mm256_cmpgt_epi64(lengths4(k[0]), _mm256_set1_epi64x(64));
        last.lo      = _mm256_and_si256(last.lo, more);
        last.hi      = _mm256_and_si256(last.hi, more);
    }
    if (pieces > 3) {
        mix4(&acc, a + 48, b + 48, c + 48, d + 48, w + 12, s->keyed);
        mix4(&acc, ends[0] - 64, ends[1] - 64, ends[2] - 64, ends[3] - 64, w + 14, s->keyed);
    }
    acc.lo = _mm256_add_epi64(acc.lo, last.lo);
    acc.hi = _mm256_add_epi64(acc.hi, last.hi);
    return end4(acc, s);
}

/* ---- rolling ---- */

/* Keys whose lines are on their way. */
struct roll {
    struct blm__layer *layer;
    struct blm__place  p;
    enum blm__reach    reach;
    bool               write;
    uint8_t           *answers;
    size_t             at; /* keys taken so far */
    struct blm__ring   ring;
};

BLM__AVX2_INLINE void look(struct roll *r, size_t i)
{
    size_t    j    = i % BLM__RING;
    uint64_t *line = blm__ring_line(r->p, &r->ring, j, BLM__FAR, true), x = r->ring.x[j];
    if (r->write)
        r->answers[i] = (uint8_t)blm__avx2_set(r->layer, line, x, r->p.k, r->layer->marks != NULL);
    else
        r->answers[i] = blm__avx2_test(line, x, r->p.k);
}

/* Places of four lines, in bytes. */
BLM__AVX2_INLINE void place4(const struct roll *r, __m256i h, uint64_t *at)
{
    if (r->reach != BLM__VAST) {
        _mm256_store_si256((void *)at,
                           blm__avx2_offset4(h, _mm256_set1_epi64x((long long)r->p.count)));
        return;
    }
    blm__avx2_store4(at, h);
    for (unsigned q = 0; q < 4; q++)
        at[q] = blm__reduce(at[q], r->p.count) * (BLM__LINE_BITS / 8);
}

BLM__AVX2_INLINE void turn4(struct roll *r, __m256i h)
{
    size_t to = r->at % BLM__RING;
    _mm256_store_si256((void *)(r->ring.x + to), blm__avx2_mul64(h, BLM__C));
    place4(r, h, r->ring.at + to);
    if (r->reach != BLM__NEAR)
        for (unsigned q = 0; q < 4; q++)
            BLM__PREFETCH((const uint8_t *)r->p.words + r->ring.at[to + q]);
    if (r->at >= LAG) {
        size_t due = r->at - LAG;
        for (unsigned q = 0; q < 4 && r->reach != BLM__NEAR; q++)
            BLM__PREFETCH_NEAR((const uint8_t *)r->p.words +
                               r->ring.at[(due + BLM__PULL) % BLM__RING + q]);
        for (unsigned q = 0; q < 4; q++)
            look(r, due + q);
    }
    r->at += 4;
}

/* Four hashes to where they go. */
BLM__AVX2_INLINE void give4(struct roll *r, __m256i h, uint64_t *out)
{
    if (r)
        turn4(r, h);
    else
        blm__avx2_store4(out, h);
}

BLM__AVX2_INLINE void turn_all(struct roll *r, const uint64_t *h, size_t n)
{
    for (size_t i = 0; i < n; i += 4)
        turn4(r, blm__avx2_load4(h + i));
}

/* The keys that come after the four from k[i] on: of the next round, or, if the batch ends with this
 * one, whatever lies behind in memory, as keys cut from one text do. A caller of small batches
 * gains most: 32 URLs a call 20.7 → 17.2 ns at 1e7 (Zen 4). Into the first cache: 14.5 → 13.0 in
 * large batches, against the second. */
#define BEHIND 2048u

BLM__AVX2_INLINE void ask_keys(const blm_key *k, const blm_key *next, size_t i)
{
    if (next)
        for (unsigned j = 0; j < 4; j++)
            BLM__PREFETCH_NEAR(next[i + j].data);
    else
        for (unsigned j = 0; j < 4; j++)
            BLM__PREFETCH_NEAR((const void *)((uintptr_t)k[i].data + BEHIND + 64 * j));
}

/* A round of n keys; the next one is asked for: core/hash/groups.h says what that gains. */
BLM__AVX2_INLINE void hash_round(const blm_key *k, const blm_key *next, size_t n, unsigned pieces,
                                 bool either, const struct words *s, uint64_t *out, struct roll *r)
{
    for (size_t i = 0; i < n; i += 4) {
        ask_keys(k, next, i);
        const blm_key *four[4] = { k + i, k + i + 1, k + i + 2, k + i + 3 };
        give4(r, hash4(four, pieces, either, s), out + i);
    }
}

/* The keys of a round whose bits are set. */
BLM__AVX2_INLINE void hash_some(const blm_key *k, uint64_t which, unsigned pieces,
                                const struct words *s, uint64_t *out)
{
    uint8_t  at[ROUND + 4];
    unsigned n = 0;
    if (which == 0)
        return;
    for (; which; which &= which - 1)
        at[n++] = (uint8_t)__builtin_ctzll(which);
    memset(at + n, at[n - 1], 4); /* the last four may have one key twice */
    for (unsigned i = 0; i < n; i += 4) {
        const blm_key        *four[4] = { k + at[i], k + at[i + 1], k + at[i + 2], k + at[i + 3] };
        _Alignas(32) uint64_t h[4];
        _mm256_store_si256((void *)h, hash4(four, pieces, false, s));
        for (unsigned j = 0; j < 4; j++)
            out[at[i + j]] = h[j];
    }
}

/* Bit i: key i has at least so many bytes. */
struct classes {
    uint64_t from17, from33, from65, from97, from129;
};

BLM__AVX2_INLINE uint64_t at_least(__m256i len, long long least)
{
    __m256i is = _mm256_cmpgt_epi64(len, _mm256_set1_epi64x(least - 1));
    return (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is));
}

BLM__AVX2_INLINE struct classes classes_of(const blm_key *k)
{
    struct classes c = { 0, 0, 0, 0, 0 };
    for (unsigned i = 0; i < ROUND; i += 4) {
        __m256i len = lengths4(k + i);
        c.from17 |= at_least(len, 17) << i;
        c.from33 |= at_least(len, 33) << i;
        c.from65 |= at_least(len, 65) << i;
        c.from97 |= at_least(len, 97) << i;
        c.from129 |= at_least(len, 129) << i;
    }
    return c;
}

/* Keys of any lengths. Where few are of the classes, listing them does not pay. */
BLM__AVX2_INLINE void mixed(const blm_key *k, const struct words *s, uint64_t *out)
{
    struct classes c = classes_of(k);
    if (BLM__POPCOUNT64(c.from17 & ~c.from129) < ROUND / 2) {
        blm__hasher_many(s->by, k, ROUND, out);
        return;
    }
    hash_some(k, c.from17 & ~c.from33, 1, s, out);
    hash_some(k, c.from33 & ~c.from65, 2, s, out);
    hash_some(k, c.from65 & ~c.from97, 3, s, out);
    hash_some(k, c.from97 & ~c.from129, 4, s, out);
    for (uint64_t rest = ~c.from17 | c.from129; rest; rest &= rest - 1) {
        size_t i = (size_t)__builtin_ctzll(rest);
        out[i]   = blm__hasher_key(s->by, k[i].len ? k[i].data : "", k[i].len);
    }
}

/* The shortest and the longest of n keys, a multiple of four; SIZE_MAX where one is longer than 32 bits tell. */
struct span {
    size_t lo, hi;
};

BLM__AVX2_INLINE struct span span_of(const blm_key *k, size_t n)
{
    __m256i lo = _mm256_set1_epi32(-1), hi = _mm256_setzero_si256();
    for (size_t i = 0; i < n; i += 4) {
        __m256i a = _mm256_loadu_si256((const void *)(k + i));
        __m256i b = _mm256_loadu_si256((const void *)(k + i + 2));
        __m256i l = _mm256_unpackhi_epi64(a, b);
        lo        = _mm256_min_epu32(lo, l);
        hi        = _mm256_max_epu32(hi, l);
    }
    _Alignas(32) uint32_t least[8], most[8];
    _mm256_store_si256((void *)least, lo);
    _mm256_store_si256((void *)most, hi);
    struct span s = { SIZE_MAX, 0 };
    for (unsigned i = 0; i < 8; i += 2) {
        s.lo = least[i] < s.lo ? least[i] : s.lo;
        s.hi = most[i + 1] ? SIZE_MAX : most[i] > s.hi ? most[i] : s.hi;
    }
    return s;
}

/* Keys of 8 bytes each, as numbers are: 1.0 ns in place of 3.6, Zen 3, in cache. */
BLM__AVX2_INLINE void numbers(const blm_key *k, size_t n, const struct words *s, uint64_t *out)
{
    const __m256i flip = _mm256_set1_epi64x((long long)blm__hasher_flip(s->by));
    for (size_t i = 0; i < n; i += 4) {
        __m256i v = _mm256_setr_epi64x(
            (long long)blm__get64le(k[i].data), (long long)blm__get64le(k[i + 1].data),
            (long long)blm__get64le(k[i + 2].data), (long long)blm__get64le(k[i + 3].data));
        blm__avx2_store4(out + i, blm__avx2_hash4(v, flip));
    }
}

/* Of lengths that no loop of ours is for: into out, or, rolling, from there. */
BLM__AVX2_INLINE void other_round(const blm_key *k, size_t n, struct span l, const struct words *s,
                                  uint64_t *out, struct roll *r)
{
    if (l.lo == 8 && l.hi == 8)
        numbers(k, n, s, out);
    else if (n < ROUND || l.hi <= 16 || (l.lo > 16 && l.hi <= 32))
        blm__hasher_many(s->by, k, n, out);
    else
        mixed(k, s, out);
    if (r)
        turn_all(r, out, n);
}

/* Rounds of 64 keys, and one of what is left. n: a multiple of four if they roll, and then out has
 * room for a round only. */
BLM__AVX2_INLINE void rounds(struct words s, const blm_key *keys, size_t n, uint64_t *out,
                             struct roll *r)
{
    size_t i = 0;
    for (size_t some; n - i >= 4; i += some) {
        const blm_key *k    = keys + i;
        some                = n - i < ROUND ? (n - i) / 4 * 4 : ROUND;
        uint64_t      *h    = r ? out : out + i;
        struct span    l    = span_of(k, some);
        const blm_key *next = n - i >= 2 * ROUND ? k + ROUND : NULL;
        if (l.lo > 32 && l.hi <= 64) {
            hash_round(k, next, some, 2, false, &s, h, r);
        } else if (l.lo >= 48 && l.hi <= 96) {
            hash_round(k, next, some, 3, true, &s, h, r);
        } else {
            for (size_t j = 0; j < some; j += 4)
                ask_keys(k, next, j);
            other_round(k, some, l, &s, h, r);
        }
    }
    if (!r)
        blm__hasher_many(s.by, keys + i, n - i, out + i);
}

BLM__AVX2 static void keyed_rounds(const struct blm__hasher *by, const blm_key *keys, size_t n,
                                   uint64_t *out)
{
    struct words s = { by->secret->piece, by, true };
    rounds(s, keys, n, out, NULL);
}

BLM__AVX2 static void seeded_rounds(const struct blm__hasher *by, const blm_key *keys, size_t n,
                                    uint64_t *out)
{
    uint64_t     w[16];
    struct words s = { w, by, false };
    seeded(by->seed[0], w);
    rounds(s, keys, n, out, NULL);
}

void blm__hash_many_avx2(const struct blm__hasher *by, const blm_key *keys, size_t n, uint64_t *out)
{
    if (by->secret)
        keyed_rounds(by, keys, n, out);
    else
        seeded_rounds(by, keys, n, out);
}

/* ---- from keys to answers ---- */

/* The up to three keys behind the last four are hashed and asked for first. */
BLM__AVX2 static size_t roll_keys(struct blm__layer *l, bool write, const struct blm__hasher *by,
                                  const blm_key *keys, size_t n, uint8_t *answers)
{
    const size_t whole = n - n % 4;
    struct words s     = { by->secret->piece, by, true };
    uint64_t     h[ROUND], odd[4];
    struct roll  r; /* its ring is not cleared */
    r.layer   = l;
    r.p       = blm__place_of(l);
    r.reach   = blm__reach_of(l);
    r.write   = write;
    r.answers = answers;
    r.at      = 0;
    for (size_t i = whole; i < n; i++) {
        odd[i - whole] = blm__keyed_any(keys[i].len ? keys[i].data : "", keys[i].len, by->secret);
        BLM__PREFETCH(blm__place_line(r.p, odd[i - whole]));
    }
    rounds(s, keys, whole, h, &r);
    size_t at = blm__stream_left(whole, LAG);
    for (; !write && whole <= LAG && at + BLM__STEP <= whole; at += BLM__STEP)
        blm__few_test8(r.p, &r.ring, at, BLM__FAR, answers + at, blm__avx2_test, NULL);
    for (; at < whole; at++)
        look(&r, at);
    for (size_t i = whole; i < n; i++) {
        uint64_t *line = blm__place_line(r.p, odd[i - whole]), x = blm__line_x(odd[i - whole]);
        answers[i] = write ? (uint8_t)blm__avx2_set(l, line, x, r.p.k, l->marks != NULL)
                           : blm__avx2_test(line, x, r.p.k);
    }
    return blm__ones(answers, n);
}

size_t blm__line_check_keys_avx2(const struct blm__layer *l, const struct blm__hasher *by,
                                 const blm_key *keys, size_t n, uint8_t *maybe)
{
    struct blm__layer at = *l; /* nothing is written */
    if (by->secret)
        return roll_keys(&at, false, by, keys, n, maybe);
    return blm__keys_check_loop(l, by, keys, n, maybe, &blm__kernel_avx2);
}

size_t blm__line_add_keys_avx2(struct blm__layer *l, const struct blm__hasher *by,
                               const blm_key *keys, size_t n, uint8_t *fresh)
{
    if (by->secret)
        return roll_keys(l, true, by, keys, n, fresh);
    return blm__keys_add_loop(l, by, keys, n, fresh, &blm__kernel_avx2);
}
#endif
