/* SPDX-License-Identifier: MIT */
/*
 * Cache penetration: client → cache (Redis) → database (SQLite), and an attacker who asks for rows
 * that do not exist. No cache has them, so each request reaches the database. The same requests are
 * served three times: without protection, with negative caching (the cache remembers absent rows),
 * and with a guard in front of both tiers.
 *
 *     cache-penetration [--rows 10000] [--requests 20000] [--attack 80] [--cache 1500000]
 *
 * --attack: the attacker's share, in percent; --cache: bytes that Redis may use for it.
 */
#include <bloomery_sqlite.h>
#include <hiredis/hiredis.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/guard.h"
#include "common/job.h"
#include "common/redis_server.h"
#include "tiers.h"

static struct redis_server server;

static void stop_server(void) { redis_server_stop(&server); }

static size_t user_of(uint64_t i, char out[48])
{
    uint64_t mixed = i;
    return (size_t)snprintf(out, 48, "user-%016llx", (unsigned long long)job_random(&mixed));
}

static void make_database(const char *path, uint64_t rows)
{
    sqlite3      *db;
    sqlite3_stmt *insert;
    char          user[48], profile[64];
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, "create table users(name text primary key, profile text); begin", NULL,
                     NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "insert into users values(?, ?)", -1, &insert, NULL) != SQLITE_OK)
        job_trouble("SQLite: %s", sqlite3_errmsg(db));
    for (uint64_t i = 0; i < rows; i++) {
        size_t len = user_of(i, user);
        int    n   = snprintf(profile, sizeof profile, "{\"id\":%llu}", (unsigned long long)i);
        sqlite3_bind_text(insert, 1, user, (int)len, SQLITE_STATIC);
        sqlite3_bind_text(insert, 2, profile, n, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE)
            job_trouble("SQLite: %s", sqlite3_errmsg(db));
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    sqlite3_exec(db, "commit", NULL, NULL, NULL);
    sqlite3_close(db);
}

struct way {
    const char *name;
    bool        negative, guarded;
    uint64_t    requests, wrong, cache_reads, cache_writes, table_reads, user_requests, user_hits;
};

static blm_status ask(const struct way *w, blm_guard *g, const blm_dataset *tiers, const char *key,
                      size_t len)
{
    blm_error  err;
    blm_status st;
    if (w->guarded && job_impostor() == JOB_NO)
        return BLM_E_ABSENT;
    if (w->guarded && job_impostor() == JOB_REAL)
        st = blm_guard_get(g, key, len, NULL, NULL, &err);
    else
        st = tiers->get(tiers->ctx, key, len, NULL, NULL, &err);
    if (st != BLM_OK && st != BLM_E_ABSENT)
        job_need(st, &err);
    return st;
}

/* Users ask for rows that exist, some much more often than others. The attacker asks for a new
 * absent row each time. */
static void serve(struct way *w, struct tiers *t, blm_guard *g, uint64_t rows, uint64_t requests,
                  uint64_t attack)
{
    uint64_t    chance = 3;
    blm_dataset tiers  = tiers_dataset(t);
    freeReplyObject(redisCommand(t->cache, "FLUSHALL"));
    t->negative    = w->negative;
    t->cache_reads = t->cache_writes = t->cache_hits = t->table_reads = 0;
    for (uint64_t i = 0; i < requests; i++) {
        char     key[48];
        bool     attacker = job_below(&chance, 100) < attack;
        uint64_t one = job_below(&chance, rows), two = job_below(&chance, rows);
        uint64_t row    = attacker ? i + ((uint64_t)1 << 40) : one * two / rows;
        size_t   len    = user_of(row, key);
        uint64_t before = t->cache_hits;
        bool     found  = ask(w, g, &tiers, key, len) == BLM_OK;
        w->wrong += found == attacker;
        w->user_requests += !attacker;
        w->user_hits += !attacker && t->cache_hits > before;
    }
    w->requests     = requests;
    w->cache_reads  = t->cache_reads;
    w->cache_writes = t->cache_writes;
    w->table_reads  = t->table_reads;
}

static void connect_cache(struct tiers *t, uint64_t bytes)
{
    if (!redis_server_start(&server, NULL) && !(server.port = 0, redis_server_start(&server, NULL)))
        job_trouble("redis-server does not start: install it (apt-get install redis-server)");
    atexit(stop_server);
    t->cache = redisConnect("127.0.0.1", server.port);
    if (!t->cache || t->cache->err)
        job_trouble("no connection to Redis");
    redisReply *info = redisCommand(t->cache, "INFO memory"); /* what an empty Redis takes */
    const char *at   = info && info->str ? strstr(info->str, "used_memory:") : NULL;
    bytes += at ? strtoull(at + 12, NULL, 10) : 0;
    freeReplyObject(info);
    freeReplyObject(redisCommand(t->cache, "CONFIG SET maxmemory %llu maxmemory-policy allkeys-lru",
                                 (unsigned long long)bytes));
}

static blm_guard *open_guard(struct tiers *t, uint64_t rows)
{
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_dataset       d = tiers_dataset(t);
    blm_guard        *g;
    blm_error         err;
    o.items = rows;
    job_need(blm_guard_open(&o, &d, &g, &err), &err);
    job_need(blm_guard_wait(g, &err), &err);
    return g;
}

int main(int argc, char **argv)
{
    uint64_t           rows     = job_number(argc, argv, "--rows", 10000);
    uint64_t           requests = job_number(argc, argv, "--requests", 20000);
    uint64_t           attack   = job_number(argc, argv, "--attack", 80);
    char               path[512], a[16];
    struct tiers       t = { .cache = NULL };
    blm_sqlite_options s = BLM_SQLITE_OPTIONS_INIT;
    blm_error          err;
    job_path(path, sizeof path, "shop.db");
    make_database(path, rows);
    connect_cache(&t, job_number(argc, argv, "--cache", 1500000));
    s.path = path, s.table = "users", s.key = "name", s.value = "profile";
    job_need(blm_sqlite_open(&s, &t.table, &err), &err);
    blm_guard *g      = open_guard(&t, rows);
    struct way ways[] = { { .name = "cache only" },
                          { .name = "negative caching", .negative = true },
                          { .name = "guard", .guarded = true } };
    for (size_t i = 0; i < 3; i++)
        serve(&ways[i], &t, g, rows, requests, attack);

    blm_guard_stats gs = { .size = sizeof gs };
    blm_guard_get_stats(g, &gs);
    printf("%llu rows, %llu requests, %llu%% of them an attack\n\n", (unsigned long long)rows,
           (unsigned long long)requests, (unsigned long long)attack);
    printf("%-18s %12s %13s %15s %16s\n", "", "cache reads", "cache writes", "database reads",
           "users' hit rate");
    for (size_t i = 0; i < 3; i++)
        printf("%-18s %12llu %13llu %15llu %15.1f%%\n", ways[i].name,
               (unsigned long long)ways[i].cache_reads, (unsigned long long)ways[i].cache_writes,
               (unsigned long long)ways[i].table_reads,
               100 * (double)ways[i].user_hits / (double)ways[i].user_requests);
    printf("\nthe guard's filter: %s; rate %.2f%% (%.2f%% promised)\n",
           job_bytes((double)gs.bytes, a, sizeof a), 100 * gs.rate, 100 * gs.promised);

    const struct way *bare = &ways[0], *guarded = &ways[2];
    double            attacks = (double)requests * (double)attack / 100;
    job_promise(!bare->wrong && !ways[1].wrong && !guarded->wrong, "%llu answers were wrong",
                (unsigned long long)(bare->wrong + ways[1].wrong + guarded->wrong));
    job_promise((double)(bare->table_reads - guarded->table_reads) >= 0.97 * attacks,
                "%llu database reads with the guard, %llu without",
                (unsigned long long)guarded->table_reads, (unsigned long long)bare->table_reads);
    job_promise((double)guarded->cache_reads <= (double)requests - 0.97 * attacks,
                "%llu cache reads with the guard", (unsigned long long)guarded->cache_reads);
    job_need(blm_guard_close(g, &err), &err);
    t.table.close(t.table.ctx);
    redisFree(t.cache);
    return job_end();
}
