/* SPDX-License-Identifier: MIT */
/* The handler calls nothing that is not async-signal-safe: no allocation, no stdio. It finds the
 * file in /proc/self/maps by the address; where there is no such file, the message has no name. */
#include "fault.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "say.h"

#define PATH_ROOM 600

struct maps {
    int    fd;
    char   bytes[512];
    size_t at, len;
};

/* The next byte, 0 at the end. */
static char next(struct maps *m)
{
    if (m->at == m->len) {
        ssize_t n = read(m->fd, m->bytes, sizeof m->bytes);
        m->at     = 0;
        m->len    = n > 0 ? (size_t)n : 0;
        if (n <= 0)
            return 0;
    }
    return m->bytes[m->at++];
}

/* A hexadecimal number and the byte after it. */
static uintptr_t number(struct maps *m)
{
    uintptr_t v = 0;
    for (char c; (c = next(m)) != 0;) {
        if (c >= '0' && c <= '9')
            v = v << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v << 4 | (uintptr_t)(c - 'a' + 10);
        else
            break;
    }
    return v;
}

/* "from-to mode offset device inode      path\n": keeps the path, if it has one and is wanted. */
static bool read_line(struct maps *m, uintptr_t address, char *path)
{
    uintptr_t from = number(m), to = number(m);
    bool      wanted = address >= from && address < to;
    size_t    n      = 0;
    for (char c; (c = next(m)) != 0 && c != '\n';)
        if (wanted && n < PATH_ROOM - 1 && (n > 0 || c == '/'))
            path[n++] = c;
    path[n] = 0;
    return wanted;
}

static void find_path(const void *address, char *path)
{
    struct maps m = { .fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC) };
    path[0]       = 0;
    if (m.fd < 0)
        return;
    do
        if (read_line(&m, (uintptr_t)address, path))
            break;
    while (m.len > 0);
    close(m.fd);
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
    char path[PATH_ROOM];
    (void)signal_number, (void)context;
    find_path(info->si_addr, path);
    progress_hide();
    say_at_once(path[0] ? path : "a mapped filter",
                ": the file was cut or overwritten while it was in use, or the disk failed: use "
                "another copy");
    _exit(EXIT_TROUBLE);
}

void fault_catch(void)
{
    struct sigaction a = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
    sigemptyset(&a.sa_mask);
    sigaction(SIGBUS, &a, NULL);
}
