/* SPDX-License-Identifier: MIT */
#include "squeeze.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef BLOOMERY_WITH_ZSTD
#include <zstd.h>
#endif

#include "interrupt.h"
#include "memory.h"
#include "out.h"

#define BLOCK  ((size_t)128 << 10)
#define WINDOW 24 /* log2 of the most memory that an untrusted delta can make zstd use */
#define LEVEL  3  /* of zstd: higher levels save a few percent in ten times the time */

#ifdef BLOOMERY_WITH_ZSTD

void squeeze_start(struct squeeze *s)
{
    *s        = (struct squeeze){ .stream = ZSTD_createCStream(), .room = ZSTD_CStreamOutSize() };
    s->buffer = memory_need(s->room);
    if (s->stream) {
        ZSTD_CCtx_setParameter(s->stream, ZSTD_c_compressionLevel, LEVEL);
        ZSTD_CCtx_setParameter(s->stream, ZSTD_c_checksumFlag, 1);
    } else {
        s->failed = true;
    }
}

static bool pump(struct squeeze *s, ZSTD_inBuffer *in, ZSTD_EndDirective how)
{
    size_t left;
    do {
        ZSTD_outBuffer out = { s->buffer, s->room, 0 };
        left               = ZSTD_compressStream2(s->stream, &out, in, how);
        s->failed          = s->failed || ZSTD_isError(left);
        s->wrote += out.pos;
        if (s->failed || !out_write(NULL, s->buffer, out.pos))
            return false;
    } while (how == ZSTD_e_end ? left != 0 : in->pos < in->size);
    return true;
}

bool squeeze_write(void *ctx, const void *bytes, size_t len)
{
    ZSTD_inBuffer in = { bytes, len, 0 };
    return !((struct squeeze *)ctx)->failed && pump(ctx, &in, ZSTD_e_continue);
}

bool squeeze_end(struct squeeze *s, bool finish)
{
    ZSTD_inBuffer none = { NULL, 0, 0 };
    bool          good = !s->failed && finish && pump(s, &none, ZSTD_e_end);
    ZSTD_freeCStream(s->stream);
    free(s->buffer);
    return good;
}

#else

void squeeze_start(struct squeeze *s) { *s = (struct squeeze){ 0 }; }

bool squeeze_write(void *ctx, const void *bytes, size_t len)
{
    ((struct squeeze *)ctx)->wrote += len;
    return out_write(NULL, bytes, len);
}

bool          squeeze_end(struct squeeze *s, bool finish) { return finish && !s->failed; }

#endif

/* ---- in ---- */

static const unsigned char magic[4] = { 0x28, 0xB5, 0x2F, 0xFD }; /* of a zstd frame */

void unsqueeze_start(struct unsqueeze *u)
{
    *u        = (struct unsqueeze){ .room = BLOCK };
    u->buffer = memory_need(u->room);
}

void unsqueeze_end(struct unsqueeze *u)
{
#ifdef BLOOMERY_WITH_ZSTD
    ZSTD_freeDStream(u->stream);
#endif
    free(u->buffer);
}

/* Appends bytes to those in the buffer, at least `least` in all unless the input ends. */
static bool refill(struct unsqueeze *u, size_t least)
{
    memmove(u->buffer, u->buffer + u->at, u->len - u->at);
    u->len -= u->at;
    u->at = 0;
    while (u->len < least && !u->ended) {
        ssize_t n = interrupt_wait(STDIN_FILENO)
                        ? read(STDIN_FILENO, u->buffer + u->len, u->room - u->len)
                        : 0;
        if (interrupted())
            return u->trouble = "interrupted", false;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return u->why = errno, u->trouble = strerror(errno), false;
        u->ended = n == 0;
        u->len += (size_t)n;
        u->got += (uint64_t)n;
    }
    return true;
}

static size_t read_plain(struct unsqueeze *u, void *bytes, size_t len)
{
    size_t n = u->len - u->at < len ? u->len - u->at : len;
    memcpy(bytes, u->buffer + u->at, n);
    u->at += n;
    return n;
}

#ifdef BLOOMERY_WITH_ZSTD
static size_t read_packed(struct unsqueeze *u, void *bytes, size_t len)
{
    ZSTD_outBuffer out = { bytes, len, 0 };
    ZSTD_inBuffer  in  = { u->buffer, u->len, u->at };
    if (in.pos == in.size && !u->mid)
        return 0; /* between frames, and no other begins */
    size_t st = ZSTD_decompressStream(u->stream, &out, &in);
    if (ZSTD_isError(st)) {
        u->trouble = "its compressed bytes are damaged";
        return SIZE_MAX;
    }
    u->at  = in.pos;
    u->mid = st != 0;
    return out.pos;
}

static bool open_packed(struct unsqueeze *u)
{
    u->stream = ZSTD_createDStream();
    if (!u->stream)
        u->trouble = "there is not enough memory to decompress it";
    else
        ZSTD_DCtx_setParameter(u->stream, ZSTD_d_windowLogMax, WINDOW);
    return u->stream != NULL;
}
#else
static size_t read_packed(struct unsqueeze *u, void *bytes, size_t len)
{
    (void)u, (void)bytes, (void)len;
    return SIZE_MAX;
}

static bool open_packed(struct unsqueeze *u)
{
    u->trouble = "it is compressed, and this build was made without zstd: decompress it with zstd "
                 "-d";
    return false;
}
#endif

size_t unsqueeze_read(void *ctx, void *bytes, size_t len)
{
    struct unsqueeze *u = ctx;
    if (u->trouble)
        return SIZE_MAX;
    if (!u->begun) {
        if (!refill(u, sizeof magic))
            return SIZE_MAX;
        u->packed = u->len >= sizeof magic && memcmp(u->buffer, magic, sizeof magic) == 0;
        u->begun  = true;
        if (u->packed && !open_packed(u))
            return SIZE_MAX;
    }
    while (len > 0) {
        if (u->at == u->len && !u->ended && !refill(u, 1))
            return SIZE_MAX;
        size_t n = u->packed ? read_packed(u, bytes, len) : read_plain(u, bytes, len);
        if (n == 0 && u->at == u->len && u->ended) {
            if (u->packed && u->mid)
                return u->trouble = "it ends too early", SIZE_MAX;
            return 0;
        }
        if (n != 0)
            return n;
    }
    return 0;
}

bool squeeze_is_delta(const void *bytes, size_t len)
{
    static const unsigned char delta[8] = { 0xB1, 'B', 'L', 'M', 'd', 'l', 't', '\n' };
    if (len >= sizeof delta && memcmp(bytes, delta, sizeof delta) == 0)
        return true;
    bool is = false;
#ifdef BLOOMERY_WITH_ZSTD
    char             head[sizeof delta];
    struct unsqueeze u   = { 0 };
    ZSTD_outBuffer   out = { head, sizeof head, 0 };
    ZSTD_inBuffer    in  = { bytes, len, 0 };
    if (len < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0 || !open_packed(&u))
        return false;
    while (out.pos < out.size && in.pos < in.size)
        if (ZSTD_isError(ZSTD_decompressStream(u.stream, &out, &in)))
            break;
    is = out.pos == sizeof head && memcmp(head, delta, sizeof head) == 0;
    ZSTD_freeDStream(u.stream);
#endif
    return is;
}
