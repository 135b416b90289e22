/* SPDX-License-Identifier: MIT */
/* The handler sets a flag and writes a byte to a pipe that every wait polls too. So a wait ends
 * whichever thread gets the signal, and no signal is missed between the test of the flag and the
 * wait. Reads are not restarted (no SA_RESTART). */
#include "interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static atomic_bool flag, woken; /* flag: set in the handler, read by every thread */
static int         alarm_pipe[2] = { -1, -1 };

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a handler may only store what needs no lock");

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static void ring(void)
{
    int     error = errno;
    ssize_t n     = write(alarm_pipe[1], "", 1); /* full: a wake-up is already pending */
    (void)n;
    errno = error;
}

static void handle(int number)
{
    (void)number;
    atomic_store(&flag, true);
    ring();
}

bool interrupt_ready(void)
{
    return alarm_pipe[0] >= 0 || pipe2(alarm_pipe, O_CLOEXEC | O_NONBLOCK) == 0;
}

void interrupt_catch(void)
{
    interrupt_ready();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old, mine = { .sa_handler = handle };
        sigemptyset(&mine.sa_mask);
        /* A signal that is ignored (nohup, a background job) stays ignored. */
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &mine, NULL);
    }
}

bool interrupted(void) { return atomic_load(&flag); }

void interrupt_wake(bool on)
{
    char bytes[64];
    atomic_store(&woken, on);
    if (on)
        ring();
    while (!on && !atomic_load(&flag) && read(alarm_pipe[0], bytes, sizeof bytes) > 0)
        ;
}

bool interrupt_wait(int fd)
{
    struct pollfd p[] = { { .fd = fd, .events = POLLIN },
                          { .fd = alarm_pipe[0], .events = POLLIN } }; /* −1: poll skips it */
    while (!interrupted() && !atomic_load(&woken) && poll(p, 2, -1) < 0 && errno == EINTR)
        ;
    return !interrupted() && !atomic_load(&woken);
}
