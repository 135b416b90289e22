/* SPDX-License-Identifier: MIT */
/*
 * What the checksums of a mapped file say.
 *
 * A region whose checksum matches is good, whatever its mark says. One that does not match is
 * unverified if there is an innocent reason, else damaged. Reasons are: its mark is set; the
 * machine went down, so that words and checksums on the disk may be of different ages; or a shared
 * writer was killed, perhaps between the two marks of an add.
 */
#include <string.h>

#include "core/checksum.h"
#include "store/file.h"

/* While there is a live writer, a mismatch may last only a moment: we may look between an add's bit
 * and its second mark, or a sync may come between our reading of the words and of the checksum. So
 * look again, up to this many times in one verification, a millisecond apart; and as often again for
 * each writer that has come since, or has come and gone. */
#define SECOND_LOOKS 100
#define MORE_LOOKS   3 /* times, so that it ends where writers come all the time */

struct verifying {
    const struct blm__body *b;
    blm_verdict            *out;
    bool                    excused; /* no mismatch counts as damage */
    int                     looks, more;
    blm_writer              writer;
    uint64_t                generation; /* of the slots */
};

static void judge(struct verifying *v, blm_writer writer, const struct blm__native_slot *now)
{
    v->writer     = writer;
    v->generation = now->generation;
    v->excused    = writer == BLM_WRITER_CRASH ||
                 (writer == BLM_WRITER_DIED && (now->flags & BLM__SLOT_SHARED));
}

static bool look_again(struct verifying *v)
{
    if (v->looks == 0 && v->more > 0) {
        struct blm__native_slot now;
        blm_writer              writer = blm__file_state(v->b, &now);
        if (writer == v->writer && now.generation == v->generation)
            return false;
        judge(v, writer, &now);
        v->looks = SECOND_LOOKS;
        v->more--;
    }
    if (v->looks == 0)
        return false;
    v->looks--;
    blm__file_pause();
    return true;
}

static bool matches(const struct blm__part *p, uint64_t r)
{
    uint64_t sum = 0;
    blm__checksum_words(p->words + (r << p->s.region_log2) / 8,
                        blm__native_region_bytes(&p->s, r) / 8, NULL, NULL, &sum);
    uint64_t stored = blm__le64(__atomic_load_n(&p->sums[r], __ATOMIC_SEQ_CST));
    return blm__native_region_sum(sum, r) == stored;
}

static bool marked(const struct blm__part *p, uint64_t r)
{
    return __atomic_load_n(&p->marks[r], __ATOMIC_SEQ_CST) != 0;
}

static void note_damage(blm_verdict *v, uint64_t region, uint64_t at, uint64_t bytes)
{
    if (v->damaged++ > 0)
        return;
    v->first_damaged  = region;
    v->damaged_offset = at;
    v->damaged_bytes  = bytes;
}

static void verify_region(struct verifying *v, const struct blm__part *p, uint64_t r)
{
    uint64_t number = v->out->regions++;
    for (;;) {
        if (matches(p, r)) {
            v->out->good++;
            return;
        }
        if (v->excused || marked(p, r)) {
            v->out->unverified++;
            return;
        }
        if (!look_again(v))
            break;
    }
    note_damage(v->out, number, p->s.words_at + (r << p->s.region_log2),
                blm__native_region_bytes(&p->s, r));
}

/* One whole slot is enough. The other may have been left half written by a power cut, which cannot
 * be told from damage. So it counts as one more region, unverified, until the next writer writes it
 * again. */
static blm_status verify_slots(const struct blm__file *f, blm_verdict *out, blm_error *err)
{
    uint8_t                 both[2 * BLM__SLOT_MAX];
    struct blm__native_slot slot;
    unsigned                which;
    blm_status              st = blm__file_read_slots(f, both, err);
    if (st == BLM_OK)
        st = blm__native_get_slot(&f->head, both, &slot, &which, err);
    for (unsigned i = 0; st == BLM_OK && i < 2; i++)
        if (!blm__native_slot_whole(&f->head, both + (size_t)i * f->head.slot_bytes)) {
            out->regions++;
            out->unverified++;
        }
    return st;
}

/* Checks again what opening has read: it may have been damaged since. */
static blm_status verify_front(const struct blm__file *f, blm_verdict *out, blm_error *err)
{
    struct blm__native_head head;
    blm_status              st = blm__native_get_head(f->front, &head, err);
    for (uint32_t i = 0; st == BLM_OK && i < f->count; i++) {
        uint8_t record[BLM__RECORD_BYTES] = { 0 };
        memcpy(record, f->part[i].record, BLM__RECORD_LIVE); /* what follows may be changing */
        if (!blm__native_record_whole(record))
            st = blm__fail_at(err, BLM_E_CHECKSUM, f->part[i].s.at,
                              "the description of layer %u is damaged", i);
    }
    /* While there is a writer, which may be us, the slots may be changing. */
    return st == BLM_OK && out->writer != BLM_WRITER_LIVE ? verify_slots(f, out, err) : st;
}

static blm_status report(const blm_verdict *v, blm_error *err)
{
    if (v->damaged == 0)
        return BLM_OK;
    return blm__fail_at(err, BLM_E_CHECKSUM, v->damaged_offset,
                        "region %llu, %llu bytes at %llu, is damaged (%llu of %llu regions are)",
                        (unsigned long long)v->first_damaged, (unsigned long long)v->damaged_bytes,
                        (unsigned long long)v->damaged_offset, (unsigned long long)v->damaged,
                        (unsigned long long)v->regions);
}

bool blm__file_matches(const struct blm__body *b)
{
    const struct blm__file *f = blm__file_of(b);
    for (uint32_t i = 0; i < f->count; i++)
        for (uint64_t r = 0; r < f->part[i].s.regions; r++)
            if (!matches(&f->part[i], r))
                return false;
    return true;
}

blm_status blm__file_verify(const struct blm__body *b, blm_verdict *out, blm_error *err)
{
    const struct blm__file *f = blm__file_of(b);
    struct blm__native_slot now;
    struct verifying        v    = { .b = b, .out = out, .more = MORE_LOOKS };
    uint64_t                done = 0, total = blm__body_bytes(b);
    memset(out, 0, sizeof *out);
    out->size   = sizeof *out;
    out->writer = blm__file_state(b, &now);
    if (!f->writer && blm__file_stale(b))
        return blm__fail(err, BLM_E_BUSY,
                         "a writer has added or dropped layers: refresh the filter first");
    judge(&v, out->writer, &now);
    v.looks = out->writer == BLM_WRITER_LIVE ? SECOND_LOOKS : 0;
    for (uint32_t i = 0; i < f->count; i++)
        for (uint64_t r = 0; r < f->part[i].s.regions; r++) {
            if (!blm__go_on(b, done, total))
                return blm__fail(err, BLM_E_CANCELLED, "cancelled after %llu of %llu bytes",
                                 (unsigned long long)done, (unsigned long long)total);
            verify_region(&v, &f->part[i], r);
            done += blm__native_region_bytes(&f->part[i].s, r);
        }
    blm_status st = verify_front(f, out, err);
    if (st == BLM_OK)
        st = report(out, err);
    if (st == BLM_OK)
        __atomic_store_n(&blm__file_of(b)->sound, true, __ATOMIC_RELAXED);
    return st;
}

blm_status blm__file_vouch(const struct blm__body *b, blm_error *err)
{
    blm_verdict v   = { .size = sizeof v };
    blm_error   why = { .text = "" };
    if (__atomic_load_n(&blm__file_of(b)->sound, __ATOMIC_RELAXED))
        return BLM_OK;
    blm_status st = blm__file_verify(b, &v, &why);
    if (st == BLM_E_CHECKSUM)
        return blm__fail_at(err, st, why.offset, "the filter's own file: %s", why.text);
    if (st != BLM_OK && err)
        *err = why;
    return st;
}
