/* SPDX-License-Identifier: MIT */
/* See site.h. One keep-alive connection at a time, which is all that one crawler needs. */
#include "site.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/job.h"

size_t site_path(uint64_t page, char out[64])
{
    return (size_t)snprintf(out, 64, "/catalogue/shelf-%03u/item-%08llu.html",
                            (unsigned)(page % 400), (unsigned long long)page);
}

/* Where a page links to: the next page, its parent and two children in a binary tree, and random
 * ones. Most pages can be reached in many ways. */
static uint64_t link_of(const struct site *s, uint64_t page, unsigned i)
{
    uint64_t chance = page * SITE_LINKS + i;
    switch (i) {
    case 0:
        return (page + 1) % s->pages;
    case 1:
        return page / 2;
    case 2:
        return (2 * page + 1) % s->pages;
    case 3:
        return (2 * page + 2) % s->pages;
    default:
        return job_below(&chance, s->pages);
    }
}

static size_t page_body(const struct site *s, uint64_t page, char *out, size_t room)
{
    size_t len = (size_t)snprintf(out, room, "<html><title>Item %llu</title><body>\n",
                                  (unsigned long long)page);
    for (unsigned i = 0; i < SITE_LINKS; i++) {
        char path[64];
        site_path(link_of(s, page, i), path);
        len += (size_t)snprintf(out + len, room - len, "<a href=\"%s\">see also</a>\n", path);
    }
    return len;
}

static void answer(struct site *s, int fd, const char *request)
{
    char     body[2048], all[2560];
    uint64_t page = s->pages;
    sscanf(request, "GET /catalogue/shelf-%*u/item-%" SCNu64 ".html ", &page);
    size_t len = page < s->pages ? page_body(s, page, body, sizeof body) : 0;
    if (page < s->pages)
        s->served[page]++;
    int n = snprintf(all, sizeof all,
                     "HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %zu\r\n\r\n%.*s",
                     len ? "200 OK" : "404 Not Found", len, (int)len, body);
    if (write(fd, all, (size_t)n) != n)
        _exit(2);
}

static void serve(struct site *s, int listener)
{
    for (;;) {
        int    fd = accept(listener, NULL, NULL), one = 1;
        char   request[2048];
        size_t len = 0;
        if (fd < 0)
            _exit(2);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        for (;;) {
            ssize_t n = read(fd, request + len, sizeof request - 1 - len);
            if (n <= 0)
                break;
            len += (size_t)n;
            request[len] = 0;
            if (strstr(request, "\r\n\r\n")) {
                answer(s, fd, request);
                len = 0;
            }
        }
        close(fd);
    }
}

void site_start(struct site *s, uint64_t pages)
{
    struct sockaddr_in at  = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t          len = sizeof at;
    int                fd  = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    s->pages               = pages;
    s->served              = mmap(NULL, (size_t)pages * sizeof *s->served, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fd < 0 || s->served == MAP_FAILED || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(fd, 8) != 0 || getsockname(fd, (struct sockaddr *)&at, &len) != 0)
        job_trouble("the site cannot be served: %s", strerror(errno));
    s->port   = ntohs(at.sin_port);
    s->server = fork();
    if (s->server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive the job */
        serve(s, fd);
    }
    close(fd);
}

void site_stop(struct site *s)
{
    kill(s->server, SIGTERM);
    waitpid(s->server, NULL, 0);
    munmap(s->served, (size_t)s->pages * sizeof *s->served);
}
