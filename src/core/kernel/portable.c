/* SPDX-License-Identifier: MIT */
/* The portable kernel: plain C, the oracle for all others, and TSan-clean in shared use. */
#include "core/kernel/ages.h"
#include "core/kernel/buckets.h"
#include "core/kernel/counters.h"
#include "core/kernel/fuse.h"
#include "core/kernel/hands.h"
#include "core/kernel/lanes.h"
#include "core/kernel/layers.h"
#include "core/kernel/steps.h"

static void hash8(uint64_t flip, const void *keys, size_t n, uint64_t *h)
{
    const uint8_t *p = keys;
    for (size_t i = 0; i < n; i++)
        h[i] = blm__xxh3_8(p + 8 * i, flip);
}

static void hash_many(const struct blm__hasher *by, const blm_key *keys, size_t n, uint64_t *h)
{
    blm__hasher_many(by, keys, n, h);
}

static size_t lines_add(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    bool   small = blm__layer_small(l);
    size_t count = 0, ahead = small ? 0 : 32;
    for (size_t i = 0; i < ahead && i < n; i++)
        blm__lines_fetch(l, h[i], true);
    for (size_t i = 0; i < n; i++) {
        if (!small && i + ahead < n)
            blm__lines_fetch(l, h[i + ahead], true);
        count += fresh[i] = (uint8_t)blm__lines_set(l, h[i], false);
    }
    return count;
}

static bool lines_has(const struct blm__layer *l, uint64_t h) { return blm__lines_test(l, h); }

/* A line that no other batch changes meanwhile; single adds and checks may be at it. */
static unsigned lane_set(struct blm__layer *l, uint64_t *line, uint64_t x, uint32_t k, bool marks)
{
    unsigned words = blm__line_words(x, k), fresh = 0;
    (void)l;
    (void)marks;
    for (unsigned j = 0; j < BLM__LINE_WORDS; j++) {
        uint64_t old = blm__load(&line[j]), mask = blm__le64((uint64_t)1 << blm__line_bit(x, j));
        if (!(words >> j & 1) || (old & mask))
            continue;
        __atomic_store_n(&line[j], old | mask, __ATOMIC_RELAXED);
        fresh = 1;
    }
    return fresh;
}

static size_t lines_add_shared(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    return blm__shared_add_loop(l, h, n, fresh, 32, lines_has, lane_set);
}

static size_t lines_check(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe)
{
    bool   small = blm__layer_small(l);
    size_t hits = 0, ahead = small ? 0 : 64;
    for (size_t i = 0; i < ahead && i < n; i++)
        blm__lines_fetch(l, h[i], false);
    for (size_t i = 0; i < n; i++) {
        if (!small && i + ahead < n)
            blm__lines_fetch(l, h[i + ahead], false);
        hits += maybe[i] = blm__lines_test(l, h[i]);
    }
    return hits;
}

static bool lines_check_one(const struct blm__layer *l, uint64_t h)
{
    return blm__lines_test(l, h);
}

BLM__INLINE blm_status lines_add_hash(struct blm__layer *l, uint64_t h, bool shared)
{
    unsigned fresh = shared ? blm__shared_add(l, h, lines_has) : blm__lines_set(l, h, false);
    return blm__added_key(l, fresh, shared);
}

/* 8-byte keys: hashed by batches, and no shorter way for single ones. */
static size_t line_add8(struct blm__layer *l, uint64_t flip, const void *keys, size_t n,
                        uint8_t *fresh)
{
    uint64_t h[BLM__BATCH];
    size_t   count = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__BATCH ? n - at : BLM__BATCH;
        hash8(flip, (const uint8_t *)keys + 8 * at, some, h);
        count += lines_add(l, h, some, fresh + at);
    }
    return count;
}

static size_t line_check8(const struct blm__layer *l, uint64_t flip, const void *keys, size_t n,
                          uint8_t *maybe)
{
    uint64_t h[BLM__BATCH];
    size_t   hits = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BLM__BATCH ? n - at : BLM__BATCH;
        hash8(flip, (const uint8_t *)keys + 8 * at, some, h);
        hits += lines_check(l, h, some, maybe + at);
    }
    return hits;
}

BLM__KEYS_LOOPS(blm__portable, &blm__kernel_portable)

static void quick(struct blm__quick *q, uint32_t k)
{
    (void)q;
    (void)k;
}

#define NO_TARGET
BLM__SINGLE_CALLS(NO_TARGET, blm__portable_lines, lines_check_one, lines_add_hash)

static size_t chain_add(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    return blm__chain_add_loop(l, h, n, fresh, false);
}

static size_t chain_add_shared(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    return blm__chain_add_loop(l, h, n, fresh, true);
}

static size_t chain_check(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe)
{
    return blm__chain_check_loop(l, h, n, maybe);
}

static bool chain_check_one(const struct blm__layer *l, uint64_t h)
{
    return blm__chain_test(l->words, l->shape.bits, h, 0, l->shape.probes);
}

BLM__CHAIN_FOLLOW(NO_TARGET, blm__portable)
BLM__SINGLE_CALLS(NO_TARGET, blm__portable_chain, chain_check_one, blm__chain_add_hash)

static uint64_t popcount(const uint64_t *w, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += BLM__POPCOUNT64(blm__load(&w[i]));
    return sum;
}

static uint64_t popcount_or(const uint64_t *a, const uint64_t *b, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += BLM__POPCOUNT64(blm__load(&a[i]) | blm__load(&b[i]));
    return sum;
}

static void or_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] |= blm__load(&src[i]);
}

static void and_into(uint64_t *dst, const uint64_t *src, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        dst[i] &= blm__load(&src[i]);
}

const struct blm__kernel blm__kernel_portable = {
    .name             = "portable",
    .hash8            = hash8,
    .hash_many        = hash_many,
    .lines_add        = lines_add,
    .lines_add_shared = BLM__SHARED_FORM(lines_add_shared, lines_add),
    .lines_check      = lines_check,
    .lines_check_one  = lines_check_one,
    .line_add8        = line_add8,
    .line_check8      = line_check8,
    .line_add_keys    = blm__portable_line_add_keys,
    .line_check_keys  = blm__portable_line_check_keys,
    .quick            = quick,
    .line_check_key   = blm__portable_lines_check_key,
    .line_add_key     = blm__portable_lines_add_key,
    .lines_check_key  = blm__portable_lines_check_key,
    .lines_add_key    = blm__portable_lines_add_key,
    .lines_add_key_shared =
        BLM__SHARED_FORM(blm__portable_lines_add_key_shared, blm__portable_lines_add_key),
    .chain_add        = chain_add,
    .chain_add_shared = BLM__SHARED_FORM(chain_add_shared, chain_add),
    .chain_check      = chain_check,
    .chain_follow     = BLM__CHAIN_FOLLOW_ROW(blm__portable),
    .hands_for        = blm__hands_if_absent,
    .chain_check_one  = chain_check_one,
    .chain_check_key  = blm__portable_chain_check_key,
    .chain_add_key    = blm__portable_chain_add_key,
    .chain_add_key_shared =
        BLM__SHARED_FORM(blm__portable_chain_add_key_shared, blm__portable_chain_add_key),
    .popcount     = popcount,
    .popcount_or  = popcount_or,
    .or_into      = or_into,
    .and_into     = and_into,
    .counters     = &blm__counters_portable,
    .ages         = &blm__ages_portable,
    .buckets      = &blm__buckets_portable,
    .fuse         = &blm__fuse_portable,
    .stepper      = &blm__stepper_portable,
    .layers_check = blm__layers_check,
    .layers_add   = blm__layers_add,
};
