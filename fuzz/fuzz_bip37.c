/* SPDX-License-Identifier: MIT */
/* Transactions, blocks and merkleblocks from the network: each is refused at a place inside the
 * input, or matched. What a block matched can be proven. */
#include <bloomery.h>
#include <bloomery/bip37.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool truth)
{
    if (!truth)
        abort();
}

static bool count(void *ctx, uint32_t index, const uint8_t txid[32])
{
    (void)index;
    (void)txid;
    ++*(uint32_t *)ctx;
    return true;
}

struct bytes {
    uint8_t *data;
    size_t   len;
};

static bool append(void *ctx, const void *bytes, size_t len)
{
    struct bytes *b    = ctx;
    uint8_t      *more = realloc(b->data, b->len + len + 1);
    if (!more)
        return false;
    b->data = more;
    if (len)
        memcpy(b->data + b->len, bytes, len);
    b->len += len;
    return true;
}

static blm_filter *wallet(uint32_t variant)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.scheme  = "bip37";
    o.items   = 3;
    o.rate    = 0.2; /* so that much matches */
    o.variant = variant;
    must(blm_create(&o, &f, NULL) == BLM_OK);
    must(blm_add(f, "key", 3) >= 0);
    return f;
}

static void check(blm_status st, const blm_error *err, size_t size)
{
    must(st == BLM_OK || (st < 0 && err->status == st && err->text[0] && err->offset <= size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blm_filter     *f = wallet(BLM_BIP37_ALL), *keys = wallet(BLM_BIP37_KEYS);
    blm_error       err;
    blm_bip37_proof p     = { .size = sizeof p };
    struct bytes    b     = { NULL, 0 };
    uint32_t        found = 0;
    bool            relevant;
    if (blm_bip37_check("", 0, NULL, NULL, NULL, NULL) == BLM_E_UNSUPPORTED) {
        blm_free(f); /* a build without SHA-256 */
        blm_free(keys);
        return 0;
    }
    check(blm_bip37_match(f, data, size, &relevant, NULL, &err), &err, size);
    check(blm_bip37_match(keys, data, size, &relevant, NULL, &err), &err, size);
    check(blm_bip37_check(data, size, NULL, NULL, &p, &err), &err, size);
    blm_status st = blm_bip37_match_block(f, data, size, count, &found, append, &b, &err);
    check(st, &err, size);
    if (st == BLM_OK) { /* the header need not have the right root, nor the block unequal halves */
        st = blm_bip37_check(b.data, b.len, NULL, NULL, &p, &err);
        must(st == BLM_E_CHECKSUM || st == BLM_E_FORMAT || (st == BLM_OK && p.matched == found));
    }
    free(b.data);
    blm_free(f);
    blm_free(keys);
    return 0;
}
