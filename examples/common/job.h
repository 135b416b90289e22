/* SPDX-License-Identifier: MIT */
/*
 * What the jobs of examples/ share: arguments, seeded random numbers, a clock, a scratch directory,
 * and promises that are checked while the job runs. Nothing here is needed to use bloomery.
 *
 * A job exits with 0 if every promise held, 1 if one was broken, 2 if the job could not be done.
 * With BLOOMERY_EXAMPLE_FILTER=maybe (or no) in the environment, every filter of the job is
 * replaced by one that always answers "maybe" (or "no"). tests/jobs checks that each job notices.
 */
#ifndef EXAMPLES_JOB_H
#define EXAMPLES_JOB_H

#include <bloomery.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the filter, or an impostor ---- */

typedef enum job_answer { JOB_REAL, JOB_MAYBE, JOB_NO } job_answer;

/* What BLOOMERY_EXAMPLE_FILTER asks for. */
job_answer job_impostor(void);
/* `real`, or the impostor's answer if there is one. */
bool job_answers(bool real);
/* blm_check, and the impostor's answer. */
bool job_check(const blm_filter *f, const void *key, size_t len);
/* Makes a filter. If that fails, the job ends. */
blm_filter *job_filter(blm_kind kind, uint64_t items, double rate, uint32_t flags);

/* ---- promises ---- */

/* If the promise did not hold, says what was promised; job_end then returns 1. */
void job_promise(bool held, const char *format, ...) __attribute__((format(printf, 2, 3)));
int  job_end(void);
/* The job cannot be done: says why and exits with 2. */
void job_trouble(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
/* The same with the text of a failed call. */
void job_need(blm_status status, const blm_error *err);

/* ---- arguments, random numbers, time, files ---- */

/* The number after `name` (--keys 1e6), or the default. */
uint64_t    job_number(int argc, char **argv, const char *name, uint64_t otherwise);
const char *job_text(int argc, char **argv, const char *name, const char *otherwise);

uint64_t    job_random(uint64_t *state);            /* 64 bits, splitmix64 */
uint64_t    job_below(uint64_t *state, uint64_t n); /* 0 … n − 1 */
double      job_seconds(void);                      /* wall time, from an arbitrary start */
double      job_cpu_seconds(void);                  /* processor time of this process */
const char *job_scratch(void);                      /* a directory that is removed at the end */
void        job_path(char *out, size_t room, const char *name); /* a path inside it */
/* "1.2 MB"; `room` of 16 is enough. */
const char *job_bytes(double bytes, char *out, size_t room);

#ifdef __cplusplus
}
#endif
#endif
