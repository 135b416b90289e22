/* SPDX-License-Identifier: MIT */
/* Steps: however a key comes (two words, a digest, its bytes), it is the same cells, and those are
 * where the scheme's rule says. */
#include "core/kernel/steps.h"

#include "engine/bits.h"
#include "unit/engine/toy.h"

static void toy_steps(uint8_t wrap)
{
    toy.wrap          = wrap;
    toy.pairs         = wrap ? toy_pairs : NULL;
    toy.positions_raw = wrap ? toy_raw : NULL;
    toy.modulus       = wrap ? blm__modulus_m : NULL;
    toy.reduce        = wrap ? blm__reduce_m : NULL;
}

enum { N = 64 };

struct words {
    uint64_t   start[N], step[N];
    blm_digest digest[N];
    uint8_t    bytes[N][16];
};

static void some_words(struct words *w, struct rng *r)
{
    for (size_t i = 0; i < N; i++) {
        w->digest[i] = i % 7 == 6 ? w->digest[i - 4] : toy_digest(r);
        w->start[i]  = w->digest[i].w[0];
        w->step[i]   = w->digest[i].w[1];
        blm__put64le(w->bytes[i], w->start[i]);
        blm__put64le(w->bytes[i] + 8, w->step[i]);
    }
}

static void one_shape(uint32_t k, size_t n, bool shared)
{
    static struct toy_filter by_words, by_digests, singly, rule;
    static struct words      w;
    struct toy_filter       *all[] = { &by_words, &by_digests, &singly, &rule };
    uint8_t                  x[N], y[N];
    struct rng               r = { k * 1000 + n };
    some_words(&w, &r);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        toy_init(all[i], 10007, k, 1);
        all[i]->body.shared = shared;
        assert_string_equal(all[i]->layer.engine->name, "steps");
        all[i]->layer.engine->singles(&all[i]->body, &all[i]->layer.shape, true);
    }
    const struct blm__engine *e       = by_words.layer.engine;
    struct blm__keys          words   = { .n = n, .hashes = w.start, .steps = w.step };
    struct blm__keys          digests = { .n = n, .digests = w.digest };
    size_t                    count = e->add(&by_words.body, &by_words.layer, &words, x), sum = 0;
    assert_int_equal(e->add(&by_digests.body, &by_digests.layer, &digests, y), count);
    assert_memory_equal(x, y, n);
    for (size_t i = 0; i < n; i++) {
        uint64_t pos[BLM__MAX_PROBES];
        unsigned is_new = 0;
        toy_positions(&rule.layer.shape, &w.digest[i], pos);
        for (uint32_t j = 0; j < k; j++) {
            is_new |= !toy_get(rule.words, pos[j]);
            toy_set(rule.words, pos[j]);
        }
        assert_int_equal(x[i], is_new);
        assert_status(singly.body.add_key(&singly.body, w.bytes[i], 16),
                      is_new ? BLM_OK : BLM_PRESENT);
        sum += is_new;
    }
    assert_int_equal(count, sum);
    for (size_t i = 0; i < 3; i++) {
        assert_memory_equal(all[i]->words, rule.words, sizeof rule.words);
        assert_true(blm__layer_items(&all[i]->layer) == sum);
    }
    some_words(&w, &r); /* others, most of them absent */
    count = e->check(&by_words.body, &by_words.layer, &words, x);
    assert_int_equal(e->check(&by_words.body, &by_words.layer, &digests, y), count);
    assert_memory_equal(x, y, n);
    sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t pos[BLM__MAX_PROBES];
        unsigned has = 1;
        toy_positions(&rule.layer.shape, &w.digest[i], pos);
        for (uint32_t j = 0; j < k; j++)
            has &= toy_get(rule.words, pos[j]);
        assert_int_equal(x[i], has);
        assert_int_equal(singly.body.check_key(&singly.body, w.bytes[i], 16), has);
        sum += has;
    }
    assert_int_equal(count, sum);
}

static void however_keys_come_it_is_the_same_cells(void **state)
{
    (void)state;
    static const uint32_t ks[]    = { 1, 3, 4, 7, 30, BLM__STEPS_MOST, BLM__STEPS_MOST + 1 };
    static const size_t   ns[]    = { 1, 2, 17, N };
    static const uint8_t  wraps[] = { 63, 64 };
    for (size_t w = 0; w < COUNT_OF(wraps); w++) {
        toy_steps(wraps[w]);
        for (size_t i = 0; i < COUNT_OF(ks); i++)
            for (size_t j = 0; j < COUNT_OF(ns); j++)
                for (int shared = 0; shared < 2; shared++)
                    one_shape(ks[i], ns[j], shared);
    }
    toy_steps(0);
}

static bool is_stale;
static bool stale(const struct blm__body *b)
{
    (void)b;
    return is_stale;
}

/* Single questions look in every layer, and where there may be more than we see, say maybe. What is
 * no key is maybe, and is not added. */
static void single_calls(void **state)
{
    (void)state;
    static struct toy_filter f;
    static uint64_t          other[160];
    static struct words      w;
    struct blm__layer        layers[2];
    struct blm__store        store = { .name = "toy", .stale = stale };
    struct rng               r     = { 9 };
    toy_steps(64);
    some_words(&w, &r);
    toy_init(&f, 10007, 8, 1);
    f.body.store = &store;
    f.layer.engine->singles(&f.body, &f.layer.shape, true);
    assert_status(f.body.add_key(&f.body, NULL, 16), BLM_E_ARGUMENT);
    assert_true(f.body.check_key(&f.body, NULL, 16));
    f.body.read_only = true;
    assert_status(f.body.add_key(&f.body, w.bytes[0], 16), BLM_E_READONLY);
    f.body.read_only = false;
    assert_true(blm__bits_ones(&f.layer, f.body.kernel) == 0);
    blm__add_key was = f.body.add_key;
    assert_status(was(&f.body, w.bytes[0], 16), BLM_OK); /* in what becomes the first layer */
    layers[0] = layers[1] = f.layer;
    layers[1].words       = other;
    f.body.layers         = layers;
    f.body.layer_count    = 2;
    f.body.add_key        = NULL;
    f.layer.engine->singles(&f.body, &f.layer.shape, false);
    assert_null(f.body.add_key); /* where a key goes is the kind's to say */
    blm__steps_add_one(&layers[1], w.start[1], w.step[1], false);
    is_stale = false;
    assert_true(f.body.check_key(&f.body, w.bytes[0], 16));
    assert_true(f.body.check_key(&f.body, w.bytes[1], 16));
    assert_false(f.body.check_key(&f.body, w.bytes[2], 16));
    assert_true(f.body.check_key(&f.body, NULL, 16));
    is_stale = true;
    assert_true(f.body.check_key(&f.body, w.bytes[2], 16));
    toy_steps(0);
}

static const char *refuse(const struct blm__shape *s) { return s->bits == 7 ? "seven" : NULL; }

/* A layer that will be refused is not asked what its modulus is. */
static void refused_shapes_have_no_modulus(void **state)
{
    (void)state;
    static struct toy_filter f;
    toy_steps(64);
    toy.fault = refuse;
    toy_init(&f, 8, 2, 1);
    assert_true(f.layer.steps.m == 8);
    toy_init(&f, 7, 2, 1);
    assert_true(f.layer.steps.m == 0);
    toy.fault = NULL;
    toy_steps(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(however_keys_come_it_is_the_same_cells),
        cmocka_unit_test(single_calls),
        cmocka_unit_test(refused_shapes_have_no_modulus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
