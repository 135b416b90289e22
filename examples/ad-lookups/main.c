/* SPDX-License-Identifier: MIT */
/*
 * Ad lookups: for every ad request a device id is looked up in Redis, and most ids are unknown. A
 * guard with a local filter, built by SCAN, answers for unknown ids without a round trip.
 *
 *     ad-lookups [--devices 50000] [--requests 40000] [--unknown 85]
 *
 * The job starts its own redis-server. Reads are what Redis itself counts (INFO commandstats).
 */
#include <bloomery_redis.h>
#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/guard.h"
#include "common/job.h"
#include "common/redis_server.h"

static struct redis_server server;

static void stop_server(void) { redis_server_stop(&server); }

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
static void fill(redisContext *c, uint64_t devices)
{
    char id[40];
    for (uint64_t i = 0; i < devices; i++) {
        device_id(i, id);
        redisAppendCommand(c, "HSET device:%s segment %d seen 2026-03-02", id, segment_of(i));
    }
    for (uint64_t i = 0; i < devices; i++) {
        void *r = NULL;
        if (redisGetReply(c, &r) != REDIS_OK)
            job_trouble("Redis: %s", c->errstr);
        freeReplyObject(r);
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
    blm_guard   *guard; /* NULL: Redis is asked every time */
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

int main(int argc, char **argv)
{
    uint64_t devices  = job_number(argc, argv, "--devices", 50000);
    uint64_t requests = job_number(argc, argv, "--requests", 40000);
    uint64_t unknown  = job_number(argc, argv, "--unknown", 85);
    if (!redis_server_start(&server, NULL) && !(server.port = 0, redis_server_start(&server, NULL)))
        job_trouble("redis-server does not start: install it (apt-get install redis-server)");
    atexit(stop_server);
    redisContext *c = redisConnect("127.0.0.1", server.port);
    if (!c || c->err)
        job_trouble("no connection to Redis");
    fill(c, devices);

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
    double built = job_seconds() - start;

    struct way ways[2] = { { .name = "Redis alone", .data = &plain },
                           { .name = "guard", .guard = g, .data = &plain } };
    reads(c);
    for (int i = 0; i < 2; i++) {
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
    for (int i = 0; i < 2; i++)
        printf("%-12s %12llu %8llu %8llu %12.2f %15.2f\n", ways[i].name,
               (unsigned long long)ways[i].reads, (unsigned long long)ways[i].found,
               (unsigned long long)ways[i].wrong, ways[i].seconds,
               1e6 * ways[i].seconds / (double)requests);
    uint64_t saved = ways[0].reads > ways[1].reads ? ways[0].reads - ways[1].reads : 0;
    printf("\nround trips saved: %llu of %llu (%.1f%%)\n", (unsigned long long)saved,
           (unsigned long long)ways[0].reads, 100 * (double)saved / (double)ways[0].reads);
    printf("the filter: %s, built by SCAN in %.2f s; rate %.2f%% (%.2f%% promised)\n",
           job_bytes((double)s.bytes, a, sizeof a), built, 100 * s.rate, 100 * s.promised);

    job_promise(ways[0].wrong == 0 && ways[1].wrong == 0, "%llu answers were wrong",
                (unsigned long long)(ways[0].wrong + ways[1].wrong));
    job_promise((double)saved >= 0.97 * (double)unknown / 100 * (double)requests,
                "only %llu round trips were saved", (unsigned long long)saved);
    job_need(blm_guard_close(g, &err), &err);
    plain.close(plain.ctx);
    redisFree(c);
    return job_end();
}
