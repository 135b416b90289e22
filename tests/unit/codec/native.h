/* SPDX-License-Identifier: MIT */
/* What the tests of the native format's bytes share: a small filter, and ways to read one. */
#ifndef BLM_UNIT_CODEC_NATIVE_H
#define BLM_UNIT_CODEC_NATIVE_H

#include "unit/support.h"

#include "unit/files.h"

static inline blm_status decode(const struct bytes *b, blm_filter **out, blm_error *e)
{
    return blm_decode(b->p, b->len, NULL, out, e);
}

/* A reader that gives its bytes in pieces of changing size, as pipes do. */
struct pipe_in {
    const uint8_t *p;
    size_t         len, at, most;
    size_t         fail_after; /* SIZE_MAX: never */
};

static inline size_t pipe_read(void *ctx, void *to, size_t len)
{
    struct pipe_in *in = ctx;
    if (in->at >= in->fail_after)
        return SIZE_MAX;
    size_t n = 1 + in->at * 7 % in->most;
    n        = n < len ? n : len;
    n        = n < in->len - in->at ? n : in->len - in->at;
    memcpy(to, in->p + in->at, n);
    in->at += n;
    return n;
}

static inline blm_status decode_pipe(const struct bytes *b, size_t most, const blm_options *o,
                                     blm_filter **out, blm_error *e)
{
    struct pipe_in in = { b->p, b->len, 0, most, SIZE_MAX };
    return blm_decode_stream(pipe_read, &in, o, out, e);
}

/* One region, one block: every byte of it can be tried. */
static inline blm_filter *tiny(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_CLASSIC;
    o.items       = 20;
    o.rate        = 0.1;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 7;
    blm_filter *f = make(&o);
    add_range(f, 0, 20);
    return f;
}

#endif
