/* SPDX-License-Identifier: MIT */
/* What the parts of one session share: oracle.c asks and judges, worker.c is a thread, session.c the
 * process. */
#ifndef TORTURE_SESSION_H
#define TORTURE_SESSION_H

#include <pthread.h>

#include "world.h"

struct here {
    const struct session *session;
    const struct adapter *data;
    blm_guard            *guard;
};
extern struct here here; /* of this process */

void ask_get(unsigned k);
void ask_maybe(unsigned k);
/* The keys from `first` on, in one call. */
void ask_many(unsigned first, const char *how);

struct worker {
    pthread_t     thread;
    struct chance chance;
    unsigned      id; /* owns the keys k with k % (threads + 1) == id */
};
void *work(void *worker);
/* Asks for a rebuild, a sync, or figures. */
void chatter(struct worker *w);

#endif
