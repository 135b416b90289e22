/* SPDX-License-Identifier: MIT */
/* Ways in which the law was broken once by what became of the files between two sessions of a guard: moved,
 * linked, put back, copied, or written past by another guard. Each test shows one, and fails without its
 * mend. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "law.h"

static void copy_file(const char *from, const char *to)
{
    struct bytes b = slurp(from);
    spit(to, b.p, b.len);
    free(b.p);
}

/* ---- where the file is -------------------------------------------------------------------- */

/* The rebuild used to land in the new directory, and the old file was believed. */
static void test_chdir(void **state)
{
    (void)state;
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(scratch), 0);
    blm_guard *g = open_guard(filed("law.blm"));
    put_keys(g, 0, 100);
    build(g);
    assert_int_equal(mkdir("elsewhere", 0700), 0);
    assert_int_equal(chdir("elsewhere"), 0);
    put_keys(g, 100, 200);
    build(g);
    put_keys(g, 200, 300);
    close_guard(g);
    assert_int_equal(chdir(scratch), 0);
    assert_int_equal(rmdir("elsewhere"), 0); /* nothing was left there */
    g = open_guard(filed("law.blm"));
    assert_true(figures_of(g).trusted);
    assert_int_equal(figures_of(g).generation, 2);
    assert_there(g, 0, 300);
    close_guard(g);
    assert_int_equal(chdir(here), 0);
}

static bool is_link(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
}

/* A rebuild used to replace a link by the file, and to leave the old file where the link led. */
static void test_a_link(void **state)
{
    (void)state;
    char there[300];
    snprintf(there, sizeof there, "%s", at("old"));
    for (int how = 0; how < 3; how++) { /* from the root, from its folder, by another link */
        if (how == 2)
            assert_int_equal(symlink(there, at("mark")), 0);
        const char *to = how == 0 ? there : how == 1 ? "./old" : "mark";
        assert_int_equal(symlink(to, at("law.blm")), 0);
        leave_rows(); /* nothing was there yet */
        assert_true(is_link(at("law.blm")) && !is_link(at("old")));
        blm_guard *g = open_filed();
        assert_true(figures_of(g).trusted);
        put_keys(g, 100, 200);
        build(g);
        close_guard(g);
        assert_true(is_link(at("law.blm")));
        g = open_guard(filed(there)); /* it is the same file by either name */
        assert_true(figures_of(g).trusted);
        assert_int_equal(figures_of(g).generation, 2);
        assert_there(g, 0, 200);
        close_guard(g);
        const char *names[] = { "law.blm", "old", "old.guard", "mark" };
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            unlink(at(names[i]));
    }
}

/* ---- which file it is --------------------------------------------------------------------- */

/* The filter of the session before, beside the note of this one. */
static void test_an_older_file_put_back(void **state)
{
    (void)state;
    leave_rows();
    copy_file(at("law.blm"), at("old"));
    blm_guard *g = open_filed();
    put_keys(g, 100, 200);
    close_guard(g);
    copy_file(at("old"), at("law.blm"));
    g = open_filed();
    assert_false(figures_of(g).trusted);
    assert_there(g, 0, 200);
    close_guard(g);
}

/* … and of another generation. */
static void test_an_older_generation_put_back(void **state)
{
    (void)state;
    leave_rows();
    copy_file(at("law.blm"), at("old"));
    for (int i = 0; i < 2; i++) {
        blm_guard *g = open_filed();
        put_keys(g, 100, 200);
        build(g);
        close_guard(g);
        copy_file(at("old"), at("law.blm"));
        g = open_filed();
        assert_false(figures_of(g).trusted);
        assert_there(g, 0, 200);
        build(g);
        close_guard(g);
    }
}

/* A child that puts, lets its files be copied, puts more and dies. What it did to the data set is
 * done again here. */
static void die_after_copy(void)
{
    blm_guard *g = open_filed();
    nanosleep(&(struct timespec){ 0, 30000000 }, NULL); /* the file's times have ticks */
    put_keys(g, 100, 200);
    copy_file(at("law.blm"), at("old"));
    copy_file(at("law.blm.guard"), at("old.guard"));
    put_keys(g, 200, 300);
    spit(at("mark"), rows.mark, rows.mark_len);
    kill(getpid(), SIGKILL);
}

static void killed_child(void *arg)
{
    (void)arg;
    die_after_copy();
}

static void test_a_copy_of_the_same_session(void **state)
{
    (void)state;
    for (int how = 0; how < 4;
         how++) { /* the copy overwrites, or is renamed; with its note, or not */
        rows.mark_len = 0;
        unlink(at("law.blm"));
        unlink(at("law.blm.guard"));
        leave_rows();
        assert_int_equal(in_child(killed_child, NULL), SIGKILL);
        follow_child(100, 300);
        const char *names[][2] = { { "old", "law.blm" }, { "old.guard", "law.blm.guard" } };
        for (int i = 0; i < 1 + (how & 1); i++)
            if (how & 2)
                assert_int_equal(rename(at(names[i][0]), at(names[i][1])), 0);
            else
                copy_file(at(names[i][0]), at(names[i][1]));
        blm_guard *g = open_filed();
        assert_false(figures_of(g).trusted);
        assert_there(g, 0, 300);
        close_guard(g);
    }
}

/* Nobody set the clock on when a file was changed. */
static uint64_t changed_never(const char *path)
{
    (void)path;
    return 0;
}

/* A copy that is renamed into place is another file: no clock is needed to see that, however soon
 * after the kill it comes. Nor for a note, or for a copy that comes while the guard is open. */
static void test_a_copy_is_another_file(void **state)
{
    (void)state;
    for (int how = 1; how < 4; how++) {
        rows.mark_len = 0;
        unlink(at("law.blm"));
        unlink(at("law.blm.guard"));
        leave_rows();
        assert_int_equal(in_child(killed_child, NULL), SIGKILL);
        follow_child(100, 300);
        if (how & 1)
            assert_int_equal(rename(at("old"), at("law.blm")), 0);
        if (how & 2)
            assert_int_equal(rename(at("old.guard"), at("law.blm.guard")), 0);
        blm__os.changed = changed_never;
        blm_guard *g    = open_filed();
        blm__os         = real_os;
        assert_false(figures_of(g).trusted);
        assert_there(g, 0, 300);
        close_guard(g);
    }
}

static void test_a_copy_comes_while_it_is_open(void **state)
{
    (void)state;
    leave_rows();
    copy_file(at("law.blm"), at("old"));
    blm_guard *g = open_filed();
    put_keys(g, 100, 200);
    assert_int_equal(rename(at("old"), at("law.blm")), 0);
    put_keys(g, 200, 300);
    close_guard(g);
    g = open_filed();
    assert_false(figures_of(g).trusted);
    assert_there(g, 0, 300);
    close_guard(g);
}

/* Untouched, it is believed. */
static void test_a_killed_session(void **state)
{
    (void)state;
    leave_rows();
    assert_int_equal(in_child(killed_child, NULL), SIGKILL);
    follow_child(100, 300);
    blm_guard *g = open_filed();
    assert_true(figures_of(g).trusted);
    assert_there(g, 0, 300);
    close_guard(g);
}

/* A data set that keeps no mark: then only the files can tell. */
static void test_old_files_without_a_mark(void **state)
{
    (void)state;
    for (int restored = 0; restored < 2; restored++) {
        char       path[300];
        blm_guard *g = NULL;
        snprintf(path, sizeof path, "%s/law.blm", scratch);
        blm_guard_options o = filed(path);
        blm_dataset       d = rows_dataset(&rows);
        d.mark_read         = NULL;
        d.mark_write        = NULL;
        assert_int_equal(blm_guard_open(&o, &d, &g, NULL), BLM_OK);
        put_keys(g, 0, 100);
        build(g);
        close_guard(g);
        copy_file(at("law.blm"), at("old"));
        copy_file(at("law.blm.guard"), at("old.guard"));
        assert_int_equal(blm_guard_open(&o, &d, &g, NULL), BLM_OK);
        assert_true(figures_of(g).trusted);
        put_keys(g, 100, 200);
        close_guard(g);
        if (restored) {
            copy_file(at("old"), at("law.blm"));
            copy_file(at("old.guard"), at("law.blm.guard"));
        }
        assert_int_equal(blm_guard_open(&o, &d, &g, NULL), BLM_OK);
        assert_int_equal(figures_of(g).trusted, !restored);
        assert_there(g, 0, 200);
        close_guard(g);
    }
}

/* ---- whose session it was ------------------------------------------------------------------ */

/* A guard in memory, or one with another file, puts rows between two sessions of ours. */
static void test_a_session_in_between(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        leave_rows();
        blm_guard *g =
            open_guard(filed(other ? at("old") : NULL)); /* not built: it never says "open" */
        put_keys(g, 100, 200);
        close_guard(g);
        g = open_filed();
        assert_false(figures_of(g).trusted);
        assert_there(g, 0, 200);
        build(g);
        close_guard(g);
        g = open_filed();
        assert_true(figures_of(g).trusted);
        close_guard(g);
    }
}

/* One that only reads leaves the mark alone. */
static void test_a_reader_in_between(void **state)
{
    (void)state;
    leave_rows();
    blm_guard *g = open_guard(filed(NULL));
    build(g);
    assert_there(g, 0, 100);
    close_guard(g);
    g = open_filed();
    assert_true(figures_of(g).trusted);
    close_guard(g);
}

/* A put is refused as long as the mark cannot be written. */
static void test_no_put_without_a_mark(void **state)
{
    (void)state;
    leave_rows();
    blm_guard *g   = open_guard(filed(NULL));
    rows.fail_mark = true;
    assert_int_equal(blm_guard_put(g, "late", 4, NULL, 0, NULL), BLM_E_IO);
    assert_int_equal(rows.puts, 100);
    rows.fail_mark = false;
    assert_int_equal(blm_guard_put(g, "late", 4, NULL, 0, NULL), BLM_OK);
    close_guard(g);
    g = open_filed();
    assert_false(figures_of(g).trusted);
    assert_int_equal(blm_guard_get(g, "late", 4, NULL, NULL, NULL), BLM_OK);
    close_guard(g);
}

/* While ours is open, another writes: closing must not hide that. */
static void test_a_session_beside_ours(void **state)
{
    (void)state;
    blm_guard *g     = open_with_rows();
    blm_guard *other = open_guard(filed(NULL));
    put_keys(other, 100, 200);
    close_guard(other);
    close_guard(g);
    g = open_filed();
    assert_false(figures_of(g).trusted);
    assert_there(g, 0, 200);
    close_guard(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAW(test_chdir),
        LAW(test_a_link),
        LAW(test_an_older_file_put_back),
        LAW(test_an_older_generation_put_back),
        LAW(test_a_copy_of_the_same_session),
        LAW(test_a_copy_is_another_file),
        LAW(test_a_copy_comes_while_it_is_open),
        LAW(test_a_killed_session),
        LAW(test_old_files_without_a_mark),
        LAW(test_a_session_in_between),
        LAW(test_a_reader_in_between),
        LAW(test_no_put_without_a_mark),
        LAW(test_a_session_beside_ours),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
