/* SPDX-License-Identifier: MIT */
/* Files whose adds move what earlier ones wrote: a writer that is killed, and readers beside it. And
 * the same moves inside one process, between threads. test_file_undo.c has power cuts. */
#include "unit/support.h"

#include <pthread.h>
#include <stdatomic.h>

#include "api/filter.h"
#include "unit/files.h"

#define KEYS 20000u /* nearly all that the filter takes: every add moves others at the end */

static blm_options options(uint32_t flags)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_CUCKOO;
    o.items       = KEYS;
    o.rate        = 0.01;
    o.flags       = flags | BLM_SEEDED;
    return o;
}

static blm_filter *open_it(uint32_t flags)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.flags       = flags;
    blm_filter *f = NULL;
    blm_error   e = { .text = "" };
    if (blm_open(at("f"), &o, &f, &e) != BLM_OK)
        fail_msg("open: %s", e.text);
    return f;
}

static void a_file_is_written_closed_and_read(void **state)
{
    (void)state;
    for (unsigned grows = 0; grows < 2; grows++) {
        blm_options o = options(BLM_REPLACE);
        blm_filter *f, *g;
        o.growth = grows ? 2 : 0;
        o.items  = grows ? KEYS / 10 : KEYS;
        assert_status(blm_create_file(at("f"), &o, &f, NULL), BLM_OK);
        for (uint64_t i = 0; i < KEYS; i++)
            assert_true(blm_add(f, &i, 8) >= 0);
        assert_status(blm_sync(f, NULL), BLM_OK);
        assert_int_equal(verdict_of(f, BLM_OK).damaged, 0);
        assert_status(blm_copy(f, &g, NULL), BLM_OK);
        close_well(f);
        f = open_it(BLM_VERIFY);
        assert_true(blm_equal(f, g) && params_of(f).items == KEYS);
        assert_int_equal(missing(f, 0, KEYS), 0);
        blm_free(f);
        f = open_it(BLM_WRITE);
        for (uint64_t i = 0; i < KEYS; i += 2)
            assert_status(blm_remove(f, &i, 8), BLM_OK);
        close_well(f);
        struct bytes b = slurp(at("f"));
        assert_status(blm_decode(b.p, b.len, NULL, &f, NULL), BLM_OK);
        for (uint64_t i = 1; i < KEYS; i += 2)
            assert_true(blm_check(f, &i, 8));
        assert_true(params_of(f).items == KEYS / 2);
        blm_free(f);
        blm_free(g);
        free(b.p);
    }
}

/* ---- a killed writer ---- */

/* What a child tells its parent: how many keys are in. */
static _Atomic uint64_t *shared_count(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

static pid_t start_adding(_Atomic uint64_t *done)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid)
        return pid;
    blm_filter *f = NULL;
    blm_options o = options(BLM_REPLACE);
    if (blm_create_file(at("f"), &o, &f, NULL) != BLM_OK)
        _exit(1);
    for (uint64_t i = 0; blm_add(f, &i, 8) >= 0; i++)
        atomic_store(done, i + 1);
    pause();
    _exit(0);
}

static void a_killed_writer_loses_no_key(void **state)
{
    (void)state;
    _Atomic uint64_t *done = shared_count();
    struct rng        r    = { 5 };
    for (unsigned round = 0; round < (slow_tests() ? 200 : 20); round++) {
        atomic_store(done, 0);
        pid_t    pid  = start_adding(done);
        uint64_t want = KEYS - rng_below(&r, 2000), had;
        while (atomic_load(done) < want)
            sched_yield();
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        had           = atomic_load(done);
        blm_filter *f = open_it(BLM_WRITE);
        assert_int_equal(missing(f, 0, had), 0);
        assert_true(stats_of(f).ones <= params_of(f).items + 2);
        close_well(f);
    }
    munmap((void *)done, 4096);
}

/* A reader asks, in another process, for keys that were there before it opened the file. */
static void readers_beside_a_writer_miss_nothing(void **state)
{
    (void)state;
    _Atomic uint64_t *done = shared_count();
    pid_t             pid  = start_adding(done);
    while (atomic_load(done) < KEYS * 9 / 10)
        sched_yield();
    blm_filter *f = open_it(0);
    for (unsigned round = 0; atomic_load(done) < KEYS && round < 2000; round++) {
        uint64_t keys[256], upto = atomic_load(done);
        for (uint64_t i = 0; i < 256; i++)
            keys[i] = (round * 256 + i) % upto;
        assert_int_equal(blm_check_fixed(f, keys, 8, 256, NULL), 256);
        assert_true(blm_check(f, &keys[3], 8));
    }
    blm_free(f);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    munmap((void *)done, 4096);
}

/* The cell c of a bare layer. */
static uint64_t cell_of(const uint8_t *bytes, uint32_t bits, uint64_t c)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < bits; i++)
        v |= (uint64_t)(bytes[(c * bits + i) / 8] >> (c * bits + i) % 8 & 1) << i;
    return v;
}

/* Whoever reads beside a writer is told of every fingerprint that is overwritten: in a file by its
 * record, between threads by the layer. */
static void every_move_is_told(void **state)
{
    (void)state;
    for (unsigned shared = 0; shared < 2; shared++) {
        blm_options o = options(BLM_REPLACE | (shared ? BLM_SHARED : 0));
        blm_filter *f;
        uint64_t    moved = 0;
        o.items           = 1000;
        assert_status(shared ? blm_create(&o, &f, NULL) : blm_create_file(at("f"), &o, &f, NULL),
                      BLM_OK);
        struct blm__layer *l     = &f->body.layers[0];
        size_t             bytes = (size_t)l->word_count * 8;
        uint8_t           *was   = malloc(bytes);
        assert_non_null(was);
        for (uint64_t i = 0, told, now = 0, changed; i < 1000; i++) {
            told = now;
            memcpy(was, l->words, bytes);
            assert_true(blm_add(f, &i, 8) >= 0);
            now     = shared ? atomic_load(&l->stripes[BLM__MOVES].count) : *l->moves;
            changed = 0;
            for (uint64_t c = 0; c < l->shape.bits; c++) {
                uint64_t a = cell_of(was, l->shape.cell_bits, c);
                changed += a && a != cell_of((uint8_t *)l->words, l->shape.cell_bits, c);
            }
            assert_true(now - told >= changed);
            moved += changed;
        }
        assert_true(moved > 20);
        free(was);
        if (shared)
            blm_free(f);
        else
            close_well(f);
    }
}

/* ---- threads ---- */

struct crew {
    blm_filter      *f;
    _Atomic uint64_t done[2], denied;
    _Atomic bool     over;
};

struct worker {
    struct crew *c;
    uint64_t     number;
};

static void *adds(void *arg)
{
    struct worker *w = arg;
    for (uint64_t i = 0; i < KEYS / 2; i++) {
        uint64_t key = i * 2 + w->number;
        if (blm_add(w->c->f, &key, 8) < 0)
            atomic_fetch_add(&w->c->denied, 1);
        atomic_store(&w->c->done[w->number], i + 1);
    }
    return NULL;
}

static void *asks(void *arg)
{
    struct crew *c = arg;
    for (uint64_t round = 0; !atomic_load(&c->over); round++)
        for (unsigned t = 0; t < 2; t++) {
            uint64_t upto = atomic_load(&c->done[t]), keys[64];
            for (uint64_t i = 0; i < 64 && upto; i++)
                keys[i] = (round * 64 + i) % upto * 2 + t;
            if (upto)
                atomic_fetch_add(&c->denied, 64 - blm_check_fixed(c->f, keys, 8, 64, NULL));
            if (upto && !blm_check(c->f, keys, 8))
                atomic_fetch_add(&c->denied, 1);
        }
    return NULL;
}

static void threads_add_and_ask(void **state)
{
    (void)state;
    for (unsigned file = 0; file < 2; file++) {
        struct crew   c = { .f = NULL };
        struct worker w[2];
        pthread_t     adding[2], asking[2];
        blm_options   o = options(BLM_SHARED | BLM_REPLACE);
        if (file)
            assert_status(blm_create_file(at("f"), &o, &c.f, NULL), BLM_OK);
        o.flags &= ~BLM_REPLACE;
        if (!file)
            c.f = make(&o);
        for (unsigned i = 0; i < 2; i++) {
            w[i] = (struct worker){ &c, i };
            assert_int_equal(pthread_create(&asking[i], NULL, asks, &c), 0);
            assert_int_equal(pthread_create(&adding[i], NULL, adds, &w[i]), 0);
        }
        for (unsigned i = 0; i < 2; i++)
            pthread_join(adding[i], NULL);
        atomic_store(&c.over, true);
        for (unsigned i = 0; i < 2; i++)
            pthread_join(asking[i], NULL);
        assert_int_equal(c.denied, 0);
        assert_int_equal(missing(c.f, 0, KEYS), 0);
        assert_true(params_of(c.f).items == KEYS && stats_of(c.f).ones == KEYS);
        close_well(c.f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(a_file_is_written_closed_and_read),
        file_test(a_killed_writer_loses_no_key),
        file_test(readers_beside_a_writer_miss_nothing),
        file_test(every_move_is_told),
        file_test(threads_add_and_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
