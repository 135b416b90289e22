/* SPDX-License-Identifier: MIT */
/* A builder from inside: builder.c (the public calls), builder_disk.c (those on builders whose keys
 * are in files). */
#ifndef BLM_API_BUILDER_H
#define BLM_API_BUILDER_H

#include "api/disk.h"
#include "bloomery/fixed.h"

enum { BLM__IN, BLM__OUT }; /* the two lists */

struct blm_builder {
    blm_filter             *f;     /* without layers: it hashes. While building, the filter */
    blm_filter             *built; /* in memory, from all that was given, if a save of it failed */
    blm_options             o;
    struct blm__hashes      list[2];
    uint64_t                given[2]; /* keys, those that came twice too: in memory */
    struct blm__fuse_effort effort;
    bool                    done, conflict;
    uint64_t                conflict_hash;
    struct blm__disk       *disk; /* where its keys are; NULL: in memory */
};

/* ---- builder.c ---- */
/* A builder that has hashed nothing yet, of options that were read. */
blm_status blm__builder_make(const blm_options *o, blm_builder **out, blm_error *err);
/* The smallest kind that has the rate, if none was asked for. */
blm_status blm__builder_choose(blm_builder *b, blm_error *err);
/* Builds the filter from its lists, which are sorted, and asks it for every key. */
blm_status blm__builder_run(blm_builder *b, struct blm__fuse_progress *p, blm_error *err);
/* b->built is there. */
blm_status blm__builder_ready(blm_builder *b, blm_error *err);
blm_status blm__builder_conflict(blm_builder *b, uint64_t hash, blm_error *err);

/* ---- builder_disk.c ---- */
/* The next hashes of a list; the failure's sentence is kept. */
blm_status blm__builder_spill(blm_builder *b, int list, const uint64_t *hashes, size_t n);
void       blm__builder_close(blm_builder *b); /* nothing, if its keys are in memory */
/* The excluded keys that pass the first level, to a list of their own. */
blm_status blm__builder_passing(blm_builder *b, const uint64_t **of, size_t *n, blm_error *err);
/* A level's steps that can be gone on with. */
struct blm__fuse_steps blm__builder_steps(blm_builder *b);

#endif
