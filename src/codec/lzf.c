/* SPDX-License-Identifier: MIT */
#include "codec/lzf.h"

#include <string.h>

#define MOST_PLAIN 32u   /* bytes in one run */
#define MOST_BACK  8192u /* how far back a copy reaches */
#define MOST_COPY  264u  /* bytes in one copy */

/* ---- unpack ---- */

bool blm__lzf_unpack(const uint8_t *in, size_t len, uint8_t *out, size_t out_len)
{
    size_t at = 0, to = 0;
    while (at < len) {
        unsigned code = in[at++];
        if (code < MOST_PLAIN) {
            size_t n = code + 1;
            if (n > len - at || n > out_len - to)
                return false;
            memcpy(out + to, in + at, n);
            at += n;
            to += n;
            continue;
        }
        size_t n = code >> 5, back = (size_t)(code & 31) << 8;
        if (n == 7 && at < len)
            n += in[at++];
        if (at >= len)
            return false;
        back += in[at++] + 1u;
        n += 2;
        if (back > to || n > out_len - to)
            return false;
        for (size_t i = 0; i < n; i++, to++) /* a copy may overlap itself */
            out[to] = out[to - back];
    }
    return to == out_len;
}

/* ---- pack ---- */

/* `used` counts the bytes written, and one for the length of the open run. */
struct packing {
    const uint8_t *in;
    size_t         run, run_from, used;
    uint32_t      *table;
    blm_write_fn   put;
    void          *ctx;
    bool           stopped;
};

static void emit(struct packing *p, const void *bytes, size_t len)
{
    if (p->put && !p->stopped && !p->put(p->ctx, bytes, len))
        p->stopped = true;
}

/* Writes the open run, if there is anything in it. */
static void close_run(struct packing *p)
{
    uint8_t head = (uint8_t)(p->run - 1);
    if (p->run) {
        emit(p, &head, 1);
        emit(p, p->in + p->run_from, p->run);
    } else {
        p->used--;
    }
    p->run = 0;
}

static void plain(struct packing *p, size_t at)
{
    if (p->run == 0)
        p->run_from = at;
    p->used++;
    if (++p->run == MOST_PLAIN) {
        close_run(p);
        p->used++;
    }
}

static uint32_t *slot(struct packing *p, size_t at)
{
    uint32_t h = (uint32_t)p->in[at] << 16 | (uint32_t)p->in[at + 1] << 8 | p->in[at + 2];
    return &p->table[((h >> 8) - h * 5) & (BLM__LZF_TABLE - 1)];
}

/* How many bytes at `from` and `at` are the same; the first three are known to be. Redis stops two
 * bytes before the end, but where there are nineteen or more it compares that many without checking
 * for the end. So do we. */
static size_t agree(const struct packing *p, size_t from, size_t at, size_t len)
{
    size_t most = len - at - 2, n = 3;
    if (most > MOST_COPY)
        most = MOST_COPY;
    for (; most > 16 && n < 19; n++)
        if (p->in[from + n] != p->in[at + n])
            return n;
    while (n < most && p->in[from + n] == p->in[at + n])
        n++;
    return n;
}

static void copy(struct packing *p, size_t back, size_t n)
{
    uint8_t code[3];
    size_t  len = 0, count = n - 2, off = back - 1;
    code[len++] = (uint8_t)(off >> 8 | (count < 7 ? count : 7) << 5);
    if (count >= 7)
        code[len++] = (uint8_t)(count - 7);
    code[len++] = (uint8_t)off;
    emit(p, code, len);
    p->used += len + 1; /* and the next run's length */
}

size_t blm__lzf_pack(const uint8_t *in, size_t len, size_t room, uint32_t *table, blm_write_fn put,
                     void *ctx)
{
    struct packing p  = { .in = in, .used = 1, .table = table, .put = put, .ctx = ctx };
    size_t         at = 0;
    while (at + 2 < len) {
        uint32_t *s = slot(&p, at), from = *s;
        *s = (uint32_t)at;
        /* 0 means an empty slot, so nothing is ever copied from the very first byte on. */
        if (from == 0 || at - from > MOST_BACK || memcmp(in + from, in + at, 3) != 0) {
            if (p.used >= room)
                return 0;
            plain(&p, at++);
            continue;
        }
        if (p.used - !p.run + 4 >= room)
            return 0;
        size_t n = agree(&p, from, at, len);
        close_run(&p);
        copy(&p, at - from, n);
        at += n;
        if (at + 2 >= len)
            break;
        *slot(&p, at - 2) = (uint32_t)(at - 2); /* only the end of a copy is remembered */
        *slot(&p, at - 1) = (uint32_t)(at - 1);
    }
    if (p.used + 3 > room)
        return 0;
    while (at < len)
        plain(&p, at++);
    close_run(&p);
    return p.stopped ? 0 : p.used;
}
