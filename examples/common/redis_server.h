/* SPDX-License-Identifier: MIT */
/* A private redis-server on a free port of 127.0.0.1. It keeps nothing on disk and does not outlive
 * the process that started it. For the jobs and for the tests of the adapter. */
#ifndef EXAMPLES_REDIS_SERVER_H
#define EXAMPLES_REDIS_SERVER_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct redis_server {
    pid_t       pid;
    int         port;
    const char *module; /* to load; NULL: none */
};

static inline int redis_server_socket(int port, bool listening)
{
    struct sockaddr_in at     = { .sin_family = AF_INET,
                                  .sin_port   = htons((uint16_t)port),
                                  .sin_addr   = { htonl(INADDR_LOOPBACK) } };
    int                fd     = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int                failed = listening ? bind(fd, (struct sockaddr *)&at, sizeof at)
                                          : connect(fd, (struct sockaddr *)&at, sizeof at);
    if (failed) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Claims a port until this process ends, by the name of an abstract socket. Jobs and tests that run
 * at the same time respect it (tests/redis/server.py). */
static inline int redis_server_claim(int port)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int       n   = snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "bloomery-port-%d", port);
    int       fd  = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, len) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* A free port that stays ours before and between two servers. It is below the ports that the system
 * gives to outgoing connections. 0: there is none. */
static inline int redis_server_free_port(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    unsigned start = (unsigned)t.tv_nsec / 1000 + (unsigned)getpid() * 7919u;
    for (unsigned i = 0; i < 10000; i++) {
        int port = 12000 + (int)((start + i) % 10000), claim = redis_server_claim(port);
        if (claim < 0)
            continue;
        int fd = redis_server_socket(port, true);
        if (fd >= 0) {
            close(fd);
            return port;
        }
        close(claim);
    }
    return 0;
}

static inline void redis_server_stop(struct redis_server *s)
{
    if (s->pid > 0) {
        kill(s->pid, SIGKILL);
        waitpid(s->pid, NULL, 0);
    }
    s->pid = 0;
}

/* Starts the server on s->port, or on a free port if that is 0. False: there is no redis-server, or
 * it does not start. password: NULL for none. */
static inline bool redis_server_start(struct redis_server *s, const char *password)
{
    char text[16];
    if (!s->port)
        s->port = redis_server_free_port();
    snprintf(text, sizeof text, "%d", s->port);
    s->pid = fork();
    if (s->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int nowhere = open("/dev/null", O_RDWR);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        execlp("redis-server", "redis-server", "--port", text, "--bind", "127.0.0.1", "--save", "",
               "--appendonly", "no", "--dir", "/", "--requirepass", password ? password : "",
               s->module ? "--loadmodule" : (char *)NULL, s->module, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; s->pid > 0 && i < 500; i++) { /* 10 s: the machine may be busy */
        int fd = redis_server_socket(s->port, false);
        if (fd >= 0) {
            close(fd);
            return true;
        }
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid) {
            s->pid = 0;
            return false;
        }
        nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
    }
    redis_server_stop(s);
    return false;
}

#endif
