/* SPDX-License-Identifier: MIT */
/* Builds on the disk in directories that a user named: his files there are neither written nor
 * removed, and directories of ours are known again, those of earlier versions too. */
#include "bloomery/fixed.h"
#include "bloomery/spill.h"
#include "unit/support.h"

#include "unit/files.h"

#define KEYS   3000u
#define MEMORY 65536u

static const char *const names[] = { "lock",  "state",   "state.new", "fresh",  "words",
                                     "in",    "out",     "pass",      "part.0", "in.0",
                                     "out.0", "level.0", "mine" };

enum way { SPILL, BUILD, WAYS };

static blm_options options(enum way how)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = how == SPILL ? BLM_CLASSIC : BLM_STATIC;
    o.items       = how == SPILL ? KEYS : 0;
    o.rate        = 0.004;
    o.flags       = BLM_SEEDED;
    return o;
}

/* All of it, or only until `stop` keys have come. */
static blm_status run(enum way how, const char *dir, uint64_t stop, const char *path,
                      blm_error *err)
{
    blm_options  o = options(how);
    blm_spill   *s = NULL;
    blm_builder *b = NULL;
    blm_status   st;
    st = how == SPILL ? blm_spill_open(dir, &o, MEMORY, &s, err)
                      : blm_builder_open(dir, &o, MEMORY, &b, err);
    for (uint64_t i = 0; i < stop && st == BLM_OK; i++) {
        blm_key k = { &i, sizeof i };
        st        = s ? blm_spill_add_many(s, &k, 1, err) : blm_builder_add(b, &k, 1);
    }
    if (st == BLM_OK && stop < KEYS)
        st = s ? blm_spill_sync(s, err) : blm_builder_sync(b, err);
    else if (st == BLM_OK)
        st = s ? blm_spill_finish(s, path, BLM_REPLACE, err)
               : blm_builder_save(b, path, BLM_REPLACE, err);
    blm_spill_free(s);
    blm_builder_free(b);
    return st;
}

static bool is_there(const char *path) { return access(path, F_OK) == 0; }

static int entries(const char *dir)
{
    int  n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void assert_has_all(const char *path)
{
    blm_filter *f;
    assert_status(blm_open(path, NULL, &f, NULL), BLM_OK);
    for (uint64_t i = 0; i < KEYS; i++)
        assert_true(blm_check(f, &i, sizeof i));
    blm_free(f);
    unlink(path);
}

static const char *in_dir(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%s", at("dir"), name);
    return path;
}

static void a_users_files_stay_as_they_are(void **state)
{
    (void)state;
    for (enum way how = SPILL; how < WAYS; how++)
        for (size_t i = 0; i < COUNT_OF(names); i++) {
            blm_error err = { .status = BLM_OK };
            assert_int_equal(mkdir(at("dir"), 0700), 0);
            spit(in_dir(names[i]), "a user's own bytes", 18);
            assert_status(run(how, at("dir"), KEYS, at("f"), &err), BLM_E_EXISTS);
            if (!strstr(err.text, "give one that is empty"))
                fail_msg("%s: %s", names[i], err.text);
            struct bytes is = slurp(in_dir(names[i]));
            assert_int_equal(is.len, 18);
            assert_memory_equal(is.p, "a user's own bytes", 18);
            free(is.p);
            assert_int_equal(entries(at("dir")), 1);
            assert_false(is_there(at("f")));
            unlink(in_dir(names[i]));
            assert_int_equal(rmdir(at("dir")), 0);
        }
}

static void a_directory_goes_only_if_we_made_it(void **state)
{
    (void)state;
    for (enum way how = SPILL; how < WAYS; how++)
        for (int given = 0; given < 2; given++)
            for (uint64_t first = 0; first < KEYS; first += KEYS / 2) { /* in two runs */
                blm_error err = { .status = BLM_OK };
                if (given)
                    assert_int_equal(mkdir(at("dir"), 0755), 0);
                assert_status(run(how, at("dir"), first, at("f"), &err), BLM_OK);
                assert_status(run(how, at("dir"), KEYS, at("f"), &err), BLM_OK);
                assert_has_all(at("f"));
                assert_int_equal(is_there(at("dir")), given);
                if (given)
                    assert_int_equal(entries(at("dir")), 0);
                rmdir(at("dir"));
            }
}

/* They had no mark, only a state. Nobody knows who made the directory: it stays, empty. */
static void a_build_of_an_earlier_version_goes_on(void **state)
{
    (void)state;
    for (enum way how = SPILL; how < WAYS; how++) {
        blm_error err = { .status = BLM_OK };
        assert_status(run(how, at("dir"), KEYS / 2, NULL, &err), BLM_OK);
        assert_int_equal(unlink(in_dir("bloomery.made")), 0);
        assert_status(run(how, at("dir"), KEYS, at("f"), &err), BLM_OK);
        assert_has_all(at("f"));
        assert_int_equal(entries(at("dir")), 0);
        rmdir(at("dir"));
    }
}

/* A kill before the first state, or while a directory is removed. */
static void a_mark_alone_is_enough(void **state)
{
    (void)state;
    static const char *const left[] = { NULL,     "lock", "bloomery.lock", "state.new",
                                        "part.0", "in.0", "words",         "in" };
    for (enum way how = SPILL; how < WAYS; how++)
        for (size_t i = 0; i < COUNT_OF(left); i++) {
            blm_error err = { .status = BLM_OK };
            assert_int_equal(mkdir(at("dir"), 0700), 0);
            spit(in_dir("bloomery.made"), "", 0);
            if (left[i])
                spit(in_dir(left[i]), "of a build", 10);
            assert_status(run(how, at("dir"), KEYS, at("f"), &err), BLM_OK);
            assert_has_all(at("f"));
            if (left[i])
                unlink(in_dir(left[i])); /* of another sort of build */
            rmdir(at("dir"));
        }
}

static void what_cannot_be_begun_leaves_nothing(void **state)
{
    (void)state;
    blm_error    err;
    blm_spill   *s;
    blm_builder *b;
    blm_options  o = options(SPILL);
    o.kind         = BLM_COUNTING;
    assert_status(blm_spill_open(at("dir"), &o, MEMORY, &s, &err), BLM_E_UNSUPPORTED);
    assert_false(is_there(at("dir")));
    o.kind = BLM_WINDOW;
    assert_status(blm_builder_open(at("dir"), &o, MEMORY, &b, &err), BLM_E_UNSUPPORTED);
    assert_false(is_there(at("dir")));
    assert_int_equal(mkdir(at("dir"), 0700), 0);
    assert_status(blm_spill_open(at("dir"), &o, MEMORY, &s, &err), BLM_E_UNSUPPORTED);
    assert_int_equal(entries(at("dir")), 0);
    assert_int_equal(rmdir(at("dir")), 0);
}

/* `fresh` says which keys were new. That of a build whose directory was being removed is of other keys. */
static void what_an_earlier_build_left_is_not_counted(void **state)
{
    (void)state;
    blm_error   err = { .status = BLM_OK };
    blm_filter *f;
    blm_params  p = { .size = sizeof p };
    uint8_t     all[KEYS];
    memset(all, 0xff, sizeof all);
    assert_status(run(SPILL, at("dir"), KEYS, at("f"), &err), BLM_OK);
    struct bytes want = slurp(at("f"));
    assert_int_equal(mkdir(at("dir"), 0700), 0);
    spit(in_dir("bloomery.made"), "", 0);
    spit(in_dir("fresh"), all, sizeof all);
    assert_status(run(SPILL, at("dir"), KEYS, at("f"), &err), BLM_OK);
    assert_status(blm_open(at("f"), NULL, &f, &err), BLM_OK);
    assert_status(blm_get_params(f, &p), BLM_OK);
    assert_true(p.items <= KEYS);
    blm_free(f);
    struct bytes got = slurp(at("f"));
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.p, want.p, want.len);
    free(want.p);
    free(got.p);
    unlink(at("f"));
}

static struct stat parent;
static int         parent_synced;

static int watched_sync_dir(const char *path)
{
    struct stat is;
    assert_int_equal(stat(path, &is), 0);
    parent_synced += is.st_dev == parent.st_dev && is.st_ino == parent.st_ino;
    return real_os.sync_dir(path);
}

/* The directory's own name is in another one: a power cut must not take it with all that it has. */
static void a_new_directory_survives_a_power_cut(void **state)
{
    (void)state;
    assert_int_equal(stat(scratch, &parent), 0);
    blm__os.sync_dir = watched_sync_dir;
    for (enum way how = SPILL; how < WAYS; how++)
        for (int slash = 0; slash < 2; slash++) {
            blm_error err = { .status = BLM_OK };
            parent_synced = 0;
            assert_status(run(how, at(slash ? "dir/" : "dir"), KEYS / 2, NULL, &err), BLM_OK);
            assert_int_equal(parent_synced, 1);
            assert_status(run(how, at("dir"), KEYS, at("f"), &err), BLM_OK);
            assert_false(is_there(at("dir")));
            unlink(at("f"));
        }
}

/* Builds of several processes, one after another, in a directory that stays: when one ends, the lock goes,
 * and whoever waited for it has a lock of nothing. */
static void run_often(int process)
{
    char path[600];
    snprintf(path, sizeof path, "%s", at(process == 0 ? "a" : process == 1 ? "b" : "c"));
    for (int i = 0; i < 1500; i++) {
        blm_error   err  = { .status = BLM_OK };
        blm_options o    = options(SPILL);
        blm_spill  *s    = NULL;
        blm_key     k    = { "key", 3 };
        blm_status  st   = blm_spill_open(at("dir"), &o, MEMORY, &s, &err);
        blm_status  busy = st;
        if (st == BLM_OK)
            st = blm_spill_add_many(s, &k, 1, &err);
        if (st == BLM_OK)
            st = blm_spill_finish(s, path, BLM_REPLACE, &err);
        blm_spill_free(s);
        if (st != BLM_OK && busy != BLM_E_BUSY) {
            fprintf(stderr, "%s\n", err.text);
            _exit(1);
        }
    }
    _exit(0);
}

static void one_process_at_a_time(void **state)
{
    (void)state;
    assert_int_equal(mkdir(at("dir"), 0700), 0);
    pid_t child[3];
    int   good = 0;
    for (int i = 0; i < 3; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0)
            run_often(i);
    }
    for (int i = 0; i < 3; i++) {
        int how;
        assert_int_equal(waitpid(child[i], &how, 0), child[i]);
        good += WIFEXITED(how) && WEXITSTATUS(how) == 0;
    }
    assert_int_equal(good, 3);
    assert_int_equal(entries(at("dir")), 0);
}

/* A build of the other sort is under way there: it is not called damaged, for that says to remove it. */
static void a_build_of_another_sort_is_left_alone(void **state)
{
    (void)state;
    for (enum way how = SPILL; how < WAYS; how++) {
        blm_error err = { .status = BLM_OK };
        enum way not  = how == SPILL ? BUILD : SPILL;
        assert_status(run(how, at("dir"), KEYS / 2, NULL, &err), BLM_OK);
        int had = entries(at("dir"));
        assert_status(run(not, at("dir"), KEYS, at("f"), &err), BLM_E_MISMATCH);
        assert_null(strstr(err.text, "remove"));
        assert_int_equal(entries(at("dir")), had);
        assert_status(run(how, at("dir"), KEYS, at("f"), &err), BLM_OK);
        assert_has_all(at("f"));
        assert_false(is_there(at("dir")));
    }
}

/* It would be removed with the other files of that name. */
static void a_filter_is_not_saved_over_our_files(void **state)
{
    (void)state;
    for (enum way how = SPILL; how < WAYS; how++) {
        blm_error err = { .status = BLM_OK };
        assert_status(run(how, at("dir"), KEYS, in_dir(how == SPILL ? "words" : "in"), &err),
                      BLM_E_ARGUMENT);
        assert_non_null(strstr(err.text, "save it under another name"));
        assert_status(run(how, at("dir"), KEYS, in_dir("words.blm"), &err), BLM_OK);
        assert_int_equal(entries(at("dir")), 1);
        assert_has_all(in_dir("words.blm"));
        assert_int_equal(rmdir(at("dir")), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(a_users_files_stay_as_they_are),
        file_test(a_directory_goes_only_if_we_made_it),
        file_test(a_build_of_an_earlier_version_goes_on),
        file_test(a_mark_alone_is_enough),
        file_test(what_cannot_be_begun_leaves_nothing),
        file_test(what_an_earlier_build_left_is_not_counted),
        file_test(a_new_directory_survives_a_power_cut),
        file_test(one_process_at_a_time),
        file_test(a_build_of_another_sort_is_left_alone),
        file_test(a_filter_is_not_saved_over_our_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
