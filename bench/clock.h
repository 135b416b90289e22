/* SPDX-License-Identifier: MIT */
/*
 * Time for the benches: processor time of this thread, since other work on the machine is not ours
 * to count. Reading it is a system call of some hundred nanoseconds; what a pair of readings costs
 * is measured once and taken off, so that short pieces can be added up.
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

/* The least of several is the truest: what disturbs a measurement only ever makes it longer. */
static inline void least(double *best, double ns)
{
    if (*best == 0 || ns < *best)
        *best = ns;
}

#endif
