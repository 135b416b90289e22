/* SPDX-License-Identifier: MIT */
/*
 * Ad lookups: for every ad request a device id is looked up in Redis, and most ids are unknown. Two
 * ways to answer for those without a round trip: a guard with a filter of its own, built by SCAN, and
 * a near copy of a filter that is on Redis too, to which whoever writes a device adds it.
 *
 *     ad-lookups [--devices 50000] [--requests 40000] [--unknown 85] [--new 5000] [--module FILE]
 *
 * The job starts its own redis-server, with bloomery's module: FILE, or $BLOOMERY_MODULE, or the one of
 * this build. Reads are what Redis itself counts (INFO commandstats).
 */
#include <bloomery_near.h>
#include <bloomery_redis.h>
#include <bloomery_remote.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bloomery/guard.h"
#include "common/job.h"
#include "common/redis_server.h"

#define WAYS 3

static struct redis_server server;

static void stop_server(void) { redis_server_stop(&server); }

/* The module of the build that this program is of: ../redis/bloomery.so. */
static const char *module_of_build(void)
{
    static char path[4096];
    ssize_t     n       = readlink("/proc/self/exe", path, sizeof path - 32);
    char       *slash   = NULL;
    path[n > 0 ? n : 0] = 0;
    for (int up = 0; up < 2 && (slash = strrchr(path, '/')); up++)
        *slash = 0;
    strcat(path, "/redis/bloomery.so");
    return path;
}

static void start_server(const char *module)
{
    server.module = module;
    if (access(module, R_OK) != 0)
        job_trouble("there is no %s: build bloomery's module with make, or give --module FILE",
                    module);
    if (!redis_server_start(&server, NULL) && !(server.port = 0, redis_server_start(&server, NULL)))
        job_trouble("redis-server does not start, or not with %s: install it (apt-get install "
                    "redis-server), version 7.0 or later",
                    module);
    atexit(stop_server);
}

/* A device id in the usual form: 32 hex digits and dashes. */
static size_t device_id(uint64_t i, char out[40])
{
    uint64_t a = i, b = i ^ 0xabcdef;
    a = job_random(&a);
    b = job_random(&b);
    return (size_t)snprintf(out, 40, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(a >> 32),
                            (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xffff),
                            (unsigned)(b >> 48), (unsigned long long)(b & 0xffffffffffffu));
}

static int segment_of(uint64_t i) { return (int)(i * 7919 % 640); }

static redisReply *command(redisContext *c, const char *text)
{
    redisReply *r = redisCommand(c, text);
    if (!r || r->type == REDIS_REPLY_ERROR)
        job_trouble("Redis: %s: %s", text, r ? r->str : c->errstr);
    return r;
}

/* Another system has filled Redis: device:ID is a hash with the device's segment and when it was
 * seen. */
static void fill(redisContext *c, uint64_t from, uint64_t to)
{
    char id[40];
    for (uint64_t i = from; i < to; i++) {
        device_id(i, id);
        redisAppendCommand(c, "HSET device:%s segment %d seen 2026-03-02", id, segment_of(i));
    }
    for (uint64_t i = from; i < to; i++) {
        void *r = NULL;
        if (redisGetReply(c, &r) != REDIS_OK)
            job_trouble("Redis: %s", c->errstr);
        freeReplyObject(r);
    }
}

/* … and adds each device to the filter on Redis. Before its row: who finds a device there, may ask
 * for its row at once. */
static void announce(blm_remote *filter, uint64_t from, uint64_t to)
{
    enum { ONCE = 1000 };
    static char ids[ONCE][40];
    blm_key     keys[ONCE];
    blm_error   err;
    for (size_t n; from < to; from += n) {
        n = to - from < ONCE ? (size_t)(to - from) : ONCE;
        for (size_t i = 0; i < n; i++)
            keys[i] = (blm_key){ ids[i], device_id(from + i, ids[i]) };
        job_need(blm_remote_add_many(filter, keys, n, NULL, NULL, &err), &err);
    }
}

/* How many HGETs Redis has run since CONFIG RESETSTAT. */
static uint64_t reads(redisContext *c)
{
    redisReply *r     = command(c, "INFO commandstats");
    const char *at    = strstr(r->str, "cmdstat_hget:calls=");
    uint64_t    calls = at ? strtoull(at + 19, NULL, 10) : 0;
    freeReplyObject(r);
    freeReplyObject(command(c, "CONFIG RESETSTAT"));
    return calls;
}

struct answer {
    char   text[16];
    size_t len;
};
static bool keep(void *ctx, const void *bytes, size_t len)
{
    struct answer *a = ctx;
    a->len           = len < sizeof a->text ? len : 0;
    memcpy(a->text, bytes, a->len);
    return true;
}

struct way {
    const char  *name;
    blm_guard   *guard; /* one of the two; neither: Redis is asked every time */
    blm_near    *near;
    blm_dataset *data;
    uint64_t     reads, found, wrong;
    double       seconds;
};

static blm_status look_up(const struct way *w, const char *id, size_t len, struct answer *a)
{
    blm_error  err;
    blm_status st;
    if (w->guard && job_impostor() == JOB_NO)
        return BLM_E_ABSENT;
    if (w->near && !job_answers(blm_near_check(w->near, id, len)))
        return BLM_E_ABSENT;
    if (w->guard && job_impostor() == JOB_REAL)
        st = blm_guard_get(w->guard, id, len, keep, a, &err);
    else
        st = w->data->get(w->data->ctx, id, len, keep, a, &err);
    if (st != BLM_OK && st != BLM_E_ABSENT)
        job_need(st, &err);
    return st;
}

static void serve(struct way *w, uint64_t devices, uint64_t requests, uint64_t unknown)
{
    uint64_t chance = 19;
    double   start  = job_seconds();
    for (uint64_t i = 0; i < requests; i++) {
        bool          known  = job_below(&chance, 100) >= unknown;
        uint64_t      device = job_below(&chance, devices) + (known ? 0 : (uint64_t)1 << 40);
        char          id[40], expected[16];
        struct answer a   = { .len = 0 };
        size_t        len = device_id(device, id);
        blm_status    st  = look_up(w, id, len, &a);
        int           n   = snprintf(expected, sizeof expected, "%d", segment_of(device));
        bool          right =
            known ? st == BLM_OK && a.len == (size_t)n && memcmp(a.text, expected, a.len) == 0
                           : st == BLM_E_ABSENT;
        w->found += st == BLM_OK;
        w->wrong += !right;
    }
    w->seconds = job_seconds() - start;
}

/* Others write new devices while we serve. How many does this way not know? */
static uint64_t unheard_of(const struct way *w, uint64_t from, uint64_t to)
{
    uint64_t missing = 0;
    for (uint64_t i = from; i < to; i++) {
        char          id[40];
        struct answer a = { .len = 0 };
        missing += look_up(w, id, device_id(i, id), &a) == BLM_E_ABSENT;
    }
    return missing;
}

/* The filter on Redis, for all who write devices. */
static blm_remote *make_filter(char url[64], uint64_t devices)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_remote *r;
    blm_error   err;
    snprintf(url, 64, "redis://127.0.0.1:%d/devices", server.port);
    o.items = devices;
    o.rate  = 0.01;
    job_need(blm_remote_create(url, &o, NULL, &r, &err), &err);
    return r;
}

int main(int argc, char **argv)
{
    uint64_t devices   = job_number(argc, argv, "--devices", 50000);
    uint64_t requests  = job_number(argc, argv, "--requests", 40000);
    uint64_t unknown   = job_number(argc, argv, "--unknown", 85);
    uint64_t new       = job_number(argc, argv, "--new", 5000);
    const char *module = getenv("BLOOMERY_MODULE");
    char        url[64];
    start_server(job_text(argc, argv, "--module", module ? module : module_of_build()));
    redisContext *c = redisConnect("127.0.0.1", server.port);
    if (!c || c->err)
        job_trouble("no connection to Redis");
    blm_remote *filter = make_filter(url, devices + new);
    announce(filter, 0, devices);
    fill(c, 0, devices);

    blm_redis_options r = BLM_REDIS_OPTIONS_INIT;
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_dataset       plain, guarded;
    blm_error         err;
    blm_guard        *g;
    r.port       = server.port;
    r.prefix     = "device:";
    r.field      = "segment";
    r.timeout_ms = 10000;
    o.items      = devices;
    o.flags      = BLM_GUARD_ADVISORY; /* others write to the devices */
    job_need(blm_redis_open(&r, &plain, &err), &err);
    job_need(blm_redis_open(&r, &guarded, &err), &err);
    double start = job_seconds();
    job_need(blm_guard_open(&o, &guarded, &g, &err), &err);
    job_need(blm_guard_wait(g, &err), &err); /* built by SCAN */
    double    built = job_seconds() - start;
    blm_near *near;
    start              = job_seconds();
    blm_near_options n = BLM_NEAR_OPTIONS_INIT;
    n.stale_ms         = 60000; /* Redis may be away so long before every device is "maybe" */
    job_need(blm_near_open(url, &n, &near, &err), &err);
    double loaded = job_seconds() - start;

    struct way ways[WAYS] = { { .name = "Redis alone", .data = &plain },
                              { .name = "guard", .guard = g, .data = &plain },
                              { .name = "near copy", .near = near, .data = &plain } };
    reads(c);
    for (int i = 0; i < WAYS; i++) {
        serve(&ways[i], devices, requests, unknown);
        ways[i].reads = reads(c);
    }
    char            a[16];
    blm_guard_stats s = { .size = sizeof s };
    blm_guard_get_stats(g, &s);
    printf("%llu devices in Redis, %llu requests, %llu%% of them for unknown devices\n\n",
           (unsigned long long)devices, (unsigned long long)requests, (unsigned long long)unknown);
    printf("%-12s %12s %8s %8s %12s %15s\n", "", "Redis reads", "found", "wrong", "seconds",
           "µs per request");
    for (int i = 0; i < WAYS; i++)
        printf("%-12s %12llu %8llu %8llu %12.2f %15.2f\n", ways[i].name,
               (unsigned long long)ways[i].reads, (unsigned long long)ways[i].found,
               (unsigned long long)ways[i].wrong, ways[i].seconds,
               1e6 * ways[i].seconds / (double)requests);
    uint64_t       wrong = 0, saved[WAYS] = { 0 };
    blm_near_stats before = { .size = sizeof before }, after = { .size = sizeof after };
    putchar('\n');
    for (int i = 0; i < WAYS; i++) {
        wrong += ways[i].wrong;
        saved[i] = ways[0].reads > ways[i].reads ? ways[0].reads - ways[i].reads : 0;
        if (i)
            printf("round trips saved by the %s: %llu of %llu (%.1f%%)\n", ways[i].name,
                   (unsigned long long)saved[i], (unsigned long long)ways[0].reads,
                   100 * (double)saved[i] / (double)ways[0].reads);
    }
    printf("the guard's filter: %s, built by SCAN in %.2f s; rate %.2f%% (%.2f%% promised)\n",
           job_bytes((double)s.bytes, a, sizeof a), built, 100 * s.rate, 100 * s.promised);
    blm_near_get_stats(near, &before);
    printf("the near copy: %s, loaded in %.3f s\n", job_bytes((double)before.bytes, a, sizeof a),
           loaded);

    announce(filter, devices, devices + new);
    fill(c, devices, devices + new);
    job_need(blm_near_update(near, &err), &err); /* or wait: it asks ten times a second */
    blm_near_get_stats(near, &after);
    uint64_t guard_lacks = unheard_of(&ways[1], devices, devices + new);
    uint64_t near_lacks  = unheard_of(&ways[2], devices, devices + new);
    printf("\n%llu new devices from others: the guard, until its next SCAN, does not know %llu of "
           "them, "
           "the near copy %llu\n",
           (unsigned long long)new, (unsigned long long)guard_lacks,
           (unsigned long long)near_lacks);
    printf("the near copy took %.2f bytes for each of them\n",
           (double)(after.received - before.received) / (double)(new ? new : 1));

    job_promise(wrong == 0, "%llu answers were wrong", (unsigned long long)wrong);
    for (int i = 1; i < WAYS; i++)
        job_promise((double)saved[i] >= 0.97 * (double)unknown / 100 * (double)requests,
                    "the %s saved only %llu round trips", ways[i].name,
                    (unsigned long long)saved[i]);
    job_promise(near_lacks == 0, "the near copy does not know %llu new devices",
                (unsigned long long)near_lacks);
    blm_near_close(near);
    blm_remote_close(filter);
    job_need(blm_guard_close(g, &err), &err);
    plain.close(plain.ctx);
    redisFree(c);
    return job_end();
}
