/* SPDX-License-Identifier: MIT */
/* Telling a story while memory fails (api/test_failing_calls.c): which allocation fails, the calls that are
 * made meanwhile and what each must say, and keys, options and bytes for stories. */
#ifndef BLM_UNIT_FAILING_STORY_H
#define BLM_UNIT_FAILING_STORY_H

#include <ctype.h>
#include <dirent.h>
#include <unistd.h>

#include "bloomery/bip37.h"
#include "bloomery/delta.h"
#include "bloomery/embed.h"
#include "bloomery/far.h"
#include "bloomery/fixed.h"
#include "bloomery/guard.h"
#include "bloomery/inline.h"
#include "bloomery/maths.h"
#include "bloomery/parquet.h"
#include "bloomery/redisbloom.h"
#include "bloomery/spill.h"
#include "bloomery/window.h"
#include "unit/files.h"
#include "unit/guard/rows.h"

#include "json.h"
#include "sanitized.h"

static struct meter  meter;
static blm_allocator metered;

/* ---- malloc itself ----
 *
 * For what asks the C library: the default allocator, zlib, jansson. The sanitizers have a malloc of
 * their own, which stays. */

static _Thread_local struct {
    bool     on;
    uint64_t calls, fail_at;
    bool     once;
} libc;

#if OWN_MALLOC
void       *__libc_malloc(size_t size);
void       *__libc_calloc(size_t n, size_t size);
static bool libc_fails(void)
{
    if (!libc.on)
        return false;
    uint64_t i = libc.calls++;
    return libc.once ? i == libc.fail_at : i >= libc.fail_at;
}
/* Visible, so that other libraries ask these too. */
__attribute__((visibility("default"))) void *malloc(size_t size)
{
    return libc_fails() ? NULL : __libc_malloc(size);
}
__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
    return libc_fails() ? NULL : __libc_calloc(n, size);
}
#endif

/* ---- telling a story ---- */

#define NAMES 256u
static struct {
    char   name[NAMES][48];
    size_t count;
} visited;

static bool among(const char *name)
{
    for (size_t i = 0; i < visited.count; i++)
        if (strcmp(visited.name[i], name) == 0)
            return true;
    return false;
}

/* Notes the functions that a line of source calls. */
static void visit(const char *line)
{
    for (const char *at = line; (at = strstr(at, "blm_"));) {
        size_t len = 0;
        while (isalnum((unsigned char)at[len]) || at[len] == '_')
            len++;
        char name[48];
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        if (at[len] == '(' && !among(name)) {
            assert_true(visited.count < NAMES);
            memcpy(visited.name[visited.count++], name, sizeof name);
        }
        at += len;
    }
}

static void arm(uint64_t fail_at, bool once)
{
    meter.calls = libc.calls = 0;
    meter.fail_at = libc.fail_at = fail_at;
    meter.once = libc.once = once;
}
static bool failed(void) { return meter.calls > meter.fail_at || libc.calls > libc.fail_at; }
static void disarm(void)
{
    meter.fail_at = libc.fail_at = UINT64_MAX;
    meter.once = libc.once = false;
}

/* Between these two nothing fails, and nothing is counted. */
static struct meter held;
static void         hold(void)
{
    held = meter;
    disarm();
}
static void go_on(void)
{
    meter.calls   = held.calls;
    meter.fail_at = held.fail_at;
    meter.once    = held.once;
}

static bool fired; /* in this telling */

/* A call that may run out of memory, and says so, unless it may do without. */
#define CALL(call, text, may)                                                  \
    do {                                                                       \
        visit(text);                                                           \
        bool       before_ = failed();                                         \
        blm_status st_     = (call);                                           \
        if (!before_ && failed()) {                                            \
            fired = true;                                                      \
            disarm();                                                          \
            if (st_ != BLM_E_MEMORY && !(may))                                 \
                fail_msg("%s without memory: %s", text, blm_status_name(st_)); \
            if (st_ == BLM_E_MEMORY)                                           \
                st_ = (call);                                                  \
        }                                                                      \
        if (st_ < 0)                                                           \
            fail_msg("%s: %s", text, blm_status_name(st_));                    \
    } while (0)
#define TRY(call) CALL(call, #call, false)
#define MAY(call) CALL(call, #call, true)

/* A call that needs no memory. */
#define ASK(call)                                   \
    do {                                            \
        visit(#call);                               \
        uint64_t calls_ = meter.calls + libc.calls; \
        (void)(call);                               \
        if (meter.calls + libc.calls != calls_)     \
            fail_msg("%s asks for memory", #call);  \
    } while (0)

/* ---- what stories share ---- */

#define KEYS 300u
static uint64_t number[KEYS];
static blm_key  keys[KEYS];

static void make_keys(void)
{
    for (uint64_t i = 0; i < KEYS; i++) {
        number[i] = i * 0x9e3779b97f4a7c15u;
        keys[i]   = (blm_key){ &number[i], 8 };
    }
}

static blm_options with(blm_kind kind)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = kind;
    o.items       = kind == BLM_CUCKOO ? 8 * KEYS : KEYS; /* it keeps keys that come again */
    o.rate        = 0.01;
    o.flags       = BLM_SEEDED;
    o.allocator   = &metered;
    return o;
}

static bool nowhere(void *ctx, const void *bytes, size_t len)
{
    (void)ctx;
    (void)bytes;
    (void)len;
    return true;
}

static bool onwards(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    return done <= total;
}

static struct bytes golden(const char *path)
{
    char whole[512];
    snprintf(whole, sizeof whole, TEST_DATA "/golden/%s", path);
    return slurp(whole);
}

static blm_status read_bytes(void *ctx, uint64_t offset, void *out, size_t len, blm_error *err)
{
    const struct bytes *b = ctx;
    (void)err;
    assert_true(offset <= b->len && len <= b->len - offset);
    memcpy(out, b->p + offset, len);
    return BLM_OK;
}

#endif
