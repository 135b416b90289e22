/* SPDX-License-Identifier: MIT */
/* Decoding is validating: any bytes give an error or a whole filter, and what decodes must encode
 * to bytes that decode to the same filter, answer a key and be written in bounded memory. */
#include <bloomery.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct buffer {
    uint8_t *bytes;
    size_t   len, room;
};

static bool append(void *ctx, const void *bytes, size_t len)
{
    struct buffer *b = ctx;
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

static uint64_t hash(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    (void)ctx;
    uint64_t h = seed[0] ^ 0xcbf29ce484222325u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ ((const uint8_t *)key)[i]) * 0x100000001b3u;
    return h;
}

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void use(blm_filter *f)
{
    blm_stats stats = { .size = sizeof stats };
    must(blm_get_stats(f, &stats) == BLM_OK);
    must(stats.fill >= 0 && stats.fill <= 1);
    must(stats.rate_now >= 0 && stats.rate_now <= 1);
    blm_status s = blm_add(f, "key", 3);
    if (s >= 0)
        must(blm_check(f, "key", 3));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.format    = "native";
    o.max_bytes = (uint64_t)64 << 20;
    o.hash_fn   = hash;
    o.hash_name = "fnv";
    blm_error   err;
    blm_filter *f = NULL, *again = NULL;
    blm_status  s = blm_decode(data, size, &o, &f, &err);
    if (s != BLM_OK) {
        must(s < 0 && !f && err.status == s && err.text[0]);
        must(err.offset == BLM_NO_OFFSET || err.offset <= size);
        return 0;
    }
    struct buffer b = { 0 };
    must(blm_encode(f, "native", append, &b, &err) == BLM_OK);
    must(blm_decode(b.bytes, b.len, &o, &again, &err) == BLM_OK);
    must(blm_equal(f, again));
    use(again);
    blm_free(again);
    blm_free(f);
    free(b.bytes);
    return 0;
}
