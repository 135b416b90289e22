/* SPDX-License-Identifier: MIT */
/* See fetch.h. */
#include "fetch.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/job.h"

int fetch_connect(uint16_t port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port   = htons(port),
                              .sin_addr   = { htonl(INADDR_LOOPBACK) } };
    int                fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
        job_trouble("the site does not answer: %s", strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

void fetch(int fd, const char *path, char *out, size_t room)
{
    char request[256], reply[8192];
    int  n =
        snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: site.example\r\n\r\n", path);
    size_t len = 0, need = SIZE_MAX;
    if (write(fd, request, (size_t)n) != n)
        job_trouble("the site went away");
    while (len < need) {
        ssize_t got = read(fd, reply + len, sizeof reply - 1 - len);
        if (got <= 0)
            job_trouble("the site went away in the middle of %s", path);
        len += (size_t)got;
        reply[len]       = 0;
        const char *head = strstr(reply, "\r\n\r\n"), *size = strstr(reply, "Content-Length: ");
        if (head && size && need == SIZE_MAX)
            need = (size_t)(head + 4 - reply) + strtoul(size + 16, NULL, 10);
    }
    const char *body = strstr(reply, "\r\n\r\n") + 4;
    size_t      size = len - (size_t)(body - reply);
    if (strncmp(reply, "HTTP/1.1 200", 12) != 0 || size >= room)
        job_trouble("%s: %.20s", path, reply);
    memcpy(out, body, size + 1);
}
