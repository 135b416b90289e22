/* SPDX-License-Identifier: MIT */
/* What a decoder must do with any bytes: fail with a sentence and a place inside the input, or
 * return a complete filter that can be checked and added to, and that encodes to bytes which decode
 * to the same filter. */
#ifndef BLM_FUZZ_DECODE_H
#define BLM_FUZZ_DECODE_H

#include <bloomery.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_bytes {
    uint8_t *bytes;
    size_t   len, room;
};

static bool fuzz_append(void *ctx, const void *bytes, size_t len)
{
    struct fuzz_bytes *b = ctx;
    if (len > b->room - b->len) {
        size_t   room = (b->len + len) * 2;
        uint8_t *more = realloc(b->bytes, room);
        if (!more)
            return false;
        b->bytes = more;
        b->room  = room;
    }
    if (len)
        memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
    return true;
}

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void fuzz_use(blm_filter *f)
{
    blm_stats stats = { .size = sizeof stats };
    must(blm_get_stats(f, &stats) == BLM_OK);
    must(stats.fill >= 0 && stats.fill <= 1);
    must(stats.rate_now >= 0 && stats.rate_now <= 1);
    blm_params p = { .size = sizeof p };
    must(blm_get_params(f, &p) == BLM_OK);
    blm_status s = blm_add(f, "key", 3); /* a RedisBloom chain may be full and forbidden to grow */
    must((p.can & BLM_CAN_ADD) ? s >= 0 || s == BLM_E_FULL || s == BLM_E_LIMIT
                               : s == BLM_E_UNSUPPORTED);
    must(s < 0 || blm_check(f, "key", 3));
}

/* exact: what was read is written back byte for byte, not only as the same filter. */
static void fuzz_decode_with(const blm_options *o, bool exact, const uint8_t *data, size_t size)
{
    blm_error   err;
    blm_filter *f = NULL, *again = NULL;
    blm_status  s = blm_decode(data, size, o, &f, &err);
    if (s != BLM_OK) {
        must(s < 0 && !f && err.status == s && err.text[0]);
        must(err.offset == BLM_NO_OFFSET || err.offset <= size);
        return;
    }
    struct fuzz_bytes b = { 0 };
    must(blm_encode(f, NULL, fuzz_append, &b, &err) == BLM_OK);
    must(!exact || (b.len == size && memcmp(b.bytes, data, size) == 0));
    must(blm_decode(b.bytes, b.len, o, &again, &err) == BLM_OK);
    must(blm_equal(f, again));
    fuzz_use(again);
    blm_free(again);
    blm_free(f);
    free(b.bytes);
}

static inline void fuzz_decode(const char *format, bool exact, const uint8_t *data, size_t size)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.format      = format;
    o.max_bytes   = (uint64_t)16 << 20;
    fuzz_decode_with(&o, exact, data, size);
}

#endif
