/* SPDX-License-Identifier: MIT */
/* blm_memory against an allocator that counts what it has given and not got back. */
#include <unistd.h>

#include "bloomery/embed.h"
#include "unit/support.h"

#include "unit/files.h"

static void *give(void *ctx, size_t size)
{
    *(uint64_t *)ctx += size;
    return malloc(size);
}

static void take(void *ctx, void *p, size_t size)
{
    *(uint64_t *)ctx -= size;
    free(p);
}

static void add_keys(blm_filter *f, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        assert_true(blm_add(f, &i, 8) >= 0);
}

static void every_flavour_is_weighed(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        uint64_t      live = 0;
        blm_allocator a    = { &live, give, NULL, take };
        blm_options   o    = flavour_options(v, 500, 0.01, 3);
        blm_filter   *f, *g;
        o.allocator = &a;
        f           = make(&o);
        assert_int_equal(blm_memory(f), live);
        assert_true(live > params_of(f).bytes);
        add_keys(f, v->kind == BLM_CUCKOO ? 1500 : 5000); /* a scalable one has grown */
        assert_int_equal(blm_memory(f), live);
        uint64_t one = live;
        assert_status(blm_copy(f, &g, NULL), BLM_OK);
        assert_int_equal(blm_memory(f) + blm_memory(g), live);
        blm_free(g);
        assert_int_equal(live, one);
        blm_free(f);
        assert_int_equal(live, 0);
    }
}

/* Young: its hashes too. */
static void kept_hashes_count(void **state)
{
    (void)state;
    uint64_t      live = 0;
    blm_allocator a    = { &live, give, NULL, take };
    blm_options   o    = BLM_OPTIONS_INIT;
    o.kind             = BLM_SCALABLE;
    o.rate             = 0.01;
    o.allocator        = &a;
    blm_filter *f      = make(&o);
    for (uint64_t n = 1000; n < 100000; n *= 3) {
        add_keys(f, n);
        assert_true(params_of(f).kept > 0);
        assert_int_equal(blm_memory(f), live);
    }
    blm_free(f);
}

/* Words that are not the filter's, and pages of a file, are not its memory. */
static void what_is_lent_does_not_count(void **state)
{
    (void)state;
    uint64_t      live = 0, words[1024] = { 0 };
    blm_allocator a = { &live, give, NULL, take };
    blm_options   o = BLM_OPTIONS_INIT;
    blm_filter   *f;
    o.allocator  = &a;
    o.probes     = 5;
    o.words      = words;
    o.word_count = 1024;
    f            = make(&o);
    assert_int_equal(blm_memory(f), live);
    assert_true(live < sizeof words);
    blm_free(f);

    blm_options file = BLM_OPTIONS_INIT;
    file.items       = 100000;
    file.rate        = 0.01;
    file.allocator   = &a;
    assert_status(blm_create_file(at("m"), &file, &f, NULL), BLM_OK);
    assert_int_equal(blm_memory(f), live);
    assert_true(live < params_of(f).bytes);
    blm_free(f);
    assert_status(blm_open(at("m"), &file, &f, NULL), BLM_OK);
    assert_int_equal(blm_memory(f), live);
    blm_free(f);
    assert_int_equal(live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flavour_is_weighed),
        cmocka_unit_test(kept_hashes_count),
        file_test(what_is_lent_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
