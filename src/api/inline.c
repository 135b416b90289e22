/* SPDX-License-Identifier: MIT */
/* What bloomery/inline.h reads of a filter. */
#include "bloomery/inline.h"

#include "api/filter.h"
#include "core/kernel/lines.h"

/* Words 0 1 4 5 2 3 6 7 of a pattern: the order in which one shuffle of two vectors leaves them. */
static uint8_t shuffled(unsigned words)
{
    return (uint8_t)((words & 0xc3) | (words & 0x30) >> 2 | (words & 0x0c) << 2);
}

#ifdef __x86_64__ /* for AVX2: a row for each k and turn of its pattern */
#define SIGN(p, j) ((uint32_t)(p) >> (j)&1) << 31
#define SIGNS(p)                                                                            \
    {                                                                                       \
        SIGN(p, 0), SIGN(p, 1), SIGN(p, 4), SIGN(p, 5), SIGN(p, 2), SIGN(p, 3), SIGN(p, 6), \
            SIGN(p, 7)                                                                      \
    }
static const _Alignas(64) uint32_t asked[9][8][8] = BLM__LINE_TABLE(SIGNS);
#endif

static bool inlines(const struct blm__body *b, const struct blm__layer *l)
{
    return l && !blm__grows(b) && b->scheme->native && b->hasher.id == BLM_HASH_XXH3 &&
           l->shape.rule == BLM__LINES && l->shape.lines == 1 && !BLM__BIG_ENDIAN;
}

blm_status blm_inline_of(const blm_filter *f, blm_inline *out)
{
    const struct blm__body  *b = &f->body;
    const struct blm__layer *l = blm__only_layer(b);
    blm_inline               v = { .size = sizeof v, .filter = f };
    if (inlines(b, l)) {
        v.version    = 1;
        v.lines      = l->words;
        v.line_count = l->shape.line_count;
        v.flip       = b->flip;
        for (uint64_t r = 0; r < 8; r++) {
            v.words[r]  = (uint8_t)blm__line_words(r << 61, l->shape.probes);
            v.needed[r] = shuffled(v.words[r]);
        }
#ifdef __x86_64__
        v.asked = asked[l->shape.probes];
#endif
    }
    return blm__emit(out, &v, sizeof v);
}
