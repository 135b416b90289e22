/* SPDX-License-Identifier: MIT */
/*
 * What a writer saves before it overwrites it, and what is put back after a power cut.
 *
 * A cuckoo filter's adds move fingerprints. Pages of a mapped file reach the disk in any order, so a
 * power cut may keep the page that a fingerprint has left and lose the one that it went to. That must
 * not happen to keys that were synced. So before cells in use are overwritten for the first time since
 * the last commit, their page is copied behind the end of the filter and flushed:
 *
 *     length   head      512 bytes: magic, the file's size without all this, checksum of these 16
 *              record    one for each 4096 bytes of the words of all layers, in order:
 *                        checksum of the rest + number of the page · generation · the page
 *
 * Every commit of such a file flushes all words before it writes a slot. A record counts if its
 * checksum matches and its generation is the slot's. Take a key that was there at the last commit, in a
 * cell c, and not removed since. If c was never overwritten, the disk has it, whatever else is there.
 * If it was, its page was saved before, by the first who overwrote a cell of that page; so the page is
 * put back with c in it. That also covers a remove, which may have taken c for another copy of the key
 * that has not reached the disk. Adds into free cells need nothing.
 *
 * What is put back may hold a fingerprint that its new place has kept too. Then it is there twice,
 * which costs a cell and loses nobody.
 *
 * A flush for each page would make adds slow. So the first save after a commit takes one page, the next
 * two, then four, up to all of them: at most a copy of the filter and a flush for each doubling,
 * between two syncs.
 *
 * A reader cannot write. It maps the words privately and puts the pages back there. When a writer
 * comes, the slots change, and the reader is stale until it is refreshed (body.snapshot).
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/checksum.h"
#include "core/os.h"
#include "engine/engine.h"
#include "engine/shape.h"
#include "store/file.h"

#define MAGIC  0x0a6f646e756d6c62u /* "blmundo" and a line end */
#define HEAD   512u
#define PAGE   4096u
#define RECORD (16u + PAGE)
#define LEVELS 48u

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

uint64_t blm__undo_pages(const struct blm__native_section *s)
{
    return (s->words_len + PAGE - 1) / PAGE;
}

uint64_t blm__undo_all(const struct blm__file *f)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->count; i++)
        sum += blm__undo_pages(&f->part[i].s);
    return sum;
}

/* ---- the area ---- */

/* The file's size without the area at `at`, which an earlier writer may have left behind. */
static uint64_t floor_of(int fd, uint64_t at)
{
    struct stat st;
    uint8_t     head[24];
    size_t      got;
    uint64_t    size = fstat(fd, &st) == 0 ? (uint64_t)st.st_size : UINT64_MAX;
    if (size > at && blm__os_read_at(fd, head, sizeof head, at, &got) == 0 && got == sizeof head &&
        blm__get64le(head) == MAGIC && blm__get64le(head + 16) == blm__checksum(head, 16) &&
        blm__get64le(head + 8) < size)
        size = blm__get64le(head + 8);
    return size > at ? size : at;
}

blm_status blm__undo_make(const struct blm__file *f, const struct blm__body *b, uint64_t at,
                          uint64_t pages, struct blm__undo *out, blm_error *err)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), from = at / page * page;
    uint64_t len = HEAD + pages * RECORD;
    memset(out, 0, sizeof *out);
    out->floor = floor_of(f->fd, at);
    out->pages = pages;
    int why    = blm__os.reserve(f->fd, at, len);
    if (why)
        return blm__fail_system(err, why,
                                "cannot reserve %llu bytes, to save what is overwritten: %s",
                                (unsigned long long)len, blm__os_text(why));
    if (len + page > SIZE_MAX / 2)
        return blm__fail(err, BLM_E_LIMIT, "%llu bytes are more than this machine can address",
                         (unsigned long long)len);
    out->map_len = (size_t)(at + len - from);
    void *map    = mmap(NULL, out->map_len, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, (off_t)from);
    if (map == MAP_FAILED)
        return blm__fail_system(err, errno, "cannot map %llu bytes: %s", (unsigned long long)len,
                                blm__os_text(errno));
    out->map   = map;
    out->area  = out->map + (at - from);
    out->saved = blm__zalloc(b->alloc, (size_t)pages);
    if (out->saved)
        return BLM_OK;
    blm__undo_free(b, out);
    return blm__fail(err, BLM_E_MEMORY, "no memory for a byte a page");
}

void blm__undo_free(const struct blm__body *b, struct blm__undo *u)
{
    if (u->map)
        munmap(u->map, u->map_len);
    if (u->saved)
        blm__free(b->alloc, u->saved, (size_t)u->pages);
    memset(u, 0, sizeof *u);
}

void blm__undo_use(struct blm__file *f, const struct blm__body *b, struct blm__undo *u)
{
    blm__undo_free(b, &f->undo);
    f->undo = *u;
    blm__put64le(u->area, MAGIC);
    blm__put64le(u->area + 8, u->floor);
    blm__put64le(u->area + 16, blm__checksum(u->area, 16));
}

/* Readers have mapped nothing of it. */
void blm__undo_end(struct blm__file *f, const struct blm__body *b)
{
    uint64_t floor = f->undo.floor;
    if (!f->undo.map)
        return;
    blm__undo_free(b, &f->undo);
    if (ftruncate(f->fd, (off_t)floor) < 0)
        errno = 0; /* a longer file does no harm */
}

void blm__undo_void(struct blm__file *f)
{
    if (f->undo.map)
        memset(f->undo.saved, 0, (size_t)f->undo.pages);
    f->undo.level = 0;
}

/* ---- saving ---- */

/* Bytes of page n of the file's words; *at: where they are. */
static size_t page_at(const struct blm__file *f, uint64_t n, uint8_t **at)
{
    uint32_t i = 0;
    for (; n >= blm__undo_pages(&f->part[i].s); i++)
        n -= blm__undo_pages(&f->part[i].s);
    uint64_t left = f->part[i].s.words_len - n * PAGE;
    *at           = (uint8_t *)f->part[i].words + n * PAGE;
    return left < PAGE ? (size_t)left : PAGE;
}

static uint64_t record_sum(const uint8_t *record, uint64_t n)
{
    return blm__checksum(record + 8, RECORD - 8) + n;
}

static void copy_page(const struct blm__file *f, uint64_t n)
{
    uint8_t *page, *record = f->undo.area + HEAD + n * RECORD;
    size_t   len = page_at(f, n, &page);
    blm__put64le(record + 8, f->slot.generation);
    memset(record + 16, 0, PAGE);
    memcpy(record + 16, page, len);
    blm__put64le(record, record_sum(record, n));
}

static int flush_records(const struct blm__undo *u, uint64_t from, uint64_t to)
{
    uintptr_t page  = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    uint8_t  *begin = u->area + HEAD + from * RECORD, *end = u->area + HEAD + to * RECORD;
    begin -= (uintptr_t)begin & page;
    return blm__os.sync_map(begin, (size_t)(end - begin));
}

static bool save_page(struct blm__file *f, uint64_t n)
{
    struct blm__undo *u    = &f->undo;
    uint64_t          from = n >> u->level << u->level, to = from + ((uint64_t)1 << u->level);
    if (to > u->pages)
        to = u->pages;
    for (uint64_t i = from; i < to; i++)
        if (!u->saved[i])
            copy_page(f, i);
    int why = flush_records(u, from, to);
    if (why) {
        blm__file_broke(f, why, NULL);
        return false;
    }
    memset(u->saved + from, 1, (size_t)(to - from));
    u->level += u->level < LEVELS;
    return true;
}

bool blm__file_save(const struct blm__body *b, const struct blm__layer *l, uint64_t bit,
                    uint64_t bits)
{
    struct blm__file *f    = blm__file_of(b);
    uint64_t          from = bit / 8 / PAGE, to = (bit + bits - 1) / 8 / PAGE, first = 0;
    if (!l->engine->moves)
        return true;
    if (f->broken || !f->undo.map)
        return false;
    for (uint32_t i = 0; &b->layers[i] != l; i++)
        first += blm__undo_pages(&f->part[i].s);
    for (uint64_t n = first + from; n <= first + to; n++)
        if (!f->undo.saved[n] && !save_page(f, n))
            return false;
    return true;
}

bool blm__file_broken(const struct blm__body *b) { return blm__file_of(b)->broken; }

/* ---- putting back ---- */

/* A reader's own words from now on, in the same place. */
static blm_status own_words(struct blm__file *f, struct blm__body *b, blm_error *err)
{
    if (f->writer || b->snapshot)
        return BLM_OK;
    for (uint32_t i = 0; i < f->count; i++) {
        struct blm__part *p    = &f->part[i];
        uint64_t          from = p->s.at - (uint64_t)(p->record - p->map);
        if (mmap(p->map, p->map_len, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, f->fd, (off_t)from) == MAP_FAILED)
            return blm__fail_system(err, errno, "cannot map %llu bytes: %s",
                                    (unsigned long long)p->map_len, blm__os_text(errno));
    }
    b->snapshot = true;
    return BLM_OK;
}

static blm_status put_back(struct blm__file *f, struct blm__body *b, uint64_t n, uint64_t at,
                           blm_error *err)
{
    uint8_t record[RECORD], *page;
    size_t  got, need = 16;
    int     why = blm__os_read_at(f->fd, record, need, at, &got);
    if (!why && got == need && blm__get64le(record + 8) >= f->slot.generation) {
        need = RECORD;
        why  = blm__os_read_at(f->fd, record, need, at, &got);
    }
    if (why)
        return blm__fail_system(err, why, "cannot read what was saved: %s", blm__os_text(why));
    if (got < need)
        return blm__fail_at(err, BLM_E_TRUNCATED, at + got,
                            "the file ends within what its writer saved before the machine went "
                            "down");
    if (need < RECORD || blm__get64le(record) != record_sum(record, n))
        return BLM_OK; /* an old one, or not flushed: then nothing was overwritten */
    if (blm__get64le(record + 8) != f->slot.generation)
        return blm__fail_at(err, BLM_E_CHECKSUM, at,
                            "its parts are of different times, as of a copy made while it was "
                            "written: take another copy");
    blm_status st = own_words(f, b, err);
    if (st == BLM_OK) {
        size_t len = page_at(f, n, &page);
        memcpy(page, record + 16, len);
    }
    return st;
}

static bool crashed(const struct blm__file *f, const struct blm__body *b)
{
    return b->layers[0].engine->moves && blm__file_judge(&f->slot) == BLM_WRITER_CRASH;
}

bool blm__file_unsettled(const struct blm__file *f)
{
    static const uint8_t none[16] = { 0 };
    bool                 known    = memcmp(f->slot.boot, none, 16) != 0;
    return f->left && (!blm__lock_held(f->fd) || (known && blm__lock_preparing(f->fd)));
}

blm_status blm__file_recover(struct blm__file *f, struct blm__body *b, blm_error *err)
{
    if (!crashed(f, b))
        return BLM_OK;
    f->left = !f->writer && blm__lock_held(f->fd);
    if (f->left)
        return BLM_OK;
    if (!(f->slot.flags & BLM__SLOT_SAVES) && !blm__file_matches(b))
        return blm__fail(err, BLM_E_CHECKSUM,
                         "the machine went down while an earlier version of this library had the "
                         "file open, and keys that were being moved may be lost: rebuild it from "
                         "its keys");
    if (!(f->slot.flags & BLM__SLOT_SAVES))
        return BLM_OK;
    blm_status st = BLM_OK;
    uint64_t   at = f->slot.length + HEAD, pages = blm__undo_all(f);
    for (uint64_t n = 0; st == BLM_OK && n < pages; n++)
        st = put_back(f, b, n, at + n * RECORD, err);
    for (uint32_t i = 0; st == BLM_OK && i < f->count; i++)
        if (!blm__slack_clear(&f->part[i].s.shape, f->part[i].words))
            st = blm__fail_at(err, BLM_E_FORMAT, at, "bits past the last one were saved");
    return st;
}
