/* SPDX-License-Identifier: MIT */
/* Deltas. The first byte says to which of some small filters, one of each kind, the rest is
 * applied. The starting fingerprint and every checksum are corrected first, because otherwise no
 * mutated delta would get past them. The result is still only accepted if its fingerprint is the
 * one the delta names. */
#define XXH_INLINE_ALL
#include <bloomery.h>
#include <bloomery/delta.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define HEADER 96u
#define SUM    88u

struct bytes {
    const uint8_t *data;
    size_t         len, at;
};

static size_t get(void *ctx, void *to, size_t len)
{
    struct bytes *b = ctx;
    size_t        n = b->len - b->at < len ? b->len - b->at : len;
    memcpy(to, b->data + b->at, n);
    b->at += n;
    return n;
}

static void put64(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static void seal(uint8_t *p, size_t len)
{
    if (len < HEADER)
        return;
    put64(p + SUM, XXH64(p, SUM, 0));
    for (size_t at = HEADER; len - at >= 24;) {
        size_t payload =
            p[at + 4] | (size_t)p[at + 5] << 8 | (size_t)p[at + 6] << 16 | (size_t)p[at + 7] << 24;
        if (payload > len - at - 24)
            return;
        put64(p + at + 16 + payload, XXH64(p + at, 16 + payload, 0));
        at += 24 + payload;
    }
}

static blm_filter *base_of(unsigned kind)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.kind      = (blm_kind)(kind % 7); /* those that can be added to */
    o.items     = 20;
    o.rate      = 0.02;
    o.flags     = BLM_SEEDED;
    o.seed[0]   = 1;
    o.max_bytes = 1 << 20;
    if (blm_create(&o, &f, NULL) != BLM_OK)
        abort();
    for (unsigned i = 0; i < 30; i++)
        if (blm_add(f, &i, sizeof i) < 0 && o.kind != BLM_CUCKOO) /* may be full */
            abort();
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    blm_filter  *base = base_of(data[0]), *f;
    size_t       len  = size - 1;
    uint8_t     *copy = malloc(len ? len : 1);
    struct bytes b    = { copy, len, 0 };
    blm_error    err;
    uint8_t      print[16];
    memcpy(copy, data + 1, len);
    if (len >= HEADER && blm_fingerprint(base, copy + 16) != BLM_OK)
        abort();
    seal(copy, len);
    blm_status st = blm_patch(base, get, &b, &f, &err);
    if ((st >= 0) != (f != NULL))
        abort();
    if (f && (blm_fingerprint(f, print) != BLM_OK || memcmp(print, copy + 32, 16) != 0))
        abort();
    if (st < 0 && err.offset != BLM_NO_OFFSET && err.offset > len)
        abort();
    blm_free(f);
    blm_free(base);
    free(copy);
    return 0;
}
