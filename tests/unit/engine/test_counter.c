/* SPDX-License-Identifier: MIT */
/* Four-bit counters one by one and word by word, beside arrays of plain integers. */
#include "engine/bits.h"
#include "unit/support.h"

enum { WORDS = 9, CELLS = WORDS * 16, MOST = 15 };

struct some {
    struct blm__layer layer;
    uint64_t          words[WORDS];
};

static void init(struct some *s)
{
    memset(s, 0, sizeof *s);
    s->layer.words      = s->words;
    s->layer.word_count = WORDS;
}

/* Cell c is half c % 2 of byte c / 2: read here without the code that is judged. */
static unsigned get(const struct some *s, unsigned c)
{
    return (unsigned)((const uint8_t *)s->words)[c / 2] >> c % 2 * 4 & 15;
}

static void put(struct some *s, unsigned c, unsigned v)
{
    uint8_t *at = (uint8_t *)s->words + c / 2;
    *at         = (uint8_t)((*at & ~(15u << c % 2 * 4)) | v << c % 2 * 4);
}

static void fill(struct some *s, unsigned *want, struct rng *r)
{
    init(s);
    for (unsigned c = 0; c < CELLS; c++) {
        static const unsigned ends[] = { 0, 1, 14, 15 };
        want[c] = rng_below(r, 2) ? ends[rng_below(r, 4)] : (unsigned)rng_below(r, 16);
        put(s, c, want[c]);
    }
}

static void same(const struct some *s, const unsigned *want)
{
    for (unsigned c = 0; c < CELLS; c++) {
        assert_int_equal(get(s, c), want[c]);
        assert_int_equal(blm__counter_get(&s->layer, c), want[c]);
    }
}

/* Up and down by one, and never from 15; the neighbours, full and empty, stay as they are. */
static void up_and_down_by_one(void **state)
{
    (void)state;
    struct some s;
    unsigned    want[CELLS];
    struct rng  r = { 1 };
    for (int shared = 0; shared < 2; shared++)
        for (int round = 0; round < 20; round++) {
            fill(&s, want, &r);
            for (unsigned c = 0; c < CELLS; c++) {
                assert_int_equal(blm__counter_raise(&s.layer, c, shared), want[c]);
                want[c] += want[c] < MOST;
                same(&s, want);
            }
            for (unsigned c = 0; c < CELLS; c++) {
                blm__counter_lower(&s.layer, c); /* at least 1 by now */
                want[c] -= want[c] < MOST;
                same(&s, want);
            }
        }
}

/* Twenty times up and a hundred times down: it was full, and stays so. */
static void what_was_full_stays_full(void **state)
{
    (void)state;
    struct some s;
    init(&s);
    for (unsigned i = 0; i < 20; i++)
        assert_int_equal(blm__counter_raise(&s.layer, 33, i % 2), i < MOST ? i : MOST);
    for (unsigned i = 0; i < 100; i++)
        blm__counter_lower(&s.layer, 33);
    assert_int_equal(get(&s, 33), MOST);
    assert_true(get(&s, 32) == 0 && get(&s, 34) == 0);
}

/* A region is marked when, and only when, a counter in it changes. */
static void changes_are_marked(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++)
        for (int down = 0; down < 2; down++)
            for (unsigned c = 0; c < CELLS; c++)
                for (unsigned v = 1; v <= MOST; v++) {
                    struct some s;
                    uint8_t     marks[WORDS] = { 0 };
                    init(&s);
                    put(&s, c, v);
                    s.layer.marks      = marks;
                    s.layer.mark_shift = 1;
                    if (down)
                        blm__counter_lower(&s.layer, c);
                    else
                        blm__counter_raise(&s.layer, c, shared);
                    for (unsigned m = 0; m < WORDS; m++)
                        assert_int_equal(marks[m], v < MOST && m == c / 16 / 2);
                }
}

static void used_once_more(void **state)
{
    (void)state;
    struct some      s;
    struct blm__body b = { .shared = false };
    init(&s);
    assert_int_equal(blm__counters_use(&b, &s.layer, 7), 1);
    assert_int_equal(blm__counters_use(&b, &s.layer, 7), 0);
    assert_int_equal(get(&s, 7), 2);
}

/* Sums that stop at 15, and the lesser of two; then how many are in use, in either, and stuck. */
static void two_layers(void **state)
{
    (void)state;
    struct rng r = { 2 };
    for (int round = 0; round < 200; round++) {
        struct some a, b, sum, min;
        unsigned    x[CELLS], y[CELLS], s[CELLS], m[CELLS];
        uint64_t    ones = 0, either = 0, stuck = 0;
        fill(&a, x, &r);
        fill(&b, y, &r);
        sum = min = a;
        for (unsigned c = 0; c < CELLS; c++) {
            s[c] = x[c] + y[c] < MOST ? x[c] + y[c] : MOST;
            m[c] = x[c] < y[c] ? x[c] : y[c];
            ones += x[c] > 0;
            either += x[c] > 0 || y[c] > 0;
            stuck += x[c] == MOST;
        }
        sum.layer.words = sum.words;
        min.layer.words = min.words;
        blm__counters_unite(NULL, sum.words, b.words, WORDS);
        blm__counters_intersect(NULL, min.words, b.words, WORDS);
        same(&sum, s);
        same(&min, m);
        same(&b, y);
        assert_true(blm__counters_ones(&a.layer, NULL) == ones);
        assert_true(blm__counters_ones_or(&a.layer, &b.layer, NULL) == either);
        assert_true(blm__counters_stuck(&a.layer) == stuck);
    }
}

/* A bit a counter, in the same order. The last word of bits is not full: 9 words of counters. */
static void reduced_to_bits(void **state)
{
    (void)state;
    struct rng r = { 3 };
    for (int round = 0; round < 50; round++) {
        struct some       from;
        unsigned          v[CELLS];
        uint64_t          bits[WORDS / 4 + 2] = { 0 };
        struct blm__layer to                  = { .words = bits, .word_count = WORDS / 4 + 1 };
        fill(&from, v, &r);
        blm__counters_reduce(&from.layer, &to);
        for (unsigned c = 0; c < sizeof bits * 8; c++)
            assert_int_equal(((uint8_t *)bits)[c / 8] >> c % 8 & 1, c < CELLS && v[c] > 0);
    }
}

/* A file may have counted fewer keys than its counters hold: the count ends at 0. */
static void the_count_does_not_pass_zero(void **state)
{
    (void)state;
    struct some s;
    init(&s);
    s.layer.items = 5;
    blm__layer_uncount(&s.layer, 3);
    assert_true(blm__layer_items(&s.layer) == 2);
    blm__layer_uncount(&s.layer, 3);
    assert_true(blm__layer_items(&s.layer) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(up_and_down_by_one),
        cmocka_unit_test(what_was_full_stays_full),
        cmocka_unit_test(changes_are_marked),
        cmocka_unit_test(used_once_more),
        cmocka_unit_test(two_layers),
        cmocka_unit_test(reduced_to_bits),
        cmocka_unit_test(the_count_does_not_pass_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
