/* SPDX-License-Identifier: MIT */
#include "core/threads.h"

#if defined(__wasi__) /* has no threads */
void blm__threads_run(uint32_t threads, blm__task_fn task, void *ctx)
{
    (void)threads;
    task(ctx);
}
#else
#include <pthread.h>
#include <signal.h>

struct job {
    blm__task_fn task;
    void        *ctx;
};

static void *body(void *arg)
{
    struct job *j = arg;
    j->task(j->ctx);
    return NULL;
}

void blm__threads_run(uint32_t threads, blm__task_fn task, void *ctx)
{
    pthread_t  others[BLM__MAX_THREADS];
    uint32_t   started = 0;
    struct job j       = { task, ctx };
    if (threads > BLM__MAX_THREADS)
        threads = BLM__MAX_THREADS;
    if (threads > 1) {
        sigset_t all, before; /* a new thread inherits the mask */
        sigfillset(&all);
        /* A thread's own faults go to the program's handlers, if it has any. */
        sigdelset(&all, SIGBUS);
        sigdelset(&all, SIGSEGV);
        sigdelset(&all, SIGFPE);
        sigdelset(&all, SIGILL);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        while (started + 1 < threads && pthread_create(&others[started], NULL, body, &j) == 0)
            started++;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    task(ctx);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}
#endif
