/* SPDX-License-Identifier: MIT */
/*
 * Time for the benches: processor time of this thread, so that other work on the machine does not
 * count. Reading it is a system call of a few hundred nanoseconds. The cost of a pair of readings
 * is measured once and subtracted, so that short runs can be added up.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <stdint.h>
#include <time.h>

struct watch {
    double begun, spent; /* nanoseconds */
};

static inline double thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline double watch_cost(void)
{
    static double cost;
    if (cost > 0)
        return cost;
    cost = 1e6;
    for (int i = 0; i < 1000; i++) {
        double begun = thread_ns(), gone = thread_ns() - begun;
        if (gone > 0 && gone < cost)
            cost = gone;
    }
    return cost;
}

static inline void watch_go(struct watch *w) { w->begun = thread_ns(); }

static inline void watch_halt(struct watch *w)
{
    double gone = thread_ns() - w->begun - watch_cost();
    w->spent += gone > 0 ? gone : 0;
}

/* The smallest of several is the best, because a disturbance can only make a measurement longer. */
static inline void least(double *best, double ns)
{
    if (*best == 0 || ns < *best)
        *best = ns;
}

#endif
