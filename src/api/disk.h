/* SPDX-License-Identifier: MIT */
/*
 * What a builder keeps in a directory, so that its keys may be more than memory holds and a killed
 * build goes on: disk_runs.c (lists of hashes), disk_state.c (what survives a kill), builder_disk.c (maps
 * them, and the levels, for the builder).
 */
#ifndef BLM_API_DISK_H
#define BLM_API_DISK_H

#include "api/claim.h"
#include "api/filter.h"
#include "api/fuse.h"
#include "api/hashes.h"
#include "core/probe.h"

#define BLM__DISK_DIR  BLM__CLAIM_DIR
#define BLM__DISK_PATH BLM__CLAIM_PATH
#define BLM__DISK_RUNS \
    4096u /* of a list: with the least memory as many hashes as are merged at once */
#define BLM__DISK_LEVELS 2u

/* One list: sorted runs, one for each buffer that was full, and then all of them merged. */
struct blm__list_mark {
    uint64_t keys;   /* that the runs have */
    uint64_t chain;  /* of their hashes, in order */
    uint64_t runs;   /* how many */
    uint64_t sorted; /* hashes in the merged file */
    uint64_t next;   /* the first that is not in it yet, or … */
    uint64_t merged; /* … 1: there is none */
    uint64_t taken;  /* sum of the hashes that were merged, from each run that had them … */
    uint64_t sum;    /* … and of those in the merged file */
    uint64_t length[BLM__DISK_RUNS], sums[BLM__DISK_RUNS]; /* of each run */
};

/* Of a list: a changed hash changes it, and it does not depend on where a list is cut. The hashes'
 * order is looked at by itself. */
static inline uint64_t blm__disk_sum(const uint64_t *h, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (h[i] ^ h[i] >> 32) * BLM__D;
    return sum;
}

struct blm__level_mark {
    uint64_t enlarged; /* how often its parts were given more cells */
    uint64_t filled;   /* parts */
};

enum blm__disk_phase { BLM__TAKING, BLM__MERGING, BLM__BUILDING };

/* What is written down: all that a later run needs. */
struct blm__disk_mark {
    enum blm__disk_phase   phase;
    struct blm__list_mark  list[2];
    struct blm__level_mark level[BLM__DISK_LEVELS];
};

/* A file of the directory, all of it, mapped. */
struct blm__mapped {
    uint8_t *at;
    size_t   len;
};

struct blm__disk {
    char                  dir[BLM__DISK_DIR];
    int                   lock;
    uint64_t              memory;
    const blm_allocator  *a;
    uint32_t              threads;
    struct blm__disk_mark mark; /* as written down */
    uint64_t              told; /* digest of the options: a directory is of one filter */
    uint64_t              kept[2], given[2], chain[2];
    struct blm__hashes    buffer[2];
    struct blm__mapped    list[2], passing, level[BLM__DISK_LEVELS];
    blm_error         failed; /* the first failure; afterwards only what is written down counts */
    struct blm__body *body;   /* while it is built */
};

/* ---- disk_state.c ---- */
/* Makes and locks the directory, and reads what is written down there. The seed goes into the
 * options; *there: something is. */
blm_status blm__disk_open(struct blm__disk *d, blm_options *o, bool *there, blm_seed_policy *policy,
                          blm_error *err);
blm_status blm__disk_write_down(struct blm__disk *d, const struct blm__hasher *h, blm_error *err);
void       blm__disk_remove(struct blm__disk *d);
void       blm__disk_path(const struct blm__disk *d, const char *name, uint64_t number, char *out);
blm_status blm__disk_failed(int why, const char *doing, blm_error *err);
/* The same of a file that was written down, whose name a power cut may have taken. */
blm_status blm__disk_gone(int why, const char *doing, blm_error *err);
blm_status blm__disk_damaged(blm_error *err);
#define BLM__DISK_ONLY UINT64_MAX /* there is one file of this name */

/* ---- disk_runs.c ---- */
/* The next hashes of a list. Those that the directory has are only compared. */
blm_status blm__disk_take(struct blm__disk *d, int list, const struct blm__hasher *h,
                          const uint64_t *hashes, size_t n, blm_error *err);
/* What is in the buffers becomes a run of each list. */
blm_status blm__disk_flush(struct blm__disk *d, const struct blm__hasher *h, blm_error *err);
/* Whether what was merged is what the runs had when they were written. */
bool blm__disk_all_taken(const struct blm__list_mark *k);
/* All runs of both lists, merged. p: how far that has come. */
blm_status blm__disk_merge(struct blm__disk *d, struct blm__body *b, struct blm__fuse_progress *p,
                           blm_error *err);

/* ---- builder_disk.c ---- */

/* Lets go of the pages of everything that is mapped: they stay in the files. */
void blm__disk_release(struct blm__disk *d);

#endif
