/* SPDX-License-Identifier: MIT */
/*
 * The time that a window goes by, in milliseconds since 1970. The default is the wall clock as it
 * was when the filter was made or opened, carried on by the monotonic clock: nobody who sets the
 * wall clock makes a running filter forget, and a file that is opened later knows how much time has
 * passed. A caller may bring a clock of its own.
 */
#ifndef BLM_CORE_CLOCK_H
#define BLM_CORE_CLOCK_H

#include "bloomery.h"

struct blm__clock {
    blm_clock_fn fn; /* NULL: ours */
    void        *ctx;
    uint64_t     ahead; /* the wall clock less the monotonic one, when it was started */
    uint64_t     back;  /* by how much the wall clock was behind what a file had seen */
};

void     blm__clock_start(struct blm__clock *c, blm_clock_fn fn, void *ctx);
uint64_t blm__clock_now(const struct blm__clock *c);
/* It is at least `seen`: a file says so. A caller's clock is left alone. */
void blm__clock_seen(struct blm__clock *c, uint64_t seen);

#endif
