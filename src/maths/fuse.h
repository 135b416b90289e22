/* SPDX-License-Identifier: MIT */
/* How large the parts of a fuse layer are (core/probe.h). Pure functions. */
#ifndef BLM_MATHS_FUSE_H
#define BLM_MATHS_FUSE_H

#include <stdbool.h>
#include <stdint.h>

struct blm__fuse_size {
    uint64_t segment; /* cells of a segment, a power of two */
    uint64_t cells;   /* of a part, whole segments, at least three */
};

#ifndef BLM__FUSE_PART                     /* a test has small ones */
#define BLM__FUSE_PART ((uint64_t)1 << 20) /* keys: the fewest of a part, where there are several */
#endif

/* Parts for n keys; a part of n keys; the next larger part, for those that could not be built. */
uint64_t              blm__fuse_parts(uint64_t n);
struct blm__fuse_size blm__fuse_size_of(uint64_t n);
void                  blm__fuse_enlarge(struct blm__fuse_size *s);
/* A part to begin with where space counts more than time: often too small, and then enlarged by
 * little. Up to 2^18 keys; else as usual. */
struct blm__fuse_size blm__fuse_tight_of(uint64_t n);
void                  blm__fuse_enlarge_little(struct blm__fuse_size *s);
/* Up to so many keys the cells of such a part are worked out by elimination (engine/solve.h). */
#define BLM__SOLVE_MOST 20480u
/* How many factors are tried before a part is enlarged. */
uint32_t blm__fuse_tries(uint64_t n, bool tight);

/* Cells that n keys take, as a rule; and where space counts more than time. */
uint64_t blm__fuse_cells(uint64_t n);
uint64_t blm__fuse_tight_cells(uint64_t n);
/* The shortest fingerprint that gives the rate; 0: none does. */
uint32_t blm__fuse_bits(uint64_t n, double rate);

#endif
