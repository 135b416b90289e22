/* SPDX-License-Identifier: MIT */
/* Layers in memory: who owns the words, and what a failure leaves. */
#include "unit/support.h"

#include "scheme/scheme.h"
#include "store/store.h"

static struct blm__shape shape(uint64_t bits)
{
    struct blm__shape s = { .kind      = BLM_CLASSIC,
                            .rule      = BLM__CHAIN,
                            .scheme    = &blm__scheme_native,
                            .bits      = bits,
                            .probes    = 3,
                            .cell_bits = 1 };
    return s;
}

static struct blm__body body(const blm_allocator *a)
{
    struct blm__body b = { .alloc = a, .store = &blm__store_memory };
    return b;
}

static void layers_come_and_go(void **state)
{
    (void)state;
    struct meter     m = { .fail_at = UINT64_MAX };
    blm_allocator    a = meter_allocator(&m);
    struct blm__body b = body(&a);
    for (uint32_t i = 0; i < 20; i++) {
        struct blm__shape s = shape(100 + 1000 * i);
        assert_status(b.store->add_layer(&b, &s, NULL), BLM_OK);
        assert_int_equal(b.layer_count, i + 1);
        const struct blm__layer *l = &b.layers[i];
        assert_int_equal(l->word_count, (100 + 1000 * i + 63) / 64);
        assert_int_equal((uintptr_t)l->words % 64, 0);
        for (uint64_t w = 0; w < l->word_count; w++)
            assert_true(l->words[w] == 0);
        assert_null(l->stripes);
        b.layers[i].words[0] = i; /* stays when the table of layers moves */
    }
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(b.layers[i].words[0], i);
    assert_status(b.store->drop_layers(&b, 3, NULL), BLM_OK);
    assert_int_equal(b.layer_count, 3);
    assert_status(b.store->drop_layers(&b, 5, NULL), BLM_OK);
    assert_int_equal(b.layer_count, 3);
    assert_status(b.store->close(&b, NULL), BLM_OK);
    assert_int_equal(m.live, 0);
}

static void shared_layers_have_stripes(void **state)
{
    (void)state;
    struct meter      m = { .fail_at = UINT64_MAX };
    blm_allocator     a = meter_allocator(&m);
    struct blm__body  b = body(&a);
    struct blm__shape s = shape(1000);
    b.shared            = true;
    assert_status(b.store->add_layer(&b, &s, NULL), BLM_OK);
    assert_non_null(b.layers[0].stripes);
    blm__layer_count(&b.layers[0], 5);
    assert_int_equal(blm__layer_items(&b.layers[0]), 5);
    b.store->close(&b, NULL);
    assert_int_equal(m.live, 0);
}

static void memory_may_fail_anywhere(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++)
        for (uint64_t n = 0;; n++) {
            struct meter      m  = { .fail_at = n };
            blm_allocator     a  = meter_allocator(&m);
            struct blm__body  b  = body(&a);
            struct blm__shape s  = shape(5000);
            blm_error         e  = { .text = "" };
            blm_status        st = BLM_OK;
            b.shared             = shared;
            for (int i = 0; i < 5 && st == BLM_OK; i++) {
                uint32_t had = b.layer_count;
                st           = b.store->add_layer(&b, &s, &e);
                assert_int_equal(b.layer_count, had + (st == BLM_OK));
            }
            b.store->close(&b, NULL);
            assert_int_equal(m.live, 0);
            if (st == BLM_OK)
                break;
            assert_int_equal(st, BLM_E_MEMORY);
            assert_int_equal(e.status, BLM_E_MEMORY);
        }
}

static void caps(void **state)
{
    (void)state;
    struct meter      m = { .fail_at = UINT64_MAX };
    blm_allocator     a = meter_allocator(&m);
    struct blm__body  b = body(&a);
    struct blm__shape s = shape(64 * 100);
    blm_error         e;
    b.max_bytes = 2000;
    assert_status(b.store->add_layer(&b, &s, &e), BLM_OK);
    assert_status(b.store->add_layer(&b, &s, &e), BLM_OK);
    s.bits = 64 * 51;
    assert_status(b.store->add_layer(&b, &s, &e), BLM_E_LIMIT);
    s.bits = 64 * 50;
    assert_status(b.store->add_layer(&b, &s, &e), BLM_OK);
    s.bits = 1;
    assert_status(b.store->add_layer(&b, &s, &e), BLM_E_LIMIT);
    b.max_bytes = 1; /* lowered below what is there */
    assert_status(b.store->add_layer(&b, &s, &e), BLM_E_LIMIT);
    b.max_bytes = 0;
    while (b.layer_count < BLM__MAX_LAYERS)
        assert_status(b.store->add_layer(&b, &s, &e), BLM_OK);
    assert_status(b.store->add_layer(&b, &s, &e), BLM_E_LIMIT);
    b.store->close(&b, NULL);
    assert_int_equal(m.live, 0);
}

static void words_of_the_caller(void **state)
{
    (void)state;
    struct meter      m      = { .fail_at = UINT64_MAX };
    blm_allocator     a      = meter_allocator(&m);
    struct blm__shape s      = shape(64 * 4);
    uint64_t          own[4] = { 1, 2, 3, 4 };
    struct blm__body  b      = body(&a);
    assert_status(blm__memory_borrow(&b, &s, own, false, NULL), BLM_OK);
    assert_ptr_equal(b.layers[0].words, own);
    assert_int_equal(b.store->backing, BLM_IN_WORDS);
    b.store->close(&b, NULL);
    assert_int_equal(own[3], 4);
    assert_int_equal(m.live, 0);

    uint64_t *given = meter_alloc(&m, sizeof own);
    b               = body(&a);
    assert_status(blm__memory_borrow(&b, &s, given, true, NULL), BLM_OK);
    assert_int_equal(b.store->backing, BLM_IN_MEMORY);
    b.store->close(&b, NULL);
    assert_int_equal(m.live, 0); /* freed with the size it was allocated with */

    given     = meter_alloc(&m, sizeof own);
    b         = body(&a);
    m.fail_at = m.calls;
    assert_status(blm__memory_borrow(&b, &s, given, true, NULL), BLM_E_MEMORY);
    b.store->close(&b, NULL);
    assert_int_equal(m.live, 1); /* still the caller's */
    meter_free(&m, given, sizeof own);
}

static void blocks_change_hands(void **state)
{
    (void)state;
    struct meter      m = { .fail_at = UINT64_MAX };
    blm_allocator     a = meter_allocator(&m);
    struct blm__shape s = shape(64 * 100);
    struct blm__body  b = body(&a);
    struct blm__block block, kept;
    assert_true(blm__block_alloc(&a, 800, &block));
    kept      = block;
    m.fail_at = m.calls;
    assert_status(blm__memory_take(&b, &s, &block, NULL), BLM_E_MEMORY);
    assert_ptr_equal(block.base, kept.base); /* not taken */
    m.fail_at = UINT64_MAX;
    assert_status(blm__memory_take(&b, &s, &block, NULL), BLM_OK);
    assert_int_equal(block.size, 0);
    assert_ptr_equal(b.layers[0].words, kept.words);
    b.store->close(&b, NULL);
    assert_int_equal(m.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_come_and_go),       cmocka_unit_test(shared_layers_have_stripes),
        cmocka_unit_test(memory_may_fail_anywhere), cmocka_unit_test(caps),
        cmocka_unit_test(words_of_the_caller),      cmocka_unit_test(blocks_change_hands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
