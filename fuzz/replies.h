/* SPDX-License-Identifier: MIT */
/*
 * A Redis server that says what the fuzzer likes. There is none: connect() is ours here, and every
 * connection is a pair of sockets with the input already on its way, and then the end. Nothing
 * leaves this process, whatever server a reply redirects to, and no reply is waited for.
 */
#ifndef BLM_FUZZ_REPLIES_H
#define BLM_FUZZ_REPLIES_H

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "decode.h"

#define OURS __attribute__((visibility("default")))

static struct {
    const uint8_t *bytes;
    size_t         len;
    int            far[64]; /* the other ends, which stay open until the input is done */
    int            count;
} said;

/* glibc declares connect() with a union of all addresses, so it gets its name here. */
OURS int said_connect(int fd, const struct sockaddr *to, socklen_t len) __asm__("connect");
OURS int said_connect(int fd, const struct sockaddr *to, socklen_t len)
{
    int pair[2];
    (void)to, (void)len;
    if (said.count == (int)(sizeof said.far / sizeof *said.far) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    for (size_t at = 0; at < said.len;) {
        ssize_t n = send(pair[1], said.bytes + at, said.len - at, MSG_NOSIGNAL);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    shutdown(pair[1], SHUT_WR);
    fcntl(pair[0], F_SETFL, fcntl(fd, F_GETFL));
    dup2(pair[0], fd);
    close(pair[0]);
    said.far[said.count++] = pair[1];
    return 0;
}

OURS int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                     struct addrinfo **out)
{
    (void)node, (void)service, (void)hints, (void)out;
    return EAI_NONAME;
}

/* A client that waits before it tries again need not. */
OURS int nanosleep(const struct timespec *t, struct timespec *left)
{
    (void)t, (void)left;
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
        close(said.far[--said.count]);
}

static inline bool replies_have(const char *words)
{
    return memmem(said.bytes, said.len, words, strlen(words)) != NULL;
}

#endif
