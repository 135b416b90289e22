/* SPDX-License-Identifier: MIT */
/*
 * Parquet's split-block filter: blocks of 32 bytes, eight 32-bit words each. The upper half of a
 * key's XXH64 picks the block, the lower half times eight odd constants picks a bit in each word.
 *
 * Keys are a column's values in plain encoding, without the length prefix of byte arrays. The
 * caller has already turned an int32 or a string into bytes, so the funnels are only names.
 */
#include <math.h>

#include "bloomery/maths.h"
#include "core/error.h"
#include "core/hash/xxh3.h"
#include "scheme/fixed.h"

#define WORDS       8u
#define BLOCK_BITS  256u
#define MOST_BITS   ((uint64_t)1 << 30) /* Arrow writes and reads no more than 128 MiB … */
#define MOST_BLOCKS ((uint64_t)1 << 26) /* … and the header's i32 does not reach 2^31 bytes */

static const uint32_t salt[WORDS] = { 0x47b6137bu, 0x44974d91u, 0x8824ad5bu, 0xa2b7289du,
                                      0x705495c7u, 0x2df1424bu, 0x9efc4947u, 0x5c6bfb31u };

static void digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d)
{
    (void)h;
    (void)k;
    d->w[0] = XXH64(key, len, 0);
}

static void positions(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    uint64_t block = (d->w[0] >> 32) * (s->bits / BLOCK_BITS) >> 32;
    uint32_t x     = (uint32_t)d->w[0];
    for (unsigned j = 0; j < WORDS; j++)
        out[j] = block * BLOCK_BITS + j * 32 + (x * salt[j] >> 27);
}

/* Arrow's sizing: the bits of a classic filter with eight probes, rounded up to a power of two. */
static uint64_t bits_for(uint64_t n, double p)
{
    double   want = floor(-8.0 * (double)n / log(1 - pow(p, 1.0 / 8)));
    uint64_t bits = BLOCK_BITS;
    while (bits < MOST_BITS && (double)bits < want)
        bits *= 2;
    return bits;
}

static blm_status plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                       blm_error *err)
{
    struct blm__asked a  = { 0 };
    blm_status        st = blm__asked_fixed(o, WORDS, 1, &a, err);
    if (st != BLM_OK)
        return st;
    s->probes = WORDS;
    s->bits   = a.bits ? a.bits : bits_for(a.items, a.rate);
    if (o->memory)
        s->bits -= s->bits % BLOCK_BITS;
    if (s->bits == 0 || s->bits % BLOCK_BITS)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "%llu bits do not fit: a Parquet filter has whole blocks of 256",
                         (unsigned long long)a.bits);
    if (s->bits / BLOCK_BITS >= MOST_BLOCKS)
        return blm__fail(err, BLM_E_LIMIT,
                         "%llu bytes are too many: a Parquet filter has fewer than 2^31",
                         (unsigned long long)(s->bits / 8));
    return blm__asked_promise(&a, b, s, err);
}

/* Blocks differ in fill, and each is asked equally often: the mean over all blocks of the chance to
 * find a set bit in all eight words. */
static double rate_now(const struct blm__layer *l, uint64_t ones)
{
    (void)ones;
    double sum = 0;
    for (uint64_t w = 0; w < l->word_count; w += BLOCK_BITS / 64) {
        double pass = 1;
        for (unsigned j = 0; j < BLOCK_BITS / 64; j++) {
            uint64_t v = blm__le64(__atomic_load_n(&l->words[w + j], __ATOMIC_RELAXED));
            pass *= BLM__POPCOUNT64(v & 0xffffffffu) / 32.0 * (BLM__POPCOUNT64(v >> 32) / 32.0);
        }
        sum += pass;
    }
    return sum / (double)(l->shape.bits / BLOCK_BITS);
}

/* The chance that i keys in a block have set, in each word, the bit that is asked for. */
static double pass_chance(double i) { return pow(1 - pow(31.0 / 32, i), 8); }

/* n keys in z blocks: Poisson(n/z) keys per block. Weights are relative to the most likely
 * number's, and are summed from there outwards until they no longer matter.
 *
 * With a mean of MEAN_MOST keys or more the rate is 1 to all digits of a double: the chance not to pass is at
 * most 8·(31/32)^i for i keys, whose mean is 8·e^(−mean/32), and that is below 2^−54 from
 * 32·57·ln 2 = 1264.3 on. So the sums are short, however many keys are asked for. */
#define MEAN_MOST 1265
static double rate_at(const struct blm__shape *s, uint64_t n)
{
    double mean = (double)n / (double)(s->bits / BLOCK_BITS), mode = floor(mean);
    double sum = pass_chance(mode), all = 1, w = 1;
    if (mean >= MEAN_MOST)
        return 1;
    for (double i = mode; w > 1e-18 && i > 0; i--) {
        w *= i / mean;
        all += w;
        sum += w * pass_chance(i - 1);
    }
    w = 1;
    for (double i = mode + 1; w > 1e-18 && mean > 0; i++) {
        w *= mean / i;
        all += w;
        sum += w * pass_chance(i);
    }
    return fmin(sum / all, 1);
}

static const char *fault(const struct blm__shape *s)
{
    if (s->probes != WORDS)
        return "its keys set eight bits";
    if (s->bits % BLOCK_BITS || s->bits / BLOCK_BITS >= MOST_BLOCKS)
        return "it has whole blocks of 32 bytes, fewer than 2^31 bytes in all";
    return NULL;
}

static const char *notice(const struct blm__shape *s)
{
    if (s->bits & (s->bits - 1) || s->bits > MOST_BITS)
        return "the size is valid, but Arrow reads only powers of two from 32 bytes to 128 MiB";
    if (s->bits == MOST_BITS && s->rate > 0 && rate_at(s, s->capacity) > s->rate)
        return "the size is cut to 128 MiB, as Arrow does: too small for the rate asked for";
    return NULL;
}

static const char *const funnels[] = { "bytes", "string", "int32", "int64",
                                       "float", "double", "int96", NULL };

const struct blm__scheme blm__scheme_parquet = {
    .row       = { sizeof(blm_scheme_row), "parquet",
                   "Parquet split-block: XXH64, one bit in each of eight words of a 32-byte block",
                   "the size comes from the formula for filters without blocks, so the rate can be above "
                         "the one asked for; 0.0 and -0.0 are different keys",
                   funnels, true, .kinds = 1u << BLM_BLOCKED, .format = "parquet" },
    .version   = 1,
    .model     = BLM_MODEL_LINES,
    .fold      = BLM__FOLD_ADJACENT,
    .fold_unit = BLOCK_BITS,
    .digest    = digest,
    .positions = positions,
    .plan      = plan,
    .rate_now  = rate_now,
    .rate_at   = rate_at,
    .fault     = fault,
    .notice    = notice,
};
