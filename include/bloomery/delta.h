/* SPDX-License-Identifier: MIT */
/*
 * Deltas: what changed from one snapshot of a filter to the next, so that a copy elsewhere can
 * follow for a fraction of the filter's size.
 *
 * Settled: both calls, and the bytes of a delta (docs/formats/delta.md).
 */
#ifndef BLOOMERY_DELTA_H
#define BLOOMERY_DELTA_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the delta that leads from one snapshot of a filter to a later one. They must have the same
 * parameters and seed, and grow alike; E_MISMATCH names what differs. A scalable `to` may have more
 * layers than `from`, or may have been rebuilt larger in memory, and then the delta is about as large
 * as `to`. Bits may have been set and cleared. Neither filter may change during the call. Needs little
 * memory. The bytes are not compressed, and compress well. */
BLM_API blm_status blm_diff(const blm_filter *from, const blm_filter *to, blm_write_fn write,
                            void *ctx, blm_error *err);

/* Reads a delta and makes the filter that it leads to, in memory; you own it. `base` is only read.
 * A delta holds the fingerprints of both its ends: if base is not where it starts, E_MISMATCH; if
 * base is already where it leads, BLM_PRESENT and a copy of base. What comes back is always `to`,
 * bit for bit; a damaged delta is E_TRUNCATED, E_FORMAT or E_CHECKSUM with the offset. E_LIMIT: the
 * delta would make the filter more than 4 096 times larger, or larger than base's max_bytes. */
BLM_API blm_status blm_patch(const blm_filter *base, blm_read_fn read, void *ctx, blm_filter **out,
                             blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
