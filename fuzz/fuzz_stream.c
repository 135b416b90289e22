/* SPDX-License-Identifier: MIT */
/* A stream in pieces of any size, ending or failing anywhere, must give what the same bytes in one
 * piece give. The first byte says which format (0: sniffed) and how small the pieces are. */
#include "decode.h"

struct pieces {
    const uint8_t *p;
    size_t         left;
    uint32_t       state; /* of the sizes */
    bool           fails; /* at the end, instead of ending */
};

static size_t next_piece(void *ctx, void *bytes, size_t len)
{
    struct pieces *s = ctx;
    s->state         = s->state * 1664525u + 1013904223u;
    size_t n         = s->state >> 24 & 1 ? 1 + (s->state >> 16) % 7 : s->state >> 12;
    n                = n < 1 ? 1 : n;
    n                = n > len ? len : n;
    n                = n > s->left ? s->left : n;
    if (n == 0 && len && s->fails)
        return SIZE_MAX;
    memcpy(bytes, s->p, n);
    s->p += n;
    s->left -= n;
    return n;
}

/* A stream's format is found by its first 64 bytes. With the length and the rest known, another may fit better
 * (JSON that begins with 60 spaces), or none: then the stream is that format's, or refused as it. Or there is one
 * only by its length: the stream has none. */
static bool rest_decides(const uint8_t *data, size_t size, const char **first)
{
    blm_bid bids[2][2] = { { { NULL, 0 } } };
    blm_sniff(data, size < 64 ? size : 64, size < 64 ? size : 0, bids[0], 2);
    blm_sniff(data, size, size, bids[1], 2);
    *first     = bids[0][0].format;
    bool clear = bids[0][0].bid > bids[0][1].bid || !bids[0][0].format;
    return clear && bids[1][0].format != bids[0][0].format;
}

/* By the first bytes, before the stream has ended: too much is announced, or two formats fit. */
static bool decided_early(blm_status st) { return st == BLM_E_LIMIT || st == BLM_E_AMBIGUOUS; }

static bool is_native(const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    return blm_get_params(f, &p) == BLM_OK && strcmp(p.format, "native") == 0;
}

/* A native filter's bytes may be followed by others, which as a whole are none. */
static bool as_whole(const blm_filter *f, const blm_filter *whole, bool other)
{
    return whole ? blm_equal(f, whole) : other && is_native(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL, *whole = NULL;
    blm_error   err;
    if (size == 0)
        return 0;
    size_t formats = 0;
    while (blm_format_at(formats))
        formats++;
    uint8_t how = *data++ % 64;
    size--;
    o.max_bytes             = (uint64_t)16 << 20;
    const blm_format_row *r = how ? blm_format_at(how % formats) : NULL;
    o.format                = r && r->sniffs ? r->name : NULL;
    struct pieces in = { data, size, how, false }, broken = { data, size, how, true };
    blm_status    whole_st = blm_decode(data, size, &o, &whole, &err);
    blm_status    st       = blm_decode_stream(next_piece, &in, &o, &f, &err);
    const char   *first    = NULL; /* what the stream is taken for */
    bool          other    = !o.format && rest_decides(data, size, &first);
    must(st == whole_st || other || (!o.format && decided_early(st)));
    if (other && st == BLM_OK) { /* whatever the whole bytes are */
        blm_free(whole);
        whole    = NULL;
        o.format = first;
        must(first && (is_native(f) || blm_decode(data, size, &o, &whole, &err) == BLM_OK));
        o.format = NULL;
    }
    must(st == BLM_OK ? as_whole(f, whole, other) : !f && err.status == st && err.text[0]);
    must(st != BLM_OK || in.left == 0 || is_native(f)); /* which says where it ends */
    blm_free(f);
    f  = NULL;
    st = blm_decode_stream(next_piece, &broken, &o, &f, &err);
    must(st == BLM_OK ? as_whole(f, whole, other)
                      : !f && err.text[0]); /* it may not need the end */
    blm_free(f);
    blm_free(whole);
    return 0;
}
