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
    must((st == BLM_OK) == (whole_st == BLM_OK)); /* without its length, a failure may differ */
    must(st == BLM_OK ? blm_equal(f, whole) : !f && err.status == st && err.text[0]);
    must(st != BLM_OK || in.left == 0);
    blm_free(f);
    f  = NULL;
    st = blm_decode_stream(next_piece, &broken, &o, &f, &err);
    must(st == BLM_OK ? whole && blm_equal(f, whole)
                      : !f && err.text[0]); /* it may not need the end */
    blm_free(f);
    blm_free(whole);
    return 0;
}
