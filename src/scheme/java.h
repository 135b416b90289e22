/* SPDX-License-Identifier: MIT */
/* How Guava and Spark size a filter: by one formula, with floating-point operations in one order,
 * so that the results are the same; in 64-bit words, of which there are at most 2^31 − 1. */
#ifndef BLM_SCHEME_JAVA_H
#define BLM_SCHEME_JAVA_H

#include <math.h>

#include "core/error.h"
#include "scheme/asked.h"

#define BLM__JAVA_WORDS ((uint64_t)INT32_MAX)

/* ⌊−n·ln p / ln²2⌋ as a Java long: if it does not fit, the largest one. */
static inline uint64_t blm__java_bits(uint64_t n, double p)
{
    double bits = -(double)n * log(p) / (log(2) * log(2));
    return bits >= 9223372036854775807.0 ? INT64_MAX : (uint64_t)bits;
}

/* Math.round: halves go up. */
static inline uint32_t blm__java_round(double v)
{
    v = floor(v + 0.5);
    return v >= BLM__MAX_PROBES ? BLM__MAX_PROBES + 1 : v >= 1 ? (uint32_t)v : 1;
}

static inline uint32_t blm__java_probes(uint64_t n, uint64_t bits)
{
    return blm__java_round((double)bits / (double)n * log(2));
}

/* Rounds up to whole words. E_ARGUMENT: 0 bits. E_LIMIT: more than a Java array holds. */
static inline blm_status blm__java_words(uint64_t bits, uint64_t *rounded, blm_error *err)
{
    if (bits == 0)
        return blm__fail(err, BLM_E_ARGUMENT, "this rate for so few keys gives 0 bits");
    if (bits > BLM__JAVA_WORDS * 64)
        return blm__fail(err, BLM_E_LIMIT,
                         "%llu bits are too many: a Java array holds at most 2^31 - 1 words",
                         (unsigned long long)bits);
    *rounded = (bits + 63) / 64 * 64;
    return BLM_OK;
}

/* scheme.fault of filters from Java. */
static inline const char *blm__java_fault(const struct blm__shape *s)
{
    if (s->bits % 64 || s->bits > BLM__JAVA_WORDS * 64)
        return "its size is not 1 to 2^31 - 1 whole words";
    return NULL;
}

/* In both libraries the older way computes positions as a non-negative Java int. */
#define BLM__INT_REACH ((uint64_t)1 << 31)
static inline uint64_t blm__int_reach(const struct blm__shape *s)
{
    return s->bits < BLM__INT_REACH ? s->bits : BLM__INT_REACH;
}
static inline const char *blm__int_notice(const struct blm__shape *s)
{
    return s->bits > BLM__INT_REACH ? "probes never reach bit 2^31: the bits from there on are "
                                      "wasted, and the rate is worse than its library promises"
                                    : NULL;
}

#endif
