/* SPDX-License-Identifier: MIT */
/* The note and its directory when the system fails. A guard is opened, built, written to, rebuilt
 * and closed, and one of its system calls fails: the first, the second, … Then the machine may have
 * lost its power. Whatever became of note and file, the next guard has every row that a put
 * acknowledged. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "guards.h"

#define ROWS_PUT 60u

static bool acknowledged[ROWS_PUT];

static blm_guard_options filed(void)
{
    blm_guard_options o = plain();
    o.path              = at("rows.blm");
    o.flags             = BLM_GUARD_MANUAL;
    o.items             = ROWS_PUT;
    return o;
}

static void put_some(blm_guard *g, unsigned from, unsigned to)
{
    char key[32];
    for (unsigned i = from; i < to; i++) {
        key_of(key, i);
        if (blm_guard_put(g, key, strlen(key), "v", 1, NULL) == BLM_OK)
            acknowledged[i] = true;
    }
}

/* All of a session, whatever fails. */
static void live(void)
{
    blm_guard_options o = filed();
    blm_dataset       d = rows_dataset(&rows);
    blm_guard        *g = NULL;
    if (blm_guard_open(&o, &d, &g, NULL) != BLM_OK)
        return;
    put_some(g, 0, 20);
    blm_guard_build(g, NULL);
    put_some(g, 20, 40);
    blm_guard_sync(g, NULL);
    blm_guard_build(g, NULL);
    put_some(g, 40, ROWS_PUT);
    blm_guard_close(g, NULL);
}

static void assert_rows(const char *when, size_t call)
{
    blm_guard *g = open_guard(filed());
    for (unsigned i = 0; i < ROWS_PUT; i++)
        if (acknowledged[i] && get_key(g, i) != BLM_OK)
            fail_msg("%s call %zu (%c), row %u is absent", when, call, os_log.log[call], i);
    close_guard(g);
}

/* Returns how many calls a session makes. */
static size_t with_failure(size_t call, int number, bool power_cut)
{
    memset(acknowledged, 0, sizeof acknowledged);
    blm_guard *g = open_guard(filed());
    assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
    close_guard(g);
    struct bytes old = slurp(at("rows.blm"));
    os_watch(call, number);
    live();
    size_t calls = os_log.calls;
    os_unwatch();
    if (power_cut) { /* of the filter, nothing that came later had reached the disk */
        spit(at("rows.blm"), old.p, old.len);
        boot_another();
    }
    free(old.p);
    assert_rows(power_cut ? "after a power cut and the failure of" : "after the failure of", call);
    os_unwatch();
    unlink(at("rows.blm"));
    unlink(at("rows.blm.guard"));
    unlink(at("rows.blm.next"));
    rows_free(&rows);
    rows_init(&rows, 1u << 10);
    return calls;
}

static void test_every_call_fails_once(void **state)
{
    (void)state;
    static const int numbers[] = { EIO, ENOSPC };
    assert_int_equal(scratch_make(NULL), 0);
    size_t calls = with_failure(SIZE_MAX, 0, false);
    assert_true(calls > 20);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
        for (size_t call = 0; call < calls; call++) {
            with_failure(call, numbers[n], false);
            with_failure(call, numbers[n], true);
        }
    assert_int_equal(scratch_remove(NULL), 0);
}

/* A power cut may leave any part of the line that was being written. */
static void test_a_torn_note(void **state)
{
    (void)state;
    assert_int_equal(scratch_make(NULL), 0);
    memset(acknowledged, 0, sizeof acknowledged);
    live();
    struct bytes old = slurp(at("rows.blm.guard"));
    blm_guard   *g   = open_guard(filed());
    put_some(g, 0, ROWS_PUT);
    struct bytes new = slurp(at("rows.blm.guard"));
    close_guard(g);
    assert_int_equal(old.len, new.len);
    for (size_t cut = 0; cut <= new.len; cut += cut < 256 ? 1 : 64) {
        memcpy(old.p, new.p, cut);
        spit(at("rows.blm.guard"), old.p, old.len);
        assert_rows("with a torn note,", 0);
    }
    free(old.p);
    free(new.p);
    assert_int_equal(scratch_remove(NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { ROWS(test_every_call_fails_once), ROWS(test_a_torn_note) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
