/* SPDX-License-Identifier: MIT */
/* Bytes in memory, as the writer and the reader that the library asks for. Include after
 * support.h. */
#ifndef BLM_UNIT_BYTES_H
#define BLM_UNIT_BYTES_H

#include "append.h"
#include "unit/support.h"

struct bytes {
    uint8_t *p;
    size_t   len, at; /* at: where bytes_get reads next */
    size_t   sip;     /* bytes_get: at most this many at once; 0: as many as are wanted */
    bool     broken;  /* bytes_get: an error at the end instead of an end */
};

static inline bool bytes_add(void *ctx, const void *p, size_t len) /* a blm_write_fn */
{
    struct bytes *b = ctx;
    b->p            = append_room(b->p, b->len + len);
    assert_non_null(b->p);
    memcpy(b->p + b->len, p, len);
    b->len += len;
    return true;
}

static inline size_t bytes_get(void *ctx, void *p, size_t len) /* a blm_read_fn */
{
    struct bytes *b = ctx;
    size_t        n = b->len - b->at < len ? b->len - b->at : len;
    if (b->sip && n > b->sip)
        n = b->sip;
    if (n == 0 && b->broken)
        return SIZE_MAX;
    memcpy(p, b->p + b->at, n);
    b->at += n;
    return n;
}

/* The filter in its own format. */
static inline struct bytes encoded(const blm_filter *f)
{
    struct bytes b = { 0 };
    blm_error    e = { .text = "" };
    if (blm_encode(f, NULL, bytes_add, &b, &e) != BLM_OK)
        fail_msg("encode: %s", e.text);
    return b;
}

#endif
