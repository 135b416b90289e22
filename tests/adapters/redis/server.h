/* SPDX-License-Identifier: MIT */
/* A real server for the tests of the Redis adapter, what others do to it, and a guard over its rows. */
#ifndef BLM_TESTS_ADAPTERS_REDIS_SERVER_H
#define BLM_TESTS_ADAPTERS_REDIS_SERVER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery/guard.h"
#include "bloomery_redis.h"
#include "examples/common/redis_server.h"

#include <hiredis/hiredis.h>

static struct redis_server server;

static int start_server(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) { /* somebody else may take the port that was free */
        server.port = 0;
        if (redis_server_start(&server, NULL))
            return 0;
    }
    print_error("redis-server does not start: apt-get install redis-server\n");
    return -1;
}

static int stop_server(void **state)
{
    (void)state;
    redis_server_stop(&server);
    return 0;
}

/* What an outsider does. */
static void outsider(const char *format, ...)
{
    va_list       args;
    redisContext *c = redisConnect("127.0.0.1", server.port);
    assert_false(c->err);
    va_start(args, format);
    redisReply *r = redisvCommand(c, format, args);
    va_end(args);
    assert_non_null(r);
    if (r->type == REDIS_REPLY_ERROR)
        fail_msg("%s: %s", format, r->str);
    freeReplyObject(r);
    redisFree(c);
}

static blm_redis_options options(void)
{
    blm_redis_options o = BLM_REDIS_OPTIONS_INIT;
    o.port              = server.port;
    o.timeout_ms        = 5000;
    return o;
}

/* For scans: how many keys are named. */
static inline bool count_key(void *ctx, const void *key, size_t len)
{
    assert_true(len == 0 || key != NULL);
    ++*(unsigned *)ctx;
    return true;
}

static inline blm_guard *guard_over(const blm_redis_options *r, uint32_t flags)
{
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_dataset       d;
    blm_guard        *g;
    blm_error         err;
    o.items = 10000;
    o.flags = flags;
    assert_int_equal(blm_redis_open(r, &d, &err), BLM_OK);
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
    assert_int_equal(blm_guard_wait(g, &err), BLM_OK);
    return g;
}

#endif
