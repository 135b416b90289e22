/* SPDX-License-Identifier: MIT */
/* Layers of plain bits under a scheme that is not ours: a toy one, whose positions can be worked
 * out by eye, so that grouping, counting and both ways of folding stand alone. */
#include "engine/bits.h"
#include "unit/support.h"

/* Position j of a key is (w0 + j·w1) mod m. */
static void toy_positions(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    for (uint32_t j = 0; j < s->probes; j++)
        out[j] = (d->w[0] + j * d->w[1]) % s->bits;
}

static struct blm__scheme toy = {
    .row       = { sizeof(blm_scheme_row), "toy", "for this test", NULL, NULL, false, .kinds = 0 },
    .fold      = BLM__FOLD_STRIDED,
    .fold_unit = 1,
    .positions = toy_positions,
};

struct toy_filter {
    struct blm__body  body;
    struct blm__layer layer;
    uint64_t          words[160];
};

static void toy_init(struct toy_filter *f, uint64_t m, uint32_t k)
{
    memset(f, 0, sizeof *f);
    f->layer.shape      = (struct blm__shape){ .kind      = BLM_CLASSIC,
                                               .rule      = BLM__POSITIONS,
                                               .scheme    = &toy,
                                               .bits      = m,
                                               .probes    = k,
                                               .cell_bits = 1 };
    f->layer.word_count = blm__shape_words(&f->layer.shape);
    f->layer.words      = f->words;
    f->layer.engine     = blm__engine_of(&f->layer.shape);
    f->body.kernel      = &blm__kernel_portable;
    f->body.layers      = &f->layer;
    f->body.layer_count = 1;
    assert_true(f->layer.word_count <= COUNT_OF(f->words));
}

static blm_digest toy_digest(struct rng *r)
{
    blm_digest d = { .tag = 1 };
    d.w[0]       = rng_next(r) >> 16;
    d.w[1]       = rng_next(r) >> 16;
    return d;
}

/* Groups of keys go through a buffer of 2 048 positions: with k = 1, 7, 300, 2 047 or 2 048 a
 * group is 16 keys, 6 or one. Each batch is compared with keys added one by one. */
static void positions_are_grouped_without_losing_any(void **state)
{
    (void)state;
    static const uint32_t ks[] = { 1, 2, 7, 127, 128, 129, 300, 1024, 2047, 2048 };
    static const size_t   ns[] = { 0, 1, 15, 16, 17, 64 };
    for (size_t i = 0; i < COUNT_OF(ks); i++)
        for (size_t j = 0; j < COUNT_OF(ns); j++)
            for (int shared = 0; shared < 2; shared++) {
                static struct toy_filter f, g;
                blm_digest               d[64];
                uint8_t                  fresh[64], maybe[64];
                struct rng               r     = { ks[i] * 100 + ns[j] };
                size_t                   count = 0, n = ns[j];
                toy_init(&f, 10007, ks[i]);
                toy_init(&g, 10007, ks[i]);
                f.body.shared = shared;
                for (size_t a = 0; a < n; a++)
                    d[a] = a % 5 == 4 ? d[a - 3] : toy_digest(&r);
                struct blm__keys all  = { .digests = d, .n = n };
                size_t           said = f.layer.engine->add(&f.body, &f.layer, &all, fresh);
                for (size_t a = 0; a < n; a++) {
                    uint64_t pos[BLM__MAX_PROBES];
                    unsigned is_new = 0;
                    toy_positions(&g.layer.shape, &d[a], pos);
                    for (uint32_t c = 0; c < ks[i]; c++) {
                        is_new |= !(g.words[pos[c] / 64] >> pos[c] % 64 & 1);
                        g.words[pos[c] / 64] |= (uint64_t)1 << pos[c] % 64;
                    }
                    assert_int_equal(fresh[a], is_new);
                    count += is_new;
                }
                assert_int_equal(said, count);
                assert_true(blm__layer_items(&f.layer) == count);
                assert_memory_equal(f.words, g.words, sizeof f.words);
                assert_int_equal(f.layer.engine->check(&f.body, &f.layer, &all, maybe), n);
                for (size_t a = 0; a < n; a++) { /* and strangers, asked in one batch */
                    d[a] = toy_digest(&r);
                    assert_int_equal(maybe[a], 1);
                }
                said  = f.layer.engine->check(&f.body, &f.layer, &all, maybe);
                count = 0;
                for (size_t a = 0; a < n; a++) {
                    uint64_t pos[BLM__MAX_PROBES];
                    unsigned has = 1;
                    toy_positions(&f.layer.shape, &d[a], pos);
                    for (uint32_t c = 0; c < ks[i]; c++)
                        has &= (unsigned)(f.words[pos[c] / 64] >> pos[c] % 64) & 1;
                    assert_int_equal(maybe[a], has);
                    count += has;
                }
                assert_int_equal(said, count);
            }
}

static void set_bit(uint64_t *words, uint64_t at)
{
    ((uint8_t *)words)[at / 8] |= (uint8_t)(1u << at % 8);
}

/* Strided (modulo): unit u goes to u mod (m/f); adjacent (multiply-shift): to u / f. Bit by bit,
 * with units of one bit, of a byte and of 256 bits, and borders inside words. */
static void folds_follow_their_rule(void **state)
{
    (void)state;
    static const struct {
        uint64_t m, factor;
        uint32_t unit;
    } rows[] = { { 210, 7, 1 },    { 210, 210, 1 },   { 64, 64, 1 }, { 9984, 3, 1 },
                 { 4096, 4, 1 },   { 1000, 8, 1 },    { 960, 5, 8 }, { 960, 3, 32 },
                 { 2560, 5, 256 }, { 2560, 10, 256 }, { 999, 1, 1 } };
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int adjacent = 0; adjacent < 2; adjacent++) {
            static struct toy_filter from, to, want;
            struct rng               r    = { i };
            uint64_t                 unit = rows[i].unit, units = rows[i].m / rows[i].factor / unit;
            toy.fold      = adjacent ? BLM__FOLD_ADJACENT : BLM__FOLD_STRIDED;
            toy.fold_unit = rows[i].unit;
            toy_init(&from, rows[i].m, 1);
            toy_init(&to, rows[i].m / rows[i].factor, 1);
            toy_init(&want, rows[i].m / rows[i].factor, 1);
            for (int n = 0; n < 60; n++) {
                uint64_t at = rng_below(&r, rows[i].m), u = at / unit, in = at % unit;
                set_bit(from.words, at);
                set_bit(want.words, (adjacent ? u / rows[i].factor : u % units) * unit + in);
            }
            blm__bits_fold(&from.layer, rows[i].factor, &to.layer);
            assert_memory_equal(to.words, want.words, sizeof to.words);
        }
}

/* Union and intersection of more words than one piece (8 MiB), with progress between pieces. */
struct watch {
    uint64_t calls, stop_at;
};
static bool watch_it(void *ctx, uint64_t done, uint64_t total)
{
    struct watch *w = ctx;
    assert_true(done <= total);
    return w->calls++ != w->stop_at;
}

static void large_unions_go_piece_by_piece(void **state)
{
    (void)state;
    uint64_t    n = ((uint64_t)1 << 20) + 3;
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e;
    o.bits         = n * 64;
    o.probes       = 3;
    o.flags        = BLM_SEEDED;
    blm_filter  *a = make(&o), *b = make(&o);
    uint64_t    *x = (uint64_t *)(uintptr_t)blm_view(a, 0, NULL);
    uint64_t    *y = (uint64_t *)(uintptr_t)blm_view(b, 0, NULL);
    struct watch w = { 0, UINT64_MAX };
    blm_set_progress(a, watch_it, &w);
    x[0]     = 1;
    y[0]     = 2;
    y[n - 1] = 5;
    assert_status(blm_union(a, b, NULL), BLM_OK);
    assert_int_equal(w.calls, 2);
    assert_true(x[0] == 3 && x[n - 1] == 5);
    assert_status(blm_intersect(a, b, NULL), BLM_OK);
    assert_true(x[0] == 2 && x[n - 1] == 5);
    /* Stopped between the pieces: the first is united, the second is not. */
    x[0] = x[n - 1] = 0;
    w               = (struct watch){ 0, 1 };
    assert_status(blm_union(a, b, &e), BLM_E_CANCELLED);
    check_error(&e, BLM_E_CANCELLED, "8388608");
    assert_true(x[0] == 2 && x[n - 1] == 0);
    blm_free(a);
    blm_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_are_grouped_without_losing_any),
        cmocka_unit_test(folds_follow_their_rule),
        cmocka_unit_test(large_unions_go_piece_by_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
