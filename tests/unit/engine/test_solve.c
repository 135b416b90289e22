/* SPDX-License-Identifier: MIT */
/* Cells by elimination: every key gets what it needs, with fewer cells than taking keys away can do with. */
#include "engine/solve.h"

#include "core/kernel/fuse.h"
#include "unit/support.h"

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t *hashes(size_t n, struct rng *r)
{
    uint64_t *h = malloc((n + 1) * sizeof *h);
    for (size_t i = 0; i < n; i++)
        h[i] = rng_next(r);
    qsort(h, n, sizeof *h, compare);
    return h;
}

/* Do the cells of every key add up to its fingerprint, or to the opposite? */
static void holds(const struct blm__fuse_keys *k, struct blm__fuse_size size, uint32_t bits,
                  uint64_t factor, const uint32_t *values)
{
    struct blm__fuse_part part = blm__fuse_part_of(size.cells, size.segment);
    uint32_t              mask = UINT32_MAX >> (32 - bits);
    for (unsigned list = 0; list < 2; list++)
        for (size_t i = 0; i < k->n[list]; i++) {
            struct blm__fuse_key key = blm__fuse_key_of(part, k->of[list][i], factor);
            uint32_t v = values[key.cell[0]] ^ values[key.cell[1]] ^ values[key.cell[2]];
            assert_int_equal(v ^ (list ? mask : 0), key.print >> (64 - bits));
        }
}

/* As api/fuse.c does it. Returns the cells that it took. */
static uint64_t build(const struct blm__fuse_keys *k, uint32_t bits)
{
    size_t                 n    = k->n[0] + k->n[1];
    struct blm__fuse_size  size = blm__fuse_tight_of(n);
    struct blm__solve_room room = { 0 };
    for (;; blm__fuse_enlarge_little(&size)) {
        uint32_t *values = malloc((size_t)size.cells * sizeof *values);
        for (uint32_t i = 0; i < blm__fuse_tries(n, true); i++) {
            uint64_t factor = blm__fuse_factor(0, i);
            if (blm__solve_part(&blm__default_allocator, &room, k, size, 1, bits, factor, values) !=
                BLM_OK)
                continue;
            holds(k, size, bits, factor, values);
            free(values);
            blm__solve_free(&blm__default_allocator, &room);
            return size.cells;
        }
        free(values);
    }
}

static void every_key_gets_its_fingerprint(void **state)
{
    (void)state;
    static const uint32_t bits[] = { 1, 2, 7, 8, 31, 32 };
    struct rng            r      = { 17 };
    for (unsigned i = 0; i < (quick_tests() ? 60u : 600u); i++) {
        size_t    n = rng_size(&r, i % 20 ? 300 : 4000), first = (size_t)rng_below(&r, n + 1);
        uint64_t *h             = hashes(n, &r);
        struct blm__fuse_keys k = { { h, h + first }, { first, n - first } };
        build(&k, bits[i % COUNT_OF(bits)]);
        free(h);
    }
}

/* Cells a key, on the mean of some sets, at most. Taking away alone is given 2.4 to 1.23. */
static void few_cells_do(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double most;
    } row[]      = { { 2, 1.6 },    { 10, 1.25 },   { 30, 1.25 },   { 100, 1.25 },   { 300, 1.17 },
                     { 500, 1.17 }, { 1000, 1.17 }, { 3000, 1.15 }, { 10000, 1.15 }, { 20000, 1.15 } };
    struct rng r = { 5 };
    for (size_t i = 0; i < COUNT_OF(row) - (quick_tests() ? 3 : 0); i++) {
        size_t sets = row[i].n > 2000 ? 2 : 20;
        double all  = 0;
        for (size_t j = 0; j < sets; j++) {
            uint64_t             *h = hashes(row[i].n, &r);
            struct blm__fuse_keys k = { { h, NULL }, { row[i].n, 0 } };
            all += (double)build(&k, 8) / (double)row[i].n;
            free(h);
        }
        if (getenv("BLM_SHOW"))
            print_message("n %6zu  %.3f cells a key\n", row[i].n, all / (double)sets);
        if (all > row[i].most * (double)sets)
            fail_msg("%zu keys take %.3f cells each", row[i].n, all / (double)sets);
    }
}

/* One hash in both lists: no cells can say both. The same twice in one list is one key. */
static void what_contradicts_has_no_solution(void **state)
{
    (void)state;
    uint64_t               h[3] = { 5, 5, 1u << 30 };
    struct blm__fuse_keys  k    = { { h, h + 1 }, { 1, 2 } };
    struct blm__fuse_size  size = { 16, 160 };
    uint32_t               values[160];
    struct blm__solve_room room = { 0 };
    for (uint32_t i = 0; i < 16; i++)
        assert_status(blm__solve_part(&blm__default_allocator, &room, &k, size, 1, 8,
                                      blm__fuse_factor(0, i), values),
                      BLM__SOLVE_NONE);
    k = (struct blm__fuse_keys){ { h, NULL }, { 3, 0 } };
    assert_status(blm__solve_part(&blm__default_allocator, &room, &k, size, 1, 8, 1, values),
                  BLM_OK);
    holds(&k, size, 8, 1, values);
    blm__solve_free(&blm__default_allocator, &room);
}

static void *some_calls(void *ctx, size_t size)
{
    int *left = ctx;
    return (*left)-- > 0 ? calloc(1, size) : NULL;
}
static void give_back(void *ctx, void *p, size_t size)
{
    (void)ctx, (void)size;
    free(p);
}

static void no_memory_is_said(void **state)
{
    (void)state;
    int           left;
    blm_allocator a = {
        .alloc = some_calls, .zalloc = some_calls, .free = give_back, .ctx = &left
    };
    struct rng            r      = { 3 };
    uint64_t             *h      = hashes(1000, &r);
    struct blm__fuse_keys k      = { { h, NULL }, { 1000, 0 } };
    struct blm__fuse_size size   = { 32, 1120 };
    uint32_t             *values = malloc((size_t)size.cells * sizeof *values);
    for (int i = 0; i < 3; i++) {
        struct blm__solve_room room = { 0 };
        left                        = i;
        assert_status(blm__solve_part(&a, &room, &k, size, 1, 8, 1, values), BLM_E_MEMORY);
        blm__solve_free(&a, &room);
    }
    free(values);
    free(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_gets_its_fingerprint),
        cmocka_unit_test(few_cells_do),
        cmocka_unit_test(what_contradicts_has_no_solution),
        cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
