/* SPDX-License-Identifier: MIT */
/*
 * The maths of filters: how large, how many probes, which rate. Pure functions: they need no
 * filter, keep no state, and may be called from any thread. docs/maths.md has the derivations.
 *
 * Settled: blm_plan_for and the textbook formulas, blm_estimate_items, blm_binomial_interval. May
 * still change before 1.0: blm_rate_of and its models, blm_trial, blm_fill_interval, blm_estimate_overlap.
 */
#ifndef BLOOMERY_MATHS_H
#define BLOOMERY_MATHS_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the probes of a key relate. */
typedef enum blm_model {
    BLM_MODEL_USUAL       = 0, /* (1 − e^(−kn/m))^k */
    BLM_MODEL_INDEPENDENT = 1, /* k independent probes: the exact sum over the fill for k ≤ 64, a
                                  bounded approximation beyond. Native classic filters follow it, up
                                  to n/2^64 (two keys with one hash), which plans and stats add */
    BLM_MODEL_DOUBLE = 2, /* probes a + i·b mod m, b ≠ 0: close to Guava, Spark, RedisBloom and most
                                  others */
    BLM_MODEL_LINES     = 3, /* native blocked filters: `lines` lines of 512 bits, one bit in each
                                  of k/lines words; n/2^64 included */
    BLM_MODEL_COUNTERS  = 4, /* native counting filters, and blm_reduce's copies of them: `lines`
                                  lines of 128 cells, one in each of k/lines groups of 16 */
    BLM_MODEL_WINDOW    = 5, /* windows with eight ages, when all are full; n in the window */
    BLM_MODEL_WINDOW_16 = 6, /* … with more of them, for less slack */
    BLM_MODEL_WINDOW_32 = 7,
    BLM_MODEL_WINDOW_64 = 8,
    BLM_MODEL_BUCKETS   = 9, /* native cuckoo filters: m cells, of which n hold a fingerprint of
                                  `lines` bits; a key has k = 1 of them, and a question looks at 8;
                                  n/2^64 included */
    BLM_MODEL_FUSE      = 10 /* static filters: 2^-lines, whatever m is; k = 3; n/2^64 included */
} blm_model;

/* What a filter made from some options would be. Nothing is allocated. */
typedef struct blm_plan {
    size_t    size;
    blm_kind  kind;
    uint64_t  items;  /* n: given, or how many keys reach the rate */
    double    rate;   /* modelled at n, for the probes that the kind really makes */
    double    asked;  /* the rate asked for; 0: none */
    uint64_t  bits;   /* m, as blm_create would make it */
    uint32_t  probes; /* k, in all lines together */
    uint32_t  lines;  /* lines per key (blocked, counting); cuckoo, static: bits of a
                            fingerprint; else 0 */
    uint64_t  bytes;
    bool      fits;         /* the asked rate fits the asked memory or bits */
    uint64_t  bytes_needed; /* for the asked rate (0: none was asked) */
    double    bits_per_item;
    blm_model model; /* of its probes, for blm_rate_of at other numbers of keys */
} blm_plan;

/* Plans a filter from what is given in `o`:
 *   (items, rate)            the smallest filter with a modelled rate ≤ p
 *   (items, memory)          the largest that fits, its best k, and its rate. With a rate too:
 *                            whether it fits, and what would (blm_create gives E_LIMIT if not, and
 *                            where the rate is 1)
 *   (items, bits[, probes])  the rate, at the best k if none is given
 *   (bits, probes[, rate])   how many items reach the rate (none given: fill one half)
 *   (bits or memory, rate)   the best k, and how many items fit (memory alone: at 1%)
 * E_ARGUMENT for a number out of range. Never gives a NaN. */
BLM_API blm_status blm_plan_for(const blm_options *o, blm_plan *out, blm_error *err);

/* The textbook's formulas: m = ⌈−n·ln p / ln²2⌉, k = round(m/n·ln 2), at least 1. */
BLM_API blm_status blm_textbook(uint64_t n, double p, uint64_t *m, uint32_t *k);
BLM_API blm_status blm_best_probes(uint64_t m, uint64_t n, uint32_t *k); /* round(m/n·ln 2) ≥ 1 */
BLM_API blm_status blm_probes_for_rate(double p, uint32_t *k);           /* ⌈−log2 p⌉ */
BLM_API blm_status blm_best_rate(uint64_t m, uint64_t n, double *p);     /* 0.6185^(m/n) */
/* How many keys m bits hold at a rate ≤ p with k probes (0: the best k), by the usual formula. */
BLM_API blm_status blm_capacity_for(uint64_t m, uint32_t k, double p, uint64_t *n);

typedef enum blm_method {
    BLM_BY_FORMULA = 0,
    BLM_BY_SUM     = 1, /* exact */
    BLM_BY_BOUND   = 2  /* approximate, between low and high */
} blm_method;

typedef struct blm_rate {
    size_t     size;
    double     value, low, high; /* low = value = high when exact */
    blm_method method;
} blm_rate;

/* The rate of m bits with k probes in all and n keys. lines is 0, except for BLM_MODEL_BUCKETS, and
 * for _LINES and _COUNTERS, where m is a multiple of 512 or 128. n = 0 gives 0. The usual formula takes any m and
 * k; the other models give E_LIMIT past 2^48 bits or 2 048 probes. Takes microseconds at the usual
 * k, milliseconds at k = 64. */
BLM_API blm_status blm_rate_of(blm_model model, uint64_t m, uint32_t k, uint32_t lines, uint64_t n,
                               blm_rate *out);

/* The modelled rate of this filter when it holds n different keys, whatever its kind and scheme;
 * not what its bits give now (blm_stats.rate_now). One that grows is modelled as it fills: its
 * layers in order, each to its capacity, then those that it would grow. E_FULL, E_LIMIT: it cannot
 * grow that far. The second is for one layer with n keys in it. Costs as much as blm_rate_of, for
 * each layer. */
BLM_API blm_status blm_rate_at(const blm_filter *f, uint64_t n, double *rate);
BLM_API blm_status blm_layer_rate_at(const blm_filter *f, uint32_t layer, uint64_t n, double *rate);

/* Measures the rate: asks for `count` keys that were never added. With keys NULL they are
 * generated, 16 random bytes each, from `seed`. The interval is 95%, exact binomial. */
typedef struct blm_trial {
    size_t   size;
    uint64_t trials, hits;
    double   rate, low, high;
    double   promised, modelled; /* the promised rate; the rate that the bits give now */
    bool     holds;              /* low <= promised: the trial does not contradict the promise */
} blm_trial;
BLM_API blm_status blm_try_rate(const blm_filter *f, const blm_key *keys, uint64_t count,
                                uint64_t seed, blm_trial *out, blm_error *err);

/* The rate by trial, of a filter that does not exist yet: makes it, adds n keys (the numbers
 * 0 … n−1, four bytes each, big-endian), checks the 100 000 from n + 1 on, and frees it. With scheme
 * "go", bits = m and probes = k, out->rate is what Go's EstimateFalsePositiveRate(m, k, n) returns.
 * modelled: blm_rate_at. E_LIMIT: n is above 2^32 − 100 001. Takes progress. */
BLM_API blm_status blm_try_options(const blm_options *o, uint64_t n, blm_trial *out,
                                   blm_error *err);

/* The expected fill, and an interval that the fill leaves with a probability of at most
 * 1 − confidence (Azuma–Hoeffding: 2·exp(−2λ²/kn) for independent probes, k²n for derived ones). */
BLM_API blm_status blm_fill_interval(uint64_t m, uint32_t k, uint64_t n, bool derived,
                                     double confidence, blm_estimate *out);

/* How many keys are in a filter of m bits and k probes with `ones` bits set: −m/k·ln(1 − ones/m).
 * Saturated (ones = m): value is how many keys it takes, on average, to set the last bit, and high
 * is infinite. */
BLM_API blm_status blm_estimate_items(uint64_t m, uint32_t k, uint64_t ones, blm_estimate *out);

/* The same for two filters, from the ones of each and of their bitwise OR. */
BLM_API blm_status blm_estimate_overlap(uint64_t m, uint32_t k, uint64_t ones_a, uint64_t ones_b,
                                        uint64_t ones_or, blm_overlap *out);

/* The exact (Clopper–Pearson) interval for a rate measured as `hits` of `trials`. trials = 0: [0,
 * 1]. */
BLM_API blm_status blm_binomial_interval(uint64_t hits, uint64_t trials, double confidence,
                                         double *low, double *high);

#ifdef __cplusplus
}
#endif
#endif
