/* SPDX-License-Identifier: MIT */
/* Flows are batches whose keys come and whose answers go in pieces: same bits, same answers, in the
 * same order, whatever the pieces. */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "core/kernel/kernel.h"
#include "unit/support.h"

#define MOST 1500u

/* What a flow is fed with, and what it says. */
struct feed {
    const blm_key *keys;
    size_t         count, given, told;
    size_t         step; /* keys given at once; 0: a different number each time */
    bool           ended;
    struct rng     r;
    uint8_t        answer[MOST + 1];
};

static size_t next(void *ctx, blm_key *keys, size_t room)
{
    struct feed *t = ctx;
    size_t       n = t->step ? t->step : 1 + rng_size(&t->r, 20);
    assert_true(room > 0 && !t->ended); /* after 0 it is not asked again */
    if (n > room)
        n = room;
    if (n > t->count - t->given)
        n = t->count - t->given;
    for (size_t i = 0; i < n; i++)
        keys[i] = t->keys[t->given + i];
    t->given += n;
    t->ended = n == 0;
    return n;
}

static void tell(void *ctx, const uint8_t *answers, size_t n)
{
    struct feed *t = ctx;
    assert_true(n > 0 && t->told + n <= t->given);
    memcpy(t->answer + t->told, answers, n);
    t->told += n;
}

static size_t flow_check(const blm_filter *f, const blm_key *keys, size_t n, size_t step,
                         struct feed *t)
{
    *t            = (struct feed){ .keys = keys, .count = n, .step = step, .r = { n } };
    blm_flow flow = { next, tell, t };
    size_t   hits = blm_check_flow(f, &flow);
    assert_int_equal(t->told, n);
    return hits;
}

static blm_status flow_add(blm_filter *f, const blm_key *keys, size_t n, size_t step, size_t *done,
                           struct feed *t)
{
    *t            = (struct feed){ .keys = keys, .count = n, .step = step, .r = { n } };
    blm_flow flow = { next, tell, t };
    return blm_add_flow(f, &flow, done);
}

/* ---- filters ---- */

/* Of steps: one link, a chain that grows, one that does not, Guava's, a chain whose links fill to the
 * last key; then all of our own. */
#define STEPS 5u
#define KINDS (STEPS + COUNT_OF(flavours))

static blm_filter *some_filter(size_t i)
{
    if (i >= STEPS)
        return make_flavour(&flavours[i - STEPS],
                            flavours[i - STEPS].kind == BLM_WINDOW ? MOST : 700, 0.1, 5);
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = i == 3 ? "guava64" : "redisbloom";
    o.kind        = i == 3 ? BLM_CLASSIC : BLM_SCALABLE;
    o.items       = i == 1 || i == 4 ? 40 : 4000;
    o.rate        = i == 4 ? 1e-9 : i == 2 ? 0.001 : 0.2;
    return make(&o);
}

/* In cache and out of it, in plain C and in vectors. */
static void each_way(void (*test)(blm_filter *(*make_one)(size_t)))
{
    uint64_t before = atomic_load(&blm__in_cache_bytes);
    for (int far = 0; far < 2; far++) {
        atomic_store(&blm__in_cache_bytes, far ? 0 : before);
        test(some_filter);
    }
    atomic_store(&blm__in_cache_bytes, before);
}

static blm_filter *plain_one(size_t i)
{
    blm_filter *f  = some_filter(i);
    f->body.kernel = &blm__kernel_portable;
    return f;
}

/* ---- tests ---- */

static void flows_are_batches(blm_filter *(*make_one)(size_t))
{
    static const size_t sizes[] = { 0, 1, 2, 3, 4, 5, 8, 16, 17, 100, 255, 256, 257, 300, MOST };
    static const size_t steps[] = { 0, 1, 3, 4, 7, 16, 1000 };
    struct key_set      in = key_set_make(1, MOST), out = key_set_make(2, MOST);
    for (size_t i = 0; i < MOST; i++)
        if (i % 3 == 0)
            out.keys[i] = in.keys[(i * 7 + 1) % 1000]; /* present, absent, as they come */
    for (size_t k = 0; k < KINDS; k++)
        for (size_t z = 0; z < COUNT_OF(sizes); z++) {
            struct feed t;
            size_t      n = sizes[z], done = 77, step = steps[(z + k) % COUNT_OF(steps)];
            blm_filter *a = make_one(k), *b = make_one(k);
            uint8_t     fresh[MOST], maybe[MOST];
            assert_status(flow_add(a, in.keys, n, step, &done, &t), BLM_OK);
            assert_int_equal(done, n);
            assert_int_equal(t.told, n);
            assert_status(blm_add_many(b, in.keys, n, fresh, NULL), BLM_OK);
            assert_memory_equal(t.answer, fresh, n);
            assert_true(same_bits(a, b));
            assert_int_equal(params_of(a).items, params_of(b).items);
            assert_int_equal(flow_check(a, out.keys, MOST - n, step, &t),
                             blm_check_many(b, out.keys, MOST - n, maybe));
            assert_memory_equal(t.answer, maybe, MOST - n);
            assert_int_equal(flow_check(a, in.keys, n, step, &t), n);
            if (!(params_of(a).can & BLM_CAN_FILL_UP)) /* nothing is new */
                assert_status(flow_add(a, in.keys, n, step, &done, &t), BLM_OK);
            assert_true(k >= STEPS || same_bits(a, b));
            blm_free(a);
            blm_free(b);
        }
    key_set_free(&in);
    key_set_free(&out);
}

static void flows_give_what_batches_give(void **state)
{
    (void)state;
    each_way(flows_are_batches);
}

static void plain(blm_filter *(*make_one)(size_t))
{
    (void)make_one;
    flows_are_batches(plain_one);
}

static void plain_flows_too(void **state)
{
    (void)state;
    each_way(plain);
}

/* NULL with a length: a check says "maybe" to it and goes on, an add stops there. */
static void what_is_no_key(blm_filter *(*make_one)(size_t))
{
    struct key_set in = key_set_make(3, 300), before = key_set_make(7, 200);
    for (size_t k = 0; k < KINDS; k++)
        for (size_t at = 0; at < 40; at += 1 + at / 5) {
            struct feed t;
            size_t      done = 77;
            uint8_t     maybe[300];
            blm_filter *a = make_one(k), *b = make_one(k);
            blm_key     was = in.keys[at], twice = in.keys[at + 6];
            in.keys[at] = in.keys[at + 6] = (blm_key){ NULL, 5 };
            assert_int_equal(flow_check(a, in.keys, 300, 0, &t), 2);
            assert_status(blm_add_many(a, before.keys, 200, NULL, NULL), BLM_OK);
            assert_status(blm_add_many(b, before.keys, 200, NULL, NULL), BLM_OK);
            assert_true((k != 1 && k != 4) || params_of(a).layers > 1);
            assert_int_equal(flow_check(a, in.keys, 300, 0, &t),
                             blm_check_many(b, in.keys, 300, maybe));
            assert_memory_equal(t.answer, maybe, 300);
            assert_int_equal(t.answer[at], 1);
            assert_int_equal(t.answer[at + 6], 1);
            assert_status(flow_add(a, in.keys, 300, 0, &done, &t), BLM_E_ARGUMENT);
            assert_int_equal(done, at);
            assert_int_equal(t.told, at);
            assert_status(blm_add_many(b, in.keys, at, NULL, NULL), BLM_OK);
            assert_true(same_bits(a, b));
            assert_int_equal(params_of(a).items, params_of(b).items);
            in.keys[at]     = was;
            in.keys[at + 6] = twice;
            blm_free(a);
            blm_free(b);
        }
    key_set_free(&in);
    key_set_free(&before);
}

static void flows_stop_at_what_is_no_key(void **state)
{
    (void)state;
    each_way(what_is_no_key);
}

/* A chain that may not grow: as many keys as it takes, then the reason. */
static void flows_stop_where_there_is_no_room(void **state)
{
    (void)state;
    struct key_set in = key_set_make(4, MOST);
    struct feed    t;
    uint8_t        fresh[MOST];
    size_t         done = 0, want = 0;
    blm_filter    *a = some_filter(1), *b = some_filter(1);
    blm_set_max_bytes(a, 300);
    blm_set_max_bytes(b, 300);
    assert_status(blm_add_many(b, in.keys, MOST, fresh, &want), BLM_E_LIMIT);
    assert_status(flow_add(a, in.keys, MOST, 0, &done, &t), BLM_E_LIMIT);
    assert_true(done == want && want > 40 && want < MOST);
    assert_int_equal(t.told, want);
    assert_memory_equal(t.answer, fresh, want);
    assert_true(same_bits(a, b));
    blm_free(a);
    blm_free(b);
    key_set_free(&in);
}

/* Nobody need be told; and every number of probes is right,
 * those too that are more than a flow keeps. */
static void flows_may_be_silent(void **state)
{
    (void)state;
    static const struct {
        double   rate;
        uint32_t most; /* probes */
    } rows[]          = { { 0.2, 4 },    { 0.01, 8 },    { 1e-10, 40 },
                          { 1e-20, 80 }, { 1e-30, 128 }, { 1e-45, 200 } };
    struct key_set in = key_set_make(5, 300), out = key_set_make(6, 300);
    uint64_t       before = atomic_load(&blm__in_cache_bytes);
    blm_options    o      = BLM_OPTIONS_INIT;
    o.scheme              = "redisbloom";
    o.kind                = BLM_SCALABLE;
    o.items               = 300;
    atomic_store(&blm__in_cache_bytes, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        o.rate        = rows[i].rate;
        blm_filter *f = make(&o);
        assert_in_range(params_of(f).probes, i ? rows[i - 1].most + 1 : 1, rows[i].most);
        struct feed t    = { .keys = in.keys, .count = 300 };
        blm_flow    flow = { next, NULL, &t };
        size_t      done = 0;
        assert_status(blm_add_flow(f, &flow, &done), BLM_OK);
        assert_int_equal(done, 300);
        t = (struct feed){ .keys = in.keys, .count = 300 };
        assert_int_equal(blm_check_flow(f, &flow), 300);
        t = (struct feed){ .keys = out.keys, .count = 300 };
        assert_int_equal(blm_check_flow(f, &flow), blm_check_many(f, out.keys, 300, NULL));
        blm_free(f);
    }
    atomic_store(&blm__in_cache_bytes, before);
    key_set_free(&in);
    key_set_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flows_give_what_batches_give),
        cmocka_unit_test(plain_flows_too),
        cmocka_unit_test(flows_stop_at_what_is_no_key),
        cmocka_unit_test(flows_stop_where_there_is_no_room),
        cmocka_unit_test(flows_may_be_silent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
