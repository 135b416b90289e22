/* SPDX-License-Identifier: MIT */
/* Lanes: what a single add does that meets a batch, and a batch that meets another, without luck:
 * the other one is played here, step by step. unit.api.threads has them at it for real. */
#include "core/kernel/lanes.h"

#include <pthread.h>

#include "api/filter.h"
#include "unit/support.h"

#define LINES 1000u

static blm_filter *shared_filter(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_BLOCKED;
    o.flags       = BLM_SHARED | BLM_SEEDED;
    o.bits        = LINES * 512;
    o.probes      = 6;
    return make(&o);
}

static struct blm__layer *lines_of(blm_filter *f) { return &f->body.layers[0]; }

static _Atomic uint64_t *lane_of(struct blm__layer *l, uint64_t h)
{
    return blm__lane(l, (unsigned)(blm__reduce(h, l->shape.line_count) >> l->lane_shift));
}

static void lanes_cover_all_lines(void **state)
{
    blm_filter        *f = shared_filter();
    struct blm__layer *l = lines_of(f);
    (void)state;
    assert_true(l->lanes);
    assert_true((l->shape.line_count - 1) >> l->lane_shift < BLM__LANES);
    assert_true((l->shape.line_count - 1) >> l->lane_shift >= BLM__LANES / 2);
    blm_free(f);
}

/* ---- a single add ---- */

static struct {
    _Atomic uint64_t *lane;
    unsigned          asked, batches; /* how often a batch passes while it looks */
    bool              there;
} scene;

static bool looks(const struct blm__layer *l, uint64_t h)
{
    uint64_t was;
    (void)l;
    (void)h;
    scene.asked++;
    if (scene.asked <= scene.batches && blm__lane_enter(scene.lane, &was))
        blm__lane_leave(scene.lane, was);
    return scene.there;
}

static void a_single_add_that_met_a_batch_looks_again(void **state)
{
    (void)state;
    for (int there = 0; there < 2; there++)
        for (unsigned batches = 0; batches < 4; batches++) {
            blm_filter        *f = shared_filter();
            struct blm__layer *l = lines_of(f);
            const uint64_t     h = 0x123456789abcdef0u;
            scene.lane           = lane_of(l, h);
            scene.asked          = 0;
            scene.batches        = batches;
            scene.there          = there;
            blm__shared_add(l, h, looks);
            assert_int_equal(scene.asked, batches + 1);
            assert_true(blm__lines_test(l, h) == !there);
            assert_true(*scene.lane % 2 == 0);
            blm_free(f);
        }
}

/* Batches that never stop do not keep it for ever: it takes the lane. */
static void a_single_add_takes_the_lane_at_last(void **state)
{
    blm_filter        *f = shared_filter();
    struct blm__layer *l = lines_of(f);
    const uint64_t     h = 0xfedcba9876543210u;
    (void)state;
    scene.lane    = lane_of(l, h);
    scene.asked   = 0;
    scene.batches = UINT32_MAX;
    scene.there   = false;
    blm__shared_add(l, h, looks);
    assert_int_equal(scene.asked, BLM__LANE_TRIES + 1);
    assert_true(blm__lines_test(l, h));
    assert_true(*scene.lane % 2 == 0);
    blm_free(f);
}

/* ---- a batch ---- */

#define KEYS 200u

struct batch {
    blm_filter *f;
    uint64_t    h[KEYS];
    uint8_t     fresh[KEYS];
    size_t      count;
};

static void *add_batch(void *arg)
{
    struct batch *b = arg;
    b->count        = b->f->body.kernel->lines_add_shared(lines_of(b->f), b->h, KEYS, b->fresh);
    return NULL;
}

static bool has(const struct batch *b, size_t i)
{
    return blm__lines_test(lines_of(b->f), b->h[i]);
}

/* The others first; then it waits. */
static void a_batch_leaves_a_lane_to_who_has_it(void **state)
{
    struct batch       b = { .f = shared_filter() };
    struct blm__layer *l = lines_of(b.f);
    pthread_t          t;
    uint64_t           was;
    (void)state;
    for (size_t i = 0; i < KEYS; i++)
        b.h[i] = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    _Atomic uint64_t *held = lane_of(l, b.h[7]);
    assert_true(blm__lane_enter(held, &was));
    assert_false(blm__lane_enter(held, &was));
    assert_int_equal(pthread_create(&t, NULL, add_batch, &b), 0);
    for (size_t i = 0; i < KEYS; i++)
        while (lane_of(l, b.h[i]) != held && !has(&b, i))
            sched_yield();
    for (size_t i = 0; i < KEYS; i++)
        assert_true(has(&b, i) == (lane_of(l, b.h[i]) != held));
    blm__lane_leave(held, atomic_load(held) - 1);
    pthread_join(t, NULL);
    for (size_t i = 0; i < KEYS; i++)
        assert_true(has(&b, i));
    size_t fresh = 0;
    for (size_t i = 0; i < KEYS; i++)
        fresh += b.fresh[i];
    assert_int_equal(b.count, fresh);
    blm_free(b.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_cover_all_lines),
        cmocka_unit_test(a_single_add_that_met_a_batch_looks_again),
        cmocka_unit_test(a_single_add_takes_the_lane_at_last),
        cmocka_unit_test(a_batch_leaves_a_lane_to_who_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
