/* SPDX-License-Identifier: MIT */
/*
 * What the parts of load.threads share. threads.c starts and kills workers; filters.c and guarded.c are
 * what a worker's threads do, and what must be true of what it leaves.
 */
#ifndef BLOOMERY_TESTS_LOAD_H
#define BLOOMERY_TESTS_LOAD_H

#include <bloomery.h>
#include <stdatomic.h>

#define MOST_THREADS 256
#define ROWS         4096u    /* of the guard, a thread */
#define RECENT       256u     /* keys of a window that a thread remembers */
#define CAPACITY     2000000u /* keys of a file, then comes the next */

/* What outlives a worker. Adds are acknowledged here when they have returned. */
struct oracle {
    _Atomic uint64_t file; /* the number of the file in use */
    /* Keys 0 … of the thread, in file n at [n % 2]: the next file is made ready beside this one. */
    _Atomic uint64_t acked[2][MOST_THREADS];
    _Atomic uint64_t total[2];  /* adds begun in the file */
    _Atomic uint64_t begun;     /* adds, of all threads and files */
    _Atomic uint64_t all_acked; /* … acknowledged */
    /* Questions about what was acknowledged: all, those after a kill or a close; wrong answers. */
    _Atomic uint64_t asked, verified, denied;
    _Atomic uint64_t errors;      /* calls that failed, */
    _Atomic int      first_error; /* … and the status of one */
    _Atomic uint64_t ready;       /* threads that run */
    _Atomic uint64_t refused;     /* absent keys that the guard's filter kept from the data set */
    /* A window's: how many adds had begun with this one (0: none is known), and its key. */
    _Atomic uint64_t at[MOST_THREADS][RECENT], number[MOST_THREADS][RECENT];
    /* The guard's data set; what callers were told of it, below a count that rises with each call. */
    _Atomic uint8_t  row[MOST_THREADS][ROWS];
    _Atomic uint32_t told[MOST_THREADS][ROWS];
    uint8_t          mark[2][64];
    uint8_t          mark_len[2];
    _Atomic uint32_t mark_at; /* 0: none was written; else slot mark_at % 2 */
};

struct load {
    void (*open)(void);      /* in a new worker, before its threads */
    void *(*thread)(void *); /* its number; never returns */
    void (*verify)(void);    /* in the parent, after a kill: asks for everything acknowledged */
};

extern struct oracle    *shared;
extern unsigned          threads;
extern blm_kind          kind;
extern const struct load load_filter, load_window, load_guard;

void die(const char *what, const blm_error *e);
void failed(blm_status s);
/* The answers about keys that must be there; `after` a kill or a close. */
void     judge(uint64_t asked, uint64_t denied, bool after);
uint64_t next(uint64_t *rng);
size_t   key_of(unsigned thread, uint64_t i, char out[32]);
void     path_of(uint64_t file, char out[256]);

#endif
