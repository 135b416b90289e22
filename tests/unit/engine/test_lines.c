/* SPDX-License-Identifier: MIT */
/* Lines of bits, short lines of bits and of counters: the positions of a key are the cells that it
 * sets, and the rate is the mean over lines. */
#include <math.h>

#include "engine/bits.h"
#include "unit/core/kernel/compare.h"

static struct blm__shape short_shape(uint64_t lines_in_all, uint32_t k, uint32_t lines,
                                     uint32_t cell_bits)
{
    struct blm__shape s = { .kind       = cell_bits == 4 ? BLM_COUNTING : BLM_BLOCKED,
                            .rule       = BLM__SHORT,
                            .bits       = lines_in_all * BLM__SHORT_CELLS,
                            .line_count = lines_in_all,
                            .probes     = k,
                            .lines      = lines,
                            .cell_bits  = cell_bits };
    return s;
}

static unsigned cell(const struct blm__layer *l, uint64_t c)
{
    const uint8_t *p = (const uint8_t *)l->words;
    return l->shape.cell_bits == 4 ? (unsigned)p[c / 2] >> c % 2 * 4 & 15
                                   : (unsigned)p[c / 8] >> c % 8 & 1;
}

/* After one add every cell has been named as often as it says, at most once where it is a bit. */
static void one_key(struct blm__shape s, uint64_t h)
{
    struct blm__body  b      = { .kernel = blm__kernel_best() };
    struct blm__layer l      = bare_layer(s, true);
    blm_digest        d      = { .w = { h } };
    struct blm__keys  k      = { .n = 1, .hashes = &h };
    uint32_t          probes = blm__shape_probes(&s);
    uint64_t          pos[BLM__MAX_SHORT * BLM__LINE_WORDS + 1], in_all = 0;
    uint8_t           fresh;
    pos[probes] = FENCE;
    assert_true(l.engine->positions(&s, &d, false, pos));
    assert_true(pos[probes] == FENCE);
    assert_false(l.engine->positions(&s, &d, true, pos)); /* there are no raw values */
    assert_int_equal(l.engine->add(&b, &l, &k, &fresh), 1);
    for (uint32_t i = 0; i < probes; i++) {
        unsigned named = 0;
        for (uint32_t j = 0; j < probes; j++)
            named += pos[j] == pos[i];
        assert_true(pos[i] < s.bits);
        assert_int_equal(cell(&l, pos[i]), s.cell_bits == 4 ? named : 1);
        assert_true(pos[i] / blm__line_cells(s.rule) ==
                    pos[i / s.probes * s.probes] / blm__line_cells(s.rule));
    }
    for (uint64_t c = 0; c < s.bits; c++)
        in_all += cell(&l, c);
    assert_true(s.cell_bits == 4 ? in_all == probes : in_all <= probes);
    assert_true(l.engine->check_one(&b, &l, h) && blm__layer_items(&l) == 1);
    bare_free(&l);
}

static void positions_are_the_cells_that_are_set(void **state)
{
    (void)state;
    struct rng r = { 1 };
    for (uint32_t k = 1; k <= 8; k++)
        for (uint32_t lines = 1; lines <= BLM__MAX_SHORT; lines++)
            for (uint64_t in_all = 1; in_all <= 100; in_all += 33)
                for (int i = 0; i < 5; i++) {
                    uint64_t h = i == 0 ? 0 : i == 1 ? UINT64_MAX : rng_next(&r);
                    one_key(short_shape(in_all, k, lines, 1), h);
                    one_key(short_shape(in_all, k, lines, 4), h);
                    if (lines <= BLM__MAX_LINES)
                        one_key(line_shape(in_all, k, lines), h);
                }
}

/* One line of four is full: a quarter of the keys of one line pass, however many probes they make.
 * By the mean fill it would be (1/4)^k. Of keys with two lines, a sixteenth. */
static void the_rate_is_the_mean_over_lines(void **state)
{
    (void)state;
    for (uint32_t k = 1; k <= 8; k++)
        for (uint32_t lines = 1; lines <= 3; lines++) {
            struct blm__shape shapes[] = { line_shape(4, k, lines), short_shape(4, k, lines, 1),
                                           short_shape(4, k, lines, 4) };
            for (size_t i = 0; i < COUNT_OF(shapes); i++) {
                struct blm__layer l = bare_layer(shapes[i], true);
                assert_true(l.engine->rate_now(&l, 0) == 0);
                memset((uint8_t *)l.words + l.word_count * 2, 0xff, (size_t)l.word_count * 2);
                double now = l.engine->rate_now(&l, l.engine->ones(&l, &blm__kernel_portable));
                assert_true(fabs(now - pow(0.25, lines)) < 1e-12);
                bare_free(&l);
            }
        }
}

/* Plain bits that were counters have the counters' rate, whatever is in them. */
static void bits_made_of_counters_have_their_rate(void **state)
{
    (void)state;
    struct rng r = { 5 };
    for (uint32_t k = 1; k <= 8; k++) {
        struct blm__layer from = bare_layer(short_shape(11, k, 2, 4), true);
        struct blm__shape s    = from.shape;
        from.engine->reduced(&s);
        struct blm__layer to = bare_layer(s, true);
        assert_string_equal(to.engine->name, "short");
        for (uint64_t i = 0; i < from.word_count; i++)
            from.words[i] = rng_next(&r) & rng_next(&r) & (i % 8 < 4 ? rng_next(&r) : ~(uint64_t)0);
        from.engine->reduce(&from, &to);
        double was = from.engine->rate_now(&from, 0), now = to.engine->rate_now(&to, 0);
        assert_true(was > 0 && fabs(was - now) < 1e-12);
        bare_free(&from);
        bare_free(&to);
    }
}

/* The one loop from bytes to answers is for lists of keys, and keys of eight bytes side by side, in
 * one line, hashed by XXH3. */
static void what_is_taken_raw(void **state)
{
    (void)state;
    struct blm__body  b        = { .hasher = { .id = BLM_HASH_XXH3 } };
    struct blm__layer one      = { .shape = line_shape(4, 8, 1) },
                      two      = { .shape = line_shape(4, 8, 2) };
    uint8_t          bytes[16] = { 0 };
    blm_key          key       = { bytes, 8 };
    uint64_t         hash      = 0;
    struct blm__keys eight     = { .n = 1, .fixed = bytes, .width = 8 },
                     nine = { .n = 1, .fixed = bytes, .width = 9 }, list = { .n = 1, .list = &key },
                     hashed     = { .n = 1, .hashes = &hash };
    const struct blm__engine *e = blm__engine_of(&one.shape);
    assert_true(e->takes(&b, &one, &eight));
    assert_false(e->takes(&b, &two, &eight));
    assert_false(e->takes(&b, &one, &nine));
    assert_true(e->takes(&b, &one, &list));
    assert_false(e->takes(&b, &two, &list));
    assert_true(e->takes(&b, &one, &hashed));
    assert_true(e->takes(&b, &two, &hashed));
    b.hasher.id = BLM_HASH_SIPHASH;
    assert_false(e->takes(&b, &one, &eight));
    assert_false(e->takes(&b, &one, &list));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_are_the_cells_that_are_set),
        cmocka_unit_test(the_rate_is_the_mean_over_lines),
        cmocka_unit_test(bits_made_of_counters_have_their_rate),
        cmocka_unit_test(what_is_taken_raw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
