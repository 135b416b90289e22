/* SPDX-License-Identifier: MIT */
/*
 * DCSO's bloom files, little-endian.
 *
 *   since 0.2.0 (dcso)                               before (dcso01)
 *   0    8   low byte 1; the rest is ignored         0    4   n
 *            and written 0                           4    8   p, a double
 *   8    8   n, keys planned for                     12   4   k
 *   16   8   p, a double                             16   4   m
 *   24   8   k                                       20   4   N
 *   32   8   m                                       24   …   8·⌈m/64⌉ bytes of words
 *   40   8   N, adds that set a bit
 *   48   …   8·⌈m/64⌉ bytes of words
 *   …    …   attached data: all the rest, any bytes
 *
 * The newer one may be in gzip as a whole (dcso-gz). The first two bytes tell: a plain file begins
 * with 01.
 */
#include <float.h>
#include <math.h>

#include "codec/gzip.h"
#include "codec/words.h"
#include "scheme/asked.h"
#include "scheme/dcso.h"
#include "scheme/scheme.h"
#include "store/store.h"

/* A file's numbers, from either layout. */
struct fields {
    uint64_t n, k, m, count;
    double   p;
    uint64_t at_p, at_k, at_m;
};

/* ---- in ---------------------------------------------------------------------------------- */

/* One field that cannot be is damage, and named. Two are another system's bytes: Guava's begin with 1
 * too, and may come in gzip. */
static blm_status check(const struct fields *f, blm_error *err)
{
    bool p = f->p > 0 && f->p<1, k = f->k> 0 && f->k <= BLM__MAX_PROBES;
    bool m = f->m > 0 && f->m <= BLM__MAX_BITS;
    if (p + k + m < 2)
        return blm__fail_at(err, BLM_E_FORMAT, p ? f->at_k : f->at_p, "this is no dcso filter");
    if (!p)
        return blm__fail_at(err, BLM_E_FORMAT, f->at_p, "p is %g, not between 0 and 1", f->p);
    if (!k)
        return blm__fail_at(err, BLM_E_FORMAT, f->at_k, "k is %llu, not 1 to %u",
                            (unsigned long long)f->k, BLM__MAX_PROBES);
    if (!m)
        return blm__fail_at(err, BLM_E_FORMAT, f->at_m, "m is %llu, not 1 to 2^48",
                            (unsigned long long)f->m);
    return BLM_OK;
}

static blm_status read_layer(struct blm__source *in, const struct fields *f,
                             const struct blm__scheme *scheme, struct blm__body *out,
                             blm_error *err)
{
    blm_status st = check(f, err);
    if (st != BLM_OK)
        return st;
    struct blm__shape s = { .kind      = BLM_CLASSIC,
                            .rule      = BLM__POSITIONS,
                            .scheme    = scheme,
                            .bits      = f->m,
                            .probes    = (uint32_t)f->k,
                            .cell_bits = 1,
                            .capacity  = f->n,
                            .rate      = f->p };
    out->kind           = BLM_CLASSIC;
    out->rate           = f->p;
    st                  = blm__read_words(in, BLM__LITTLE, &s, out, err);
    if (st == BLM_OK)
        out->layers[0].items = f->count;
    return st;
}

/* Reads all that follows the words. It is copied, because the body frees it by its length. */
static blm_status read_attached(struct blm__source *in, struct blm__body *out, blm_error *err)
{
    uint8_t   *data;
    size_t     len, room;
    uint64_t   cap = out->max_bytes ? out->max_bytes - blm__body_held(out) : UINT64_MAX;
    blm_status st  = blm__read_all(in, out->alloc, cap, &data, &len, &room, err);
    if (st == BLM_E_LIMIT && out->max_bytes)
        return blm__fail_at(err, st, in->at,
                            "with the attached data there are more than the limit of %llu bytes",
                            (unsigned long long)out->max_bytes);
    if (st != BLM_OK)
        return st;
    if (len > 0)
        st = blm__memory_attach(out, len, err);
    if (st == BLM_OK && len > 0)
        memcpy(out->attached, data, len);
    blm__free(out->alloc, data, room);
    return st;
}

/* `first`: the first two bytes, already read. */
static blm_status decode_plain(struct blm__source *in, const uint8_t first[2], uint64_t start,
                               struct blm__body *out, blm_error *err)
{
    uint8_t h[48] = { first[0], first[1] };
    if (h[0] != 1)
        return blm__fail_at(err, BLM_E_FORMAT, start, "version %u is unknown: dcso has 1", h[0]);
    if (blm__read(in, h + 2, sizeof h - 2) != sizeof h - 2)
        return blm__short(in, "the header of 48 bytes", err);
    struct fields f  = { .n     = blm__get64le(h + 8),
                         .p     = blm__f64_from_bits(blm__get64le(h + 16)),
                         .k     = blm__get64le(h + 24),
                         .m     = blm__get64le(h + 32),
                         .count = blm__get64le(h + 40),
                         .at_p  = start + 16,
                         .at_k  = start + 24,
                         .at_m  = start + 32 };
    blm_status    st = read_layer(in, &f, &blm__scheme_dcso, out, err);
    return st == BLM_OK ? read_attached(in, out, err) : st;
}

static blm_status decode_gzip(struct blm__source *in, const uint8_t first[2], struct blm__body *out,
                              blm_error *err)
{
    struct blm__gzip  *gzip;
    struct blm__source inflated;
    uint8_t            head[2];
    uint64_t           cap = BLM__INFLATED_MOST;
    if (out->max_bytes && out->max_bytes < UINT64_MAX / 4)
        cap = out->max_bytes + 48; /* words, attached data, the header */
    blm_status st = blm__gunzip_open(in, first, 2, out->alloc, cap, &gzip, &inflated, err);
    if (st != BLM_OK)
        return st;
    if (blm__read(&inflated, head, 2) != 2)
        st = blm__short(&inflated, "the inflated header", err);
    else if (head[0] != 1)
        st = blm__fail_at(err, BLM_E_FORMAT, 0, "this is gzip, but no dcso filter is in it");
    else
        st = decode_plain(&inflated, head, 0, out, err);
    out->format = "dcso-gz";
    return blm__gunzip_close(gzip, st, err);
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *out,
                         blm_error *err)
{
    uint8_t  first[2];
    uint64_t start = in->at;
    (void)o;
    if (blm__read(in, first, 2) != 2)
        return blm__short(in, "the header of 48 bytes", err);
    if (first[0] == 0x1f && first[1] == 0x8b)
        return decode_gzip(in, first, out, err);
    out->format = "dcso";
    return decode_plain(in, first, start, out, err);
}

static blm_status decode01(struct blm__source *in, const blm_options *o, struct blm__body *out,
                           blm_error *err)
{
    uint8_t  h[24];
    uint64_t start = in->at;
    if (blm__read(in, h, sizeof h) != sizeof h)
        return blm__short(in, "the header of 24 bytes", err);
    struct fields f  = { .n     = blm__get32le(h),
                         .p     = blm__f64_from_bits(blm__get64le(h + 4)),
                         .k     = blm__get32le(h + 12),
                         .m     = blm__get32le(h + 16),
                         .count = blm__get32le(h + 20),
                         .at_p  = start + 4,
                         .at_k  = start + 12,
                         .at_m  = start + 16 };
    blm_status    st = read_layer(in, &f, &blm__scheme_dcso01, out, err);
    return st == BLM_OK ? blm__expect_end(in, o, err) : st;
}

/* ---- out --------------------------------------------------------------------------------- */

/* A file needs n and p. Bits that came without them have those of a new filter with as many bits and
 * probes. */
static void promised(const struct blm__layer *l, uint64_t *n, double *p)
{
    struct blm__asked a = { .items = l->shape.capacity, .bits = l->shape.bits };
    struct blm__shape s = l->shape;
    struct blm__body  b;
    if (s.rate == 0) {
        blm__asked_promise(&a, &b, &s, NULL);
        s.rate = fmin(fmax(s.rate, DBL_TRUE_MIN), 1 - DBL_EPSILON / 2);
    }
    *n = s.capacity;
    *p = s.rate;
}

static blm_status encode_plain(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    const struct blm__layer *l     = &b->layers[0];
    uint8_t                  h[48] = { 1 };
    uint64_t                 n;
    double                   p;
    promised(l, &n, &p);
    blm__put64le(h + 8, n);
    blm__put64le(h + 16, blm__f64_bits(p));
    blm__put64le(h + 24, l->shape.probes);
    blm__put64le(h + 32, l->shape.bits);
    blm__put64le(h + 40, blm__layer_items(l));
    blm_status st = blm__write_bytes(out, h, sizeof h, err);
    if (st == BLM_OK)
        st = blm__write_words(out, BLM__LITTLE, b, l->words, l->word_count, err);
    return st == BLM_OK ? blm__write_bytes(out, b->attached, b->attached_len, err) : st;
}

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_status st = blm__expect_scheme(b, "dcso", &blm__scheme_dcso, NULL, err);
    return st == BLM_OK ? encode_plain(b, out, err) : st;
}

static blm_status encode_gzip(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    struct blm__gzip *gzip;
    struct blm__sink  deflated;
    blm_status        st = blm__expect_scheme(b, "dcso-gz", &blm__scheme_dcso, NULL, err);
    if (st == BLM_OK)
        st = blm__gzip_open(out, b->alloc, &gzip, &deflated, err);
    if (st != BLM_OK)
        return st;
    return blm__gzip_close(gzip, encode_plain(b, &deflated, err), err);
}

static blm_status encode01(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_status st = blm__expect_scheme(b, "dcso01", &blm__scheme_dcso01, NULL, err);
    if (st != BLM_OK)
        return st;
    const struct blm__layer *l = &b->layers[0];
    uint64_t                 n;
    double                   p;
    promised(l, &n, &p);
    if (n > UINT32_MAX || l->shape.bits > UINT32_MAX)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "format dcso01 has 32-bit sizes: %llu keys or %llu bits do not fit",
                         (unsigned long long)n, (unsigned long long)l->shape.bits);
    uint8_t h[24];
    blm__put32le(h, (uint32_t)n);
    blm__put64le(h + 4, blm__f64_bits(p));
    blm__put32le(h + 12, l->shape.probes);
    blm__put32le(h + 16, (uint32_t)l->shape.bits);
    blm__put32le(h + 20, (uint32_t)blm__layer_items(l)); /* wraps, as the original's does */
    st = blm__write_bytes(out, h, sizeof h, err);
    return st == BLM_OK ? blm__write_words(out, BLM__LITTLE, b, l->words, l->word_count, err) : st;
}

/* ---- sniffing ---------------------------------------------------------------------------- */

static bool plausible(double p, uint64_t k, uint64_t m)
{
    struct fields f = { .p = p, .k = k, .m = m };
    return check(&f, NULL) == BLM_OK;
}

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    if (len < 48 || head[0] != 1)
        return 0;
    uint64_t m = blm__get64le(head + 32);
    if (!plausible(blm__f64_from_bits(blm__get64le(head + 16)), blm__get64le(head + 24), m) ||
        (total && total < 48 + (m + 63) / 64 * 8))
        return 0;
    return blm__get64le(head) == 1 ? 80 : 30;
}

static int sniff_gzip(const uint8_t *head, size_t len, uint64_t total)
{
    (void)total;
    return len >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8 ? 60 : 0;
}

/* There is no magic number: n comes first and may be any other format's. Only a file whose length
 * fits exactly, if that is known. If m and k follow from n and p too, twenty bytes agree, and no bits
 * of another format's filter do that by chance. If not, it may as well be a bip37 filter. */
static int sniff01(const uint8_t *head, size_t len, uint64_t total)
{
    if (len < 24)
        return 0;
    double   p = blm__f64_from_bits(blm__get64le(head + 4));
    uint64_t k = blm__get32le(head + 12), m = blm__get32le(head + 16);
    if (!plausible(p, k, m) || (total && total != 24 + (m + 63) / 64 * 8))
        return 0;
    if (blm__dcso_planned(blm__get32le(head), p, m, k))
        return 96;
    if (total)
        return BLM__BID_LENGTH;
    return p > 1e-20 ? BLM__BID_WEAK : 0; /* small numbers of other formats are tiny doubles */
}

const struct blm__codec blm__codec_dcso = {
    .row = { sizeof(blm_format_row), "dcso", "DCSO bloom, since 0.2.0", true, true, .sniffs = true,
             .schemes = (const char *const[]){ "dcso", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};

const struct blm__codec blm__codec_dcso_gz = {
    .row   = { sizeof(blm_format_row), "dcso-gz", "DCSO bloom, since 0.2.0, in gzip", BLM__HAS_GZIP,
               BLM__HAS_GZIP, .sniffs = true, .schemes = (const char *const[]){ "dcso", NULL } },
    .sniff = sniff_gzip,
    .decode = decode,
    .encode = encode_gzip,
};

const struct blm__codec blm__codec_dcso01 = {
    .row    = { sizeof(blm_format_row), "dcso01", "DCSO bloom before 0.2.0", true, true,
                .sniffs = true, .schemes = (const char *const[]){ "dcso01", NULL } },
    .sniff  = sniff01,
    .decode = decode01,
    .encode = encode01,
};
