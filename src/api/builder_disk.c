/* SPDX-License-Identifier: MIT */
/*
 * Builders whose keys are in files. Everything that grows with the number of keys is mapped: the
 * sorted lists, and the words of the levels. A part of a level is worked out from hashes that lie
 * side by side, and so are verified keys and their cells, so pages that were used are let go of soon.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/builder.h"
#include "api/spill.h"
#include "bloomery/embed.h"
#include "core/bytes.h"
#include "core/checksum.h"
#include "core/os.h"
#include "kind/kind.h"
#include "store/store.h"

#define LEAST_MEMORY ((uint64_t)1 << 16)
#define WRITTEN      ((size_t)1 << 13)   /* hashes at a time */
#define LET_GO       ((size_t)1 << 20)   /* hashes between two releases */
#define SAVED        ((uint64_t)4 << 20) /* bytes likewise */

/* ---- mapping ---- */

void blm__disk_release(struct blm__disk *d)
{
    struct blm__mapped *all[] = { &d->list[0], &d->list[1], &d->passing, &d->level[0],
                                  &d->level[1] };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->at)
            madvise(all[i]->at, all[i]->len, MADV_DONTNEED);
}

static void unmap(struct blm__mapped *m)
{
    if (m->at)
        munmap(m->at, m->len);
    *m = (struct blm__mapped){ NULL, 0 };
}

/* fresh: made anew, all 0, with its space; else it must be there. */
static blm_status map_file(const struct blm__disk *d, const char *name, uint64_t number,
                           uint64_t len, bool write, bool fresh, struct blm__mapped *out,
                           blm_error *err)
{
    char        path[BLM__DISK_PATH];
    struct stat is;
    *out = (struct blm__mapped){ NULL, (size_t)len };
    if (len > SIZE_MAX / 2)
        return blm__fail(err, BLM_E_LIMIT, "%llu bytes are more than this machine can map",
                         (unsigned long long)len);
    if (len == 0)
        return BLM_OK;
    blm__disk_path(d, name, number, path);
    int fd =
        open(path, (write ? O_RDWR : O_RDONLY) | (fresh ? O_CREAT | O_TRUNC : 0) | O_CLOEXEC, 0600);
    int why = fd < 0 ? errno : fresh ? blm__os.reserve(fd, 0, len) : 0;
    if (!why && fstat(fd, &is) < 0)
        why = errno;
    void *map = MAP_FAILED;
    if (!why && (uint64_t)is.st_size >= len) {
        map = mmap(NULL, out->len, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
        why = map == MAP_FAILED ? errno : 0;
    }
    if (fd >= 0)
        close(fd);
    if (why)
        return (fresh ? blm__disk_failed : blm__disk_gone)(why, write ? "write to" : "read", err);
    if (map == MAP_FAILED)
        return blm__fail(err, BLM_E_TRUNCATED,
                         "a file of the spill directory was cut off: remove the directory and "
                         "start again");
    out->at = map;
    return BLM_OK;
}

/* ---- levels ---- */

static blm_status add_level(struct blm__body *b, const struct blm__shape *s, blm_error *err)
{
    struct blm__disk        *d     = b->store_ctx;
    const struct blm__store *ours  = b->store;
    uint32_t                 level = b->layer_count;
    if (level >= BLM__DISK_LEVELS)
        return blm__fail(err, BLM_E_LIMIT, "too many levels");
    blm_status st = map_file(d, "level", level, blm__shape_words(s) * 8, true,
                             d->mark.level[level].filled == 0, &d->level[level], err);
    if (st == BLM_OK)
        st = blm__memory_borrow(b, s, (uint64_t *)(void *)d->level[level].at, false, err);
    b->store = ours;
    if (st != BLM_OK)
        unmap(&d->level[level]);
    return st;
}

static blm_status drop_levels(struct blm__body *b, uint32_t keep, blm_error *err)
{
    struct blm__disk *d  = b->store_ctx;
    blm_status        st = blm__store_memory.drop_layers(b, keep, err);
    for (uint32_t i = keep; i < BLM__DISK_LEVELS; i++)
        unmap(&d->level[i]);
    return st;
}

static blm_status close_levels(struct blm__body *b, blm_error *err)
{
    struct blm__disk *d = b->store_ctx;
    for (uint32_t i = 0; i < BLM__DISK_LEVELS; i++)
        unmap(&d->level[i]);
    return blm__store_memory.close(b, err);
}

static const struct blm__store store_levels = {
    .name        = "spill directory",
    .backing     = BLM_IN_WORDS,
    .add_layer   = add_level,
    .drop_layers = drop_levels,
    .close       = close_levels,
};

static blm_status level_done(void *ctx, uint64_t filled, blm_error *err)
{
    blm_builder      *b   = ctx;
    struct blm__disk *d   = b->disk;
    uint32_t          i   = b->f->body.layer_count - 1;
    int               why = blm__os.sync_map(d->level[i].at, d->level[i].len);
    if (why)
        return blm__disk_failed(why, "write to", err);
    d->mark.level[i].filled = filled;
    return blm__disk_write_down(d, &b->f->body.hasher, err);
}

static blm_status level_enlarge(void *ctx, uint64_t enlarged, blm_error *err)
{
    blm_builder *b                              = ctx;
    b->disk->mark.level[b->f->body.layer_count] = (struct blm__level_mark){ enlarged, 0 };
    return blm__disk_write_down(b->disk, &b->f->body.hasher, err);
}

static void level_release(void *ctx) { blm__disk_release(((blm_builder *)ctx)->disk); }

struct blm__fuse_steps blm__builder_steps(blm_builder *b)
{
    const struct blm__level_mark *m = &b->disk->mark.level[b->f->body.layer_count];
    return (struct blm__fuse_steps){ .enlarged = m->enlarged,
                                     .filled   = m->filled,
                                     .memory   = b->disk->memory / 2,
                                     .done     = level_done,
                                     .enlarge  = level_enlarge,
                                     .release  = level_release,
                                     .ctx      = b };
}

/* In the order they have, so they are sorted too. */
static blm_status write_passing(blm_builder *b, int fd, uint64_t *count, blm_error *err)
{
    const struct blm__hashes *out   = &b->list[BLM__OUT];
    struct blm__layer        *first = b->f->body.layers;
    uint64_t                  some[BLM__BATCH];
    uint8_t                   maybe[BLM__BATCH];
    *count = 0;
    for (size_t at = 0, n; at < out->n; at += n) {
        size_t pass        = 0;
        n                  = out->n - at < BLM__BATCH ? out->n - at : BLM__BATCH;
        struct blm__keys k = { .n = n, .hashes = out->of + at };
        first->engine->check(&b->f->body, first, &k, maybe);
        for (size_t i = 0; i < n; i++) {
            some[pass] = out->of[at + i];
            pass += maybe[i];
        }
        int why = pass ? blm__os.write_at(fd, some, pass * 8, *count * 8) : 0;
        if (why)
            return blm__disk_failed(why, "write to", err);
        *count += pass;
        if (at / LET_GO != (at + n) / LET_GO)
            blm__disk_release(b->disk);
    }
    return BLM_OK;
}

blm_status blm__builder_passing(blm_builder *b, const uint64_t **of, size_t *n, blm_error *err)
{
    struct blm__disk *d = b->disk;
    char              path[BLM__DISK_PATH];
    uint64_t          count = 0;
    blm__disk_path(d, "pass", BLM__DISK_ONLY, path);
    int        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    blm_status st =
        fd < 0 ? blm__disk_failed(errno, "write to", err) : write_passing(b, fd, &count, err);
    if (fd >= 0)
        close(fd);
    if (st == BLM_OK)
        st = map_file(d, "pass", BLM__DISK_ONLY, count * 8, false, false, &d->passing, err);
    *of = (const uint64_t *)(const void *)d->passing.at;
    *n  = (size_t)count;
    return st;
}

/* ---- opening ---- */

/* What two runs of a program must have in common. The lists are mapped as they are, so the machine's
 * byte order belongs to it. */
static uint64_t told(const blm_options *o)
{
    uint8_t  about[5 * 8 + 16] = { 0 };
    uint64_t rate;
    memcpy(&rate, &o->rate, sizeof rate);
    blm__put64le(about, o->kind);
    blm__put64le(about + 8, rate);
    blm__put64le(about + 16, o->hash);
    blm__put64le(about + 24, o->version);
    blm__put64le(about + 32, (o->flags & BLM_SHARED) | (uint64_t)BLM__BIG_ENDIAN << 32);
    if (o->hash_name)
        snprintf((char *)about + 40, 16, "%s", o->hash_name);
    return blm__checksum(about, sizeof about);
}

static void disk_free(struct blm__disk *d)
{
    if (!d)
        return;
    const blm_allocator *a = d->a;
    for (int i = 0; i < 2; i++) {
        unmap(&d->list[i]);
        blm__hashes_free(&d->buffer[i], a);
    }
    unmap(&d->passing);
    if (d->lock >= 0)
        close(d->lock);
    blm__free(a, d, sizeof *d);
}

void blm__builder_close(blm_builder *b)
{
    if (!b->disk)
        return;
    for (int i = 0; i < 2; i++) /* mapped */
        b->list[i] = (struct blm__hashes){ NULL, 0, 0 };
    blm_free(b->f);
    b->f = NULL;
    disk_free(b->disk);
    b->disk = NULL;
}

static blm_status open_builder(struct blm__disk *d, blm_options *o, blm_builder **out,
                               blm_error *err)
{
    bool            there  = false;
    blm_seed_policy policy = BLM_SEED_NONE;
    blm_status      st     = blm__disk_open(d, o, &there, &policy, err);
    if (st != BLM_OK)
        return st;
    st = blm__builder_make(o, out, err);
    if (st != BLM_OK) {
        if (!there) /* nothing to go on with */
            blm__disk_remove(d);
        return st;
    }
    struct blm__body *body = &(*out)->f->body;
    body->store            = &store_levels;
    body->store_ctx        = d;
    d->threads             = o->threads;
    for (int i = 0; i < 2; i++)
        d->kept[i] = d->mark.list[i].keys;
    if (there)
        body->hasher.policy = policy;
    else /* from now on the seed is known */
        st = blm__disk_write_down(d, &body->hasher, err);
    if (st != BLM_OK) {
        blm__disk_remove(d);
        blm_builder_free(*out);
        *out = NULL;
    }
    return st;
}

blm_status blm_builder_open(const char *dir, const blm_options *options, uint64_t memory,
                            blm_builder **out, blm_error *err)
{
    blm_options o;
    if (!dir || !out || strlen(dir) >= BLM__DISK_DIR - 8)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "no directory, a name that is too long, or nowhere to put the builder");
    *out          = NULL;
    blm_status st = blm__options_read(options, false, &o, err);
    if (st != BLM_OK)
        return st;
    if (memory < LEAST_MEMORY)
        return blm__fail(err, BLM_E_ARGUMENT, "%llu bytes of memory are too few: 65536 at least",
                         (unsigned long long)memory);
    o.items             = 0;
    o.allocator         = o.allocator ? o.allocator : &blm__default_allocator;
    struct blm__disk *d = blm__zalloc(o.allocator, sizeof *d);
    if (!d)
        return blm__fail(err, BLM_E_MEMORY, "no memory for a builder");
    d->a      = o.allocator;
    d->lock   = -1;
    d->memory = memory < SIZE_MAX / 4 ? memory : SIZE_MAX / 4; /* what 32 bits can give at once */
    d->told   = told(&o);
    snprintf(d->dir, sizeof d->dir, "%s", dir);
    st = open_builder(d, &o, out, err);
    if (st == BLM_OK)
        (*out)->disk = d;
    else
        disk_free(d);
    return st;
}

/* ---- keys ---- */

/* After a failure some keys of a call may have been taken and others not. */
static blm_status remember(struct blm__disk *d, blm_status st, const blm_error *err)
{
    if (st != BLM_OK && d->failed.status == BLM_OK) {
        d->failed        = *err;
        d->failed.status = st;
    }
    return st;
}

static blm_status repeat(const struct blm__disk *d, blm_error *err)
{
    if (err)
        *err = d->failed;
    return d->failed.status;
}

blm_status blm__builder_spill(blm_builder *b, int list, const uint64_t *hashes, size_t n)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    if (b->disk->failed.status != BLM_OK)
        return b->disk->failed.status;
    return remember(b->disk, blm__disk_take(b->disk, list, &b->f->body.hasher, hashes, n, &err),
                    &err);
}

blm_status blm_builder_sync(blm_builder *b, blm_error *err)
{
    blm_error why = { .offset = BLM_NO_OFFSET };
    if (!b->disk || b->done)
        return BLM_OK;
    if (b->disk->failed.status == BLM_OK)
        remember(b->disk, blm__disk_flush(b->disk, &b->f->body.hasher, &why), &why);
    return b->disk->failed.status == BLM_OK ? BLM_OK : repeat(b->disk, err);
}

blm_status blm_builder_get_state(const blm_builder *b, blm_builder_state *out)
{
    blm_builder_state       is = { .size = sizeof is };
    const struct blm__disk *d  = b->disk;
    if (!d) {
        is.included = b->given[BLM__IN];
        is.excluded = b->given[BLM__OUT];
        return blm__emit(out, &is, sizeof is);
    }
    is.included      = d->given[BLM__IN];
    is.excluded      = d->given[BLM__OUT];
    is.kept_included = d->kept[BLM__IN];
    is.kept_excluded = d->kept[BLM__OUT];
    is.building      = d->mark.phase != BLM__TAKING;
    for (int i = 0; i < 2; i++) {
        is.runs += d->mark.list[i].runs;
        is.sorted += d->mark.list[i].sorted;
    }
    for (size_t i = 0; i < BLM__DISK_LEVELS; i++)
        is.filled += d->mark.level[i].filled;
    return blm__emit(out, &is, sizeof is);
}

/* ---- building ---- */

/* As many keys were compared as are kept; fewer may be others. */
static blm_status all_given(const struct blm__disk *d, blm_error *err)
{
    for (int i = 0; i < 2; i++)
        if (d->given[i] < d->kept[i])
            return blm__fail(err, BLM_E_MISMATCH,
                             "there are fewer keys than the spill directory has: give them all "
                             "again, or remove the directory");
    return BLM_OK;
}

static blm_status end_keys(blm_builder *b, blm_error *err)
{
    struct blm__disk *d  = b->disk;
    blm_status        st = all_given(d, err);
    if (st == BLM_OK)
        st = blm__disk_flush(d, &b->f->body.hasher, err);
    if (st != BLM_OK)
        return st;
    d->mark.phase = BLM__MERGING;
    return blm__disk_write_down(d, &b->f->body.hasher, err);
}

static blm_status map_lists(blm_builder *b, blm_error *err)
{
    static const char *const names[2] = { "in", "out" };
    struct blm__disk        *d        = b->disk;
    blm_status               st       = BLM_OK;
    for (int i = 0; i < 2 && st == BLM_OK; i++) {
        uint64_t n = d->mark.list[i].sorted;
        st         = map_file(d, names[i], BLM__DISK_ONLY, n * 8, false, false, &d->list[i], err);
        b->list[i] = (struct blm__hashes){ (uint64_t *)(void *)d->list[i].at, (size_t)n, 0 };
    }
    return st;
}

/* n more hashes of the lists were read. */
static blm_status step(blm_builder *b, size_t n, struct blm__fuse_progress *p, blm_error *err)
{
    blm__disk_release(b->disk);
    p->done += n;
    return blm__go_on(&b->f->body, p->done, p->total)
               ? BLM_OK
               : blm__fail(err, BLM_E_CANCELLED, "cancelled while reading the lists");
}

/* Are they the lists that were written? Whether all of the runs is in them is asked again, because a
 * build that found it is not has written down that it has merged them. */
static blm_status check_lists(blm_builder *b, struct blm__fuse_progress *p, blm_error *err)
{
    for (int i = 0; i < 2; i++) {
        const struct blm__hashes *l     = &b->list[i];
        uint64_t                  sum   = 0;
        bool                      order = true;
        for (size_t at = 0, n; at < l->n; at += n) {
            n = l->n - at < LET_GO ? l->n - at : LET_GO;
            sum += blm__disk_sum(l->of + at, n);
            for (size_t j = at ? at : 1; j < at + n; j++)
                order &= l->of[j - 1] < l->of[j];
            blm_status st = step(b, n, p, err);
            if (st != BLM_OK)
                return st;
        }
        if (!order || !blm__sum_matches(sum, b->disk->mark.list[i].sum) ||
            !blm__disk_all_taken(&b->disk->mark.list[i]))
            return blm__disk_damaged(err);
    }
    return BLM_OK;
}

/* Do the lists have a hash in common? */
static blm_status meet(blm_builder *b, struct blm__fuse_progress *p, blm_error *err)
{
    const struct blm__hashes *in = &b->list[BLM__IN], *out = &b->list[BLM__OUT];
    blm_status                st = BLM_OK;
    for (size_t i = 0, j = 0; i < in->n && j < out->n;) {
        if (in->of[i] == out->of[j])
            return blm__builder_conflict(b, in->of[i], err);
        if (in->of[i] < out->of[j])
            i++;
        else
            j++;
        if ((i + j) % LET_GO == 0 && (st = step(b, LET_GO, p, err)) != BLM_OK)
            return st;
    }
    blm__disk_release(b->disk);
    return BLM_OK;
}

struct saving {
    blm_builder *b;
    uint64_t     last;
};

static bool save_progress(void *ctx, uint64_t done, uint64_t total)
{
    struct saving *v = ctx;
    if (done - v->last >= SAVED) {
        blm__disk_release(v->b->disk);
        v->last = done;
    }
    return !v->b->o.progress || v->b->o.progress(v->b->o.progress_ctx, done, total);
}

static blm_status save_levels(blm_builder *b, const char *path, uint32_t flags, blm_error *err)
{
    struct saving v = { b, 0 };
    blm_set_progress(b->f, save_progress, &v);
    blm_status st = blm_save(b->f, path, "native", flags, err);
    blm_set_progress(b->f, b->o.progress, b->o.progress_ctx);
    return st;
}

/* Kinds that can be added to: by way of the files that they are filled from (api/spill.c). */
static blm_status save_filled(blm_builder *b, const char *path, uint32_t flags, blm_error *err)
{
    const struct blm__hashes *in = &b->list[BLM__IN];
    blm_options               o  = b->o;
    blm_spill                *s  = NULL;
    char                      dir[BLM__DISK_PATH];
    blm__disk_path(b->disk, "fill", BLM__DISK_ONLY, dir);
    o.items = in->n ? in->n : 1;
    o.flags = (o.flags & BLM_SHARED) | BLM_SEEDED;
    memcpy(o.seed, b->f->body.hasher.seed, sizeof o.seed);
    blm_status st = blm_spill_open(dir, &o, b->disk->memory, &s, err);
    if (st != BLM_OK)
        return st;
    s->filter->body.hasher.policy = b->f->body.hasher.policy;
    for (size_t at = 0, n; at < in->n && st == BLM_OK && !blm_spill_filling(s); at += n) {
        n  = in->n - at < LET_GO ? in->n - at : LET_GO;
        st = blm_spill_add_hashes(s, in->of + at, n, err);
        blm__disk_release(b->disk);
    }
    if (st == BLM_OK)
        st = blm_spill_finish(s, path, flags, err);
    blm_spill_free(s);
    return st;
}

static blm_status build_on_disk(blm_builder *b, const char *path, uint32_t flags, blm_error *err)
{
    struct blm__disk         *d  = b->disk;
    struct blm__fuse_progress p  = { 0, 0 };
    blm_status                st = BLM_OK;
    if (d->mark.phase == BLM__TAKING)
        st = end_keys(b, err);
    else if (d->given[0] || d->given[1]) /* none need be given again; if some are, all are */
        st = all_given(d, err);
    for (int i = 0; i < 2; i++)
        p.total +=
            d->mark.list[i].keys * (b->o.kind == BLM_STATIC ? 4 : 6); /* as often each is read */
    if (st == BLM_OK && d->mark.phase == BLM__MERGING) {
        st            = blm__disk_merge(d, &b->f->body, &p, err);
        d->mark.phase = st == BLM_OK ? BLM__BUILDING : d->mark.phase;
        if (st == BLM_OK)
            st = blm__disk_write_down(d, &b->f->body.hasher, err);
    }
    if (st == BLM_OK)
        st = map_lists(b, err);
    if (st == BLM_OK)
        st = check_lists(b, &p, err);
    if (st == BLM_OK)
        st = meet(b, &p, err);
    if (st == BLM_OK)
        st = blm__builder_choose(b, err);
    if (st == BLM_OK && blm__kind_of(b->o.kind)->add)
        return save_filled(b, path, flags, err);
    if (st == BLM_OK)
        st = blm__builder_run(b, &p, err);
    return st == BLM_OK ? save_levels(b, path, flags, err) : st;
}

static blm_status save_from_memory(blm_builder *b, const char *path, uint32_t flags, blm_error *err)
{
    blm_status st = blm__builder_ready(b, err);
    if (st == BLM_OK)
        st = blm_save(b->built, path, "native", flags, err);
    if (st != BLM_OK)
        return st;
    blm_free(b->built);
    b->built = NULL;
    b->done  = true;
    return BLM_OK;
}

static blm_status save_from_disk(blm_builder *b, const char *path, uint32_t flags, blm_error *err)
{
    b->done       = true;
    blm_status st = build_on_disk(b, path, flags, err);
    if (st == BLM_OK || st == BLM_E_CONFLICT) /* with these keys there is nothing to go on with */
        blm__disk_remove(b->disk);
    return st;
}

/* Building takes long: what is wrong with the path is said before, when the keys are durable. */
blm_status blm_builder_save(blm_builder *b, const char *path, uint32_t flags, blm_error *err)
{
    blm_status st = BLM_OK;
    if (!path)
        return blm__fail(err, BLM_E_ARGUMENT, "no path (NULL)");
    if (b->disk && b->disk->failed.status != BLM_OK)
        return repeat(b->disk, err);
    if (b->done)
        return blm__fail(err, BLM_E_ARGUMENT, "a builder builds once: make another");
    if (b->disk)
        st = blm_builder_sync(b, err);
    if (st == BLM_OK && b->disk)
        st = blm__claim_spares(b->disk->dir, path, err);
    if (st == BLM_OK)
        st = blm__may_save(path, flags, b->o.allocator, err);
    if (st != BLM_OK)
        return st;
    return b->disk ? save_from_disk(b, path, flags, err) : save_from_memory(b, path, flags, err);
}
