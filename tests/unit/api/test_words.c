/* SPDX-License-Identifier: MIT */
/* Filters over a caller's own words, and in the memory of a caller's own allocator. */
#include "core/bytes.h"
#include "unit/support.h"

/* ---- over a caller's words ---- */

static void borrowed_words_are_the_filter(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        uint64_t    words[66] = { 0 };
        blm_options o         = BLM_OPTIONS_INIT;
        o.kind                = kinds[i];
        o.flags               = BLM_SEEDED;
        o.probes              = 4;
        o.words               = words + 1; /* aligned to 8, not to 64 */
        o.word_count          = 64;
        words[65]             = 0x5e5e5e5e5e5e5e5eu;
        blm_filter *f         = make(&o);
        blm_params  p         = params_of(f);
        assert_true(p.bits == 4096);
        assert_int_equal(p.backing, BLM_IN_WORDS);
        assert_ptr_equal(blm_view(f, 0, NULL), words + 1);
        for (uint64_t k = 0; k < 300; k++)
            blm_add(f, &k, 8);
        blm_free(f); /* the words stay, and a filter over them again knows the keys */
        f = make(&o);
        for (uint64_t k = 0; k < 300; k++)
            assert_true(blm_check(f, &k, 8));
        assert_true(words[0] == 0 && words[65] == 0x5e5e5e5e5e5e5e5eu);
        blm_free(f);
    }
}

static void borrowed_words_may_be_more_than_needed(void **state)
{
    (void)state;
    uint64_t    words[64] = { 0 };
    blm_options o         = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   e;
    o.words      = words;
    o.word_count = 64;
    o.bits       = 1000; /* 16 words */
    o.probes     = 3;
    f            = make(&o);
    for (uint64_t k = 0; k < 20000; k++)
        blm_add(f, &k, 8);
    assert_true(stats_of(f).ones == 1000); /* full */
    for (size_t i = 16; i < 64; i++)
        assert_true(words[i] == 0);
    blm_free(f);
    o.bits = 64 * 64 + 1;
    assert_status(blm_create(&o, &f, &e), BLM_E_LIMIT);
    check_error(&e, BLM_E_LIMIT, "words");
}

/* Bits past m in the last word are nobody's: counts, equality and files would all trip on them. */
static void bits_past_the_end_of_borrowed_words_are_refused(void **state)
{
    (void)state;
    uint64_t    words[2] = { 0, blm__le64(UINT64_MAX << 36) };
    blm_options o        = BLM_OPTIONS_INIT;
    o.words              = words;
    o.word_count         = 2;
    o.bits               = 100;
    o.probes             = 3;
    blm_filter *f;
    blm_error   e;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "past");
    words[1] = blm__le64(UINT64_MAX >> 28); /* the last 36 of the 100 */
    f        = make(&o);
    assert_true(stats_of(f).ones == 36);
    blm_free(f);
}

static void bad_words_are_refused(void **state)
{
    (void)state;
    uint64_t    words[64] = { 0 };
    blm_options o         = BLM_OPTIONS_INIT;
    blm_filter *f;
    blm_error   e;
    o.probes     = 4;
    o.words      = (uint64_t *)((uintptr_t)words + 4);
    o.word_count = 10;
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "aligned");
    o.words      = words;
    o.word_count = 0;
    assert_status(blm_create(&o, &f, &e), BLM_E_LIMIT);
    o.word_count = UINT64_MAX;
    assert_status(blm_create(&o, &f, &e), BLM_E_LIMIT);
    o.word_count = 64;
    o.kind       = BLM_COUNTING;
    assert_status(blm_create(&o, &f, &e), BLM_E_UNSUPPORTED);
    o.kind = BLM_SCALABLE;
    assert_status(blm_create(&o, &f, &e), BLM_E_UNSUPPORTED);
    /* Nor by the back door. */
    blm_filter *c  = make_flavour(&flavours[7], 10, 0.1, 1);
    blm_options by = BLM_OPTIONS_INIT;
    assert_int_equal(params_of(c).kind, BLM_COUNTING);
    by.like       = c;
    by.words      = words;
    by.word_count = 64;
    assert_status(blm_create(&by, &f, &e), BLM_E_UNSUPPORTED);
    blm_free(c);
}

static void adopted_words_are_freed_with_the_filter(void **state)
{
    (void)state;
    struct meter  m = { .fail_at = UINT64_MAX };
    blm_allocator a = meter_allocator(&m);
    blm_options   o = BLM_OPTIONS_INIT;
    blm_filter   *f;
    blm_error     e;
    o.allocator  = &a;
    o.words      = meter_alloc(&m, 64 * 8);
    o.word_count = 64;
    o.flags      = BLM_ADOPT;
    o.probes     = 4;
    memset(o.words, 0, 64 * 8);
    o.bits = 1000; /* would leave some of them unused */
    assert_status(blm_create(&o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "whole");
    assert_int_equal(m.live, 1); /* a refused adoption takes nothing */
    o.bits = 0;
    f      = make(&o);
    assert_int_equal(params_of(f).backing, BLM_IN_MEMORY);
    assert_status(blm_add(f, "k", 1), BLM_OK);
    blm_free(f);
    assert_int_equal(m.live, 0);
}

/* ---- the allocator ---- */

static void all_memory_comes_from_the_caller_s_allocator(void **state)
{
    (void)state;
    struct key_set s = key_set_make(9, 500);
    EACH_FLAVOUR(v)
    {
        struct meter  m = { .fail_at = UINT64_MAX };
        blm_allocator a = meter_allocator(&m);
        blm_options   o = flavour_options(v, 300, 0.01, 21);
        o.allocator     = &a;
        blm_filter *f   = make(&o);
        memset(&a, 0, sizeof a); /* the struct was copied: only what it points to must live on */
        for (size_t i = 0; i < s.count; i++)
            blm_add(f, s.keys[i].data, s.keys[i].len);
        assert_true(m.live > 1);
        assert_true((uint64_t)m.live_bytes >= params_of(f).bytes);
        blm_free(f);
        assert_int_equal(m.live, 0);
        assert_int_equal(m.live_bytes, 0);
    }
    key_set_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borrowed_words_are_the_filter),
        cmocka_unit_test(borrowed_words_may_be_more_than_needed),
        cmocka_unit_test(bits_past_the_end_of_borrowed_words_are_refused),
        cmocka_unit_test(bad_words_are_refused),
        cmocka_unit_test(adopted_words_are_freed_with_the_filter),
        cmocka_unit_test(all_memory_comes_from_the_caller_s_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
