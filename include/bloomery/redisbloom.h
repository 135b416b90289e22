/* SPDX-License-Identifier: MIT */
/*
 * RedisBloom's filters, layer by layer: for programs that read and write its dumps themselves.
 * docs/formats/redisbloom.md describes the format, and what its fields are called there.
 *
 * May still change before 1.0: everything here, names included. RedisBloom's bytes are settled.
 */
#ifndef BLOOMERY_REDISBLOOM_H
#define BLOOMERY_REDISBLOOM_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each layer has half the rate of the one before, and the first one's is below 1: the 1 075th has
 * 2^-1074, the smallest a double holds. No layer can be made for the rate after that. */
#define BLM_CHAIN_MAX_LAYERS 1075u

/* RedisBloom's options, in a dump's header and in options.variant and params.variant. */
#define BLM_CHAIN_NOROUND          1u /* layers of any size; else powers of two */
#define BLM_CHAIN_ENTRIES_ARE_BITS 2u /* capacity was given in bits; never seen in a dump */
#define BLM_CHAIN_FORCE64          4u /* 64-bit hash; else 32 */
#define BLM_CHAIN_NO_SCALING       8u
#define BLM_CHAIN_OPTIONS          15u /* all of them */

/* One layer (RedisBloom says link) as its dumps describe it. */
typedef struct blm_chain_layer {
    uint64_t bytes;   /* of its array */
    uint64_t bits;    /* positions are reduced mod bits (n2 > 0: mod 2^n2). It is 8·bytes; up to 7
                         less before version 2.2.5; before 2.2.0 it may also be 0, with n2 > 0 */
    uint64_t items;   /* keys in it */
    uint64_t entries; /* its capacity */
    double   error, bpe; /* its rate; bits per entry, |ln error| / ln²2 */
    uint32_t hashes;     /* ⌈ln 2 · bpe⌉ */
    uint8_t  n2;
    void    *words; /* create: its array, or NULL for zeroes. the library fills in NULL */
} blm_chain_layer;

/* ---- the header of a dump --- */

/* The first chunk that BF.SCANDUMP gives, which says what the chunks after it hold. */
typedef struct blm_chain_header {
    size_t   size;
    uint64_t items; /* keys in all layers */
    uint64_t bytes; /* of all their arrays: what follows the header */
    uint32_t layers, options, growth;
} blm_chain_header;

/* Bytes of the longest header. */
#define BLM_CHAIN_MAX_HEADER (20 + 53 * BLM_CHAIN_MAX_LAYERS)

/* Reads a header of `len` bytes, which is its whole length: that tells RedisBloom's three layouts
 * apart. The first `cap` layers go to `layers` (may be NULL, with a cap of 0); out->layers is how
 * many there are. E_FORMAT, E_LIMIT or E_TRUNCATED names the field that is wrong, and its
 * offset. */
BLM_API blm_status blm_chain_read_header(const void *bytes, size_t len, blm_chain_header *out,
                                         blm_chain_layer *layers, uint32_t cap, blm_error *err);
/* Writes the header of a filter of scheme "redisbloom", as format "redisbloom" begins; its length
 * goes to *len. out NULL: only the length. E_LIMIT: longer than `cap`. E_UNSUPPORTED: not of this
 * scheme. */
BLM_API blm_status blm_chain_write_header(const blm_filter *f, void *out, size_t cap, size_t *len,
                                          blm_error *err);

/* ---- a filter of layers --- */

/* Makes a filter of scheme "redisbloom" from its layers, oldest first, for programs that read a
 * dump in chunks. `options` and `growth` are those of the dump's header. `o` (may be NULL) gives
 * allocator, max_bytes and progress. The arrays must come from that allocator, be `bytes` long, a
 * multiple of 8, and aligned to 8: on success the filter owns them, otherwise they stay yours. All
 * is checked before anything is allocated: E_FORMAT names a field with a value that RedisBloom
 * never writes; E_LIMIT is more than max_bytes, or more than BLM_CHAIN_MAX_LAYERS. With more than 256 layers it can be saved as redisbloom and redisbloom-dump, not as
 * native. */
BLM_API blm_status blm_chain_create(const blm_chain_layer *layers, uint32_t count, uint32_t options,
                                    uint32_t growth, const blm_options *o, blm_filter **out,
                                    blm_error *err);
/* Undoes blm_chain_create: frees the filter, and gives its layers back with their arrays, each of
 * `bytes`, rounded up to 8, from the filter's allocator and yours to free. E_LIMIT: more than
 * `cap`. E_UNSUPPORTED: another scheme, or not in memory of its own. E_MEMORY. On failure nothing
 * has changed. Exclusive. */
BLM_API blm_status blm_chain_dissolve(blm_filter *f, blm_chain_layer *layers, uint32_t cap,
                                      blm_error *err);
/* Describes one layer. E_ARGUMENT: there is no such layer. E_UNSUPPORTED: another scheme. */
BLM_API blm_status blm_chain_get_layer(const blm_filter *f, uint32_t layer, blm_chain_layer *out);
/* Describes the layer that RedisBloom would make for this capacity, rate and options. E_FULL,
 * E_LIMIT: it would make none. */
BLM_API blm_status blm_chain_plan(uint64_t entries, double error, uint32_t options,
                                  blm_chain_layer *out, blm_error *err);
/* Appends an empty layer with this capacity and rate, which takes the keys from now on. Otherwise
 * the filter appends one by itself, as large as its growth says, when the newest is full. The sum
 * of the layers' rates is then for you to watch. E_LIMIT: too many layers, more than max_bytes, or
 * too large. Exclusive. */
BLM_API blm_status blm_chain_grow(blm_filter *f, uint64_t entries, double error, blm_error *err);

/* ---- cuckoo filters: CF.* --- */

#define BLM_CF_HEADER     38u
#define BLM_CF_MAX_LAYERS 65535u

/* What the header of CF.SCANDUMP says, and CF.INFO shows. */
typedef struct blm_cf {
    size_t   size;
    uint64_t items; /* fingerprints in all layers */
    uint64_t
        buckets; /* of the first layer, a power of two; layer i has expansion^i times as many */
    uint64_t deletes; /* since the filter was last compacted */
    uint64_t layers;
    uint32_t bucket_size, max_iterations, expansion; /* expansion 0: it may not grow */
} blm_cf;

/* Reads a header of `len` bytes. E_FORMAT names the field that RedisBloom never writes so. */
BLM_API blm_status blm_cf_read_header(const void *bytes, size_t len, blm_cf *out, blm_error *err);
/* Writes the header of a filter of scheme "redisbloom-cf", as the format of that name begins.
 * E_UNSUPPORTED, here and below: another scheme. */
BLM_API blm_status blm_cf_write_header(const blm_filter *f, uint8_t out[BLM_CF_HEADER]);
/* Makes an empty filter with these layers, for programs that fill them by blm_write_bits, which
 * counts the items. `o` (may be NULL) gives allocator, max_bytes (which counts slots, and from the
 * 257th layer on also what describes one) and progress. */
BLM_API blm_status blm_cf_create(const blm_cf *c, const blm_options *o, blm_filter **out,
                                 blm_error *err);
BLM_API blm_status blm_cf_get(const blm_filter *f, blm_cf *out);
/* CF.COMPACT: fingerprints of newer layers sink to free slots of older ones. Exclusive. */
BLM_API blm_status blm_cf_compact(blm_filter *f);

#ifdef __cplusplus
}
#endif
#endif
