/* SPDX-License-Identifier: MIT */
/* For tests of numbers: a relative comparison that shows both sides, and random bits that are the
 * same on every run. */
#ifndef TESTS_NEAR_H
#define TESTS_NEAR_H

#include <math.h>

#include "core/bits.h"

/* Within a share `tolerance` of `expected`; a NaN is never near. */
#define assert_near(value, expected, tolerance) \
    assert_near_at((value), (expected), (tolerance), #value, __LINE__)

static inline void assert_near_at(double value, double expected, double tolerance, const char *what,
                                  int line)
{
    if (!(fabs(value - expected) <= tolerance * fabs(expected)))
        fail_msg("line %d: %s is %.12g, expected %.12g within %g", line, what, value, expected,
                 tolerance);
}

#define assert_between(value, low, high) assert_between_at((value), (low), (high), #value, __LINE__)

static inline void assert_between_at(double value, double low, double high, const char *what,
                                     int line)
{
    if (!(value >= low && value <= high))
        fail_msg("line %d: %s is %.12g, not in [%.12g, %.12g]", line, what, value, low, high);
}

/* A Weyl sequence through a full-avalanche mix. */
static inline uint64_t random_bits(uint64_t *state)
{
    return blm__mix64(*state += 0x9e3779b97f4a7c15u);
}

#endif
