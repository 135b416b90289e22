/* SPDX-License-Identifier: MIT */
/* Scalable filters that were told nothing of their size: made anew from their keys' hashes while
 * those are kept, one layer up to ten million keys, and by layers from whenever they are not. */
#include <bloomery/maths.h>
#include <math.h>
#include <unistd.h>

#include "api/filter.h"
#include "bloomery/delta.h"
#include "bloomery/embed.h"
#include "unit/bytes.h"

#define RATE 0.01

/* ---- filters ---- */

static blm_options unknown(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_SCALABLE;
    o.flags       = BLM_SEEDED;
    o.rate        = RATE;
    return o;
}

/* Keys are the numbers from … to − 1. */
static void add_numbers(blm_filter *f, uint64_t from, uint64_t to, size_t batch)
{
    uint64_t *keys = malloc(batch * sizeof *keys);
    for (uint64_t at = from; at < to;) {
        size_t n = to - at < batch ? (size_t)(to - at) : batch;
        for (size_t i = 0; i < n; i++)
            keys[i] = at + i;
        assert_status(blm_add_fixed(f, keys, 8, n, NULL, NULL), BLM_OK);
        at += n;
    }
    free(keys);
}

static void none_is_missing(const blm_filter *f, uint64_t from, uint64_t to)
{
    uint64_t keys[512];
    for (uint64_t at = from; at < to;) {
        size_t n = to - at < 512 ? (size_t)(to - at) : 512;
        for (size_t i = 0; i < n; i++)
            keys[i] = at + i;
        assert_int_equal(blm_check_fixed(f, keys, 8, n, NULL), n);
        for (size_t i = 0; i < n; i += 97)
            assert_true(blm_check(f, &keys[i], 8));
        at += n;
    }
}

/* The promises of the layers stay below what was asked, and the bits' own rate with them. */
static void promise_holds(const blm_filter *f, double rate)
{
    blm_params p   = params_of(f);
    double     sum = 0;
    for (uint32_t i = 0; i < p.layers; i++) {
        sum += layer_of(f, i).rate;
        assert_true(layer_of(f, i).items <= layer_of(f, i).capacity);
    }
    assert_true(sum <= rate * (1 + 1e-12));
    assert_false(stats_of(f).overfilled);
}

/* ---- growing ---- */

static void one_layer_up_to_ten_million(void **state)
{
    (void)state;
    static const struct {
        uint64_t keys, capacity; /* with this many keys there is room for so many */
    } steps[] = { { 0, 14336 },       { 14000, 14336 },   { 15000, 114688 },   { 114000, 114688 },
                  { 117000, 917504 }, { 910000, 917504 }, { 930000, 10485760 } };
    static const size_t batches[] = { 1, 7, 300, 4096, 100000, 100000, 100000 };
    blm_options         o         = unknown();
    blm_filter         *f         = make(&o);
    uint64_t            n         = 0;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        add_numbers(f, n, steps[i].keys, batches[i]);
        n            = steps[i].keys;
        blm_params p = params_of(f);
        assert_int_equal(p.layers, 1);
        assert_int_equal(p.capacity, steps[i].capacity);
        assert_true(p.items <= n && (double)p.items >= (double)n * (1 - RATE));
        /* Room doubles as it fills up, and goes when it is not needed any more. */
        if (p.capacity == 10485760)
            assert_int_equal(p.kept, 0);
        else
            assert_true(p.kept * 7 >= p.items * 64 && p.kept * 7 <= n * 128 + 8192 * 7);
        none_is_missing(f, 0, n);
        promise_holds(f, RATE);
    }
    blm_trial t = { .size = sizeof t };
    assert_status(blm_try_rate(f, NULL, 200000, 1, &t, NULL), BLM_OK);
    assert_true(t.holds);
    blm_free(f);
}

/* Then by layers, of what is left of the rate. */
static void layers_beyond(void **state)
{
    (void)state;
    if (!slow_tests() || quick_tests())
        skip();
    blm_options o = unknown();
    blm_filter *f = make(&o);
    add_numbers(f, 0, 12000000, 100000);
    assert_int_equal(params_of(f).layers, 2);
    assert_int_equal(layer_of(f, 0).capacity, 10485760);
    assert_int_equal(layer_of(f, 1).capacity, 2 * 10485760);
    none_is_missing(f, 0, 12000000);
    promise_holds(f, RATE);
    assert_true(layer_of(f, 0).rate == RATE / 2 && layer_of(f, 1).rate < RATE / 8);
    blm_free(f);
}

/* The bits are those of a filter that was as large from the start, whatever the batches were, and
 * repeats near a growth are no news. */
static void bits_of_one_made_large(void **state)
{
    (void)state;
    enum { N = 40000 };
    uint64_t *keys  = malloc(N * sizeof *keys);
    uint8_t  *fresh = malloc(N);
    for (size_t batch = 1; batch <= N; batch = batch * 9 + 4) {
        struct rng  r     = { batch };
        blm_options o     = unknown();
        blm_filter *f     = make(&o);
        size_t      count = 0;
        for (size_t i = 0; i < N; i++)
            keys[i] = rng_below(&r, 3) ? i : rng_below(&r, i + 1);
        for (size_t at = 0; at < N; at += batch)
            assert_status(
                blm_add_fixed(f, keys + at, 8, N - at < batch ? N - at : batch, fresh + at, NULL),
                BLM_OK);
        for (size_t i = 0; i < N; i++)
            count += fresh[i];
        assert_int_equal(params_of(f).capacity, 114688);
        assert_int_equal(params_of(f).items, count);
        blm_options like = BLM_OPTIONS_INIT;
        like.like        = f;
        blm_filter *g    = make(&like);
        assert_status(blm_add_fixed(g, keys, 8, N, NULL, NULL), BLM_OK);
        assert_true(blm_equal(f, g));
        assert_true(params_of(g).rate == RATE);
        blm_free(f);
        blm_free(g);
    }
    free(keys);
    free(fresh);
}

/* Hashes as chance never gives them: zero, all ones, and as many as anybody likes in one place. The
 * first two are keys like others; the last may end the youth, not take for ever. */
static void hashes_of_somebody_who_knows(void **state)
{
    (void)state;
    enum { N = 100000 };
    uint64_t *h = malloc(N * sizeof *h);
    for (int way = 0; way < 3; way++) {
        blm_options o = unknown();
        blm_filter *f = make(&o);
        for (uint64_t i = 0; i < N; i++) /* counted up, at the table's end, spread */
            h[i] = way == 0 ? i : way == 1 ? ~i : i * 0x9e3779b97f4a7c15u;
        for (size_t at = 0; at < N; at += 1000)
            assert_status(blm_add_hashes(f, h + at, 1000, NULL, NULL), BLM_OK);
        assert_int_equal(blm_check_hashes(f, h, N, NULL), N);
        assert_true(way < 2 ? params_of(f).kept == 0
                            : params_of(f).kept > 0 && params_of(f).layers == 1);
        blm_free(f);
    }
    free(h);
}

/* A filter is what its keys are: `fresh`, counts and bits are the same in whatever batches they
 * come. At a rate of 1/2 every fourth key is one that the layer has by chance. */
static void batches_do_not_matter(void **state)
{
    (void)state;
    enum { N = 150000 };
    uint64_t   *keys = malloc(N * sizeof *keys);
    uint8_t    *one = malloc(N), *many = malloc(N);
    struct rng  r = { 11 };
    blm_options o = unknown();
    o.rate        = 0.5;
    blm_filter *f = make(&o);
    for (size_t i = 0; i < N; i++) {
        keys[i] = rng_below(&r, 5) ? i : rng_below(&r, i + 1);
        one[i]  = blm_add(f, &keys[i], 8) == BLM_OK;
    }
    for (size_t batch = 2; batch < N; batch = batch * 9 + 4) {
        blm_filter *g = make(&o);
        for (size_t at = 0; at < N; at += batch)
            assert_status(
                blm_add_fixed(g, keys + at, 8, N - at < batch ? N - at : batch, many + at, NULL),
                BLM_OK);
        assert_memory_equal(one, many, N);
        assert_int_equal(params_of(f).items, params_of(g).items);
        assert_true(blm_equal(f, g));
        blm_free(g);
    }
    blm_filter *back = make(&o); /* nor does their order */
    for (size_t i = N; i-- > 0;)
        assert_true(blm_add(back, &keys[i], 8) >= 0);
    assert_true(blm_equal(f, back));
    blm_free(back);
    blm_free(f);
    free(keys);
    free(one);
    free(many);
}

/* The hashes take no more than was said, at any rate, and repeats need no room at all. */
static void hashes_take_what_was_said(void **state)
{
    (void)state;
    static const double   rates[] = { 0.5, 0.01 };
    static const uint64_t sizes[] = { 14336, 114688, 917504 };
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        blm_options o = unknown();
        o.rate        = rates[i];
        blm_filter *f = make(&o);
        uint64_t    n = 0;
        for (size_t j = 0; j < COUNT_OF(sizes); j++) {
            add_numbers(f, n, sizes[j], 1000);
            n = sizes[j];
            add_numbers(f, n / 2, n, 999);
            assert_int_equal(params_of(f).capacity, n);
            assert_int_equal(params_of(f).kept, n / 7 * 64);
            none_is_missing(f, 0, n);
            add_numbers(f, n, n + 1, 1);
            assert_true(params_of(f).capacity > n && params_of(f).layers == 1);
            n++;
        }
        none_is_missing(f, 0, n);
        blm_free(f);
    }
}

/* A cap is one for bits and hashes together, and for old and new while one becomes the other. */
static void the_cap_is_kept(void **state)
{
    (void)state;
    static const uint64_t caps[] = {
        50000,  100000,  150000,  200000,  250000,  300000,  400000,
        500000, 1500000, 1700000, 2000000, 4000000, 9000000, 20000000
    };
    for (size_t i = 0; i < COUNT_OF(caps); i++) {
        struct meter  m = { .fail_at = UINT64_MAX };
        blm_allocator a = meter_allocator(&m);
        blm_options   o = unknown();
        o.allocator     = &a;
        o.max_bytes     = caps[i];
        blm_filter *f   = make(&o);
        uint64_t    n   = 0;
        while (n < 1000000 && blm_add(f, &n, 8) >= 0)
            n++;
        blm_params p = params_of(f);
        assert_true(n >= 14000);
        assert_true((uint64_t)m.peak_bytes <= caps[i] + 8192); /* and the handle */
        assert_true(p.bytes + p.kept <= caps[i]);
        none_is_missing(f, 0, n);
        promise_holds(f, RATE);
        blm_free(f);
    }
}

/* Hashes that lie about the table's end, and the one that is no slot, come along like others. */
static void around_the_end(void **state)
{
    (void)state;
    enum { N = 16000 };
    uint64_t   *h = malloc(N * sizeof *h);
    blm_options o = unknown();
    blm_filter *f = make(&o), *g;
    for (uint64_t i = 0; i < N; i++)
        h[i] = i < 600 ? ~i : i < 1000 ? i - 600 : i * 0x9e3779b97f4a7c15u;
    assert_status(blm_add_hashes(f, h, 1000, NULL, NULL), BLM_OK);
    assert_status(blm_copy(f, &g, NULL), BLM_OK);
    assert_status(blm_add_hashes(f, h + 1000, N - 1000, NULL, NULL), BLM_OK);
    assert_status(blm_add_hashes(g, h + 1000, N - 1000, NULL, NULL), BLM_OK);
    assert_true(params_of(f).layers == 1 && params_of(f).capacity == 114688);
    assert_int_equal(blm_check_hashes(f, h, N, NULL), N);
    assert_true(blm_equal(f, g));
    blm_free(f);
    blm_free(g);
    free(h);
}

/* ---- when the hashes are gone ---- */

static void end_by_union(blm_filter *f)
{
    blm_options like = BLM_OPTIONS_INIT;
    like.like        = f;
    blm_filter *g    = make(&like);
    add_numbers(g, 1u << 30, (1u << 30) + 100, 100);
    assert_status(blm_union(f, g, NULL), BLM_OK);
    blm_free(g);
}

static void end_by_bytes(blm_filter *f)
{
    uint8_t first = *(const uint8_t *)blm_view(f, 0, NULL);
    assert_status(blm_write_bits(f, 0, 0, &first, 1), BLM_OK);
}

static void end_by_cap(blm_filter *f)
{
    blm_set_max_bytes(f, params_of(f).bytes + params_of(f).kept);
}

static void whatever_ends_it_layers_follow(void **state)
{
    (void)state;
    static const struct {
        void (*end)(blm_filter *f);
        double rate;
    } ways[] = { { end_by_union, 2 * RATE }, { end_by_bytes, RATE }, { end_by_cap, RATE } };
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        blm_options o = unknown();
        blm_filter *f = make(&o);
        add_numbers(f, 0, 6000, 100);
        assert_true(params_of(f).kept > 0);
        ways[i].end(f);
        add_numbers(f, 6000, 8000, 100); /* the room for hashes would double here */
        assert_int_equal(params_of(f).kept, 0);
        blm_set_max_bytes(f, 0);
        add_numbers(f, 8000, 50000, 1000);
        assert_int_equal(params_of(f).kept, 0);
        assert_true(params_of(f).layers > 1);
        assert_int_equal(layer_of(f, 0).capacity, 14336);
        none_is_missing(f, 0, 50000);
        promise_holds(f, ways[i].rate);
        assert_true(params_of(f).rate == ways[i].rate);
        assert_status(blm_clear(f), BLM_OK);
        assert_true(params_of(f).layers == 1 && params_of(f).rate == RATE);
        blm_free(f);
    }
}

/* Read back, it is a filter with one layer like any other. */
static void files_have_no_hashes(void **state)
{
    (void)state;
    blm_options  o = unknown();
    blm_filter  *f = make(&o), *g;
    struct bytes b = { 0 };
    add_numbers(f, 0, 60000, 1000);
    assert_status(blm_encode(f, NULL, bytes_add, &b, NULL), BLM_OK);
    assert_status(blm_decode(b.p, b.len, NULL, &g, NULL), BLM_OK);
    assert_true(blm_equal(f, g));
    assert_int_equal(params_of(g).kept, 0);
    add_numbers(g, 60000, 200000, 1000);
    assert_true(params_of(g).layers == 2 && params_of(g).rate == RATE);
    none_is_missing(g, 0, 200000);
    promise_holds(g, RATE);
    blm_free(f);
    blm_free(g);
    free(b.p);
}

/* … and what was small because nobody said a size does not grow by small steps for that. */
static void read_back_small_it_catches_up(void **state)
{
    (void)state;
    blm_options  o = unknown();
    blm_filter  *f = make(&o), *g;
    struct bytes b = { 0 };
    add_numbers(f, 0, 100, 100);
    assert_status(blm_encode(f, NULL, bytes_add, &b, NULL), BLM_OK);
    assert_status(blm_decode(b.p, b.len, NULL, &g, NULL), BLM_OK);
    add_numbers(g, 100, 200000, 1000);
    assert_int_equal(params_of(g).layers, 3);
    assert_int_equal(layer_of(g, 0).capacity, 14336);
    assert_int_equal(layer_of(g, 1).capacity, 131072);
    assert_int_equal(layer_of(g, 2).capacity, 16 * 131072);
    /* The first has half of the rate, the second 15% of the other half, and so on. */
    assert_true(fabs(layer_of(g, 1).rate / layer_of(g, 0).rate - 0.15) < 1e-9);
    assert_true(fabs(layer_of(g, 2).rate / layer_of(g, 1).rate - 0.85) < 1e-9);
    none_is_missing(g, 0, 200000);
    promise_holds(g, RATE);
    blm_free(f);
    blm_free(g);
    free(b.p);
}

static void a_file_grows_by_layers(void **state)
{
    (void)state;
    blm_options o = unknown();
    blm_filter *f;
    char        path[64];
    snprintf(path, sizeof path, "young.%ld.blm", (long)getpid());
    o.flags |= BLM_REPLACE;
    assert_status(blm_create_file(path, &o, &f, NULL), BLM_OK);
    assert_true(params_of(f).capacity == 131072 && params_of(f).kept == 0);
    blm_free(f);
    remove(path);
}

/* ---- what else is done to filters ---- */

static void cleared_it_is_young_again(void **state)
{
    (void)state;
    blm_options o = unknown();
    blm_filter *f = make(&o);
    add_numbers(f, 0, 20000, 100);
    assert_status(blm_clear(f), BLM_OK);
    add_numbers(f, 1 << 20, (1 << 20) + 140000, 1000);
    assert_true(params_of(f).layers == 1 && params_of(f).capacity == 917504);
    none_is_missing(f, 1 << 20, (1 << 20) + 140000);
    uint64_t hits = 0;
    for (uint64_t i = 0; i < 20000; i++) /* what was forgotten did not come back with the hashes */
        hits += blm_check(f, &i, 8);
    assert_true(hits < 300);
    blm_free(f);
}

static void a_copy_grows_on_its_own(void **state)
{
    (void)state;
    blm_options o = unknown();
    blm_filter *f = make(&o), *g, *h;
    assert_status(blm_copy(f, &h, NULL), BLM_OK); /* of none */
    add_numbers(f, 0, 14000, 100);
    assert_status(blm_copy(f, &g, NULL), BLM_OK);
    add_numbers(f, 14000, 30000, 100);
    blm_free(f);
    add_numbers(g, 50000, 80000, 100);
    add_numbers(h, 0, 30000, 100);
    assert_true(params_of(g).layers == 1 && params_of(h).layers == 1);
    none_is_missing(g, 0, 14000);
    none_is_missing(g, 50000, 80000);
    none_is_missing(h, 0, 30000);
    blm_free(g);
    blm_free(h);
}

/* A delta across a growth carries the whole layer, and leads to the same bits. */
static void deltas_across_a_growth(void **state)
{
    (void)state;
    static const uint64_t ends[][2] = { { 0, 10 },      { 100, 14336 },    { 14336, 14500 },
                                        { 100, 20000 }, { 20000, 200000 }, { 100, 200000 } };
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        blm_options  o = unknown();
        blm_filter  *f = make(&o), *before, *after, *half;
        struct bytes d = { 0 };
        add_numbers(f, 0, ends[i][0], 100);
        assert_status(blm_copy(f, &before, NULL), BLM_OK);
        add_numbers(f, ends[i][0], ends[i][1], 100);
        assert_status(blm_diff(before, f, bytes_add, &d, NULL), BLM_OK);
        assert_status(blm_patch(before, bytes_get, &d, &after, NULL), BLM_OK);
        assert_true(blm_equal(after, f));
        assert_int_equal(params_of(after).items, params_of(f).items);
        add_numbers(after, ends[i][1], 2 * ends[i][1], 1000); /* and it can go on */
        none_is_missing(after, 0, 2 * ends[i][1]);
        promise_holds(after, RATE);
        blm_free(after);
        for (size_t cut = 0; cut < d.len; cut += 1 + d.len / 50) { /* damage is found */
            d.at = 0;
            d.p[cut] ^= 0x10;
            assert_true(blm_patch(before, bytes_get, &d, &half, NULL) < 0);
            d.p[cut] ^= 0x10;
        }
        blm_error e;
        if (params_of(f).capacity > params_of(before).capacity) { /* never back */
            assert_status(blm_diff(f, before, bytes_add, &d, &e), BLM_E_MISMATCH);
            check_error(&e, BLM_E_MISMATCH, "sizes");
        }
        free(d.p);
        blm_free(f);
        blm_free(before);
    }
}

/* The mark of a layer that was young says nothing in a filter that does not grow. */
static void only_scalable_is_made_anew(void **state)
{
    (void)state;
    blm_options  o = unknown();
    struct bytes d = { 0 };
    blm_error    e;
    o.kind                         = BLM_BLOCKED;
    o.items                        = 1000;
    blm_filter *f                  = make(&o);
    o.items                        = 2000;
    blm_filter *g                  = make(&o);
    f->body.layers[0].shape.aux[0] = g->body.layers[0].shape.aux[0] = 1;
    assert_status(blm_diff(f, g, bytes_add, &d, &e), BLM_E_MISMATCH);
    check_error(&e, BLM_E_MISMATCH, "sizes");
    free(d.p);
    blm_free(f);
    blm_free(g);
}

/* Whichever allocation fails, no key is lost and no memory. */
static void memory_may_run_out(void **state)
{
    (void)state;
    for (int once = 0; once < 2; once++) {
        bool all = false;
        for (uint64_t at = 1; !all; at++) {
            struct meter  m = { .fail_at = UINT64_MAX, .once = once };
            blm_allocator a = meter_allocator(&m);
            blm_options   o = unknown();
            o.allocator     = &a;
            blm_filter *f   = make(&o);
            m.calls         = 0;
            m.fail_at       = at - 1;
            uint64_t n      = 0;
            while (n < 20000 && blm_add(f, &n, 8) >= 0)
                n++;
            all = m.calls <= m.fail_at;
            none_is_missing(f, 0, n);
            promise_holds(f, RATE);
            assert_true(all ? n == 20000 : true);
            blm_free(f);
            assert_int_equal(m.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_layer_up_to_ten_million),
        cmocka_unit_test(layers_beyond),
        cmocka_unit_test(bits_of_one_made_large),
        cmocka_unit_test(batches_do_not_matter),
        cmocka_unit_test(hashes_take_what_was_said),
        cmocka_unit_test(the_cap_is_kept),
        cmocka_unit_test(around_the_end),
        cmocka_unit_test(hashes_of_somebody_who_knows),
        cmocka_unit_test(whatever_ends_it_layers_follow),
        cmocka_unit_test(files_have_no_hashes),
        cmocka_unit_test(read_back_small_it_catches_up),
        cmocka_unit_test(a_file_grows_by_layers),
        cmocka_unit_test(cleared_it_is_young_again),
        cmocka_unit_test(a_copy_grows_on_its_own),
        cmocka_unit_test(deltas_across_a_growth),
        cmocka_unit_test(only_scalable_is_made_anew),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
