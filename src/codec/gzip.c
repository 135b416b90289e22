/* SPDX-License-Identifier: MIT */
#include "codec/gzip.h"

#include "codec/words.h"

#ifdef BLOOMERY_WITH_ZLIB
#include <zlib.h>

#define BUFFER 16384u

struct blm__gzip {
    z_stream             z;
    const blm_allocator *alloc;
    struct blm__source  *from;
    struct blm__sink    *to;
    uint64_t             cap, total; /* inflated bytes: allowed, given out */
    uint64_t             start;      /* offset of the gzip stream in `from` */
    uint64_t             read;       /* compressed bytes read so far */
    bool                 ended;      /* at the end of a member */
    bool                 began;      /* a member has begun */
    blm_status           status;     /* what went wrong, … */
    const char          *what;       /* … in words */
    uint8_t              buffer[BUFFER];
};

/* zlib does not tell the size of what it frees, so we keep the size in front of it. */
#define ROOM 16u

static void *z_alloc(void *opaque, unsigned items, unsigned size)
{
    size_t   n = (size_t)items * size + ROOM;
    uint8_t *p = blm__alloc(opaque, n);
    if (!p)
        return Z_NULL;
    memcpy(p, &n, sizeof n);
    return p + ROOM;
}

static void z_free(void *opaque, void *address)
{
    size_t   n;
    uint8_t *p = (uint8_t *)address - ROOM;
    memcpy(&n, p, sizeof n);
    blm__free(opaque, p, n);
}

static struct blm__gzip *make(const blm_allocator *a)
{
    struct blm__gzip *g = blm__zalloc(a, sizeof *g);
    if (!g)
        return NULL;
    g->alloc    = a;
    g->z.zalloc = z_alloc;
    g->z.zfree  = z_free;
    /* Drops the const, which z_alloc gives back. */
    memcpy(&g->z.opaque, &a, sizeof g->z.opaque);
    return g;
}

static blm_status no_memory(blm_error *err)
{
    return blm__fail(err, BLM_E_MEMORY, "no memory for zlib");
}

/* ---- in ---- */

static size_t stop(struct blm__gzip *g, blm_status st, const char *what)
{
    g->status = st;
    g->what   = what;
    return SIZE_MAX;
}

/* Gets more compressed bytes; false: there are none. */
static bool refill(struct blm__gzip *g)
{
    if (g->z.avail_in > 0)
        return true;
    size_t n      = blm__read(g->from, g->buffer, BUFFER);
    g->z.next_in  = g->buffer;
    g->z.avail_in = (unsigned)n;
    g->read += n;
    return n > 0;
}

/* blm_read_fn: fills part of `bytes`, 0 at the end of the last member. */
static size_t inflate_some(void *ctx, void *bytes, size_t len)
{
    struct blm__gzip *g    = ctx;
    size_t            want = len < (1u << 30) ? len : (1u << 30);
    g->z.next_out          = bytes;
    g->z.avail_out         = (unsigned)want;
    if (g->status != BLM_OK)
        return SIZE_MAX;
    while (g->z.avail_out == want) {
        if (!refill(g)) {
            if (g->from->failed)
                return stop(g, BLM_E_IO, "reading the compressed bytes failed");
            if (g->ended)
                return 0;
            return stop(g, BLM_E_TRUNCATED, "the gzip stream ends too early");
        }
        if (g->ended && inflateReset(&g->z) != Z_OK) /* another member follows */
            return stop(g, BLM_E_FORMAT, "the gzip stream is damaged");
        g->ended = false;
        int r    = inflate(&g->z, Z_NO_FLUSH);
        if (r == Z_MEM_ERROR)
            return stop(g, BLM_E_MEMORY, "no memory for zlib");
        if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
            return stop(g, BLM_E_FORMAT, "the gzip stream is damaged");
        g->ended = r == Z_STREAM_END;
    }
    size_t got = want - g->z.avail_out;
    g->total += got;
    if (g->total > g->cap)
        return stop(g, BLM_E_LIMIT, "the gzip stream inflates to more than the limit");
    return got;
}

blm_status blm__gunzip_open(struct blm__source *from, const uint8_t *first, size_t first_len,
                            const blm_allocator *a, uint64_t cap, struct blm__gzip **gzip,
                            struct blm__source *out, blm_error *err)
{
    struct blm__gzip *g = make(a);
    if (!g)
        return no_memory(err);
    if (inflateInit2(&g->z, 15 + 16) != Z_OK) {
        blm__free(a, g, sizeof *g);
        return no_memory(err);
    }
    memcpy(g->buffer, first, first_len);
    g->z.next_in  = g->buffer;
    g->z.avail_in = (unsigned)first_len;
    g->from       = from;
    g->cap        = cap;
    g->start      = from->at - first_len;
    g->read       = first_len;
    *out          = (struct blm__source){ .read = inflate_some, .ctx = g };
    *gzip         = g;
    return BLM_OK;
}

/* An offset among the inflated bytes means nothing in the input. So err->offset becomes how far
 * gzip was read, and the text names the other. */
static void retell(blm_error *err, uint64_t at)
{
    blm_error inner = *err;
    blm__fail_at(err, inner.status, at, "byte %llu of the inflated bytes: %.200s",
                 (unsigned long long)inner.offset, inner.text);
}

blm_status blm__gunzip_close(struct blm__gzip *g, blm_status st, blm_error *err)
{
    uint64_t at = g->start + g->read - g->z.avail_in;
    if (st != BLM_OK && err && err->offset != BLM_NO_OFFSET)
        retell(err, at);
    if (g->status != BLM_OK)
        st = blm__fail_at(err, g->status, at, "%s", g->what);
    inflateEnd(&g->z);
    blm__free(g->alloc, g, sizeof *g);
    return st;
}

/* ---- out ---- */

static bool deflate_some(struct blm__gzip *g, int flush)
{
    int r;
    do {
        g->z.next_out  = g->buffer;
        g->z.avail_out = BUFFER;
        r              = deflate(&g->z, flush);
        if (!blm__put(g->to, g->buffer, BUFFER - g->z.avail_out))
            return false;
    } while (g->z.avail_out == 0 || (flush == Z_FINISH && r == Z_OK));
    return true;
}

static bool take(void *ctx, const void *bytes, size_t len)
{
    struct blm__gzip *g = ctx;
    const uint8_t    *p = bytes;
    while (len > 0) {
        size_t  n = len < BUFFER ? len : BUFFER;
        uint8_t copy[BUFFER]; /* an older zlib does not take const bytes */
        memcpy(copy, p, n);
        g->z.next_in  = copy;
        g->z.avail_in = (unsigned)n;
        if (!deflate_some(g, Z_NO_FLUSH))
            return false;
        p += n;
        len -= n;
    }
    return true;
}

blm_status blm__gzip_open(struct blm__sink *to, const blm_allocator *a, struct blm__gzip **gzip,
                          struct blm__sink *out, blm_error *err)
{
    struct blm__gzip *g = make(a);
    if (!g)
        return no_memory(err);
    if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        blm__free(a, g, sizeof *g);
        return no_memory(err);
    }
    g->to = to;
    *out  = (struct blm__sink){ .write = take, .ctx = g };
    *gzip = g;
    return BLM_OK;
}

blm_status blm__gzip_close(struct blm__gzip *g, blm_status st, blm_error *err)
{
    g->z.avail_in = 0;
    if (st == BLM_OK)
        deflate_some(g, Z_FINISH); /* the sink remembers a failure */
    if (st == BLM_OK && g->to->failed)
        st = blm__put_failed(g->to, err);
    deflateEnd(&g->z);
    blm__free(g->alloc, g, sizeof *g);
    return st;
}

#else

static blm_status without(blm_error *err)
{
    return blm__fail(err, BLM_E_UNSUPPORTED, "gzip needs zlib, and this build was made without it");
}

blm_status blm__gunzip_open(struct blm__source *from, const uint8_t *first, size_t first_len,
                            const blm_allocator *a, uint64_t cap, struct blm__gzip **gzip,
                            struct blm__source *out, blm_error *err)
{
    (void)from;
    (void)first;
    (void)first_len;
    (void)a;
    (void)cap;
    (void)gzip;
    (void)out;
    return without(err);
}

blm_status blm__gunzip_close(struct blm__gzip *gzip, blm_status st, blm_error *err)
{
    (void)gzip;
    (void)err;
    return st;
}

blm_status blm__gzip_open(struct blm__sink *to, const blm_allocator *a, struct blm__gzip **gzip,
                          struct blm__sink *out, blm_error *err)
{
    (void)to;
    (void)a;
    (void)gzip;
    (void)out;
    return without(err);
}

blm_status blm__gzip_close(struct blm__gzip *gzip, blm_status st, blm_error *err)
{
    (void)gzip;
    (void)err;
    return st;
}

#endif
