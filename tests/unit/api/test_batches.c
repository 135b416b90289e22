/* SPDX-License-Identifier: MIT */
/* Batches at random, by every kernel that runs here: any kind and layout, tiny filters and full ones,
 * in memory and in files, keys that come again among the eight that a kernel takes at once. What they
 * answer and leave is what single calls of the portable kernel do. */
#include "bloomery/embed.h"
#include "core/kernel/kernel.h"
#include "unit/files.h"

/* A story: two filters alike, to which the same things happen. */
struct story {
    struct rng  r;
    blm_options o;
    bool        in_file;         /* `batched` is */
    blm_filter *batched, *alone; /* alone: key by key */
    size_t      width;           /* of the keys; ANY: each has its own */
    uint64_t    pool;            /* different keys */
    uint64_t    clock;
};

#define ANY SIZE_MAX

static uint64_t now(void *ctx) { return *(uint64_t *)ctx; }

static bool chance(struct story *s, uint64_t one_in) { return rng_below(&s->r, one_in) == 0; }

/* ---- keys ---- */

/* Every byte is in memory of exactly the size that is needed, so that sanitizers see who reads on. */
struct batch {
    size_t   n;
    blm_key *list;
    uint8_t *bytes, *fixed; /* fixed: from any byte on; NULL: of several lengths */
};

/* On both sides of a step, of what each ring has under way, of a batch and of a run. */
static size_t batch_size(struct story *s)
{
    static const size_t edges[] = { 0, 8, 16, 24, 48, 56, 64, 72, 96, 104, 128, 136, 256, 512 };
    if (chance(s, 12))
        return 2040 + rng_size(&s->r, 20);
    size_t edge = edges[rng_size(&s->r, COUNT_OF(edges))];
    return edge + rng_size(&s->r, 3) - (edge ? 1 : 0);
}

static size_t key_length(const struct story *s, uint64_t id)
{
    static const size_t lengths[] = { 8, 8, 0, 1, 4, 7, 9, 16, 17, 33, 129, 241, 300 };
    return s->width == ANY ? lengths[id % COUNT_OF(lengths)] : s->width;
}

/* Key `id`: of a width too small for so many, some are the same. */
static void put_key(uint64_t id, uint8_t *to, size_t len)
{
    struct rng r = { id };
    rng_bytes(&r, to, len);
}

static void some_ids(struct story *s, uint64_t *id, size_t n)
{
    uint64_t often = rng_below(&s->r, s->pool), way = rng_below(&s->r, 3);
    for (size_t i = 0; i < n; i++) {
        id[i] = rng_below(&s->r, s->pool);
        if (way == 0 && chance(s, 2))
            id[i] = often;
        else if (way == 1 && i && chance(s, 4))
            id[i] = id[i - 1 - rng_size(&s->r, i < 9 ? i : 9)];
    }
}

static struct batch some_keys(struct story *s)
{
    struct batch b     = { .n = batch_size(s) };
    size_t       shift = rng_size(&s->r, 8), sum = shift;
    uint64_t    *id = malloc(b.n * sizeof *id + 1);
    b.list          = malloc(b.n * sizeof *b.list + 1);
    assert_true(id && b.list);
    some_ids(s, id, b.n);
    for (size_t i = 0; i < b.n; i++)
        sum += key_length(s, id[i]);
    b.bytes = malloc(sum ? sum : 1);
    assert_non_null(b.bytes);
    uint8_t *to = b.bytes + shift;
    b.fixed     = s->width == ANY ? NULL : to;
    for (size_t i = 0; i < b.n; to += b.list[i++].len) {
        b.list[i] = (blm_key){ to, key_length(s, id[i]) };
        put_key(id[i], to, b.list[i].len);
    }
    free(id);
    return b;
}

static void batch_free(struct batch *b)
{
    free(b->list);
    free(b->bytes);
}

/* ---- a batch as it may be given ---- */

enum way { LIST, FIXED, HASHES, DIGESTS, WAYS };

static enum way any_way(struct story *s, const struct batch *b)
{
    enum way w = (enum way)rng_below(&s->r, WAYS);
    return w == FIXED && !b->fixed ? LIST : w;
}

static uint64_t *hashes_of(const blm_filter *f, const struct batch *b)
{
    uint64_t *h = malloc(b->n * sizeof *h + 1);
    assert_non_null(h);
    assert_status(blm_hash_many(f, b->list, b->n, h), BLM_OK);
    return h;
}

static blm_digest *digests_of(const blm_filter *f, const struct batch *b)
{
    blm_digest *d = malloc(b->n * sizeof *d + 1);
    assert_non_null(d);
    for (size_t i = 0; i < b->n; i++)
        assert_status(blm_digest_of(f, b->list[i].data, b->list[i].len, &d[i]), BLM_OK);
    return d;
}

static blm_status add_by(const struct story *s, const struct batch *b, enum way w, uint8_t *fresh,
                         size_t *done)
{
    blm_filter *f    = s->batched;
    void       *made = w == HASHES    ? (void *)hashes_of(f, b)
                       : w == DIGESTS ? (void *)digests_of(f, b)
                                      : NULL;
    blm_status  st   = w == FIXED     ? blm_add_fixed(f, b->fixed, s->width, b->n, fresh, done)
                       : w == HASHES  ? blm_add_hashes(f, made, b->n, fresh, done)
                       : w == DIGESTS ? blm_add_digests(f, made, b->n, fresh, done)
                                      : blm_add_many(f, b->list, b->n, fresh, done);
    free(made);
    return st;
}

static size_t check_by(const struct story *s, const struct batch *b, enum way w, uint8_t *maybe)
{
    blm_filter *f    = s->batched;
    void       *made = w == HASHES    ? (void *)hashes_of(f, b)
                       : w == DIGESTS ? (void *)digests_of(f, b)
                                      : NULL;
    size_t      hits = w == FIXED     ? blm_check_fixed(f, b->fixed, s->width, b->n, maybe)
                       : w == HASHES  ? blm_check_hashes(f, made, b->n, maybe)
                       : w == DIGESTS ? blm_check_digests(f, made, b->n, maybe)
                                      : blm_check_many(f, b->list, b->n, maybe);
    free(made);
    return hits;
}

/* ---- what happens ---- */

/* Room for a batch's answers, or NULL: nobody asked. */
static uint8_t *some_room(struct story *s, const struct batch *b)
{
    uint8_t *room = malloc(b->n ? b->n : 1);
    assert_non_null(room);
    if (!chance(s, 5))
        return room;
    free(room);
    return NULL;
}

/* A full filter stops both at the same key. */
static void judge_add(struct story *s, const struct batch *b)
{
    uint8_t   *fresh = some_room(s, b);
    size_t     done = 77, i = 0;
    blm_status st = add_by(s, b, any_way(s, b), fresh, &done), one = BLM_OK;
    for (; i < b->n && (one = blm_add(s->alone, b->list[i].data, b->list[i].len)) >= 0; i++)
        assert_true(!fresh || fresh[i] == (one == BLM_OK));
    assert_int_equal(st, one < 0 ? one : BLM_OK);
    assert_int_equal(done, i);
    free(fresh);
}

static void judge_check(struct story *s, const struct batch *b)
{
    uint8_t *maybe = some_room(s, b);
    size_t   hits = check_by(s, b, any_way(s, b), maybe), sum = 0;
    for (size_t i = 0; i < b->n; i++) {
        bool one = blm_check(s->alone, b->list[i].data, b->list[i].len);
        assert_true(!maybe || maybe[i] == one);
        sum += one;
    }
    assert_int_equal(hits, sum);
    free(maybe);
}

static void judge_remove(struct story *s, const struct batch *b)
{
    uint8_t *gone    = some_room(s, b);
    size_t   removed = 77, sum = 0;
    if (b->fixed && chance(s, 2))
        assert_status(blm_remove_fixed(s->batched, b->fixed, s->width, b->n, gone, &removed),
                      BLM_OK);
    else
        assert_status(blm_remove_many(s->batched, b->list, b->n, gone, &removed), BLM_OK);
    for (size_t i = 0; i < b->n; i++) {
        bool one = blm_remove(s->alone, b->list[i].data, b->list[i].len) == BLM_OK;
        assert_true(!gone || gone[i] == one);
        sum += one;
    }
    assert_int_equal(removed, sum);
    free(gone);
}

static void next_event(struct story *s)
{
    struct batch b   = some_keys(s);
    uint64_t     way = rng_below(&s->r, 10);
    if (s->o.window_ms)
        s->clock += rng_below(&s->r, chance(s, 3) ? 2 * s->o.window_ms : s->o.window_ms / 4 + 1);
    if (way < 5)
        judge_add(s, &b);
    else if (way < 8 || !(params_of(s->alone).can & BLM_CAN_REMOVE))
        judge_check(s, &b);
    else
        judge_remove(s, &b);
    if (s->in_file && chance(s, 3)) /* what changes from now on must be marked again */
        assert_status(blm_sync(s->batched, NULL), BLM_OK);
    assert_true(same_bits(s->batched, s->alone));
    assert_true(params_of(s->batched).items == params_of(s->alone).items);
    batch_free(&b);
}

/* ---- filters ---- */

/* `o` as blm_create takes it, of one kind and any layout. */
static void any_options(struct story *s)
{
    static const blm_kind kinds[] = { BLM_CLASSIC,  BLM_BLOCKED, BLM_COUNTING,
                                      BLM_SCALABLE, BLM_WINDOW,  BLM_CUCKOO };
    static const double   rates[] = { 0.3, 0.03, 0.01, 1e-3, 1e-4, 1e-6 };
    struct rng           *r       = &s->r;
    blm_options           o       = BLM_OPTIONS_INIT;
    o.kind                        = kinds[rng_below(r, COUNT_OF(kinds))];
    o.items                       = 1 + rng_below(r, chance(s, 3) ? 3000 : chance(s, 3) ? 4 : 60);
    o.rate                        = rates[rng_below(r, COUNT_OF(rates))];
    o.flags                       = BLM_SEEDED | (chance(s, 6) ? BLM_SHARED : 0);
    o.seed[0]                     = rng_next(r);
    o.hash                        = chance(s, 6) ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
    o.threads                     = chance(s, 8) ? 2 : 0;
    o.clock                       = now;
    o.clock_ctx                   = &s->clock;
    if (o.kind == BLM_SCALABLE || (o.kind == BLM_CUCKOO && chance(s, 3)))
        o.growth = 2, o.flags &= ~(uint32_t)BLM_SHARED;
    o.layer_classic = o.kind == BLM_SCALABLE && chance(s, 2);
    if (o.kind == BLM_COUNTING || o.kind == BLM_BLOCKED)
        o.lines = (uint32_t)rng_below(r, o.kind == BLM_COUNTING ? 6 : 4);
    if (o.kind == BLM_WINDOW && chance(s, 2))
        o.window_ms = 10 + rng_below(r, 10000);
    if (o.kind == BLM_WINDOW && chance(s, 2))
        o.slack = 0.02 + (double)rng_below(r, 20) / 100;
    s->o = o;
}

#define NAME "batches.blm"

static blm_filter *made(const struct story *s, const struct blm__kernel *v, bool in_file)
{
    blm_filter *f = NULL;
    blm_status  st =
        in_file ? blm_create_file(at(NAME), &s->o, &f, NULL) : blm_create(&s->o, &f, NULL);
    if (st != BLM_OK)
        return NULL;
    f->body.kernel = v;
    blm__body_singles(&f->body, &f->body.layers[0].shape);
    return f;
}

/* Every region that was changed was marked. */
static void judge_file(const struct story *s)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    o.flags       = BLM_VERIFY;
    o.clock       = s->o.clock;
    o.clock_ctx   = s->o.clock_ctx;
    assert_status(blm_open(at(NAME), &o, &f, NULL), BLM_OK);
    blm_free(f);
    unlink(at(NAME));
}

/* How many things happened: none where the options do not go together. */
static unsigned tell(uint64_t seed, const struct blm__kernel *v)
{
    struct story s      = { .r = { seed }, .clock = 1700000000000u };
    unsigned     events = 0;
    any_options(&s);
    s.in_file       = chance(&s, 5);
    s.width         = chance(&s, 3) ? ANY : chance(&s, 3) ? rng_size(&s.r, 20) : 8;
    s.pool          = 1 + rng_below(&s.r, chance(&s, 3) ? 6 : (chance(&s, 2) ? 1 : 20) * s.o.items);
    s.alone         = made(&s, &blm__kernel_portable, false);
    s.batched       = s.alone ? made(&s, v, s.in_file) : NULL;
    uint64_t before = atomic_exchange(&blm__in_cache_bytes, chance(&s, 2) ? 0 : UINT64_MAX);
    for (unsigned n = 1 + (unsigned)rng_below(&s.r, 12); s.batched && events < n; events++)
        next_event(&s);
    atomic_store(&blm__in_cache_bytes, before);
    blm_free(s.alone);
    assert_status(blm_close(s.batched, NULL), BLM_OK);
    if (s.in_file && s.batched)
        judge_file(&s);
    return events;
}

static const char *const kernels[] = { "portable", "avx2", "avx512", "neon", "simd128" };

static void batches_are_single_calls(void **state)
{
    (void)state;
    const uint64_t stories = quick_tests() ? 20 : long_tests() ? 20000 : 400;
    for (size_t i = 0; i < COUNT_OF(kernels); i++) {
        const struct blm__kernel *v      = blm__kernel_named(kernels[i]);
        uint64_t                  events = 0;
        for (uint64_t seed = 0; v && seed < stories; seed++)
            events += tell(seed, v);
        assert_true(!v || events > 3 * stories); /* most options do go together */
    }
}

/* Every add marks the region of a window's state. Those of its words must be marked too. */
static void a_window_of_several_regions_marks_them(void **state)
{
    (void)state;
    struct story s = { .clock = 1700000000000u, .in_file = true };
    s.o            = (blm_options){ .size = sizeof s.o, .kind = BLM_WINDOW, .items = 200000 };
    s.o.rate       = 1e-3;
    for (size_t i = 0; i < COUNT_OF(kernels); i++) {
        const struct blm__kernel *v = blm__kernel_named(kernels[i]);
        blm_filter               *f = v ? made(&s, v, true) : NULL;
        uint64_t                  keys[100];
        struct rng                r = { i };
        if (!v)
            continue;
        assert_non_null(f);
        assert_true(f->body.layers[0].word_count * 8 > 4 * 65536);
        rng_bytes(&r, keys, sizeof keys);
        assert_status(blm_sync(f, NULL), BLM_OK);
        assert_status(blm_add_fixed(f, keys, 8, COUNT_OF(keys), NULL, NULL), BLM_OK);
        assert_status(blm_close(f, NULL), BLM_OK);
        judge_file(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(batches_are_single_calls),
        file_test(a_window_of_several_regions_marks_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
