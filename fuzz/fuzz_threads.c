/* SPDX-License-Identifier: MIT */
/*
 * A shared filter, in memory or in a file, and three threads that add to it and ask it at once, each
 * by its own third of the input. Whatever the order: what a thread has added it is never denied, also
 * in copies and bytes that are taken meanwhile; one of several threads hears that something was new;
 * and in the end bits and counters are those that one thread leaves by the portable kernel. Some first
 * bytes mean batches that the library's own threads share instead (batches.h).
 */
#include <pthread.h>

#include "batches.h"

#define THREADS 3

struct worker {
    pthread_t        thread;
    struct ops_input in;
    uint32_t         count[OPS_KEYS];
    uint32_t         fresh;
    bool             syncs; /* only one may */
};

static struct {
    blm_filter       *f;
    blm_kind          kind;
    bool              in_file;
    pthread_barrier_t start;
    struct worker     worker[THREADS];
} crew;

static bool is_bits(void) { return crew.kind != BLM_CUCKOO && crew.kind != BLM_WINDOW; }

static void has_own(const struct worker *w, const blm_filter *f)
{
    for (unsigned i = 0; i < OPS_KEYS; i++) {
        blm_key k = ops_key(i);
        must(w->count[i] == 0 || blm_check(f, k.data, k.len));
    }
}

static void add(struct worker *w)
{
    unsigned   i  = ops_byte(&w->in) % OPS_KEYS;
    blm_key    k  = ops_key(i);
    blm_status st = blm_add(crew.f, k.data, k.len);
    must(st >= 0 || (st == BLM_E_FULL && crew.kind == BLM_CUCKOO));
    must(st < 0 || blm_check(crew.f, k.data, k.len));
    w->count[i] += st >= 0;
    w->fresh += st == BLM_OK;
}

static void add_many(struct worker *w)
{
    blm_key    keys[OPS_BATCH];
    unsigned   at[OPS_BATCH];
    uint8_t    fresh[OPS_BATCH], maybe[OPS_BATCH];
    size_t     done = 0, n = ops_batch(&w->in, keys, at);
    blm_status st = blm_add_many(crew.f, keys, n, fresh, &done);
    must(st >= 0 ? done == n : st == BLM_E_FULL && crew.kind == BLM_CUCKOO && done < n);
    must(blm_check_many(crew.f, keys, done, maybe) == done);
    for (size_t i = 0; i < done; i++) {
        w->count[at[i]]++;
        w->fresh += fresh[i];
    }
}

static void measure(const struct worker *w)
{
    blm_stats st = { .size = sizeof st };
    must(blm_get_stats(crew.f, &st) == BLM_OK && st.ones <= st.params.bits);
    must(st.rate_now >= 0 && st.rate_now <= 1);
    for (unsigned i = 0; i < OPS_KEYS; i++) {
        blm_key k = ops_key(i);
        must(blm_count(crew.f, k.data, k.len) >= (w->count[i] > 0));
    }
}

/* What is taken while others add has at least what this thread has added. */
static void take(const struct worker *w, bool bytes)
{
    struct fuzz_bytes b = { 0 };
    blm_filter       *f;
    if (bytes) {
        must(blm_encode(crew.f, NULL, fuzz_append, &b, NULL) == BLM_OK);
        must(blm_decode(b.bytes, b.len, NULL, &f, NULL) == BLM_OK);
        free(b.bytes);
    } else {
        must(blm_copy(crew.f, &f, NULL) == BLM_OK);
        must(blm_union(f, crew.f, NULL) == BLM_OK);
    }
    has_own(w, f);
    blm_free(f);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    pthread_barrier_wait(&crew.start);
    for (int steps = 0; w->in.left && steps < 24; steps++)
        switch (ops_byte(&w->in) % 8) {
        case 0:
        case 1:
            add(w);
            break;
        case 2:
        case 3:
            add_many(w);
            break;
        case 4:
            has_own(w, crew.f);
            break;
        case 5:
            measure(w);
            break;
        case 6:
            if (is_bits())
                take(w, ops_byte(&w->in) & 1);
            break;
        default:
            if (w->syncs && crew.in_file)
                must(blm_sync(crew.f, NULL) == BLM_OK);
        }
    has_own(w, crew.f);
    return NULL;
}

static void run(struct ops_input in)
{
    must(pthread_barrier_init(&crew.start, NULL, THREADS) == 0);
    ops_key(0);
    for (size_t i = 0; i < THREADS; i++) {
        struct worker *w = &crew.worker[i];
        memset(w, 0, sizeof *w);
        w->in.left = i + 1 < THREADS ? in.left / THREADS : in.left - 2 * (in.left / THREADS);
        w->in.p    = in.p + i * (in.left / THREADS);
        w->syncs   = i == 0;
        must(i == 0 || pthread_create(&w->thread, NULL, work, w) == 0);
    }
    work(&crew.worker[0]);
    for (size_t i = 1; i < THREADS; i++)
        must(pthread_join(crew.worker[i].thread, NULL) == 0);
    pthread_barrier_destroy(&crew.start);
}

/* One thread's filter of the same keys, each as often. */
static void compare(const blm_options *o, const uint32_t count[OPS_KEYS])
{
    blm_filter *alone = ops_create(o);
    ops_portable(alone);
    for (unsigned i = 0; i < OPS_KEYS; i++) {
        blm_key k = ops_key(i);
        for (uint32_t n = 0; n < count[i]; n++)
            must(blm_add(alone, k.data, k.len) >= 0);
    }
    must(blm_equal(alone, crew.f));
    blm_free(alone);
}

static void judge(const blm_options *o, const char *path)
{
    uint32_t   count[OPS_KEYS] = { 0 }, sum = 0, fresh = 0;
    blm_params p = { .size = sizeof p };
    for (size_t t = 0; t < THREADS; t++) {
        has_own(&crew.worker[t], crew.f);
        fresh += crew.worker[t].fresh;
        for (unsigned i = 0; i < OPS_KEYS; i++) {
            count[i] += crew.worker[t].count[i];
            sum += crew.worker[t].count[i];
        }
    }
    must(blm_get_params(crew.f, &p) == BLM_OK);
    must(crew.kind == BLM_CLASSIC || crew.kind == BLM_BLOCKED ? p.items == fresh : p.items == sum);
    must(fresh > 0 || sum == 0);
    if (is_bits())
        compare(o, count);
    if (crew.in_file) { /* and it is all in the file */
        blm_filter *copy = ops_copy(crew.f);
        blm_options r    = BLM_OPTIONS_INIT;
        r.flags          = BLM_VERIFY;
        must(blm_close(crew.f, NULL) == BLM_OK);
        must(blm_open(path, &r, &crew.f, NULL) == BLM_OK && blm_equal(copy, crew.f));
        blm_free(copy);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING, BLM_CUCKOO,
                                      BLM_WINDOW };
    struct ops_input      in      = { data, size };
    blm_options           o       = BLM_OPTIONS_INIT;
    char                  path[128];
    uint8_t               how = ops_byte(&in);
    if (how >> 3 == 0x15) {
        batch_filters(&in);
        return 0;
    }
    o.kind = crew.kind = kinds[how % 5];
    o.lines            = is_bits() && o.kind != BLM_CLASSIC ? ops_byte(&in) % 4 : 0;
    o.flags            = BLM_SHARED | BLM_SEEDED;
    o.items            = o.kind == BLM_WINDOW ? 10000 : ops_items(ops_byte(&in));
    o.rate             = how & 64 ? 1e-6 : 0.05;
    crew.in_file       = how & 128;
    crew.f             = ops_create(&o);
    if (!crew.f)
        return 0;
    place_path(path, "shared");
    if (crew.in_file) {
        must(blm_save(crew.f, path, "native", 0, NULL) == BLM_OK);
        blm_free(crew.f);
        blm_options w = BLM_OPTIONS_INIT;
        w.flags       = BLM_SHARED | BLM_WRITE;
        must(blm_open(path, &w, &crew.f, NULL) == BLM_OK);
    }
    run(in);
    judge(&o, path);
    blm_free(crew.f);
    if (crew.in_file)
        unlink(path);
    return 0;
}
