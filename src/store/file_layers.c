/* SPDX-License-Identifier: MIT */
/*
 * Layers of a mapped file: how they come and go.
 *
 * Each section has its own mapping, so a new layer does not move the others. A new layer is
 * reserved, formatted and flushed behind the end of the file before a slot names it. A layer that
 * goes is first removed from the slots. The file never gets shorter: a reader may have its end
 * mapped, and would be killed if it touched what is no longer there.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checksum.h"
#include "core/os.h"
#include "kind/kind.h"
#include "store/file.h"

static uint64_t page_of(const struct blm__native_section *s)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return s->at / page * page;
}

blm_status blm__part_fits(const struct blm__native_section *s, blm_error *err)
{
    if (s->end - page_of(s) <= SIZE_MAX / 2)
        return BLM_OK;
    return blm__fail(err, BLM_E_LIMIT,
                     "a layer of %llu bytes is more than this machine can address",
                     (unsigned long long)s->words_len);
}

blm_status blm__part_map(const struct blm__file *f, const struct blm__native_section *s,
                         struct blm__part *out, blm_error *err)
{
    uint64_t   from = page_of(s);
    blm_status st   = blm__part_fits(s, err);
    if (st != BLM_OK)
        return st;
    size_t len = (size_t)(s->end - from);
    void  *map = mmap(NULL, len, f->writer ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, f->fd,
                      (off_t)from);
    if (map == MAP_FAILED)
        return blm__fail_system(err, errno, "cannot map %llu bytes: %s", (unsigned long long)len,
                                blm__os_text(errno));
    uint8_t *base = map;
    out->s        = *s;
    out->map      = map;
    out->map_len  = len;
    out->record   = base + (s->at - from);
    out->words    = (uint64_t *)(void *)(base + (s->words_at - from));
    out->sums     = (uint64_t *)(void *)(base + (s->sums_at - from));
    out->marks    = base + (s->marks_at - from);
    return BLM_OK;
}

void blm__part_unmap(struct blm__part *p)
{
    if (p->map)
        munmap(p->map, p->map_len);
    memset(p, 0, sizeof *p);
}

void blm__part_format(struct blm__part *p)
{
    uint64_t last  = p->s.regions - 1, full, rest;
    uint64_t bytes = blm__native_region_bytes(&p->s, 0);
    blm__native_put_record(&p->s, p->record);
    /* All regions are the same, except perhaps the last. */
    blm__checksum_words(p->words, bytes / 8, NULL, NULL, &full);
    bytes = blm__native_region_bytes(&p->s, last);
    blm__checksum_words(p->words + (last << p->s.region_log2) / 8, bytes / 8, NULL, NULL, &rest);
    for (uint64_t r = 0; r <= last; r++)
        p->sums[r] = blm__le64(blm__native_region_sum(r == last ? rest : full, r));
}

blm_status blm__part_show(struct blm__file *f, struct blm__body *b, struct blm__part *p,
                          uint64_t items, blm_error *err)
{
    struct blm__layer *l = blm__body_room(b);
    if (!l || (f->writer && !blm__layer_stripes(b, l)))
        return blm__fail(err, BLM_E_MEMORY, "no memory to describe a layer");
    l->shape      = p->s.shape;
    l->words      = p->words;
    l->word_count = p->s.words_len / 8;
    blm__layer_ready(l);
    if (l->engine->moves)
        l->moves = (uint64_t *)(void *)(p->record + BLM__RECORD_MOVES);
    if (f->writer) {
        l->marks      = p->marks;
        l->mark_shift = p->s.region_log2 - 3;
        if (!b->shared) /* threads would contend for one count */
            l->live = p->record + BLM__RECORD_LIVE;
    }
    l->items = items;
    if (l->live)
        blm__put64le(l->live, items);
    b->layer_count++;
    blm__body_ready(b);
    f->part[f->count++] = *p;
    return BLM_OK;
}

/* Allocates space for a section behind the end, all zeroes. */
static blm_status reserve_section(struct blm__file *f, const struct blm__native_section *s,
                                  struct blm__part *out, blm_error *err)
{
    struct stat st;
    if (fstat(f->fd, &st) < 0)
        return blm__fail_system(err, errno, "cannot look at it: %s", blm__os_text(errno));
    int        why = blm__os.reserve(f->fd, s->at, s->end - s->at);
    blm_status status =
        why ? blm__fail_system(err, why, "cannot reserve %llu bytes for another layer: %s",
                               (unsigned long long)(s->end - s->at), blm__os_text(why))
            : blm__part_map(f, s, out, err);
    if (status != BLM_OK) {
        if ((uint64_t)st.st_size < s->end && ftruncate(f->fd, st.st_size) < 0)
            errno = 0; /* a longer file does no harm: no slot names its end */
        return status;
    }
    if ((uint64_t)st.st_size > s->at) /* a dropped layer, or a killed writer, left something */
        memset(out->record, 0, (size_t)(s->end - s->at));
    return BLM_OK;
}

/* Flushes the new section, then names it in the slots. */
static blm_status publish(struct blm__file *f, struct blm__body *b, struct blm__part *p,
                          blm_error *err)
{
    blm__part_format(p);
    int why = blm__os.sync_map(p->map, p->map_len);
    if (!why)
        why = blm__os.sync_file(f->fd); /* its new length */
    if (why)
        return blm__file_broke(f, why, err);
    blm_status st = blm__part_show(f, b, p, 0, err);
    if (st != BLM_OK)
        return st;
    f->slot.epoch++;
    st = blm__file_commit(f, b, blm__file_flags(b), err);
    if (st != BLM_OK) {
        f->slot.epoch--;
        f->count--;
        b->layer_count--;
        blm__layer_unstripe(b, &b->layers[b->layer_count]);
    }
    return st;
}

/* A new layer takes the place of what was saved, so that must have become of no use: the slots as they
 * are, after a flush of all words. And it needs other room for the same behind its end. */
static blm_status make_way(struct blm__file *f, struct blm__body *b,
                           const struct blm__native_section *s, struct blm__undo *next,
                           blm_error *err)
{
    uint32_t active = b->active;
    memset(next, 0, sizeof *next);
    if (!f->undo.map)
        return BLM_OK;
    blm_status st = blm__undo_make(f, b, s->end, blm__undo_all(f) + blm__undo_pages(s), next, err);
    if (st != BLM_OK)
        return st;
    next->floor = f->undo.floor > s->end ? f->undo.floor : s->end;
    b->active   = f->slot.active; /* the kind has set it for the new layer */
    st          = blm__file_commit(f, b, blm__file_flags(b), err);
    b->active   = active;
    if (st != BLM_OK)
        blm__undo_free(b, next);
    return st;
}

blm_status blm__file_add_layer(struct blm__body *b, const struct blm__shape *s, blm_error *err)
{
    struct blm__file          *f = blm__file_of(b);
    struct blm__native_section section;
    struct blm__part           part;
    struct blm__undo           next;
    blm_status                 st = blm__file_mine(f, err);
    if (st != BLM_OK)
        return st;
    if (f->broken)
        return blm__fail(err, BLM_E_IO, "an earlier flush failed: the file cannot grow");
    if (f->count >= f->head.room)
        return blm__fail(err, BLM_E_LIMIT, "a native file has room for %u layers", f->head.room);
    if (!blm__native_place(s, f->slot.length, f->head.block, &section))
        return blm__fail(err, BLM_E_LIMIT, "the file would be larger than 2^62 bytes");
    st = blm__body_may_have(b, blm__body_held(b), blm__shape_words(s) * 8, "bits", err);
    if (st == BLM_OK)
        st = blm__part_fits(&section, err);
    if (st == BLM_OK)
        st = make_way(f, b, &section, &next, err);
    if (st != BLM_OK)
        return st;
    st = reserve_section(f, &section, &part, err);
    if (st == BLM_OK) {
        st = publish(f, b, &part, err);
        if (st != BLM_OK)
            blm__part_unmap(&part);
    }
    if (st != BLM_OK)
        blm__undo_free(b, &next);
    else if (next.map)
        blm__undo_use(f, b, &next);
    return st;
}

blm_status blm__file_drop_layers(struct blm__body *b, uint32_t keep, blm_error *err)
{
    struct blm__file *f   = blm__file_of(b);
    uint32_t          had = b->layer_count, active = b->active;
    blm_status        st   = blm__file_mine(f, err);
    struct blm__undo  next = { 0 };
    if (st != BLM_OK || keep == 0 || keep >= had)
        return st;
    if (f->undo.map) {
        uint64_t pages = 0, floor = f->undo.floor;
        for (uint32_t i = 0; i < keep; i++)
            pages += blm__undo_pages(&f->part[i].s);
        st = blm__undo_make(f, b, f->part[keep - 1].s.end, pages, &next, err);
        if (st != BLM_OK)
            return st;
        next.floor = floor > f->slot.length ? floor : f->slot.length;
    }
    b->layer_count = keep;
    b->active      = active < keep ? active : keep - 1;
    f->count       = keep;
    f->slot.epoch++;
    st = blm__file_commit(f, b, blm__file_flags(b), err);
    if (st != BLM_OK) {
        b->layer_count = f->count = had;
        b->active                 = active;
        f->slot.epoch--;
        blm__undo_free(b, &next);
        return st;
    }
    if (next.map)
        blm__undo_use(f, b, &next);
    for (uint32_t i = keep; i < had; i++) {
        blm__layer_unstripe(b, &b->layers[i]);
        blm__part_unmap(&f->part[i]);
    }
    return BLM_OK;
}
