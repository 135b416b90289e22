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

/* One layer (RedisBloom says link) as its dumps describe it. */
typedef struct blm_link {
    uint64_t bytes;   /* of its array */
    uint64_t bits;    /* positions are reduced mod bits (n2 > 0: mod 2^n2). It is 8·bytes; up to 7
                         less before version 2.2.5; before 2.2.0 it may also be 0, with n2 > 0 */
    uint64_t items;   /* keys in it */
    uint64_t entries; /* its capacity */
    double   error, bpe; /* its rate; bits per entry, |ln error| / ln²2 */
    uint32_t hashes;     /* ⌈ln 2 · bpe⌉ */
    uint8_t  n2;
    void    *words; /* create: its array, or NULL for zeroes. blm_chain_link gives NULL */
} blm_link;

/* Makes a filter of scheme "redisbloom" from its layers, oldest first, for programs that read a
 * dump in chunks. `options` and `growth` are those of the dump's header. `o` (may be NULL) gives
 * allocator, max_bytes and progress. The arrays must come from that allocator, be `bytes` long, a
 * multiple of 8, and aligned to 8: on success the filter owns them, otherwise they stay yours. All
 * is checked before anything is allocated: E_FORMAT names a field with a value that RedisBloom
 * never writes; E_LIMIT is more than max_bytes, or more than 1 075 layers (a rate cannot be halved
 * more often). With more than 256 layers it can be saved as redisbloom and redisbloom-dump, not as
 * native. */
BLM_API blm_status blm_chain_create(const blm_link *links, uint32_t count, uint32_t options,
                                    uint32_t growth, const blm_options *o, blm_filter **out,
                                    blm_error *err);
/* Describes one layer. E_ARGUMENT: there is no such layer. E_UNSUPPORTED: another scheme. */
BLM_API blm_status blm_chain_link(const blm_filter *f, uint32_t link, blm_link *out);
/* Appends an empty layer with this capacity and rate, which takes the keys from now on. Otherwise
 * the filter appends one by itself, as large as its growth says, when the newest is full. The sum
 * of the layers' rates is then for you to watch. E_LIMIT: too many layers, more than max_bytes, or
 * too large. Exclusive. */
BLM_API blm_status blm_chain_grow(blm_filter *f, uint64_t entries, double error, blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
