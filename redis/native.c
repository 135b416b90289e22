/* SPDX-License-Identifier: MIT */
/*
 * Native filters through BF.SCANDUMP and BF.LOADCHUNK. A dump is a header (blm_dump_write_header),
 * and then the bytes that it announces, which are the filter in format native. They arrive in order and are kept
 * in parts. When the last byte is there they are decoded, and each part is freed once it was read,
 * so that loading a filter never needs much more memory than its size.
 */
#include <string.h>

#include "bf.h"
#include "bloomery/embed.h"

#define LEAST ((size_t)64 << 10) /* many small chunks share a part */

struct part {
    struct part *next;
    size_t       len, room;
    uint8_t      bytes[];
};

struct arrival {
    uint64_t     total, have, cap;
    size_t       read; /* bytes of the first part, while decoding */
    struct part *first, *last;
};

/* ---- the header ---- */

bool bf_native_header(const uint8_t *in, size_t len)
{
    uint32_t flags;
    uint64_t total;
    return blm_dump_read_header(in, len, &flags, &total, NULL) == BLM_OK;
}

void bf_native_header_put(const struct value *v, uint64_t total, uint8_t *out)
{
    blm_dump_write_header(out, v->saturate ? BLM_DUMP_SATURATE : 0, total);
}

/* ---- out ---- */

struct window {
    uint8_t *out;
    size_t   room, len;
};

static bool into_window(void *ctx, const void *bytes, size_t len)
{
    struct window *w    = ctx;
    size_t         some = len < w->room - w->len ? len : w->room - w->len;
    memcpy(w->out + w->len, bytes, some);
    w->len += some;
    return w->len < w->room;
}

size_t bf_native_read(const struct value *v, uint64_t at, void *out, size_t room)
{
    struct window w = { .out = out, .room = room };
    blm_encode_from(v->filter, "native", at, into_window, &w, NULL); /* stops when it is full */
    return w.len;
}

uint64_t bf_native_length(const struct value *v)
{
    uint64_t bytes;
    if (v->arriving)
        return v->arriving->total;
    blm_encoded_size(v->filter, "native", &bytes, NULL);
    return bytes;
}

/* ---- in ---- */

void bf_native_drop(struct value *v)
{
    struct arrival *a = v->arriving;
    if (!a)
        return;
    while (a->first) {
        struct part *next = a->first->next;
        api.Free(a->first);
        a->first = next;
    }
    api.Free(a);
    v->arriving = NULL;
}

struct value *bf_native_begin(const uint8_t *in, size_t len, uint64_t max_bytes, const char **why)
{
    uint32_t flags;
    uint64_t total;
    *why = "ERR received bad data";
    if (blm_dump_read_header(in, len, &flags, &total, NULL) != BLM_OK)
        return NULL;
    /* The encoded bytes are the bits plus about a thousandth. */
    if (max_bytes && total > max_bytes + max_bytes / 64 + (1 << 20)) {
        *why = BF_TOO_LARGE;
        return NULL;
    }
    *why              = "ERR Insufficient memory to create filter";
    struct arrival *a = bf_try_alloc(sizeof *a);
    if (!a)
        return NULL;
    *a              = (struct arrival){ .total = total, .cap = max_bytes };
    struct value *v = bf_value(NULL, true);
    if (!v) {
        api.Free(a);
        return NULL;
    }
    v->arriving = a;
    v->saturate = (flags & BLM_DUMP_SATURATE) != 0;
    return v;
}

/* A new last part with room for so many bytes that come after the next `before`. NULL: no memory. */
static struct part *add_part(struct arrival *a, size_t before, size_t len)
{
    uint64_t left = a->total - a->have - before;
    size_t   room = len > LEAST ? len : LEAST;
    if (room > left)
        room = (size_t)left;
    struct part *p = bf_try_alloc(sizeof *p + room);
    if (!p)
        return NULL;
    *p = (struct part){ .room = room };
    if (a->last)
        a->last->next = p;
    else
        a->first = p;
    a->last = p;
    return p;
}

/* All of the bytes or, if there is no memory, none: the chunk can then be sent again. */
static bool append(struct arrival *a, const uint8_t *bytes, size_t len)
{
    struct part *last = a->last, *more = NULL;
    size_t       room = last ? last->room - last->len : 0, some = len < room ? len : room;
    if (some < len && !(more = add_part(a, some, len - some)))
        return false;
    if (some) {
        memcpy(last->bytes + last->len, bytes, some);
        last->len += some;
    }
    if (more) {
        memcpy(more->bytes, bytes + some, len - some);
        more->len = len - some;
    }
    a->have += len;
    return true;
}

/* For blm_decode_stream: frees what was read. */
static size_t next_bytes(void *ctx, void *out, size_t len)
{
    struct arrival *a = ctx;
    struct part    *p = a->first;
    if (!p)
        return 0;
    size_t some = p->len - a->read < len ? p->len - a->read : len;
    memcpy(out, p->bytes + a->read, some);
    a->read += some;
    if (a->read == p->len) {
        a->first = p->next;
        a->read  = 0;
        api.Free(p);
    }
    return some;
}

/* Native bytes can also hold another system's filter, or one whose hash we do not have. */
static bool decode(struct value *v, const char **why)
{
    blm_options o = bf_options(v->arriving->cap);
    o.format      = "native";
    o.flags       = BLM_VERIFY;
    blm_error  err;
    blm_status st = blm_decode_stream(next_bytes, v->arriving, &o, &v->filter, &err);
    bf_native_drop(v);
    if (st != BLM_OK) {
        *why = st == BLM_E_LIMIT      ? BF_TOO_LARGE
               : st == BLM_E_MEMORY   ? "ERR Insufficient memory to create filter"
               : st == BLM_E_CHECKSUM ? "ERR received bad data: a checksum does not match"
                                      : "ERR received bad data";
        return false;
    }
    bf_value_complete(v);
    return true;
}

int bf_native_take(struct value *v, uint64_t at, const void *bytes, size_t len, const char **why)
{
    struct arrival *a = v->arriving;
    if (at != a->have || len > a->total - a->have) {
        *why = at != a->have ? BF_NO_LAYER : "ERR invalid chunk - Too big for current filter";
        return -1;
    }
    if (!append(a, bytes, len)) {
        *why = "ERR Insufficient memory to create filter";
        return -1;
    }
    if (a->have < a->total)
        return 0;
    return decode(v, why) ? 1 : -1;
}

uint64_t bf_native_arrived(const struct value *v, bf_part_fn each, void *ctx)
{
    const struct arrival *a = v->arriving;
    for (const struct part *p = a->first; each && p; p = p->next)
        each(ctx, p->bytes, p->len);
    return a->have;
}
