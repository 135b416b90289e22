/* SPDX-License-Identifier: MIT */
/*
 * 64 threads on one shared filter in a file, or on a guard, killed now and then:
 *
 *   load.threads classic|blocked|counting|cuckoo|window|guard SECONDS [THREADS]
 *
 * A worker process has the filter open, and its threads add and ask. What each was told stands in
 * memory that outlives the worker: a key counts as acknowledged when its add has returned. The parent
 * kills the worker (SIGKILL), the file is asked for everything acknowledged, and another worker goes on
 * with it. Files are small enough for that to take a second at most, so there are dozens of kills in ten
 * minutes: most some moments after the threads began, one in four while the worker starts, and one
 * in eight late, so that memory has time to grow.
 *
 * Memory: the worker's anonymous memory (RssAnon), from half a second after its threads began, may not
 * grow by more than GROWTH: the filter is a mapped file and not in it.
 *
 * Prints one line of JSON. Exit 1: something acknowledged was denied, a call failed, or memory grew.
 */
#include "load.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GROWTH  (4u * 1024 * 1024) /* bytes: malloc's arenas of threads that came late */
#define SAMPLES 5                  /* of memory, in a worker that lives long */

struct oracle *shared;
unsigned       threads = 64;
blm_kind       kind;

static const struct load *load  = &load_filter;
static char               dir[] = "/tmp/bloomery-load-XXXXXX";
static uint64_t           kills, early, samples, most, grown;

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

uint64_t next(uint64_t *rng)
{
    uint64_t v = *rng += 0x9e3779b97f4a7c15u;
    v          = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v          = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

void die(const char *what, const blm_error *e)
{
    fprintf(stderr, "load: %s: %s\n", what, e ? e->text : "");
    exit(2);
}

void failed(blm_status s)
{
    shared->errors++;
    shared->first_error = (int)s;
}

void judge(uint64_t asked, uint64_t denied, bool after)
{
    shared->asked += asked;
    shared->verified += after ? asked : 0;
    if (denied)
        shared->denied += denied;
}

/* As "t%u-%llu" prints it, which takes longer than all the rest. */
size_t key_of(unsigned thread, uint64_t i, char out[32])
{
    char   digits[32];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + i % 10);
    while (i /= 10);
    digits[--at] = '-';
    do
        digits[--at] = (char)('0' + thread % 10);
    while (thread /= 10);
    digits[--at] = 't';
    memcpy(out, digits + at, sizeof digits - at);
    return sizeof digits - at;
}

void path_of(uint64_t file, char out[256]) { snprintf(out, 256, "%s/%" PRIu64, dir, file); }

static pid_t start(void)
{
    shared->ready = 0;
    pid_t pid     = fork();
    if (pid != 0)
        return pid;
    load->open();
    pthread_t t;
    for (unsigned i = 0; i < threads; i++)
        if (pthread_create(&t, NULL, load->thread, (void *)(uintptr_t)i))
            die("thread", NULL);
    for (;;)
        pause();
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

/* Lets a worker live for so many seconds after its threads began, or (0) kills it while it starts. */
static void live(double life, uint64_t wanted, uint64_t *rng)
{
    pid_t    pid   = start();
    uint64_t least = 0, seen = 0;
    double   from = 0;
    if (life <= 0) {
        usleep((useconds_t)(next(rng) % 20000));
        early += shared->ready < threads;
    }
    while (life > 0 && (from <= 0 || seconds() < from + life || seen < wanted)) {
        usleep(from > 0 ? 20000 : 2000);
        if (waitpid(pid, NULL, WNOHANG) == pid)
            die("the worker ended by itself", NULL);
        if (from <= 0 && shared->ready == threads)
            from = seconds();
        if (from <= 0 || seconds() < from + 0.5)
            continue;
        uint64_t now = anonymous(pid);
        least        = seen++ ? least : now;
        most         = now > most ? now : most;
        grown        = now > least && now - least > grown ? now - least : grown;
    }
    samples += seen;
    if (kill(pid, SIGKILL) != 0 || waitpid(pid, NULL, 0) != pid)
        die("the worker is gone", NULL);
    kills++;
    load->verify();
}

static void run(double length)
{
    double   end = seconds() + length, brief = length / 16 < 4 ? length / 16 : 4;
    uint64_t rng = 21;
    for (uint64_t n = 0; seconds() < end || n < 8; n++)
        if (n % 8 == 5)
            live(length / 12, SAMPLES, &rng);
        else if (n % 4 == 2)
            live(0, 0, &rng);
        else
            live(brief * (double)(1 + next(&rng) % 100) / 100, 0, &rng);
    live(1e-6, 0, &rng); /* asks for what the last one left */
}

int main(int argc, char **argv)
{
    char clean[300];
    if (argc < 3 || !mkdtemp(dir))
        die("load.threads KIND|guard SECONDS [THREADS]", NULL);
    if (strcmp(argv[1], "guard") == 0)
        load = &load_guard;
    else if (!blm_kind_from_name(argv[1], &kind))
        die("no such kind", NULL);
    else if (kind == BLM_WINDOW)
        load = &load_window;
    double began = seconds();
    threads      = argc > 3 ? (unsigned)atoi(argv[3]) : 64;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || threads == 0 || threads > MOST_THREADS)
        die("memory", NULL);
    run(atof(argv[2]));
    snprintf(clean, sizeof clean, "rm -rf %s", dir);
    if (system(clean) != 0)
        return 2;
    printf("{\"what\": \"%s\", \"threads\": %u, \"seconds\": %.0f, \"kills\": %" PRIu64
           ", \"early\": %" PRIu64 ", \"files\": %" PRIu64 ", \"acknowledged\": %" PRIu64
           ", \"asked\": %" PRIu64 ", \"after_kills\": %" PRIu64 ", \"denied\": %" PRIu64
           ", \"errors\": %" PRIu64 ", \"first_error\": %d, \"refused\": %" PRIu64
           ", \"anonymous_bytes\": %" PRIu64 ", \"samples\": %" PRIu64 ", \"grown_bytes\": %" PRIu64
           ", \"bound_bytes\": %u}\n",
           argv[1], threads, seconds() - began, kills, early, shared->file + 1, shared->all_acked,
           shared->asked, shared->verified, shared->denied, shared->errors, shared->first_error,
           shared->refused, most, samples, grown, GROWTH);
    bool idle = !shared->asked || !shared->verified || (load == &load_guard && !shared->refused);
    return shared->denied || shared->errors || grown > GROWTH || idle ? 1 : 0;
}
