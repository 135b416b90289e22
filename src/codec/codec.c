/* SPDX-License-Identifier: MIT */
/* The table of codecs, and the reading and writing of bytes that all of them use. A new format is a
 * file beside this one and a row here. */
#include "codec/codec.h"

#include <string.h>

static const struct blm__codec *const codecs[] = {
    &blm__codec_native,
    &blm__codec_guava,
    &blm__codec_go,
    &blm__codec_go_json,
    &blm__codec_go_gob,
    &blm__codec_spark,
    &blm__codec_dcso,
    &blm__codec_dcso_gz,
    &blm__codec_dcso01,
    &blm__codec_bip37,
    &blm__codec_parquet,
    &blm__codec_parquet_bitset,
    &blm__codec_redisbloom,
    &blm__codec_redisbloom_dump,
    &blm__codec_redisbloom_cf,
    &blm__codec_redisbloom_cf_dump,
    &blm__codec_byteslot,
    &blm__codec_raw,
};

#define CODECS (sizeof codecs / sizeof *codecs)

const struct blm__codec *blm__codec_find(const char *name)
{
    for (size_t i = 0; i < CODECS; i++)
        if (strcmp(codecs[i]->row.name, name) == 0)
            return codecs[i];
    return NULL;
}

const blm_format_row *blm_format_at(size_t i) { return i < CODECS ? &codecs[i]->row : NULL; }

const blm_format_row *blm_format_find(const char *name)
{
    const struct blm__codec *c = blm__codec_find(name);
    return c ? &c->row : NULL;
}

/* Sorts as it goes: best first, equal bids in the table's order. */
size_t blm_sniff(const void *head, size_t len, uint64_t total, blm_bid *out, size_t cap)
{
    size_t bidders = 0, kept = 0;
    for (size_t i = 0; i < CODECS; i++) {
        int bid =
            codecs[i]->row.reads ? codecs[i]->sniff(len ? head : (const void *)"", len, total) : 0;
        if (bid <= 0)
            continue;
        bidders++;
        size_t at = kept;
        while (at > 0 && out[at - 1].bid < bid)
            at--;
        if (at >= cap)
            continue;
        kept += kept < cap;
        for (size_t j = kept - 1; j > at; j--)
            out[j] = out[j - 1];
        out[at].format = codecs[i]->row.name;
        out[at].bid    = bid;
    }
    return bidders;
}

/* ---- out --------------------------------------------------------------------------------- */

bool blm__put(struct blm__sink *s, const void *bytes, size_t len)
{
    uint64_t skip = s->from > s->written ? s->from - s->written : 0;
    if (!s->failed && len > skip &&
        !s->write(s->ctx, (const uint8_t *)bytes + skip, len - (size_t)skip))
        s->failed = true;
    if (!s->failed)
        s->written += len;
    return !s->failed;
}

blm_status blm__put_failed(const struct blm__sink *s, blm_error *err)
{
    return blm__fail_at(err, BLM_E_IO, s->written, "writing stopped after %llu bytes",
                        (unsigned long long)s->written);
}

/* ---- in ---------------------------------------------------------------------------------- */

static size_t read_stream(struct blm__source *s, uint8_t *to, size_t len)
{
    size_t got = 0;
    while (got < len && s->head_at < s->head_len)
        to[got++] = s->head[s->head_at++];
    while (got < len && !s->failed) {
        size_t n = s->read(s->ctx, to + got, len - got);
        if (n == 0)
            break;
        if (n > len - got) { /* SIZE_MAX: an error; and no reader may give more than asked */
            s->failed = true;
            break;
        }
        got += n;
    }
    return got;
}

size_t blm__read(struct blm__source *s, void *bytes, size_t len)
{
    size_t got;
    if (s->data) {
        got = len < s->len - (size_t)s->at ? len : s->len - (size_t)s->at;
        memcpy(bytes, s->data + s->at, got);
    } else {
        got = read_stream(s, bytes, len);
    }
    s->at += got;
    return got;
}

uint64_t blm__remaining(const struct blm__source *s)
{
    return s->data ? s->len - s->at : UINT64_MAX;
}

blm_status blm__short(const struct blm__source *s, const char *what, blm_error *err)
{
    if (s->failed)
        return blm__fail_at(err, BLM_E_IO, s->at, "reading failed within %s", what);
    return blm__fail_at(err, BLM_E_TRUNCATED, s->at, "the input ends within %s", what);
}

/* A stream may claim any size, so the size is not believed before the bytes have come. They are
 * gathered in blocks, each as large as all before it, and joined at the end: apart from the first
 * block, never more is allocated than twice what was read. */
#define FIRST_BLOCK ((uint64_t)64 << 10)
#define BLOCKS      48u /* 64 KiB · 2^47 is more than any input */

struct gathered {
    struct blm__block block[BLOCKS];
    uint64_t          len[BLOCKS];
    unsigned          count;
};

static void free_gathered(const blm_allocator *a, struct gathered *g)
{
    for (unsigned i = 0; i < g->count; i++)
        blm__block_free(a, &g->block[i]);
}

static blm_status gather(struct blm__source *s, const blm_allocator *a, uint64_t bytes,
                         struct gathered *g, blm_error *err)
{
    uint64_t next = FIRST_BLOCK;
    for (uint64_t have = 0; have < bytes; g->count++) {
        uint64_t len = bytes - have < next ? bytes - have : next;
        if (g->count == BLOCKS || !blm__block_alloc(a, len, &g->block[g->count]))
            return blm__fail(err, BLM_E_MEMORY, "no memory for %llu bytes of bits",
                             (unsigned long long)bytes);
        g->len[g->count] = len;
        if (blm__read(s, g->block[g->count].words, (size_t)len) != len) {
            g->count++; /* to be freed with the others */
            return blm__short(s, "the bits", err);
        }
        have += len;
        next = have;
    }
    return BLM_OK;
}

static blm_status read_unsure(struct blm__source *s, const blm_allocator *a, uint64_t bytes,
                              struct blm__block *out, blm_error *err)
{
    struct gathered g  = { .count = 0 };
    blm_status      st = gather(s, a, bytes, &g, err);
    if (st == BLM_OK && g.count == 1) {
        *out = g.block[0];
        return BLM_OK;
    }
    if (st == BLM_OK)
        st = blm__block_make(a, bytes, out, err);
    if (st == BLM_OK) {
        uint8_t *to = (uint8_t *)out->words;
        for (unsigned i = 0; i < g.count; to += g.len[i], i++) {
            memcpy(to, g.block[i].words, (size_t)g.len[i]);
            blm__block_free(a, &g.block[i]);
        }
    }
    free_gathered(a, &g);
    return st;
}

blm_status blm__read_block(struct blm__source *s, const blm_allocator *a, uint64_t bytes,
                           uint64_t max_bytes, struct blm__block *out, blm_error *err)
{
    if (max_bytes && bytes > max_bytes)
        return blm__fail_at(err, BLM_E_LIMIT, s->at,
                            "%llu bytes of bits are more than the limit of %llu",
                            (unsigned long long)bytes, (unsigned long long)max_bytes);
    if (s->data && blm__remaining(s) < bytes) {
        s->at = s->len;
        return blm__short(s, "the bits", err);
    }
    if (bytes > SIZE_MAX / 2)
        return blm__fail_at(err, BLM_E_LIMIT, s->at,
                            "%llu bytes of bits are more than this machine can address",
                            (unsigned long long)bytes);
    if (!s->data)
        return read_unsure(s, a, bytes, out, err);
    blm_status st = blm__block_make(a, bytes, out, err);
    if (st == BLM_OK)
        blm__read(s, out->words, (size_t)bytes);
    return st;
}

blm_status blm__read_all(struct blm__source *s, const blm_allocator *a, uint64_t cap, uint8_t **out,
                         size_t *len, size_t *room, blm_error *err)
{
    uint64_t known = blm__remaining(s);
    size_t   have = 0, size = known < SIZE_MAX / 2 ? (size_t)known + 1 : (size_t)FIRST_BLOCK;
    uint8_t *p = blm__alloc(a, size);
    while (p) {
        have += blm__read(s, p + have, size - have);
        if (have > cap || have < size)
            break;
        if (size > SIZE_MAX / 4)
            break;
        uint8_t *more = blm__alloc(a, size * 2);
        if (more)
            memcpy(more, p, have);
        blm__free(a, p, size);
        p = more;
        size *= 2;
    }
    if (!p)
        return blm__fail(err, BLM_E_MEMORY, "no memory for an input of more than %zu bytes", have);
    if (s->failed || have > cap || have == size) {
        blm__free(a, p, size);
        return s->failed ? blm__short(s, "the input", err)
                         : blm__fail_at(err, BLM_E_LIMIT, s->at,
                                        "the input is larger than the limit of %llu bytes",
                                        (unsigned long long)cap);
    }
    *out  = p;
    *len  = have;
    *room = size;
    return BLM_OK;
}
