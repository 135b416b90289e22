/* SPDX-License-Identifier: MIT */
/*
 * What reaches the disk, and in which order.
 *
 *   sync     checksum every marked region and clear its mark; flush the mappings; commit
 *   commit   write the spare slot, flush, write the other. The other is then the spare one, since
 *            only it may not have reached the disk. So a power cut at any moment leaves at least
 *            one of them whole, and everything that a whole one names was flushed before it
 *
 * A sync may run during adds to a shared filter. docs/formats/native.md, "Marks", proves that no
 * region whose words and checksum differ is left without a mark.
 *
 * When a flush fails, the system may drop the very pages that it could not write, and a second
 * flush would succeed without them. So the first failure is final: the file still says that it has
 * a writer, and every later sync fails and says why.
 */
#include <string.h>
#include <unistd.h>

#include "core/checksum.h"
#include "core/os.h"
#include "store/file.h"

uint32_t blm__file_flags(const struct blm__body *b)
{
    return BLM__SLOT_WRITER | (b->shared ? BLM__SLOT_SHARED : 0) |
           (blm__file_of(b)->undo.map ? BLM__SLOT_SAVES : 0);
}

blm_status blm__file_broke(struct blm__file *f, int why, blm_error *err)
{
    f->broken = true;
    return blm__fail_system(err, why,
                            "cannot write to the disk: %s; nobody knows what is on it: save the "
                            "filter to another file",
                            blm__os_text(why));
}

blm_status blm__file_mine(const struct blm__file *f, blm_error *err)
{
    if (f->begun == (uint64_t)getpid())
        return BLM_OK;
    return blm__fail(err, BLM_E_BUSY, "the file's writer is process %llu, not this one",
                     (unsigned long long)f->begun);
}

static int put_slot(const struct blm__file *f, unsigned which, const uint8_t *bytes)
{
    return blm__os.write_at(f->fd, bytes, f->head.slot_bytes, blm__native_slot_at(&f->head, which));
}

static void slot_from(const struct blm__file *f, const struct blm__body *b, uint32_t flags,
                      struct blm__native_slot *out)
{
    *out = f->slot;
    blm__native_slot_of(b, out);
    out->generation++;
    out->flags |= flags;
    out->pid = 0;
    memset(out->boot, 0, sizeof out->boot);
    if (flags & BLM__SLOT_WRITER) {
        out->pid = (uint64_t)getpid();
        if (!blm__os.boot_id(out->boot))
            memset(out->boot, 0, sizeof out->boot); /* no boot has this id: always "crash" */
    }
    out->length = f->part[f->count - 1].s.end;
    for (uint32_t i = 0; i < BLM__MAX_LAYERS; i++) {
        bool there          = i < f->count;
        out->layer[i].at    = there ? f->part[i].s.at : 0;
        out->layer[i].items = there ? blm__layer_items(&b->layers[i]) : 0;
    }
}

static int flush_words(const struct blm__file *f)
{
    int why = 0;
    for (uint32_t i = 0; !why && i < f->count; i++)
        why = blm__os.sync_map(f->part[i].map, f->part[i].map_len);
    return why;
}

/* With a new generation what was saved does not count any more, so the words must be on the disk. */
blm_status blm__file_commit(struct blm__file *f, const struct blm__body *b, uint32_t flags,
                            blm_error *err)
{
    struct blm__native_slot slot;
    uint8_t                 bytes[BLM__SLOT_MAX];
    slot_from(f, b, flags, &slot);
    blm__native_put_slot(&f->head, &slot, bytes);
    int why = f->undo.map ? flush_words(f) : 0;
    if (!why)
        why = put_slot(f, f->spare, bytes);
    if (!why)
        why = blm__os.sync_file(f->fd);
    if (!why)
        why = put_slot(f, !f->spare, bytes);
    if (why)
        return blm__file_broke(f, why, err);
    f->spare = !f->spare;
    f->slot  = slot;
    blm__undo_void(f);
    return BLM_OK;
}

/* Stores the checksum of a marked region and clears its mark. An add that comes while we read sets
 * the mark to 1 again; our exchange of 2 for 0 then fails, and the region stays marked for the next
 * sync. */
static void sum_region(struct blm__part *p, uint64_t r)
{
    uint8_t *mark = &p->marks[r], syncing = 2;
    uint64_t sum;
    __atomic_exchange_n(mark, 2, __ATOMIC_SEQ_CST);
    blm__checksum_words(p->words + (r << p->s.region_log2) / 8,
                        blm__native_region_bytes(&p->s, r) / 8, NULL, NULL, &sum);
    __atomic_store_n(&p->sums[r], blm__le64(blm__native_region_sum(sum, r)), __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(mark, &syncing, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Progress can cancel a sync, but not the closing of a file. */
static blm_status sum_marked(struct blm__file *f, const struct blm__body *b, bool closing,
                             blm_error *err)
{
    uint64_t done = 0, total = blm__body_bytes(b);
    for (uint32_t i = 0; i < f->count; i++) {
        struct blm__part *p = &f->part[i];
        for (uint64_t r = 0; r < p->s.regions; r++) {
            if (__atomic_load_n(&p->marks[r], __ATOMIC_SEQ_CST) != 0) {
                if (!blm__go_on(b, done, total) && !closing)
                    return blm__fail(err, BLM_E_CANCELLED,
                                     "cancelled after %llu of %llu bytes: the sync is incomplete",
                                     (unsigned long long)done, (unsigned long long)total);
                sum_region(p, r);
            }
            done += blm__native_region_bytes(&p->s, r);
        }
    }
    return BLM_OK;
}

static blm_status sync_now(struct blm__body *b, uint32_t flags, blm_error *err)
{
    struct blm__file *f  = blm__file_of(b);
    blm_status        st = blm__file_mine(f, err);
    if (st != BLM_OK)
        return st;
    if (f->broken)
        return blm__fail(err, BLM_E_IO,
                         "an earlier flush failed, and nobody knows what is on the disk: save the "
                         "filter to another file");
    st = sum_marked(f, b, !(flags & BLM__SLOT_WRITER), err);
    if (st != BLM_OK)
        return st;
    for (uint32_t i = 0; i < f->count; i++)
        if (!b->layers[i].live) /* else it is up to date */
            blm__put64le(f->part[i].record + BLM__RECORD_LIVE, blm__layer_items(&b->layers[i]));
    int why = f->undo.map ? 0 : flush_words(f); /* else the commit does */
    if (why)
        return blm__file_broke(f, why, err);
    st = blm__file_commit(f, b, flags, err);
    if (st == BLM_OK)
        __atomic_store_n(&f->found, (int)BLM_WRITER_NONE, __ATOMIC_RELAXED);
    return st;
}

/* While pages are flushed one by one, no fingerprint may go from one that was to one that will be. */
static blm_status sync_with(struct blm__body *b, uint32_t flags, blm_error *err)
{
    bool moves = blm__file_of(b)->undo.map != NULL;
    if (moves)
        blm__adds_stop(b);
    blm_status st = sync_now(b, flags, err);
    if (moves)
        blm__adds_go_on(b);
    return st;
}

blm_status blm__file_sync(struct blm__body *b, blm_error *err)
{
    return sync_with(b, blm__file_flags(b), err);
}

blm_status blm__file_finish(struct blm__body *b, blm_error *err) { return sync_with(b, 0, err); }
