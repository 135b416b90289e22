/* SPDX-License-Identifier: MIT */
/* A file that appears whole or not at all. */
#include "unit/support.h"

#include "unit/files.h"

#include "store/replace.h"

static blm_status replace(const char *path, uint32_t flags, const char *text, blm_error *e)
{
    struct blm__temp t;
    blm_status       st = blm__temp_begin(path, flags, &blm__default_allocator, &t, e);
    if (st != BLM_OK)
        return st;
    int why = blm__os.write_at(t.fd, text, strlen(text), 0);
    if (why) {
        blm__temp_abandon(&t);
        return blm__fail_system(e, why, "write");
    }
    return blm__temp_commit(&t, e);
}

static void holds(const char *path, const char *text)
{
    struct bytes b = slurp(path);
    assert_int_equal(b.len, strlen(text));
    assert_memory_equal(b.p, text, b.len);
    free(b.p);
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (unsigned)st.st_mode & 07777;
}

static void new_and_replaced(void **state)
{
    (void)state;
    blm_error e;
    assert_status(replace(at("f"), 0, "one", &e), BLM_OK);
    holds(at("f"), "one");
    assert_status(replace(at("f"), 0, "two", &e), BLM_E_EXISTS);
    holds(at("f"), "one");
    assert_status(replace(at("f"), BLM_REPLACE, "two", &e), BLM_OK);
    holds(at("f"), "two");
    assert_int_equal(scratch_count(), 1);
    assert_status(replace("", 0, "x", &e), BLM_E_ARGUMENT);
    assert_status(replace(at("none/f"), 0, "x", &e), BLM_E_IO);
    assert_int_equal(e.system, ENOENT);
    assert_status(replace(scratch, 0, "x", &e), BLM_E_EXISTS);
    assert_status(replace(scratch, BLM_REPLACE, "x", &e), BLM_E_IO);
    assert_int_equal(e.system, EISDIR);
}

/* A name without a directory, in the current one. */
static void in_here(void *arg)
{
    blm_error e;
    (void)arg;
    if (chdir(scratch) != 0)
        _exit(2);
    _exit(replace("bare", 0, "here", &e) == BLM_OK ? 0 : 1);
}

static void bare_names(void **state)
{
    (void)state;
    assert_int_equal(in_child(in_here, NULL), 0);
    holds(at("bare"), "here");
    assert_int_equal(scratch_count(), 1);
}

static void modes_are_kept(void **state)
{
    (void)state;
    blm_error e;
    mode_t    mask = umask(027);
    assert_status(replace(at("f"), BLM_PUBLIC, "one", &e), BLM_OK);
    assert_int_equal(mode_of(at("f")), 0640);
    assert_status(replace(at("private"), 0, "one", &e), BLM_OK);
    assert_int_equal(mode_of(at("private")), 0600);
    chmod(at("f"), 0604);
    assert_status(replace(at("f"), BLM_REPLACE, "two", &e), BLM_OK);
    assert_int_equal(mode_of(at("f")), 0604);
    umask(mask);
}

static void links_stay_links(void **state)
{
    (void)state;
    blm_error   e;
    struct stat st;
    assert_status(replace(at("real"), 0, "one", &e), BLM_OK);
    assert_int_equal(symlink("real", at("link")), 0);
    assert_status(replace(at("link"), 0, "two", &e), BLM_E_EXISTS);
    assert_status(replace(at("link"), BLM_REPLACE, "two", &e), BLM_OK);
    assert_int_equal(lstat(at("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    holds(at("real"), "two");
    assert_int_equal(symlink("nowhere", at("loose")), 0);
    assert_status(replace(at("loose"), 0, "x", &e), BLM_E_EXISTS);
    assert_status(replace(at("loose"), BLM_REPLACE, "x", &e), BLM_OK);
    holds(at("nowhere"), "x");
    assert_int_equal(lstat(at("loose"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(scratch_count(), 4);
}

/* To a file that is not there, through two links, one of them absolute; and round in a circle. */
static void links_to_links(void **state)
{
    (void)state;
    blm_error   e;
    struct stat st;
    assert_int_equal(mkdir(at("d"), 0700), 0);
    assert_int_equal(symlink("d/second", at("first")), 0);
    assert_int_equal(symlink(at("third"), at("d/second")), 0);
    assert_int_equal(symlink("d/../made", at("third")), 0);
    assert_status(replace(at("first"), BLM_REPLACE, "x", &e), BLM_OK);
    holds(at("made"), "x");
    assert_int_equal(lstat(at("first"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("pong", at("ping")), 0);
    assert_int_equal(symlink("ping", at("pong")), 0);
    assert_status(replace(at("ping"), BLM_REPLACE, "x", &e), BLM_E_IO);
    assert_int_equal(e.system, ELOOP);
    assert_int_equal(symlink("no/such", at("deep")), 0);
    assert_status(replace(at("deep"), BLM_REPLACE, "x", &e), BLM_E_IO);
    assert_int_equal(e.system, ENOENT);
    assert_int_equal(lstat(at("deep"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink(at("d/second"));
    rmdir(at("d"));
}

/* What /dev/stdout is: a link whose target is there and has no name. */
static void links_to_pipes(void **state)
{
    (void)state;
    blm_error   e;
    struct stat st;
    int         ends[2];
    char        proc[64];
    assert_int_equal(pipe(ends), 0);
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", ends[1]);
    if (stat(proc, &st) < 0)
        skip();
    assert_int_equal(symlink(proc, at("out")), 0);
    assert_status(replace(at("out"), 0, "x", &e), BLM_E_EXISTS);
    assert_status(replace(at("out"), BLM_REPLACE, "x", &e), BLM_E_UNSUPPORTED);
    assert_int_equal(lstat(at("out"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(symlink("/dev/null", at("null")), 0);
    assert_status(replace(at("null"), BLM_REPLACE, "x", &e), BLM_E_UNSUPPORTED);
    assert_int_equal(scratch_count(), 2);
    close(ends[0]);
    close(ends[1]);
}

static void not_a_regular_file(void **state)
{
    (void)state;
    blm_error e;
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    assert_status(replace(at("fifo"), 0, "x", &e), BLM_E_EXISTS);
    assert_status(replace(at("fifo"), BLM_REPLACE, "x", &e), BLM_E_UNSUPPORTED);
    assert_int_equal(scratch_count(), 1);
}

/* Between our looking and our renaming. */
static const char *intruder;
static int         rename_late(const char *from, const char *to)
{
    if (intruder) {
        spit(to, intruder, strlen(intruder));
        intruder = NULL;
    }
    return real_os.rename_new(from, to);
}

static void somebody_is_faster(void **state)
{
    (void)state;
    blm_error e;
    blm__os.rename_new = rename_late;
    intruder           = "theirs";
    assert_status(replace(at("f"), 0, "ours", &e), BLM_E_EXISTS);
    holds(at("f"), "theirs");
    assert_int_equal(scratch_count(), 1);
    unlink(at("f"));
    intruder = "theirs";
    assert_status(replace(at("f"), BLM_REPLACE, "ours", &e), BLM_OK);
    holds(at("f"), "ours");
    assert_int_equal(scratch_count(), 1);
}

static void every_call_may_fail(void **state)
{
    (void)state;
    blm_error e;
    for (int over = 0; over < 2; over++)
        for (size_t n = 0;; n++) { /* write, flush, rename, flush the directory */
            if (over)
                spit(at("f"), "old", 3);
            os_watch(n, EIO);
            blm_status st = replace(at("f"), BLM_REPLACE, "new", &e);
            os_unwatch();
            if (st == BLM_OK) {
                assert_int_equal(n, 4);
                assert_string_equal(os_log.log, over ? "wfod" : "wfnd");
                holds(at("f"), "new");
                unlink(at("f"));
                break;
            }
            assert_int_equal(st, BLM_E_IO);
            assert_int_equal(e.system, EIO);
            if (n == 3) { /* the new file is in place, and err says what is not */
                holds(at("f"), "new");
                assert_non_null(strstr(e.text, "directory"));
                unlink(at("f"));
            } else if (over) {
                holds(at("f"), "old");
            }
            assert_int_equal(scratch_count(), n < 3 && over);
        }
}

static void a_live_writer_is_left_alone(void **state)
{
    (void)state;
    blm_error   e;
    blm_options o = BLM_OPTIONS_INIT;
    o.items       = 10;
    o.rate        = 0.1;
    blm_filter *f = create_at(at("f"), &o);
    assert_status(replace(at("f"), BLM_REPLACE, "x", &e), BLM_E_BUSY);
    chmod(at("f"), 0444); /* where we may not lock, we can still look */
    assert_status(replace(at("f"), BLM_REPLACE, "x", &e), BLM_E_BUSY);
    close_well(f);
    assert_status(replace(at("f"), BLM_REPLACE, "x", &e), BLM_OK);
    assert_int_equal(scratch_count(), 1);
}

/* ---- files without a name ---- */

static bool nameless_here(void)
{
    int fd = -1;
    if (real_os.open_nameless(scratch, 0600, &fd) != 0) {
        print_message("no nameless files in %s: not tried\n", scratch);
        return false;
    }
    close(fd);
    return true;
}

static void killed_while_writing(void *path)
{
    struct blm__temp t;
    if (blm__temp_begin(path, BLM_REPLACE, &blm__default_allocator, &t, NULL) != BLM_OK ||
        blm__os.write_at(t.fd, "half", 4, 0) != 0)
        _exit(1);
    raise(SIGKILL);
}

static void a_killed_writer_leaves_nothing(void **state)
{
    (void)state;
    if (!nameless_here())
        return;
    for (int over = 0; over < 2; over++) {
        if (over)
            spit(at("f"), "old", 3);
        assert_true(WIFSIGNALED(in_child(killed_while_writing, (void *)(uintptr_t)at("f"))));
        assert_int_equal(scratch_count(), over);
    }
    holds(at("f"), "old");
}

/* So does one that saves a filter, in our format and in another one, or makes a file. */
static int stop_here(int fd)
{
    (void)fd;
    raise(SIGKILL);
    return EIO;
}

static void killed_while_saving(void *format)
{
    blm_options o     = BLM_OPTIONS_INIT;
    o.items           = 1000;
    o.rate            = 0.01;
    o.scheme          = format && strcmp(format, "go") == 0 ? "go" : NULL;
    blm_filter *f     = make(&o);
    blm__os.sync_file = stop_here;
    if (format)
        blm_save(f, at("f"), format, 0, NULL);
    else
        blm_create_file(at("f"), &o, &f, NULL);
}

static void a_killed_save_leaves_nothing(void **state)
{
    (void)state;
    static const char *const formats[] = { "native", "go", NULL };
    for (size_t i = 0; nameless_here() && i < COUNT_OF(formats); i++) {
        int status = in_child(killed_while_saving, (void *)(uintptr_t)formats[i]);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(scratch_count(), 0);
    }
}

static int names_given, name_trouble;
static int give_name_later(int fd, const char *path)
{
    return names_given++ < 3 ? name_trouble : real_os.give_name(fd, path);
}

/* A name that is taken is not the end; anything else is, and nothing is left. */
static void a_name_may_be_refused(void **state)
{
    (void)state;
    blm_error e;
    if (!nameless_here())
        return;
    spit(at("f"), "old", 3);
    blm__os.give_name = give_name_later;
    name_trouble      = ENOSPC;
    names_given       = 0;
    assert_status(replace(at("f"), BLM_REPLACE, "new", &e), BLM_E_SPACE);
    check_error(&e, BLM_E_SPACE, "no space");
    assert_int_equal(names_given, 1);
    holds(at("f"), "old");
    assert_int_equal(scratch_count(), 1);
    name_trouble = EEXIST;
    names_given  = 0;
    assert_status(replace(at("f"), BLM_REPLACE, "new", &e), BLM_OK);
    assert_int_equal(names_given, 4);
    holds(at("f"), "new");
    assert_int_equal(scratch_count(), 1);
}

/* A file of another owner stays his, but it is ours until it has its name: the system may refuse to
 * link what is somebody else's. */
static int give_name_to_ours(int fd, const char *path)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_uid, geteuid());
    names_given++;
    return real_os.give_name(fd, path);
}

static void an_owner_is_kept(void **state)
{
    (void)state;
    blm_error   e;
    struct stat st;
    spit(at("f"), "old", 3);
    if (chown(at("f"), 1234, 4321) != 0) {
        print_message("we may not give files away: not tried\n");
        return;
    }
    chmod(at("f"), 0640);
    blm__os.give_name = give_name_to_ours;
    names_given       = 0;
    assert_status(replace(at("f"), BLM_REPLACE, "new", &e), BLM_OK);
    blm__os.give_name = real_os.give_name;
    assert_int_equal(names_given, nameless_here());
    holds(at("f"), "new");
    assert_int_equal(stat(at("f"), &st), 0);
    assert_int_equal(st.st_uid, 1234);
    assert_int_equal(st.st_gid, 4321);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(scratch_count(), 1);
}

/* The same laws where the file system has no nameless files. */
static struct blm__os whole_os;
static int            none_nameless(const char *dir, unsigned mode, int *fd)
{
    (void)dir;
    (void)mode;
    (void)fd;
    return EOPNOTSUPP;
}

static int scratch_make_named(void **state)
{
    whole_os              = blm__os;
    blm__os.open_nameless = none_nameless;
    return scratch_make(state); /* takes what there is for the real one */
}

static int scratch_remove_named(void **state)
{
    int bad = scratch_remove(state);
    blm__os = whole_os;
    return bad;
}

static void a_name_while_it_is_written(void **state)
{
    (void)state;
    struct blm__temp t;
    blm_error        e;
    assert_status(blm__temp_begin(at("f"), 0, &blm__default_allocator, &t, &e), BLM_OK);
    assert_int_equal(scratch_count(), 1);
    blm__temp_abandon(&t);
    assert_int_equal(scratch_count(), 0);
}

static void no_memory_for_names(void **state)
{
    (void)state;
    struct meter     m = { .fail_at = 0 };
    blm_allocator    a = meter_allocator(&m);
    struct blm__temp t;
    blm_error        e;
    assert_status(blm__temp_begin(at("f"), 0, &a, &t, &e), BLM_E_MEMORY);
    blm__temp_abandon(&t); /* nothing was begun */
    assert_int_equal(scratch_count(), 0);
}

#define named_test(f) cmocka_unit_test_setup_teardown(f, scratch_make_named, scratch_remove_named)

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(new_and_replaced),
        file_test(bare_names),
        file_test(modes_are_kept),
        file_test(links_stay_links),
        file_test(links_to_links),
        file_test(links_to_pipes),
        file_test(not_a_regular_file),
        file_test(somebody_is_faster),
        file_test(every_call_may_fail),
        file_test(a_live_writer_is_left_alone),
        file_test(no_memory_for_names),
        file_test(a_killed_writer_leaves_nothing),
        file_test(a_name_may_be_refused),
        file_test(a_killed_save_leaves_nothing),
        named_test(new_and_replaced),
        named_test(bare_names),
        named_test(modes_are_kept),
        named_test(links_stay_links),
        named_test(links_to_links),
        named_test(links_to_pipes),
        named_test(somebody_is_faster),
        named_test(every_call_may_fail),
        named_test(a_name_while_it_is_written),
        file_test(an_owner_is_kept),
        named_test(an_owner_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
