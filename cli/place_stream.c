/* SPDX-License-Identifier: MIT */
/* Filters in streams. - is standard input for reading, standard output for writing, and both for
 * changing a filter. A FIFO, a process substitution or /dev/stdin is read in the same way, once,
 * and a filter from there that was changed goes to standard output too.
 *
 * A format with a magic number is decoded as its bytes come. Which of the others it is depends on
 * how many bytes there are, so those are read to the end first. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "out.h"
#include "place.h"
#include "squeeze.h"

#define HEAD  ((size_t)4096)
#define MAGIC 100 /* the bid of a format that is certain (blm_sniff) */

struct stream {
    int    fd, why;   /* why: the error number of a read that failed */
    char  *bytes;     /* read but not yet taken */
    size_t len, room; /* of them */
    size_t at;        /* taken */
    bool   ended;
};

/* Reads until there are `least` bytes, or the stream ends. False: it failed. */
static bool fill(struct stream *s, size_t least)
{
    while (s->len < least && !s->ended) {
        if (s->len == s->room) {
            size_t room  = s->room ? s->room * 2 : HEAD;
            char  *bytes = realloc(s->bytes, room);
            if (!bytes)
                return s->why = ENOMEM, false;
            s->bytes = bytes;
            s->room  = room;
        }
        ssize_t n = read(s->fd, s->bytes + s->len, s->room - s->len);
        if (n < 0 && errno == EINTR && !interrupted())
            continue;
        if (n < 0)
            return s->why = errno, false;
        s->ended = n == 0;
        s->len += (size_t)n;
    }
    return true;
}

/* For blm_decode_stream: first what was read ahead, then the rest. */
static size_t take(void *ctx, void *bytes, size_t len)
{
    struct stream *s = ctx;
    size_t         n = s->len - s->at < len ? s->len - s->at : len;
    if (n > 0) {
        memcpy(bytes, s->bytes + s->at, n);
        s->at += n;
        return n;
    }
    while (!s->ended) {
        ssize_t got = read(s->fd, bytes, len);
        if (got >= 0)
            return (size_t)got;
        if (errno != EINTR || interrupted())
            return s->why = errno, SIZE_MAX;
    }
    return 0;
}

static bool has_magic(const struct stream *s)
{
    blm_bid best = { NULL, 0 };
    return blm_sniff(s->bytes, s->len, 0, &best, 1) > 0 && best.bid == MAGIC;
}

static blm_status read_filter(struct ref *r, int fd, blm_error *err)
{
    struct stream s  = { .fd = fd };
    blm_status    st = BLM_OK;
    r->native        = false;
    bool begun       = fill(&s, HEAD);
    if (s.len >= sizeof r->head)
        memcpy(r->head, s.bytes, sizeof r->head);
    if (begun && r->options.offset == 0 && has_magic(&s))
        st = blm_decode_stream(take, &s, &r->options, &r->filter, err);
    else if (!s.why && fill(&s, SIZE_MAX))
        st = blm_decode(s.bytes, s.len, &r->options, &r->filter, err);
    if (st == BLM_E_FORMAT)
        r->is_delta = squeeze_is_delta(s.bytes, s.len);
    if (s.why)
        st = s.why == ENOMEM ? place_fail(err, BLM_E_MEMORY, 0, "too large to be read into memory")
                             : place_fail(err, BLM_E_IO, s.why, strerror(s.why));
    free(s.bytes);
    return st;
}

static blm_status stream_open(struct ref *r, blm_error *err)
{
    int fd = open(r->text, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return place_fail(err, BLM_E_IO, errno, strerror(errno));
    blm_status st = read_filter(r, fd, err);
    close(fd);
    return st;
}

static blm_status dash_open(struct ref *r, blm_error *err)
{
    r->name = "standard input";
    return read_filter(r, STDIN_FILENO, err);
}

/* A filter's bytes must not go to a terminal. */
static blm_status refuse_terminal(struct ref *r, blm_error *err)
{
    r->name = "standard output";
    return place_fail(err, BLM_E_UNSUPPORTED, 0, "is a terminal: send it to a file or a pipe");
}

static blm_status stream_change(struct ref *r, blm_error *err)
{
    return isatty(STDOUT_FILENO) ? refuse_terminal(r, err) : stream_open(r, err);
}

static blm_status dash_change(struct ref *r, blm_error *err)
{
    return isatty(STDOUT_FILENO) ? refuse_terminal(r, err) : dash_open(r, err);
}

static bool dash_exists(const char *text)
{
    (void)text;
    return true;
}

static blm_status dash_create(struct ref *r, bool whole, blm_error *err)
{
    (void)whole;
    r->name   = "standard output";
    r->native = false;
    if (isatty(STDOUT_FILENO))
        return refuse_terminal(r, err);
    return blm_create(&r->options, &r->filter, err);
}

static blm_status save(struct ref *r, blm_error *err)
{
    blm_params before = { .size = sizeof before }, after = { .size = sizeof after };
    blm_get_params(r->filter, &before);
    blm_status st = blm_encode(r->filter, r->options.format, out_write, NULL, err);
    blm_get_params(r->filter, &after);
    if (st == BLM_OK && after.unclosed && !before.unclosed)
        say("note: a writer opened the file while it was copied: the copy may have keys that it "
            "does "
            "not count, and cannot say so, as a second one will");
    return st == BLM_E_IO && out_stopped() ? BLM_OK : st; /* out.c has already reported it */
}

const struct place place_dash = {
    .prefix = "-",
    .exists = dash_exists,
    .open   = dash_open,
    .change = dash_change,
    .create = dash_create,
    .save   = save,
};

const struct place place_stream = {
    .open   = stream_open,
    .change = stream_change,
    .save   = save,
};
