/* SPDX-License-Identifier: MIT */
/*
 * 64 threads on one shared filter in a file, or on a guard, killed now and then:
 *
 *   load.threads classic|blocked|counting|cuckoo|window|guard SECONDS [THREADS]
 *
 * A worker process has the filter open, and its threads add and ask. What each was told stands in
 * memory that outlives the worker: a key counts as acknowledged when its add has returned. The parent
 * kills the worker (SIGKILL), asks the file for everything acknowledged, and starts another worker on it.
 * Workers ask each other's acknowledged keys all the time. A full filter gives way to a new file.
 *
 * Memory: the worker's anonymous memory (RssAnon), from a second after its threads began, may not grow
 * by more than GROWTH: the filter is a mapped file and not in it.
 *
 * Prints one line of JSON. Exit 1: something acknowledged was denied, or memory grew.
 */
#include <bloomery.h>
#include <bloomery/guard.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 256
#define ROWS         4096u              /* of the guard, a thread */
#define RECENT       256u               /* keys of a window that a thread remembers */
#define GROWTH       (4u * 1024 * 1024) /* bytes: malloc's arenas of threads that came late */

enum row { UNKNOWN, THERE, GONE };

/* What outlives a worker. */
struct oracle {
    _Atomic uint64_t acked[MOST_THREADS];   /* keys 0 … of the thread, in this file */
    _Atomic uint64_t begun;                 /* adds, of all threads and files */
    _Atomic uint64_t asked, denied, errors; /* questions about acknowledged keys; wrong answers */
    _Atomic uint64_t full;                  /* the file has what it was planned for */
    _Atomic uint64_t ready;                 /* threads that run */
    /* The guard's data set, and what callers were told of it. */
    _Atomic uint8_t  row[MOST_THREADS][ROWS], told[MOST_THREADS][ROWS];
    uint8_t          mark[2][BLM_MARK_MAX];
    uint8_t          mark_len[2];
    _Atomic uint32_t mark_at; /* 0: none was written; else slot mark_at % 2 */
};

static struct oracle *o;
static unsigned       threads = 64;
static uint64_t       capacity; /* keys of a file, then comes the next */
static blm_kind       kind;
static bool           guarded;
static blm_filter    *filter;
static blm_guard     *guard;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint64_t next(uint64_t *rng)
{
    uint64_t v = *rng += 0x9e3779b97f4a7c15u;
    v          = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v          = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

static void die(const char *what, const blm_error *e)
{
    fprintf(stderr, "load: %s: %s\n", what, e ? e->text : "");
    exit(2);
}

static size_t key_of(unsigned thread, uint64_t i, char out[32])
{
    return (size_t)snprintf(out, 32, "t%u-%" PRIu64, thread, i);
}

/* ---- filters ---- */

static void ask_one(unsigned thread, uint64_t i)
{
    char   key[32];
    size_t len = key_of(thread, i, key);
    o->asked++;
    if (!blm_check(filter, key, len))
        o->denied++;
}

static void *adder(void *arg)
{
    unsigned me  = (unsigned)(uintptr_t)arg;
    uint64_t rng = me * 977 + (uint64_t)getpid(), share = capacity / threads;
    o->ready++;
    while (!o->full) {
        uint64_t i = o->acked[me];
        char     key[32];
        size_t   len = key_of(me, i, key);
        if (i >= share) {
            o->full = 1;
            break;
        }
        o->begun++;
        if (blm_add(filter, key, len) < 0) {
            o->errors++;
            continue;
        }
        o->acked[me] = i + 1;
        unsigned who = (unsigned)(next(&rng) % threads);
        uint64_t has = o->acked[who];
        if (has)
            ask_one(who, next(&rng) % has);
    }
    for (;;) /* until the parent takes the worker away */
        pause();
    return NULL;
}

/* A window must have a key while no more adds than its length have begun since before its own. */
static void *renewer(void *arg)
{
    unsigned me  = (unsigned)(uintptr_t)arg;
    uint64_t rng = me * 977 + (uint64_t)getpid(), at[RECENT], number[RECENT], n = 0;
    o->ready++;
    for (;;) {
        uint64_t i = o->acked[me], before = o->begun++;
        char     key[32];
        size_t   len = key_of(me, i, key);
        if (blm_add(filter, key, len) < 0)
            o->errors++;
        o->acked[me]       = i + 1;
        at[n % RECENT]     = before;
        number[n % RECENT] = i;
        n++;
        size_t old = (size_t)(next(&rng) % (n < RECENT ? n : RECENT));
        len        = key_of(me, number[old], key);
        bool has   = blm_check(filter, key, len);
        if (o->begun - at[old] <= capacity / 8) { /* else nothing is promised any more */
            o->asked++;
            o->denied += !has;
        }
    }
    return NULL;
}

/* ---- the guard's data set: it is the oracle's memory, so it survives what kills the worker ---- */

static bool parse(const void *key, size_t len, unsigned *thread, uint64_t *i)
{
    char text[32];
    snprintf(text, sizeof text, "%.*s", (int)len, (const char *)key);
    return sscanf(text, "t%u-%" SCNu64, thread, i) == 2 && *thread < MOST_THREADS && *i < ROWS;
}
static blm_status row_get(void *ctx, const void *key, size_t len, blm_write_fn value,
                          void *value_ctx, blm_error *err)
{
    unsigned t;
    uint64_t i;
    (void)ctx, (void)err;
    if (!parse(key, len, &t, &i) || o->row[t][i] != THERE)
        return BLM_E_ABSENT;
    return value && !value(value_ctx, "v", 1) ? BLM_E_CANCELLED : BLM_OK;
}
static blm_status row_put(void *ctx, const void *key, size_t len, const void *value,
                          size_t value_len, blm_error *err)
{
    unsigned t;
    uint64_t i;
    (void)ctx, (void)err, (void)value, (void)value_len;
    if (!parse(key, len, &t, &i))
        return BLM_E_IO;
    o->row[t][i] = THERE;
    return BLM_OK;
}
static blm_status row_del(void *ctx, const void *key, size_t len, blm_error *err)
{
    unsigned t;
    uint64_t i;
    (void)ctx, (void)err;
    if (!parse(key, len, &t, &i) || atomic_exchange(&o->row[t][i], GONE) != THERE)
        return BLM_E_ABSENT;
    return BLM_OK;
}
static blm_status row_scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    (void)ctx, (void)err;
    for (unsigned t = 0; t < threads; t++)
        for (uint64_t i = 0; i < ROWS; i++) {
            char key[32];
            if (o->row[t][i] == THERE && !each(each_ctx, key, key_of(t, i, key)))
                return BLM_E_CANCELLED;
        }
    return BLM_OK;
}
static blm_status mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    uint32_t at = o->mark_at;
    (void)ctx, (void)err;
    if (!at)
        return BLM_E_ABSENT;
    memcpy(mark, o->mark[at % 2], *len = o->mark_len[at % 2]);
    return BLM_OK;
}
static blm_status mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    (void)ctx, (void)err;
    pthread_mutex_lock(&one);
    uint32_t at = o->mark_at + 1;
    memcpy(o->mark[at % 2], mark, len);
    o->mark_len[at % 2] = (uint8_t)len;
    o->mark_at          = at;
    pthread_mutex_unlock(&one);
    return BLM_OK;
}

/* Own rows are put and deleted, anybody's asked for. What is told in between is not known. */
static void *caller(void *arg)
{
    unsigned  me  = (unsigned)(uintptr_t)arg;
    uint64_t  rng = me * 977 + (uint64_t)getpid();
    blm_error e;
    char      key[32];
    o->ready++;
    for (;;) {
        uint64_t i   = next(&rng) % ROWS;
        size_t   len = key_of(me, i, key);
        bool     put = next(&rng) % 4 != 0;
        o->begun++;
        o->told[me][i] = UNKNOWN;
        blm_status s   = put ? blm_guard_put(guard, key, len, "v", 1, &e)
                             : blm_guard_delete(guard, key, len, &e);
        if (s == BLM_OK || (s == BLM_E_ABSENT && !put))
            o->told[me][i] = put ? THERE : GONE;
        else
            o->errors++;
        for (int n = 0; n < 4; n++) {
            unsigned who   = (unsigned)(next(&rng) % threads);
            uint64_t what  = next(&rng) % ROWS;
            bool     there = o->told[who][what] == THERE;
            len            = key_of(who, what, key);
            s              = blm_guard_get(guard, key, len, NULL, NULL, &e);
            if (there &&
                o->told[who][what] == THERE) { /* and may have been deleted and put meanwhile */
                o->asked++;
                if (s == BLM_E_ABSENT && who == me)
                    o->denied++;
            }
        }
        i   = next(&rng) % ROWS; /* one's own row nobody else touches: no race at all */
        len = key_of(me, i, key);
        if (o->told[me][i] == THERE) {
            o->asked++;
            o->denied += blm_guard_get(guard, key, len, NULL, NULL, &e) != BLM_OK;
        }
    }
    return NULL;
}

/* ---- the worker ---- */

static void open_all(const char *path)
{
    blm_error e;
    if (guarded) {
        blm_guard_options g = BLM_GUARD_OPTIONS_INIT;
        blm_dataset       d = { .size       = sizeof d,
                                .get        = row_get,
                                .put        = row_put,
                                .del        = row_del,
                                .scan       = row_scan,
                                .mark_read  = mark_read,
                                .mark_write = mark_write };
        g.items             = (uint64_t)threads * ROWS;
        g.path              = path;
        if (blm_guard_open(&g, &d, &guard, &e) != BLM_OK)
            die("guard", &e);
        return;
    }
    blm_options w = BLM_OPTIONS_INIT;
    w.kind        = kind;
    w.items       = kind == BLM_WINDOW ? capacity / 8 : capacity;
    w.rate        = 0.01;
    w.flags       = BLM_SHARED | BLM_WRITE;
    blm_status s  = access(path, F_OK) == 0 ? blm_open(path, &w, &filter, &e)
                                            : blm_create_file(path, &w, &filter, &e);
    if (s != BLM_OK)
        die(path, &e);
}

static pid_t start(const char *path)
{
    o->ready  = 0;
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    open_all(path);
    pthread_t t;
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&t, NULL,
                           guarded              ? caller
                           : kind == BLM_WINDOW ? renewer
                                                : adder,
                           (void *)(uintptr_t)i))
            die("thread", NULL);
    for (;;)
        pause();
}

/* Everything acknowledged, of the file that a dead worker left. Windows have forgotten most of it. */
static void verify(const char *path)
{
    blm_error e;
    if (guarded || kind == BLM_WINDOW)
        return;
    if (blm_open(path, NULL, &filter, &e) != BLM_OK)
        die("after the kill", &e);
    for (unsigned t = 0; t < threads; t++)
        for (uint64_t i = 0; i < o->acked[t]; i++)
            ask_one(t, i);
    blm_free(filter);
    filter = NULL;
}

static uint64_t anonymous(pid_t pid)
{
    char     path[64], line[256];
    uint64_t kb = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %" SCNu64, &kb) == 1)
            break;
    if (f)
        fclose(f);
    return kb * 1024;
}

int main(int argc, char **argv)
{
    char path[256], dir[] = "/tmp/bloomery-load-XXXXXX";
    if (argc < 3 || !mkdtemp(dir))
        die("load.threads KIND|guard SECONDS [THREADS]", NULL);
    guarded = strcmp(argv[1], "guard") == 0;
    if (!guarded && !blm_kind_from_name(argv[1], &kind))
        die("no such kind", NULL);
    double length = atof(argv[2]), began = seconds(), end = began + length;
    threads  = argc > 3 ? (unsigned)atoi(argv[3]) : 64;
    capacity = length < 60 ? 2000000 : 20000000;
    o        = mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (o == MAP_FAILED || threads == 0 || threads > MOST_THREADS)
        die("memory", NULL);
    uint64_t kills = 0, files = 1, least = 0, most = 0, grown = 0, acked = 0;
    snprintf(path, sizeof path, "%s/0", dir);
    while (seconds() < end) {
        double life = length / 20 + (double)(kills * 37 % 10) * length / 100, from = 0;
        pid_t  pid = start(path);
        for (double until = seconds() + life; (seconds() < until || from <= 0) && !o->full;) {
            usleep(100000);
            if (o->ready < threads || waitpid(pid, NULL, WNOHANG) == pid)
                continue;
            if (from <= 0)
                from = seconds();
            if (seconds() - from > (length < 60 ? 0.5 : 5)) {
                uint64_t now = anonymous(pid);
                least        = least ? least : now;
                most         = now > most ? now : most;
                grown        = now > least && now - least > grown ? now - least : grown;
            }
        }
        least = 0; /* the next worker has its own memory */
        if (kill(pid, SIGKILL) != 0 || waitpid(pid, NULL, 0) != pid)
            die("the worker is gone", NULL);
        kills++;
        verify(path);
        if (o->full) {
            for (unsigned t = 0; t < threads; t++) {
                acked += o->acked[t];
                o->acked[t] = 0;
            }
            o->full = 0;
            unlink(path);
            snprintf(path, sizeof path, "%s/%" PRIu64, dir, files++);
        }
    }
    for (unsigned t = 0; t < threads; t++)
        acked += o->acked[t];
    char clean[300];
    snprintf(clean, sizeof clean, "rm -rf %s", dir);
    if (system(clean) != 0)
        return 2;
    printf("{\"what\": \"%s\", \"threads\": %u, \"seconds\": %.0f, \"kills\": %" PRIu64
           ", \"files\": %" PRIu64 ", \"calls\": %" PRIu64 ", \"acknowledged\": %" PRIu64
           ", \"asked\": %" PRIu64 ", \"denied\": %" PRIu64 ", \"errors\": %" PRIu64
           ", \"anonymous_bytes\": %" PRIu64 ", \"grown_bytes\": %" PRIu64
           ", \"bound_bytes\": %u}\n",
           argv[1], threads, seconds() - began, kills, files, o->begun,
           guarded ? o->begun - o->errors : acked, o->asked, o->denied, o->errors, most, grown,
           GROWTH);
    return o->denied || grown > GROWTH || !o->asked || !kills ? 1 : 0;
}
