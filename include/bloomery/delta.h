/* SPDX-License-Identifier: MIT */
/* Deltas: a copy follows a filter for a fraction of its size. */
#ifndef BLOOMERY_DELTA_H
#define BLOOMERY_DELTA_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Writes what changed from one snapshot of a filter to a later one. Same parameters and seed, else
 * E_MISMATCH names what differs; a scalable `to` may have layers that `from` has not, or have been
 * made anew in memory (the delta is then about as large as it). Bits may have gone as well as come
 * (remove, clear). Neither may change meanwhile. Bounded memory. The bytes are not compressed, and
 * compress well: docs/formats/delta.md. */
BLM_API blm_status blm_diff(const blm_filter *from, const blm_filter *to, blm_write_fn write,
                            void *ctx, blm_error *err);

/* Reads a delta and makes, in memory, the filter that it leads to; `base` is only read. A delta
 * names both its ends by their fingerprints: E_MISMATCH when base is not where it starts,
 * BLM_PRESENT (and a copy of base) when base is where it leads. A damaged delta is E_TRUNCATED,
 * E_FORMAT or E_CHECKSUM with the offset, and what comes back is always `to`, bit for bit. A delta
 * may not make a filter more than 4 096 times larger, nor pass base's cap (E_LIMIT). */
BLM_API blm_status blm_patch(const blm_filter *base, blm_read_fn read, void *ctx, blm_filter **out,
                             blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
