/* SPDX-License-Identifier: MIT */
/* The rate of a filter before it exists: the models behind blm_rate_of, for the planner and the
 * kinds. Pure functions. docs/maths.md derives each and compares it with measurements. */
#ifndef BLM_MATHS_SIZING_H
#define BLM_MATHS_SIZING_H

#include "bloomery.h"
#include "bloomery/maths.h"
#include "core/body.h"

/* Sizes are rounded up from doubles. Where these are kept in registers with more digits than a double
 * has, a filter has other sizes than on every other machine, RedisBloom's among them: its bytes must
 * be the same everywhere. -1 and 2 are such machines (C11 5.2.4.2.2); 1 is only about floats, 16 only
 * about halves of them (gcc says so with -march=sapphirerapids or -mcpu=neoverse-n1). */
#if defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ < 0 || __FLT_EVAL_METHOD__ == 2)
#error "bloomery does not compute sizes with the x87: compile it with -msse2 -mfpmath=sse"
#endif

#define BLM__LN2 0.69314718055994530942

/* (1 − e^(−kn/m))^k. */
double blm__rate_usual(uint64_t m, uint32_t k, uint64_t n);

/* Adds n/2^64 to a rate: to a native filter, two keys with the same 64-bit hash are one key. */
double blm__with_collisions(double rate, uint64_t n);

/* The rate of native classic filters: independent probes, and collisions. m ≥ 1, k ≥ 1. Takes some
 * microseconds at k = 7, up to a few milliseconds at k = 64. */
double blm__rate_classic(uint64_t m, uint32_t k, uint64_t n);

/* The rate of native blocked (counting) filters: per key `lines` lines of `cells` = 512 (128)
 * cells, one cell in each of `words` (1…8) eighths of a line; and collisions. Some ten
 * microseconds. */
double blm__rate_lines(uint32_t cells, uint64_t line_count, uint32_t words, uint32_t lines,
                       uint64_t n);

/* The same for one line of very many, with `load` keys on average (Poisson): where sizing
 * starts. */
double blm__line_rate(uint32_t cells, uint32_t words, double load);

/* The rate of a window of `ages` full turns, each of `turn` keys: `lines` spans per key, one cell in
 * each of `words` eighths of a word. */
double blm__rate_ages(uint64_t spans, uint32_t words, uint32_t lines, uint64_t turn, uint32_t ages);
/* The rate of native cuckoo filters: n of `cells` hold fingerprints of so many bits; and
 * collisions. */
double blm__rate_buckets(uint64_t cells, uint32_t bits, uint64_t n);
/* The rate of static filters: 2^-bits, and collisions. */
double blm__rate_fuse(uint32_t bits, uint64_t n);

/* Estimates of blm_estimate_items. The first multiplies value and interval. The second widens the
 * interval for a filter of lines of `cells` cells, where keys do not spread evenly. The third widens it
 * by a variance that comes from elsewhere, and leaves its ends between least and most. */
void blm__estimate_scale(blm_estimate *e, double factor);
void blm__estimate_in_lines(uint32_t cells, uint64_t m, uint32_t k, uint32_t lines, uint64_t ones,
                            blm_estimate *e);
void blm__estimate_widen(blm_estimate *e, double variance, double least, double most);
/* blm_estimate_overlap for filters of such lines (cells 0: without lines). */
blm_status blm__estimate_overlap(uint32_t cells, uint64_t m, uint32_t k, uint32_t lines,
                                 uint64_t ones_a, uint64_t ones_b, uint64_t ones_or,
                                 blm_overlap *out);

/* The models with their bounds; arguments already checked (m and k at least 1). */
void blm__model_independent(uint64_t m, uint32_t k, uint64_t n, blm_rate *out);
void blm__model_double(uint64_t m, uint32_t k, uint64_t n, blm_rate *out);
void blm__model_lines(uint32_t cells, uint64_t line_count, uint32_t words, uint32_t lines,
                      uint64_t n, blm_rate *out);

#endif
