/* SPDX-License-Identifier: MIT */
/* RedisBloom's filters, layer by layer. */
#ifndef BLOOMERY_REDISBLOOM_H
#define BLOOMERY_REDISBLOOM_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A link (RedisBloom's word for a layer) as its dumps describe it: docs/formats/redisbloom.md. */
typedef struct blm_link {
    uint64_t bytes;   /* of its array */
    uint64_t bits;    /* a key's bits are taken mod bits (n2 > 0: mod 2^n2): 8·bytes; of versions
                         before 2.2.5 up to 7 less; of those before 2.2.0 also 0, with n2 > 0 */
    uint64_t items;   /* keys in it */
    uint64_t entries; /* keys it is for */
    double   error, bpe; /* its rate; bits per entry, |ln error| / ln²2 */
    uint32_t hashes;     /* ⌈ln 2 · bpe⌉ */
    uint8_t  n2;
    void    *words; /* create: its array, or NULL for zeroes. Of what blm_chain_link gives: NULL */
} blm_link;

/* Makes a filter of scheme "redisbloom" from its links, oldest first, for who reads a dump piece by
 * piece. `options` and `growth` as in the dump's header; of `o` (may be NULL) allocator, max_bytes
 * and progress are read. Arrays come from that allocator, `bytes` long and aligned to 8, bytes a
 * multiple of 8: on success they belong to the filter, else they stay yours. E_FORMAT names the
 * field that no link has, E_LIMIT refuses more than 1 075 links (a rate cannot be halved further);
 * all is checked, and max_bytes too, before anything is allocated. Past 256 links a chain can be
 * saved as redisbloom and redisbloom-dump, not as native. */
BLM_API blm_status blm_chain_create(const blm_link *links, uint32_t count, uint32_t options,
                                    uint32_t growth, const blm_options *o, blm_filter **out,
                                    blm_error *err);
/* The description of one link. E_ARGUMENT: no such link. E_UNSUPPORTED: not of this scheme. */
BLM_API blm_status blm_chain_link(const blm_filter *f, uint32_t link, blm_link *out);
/* Appends an empty link for so many entries at this error, to which keys go from now on: in place
 * of the one that the chain's growth would give it when the newest is full. What the links' errors
 * add up to is then yours to keep. E_LIMIT: too many links, past max_bytes,
 * or too large. Exclusive. */
BLM_API blm_status blm_chain_grow(blm_filter *f, uint64_t entries, double error, blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
