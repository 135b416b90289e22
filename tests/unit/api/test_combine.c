/* SPDX-License-Identifier: MIT */
/* Whole filters: clear, copy, equal, union, intersection, fold, reduce, each against a filter
 * built from the keys. */
#include <unistd.h>

#include "api/filter.h"
#include "unit/support.h"

static void add_range(blm_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_true(blm_add(f, &i, 8) >= 0);
}

static uint64_t count_range(const blm_filter *f, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (uint64_t i = from; i < to; i++)
        n += blm_check(f, &i, 8);
    return n;
}

/* ---- clear ---- */

static void clear_forgets_keys_and_nothing_else(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 500, 0.01, 3), *g = make_flavour(v, 500, 0.01, 3);
        blm_params  before = params_of(f);
        add_range(f, 0, 700);
        assert_status(blm_clear(f), BLM_OK);
        blm_params after = params_of(f);
        assert_true(stats_of(f).ones == 0 && after.items == 0);
        assert_true(after.bits == before.bits && after.probes == before.probes);
        assert_int_equal(after.layers, 1);
        assert_true(after.seed[0] == 3 && after.capacity == before.capacity);
        assert_true(count_range(f, 0, 700) == 0);
        add_range(f, 1000, 1700); /* and it works, and grows, as if new */
        add_range(g, 1000, 1700);
        assert_true(same_bits(f, g));
        assert_true(params_of(f).items == params_of(g).items);
        blm_free(f);
        blm_free(g);
    }
}

/* ---- copy, equal ---- */

static void copies_are_equal_and_apart(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 500, 0.01, 3), *g = NULL;
        add_range(f, 0, 700);
        assert_status(blm_copy(f, &g, NULL), BLM_OK);
        assert_true(blm_equal(f, g) && same_bits(f, g));
        blm_params x = params_of(f), y = params_of(g);
        assert_true(x.items == y.items && x.capacity == y.capacity && x.rate == y.rate);
        assert_true(x.shared == y.shared && x.layers == y.layers && x.seed[0] == y.seed[0]);
        assert_int_equal(y.backing, BLM_IN_MEMORY);
        add_range(g, 10000, 10100);
        assert_false(blm_equal(f, g));
        add_range(f, 10000, 10100); /* the copy grew as the original would have */
        assert_true(blm_equal(f, g));
        blm_free(f);
        assert_true(v->kind == BLM_WINDOW || count_range(g, 0, 700) == 700);
        blm_free(g);
    }
}

static void a_copy_of_borrowed_words_owns_its_own(void **state)
{
    (void)state;
    uint64_t    words[64] = { 0 };
    blm_options o         = BLM_OPTIONS_INIT;
    blm_filter *f, *g;
    o.words      = words;
    o.word_count = 64;
    o.probes     = 4;
    f            = make(&o);
    add_range(f, 0, 100);
    assert_status(blm_copy(f, &g, NULL), BLM_OK);
    assert_true(blm_equal(f, g));
    memset(words, 0, sizeof words);
    assert_true(count_range(g, 0, 100) == 100);
    assert_int_equal(params_of(g).backing, BLM_IN_MEMORY);
    blm_free(f);
    blm_free(g);
}

static void one_bit_makes_filters_unequal(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 500, 0.01, 3), *g;
        add_range(f, 0, 400);
        uint64_t bytes = 0;
        uint32_t last  = params_of(f).layers - 1;
        assert_status(blm_copy(f, &g, NULL), BLM_OK);
        uint8_t *w = (uint8_t *)(uintptr_t)blm_view(g, last, &bytes); /* the last byte of all */
        w[bytes - 1] ^= 1;
        assert_false(blm_equal(f, g));
        w[bytes - 1] ^= 1;
        assert_true(blm_equal(f, g));
        blm_free(f);
        blm_free(g);
    }
}

/* How many keys were counted does not matter: the same key twice is the same filter. */
static void counts_do_not_make_filters_unequal(void **state)
{
    (void)state;
    blm_filter *f = make_flavour(&flavours[0], 100, 0.01, 3), *g;
    assert_status(blm_copy(f, &g, NULL), BLM_OK);
    blm_union(g, f, NULL);
    add_range(f, 0, 50);
    add_range(g, 0, 50);
    blm_union(g, f, NULL);
    assert_true(params_of(f).items != params_of(g).items);
    assert_true(blm_equal(f, g));
    assert_true(blm_equal(f, f));
    blm_free(f);
    blm_free(g);
}

/* ---- unlike filters ---- */

/* The error names the parameter that differs, and the remedy. */
static void mismatches_are_named(void **state)
{
    (void)state;
    blm_options base = BLM_OPTIONS_INIT;
    base.kind        = BLM_BLOCKED;
    base.flags       = BLM_SEEDED;
    base.bits        = 512 * 20;
    base.probes      = 6;
    base.lines       = 1;
    struct {
        const char *word;
        blm_options o;
    } rows[]          = { { "kinds", base },   { "sizes", base }, { "probes", base },
                          { "layouts", base }, { "seeds", base }, { "hashes", base } };
    rows[0].o.kind    = BLM_CLASSIC;
    rows[0].o.lines   = 0;
    rows[1].o.bits    = 512 * 21;
    rows[2].o.probes  = 5;
    rows[3].o.lines   = 2;
    rows[3].o.probes  = 12; /* six words in each line, as before */
    rows[4].o.seed[0] = 1;
    rows[5].o.hash    = BLM_HASH_SIPHASH;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_filter *f = make(&base), *g = make(&rows[i].o), *was;
        blm_overlap ov = { .size = sizeof ov };
        blm_error   e;
        add_range(f, 0, 100);
        assert_status(blm_copy(f, &was, NULL), BLM_OK);
        assert_status(blm_can_meet(f, g, &e), BLM_E_MISMATCH);
        check_error(&e, BLM_E_MISMATCH, rows[i].word);
        assert_status(blm_can_meet(f, f, NULL), BLM_OK);
        assert_status(blm_union(f, g, &e), BLM_E_MISMATCH);
        check_error(&e, BLM_E_MISMATCH, rows[i].word);
        check_error(&e, BLM_E_MISMATCH, "like");
        assert_memory_equal(e.text + e.wrong, "; make one", 10); /* what is wrong; what to do */
        assert_null(memchr(e.text, ';', e.wrong));
        assert_status(blm_intersect(f, g, &e), BLM_E_MISMATCH);
        check_error(&e, BLM_E_MISMATCH, rows[i].word);
        assert_status(blm_compare(f, g, &ov, &e), BLM_E_MISMATCH);
        check_error(&e, BLM_E_MISMATCH, rows[i].word);
        assert_status(blm_union(f, g, NULL), BLM_E_MISMATCH);
        assert_true(blm_equal(f, was)); /* nothing changed */
        assert_true(params_of(f).items == params_of(was).items);
        assert_false(blm_equal(f, g));
        blm_free(f);
        blm_free(g);
        blm_free(was);
    }
}

/* ---- union ---- */

static void a_union_is_the_filter_of_both(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        if (v->kind == BLM_SCALABLE)
            continue; /* test_scalable.c */
        blm_filter *a = make_flavour(v, 500, 0.01, 3), *b = make_flavour(v, 500, 0.01, 3);
        blm_filter *both = make_flavour(v, 500, 0.01, 3);
        add_range(a, 0, 300);
        add_range(b, 200, 500);
        add_range(both, 0, 300);
        add_range(both, 200, 500); /* counting counts the shared ones twice, as the union does */
        uint64_t items = params_of(a).items + params_of(b).items;
        assert_status(blm_union(a, b, NULL), BLM_OK);
        assert_true(same_bits(a, both));
        assert_true(params_of(a).items == items);
        blm_free(a);
        blm_free(b);
        blm_free(both);
    }
}

/* ---- intersection ---- */

static void an_intersection_keeps_the_common_keys(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        blm_filter *a = make_flavour(v, 500, 0.01, 3), *b = make_flavour(v, 500, 0.01, 3);
        blm_error   e;
        add_range(a, 0, 300);
        add_range(b, 200, 450);
        if (v->kind == BLM_SCALABLE) {
            assert_status(blm_intersect(a, b, &e), BLM_E_UNSUPPORTED);
            check_error(&e, BLM_E_UNSUPPORTED, "scalable");
            blm_free(a);
            blm_free(b);
            continue;
        }
        /* Cell by cell: the AND of two bits, the lesser of two counters. */
        uint64_t bytes;
        uint8_t *x = (uint8_t *)(uintptr_t)blm_view(a, 0, &bytes), *want = malloc((size_t)bytes);
        const uint8_t *y = blm_view(b, 0, NULL);
        for (uint64_t i = 0; i < bytes; i++)
            if (v->kind == BLM_COUNTING) {
                unsigned lo = x[i] & 15, hi = x[i] >> 4;
                lo      = (y[i] & 15u) < lo ? y[i] & 15u : lo;
                hi      = (unsigned)y[i] >> 4 < hi ? (unsigned)y[i] >> 4 : hi;
                want[i] = (uint8_t)(lo | hi << 4);
            } else {
                want[i] = x[i] & y[i];
            }
        assert_status(blm_intersect(a, b, NULL), BLM_OK);
        assert_memory_equal(x, want, (size_t)bytes);
        assert_true(count_range(a, 200, 300) == 100);
        assert_true(count_range(a, 0, 200) + count_range(a, 300, 450) < 60);
        assert_true(params_of(a).items <= 250);
        free(want);
        blm_free(a);
        blm_free(b);
    }
}

/* Nothing in common, and not even a bit: then it is known that there are no keys. */
static void an_empty_intersection_counts_none(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        if (v->kind == BLM_SCALABLE)
            continue;
        blm_filter *a = make_flavour(v, 5000, 0.01, 3), *b = make_flavour(v, 5000, 0.01, 3);
        blm_filter *c = make_flavour(v, 5000, 0.01, 3);
        add_range(a, 0, 1);
        add_range(b, 1, 2);
        add_range(c, 0, 9);
        assert_status(blm_intersect(a, b, NULL), BLM_OK);
        assert_int_equal(params_of(a).items, stats_of(a).ones ? 1 : 0);
        assert_status(blm_clear(b), BLM_OK);
        assert_status(blm_intersect(c, b, NULL), BLM_OK);
        assert_int_equal(params_of(c).items, 0);
        blm_free(a);
        blm_free(b);
        blm_free(c);
    }
}

/* ---- self ---- */

/* A set united or intersected with itself is itself; only counters, which count, double. */
static void a_filter_may_meet_itself(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        blm_filter *a = make_flavour(v, 500, 0.01, 3), *twice = make_flavour(v, 500, 0.01, 3);
        add_range(a, 0, 300);
        add_range(twice, 0, 300);
        if (v->kind == BLM_COUNTING)
            add_range(twice, 0, 300);
        assert_status(blm_union(a, a, NULL), BLM_OK);
        assert_true(same_bits(a, twice));
        assert_status(blm_intersect(a, a, NULL),
                      v->kind == BLM_SCALABLE ? BLM_E_UNSUPPORTED : BLM_OK);
        assert_true(same_bits(a, twice));
        blm_free(a);
        blm_free(twice);
    }
}

/* ---- fold ---- */

/* Folding by f is having built at 1/f the size with the same seed: bit for bit. */
static void a_fold_is_the_smaller_filter(void **state)
{
    (void)state;
    static const uint64_t factors[] = { 1, 2, 3, 4, 6, 12, 60 };
    EACH_BITS(v)
    {
        if (v->kind == BLM_SCALABLE)
            continue;
        for (size_t i = 0; i < COUNT_OF(factors); i++) {
            blm_options o = BLM_OPTIONS_INIT;
            blm_filter *small, *folded = NULL, *f;
            uint32_t    lines = v->lines ? v->lines : 1;
            o.kind            = v->kind;
            o.flags           = v->flags | BLM_SEEDED;
            o.bits            = v->kind == BLM_BLOCKED    ? 512 * 360
                                : v->kind == BLM_COUNTING ? 128 * 360
                                                          : 60 * 347;
            o.probes          = 5 * lines;
            o.lines           = v->lines;
            f                 = make(&o);
            o.bits /= factors[i];
            small = make(&o);
            add_range(f, 0, 300);
            add_range(small, 0, 300);
            assert_status(blm_fold(f, factors[i], &folded, NULL), BLM_OK);
            if (!same_bits(folded, small))
                fail_msg("%s folded by %d is not the smaller filter", v->name, (int)factors[i]);
            assert_true(blm_equal(folded, small));
            assert_true(params_of(folded).bits == params_of(f).bits / factors[i]);
            assert_int_equal(params_of(folded).probes, params_of(f).probes);
            assert_true(params_of(folded).items == params_of(f).items);
            assert_true(count_range(folded, 0, 300) == 300);
            add_range(folded, 1000, 1100); /* it is a filter like any other */
            add_range(small, 1000, 1100);
            assert_true(same_bits(folded, small));
            blm_free(f);
            blm_free(folded);
            blm_free(small);
        }
    }
}

/* A filter folded to less than one key's room was planned for one key. */
static void a_fold_is_planned_for_its_share(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f, *g;
    o.bits   = 1200;
    o.probes = 4;
    o.items  = 100;
    f        = make(&o);
    assert_status(blm_fold(f, 4, &g, NULL), BLM_OK);
    assert_true(params_of(g).capacity == 25);
    blm_free(g);
    assert_status(blm_fold(f, 600, &g, NULL), BLM_OK);
    assert_true(params_of(g).capacity == 1);
    blm_free(g);
    blm_free(f);
}

static void folds_that_cannot_be_are_named(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        blm_filter *f = make_flavour(v, 500, 0.01, 3), *g = f;
        blm_error   e;
        if (v->kind == BLM_SCALABLE) {
            assert_status(blm_fold(f, 2, &g, &e), BLM_E_UNSUPPORTED);
            check_error(&e, BLM_E_UNSUPPORTED, "scalable");
        } else {
            uint64_t units = params_of(f).bits / (v->kind == BLM_BLOCKED    ? 512
                                                  : v->kind == BLM_COUNTING ? 128
                                                                            : 1),
                     not   = 2;
            while (units % not == 0)
                not ++;
            assert_status(blm_fold(f, not, &g, &e), BLM_E_INDIVISIBLE);
            check_error(&e, BLM_E_INDIVISIBLE, "divide");
            assert_null(g);
            assert_status(blm_fold(f, units * 2, &g, &e), BLM_E_INDIVISIBLE);
            assert_status(blm_fold(f, 0, &g, &e), BLM_E_ARGUMENT);
            assert_status(blm_fold(f, UINT64_MAX, &g, NULL), BLM_E_INDIVISIBLE);
        }
        blm_free(f);
    }
}

/* ---- reduce ---- */

static void a_reduced_filter_is_the_plain_one(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_filter *f = make_flavour(v, 500, 0.01, 3), *g = f, *plain;
        blm_error   e;
        add_range(f, 0, 500);
        if (v->kind != BLM_COUNTING) {
            assert_status(blm_reduce(f, &g, &e), BLM_E_UNSUPPORTED);
            check_error(&e, BLM_E_UNSUPPORTED, blm_kind_name(v->kind));
            assert_null(g);
            blm_free(f);
            continue;
        }
        blm_params p = params_of(f);
        assert_status(blm_reduce(f, &g, NULL), BLM_OK);
        assert_int_equal(params_of(g).kind, p.lines ? BLM_BLOCKED : BLM_CLASSIC);
        assert_true(params_of(g).bits == p.bits && params_of(g).bytes * 4 <= p.bytes + 24);
        /* Bit c is set where counter c is not 0;
         * a filter like it, with the same keys, is the same. */
        const uint8_t *bits = blm_view(g, 0, NULL), *counts = blm_view(f, 0, NULL);
        for (uint64_t c = 0; c < p.bits; c++)
            assert_int_equal(bits[c / 8] >> c % 8 & 1, (counts[c / 2] >> c % 2 * 4 & 15) != 0);
        blm_options o = BLM_OPTIONS_INIT;
        o.like        = g;
        o.flags       = v->flags & BLM_SHARED;
        plain         = make(&o);
        add_range(plain, 0, 500);
        assert_true(same_bits(g, plain) && blm_equal(g, plain));
        for (uint32_t i = 0; i < 20000; i++)
            assert_int_equal(blm_check(f, &i, 4), blm_check(g, &i, 4));
        assert_true(params_of(g).rate == p.rate && params_of(g).capacity == p.capacity);
        assert_true(params_of(g).items == p.items);
        blm_free(f);
        blm_free(g);
        blm_free(plain);
    }
}

/* ---- read-only ---- */

/* What was opened for reading cannot be changed by any call; its copy can. */
static void read_only_filters_stay_as_they_are(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "combine.%ld.blm", (long)getpid());
    EACH_BITS(v)
    {
        blm_filter *a = make_flavour(v, 500, 0.01, 3), *f = NULL, *g = NULL;
        blm_digest  d;
        blm_key     key = { "x", 1 };
        blm_error   e;
        size_t      done = 7;
        add_range(a, 0, 300);
        assert_status(blm_save(a, path, NULL, BLM_REPLACE, &e), BLM_OK);
        assert_status(blm_open(path, NULL, &f, &e), BLM_OK);
        assert_status(blm_digest_of(f, "x", 1, &d), BLM_OK);
        assert_status(blm_add(f, "x", 1), BLM_E_READONLY);
        assert_status(blm_add_many(f, &key, 1, NULL, &done), BLM_E_READONLY);
        assert_int_equal(done, 0);
        assert_status(blm_add_fixed(f, "x", 1, 1, NULL, NULL), BLM_E_READONLY);
        assert_status(blm_add_digest(f, &d), BLM_E_READONLY);
        assert_status(blm_add_digests(f, &d, 1, NULL, NULL), BLM_E_READONLY);
        assert_status(blm_clear(f), BLM_E_READONLY);
        assert_status(blm_union(f, a, &e), BLM_E_READONLY);
        check_error(&e, BLM_E_READONLY, "read-only");
        if (v->kind != BLM_SCALABLE)
            assert_status(blm_intersect(f, a, &e), BLM_E_READONLY);
        if (v->kind == BLM_COUNTING)
            assert_status(blm_remove(f, "x", 1), BLM_E_READONLY);
        assert_true(blm_equal(f, a));
        assert_status(blm_copy(f, &g, &e), BLM_OK);
        assert_true(blm_equal(g, a));
        assert_int_equal(params_of(f).backing, BLM_FILE_READ);
        assert_int_equal(params_of(g).backing, BLM_IN_MEMORY);
        add_range(g, 1000, 1010);
        blm_free(a);
        blm_free(f);
        blm_free(g);
        unlink(path);
    }
}

/* ---- view ---- */

static void views_show_the_bits_layer_by_layer(void **state)
{
    (void)state;
    EACH_BITS(v)
    {
        blm_filter *f = make_flavour(v, 500, 0.01, 3);
        add_range(f, 0, 700);
        uint64_t ones = 0, bytes = 0;
        uint32_t n = params_of(f).layers;
        assert_true(v->kind != BLM_SCALABLE || n > 2);
        for (uint32_t i = 0; i < n; i++) {
            const uint8_t *p = blm_view(f, i, &bytes);
            blm_params     l = { .size = sizeof l };
            assert_non_null(p);
            assert_status(blm_get_layer(f, i, &l), BLM_OK);
            assert_true(bytes == (l.bits * (v->kind == BLM_COUNTING ? 4 : 1) + 7) / 8);
            for (uint64_t b = 0; b < bytes; b++)
                ones +=
                    v->kind == BLM_COUNTING ? (p[b] & 15) != 0 : BLM__POPCOUNT64((uint64_t)p[b]);
            for (uint64_t b = 0; v->kind == BLM_COUNTING && b < bytes; b++)
                ones += p[b] >> 4 != 0;
        }
        assert_true(ones == stats_of(f).ones);
        assert_null(blm_view(f, n, &bytes));
        assert_null(blm_view(f, UINT32_MAX, NULL));
        blm_free(f);
    }
}

/* ---- progress ---- */

static bool refuse(void *ctx, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    ++*(int *)ctx;
    return false;
}

static void unions_can_be_stopped(void **state)
{
    (void)state;
    blm_filter *a = make_flavour(&flavours[0], 500, 0.01, 3);
    blm_filter *b = make_flavour(&flavours[0], 500, 0.01, 3);
    blm_error   e;
    int         asked = 0;
    add_range(b, 0, 100);
    blm_set_progress(a, refuse, &asked);
    assert_status(blm_union(a, b, &e), BLM_E_CANCELLED);
    check_error(&e, BLM_E_CANCELLED, "cancelled");
    assert_int_equal(asked, 1);
    assert_true(params_of(a).unclosed); /* a part may be there, and nobody counted it */
    assert_status(blm_clear(a), BLM_OK);
    assert_false(params_of(a).unclosed);
    blm_free(a);
    blm_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clear_forgets_keys_and_nothing_else),
        cmocka_unit_test(copies_are_equal_and_apart),
        cmocka_unit_test(a_copy_of_borrowed_words_owns_its_own),
        cmocka_unit_test(one_bit_makes_filters_unequal),
        cmocka_unit_test(counts_do_not_make_filters_unequal),
        cmocka_unit_test(mismatches_are_named),
        cmocka_unit_test(a_union_is_the_filter_of_both),
        cmocka_unit_test(an_intersection_keeps_the_common_keys),
        cmocka_unit_test(an_empty_intersection_counts_none),
        cmocka_unit_test(a_filter_may_meet_itself),
        cmocka_unit_test(a_fold_is_the_smaller_filter),
        cmocka_unit_test(a_fold_is_planned_for_its_share),
        cmocka_unit_test(folds_that_cannot_be_are_named),
        cmocka_unit_test(a_reduced_filter_is_the_plain_one),
        cmocka_unit_test(read_only_filters_stay_as_they_are),
        cmocka_unit_test(views_show_the_bits_layer_by_layer),
        cmocka_unit_test(unions_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
