/* SPDX-License-Identifier: MIT */
/* Filters in streams: - is standard input for reading, standard output for writing, and both for
 * changing a filter. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "out.h"
#include "place.h"

static size_t read_stdin(void *ctx, void *bytes, size_t len)
{
    (void)ctx;
    for (;;) {
        ssize_t n = read(STDIN_FILENO, bytes, len);
        if (n >= 0)
            return (size_t)n;
        if (errno != EINTR)
            return SIZE_MAX;
    }
}

/* A filter's bytes must not go to a terminal. */
static blm_status refuse_terminal(blm_error *err)
{
    return place_fail(err, BLM_E_UNSUPPORTED, 0, "is a terminal: send it to a file or a pipe");
}

static bool dash_exists(const char *text)
{
    (void)text;
    return true;
}

static blm_status dash_open(struct ref *r, blm_error *err)
{
    r->name   = "standard input";
    r->native = false;
    return blm_decode_stream(read_stdin, NULL, &r->options, &r->filter, err);
}

/* A stream cannot be read twice: write the filter to memory and read that. */
struct buffer {
    char  *bytes;
    size_t len, room;
};

static bool keep(void *ctx, const void *bytes, size_t len)
{
    struct buffer *b = ctx;
    if (b->room - b->len < len) {
        b->room  = 2 * (b->len + len);
        b->bytes = memory_grow(b->bytes, b->room);
    }
    memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
    return true;
}

static blm_status dash_reopen(struct ref *r, blm_error *err)
{
    struct buffer b  = { 0 };
    blm_status    st = blm_encode(r->filter, r->options.format, keep, &b, err);
    if (st == BLM_OK) {
        blm_free(r->filter);
        r->filter         = NULL;
        r->options.offset = 0; /* it was an offset in the stream, not in our copy */
        st                = blm_decode(b.bytes, b.len, &r->options, &r->filter, err);
    }
    free(b.bytes);
    return st;
}

static blm_status dash_change(struct ref *r, blm_error *err)
{
    return isatty(STDOUT_FILENO) ? refuse_terminal(err) : dash_open(r, err);
}

static blm_status dash_create(struct ref *r, bool whole, blm_error *err)
{
    (void)whole;
    r->name   = "standard output";
    r->native = false;
    if (isatty(STDOUT_FILENO))
        return refuse_terminal(err);
    return blm_create(&r->options, &r->filter, err);
}

static blm_status dash_save(struct ref *r, blm_error *err)
{
    blm_status st = blm_encode(r->filter, r->options.format, out_write, NULL, err);
    return st == BLM_E_IO && out_stopped() ? BLM_OK : st; /* out.c has already reported it */
}

const struct place place_dash = {
    .prefix = "-",
    .exists = dash_exists,
    .open   = dash_open,
    .change = dash_change,
    .reopen = dash_reopen,
    .create = dash_create,
    .save   = dash_save,
};
