/* SPDX-License-Identifier: MIT */
#include "out.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "interrupt.h"
#include "memory.h"
#include "progress.h"

#define SPANS 1024 /* what writev takes at once on common systems (IOV_MAX) */
#define COPY  ((size_t)64 << 10)

static struct iovec spans[SPANS];
static size_t       count;
static char         copies[COPY]; /* what out_bytes was given; spans point here */
static size_t       copied;
static bool         stopped, failed;

bool out_stopped(void) { return stopped; }

static void stop(int error)
{
    stopped = true;
    if (error == EPIPE)
        return;
    failed = true;
    if (error == EBADF)
        trouble("standard output is closed: send it to a file or a pipe");
    else if (error == EINTR)
        trouble("interrupted while writing to standard output");
    else if (error == ENOSPC)
        trouble("standard output: no space left on the device: make room, then run the command "
                "again");
    else
        system_trouble("standard output", error, NULL);
}

/* Is it worth trying again? */
static bool recover(int error)
{
    if (error == EINTR)
        return !interrupted();
    if (error != EAGAIN)
        return false;
    struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return poll(&p, 1, -1) >= 0 || (errno == EINTR && !interrupted());
}

static void write_spans(void)
{
    size_t at = 0;
    while (at < count && !stopped) {
        ssize_t n = writev(STDOUT_FILENO, spans + at, (int)(count - at));
        if (n < 0) {
            if (!recover(errno))
                stop(errno);
            continue;
        }
        size_t left = (size_t)n;
        for (; at < count && left >= spans[at].iov_len; at++)
            left -= spans[at].iov_len;
        if (left) {
            spans[at].iov_base = (char *)spans[at].iov_base + left;
            spans[at].iov_len -= left;
        }
    }
}

bool out_flush(void)
{
    if (count) {
        progress_hide();
        write_spans();
    }
    count  = 0;
    copied = 0;
    return !stopped;
}

void out_span(const char *bytes, size_t len)
{
    if (len == 0)
        return;
    if (count) {
        struct iovec *last = &spans[count - 1];
        if ((char *)last->iov_base + last->iov_len == bytes) {
            last->iov_len += len;
            return;
        }
        if (count == SPANS)
            out_flush();
    }
    spans[count].iov_base = (void *)(uintptr_t)bytes;
    spans[count].iov_len  = len;
    count++;
}

void out_bytes(const void *bytes, size_t len)
{
    const char *from = bytes;
    while (len > 0) {
        if (copied == COPY || count == SPANS)
            out_flush();
        size_t n = len < COPY - copied ? len : COPY - copied;
        memcpy(copies + copied, from, n);
        copied += n;
        out_span(copies + copied - n, n);
        from += n;
        len -= n;
    }
}

void out_print(const char *format, ...)
{
    char    small[1024];
    size_t  n;
    va_list args;
    va_start(args, format);
    char *text = memory_text(small, sizeof small, &n, format, args);
    va_end(args);
    if (!text) {
        stop(ENOMEM);
        return;
    }
    out_bytes(text, n);
    if (text != small)
        free(text);
}

bool out_write(void *ctx, const void *bytes, size_t len)
{
    (void)ctx;
    out_span(bytes, len);
    return out_flush();
}

int out_finish(int status)
{
    out_flush();
    /* Some systems report a full disk only now (NFS, quotas). */
    if (!failed && close(STDOUT_FILENO) < 0 && errno != EINTR && errno != EBADF && !stopped)
        stop(errno);
    return failed || say_lost() ? EXIT_TROUBLE : status;
}
