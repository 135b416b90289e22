/* SPDX-License-Identifier: MIT */
/* For programs that build filters into a server, a store or a protocol. */
#ifndef BLOOMERY_EMBED_H
#define BLOOMERY_EMBED_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- keys come and answers go by function --- */

/* A batch whose keys come and whose answers go as it is worked on: for callers who must do
 * something for each key before and after, such as parse it and reply to it, and can do that for
 * some while the memory of others is on its way. As blm_check_many and blm_add_many otherwise;
 * one thread. */
typedef struct blm_flow {
    /* Up to `room` more keys into `keys`, and how many; 0: there are no more, and it is not asked
     * again. Their bytes are read before the next call. */
    size_t (*next)(void *ctx, blm_key *keys, size_t room);
    /* maybe[] or fresh[] of the next n keys, in their order. NULL: nobody wants to know. */
    void (*tell)(void *ctx, const uint8_t *answers, size_t n);
    void *ctx;
} blm_flow;

/* How many may be present. Neither function may use the filter. */
BLM_API size_t blm_check_flow(const blm_filter *f, const blm_flow *flow);
/* On failure `tell` was called for the keys that were added; *done (or NULL) is their number. How
 * many more keys `next` had given by then is not known. */
BLM_API blm_status blm_add_flow(blm_filter *f, const blm_flow *flow, size_t *done);

/* ---- hashes --- */

/* The same in 8 bytes a key, for the native scheme: a digest's first word without the tag that
 * guards it, so that hashing and adding can be done by different threads, or at different times.
 * It is for the caller to know that hash and seed are the filter's. E_UNSUPPORTED (check_hashes:
 * all "maybe") for other schemes. blm_hash_many only reads the filter's seed: it may run beside
 * anything but blm_free. */
BLM_API blm_status blm_hash_many(const blm_filter *f, const blm_key *keys, size_t count,
                                 uint64_t *out);
BLM_API blm_status blm_add_hashes(blm_filter *f, const uint64_t *hashes, size_t count,
                                  uint8_t *fresh, size_t *done);
BLM_API size_t     blm_check_hashes(const blm_filter *f, const uint64_t *hashes, size_t count,
                                    uint8_t *maybe);

/* ---- positions --- */

/* The positions a key probes: bit (or counter) numbers below m, in probe order, layer after layer
 * (a scalable filter's positions count through its layers, and hold until it grows: ask with older
 * ones and a key that was added may be answered "no"). Writes at most `cap`, and the number there
 * are to *count. Unreduced: the 64-bit values before they are brought below m (what Go's
 * Locations gives); E_UNSUPPORTED where a scheme has no such thing (blocked). */
BLM_API blm_status blm_positions(const blm_filter *f, const void *key, size_t len, uint64_t *out,
                                 size_t cap, size_t *count);
BLM_API blm_status blm_positions_raw(const blm_filter *f, const void *key, size_t len,
                                     uint64_t *out, size_t cap, size_t *count);
/* The k unreduced values of a key without a filter: Go's Locations(key, k) with scheme "go". Seed
 * 0, the scheme's default funnel and variant. E_UNSUPPORTED: the scheme has no such values, or
 * another number of them; E_ARGUMENT: no such scheme, or it sizes itself. A filter that is at hand
 * is faster: blm_positions_raw. */
BLM_API blm_status blm_locations(const char *scheme, uint32_t k, const void *key, size_t len,
                                 uint64_t *out);
/* true when every listed position is set (for scalable: all of one layer's). A position that is
 * out of range counts as "maybe". The raw form reduces first. */
BLM_API bool blm_check_positions(const blm_filter *f, const uint64_t *pos, size_t count);
BLM_API bool blm_check_positions_raw(const blm_filter *f, const uint64_t *pos, size_t count);

/* Adds a key by its positions, where the caller has made them: as blm_positions lists them, or by
 * any rule of the caller's own. Sets each (counting: raises each counter once for each time it is
 * listed). BLM_OK: at least one was clear, and the key is counted; BLM_PRESENT: none was (or the
 * list is empty). E_ARGUMENT: one is not below m, and nothing changed. E_UNSUPPORTED: scalable
 * filters, which choose the layer themselves. */
BLM_API blm_status blm_add_positions(blm_filter *f, const uint64_t *pos, size_t count);

/* ---- bits and memory --- */

/* Writes bytes over those of a layer from byte `at` on, as blm_view shows them: for who carries a
 * filter's bits piece by piece. Items are not counted. E_ARGUMENT: past the layer's end, or a bit
 * set behind its last cell. Exclusive. */
BLM_API blm_status blm_write_bits(blm_filter *f, uint32_t layer, uint64_t at, const void *bytes,
                                  uint64_t len);

/* Changes how many bytes the filter may grow to (options.max_bytes; 0: no cap). Exclusive. */
BLM_API void blm_set_max_bytes(blm_filter *f, uint64_t max_bytes);

/* Bytes of memory that the filter has taken: handle, layers, bits, counts of threads, kept hashes,
 * bytes that a format carries along. A caller's borrowed words and the pages of a mapped file
 * (params.bytes of BLM_IN_WORDS, BLM_FILE_…) are not among them. O(layers). */
BLM_API uint64_t blm_memory(const blm_filter *f);

/* For allocators that move memory to close gaps: `move` is shown each piece that a filter in memory
 * owns, the handle last, and returns its new place (content copied, the old one freed) or NULL to
 * leave it. Returns the handle, which may be another one. Exclusive. */
typedef void *(*blm_move_fn)(void *ctx, void *ptr);
BLM_API blm_filter *blm_relocate(blm_filter *f, blm_move_fn move, void *ctx);

/* The same bytes from byte `at` on, for who sends a filter in pieces, and how many there are (0
 * when it fails). In format native what is left out is not read either, but for a layer's
 * checksums, when they are written; other formats encode everything. A filter that changes between
 * two pieces gives bytes whose checksums do not match. */
BLM_API blm_status blm_encode_from(const blm_filter *f, const char *format, uint64_t at,
                                   blm_write_fn write, void *ctx, blm_error *err);

/* ---- bare bits: a very small filter inside another structure ------------------------------ */

/* For a store that keeps a filter of some dozen keys beside each block or page: no header, no
 * handle, no memory; the caller keeps m, k and the seed. `bytes` are (m + 7) / 8 at any address,
 * zeroed before the first add, bit i being bit i % 8 of byte i / 8: the bits of a classic filter of
 * scheme native with hash XXH3, these parameters and seed[0] = seed. m = 0 or k = 0: nothing is
 * added, and everything is "maybe". Any number of threads may check; adds are exclusive. */
BLM_API void blm_bare_add(void *bytes, uint64_t m, uint32_t k, uint64_t seed, const void *key,
                          size_t len);
BLM_API bool blm_bare_check(const void *bytes, uint64_t m, uint32_t k, uint64_t seed,
                            const void *key, size_t len);

#ifdef __cplusplus
}
#endif
#endif
