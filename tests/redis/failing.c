/* SPDX-License-Identifier: MIT */
/* The module as it is, on a server whose memory fails on demand. Redis gives a module memory by calls that
 * abort the server, which the module makes for what is smaller than the command itself, and by calls
 * that may fail: these are counted here, and
 *
 *     FAIL.AT n [ON]    lets the n-th from now on fail (ON: and all after it); 0: none
 *     FAIL.CALLS        how many there were since
 *
 * or, before anybody can say so, FAIL_AT=n and FAIL_ON=1 in the server's environment, counted from when
 * the module is there: what is asked for while the server reads its file.
 */
#define RedisModule_OnLoad module_load
#include "module.c" /* of redis/ */
#undef RedisModule_OnLoad

#include <stdatomic.h>
#include <stdlib.h>

static void *(*try_alloc)(size_t);
static void *(*try_calloc)(size_t, size_t);
static atomic_llong calls, fail_at;
static atomic_bool  on;

static bool fails(void)
{
    long long n = atomic_fetch_add(&calls, 1) + 1;
    return fail_at && (n == fail_at || (on && n > fail_at));
}
static void *failing_alloc(size_t size) { return fails() ? NULL : try_alloc(size); }
static void *failing_calloc(size_t n, size_t size) { return fails() ? NULL : try_calloc(n, size); }

static int cmd_at(Ctx *ctx, Str **argv, int argc)
{
    long long n = 0;
    if (argc < 2 || api.StringToLongLong(argv[1], &n) != API_OK)
        return api.WrongArity(ctx);
    calls   = 0;
    on      = argc > 2;
    fail_at = n;
    return api.ReplyWithLongLong(ctx, n);
}

static int cmd_calls(Ctx *ctx, Str **argv, int argc)
{
    (void)argv, (void)argc;
    return api.ReplyWithLongLong(ctx, calls);
}

EXPORT int RedisModule_OnLoad(Ctx *ctx, Str **argv, int argc);

int RedisModule_OnLoad(Ctx *ctx, Str **argv, int argc)
{
    if (module_load(ctx, argv, argc) != API_OK)
        return API_ERR;
    try_alloc    = api.TryAlloc;
    api.TryAlloc = failing_alloc;
    if (api.TryCalloc) {
        try_calloc    = api.TryCalloc;
        api.TryCalloc = failing_calloc;
    }
    fail_at = getenv("FAIL_AT") ? atoll(getenv("FAIL_AT")) : 0;
    on      = getenv("FAIL_ON") != NULL;
    return api.CreateCommand(ctx, "fail.at", cmd_at, "readonly", 0, 0, 0) == API_OK &&
                   api.CreateCommand(ctx, "fail.calls", cmd_calls, "readonly", 0, 0, 0) == API_OK
               ? API_OK
               : API_ERR;
}
