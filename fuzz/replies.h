/* SPDX-License-Identifier: MIT */
/*
 * A Redis server that says what the fuzzer likes. There is none: connect() and send() are ours here, and
 * every connection is a pair of sockets. For each command that is sent, one reply of the input comes back;
 * after the last one, or with one that is not whole, all that is left and the end. Nothing leaves this
 * process, whatever server a reply redirects to, and no reply is waited for. Where the input has dividing
 * lines, the second connection is given what is behind the first of them, and so on; else each is given
 * all of it.
 */
#ifndef BLM_FUZZ_REPLIES_H
#define BLM_FUZZ_REPLIES_H

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "decode.h"

#define OURS         __attribute__((visibility("default")))
#define REPLIES_NEXT "\r\n--\r\n"

static struct {
    const uint8_t *bytes;
    size_t         len;
    struct said_one {
        int            fd, far; /* the other end stays open until the input is done */
        const uint8_t *at, *end;
    } one[64];
    int count;
} said;

/* The replies for the next connection; for those past the last part, the last. */
static void said_part(struct said_one *o)
{
    const uint8_t *end = said.bytes + said.len;
    o->at              = said.bytes;
    o->end             = end;
    for (int i = 0; i <= said.count; i++) {
        const uint8_t *line =
            memmem(o->at, (size_t)(end - o->at), REPLIES_NEXT, strlen(REPLIES_NEXT));
        o->end = line ? line : end;
        if (!line || i == said.count)
            break;
        o->at = line + strlen(REPLIES_NEXT);
    }
}

static int64_t said_number(const uint8_t *p, const uint8_t *line)
{
    int64_t n = 0;
    if (p < line && *p == '-')
        return -1;
    for (; p < line && *p >= '0' && *p <= '9' && n < INT32_MAX; p++)
        n = n * 10 + *p - '0';
    return n;
}

/* Behind one reply; the end, if it is not whole. */
static const uint8_t *said_skip(const uint8_t *p, const uint8_t *end, int depth)
{
    const uint8_t *line = p < end ? memmem(p, (size_t)(end - p), "\r\n", 2) : NULL;
    if (!line || depth > 7)
        return end;
    uint8_t type = *p;
    bool    text = type == '$', list = type == '*' || type == '%';
    int64_t n     = text || list ? said_number(p + 1, line) : 0;
    int64_t parts = list ? n * (type == '%' ? 2 : 1) : 0;
    p             = line + 2;
    if (text && n >= 0)
        return end - p < 2 || n > end - p - 2 ? end : p + n + 2;
    for (; parts > 0 && p < end; parts--)
        p = said_skip(p, end, depth + 1);
    return parts > 0 ? end : p;
}

/* hiredis sets aside what an array announces, before any of it is there: up to 16 GB, of which the
 * fuzzer would complain. The replies end before such a one. */
static const uint8_t *said_bearable(const uint8_t *p, const uint8_t *next)
{
    for (const uint8_t *at = p; at < next; at++)
        if (*at == '*' && (at == p || at[-1] == '\n') && said_number(at + 1, next) > 100000)
            return at;
    return next;
}

static void said_give(struct said_one *o)
{
    const uint8_t *next = said_skip(o->at, o->end, 0), *most = said_bearable(o->at, next);
    if (most < next)
        o->end = next = most;
    while (o->at < next) {
        long n = syscall(SYS_sendto, o->far, o->at, (size_t)(next - o->at),
                         MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
        if (n <= 0)
            break;
        o->at += n;
    }
    o->at = next;
    if (o->at == o->end)
        shutdown(o->far, SHUT_WR);
}

/* glibc declares connect() with a union of all addresses, so it gets its name here. */
OURS int said_connect(int fd, const struct sockaddr *to, socklen_t len) __asm__("connect");
OURS int said_connect(int fd, const struct sockaddr *to, socklen_t len)
{
    struct said_one *o = &said.one[said.count];
    int              pair[2];
    (void)to, (void)len;
    if (said.count == (int)(sizeof said.one / sizeof *said.one) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    fcntl(pair[0], F_SETFL, fcntl(fd, F_GETFL));
    dup2(pair[0], fd);
    close(pair[0]);
    for (int i = 0; i < said.count; i++) /* which was closed: its number is used again */
        if (said.one[i].fd == fd)
            said.one[i].fd = -1;
    o->fd  = fd;
    o->far = pair[1];
    said_part(o);
    said.count++;
    if (o->at == o->end)
        shutdown(o->far, SHUT_WR);
    return 0;
}

/* A command begins with an asterisk, at the start or of a line; no key here does. Who subscribes is
 * told all that is left. */
OURS ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
    const char *p    = bytes;
    ssize_t     sent = syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);
    bool        all  = memmem(bytes, len, "PSUBSCRIBE", 10) != NULL;
    for (int i = 0; i < said.count; i++)
        if (said.one[i].fd == fd)
            for (ssize_t at = 0; at < sent; at++)
                if (p[at] == '*' && (at == 0 || p[at - 1] == '\n'))
                    do
                        said_give(&said.one[i]);
                    while (all && said.one[i].at < said.one[i].end);
    return sent;
}

/* Every host is here. */
OURS int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                     struct addrinfo **out)
{
    static struct sockaddr_in here = { .sin_family = AF_INET };
    static struct addrinfo    info;
    (void)node, (void)service, (void)hints;
    info = (struct addrinfo){ .ai_family   = AF_INET,
                              .ai_socktype = SOCK_STREAM,
                              .ai_addrlen  = sizeof here,
                              .ai_addr     = (struct sockaddr *)&here };
    *out = &info;
    return 0;
}

OURS void freeaddrinfo(struct addrinfo *a) { (void)a; }

/* A pair of sockets has no options of TCP. */
OURS int setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
    return level == IPPROTO_TCP ? 0 : (int)syscall(SYS_setsockopt, fd, level, name, value, len);
}

/* Time passes only by being asked for, a microsecond each, and by sleeping, which takes none: a client
 * that waits for a busy machine gives up at the same reply as on an idle one. */
static atomic_llong said_ns;

OURS int clock_gettime(clockid_t id, struct timespec *t)
{
    long    done = syscall(SYS_clock_gettime, id, t);
    int64_t since;
    if (id != CLOCK_MONOTONIC)
        return (int)done;
    since      = atomic_fetch_add(&said_ns, 1000);
    t->tv_sec  = 1000 + (time_t)(since / 1000000000);
    t->tv_nsec = (long)(since % 1000000000);
    return 0;
}

OURS int nanosleep(const struct timespec *t, struct timespec *left)
{
    (void)left;
    atomic_fetch_add(&said_ns, t->tv_sec * 1000000000LL + t->tv_nsec);
    return 0;
}

static inline void replies_begin(const uint8_t *bytes, size_t len)
{
    said.bytes = bytes;
    said.len   = len;
    said.count = 0;
}

static inline void replies_end(void)
{
    while (said.count > 0)
        close(said.one[--said.count].far);
}

static inline bool replies_have(const char *words)
{
    return memmem(said.bytes, said.len, words, strlen(words)) != NULL;
}

#endif
