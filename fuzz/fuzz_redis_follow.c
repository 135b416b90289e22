/* SPDX-License-Identifier: MIT */
/* A guard that follows a Redis server with any replies and messages, also when connections are lost:
 * each message is understood or ignored, and whatever they say, a row that is there is found. The first
 * byte says what the rows are. */
#include <bloomery/guard.h>
#include <bloomery_redis.h>
#include <sched.h>

#include "replies.h"

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    (void)ctx, (void)key, (void)len, (void)value, (void)value_ctx, (void)err;
    return BLM_OK; /* every row that is asked for is there */
}

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    (void)ctx, (void)err;
    return each(each_ctx, "key", 3) ? BLM_OK : BLM_E_CANCELLED;
}

static blm_guard *open_guard(void)
{
    const blm_dataset d      = { .size = sizeof d, .get = get, .scan = scan };
    blm_guard_options o      = BLM_GUARD_OPTIONS_INIT;
    blm_options       filter = BLM_OPTIONS_INIT;
    blm_guard        *g      = NULL;
    filter.kind              = BLM_CLASSIC;
    o.items                  = 10;
    o.filter                 = &filter;
    o.remember               = 16;
    o.flags                  = BLM_GUARD_MANUAL | BLM_GUARD_ADVISORY;
    must(blm_guard_open(&o, &d, &g, NULL) == BLM_OK);
    return g;
}

/* Until the connection that it subscribed on has ended, and one more try was made. */
static void listen_to_all(blm_redis_follower *f)
{
    blm_redis_follow_stats s = { .size = sizeof s };
    for (int i = 0; i < 2000 && s.gaps == 0; i++) {
        sched_yield();
        blm_redis_follow_get_stats(f, &s);
    }
    must(s.puts + s.deletes <= said.len / 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blm_redis_options   o = BLM_REDIS_OPTIONS_INIT;
    blm_redis_follower *f = NULL;
    blm_error           err;
    if (size < 1 || size > 60000)
        return 0;
    blm_guard *g = open_guard();
    o.socket     = "/nowhere";
    o.timeout_ms = 1000;
    o.prefix     = data[0] & 1 ? "r:" : NULL;
    o.database   = data[0] & 2 ? 3 : 0;
    replies_begin(data + 1, size - 1);
    blm_status st = blm_redis_follow(&o, g, &f, &err);
    must(st == BLM_OK ? f != NULL : !f && err.status == st && err.text[0]);
    if (f) {
        listen_to_all(f);
        blm_redis_unfollow(f);
    }
    replies_end();
    blm_guard_wait(g, NULL);
    must(blm_guard_get(g, "key", 3, NULL, NULL, NULL) == BLM_OK);
    must(blm_guard_close(g, NULL) == BLM_OK);
    return 0;
}
