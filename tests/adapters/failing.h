/* SPDX-License-Identifier: MIT */
/* A data set while memory fails: each call of it is made again and again, its first allocation failing,
 * its second, …, once alone and once with all after it. It answers right or with an error, what was
 * acknowledged is there, and afterwards all works. Include after cmocka.h. */
#ifndef BLM_ADAPTERS_FAILING_H
#define BLM_ADAPTERS_FAILING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/guard.h"
#include "sanitized.h"

static _Thread_local struct {
    bool     on, once, failed;
    bool     own; /* only what this program asks for itself, not the libraries it is linked with */
    uint64_t calls, fail_at;
} memory;

#if OWN_MALLOC
extern char  __executable_start, etext; /* the linker's */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static bool fails(const char *caller)
{
    if (!memory.on || (memory.own && (caller < &__executable_start || caller >= &etext)))
        return false;
    uint64_t i = memory.calls++;
    if (memory.once ? i != memory.fail_at : i < memory.fail_at)
        return false;
    return memory.failed = true;
}
#define FAILS fails(__builtin_return_address(0))
#define SEEN  __attribute__((visibility("default")))
SEEN void *malloc(size_t size) { return FAILS ? NULL : __libc_malloc(size); }
SEEN void *calloc(size_t n, size_t size) { return FAILS ? NULL : __libc_calloc(n, size); }
SEEN void *realloc(void *p, size_t size) { return FAILS ? NULL : __libc_realloc(p, size); }
#endif

/* Can allocations fail here? Not under valgrind either, which takes malloc's place. */
static inline bool memory_can_fail(void) { return OWN_MALLOC && !getenv("BLM_QUICK"); }

/* ---- rows ---- */

/* As long as a key may be before an adapter needs memory for it, and longer. */
static const char *const old_keys[] = {
    "short",
    "a key of more than 256 bytes "
    "........................................................................................"
    "........................................................................................"
    "........................................................................................"
};
#define OLD_KEYS (sizeof old_keys / sizeof *old_keys)

struct row {
    char   bytes[64];
    size_t len;
};
static bool keep_row(void *ctx, const void *bytes, size_t len)
{
    struct row *r = ctx;
    if (len > sizeof r->bytes - r->len)
        return false;
    memcpy(r->bytes + r->len, bytes, len);
    r->len += len;
    return true;
}

static blm_status get_row(const blm_dataset *d, const char *key, struct row *r)
{
    blm_error err = { .status = BLM_OK };
    *r            = (struct row){ .len = 0 };
    return d->get(d->ctx, key, strlen(key), keep_row, r, &err);
}

static bool row_is(const struct row *r, const char *text)
{
    return r->len == strlen(text) && memcmp(r->bytes, text, r->len) == 0;
}

static bool count_key(void *ctx, const void *key, size_t len)
{
    (void)key, (void)len;
    ++*(unsigned *)ctx;
    return true;
}

/* ---- stories ---- */

/* A call, and whether all is right after it; `st` is what it returned. */
struct story {
    const char *name;
    blm_status (*call)(const blm_dataset *d, const char *key, blm_error *err);
    bool (*right)(const blm_dataset *d, const char *key, blm_status st);
};

static struct row got;
static unsigned   named;
static uint64_t   rows;
static char       mark[BLM_MARK_MAX];
static size_t     mark_len;

static blm_status call_get(const blm_dataset *d, const char *key, blm_error *err)
{
    got = (struct row){ .len = 0 };
    return d->get(d->ctx, key, strlen(key), keep_row, &got, err);
}
static bool right_get(const blm_dataset *d, const char *key, blm_status st)
{
    (void)d, (void)key;
    return st == BLM_OK ? row_is(&got, "old") : st != BLM_E_ABSENT;
}
static blm_status call_absent(const blm_dataset *d, const char *key, blm_error *err)
{
    (void)key;
    return d->get(d->ctx, "absent", 6, keep_row, &got, err);
}
static bool right_absent(const blm_dataset *d, const char *key, blm_status st)
{
    (void)d, (void)key;
    return st != BLM_OK;
}
static blm_status call_put(const blm_dataset *d, const char *key, blm_error *err)
{
    return d->put(d->ctx, key, strlen(key), "new", 3, err);
}
static bool right_put(const blm_dataset *d, const char *key, blm_status st)
{
    struct row r;
    return get_row(d, key, &r) == BLM_OK &&
           (row_is(&r, "new") || (st != BLM_OK && row_is(&r, "old")));
}
static blm_status call_del(const blm_dataset *d, const char *key, blm_error *err)
{
    return d->del(d->ctx, key, strlen(key), err);
}
static bool right_del(const blm_dataset *d, const char *key, blm_status st)
{
    struct row r;
    blm_status is = get_row(d, key, &r);
    return st == BLM_OK ? is == BLM_E_ABSENT : st != BLM_E_ABSENT;
}
static blm_status call_scan(const blm_dataset *d, const char *key, blm_error *err)
{
    (void)key;
    named = 0;
    return d->scan(d->ctx, count_key, &named, err);
}
static bool right_scan(const blm_dataset *d, const char *key, blm_status st)
{
    (void)d, (void)key;
    return st != BLM_OK || named >= OLD_KEYS;
}
static blm_status call_count(const blm_dataset *d, const char *key, blm_error *err)
{
    (void)key;
    rows = OLD_KEYS;
    return d->count ? d->count(d->ctx, &rows, err) : BLM_OK;
}
static bool right_count(const blm_dataset *d, const char *key, blm_status st)
{
    (void)d, (void)key;
    return st != BLM_OK || rows == OLD_KEYS;
}
static blm_status call_mark(const blm_dataset *d, const char *key, blm_error *err)
{
    (void)key;
    return d->mark_write(d->ctx, "mark", 4, err);
}
static blm_status call_read(const blm_dataset *d, const char *key, blm_error *err)
{
    (void)key;
    return d->mark_read(d->ctx, mark, &mark_len, err);
}
static bool right_read(const blm_dataset *d, const char *key, blm_status st)
{
    (void)d, (void)key;
    return st == BLM_OK ? mark_len == 4 && memcmp(mark, "mark", 4) == 0 : st != BLM_E_ABSENT;
}
static bool right_mark(const blm_dataset *d, const char *key, blm_status st)
{
    blm_error err;
    return st != BLM_OK || right_read(d, key, call_read(d, key, &err));
}

static const struct story stories[] = {
    { "get", call_get, right_get },          { "get, absent", call_absent, right_absent },
    { "put", call_put, right_put },          { "del", call_del, right_del },
    { "scan", call_scan, right_scan },       { "count", call_count, right_count },
    { "mark_write", call_mark, right_mark }, { "mark_read", call_read, right_read },
};

/* The rows as they are before each call. */
static void put_rows(const blm_dataset *d)
{
    blm_error err = { .status = BLM_OK };
    for (size_t i = 0; i < OLD_KEYS; i++)
        if (d->put(d->ctx, old_keys[i], strlen(old_keys[i]), "old", 3, &err) != BLM_OK)
            fail_msg("%s", err.text);
    if (d->mark_write(d->ctx, "mark", 4, &err) != BLM_OK)
        fail_msg("%s", err.text);
}

typedef blm_status (*open_fn)(blm_dataset *out, blm_error *err);

static atomic_bool *returned; /* unless NULL: the call with the failing memory has */

/* One allocation of opening, or of a call, fails. False: there are not so many. */
static bool fail_in(open_fn open, const struct story *s, const char *key, uint64_t at, bool once)
{
    blm_dataset d   = { .size = sizeof d };
    blm_error   err = { .status = BLM_OK };
    memory.failed   = false;
    memory.calls    = 0;
    memory.fail_at  = at;
    memory.once     = once;
    memory.on       = !s;
    blm_status st   = open(&d, &err);
    memory.on       = false;
    if (returned && !s)
        *returned = true;
    if (st != BLM_OK) {
        if (s || !err.text[0])
            fail_msg("opening, allocation %llu: status %d, %s", (unsigned long long)at, (int)st,
                     err.text);
        return memory.failed;
    }
    if (s) {
        put_rows(&d);
        err       = (blm_error){ .status = BLM_OK };
        memory.on = true;
        st        = s->call(&d, key, &err);
        memory.on = false;
        if (returned)
            *returned = true;
        if (!s->right(&d, key, st) || (st != BLM_OK && st != BLM_E_ABSENT && !err.text[0]))
            fail_msg("%s, allocation %llu: status %d, %s", s->name, (unsigned long long)at, (int)st,
                     err.text);
    }
    put_rows(&d); /* it works again, through the same handle */
    d.close(d.ctx);
    return memory.failed;
}

/* Returns how many allocations there were. */
static uint64_t fail_everywhere(open_fn open)
{
    uint64_t all = 0;
#if OWN_MALLOC
    for (int once = 0; once < 2; once++) {
        for (uint64_t at = 0; fail_in(open, NULL, NULL, at, once); at++)
            all++;
        for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
            for (size_t k = 0; k < OLD_KEYS; k++)
                for (uint64_t at = 0; fail_in(open, &stories[i], old_keys[k], at, once); at++)
                    all++;
    }
    print_message("%llu allocations failed\n", (unsigned long long)all);
#else
    (void)open, (void)fail_in;
#endif
    return all;
}

#endif
