/* SPDX-License-Identifier: MIT */
/* What the tests of fixed filters share: keys that are numbers, and filters built from them. */
#ifndef BLM_UNIT_FIXED_H
#define BLM_UNIT_FIXED_H

#include "bloomery/fixed.h"
#include "unit/support.h"

/* `n` numbers of eight bytes: from, from + 1, … */
static inline uint64_t *numbers(uint64_t from, size_t n)
{
    uint64_t *k = malloc((n + 1) * sizeof *k);
    assert_non_null(k);
    for (size_t i = 0; i < n; i++)
        k[i] = from + i;
    return k;
}

static inline blm_options fixed_options(blm_kind kind, double rate, uint64_t seed)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = kind;
    o.rate        = rate;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = seed;
    return o;
}

static inline blm_builder *builder_of(const blm_options *o)
{
    blm_builder *b = NULL;
    blm_error    e = { .status = BLM_OK };
    if (blm_builder_new(o, &b, &e) != BLM_OK)
        fail_msg("builder: %s", e.text);
    return b;
}

static inline blm_filter *build_and_free(blm_builder *b)
{
    blm_filter *f = NULL;
    blm_error   e = { .status = BLM_OK };
    if (blm_builder_build(b, &f, &e) != BLM_OK)
        fail_msg("build: %s", e.text);
    blm_builder_free(b);
    return f;
}

/* Numbers 0 … in − 1 included, the `out` after them excluded. */
static inline blm_filter *fixed_of(const blm_options *o, size_t in, size_t out)
{
    blm_builder *b = builder_of(o);
    uint64_t    *k = numbers(0, in + out);
    assert_status(blm_builder_add_fixed(b, k, 8, in), BLM_OK);
    if (out)
        assert_status(blm_builder_exclude_fixed(b, k + in, 8, out), BLM_OK);
    free(k);
    return build_and_free(b);
}

/* Of the `n` numbers from `from` on, how many are answered "maybe". */
static inline size_t maybes(const blm_filter *f, uint64_t from, size_t n)
{
    uint64_t *k    = numbers(from, n);
    size_t    hits = blm_check_fixed(f, k, 8, n, NULL);
    free(k);
    return hits;
}

static inline blm_fixed facts_of(const blm_filter *f)
{
    blm_fixed x = { .size = sizeof x };
    assert_status(blm_get_fixed(f, &x), BLM_OK);
    return x;
}

#endif
