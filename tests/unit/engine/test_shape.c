/* SPDX-License-Identifier: MIT */
/* What a decoder must refuse before it allocates. */
#include "unit/support.h"

#include <math.h>

#include "engine/shape.h"
#include "kind/kind.h"

static const struct blm__shape good_classic = {
    .kind = BLM_CLASSIC, .rule = BLM__CHAIN, .bits = 1000, .probes = 7, .cell_bits = 1
};
static const struct blm__shape good_blocked  = { .kind       = BLM_BLOCKED,
                                                 .rule       = BLM__LINES,
                                                 .bits       = 5120,
                                                 .line_count = 10,
                                                 .probes     = 8,
                                                 .lines      = 2,
                                                 .cell_bits  = 1 };
static const struct blm__shape good_counting = { .kind       = BLM_COUNTING,
                                                 .rule       = BLM__SHORT,
                                                 .bits       = 1280,
                                                 .line_count = 10,
                                                 .probes     = 7,
                                                 .lines      = 5,
                                                 .cell_bits  = 4 };

#define REFUSED(from, native, want, ...)                           \
    do {                                                           \
        struct blm__shape s = from;                                \
        blm_error         e = { .text = "" };                      \
        __VA_ARGS__;                                               \
        assert_status(blm__shape_valid(&s, native, 77, &e), want); \
        assert_int_equal(e.offset, 77);                            \
        assert_true(e.text[0] != 0);                               \
    } while (0)

static void good_shapes(void **state)
{
    (void)state;
    struct blm__shape s = good_classic;
    assert_status(blm__shape_valid(&good_classic, true, 0, NULL), BLM_OK);
    assert_status(blm__shape_valid(&good_blocked, true, 0, NULL), BLM_OK);
    assert_status(blm__shape_valid(&good_counting, true, 0, NULL), BLM_OK);
    s           = good_counting; /* its plain copy */
    s.kind      = BLM_BLOCKED;
    s.cell_bits = 1;
    assert_status(blm__shape_valid(&s, true, 0, NULL), BLM_OK);
    s      = good_classic;
    s.rule = BLM__POSITIONS;
    assert_status(blm__shape_valid(&s, false, 0, NULL), BLM_OK);
    s.kind = BLM_BLOCKED; /* another system's blocks */
    assert_status(blm__shape_valid(&s, false, 0, NULL), BLM_OK);
    s.probes = BLM__MAX_PROBES;
    s.bits   = BLM__MAX_BITS;
    s.rate   = 0.999;
    assert_status(blm__shape_valid(&s, false, 0, NULL), BLM_OK);
}

static void bad_shapes(void **state)
{
    (void)state;
    REFUSED(good_classic, true, BLM_E_FORMAT, s.kind = BLM_SCALABLE);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.kind = BLM_BLOCKED);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.kind = BLM_COUNTING);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.rule = BLM__LINES);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.rule = BLM__POSITIONS);
    REFUSED(good_classic, false, BLM_E_FORMAT, (void)0);
    REFUSED(good_blocked, false, BLM_E_FORMAT, (void)0);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.bits = 0);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.probes = 0);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.cell_bits = 0);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.cell_bits = 4);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.cell_bits = 1);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.cell_bits = 8);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.lines = 1);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.line_count = 2);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.rate = 1);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.rate = -0.1);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.rate = NAN);
    REFUSED(good_classic, true, BLM_E_FORMAT, s.rate = INFINITY);
    REFUSED(good_classic, true, BLM_E_LIMIT, s.bits = BLM__MAX_BITS + 1);
    REFUSED(good_classic, true, BLM_E_LIMIT, s.bits = UINT64_MAX);
    REFUSED(good_classic, true, BLM_E_LIMIT, s.probes = BLM__MAX_PROBES + 1);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.rule = BLM__CHAIN);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.rule = BLM__CHAIN; s.lines = 0; s.line_count = 0);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.rule = BLM__LINES);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.kind = BLM_CLASSIC; s.cell_bits = 1);
    REFUSED(good_counting, false, BLM_E_FORMAT, (void)0);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.lines = 0);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.lines = 6);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.probes = 9);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.bits = 1281);
    REFUSED(good_counting, true, BLM_E_FORMAT, s.line_count = 9);
    REFUSED(good_blocked, true, BLM_E_FORMAT, s.lines = 0);
    REFUSED(good_blocked, true, BLM_E_FORMAT, s.lines = 4);
    REFUSED(good_blocked, true, BLM_E_FORMAT, s.probes = 9);
    REFUSED(good_blocked, true, BLM_E_FORMAT, s.line_count = 11);
    REFUSED(good_blocked, true, BLM_E_FORMAT, s.line_count = 0);
    REFUSED(good_blocked, true, BLM_E_FORMAT, s.line_count = ((uint64_t)1 << 55) + 10);
}

static struct blm__layer layers[2];

static struct blm__body scalable(void)
{
    layers[0].shape = layers[1].shape = good_blocked;
    struct blm__body b                = { .kind        = BLM_SCALABLE,
                                          .layers      = layers,
                                          .layer_count = 2,
                                          .active      = 1,
                                          .rate        = 0.01,
                                          .growth      = 2,
                                          .tightening  = 0.5,
                                          .rate_cap    = 0.1 };
    return b;
}

#define BODY(native, want, ...)                                    \
    do {                                                           \
        struct blm__body b = scalable();                           \
        __VA_ARGS__;                                               \
        assert_status(blm__body_valid(&b, native, 0, NULL), want); \
    } while (0)

static void bodies(void **state)
{
    (void)state;
    BODY(true, BLM_OK, (void)0);
    BODY(true, BLM_E_FORMAT, b.layer_count = 0);
    BODY(true, BLM_E_FORMAT, b.active = 2);
    BODY(true, BLM_E_FORMAT, b.growth = 1);
    BODY(true, BLM_E_FORMAT, b.growth = NAN);
    BODY(true, BLM_E_FORMAT, b.growth = INFINITY);
    BODY(false, BLM_OK, b.growth = 1);
    BODY(false, BLM_OK, b.growth = 0);
    BODY(false, BLM_E_FORMAT, b.growth = -1);
    BODY(true, BLM_E_FORMAT, b.tightening = 0);
    BODY(true, BLM_E_FORMAT, b.tightening = 1);
    BODY(false, BLM_OK, b.tightening = 1);
    BODY(false, BLM_E_FORMAT, b.tightening = NAN);
    BODY(true, BLM_E_FORMAT, b.rate_cap = NAN);
    BODY(true, BLM_E_FORMAT, b.rate_cap = 1);
    BODY(true, BLM_E_FORMAT, b.rate = 1);
    BODY(true, BLM_E_FORMAT, layers[1].shape = good_counting);
    BODY(true, BLM_E_FORMAT, b.kind = BLM_BLOCKED);
    BODY(true, BLM_E_FORMAT, b.kind = BLM_BLOCKED; b.layer_count = 1; b.active = 0);
    BODY(true, BLM_OK, b.kind = BLM_BLOCKED; b.layer_count = 1; b.active = 0;
         b.growth = b.tightening = b.rate_cap = 0);
    BODY(true, BLM_E_FORMAT, b.kind = BLM_CLASSIC; b.layer_count = 1; b.active = 0;
         b.growth = b.tightening = b.rate_cap = 0);
}

static void slack(void **state)
{
    (void)state;
    uint8_t           bytes[16] = { 0 };
    uint64_t          words[2];
    struct blm__shape s = good_classic;
    s.bits              = 100;
    for (unsigned bit = 0; bit < 128; bit++) {
        memset(bytes, 0, sizeof bytes);
        bytes[bit / 8] = (uint8_t)(1u << bit % 8);
        memcpy(words, bytes, sizeof words);
        assert_int_equal(blm__slack_clear(&s, words), bit < 100);
    }
    s.bits = 128;
    assert_true(blm__slack_clear(&s, words));
    s      = good_counting;
    s.bits = 17; /* 68 bits */
    memset(bytes, 0, sizeof bytes);
    bytes[8] = 0x0f;
    memcpy(words, bytes, sizeof words);
    assert_true(blm__slack_clear(&s, words));
    bytes[8] = 0x10;
    memcpy(words, bytes, sizeof words);
    assert_false(blm__slack_clear(&s, words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_shapes),
        cmocka_unit_test(bad_shapes),
        cmocka_unit_test(bodies),
        cmocka_unit_test(slack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
