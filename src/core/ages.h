/* SPDX-License-Identifier: MIT */
/*
 * Ages: cells that forget by themselves. What a window is made of.
 *
 * A layer is `line_count` spans of S words, S = 8, 16, 32 or 64: one word for each age. Time, or the
 * number of adds, is cut into turns. What is added in turn t goes to word t mod S of its spans, and
 * replaces what was there S turns before. So a key stays for at least S − 1 turns and at most S,
 * and nothing is ever swept: a turn costs nothing but a few stale words (blm__ages_turned).
 *
 * A word is 56 cells and, in its top byte, a tag: ⌊t / S⌋ mod 256 of the turn that wrote it. A word
 * whose tag is not the one that its turn must have is empty. A key has one cell in each of k of the
 * word's eight groups of seven, in each of its L spans (`lines`), and the layer has it when one and
 * the same age has all of them.
 *
 * Behind the spans stand 8 + S words of state:
 *   0      by time: when the turn began (ms, 44 bits) and its number mod 2^20, below it
 *   1      by number: how many keys were ever added
 *   8 + j  by time: adds of the turn that word j is of: its number mod 2^20, above 44 bits of count
 */
#ifndef BLM_CORE_AGES_H
#define BLM_CORE_AGES_H

#include "core/body.h"
#include "core/probe.h"

#define BLM__AGES_LEAST 8u
#define BLM__AGES_MOST  64u
#define BLM__AGE_CELLS  56u
#define BLM__AGE_TAG    0xff00000000000000u
#define BLM__AGE_STATE  8u /* words of state, before the counts */
#define BLM__TURNS      ((uint64_t)1 << 20)
#define BLM__BY_TIME    256u /* in shape.aux[1], beside S */

static inline uint32_t blm__ages_of(const struct blm__shape *s) { return s->aux[1] & 0xff; }
static inline bool     blm__by_time(const struct blm__shape *s) { return s->aux[1] & BLM__BY_TIME; }
static inline uint64_t blm__ages_window(const struct blm__shape *s) { return s->aux[0]; }
/* Keys, or milliseconds, of a turn. */
static inline uint64_t blm__turn_length(uint64_t window, uint32_t ages)
{
    return window / (ages - 1) + (window % (ages - 1) != 0);
}
static inline uint64_t blm__ages_words(uint64_t spans, uint32_t ages)
{
    return (spans + 1) * ages + BLM__AGE_STATE;
}
static inline uint64_t blm__ages_spans(uint64_t words, uint32_t ages)
{
    return words < 2 * ages + BLM__AGE_STATE ? 0 : (words - BLM__AGE_STATE) / ages - 1;
}

/* A turn as words show it: word j of a span is of this turn, or of the one that used it last. */
struct blm__age_turn {
    uint32_t number; /* mod 2^20 */
    uint32_t at;     /* the word that is added to */
    uint64_t young;  /* the tag of words 0 … at */
    uint64_t old;    /* … and of those above */
};
static inline struct blm__age_turn blm__age_turn(uint64_t number, uint32_t ages)
{
    uint64_t             n = number & (BLM__TURNS - 1), round = n / ages;
    struct blm__age_turn t = { (uint32_t)n, (uint32_t)(n % ages), round << 56, (round - 1) << 56 };
    return t;
}
static inline uint64_t blm__age_tag(const struct blm__age_turn *t, uint32_t word)
{
    return word <= t->at ? t->young : t->old;
}

/* Which of the seven cells of a group: fourteen bits of x, of which neighbours share eight, so that
 * seven fits them evenly. */
static inline unsigned blm__age_cell(uint64_t x, unsigned group)
{
    return (unsigned)((x >> (5 + 6 * group) & 0x3fff) * 7 >> 14);
}
static inline uint64_t blm__age_mask(uint64_t x, uint32_t k)
{
    unsigned used = blm__line_words(x, k);
    uint64_t mask = 0;
    for (unsigned j = 0; j < 8; j++)
        mask |= (uint64_t)(used >> j & 1) << (7 * j + blm__age_cell(x, j));
    return mask;
}

#endif
