/* SPDX-License-Identifier: MIT */
/* Attacks on filters by somebody who chooses keys. Public headers only. */
#ifndef BLM_ADVERSARY_H
#define BLM_ADVERSARY_H

#include <bloomery.h>
#include <stdbool.h>
#include <stdint.h>

#define LONG 128u /* bytes of the keys that are attacked: what Thue and Morse need */

uint64_t next(uint64_t *rng);
void     must(blm_status s, const char *what);

/* How another key with every hash of a given one is found. */
enum way {
    NO_WAY,   /* only by trying */
    TWIN,     /* from any key of some length, whatever the seed */
    FORGE,    /* a new key for the hash of any key */
    BIRTHDAY, /* pairs, not for a given key */
};

struct attack {
    const char *scheme;
    enum way    way;
    uint32_t    needs; /* bytes that the given key must have (parquet: 16 to 31) */
    const char *how;
    /* Makes of `key`, LONG bytes of lower-case letters, another one with the same hashes: `number`
     * chooses which. Returns its length; 0: there is none for this key and number. */
    size_t (*make)(uint8_t *key, uint64_t number);
};

extern const struct attack attacks[];
extern const size_t        attack_count;
const struct attack       *attack_on(const char *scheme);

/* BIRTHDAY: two keys with the same hashes in the filters like f; returns how many keys were hashed. */
uint64_t find_pair(const struct attack *a, const blm_filter *f, uint8_t x[LONG], uint8_t y[LONG],
                   size_t *len);

#endif
