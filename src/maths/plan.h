/* SPDX-License-Identifier: MIT */
/*
 * From options to a plan: how many cells, how many probes, for how many keys at what rate. Pure
 * functions that do what blm_plan_for documents, for each kind of the native scheme. The caller
 * fills `kind` and `size` of the plan. A size comes from o->bits, else o->memory, else the caller's
 * own o->word_count words; with o->bits, o->memory is a limit. A plan always uses all of a given
 * size.
 */
#ifndef BLM_MATHS_PLAN_H
#define BLM_MATHS_PLAN_H

#include "bloomery.h"
#include "bloomery/maths.h"

/* Classic: probes anywhere in o->bits cells of cell_bits each. */
blm_status blm__plan_cells(const blm_options *o, uint32_t cell_bits, blm_plan *out, blm_error *err);

/* Blocked: o->lines lines of 512 bits per key (0: chosen), o->bits rounded up to whole lines.
 * plan.bits = 512 × line count, plan.lines = L, plan.probes = L × words used in a line. With more
 * than one line per key there are at least 2L lines: with fewer, the lines of a key would too often
 * be the same. */
blm_status blm__plan_lines(const blm_options *o, blm_plan *out, blm_error *err);

/* A layer of scalable: the same, with a line less if that costs at most a seventh of the space. */
blm_status blm__plan_layer(const blm_options *o, blm_plan *out, blm_error *err);

/* Counting: the same in lines of 128 counters; o->bits and plan.bits count counters. */
blm_status blm__plan_counters(const blm_options *o, blm_plan *out, blm_error *err);

/* One turn of a window: the same in words of 56 cells, `lines` of them per key. */
blm_status blm__plan_words(const blm_options *o, blm_plan *out, blm_error *err);
/* A window of so many ages: o->items keys of the whole of it; plan.bits counts everything. */
blm_status blm__plan_ages(const blm_options *o, uint32_t ages, blm_plan *out, blm_error *err);
/* Cuckoo: buckets of four cells, o->bits and plan.bits count cells; plan.lines is how long a
 * fingerprint is. */
blm_status blm__plan_buckets(const blm_options *o, blm_plan *out, blm_error *err);
/* Static: plan.bits counts cells, as a rule: building may take more. plan.lines is how long a
 * fingerprint is. */
blm_status blm__plan_fuse(const blm_options *o, blm_plan *out, blm_error *err);

/* ---- for all of them (plan.c) ---- */

#define BLM__DEFAULT_RATE 0.01 /* if a size is given, and no rate, keys or probes */

/* Options that were read and make sense. Zero: not given. */
struct blm__want {
    uint64_t items;
    double   rate;
    uint64_t cells; /* of the size given */
    uint32_t probes;
    uint32_t lines;
};

/* Checks everything that does not depend on the kind. `unit`: a size is rounded to this many cells
 * (up if given as bits, down if given as memory). */
blm_status blm__want_read(const blm_options *o, uint32_t cell_bits, uint64_t unit,
                          struct blm__want *out, blm_error *err);

/* Plans once more, for other options. ctx: what the plan depends on beside them. */
typedef blm_status (*blm__again_fn)(const void *ctx, const blm_options *o, blm_plan *out);
/* Checks that the rate asked for, or the usual one, leaves room for collisions of 64-bit hashes: they
 * may have half of `share` of it, which is what the keys' own part of the filter has. E_LIMIT names a
 * higher rate if again() says that it can be had. */
blm_status blm__want_hashes(const blm_options *o, double share, blm__again_fn again,
                            const void *ctx, blm_error *err);

/* Refuses keys and a rate that need more than 2^48 bits. */
blm_status blm__want_less(const struct blm__want *w, blm_error *err);

/* Checks that fingerprints of some length have this rate when so many keys fill a table, their
 * hashes aside. */
blm_status blm__want_fingerprints(uint64_t items, double rate, blm_error *err);

/* Fills the rest of a plan whose items, rate, bits, probes and lines are set: bytes, asked, fits,
 * bytes_needed; E_LIMIT past o->max_bytes. `needed`: cells for the rate asked for (UINT64_MAX: no
 * number is enough). */
blm_status blm__plan_finish(const blm_options *o, uint32_t cell_bits, double asked, uint64_t needed,
                            blm_plan *out, blm_error *err);

/* The largest x in 0…most with holds(x), which must be true at 0 and up to some x, and false
 * beyond. Looks around `guess` first. */
uint64_t blm__greatest(bool (*holds)(const void *ctx, uint64_t x), const void *ctx, uint64_t guess,
                       uint64_t most);

#endif
