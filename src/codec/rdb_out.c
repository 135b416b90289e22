/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "codec/lzf.h"
#include "codec/rdb.h"

#define STEP  ((size_t)1 << 20) /* bytes between two calls of progress */
#define SLOTS (BLM__LZF_TABLE * sizeof(uint32_t))

blm_status blm__rdb_encode(const struct blm__body *b, struct blm__sink *out, blm__rdb_put_fn put,
                           blm_error *err)
{
    struct blm__rdb_out w = { .b = b, .out = out, .slots = blm__alloc(b->alloc, SLOTS) };
    if (!w.slots)
        return blm__fail(err, BLM_E_MEMORY, "no memory for %zu bytes to compress with", SLOTS);
    blm__crc64_init(&w.table);
    blm_status st = put(&w, err);
    blm__free(b->alloc, w.slots, SLOTS);
    return st;
}

bool blm__rdb_put(void *ctx, const void *bytes, size_t len)
{
    struct blm__rdb_out *w = ctx;
    w->crc                 = blm__crc64(&w->table, w->crc, bytes, len);
    return blm__put(w->out, bytes, len);
}

void blm__rdb_put_length(struct blm__rdb_out *w, uint64_t v)
{
    uint8_t b[9];
    if (v < 1 << 6) {
        b[0] = (uint8_t)v;
        blm__rdb_put(w, b, 1);
    } else if (v < 1 << 14) {
        b[0] = (uint8_t)(0x40 | v >> 8);
        b[1] = (uint8_t)v;
        blm__rdb_put(w, b, 2);
    } else if (v <= UINT32_MAX) {
        b[0] = 0x80;
        blm__put32be(b + 1, (uint32_t)v);
        blm__rdb_put(w, b, 5);
    } else {
        b[0] = 0x81;
        blm__put64be(b + 1, v);
        blm__rdb_put(w, b, 9);
    }
}

void blm__rdb_put_unsigned(struct blm__rdb_out *w, uint64_t v)
{
    blm__rdb_put_length(w, BLM__RDB_UNSIGNED);
    blm__rdb_put_length(w, v);
}

void blm__rdb_put_double(struct blm__rdb_out *w, double v)
{
    uint8_t b[8];
    blm__put64le(b, blm__f64_bits(v));
    blm__rdb_put_length(w, BLM__RDB_DOUBLE);
    blm__rdb_put(w, b, 8);
}

/* Whether this text is a 32-bit number as it would be printed: no plus, no zero in front. */
static bool is_decimal(const uint8_t *s, uint64_t len, int64_t *out)
{
    bool     minus = len > 0 && s[0] == '-';
    uint64_t i = minus, v = 0;
    if (len > 11 || i == len || (s[i] == '0' && len > 1))
        return false;
    for (; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return false;
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    *out = minus ? -(int64_t)v : (int64_t)v;
    return *out >= INT32_MIN && *out <= INT32_MAX;
}

static bool put_decimal(struct blm__rdb_out *w, const uint8_t *s, uint64_t len)
{
    uint8_t b[5];
    int64_t v;
    if (!is_decimal(s, len, &v))
        return false;
    unsigned how = v >= INT8_MIN && v <= INT8_MAX ? 0 : v >= INT16_MIN && v <= INT16_MAX ? 1 : 2;
    b[0]         = (uint8_t)(0xc0 | how);
    blm__put32le(b + 1, (uint32_t)v);
    blm__rdb_put(w, b, 1 + (1u << how));
    return true;
}

/* Packs if that saves more than four bytes. It does so twice: the length comes first, and the
 * packed bytes are not kept. */
static bool put_packed(struct blm__rdb_out *w, const uint8_t *s, uint64_t len)
{
    const uint8_t how = 0xc3;
    if (len <= 20 || len > UINT32_MAX)
        return false;
    memset(w->slots, 0, SLOTS);
    size_t packed = blm__lzf_pack(s, (size_t)len, (size_t)len - 4, w->slots, NULL, NULL);
    if (packed == 0)
        return false;
    blm__rdb_put(w, &how, 1);
    blm__rdb_put_length(w, packed);
    blm__rdb_put_length(w, len);
    memset(w->slots, 0, SLOTS);
    size_t again = blm__lzf_pack(s, (size_t)len, (size_t)len - 4, w->slots, blm__rdb_put, w);
    w->torn |= again != packed && !w->out->failed;
    return true;
}

blm_status blm__rdb_put_string(struct blm__rdb_out *w, const uint8_t *s, uint64_t len,
                               blm_error *err)
{
    blm__rdb_put_length(w, BLM__RDB_STRING);
    if (put_decimal(w, s, len) || put_packed(w, s, len))
        return BLM_OK;
    blm__rdb_put_length(w, len);
    for (uint64_t at = 0; at < len; at += STEP) {
        size_t n = len - at < STEP ? (size_t)(len - at) : STEP;
        if (!blm__go_on(w->b, at, len))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled after %llu bytes",
                             (unsigned long long)w->out->written);
        blm__rdb_put(w, s + at, n);
    }
    return BLM_OK;
}
