/* SPDX-License-Identifier: MIT */
/* Rows on a real server while the adapter's memory fails, and hiredis'. hiredis 0.14 aborts when its own
 * does; 1.0 and later give an error, and so must the adapter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <hiredis/hiredis.h>

#include "adapters/failing_library.h"
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

static int start(void **state)
{
    (void)state;
    bool started = false;
    prefix       = "rows:";
    for (int i = 0; i < 5 && !started; i++) { /* somebody else may take the port that was free */
        server.port = 0;
        started     = redis_server_start(&server, NULL);
    }
    return started ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    redis_server_stop(&server);
    return 0;
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    memory.own   = true;
    uint64_t all = fail_everywhere(open_set);
    assert_true(!memory_can_fail() || all > 5);
}

static void nothing_else(void) {}

static void each_of_hiredis_does(void **state)
{
    uint64_t died, all;
    (void)state;
    if (!memory_can_fail())
        skip();
    all = fail_in_library("hiredis", open_set, nothing_else, &died);
    assert_true(all > 50);
#if HIREDIS_MAJOR >= 1
    assert_int_equal(died, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_fails_once),
                                        cmocka_unit_test(each_of_hiredis_does) };
    return cmocka_run_group_tests(tests, start, stop);
}
