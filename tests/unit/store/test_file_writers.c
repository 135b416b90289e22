/* SPDX-License-Identifier: MIT */
/* One writer of a file, readers beside it, and what a killed process and another boot leave. */
#include "unit/support.h"

#include "unit/files.h"

#include <pthread.h>
#include <sched.h>
#include <time.h>

/* ---- one writer ---- */

static void open_again(void *arg)
{
    blm_error  e  = { .text = "" };
    blm_status st = try_open(at("f"), BLM_WRITE, &e);
    char       pid[32];
    snprintf(pid, sizeof pid, "process %d", (int)*(pid_t *)arg);
    _exit(st == BLM_E_BUSY && strstr(e.text, pid) && strstr(e.text, "/f: ") ? 0 : 1);
}

static void one_writer_at_a_time(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 100);
    blm_filter *f = create_at(at("f"), &o);
    blm_error   e;
    pid_t       me = getpid();
    assert_status(try_open(at("f"), BLM_WRITE, &e), BLM_E_BUSY);
    assert_int_equal(in_child(open_again, &me), 0);
    blm_filter *r = open_at(at("f"), 0);
    assert_int_equal(params_of(r).writer, BLM_WRITER_LIVE);
    assert_status(try_open(at("f"), BLM_WRITE, &e), BLM_E_BUSY); /* a reader more makes no odds */
    close_well(f);
    assert_int_equal(params_of(r).writer, BLM_WRITER_NONE);
    f = open_at(at("f"), BLM_WRITE); /* and a reader does not stand in a writer's way */
    assert_int_equal(in_child(open_again, &me), 0);
    close_well(f);
    blm_free(r);
}

/* One process keeps replacing the file, the other keeps opening it to write: whoever is a writer
 * has the file that has the name, as long as it writes. */
static void replace_for_ever(void *arg)
{
    blm_filter *f = arg;
    for (;;)
        blm_save(f, at("f"), NULL, BLM_REPLACE, NULL);
}

static void a_writer_is_not_replaced(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 100);
    blm_filter *m = make(&o), *f = NULL;
    blm_error   e;
    int         got = 0;
    assert_status(blm_save(m, at("f"), NULL, 0, &e), BLM_OK);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        replace_for_ever(m);
    bool right = true;
    o.flags    = BLM_WRITE;
    for (int i = 0; i < 3000 || (got < 50 && i < 100000); i++) {
        blm_status st = blm_open(at("f"), &o, &f, &e);
        if (st != BLM_OK) {
            right &= st == BLM_E_BUSY;
            continue;
        }
        got++;
        right &= blm__file_same(&f->body, at("f"));
        sched_yield();
        right &= blm__file_same(&f->body, at("f"));
        blm_free(f);
    }
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_true(right);
    assert_true(got >= 50);
    blm_free(m);
}

/* A child that was forked has its parent's handle. Whatever it does with it, the file stays its
 * parent's. */
static void misuse(void *arg)
{
    blm_filter *f   = arg;
    uint64_t    key = 1000000;
    blm_error   e;
    bool        ok = blm_sync(f, &e) == BLM_E_BUSY && blm_clear(f) == BLM_E_READONLY;
    ok &= blm_add(f, &key, sizeof key) == BLM_E_READONLY;
    ok &= blm_add_fixed(f, &key, sizeof key, 1, NULL, NULL) == BLM_E_READONLY;
    ok &= blm_close(f, &e) == BLM_OK;
    _exit(ok ? 0 : 1);
}

/* Two processes that add to one mapping by loads and stores lose each other's bits: so a child adds
 * nothing, and still answers for what its parent adds. */
static void add_beside(void *arg)
{
    blm_filter *f       = arg;
    bool        refused = true;
    for (uint64_t i = 0; i < 200000; i++)
        refused &= blm_add(f, &i, sizeof i) == BLM_E_READONLY;
    _exit(refused && missing(f, 0, 100) == 0 ? 0 : 1);
}

static void children_do_not_add(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        blm_kind    kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING, BLM_SCALABLE };
        blm_options o       = file_options(kinds[kind], 100000);
        blm_filter *f       = create_at(at("f"), &o);
        add_range(f, 0, 100);
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            add_beside(f);
        add_range(f, 100, 100000);
        int status = -1;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        assert_int_equal(missing(f, 0, 100000), 0);
        close_well(f);
        unlink(at("f"));
    }
}

/* A layer that the parent adds is not in the child's handle: not knowing is maybe. */
static void ask_after_growth(void *arg)
{
    struct {
        blm_filter *f;
        int         go;
    } *a = arg;
    char c;
    bool ok = read(a->go, &c, 1) == 1 && missing(a->f, 0, 5000) == 0;
    ok &= blm_refresh(a->f, NULL) == BLM_E_BUSY && missing(a->f, 0, 5000) == 0;
    _exit(ok ? 0 : 1);
}

static void children_do_not_deny_new_layers(void **state)
{
    (void)state;
    struct {
        blm_filter *f;
        int         go;
    } a;
    blm_options o = file_options(BLM_SCALABLE, 100);
    int         fds[2], status = -1;
    assert_int_equal(pipe(fds), 0);
    a.f  = create_at(at("f"), &o);
    a.go = fds[0];
    add_range(a.f, 0, 50);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        ask_after_growth(&a);
    add_range(a.f, 50, 5000);
    assert_true(params_of(a.f).layers > 1);
    assert_int_equal(write(fds[1], "g", 1), 1);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(fds[0]);
    close(fds[1]);
    close_well(a.f);
}

static void a_forked_child_closes_nothing(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_SCALABLE, 100);
    blm_filter *f = create_at(at("f"), &o);
    blm_error   e;
    add_range(f, 0, 300);
    assert_int_equal(in_child(misuse, f), 0);
    blm_filter *r = open_at(at("f"), 0);
    assert_int_equal(params_of(r).writer, BLM_WRITER_LIVE);
    assert_status(try_open(at("f"), BLM_WRITE, &e), BLM_E_BUSY); /* the lock is still there */
    blm_free(r);
    add_range(f, 300, 600);
    close_well(f);
    r = open_at(at("f"), BLM_VERIFY);
    assert_int_equal(missing(r, 0, 600), 0);
    blm_free(r);
}

static uint64_t own_hash(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    (void)ctx;
    return blm__checksum(key, len) ^ seed[0];
}

/* Opened without the hash it needs: refused, and left as it was found. */
static void a_refused_writer_changes_nothing(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 100);
    o.hash        = BLM_HASH_CUSTOM;
    o.hash_fn     = own_hash;
    o.hash_name   = "own";
    blm_filter *f = create_at(at("f"), &o);
    blm_error   e;
    add_range(f, 0, 100);
    close_well(f);
    struct bytes before = slurp(at("f"));
    assert_status(try_open(at("f"), BLM_WRITE, &e), BLM_E_HASH);
    struct bytes after = slurp(at("f"));
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.p, after.p, after.len);
    o.flags = BLM_WRITE;
    f       = NULL;
    assert_status(blm_open(at("f"), &o, &f, &e), BLM_OK);
    assert_int_equal(missing(f, 0, 100), 0);
    close_well(f);
    o = file_options(BLM_SCALABLE, 100);
    close_well(create_at(at("s"), &o));
    assert_status(try_open(at("s"), BLM_WRITE | BLM_SHARED, &e), BLM_E_UNSUPPORTED);
    f = open_at(at("s"), 0);
    assert_int_equal(params_of(f).writer, BLM_WRITER_NONE);
    blm_free(f);
    free(before.p);
    free(after.p);
}

/* ---- readers beside a writer ---- */

struct beside {
    int   to_child[2], from_child[2];
    pid_t pid;
};

static char ask(int fd)
{
    char c;
    return read(fd, &c, 1) == 1 ? c : 0;
}

static void tell(int fd, char c) { assert_int_equal(write(fd, &c, 1), 1); }

/* The child writes: on 'a' 1000 more keys, on 's' a sync, on 'c' clear, on 'q' it closes. */
static void start_writer(struct beside *b, const blm_options *o)
{
    assert_int_equal(pipe(b->to_child), 0);
    assert_int_equal(pipe(b->from_child), 0);
    fflush(NULL);
    b->pid = fork();
    assert_true(b->pid >= 0);
    if (b->pid > 0) {
        assert_int_equal(ask(b->from_child[0]), 'r');
        return;
    }
    close(b->to_child[1]); /* so that the child ends when its parent does, however that ends */
    close(b->from_child[0]);
    blm_filter *f = NULL;
    uint64_t    n = 0;
    if (blm_create_file(at("f"), o, &f, NULL) != BLM_OK)
        _exit(1);
    char c = 'r', ok = 1;
    do {
        if (c == 'a')
            for (uint64_t end = n + 1000; n < end; n++)
                ok &= blm_add(f, &n, 8) >= 0;
        if (c == 's')
            ok &= blm_sync(f, NULL) == BLM_OK;
        if (c == 'c')
            ok &= blm_clear(f) == BLM_OK;
        if (write(b->from_child[1], ok ? &c : "!", 1) != 1)
            _exit(2);
        c = ask(b->to_child[0]);
    } while (c && c != 'q');
    _exit(blm_close(f, NULL) == BLM_OK ? 0 : 3);
}

static void command(struct beside *b, char c)
{
    tell(b->to_child[1], c);
    assert_int_equal(ask(b->from_child[0]), c);
}

static void end_writer(struct beside *b, int signal)
{
    int status;
    if (signal)
        kill(b->pid, signal);
    else
        tell(b->to_child[1], 'q');
    assert_int_equal(waitpid(b->pid, &status, 0), b->pid);
    assert_true(signal ? WIFSIGNALED(status) : status == 0);
    for (int i = 0; i < 2; i++) {
        close(b->to_child[i]);
        close(b->from_child[i]);
    }
}

static void a_reader_sees_the_adds(void **state)
{
    (void)state;
    struct beside b;
    blm_options   o = file_options(BLM_CLASSIC, 10000);
    start_writer(&b, &o);
    blm_filter *r = open_at(at("f"), 0);
    assert_int_equal(params_of(r).writer, BLM_WRITER_LIVE);
    assert_int_equal(missing(r, 0, 1000), 1000);
    command(&b, 'a');
    assert_int_equal(missing(r, 0, 1000), 0);
    blm_verdict v = verdict_of(r, BLM_OK);
    assert_true(v.unverified == v.regions);
    assert_status(blm_refresh(r, NULL), BLM_OK);
    uint64_t items = params_of(r).items;
    assert_true(items >= 990 && items <= 1000); /* without a sync; a few keys were not new */
    command(&b, 's');
    v = verdict_of(r, BLM_OK);
    assert_int_equal(v.good, v.regions);
    /* Saved beside the writer: whole, and closed. */
    command(&b, 'a');
    assert_status(blm_save(r, at("copy"), NULL, 0, NULL), BLM_OK);
    blm_filter *c = open_at(at("copy"), BLM_VERIFY);
    assert_int_equal(missing(c, 0, 2000), 0);
    blm_free(c);
    end_writer(&b, 0);
    assert_int_equal(params_of(r).writer, BLM_WRITER_NONE);
    blm_free(r);
}

/* As `missing`, by one batch of keys that the shortest loops take. */
static uint64_t missing_at_once(const blm_filter *f, uint64_t from)
{
    uint64_t keys[1000];
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        keys[i] = from + i;
    return COUNT_OF(keys) - blm_check_fixed(f, keys, 8, COUNT_OF(keys), NULL);
}

static void a_reader_of_layers_says_maybe_until_it_refreshes(void **state)
{
    (void)state;
    struct beside b;
    blm_options   o = file_options(BLM_SCALABLE, 2000);
    start_writer(&b, &o);
    blm_filter *r = open_at(at("f"), 0), *copy = NULL;
    command(&b, 'a');
    assert_int_equal(missing(r, 0, 1000), 0);
    uint64_t absent = missing(r, 1u << 20, (1u << 20) + 1000);
    assert_true(absent > 950); /* it still answers */
    assert_int_equal(missing_at_once(r, 1u << 20), absent);
    assert_int_equal(params_of(r).layers, 1);
    command(&b, 'a');
    command(&b, 'a'); /* grows */
    assert_int_equal(missing(r, 0, 3000), 0);
    assert_int_equal(missing(r, 1u << 20, (1u << 20) + 1000), 0); /* cannot know: maybe */
    assert_int_equal(missing_at_once(r, 1u << 20), 0);
    assert_status(blm_save(r, at("copy"), NULL, 0, NULL), BLM_E_BUSY);
    assert_status(blm_copy(r, &copy, NULL), BLM_E_BUSY);
    verdict_of(r, BLM_E_BUSY);
    assert_status(blm_refresh(r, NULL), BLM_OK);
    assert_int_equal(params_of(r).layers, 2);
    assert_int_equal(missing(r, 0, 3000), 0);
    assert_true(missing(r, 1u << 20, (1u << 20) + 1000) > 950);
    assert_status(blm_save(r, at("copy"), NULL, 0, NULL), BLM_OK);
    command(&b, 'c'); /* one layer again: the reader's second is gone, but still mapped */
    missing(r, 0, 3000);
    assert_int_equal(missing(r, 1u << 20, (1u << 20) + 1000), 0);
    assert_status(blm_refresh(r, NULL), BLM_OK);
    assert_int_equal(params_of(r).layers, 1);
    assert_int_equal(missing(r, 0, 3000), 3000);
    end_writer(&b, 0);
    blm_free(r);
}

static void readers_open_while_layers_come_and_go(void **state)
{
    (void)state;
    struct beside b;
    blm_options   o = file_options(BLM_SCALABLE, 100);
    start_writer(&b, &o);
    for (int i = 0; i < 60; i++) {
        tell(b.to_child[1], i % 6 == 5 ? 'c' : i % 3 == 1 ? 's' : 'a');
        for (int j = 0; j < 20; j++) { /* meanwhile */
            blm_filter *r = open_at(at("f"), 0);
            missing(r, 0, 10);
            assert_status(blm_refresh(r, NULL), BLM_OK);
            blm_free(r);
        }
        assert_int_equal(ask(b.from_child[0]), i % 6 == 5 ? 'c' : i % 3 == 1 ? 's' : 'a');
    }
    end_writer(&b, 0);
    blm_free(open_at(at("f"), BLM_VERIFY));
}

/* ---- ends that nobody wanted ---- */

static void a_killed_writer_leaves_its_adds(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING, BLM_SCALABLE };
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (int synced = 0; synced < 2; synced++) {
            struct beside b;
            blm_options   o = file_options(kinds[k], kinds[k] == BLM_SCALABLE ? 300 : 5000);
            start_writer(&b, &o);
            command(&b, 'a');
            if (synced)
                command(&b, 's');
            command(&b, 'a');
            end_writer(&b, SIGKILL);

            blm_filter *m = make(&o);
            add_range(m, 0, 2000);
            blm_filter *r = open_at(at("f"), 0);
            assert_int_equal(params_of(r).writer, BLM_WRITER_DIED);
            assert_int_equal(missing(r, 0, 2000), 0);
            assert_true(same_bits(m, r));
            assert_int_equal(params_of(r).items, params_of(m).items);
            assert_int_equal(params_of(r).layers, params_of(m).layers);
            blm_verdict v = verdict_of(r, BLM_OK);
            assert_int_equal(v.writer, BLM_WRITER_DIED);
            assert_true(v.unverified > 0);
            blm_free(r);

            /* The next writer goes on as if nothing had been. */
            blm_filter *f = open_at(at("f"), BLM_WRITE);
            assert_int_equal(params_of(f).writer, BLM_WRITER_DIED);
            add_range(f, 2000, 4000);
            add_range(m, 2000, 4000);
            assert_true(same_bits(m, f));
            assert_status(blm_sync(f, NULL), BLM_OK);
            assert_int_equal(params_of(f).writer, BLM_WRITER_LIVE);
            v = verdict_of(f, BLM_OK);
            assert_int_equal(v.good, v.regions);
            close_well(f);
            f = open_at(at("f"), BLM_VERIFY);
            assert_int_equal(params_of(f).writer, BLM_WRITER_NONE);
            assert_true(same_bits(m, f));
            close_well(f);
            blm_free(m);
            unlink(at("f"));
        }
}

/* In the middle of adds, wherever that is: what was added before the last report is there. */
static void killed_anywhere(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        int         p[2];
        blm_options o =
            file_options(round % 2 ? BLM_SCALABLE : BLM_BLOCKED, round % 2 ? 50 : 100000);
        assert_int_equal(pipe(p), 0);
        fflush(NULL);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            close(p[0]);
            blm_filter *f = NULL;
            if (blm_create_file(at("f"), &o, &f, NULL) != BLM_OK)
                _exit(1);
            for (uint64_t i = 0;; i++)
                if (blm_add(f, &i, 8) < 0 || write(p[1], &i, 8) != 8)
                    _exit(1);
        }
        close(p[1]);
        uint64_t last = 0, n = 0;
        for (int i = 0; i < 50 + 97 * round; i++)
            assert_int_equal(read(p[0], &last, 8), 8);
        kill(pid, SIGKILL);
        while (read(p[0], &n, 8) == 8)
            last = n;
        close(p[0]);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        blm_filter *r = open_at(at("f"), 0);
        assert_int_equal(params_of(r).writer, BLM_WRITER_DIED);
        assert_int_equal(missing(r, 0, last + 1), 0);
        verdict_of(r, BLM_OK);
        blm_free(r);
        unlink(at("f"));
    }
}

/* Of what a shared writer added since its last sync nobody knows the number. That is known for good, of
 * what is made of the file too, until the filter is cleared. */
static bool unclosed(const char *path)
{
    blm_filter *r  = open_at(path, 0);
    bool        is = params_of(r).unclosed;
    blm_free(r);
    return is;
}

static void passed_on(blm_filter *f)
{
    blm_filter *copy = NULL, *other = NULL;
    blm_options o = file_options(BLM_BLOCKED, 5000);
    assert_status(blm_copy(f, &copy, NULL), BLM_OK);
    assert_true(params_of(copy).unclosed);
    assert_status(blm_save(copy, at("copy"), NULL, 0, NULL), BLM_OK);
    assert_true(unclosed(at("copy")));
    other = make(&o);
    assert_false(params_of(other).unclosed);
    assert_status(blm_union(other, f, NULL), BLM_OK);
    assert_true(params_of(other).unclosed);
    blm_free(other);
    other = make(&o);
    assert_status(blm_intersect(other, f, NULL), BLM_OK);
    assert_true(params_of(other).unclosed);
    blm_free(other);
    assert_status(blm_fold(f, 1, &other, NULL), BLM_OK);
    assert_true(params_of(other).unclosed);
    blm_free(other);
    blm_free(copy);
    unlink(at("copy"));
}

/* A reader's words are those of a writer that comes after it, and its count is not. */
static void readers_learn_of_it(void)
{
    struct beside b;
    blm_options   o = file_options(BLM_BLOCKED, 5000);
    close_well(create_at(at("f"), &o));
    blm_filter *r = open_at(at("f"), 0), *copy = NULL, *f = open_at(at("f"), BLM_WRITE);
    blm_params  layer = { .size = sizeof layer };
    assert_false(params_of(f).unclosed); /* it counts */
    assert_true(params_of(r).unclosed);
    assert_status(blm_get_layer(r, 0, &layer), BLM_OK);
    assert_true(layer.unclosed);
    add_range(f, 0, 1000);
    assert_status(blm_copy(r, &copy, NULL), BLM_OK);
    assert_true(params_of(copy).unclosed);
    blm_free(copy);
    assert_status(blm_save(r, at("copy"), NULL, 0, NULL), BLM_OK);
    assert_true(unclosed(at("copy")));
    unlink(at("copy"));
    close_well(f);
    assert_status(blm_refresh(r, NULL), BLM_OK);
    assert_false(params_of(r).unclosed);
    for (unsigned i = 0; i < 2; i++) { /* a writer has come to one of the slots */
        uint64_t slot = blm__native_slot_at(&blm__file_of(&r->body)->head, i);
        flip(at("f"), slot, 1);
        assert_true(params_of(r).unclosed);
        flip(at("f"), slot, 1);
        assert_false(params_of(r).unclosed);
    }
    blm_free(r);
    unlink(at("f"));

    start_writer(&b, &o);
    r = open_at(at("f"), 0);
    assert_true(params_of(r).unclosed);
    end_writer(&b, 0);
    blm_free(r);
    unlink(at("f"));
}

/* … and so are a child's, whose parent goes on. */
static void child_of_writer(void *arg) { _exit(params_of(arg).unclosed ? 0 : 1); }

static void children_learn_of_it(void)
{
    blm_options o = file_options(BLM_BLOCKED, 5000);
    blm_filter *f = create_at(at("f"), &o);
    assert_int_equal(in_child(child_of_writer, f), 0);
    assert_false(params_of(f).unclosed);
    close_well(f);
    unlink(at("f"));
}

static void a_writer_that_did_not_close_is_remembered(void **state)
{
    (void)state;
    struct beside b;
    blm_options   o = file_options(BLM_BLOCKED, 5000);
    o.flags |= BLM_SHARED;
    start_writer(&b, &o);
    command(&b, 'a');
    assert_true(unclosed(at("f"))); /* not yet */
    end_writer(&b, 0);
    assert_false(unclosed(at("f")));
    unlink(at("f"));
    readers_learn_of_it();
    children_learn_of_it();

    start_writer(&b, &o);
    command(&b, 'a');
    end_writer(&b, SIGKILL);
    assert_true(unclosed(at("f")));
    for (int i = 0; i < 2; i++) {
        blm_filter *f = open_at(at("f"), BLM_WRITE);
        assert_int_equal(missing(f, 0, 1000), 0);
        assert_int_equal(params_of(f).items, 0); /* of 1000 */
        assert_true(params_of(f).unclosed);
        if (i == 0)
            passed_on(f);
        close_well(f);
        assert_true(unclosed(at("f")));
    }
    blm_filter *f = open_at(at("f"), BLM_WRITE);
    assert_status(blm_clear(f), BLM_OK);
    assert_false(params_of(f).unclosed);
    close_well(f);
    assert_false(unclosed(at("f")));
}

/* A checksum that is wrong for a moment, as beside a writer who syncs. */
struct moment {
    uint64_t  at; /* of a byte of it */
    bool      writer_comes;
    pthread_t mends;
};

static void *mend(void *arg)
{
    const struct moment *m = arg;
    nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    flip(at("f"), m->at, 1);
    return NULL;
}

static bool at_the_first_region(void *ctx, uint64_t done, uint64_t total)
{
    struct moment *m = ctx;
    (void)total;
    if (done > 0)
        return true;
    if (m->writer_comes)
        close_well(open_at(at("f"), BLM_WRITE));
    flip(at("f"), m->at, 1);
    assert_int_equal(pthread_create(&m->mends, NULL, mend, m), 0);
    return true;
}

static void a_writer_that_comes_while_a_file_is_verified_excuses(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 5000);
    close_well(create_at(at("f"), &o));
    struct bytes  b = slurp(at("f"));
    struct moment m = { .at = blm__get64le(b.p + 3 * (size_t)blm__get32le(b.p + 48) + 104) };
    free(b.p);
    for (int i = 0; i < 2; i++) {
        m.writer_comes = i == 1;
        blm_filter *r  = open_at(at("f"), 0);
        blm_set_progress(r, at_the_first_region, &m);
        verdict_of(r, m.writer_comes ? BLM_OK : BLM_E_CHECKSUM);
        pthread_join(m.mends, NULL);
        blm_free(r);
    }
}

static void another_boot_is_a_crash(void **state)
{
    (void)state;
    struct beside b;
    blm_options   o = large_options();
    start_writer(&b, &o);
    command(&b, 'a');
    command(&b, 's');
    command(&b, 'a');
    end_writer(&b, SIGKILL);
    /* As if the machine had gone down with a region changed on the disk and its mark not. */
    blm_filter *r     = open_at(at("f"), 0);
    uint64_t    marks = blm__file_of(&r->body)->part[0].s.marks_at;
    uint64_t    words = blm__file_of(&r->body)->part[0].s.words_at;
    blm_free(r);
    struct bytes file = slurp(at("f"));
    memset(file.p + marks, 0, 4);
    spit(at("f"), file.p, file.len);

    r = open_at(at("f"), 0);
    assert_int_equal(params_of(r).writer, BLM_WRITER_DIED);
    assert_int_equal(verdict_of(r, BLM_E_CHECKSUM).damaged, 4); /* same boot: marks are exact */
    blm_free(r);
    boot_another();
    r = open_at(at("f"), BLM_VERIFY);
    assert_int_equal(params_of(r).writer, BLM_WRITER_CRASH);
    assert_int_equal(verdict_of(r, BLM_OK).unverified, 4);
    assert_int_equal(missing(r, 0, 1000), 0); /* those before the sync */
    blm_free(r);

    /* A writer of that boot that dies too does not make them damaged. */
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        blm_filter *f   = open_at(at("f"), BLM_WRITE);
        uint64_t    key = 1u << 30;
        blm_add(f, &key, 8);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    r = open_at(at("f"), 0);
    assert_int_equal(params_of(r).writer, BLM_WRITER_DIED);
    assert_int_equal(verdict_of(r, BLM_OK).unverified, 4);
    blm_free(r);

    blm_filter *f = open_at(at("f"), BLM_WRITE);
    assert_status(blm_sync(f, NULL), BLM_OK);
    assert_int_equal(verdict_of(f, BLM_OK).good, 4);
    close_well(f);
    /* From here on a change is damage again. */
    flip(at("f"), words, 1);
    f = open_at(at("f"), 0);
    assert_int_equal(verdict_of(f, BLM_E_CHECKSUM).damaged, 1);
    close_well(f);
    free(file.p);
}

static void without_a_boot_id_it_is_always_a_crash(void **state)
{
    (void)state;
    struct beside b;
    blm_options   o = file_options(BLM_CLASSIC, 1000);
    boot_unknown();
    start_writer(&b, &o);
    command(&b, 'a');
    end_writer(&b, SIGKILL);
    blm_filter *f = open_at(at("f"), 0);
    assert_int_equal(params_of(f).writer, BLM_WRITER_CRASH);
    close_well(f);
    f = open_at(at("f"), BLM_WRITE);
    assert_int_equal(params_of(f).writer, BLM_WRITER_CRASH);
    close_well(f);
    f = open_at(at("f"), 0);
    assert_int_equal(params_of(f).writer, BLM_WRITER_NONE);
    close_well(f);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(one_writer_at_a_time),
        file_test(a_writer_is_not_replaced),
        file_test(a_forked_child_closes_nothing),
        file_test(children_do_not_add),
        file_test(children_do_not_deny_new_layers),
        file_test(a_refused_writer_changes_nothing),
        file_test(a_reader_sees_the_adds),
        file_test(a_reader_of_layers_says_maybe_until_it_refreshes),
        file_test(readers_open_while_layers_come_and_go),
        file_test(a_killed_writer_leaves_its_adds),
        file_test(killed_anywhere),
        file_test(a_writer_that_did_not_close_is_remembered),
        file_test(a_writer_that_comes_while_a_file_is_verified_excuses),
        file_test(another_boot_is_a_crash),
        file_test(without_a_boot_id_it_is_always_a_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
