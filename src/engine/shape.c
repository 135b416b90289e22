/* SPDX-License-Identifier: MIT */
#include "engine/shape.h"

#include "core/ages.h"
#include "engine/engine.h"

bool blm__rate_valid(double p) { return p >= 0 && p < 1; } /* false for a NaN */

/* How a key finds its cells must fit what the cells are, and who hashes it. */
static const char *engine_fault(const struct blm__shape *s, bool native)
{
    const struct blm__engine *e = blm__engine_of(s);
    if (!e)
        return "no engine finds and keeps such cells";
    if (e->native != native)
        return native ? "the native scheme has chains or lines, not positions"
                      : "only the native scheme has chains or lines";
    return e->kinds >> s->kind & 1 ? NULL : "cells that its kind does not have";
}

static const char *ages_fault(const struct blm__shape *s)
{
    uint32_t ages = blm__ages_of(s);
    if (ages < BLM__AGES_LEAST || ages > BLM__AGES_MOST || (ages & (ages - 1)) ||
        s->aux[1] & ~(uint64_t)(BLM__BY_TIME | 0xff))
        return "ages are not 8, 16, 32 or 64";
    if (s->aux[0] == 0 || s->aux[0] > UINT64_MAX / 2)
        return "a window of no length";
    if (s->line_count == 0 || s->line_count > BLM__MAX_BITS / 64 / ages ||
        blm__ages_words(s->line_count, ages) * 64 != s->bits)
        return "spans and bits do not agree";
    return NULL;
}

static const char *lines_fault(const struct blm__shape *s)
{
    uint32_t cells = blm__line_cells(s->rule);
    if (s->rule == BLM__BUCKETS || s->rule == BLM__FUSE)
        return NULL;
    if (cells == 0)
        return s->line_count || s->lines ? "a layer without lines has a number of lines" : NULL;
    if (s->lines < 1 || s->lines > blm__lines_most(s->rule))
        return s->rule == BLM__SHORT ? "short lines per key are not 1 to 5"
                                     : "lines per key are not 1 to 3";
    if (s->probes > BLM__LINE_WORDS)
        return "more probes in a line than it has words";
    if (s->rule == BLM__AGES)
        return ages_fault(s);
    if (s->line_count > BLM__MAX_BITS / cells || s->line_count * cells != s->bits)
        return "lines and bits do not agree";
    return NULL;
}

static const char *buckets_fault(const struct blm__shape *s)
{
    if (s->rule != BLM__BUCKETS)
        return NULL;
    uint64_t buckets = s->bits / BLM__BUCKET, parts = s->line_count ? buckets / s->line_count : 0;
    if (s->line_count == 0 || s->line_count % 2)
        return "the number of buckets is not even";
    if (s->bits % BLM__BUCKET || parts * s->line_count != buckets || parts & (parts - 1))
        return "buckets and cells do not agree";
    return s->lines || s->probes != 1 ? "a key has one cell" : NULL;
}

static const char *fuse_fault(const struct blm__shape *s)
{
    uint64_t segment = s->aux[0], parts = s->line_count;
    if (s->rule != BLM__FUSE)
        return NULL;
    if (segment == 0 || segment & (segment - 1) || segment > BLM__SEGMENT_MOST)
        return "a segment is not 1, 2, 4 … 2^18 cells";
    if (parts == 0 || parts != s->aux[1] || parts > BLM__MAX_PARTS || s->bits % parts ||
        s->bits / parts % segment || s->bits / parts / segment < BLM__FUSE_PROBES)
        return "parts, segments and cells do not agree";
    return s->lines || s->probes != BLM__FUSE_PROBES ? "a key has three cells" : NULL;
}

/* Native layers come from no other format. 1: a scalable filter's first (kind/young.h). */
static const char *aux_fault(const struct blm__shape *s, bool native)
{
    uint64_t most = s->rule == BLM__CHAIN || s->rule == BLM__LINES;
    if (!native || s->rule == BLM__AGES || s->rule == BLM__FUSE)
        return NULL;
    return s->aux[0] > most || s->aux[1] ? "values of another format" : NULL;
}

static const char *shape_fault(const struct blm__shape *s, bool native)
{
    if ((unsigned)s->kind >= 32)
        return "no such kind of layer";
    if (s->bits == 0)
        return "no bits";
    if (s->probes == 0 && s->rule != BLM__POSITIONS) /* there the scheme has the last word */
        return "no probes";
    if (!blm__rate_valid(s->rate))
        return "a rate that is not between 0 and 1";
    const char *fault = engine_fault(s, native);
    if (!fault)
        fault = lines_fault(s);
    if (!fault)
        fault = buckets_fault(s);
    if (!fault)
        fault = aux_fault(s, native);
    return fault ? fault : fuse_fault(s);
}

blm_status blm__shape_valid(const struct blm__shape *s, bool native, uint64_t offset,
                            blm_error *err)
{
    const char *fault = shape_fault(s, native);
    if (fault)
        return blm__fail_at(err, BLM_E_FORMAT, offset, "not a valid layer: %s", fault);
    if (s->bits > BLM__MAX_BITS / (s->rule >= BLM__BUCKETS ? s->cell_bits : 1))
        return blm__fail_at(err, BLM_E_LIMIT, offset, "%llu bits are more than 2^48",
                            (unsigned long long)s->bits);
    if (s->probes > BLM__MAX_PROBES)
        return blm__fail_at(err, BLM_E_LIMIT, offset, "%u probes are more than %u", s->probes,
                            BLM__MAX_PROBES);
    return BLM_OK;
}

bool blm__slack_clear(const struct blm__shape *s, const uint64_t *words)
{
    uint64_t end = blm__shape_used(s), at = end / 64;
    unsigned used = (unsigned)(end % 64);
    for (; at < blm__shape_words(s); at++, used = 0)
        if (blm__le64(__atomic_load_n(&words[at], __ATOMIC_RELAXED)) >> used)
            return false;
    return true;
}

bool blm__same_window(const struct blm__shape *a, const struct blm__shape *b)
{
    if (a->rule == BLM__FUSE)
        return a->aux[0] == b->aux[0] && a->line_count == b->line_count;
    return a->rule != BLM__AGES || (a->aux[0] == b->aux[0] && a->aux[1] == b->aux[1]);
}

uint64_t blm__line_count(const struct blm__shape *s)
{
    uint32_t cells = blm__line_cells(s->rule);
    if (s->rule == BLM__AGES)
        return blm__ages_of(s) ? blm__ages_spans(s->bits / 64, blm__ages_of(s)) : 0;
    if (s->rule == BLM__FUSE)
        return s->aux[1];
    return cells ? s->bits / cells : 0;
}
