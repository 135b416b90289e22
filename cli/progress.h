/* SPDX-License-Identifier: MIT */
/* One line on the terminal that shows how far a long command has come: count, rate and time left.
 * Only on a terminal, only after a second, not with --quiet. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* unit: "lines", "keys". total: bytes of input, 0 if not known. */
void progress_start(const char *unit, uint64_t total);
/* Reports the counts so far. Cheap: call it once per batch. */
void progress_tick(uint64_t units, uint64_t bytes);
/* Erases the line, so that something else can be written. It comes back with the next tick. */
void progress_hide(void);
void progress_stop(void);

/* For blm_set_progress: ctx is what is being done ("syncing"); false once we are interrupted. */
bool progress_library(void *ctx, uint64_t done, uint64_t total);
/* The same for work that must be finished even when interrupted: always true. */
bool progress_to_the_end(void *ctx, uint64_t done, uint64_t total);

/* Seconds on a clock that only goes forward. */
double now(void);

#endif
