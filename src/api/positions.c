/* SPDX-License-Identifier: MIT */
/* The positions of a key, and questions asked by position. */
#include "api/filter.h"
#include "bloomery/embed.h"

static blm_status list_positions(const blm_filter *f, const void *key, size_t len, uint64_t *out,
                                 size_t cap, size_t *count, bool raw)
{
    blm_digest d;
    blm_status st = blm_digest_of(f, key, len, &d);
    if (st != BLM_OK)
        return st;
    uint64_t base = 0;
    size_t   n    = 0;
    for (uint32_t i = 0; i < f->body.layer_count; i++) {
        const struct blm__shape  *s = &f->body.layers[i].shape;
        uint64_t                  pos[BLM__MAX_PROBES];
        const struct blm__engine *e = f->body.layers[i].engine;
        if (!e->positions || !e->positions(s, &d, raw, pos))
            return BLM_E_UNSUPPORTED;
        for (uint32_t j = 0; j < blm__shape_probes(s); j++, n++)
            if (n < cap)
                out[n] = raw ? pos[j] : base + pos[j];
        base += s->bits;
    }
    *count = n;
    return BLM_OK;
}

blm_status blm_positions(const blm_filter *f, const void *key, size_t len, uint64_t *out,
                         size_t cap, size_t *count)
{
    return list_positions(f, key, len, out, cap, count, false);
}

blm_status blm_positions_raw(const blm_filter *f, const void *key, size_t len, uint64_t *out,
                             size_t cap, size_t *count)
{
    return list_positions(f, key, len, out, cap, count, true);
}

static bool check_list(const blm_filter *f, const uint64_t *pos, size_t count, bool raw)
{
    if (raw && !f->body.scheme->reduce)
        return true;
    uint64_t base = 0;
    for (uint32_t i = 0; i < f->body.layer_count; i++) {
        const struct blm__layer *l = &f->body.layers[i];
        if (!l->engine->positions)
            return true; /* its cells are no answer */
        /* One layer: whatever was given. Several: each has its own part of the list. */
        size_t part = f->body.layer_count == 1 ? count : blm__shape_probes(&l->shape);
        bool   all  = true;
        if (part > count)
            return true; /* a short list: we cannot know */
        for (size_t j = 0; j < part && all; j++) {
            uint64_t p = raw ? f->body.scheme->reduce(&l->shape, pos[j]) : pos[j] - base;
            if (!raw && pos[j] < base)
                return true;
            all = p >= l->shape.bits || blm__cell_used(l, p);
        }
        if (all)
            return true;
        pos += part;
        count -= part;
        base += l->shape.bits;
    }
    return false;
}

bool blm_check_positions(const blm_filter *f, const uint64_t *pos, size_t count)
{
    return check_list(f, pos, count, false);
}

bool blm_check_positions_raw(const blm_filter *f, const uint64_t *pos, size_t count)
{
    return check_list(f, pos, count, true);
}
