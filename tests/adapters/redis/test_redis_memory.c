/* SPDX-License-Identifier: MIT */
/* Rows on a real server while the adapter's memory fails. hiredis 0.14 aborts when its own does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "adapters/failing.h"
#include "bloomery_redis.h"
#include "examples/common/redis_server.h"

static struct redis_server server;
static const char         *prefix;

static blm_status open_set(blm_dataset *out, blm_error *err)
{
    blm_redis_options o = BLM_REDIS_OPTIONS_INIT;
    o.port              = server.port;
    o.prefix            = prefix;
    o.timeout_ms        = 5000;
    return blm_redis_open(&o, out, err);
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    bool started = false;
    for (int i = 0; i < 5 && !started; i++) { /* somebody else may take the port that was free */
        server.port = 0;
        started     = redis_server_start(&server, NULL);
    }
    assert_true(started);
    memory.own   = true;
    prefix       = "rows:";
    uint64_t all = fail_everywhere(open_set);
    redis_server_stop(&server);
    assert_true(!memory_can_fail() || all > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_fails_once) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
