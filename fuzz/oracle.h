/* SPDX-License-Identifier: MIT */
/* What the targets that do any operations in any order share: an input that is read byte by byte, and
 * few keys, so that each of them meets many operations. */
#ifndef BLM_FUZZ_ORACLE_H
#define BLM_FUZZ_ORACLE_H

#include "api/filter.h"
#include "core/kernel/kernel.h"
#include "decode.h"
#include "place.h"

#define OPS_KEYS  64u
#define OPS_BATCH 48u

struct ops_input {
    const uint8_t *p;
    size_t         left;
};

/* 0 past the end. */
static inline uint8_t ops_byte(struct ops_input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->p++;
}

/* The rest of an input, as a stream. */
static inline size_t ops_give(void *ctx, void *to, size_t len)
{
    struct ops_input *in = ctx;
    size_t            n  = in->left < len ? in->left : len;
    if (n)
        memcpy(to, in->p, n);
    in->p += n;
    in->left -= n;
    return n;
}

/* Keys of every length up to 40, the empty one too. The first call makes them all: before there are threads. */
static inline blm_key ops_key(unsigned i)
{
    static uint8_t bytes[OPS_KEYS][40];
    static bool    made;
    if (!made) {
        for (unsigned k = 0; k < OPS_KEYS; k++)
            for (unsigned j = 0; j < 40; j++)
                bytes[k][j] = (uint8_t)(j == 0 ? k : j * 37 + k * 11);
        made = true;
    }
    return (blm_key){ bytes[i], i == 0 ? 0 : 1 + i * 7 % 40 };
}

static inline size_t ops_batch(struct ops_input *in, blm_key keys[OPS_BATCH],
                               unsigned at[OPS_BATCH])
{
    size_t n = 1 + ops_byte(in) % OPS_BATCH;
    for (size_t i = 0; i < n; i++) {
        at[i]   = ops_byte(in) % OPS_KEYS;
        keys[i] = ops_key(at[i]);
    }
    return n;
}

/* An empty filter, or NULL. Working out a small filter's size takes longer than all the rest of a run,
 * so it is done once for the same options. */
static inline blm_filter *ops_create(const blm_options *o)
{
    static struct {
        blm_options o;
        blm_filter *f;
    } known[512];
    static size_t count;
    size_t        i = 0;
    blm_filter   *f = NULL;
    blm_error     err;
    while (i < count && memcmp(&known[i].o, o, sizeof *o) != 0)
        i++;
    if (i == count) {
        if (blm_create(o, &f, &err) != BLM_OK)
            must(!f && err.text[0]);
        if (count == sizeof known / sizeof *known)
            return f;
        known[count].o   = *o;
        known[count++].f = f;
    }
    blm_options like = *o;
    like.like        = known[i].f;
    like.items       = 0;
    like.rate        = 0;
    must(!like.like || blm_create(&like, &f, NULL) == BLM_OK);
    return like.like ? f : NULL;
}

/* Numbers of keys that are planned for. */
static inline uint64_t ops_items(uint8_t b)
{
    static const uint64_t items[] = { 1, 3, 8, 17, 40, 64, 100, 256 };
    return items[b % 8];
}

static inline blm_filter *ops_copy(const blm_filter *f)
{
    blm_filter *c;
    must(blm_copy(f, &c, NULL) == BLM_OK && blm_equal(f, c));
    return c;
}

/* The kernel that judges the others. */
static inline void ops_portable(blm_filter *f) { f->body.kernel = blm__kernel_named("portable"); }

#endif
