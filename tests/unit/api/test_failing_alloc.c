/* SPDX-License-Identifier: MIT */
/* An allocator that fails at its first call, then at its second, and so on until the operation
 * succeeds; once with only that call failing and once with every one from there on. Each time the
 * answer is E_MEMORY, nothing leaks, and what was there before is as it was. */
#include <unistd.h>

#include "bloomery/delta.h"
#include "bloomery/maths.h"
#include "unit/bytes.h"

struct scene {
    struct meter          m;
    blm_allocator         a;
    const struct flavour *v;
    blm_filter           *f;     /* what the operation works on, or NULL */
    blm_filter           *other; /* what it may need besides */
    blm_filter           *was;   /* a copy of f, before */
    blm_filter           *made;  /* what it gave */
    struct bytes          bytes; /* an encoded filter, or a delta */
    char                  path[64], path2[64];
    blm_error             err;
};

struct operation {
    const char *name;
    bool (*applies)(const struct flavour *v); /* NULL: to all */
    void (*prepare)(struct scene *s);
    blm_status (*run)(struct scene *s);
    bool in_file; /* f lives in a file */
    bool on_disk; /* waits for the disk: half the runs must do */
};

/* ---- pieces of scenes ---- */

static blm_options scene_options(struct scene *s)
{
    blm_options o = flavour_options(s->v, 200, 0.01, 5);
    o.allocator   = &s->a;
    return o;
}

static void add_range(blm_filter *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        assert_true(blm_add(f, &i, 4) >= 0);
}

static void with_keys(struct scene *s)
{
    blm_options o = scene_options(s);
    s->f          = make(&o);
    add_range(s->f, 0, 150);
}

static void with_two(struct scene *s)
{
    with_keys(s);
    blm_options o = scene_options(s);
    s->other      = make(&o);
    add_range(s->other, 100, 250);
}

/* The active layer full, and room for layers used up: the next new key must grow both. */
static void full(struct scene *s)
{
    blm_options o = scene_options(s);
    s->f          = make(&o);
    for (uint32_t i = 0;
         params_of(s->f).items < params_of(s->f).capacity || params_of(s->f).layers < 2; i++)
        assert_true(blm_add(s->f, &i, 4) >= 0);
}

static bool discard(void *ctx, const void *bytes, size_t len)
{
    (void)ctx;
    (void)bytes;
    (void)len;
    return true;
}

static void with_bytes(struct scene *s)
{
    with_keys(s);
    assert_status(blm_encode(s->f, NULL, bytes_add, &s->bytes, NULL), BLM_OK);
}

static void with_delta(struct scene *s)
{
    with_keys(s);
    assert_status(blm_copy(s->f, &s->other, NULL), BLM_OK);
    add_range(s->other, 150, 200);
    assert_status(blm_diff(s->f, s->other, bytes_add, &s->bytes, NULL), BLM_OK);
}

static void saved(struct scene *s)
{
    with_keys(s);
    assert_status(blm_save(s->f, s->path, NULL, BLM_REPLACE, NULL), BLM_OK);
}

static void in_a_file(struct scene *s)
{
    blm_options o = scene_options(s);
    o.flags |= BLM_REPLACE;
    assert_status(blm_create_file(s->path, &o, &s->f, NULL), BLM_OK);
    add_range(s->f, 0, 150);
}

static void full_in_a_file(struct scene *s)
{
    blm_options o = scene_options(s);
    o.flags |= BLM_REPLACE;
    assert_status(blm_create_file(s->path, &o, &s->f, NULL), BLM_OK);
    for (uint32_t i = 0;
         params_of(s->f).items < params_of(s->f).capacity || params_of(s->f).layers < 2; i++)
        assert_true(blm_add(s->f, &i, 4) >= 0);
}

/* ---- operations ---- */

static blm_status run_create(struct scene *s)
{
    blm_options o = scene_options(s);
    return blm_create(&o, &s->made, &s->err);
}
static blm_status run_like(struct scene *s)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.like        = s->f;
    o.flags       = s->v->flags;
    o.allocator   = &s->a;
    return blm_create(&o, &s->made, &s->err);
}
static blm_status run_plan_like(struct scene *s)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_plan    p = { .size = sizeof p };
    o.like        = s->f;
    o.allocator   = &s->a;
    return blm_plan_for(&o, &p, &s->err);
}
static blm_status run_copy(struct scene *s) { return blm_copy(s->f, &s->made, &s->err); }
static blm_status run_fold(struct scene *s) { return blm_fold(s->f, 1, &s->made, &s->err); }
static blm_status run_reduce(struct scene *s) { return blm_reduce(s->f, &s->made, &s->err); }
static blm_status run_union(struct scene *s) { return blm_union(s->f, s->other, &s->err); }
static blm_status run_add(struct scene *s)
{
    s->err.status = BLM_E_MEMORY; /* add has no err */
    for (uint32_t i = 100000;; i++)
        if (!blm_check(s->f, &i, 4))
            return blm_add(s->f, &i, 4);
}
static blm_status run_add_many(struct scene *s)
{
    uint32_t keys[300];
    size_t   done = 0;
    s->err.status = BLM_E_MEMORY;
    for (uint32_t i = 0; i < 300; i++)
        keys[i] = i % 2 ? i : 100000 + i; /* old and new by turns */
    blm_status st = blm_add_fixed(s->f, keys, 4, 300, NULL, &done);
    assert_int_equal(blm_check_fixed(s->f, keys, 4, done, NULL), done);
    if (st != BLM_OK)
        assert_false(blm_check(s->f, &keys[done], 4));
    return st;
}
static blm_status run_encode(struct scene *s)
{
    return blm_encode(s->f, NULL, discard, NULL, &s->err);
}
static blm_status run_decode(struct scene *s)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.allocator   = &s->a;
    return blm_decode(s->bytes.p, s->bytes.len, &o, &s->made, &s->err);
}
static blm_status run_decode_stream(struct scene *s)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.allocator   = &s->a;
    s->bytes.at   = 0;
    return blm_decode_stream(bytes_get, &s->bytes, &o, &s->made, &s->err);
}
static blm_status run_diff(struct scene *s)
{
    return blm_diff(s->f, s->other, discard, NULL, &s->err);
}
static blm_status run_patch(struct scene *s)
{
    s->bytes.at = 0;
    return blm_patch(s->f, bytes_get, &s->bytes, &s->made, &s->err);
}
static blm_status run_save(struct scene *s)
{
    return blm_save(s->f, s->path, NULL, BLM_REPLACE, &s->err);
}
static blm_status run_create_file(struct scene *s)
{
    blm_options o = scene_options(s);
    return blm_create_file(s->path2, &o, &s->made, &s->err);
}
static blm_status open_with(struct scene *s, uint32_t flags)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.allocator   = &s->a;
    o.flags       = flags | (s->v->flags & BLM_SHARED);
    return blm_open(s->path, &o, &s->made, &s->err);
}
static blm_status run_open(struct scene *s) { return open_with(s, 0); }
static blm_status run_open_verified(struct scene *s) { return open_with(s, BLM_VERIFY); }
static blm_status run_open_to_write(struct scene *s) { return open_with(s, BLM_WRITE); }
static blm_status run_save_elsewhere(struct scene *s)
{
    return blm_save(s->f, s->path2, NULL, BLM_REPLACE, &s->err);
}
static blm_status run_sync(struct scene *s) { return blm_sync(s->f, &s->err); }
static blm_status run_verify(struct scene *s)
{
    blm_verdict v = { .size = sizeof v };
    return blm_verify(s->f, &v, &s->err);
}
static bool       stays(const struct flavour *v) { return v->kind != BLM_SCALABLE && is_bits(v); }
static blm_status run_questions(struct scene *s)
{
    blm_stats   st = { .size = sizeof st };
    blm_trial   t  = { .size = sizeof t };
    blm_overlap ov = { .size = sizeof ov };
    uint8_t     print[16];
    double      map[8];
    (void)blm_check(s->f, "k", 1);
    assert_status(blm_get_stats(s->f, &st), BLM_OK);
    assert_status(blm_try_rate(s->f, NULL, 100, 1, &t, NULL), BLM_OK);
    assert_status(blm_fill_map(s->f, map, 8),
                  s->v->kind == BLM_WINDOW ? BLM_E_UNSUPPORTED : BLM_OK);
    assert_status(blm_fingerprint(s->f, print), BLM_OK);
    if (stays(s->v))
        assert_status(blm_compare(s->f, s->f, &ov, NULL), BLM_OK);
    return BLM_OK;
}

static bool grows(const struct flavour *v) { return v->kind == BLM_SCALABLE; }
static bool meets(const struct flavour *v) { return v->kind != BLM_CUCKOO; }
static bool counts(const struct flavour *v) { return v->kind == BLM_COUNTING; }

static const struct operation operations[] = {
    { "create", NULL, NULL, run_create, false, false },
    { "create like", NULL, with_keys, run_like, false, false },
    { "plan like", NULL, with_keys, run_plan_like, false, false },
    { "copy", NULL, with_keys, run_copy, false, false },
    { "fold", stays, with_keys, run_fold, false, false },
    { "reduce", counts, with_keys, run_reduce, false, false },
    { "union", meets, with_two, run_union, false, false },
    { "add that grows", grows, full, run_add, false, false },
    { "batch that grows", grows, full, run_add_many, false, false },
    { "encode", NULL, with_keys, run_encode, false, false },
    { "decode", NULL, with_bytes, run_decode, false, false },
    { "decode a stream", NULL, with_bytes, run_decode_stream, false, false },
    { "diff", NULL, with_delta, run_diff, false, false },
    { "patch", NULL, with_delta, run_patch, false, false },
    { "save", NULL, saved, run_save, false, true },
    { "create a file", NULL, NULL, run_create_file, false, true },
    { "open", NULL, saved, run_open, false, true },
    { "open and verify", NULL, saved, run_open_verified, false, true },
    { "open to write", NULL, saved, run_open_to_write, false, true },
    { "save a file's filter", NULL, in_a_file, run_save_elsewhere, true, true },
    { "sync", NULL, in_a_file, run_sync, true, true },
    { "verify", NULL, in_a_file, run_verify, true, true },
    { "union in a file", meets, in_a_file, NULL, true, true },
    { "add that grows a file", grows, full_in_a_file, run_add, true, true },
    { "questions", NULL, with_keys, run_questions, false, false },
};

/* ---- the test ---- */

static blm_status run_of(const struct operation *op, struct scene *s)
{
    return op->run ? op->run(s) : run_union(s);
}

static void set_up(struct scene *s, const struct operation *op, const struct flavour *v)
{
    memset(s, 0, sizeof *s);
    s->m.fail_at = UINT64_MAX;
    s->a         = meter_allocator(&s->m);
    s->v         = v;
    s->bytes.sip = 1000; /* a stream gives what it has */
    snprintf(s->path, sizeof s->path, "failing_alloc.%ld.blm", (long)getpid());
    snprintf(s->path2, sizeof s->path2, "failing_alloc.%ld.new", (long)getpid());
    unlink(s->path2);
    if (op->prepare)
        op->prepare(s);
    if (op->in_file && !op->run) { /* something to unite with */
        blm_options o = scene_options(s);
        s->other      = make(&o);
        add_range(s->other, 100, 250);
    }
    if (s->f)
        assert_status(blm_copy(s->f, &s->was, NULL), BLM_OK);
}

static void tear_down(struct scene *s)
{
    s->m.fail_at = UINT64_MAX;
    blm_free(s->made);
    blm_free(s->f);
    blm_free(s->other);
    blm_free(s->was);
    free(s->bytes.p);
    assert_int_equal(s->m.live, 0);
    assert_int_equal(s->m.live_bytes, 0);
}

/* One run with allocation i failing. True when the operation did not ask that often. */
static bool survived(const struct operation *op, const struct flavour *v, uint64_t i, bool once)
{
    struct scene s;
    set_up(&s, op, v);
    int64_t  live   = s.m.live;
    uint64_t items  = s.f ? params_of(s.f).items : 0;
    double   rate   = s.f ? params_of(s.f).rate : 0;
    s.m.calls       = 0;
    s.m.fail_at     = i;
    s.m.once        = once;
    blm_status st   = run_of(op, &s);
    bool       done = s.m.calls <= i;
    s.m.fail_at     = UINT64_MAX;
    if (done && st < 0)
        fail_msg("%s, %s: %s although nothing failed: %s", op->name, v->name, blm_status_name(st),
                 s.err.text);
    if (!done && st != BLM_E_MEMORY)
        fail_msg("%s, %s, allocation %d failing: %s", op->name, v->name, (int)i,
                 blm_status_name(st));
    if (!done) {
        assert_int_equal(s.err.status, BLM_E_MEMORY);
        assert_null(s.made);
        if (op->run != run_add_many) {
            assert_int_equal(s.m.live, live);
            assert_true(!s.f || blm_equal(s.f, s.was));
            assert_true(!s.f || params_of(s.f).items == items);
            assert_true(!s.f || params_of(s.f).rate == rate);
        }
        if (op->run == run_create_file || op->run == run_save_elsewhere)
            assert_int_not_equal(access(s.path2, F_OK), 0); /* no half of a file stays */
        /* With memory back, what could not be done can be. */
        st = run_of(op, &s);
        if (st < 0)
            fail_msg("%s, %s: %s when tried again: %s", op->name, v->name, blm_status_name(st),
                     s.err.text);
    }
    tear_down(&s);
    return done;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t o = 0; o < COUNT_OF(operations); o++) {
        uint64_t most = 0;
        EACH_FLAVOUR(v)
        {
            if (operations[o].applies && !operations[o].applies(v))
                continue;
            for (int once = 0; once < 2; once++) {
                uint64_t i = 0;
                if (operations[o].on_disk && (v - flavours) % 2 != once)
                    continue; /* one of the two ways to fail, by turns */
                while (!survived(&operations[o], v, i, once))
                    assert_true(++i < 1000);
                most = i > most ? i : most;
            }
        }
        print_message("%-24s up to %d allocations\n", operations[o].name, (int)most);
    }
}

/* Questions and adds to a filter that need not grow never ask for memory at all. */
static void asking_needs_no_memory(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        struct scene s;
        set_up(&s, &operations[COUNT_OF(operations) - 1], v);
        uint32_t keys[40];
        s.m.calls = 0;
        assert_status(run_questions(&s), BLM_OK);
        for (uint32_t i = 0; i < 40; i++) {
            keys[i] = i;
            (void)blm_add(s.f, &i, 4);
            (void)blm_check(s.f, &i, 4);
            if (v->kind == BLM_COUNTING)
                assert_status(blm_remove(s.f, &i, 4), BLM_OK);
        }
        assert_status(blm_add_fixed(s.f, keys, 4, 40, NULL, NULL), BLM_OK);
        blm_check_fixed(s.f, keys, 4, 40, NULL);
        assert_status(blm_clear(s.f), BLM_OK);
        assert_int_equal(s.m.calls, 0);
        tear_down(&s);
    }
}

static int leave_no_files(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "failing_alloc.%ld.blm", (long)getpid());
    unlink(path);
    snprintf(path, sizeof path, "failing_alloc.%ld.new", (long)getpid());
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(asking_needs_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, leave_no_files);
}
