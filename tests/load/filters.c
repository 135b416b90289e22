/* SPDX-License-Identifier: MIT */
/*
 * Threads that add to one shared filter in a file and ask it for each other's keys. When a file is full they
 * wait for each other; one closes it, opens it again, asks for every key, and makes the next.
 */
#include "load.h"

#include <pthread.h>
#include <unistd.h>

#define BATCH 256

static blm_filter       *filter;
static pthread_barrier_t all_here;

static void open_for_writing(uint64_t number)
{
    char        path[256];
    blm_error   e;
    blm_options w = BLM_OPTIONS_INIT;
    w.kind        = kind;
    w.items       = kind == BLM_WINDOW ? CAPACITY / 8 : CAPACITY;
    w.rate        = 0.01;
    w.flags       = BLM_SHARED | BLM_WRITE;
    path_of(number, path);
    blm_status s = access(path, F_OK) == 0 ? blm_open(path, &w, &filter, &e)
                                           : blm_create_file(path, &w, &filter, &e);
    if (s != BLM_OK)
        die(path, &e);
}

static void open_worker(void)
{
    if (pthread_barrier_init(&all_here, NULL, threads))
        die("barrier", NULL);
    open_for_writing(shared->file);
}

/* Keys 0 … of a thread. */
static void ask_all(const blm_filter *f, unsigned thread, uint64_t count)
{
    char    text[BATCH][32];
    blm_key key[BATCH];
    uint8_t maybe[BATCH];
    for (uint64_t i = 0; i < count;) {
        size_t n = 0;
        for (; n < BATCH && i < count; n++, i++)
            key[n] = (blm_key){ text[n], key_of(thread, i, text[n]) };
        judge(n, n - blm_check_many(f, key, n, maybe), true);
    }
}

/* Every key that was acknowledged in the file, asked of what is on the disk. */
static void ask_file(void)
{
    char        path[256];
    blm_error   e;
    blm_filter *f;
    uint64_t    number = shared->file;
    path_of(number, path);
    if (access(path, F_OK) != 0 && shared->total[number % 2] == 0)
        return; /* killed before the file was there */
    if (blm_open(path, NULL, &f, &e) != BLM_OK)
        die(path, &e);
    for (unsigned t = 0; t < threads; t++)
        ask_all(f, t, shared->acked[number % 2][t]);
    blm_free(f);
}

static bool full(void) { return shared->total[shared->file % 2] >= CAPACITY; }

/* A worker may be killed anywhere in here: until shared->file says so, the next file is not in use. */
static void next_file(void)
{
    char     path[256];
    uint64_t old = shared->file, new = old + 1;
    for (unsigned t = 0; t < threads; t++)
        shared->acked[new % 2][t] = 0;
    shared->total[new % 2] = 0;
    shared->file           = new;
    path_of(old, path);
    unlink(path);
}

static void verify(void)
{
    ask_file();
    if (full())
        next_file();
}

static void *adder(void *arg)
{
    unsigned me  = (unsigned)(uintptr_t)arg;
    uint64_t rng = me * 977 + (uint64_t)getpid();
    shared->ready++;
    for (;;) {
        if (full()) { /* stays so until all have seen it */
            if (pthread_barrier_wait(&all_here) == PTHREAD_BARRIER_SERIAL_THREAD) {
                blm_free(filter);
                verify();
                open_for_writing(shared->file);
            }
            pthread_barrier_wait(&all_here);
        }
        unsigned f = shared->file % 2;
        uint64_t i = shared->acked[f][me];
        char     key[32];
        size_t   len = key_of(me, i, key);
        shared->begun++;
        shared->total[f]++;
        blm_status s = blm_add(filter, key, len);
        if (s == BLM_E_FULL && shared->total[f] > CAPACITY / 10 * 9) {
            shared->total[f] =
                CAPACITY; /* cuckoo: keys that were in doubt at a kill are there twice */
            continue;
        }
        if (s < 0) {
            failed(s);
            continue;
        }
        shared->acked[f][me] = i + 1;
        shared->all_acked++;
        unsigned who = (unsigned)(next(&rng) % threads);
        uint64_t has = shared->acked[f][who];
        if (has) {
            len = key_of(who, next(&rng) % has, key);
            judge(1, !blm_check(filter, key, len), false);
        }
    }
    return NULL;
}

/* A window must have a key while no more adds than its length have begun since before its own. */
static bool promised(unsigned thread, uint64_t slot)
{
    return shared->at[thread][slot] && shared->begun - shared->at[thread][slot] < CAPACITY / 8;
}

static void *renewer(void *arg)
{
    unsigned me  = (unsigned)(uintptr_t)arg;
    uint64_t rng = me * 977 + (uint64_t)getpid();
    shared->ready++;
    for (;;) {
        uint64_t i = shared->acked[0][me], before = shared->begun++;
        char     key[32];
        size_t   len     = key_of(me, i, key);
        shared->total[0] = 1;
        /* The slot's old key is not asked for while the new one is on its way. */
        shared->at[me][i % RECENT] = 0;
        blm_status s               = blm_add(filter, key, len);
        if (s < 0) {
            failed(s);
            continue;
        }
        shared->number[me][i % RECENT] = i;
        shared->at[me][i % RECENT]     = before + 1;
        shared->acked[0][me]           = i + 1;
        shared->all_acked++;
        uint64_t old = next(&rng) % (i < RECENT ? i + 1 : RECENT);
        len          = key_of(me, shared->number[me][old], key);
        bool has     = blm_check(filter, key, len);
        if (promised(me, old))
            judge(1, !has, false);
    }
    return NULL;
}

static void verify_window(void)
{
    char        path[256], key[32];
    blm_error   e;
    blm_filter *f;
    path_of(shared->file, path);
    if (access(path, F_OK) != 0 && shared->total[0] == 0)
        return;
    if (blm_open(path, NULL, &f, &e) != BLM_OK)
        die("after the kill", &e);
    for (unsigned t = 0; t < threads; t++)
        for (uint64_t slot = 0; slot < RECENT; slot++)
            if (promised(t, slot)) {
                size_t len = key_of(t, shared->number[t][slot], key);
                judge(1, !blm_check(f, key, len), true);
            }
    blm_free(f);
}

const struct load load_filter = { open_worker, adder, verify };
const struct load load_window = { open_worker, renewer, verify_window };
