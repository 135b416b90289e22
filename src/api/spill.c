/* SPDX-License-Identifier: MIT */
/* The public calls on filters larger than memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/spill.h"
#include "core/checksum.h"
#include "core/os.h"
#include "core/probe.h"
#include "engine/engine.h"
#include "store/store.h"

#define LEAST_MEMORY ((uint64_t)1 << 16)
#define SYNC_KEYS    ((uint64_t)1 << 24) /* between two syncs */

/* ---- opening ---- */

static blm_status plan_parts(blm_spill *s, uint64_t memory, blm_error *err)
{
    uint64_t words = blm__shape_words(&s->shape), bytes = memory / 2;
    if (bytes > BLM__SPILL_MOST)
        bytes = BLM__SPILL_MOST;
    s->part_words  = bytes / 64 * BLM__LINE_WORDS;
    uint64_t parts = (words + s->part_words - 1) / s->part_words;
    if (parts > BLM__SPILL_PARTS)
        return blm__fail(err, BLM_E_LIMIT,
                         "a filter of %llu bytes needs at least %llu bytes of memory to be built",
                         (unsigned long long)words * 8,
                         (unsigned long long)(words * 8 / BLM__SPILL_PARTS + 64) * 2);
    s->parts = (uint32_t)parts;
    return BLM_OK;
}

static blm_status open_parts(blm_spill *s, uint64_t memory, blm_error *err)
{
    char     path[BLM__SPILL_PATH];
    uint64_t each = memory / 4 / s->parts;
    if (!s->buffer) /* else as it was begun */
        s->buffer = (size_t)(each < BLM__SPILL_LEAST   ? BLM__SPILL_LEAST
                             : each > BLM__SPILL_LARGE ? BLM__SPILL_LARGE
                                                       : each);
    for (uint32_t i = 0; i < s->parts; i++) {
        struct blm__spill_part *p = &s->part[i];
        struct stat             st;
        if (i < s->mark.filled)
            p->length = s->mark.length[i] = 0; /* its records were let go of */
        blm__spill_path(s, "part", i, path);
        p->buffer = blm__alloc(&s->own, s->buffer);
        if (!p->buffer)
            return blm__fail(err, BLM_E_MEMORY, "no memory for the buffers of %lu parts",
                             (unsigned long)s->parts);
        p->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (p->fd < 0 || fstat(p->fd, &st) < 0)
            return blm__spill_failed(errno, "open", err);
        if ((uint64_t)st.st_size < p->length)
            return blm__fail(
                err, BLM_E_TRUNCATED,
                "a file of the spill directory is too short: remove the directory and start "
                "again");
        if (ftruncate(p->fd, (off_t)p->length) < 0) /* what came after the last sync */
            return blm__spill_failed(errno, "write to", err);
    }
    return BLM_OK;
}

/* A filter to hash with: everything but words. */
static blm_status make_filter(blm_spill *s, const blm_options *o, blm_error *err)
{
    blm_status st = blm__filter_prepare(o, &s->filter, &s->shape, err);
    if (st != BLM_OK)
        return st;
    bool can = s->filter->body.scheme->native && s->shape.cell_bits == 1 &&
               !blm__grows(&s->filter->body) &&
               (s->shape.rule == BLM__CHAIN || s->shape.rule == BLM__LINES);
    return can ? BLM_OK
               : blm__fail(err, BLM_E_UNSUPPORTED,
                           "only classic and blocked filters of the native scheme can be larger "
                           "than memory");
}

/* The directory is ours, and so is its state, if it is there. */
static blm_status open_claimed(blm_spill *s, blm_options *o, uint64_t memory, bool there,
                               blm_seed_policy policy, blm_error *err)
{
    blm_status st = make_filter(s, o, err);
    if (st != BLM_OK)
        return st;
    if (there)
        s->filter->body.hasher.policy = policy;
    s->several = (s->shape.rule == BLM__CHAIN ? s->shape.probes : s->shape.lines) > 1;
    st         = there ? blm__spill_recall(s, err) : plan_parts(s, memory, err);
    if (st == BLM_OK)
        st = open_parts(s, memory, err);
    if (st == BLM_OK && !there) /* from now on the seed is known */
        st = blm__spill_write_down(s, err);
    s->kept = s->mark.keys;
    return st;
}

static blm_status open_spill(blm_spill *s, blm_options *o, uint64_t memory, blm_error *err)
{
    bool            there  = false;
    blm_seed_policy policy = BLM_SEED_NONE;
    blm_status      st     = blm__claim(s->dir, BLM__CLAIM_SPILL, &s->lock, err);
    if (st == BLM_OK)
        st = blm__spill_peek(s->dir, o, &there, &policy, err);
    if (st != BLM_OK)
        return st;
    st = open_claimed(s, o, memory, there, policy, err);
    if (st != BLM_OK && !there) /* nothing to go on with */
        blm__spill_remove(s);
    return st;
}

blm_status blm_spill_open(const char *dir, const blm_options *options, uint64_t memory,
                          blm_spill **out, blm_error *err)
{
    blm_options o;
    if (!dir || !out || strlen(dir) >= BLM__SPILL_DIR)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "no directory, a name that is too long, or nowhere to put the handle");
    *out          = NULL;
    blm_status st = blm__options_read(options, false, &o, err);
    if (st != BLM_OK)
        return st;
    if (memory < LEAST_MEMORY)
        return blm__fail(err, BLM_E_ARGUMENT, "%llu bytes of memory are too few: 65536 at least",
                         (unsigned long long)memory);
    const blm_allocator *a = o.allocator ? o.allocator : &blm__default_allocator;
    blm_spill           *s = blm__zalloc(a, sizeof *s);
    if (!s)
        return blm__fail(err, BLM_E_MEMORY, "no memory for a handle");
    s->own          = *a;
    s->lock         = -1;
    s->progress     = o.progress;
    s->progress_ctx = o.progress_ctx;
    for (uint32_t i = 0; i < BLM__SPILL_PARTS; i++)
        s->part[i].fd = -1;
    snprintf(s->dir, sizeof s->dir, "%s", dir);
    st = open_spill(s, &o, memory, err);
    if (st == BLM_OK)
        *out = s;
    else
        blm_spill_free(s);
    return st;
}

static void close_parts(blm_spill *s)
{
    for (uint32_t i = 0; i < s->parts; i++) {
        if (s->part[i].fd >= 0)
            close(s->part[i].fd);
        blm__free(&s->own, s->part[i].buffer, s->buffer);
        s->part[i].fd     = -1;
        s->part[i].buffer = NULL;
    }
}

void blm_spill_free(blm_spill *s)
{
    if (!s)
        return;
    blm_allocator a = s->own;
    close_parts(s);
    if (s->lock >= 0)
        close(s->lock);
    blm_free(s->filter);
    blm__free(&a, s, sizeof *s);
}

/* ---- keys ---- */

/* After a failure some records of a key may be there and others not. */
static blm_status again(blm_error *err)
{
    return blm__fail(err, BLM_E_ARGUMENT,
                     "a call has failed before: open the spill directory again");
}

static blm_status sync_keys(blm_spill *s, blm_error *err)
{
    struct blm__spill_mark *m  = &s->mark;
    blm_status              st = BLM_OK;
    for (uint32_t i = 0; i < s->parts && st == BLM_OK; i++) {
        struct blm__spill_part *p = &s->part[i];
        st                        = blm__spill_flush(s, p, err);
        int why                   = st == BLM_OK ? blm__os.sync_file(p->fd) : 0;
        if (why)
            st = blm__spill_failed(why, "write to", err);
    }
    if (st != BLM_OK)
        return st;
    m->keys  = s->keys;
    m->chain = s->chain;
    for (uint32_t i = 0; i < s->parts; i++) {
        m->length[i] = s->part[i].length;
        m->key[i]    = s->part[i].key;
    }
    return blm__spill_write_down(s, err);
}

/* A flush that failed may have lost what it was to write, and the next one would not say so. */
blm_status blm_spill_sync(blm_spill *s, blm_error *err)
{
    if (s->broken)
        return again(err);
    if (s->mark.phase != BLM__SPILLING || s->keys <= s->mark.keys)
        return BLM_OK;
    blm_status st = sync_keys(s, err);
    s->broken     = st != BLM_OK;
    return st;
}

static blm_status other_keys(blm_error *err)
{
    return blm__fail(err, BLM_E_MISMATCH,
                     "these are not the keys that the spill directory has: give them again in the "
                     "same order, or remove the directory");
}

/* Keys that an earlier run has spilled are only compared, all together. */
static blm_status add_hash(blm_spill *s, uint64_t h, blm_error *err)
{
    if (blm_spill_filling(s) && s->keys >= s->mark.keys)
        return other_keys(err);
    blm_status st = s->keys >= s->mark.keys ? blm__spill_key(s, h, err) : BLM_OK;
    if (st != BLM_OK)
        return st;
    s->chain = (s->chain ^ h) * BLM__C + 1;
    s->keys++;
    if (s->keys == s->kept && s->chain != s->mark.chain)
        return other_keys(err);
    return s->keys >= s->mark.keys + SYNC_KEYS ? blm_spill_sync(s, err) : BLM_OK;
}

blm_status blm_spill_add_hashes(blm_spill *s, const uint64_t *hashes, size_t count, blm_error *err)
{
    blm_status st = BLM_OK;
    if (!hashes && count)
        return blm__fail(err, BLM_E_ARGUMENT, "hashes are missing (NULL)");
    if (s->broken)
        return again(err);
    for (size_t i = 0; i < count && st == BLM_OK; i++)
        st = add_hash(s, hashes[i], err);
    s->broken = st != BLM_OK;
    return st;
}

blm_status blm_spill_hash_many(const blm_spill *s, const blm_key *keys, size_t count, uint64_t *out)
{
    if (!s->filter)
        return BLM_E_ARGUMENT; /* a save has failed */
    return blm_hash_many(s->filter, keys, count, out);
}

blm_status blm_spill_add_many(blm_spill *s, const blm_key *keys, size_t count, blm_error *err)
{
    uint64_t   hashes[256];
    blm_status st = BLM_OK;
    for (size_t at = 0, n; at < count && st == BLM_OK; at += n) {
        n  = count - at < 256 ? count - at : 256;
        st = blm_spill_hash_many(s, keys + at, n, hashes);
        st = st == BLM_OK ? blm_spill_add_hashes(s, hashes, n, err)
                          : blm__fail(err, st, "a key has a length but no data");
    }
    return st;
}

bool blm_spill_filling(const blm_spill *s) { return s->mark.phase != BLM__SPILLING; }

blm_status blm_spill_get_state(const blm_spill *s, blm_spill_state *out)
{
    blm_spill_state is = { .size   = sizeof is,
                           .kept   = s->kept,
                           .keys   = s->keys,
                           .parts  = s->parts,
                           .filled = s->mark.filled,
                           .bytes  = blm__shape_words(&s->shape) * 8,
                           .items  = s->mark.items };
    for (uint32_t i = 0; i < s->parts; i++)
        is.spilled += s->part[i].length + s->part[i].held;
    return blm__emit(out, &is, sizeof is);
}

/* ---- filling ---- */

/* A file of the directory, all of it, mapped. */
struct mapped {
    int      fd;
    uint8_t *at;
    size_t   len;
};

static void unmap(struct mapped *m)
{
    if (m->at)
        munmap(m->at, m->len);
    if (m->fd >= 0)
        close(m->fd);
}

static blm_status map_file(const blm_spill *s, const char *name, uint64_t len, bool write,
                           struct mapped *out, blm_error *err)
{
    char        path[BLM__SPILL_PATH];
    struct stat is;
    bool        fresh = write && s->mark.filled == 0; /* made anew, all 0; later it must be there */
    *out              = (struct mapped){ .fd = -1, .len = (size_t)len };
    if (len > SIZE_MAX / 2)
        return blm__fail(err, BLM_E_LIMIT, "the filter is larger than this machine can map");
    blm__spill_path(s, name, UINT32_MAX, path);
    out->fd = open(path, (fresh ? O_CREAT | O_TRUNC : 0) | O_RDWR | O_CLOEXEC, 0600);
    int why = out->fd < 0 ? errno : fresh ? blm__os.reserve(out->fd, 0, len) : 0;
    if (!why && fstat(out->fd, &is) < 0)
        why = errno;
    if (why == ENOENT && !fresh) /* a power cut can take a name that was not flushed */
        return blm__fail_system(
            err, why,
            "a file of the spill directory is missing: remove the directory and "
            "start again");
    if (why)
        return blm__spill_failed(why, "write to", err);
    if ((uint64_t)is.st_size < len)
        return blm__fail(
            err, BLM_E_TRUNCATED,
            "a file of the spill directory was cut off: remove the directory and start "
            "again");
    void *map =
        mmap(NULL, out->len, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, out->fd, 0);
    if (map == MAP_FAILED)
        return blm__spill_failed(errno, "map a file of", err);
    out->at = map;
    return BLM_OK;
}

/* One part's words, to their place in the file, and then written down as done. */
static blm_status fill_part(blm_spill *s, uint32_t p, uint64_t *words, int fd, struct mapped *fresh,
                            blm_error *err)
{
    char       path[BLM__SPILL_PATH];
    uint64_t   items;
    blm_status st = blm__spill_fill(s, p, words, fresh->at, &items, err);
    if (st != BLM_OK)
        return st;
    int why = blm__os.write_at(fd, words, (size_t)blm__spill_words(s, p) * 8,
                               (uint64_t)p * s->part_words * 8);
    if (!why)
        why = blm__os.sync_file(fd);
    if (!why && fresh->at) {
        why = blm__os.sync_map(fresh->at, fresh->len);
        madvise(fresh->at, fresh->len, MADV_DONTNEED);
    }
    if (why)
        return blm__spill_failed(why, "write to", err);
    s->mark.filled = p + 1;
    s->mark.items += items;
    s->mark.key[p] = blm__checksum(words, (size_t)blm__spill_words(s, p) * 8);
    st             = blm__spill_write_down(s, err);
    if (st == BLM_OK) { /* it is not needed any more, and its space may be */
        blm__spill_path(s, "part", p, path);
        if (truncate(path, 0) == 0)
            s->mark.length[p] = s->part[p].length = 0;
    }
    return st;
}

static uint64_t count_ones(const struct mapped *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->len; i++) {
        n += (unsigned)__builtin_popcount(m->at[i]);
        if ((i & 0xffffff) == 0xffffff)
            madvise(m->at, i & ~(size_t)0xffff, MADV_DONTNEED);
    }
    return n;
}

static blm_status fill_parts(blm_spill *s, blm_error *err)
{
    char          path[BLM__SPILL_PATH];
    struct mapped fresh = { .fd = -1 };
    blm_status    st    = BLM_OK;
    blm__spill_path(s, "words", UINT32_MAX, path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return blm__spill_failed(errno, "write to", err);
    size_t    bytes = (size_t)s->part_words * 8;
    uint64_t *words = blm__alloc(&s->own, bytes);
    if (!words)
        st = blm__fail(err, BLM_E_MEMORY, "no memory for a part of %zu bytes", bytes);
    if (st == BLM_OK && s->several && s->mark.keys)
        st = map_file(s, "fresh", (s->mark.keys + 7) / 8, true, &fresh, err);
    for (uint32_t p = (uint32_t)s->mark.filled; p < s->parts && st == BLM_OK; p++)
        st = fill_part(s, p, words, fd, &fresh, err);
    if (st == BLM_OK) {
        if (s->several)
            s->mark.items = fresh.at ? count_ones(&fresh) : 0;
        s->mark.phase = BLM__SAVING;
        st            = blm__spill_write_down(s, err);
    }
    unmap(&fresh);
    blm__free(&s->own, words, bytes);
    close(fd);
    return st;
}

/* ---- saving ---- */

struct saving {
    blm_spill    *s;
    struct mapped words;
};

/* The pages that were written are let go of, so that the filter is never in memory as a whole. */
static bool save_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct saving *v = ctx;
    size_t page = (size_t)1 << 16, drop = done < v->words.len ? (size_t)done / page * page : 0;
    if (drop > page && drop % ((size_t)4 << 20) == 0)
        madvise(v->words.at, drop - page, MADV_DONTNEED);
    return !v->s->progress || v->s->progress(v->s->progress_ctx, done, total);
}

/* Are they the words that were written? */
static blm_status check_words(const blm_spill *s, const struct mapped *words, blm_error *err)
{
    for (uint32_t p = 0; p < s->parts; p++) {
        const uint8_t *at = words->at + (size_t)p * s->part_words * 8;
        if (!blm__sum_matches(blm__checksum(at, (size_t)blm__spill_words(s, p) * 8),
                              s->mark.key[p]))
            return blm__spill_damaged(err);
        madvise(words->at, words->len, MADV_DONTNEED);
    }
    return BLM_OK;
}

static blm_status save(blm_spill *s, const char *path, uint32_t flags, blm_error *err)
{
    struct saving v  = { .s = s };
    blm_status    st = map_file(s, "words", blm__shape_words(&s->shape) * 8, false, &v.words, err);
    if (st == BLM_OK)
        st = check_words(s, &v.words, err);
    if (st == BLM_OK)
        st = blm__memory_borrow(&s->filter->body, &s->shape, (uint64_t *)(void *)v.words.at, false,
                                err);
    if (st == BLM_OK) {
        s->filter->body.layers[0].items = s->mark.items;
        blm_set_progress(s->filter, save_progress, &v);
        st = blm_save(s->filter, path, "native", flags, err);
    }
    unmap(&v.words);
    blm_free(s->filter);
    s->filter = NULL;
    return st;
}

static blm_status end_keys(blm_spill *s, blm_error *err)
{
    if (s->keys < s->kept)
        return other_keys(err);
    blm_status st = blm_spill_sync(s, err);
    if (st != BLM_OK)
        return st;
    s->mark.phase = BLM__FILLING;
    return blm__spill_write_down(s, err);
}

blm_status blm_spill_finish(blm_spill *s, const char *path, uint32_t flags, blm_error *err)
{
    blm_status st = BLM_OK;
    if (!path)
        return blm__fail(err, BLM_E_ARGUMENT, "no path (NULL)");
    if (!s->filter || s->broken)
        return again(err);
    st = blm_spill_sync(s, err); /* what came is not lost, if that is all that can be done */
    if (st == BLM_OK)
        st = blm__claim_spares(s->dir, path, err);
    if (st == BLM_OK) /* filling takes long: what is wrong with the path is said before */
        st = blm__may_save(path, flags, &s->own, err);
    if (st != BLM_OK)
        return st;
    if (s->mark.phase == BLM__SPILLING)
        st = end_keys(s, err);
    if (st != BLM_OK)
        return st;
    s->done = s->total = 0;
    for (uint32_t i = 0; i < s->parts; i++)
        s->total += s->part[i].length;
    for (uint32_t i = 1; i < s->parts; i++) { /* one buffer is enough to read by */
        blm__free(&s->own, s->part[i].buffer, s->buffer);
        s->part[i].buffer = s->part[0].buffer;
    }
    if (s->mark.phase == BLM__FILLING)
        st = fill_parts(s, err);
    for (uint32_t i = 1; i < s->parts; i++)
        s->part[i].buffer = NULL;
    if (st == BLM_OK)
        st = save(s, path, flags, err);
    if (st == BLM_OK)
        blm__spill_remove(s);
    return st;
}
