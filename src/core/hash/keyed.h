/* SPDX-License-Identifier: MIT */
/*
 * The keyed hash: what hash xxh3 is from version 2 of the native scheme on. Every word that it
 * mixes a key with is secret, where XXH3 has public ones and a seed. docs/hash.md has the rule, and
 * the argument that keys prepared in advance collide in it no more than by chance.
 *
 *   0           a word
 *   1 to 3      XXH3's rule for such keys, with a word
 *   4 to 8      XXH3's rule for such keys, with a word for each length
 *   9 to 128    the products of pieces of 16 bytes, summed in halves; the halves' product, folded
 *   from 129    such sums of 256 bytes each, a polynomial of them, and that cut to 64 bits
 */
#ifndef BLM_CORE_HASH_KEYED_H
#define BLM_CORE_HASH_KEYED_H

#include "core/hash/xxh3_key.h"

/* In this order word i is SipHash-2-4 of "bloomery" and i, with the seed as its key. */
struct blm__secret {
    uint64_t piece[32]; /* two for each piece */
    uint64_t empty, tiny, flip[5];
    uint64_t length; /* what each byte of a key's length counts */
    uint64_t fold;   /* for the high halves, before the last product */
    uint64_t point;  /* at which the polynomial is taken */
    uint64_t cut[6];
};

void blm__secret_make(struct blm__secret *s, const uint64_t seed[2]);

/* Any length, out of line. */
uint64_t blm__keyed_any(const void *key, size_t len, const struct blm__secret *s);
/* Keys of more than 128 bytes. */
uint64_t blm__keyed_long(const void *key, size_t len, const struct blm__secret *s);
/* Many keys; data may be NULL where len is 0. */
void blm__keyed_many(const blm_key *keys, size_t n, const struct blm__secret *s, uint64_t *out);

/* The low and the high halves of products, each summed mod 2^64. */
struct blm__sums {
    uint64_t lo, hi;
};

BLM__INLINE void blm__sum(struct blm__sums *t, uint64_t a, uint64_t b)
{
#if defined(__x86_64__) && defined(__GNUC__)
    uint64_t hi; /* by hand: as in blm__xxh3_fold */
    __asm__("mulq %2" : "+a"(a), "=d"(hi) : "r"(b) : "cc");
    t->lo += a;
    t->hi += hi;
#else
    t->lo += a * b;
    t->hi += blm__mulhi(a, b);
#endif
}

/* The 16 bytes at p, with two words of the secret. */
BLM__INLINE void blm__sum_piece(struct blm__sums *t, const uint8_t *p, const uint64_t *secret)
{
    blm__sum(t, blm__get64le(p) + secret[0], blm__get64le(p + 8) + secret[1]);
}

BLM__INLINE uint64_t blm__keyed_end(struct blm__sums t, size_t len, const struct blm__secret *s)
{
    return blm__xxh3_fold(t.lo + len * s->length, t.hi + s->fold);
}

BLM__INLINE uint64_t blm__keyed_0to3(const void *key, size_t len, const struct blm__secret *s)
{
    return len ? blm__xxh3_avalanche_64(blm__xxh3_1to3(key, len) ^ s->tiny) : s->empty;
}

BLM__INLINE uint64_t blm__keyed_4to8(const void *key, size_t len, const struct blm__secret *s)
{
    return blm__xxh3_4to8(key, len, s->flip[len - 4]);
}

BLM__INLINE uint64_t blm__keyed_9to16(const void *key, size_t len, const struct blm__secret *s)
{
    const uint8_t   *p = key;
    struct blm__sums t = { 0, 0 };
    blm__sum(&t, blm__get64le(p) + s->piece[0], blm__get64le(p + len - 8) + s->piece[1]);
    return blm__keyed_end(t, len, s);
}

BLM__INLINE void blm__keyed_ends(struct blm__sums *t, const uint8_t *p, size_t len, unsigned i,
                                 const struct blm__secret *s)
{
    blm__sum_piece(t, p + 16 * i, s->piece + 4 * i);
    blm__sum_piece(t, p + len - 16 * (i + 1), s->piece + 4 * i + 2);
}

BLM__INLINE uint64_t blm__keyed_17to32(const void *key, size_t len, const struct blm__secret *s)
{
    struct blm__sums t = { 0, 0 };
    blm__keyed_ends(&t, key, len, 0, s);
    return blm__keyed_end(t, len, s);
}

BLM__INLINE uint64_t blm__keyed_33to64(const void *key, size_t len, const struct blm__secret *s)
{
    struct blm__sums t = { 0, 0 };
    blm__keyed_ends(&t, key, len, 0, s);
    blm__keyed_ends(&t, key, len, 1, s);
    return blm__keyed_end(t, len, s);
}

/* Without a branch on the length. */
BLM__INLINE uint64_t blm__keyed_33to96(const void *key, size_t len, const struct blm__secret *s)
{
    const uint8_t   *p = key;
    struct blm__sums t = { 0, 0 }, middle = { 0, 0 };
    uint64_t         more = (uint64_t)0 - (len > 64); /* all ones: the middle counts too */
    blm__keyed_ends(&t, p, len, 0, s);
    blm__keyed_ends(&t, p, len, 1, s);
    blm__sum_piece(&middle, p + (32 & more), s->piece + 8); /* else some place inside the key */
    blm__sum_piece(&middle, p + ((len - 48) & more), s->piece + 10);
    t.lo += middle.lo & more;
    t.hi += middle.hi & more;
    return blm__keyed_end(t, len, s);
}

/* With branches: for lengths that repeat, or differ by more than a class. */
BLM__INLINE uint64_t blm__keyed_17to128(const void *key, size_t len, const struct blm__secret *s)
{
    struct blm__sums t = { 0, 0 };
    if (len > 32) {
        if (len > 64) {
            if (len > 96)
                blm__keyed_ends(&t, key, len, 3, s);
            blm__keyed_ends(&t, key, len, 2, s);
        }
        blm__keyed_ends(&t, key, len, 1, s);
    }
    blm__keyed_ends(&t, key, len, 0, s);
    return blm__keyed_end(t, len, s);
}

/* Any length. */
BLM__INLINE uint64_t blm__keyed(const void *key, size_t len, const struct blm__secret *s)
{
    if (len > 16)
        return len <= 128 ? blm__keyed_17to128(key, len, s) : blm__keyed_long(key, len, s);
    if (len > 8)
        return blm__keyed_9to16(key, len, s);
    return len >= 4 ? blm__keyed_4to8(key, len, s) : blm__keyed_0to3(key, len, s);
}

#endif
