/* SPDX-License-Identifier: MIT */
/*
 * The directory of a builder:
 *
 *   bloomery.…  says that the directory is ours: api/claim.h
 *   state       what is written down: replaced as a whole, after everything it speaks of is durable
 *   in.N out.N  run N of the keys that are in, and that are not: hashes, sorted, none twice
 *   in out      all runs of a list, merged: hashes, sorted, none twice
 *   pass        those of `out` that the first level of a cascade lets pass
 *   level.N     the words of level N, part by part
 *   fill        a spill directory, for kinds that are filled key by key
 *
 * state is 8-byte numbers, little-endian: magic, version, digest of the options, seed (two) and its
 * origin, phase; of each list keys, chain, runs, sorted, next, merged and two sums; of each level
 * enlarged and filled; length and sum of each run of each list; and the checksum of all that. The sums
 * are what lists are compared with before they become a filter. Levels need none: all keys are looked
 * for in what was built.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "api/disk.h"
#include "core/bytes.h"
#include "core/checksum.h"
#include "core/os.h"

#define MAGIC   BLM__CLAIM_BUILD
#define VERSION 3u /* 2: the second level of a cascade began with the first one's factor */
enum { AT_MAGIC, AT_VERSION, AT_TOLD, AT_SEED, AT_SEED_HIGH, AT_POLICY, AT_PHASE, AT_LISTS };
#define OF_LIST  8u
#define OF_LEVEL 2u
#define AT_LEVEL (AT_LISTS + 2 * OF_LIST)
#define FIXED    (AT_LEVEL + BLM__DISK_LEVELS * OF_LEVEL)
#define MOST     (FIXED + 4 * BLM__DISK_RUNS + 1)
#define LONGEST  ((uint64_t)1 << 48) /* hashes in a run */

blm_status blm__disk_failed(int why, const char *doing, blm_error *err)
{
    return blm__fail_system(err, why, "cannot %s the spill directory: %s", doing,
                            blm__os_text(why));
}

blm_status blm__disk_gone(int why, const char *doing, blm_error *err)
{
    if (why != ENOENT)
        return blm__disk_failed(why, doing, err);
    return blm__fail_system(
        err, why,
        "a file of the spill directory is missing: remove the directory and start "
        "again");
}

blm_status blm__disk_damaged(blm_error *err)
{
    return blm__fail(err, BLM_E_CHECKSUM,
                     "a file of the spill directory is damaged: remove the directory and start "
                     "again");
}

void blm__disk_path(const struct blm__disk *d, const char *name, uint64_t number, char *out)
{
    if (number == BLM__DISK_ONLY)
        snprintf(out, BLM__DISK_PATH, "%s/%s", d->dir, name);
    else
        snprintf(out, BLM__DISK_PATH, "%s/%s.%llu", d->dir, name, (unsigned long long)number);
}

/* The bytes of the state, *got 0: there is none. */
static blm_status read_state(const struct blm__disk *d, uint8_t *bytes, size_t *got, blm_error *err)
{
    char path[BLM__DISK_PATH];
    *got = 0;
    blm__disk_path(d, "state", BLM__DISK_ONLY, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return BLM_OK;
    int why = fd < 0 ? errno : blm__os_read_at(fd, bytes, MOST * 8, 0, got);
    if (fd >= 0)
        close(fd);
    if (why)
        return blm__disk_failed(why, "read", err);
    if (*got < (AT_LISTS + 1) * 8 || *got % 8 || blm__get64le(bytes) != MAGIC ||
        !blm__sum_matches(blm__checksum(bytes, *got - 8), blm__get64le(bytes + *got - 8)))
        return blm__fail(
            err, BLM_E_CHECKSUM,
            "the state of the spill directory is damaged: remove the directory and start again");
    return BLM_OK;
}

static uint64_t number(const uint8_t *bytes, size_t i) { return blm__get64le(bytes + 8 * i); }

/* A run has no more hashes than memory holds, and the merged list no more than all runs together, so
 * that no number of bytes wraps. */
static bool fits(const struct blm__list_mark *l)
{
    uint64_t sum = 0;
    for (size_t r = 0; r < l->runs; r++) {
        if (l->length[r] > LONGEST)
            return false;
        sum += l->length[r];
    }
    return sum <= l->keys && l->sorted <= sum && l->merged <= 1;
}

/* False: what the checksum vouches for makes no sense. */
static bool recall(struct blm__disk *d, const uint8_t *bytes, size_t numbers)
{
    size_t at = FIXED;
    if (number(bytes, AT_PHASE) > BLM__BUILDING || number(bytes, AT_POLICY) > BLM_SEED_FIXED)
        return false;
    d->mark.phase = (enum blm__disk_phase)number(bytes, AT_PHASE);
    for (size_t i = 0; i < 2; i++) {
        struct blm__list_mark *l    = &d->mark.list[i];
        size_t                 from = AT_LISTS + i * OF_LIST;
        l->keys                     = number(bytes, from);
        l->chain                    = number(bytes, from + 1);
        l->runs                     = number(bytes, from + 2);
        l->sorted                   = number(bytes, from + 3);
        l->next                     = number(bytes, from + 4);
        l->merged                   = number(bytes, from + 5);
        l->taken                    = number(bytes, from + 6);
        l->sum                      = number(bytes, from + 7);
        if (l->runs > BLM__DISK_RUNS || at + 2 * l->runs > numbers - 1)
            return false;
        for (size_t r = 0; r < l->runs; r++) {
            l->length[r] = number(bytes, at++);
            l->sums[r]   = number(bytes, at++);
        }
        if (!fits(l))
            return false;
    }
    for (size_t i = 0; i < BLM__DISK_LEVELS; i++) {
        d->mark.level[i].enlarged = number(bytes, AT_LEVEL + i * OF_LEVEL);
        d->mark.level[i].filled   = number(bytes, AT_LEVEL + i * OF_LEVEL + 1);
    }
    return at == numbers - 1;
}

blm_status blm__disk_open(struct blm__disk *d, blm_options *o, bool *there, blm_seed_policy *policy,
                          blm_error *err)
{
    size_t     got   = 0;
    uint8_t   *bytes = blm__alloc(d->a, MOST * 8);
    blm_status st    = bytes ? blm__claim(d->dir, MAGIC, &d->lock, err)
                             : blm__fail(err, BLM_E_MEMORY, "no memory for a state");
    if (st == BLM_OK)
        st = read_state(d, bytes, &got, err);
    *there = st == BLM_OK && got > 0;
    if (*there) {
        uint64_t seed[2] = { number(bytes, AT_SEED), number(bytes, AT_SEED_HIGH) };
        if (number(bytes, AT_VERSION) != VERSION)
            st = blm__fail(err, BLM_E_VERSION,
                           "the spill directory is of another version: remove it and start again");
        else if (number(bytes, AT_TOLD) != d->told ||
                 (o->flags & BLM_SEEDED && memcmp(o->seed, seed, sizeof seed) != 0))
            st = blm__fail(err, BLM_E_MISMATCH,
                           "the spill directory is of a filter with other parameters");
        else if (got / 8 <= FIXED || !recall(d, bytes, got / 8))
            st = blm__fail(err, BLM_E_CHECKSUM,
                           "the state of the spill directory is damaged: remove the directory and "
                           "start again");
        *policy = (blm_seed_policy)number(bytes, AT_POLICY);
        memcpy(o->seed, seed, sizeof seed);
        o->flags |= BLM_SEEDED;
    }
    blm__free(d->a, bytes, MOST * 8);
    return st;
}

static size_t describe(const struct blm__disk *d, const struct blm__hasher *h, uint8_t *bytes)
{
    size_t at = 0;
#define PUT(v) blm__put64le(bytes + 8 * at++, (uint64_t)(v))
    PUT(MAGIC);
    PUT(VERSION);
    PUT(d->told);
    PUT(h->seed[0]);
    PUT(h->seed[1]);
    PUT(h->policy);
    PUT(d->mark.phase);
    for (size_t i = 0; i < 2; i++) {
        const struct blm__list_mark *l = &d->mark.list[i];
        PUT(l->keys);
        PUT(l->chain);
        PUT(l->runs);
        PUT(l->sorted);
        PUT(l->next);
        PUT(l->merged);
        PUT(l->taken);
        PUT(l->sum);
    }
    for (size_t i = 0; i < BLM__DISK_LEVELS; i++) {
        PUT(d->mark.level[i].enlarged);
        PUT(d->mark.level[i].filled);
    }
    for (size_t i = 0; i < 2; i++)
        for (size_t r = 0; r < d->mark.list[i].runs; r++) {
            PUT(d->mark.list[i].length[r]);
            PUT(d->mark.list[i].sums[r]);
        }
    uint64_t sum = blm__checksum(bytes, 8 * at);
    PUT(sum);
#undef PUT
    return at * 8;
}

blm_status blm__disk_write_down(struct blm__disk *d, const struct blm__hasher *h, blm_error *err)
{
    char     path[BLM__DISK_PATH], temp[BLM__DISK_PATH];
    uint8_t *bytes = blm__alloc(d->a, MOST * 8);
    if (!bytes)
        return blm__fail(err, BLM_E_MEMORY, "no memory for a state");
    size_t len = describe(d, h, bytes);
    blm__disk_path(d, "state", BLM__DISK_ONLY, path);
    blm__disk_path(d, "state.new", BLM__DISK_ONLY, temp);
    int fd  = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int why = fd < 0 ? errno : blm__os.write_at(fd, bytes, len, 0);
    if (!why)
        why = blm__os.sync_file(fd);
    if (fd >= 0)
        close(fd);
    if (!why)
        why = blm__os.rename_over(temp, path);
    if (!why)
        why = blm__os.sync_dir(d->dir);
    blm__free(d->a, bytes, MOST * 8);
    return why ? blm__disk_failed(why, "write to", err) : BLM_OK;
}

/* The state goes first: without it the directory is of nothing. */
void blm__disk_remove(struct blm__disk *d)
{
    static const char *const names[] = { "state", "state.new", "in",     "out",
                                         "pass",  "level.0",   "level.1" };
    static const char *const runs[]  = { "in", "out" };
    char                     path[BLM__DISK_PATH];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        blm__disk_path(d, names[i], BLM__DISK_ONLY, path);
        unlink(path);
    }
    for (size_t i = 0; i < 2; i++)
        for (uint64_t r = 0; r <= d->mark.list[i].runs; r++) { /* one may have been begun */
            blm__disk_path(d, runs[i], r, path);
            unlink(path);
        }
    blm__disk_path(d, "fill", BLM__DISK_ONLY,
                   path); /* an earlier version's stays when it is done */
    rmdir(path);
    blm__claim_end(d->dir);
}
