/* SPDX-License-Identifier: MIT */
/* See crawl.h. */
#include "crawl.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/job.h"
#include "fetch.h"
#include "site.h"

struct state {
    blm_filter *seen;
    int         frontier, done; /* file descriptors */
    FILE       *reader;
    uint64_t    next; /* offset in the frontier of the next path to fetch */
};

static void place(const struct crawl *c, const char *name, char out[512])
{
    snprintf(out, 512, "%s/%s", c->directory, name);
}

static int open_file(const struct crawl *c, const char *name, int flags)
{
    char path[512];
    place(c, name, path);
    int fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | flags, 0600);
    if (fd < 0)
        job_trouble("%s cannot be opened", path);
    return fd;
}

/* Opens the filter's file, or makes it. After a kill the file has every completed add. */
static blm_filter *open_seen(const struct crawl *c)
{
    char        path[512];
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   err;
    blm_filter *f;
    place(c, "seen.blm", path);
    o.flags   = BLM_WRITE | BLM_SEEDED; /* seeded, so that the figures are always the same */
    o.seed[0] = 17;
    o.items   = c->most_pages;
    o.rate    = c->rate;
    if (access(path, F_OK) == 0)
        job_need(blm_open(path, &o, &f, &err), &err);
    else
        job_need(blm_create_file(path, &o, &f, &err), &err);
    return f;
}

blm_filter *crawl_filter(const struct crawl *c)
{
    char        path[512];
    blm_error   err;
    blm_filter *f;
    place(c, "seen.blm", path);
    job_need(blm_open(path, NULL, &f, &err), &err);
    return f;
}

static void put_all(int fd, const char *bytes, size_t len, off_t at)
{
    ssize_t n = at < 0 ? write(fd, bytes, len) : pwrite(fd, bytes, len, at);
    if (n != (ssize_t)len)
        job_trouble("the crawl's state cannot be written");
}

/* Adds the page's new paths to the frontier, then to the filter. */
static void take_links(struct state *s, const char *body)
{
    char        found[SITE_LINKS * 64];
    size_t      len = 0;
    blm_key     fresh[SITE_LINKS];
    size_t      count = 0;
    const char *at    = body;
    while ((at = strstr(at, "href=\"")) && count < SITE_LINKS) {
        at += 6;
        size_t n     = strcspn(at, "\"");
        bool   twice = false;
        for (size_t i = 0; i < count; i++)
            twice |= fresh[i].len == n && memcmp(fresh[i].data, at, n) == 0;
        if (twice || n > 62 || job_check(s->seen, at, n))
            continue;
        fresh[count++] = (blm_key){ at, n };
        memcpy(found + len, at, n);
        found[len + n] = '\n';
        len += n + 1;
    }
    if (len)
        put_all(s->frontier, found, len, -1);
    blm_add_many(s->seen, fresh, count, NULL, NULL);
}

static void state_open(struct state *s, const struct crawl *c)
{
    s->seen     = open_seen(c);
    s->frontier = open_file(c, "frontier", O_APPEND);
    s->done     = open_file(c, "done", 0);
    s->reader   = fdopen(open_file(c, "frontier", 0), "r"); /* with its own offset */
    if (pread(s->done, &s->next, sizeof s->next, 0) != sizeof s->next) {
        char first[64]; /* a new crawl */
        s->next    = 0;
        size_t len = site_path(0, first);
        first[len] = '\n';
        put_all(s->frontier, first, len + 1, -1);
        blm_add(s->seen, first, len);
    }
    fseeko(s->reader, (off_t)s->next, SEEK_SET);
}

uint64_t crawl_run(const struct crawl *c, uint16_t port)
{
    struct state s;
    char         path[128], body[8192];
    uint64_t     fetched    = 0;
    int          connection = fetch_connect(port);
    state_open(&s, c);
    /* The reader's buffer may end before what was appended since, so read again at the end. */
    while (fgets(path, sizeof path, s.reader) ||
           (clearerr(s.reader), fgets(path, sizeof path, s.reader))) {
        size_t len    = strlen(path);
        path[len - 1] = 0;
        fetch(connection, path, body, sizeof body);
        take_links(&s, body);
        s.next += len;
        put_all(s.done, (const char *)&s.next, sizeof s.next, 0);
        if (++fetched == c->kill_after)
            raise(SIGKILL);
        if (fetched == c->give_up)
            break;
    }
    blm_error err;
    job_need(blm_close(s.seen, &err), &err);
    fclose(s.reader);
    close(s.frontier);
    close(s.done);
    close(connection);
    return fetched;
}
