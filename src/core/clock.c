/* SPDX-License-Identifier: MIT */
#include "core/clock.h"

#include <time.h>

static uint64_t milliseconds(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void blm__clock_start(struct blm__clock *c, blm_clock_fn fn, void *ctx)
{
    *c = (struct blm__clock){ .fn = fn, .ctx = ctx };
    if (!fn)
        c->ahead = milliseconds(CLOCK_REALTIME) - milliseconds(CLOCK_MONOTONIC);
}

uint64_t blm__clock_now(const struct blm__clock *c)
{
    return c->fn ? c->fn(c->ctx) : milliseconds(CLOCK_MONOTONIC) + c->ahead;
}

void blm__clock_seen(struct blm__clock *c, uint64_t seen)
{
    uint64_t now = blm__clock_now(c);
    if (c->fn || now >= seen)
        return;
    c->back = seen - now;
    c->ahead += c->back;
}
