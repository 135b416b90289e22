/* SPDX-License-Identifier: MIT */
/* What engines of plain bits have in common, and what those of counters have. */
#ifndef BLM_ENGINE_BITS_H
#define BLM_ENGINE_BITS_H

#include "engine/engine.h"

/* What every engine of bits, and every engine of counters, names in its table. */
#define BLM__BITS_ENGINE                                                                        \
    .cell_bits = 1, .use = blm__bits_use, .ones = blm__bits_ones, .ones_or = blm__bits_ones_or, \
    .unite = blm__bits_unite, .intersect = blm__bits_intersect, .fold = blm__bits_fold
#define BLM__COUNTERS_ENGINE                                                                      \
    .cell_bits = 4, .use = blm__counters_use, .ones = blm__counters_ones,                         \
    .ones_or = blm__counters_ones_or, .stuck = blm__counters_stuck, .unite = blm__counters_unite, \
    .intersect = blm__counters_intersect, .reduce = blm__counters_reduce,                         \
    .copies = blm__counters_copies

/* ---- bits: engine/bits.c ---- */
uint64_t blm__bits_ones(const struct blm__layer *l, const struct blm__kernel *v);
uint64_t blm__bits_ones_or(const struct blm__layer *a, const struct blm__layer *b,
                           const struct blm__kernel *v);
void blm__bits_unite(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src, uint64_t n);
void blm__bits_intersect(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src,
                         uint64_t n);
void blm__bits_fold(const struct blm__layer *from, uint64_t factor, struct blm__layer *to);
unsigned blm__bits_use(const struct blm__body *b, struct blm__layer *l, uint64_t cell);

/* ---- four-bit counters: engine/counter.c ---- */
unsigned blm__counter_get(const struct blm__layer *l, uint64_t cell);
/* Up by one unless stuck; the value before. */
unsigned blm__counter_raise(struct blm__layer *l, uint64_t cell, bool shared);
void     blm__counter_lower(struct blm__layer *l, uint64_t cell); /* unless stuck */
uint64_t blm__counters_ones(const struct blm__layer *l, const struct blm__kernel *v);
uint64_t blm__counters_ones_or(const struct blm__layer *a, const struct blm__layer *b,
                               const struct blm__kernel *v);
uint64_t blm__counters_stuck(const struct blm__layer *l);
void     blm__counters_unite(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src,
                             uint64_t n);
void     blm__counters_intersect(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src,
                                 uint64_t n);
void     blm__counters_reduce(const struct blm__layer *from, struct blm__layer *to);
unsigned blm__counters_use(const struct blm__body *b, struct blm__layer *l, uint64_t cell);
uint32_t blm__counters_copies(const struct blm__body *b, const struct blm__layer *l,
                              const struct blm__keys *k, size_t i);

/* ---- lines of either length: engine/lines.c ---- */
/* Lines are unequally full: the rate is the mean over lines of the chance to pass. */
/* The chance that k of the eight groups of a line, a rotated pattern, are met at this fill. */
double blm__pass_chance(const double *fill, uint32_t k);
double blm__lines_rate_now(const struct blm__layer *l, uint64_t ones);
double blm__lines_rate_at(const struct blm__shape *s, uint64_t n);
bool blm__lines_positions(const struct blm__shape *s, const blm_digest *d, bool raw, uint64_t *out);

/* ---- other schemes' positions: engine/positions.c ---- */
size_t blm__positions_add(const struct blm__body *b, struct blm__layer *l,
                          const struct blm__keys *k, uint8_t *fresh);
size_t blm__positions_check(const struct blm__body *b, const struct blm__layer *l,
                            const struct blm__keys *k, uint8_t *maybe);
bool blm__positions_list(const struct blm__shape *s, const blm_digest *d, bool raw, uint64_t *out);
double blm__fill_rate_now(const struct blm__layer *l, uint64_t ones); /* fill^k */
double blm__scheme_rate_at(const struct blm__shape *s, uint64_t n);

#endif
