/* SPDX-License-Identifier: MIT */
/*
 * The payload of a filterload message (BIP37), little-endian:
 *
 *   CompactSize L    bytes of bits: one byte below 0xfd, else fd + u16, fe + u32, ff + u64; always
 *                    the shortest of them. At most 36000
 *   L bytes          bit i is bit i % 8 of byte i / 8
 *   u32              nHashFuncs, at most 50
 *   u32              nTweak
 *   u8               nFlags
 */
#include "scheme/bip37.h"
#include "codec/array.h"
#include "codec/words.h"
#include "core/compact.h"

#define TAIL 9u

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    struct blm__cursor c = blm__cursor(head, len);
    uint64_t           bytes;
    if (!blm__take_compact(&c, &bytes) || bytes > BLM__BIP37_BYTES)
        return 0;
    if (total && total != c.at + bytes + TAIL)
        return 0;
    blm__take(&c, (size_t)bytes);
    uint32_t probes = blm__take32le(&c);
    if (!c.bad && probes > BLM__BIP37_PROBES)
        return 0;
    return total ? BLM__BID_LENGTH : BLM__BID_WEAK;
}

/* Reads the first byte, then as many as that says: a stream takes nothing back. */
static blm_status take_length(struct blm__source *in, uint64_t *out, blm_error *err)
{
    uint8_t  b[9];
    uint64_t at = in->at;
    size_t   n  = blm__read(in, b, 1);
    if (n == 1)
        n += blm__read(in, b + 1, blm__compact_size(b[0]) - 1);
    struct blm__cursor c = blm__cursor(b, n);
    if (blm__take_compact(&c, out) && *out <= BLM__BIP37_BYTES)
        return BLM_OK;
    if (c.bad)
        return blm__short(in, "the number of bytes", err);
    if (*out <= BLM__BIP37_BYTES)
        return blm__fail_at(err, BLM_E_FORMAT, at,
                            "the number of bytes, %llu, is not written in its shortest form",
                            (unsigned long long)*out);
    return blm__fail_at(err, BLM_E_FORMAT, at,
                        "%llu bytes of bits are too many: bip37 has at most 36000",
                        (unsigned long long)*out);
}

/* Reads what follows the bits. */
static blm_status take_tail(struct blm__source *in, uint64_t bytes, struct blm__body *b,
                            struct blm__shape *s, blm_error *err)
{
    uint8_t  tail[TAIL];
    uint64_t at = in->at;
    if (blm__read(in, tail, TAIL) != TAIL)
        return blm__short(in, "nHashFuncs, nTweak and nFlags", err);
    uint32_t probes = blm__get32le(tail);
    if (probes > BLM__BIP37_PROBES)
        return blm__fail_at(err, BLM_E_FORMAT, at,
                            "%lu hash functions are too many: bip37 has at most 50",
                            (unsigned long)probes);
    b->hasher.seed[0] = blm__get32le(tail + 4);
    b->hasher.policy  = BLM_SEED_FIXED;
    s->bits           = bytes ? bytes * 8 : 8;
    s->probes         = bytes ? probes : 0;
    s->aux[0]         = bytes == 0;
    s->aux[1]         = bytes ? 0 : probes;
    s->variant        = tail[8];
    return BLM_OK;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *b,
                         blm_error *err)
{
    struct blm__shape s = {
        .kind = BLM_CLASSIC, .rule = BLM__POSITIONS, .scheme = &blm__scheme_bip37, .cell_bits = 1
    };
    struct blm__block block = { 0 };
    uint64_t          bytes = 0, start;
    b->kind                 = BLM_CLASSIC;
    blm_status st           = take_length(in, &bytes, err);
    start                   = in->at;
    if (st == BLM_OK && bytes)
        st = blm__read_block(in, b->alloc, bytes, b->max_bytes, &block, err);
    else if (st == BLM_OK && !blm__block_alloc(b->alloc, 1, &block))
        st = blm__fail(err, BLM_E_MEMORY, "no memory for a filter of no bytes");
    if (st == BLM_OK)
        st = take_tail(in, bytes, b, &s, err);
    if (st == BLM_OK)
        st = blm__expect_end(in, o, err);
    if (st != BLM_OK) {
        blm__block_free(b->alloc, &block);
        return st;
    }
    return blm__give_array(b, &s, &block, bytes, start, err);
}

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_status st = blm__expect_scheme(b, "bip37", &blm__scheme_bip37, NULL, err);
    if (st != BLM_OK)
        return st;
    const struct blm__layer *l     = &b->layers[0];
    bool                     none  = l->shape.aux[0] != 0;
    uint64_t                 bytes = none ? 0 : l->shape.bits / 8;
    uint8_t                  head[9], tail[TAIL];
    size_t                   n = blm__put_compact(head, bytes);
    blm__put32le(tail, none ? (uint32_t)l->shape.aux[1] : l->shape.probes);
    blm__put32le(tail + 4, (uint32_t)b->hasher.seed[0]);
    tail[8] = (uint8_t)l->shape.variant;
    st      = blm__write_bytes(out, head, n, err);
    if (st == BLM_OK)
        st = blm__write_array(out, b, l, bytes, err);
    return st == BLM_OK ? blm__write_bytes(out, tail, TAIL, err) : st;
}

const struct blm__codec blm__codec_bip37 = {
    .row    = { sizeof(blm_format_row), "bip37", "Bitcoin filterload payload (BIP37)", true, true,
                .sniffs = true, .schemes = (const char *const[]){ "bip37", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
