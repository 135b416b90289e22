/* SPDX-License-Identifier: MIT */
/* The keyed hash, what is not inlined: the secret, long keys, many keys. docs/hash.md. */
#include "core/hash/keyed.h"

#include <string.h>

#include "core/hash/groups.h"
#include "core/hash/siphash.h"

#define BLOCK 256u /* bytes of a sum: as many as there are words of pieces */

_Static_assert(sizeof(((struct blm__secret *)0)->piece) == BLOCK, "a word for each word");

void blm__secret_make(struct blm__secret *s, const uint64_t seed[2])
{
    uint64_t word[sizeof *s / 8];
    uint8_t  message[16] = { 'b', 'l', 'o', 'o', 'm', 'e', 'r', 'y' };
    for (size_t i = 0; i < sizeof *s / 8; i++) {
        blm__put64le(message + 8, i);
        word[i] = blm__siphash24(seed, message, sizeof message);
    }
    memcpy(s, word, sizeof *s);
}

/* ---- long keys ---- */

/* A number below 2^128. */
struct wide {
    uint64_t lo, hi;
};

/* x·r + t mod 2^127 − 1. x is below 2^127 + 2^65, and so is what comes back. */
static struct wide step(struct wide x, uint64_t r, struct blm__sums t)
{
    uint64_t w0 = x.lo * r, w1 = blm__mulhi(x.lo, r), w2 = blm__mulhi(x.hi, r), carry;
    uint64_t m = x.hi * r;
    w1 += m;
    w2 += w1 < m;
    w0 += t.lo;
    carry = w0 < t.lo;
    w1 += carry;
    w2 += w1 < carry;
    w1 += t.hi;
    w2 += w1 < t.hi;
    uint64_t top = w2 << 1 | w1 >> 63, over = w2 >> 63; /* what stands above bit 127 */
    w1 = (w1 & INT64_MAX) + over;
    w0 += top;
    w1 += w0 < top;
    struct wide y = { w0, w1 };
    return y;
}

/* The same number, below 2^127 − 1. */
static struct wide reduced(struct wide x)
{
    uint64_t top = x.hi >> 63;
    x.hi &= INT64_MAX;
    x.lo += top;
    x.hi += x.lo < top;
    if (x.hi == INT64_MAX && x.lo == UINT64_MAX)
        x.hi = x.lo = 0;
    return x;
}

/* The high word of c0 + c1·x.lo + c2·x.hi mod 2^128, where each c has two words, low and high. */
static uint64_t cut(struct wide x, const uint64_t c[6])
{
    uint64_t lo = c[0], a = c[2] * x.lo, b = c[4] * x.hi;
    uint64_t hi =
        c[1] + c[3] * x.lo + c[5] * x.hi + blm__mulhi(c[2], x.lo) + blm__mulhi(c[4], x.hi);
    lo += a;
    hi += lo < a;
    lo += b;
    hi += lo < b;
    return hi;
}

uint64_t blm__keyed_long(const void *key, size_t len, const struct blm__secret *s)
{
    const uint8_t *p = key, *end = p + len;
    struct wide    x = { len, 0 };
    for (; (size_t)(end - p) > BLOCK; p += BLOCK) {
        struct blm__sums t = { 0, 0 };
        for (unsigned i = 0; i < BLOCK; i += 16)
            blm__sum_piece(&t, p + i, s->piece + i / 8);
        x = step(x, s->point, t);
    }
    struct blm__sums t = { 0, 0 };
    const uint64_t  *w = s->piece;
    for (; end - p > 16; p += 16, w += 2)
        blm__sum_piece(&t, p, w);
    blm__sum_piece(&t, end - 16, w);
    /* Keys that differ in a counter give sums in arithmetic progression, up to here. */
    return blm__xxh3_avalanche_64(cut(reduced(step(x, s->point, t)), s->cut));
}

/* ---- the rest ---- */

BLM__GROUPS(blm__keyed, const struct blm__secret *, blm__keyed, blm__keyed_4to8(key, len, with))

uint64_t blm__keyed_any(const void *key, size_t len, const struct blm__secret *s)
{
    return blm__keyed(key, len, s);
}
