/* SPDX-License-Identifier: MIT */
#include "core/body.h"
#include "unit/support.h"

static void shapes_count_words_and_probes(void **state)
{
    (void)state;
    struct blm__shape s = { .bits = 1, .cell_bits = 1, .probes = 7 };
    assert_true(blm__shape_words(&s) == 1);
    s.bits = 64;
    assert_true(blm__shape_words(&s) == 1);
    s.bits = 65;
    assert_true(blm__shape_words(&s) == 2);
    s.cell_bits = 4;
    assert_true(blm__shape_words(&s) == 5);
    s.bits = BLM__MAX_BITS;
    assert_true(blm__shape_words(&s) == BLM__MAX_BITS / 16);
    assert_int_equal(blm__shape_probes(&s), 7);
    s.lines = 3;
    assert_int_equal(blm__shape_probes(&s), 21);
}

static void bytes_are_summed_over_layers(void **state)
{
    (void)state;
    struct blm__layer l[3] = { { .word_count = 1 }, { .word_count = 10 }, { .word_count = 100 } };
    struct blm__body  b    = { .layers = l, .layer_count = 3 };
    assert_true(blm__body_bytes(&b) == 888);
    b.layer_count = 0;
    assert_true(blm__body_bytes(&b) == 0);
}

static void items_are_counted_with_and_without_stripes(void **state)
{
    (void)state;
    struct meter      m = { .fail_at = UINT64_MAX };
    blm_allocator     a = meter_allocator(&m);
    struct blm__body  b = { .alloc = &a };
    struct blm__layer l = { .items = 5 };
    blm__layer_count(&l, 7);
    blm__layer_count(&l, 0);
    blm__layer_count(&l, -2);
    assert_true(blm__layer_items(&l) == 10);

    assert_true(blm__layer_stripes(&b, &l)); /* not shared: none needed */
    assert_null(l.stripes);
    b.shared = true;
    assert_true(blm__layer_stripes(&b, &l));
    assert_non_null(l.stripes);
    assert_true((uintptr_t)l.stripes % 64 == 0);
    assert_true(sizeof *l.stripes == 64); /* a cache line each */
    assert_true(blm__layer_items(&l) == 10);
    blm__layer_count(&l, 90);
    assert_true(blm__layer_items(&l) == 100);
    assert_true(l.items == 10); /* went to a stripe */
    blm__layer_count(&l, -95);  /* more than l.items has: the sum still holds */
    assert_true(blm__layer_items(&l) == 5);
    blm__layer_recount(&l, 3);
    assert_true(blm__layer_items(&l) == 3);
    blm__layer_unstripe(&b, &l);
    assert_null(l.stripes);
    blm__layer_unstripe(&b, &l);
    assert_int_equal(m.live, 0);
    m.fail_at = 0;
    assert_false(blm__layer_stripes(&b, &l));
}

/* A file's copy of the count follows. */
static void live_counts_follow(void **state)
{
    (void)state;
    uint8_t           live[8] = { 0 };
    struct blm__layer l       = { .live = live };
    blm__layer_count(&l, 258);
    assert_true(blm__get64le(live) == 258);
    assert_int_equal(live[0], 2);
    blm__layer_recount(&l, 1);
    assert_true(blm__get64le(live) == 1);
}

/* Grown room keeps the layers that were there, hands out zeroed structs, and a refusal leaves
 * everything as it was. */
static void room_grows_and_keeps(void **state)
{
    (void)state;
    struct meter     m = { .fail_at = UINT64_MAX };
    blm_allocator    a = meter_allocator(&m);
    struct blm__body b = { .alloc = &a };
    for (uint32_t i = 0; i < 20; i++) {
        struct blm__layer *l = blm__body_room(&b);
        assert_non_null(l);
        assert_ptr_equal(l, &b.layers[i]);
        assert_true(l->items == 0 && !l->words && l->shape.bits == 0);
        l->items = 1000 + i;
        b.layer_count++;
    }
    for (uint32_t i = 0; i < 20; i++)
        assert_true(b.layers[i].items == 1000 + i);
    while (b.layer_count < b.layer_room)
        b.layer_count++;
    struct blm__layer *was = b.layers;
    uint32_t           had = b.layer_room;
    m.fail_at              = m.calls;
    assert_null(blm__body_room(&b));
    assert_ptr_equal(b.layers, was);
    assert_int_equal(b.layer_room, had);
    blm__free(&a, b.layers, b.layer_room * sizeof *b.layers);
    assert_int_equal(m.live, 0);
}

static void marks_cover_their_regions(void **state)
{
    (void)state;
    uint8_t              marks[5] = { 0 };
    struct blm__layer    l        = { .word_count = 33, .marks = marks, .mark_shift = 3 };
    static const uint8_t third[5] = { 0, 0, 1, 0, 0 }, all[5] = { 1, 1, 1, 1, 1 };
    blm__mark(&l, 16);
    blm__mark(&l, 23);
    assert_memory_equal(marks, third, 5);
    marks[2] = 2; /* a sync is at it: marked again */
    blm__mark(&l, 17);
    assert_memory_equal(marks, third, 5);
    blm__mark_all(&l);
    assert_memory_equal(marks, all, 5);
    l.marks = NULL;
    blm__mark_all(&l); /* not a file: nothing to mark */
}

static bool stop(void *ctx, uint64_t done, uint64_t total)
{
    *(uint64_t *)ctx = done * 1000 + total;
    return false;
}

static void progress_is_asked_only_where_there_is_one(void **state)
{
    (void)state;
    uint64_t         heard = 0;
    struct blm__body b     = { .progress = NULL };
    assert_true(blm__go_on(&b, 1, 2));
    b.progress     = stop;
    b.progress_ctx = &heard;
    assert_false(blm__go_on(&b, 3, 4));
    assert_true(heard == 3004);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_count_words_and_probes),
        cmocka_unit_test(bytes_are_summed_over_layers),
        cmocka_unit_test(items_are_counted_with_and_without_stripes),
        cmocka_unit_test(live_counts_follow),
        cmocka_unit_test(room_grows_and_keeps),
        cmocka_unit_test(marks_cover_their_regions),
        cmocka_unit_test(progress_is_asked_only_where_there_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
