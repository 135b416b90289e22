/* SPDX-License-Identifier: MIT */
/* Go's bloom, the plain form: WriteTo and MarshalBinary. The layout is in go.h. */
#include "codec/go.h"

#include "codec/words.h"
#include "engine/shape.h"
#include "scheme/scheme.h"
#include "store/store.h"

/* ---- in ---------------------------------------------------------------------------------- */

/* A bit set may be shorter than m by this many bits: no more is allocated than the input
 * justifies. */
#define SHORTER ((uint64_t)64 << 13)

blm_status blm__go_check(const struct blm__go *g, blm_error *err)
{
    if (g->m == 0)
        return blm__fail_at(err, BLM_E_FORMAT, g->at_m, "m is 0: the filter has no bits");
    if (g->m > BLM__MAX_BITS)
        return blm__fail_at(err, BLM_E_FORMAT, g->at_m, "m is %llu, more than 2^48",
                            (unsigned long long)g->m);
    if (g->k == 0 || g->k > BLM__MAX_PROBES)
        return blm__fail_at(err, BLM_E_FORMAT, g->at_k, "k is %llu, not 1 to %u",
                            (unsigned long long)g->k, BLM__MAX_PROBES);
    if (g->length > BLM__MAX_BITS)
        return blm__fail_at(err, BLM_E_FORMAT, g->at_length,
                            "the bit set has %llu bits, more than 2^48",
                            (unsigned long long)g->length);
    if (g->length < g->m && g->m - g->length > SHORTER)
        return blm__fail_at(err, BLM_E_FORMAT, g->at_length,
                            "the bit set has %llu bits, but m is %llu",
                            (unsigned long long)g->length, (unsigned long long)g->m);
    return BLM_OK;
}

/* How many words there are from `first` to the last that is not 0; in the first one only bits from
 * `from_bit` on count. */
static uint64_t count_tail(const uint64_t *words, uint64_t first, uint64_t end, unsigned from_bit)
{
    uint64_t n = 0;
    for (uint64_t i = first; i < end; i++) {
        uint64_t w = blm__le64(words[i]);
        if (i == first)
            w = w >> from_bit << from_bit;
        if (w)
            n = i - first + 1;
    }
    return n;
}

/* Moves the bits past m from the words to b->attached, together with the type messages. */
static blm_status attach(struct blm__body *b, const struct blm__go *g, const uint8_t *types,
                         size_t types_len, uint64_t *words, blm_error *err)
{
    uint64_t first = g->m >> 6, end = blm__go_words(g->length);
    unsigned bit  = (unsigned)(g->m & 63);
    uint64_t tail = first < end ? count_tail(words, first, end, bit) : 0;
    if (tail == 0 && types_len == 0)
        return BLM_OK;
    size_t     size = 16 + types_len + (size_t)tail * 8;
    blm_status st   = blm__memory_attach(b, size, err);
    if (st != BLM_OK)
        return st;
    uint8_t *p = b->attached;
    blm__put64le(p, first);
    blm__put64le(p + 8, types_len);
    if (types_len)
        memcpy(p + 16, types, types_len);
    p += 16 + types_len;
    for (uint64_t i = 0; i < tail; i++) {
        uint64_t w = blm__le64(words[first + i]), keep = 0;
        if (i == 0)
            keep = w & (((uint64_t)1 << bit) - 1);
        blm__put64le(p + i * 8, w ^ keep);
        words[first + i] = blm__le64(keep);
    }
    return BLM_OK;
}

/* Words in a block of another size, with zeroes after them. */
static blm_status resize(const struct blm__body *out, uint64_t words, uint64_t need,
                         struct blm__block *block, blm_error *err)
{
    struct blm__block other;
    blm_status        st = blm__block_make(out->alloc, need * 8, &other, err);
    if (st != BLM_OK)
        return st;
    if (words > 0)
        memcpy(other.words, block->words, (size_t)(words < need ? words : need) * 8);
    blm__block_free(out->alloc, block);
    *block = other;
    return BLM_OK;
}

/* Reads a bit set of any length into words for m bits, or more. */
static blm_status read_odd(struct blm__source *in, const struct blm__go *g,
                           struct blm__block *block, struct blm__body *out, blm_error *err)
{
    uint64_t   words = blm__go_words(g->length), need = blm__go_words(g->m);
    uint64_t   start = in->at;
    blm_status st    = BLM_OK;
    if (words > 0)
        st = blm__read_block(in, out->alloc, words * 8, out->max_bytes, block, err);
    if (st != BLM_OK)
        return st;
    for (uint64_t i = 0; i < words; i++)
        block->words[i] = blm__swap64(block->words[i]);
    unsigned bit = (unsigned)(g->length & 63);
    if (bit && blm__le64(block->words[words - 1]) >> bit)
        return blm__fail_at(err, BLM_E_FORMAT, start + (words - 1) * 8,
                            "the last word has bits set past the bit set's length");
    return words < need ? resize(out, words, need, block, err) : BLM_OK;
}

blm_status blm__go_read(struct blm__source *in, const struct blm__go *g, const uint8_t *types,
                        size_t types_len, struct blm__body *out, blm_error *err)
{
    struct blm__block block = { 0 };
    struct blm__shape s     = { .kind      = BLM_CLASSIC,
                                .rule      = BLM__POSITIONS,
                                .scheme    = &blm__scheme_go,
                                .bits      = g->m,
                                .probes    = (uint32_t)g->k,
                                .cell_bits = 1 };
    out->kind               = BLM_CLASSIC;
    if (g->length != g->m)
        s.aux[0] = g->length + 1;
    blm_status st = read_odd(in, g, &block, out, err);
    if (st == BLM_OK)
        st = attach(out, g, types, types_len, block.words, err);
    uint64_t words = blm__go_words(g->length), need = blm__go_words(g->m);
    if (st == BLM_OK && words > need) /* what follows is attached, or 0 */
        st = resize(out, words, need, &block, err);
    if (st == BLM_OK)
        st = blm__memory_take(out, &s, &block, err);
    if (st != BLM_OK)
        blm__block_free(out->alloc, &block);
    return st;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *out,
                         blm_error *err)
{
    uint8_t  h[BLM__GO_HEADER];
    uint64_t start = in->at;
    if (blm__read(in, h, sizeof h) != sizeof h)
        return blm__short(in, "the header of 24 bytes", err);
    struct blm__go g  = { blm__get64be(h), blm__get64be(h + 8), blm__get64be(h + 16),
                          start,           start + 8,           start + 16 };
    blm_status     st = blm__go_check(&g, err);
    if (st == BLM_OK)
        st = blm__go_read(in, &g, NULL, 0, out, err);
    return st == BLM_OK ? blm__expect_end(in, o, err) : st;
}

/* ---- out --------------------------------------------------------------------------------- */

/* What was attached when the filter was read; nothing, if its parts do not fit each other. */
struct extra {
    uint64_t       first, words; /* the tail's first word, and how many */
    const uint8_t *types, *tail;
    size_t         types_len;
};

static struct extra extra_of(const struct blm__body *b)
{
    struct extra       e     = { 0 };
    struct blm__cursor c     = blm__cursor(b->attached, b->attached_len);
    uint64_t           first = blm__take64le(&c), len = blm__take64le(&c);
    if (c.bad || len > blm__left(&c))
        return e;
    e.first     = first;
    e.types     = blm__take(&c, (size_t)len);
    e.types_len = (size_t)len;
    e.words     = blm__left(&c) / 8;
    e.tail      = blm__take(&c, (size_t)e.words * 8);
    return e;
}

const uint8_t *blm__go_types(const struct blm__body *b, size_t *len)
{
    struct extra e = extra_of(b);
    *len           = e.types_len;
    return e.types_len ? e.types : NULL;
}

/* One past the highest bit that is set. */
static uint64_t reach(const struct blm__layer *l)
{
    for (uint64_t i = l->word_count; i > 0; i--) {
        uint64_t w = blm__le64(__atomic_load_n(&l->words[i - 1], __ATOMIC_RELAXED)), n = 0;
        for (; w; w >>= 1)
            n++;
        if (n)
            return (i - 1) * 64 + n;
    }
    return 0;
}

blm_status blm__go_of(const struct blm__body *b, const char *format, struct blm__go *g,
                      blm_error *err)
{
    blm_status st = blm__expect_scheme(b, format, &blm__scheme_go, NULL, err);
    if (st != BLM_OK)
        return st;
    const struct blm__layer *l = &b->layers[0];
    *g = (struct blm__go){ .m = l->shape.bits, .k = l->shape.probes, .length = l->shape.bits };
    if (l->shape.aux[0] && l->shape.aux[0] - 1 <= BLM__MAX_BITS)
        g->length = l->shape.aux[0] - 1;
    if (g->length < g->m) { /* in Go it would have grown to the last bit that was set since */
        uint64_t grown = reach(l);
        g->length      = grown > g->length ? grown : g->length;
    }
    return BLM_OK;
}

blm_status blm__go_write(const struct blm__body *b, const struct blm__go *g, struct blm__sink *out,
                         blm_error *err)
{
    const struct blm__layer *l     = &b->layers[0];
    struct extra             e     = extra_of(b);
    uint64_t                 words = blm__go_words(g->length);
    /* The layer's words, except the last if it shares a word with the tail. */
    uint64_t plain = e.words && e.first < l->word_count ? e.first : l->word_count;
    uint8_t  length[8];
    blm__put64be(length, g->length);
    blm_status st = blm__write_bytes(out, length, 8, err);
    if (plain > words)
        plain = words;
    if (st == BLM_OK)
        st = blm__write_words(out, BLM__BIG, b, l->words, plain, err);
    for (uint64_t i = plain; st == BLM_OK && i < words; i++) {
        uint64_t w = i < l->word_count ? l->words[i] : 0;
        if (e.words && i >= e.first && i - e.first < e.words)
            w |= blm__le64(blm__get64le(e.tail + (i - e.first) * 8));
        if (i + 1 == words) /* what is attached may be forged: no bits past the length */
            w &= blm__le64(UINT64_MAX >> (words * 64 - g->length));
        w  = blm__swap64(w);
        st = blm__write_bytes(out, &w, 8, err);
    }
    return st;
}

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    struct blm__go g;
    uint8_t        h[16];
    blm_status     st = blm__go_of(b, "go", &g, err);
    if (st != BLM_OK)
        return st;
    blm__put64be(h, g.m);
    blm__put64be(h + 8, g.k);
    st = blm__write_bytes(out, h, sizeof h, err);
    return st == BLM_OK ? blm__go_write(b, &g, out, err) : st;
}

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    if (len < BLM__GO_HEADER)
        return 0;
    struct blm__go g = { .m      = blm__get64be(head),
                         .k      = blm__get64be(head + 8),
                         .length = blm__get64be(head + 16) };
    if (blm__go_check(&g, NULL) != BLM_OK)
        return 0;
    if (total == 0)
        return g.length == g.m ? 40 : 5;
    return total == BLM__GO_HEADER + blm__go_words(g.length) * 8 ? 60 : 0;
}

const struct blm__codec blm__codec_go = {
    .row = { sizeof(blm_format_row), "go", "Go bloom (willf, bits-and-blooms), WriteTo", true, true,
             .sniffs = true, .schemes = (const char *const[]){ "go", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
