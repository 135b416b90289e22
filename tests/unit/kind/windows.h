/* SPDX-License-Identifier: MIT */
/* What the tests of windows share: windows with a clock that the test turns. */
#ifndef TESTS_KIND_WINDOWS_H
#define TESTS_KIND_WINDOWS_H

#include "bloomery/window.h"

#include "unit/files.h"

static inline uint64_t test_clock(void *ctx) { return *(uint64_t *)ctx; }

static inline blm_options asked(uint64_t items, double rate, uint64_t ms, uint64_t *clock)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_WINDOW;
    o.items       = items;
    o.rate        = rate;
    o.window_ms   = ms;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 7;
    o.clock       = clock ? test_clock : NULL;
    o.clock_ctx   = clock;
    return o;
}

static inline blm_filter *made(const blm_options *o)
{
    blm_filter *f;
    assert_int_equal(blm_create(o, &f, NULL), BLM_OK);
    return f;
}

static inline blm_window window_of(const blm_filter *f)
{
    blm_window w = { .size = sizeof w };
    assert_int_equal(blm_get_window(f, &w), BLM_OK);
    return w;
}

static inline bool has(const blm_filter *f, uint64_t key)
{
    bool one = blm_check(f, &key, 8);
    assert_int_equal(one, blm_check_fixed(f, &key, 8, 1, NULL));
    return one;
}

#endif
