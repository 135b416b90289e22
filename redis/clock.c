/* SPDX-License-Identifier: MIT */
/* The time that windows go by. Commands run one at a time, on one thread. */
#include <time.h>

#include "bf.h"

static uint64_t held;

uint64_t bf_clock(void *ctx)
{
    struct timespec t;
    (void)ctx;
    if (held)
        return held;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint64_t bf_clock_hold(uint64_t ms)
{
    held        = 0;
    return held = ms ? ms : bf_clock(NULL);
}

void bf_clock_release(void) { held = 0; }
