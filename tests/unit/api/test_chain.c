/* SPDX-License-Identifier: MIT */
/* RedisBloom chains link by link: taken apart and made again they are the same filter. */
#include "bloomery/embed.h"
#include "bloomery/redisbloom.h"
#include "unit/support.h"

#define LINKS 3u

static void *counted(void *ctx, size_t size)
{
    ++*(int *)ctx;
    return malloc(size);
}
static void uncounted(void *ctx, void *p, size_t size)
{
    (void)size;
    --*(int *)ctx;
    free(p);
}

static blm_filter *grown(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.scheme = "redisbloom";
    o.kind   = BLM_SCALABLE;
    o.items  = 100;
    o.rate   = 0.01;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
    for (uint64_t i = 0; i < 500; i++)
        assert_true(blm_add(f, &i, 8) >= 0);
    return f;
}

static void describe(const blm_filter *f, blm_chain_layer *links)
{
    for (uint32_t i = 0; i < LINKS; i++)
        assert_int_equal(blm_chain_get_layer(f, i, &links[i]), BLM_OK);
    assert_int_equal(blm_chain_get_layer(f, LINKS, &links[0]), BLM_E_ARGUMENT);
    assert_int_equal(blm_chain_get_layer(f, 0, &links[0]), BLM_OK);
}

static void apart_and_together(void **state)
{
    (void)state;
    blm_filter     *f = grown(), *g;
    blm_chain_layer links[LINKS];
    describe(f, links);
    assert_int_equal(blm_chain_create(links, LINKS, 5, 2, NULL, &g, NULL), BLM_OK);
    assert_false(blm_equal(f, g)); /* zeroes */
    for (uint32_t i = 0; i < LINKS; i++) {
        uint64_t       bytes;
        const uint8_t *bits = blm_view(f, i, &bytes);
        assert_int_equal(bytes, links[i].bytes);
        assert_int_equal(blm_write_bits(g, i, 8, bits + 8, bytes - 8), BLM_OK);
        assert_int_equal(blm_write_bits(g, i, 0, bits, 8), BLM_OK);
        assert_int_equal(blm_write_bits(g, i, bytes - 7, bits, 8), BLM_E_ARGUMENT);
    }
    assert_int_equal(blm_write_bits(g, LINKS, 0, "", 0), BLM_E_ARGUMENT);
    assert_true(blm_equal(f, g));
    for (uint64_t i = 500; i < 2000; i++) /* and they grow alike */
        assert_int_equal(blm_add(f, &i, 8), blm_add(g, &i, 8));
    assert_true(blm_equal(f, g));
    blm_free(f);
    blm_free(g);
}

static void arrays_are_taken_or_left(void **state)
{
    (void)state;
    int             there = 0;
    blm_allocator   a     = { &there, counted, NULL, uncounted };
    blm_options     o     = BLM_OPTIONS_INIT;
    blm_filter     *f     = grown(), *g;
    blm_chain_layer links[LINKS];
    describe(f, links);
    o.allocator = &a;
    for (uint32_t i = 0; i < LINKS; i++) {
        uint64_t bytes;
        links[i].words = a.alloc(a.ctx, (size_t)links[i].bytes);
        memcpy(links[i].words, blm_view(f, i, &bytes), (size_t)links[i].bytes);
    }
    o.max_bytes = links[0].bytes; /* refused: they stay ours */
    assert_int_equal(blm_chain_create(links, LINKS, 5, 2, &o, &g, NULL), BLM_E_LIMIT);
    assert_int_equal(there, LINKS);
    o.max_bytes = 0;
    links[2].hashes++; /* also when the last of them is wrong */
    assert_int_equal(blm_chain_create(links, LINKS, 5, 2, &o, &g, NULL), BLM_E_FORMAT);
    assert_int_equal(there, LINKS);
    links[2].hashes--;
    assert_int_equal(blm_chain_create(links, LINKS, 5, 2, &o, &g, NULL), BLM_OK);
    assert_true(blm_equal(f, g));
    blm_free(g);
    assert_int_equal(there, 0);
    blm_free(f);
}

static void what_no_chain_has(void **state)
{
    (void)state;
    blm_filter     *f = grown(), *g;
    blm_chain_layer links[LINKS], bad;
    describe(f, links);
    assert_int_equal(blm_chain_create(links, 0, 5, 2, NULL, &g, NULL), BLM_E_ARGUMENT);
    assert_int_equal(blm_chain_create(links, 1076, 5, 2, NULL, &g, NULL), BLM_E_LIMIT);
    assert_int_equal(blm_chain_create(links, 1, 16, 2, NULL, &g, NULL), BLM_E_FORMAT);
#define REFUSED(change)                                                                  \
    do {                                                                                 \
        bad = links[0];                                                                  \
        change;                                                                          \
        assert_int_equal(blm_chain_create(&bad, 1, 5, 2, NULL, &g, NULL), BLM_E_FORMAT); \
        assert_null(g);                                                                  \
    } while (0)
    REFUSED(bad.error = 0.0 / 0.0);
    REFUSED(bad.error = 1);
    REFUSED(bad.bpe = 1e300);
    REFUSED(bad.bytes = 0);
    REFUSED(bad.bytes = (uint64_t)1 << 58);
    REFUSED(bad.bits -= 8);
    REFUSED(bad.n2 = 64);
    REFUSED(bad.hashes = UINT32_MAX);
#undef REFUSED
    blm_free(f);
}

static void a_link_of_ones_own_choice(void **state)
{
    (void)state;
    blm_options     o = BLM_OPTIONS_INIT;
    blm_filter     *f = grown(), *plain;
    blm_chain_layer l;
    assert_int_equal(blm_chain_grow(f, 5000, 0.0005, NULL), BLM_OK);
    assert_int_equal(blm_chain_get_layer(f, LINKS, &l), BLM_OK);
    assert_true(l.entries == 5000 && l.error == 0.0005 && l.items == 0 && l.hashes == 11);
    assert_int_equal(l.bytes, 8 * ((uint64_t)(5000 * l.bpe) / 64 + 1));
    for (uint64_t i = 1000; i < 1100; i++)
        assert_true(blm_add(f, &i, 8) >= 0);
    assert_int_equal(blm_chain_get_layer(f, LINKS, &l), BLM_OK);
    assert_true(l.items > 90);
    blm_set_max_bytes(f, 100); /* nothing more fits */
    assert_int_equal(blm_chain_grow(f, 5000, 0.0005, NULL), BLM_E_LIMIT);
    blm_free(f);
    o.items = 10;
    o.rate  = 0.1;
    assert_int_equal(blm_create(&o, &plain, NULL), BLM_OK);
    assert_int_equal(blm_chain_grow(plain, 10, 0.1, NULL), BLM_E_UNSUPPORTED);
    assert_int_equal(blm_chain_get_layer(plain, 0, &l), BLM_E_UNSUPPORTED);
    blm_free(plain);
}

/* ---- memory that moves ---- */

/* Sizes stand before each piece, so that it can be moved, to a place that is aligned otherwise. */
static void *sized(void *ctx, size_t size)
{
    size_t *p = malloc(size + 32);
    p[0]      = size;
    (void)ctx;
    return p + 2;
}
static void unsized(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)size;
    free((size_t *)p - 2);
}
static void *move(void *ctx, void *p)
{
    size_t size = ((size_t *)p)[-2];
    void  *to   = sized(NULL, size);
    memcpy(to, p, size);
    memset(p, 0xee, size);
    unsized(NULL, p, size);
    ++*(int *)ctx;
    return to;
}

static void every_flavour_moves(void **state)
{
    (void)state;
    blm_allocator a = { NULL, sized, NULL, unsized };
    for (int kind = BLM_CLASSIC; kind <= BLM_SCALABLE; kind++)
        for (int shared = 0; shared < (kind == BLM_SCALABLE ? 1 : 2); shared++) {
            blm_options o = BLM_OPTIONS_INIT;
            blm_filter *f, *same;
            int         pieces = 0;
            o.kind             = (blm_kind)kind;
            o.flags            = shared ? BLM_SHARED : 0;
            o.items            = 300;
            o.rate             = 0.01;
            o.allocator        = &a;
            assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
            for (uint64_t i = 0; i < 1000; i++)
                assert_true(blm_add(f, &i, 8) >= 0);
            assert_int_equal(blm_copy(f, &same, NULL), BLM_OK);
            for (int round = 0; round < 3; round++)
                f = blm_relocate(f, move, &pieces);
            assert_true(pieces >= 9); /* handle, layers, bits: three times */
            assert_true(blm_equal(f, same));
            for (uint64_t i = 1000; i < 2000; i++)
                assert_int_equal(blm_add(f, &i, 8), blm_add(same, &i, 8));
            assert_true(blm_equal(f, same));
            blm_free(f);
            blm_free(same);
        }
}

/* Arrays change hands and nothing else: no bit, no count, no byte of memory. */
static void dissolved_and_made_again(void **state)
{
    (void)state;
    int             blocks = 0;
    blm_allocator   a      = { &blocks, counted, NULL, uncounted };
    blm_options     o      = BLM_OPTIONS_INIT;
    blm_chain_layer links[LINKS], plan;
    blm_filter     *f    = NULL, *plain;
    blm_filter     *same = grown();
    o.scheme             = "redisbloom";
    o.kind               = BLM_SCALABLE;
    o.items              = 100;
    o.rate               = 0.01;
    o.allocator          = &a;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
    for (uint64_t i = 0; i < 500; i++)
        assert_true(blm_add(f, &i, 8) >= 0);
    assert_int_equal(blm_chain_dissolve(f, links, LINKS - 1, NULL), BLM_E_LIMIT);
    for (int round = 0; round < 3; round++) { /* the first copies: a new layer's array is aligned */
        assert_int_equal(blm_chain_dissolve(f, links, LINKS, NULL), BLM_OK);
        assert_int_equal(blocks, LINKS);
        for (uint32_t i = 0; i < LINKS; i++) {
            assert_int_equal(blm_chain_plan(links[i].entries, links[i].error, 5, &plan, NULL),
                             BLM_OK);
            assert_true(plan.bytes == links[i].bytes && plan.bits == links[i].bits &&
                        plan.hashes == links[i].hashes && plan.bpe == links[i].bpe && plan.n2 == 0);
        }
        assert_int_equal(blm_chain_create(links, LINKS, 5, 2, &o, &f, NULL), BLM_OK);
    }
    for (uint32_t i = 0; i < LINKS; i++) {
        uint64_t    n, m;
        const void *x = blm_view(f, i, &n), *y = blm_view(same, i, &m);
        assert_int_equal(n, m);
        assert_memory_equal(x, y, (size_t)n);
    }
    blm_free(f);
    blm_free(same);
    assert_int_equal(blocks, 0);
    assert_int_equal(blm_chain_plan(0, 0.01, 5, &plan, NULL), BLM_E_FULL);
    o       = (blm_options)BLM_OPTIONS_INIT;
    o.items = 10;
    o.rate  = 0.1;
    assert_int_equal(blm_create(&o, &plain, NULL), BLM_OK);
    assert_int_equal(blm_chain_dissolve(plain, links, LINKS, NULL), BLM_E_UNSUPPORTED);
    blm_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apart_and_together),  cmocka_unit_test(arrays_are_taken_or_left),
        cmocka_unit_test(what_no_chain_has),   cmocka_unit_test(a_link_of_ones_own_choice),
        cmocka_unit_test(every_flavour_moves), cmocka_unit_test(dissolved_and_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
