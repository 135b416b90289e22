/* SPDX-License-Identifier: MIT */
/*
 * A guard that follows Redis while others write: rows set past it, connections killed, databases
 * swapped, scans that fail. A follower may be late, so it is asked until it has caught up: once
 * nothing is written any more, no row may stay absent.
 */
#include <bloomery_redis.h>
#include <hiredis/hiredis.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

#define PATIENCE 60 /* seconds until "stays absent": a follower that works needs a few */

static redisContext *line;

static void tell(const char *words)
{
    redisReply *r = redisCommand(line, words);
    if (!r || r->type == REDIS_REPLY_ERROR)
        violated("follow: %s: %s", words, r ? r->str : line->errstr);
    if (r)
        freeReplyObject(r);
}

/* Written past the guard. */
static void set_row(unsigned k)
{
    char   key[KEY_ROOM];
    size_t len = key_bytes(k, key);
    void  *r   = redisCommand(line, "SET row:%b 1", key, len);
    if (!r)
        violated("follow: SET: %s", line->errstr);
    else
        freeReplyObject(r);
    claim_set(k, HELD);
}

static void pause_ms(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&t, NULL);
}

static unsigned absent_rows(blm_guard *g)
{
    char     key[KEY_ROOM];
    unsigned absent = 0;
    for (unsigned k = 0; k < world->keys; k++)
        absent += claim_of(claim_now(k)) == HELD && !blm_guard_maybe(g, key, key_bytes(k, key));
    return absent;
}

static void catch_up(blm_guard *g, const char *after)
{
    unsigned absent = 0;
    for (int tries = 0; tries < PATIENCE * 20; tries++) {
        absent = absent_rows(g);
        if (absent == 0 && errand_stats(g).trusted)
            return;
        pause_ms(50);
    }
    violated("follow: after %s, %u of %u rows stay absent, and the guard is %s", after, absent,
             world->keys, errand_stats(g).trusted ? "trusted" : "not trusted");
}

/* ---- what happens to a follower ------------------------------------------------------------ */

static unsigned written; /* rows 0 … written - 1 are there */

/* The connection is lost and `rows` rows are written before it can come back: the server does all
 * that in one go. */
static void gap(unsigned rows)
{
    unsigned replies = 1;
    redisAppendCommand(line, "CLIENT KILL TYPE pubsub");
    for (; rows > 0 && written < world->keys; rows--, replies++) {
        char key[KEY_ROOM];
        redisAppendCommand(line, "SET row:%b 1", key, key_bytes(written, key));
        claim_set(written++, HELD);
    }
    for (void *r; replies > 0; replies--) {
        if (redisGetReply(line, &r) != REDIS_OK) {
            violated("follow: a gap: %s", line->errstr);
            return;
        }
        freeReplyObject(r);
    }
}

static void gap_beside_rebuild(blm_guard *g, struct chance *c)
{
    blm_guard_rebuild(g, NULL);
    pause_ms((long)pick(c, 60));
    if (world->seed % 3 == 2)
        faults_fail_scans(2);
    gap(world->keys / 8);
    catch_up(g, "a gap beside a rebuild");
}

static void swap(blm_guard *g, struct chance *c)
{
    unsigned more = written + world->keys / 8;
    tell("SELECT 1");
    tell("FLUSHDB");
    for (unsigned k = 0; k < written; k++)
        set_row(k);
    for (; written < more && written < world->keys; written++)
        set_row(written);
    tell("SELECT 0");
    tell("SWAPDB 0 1");
    if (once_in(c, 2))
        pause_ms((long)pick(c, 200));
    catch_up(g, "a swap of databases");
}

static void plain_writes(blm_guard *g, struct chance *c)
{
    for (unsigned n = world->keys / 8; n > 0 && written < world->keys; n--) {
        set_row(written++);
        if (once_in(c, 200))
            gap(1);
    }
    catch_up(g, "writes");
}

static void follow(struct errand *e)
{
    struct chance       c = { e->session.seed };
    blm_redis_options   o = BLM_REDIS_OPTIONS_INIT;
    blm_redis_follower *f = NULL;
    blm_guard          *g = errand_guard(e);
    char                path[120];
    blm_error           err;
    redis_socket(path);
    o.socket = path;
    o.prefix = "row:";
    line     = redisConnectUnix(path);
    if (blm_redis_follow(&o, g, &f, &err) != BLM_OK) {
        violated("follow: %s", err.text);
        return;
    }
    for (unsigned round = 0; round < 8 && !atomic_load(&world->violated); round++) {
        if (round % 2 == 0)
            plain_writes(g, &c);
        else if (world->seed % 3 == 0)
            swap(g, &c);
        else
            gap_beside_rebuild(g, &c);
    }
    blm_redis_unfollow(f);
    blm_guard_close(g, NULL);
    redisFree(line);
    count_up(N_AUDITED, world->keys);
}

/* By the seed: swaps; rebuilds that take long; rebuilds that fail twice. */
void theme_follow(const struct adapter *a, struct chance *c)
{
    struct errand e = { .adapter = a };
    make_keys(c, 2000, 2400);
    world->variant        = 0;
    e.session             = plain(a, c);
    e.session.guard.flags = BLM_GUARD_ADVISORY;
    e.session.guard.path  = once_in(c, 2) ? NULL : world->path;
    e.session.guard.rate  = 0.01;
    e.session.faults      = (struct faults){ .scan_us = world->seed % 3 == 1 ? 40 : 0 };
    apart(follow, &e);
}
