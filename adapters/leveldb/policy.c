/* SPDX-License-Identifier: MIT */
/*
 * The filter policy. A filter is
 *
 *     bits       max(64, ⌈bits per key × keys⌉) bits in whole bytes; all bits of them are used
 *     probes     one byte, 1 … 30; anything else is another version's: "maybe"
 *
 * It has no header, because it covers about a dozen keys and a header would be a tenth of it. The
 * number of probes is stored so that a database can change its bits per key and still use its old
 * filters. k is rounded to the nearest number, while LevelDB rounds down: 7, not 6, at 10 bits per
 * key, which is worth 3%.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "bloomery_leveldb.h"

#define LEAST_BITS   64u /* with fewer, two or three keys would set nearly all */
#define MOST_PROBES  30u
#define MOST_PER_KEY 64.0
#define USUAL_KEYS   30u /* of 50 … 100 bytes with values, in the 2 KiB of a filter */

struct policy {
    double     bits_per_key;
    uint64_t   seed;
    bool       keyed;
    blm_secret secret; /* if keyed, in place of the seed */
    char       name[BLM_LEVELDB_NAME_ROOM];
};

/* FNV-1a, then a step that spreads short names over all 64 bits. */
uint64_t blm_leveldb_seed(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3u;
    h ^= h >> 32;
    return h * 0x9e3779b97f4a7c15u;
}

size_t blm_leveldb_filter_size(double bits_per_key, size_t keys)
{
    double bits = ceil(bits_per_key * (double)keys);
    if (bits < LEAST_BITS)
        bits = LEAST_BITS;
    return ((size_t)bits + 7) / 8 + 1;
}

static uint32_t probes_for(uint64_t bits, size_t keys)
{
    uint32_t k = 1;
    if (keys)
        blm_best_probes(bits, keys, &k);
    return k < MOST_PROBES ? k : MOST_PROBES;
}

static void make(const struct policy *p, const char *const *keys, const size_t *lens, size_t count,
                 char *out)
{
    size_t   bytes = blm_leveldb_filter_size(p->bits_per_key, count) - 1;
    uint64_t bits  = (uint64_t)bytes * 8;
    uint32_t k     = probes_for(bits, count);
    memset(out, 0, bytes);
    for (size_t i = 0; i < count; i++)
        if (p->keyed)
            blm_bare_add_keyed(out, bits, k, &p->secret, keys[i], lens[i]);
        else
            blm_bare_add(out, bits, k, p->seed, keys[i], lens[i]);
    out[bytes] = (char)k;
}

/* Another version's, or damaged: 0, which is "maybe". */
static uint32_t probes_of(const char *filter, size_t size)
{
    uint32_t k = size < 2 ? 0 : (uint8_t)filter[size - 1];
    return k <= MOST_PROBES ? k : 0;
}

void blm_leveldb_filter_make(uint64_t seed, double bits_per_key, const char *const *keys,
                             const size_t *lens, size_t count, char *out)
{
    struct policy p = { .bits_per_key = bits_per_key, .seed = seed };
    make(&p, keys, lens, count, out);
}

bool blm_leveldb_filter_check(uint64_t seed, const char *filter, size_t size, const char *key,
                              size_t len)
{
    uint32_t k = probes_of(filter, size);
    return !k || blm_bare_check(filter, (uint64_t)(size - 1) * 8, k, seed, key, len);
}

/* ---- LevelDB's callbacks ----------------------------------------------------------------- */

/* NULL with a length of 0 if there is no memory: LevelDB then appends nothing, and a filter of no
 * bytes answers "maybe". */
static char *create_filter(void *state, const char *const *keys, const size_t *lens, int count,
                           size_t *size)
{
    const struct policy *p = state;
    size_t               n = (size_t)count, bytes = blm_leveldb_filter_size(p->bits_per_key, n);
    char                *out = malloc(bytes); /* LevelDB frees it */
    *size                    = out ? bytes : 0;
    if (out)
        make(p, keys, lens, n, out);
    return out;
}

static uint8_t may_match(void *state, const char *key, size_t len, const char *filter, size_t size)
{
    const struct policy *p = state;
    uint32_t             k = probes_of(filter, size);
    if (!p->keyed || !k)
        return blm_leveldb_filter_check(p->seed, filter, size, key, len);
    return blm_bare_check_keyed(filter, (uint64_t)(size - 1) * 8, k, &p->secret, key, len);
}

static const char *policy_name(void *state) { return ((const struct policy *)state)->name; }

/* ---- the public side --------------------------------------------------------------------- */

static blm_status fail(blm_error *err, blm_status status, const char *text)
{
    if (err) {
        *err = (blm_error){ .status = status, .offset = BLM_NO_OFFSET };
        snprintf(err->text, sizeof err->text, "%s", text);
    }
    return status;
}

static leveldb_filterpolicy_t *policy_of(const struct policy *like, blm_error *err)
{
    if (!(like->bits_per_key >= 1 && like->bits_per_key <= MOST_PER_KEY)) {
        fail(err, BLM_E_ARGUMENT, "bits per key must be from 1 to 64");
        return NULL;
    }
    struct policy *p = malloc(sizeof *p);
    if (!p) {
        fail(err, BLM_E_MEMORY, "no memory for a filter policy");
        return NULL;
    }
    *p = *like;
    return leveldb_filterpolicy_create(p, free, create_filter, may_match, policy_name);
}

leveldb_filterpolicy_t *blm_leveldb_policy(double bits_per_key, const char *name, blm_error *err)
{
    struct policy p = { .bits_per_key = bits_per_key };
    if (!name)
        name = BLM_LEVELDB_NAME;
    if (!*name || strlen(name) >= sizeof p.name) {
        fail(err, BLM_E_ARGUMENT, "a policy's name must have 1 to 63 bytes");
        return NULL;
    }
    p.seed = blm_leveldb_seed(name);
    snprintf(p.name, sizeof p.name, "%s", name);
    return policy_of(&p, err);
}

/* The digits are a hash with this seed, so they tell as little of it as an answer does. */
blm_status blm_leveldb_keyed_name(const uint64_t seed[2], char out[BLM_LEVELDB_NAME_ROOM],
                                  blm_error *err)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_key     k = { BLM_LEVELDB_KEYED, strlen(BLM_LEVELDB_KEYED) };
    blm_filter *f = NULL;
    uint64_t    h = 0;
    o.items       = 1;
    o.rate        = 0.01;
    o.hash        = BLM_HASH_SIPHASH;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = seed[0];
    o.seed[1]     = seed[1];
    blm_status st = blm_create(&o, &f, err);
    if (st == BLM_OK)
        st = blm_hash_many(f, &k, 1, &h);
    blm_free(f);
    snprintf(out, BLM_LEVELDB_NAME_ROOM, BLM_LEVELDB_KEYED ".%016llx", (unsigned long long)h);
    return st;
}

leveldb_filterpolicy_t *blm_leveldb_policy_keyed(double bits_per_key, const uint64_t seed[2],
                                                 blm_error *err)
{
    struct policy p = { .bits_per_key = bits_per_key, .keyed = true };
    if (blm_leveldb_keyed_name(seed, p.name, err) != BLM_OK)
        return NULL;
    blm_secret_make(seed, &p.secret);
    return policy_of(&p, err);
}

blm_status blm_leveldb_bits(double rate, uint32_t keys, double *bits_per_key, blm_error *err)
{
    if (!(rate > 0 && rate < 1))
        return fail(err, BLM_E_ARGUMENT, "the rate must be above 0 and below 1");
    size_t n = keys ? keys : USUAL_KEYS;
    for (double b = 1; b <= MOST_PER_KEY; b += 0.125) {
        uint64_t   bits = (uint64_t)(blm_leveldb_filter_size(b, n) - 1) * 8;
        blm_rate   r    = { .size = sizeof r };
        blm_status st   = blm_rate_of(BLM_MODEL_INDEPENDENT, bits, probes_for(bits, n), 0, n, &r);
        if (st != BLM_OK)
            return fail(err, st, "too many keys for one filter");
        if (r.high <= rate) {
            *bits_per_key = b;
            return BLM_OK;
        }
    }
    return fail(err, BLM_E_LIMIT, "this rate takes more than 64 bits per key: give a higher rate");
}
