/* SPDX-License-Identifier: MIT */
/*
 * Windows: filters that forget. A window has the keys that were added lately, by number or by time:
 *
 *     blm_options o = BLM_OPTIONS_INIT;
 *     o.kind      = BLM_WINDOW;
 *     o.items     = 1000000;            // the last million keys …
 *     o.window_ms = 600000;             // … or, with this, those of the last ten minutes, and
 *     o.rate      = 0.01;               // up to a million of them in that time
 *
 * What is promised
 *   A key is answered "maybe" for at least the window after its last add, counted in adds (those of
 *   known keys too) or in time. It is forgotten after at most window + slack. By number the rate
 *   holds for any length of run. By time it holds as long as no turn (a seventh of the window) gets
 *   more than a seventh of `items`. If one does, no key is forgotten early, but the rate is worse
 *   until that turn is forgotten: at 1%, 3.3% after twice its share, 78% if all `items` come in one
 *   turn. blm_get_stats measures it (rate_now, overfilled). To hold the rate through bursts, give as
 *   `items` seven times what comes in the busiest turn (blm_window.busiest).
 *   BLM_PRESENT from blm_add says that the key was there; it is renewed all the same.
 *
 * Time
 *   Milliseconds since 1970. By default it is the wall clock of the moment when the filter was made
 *   or opened, carried on by the monotonic clock: setting the wall clock does not touch a running
 *   filter, and a file knows how long it was closed. If the clock says an earlier time than the
 *   filter has seen, time stands still for a caller's clock until it has caught up. With the default
 *   clock it goes on from where the file was. blm_window.behind tells by how much. A jump ahead
 *   cannot be told from time that has passed, and forgets. Time ends at 2^44 − 1, in the year 2527:
 *   there it stands still, and nothing is forgotten any more. A clock that counts microseconds is past
 *   that from the start.
 *
 * Threads: with BLM_SHARED, any number of threads may add and check while turns change. Adds take
 * turns; checks wait for nobody.
 *
 * May still change before 1.0.
 */
#ifndef BLOOMERY_WINDOW_H
#define BLOOMERY_WINDOW_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct blm_window {
    size_t   size;
    bool     by_time;     /* lengths below are milliseconds; else keys */
    uint64_t length;      /* a key is remembered for at least this long … */
    uint64_t slack;       /* … and at most this much longer */
    uint32_t ages;        /* turns that are kept apart: 8, 16, 32 or 64 */
    uint64_t turn_length; /* of one of them */
    uint64_t adds;        /* in the ages that are kept, those of known keys too */
    uint64_t now, began;  /* by time: the filter's time, and when its turn began; else 0 */
    uint64_t behind;      /* by time: how far the clock is behind what the filter has seen */
    uint64_t share;       /* keys in one turn up to which the rate holds */
    uint64_t busiest;     /* most adds in a turn that is kept; known keys are in it: blm_get_ages */
} blm_window;
/* E_UNSUPPORTED: it is no window. Takes no time to get. */
BLM_API blm_status blm_get_window(const blm_filter *f, blm_window *out);

/* What was added in one turn. */
typedef struct blm_age {
    uint64_t     adds;
    blm_estimate estimated; /* different keys, from the bits */
    double       fill;
} blm_age;
/* The ages, from the turn of this moment back: writes at most `cap`, and returns how many there are;
 * 0: it is no window. Reads every bit. */
BLM_API size_t blm_get_ages(const blm_filter *f, blm_age *out, size_t cap);

/* Another clock from now on (NULL: the system's). Exclusive. */
BLM_API void blm_set_clock(blm_filter *f, blm_clock_fn fn, void *ctx);

#ifdef __cplusplus
}
#endif
#endif
