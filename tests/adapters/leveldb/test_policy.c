/* SPDX-License-Identifier: MIT */
/* The LevelDB policy: filters of some dozen keys at the rate that is promised, in LevelDB's own
 * size, and inside a real database that is closed, reopened and asked again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bloomery/maths.h"
#include "bloomery_leveldb.h"

#define SEED blm_leveldb_seed(BLM_LEVELDB_NAME)

static size_t key_of(uint64_t i, char key[32])
{
    return (size_t)sprintf(key, "user%016llx", (unsigned long long)i);
}

/* Filters of `n` keys: no key is lost; how many of `trials` absent ones pass? */
static double measured(double bits_per_key, size_t n, uint64_t trials)
{
    char        text[128][32];
    const char *keys[128];
    size_t      lens[128];
    uint64_t    passed = 0, asked = 0, next = 0;
    size_t      size   = blm_leveldb_filter_size(bits_per_key, n);
    char       *filter = malloc(size);
    while (asked < trials) {
        for (size_t i = 0; i < n; i++) {
            keys[i] = text[i];
            lens[i] = key_of(next++, text[i]);
        }
        blm_leveldb_filter_make(SEED, bits_per_key, keys, lens, n, filter);
        for (size_t i = 0; i < n; i++)
            assert_true(blm_leveldb_filter_check(SEED, filter, size, keys[i], lens[i]));
        for (unsigned i = 0; i < 500; i++, asked++) {
            char   absent[32];
            size_t len = key_of(asked | (uint64_t)1 << 60, absent);
            passed += blm_leveldb_filter_check(SEED, filter, size, absent, len);
        }
    }
    free(filter);
    return (double)passed / (double)asked;
}

/* The model's rate is the measured one: 2 million questions, five standard deviations. */
static void rate_is_the_models(void **state)
{
    (void)state;
    static const struct {
        double bits;
        size_t keys;
    } cases[] = {
        { 10, 1 }, { 10, 5 }, { 10, 20 }, { 10, 100 }, { 4, 30 }, { 6.5, 30 }, { 16, 30 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double   trials = 2e6;
        const size_t   n      = cases[i].keys;
        const uint64_t bits   = (blm_leveldb_filter_size(cases[i].bits, n) - 1) * 8;
        uint32_t       k;
        blm_rate       r = { .size = sizeof r };
        blm_best_probes(bits, n, &k);
        if (k > 30)
            k = 30;
        assert_int_equal(blm_rate_of(BLM_MODEL_INDEPENDENT, bits, k, 0, n, &r), BLM_OK);
        double seen = measured(cases[i].bits, n, (uint64_t)trials);
        /* 500 questions share a filter, and filters of few keys differ: allow for it. */
        double slack = 5 * __builtin_sqrt(r.value / trials * 4) + 1e-5;
        if (seen > r.value + slack || seen < r.value - slack)
            fail_msg("%g bits, %zu keys: %g, and the model says %g ± %g", cases[i].bits, n, seen,
                     r.value, slack);
    }
}

static void size_is_leveldbs(void **state)
{
    (void)state;
    assert_int_equal(blm_leveldb_filter_size(10, 0), 9);
    assert_int_equal(blm_leveldb_filter_size(10, 1), 9);
    assert_int_equal(blm_leveldb_filter_size(10, 7), 10);
    assert_int_equal(blm_leveldb_filter_size(10, 100), 126);
}

static void bits_for_a_rate(void **state)
{
    (void)state;
    double    b;
    blm_error err;
    assert_int_equal(blm_leveldb_bits(0.01, 0, &b, &err), BLM_OK);
    assert_true(b > 9.5 && b < 10.5);
    assert_true(measured(b, 30, 2000000) < 0.01 * 1.05);
    assert_int_equal(blm_leveldb_bits(0, 0, &b, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_leveldb_bits(1, 0, &b, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_leveldb_bits(1e-30, 0, &b, &err), BLM_E_LIMIT);
    assert_non_null(strstr(err.text, "64"));
}

static void wrong_arguments(void **state)
{
    (void)state;
    char      name[65];
    blm_error err;
    memset(name, 'n', 64);
    name[64] = 0;
    assert_null(blm_leveldb_policy(0.5, NULL, &err));
    assert_int_equal(err.status, BLM_E_ARGUMENT);
    assert_null(blm_leveldb_policy(65, NULL, NULL));
    assert_null(blm_leveldb_policy(10, "", &err));
    assert_null(blm_leveldb_policy(10, name, &err));
    leveldb_filterpolicy_destroy(blm_leveldb_policy(10, name + 1, &err));
}

/* What is no filter of ours is "maybe", whatever its bytes. */
static void foreign_bytes_are_maybe(void **state)
{
    (void)state;
    char bytes[12] = { 0 };
    assert_true(blm_leveldb_filter_check(SEED, NULL, 0, "k", 1));
    assert_true(blm_leveldb_filter_check(SEED, bytes, 1, "k", 1));
    for (int last = -128; last < 128; last++) {
        bytes[11]  = (char)last;
        bool known = last >= 1 && last <= 30;
        assert_int_equal(blm_leveldb_filter_check(SEED, bytes, sizeof bytes, "k", 1), !known);
    }
}

/* The bytes of one filter, so that databases written today are answered tomorrow. */
static void bytes_are_pinned(void **state)
{
    (void)state;
    const char  *keys[] = { "tuesday", "", "\xff\x80key" };
    const size_t lens[] = { 7, 0, 5 };
    char         out[9], hex[19] = { 0 };
    assert_int_equal(blm_leveldb_filter_size(10, 3), sizeof out);
    blm_leveldb_filter_make(SEED, 10, keys, lens, 3, out);
    for (size_t i = 0; i < sizeof out; i++)
        sprintf(hex + 2 * i, "%02x", (unsigned)(uint8_t)out[i]);
    assert_string_equal(hex, "61e1391d4ce7d0c30f");
}

/* … and of a keyed one; and the name that goes with its seed. */
static void keyed_names_are_pinned(void **state)
{
    (void)state;
    const uint64_t seeds[2][2] = { { 1, 2 }, { 1, 3 } };
    char           name[BLM_LEVELDB_NAME_ROOM], other[BLM_LEVELDB_NAME_ROOM];
    assert_int_equal(blm_leveldb_keyed_name(seeds[0], name, NULL), BLM_OK);
    assert_int_equal(blm_leveldb_keyed_name(seeds[1], other, NULL), BLM_OK);
    assert_string_equal(name, "bloomery.classic2.1fe6f4e7c58513f7");
    assert_string_not_equal(name, other);
    assert_null(blm_leveldb_policy_keyed(0, seeds[0], NULL));
}

/* ---- in a database ----------------------------------------------------------------------- */

#define KEYS 20000u

/* name: a policy's, or (one digit) that of a keyed policy's seed. */
static leveldb_t *open_with(const char *path, double bits_per_key, const char *name,
                            leveldb_options_t **o, leveldb_filterpolicy_t **policy)
{
    char    *error   = NULL;
    bool     keyed   = name && name[1] == 0;
    uint64_t seed[2] = { keyed ? (uint64_t)name[0] : 0, 7 };
    *policy          = keyed ? blm_leveldb_policy_keyed(bits_per_key, seed, NULL)
                             : blm_leveldb_policy(bits_per_key, name, NULL);
    assert_non_null(*policy);
    *o = leveldb_options_create();
    leveldb_options_set_create_if_missing(*o, 1);
    leveldb_options_set_filter_policy(*o, *policy);
    leveldb_t *db = leveldb_open(*o, path, &error);
    if (error)
        fail_msg("%s: %s", path, error);
    return db;
}

static void close_all(leveldb_t *db, leveldb_options_t *o, leveldb_filterpolicy_t *policy)
{
    leveldb_close(db);
    leveldb_options_destroy(o);
    leveldb_filterpolicy_destroy(policy);
}

static void ask_all(leveldb_t *db)
{
    leveldb_readoptions_t *ro = leveldb_readoptions_create();
    for (uint64_t i = 0; i < 2 * KEYS; i++) {
        char   key[32], *error = NULL;
        size_t len = key_of(i, key), size = 0;
        char  *value = leveldb_get(db, ro, key, len, &size, &error);
        assert_null(error);
        if ((value != NULL) != (i < KEYS))
            fail_msg("key %llu is %s", (unsigned long long)i, value ? "there" : "lost");
        leveldb_free(value);
    }
    leveldb_readoptions_destroy(ro);
}

static void answers_after_reopening(const char *first)
{
    char path[] = "/tmp/bloomery-leveldb-XXXXXX", *error = NULL;
    assert_non_null(mkdtemp(path));
    leveldb_options_t      *o;
    leveldb_filterpolicy_t *policy;
    leveldb_writeoptions_t *wo = leveldb_writeoptions_create();
    leveldb_t              *db = open_with(path, 10, first, &o, &policy);
    for (uint64_t i = 0; i < KEYS; i++) {
        char   key[32];
        size_t len = key_of(i, key);
        leveldb_put(db, wo, key, len, "value of a hundred bytes or so", 30, &error);
        assert_null(error);
    }
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    ask_all(db);
    close_all(db, o, policy);
    /* The same policy, another number of bits, another name (its filters are not used). */
    static const struct {
        double      bits;
        const char *name;
    } again[] = {
        { 10, NULL }, { 16, NULL }, { 10, "somebody.else1" }, { 10, "1" }, { 16, "1" }, { 10, "2" },
    };
    for (size_t i = 0; i < sizeof again / sizeof *again; i++) {
        db = open_with(path, again[i].bits, again[i].name, &o, &policy);
        ask_all(db);
        close_all(db, o, policy);
    }
    o = leveldb_options_create();
    leveldb_destroy_db(o, path, &error);
    assert_null(error);
    leveldb_options_destroy(o);
    leveldb_writeoptions_destroy(wo);
    rmdir(path);
}

static void database_answers_after_reopening(void **state)
{
    (void)state;
    answers_after_reopening(NULL);
    answers_after_reopening("1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_is_the_models),
        cmocka_unit_test(size_is_leveldbs),
        cmocka_unit_test(bits_for_a_rate),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(foreign_bytes_are_maybe),
        cmocka_unit_test(bytes_are_pinned),
        cmocka_unit_test(keyed_names_are_pinned),
        cmocka_unit_test(database_answers_after_reopening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
