/* SPDX-License-Identifier: MIT */
/*
 * For programs that build filters into a server, a store or a protocol, and need more than keys and
 * answers: hashes, positions, bits, memory.
 *
 * May change: everything in this file, until 1.0. Its calls follow what the Redis module and the
 * adapters need, and they show more of how a filter works than bloomery.h does. If you use one, pin
 * the version of the library. The bits of blm_bare_add are settled, since they are kept in files.
 */
#ifndef BLOOMERY_EMBED_H
#define BLOOMERY_EMBED_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a batch that calls you for its keys and answers --- */

/* For callers that do something with each key before and after, such as parse it and reply to it:
 * they do it for some keys while the memory for others is being fetched. Otherwise as
 * blm_check_many and blm_add_many, on one thread. Neither function may use the filter. */
typedef struct blm_flow {
    /* Puts up to `room` more keys into `keys` and returns how many. 0: there are no more; it is not
     * called again. The keys' bytes must last until the next call. */
    size_t (*next)(void *ctx, blm_key *keys, size_t room);
    /* Takes the answers for the next n keys, in order: what blm_check_many puts into maybe[], or
     * blm_add_many into fresh[]. May be NULL. */
    void (*tell)(void *ctx, const uint8_t *answers, size_t n);
    void *ctx;
} blm_flow;

/* Returns how many answers were "maybe". */
BLM_API size_t blm_check_flow(const blm_filter *f, const blm_flow *flow);
/* *done (or NULL) is how many keys were added. If it fails, `tell` has been called for those, and
 * `next` may have given more. */
BLM_API blm_status blm_add_flow(blm_filter *f, const blm_flow *flow, size_t *done);

/* ---- hashes --- */

/* Digests of 8 bytes, for the native scheme: the first word of a blm_digest without its tag. Keys
 * can be hashed in one thread and added in another, or later. Nothing checks that the hashes were
 * made with the filter's hash and seed: you must know. Other schemes: E_UNSUPPORTED, and
 * check_hashes answers "maybe" to all. blm_hash_many reads only the filter's seed, so it may run
 * during any call but blm_free. */
BLM_API blm_status blm_hash_many(const blm_filter *f, const blm_key *keys, size_t count,
                                 uint64_t *out);
BLM_API blm_status blm_add_hashes(blm_filter *f, const uint64_t *hashes, size_t count,
                                  uint8_t *fresh, size_t *done);
BLM_API size_t     blm_check_hashes(const blm_filter *f, const uint64_t *hashes, size_t count,
                                    uint8_t *maybe);

/* ---- positions --- */

/* A key's positions, in probe order, layer after layer. They are numbers of cells, below m; in a
 * scalable filter they count on from layer to layer, and are valid until it grows: with older ones,
 * a key that was added may be answered "no". Writes at most `cap` of them; *count is how many there
 * are. The raw form gives the 64-bit values before they are reduced to below m, as Go's Locations
 * does; E_UNSUPPORTED for schemes that have no such values, and for blocked filters. */
BLM_API blm_status blm_positions(const blm_filter *f, const void *key, size_t len, uint64_t *out,
                                 size_t cap, size_t *count);
BLM_API blm_status blm_positions_raw(const blm_filter *f, const void *key, size_t len,
                                     uint64_t *out, size_t cap, size_t *count);
/* The k unreduced values of a key, without a filter: Go's Locations(key, k) with scheme "go". Seed
 * 0, the scheme's default funnel and variant. E_UNSUPPORTED: the scheme has no such values, or
 * another number of them. E_ARGUMENT: no such scheme, or it sizes itself. If you have a filter,
 * blm_positions_raw is faster. */
BLM_API blm_status blm_locations(const char *scheme, uint32_t k, const void *key, size_t len,
                                 uint64_t *out);
/* true if every cell at these positions is in use (scalable: all those of one layer). A position
 * past the end counts as in use. The raw form reduces them first. */
BLM_API bool blm_check_positions(const blm_filter *f, const uint64_t *pos, size_t count);
BLM_API bool blm_check_positions_raw(const blm_filter *f, const uint64_t *pos, size_t count);

/* Adds a key by its positions, where the caller has made them: as blm_positions lists them, or by
 * any rule of the caller's own. Sets each (counting: raises each counter once for each time it is
 * listed). BLM_OK: at least one was clear, and the key is counted; BLM_PRESENT: none was (or the
 * list is empty). E_ARGUMENT: one is not below m, and nothing changed. E_UNSUPPORTED: scalable
 * filters, which choose the layer themselves. */
BLM_API blm_status blm_add_positions(blm_filter *f, const uint64_t *pos, size_t count);

/* ---- bits and memory --- */

/* Overwrites a layer's bits, from byte `at` on, with bytes as blm_view shows them: for programs
 * that receive a filter in chunks. Items are not counted. E_ARGUMENT: the bytes go past the layer's
 * end, or set a bit behind its last cell. Exclusive. */
BLM_API blm_status blm_write_bits(blm_filter *f, uint32_t layer, uint64_t at, const void *bytes,
                                  uint64_t len);

/* Changes options.max_bytes for later growth (0: no limit). Exclusive. */
BLM_API void blm_set_max_bytes(blm_filter *f, uint64_t max_bytes);

/* Bytes of memory that the filter owns: handle, layers, bits, counters of threads, kept hashes,
 * bytes that a format carries along. A caller's borrowed words and the pages of a mapped file
 * (params.bytes) are not included. O(layers). */
BLM_API uint64_t blm_memory(const blm_filter *f);

/* For allocators that move memory to close gaps. `move` is called with each allocation of a filter
 * in memory, the handle last. It returns where the content now is, having copied it and freed the
 * old place, or NULL if it did not move it. Returns the handle, which may have moved too.
 * Exclusive. */
typedef void *(*blm_move_fn)(void *ctx, void *ptr);
BLM_API blm_filter *blm_relocate(blm_filter *f, blm_move_fn move, void *ctx);

/* The bytes of blm_encode from byte `at` on, for programs that send a filter in chunks: `write` may
 * stop it after each chunk. In format native the part before `at` is not read, except to compute
 * the checksums that are written, and to verify a mapped filter once; other formats encode everything
 * each time. If the filter changes between two chunks, the checksums will not match. */
BLM_API blm_status blm_encode_from(const blm_filter *f, const char *format, uint64_t at,
                                   blm_write_fn write, void *ctx, blm_error *err);

/* options.flags of decode, for chunks of a filter that others added to meanwhile: its bits count, not
 * its checksums. The keys that were in it before the first chunk was read are all in what comes back. */
#define BLM_TORN 0x080u

/* ---- a native filter in chunks ------------------------------------------------------------ */

/* What goes before a filter's native bytes when they travel in chunks, as in BF.SCANDUMP and
 * BF.LOADCHUNK: 24 bytes that say how many follow. */
#define BLM_DUMP_HEADER   24u
#define BLM_DUMP_SATURATE 1u /* flags: the server takes keys past the capacity, as a file does */
BLM_API void blm_dump_write_header(uint8_t out[BLM_DUMP_HEADER], uint32_t flags, uint64_t bytes);
/* E_FORMAT, E_VERSION: not such a header, or none that is known here. */
BLM_API blm_status blm_dump_read_header(const void *header, size_t len, uint32_t *flags,
                                        uint64_t *bytes, blm_error *err);

/* ---- bare bits: a very small filter inside another structure ------------------------------ */

/* For a store that keeps a filter of a few dozen keys in each of its blocks or pages. There is no
 * header, no handle and no allocation; you keep m, k and the seed. `bytes` is (m + 7) / 8 bytes at
 * any address, zeroed before the first add. They are the bits of a native classic filter with hash
 * XXH3 of version 1, these parameters and seed[0] = seed; bit i is bit i % 8 of byte i / 8. If m or k is 0,
 * nothing is added and every answer is "maybe". Any number of threads may check; adds are
 * exclusive. */
BLM_API void blm_bare_add(void *bytes, uint64_t m, uint32_t k, uint64_t seed, const void *key,
                          size_t len);
BLM_API bool blm_bare_check(const void *bytes, uint64_t m, uint32_t k, uint64_t seed,
                            const void *key, size_t len);

/* The same with the hash of version 2, for keys that somebody else may choose (docs/hash.md): the bits
 * of a native classic filter of version 2 with this seed. The secret is made once, in about a
 * microsecond. It is as secret as the seed. */
typedef struct blm_secret {
    uint64_t word[48];
} blm_secret;
BLM_API void blm_secret_make(const uint64_t seed[2], blm_secret *out);
BLM_API void blm_bare_add_keyed(void *bytes, uint64_t m, uint32_t k, const blm_secret *secret,
                                const void *key, size_t len);
BLM_API bool blm_bare_check_keyed(const void *bytes, uint64_t m, uint32_t k,
                                  const blm_secret *secret, const void *key, size_t len);

#ifdef __cplusplus
}
#endif
#endif
