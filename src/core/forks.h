/* SPDX-License-Identifier: MIT */
/*
 * What must not be used in a forked child: a file's writer, a guard. Whoever makes one watches for
 * forks, and is told in the child, before fork returns there. That costs the calls in between
 * nothing, while asking for the process's number takes a system call each time.
 *
 * A child that was made without fork (clone, vfork) is not noticed.
 */
#ifndef BLM_CORE_FORKS_H
#define BLM_CORE_FORKS_H

struct blm__fork_watch {
    void (*in_child)(void *ctx); /* other threads are gone, and may have held any lock */
    void                   *ctx;
    struct blm__fork_watch *next, **from; /* in the list; from is NULL outside it */
};

void blm__fork_watch(struct blm__fork_watch *w, void (*in_child)(void *ctx), void *ctx);
/* Does nothing for one that does not watch. */
void blm__fork_unwatch(struct blm__fork_watch *w);

#endif
