/* SPDX-License-Identifier: MIT */
#include "codec/array.h"

#include <string.h>

#include "codec/words.h"
#include "engine/shape.h"
#include "store/store.h"

int blm__never_bids(const uint8_t *head, size_t len, uint64_t total)
{
    (void)head;
    (void)len;
    (void)total;
    return 0;
}

blm_status blm__give_array(struct blm__body *b, const struct blm__shape *s,
                           struct blm__block *block, uint64_t bytes, uint64_t start, blm_error *err)
{
    blm_status st = BLM_OK;
    if (!blm__slack_clear(s, block->words)) /* behind the bytes read the block is zero */
        st = blm__fail_at(err, BLM_E_FORMAT, start + bytes - 1,
                          "the last byte has bits set past bit %llu, the filter's last",
                          (unsigned long long)(s->bits - 1));
    if (st == BLM_OK)
        st = blm__memory_take(b, s, block, err);
    if (st != BLM_OK)
        blm__block_free(b->alloc, block);
    return st;
}

blm_status blm__read_array(struct blm__source *in, const struct blm__shape *s, uint64_t bytes,
                           struct blm__body *b, blm_error *err)
{
    struct blm__block block = { 0 };
    uint64_t          start = in->at;
    blm_status        st    = blm__read_block(in, b->alloc, bytes, b->max_bytes, &block, err);
    return st == BLM_OK ? blm__give_array(b, s, &block, bytes, start, err) : st;
}

/* A stream's length is not known: reads all of it, then copies it to where words can be. */
static blm_status gather(struct blm__source *in, const struct blm__body *b, struct blm__block *out,
                         uint64_t *bytes, blm_error *err)
{
    uint8_t   *all;
    size_t     len, room;
    blm_status st = blm__read_all(in, b->alloc, b->max_bytes ? b->max_bytes : SIZE_MAX / 4, &all,
                                  &len, &room, err);
    if (st != BLM_OK)
        return st;
    *bytes = len;
    if (len > 0)
        st = blm__block_make(b->alloc, len, out, err);
    if (st == BLM_OK && len > 0)
        memcpy(out->words, all, len);
    blm__free(b->alloc, all, room);
    return st;
}

static blm_status read_rest(struct blm__source *in, const struct blm__body *b, const char *what,
                            struct blm__block *out, uint64_t *bytes, blm_error *err)
{
    uint64_t   start = in->at;
    blm_status st    = BLM_OK;
    *bytes           = blm__remaining(in);
    if (*bytes == UINT64_MAX)
        st = gather(in, b, out, bytes, err);
    else if (*bytes > 0)
        st = blm__read_block(in, b->alloc, *bytes, b->max_bytes, out, err);
    if (st == BLM_OK && *bytes == 0)
        st = blm__fail_at(err, BLM_E_TRUNCATED, start, "the input is empty: there are no %s", what);
    return st;
}

blm_status blm__read_sized(struct blm__source *in, const blm_options *o, const struct blm__body *b,
                           const char *what, struct blm__block *out, uint64_t *bytes,
                           blm_error *err)
{
    memset(out, 0, sizeof *out);
    if (o->bits == 0)
        return read_rest(in, b, what, out, bytes, err);
    if (o->bits > BLM__MAX_BITS)
        return blm__fail(err, BLM_E_LIMIT, "%llu bits are too many: a filter has at most 2^48",
                         (unsigned long long)o->bits);
    *bytes        = (o->bits + 7) / 8;
    blm_status st = blm__read_block(in, b->alloc, *bytes, b->max_bytes, out, err);
    if (st == BLM_OK) {
        st = blm__expect_end(in, o, err);
        if (st != BLM_OK)
            blm__block_free(b->alloc, out);
    }
    return st;
}

blm_status blm__write_array(struct blm__sink *out, const struct blm__body *b,
                            const struct blm__layer *l, uint64_t bytes, blm_error *err)
{
    blm_status st = blm__write_words(out, BLM__LITTLE, b, l->words, bytes / 8, err);
    if (st != BLM_OK || bytes % 8 == 0)
        return st;
    uint64_t last = __atomic_load_n(&l->words[bytes / 8], __ATOMIC_RELAXED);
    return blm__write_bytes(out, &last, bytes % 8, err);
}
