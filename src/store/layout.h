/* SPDX-License-Identifier: MIT */
/*
 * The native file, version 1: where every byte is. docs/formats/native.md is the specification.
 * This and layout.c are its only implementation in C, for the codec (bytes in, bytes out) and for
 * the mapped file (store/file.c).
 *
 *     0              header     512 bytes, written once; zeroes up to `block`
 *     block          slot 0     what changes: layers, items, writer. There are two, so that one is
 *     + slot_bytes   slot 1     always whole; in a closed file they are the same
 *     + slot_bytes   attached   bytes that another format carries along; usually none
 *     next block     section    one a layer: record, words, checksums, marks
 *     next block     section    …
 *
 * block is 512, or 4096 when the first layer has 64 KiB or more. All numbers are little-endian.
 */
#ifndef BLM_STORE_LAYOUT_H
#define BLM_STORE_LAYOUT_H

#include "core/body.h"
#include "core/error.h"

#define BLM__HEAD_BYTES   512u
#define BLM__RECORD_BYTES 256u
#define BLM__RECORD_LIVE  192u /* where the live count is in a record */
#define BLM__RECORD_MOVES 200u /* … and, where cells move, how often one has */
#define BLM__SLOT_EPOCH   8u   /* where the epoch is in a slot */
#define BLM__SLOT_MAX     8192u
#define BLM__MAX_REGIONS  65536u
#define BLM__MIN_REGION   16u /* log2 of the bytes of the smallest regions */

/* Slot flags. */
#define BLM__SLOT_WRITER   1u /* a writer has, or had, the file open */
#define BLM__SLOT_SHARED   2u /* … with BLM_SHARED */
#define BLM__SLOT_SAVES    4u /* … and saves what it overwrites: store/file_undo.c */
#define BLM__SLOT_UNCLOSED 8u /* an earlier writer did not close it: body.unclosed */

struct blm__native_head {
    uint64_t ignored; /* features that we do not know, and need not */
    uint8_t  uuid[16];
    uint32_t block, slot_bytes, room;
    uint32_t kind;
    char     scheme[32];
    uint32_t scheme_version;
    uint32_t hash;
    char     hash_name[16];
    uint64_t seed[2];
    uint32_t seed_policy;
    uint64_t attached_len, attached_sum;
    char     funnel[32];
};

struct blm__native_slot {
    uint64_t generation; /* counts changes; of two whole slots the one with the larger counts */
    uint64_t epoch;      /* counts layers that come and go */
    uint64_t length;     /* bytes of the file that are the filter */
    uint32_t layer_count, active, flags;
    uint8_t  boot[16];
    uint64_t pid;
    double   rate, growth, tightening, rate_cap;
    struct {
        uint64_t at, items;
    } layer[BLM__MAX_LAYERS];
};

struct blm__native_section {
    struct blm__shape shape;
    uint64_t          at;
    uint32_t          region_log2; /* bytes of a region, as a power of two */
    uint64_t          words_at, words_len;
    uint64_t          regions, sums_at, marks_at, end;
    uint64_t          live; /* items: a writer that is not shared keeps it up to date */
};

/* ---- places ---- */

static inline uint64_t blm__align(uint64_t v, uint64_t to) { return (v + to - 1) / to * to; }

/* Where the first section is. */
uint64_t               blm__native_first(const struct blm__native_head *h);
static inline uint64_t blm__native_slot_at(const struct blm__native_head *h, unsigned i)
{
    return h->block + (uint64_t)i * h->slot_bytes;
}
/* Everything in a section except `live`, from its shape and place. False: past 2^62 bytes. */
bool blm__native_place(const struct blm__shape *s, uint64_t at, uint32_t block,
                       struct blm__native_section *out);
/* Bytes of region r; the last one may be short. */
uint64_t blm__native_region_bytes(const struct blm__native_section *s, uint64_t r);
/* What the table has for region r if its words hash to `sum`. The number is added, so that two
 * regions that changed places do not match. */
static inline uint64_t blm__native_region_sum(uint64_t sum, uint64_t r) { return sum + r; }

/* ---- body → bytes ---- */

/* E_UNSUPPORTED: a name is too long. E_LIMIT: there are too many layers. `first` is the first
 * layer's shape. */
blm_status blm__native_head_of(const struct blm__body *b, const struct blm__shape *first,
                               struct blm__native_head *out, blm_error *err);
void       blm__native_put_head(const struct blm__native_head *h, uint8_t out[BLM__HEAD_BYTES]);
/* Fills what the body knows; items and places of layers are for the caller to fill. */
void blm__native_slot_of(const struct blm__body *b, struct blm__native_slot *out);
void blm__native_put_slot(const struct blm__native_head *h, const struct blm__native_slot *s,
                          uint8_t *out); /* slot_bytes */
void blm__native_put_record(const struct blm__native_section *s, uint8_t out[BLM__RECORD_BYTES]);

/* ---- bytes → body; all check everything they read ---- */

/* Whether these are the first bytes of a native file: 100 if they begin with the magic number, 90
 * if that is a little damaged, 60 if they are cut off within it, else 0. */
int blm__native_bid(const uint8_t *head, size_t len);

blm_status blm__native_get_head(const uint8_t in[BLM__HEAD_BYTES], struct blm__native_head *out,
                                blm_error *err);
/* The scheme, hasher and kind of a body. */
blm_status blm__native_head_to(const struct blm__native_head *h, struct blm__body *b,
                               const struct blm__scheme **scheme, blm_error *err);
/* Whether this slot's checksum matches. */
bool blm__native_slot_whole(const struct blm__native_head *h, const uint8_t *in);
/* Reads the one of two slots that counts, and says which. E_CHECKSUM: neither is whole. E_FORMAT:
 * what it says is impossible. */
blm_status blm__native_get_slot(const struct blm__native_head *h, const uint8_t *both,
                                struct blm__native_slot *out, unsigned *which, blm_error *err);
void       blm__native_slot_to(const struct blm__native_slot *s, struct blm__body *b);
/* Items of layer i: as of now if a writer that is not shared has, or had, the file open, else as of
 * the last sync. */
static inline uint64_t blm__native_items(const struct blm__native_slot *s, uint32_t i,
                                         uint64_t live)
{
    bool now = (s->flags & BLM__SLOT_WRITER) && !(s->flags & BLM__SLOT_SHARED);
    return now ? live : s->layer[i].items;
}
bool blm__native_record_whole(const uint8_t in[BLM__RECORD_BYTES]);
/* The record of layer i, which the slot says is at slot->layer[i].at. */
blm_status blm__native_get_record(const struct blm__native_head *h,
                                  const struct blm__native_slot *s, uint32_t i,
                                  const struct blm__scheme   *scheme,
                                  const uint8_t               in[BLM__RECORD_BYTES],
                                  struct blm__native_section *out, blm_error *err);

#endif
