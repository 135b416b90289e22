/* SPDX-License-Identifier: MIT */
/*
 * The spill directory:
 *
 *   bloomery.…  says that the directory is ours: api/claim.h
 *   part.N      records of part N, in frames with a checksum each; only the first `length` bytes count
 *   state       what is written down: replaced as a whole, after everything it speaks of is durable
 *   fresh       a bit for each key that was new (only where a key has several records)
 *   words       the filter's bits, part by part
 *
 * state is 8-byte numbers, little-endian: magic, version, shape (rule, bits, probes, lines, part
 * words, parts), hash, seed (two) and its origin, phase, keys, chain, filled, items, bytes of a buffer,
 * then length and last key of each part (of a filled one 0 and the checksum of its words), and the
 * checksum of all that. `fresh` has none: a bit that is wrong there changes the filter's number of keys
 * by one, and no answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "api/spill.h"
#include "core/bytes.h"
#include "core/checksum.h"
#include "core/os.h"

#define MAGIC   BLM__CLAIM_SPILL
#define VERSION 2u
#define FIXED   18u /* numbers before the parts' */
enum {
    AT_MAGIC,
    AT_VERSION,
    AT_RULE,
    AT_BITS,
    AT_PROBES,
    AT_LINES,
    AT_PART_WORDS,
    AT_PARTS,
    AT_HASH,
    AT_SEED,
    AT_SEED_HIGH,
    AT_POLICY,
    AT_PHASE,
    AT_KEYS,
    AT_CHAIN,
    AT_FILLED,
    AT_ITEMS,
    AT_BUFFER
};
#define NUMBERS (FIXED + 2 * BLM__SPILL_PARTS + 1)

blm_status blm__spill_failed(int why, const char *doing, blm_error *err)
{
    return blm__fail_system(err, why, "cannot %s the spill directory: %s", doing,
                            blm__os_text(why));
}

blm_status blm__spill_damaged(blm_error *err)
{
    return blm__fail(err, BLM_E_CHECKSUM,
                     "a file of the spill directory is damaged: remove the directory and start "
                     "again");
}

static void path_in(const char *dir, const char *name, uint32_t number, char *out)
{
    if (number == UINT32_MAX)
        snprintf(out, BLM__SPILL_PATH, "%s/%s", dir, name);
    else
        snprintf(out, BLM__SPILL_PATH, "%s/%s.%lu", dir, name, (unsigned long)number);
}

void blm__spill_path(const blm_spill *s, const char *name, uint32_t number, char *out)
{
    path_in(s->dir, name, number, out);
}

/* The numbers of the state; *count 0: there is none. */
static blm_status read_state(const char *dir, uint64_t numbers[NUMBERS], size_t *count,
                             blm_error *err)
{
    char    path[BLM__SPILL_PATH];
    uint8_t bytes[NUMBERS * 8];
    size_t  got = 0;
    *count      = 0;
    path_in(dir, "state", UINT32_MAX, path);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return BLM_OK;
    int why = fd < 0 ? errno : blm__os_read_at(fd, bytes, sizeof bytes, 0, &got);
    if (fd >= 0)
        close(fd);
    if (why)
        return blm__spill_failed(why, "read", err);
    size_t n = got / 8;
    for (size_t i = 0; i < n; i++)
        numbers[i] = blm__get64le(bytes + 8 * i);
    if (n <= FIXED || got % 8 || numbers[AT_MAGIC] != MAGIC ||
        !blm__sum_matches(blm__checksum(bytes, got - 8), numbers[n - 1]) ||
        numbers[AT_PARTS] > BLM__SPILL_PARTS || n != FIXED + 2 * numbers[AT_PARTS] + 1)
        return blm__fail(
            err, BLM_E_CHECKSUM,
            "the state of the spill directory is damaged: remove the directory and start again");
    if (numbers[AT_VERSION] != VERSION)
        return blm__fail(err, BLM_E_VERSION,
                         "the spill directory is of another version: remove it and start again");
    *count = n;
    return BLM_OK;
}

blm_status blm__spill_peek(const char *dir, blm_options *o, bool *there, blm_seed_policy *policy,
                           blm_error *err)
{
    uint64_t   n[NUMBERS];
    size_t     count;
    blm_status st = read_state(dir, n, &count, err);
    *there        = st == BLM_OK && count > 0;
    if (!*there)
        return st;
    if (o->flags & BLM_SEEDED && (o->seed[0] != n[AT_SEED] || o->seed[1] != n[AT_SEED_HIGH]))
        return blm__fail(err, BLM_E_MISMATCH,
                         "the spill directory is of a filter with another seed");
    *policy    = (blm_seed_policy)n[AT_POLICY];
    o->seed[0] = n[AT_SEED];
    o->seed[1] = n[AT_SEED_HIGH];
    o->flags |= BLM_SEEDED;
    return BLM_OK;
}

static void describe(const blm_spill *s, uint64_t n[FIXED])
{
    const struct blm__hasher *h = &s->filter->body.hasher;
    memset(n, 0, FIXED * sizeof *n);
    n[AT_MAGIC]      = MAGIC;
    n[AT_VERSION]    = VERSION;
    n[AT_RULE]       = s->shape.rule;
    n[AT_BITS]       = s->shape.bits;
    n[AT_PROBES]     = s->shape.probes;
    n[AT_LINES]      = s->shape.lines;
    n[AT_PART_WORDS] = s->part_words;
    n[AT_PARTS]      = s->parts;
    n[AT_HASH]       = (uint64_t)h->id << 32 | h->version;
    n[AT_SEED]       = h->seed[0];
    n[AT_SEED_HIGH]  = h->seed[1];
    n[AT_POLICY]     = h->policy;
}

/* While all records are there, each key has one of four bytes at least: no file is reserved for more
 * keys than that. */
static bool keys_fit(const uint64_t *n)
{
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < n[AT_PARTS]; i++) {
        if (n[FIXED + 2 * i] > UINT64_MAX / 2 / BLM__SPILL_PARTS)
            return false;
        bytes += n[FIXED + 2 * i];
    }
    return n[AT_FILLED] > 0 ? n[AT_KEYS] <= UINT64_MAX / 8 : n[AT_KEYS] <= bytes / 4;
}

blm_status blm__spill_recall(blm_spill *s, blm_error *err)
{
    uint64_t   n[NUMBERS], ours[FIXED];
    size_t     count;
    blm_status st = read_state(s->dir, n, &count, err);
    if (st != BLM_OK || count == 0)
        return st;
    s->part_words = n[AT_PART_WORDS]; /* as it was begun, whatever memory there is now */
    s->parts      = (uint32_t)n[AT_PARTS];
    describe(s, ours);
    if (memcmp(ours, n, AT_PHASE * sizeof *n) != 0)
        return blm__fail(err, BLM_E_MISMATCH,
                         "the spill directory is of a filter with other "
                         "parameters");
    uint64_t words = blm__shape_words(&s->shape), part = n[AT_PART_WORDS];
    if (part == 0 || part % 8 != 0 || part > BLM__SPILL_MOST / 8 ||
        n[AT_PARTS] != words / part + (words % part != 0) || n[AT_PHASE] > BLM__SAVING ||
        n[AT_FILLED] > n[AT_PARTS] || !keys_fit(n) || n[AT_BUFFER] < BLM__SPILL_LEAST ||
        n[AT_BUFFER] > BLM__SPILL_LARGE || n[AT_POLICY] > BLM_SEED_FIXED)
        return blm__fail(
            err, BLM_E_CHECKSUM,
            "the state of the spill directory is damaged: remove the directory and start again");
    s->mark.phase  = (enum blm__spill_phase)n[AT_PHASE];
    s->mark.keys   = n[AT_KEYS];
    s->mark.chain  = n[AT_CHAIN];
    s->mark.filled = n[AT_FILLED];
    s->mark.items  = n[AT_ITEMS];
    s->buffer      = (size_t)n[AT_BUFFER];
    for (uint32_t i = 0; i < s->parts; i++) {
        s->mark.length[i] = s->part[i].length = n[FIXED + 2 * i];
        s->mark.key[i] = s->part[i].key = n[FIXED + 2 * i + 1];
    }
    return BLM_OK;
}

blm_status blm__spill_write_down(blm_spill *s, blm_error *err)
{
    uint64_t n[NUMBERS];
    uint8_t  bytes[NUMBERS * 8];
    char     path[BLM__SPILL_PATH], temp[BLM__SPILL_PATH];
    size_t   count = FIXED + 2 * s->parts;
    describe(s, n);
    n[AT_PHASE]  = s->mark.phase;
    n[AT_KEYS]   = s->mark.keys;
    n[AT_CHAIN]  = s->mark.chain;
    n[AT_FILLED] = s->mark.filled;
    n[AT_ITEMS]  = s->mark.items;
    n[AT_BUFFER] = s->buffer;
    for (uint32_t i = 0; i < s->parts; i++) {
        n[FIXED + 2 * i]     = s->mark.length[i];
        n[FIXED + 2 * i + 1] = s->mark.key[i];
    }
    for (size_t i = 0; i < count; i++)
        blm__put64le(bytes + 8 * i, n[i]);
    blm__put64le(bytes + 8 * count, blm__checksum(bytes, 8 * count));
    blm__spill_path(s, "state", UINT32_MAX, path);
    blm__spill_path(s, "state.new", UINT32_MAX, temp);
    int fd  = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int why = fd < 0 ? errno : blm__os.write_at(fd, bytes, 8 * (count + 1), 0);
    if (!why)
        why = blm__os.sync_file(fd);
    if (fd >= 0)
        close(fd);
    if (!why)
        why = blm__os.rename_over(temp, path);
    if (!why)
        why = blm__os.sync_dir(s->dir);
    return why ? blm__spill_failed(why, "write to", err) : BLM_OK;
}

void blm__spill_remove(blm_spill *s)
{
    static const char *const names[] = { "state", "state.new", "fresh", "words" };
    char                     path[BLM__SPILL_PATH];
    for (uint32_t i = 0; i < s->parts; i++) {
        blm__spill_path(s, "part", i, path);
        unlink(path);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        blm__spill_path(s, names[i], UINT32_MAX, path);
        unlink(path);
    }
    blm__claim_end(s->dir);
}
