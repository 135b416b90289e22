/* SPDX-License-Identifier: MIT */
/*
 * Guava's BloomFilter.writeTo: big-endian, no magic, no checksum.
 *
 *   0   1     strategy: 0 MURMUR128_MITZ_32, 1 MURMUR128_MITZ_64
 *   1   1     k, 1 … 255
 *   2   4     W, how many words follow, signed, > 0
 *   6   8·W   words; m = 64·W, bit i is bit i % 64 of word i / 64
 *
 * Keys, rate and funnel are not in the file: the reader must know the funnel.
 */
#include "codec/words.h"
#include "scheme/scheme.h"

#define HEADER 6u

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    if (len < HEADER || head[0] > 1 || head[1] == 0)
        return 0;
    uint32_t words = blm__get32be(head + 2);
    if (words == 0 || words > INT32_MAX)
        return 0;
    if (total == 0)
        return 10;
    return total == HEADER + (uint64_t)words * 8 ? 55 : 0;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *out,
                         blm_error *err)
{
    uint8_t  h[HEADER];
    uint64_t start = in->at;
    if (blm__read(in, h, HEADER) != HEADER)
        return blm__short(in, "the header of 6 bytes", err);
    uint32_t words = blm__get32be(h + 2);
    if (h[0] > 1)
        return blm__fail_at(err, BLM_E_FORMAT, start, "strategy %d is unknown: guava has 0 and 1",
                            h[0]);
    if (h[1] == 0)
        return blm__fail_at(err, BLM_E_FORMAT, start + 1,
                            "k is 0: the filter has no hash functions");
    if (words == 0 || words > INT32_MAX)
        return blm__fail_at(err, BLM_E_FORMAT, start + 2,
                            "the word count is %ld, not 1 to 2^31 - 1", (long)(int32_t)words);
    struct blm__shape s = { .kind      = BLM_CLASSIC,
                            .rule      = BLM__POSITIONS,
                            .scheme    = h[0] ? &blm__scheme_guava64 : &blm__scheme_guava32,
                            .bits      = (uint64_t)words * 64,
                            .probes    = h[1],
                            .cell_bits = 1 };
    out->kind           = BLM_CLASSIC;
    blm_status st       = blm__read_words(in, BLM__BIG, &s, out, err);
    return st == BLM_OK ? blm__expect_end(in, o, err) : st;
}

/* The scheme only makes filters that the header can describe: 255 probes, 2^31 − 1 whole words. */
static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_status st = blm__expect_scheme(b, "guava", &blm__scheme_guava64, &blm__scheme_guava32, err);
    if (st != BLM_OK)
        return st;
    const struct blm__layer *l = &b->layers[0];
    uint8_t h[HEADER] = { l->shape.scheme == &blm__scheme_guava64, (uint8_t)l->shape.probes };
    blm__put32be(h + 2, (uint32_t)l->word_count);
    st = blm__write_bytes(out, h, HEADER, err);
    return st == BLM_OK ? blm__write_words(out, BLM__BIG, b, l->words, l->word_count, err) : st;
}

const struct blm__codec blm__codec_guava = {
    .row    = { sizeof(blm_format_row), "guava", "Guava BloomFilter.writeTo", true, true,
                .sniffs = true, .schemes = (const char *const[]){ "guava64", "guava32", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
