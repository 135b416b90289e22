/* SPDX-License-Identifier: MIT */
/*
 * Checks of k bits anywhere in a layer, where a key touches no line that it need not.
 *
 * Half the bits of a full filter are clear, so that an absent key is settled by its first two bits on
 * average. To ask for more lines than these is to wait for lines that nobody looks at; to look at one
 * bit after the other is to wait for each. So a number of *hands* hold one key each. They are visited by
 * turns. A hand that finds its bit set goes on to its key's next bit. One that finds it clear, or has
 * seen the last, takes the next key. Either way it asks for one line and is left alone for a round of
 * visits. Nothing branches on what is found, and as many lines are under way as there are hands.
 *
 * Keys come in runs of at most RUN, and hands keep theirs from one run to the next: while keys are hashed,
 * lines of those before are under way. What else a key needs, its remainders and wraps, is worked out
 * between visits, when hands are about to take it (Guava, absent, AVX-512: 7.0 → 6.5 ns). It takes k
 * rounds until the last keys are settled, so a batch should be many rounds long.
 *
 * Lines are asked for one by one between other work, and into the second cache: sixteen in a row stop
 * what comes after them (Emerald Rapids, 12 MB: 2.2 ns a line and the work on top of that, against 1.5
 * and the work for nothing).
 *
 * Before, two or four bits of every key were asked for, and then all others of those that passed. On an
 * Emerald Rapids, 1e7 keys in 12 MB, where a bare line takes 1.9 ns; ns a key, before → after:
 *                           classic                    Guava
 *   AVX-512                 10.8 → 5.3, there 20 → 17  13.1 → 6.5, there 23 → 18
 *   AVX2                    11.9 → 6.4, there 20 → 19  13.0 → 9.9, there 22 → 22
 *   none, hand by hand      15.5 → 9.7, there 21 → 32
 * So AVX-512 always has hands; the others where most keys of the run before were absent, as processors
 * without AVX-512 may gather more slowly.
 */
#ifndef BLM_CORE_KERNEL_HANDS_H
#define BLM_CORE_KERNEL_HANDS_H

#include "core/kernel/loops.h"
#include "core/kernel/steps.h"

#define BLM__HANDS       96u   /* of vectors; a multiple of 16 */
#define BLM__HANDS_PLAIN 56u   /* that are visited one by one */
#define BLM__HANDS_RUN   128u  /* keys that are given at once; more than there are hands */
#define BLM__HANDS_ROOM  256u  /* keys that have a place; a multiple of RUN */
#define BLM__HANDS_OVER  16u   /* the first have a second one behind the last, for vectors */
#define BLM__HANDS_MOST  16u   /* probes */
#define BLM__HANDS_LEAST 512u  /* keys of a batch; fewer are faster all at once */
#define BLM__HANDS_TRIAL 8192u /* … after which an engine looks again whether they are for it */
#define BLM__HANDS_KEYS  ((size_t)1 << 25) /* that have numbers */

/* A key's number, and above it that of its bit. */
#define BLM__HANDS_BIT ((uint32_t)1 << 26)

struct blm__hands {
    const uint64_t   *words;
    uint64_t          m;
    struct blm__steps steps;
    uint8_t          *maybe;        /* by key numbers */
    uint32_t          last;         /* the number of the last bit, where it stands in id */
    uint32_t          turn;         /* the hand that is visited next */
    uint32_t          given, taken; /* keys: their numbers begin with 0 */
    /* Hands, and by the end the keys that none has taken: the chain's word; a position and its byte; how
     * far a step goes, and which of the next steps wrap. */
    _Alignas(64) uint64_t g[BLM__HANDS + BLM__HANDS_OVER];
    _Alignas(64) uint32_t id[BLM__HANDS + BLM__HANDS_OVER];
    _Alignas(64) uint32_t pos[BLM__HANDS + BLM__HANDS_OVER];
    _Alignas(64) uint32_t byte[BLM__HANDS + BLM__HANDS_OVER];
    _Alignas(64) uint32_t by[BLM__HANDS + BLM__HANDS_OVER];
    _Alignas(64) uint32_t wraps[BLM__HANDS + BLM__HANDS_OVER];
    /* Keys, number i at i mod ROOM: a hash, or the two words of steps, and what is made of these:
     * both mod m, and the steps that wrap. */
    _Alignas(64) uint64_t a[BLM__HANDS_ROOM + BLM__HANDS_OVER];
    _Alignas(64) uint64_t b[BLM__HANDS_ROOM + BLM__HANDS_OVER];
    _Alignas(64) uint32_t key_pos[BLM__HANDS_ROOM + BLM__HANDS_OVER];
    _Alignas(64) uint32_t key_by[BLM__HANDS_ROOM + BLM__HANDS_OVER];
    _Alignas(64) uint32_t key_wraps[BLM__HANDS_ROOM + BLM__HANDS_OVER];
};

/* For at most BLM__HANDS_KEYS, whose answers go to maybe. Hands have no keys yet. */
void blm__hands_begin(struct blm__hands *s, const struct blm__layer *l, uint64_t m, uint8_t *maybe);
/* Settles what `hands` hands hold and the keys that none has taken. */
void blm__hands_end_chain(struct blm__hands *s, uint32_t hands);
void blm__hands_end_steps(struct blm__hands *s, uint32_t hands);
#ifdef BLM__HAVE_AVX2
void blm__chain_follow_avx2(struct blm__hands *s, size_t n);
#endif
#ifdef BLM__HAVE_AVX512
void blm__chain_follow_avx512(struct blm__hands *s, size_t n);
#endif
/* How many of the keys are "maybe". */
size_t blm__hands_count(const struct blm__hands *s);

/* Whether a batch of n keys is for it. */
BLM__INLINE bool blm__hands_fit(const struct blm__layer *l, uint64_t m, uint64_t most, size_t n)
{
#ifdef __wasm__
    return (void)l, (void)m, (void)most, (void)n, false; /* nothing can be fetched ahead there */
#else
    return n >= BLM__HANDS_LEAST && l->shape.probes <= BLM__HANDS_MOST && m <= most &&
           !blm__layer_small(l);
#endif
}

/* Short keys side by side, and the answers, of the run after this one. The processor, which fetches ahead
 * what is read in a row, loses its way between random lines: without this a key took 12 ns in place of 6.
 * Keys go to the second cache: sixteen lines a run on their way to the first hold up all others (0.2 ns). */
BLM__INLINE void blm__hands_ahead(const void *keys, size_t bytes, const uint8_t *maybe)
{
    for (size_t i = 0; keys && i < bytes && bytes <= 4096; i += 64)
        BLM__PREFETCH((const void *)((uintptr_t)keys + bytes + i));
    for (size_t i = 0; i < BLM__HANDS_RUN; i += 64)
        BLM__PREFETCH_NEW((const void *)((uintptr_t)maybe + BLM__HANDS_RUN + i));
}

/* Where the next run's words go, of a and b. */
BLM__INLINE size_t blm__hands_next(const struct blm__hands *s)
{
    return s->given % BLM__HANDS_ROOM;
}

/* How far a step goes where its sum wraps: `wrap` is 2^wrap mod m. */
BLM__INLINE uint32_t blm__hands_less(uint32_t by, uint32_t wrap, uint32_t m)
{
    uint32_t less = by - wrap;
    return less < less + m ? less : less + m;
}

/* The position after a step of `by`, or of `less` where it wraps. */
BLM__INLINE uint32_t blm__hands_on(uint32_t pos, uint32_t by, uint32_t wraps, uint32_t wrap,
                                   uint32_t m)
{
    const uint32_t less = blm__hands_less(by, wrap, m), down = 0 - (wraps & 1);
    const uint32_t next = pos + ((less & down) | (by & ~down));
    return next < next - m ? next : next - m;
}

BLM__INLINE uint32_t blm__hands_bit(const uint64_t *words, uint32_t pos)
{
    return (uint32_t)(blm__le64(blm__load(&words[pos >> 6])) >> (pos & 63)) & 1;
}

/* A hand takes key `in`. */
BLM__INLINE void blm__hands_take(struct blm__hands *s, uint32_t hand, uint32_t in)
{
    const size_t at = in % BLM__HANDS_ROOM;
    s->g[hand]      = s->a[at];
    s->id[hand]     = in;
    s->pos[hand]    = s->key_pos[at];
    s->byte[hand]   = s->key_pos[at] / 8;
    s->by[hand]     = s->key_by[at];
    s->wraps[hand]  = s->key_wraps[at];
}

/* ---- one hand after the other ---- */

/* A run of n chains, in s->a; 0: there are no more. */
BLM__INLINE void blm__hands_chain(struct blm__hands *s, size_t n)
{
    const uint64_t *words = s->words, m = s->m;
    const uint32_t  last = s->last;
    uint32_t        in = s->taken, turn = s->turn;
    if (n == 0) {
        blm__hands_end_chain(s, BLM__HANDS_PLAIN);
        return;
    }
    for (; in < BLM__HANDS_PLAIN; in++) {
        s->g[in]   = s->a[in];
        s->id[in]  = in;
        s->pos[in] = (uint32_t)blm__reduce(s->a[in], m);
        BLM__PREFETCH(&words[s->pos[in] >> 6]);
    }
    s->given += (uint32_t)n;
    while (in < s->given) {
        const uint32_t id = s->id[turn], bit = blm__hands_bit(words, s->pos[turn]);
        const uint64_t next = blm__chain_next(s->g[turn]), other = s->a[in % BLM__HANDS_ROOM];
        const uint64_t go = 0 - (uint64_t)(bit & (id < last)), g = (next & go) | (other & ~go);
        s->maybe[id % BLM__HANDS_BIT] = (uint8_t)bit;
        s->g[turn]                    = g;
        s->id[turn]  = ((id + BLM__HANDS_BIT) & (uint32_t)go) | (in & ~(uint32_t)go);
        s->pos[turn] = (uint32_t)blm__reduce(g, m);
        BLM__PREFETCH(&words[s->pos[turn] >> 6]);
        in += 1 + (uint32_t)go;
        turn = turn + 1 == BLM__HANDS_PLAIN ? 0 : turn + 1;
    }
    s->taken = in;
    s->turn  = turn;
}

/* The same, built for a target. Where nothing can be fetched ahead, there is nothing to gain. */
#ifdef __wasm__
#define BLM__CHAIN_FOLLOW(TARGET, kernel)
#define BLM__CHAIN_FOLLOW_ROW(kernel) NULL
#else
#define BLM__CHAIN_FOLLOW(TARGET, kernel)                                    \
    TARGET static void kernel##_chain_follow(struct blm__hands *s, size_t n) \
    {                                                                        \
        blm__hands_chain(s, n);                                              \
    }
#define BLM__CHAIN_FOLLOW_ROW(kernel) kernel##_chain_follow
#endif

bool blm__hands_always(bool absent);
bool blm__hands_if_absent(bool absent); /* others are as fast, or faster, without */
bool blm__hands_never(bool absent);
void blm__hands_none(struct blm__hands *s, size_t n); /* beside that: nobody calls it */

#endif
