/* SPDX-License-Identifier: MIT */
#include "guard/memory.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *plain_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *plain_zalloc(void *ctx, size_t size)
{
    (void)ctx;
    return calloc(1, size);
}

static void plain_free(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)size;
    free(p);
}

const blm_allocator blm__guard_allocator = { .alloc  = plain_alloc,
                                             .zalloc = plain_zalloc,
                                             .free   = plain_free };

void *blm__guard_alloc(const blm_allocator *a, size_t size) { return a->alloc(a->ctx, size); }

void *blm__guard_zalloc(const blm_allocator *a, size_t size)
{
    if (a->zalloc)
        return a->zalloc(a->ctx, size);
    void *p = a->alloc(a->ctx, size);
    if (p)
        memset(p, 0, size);
    return p;
}

void blm__guard_free(const blm_allocator *a, void *p, size_t size)
{
    if (p)
        a->free(a->ctx, p, size);
}

static void fill(blm_error *err, blm_status s, int number, const char *fmt, va_list args)
{
    if (!err)
        return;
    err->status = s;
    err->system = number;
    err->offset = BLM_NO_OFFSET;
    vsnprintf(err->text, sizeof err->text, fmt, args);
}

blm_status blm__guard_fail(blm_error *err, blm_status s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fill(err, s, 0, fmt, args);
    va_end(args);
    return s;
}

blm_status blm__guard_fail_system(blm_error *err, int number, const char *what, const char *path)
{
    blm_status s = number == ENOSPC ? BLM_E_SPACE : number == ENOMEM ? BLM_E_MEMORY : BLM_E_IO;
    blm__guard_fail(err, s, "%.160s: cannot %s (system error %d)", path, what, number);
    if (err)
        err->system = number;
    return s;
}
