/* SPDX-License-Identifier: MIT */
/* A scheme's counters against an array of plain integers that does the same sums. */
#include "engine/bits.h"
#include "unit/engine/toy.h"

enum { M = 96, MOST = 15 };

struct model {
    unsigned cell[M];
    uint64_t items;
};

static bool model_add(struct model *m, const uint64_t *pos, uint32_t k)
{
    bool fresh = false;
    for (uint32_t j = 0; j < k; j++) {
        fresh |= m->cell[pos[j]] == 0;
        m->cell[pos[j]] += m->cell[pos[j]] < MOST;
    }
    m->items++;
    return fresh;
}

static bool model_has(const struct model *m, const uint64_t *pos, uint32_t k)
{
    for (uint32_t j = 0; j < k; j++)
        if (m->cell[pos[j]] == 0)
            return false;
    return true;
}

/* Each counter must be as high as the key names it, or stuck. */
static bool model_remove(struct model *m, const uint64_t *pos, uint32_t k)
{
    for (uint32_t j = 0; j < k; j++) {
        unsigned named = 0;
        for (uint32_t i = 0; i < k; i++)
            named += pos[i] == pos[j];
        if (m->cell[pos[j]] < named && m->cell[pos[j]] < MOST)
            return false;
    }
    for (uint32_t j = 0; j < k; j++)
        m->cell[pos[j]] -= m->cell[pos[j]] < MOST;
    m->items -= m->items > 0;
    return true;
}

static void same_cells(const struct toy_filter *f, const struct model *m)
{
    for (uint64_t c = 0; c < M; c++)
        assert_int_equal(blm__counter_get(&f->layer, c), m->cell[c]);
    assert_true(blm__layer_items(&f->layer) == m->items);
}

/* Adds, questions and removals at random, in batches across the groups that they are taken in; few
 * cells, so that keys name one twice and counters get stuck. */
static void sums(uint32_t k, bool shared, uint64_t seed)
{
    static struct toy_filter f;
    static blm_digest        d[70];
    struct model             m = { .items = 0 };
    struct rng               r = { seed };
    toy_init(&f, M, k, 4);
    assert_string_equal(f.layer.engine->name, "tallies");
    f.body.shared = shared;
    for (int round = 0; round < 60; round++) {
        size_t  n = rng_size(&r, COUNT_OF(d) + 1), said, count = 0;
        int     deed = (int)rng_below(&r, 4);
        uint8_t out[COUNT_OF(d)];
        for (size_t i = 0; i < n; i++) {
            struct rng few = { rng_below(&r, 20) };
            d[i]           = toy_digest(&few);
        }
        struct blm__keys keys = { .n = n, .digests = d };
        said                  = deed == 0   ? f.layer.engine->add(&f.body, &f.layer, &keys, out)
                                : deed == 1 ? f.layer.engine->check(&f.body, &f.layer, &keys, out)
                                            : f.layer.engine->remove(&f.body, &f.layer, &keys, out);
        for (size_t i = 0; i < n; i++) {
            uint64_t pos[BLM__MAX_PROBES];
            toy_positions(&f.layer.shape, &d[i], pos);
            bool want = deed == 0   ? model_add(&m, pos, k)
                        : deed == 1 ? model_has(&m, pos, k)
                                    : model_remove(&m, pos, k);
            assert_int_equal(out[i], want);
            count += want;
        }
        assert_int_equal(said, count);
        same_cells(&f, &m);
    }
}

static void counters_do_the_sums(void **state)
{
    (void)state;
    static const uint32_t ks[] = { 1, 3, 8, 70 };
    for (size_t i = 0; i < COUNT_OF(ks); i++)
        for (int shared = 0; shared < 2; shared++)
            for (uint64_t seed = 1; seed <= 5; seed++)
                sums(ks[i], shared, seed);
}

/* Two probes that meet in one cell: the key was added only if the cell says two. */
static void a_cell_that_is_named_twice_is_needed_twice(void **state)
{
    (void)state;
    static struct toy_filter f;
    blm_digest               twice = { .w = { 5, M } }, once = { .w = { 5, 0 } };
    struct blm__keys         t = { .n = 1, .digests = &twice }, o = { .n = 1, .digests = &once };
    uint8_t                  out;
    toy_init(&f, M, 1, 4);
    f.layer.engine->add(&f.body, &f.layer, &o, &out);
    f.layer.shape.probes = 2;
    assert_int_equal(f.layer.engine->check(&f.body, &f.layer, &t, &out), 1); /* maybe */
    assert_int_equal(f.layer.engine->remove(&f.body, &f.layer, &t, &out), 0);
    assert_int_equal(blm__counter_get(&f.layer, 5), 1);
    f.layer.engine->add(&f.body, &f.layer, &t, &out);
    assert_int_equal(blm__counter_get(&f.layer, 5), 3);
    assert_int_equal(f.layer.engine->remove(&f.body, &f.layer, &t, &out), 1);
    assert_int_equal(blm__counter_get(&f.layer, 5), 1);
}

/* How often a full counter was raised is not known, so it is never lowered again. */
static void a_full_counter_stays_full(void **state)
{
    (void)state;
    static struct toy_filter f;
    blm_digest               d = { .w = { 5, 1 } };
    struct blm__keys         k = { .n = 1, .digests = &d };
    uint8_t                  out;
    toy_init(&f, M, 2, 4);
    for (int i = 0; i < 20; i++)
        f.layer.engine->add(&f.body, &f.layer, &k, &out);
    for (int i = 0; i < 30; i++)
        assert_int_equal(f.layer.engine->remove(&f.body, &f.layer, &k, &out), 1);
    assert_int_equal(blm__counter_get(&f.layer, 5), 15);
    assert_int_equal(f.layer.engine->check(&f.body, &f.layer, &k, &out), 1);
}

static void put(struct toy_filter *f, uint64_t cell, unsigned v)
{
    while (v--)
        blm__counter_raise(&f->layer, cell, false);
}

/* Cells that meet add up, and stop at 15. */
static void folded_cells_add_up(void **state)
{
    (void)state;
    static const uint64_t factors[] = { 1, 2, 3, 8, M };
    for (int adjacent = 0; adjacent < 2; adjacent++)
        for (size_t i = 0; i < COUNT_OF(factors); i++) {
            static struct toy_filter from, to;
            unsigned                 want[M] = { 0 };
            struct rng               r       = { i + 1 };
            uint64_t                 left    = M / factors[i];
            toy.fold                         = adjacent ? BLM__FOLD_ADJACENT : BLM__FOLD_STRIDED;
            toy_init(&from, M, 3, 4);
            toy_init(&to, left, 3, 4);
            for (uint64_t c = 0; c < M; c++) {
                unsigned v = rng_below(&r, 3) ? (unsigned)rng_below(&r, MOST + 1) : 0;
                put(&from, c, v);
                want[adjacent ? c / factors[i] : c % left] += v;
            }
            from.layer.engine->fold(&from.layer, factors[i], &to.layer);
            for (uint64_t c = 0; c < left; c++)
                assert_int_equal(blm__counter_get(&to.layer, c), want[c] < MOST ? want[c] : MOST);
        }
    toy.fold = BLM__FOLD_STRIDED;
}

/* The plain bits are of another kind and another engine, and have a bit for each cell in use. */
static void reduced_they_are_bits(void **state)
{
    (void)state;
    static struct toy_filter from, to;
    struct rng               r = { 4 };
    toy_init(&from, M, 3, 4);
    toy_init(&to, M, 3, 1);
    for (uint64_t c = 0; c < M; c++)
        put(&from, c, (unsigned)(rng_below(&r, 2) * rng_below(&r, MOST + 1)));
    struct blm__shape s = from.layer.shape;
    from.layer.engine->reduced(&s);
    assert_true(s.kind == BLM_CLASSIC && s.cell_bits == 1 && s.bits == M);
    assert_ptr_equal(blm__engine_of(&s), to.layer.engine);
    from.layer.engine->reduce(&from.layer, &to.layer);
    for (uint64_t c = 0; c < M; c++)
        assert_int_equal(toy_get(to.words, c), blm__counter_get(&from.layer, c) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_do_the_sums),
        cmocka_unit_test(a_cell_that_is_named_twice_is_needed_twice),
        cmocka_unit_test(a_full_counter_stays_full),
        cmocka_unit_test(folded_cells_add_up),
        cmocka_unit_test(reduced_they_are_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
