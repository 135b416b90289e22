/* SPDX-License-Identifier: MIT */
/* What the tests of the guard's law share: guards with a file, over one data set, and what became of
 * their rows. Include after support.h and files.h. */
#ifndef TESTS_GUARD_LAW_H
#define TESTS_GUARD_LAW_H

#include "guards.h"

static inline blm_guard_options filed(const char *path)
{
    blm_guard_options o = plain();
    o.path              = path;
    o.flags             = BLM_GUARD_MANUAL;
    return o;
}

static inline blm_guard *open_filed(void) { return open_guard(filed(at("law.blm"))); }

static inline void build(blm_guard *g) { assert_int_equal(blm_guard_build(g, NULL), BLM_OK); }

/* With rows 0 … 99 put, and built. */
static inline blm_guard *open_with_rows(void)
{
    blm_guard *g = open_filed();
    put_keys(g, 0, 100);
    build(g);
    return g;
}

static inline void leave_rows(void) { close_guard(open_with_rows()); }

static inline void assert_there(blm_guard *g, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(get_key(g, i), BLM_OK);
}

static inline blm_guard *open_kind(blm_kind kind, uint32_t flags)
{
    static blm_options filter;
    blm_guard_options  o = filed(at("law.blm"));
    filter               = *o.filter;
    filter.kind          = kind;
    o.filter             = &filter;
    o.items              = 4000;
    o.flags |= flags;
    return open_guard(o);
}

static inline void delete_keys(blm_guard *g, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_int_equal(delete_key(g, i), BLM_OK);
    assert_int_equal(blm_guard_sync(g, NULL), BLM_OK); /* removes what waits */
}

/* A child has put these rows and died, and left its mark in a file: done again here. */
static inline void follow_child(uint64_t from, uint64_t to)
{
    struct bytes mark = slurp(at("mark"));
    memcpy(rows.mark, mark.p, mark.len);
    rows.mark_len = mark.len;
    free(mark.p);
    for (uint64_t i = from; i < to; i++) {
        char      key[32];
        blm_error err;
        key_of(key, i);
        rows_put(&rows, key, strlen(key), NULL, 0, &err);
    }
}

static inline int remove_files(void **state)
{
    const char *names[] = { "law.blm", "law.blm.guard", "old", "old.guard", "mark" };
    blm__os             = real_os;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(at(names[i]));
    return free_rows(state);
}

#define LAW(t) cmocka_unit_test_setup_teardown(t, fresh_rows, remove_files)

#endif
