/* SPDX-License-Identifier: MIT */
/*
 * Large batches by several threads (blm_set_threads), sorted or not: a filter that gets one has the bits,
 * the answers and the marks of new keys that it has by one thread, a few keys at a time. Also if a key
 * is none, the filter is full, or the caller stops it on the way: then of the keys before.
 */
#ifndef BLM_FUZZ_BATCHES_H
#define BLM_FUZZ_BATCHES_H

#include <bloomery/embed.h>

#include "api/batch.h"
#include "oracle.h"

#define BATCH_MOST  (3u << 15) /* below 2^15 threads do not begin */
#define BATCH_SLICE 200u
#define BATCH_WIDTH 8u

enum batch_way { BATCH_LIST, BATCH_FIXED, BATCH_HASHES };

static struct {
    size_t         n;
    enum batch_way way;
    uint64_t       number[BATCH_MOST];
    blm_key        list[BATCH_MOST];
    uint64_t       hash[BATCH_MOST];
    uint8_t        one[BATCH_MOST], many[BATCH_MOST]; /* answers */
    unsigned       stop;                              /* at this call of progress; 0: never */
} batch;

static uint64_t batch_mix(uint64_t v)
{
    v = (v ^ v >> 31) * 0x9e3779b97f4a7c15u;
    return v ^ v >> 29;
}

/* A byte for 1 024 keys: one key, keys that follow each other, or some of a few. Keys of a list have any
 * length, up to where hashing is long enough for threads of its own. */
static void batch_keys(struct ops_input *in)
{
    uint8_t pattern[BATCH_MOST >> 10];
    uint8_t longest = ops_byte(in);
    size_t  bad     = (size_t)ops_byte(in) << 8 | ops_byte(in);
    batch.n         = ((size_t)ops_byte(in) << 8 | ops_byte(in)) + (1u << 15) - 600;
    batch.way       = ops_byte(in) % 3;
    batch.stop      = ops_byte(in) % 8;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = in->left ? ops_byte(in) : (uint8_t)(200 + i);
    for (size_t i = 0; i < batch.n; i++) {
        uint8_t p       = pattern[i >> 10];
        batch.number[i] = p < 20 ? p : p < 220 ? batch_mix(i) : batch_mix(batch_mix(i) % p);
        size_t len      = longest < 200 ? BATCH_WIDTH : batch.number[i] % BATCH_WIDTH;
        batch.list[i]   = (blm_key){ &batch.number[i], len };
        if (longest < 40 && i + 16 < batch.n) /* of this number and the next ones */
            batch.list[i].len = 1 + 3u * longest;
    }
    if (batch.way == BATCH_LIST && bad < batch.n && longest & 1)
        batch.list[bad] = (blm_key){ NULL, 3 };
}

static blm_status batch_add(blm_filter *f, size_t at, size_t n, uint8_t *fresh, size_t *done)
{
    return batch.way == BATCH_LIST ? blm_add_many(f, batch.list + at, n, fresh, done)
           : batch.way == BATCH_FIXED
               ? blm_add_fixed(f, batch.number + at, BATCH_WIDTH, n, fresh, done)
               : blm_add_hashes(f, batch.hash + at, n, fresh, done);
}

static size_t batch_check(const blm_filter *f, size_t at, size_t n, uint8_t *maybe)
{
    return batch.way == BATCH_LIST    ? blm_check_many(f, batch.list + at, n, maybe)
           : batch.way == BATCH_FIXED ? blm_check_fixed(f, batch.number + at, BATCH_WIDTH, n, maybe)
                                      : blm_check_hashes(f, batch.hash + at, n, maybe);
}

static bool batch_progress(void *ctx, uint64_t done, uint64_t total)
{
    unsigned *calls = ctx;
    must(done <= total && total == batch.n);
    return ++*calls != batch.stop;
}

/* The keys before `end`, by one thread and the portable kernel, so few at a time that they are not sorted. */
static void batch_one(blm_filter *f, size_t end)
{
    ops_portable(f);
    blm_set_threads(f, 1);
    for (size_t at = 0, done = 0; at < end; at += done) {
        blm_status st = batch_add(f, at, end - at < BATCH_SLICE ? end - at : BATCH_SLICE,
                                  batch.one + at, &done);
        must(st >= 0 && done > 0);
    }
}

static void batch_same_answers(const blm_filter *many, const blm_filter *one)
{
    size_t said = batch_check(many, 0, batch.n, batch.many), yes = 0;
    for (size_t at = 0; at < batch.n; at += BATCH_SLICE)
        yes += batch_check(one, at, batch.n - at < BATCH_SLICE ? batch.n - at : BATCH_SLICE,
                           batch.one + at);
    must(said == yes && memcmp(batch.many, batch.one, batch.n) == 0);
    must(batch_check(many, 0, batch.n, NULL) == said);
}

static void batch_run(blm_filter *many, blm_filter *one, bool marks)
{
    unsigned   calls = 0;
    size_t     done  = 0;
    blm_params p = { .size = sizeof p }, q = { .size = sizeof q };
    must(batch.way != BATCH_HASHES ||
         blm_hash_many(many, batch.list, batch.n, batch.hash) == BLM_OK);
    blm_set_progress(many, batch_progress, &calls);
    blm_status st = batch_add(many, 0, batch.n, marks ? batch.many : NULL, &done);
    blm_set_progress(many, NULL, NULL);
    must(st >= 0 ? done == batch.n : done < batch.n || st == BLM_E_CANCELLED);
    must(st >= 0 || st == BLM_E_CANCELLED || st == BLM_E_ARGUMENT || st == BLM_E_FULL ||
         st == BLM_E_LIMIT);
    must(st != BLM_E_CANCELLED || (batch.stop && calls == batch.stop));
    must(st != BLM_E_ARGUMENT || !batch.list[done].data);
    batch_one(one, done);
    must(!marks || memcmp(batch.one, batch.many, done) == 0);
    must(blm_equal(one, many));
    must(blm_get_params(many, &p) == BLM_OK && blm_get_params(one, &q) == BLM_OK);
    must(p.items == q.items);
    batch_same_answers(many, one);
}

/* The first bytes are options, the others keys. */
static void batch_filters(struct ops_input *in)
{
    static const struct {
        blm_kind    kind;
        const char *scheme;
    } sort[]             = { { BLM_BLOCKED, NULL },  { BLM_CLASSIC, NULL },  { BLM_COUNTING, NULL },
                             { BLM_SCALABLE, NULL }, { BLM_CUCKOO, NULL },   { BLM_CLASSIC, "guava64" },
                             { BLM_CLASSIC, "go" },  { BLM_CLASSIC, "dcso" } };
    blm_options      o   = BLM_OPTIONS_INIT;
    uint8_t          how = ops_byte(in), lines = ops_byte(in), most = ops_byte(in);
    struct blm__bulk usual = blm__bulk;
    o.kind                 = sort[how % 8].kind;
    o.scheme               = sort[how % 8].scheme;
    o.items                = how & 8 ? 200000 : 20000;
    o.rate                 = how & 16 ? 1e-6 : 0.02;
    o.lines                = o.kind == BLM_BLOCKED ? lines % 4 : 0;
    o.flags                = (how & 32 && o.kind != BLM_SCALABLE && !o.scheme ? BLM_SHARED : 0) |
              (o.scheme ? 0 : BLM_SEEDED);
    batch_keys(in);
    if (o.scheme && batch.way == BATCH_HASHES)
        batch.way = BATCH_FIXED; /* hashes are for native ones */
    blm_filter *many = ops_create(&o), *one = ops_create(&o);
    if (many && one) {
        blm_set_threads(many, 1 + lines / 4 % 8);
        blm__bulk = (struct blm__bulk){ .keys  = how & 64 ? 1000 : usual.keys,
                                        .bytes = how & 128 ? 1 : usual.bytes,
                                        .room  = 1000 + ((uint64_t)most << 14) };
        batch_run(many, one, most & 1);
        blm__bulk = usual;
    }
    blm_free(many);
    blm_free(one);
}

#endif
