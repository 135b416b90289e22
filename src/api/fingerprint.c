/* SPDX-License-Identifier: MIT */
/* blm_fingerprint: 128 bits that are the same for filters that blm_equal calls the same, wherever
 * they live and whatever machine made them: everything goes in as little-endian bytes. */
#include <string.h>

#include "api/filter.h"
#include "core/checksum.h"

static void print_number(struct blm__print *p, uint64_t v)
{
    uint8_t bytes[8];
    blm__put64le(bytes, v);
    blm__print_add(p, bytes, sizeof bytes);
}

static bool print_piece(void *ctx, const void *bytes, size_t len)
{
    blm__print_add(ctx, bytes, len);
    return true;
}

static blm_status print_layer(struct blm__print *p, const struct blm__body *b,
                              const struct blm__layer *l, uint64_t done)
{
    const uint64_t piece = (uint64_t)1 << 20; /* words between two reports of progress */
    print_number(p, l->shape.bits);
    print_number(p, l->shape.probes);
    print_number(p, l->shape.lines);
    print_number(p, (uint64_t)l->shape.rule);
    print_number(p, l->shape.cell_bits);
    print_number(p, l->shape.variant);
    if (l->shape.rule == BLM__POSITIONS && blm__shape_reach(&l->shape) != l->shape.bits)
        print_number(p, blm__shape_reach(&l->shape)); /* redisbloom's modulus, of equal bytes */
    if (l->shape.rule == BLM__FUSE) {
        print_number(p, l->shape.line_count);
        print_number(p, l->shape.aux[0]);
    }
    if (l->shape.rule == BLM__AGES) { /* its length, and how many ages: what it forgets */
        print_number(p, l->shape.aux[0]);
        print_number(p, l->shape.aux[1]);
    }
    for (uint64_t at = 0; at < l->word_count; at += piece) {
        uint64_t n = l->word_count - at < piece ? l->word_count - at : piece;
        if (!blm__go_on(b, done + at * 8, blm__body_bytes(b)))
            return BLM_E_CANCELLED;
        blm__words_out(l->words + at, n, print_piece, p);
    }
    return BLM_OK;
}

/* What blm_equal compares, in one order, as little-endian bytes. */
blm_status blm_fingerprint(const blm_filter *f, uint8_t out[16])
{
    struct blm__print         p;
    const struct blm__body   *b      = &f->body;
    const struct blm__hasher *h      = &b->hasher;
    const char               *scheme = f->body.scheme->row.name;
    uint64_t                  done   = 0;
    blm__print_begin(&p);
    print_number(&p, blm__kind_number(b->kind));
    print_number(&p, strlen(scheme));
    blm__print_add(&p, scheme, strlen(scheme));
    print_number(&p, h->version);
    print_number(&p, (uint64_t)h->id);
    print_number(&p, strlen(h->name));
    blm__print_add(&p, h->name, strlen(h->name));
    print_number(&p, h->seed[0]);
    print_number(&p, h->seed[1]);
    print_number(&p, b->layer_count);
    for (uint32_t i = 0; i < b->layer_count; i++) {
        blm_status st = print_layer(&p, b, &b->layers[i], done);
        if (st != BLM_OK)
            return st;
        done += b->layers[i].word_count * 8;
    }
    blm__print_end(&p, out);
    return BLM_OK;
}
