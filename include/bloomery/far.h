/* SPDX-License-Identifier: MIT */
/*
 * A native file that is far away: in an object store, behind HTTP ranges, on another machine. You
 * bring the function that reads bytes of it; nothing is downloaded but what a check needs.
 *
 *     blm_far *far;
 *     if (blm_far_open(read_range, &bucket, size, NULL, &far, &err) != BLM_OK) …
 *     bool maybe;
 *     if (blm_far_check(far, "smith", 5, &maybe, &err) != BLM_OK) …   // nobody knows: treat as maybe
 *     blm_far_free(far);
 *
 * What it costs
 *   Opening takes one read of up to 24 KiB, and for each further layer one of 256 bytes. A check of a
 *   blocked filter then takes one read of at most 64 bytes for each of its lines (one to three), of
 *   a classic filter up to k reads of a byte, of a counting filter one per line, of a cuckoo filter
 *   two, of a static filter three; that one takes one more to open, of 8 bytes a million keys. A check ends with the first cell that says no. Bytes that lie close together are read at
 *   once (blm_far_set_gap). A scalable filter costs that for each layer, until one says maybe.
 *   A batch sorts what it needs by place and reads each stretch once.
 *
 * What is verified
 *   Header, slots and layer records have checksums, which are verified when the file is opened. The
 *   cells have one for each region of 64 KiB or more, so a few bytes cannot be verified. With
 *   BLM_VERIFY in options.flags whole regions are read and verified instead (E_CHECKSUM), and the
 *   checksums once at the beginning; a file that changes while it is asked is found by that too.
 *   A cascade, whose answers are taken for certain, is always read so.
 *   Without it your function must bring what the file has, and the file must not change: ask by an
 *   entity tag or a version.
 *
 * The file must have been closed by its writer (E_BUSY). Windows are E_UNSUPPORTED: what they answer
 * depends on time. One thread at a time may use a handle. May still change before 1.0.
 */
#ifndef BLOOMERY_FAR_H
#define BLOOMERY_FAR_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads exactly `len` bytes from `offset` on. Anything but BLM_OK is a failure, which the call that
 * needed the bytes returns: E_IO if you have no better name for it. You may fill *err with your own
 * sentence (err is never NULL here); if its text stays empty, a sentence is written for you. */
typedef blm_status (*blm_read_at_fn)(void *ctx, uint64_t offset, void *bytes, size_t len,
                                     blm_error *err);

typedef struct blm_far blm_far;

/* Opens a native file of `size` bytes. `o` may be NULL; flags (VERIFY), funnel, hash_fn, probe_fn and
 * allocator are read from it. ctx must outlive the handle. On success you own *out: blm_far_free it,
 * NULL is allowed. */
BLM_API blm_status blm_far_open(blm_read_at_fn read, void *ctx, uint64_t size, const blm_options *o,
                                blm_far **out, blm_error *err);
BLM_API void       blm_far_free(blm_far *f);

/* *maybe becomes false only if the filter certainly does not have the key; after a failure it is
 * true. */
BLM_API blm_status blm_far_check(blm_far *f, const void *key, size_t len, bool *maybe,
                                 blm_error *err);
/* The same for many: maybe[i] becomes 0 or 1. After a failure every answer that is not known is 1.
 * Keys are taken in runs of 4096. */
BLM_API blm_status blm_far_check_many(blm_far *f, const blm_key *keys, size_t count, uint8_t *maybe,
                                      blm_error *err);

/* Bytes that may be read in vain between two that are needed, to save a read. Default: 4096. */
BLM_API void blm_far_set_gap(blm_far *f, uint32_t bytes);

BLM_API blm_status blm_far_get_params(const blm_far *f, blm_params *out);

typedef struct blm_far_reads {
    size_t   size;
    uint64_t reads, bytes; /* since the handle was opened, with what that took */
} blm_far_reads;
BLM_API blm_status blm_far_get_reads(const blm_far *f, blm_far_reads *out);

#ifdef __cplusplus
}
#endif
#endif
