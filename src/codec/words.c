/* SPDX-License-Identifier: MIT */
#include "codec/words.h"

#include "engine/shape.h"
#include "kind/kind.h"
#include "store/store.h"

/* Reversing the bytes of a word in place needs no knowledge of the host's order. */
static void swap_words(uint64_t *w, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        w[i] = blm__swap64(w[i]);
}

blm_status blm__read_words(struct blm__source *in, enum blm__order order,
                           const struct blm__shape *s, struct blm__body *out, blm_error *err)
{
    struct blm__block block = { 0 };
    uint64_t          words = blm__shape_words(s), start = in->at;
    blm_status        st = blm__read_block(in, out->alloc, words * 8, out->max_bytes, &block, err);
    if (st != BLM_OK)
        return st;
    if (order == BLM__BIG)
        swap_words(block.words, words);
    if (!blm__slack_clear(s, block.words))
        st = blm__fail_at(err, BLM_E_FORMAT, start + (words - 1) * 8,
                          "the last word has bits set past bit %llu, the filter's last",
                          (unsigned long long)(s->bits - 1));
    if (st == BLM_OK)
        st = blm__memory_take(out, s, &block, err);
    if (st != BLM_OK)
        blm__block_free(out->alloc, &block);
    return st;
}

blm_status blm__write_bytes(struct blm__sink *out, const void *bytes, size_t len, blm_error *err)
{
    return blm__put(out, bytes, len) ? BLM_OK : blm__put_failed(out, err);
}

#define BUFFER 512u /* words */

blm_status blm__write_words(struct blm__sink *out, enum blm__order order, const struct blm__body *b,
                            const uint64_t *words, uint64_t count, blm_error *err)
{
    uint64_t   buffer[BUFFER];
    blm_status st = BLM_OK;
    for (uint64_t at = 0; st == BLM_OK && at < count; at += BUFFER) {
        size_t n = count - at < BUFFER ? (size_t)(count - at) : BUFFER;
        if (at % (BUFFER << 11) == 0 && !blm__go_on(b, at * 8, count * 8))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled after %llu of %llu bytes",
                             (unsigned long long)(at * 8), (unsigned long long)(count * 8));
        for (size_t i = 0; i < n; i++) /* a shared filter may be added to meanwhile */
            buffer[i] = __atomic_load_n(&words[at + i], __ATOMIC_RELAXED);
        if (order == BLM__BIG)
            swap_words(buffer, n);
        st = blm__write_bytes(out, buffer, n * 8, err);
    }
    return st;
}

blm_status blm__expect_end(struct blm__source *in, const blm_options *o, blm_error *err)
{
    uint8_t  more;
    uint64_t end = in->at;
    if (o->offset)
        return BLM_OK;
    if (blm__read(in, &more, 1) != 0)
        return blm__fail_at(err, BLM_E_FORMAT, end, "bytes follow the end of the filter");
    if (in->failed)
        return blm__short(in, "what follows the filter", err);
    return BLM_OK;
}

blm_status blm__only_scheme(const struct blm__body *b, const char *format,
                            const struct blm__scheme *scheme, const struct blm__scheme *other,
                            blm_error *err)
{
    const struct blm__scheme *has = b->layers[0].shape.scheme;
    if (has == scheme || has == other)
        return BLM_OK;
    return blm__fail_with(err, BLM_E_UNSUPPORTED, "rebuild it from its keys",
                          "format %s holds filters of scheme %s, and this one is %s", format,
                          scheme->row.name, has->row.name);
}

blm_status blm__expect_scheme(const struct blm__body *b, const char *format,
                              const struct blm__scheme *scheme, const struct blm__scheme *other,
                              blm_error *err)
{
    const struct blm__shape *s  = &b->layers[0].shape;
    blm_status               st = blm__only_scheme(b, format, scheme, other, err);
    if (st != BLM_OK)
        return st;
    if (b->layer_count != 1 || blm__grows(b) || s->cell_bits != 1)
        return blm__fail(err, BLM_E_UNSUPPORTED, "format %s holds plain bits, not a %s filter",
                         format, blm_kind_name(b->kind));
    return BLM_OK;
}
