/* SPDX-License-Identifier: MIT */
/* Whole layers of plain bits: both ways of folding, and large unions. */
#include "engine/bits.h"
#include "unit/engine/toy.h"

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
            toy_init(&from, rows[i].m, 1, 1);
            toy_init(&to, rows[i].m / rows[i].factor, 1, 1);
            toy_init(&want, rows[i].m / rows[i].factor, 1, 1);
            for (int n = 0; n < 60; n++) {
                uint64_t at = rng_below(&r, rows[i].m), u = at / unit, in = at % unit;
                toy_set(from.words, at);
                toy_set(want.words, (adjacent ? u / rows[i].factor : u % units) * unit + in);
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
        cmocka_unit_test(folds_follow_their_rule),
        cmocka_unit_test(large_unions_go_piece_by_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
