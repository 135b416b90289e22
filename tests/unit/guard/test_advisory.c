/* SPDX-License-Identifier: MIT */
/* A file that an advisory guard had open, and the next guard is not advisory: it must not rely on what
 * the filter lacks. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "law.h"

/* An advisory guard spares a put's add if the filter says "maybe", whoever is the cause; and others
 * write past it. Neither matters as long as nothing is removed. The next guard removes. */
static void test_an_advisory_session_before(void **state)
{
    (void)state;
    blm_kind kinds[] = { BLM_CUCKOO, BLM_COUNTING, BLM_BLOCKED };
    for (int kind = 0; kind < 3; kind++) {
        blm_guard *g = open_kind(kinds[kind], BLM_GUARD_ADVISORY);
        put_keys(g, 20000, 20010);
        build(g);
        put_keys(g, 0, 2000);
        put_keys(g, 10000, 11000);
        for (uint64_t i = 30000; i < 34000; i++) { /* others do */
            char      key[32];
            blm_error err;
            key_of(key, i);
            rows_put(&rows, key, strlen(key), NULL, 0, &err);
        }
        close_guard(g);
        g = open_kind(kinds[kind], BLM_GUARD_ADVISORY); /* one that is as modest goes on with it */
        assert_true(figures_of(g).trusted);
        close_guard(g);
        g = open_kind(kinds[kind], 0);
        assert_false(figures_of(g).trusted);
        delete_keys(g, 0, 2000);
        delete_keys(g, 30000, 34000);
        assert_there(g, 10000, 11000);
        build(g);
        close_guard(g);
        g = open_kind(kinds[kind], 0); /* built since by one that is not advisory */
        assert_true(figures_of(g).trusted);
        delete_keys(g, 10000, 11000);
        assert_there(g, 20000, 20010);
        close_guard(g);
        unlink(at("law.blm"));
        unlink(at("law.blm.guard"));
    }
}

/* … also if it was killed. */
static void advisory_child(void *arg)
{
    (void)arg;
    blm_guard *g = open_kind(BLM_CUCKOO, BLM_GUARD_ADVISORY);
    put_keys(g, 100, 200);
    spit(at("mark"), rows.mark, rows.mark_len);
    kill(getpid(), SIGKILL);
}

static void test_a_killed_advisory_session(void **state)
{
    (void)state;
    for (int advisory = 0; advisory < 2; advisory++) {
        blm_guard *g = open_kind(BLM_CUCKOO, 0);
        build(g);
        close_guard(g);
        assert_int_equal(in_child(advisory_child, NULL), SIGKILL);
        follow_child(100, 200);
        g = open_kind(BLM_CUCKOO, advisory ? BLM_GUARD_ADVISORY : 0);
        assert_int_equal(figures_of(g).trusted, advisory);
        assert_there(g, 100, 200);
        close_guard(g);
    }
}

/* A note of version 2 does not say whether a guard was advisory: then one was, if that can matter. */
static void test_an_older_note(void **state)
{
    (void)state;
    blm_kind kinds[] = { BLM_CUCKOO, BLM_COUNTING, BLM_BLOCKED };
    for (int kind = 0; kind < 3; kind++)
        for (int advisory = 0; advisory < 2; advisory++) {
            blm_guard *g = open_kind(kinds[kind], 0);
            put_keys(g, 0, 100);
            build(g);
            close_guard(g);
            struct bytes note  = slurp(at("law.blm.guard"));
            char        *line  = (char *)note.p;
            char        *words = strstr(line, " closed all ");
            assert_non_null(words);
            line[strlen("bloomery-guard ")] = '2';
            words += strlen(" closed");
            memmove(words, words + 4, (size_t)(line + 255 - words) - 4);
            spit(at("law.blm.guard"), note.p, note.len);
            free(note.p);
            g = open_kind(kinds[kind], advisory ? BLM_GUARD_ADVISORY : 0);
            assert_int_equal(figures_of(g).trusted, advisory || kinds[kind] == BLM_BLOCKED);
            assert_there(g, 0, 100);
            close_guard(g);
            unlink(at("law.blm"));
            unlink(at("law.blm.guard"));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAW(test_an_advisory_session_before),
        LAW(test_a_killed_advisory_session),
        LAW(test_an_older_note),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
