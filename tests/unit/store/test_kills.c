/* SPDX-License-Identifier: MIT */
/* Processes that are killed at any moment: while they add, sync, grow, close, replace a file, or
 * build one on disk. Each time the file is opened again, and has every add that had returned; a file
 * that is replaced is the old one or the new one, whole; a build goes on where it was.
 *
 * BLM_KILLS says how many processes die (60; `make kill` has thousands die). */
#include "unit/support.h"

#include <sched.h>

#include "bloomery/fixed.h"
#include "bloomery/spill.h"
#include "unit/files.h"

/* What a process tells its parent, in memory that both have. */
static struct told {
    _Atomic uint64_t steps; /* of any kind; the parent waits for some */
    _Atomic uint64_t done;  /* keys 0 … done − 1 are in; or versions that were saved */
    _Atomic bool     failed;
} * told;

static struct rng rng = { 2026 };
static uint64_t   killed;

static uint64_t kills(void)
{
    const char *n = getenv("BLM_KILLS");
    return n ? strtoull(n, NULL, 10) : 60;
}

/* Runs `job` in a process, over and over, until it has made a few steps, and kills it a moment
 * later. */
static void run_and_kill(void (*job)(void *), void *arg, unsigned most_steps)
{
    fflush(NULL);
    uint64_t wanted = told->steps + rng_below(&rng, most_steps);
    pid_t    pid    = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        for (;;)
            job(arg);
    int status;
    while (told->steps < wanted && !told->failed)
        sched_yield();
    for (uint64_t spin = rng_below(&rng, 20000); spin > 0 && !told->failed; spin--) {
    } /* tens of microseconds at most */
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    killed++;
    assert_false(told->failed);
}

/* In a child: what does not hold is said, and the parent fails the test. */
static void must_(bool holds, int line)
{
    if (holds)
        return;
    fprintf(stderr, "line %d does not hold in a child\n", line);
    told->failed = true;
    _exit(1);
}
#define must(holds) must_((holds), __LINE__)

/* ---- a file that is added to ---- */

struct writing {
    blm_options o;
    const char *path;
    uint64_t    most; /* keys */
    uint64_t    seed;
};

/* Adds the keys that are not in yet, with syncs, closes and keys that come and go in between. */
static void write_on(void *arg)
{
    struct writing *w = arg;
    struct rng      r = { w->seed };
    blm_options     o = BLM_OPTIONS_INIT;
    blm_filter     *f = NULL;
    o.flags           = BLM_WRITE | (w->o.flags & BLM_SHARED);
    must(blm_open(w->path, &o, &f, NULL) == BLM_OK);
    bool removes = w->o.kind == BLM_COUNTING || w->o.kind == BLM_CUCKOO;
    for (uint64_t key = told->done < w->most ? told->done : 0; key < w->most; key++) {
        if (told->done < w->most) {
            must(blm_add(f, &key, sizeof key) >= 0);
            told->done = key + 1;
        }
        told->steps++;
        uint64_t what = rng_below(&r, 64), other = key | (uint64_t)1 << 40;
        if (what < 6)
            must(blm_sync(f, NULL) == BLM_OK);
        if (what == 6) {
            must(blm_close(f, NULL) == BLM_OK);
            must(blm_open(w->path, &o, &f, NULL) == BLM_OK);
        }
        if (removes && what > 32 && blm_add(f, &other, 8) >= 0)
            must(blm_remove(f, &other, 8) == BLM_OK);
    }
    must(blm_close(f, NULL) == BLM_OK);
}

static void check_written(const struct writing *w)
{
    blm_filter *f = open_at(w->path, 0);
    blm_verdict v = { .size = sizeof v };
    blm_error   e = { .text = "" };
    uint64_t n = told->done, from = w->o.kind == BLM_WINDOW && n > w->o.items ? n - w->o.items : 0;
    if (blm_verify(f, &v, &e) != BLM_OK)
        fail_msg("%s after %llu kills: %s", blm_kind_name(w->o.kind), (unsigned long long)killed,
                 e.text);
    uint64_t gone = missing(f, from, n);
    if (gone)
        fail_msg("%s after %llu kills: %llu of %llu keys are gone", blm_kind_name(w->o.kind),
                 (unsigned long long)killed, (unsigned long long)gone, (unsigned long long)n);
    blm_free(f);
}

static void writers_are_killed(void **state)
{
    (void)state;
    static const struct {
        blm_kind kind;
        uint32_t flags;
    } files[] = { { BLM_CLASSIC, 0 },  { BLM_BLOCKED, 0 },  { BLM_BLOCKED, BLM_SHARED },
                  { BLM_COUNTING, 0 }, { BLM_SCALABLE, 0 }, { BLM_WINDOW, 0 },
                  { BLM_CUCKOO, 0 } };
    static char path[512];
    uint64_t    share = kills() / 2 / COUNT_OF(files) + 1;
    for (size_t i = 0; i < COUNT_OF(files); i++)
        for (uint64_t round = 0, fresh = 1; round < share; round++) {
            struct writing w = { .path = path, .most = 3000, .seed = round };
            w.o       = file_options(files[i].kind, files[i].kind == BLM_SCALABLE ? 20 : 4000);
            w.o.items = files[i].kind == BLM_WINDOW ? 400 : w.o.items;
            w.o.flags |= files[i].flags;
            snprintf(path, sizeof path, "%s", at("written"));
            if (fresh) {
                unlink(path);
                close_well(create_at(path, &w.o));
                told->done = 0;
            }
            run_and_kill(write_on, &w, 300);
            check_written(&w);
            fresh = told->done >= w.most;
        }
    unlink(path);
}

/* ---- a file that is replaced ---- */

#define VERSIONS 200u

static blm_filter *version(uint64_t v)
{
    blm_options o = file_options(BLM_BLOCKED, VERSIONS);
    blm_filter *f = NULL;
    blm_create(&o, &f, NULL);
    for (uint64_t i = 0; f && i < v; i++)
        blm_add(f, &i, sizeof i);
    return f;
}

static void replace_on(void *arg)
{
    uint64_t    v = told->done + 1 < VERSIONS ? told->done + 1 : 1; /* and from the beginning */
    blm_filter *f = version(v);
    must(f && blm_save(f, arg, NULL, BLM_REPLACE, NULL) == BLM_OK);
    blm_free(f);
    told->done = v;
    told->steps++;
}

static void replaced_files_are_whole(void **state)
{
    (void)state;
    static char path[512];
    snprintf(path, sizeof path, "%s", at("replaced"));
    for (uint64_t round = 0, share = kills() / 6 + 1; round < share; round++) {
        if (round == 0)
            told->done = 0;
        run_and_kill(replace_on, path, 8);
        if (told->done == 0 && access(path, F_OK) != 0)
            continue;
        blm_filter *f = open_at(path, BLM_VERIFY);
        uint64_t    n = params_of(f).items, next = told->done + 1 < VERSIONS ? told->done + 1 : 1;
        blm_filter *want;
        /* One more may have been saved than was said. */
        assert_true(n == told->done || n == next);
        want = version(n);
        assert_non_null(want);
        assert_true(same_bits(f, want));
        blm_free(want);
        blm_free(f);
        told->done = n;
    }
    unlink(path);
}

/* ---- builds on disk ---- */

#define BUILT 20000u
#define CHUNK 500u

struct building {
    blm_options o;
    bool        spill; /* blm_spill in place of a builder */
    char        dir[512], out[512];
};

static bool step(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    (void)done;
    (void)total;
    told->steps++;
    return true;
}

static void numbers_from(uint64_t *out, uint64_t from)
{
    for (unsigned i = 0; i < CHUNK; i++)
        out[i] = from + i;
}

static void build_on(void *arg)
{
    struct building  *b = arg;
    blm_builder      *w = NULL;
    blm_builder_state s = { .size = sizeof s };
    uint64_t          some[CHUNK];
    must(blm_builder_open(b->dir, &b->o, 65536, &w, NULL) == BLM_OK);
    must(blm_builder_get_state(w, &s) == BLM_OK);
    for (uint64_t from = 0; from < BUILT && !s.building; from += CHUNK) {
        numbers_from(some, from);
        bool out = b->o.kind == BLM_CASCADE && from >= BUILT / 2;
        must((out ? blm_builder_exclude_fixed(w, some, 8, CHUNK)
                  : blm_builder_add_fixed(w, some, 8, CHUNK)) == BLM_OK);
        if (from % (8 * CHUNK) == 0)
            must(blm_builder_sync(w, NULL) == BLM_OK);
        told->steps++;
    }
    must(blm_builder_save(w, b->out, BLM_REPLACE, NULL) == BLM_OK);
    blm_builder_free(w);
    told->steps++;
}

static void spill_on(void *arg)
{
    struct building *b = arg;
    blm_spill       *s = NULL;
    uint64_t         some[CHUNK];
    blm_key          keys[CHUNK];
    must(blm_spill_open(b->dir, &b->o, 65536, &s, NULL) == BLM_OK);
    for (uint64_t from = 0; from < BUILT && !blm_spill_filling(s); from += CHUNK) {
        numbers_from(some, from);
        for (unsigned i = 0; i < CHUNK; i++)
            keys[i] = (blm_key){ &some[i], 8 };
        must(blm_spill_add_many(s, keys, CHUNK, NULL) == BLM_OK);
        if (from % (8 * CHUNK) == 0)
            must(blm_spill_sync(s, NULL) == BLM_OK);
        told->steps++;
    }
    must(blm_spill_finish(s, b->out, BLM_REPLACE, NULL) == BLM_OK);
    blm_spill_free(s);
    told->steps++;
}

static void remove_dir(const char *dir)
{
    DIR *d = opendir(dir);
    char path[1024];
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (unlink(path) != 0)
            remove_dir(path);
    }
    if (d)
        closedir(d);
    rmdir(dir);
}

static void builds_go_on(void **state)
{
    (void)state;
    static const struct {
        blm_kind kind;
        bool     spill;
    } ways[] = {
        { BLM_STATIC, false }, { BLM_CASCADE, false }, { BLM_CLASSIC, false }, { BLM_BLOCKED, true }
    };
    uint64_t share = kills() / 3 / COUNT_OF(ways) + 1;
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct building b    = { .o = file_options(ways[i].kind, BUILT), .spill = ways[i].spill };
        struct bytes    want = { 0 };
        void (*job)(void *)  = b.spill ? spill_on : build_on;
        b.o.items            = b.spill ? BUILT : 0;
        b.o.progress         = step;
        snprintf(b.dir, sizeof b.dir, "%s", at("dir"));
        snprintf(b.out, sizeof b.out, "%s", at("built"));
        assert_int_equal(in_child(job, &b), 0); /* undisturbed */
        want = slurp(b.out);
        unlink(b.out);
        for (uint64_t round = 0; round <= share; round++) {
            if (round == share)
                assert_int_equal(in_child(job, &b), 0);
            else
                run_and_kill(job, &b, 100);
            if (access(b.out, F_OK) != 0)
                continue;
            struct bytes got = slurp(b.out);
            assert_int_equal(got.len, want.len);
            assert_memory_equal(got.p, want.p, want.len);
            free(got.p);
            unlink(b.out);
        }
        remove_dir(b.dir);
        free(want.p);
    }
}

static void all_of_them_died(void **state)
{
    (void)state;
    print_message("%llu processes were killed\n", (unsigned long long)killed);
    assert_true(killed >= kills());
}

static int begin(void **state)
{
    void *map = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    told      = map;
    return map == MAP_FAILED ? -1 : scratch_make(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writers_are_killed),
        cmocka_unit_test(replaced_files_are_whole),
        cmocka_unit_test(builds_go_on),
        cmocka_unit_test(all_of_them_died),
    };
    return cmocka_run_group_tests(tests, begin, scratch_remove);
}
