/* SPDX-License-Identifier: MIT */
/*
 * Schemes that take MD5 once a probe, for i = 0 … k−1:
 *
 *   md5-cat   MD5(key followed by i in decimal)
 *   md5-or    MD5(key with its last byte OR i); the empty key has no last byte and stays as it is
 *
 * The first eight bytes of it, little-endian, modulo m.
 */
#include <string.h>

#include "bloomery/maths.h"
#include "core/error.h"
#include "scheme/textbook.h"

#define MOST 26u /* hashes that a digest holds */

#ifdef BLOOMERY_WITH_MD
#include <md5.h>
#define MISSING NULL
#define CREATES true

static uint64_t finish(const MD5_CTX *start, const uint8_t *last, size_t len)
{
    MD5_CTX c = *start;
    uint8_t sum[MD5_DIGEST_LENGTH];
    MD5Update(&c, last, len);
    MD5Final(sum, &c);
    return blm__get64le(sum);
}

static void cat_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                       blm_digest *d)
{
    MD5_CTX c;
    (void)h;
    MD5Init(&c);
    MD5Update(&c, key, len);
    for (uint32_t i = 0; i < k; i++) {
        uint8_t digit[2] = { (uint8_t)('0' + i / 10), (uint8_t)('0' + i % 10) };
        d->w[i]          = i < 10 ? finish(&c, digit + 1, 1) : finish(&c, digit, 2);
    }
}

static void or_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                      blm_digest *d)
{
    MD5_CTX c;
    size_t  some = len ? 1 : 0;
    (void)h;
    MD5Init(&c);
    MD5Update(&c, key, len - some);
    for (uint32_t i = 0; i < k; i++) {
        uint8_t last = (uint8_t)(len ? ((const uint8_t *)key)[len - 1] | i : 0);
        d->w[i]      = finish(&c, &last, some);
    }
}

#else
#define MISSING    "MD5 (libmd)"
#define CREATES    false
#define cat_digest no_digest
#define or_digest  no_digest

/* Never called: because of `missing` every such filter is refused. */
static void no_digest(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                      blm_digest *d)
{
    (void)h;
    (void)k;
    (void)key;
    (void)len;
    memset(d->w, 0, sizeof d->w);
}
#endif

static blm_status plan(const blm_options *o, struct blm__body *b, struct blm__shape *s,
                       blm_error *err)
{
    return blm__textbook_plan(o, MOST, b, s, err);
}

static const char *fault(const struct blm__shape *s)
{
    return s->probes > MOST ? "more than 26 probes" : NULL;
}

#define KINDS (1u << BLM_CLASSIC | 1u << BLM_COUNTING)

#define COMMON                                                                         \
    .version = 1, .per_probe = true, .missing = MISSING, .fold = BLM__FOLD_STRIDED,    \
    .fold_unit = 1, .positions = blm__positions_m, .positions_raw = blm__textbook_raw, \
    .reduce = blm__reduce_m, .plan = plan, .fault = fault

const struct blm__scheme blm__scheme_md5_cat = {
    .row = { sizeof(blm_scheme_row), "md5-cat", "MD5 of the key followed by the probe's number",
             "the key \"x1\" has hashes in common with the key \"x\" from its eleventh probe on",
             NULL, CREATES, .kinds = KINDS, .format = "native" },
    COMMON,
    .model  = BLM_MODEL_INDEPENDENT,
    .digest = cat_digest,
};

const struct blm__scheme blm__scheme_md5_or = {
    .row = { sizeof(blm_scheme_row), "md5-or",
             "MD5 of the key, its last byte ORed with the probe's number",
             "few distinct hashes: a last byte with its low bits set gives the same hash for every "
             "probe, and keys whose last bytes differ only in those bits share their hashes",
             NULL, CREATES, .kinds = KINDS, .format = "native" },
    COMMON,
    .model  = BLM_MODEL_USUAL,
    .digest = or_digest,
};
