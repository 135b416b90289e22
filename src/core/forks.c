/* SPDX-License-Identifier: MIT */
/* A list of watchers, which fork finds unlocked and whole: see forks.h. */
#include "core/forks.h"

#ifdef __wasi__ /* nobody forks there */

void blm__fork_watch(struct blm__fork_watch *w, void (*child)(void *ctx), void *ctx)
{
    (void)w, (void)child, (void)ctx;
}
void blm__fork_unwatch(struct blm__fork_watch *w) { (void)w; }

#else

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

static struct {
    pthread_mutex_t         lock;
    struct blm__fork_watch *first;
    bool                    told; /* the system knows of our handlers */
} watchers = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void before_fork(void) { pthread_mutex_lock(&watchers.lock); }
static void in_parent(void) { pthread_mutex_unlock(&watchers.lock); }

static void in_child(void)
{
    pthread_mutex_unlock(&watchers.lock);
    for (struct blm__fork_watch *w = watchers.first; w; w = w->next)
        w->in_child(w->ctx);
}

void blm__fork_watch(struct blm__fork_watch *w, void (*child)(void *ctx), void *ctx)
{
    w->in_child = child;
    w->ctx      = ctx;
    pthread_mutex_lock(&watchers.lock);
    if (!watchers.told)
        watchers.told = pthread_atfork(before_fork, in_parent, in_child) == 0;
    w->from = &watchers.first;
    w->next = watchers.first;
    if (w->next)
        w->next->from = &w->next;
    watchers.first = w;
    pthread_mutex_unlock(&watchers.lock);
}

void blm__fork_unwatch(struct blm__fork_watch *w)
{
    pthread_mutex_lock(&watchers.lock);
    if (w->from) {
        *w->from = w->next;
        if (w->next)
            w->next->from = w->from;
        w->from = NULL;
    }
    pthread_mutex_unlock(&watchers.lock);
}

#endif
