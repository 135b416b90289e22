/* SPDX-License-Identifier: MIT */
/* The page's server and any request: one answer, whole, and nothing but files of the folder. */
#include <cmd_web.c>

#include "mute.h"
#include "place.h"

const struct command *const commands[] = { NULL };
const struct command       *command_find(const char *name) { return (void)name, NULL; }

static char dir[128], page[160], beside[128], inside[160];

static void leave(void)
{
    unlink(page);
    unlink(inside);
    unlink(beside);
    rmdir(dir);
}

static void make_folder(void)
{
    place_path(dir, "web");
    place_path(beside, "secret");
    snprintf(page, sizeof page, "%s/" PAGE, dir);
    snprintf(inside, sizeof inside, "%s/a.js", dir);
    must(mkdir(dir, 0700) == 0);
    place_write(page, (const uint8_t *)"<p>", 3);
    place_write(inside, (const uint8_t *)"1+1", 3);
    place_write(beside, (const uint8_t *)"SECRET", 6);
    folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    must(folder >= 0);
    atexit(leave);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int    pair[2];
    char   reply[4096];
    size_t len = 0;
    if (size > 10000)
        return 0;
    if (!dir[0])
        make_folder();
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    must(size == 0 || send(pair[1], data, size, MSG_NOSIGNAL) == (ssize_t)size);
    shutdown(pair[1], SHUT_WR);
    connection((void *)(intptr_t)pair[0]);
    for (ssize_t n; (n = recv(pair[1], reply + len, sizeof reply - len, 0)) > 0;)
        len += (size_t)n;
    close(pair[1]);
    must(len < sizeof reply && !memmem(reply, len, "SECRET", 6));
    if (len > 0) {
        must(memcmp(reply, "HTTP/1.1 ", 9) == 0);
        char *body = memmem(reply, len, "\r\n\r\n", 4), *told = memmem(reply, len, "Length: ", 8);
        must(body && told);
        size_t sent = len - (size_t)(body + 4 - reply), want = (size_t)strtoul(told + 8, NULL, 10);
        must(sent == want || (sent == 0 && size >= 5 && memcmp(data, "HEAD ", 5) == 0));
    }
    return 0;
}
