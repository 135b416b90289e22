/* SPDX-License-Identifier: MIT */
/* States of spill directories that somebody forged: their checksum is right, and what they say is not.
 * Each number in turn; test_spill_damage.c has what chance does to them. */
#include "unit/support.h"

#include "api/disk.h"
#include "api/spill.h"
#include "bloomery/spill.h"
#include "unit/files.h"
#include "unit/fixed.h"

#define KEYS   40u
#define MEMORY 65536u

static char dir[128];

static void empty(void)
{
    char path[512];
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (e->d_name[0] != '.')
            remove(path);
    }
    if (d)
        closedir(d);
    rmdir(dir);
}

static int begin(void **state)
{
    int st = scratch_make(state);
    snprintf(dir, sizeof dir, "%.100s/spill", scratch);
    return st;
}

static int end(void **state)
{
    empty();
    return scratch_remove(state);
}

/* ---- the two sorts of directories ---- */

static blm_status go_on_filling(blm_error *e)
{
    blm_options o  = file_options(BLM_BLOCKED, 1000);
    blm_spill  *s  = NULL;
    blm_status  st = blm_spill_open(dir, &o, MEMORY, &s, e);
    for (uint64_t i = 0; i < KEYS && st == BLM_OK; i++)
        st = blm_spill_add_many(s, &(blm_key){ &i, sizeof i }, 1, e);
    if (st == BLM_OK)
        st = blm_spill_sync(s, e);
    blm_spill_free(s);
    return st;
}

static blm_status go_on_building(blm_error *e)
{
    blm_options  o  = fixed_options(BLM_STATIC, 0.004, 9);
    blm_builder *b  = NULL;
    blm_status   st = blm_builder_open(dir, &o, MEMORY, &b, e);
    for (uint64_t i = 0; i < KEYS && st == BLM_OK; i++)
        st = blm_builder_add_fixed(b, &i, 8, 1);
    if (st == BLM_OK)
        st = blm_builder_sync(b, e);
    blm_builder_free(b);
    return st;
}

/* ---- what they are told ---- */

static const char *state_path(void)
{
    static char path[160];
    snprintf(path, sizeof path, "%s/state", dir);
    return path;
}

/* Writes a state whose checksum is right. */
static void write_state(uint8_t *p, size_t len)
{
    blm__put64le(p + len - 8, blm__checksum(p, len - 8));
    spit(state_path(), p, len);
}

struct row {
    size_t      number; /* of the state's, … */
    uint64_t    is;     /* … and what it says */
    blm_status  want;
    const char *word;
};

static void each_is_refused(blm_status (*go_on)(blm_error *), const struct row *rows, size_t count)
{
    blm_error e = { .text = "" };
    if (go_on(&e) != BLM_OK)
        fail_msg("%s", e.text);
    struct bytes was = slurp(state_path());
    for (size_t i = 0; i < count; i++) {
        uint8_t *p = malloc(was.len);
        memcpy(p, was.p, was.len);
        blm__put64le(p + 8 * rows[i].number, rows[i].is);
        write_state(p, was.len);
        e             = (blm_error){ .text = "" };
        blm_status st = go_on(&e);
        if (st != rows[i].want || !strstr(e.text, rows[i].word))
            fail_msg("number %zu, %llu: %s, \"%s\"; not %s with \"%s\"", rows[i].number,
                     (unsigned long long)rows[i].is, blm_status_name(st), e.text,
                     blm_status_name(rows[i].want), rows[i].word);
        free(p);
    }
    spit(state_path(), was.p, was.len);
    if (go_on(&e) != BLM_OK) /* nothing was spoiled on the way */
        fail_msg("%s", e.text);
    free(was.p);
}

#define DAMAGED BLM_E_CHECKSUM, "state of the spill directory is damaged"
#define VERSION BLM_E_VERSION, "another version"

/* The numbers are those of api/spill_state.c. */
static void forged_states_of_a_filter_that_is_filled(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { 1, 3, VERSION },
        { 6, 0, DAMAGED },  /* words of a part */
        { 6, 12, DAMAGED }, /* no lines */
        { 6, BLM__SPILL_MOST / 8 + 8, DAMAGED },
        { 6, 8, DAMAGED },                    /* not as many parts as that makes */
        { 7, BLM__SPILL_PARTS + 1, DAMAGED }, /* parts */
        { 7, 2, DAMAGED },
        { 11, 3, DAMAGED },                                     /* where the seed is from */
        { 11, UINT64_MAX, BLM_E_MISMATCH, "other parameters" }, /* more than 32 bits */
        { 12, 4, DAMAGED },                                     /* phase */
        { 13, KEYS * 1000, DAMAGED },
        { 15, 2, DAMAGED }, /* filled */
        { 17, BLM__SPILL_LEAST - 1, DAMAGED },
        { 17, BLM__SPILL_LARGE + 1, DAMAGED },
        { 18, UINT64_MAX / 4, DAMAGED }, /* length of the first part */
    };
    each_is_refused(go_on_filling, rows, COUNT_OF(rows));
}

/* … and of api/disk_state.c. */
static void forged_states_of_a_fixed_set(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { 1, 2, VERSION }, /* an older one */
        { 1, 4, VERSION },
        { 5, 3, DAMAGED }, /* where the seed is from */
        { 5, UINT64_MAX, DAMAGED },
        { 6, 9, DAMAGED },                        /* phase */
        { 7, KEYS - 1, DAMAGED },                 /* keys, fewer than its run has */
        { 9, BLM__DISK_RUNS + 1, DAMAGED },       /* runs */
        { 9, 2, DAMAGED },                        /* … which the state does not have */
        { 10, KEYS + 1, DAMAGED },                /* sorted */
        { 12, 2, DAMAGED },                       /* merged */
        { 27, ((uint64_t)1 << 48) + 1, DAMAGED }, /* length of the first run */
    };
    each_is_refused(go_on_building, rows, COUNT_OF(rows));
}

/* Cut, or longer: with a checksum where the end is. */
static void states_of_another_length(void **state)
{
    (void)state;
    static blm_status (*const all[])(blm_error *) = { go_on_filling, go_on_building };
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        blm_error e;
        assert_status(all[i](&e), BLM_OK);
        struct bytes was = slurp(state_path());
        for (size_t len = 0; len < was.len; len++) {
            uint8_t *p = malloc(was.len);
            memcpy(p, was.p, was.len);
            if (len >= 8)
                write_state(p, len);
            else
                spit(state_path(), p, len);
            assert_status(all[i](&e), BLM_E_CHECKSUM);
            check_error(&e, BLM_E_CHECKSUM, "start again");
            free(p);
        }
        bytes_add(&was, "x", 1);
        spit(state_path(), was.p, was.len);
        assert_status(all[i](&e), BLM_E_CHECKSUM);
        free(was.p);
        empty();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(forged_states_of_a_filter_that_is_filled, begin, end),
        cmocka_unit_test_setup_teardown(forged_states_of_a_fixed_set, begin, end),
        cmocka_unit_test_setup_teardown(states_of_another_length, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
