/* SPDX-License-Identifier: MIT */
/* What a guard's files are worth after each way to end: closed, died, another boot, an old copy,
 * damage; whose they are; and which seed is in them. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "guards.h"

static blm_guard_options filed(void)
{
    blm_guard_options o = plain();
    o.path              = at("guarded.blm");
    o.flags             = BLM_GUARD_MANUAL;
    return o;
}

static blm_guard *open_filed_with(uint64_t keys)
{
    blm_guard *g = open_guard(filed());
    put_keys(g, 0, keys);
    assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
    return g;
}

static void assert_trusted(bool yes, uint64_t keys)
{
    blm_guard *g = open_guard(filed());
    assert_int_equal(figures_of(g).trusted, yes);
    for (uint64_t i = 0; i < keys; i++)
        assert_int_equal(get_key(g, i), BLM_OK);
    uint64_t before = rows.gets;
    assert_int_equal(get_key(g, 123456789), BLM_E_ABSENT);
    if (!yes)
        assert_int_equal(rows.gets, before + 1);
    assert_int_equal(blm_guard_build(g, NULL), BLM_OK); /* to be trusted the next time */
    close_guard(g);
}

static void remove_files(void)
{
    unlink(at("guarded.blm"));
    unlink(at("guarded.blm.guard"));
}

static void test_a_closed_file_is_believed(void **state)
{
    (void)state;
    blm_guard *g = open_filed_with(500);
    put_keys(g, 500, 600);
    uint64_t generation = figures_of(g).generation;
    close_guard(g);
    assert_trusted(true, 600);
    assert_trusted(true, 600);
    g = open_guard(filed());
    assert_int_equal(figures_of(g).generation, generation + 2);
    close_guard(g);
    remove_files();
}

/* The file says what it is, the options leave it open. */
static void test_without_a_kind_too(void **state)
{
    (void)state;
    blm_options       f = BLM_OPTIONS_INIT;
    blm_guard_options o = filed();
    o.filter            = &f;
    for (unsigned time = 0; time < 2; time++) {
        blm_guard *g = open_guard(o);
        assert_int_equal(figures_of(g).trusted, time > 0);
        if (time == 0)
            assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
        close_guard(g);
    }
    remove_files();
}

/* In a child that dies without a word, between put and put. */
static void die_after_puts(uint64_t from, uint64_t to, bool rebuild)
{
    pid_t child = fork();
    if (child == 0) {
        blm_guard *g = open_guard(filed());
        put_keys(g, from, to);
        if (rebuild)
            blm_guard_build(g, NULL);
        FILE *f = fopen(at("mark"), "w");
        fwrite(rows.mark, 1, rows.mark_len, f);
        fclose(f);
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    FILE *f       = fopen(at("mark"), "r");
    rows.mark_len = fread(rows.mark, 1, sizeof rows.mark, f);
    fclose(f);
    unlink(at("mark"));
    for (uint64_t i = from; i < to; i++) {
        char      key[32];
        blm_error err;
        key_of(key, i);
        rows_put(&rows, key, strlen(key), NULL, 0, &err);
    }
}

static void test_a_process_that_died_is_believed(void **state)
{
    (void)state;
    close_guard(open_filed_with(500));
    die_after_puts(500, 700, false);
    assert_trusted(true, 700);
    die_after_puts(700, 720, true);
    assert_trusted(true, 720);
    remove_files();
}

static bool other_boot(uint8_t out[16])
{
    memset(out, 7, 16);
    return true;
}

static void test_another_boot_is_not(void **state)
{
    (void)state;
    close_guard(open_filed_with(500));
    die_after_puts(500, 600, false);
    blm__os.boot_id = other_boot;
    assert_trusted(false, 600);
    assert_trusted(true, 600); /* rebuilt */
    blm__os = real_os;
    assert_trusted(true, 600); /* closed: whatever the boot */
    remove_files();
}

static void test_an_unfinished_build_is_not(void **state)
{
    (void)state;
    close_guard(open_guard(filed())); /* never built */
    assert_trusted(false, 0);
    remove_files();
}

static void copy_file(const char *from, const char *to)
{
    char command[1100];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

/* Yesterday's copy of both files: the data set's mark has moved on. */
static void test_an_old_copy_is_not(void **state)
{
    (void)state;
    close_guard(open_filed_with(500));
    copy_file(at("guarded.blm"), at("old"));
    copy_file(at("guarded.blm.guard"), at("old.guard"));
    blm_guard *g = open_guard(filed());
    put_keys(g, 500, 600);
    close_guard(g);
    copy_file(at("old"), at("guarded.blm"));
    copy_file(at("old.guard"), at("guarded.blm.guard"));
    assert_trusted(false, 600);
    unlink(at("old"));
    unlink(at("old.guard"));
    remove_files();
}

static void test_an_unknown_mark_is_not(void **state)
{
    (void)state;
    close_guard(open_filed_with(100));
    rows.fail_mark = true;
    blm_guard *g   = open_guard(filed());
    assert_false(figures_of(g).trusted);
    rows.fail_mark = false;
    close_guard(g);
    rows.mark_len = 0; /* a data set from a backup without one */
    assert_trusted(false, 100);
    remove_files();
}

static void test_a_damaged_file_is_not(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        close_guard(open_filed_with(100));
        FILE *f = fopen(at(how < 3 ? "guarded.blm" : "guarded.blm.guard"), "r+");
        if (how == 0)
            assert_int_equal(ftruncate(fileno(f), 100), 0);
        else if (how == 1)
            fwrite("damage", 1, 6, f);
        else if (how == 2)
            assert_int_equal(ftruncate(fileno(f), 0), 0);
        else
            fwrite("damage", 1, 6, f);
        fclose(f);
        assert_trusted(false, 100);
        assert_trusted(true, 100);
        remove_files();
    }
}

static void test_other_files_are_left_alone(void **state)
{
    (void)state;
    blm_guard  *g   = NULL;
    blm_error   err = { .status = BLM_OK };
    blm_dataset d   = rows_dataset(&rows);
    FILE       *f   = fopen(at("guarded.blm"), "w");
    fputs("somebody's letters", f);
    fclose(f);
    blm_guard_options o = filed();
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_FORMAT);
    assert_null(g);
    assert_non_null(strstr(err.text, "not a native filter"));
    char text[32] = "";
    f             = fopen(at("guarded.blm"), "r");
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    assert_string_equal(text, "somebody's letters");
    remove_files();
}

/* A file beside it that no guard wrote is not the note, and is not written over. */
static void test_other_notes_are_left_alone(void **state)
{
    (void)state;
    static const size_t lengths[] = { 18, 2000 };
    for (size_t i = 0; i < 2; i++) {
        char              letters[2000];
        blm_guard        *g   = NULL;
        blm_error         err = { .status = BLM_OK };
        blm_dataset       d   = rows_dataset(&rows);
        blm_guard_options o   = filed();
        memset(letters, 'a', sizeof letters);
        spit(at("guarded.blm.guard"), letters, lengths[i]);
        assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_FORMAT);
        assert_null(g);
        assert_non_null(strstr(err.text, "not a guard's note"));
        struct bytes now = slurp(at("guarded.blm.guard"));
        assert_int_equal(now.len, lengths[i]);
        assert_memory_equal(now.p, letters, now.len);
        free(now.p);
        remove_files();
    }
}

/* A device has no bytes, as an empty file has none, and is not to be replaced. (It is ours: if this
 * failed, /dev/null would be gone.) */
static void test_devices_are_left_alone(void **state)
{
    (void)state;
    char              path[] = "/var/tmp/bloomery-device-XXXXXX", note[64];
    blm_guard        *g      = NULL;
    blm_dataset       d      = rows_dataset(&rows);
    blm_guard_options o      = filed();
    struct stat       s;
    int               fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    snprintf(note, sizeof note, "%s.guard", path);
    if (stat("/dev/null", &s) != 0 || mknod(path, S_IFCHR | 0600, s.st_rdev) != 0)
        skip(); /* only root may */
    o.path = path;
    if (blm_guard_open(&o, &d, &g, NULL) == BLM_OK) {
        blm_guard_build(g, NULL);
        blm_guard_close(g, NULL);
    }
    bool left = lstat(path, &s) == 0 && S_ISCHR(s.st_mode);
    unlink(path);
    unlink(note);
    assert_true(left);
    assert_null(g);
}

/* Who gives no seed gets one from the OS, and with every rebuild another (equal by chance: 2^-64). */
static void test_seeds_are_secret(void **state)
{
    (void)state;
    blm_guard_options o = filed();
    o.filter            = NULL;
    blm_guard *g        = open_guard(o);
    uint64_t   seed[3];
    for (int i = 0; i < 3; i++) {
        blm_filter *f = NULL;
        put_keys(g, 100 * (uint64_t)i, 100 * (uint64_t)i + 100);
        assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
        assert_int_equal(blm_open(at("guarded.blm"), NULL, &f, NULL), BLM_OK);
        blm_params p = params_of(f);
        assert_int_equal(p.kind, BLM_BLOCKED);
        assert_int_equal(p.seed_policy, BLM_SEED_RANDOM);
        seed[i] = p.seed[0];
        blm_free(f);
    }
    assert_true(seed[0] != seed[1] && seed[1] != seed[2] && seed[0] != seed[2]);
    for (uint64_t i = 0; i < 300; i++)
        assert_int_equal(get_key(g, i), BLM_OK);
    close_guard(g);
    remove_files();
}

static void test_one_guard_a_file(void **state)
{
    (void)state;
    blm_guard        *g = open_filed_with(10), *second = NULL;
    blm_error         err = { .status = BLM_OK };
    blm_dataset       d   = rows_dataset(&rows);
    blm_guard_options o   = filed();
    assert_int_equal(blm_guard_open(&o, &d, &second, &err), BLM_E_BUSY);
    assert_null(second);
    close_guard(g);
    remove_files();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ROWS(test_a_closed_file_is_believed),  ROWS(test_a_process_that_died_is_believed),
        ROWS(test_without_a_kind_too),         ROWS(test_another_boot_is_not),
        ROWS(test_an_unfinished_build_is_not), ROWS(test_an_old_copy_is_not),
        ROWS(test_an_unknown_mark_is_not),     ROWS(test_a_damaged_file_is_not),
        ROWS(test_other_files_are_left_alone), ROWS(test_other_notes_are_left_alone),
        ROWS(test_devices_are_left_alone),     ROWS(test_seeds_are_secret),
        ROWS(test_one_guard_a_file),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
