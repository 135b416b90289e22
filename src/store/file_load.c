/* SPDX-License-Identifier: MIT */
/*
 * From an open native file to a body with mapped layers, and the release of both.
 *
 * While there is a writer, every part may be changing. Slots that look damaged are read again. When
 * all is read, the epochs show whether layers came or went meanwhile; then what was read may be a
 * mixture, and everything is read again.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "core/checksum.h"
#include "core/os.h"
#include "engine/shape.h"
#include "kind/kind.h"
#include "store/file.h"

#define TRIES 200 /* to read what somebody keeps changing; a millisecond apart */

void blm__file_pause(void)
{
    struct timespec t = { 0, 1000000 };
    nanosleep(&t, NULL);
}

static size_t size_of(const struct blm__file *f)
{
    return sizeof *f + f->head.room * sizeof *f->part;
}

size_t blm__file_memory(const struct blm__body *b)
{
    return size_of(blm__file_of(b)) + (size_t)blm__file_of(b)->undo.pages;
}

void blm__file_release(struct blm__body *b, struct blm__file *f)
{
    for (uint32_t i = 0; i < b->layer_count; i++)
        blm__layer_unstripe(b, &b->layers[i]);
    blm__free(b->alloc, b->layers, b->layer_room * sizeof *b->layers);
    b->layers      = NULL;
    b->layer_count = b->layer_room = 0;
    for (uint32_t i = 0; i < f->count; i++)
        blm__part_unmap(&f->part[i]);
    if (f->front)
        munmap(f->front, f->front_len);
    blm__undo_free(b, &f->undo);
    blm__free(b->alloc, f, size_of(f));
    b->store_ctx = NULL;
}

blm_status blm__file_read_slots(const struct blm__file *f, uint8_t *both, blm_error *err)
{
    size_t   got, len = (size_t)f->head.slot_bytes * 2;
    uint64_t at  = blm__native_slot_at(&f->head, 0);
    int      why = blm__os_read_at(f->fd, both, len, at, &got);
    if (why)
        return blm__fail_system(err, why, "cannot read the header: %s", blm__os_text(why));
    if (got < len)
        return blm__fail_at(err, BLM_E_TRUNCATED, at + got, "the file ends within the header");
    return BLM_OK;
}

/* The slot that counts. While there is a writer, both may look damaged: we may read the first while
 * it is being written, and the second when the writer has come to that. */
blm_status blm__file_load_slot(struct blm__file *f, blm_error *err)
{
    uint8_t    both[2 * BLM__SLOT_MAX];
    unsigned   which = 0;
    blm_status st    = BLM_OK;
    for (int i = 0; i < TRIES; i++) {
        st = blm__file_read_slots(f, both, err);
        if (st == BLM_OK)
            st = blm__native_get_slot(&f->head, both, &f->slot, &which, err);
        if (st != BLM_E_CHECKSUM || f->writer || !blm__lock_held(f->fd))
            break;
        blm__file_pause();
    }
    if (st != BLM_OK)
        return st;
    f->spare            = !which;
    f->writes           = f->slot.generation;
    f->seen[0]          = blm__get64le(both + BLM__SLOT_EPOCH);
    f->seen[1]          = blm__get64le(both + f->head.slot_bytes + BLM__SLOT_EPOCH);
    f->slots_written[0] = blm__get64le(both);
    f->slots_written[1] = blm__get64le(both + f->head.slot_bytes);
    return BLM_OK;
}

static blm_status check_length(const struct blm__file *f, blm_error *err)
{
    struct stat st;
    if (fstat(f->fd, &st) < 0)
        return blm__fail_system(err, errno, "cannot look at it: %s", blm__os_text(errno));
    if ((uint64_t)st.st_size < f->slot.length)
        return blm__fail_at(err, BLM_E_TRUNCATED, (uint64_t)st.st_size,
                            "the file ends after %llu of %llu bytes",
                            (unsigned long long)st.st_size, (unsigned long long)f->slot.length);
    return BLM_OK;
}

static blm_status load_layer(struct blm__file *f, struct blm__body *b, uint32_t i,
                             const struct blm__scheme *scheme, blm_error *err)
{
    uint8_t                    record[BLM__RECORD_BYTES];
    struct blm__native_section s;
    struct blm__part           part;
    size_t                     got;
    int why = blm__os_read_at(f->fd, record, sizeof record, f->slot.layer[i].at, &got);
    if (why || got < sizeof record)
        return blm__fail_system(err, why ? why : EIO, "cannot read layer %u: %s", i,
                                blm__os_text(why ? why : EIO));
    blm_status st = blm__native_get_record(&f->head, &f->slot, i, scheme, record, &s, err);
    if (st == BLM_OK)
        st = blm__body_may_have(b, blm__body_held(b), s.words_len, "bits", err);
    if (st == BLM_OK)
        st = blm__part_map(f, &s, &part, err);
    if (st != BLM_OK)
        return st;
    if (!blm__slack_clear(&s.shape, part.words))
        st = blm__fail_at(err, BLM_E_FORMAT, s.sums_at - 8, "bits past the last one are set");
    if (st == BLM_OK)
        st = blm__part_show(f, b, &part, blm__native_items(&f->slot, i, s.live), err);
    if (st != BLM_OK)
        blm__part_unmap(&part);
    return st;
}

static blm_status load_layers(struct blm__file *f, struct blm__body *b, blm_error *err)
{
    const struct blm__scheme *scheme;
    blm_status                st = blm__native_head_to(&f->head, b, &scheme, err);
    if (st == BLM_OK)
        st = check_length(f, err);
    for (uint32_t i = 0; st == BLM_OK && i < f->slot.layer_count; i++)
        st = load_layer(f, b, i, scheme, err);
    if (st != BLM_OK)
        return st;
    blm__native_slot_to(&f->slot, b);
    return blm__body_valid(b, scheme->native, blm__native_slot_at(&f->head, 0), err);
}

blm_status blm__file_map_front(struct blm__file *f, blm_error *err)
{
    f->front_len = (size_t)blm__native_slot_at(&f->head, 2);
    void *map    = mmap(NULL, f->front_len, PROT_READ, MAP_SHARED, f->fd, 0);
    if (map == MAP_FAILED)
        return blm__fail_system(err, errno, "cannot map the header: %s", blm__os_text(errno));
    f->front = map;
    return BLM_OK;
}

/* Of slot i, as it is now. */
static uint64_t slot_word(const struct blm__file *f, unsigned i, size_t offset)
{
    const uint8_t *at = f->front + blm__native_slot_at(&f->head, i) + offset;
    return blm__le64(__atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_SEQ_CST));
}

/* A writer begins by writing the slots. They are read, not looked at in the map: who asks for figures
 * does not die of a file that was cut. A disk that fails says nothing of a writer. */
bool blm__file_overtaken(const struct blm__body *b)
{
    const struct blm__file *f = blm__file_of(b);
    uint8_t                 both[2 * BLM__SLOT_MAX];
    blm_status              st = blm__file_read_slots(f, both, NULL);
    if (st != BLM_OK)
        return st == BLM_E_TRUNCATED;
    return blm__get64le(both) != f->slots_written[0] ||
           blm__get64le(both + f->head.slot_bytes) != f->slots_written[1];
}

bool blm__file_stale(const struct blm__body *b)
{
    const struct blm__file *f = blm__file_of(b);
    for (unsigned i = 0; i < 2; i++)
        if (slot_word(f, i, BLM__SLOT_EPOCH) != f->seen[i] ||
            (b->snapshot && slot_word(f, i, 0) != f->slots_written[i])) /* asked at each check */
            return true;
    return false;
}

static blm_status read_attached(const struct blm__file *f, struct blm__body *b, blm_error *err)
{
    size_t len = b->attached_len, got;
    int    why = blm__os_read_at(f->fd, b->attached, len, blm__native_slot_at(&f->head, 2), &got);
    if (why || got < len)
        return blm__fail_system(err, why ? why : EIO, "cannot read the attached bytes");
    if (blm__checksum(b->attached, len) != f->head.attached_sum)
        return blm__fail_at(err, BLM_E_CHECKSUM, blm__native_slot_at(&f->head, 2),
                            "the attached bytes are damaged");
    return BLM_OK;
}

/* They never change: a body that has them keeps them, so it must not have damaged ones when the file
 * is read again. */
static blm_status load_attached(const struct blm__file *f, struct blm__body *b, blm_error *err)
{
    size_t len = (size_t)f->head.attached_len;
    if (f->head.attached_len == 0 || b->attached)
        return BLM_OK;
    if (f->head.attached_len > SIZE_MAX / 2)
        return blm__fail(err, BLM_E_LIMIT,
                         "%llu attached bytes are more than this machine can address",
                         (unsigned long long)f->head.attached_len);
    blm_status st = blm__memory_attach(b, len, err); /* the file is known to be longer than that */
    if (st != BLM_OK)
        return st;
    st = read_attached(f, b, err);
    if (st != BLM_OK) {
        blm__free(b->alloc, b->attached, len);
        b->attached     = NULL;
        b->attached_len = 0;
    }
    return st;
}

/* *slots: one of them was whole. */
static blm_status load_once(int fd, const struct blm__native_head *head, bool writer,
                            struct blm__body *b, bool *slots, blm_error *err)
{
    struct blm__file *f = blm__zalloc(b->alloc, sizeof *f + head->room * sizeof *f->part);
    if (!f)
        return blm__fail(err, BLM_E_MEMORY, "no memory to describe a file");
    f->fd         = fd;
    f->writer     = writer;
    f->head       = *head;
    b->store_ctx  = f;
    b->snapshot   = false;
    blm_status st = blm__file_load_slot(f, err);
    *slots        = st == BLM_OK;
    if (st == BLM_OK)
        st = blm__file_map_front(f, err);
    if (st == BLM_OK)
        st = load_layers(f, b, err);
    if (st == BLM_OK)
        st = load_attached(f, b, err);
    if (st == BLM_OK)
        st = blm__file_recover(f, b, err);
    if (st != BLM_OK)
        blm__file_release(b, f);
    return st;
}

blm_status blm__file_load(int fd, const struct blm__native_head *head, bool writer,
                          struct blm__body *b, blm_error *err)
{
    blm_status st    = BLM_E_IO;
    bool       slots = false;
    for (int i = 0; i < TRIES; i++) {
        st = load_once(fd, head, writer, b, &slots, err);
        if (writer)
            return st;
        if (st == BLM_OK && !blm__file_stale(b) && !blm__file_unsettled(blm__file_of(b)))
            return BLM_OK;
        if (st == BLM_OK)
            blm__file_release(b, blm__file_of(b)); /* layers came or went: perhaps a mixture */
        else if ((st != BLM_E_CHECKSUM && st != BLM_E_FORMAT && st != BLM_E_TRUNCATED) || !slots ||
                 !blm__lock_held(fd)) /* slots were read often enough */
            return st;
        blm__file_pause();
    }
    return st == BLM_OK ? blm__fail(err, BLM_E_BUSY,
                                    "a writer keeps changing the layers, or is still putting the "
                                    "file right: try again")
                        : st;
}
