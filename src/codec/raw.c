/* SPDX-License-Identifier: MIT */
/*
 * The bits alone, bit i being bit i % 8 of byte i / 8: for schemes that never had a file format.
 * Everything else comes from the options: the scheme, its variant and seed, how many bits (if not
 * given, the input's length) and, if the scheme leaves it open, how many probes. Capacity and rate
 * are known only if the options give them too.
 *
 * "raw" takes any scheme except the native one, whose seed would be lost; "byteslot" is raw with
 * that scheme. Neither bids for a file: any file could be one.
 */
#include <string.h>

#include "codec/array.h"
#include "codec/words.h"
#include "engine/shape.h"
#include "kind/kind.h"

/* The first kind that is one array of bits and that the scheme is kept in; NULL: none is. */
static const blm_kind_row *plain_kind(const struct blm__scheme *s)
{
    const blm_kind_row *row;
    for (size_t i = 0; (row = blm_kind_at(i)); i++)
        if (s->row.kinds >> row->kind & 1 && row->cell_bits == 1 && !(row->can & BLM_CAN_GROW))
            break;
    return row;
}

static blm_status named_scheme(const blm_options *o, const struct blm__scheme **out, blm_error *err)
{
    if (!o->scheme)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "raw bits do not say what they are: give the scheme, and the probes if "
                         "the scheme leaves them open");
    *out = blm__scheme_find(o->scheme);
    if (!*out)
        return blm__fail(err, BLM_E_ARGUMENT, "unknown scheme %s", o->scheme);
    if ((*out)->missing)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "scheme %s needs %s, and this build was made without it", o->scheme,
                         (*out)->missing);
    if (!(*out)->plan || !plain_kind(*out))
        return blm__fail(err, BLM_E_UNSUPPORTED, "a filter of scheme %s is more than plain bits",
                         o->scheme);
    return BLM_OK;
}

static blm_status plan_shape(const blm_options *o, const struct blm__scheme *scheme, uint64_t bits,
                             struct blm__body *b, struct blm__shape *s, blm_error *err)
{
    blm_options sized = *o;
    sized.bits        = bits;
    sized.memory      = 0;
    sized.scheme      = scheme->row.name;
    memset(s, 0, sizeof *s);
    s->kind      = plain_kind(scheme)->kind;
    s->rule      = BLM__POSITIONS;
    s->scheme    = scheme;
    s->cell_bits = 1;
    s->variant   = o->variant;
    b->kind      = s->kind;
    if (o->flags & BLM_SEEDED && scheme->row.seeded) {
        memcpy(b->hasher.seed, o->seed, sizeof b->hasher.seed);
        b->hasher.policy = BLM_SEED_FIXED;
    }
    if (scheme->one_probe && !o->probes && !o->items && o->rate == 0)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "raw bits of scheme %s do not say how many probes a key has: give the "
                         "probes",
                         scheme->row.name);
    blm_status st = blm__check_variant(scheme, o, err);
    if (st == BLM_OK)
        st = scheme->plan(&sized, b, s, err);
    /* The plan's rate and capacity are those of a new filter. For this one they are not known,
     * unless they were given. */
    if (o->rate == 0)
        s->rate = b->rate = 0;
    if (o->rate == 0 && o->items == 0)
        s->capacity = 0;
    return st;
}

static blm_status decode_as(struct blm__source *in, const blm_options *o,
                            const struct blm__scheme *scheme, struct blm__body *b, blm_error *err)
{
    struct blm__block block;
    struct blm__shape s;
    uint64_t          bytes = 0, start = in->at;
    blm_status        st = blm__read_sized(in, o, b, "bits", &block, &bytes, err);
    if (st != BLM_OK)
        return st;
    st = plan_shape(o, scheme, o->bits ? o->bits : bytes * 8, b, &s, err);
    if (st == BLM_OK)
        st = blm__shape_valid(&s, false, start, err);
    if (st == BLM_OK && !o->bits && blm__shape_reach(&s) != s.bits)
        st = blm__fail_at(err, BLM_E_FORMAT, start,
                          "scheme %s does not reach all of %llu bits: if that is what you mean, "
                          "give the number of bits",
                          scheme->row.name, (unsigned long long)s.bits);
    if (st == BLM_OK && s.bits > bytes * 8)
        st = blm__fail_at(err, BLM_E_FORMAT, start,
                          "scheme %s would have %llu bits, but there are %llu bytes",
                          scheme->row.name, (unsigned long long)s.bits, (unsigned long long)bytes);
    if (st != BLM_OK) {
        blm__block_free(b->alloc, &block);
        return st;
    }
    return blm__give_array(b, &s, &block, bytes, start, err);
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *b,
                         blm_error *err)
{
    const struct blm__scheme *scheme = NULL;
    blm_status                st     = named_scheme(o, &scheme, err);
    return st == BLM_OK ? decode_as(in, o, scheme, b, err) : st;
}

static blm_status decode_byteslot(struct blm__source *in, const blm_options *o, struct blm__body *b,
                                  blm_error *err)
{
    return decode_as(in, o, &blm__scheme_byteslot, b, err);
}

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    const struct blm__layer *l = &b->layers[0];
    if (l->shape.scheme->native)
        return blm__fail_with(err, BLM_E_UNSUPPORTED, "save it as native",
                              "a native filter's bits are useless without its seed");
    if (b->layer_count != 1 || blm__grows(b) || l->shape.cell_bits != 1)
        return blm__fail(err, BLM_E_UNSUPPORTED, "a %s filter is more than plain bits",
                         blm_kind_name(b->kind));
    if (l->shape.probes == 0)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "this filter matches everything, whatever its bits are, and bits alone "
                         "would match nothing: save it as %s or native",
                         l->shape.scheme->row.format);
    return blm__write_array(out, b, l, (l->shape.bits + 7) / 8, err);
}

static blm_status encode_byteslot(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    blm_status st = blm__expect_scheme(b, "byteslot", &blm__scheme_byteslot, NULL, err);
    return st == BLM_OK ? encode(b, out, err) : st;
}

const struct blm__codec blm__codec_raw = {
    .row    = { sizeof(blm_format_row), "raw",
                "the bits alone: scheme, bits and probes come from outside", true, true,
                .schemes = NULL },
    .sniff  = blm__never_bids,
    .decode = decode,
    .encode = encode,
};

const struct blm__codec blm__codec_byteslot = {
    .row = { sizeof(blm_format_row), "byteslot", "the byte array of a byteslot filter", true, true,
             .schemes = (const char *const[]){ "byteslot", NULL } },
    .sniff  = blm__never_bids,
    .decode = decode_byteslot,
    .encode = encode_byteslot,
};
