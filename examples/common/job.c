/* SPDX-License-Identifier: MIT */
/* See job.h. */
#include "common/job.h"

#include <errno.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int  broken;
static char scratch[256];

/* ---- the filter, or an impostor ---- */

job_answer job_impostor(void)
{
    const char *asked = getenv("BLOOMERY_EXAMPLE_FILTER");
    if (!asked || !*asked)
        return JOB_REAL;
    if (strcmp(asked, "maybe") == 0)
        return JOB_MAYBE;
    if (strcmp(asked, "no") == 0)
        return JOB_NO;
    job_trouble("BLOOMERY_EXAMPLE_FILTER must be maybe, no, or not set");
}

bool job_answers(bool real)
{
    static int impostor = -1;
    if (impostor < 0)
        impostor = (int)job_impostor();
    return impostor == JOB_REAL ? real : impostor == JOB_MAYBE;
}

bool job_check(const blm_filter *f, const void *key, size_t len)
{
    return job_answers(blm_check(f, key, len));
}

blm_filter *job_filter(blm_kind kind, uint64_t items, double rate, uint32_t flags)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   err;
    blm_filter *f = NULL;
    o.kind        = kind;
    o.items       = items;
    o.rate        = rate;
    o.flags       = flags | BLM_SEEDED; /* so that a job always prints the same figures */
    o.seed[0]     = 7;
    o.seed[1]     = 11;
    job_need(blm_create(&o, &f, &err), &err);
    return f;
}

/* ---- promises ---- */

void job_promise(bool held, const char *format, ...)
{
    if (held)
        return;
    va_list args;
    va_start(args, format);
    fputs("broken: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    broken = 1;
}

int job_end(void) { return broken; }

void job_trouble(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("trouble: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

void job_need(blm_status status, const blm_error *err)
{
    if (status < 0)
        job_trouble("%s", err && err->status == status ? err->text : blm_status_text(status));
}

/* ---- arguments, random numbers, time, files ---- */

const char *job_text(int argc, char **argv, const char *name, const char *otherwise)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return argv[i + 1];
    return otherwise;
}

uint64_t job_number(int argc, char **argv, const char *name, uint64_t otherwise)
{
    const char *text = job_text(argc, argv, name, NULL);
    if (!text)
        return otherwise;
    char  *end;
    double n = strtod(text, &end);
    if (*end || !(n >= 0 && n < 1e15))
        job_trouble("%s %s: not a number", name, text);
    return (uint64_t)n;
}

uint64_t job_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z          = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z          = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t job_below(uint64_t *state, uint64_t n) { return job_random(state) % n; }

static double clock_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
double job_seconds(void) { return clock_seconds(CLOCK_MONOTONIC); }
double job_cpu_seconds(void) { return clock_seconds(CLOCK_PROCESS_CPUTIME_ID); }

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)type, (void)at;
    return remove(path);
}

static pid_t owner;

static void remove_scratch(void)
{
    if (getpid() == owner) /* only the owner removes it, not a child */
        nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *job_scratch(void)
{
    if (*scratch)
        return scratch;
    const char *tmp = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/bloomery-job-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(scratch))
        job_trouble("%s: %s", scratch, strerror(errno));
    owner = getpid();
    atexit(remove_scratch);
    return scratch;
}

void job_path(char *out, size_t room, const char *name)
{
    snprintf(out, room, "%s/%s", job_scratch(), name);
}

const char *job_bytes(double bytes, char *out, size_t room)
{
    static const char *const unit[] = { "B", "KB", "MB", "GB" };
    unsigned                 u      = 0;
    while (bytes >= 999.5 && u < 3) {
        bytes /= 1000;
        u++;
    }
    snprintf(out, room, bytes < 9.95 && u ? "%.1f %s" : "%.0f %s", bytes, unit[u]);
    return out;
}
