/* SPDX-License-Identifier: MIT */
/* Filters in streams: - is standard input for reading, standard output for writing, and both for
 * changing a filter. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

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
    .create = dash_create,
    .save   = dash_save,
};
