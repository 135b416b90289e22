/* SPDX-License-Identifier: MIT */
/* The handler sets a flag and nothing else. Reads are not restarted (no SA_RESTART), and waiting is
 * done with the signals let in only for the wait itself (ppoll). */
#include "interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t flag;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static void handle(int number)
{
    (void)number;
    flag = 1;
}

void interrupt_catch(void)
{
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old, mine = { .sa_handler = handle };
        sigemptyset(&mine.sa_mask);
        /* One that is ignored (nohup, a background job) stays ignored. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &mine, NULL);
    }
}

bool interrupted(void) { return flag != 0; }

bool interrupt_wait(int fd)
{
    sigset_t ours, before;
    sigemptyset(&ours);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(&ours, signals[i]);
    sigprocmask(SIG_BLOCK, &ours, &before);
    struct pollfd p = { .fd = fd, .events = POLLIN };
    while (!flag && ppoll(&p, 1, NULL, &before) < 0 && errno == EINTR)
        ;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !flag;
}
