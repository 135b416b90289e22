/* SPDX-License-Identifier: MIT */
/*
 * Fixed filters of any lists: each key of the input is in, out, or in neither list. What is in is
 * answered "maybe", and by a cascade what is out "no"; built in memory, on disk (also by a builder that
 * stops and goes on), decoded, opened and asked from afar, always alike.
 */
#include <bloomery/far.h>
#include <bloomery/fixed.h>

#include "oracle.h"

enum { IN = 1, OUT = 2 };

struct lists {
    blm_options o;
    uint8_t     of[8 * OPS_KEYS]; /* IN, OUT: of key i mod 64, with i / 64 in its first byte */
    size_t      n;
};

static blm_key key_of(size_t i, uint8_t out[48])
{
    blm_key k = ops_key((unsigned)(i % OPS_KEYS));
    memcpy(out + 2, k.data, k.len);
    out[0] = (uint8_t)(i / OPS_KEYS);
    out[1] = (uint8_t)(i % OPS_KEYS);
    return (blm_key){ out, k.len + 2 };
}

static void give(blm_builder *b, const struct lists *l, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) {
        uint8_t bytes[48];
        blm_key k = key_of(i, bytes);
        if (l->of[i] & IN)
            must(blm_builder_add(b, &k, 1) == BLM_OK);
        if (l->of[i] & OUT && l->o.kind == BLM_CASCADE)
            must(blm_builder_exclude(b, &k, 1) == BLM_OK);
    }
}

static void holds(const struct lists *l, const blm_filter *f)
{
    for (size_t i = 0; i < l->n; i++) {
        uint8_t bytes[48];
        blm_key k     = key_of(i, bytes);
        bool    maybe = blm_check(f, k.data, k.len);
        must(maybe || !(l->of[i] & IN));
        must(!maybe || l->o.kind != BLM_CASCADE || !(l->of[i] & OUT));
        must(blm_check_many(f, &k, 1, NULL) == maybe);
    }
}

static blm_status read_bytes(void *ctx, uint64_t at, void *to, size_t len, blm_error *err)
{
    struct fuzz_bytes *b = ctx;
    (void)err;
    must(at <= b->len && len <= b->len - at);
    memcpy(to, b->bytes + at, len);
    return BLM_OK;
}

static void by_bytes(const struct lists *l, const blm_filter *f)
{
    struct fuzz_bytes b = { 0 };
    blm_filter       *again;
    blm_far          *far;
    must(blm_encode(f, NULL, fuzz_append, &b, NULL) == BLM_OK);
    must(blm_decode(b.bytes, b.len, NULL, &again, NULL) == BLM_OK && blm_equal(f, again));
    holds(l, again);
    must(blm_far_open(read_bytes, &b, b.len, NULL, &far, NULL) == BLM_OK);
    for (size_t i = 0; i < l->n; i++) {
        uint8_t bytes[48];
        blm_key k = key_of(i, bytes);
        bool    maybe;
        must(blm_far_check(far, k.data, k.len, &maybe, NULL) == BLM_OK);
        must(maybe == blm_check(f, k.data, k.len));
    }
    blm_far_free(far);
    blm_free(again);
    free(b.bytes);
}

/* Bit for bit what memory gives, also if the builder stops after `stop` keys and goes on. */
static void by_disk(const struct lists *l, const blm_filter *f, size_t stop)
{
    char         dir[128], path[128];
    blm_builder *b;
    blm_filter  *saved;
    blm_error    err;
    place_path(dir, "dir");
    place_path(path, "fixed");
    must(blm_builder_open(dir, &l->o, 65536, &b, &err) == BLM_OK);
    give(b, l, 0, stop);
    must(blm_builder_sync(b, &err) == BLM_OK);
    blm_builder_free(b);
    must(blm_builder_open(dir, &l->o, 65536, &b, &err) == BLM_OK);
    give(b, l, 0, l->n);
    must(blm_builder_save(b, path, 0, &err) == BLM_OK);
    blm_builder_free(b);
    must(blm_open(path, NULL, &saved, &err) == BLM_OK && blm_equal(f, saved));
    holds(l, saved);
    blm_free(saved);
    unlink(path);
    must(access(dir, F_OK) != 0);
}

/* Each byte is three keys, and how often they come. True: one is both in and out. */
static bool fill(struct lists *l, struct ops_input *in)
{
    bool conflict = false;
    while (in->left) {
        unsigned bits = ops_byte(in), count = 3 + 3 * (bits >> 6) * 8;
        for (unsigned j = 0; j < count && l->n < sizeof l->of; j++) {
            l->of[l->n] = bits >> 2 * (j % 3) & 3;
            conflict |= l->o.kind == BLM_CASCADE && l->of[l->n] == (IN | OUT);
            l->n++;
        }
    }
    return conflict;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const blm_kind kinds[] = { BLM_STATIC, BLM_CASCADE, BLM_CLASSIC, BLM_BLOCKED };
    static const double   rates[] = { 0.4, 0.05, 0.004, 1e-6, 0 };
    struct ops_input      in      = { data, size };
    struct lists          l       = { .o = BLM_OPTIONS_INIT };
    blm_builder          *b;
    blm_filter           *f = NULL;
    blm_error             err;
    uint8_t               how  = ops_byte(&in);
    size_t                stop = ops_byte(&in);
    l.o.kind                   = kinds[how & 3];
    l.o.rate                   = rates[(how >> 2) % (l.o.kind == BLM_CASCADE ? 5 : 4)];
    l.o.flags                  = BLM_SEEDED;
    l.o.seed[0]                = how >> 6;
    l.o.hash                   = how & 32 ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
    bool conflict              = fill(&l, &in);
    must(blm_builder_new(&l.o, &b, &err) == BLM_OK);
    give(b, &l, 0, l.n);
    if (how & 16) /* keys may come twice */
        give(b, &l, 0, stop < l.n ? stop : l.n);
    blm_status st = blm_builder_build(b, &f, &err);
    must(conflict ? st == BLM_E_CONFLICT : st == BLM_OK || st == BLM_E_ARGUMENT);
    if (f) {
        holds(&l, f);
        by_bytes(&l, f);
        if (stop & 1)
            by_disk(&l, f, stop < l.n ? stop : l.n);
    }
    blm_free(f);
    blm_builder_free(b);
    return 0;
}
