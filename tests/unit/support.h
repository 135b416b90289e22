/* SPDX-License-Identifier: MIT */
/* What the unit tests share: cmocka in its include order, repeatable random numbers, keys of every
 * shape, filters of every flavour, and an allocator that counts and can be told to fail. */
#ifndef BLM_UNIT_SUPPORT_H
#define BLM_UNIT_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bloomery.h"

#define COUNT_OF(a) (sizeof(a) / sizeof *(a))

/* ---- chance, the same on every run ---- */

struct rng {
    uint64_t state;
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t v = r->state += 0x9e3779b97f4a7c15u;
    v          = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v          = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static inline uint64_t rng_below(struct rng *r, uint64_t n) { return rng_next(r) % n; }
static inline size_t   rng_size(struct rng *r, size_t n) { return (size_t)(rng_next(r) % n); }

static inline void rng_bytes(struct rng *r, void *out, size_t len)
{
    uint8_t *p = out;
    for (size_t i = 0; i < len; i++)
        p[i] = (uint8_t)(rng_next(r) >> 32);
}

/* Heavy tests run only when asked for; `make test` asks. */
static inline int slow_tests(void)
{
    const char *v = getenv("BLM_SLOW");
    return v && strcmp(v, "1") == 0;
}

/* Minutes long: too long for `make test`. */
static inline int long_tests(void)
{
    const char *v = getenv("BLM_LONG");
    return v && strcmp(v, "1") == 0;
}

/* Under an interpreter (make valgrind) the tests that are about chance, not memory,
 * are cut short. */
static inline int quick_tests(void)
{
    const char *v = getenv("BLM_QUICK");
    return v && strcmp(v, "1") == 0;
}

/* ---- keys ---- */

#define KEY_MAX 300u

/* Keys of length 0 … 300, any bytes (NULs, above 0x7f), all distinct: the first eight bytes of the
 * longer ones are their number, and of the shorter ones each length below eight comes once. */
struct key_set {
    blm_key *keys;
    uint8_t *bytes;
    size_t   count;
};

static inline struct key_set key_set_make(uint64_t seed, size_t count)
{
    struct key_set s = { malloc((count + 1) * sizeof *s.keys), calloc(count + 1, KEY_MAX), count };
    struct rng     r = { seed };
    assert_non_null(s.keys);
    assert_non_null(s.bytes);
    for (size_t i = 0; i < count; i++) {
        uint8_t *at  = s.bytes + i * KEY_MAX;
        size_t   len = i < 8 ? i : 8 + rng_size(&r, KEY_MAX - 7);
        rng_bytes(&r, at, len);
        if (i >= 8) {
            for (unsigned j = 0; j < 8; j++) /* the same bytes on every machine */
                at[j] = (uint8_t)((seed << 32 ^ i) >> 8 * j);
        }
        s.keys[i] = (blm_key){ at, len };
    }
    return s;
}

static inline void key_set_free(struct key_set *s)
{
    free(s->keys);
    free(s->bytes);
}

/* ---- filters ---- */

/* Every kind, in every form that takes a different road through the code. */
struct flavour {
    const char *name;
    blm_kind    kind;
    uint32_t    flags;
    uint32_t    lines;
    bool        layer_classic;
};

static const struct flavour flavours[] = {
    { "classic", BLM_CLASSIC, 0, 0, false },
    { "classic shared", BLM_CLASSIC, BLM_SHARED, 0, false },
    { "blocked, 1 line", BLM_BLOCKED, 0, 1, false },
    { "blocked, 2 lines", BLM_BLOCKED, 0, 2, false },
    { "blocked, 3 lines", BLM_BLOCKED, 0, 3, false },
    { "blocked shared", BLM_BLOCKED, BLM_SHARED, 1, false },
    { "blocked shared, 2 lines", BLM_BLOCKED, BLM_SHARED, 2, false },
    { "counting", BLM_COUNTING, 0, 0, false },
    { "counting shared", BLM_COUNTING, BLM_SHARED, 0, false },
    { "scalable", BLM_SCALABLE, 0, 0, false },
    { "scalable, classic layers", BLM_SCALABLE, 0, 0, true },
    { "counting, 3 lines", BLM_COUNTING, 0, 3, false },
    { "cuckoo", BLM_CUCKOO, 0, 0, false },
    { "cuckoo shared", BLM_CUCKOO, BLM_SHARED, 0, false },
    { "window", BLM_WINDOW, 0, 0, false },
    { "window shared", BLM_WINDOW, BLM_SHARED, 0, false },
    { "window, 3 lines", BLM_WINDOW, 0, 3, false },
};

#define EACH_FLAVOUR(v) \
    for (const struct flavour *v = flavours; v < flavours + COUNT_OF(flavours); v++)

/* Its cells are bits or counters, which a key has in common with others, and whose order of adds does
 * not matter. Cuckoo filters and windows have tests of their own for what differs there. */
static inline bool is_bits(const struct flavour *v)
{
    return v->kind != BLM_CUCKOO && v->kind != BLM_WINDOW;
}
#define EACH_BITS(v) \
    EACH_FLAVOUR(v)  \
    if (is_bits(v))

/* A scalable flavour starts small enough to grow several times before it holds n. A cuckoo filter has
 * room for keys that come again. */
static inline blm_options flavour_options(const struct flavour *v, uint64_t n, double p,
                                          uint64_t seed)
{
    blm_options o   = BLM_OPTIONS_INIT;
    o.kind          = v->kind;
    o.flags         = v->flags | BLM_SEEDED;
    o.items         = v->kind == BLM_SCALABLE ? n / 10 + 1 : v->kind == BLM_CUCKOO ? 4 * n : n;
    o.rate          = p;
    o.lines         = v->lines;
    o.layer_classic = v->layer_classic;
    o.seed[0]       = seed;
    return o;
}

/* Creates, or fails the test with the library's own words. */
static inline blm_filter *make(const blm_options *o)
{
    blm_filter *f = NULL;
    blm_error   e = { .status = BLM_OK };
    blm_status  s = blm_create(o, &f, &e);
    if (s != BLM_OK)
        fail_msg("create: %s: %s", blm_status_name(s), e.text);
    assert_non_null(f);
    return f;
}

static inline blm_filter *make_flavour(const struct flavour *v, uint64_t n, double p, uint64_t seed)
{
    blm_options o = flavour_options(v, n, p, seed);
    return make(&o);
}

static inline blm_params params_of(const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    return p;
}

static inline blm_params layer_of(const blm_filter *f, uint32_t i)
{
    blm_params p = { .size = sizeof p };
    assert_int_equal(blm_get_layer(f, i, &p), BLM_OK);
    return p;
}

static inline blm_stats stats_of(const blm_filter *f)
{
    blm_stats s = { .size = sizeof s };
    assert_int_equal(blm_get_stats(f, &s), BLM_OK);
    return s;
}

/* Same bytes, layer by layer: stricter than blm_equal, and does not trust it. */
static inline bool same_bits(const blm_filter *a, const blm_filter *b)
{
    for (uint32_t i = 0;; i++) {
        uint64_t    na = 0, nb = 0;
        const void *x = blm_view(a, i, &na), *y = blm_view(b, i, &nb);
        if (!x || !y)
            return !x && !y;
        if (na != nb || memcmp(x, y, (size_t)na) != 0)
            return false;
    }
}

/* A status that is not the expected one is reported by name, with the flavour. */
#define assert_status(got, want)                                                 \
    do {                                                                         \
        blm_status got_ = (got);                                                 \
        if (got_ != (want))                                                      \
            fail_msg("%s gives %s, not %s", #got, blm_status_name(got_), #want); \
    } while (0)

/* err is filled as a failing call must fill it: its status, and a sentence with `word` in it. */
static inline void check_error(const blm_error *e, blm_status want, const char *word)
{
    if (e->status != want || !strstr(e->text, word))
        fail_msg("the error says %s, \"%s\"; not %s with \"%s\"", blm_status_name(e->status),
                 e->text, blm_status_name(want), word);
}

/* ---- an allocator that counts ---- */

/* Fails allocation number `fail_at` (from 0) and every one after it; UINT64_MAX: none. Each block
 * carries its size, so that a free with another size is seen. */
struct meter {
    uint64_t calls, fail_at;
    int64_t  live, live_bytes, peak_bytes;
    bool     once; /* fail only that one */
};

union meter_head {
    struct {
        size_t   size;
        uint64_t magic;
    } is;
    max_align_t align;
};
#define METER_MAGIC 0x6d65746572626c6bu

static inline void *meter_alloc(void *ctx, size_t size)
{
    struct meter *m = ctx;
    uint64_t      i = m->calls++;
    if (m->once ? i == m->fail_at : i >= m->fail_at)
        return NULL;
    union meter_head *h = malloc(sizeof *h + size);
    if (!h)
        return NULL;
    h->is.size  = size;
    h->is.magic = METER_MAGIC;
    memset(h + 1, 0xa5, size); /* whoever needs zeroes must ask for them */
    m->live++;
    m->live_bytes += (int64_t)size;
    m->peak_bytes = m->live_bytes > m->peak_bytes ? m->live_bytes : m->peak_bytes;
    return h + 1;
}

static inline void meter_free(void *ctx, void *p, size_t size)
{
    struct meter     *m = ctx;
    union meter_head *h = (union meter_head *)p - 1;
    assert_true(h->is.magic == METER_MAGIC);
    assert_true(h->is.size == size);
    h->is.magic = 0;
    m->live--;
    m->live_bytes -= (int64_t)size;
    free(h);
}

static inline blm_allocator meter_allocator(struct meter *m)
{
    blm_allocator a = { m, meter_alloc, NULL, meter_free };
    return a;
}

#endif
