/* SPDX-License-Identifier: MIT */
/*
 * Apache Spark's BloomFilter.writeTo: big-endian, signed, no magic.
 *
 *   version 1: int 1 | int k | int W | W longs            version 2: int 2 | int k | int seed |
 *                                                                    int W | W longs
 * m = 64·W, bit i is bit i % 64 of long i / 64. Version 1 has no seed: it is 0.
 */
#include "codec/words.h"
#include "scheme/scheme.h"

static size_t header_of(uint32_t version) { return version == 1 ? 12 : 16; }

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    uint32_t version = len >= 16 ? blm__get32be(head) : 0;
    if (version != 1 && version != 2)
        return 0;
    uint32_t k = blm__get32be(head + 4), words = blm__get32be(head + header_of(version) - 4);
    if (k == 0 || k > BLM__MAX_PROBES || words == 0 || words > INT32_MAX)
        return 0;
    if (total == 0)
        return 40;
    return total == header_of(version) + (uint64_t)words * 8 ? 65 : 0;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *out,
                         blm_error *err)
{
    uint8_t  h[16];
    uint64_t start = in->at;
    if (blm__read(in, h, 4) != 4)
        return blm__short(in, "the version", err);
    uint32_t version = blm__get32be(h);
    if (version != 1 && version != 2)
        return blm__fail_at(err, BLM_E_FORMAT, start, "version %ld is unknown: spark has 1 and 2",
                            (long)(int32_t)version);
    size_t size = header_of(version);
    if (blm__read(in, h + 4, size - 4) != size - 4)
        return blm__short(in, version == 1 ? "the header of 12 bytes" : "the header of 16 bytes",
                          err);
    uint32_t k = blm__get32be(h + 4), words = blm__get32be(h + size - 4);
    if (k == 0 || k > BLM__MAX_PROBES)
        return blm__fail_at(err, BLM_E_FORMAT, start + 4, "k is %ld, not 1 to %u", (long)(int32_t)k,
                            BLM__MAX_PROBES);
    if (words == 0 || words > INT32_MAX)
        return blm__fail_at(err, BLM_E_FORMAT, start + size - 4,
                            "the word count is %ld, not 1 to 2^31 - 1", (long)(int32_t)words);
    struct blm__shape s = { .kind      = BLM_CLASSIC,
                            .rule      = BLM__POSITIONS,
                            .scheme    = version == 1 ? &blm__scheme_spark1 : &blm__scheme_spark2,
                            .bits      = (uint64_t)words * 64,
                            .probes    = k,
                            .cell_bits = 1 };
    out->kind           = BLM_CLASSIC;
    if (version == 2) {
        out->hasher.seed[0] = blm__get32be(h + 8);
        out->hasher.policy  = BLM_SEED_FIXED;
    }
    blm_status st = blm__read_words(in, BLM__BIG, &s, out, err);
    return st == BLM_OK ? blm__expect_end(in, o, err) : st;
}

/* The scheme only makes filters that the header can describe: 2^31 − 1 whole words. */
static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_status st = blm__expect_scheme(b, "spark", &blm__scheme_spark2, &blm__scheme_spark1, err);
    if (st != BLM_OK)
        return st;
    const struct blm__layer *l = &b->layers[0];
    uint8_t                  h[16];
    uint32_t                 version = l->shape.scheme == &blm__scheme_spark1 ? 1 : 2;
    blm__put32be(h, version);
    blm__put32be(h + 4, l->shape.probes);
    blm__put32be(h + 8, (uint32_t)b->hasher.seed[0]);
    blm__put32be(h + header_of(version) - 4, (uint32_t)l->word_count);
    st = blm__write_bytes(out, h, header_of(version), err);
    return st == BLM_OK ? blm__write_words(out, BLM__BIG, b, l->words, l->word_count, err) : st;
}

const struct blm__codec blm__codec_spark = {
    .row    = { sizeof(blm_format_row), "spark", "Apache Spark BloomFilter.writeTo", true, true,
                .sniffs = true, .schemes = (const char *const[]){ "spark1", "spark2", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
