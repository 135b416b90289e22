/* SPDX-License-Identifier: MIT */
/* What the tests of a guard's calls share: one data set, fresh for each test, guards over it, and
 * keys by number. Include after support.h and files.h. */
#ifndef TESTS_GUARD_GUARDS_H
#define TESTS_GUARD_GUARDS_H

#include "bloomery/guard.h"
#include "rows.h"

static struct rows rows;

static inline void key_of(char out[32], uint64_t i)
{
    snprintf(out, 32, "key-%llu", (unsigned long long)i);
}

static inline blm_guard *open_guard(blm_guard_options o)
{
    blm_guard  *g   = NULL;
    blm_error   err = { .status = BLM_OK };
    blm_dataset d   = rows_dataset(&rows);
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
    return g;
}

static inline blm_guard *open_built(blm_guard_options o)
{
    blm_guard *g = open_guard(o);
    assert_int_equal(blm_guard_wait(g, NULL), BLM_OK);
    return g;
}

static inline void close_guard(blm_guard *g)
{
    blm_error err = { .status = BLM_OK };
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
}

/* With a seed of ours, so that how many wrong keys pass is the same on every run. (The key of the
 * table of absences is always the OS's.) What comes without one: test_seeds_are_secret. */
static inline blm_guard_options plain(void)
{
    static blm_options filter;
    blm_guard_options  o = BLM_GUARD_OPTIONS_INIT;
    filter               = (blm_options)BLM_OPTIONS_INIT;
    filter.kind          = BLM_BLOCKED;
    filter.flags         = BLM_SEEDED;
    filter.seed[0]       = 1;
    o.filter             = &filter;
    o.items              = 1000;
    return o;
}

static inline void put_keys(blm_guard *g, uint64_t from, uint64_t to)
{
    char key[32];
    for (uint64_t i = from; i < to; i++) {
        uint32_t value = (uint32_t)i;
        key_of(key, i);
        assert_int_equal(blm_guard_put(g, key, strlen(key), &value, sizeof value, NULL), BLM_OK);
    }
}

static inline blm_status get_key(blm_guard *g, uint64_t i)
{
    char key[32];
    key_of(key, i);
    return blm_guard_get(g, key, strlen(key), NULL, NULL, NULL);
}

static inline blm_status delete_key(blm_guard *g, uint64_t i)
{
    char key[32];
    key_of(key, i);
    return blm_guard_delete(g, key, strlen(key), NULL);
}

static inline blm_guard_stats figures_of(blm_guard *g)
{
    blm_guard_stats s = { .size = sizeof s };
    assert_int_equal(blm_guard_get_stats(g, &s), BLM_OK);
    return s;
}

static inline int fresh_rows(void **state)
{
    (void)state;
    rows_init(&rows, 1u << 16);
    return 0;
}
static inline int free_rows(void **state)
{
    (void)state;
    rows_free(&rows);
    return 0;
}

/* A test with a data set of its own. */
#define ROWS(t) cmocka_unit_test_setup_teardown(t, fresh_rows, free_rows)

#endif
