/* SPDX-License-Identifier: MIT */
/* How hands begin and end: hands.h. */
#include "core/kernel/hands.h"
#include "core/kernel/stream.h"

void blm__hands_begin(struct blm__hands *s, const struct blm__layer *l, uint64_t m, uint8_t *maybe)
{
    s->words = l->words;
    s->m     = m;
    s->steps = l->steps;
    s->maybe = maybe;
    s->last  = (l->shape.probes - 1) * BLM__HANDS_BIT;
    s->turn = s->given = s->taken = 0;
}

static void ask(const struct blm__hands *s, uint32_t hand)
{
    BLM__PREFETCH(&s->words[s->pos[hand] >> 6]);
}

/* Looks at the bits of these hands, and leaves in `list` those that have another. */
static uint32_t look(struct blm__hands *s, uint32_t *list, uint32_t n)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t t = list[i], id = s->id[t], bit = blm__hands_bit(s->words, s->pos[t]);
        s->maybe[id % BLM__HANDS_BIT] = (uint8_t)bit;
        s->id[t]                      = id + BLM__HANDS_BIT;
        list[left]                    = t;
        left += bit & (id < s->last);
    }
    return left;
}

/* The keys that no hand has get hands of their own. Returns how many hands there are then. */
static uint32_t take_all(struct blm__hands *s, uint32_t hands, uint32_t *list)
{
    for (; s->taken != s->given; s->taken++, hands++)
        blm__hands_take(s, hands, s->taken);
    for (uint32_t i = 0; i < hands; i++)
        list[i] = i;
    return hands;
}

void blm__hands_end_chain(struct blm__hands *s, uint32_t hands)
{
    uint32_t list[BLM__HANDS + BLM__HANDS_OVER], n = take_all(s, hands, list);
    for (uint32_t t = hands; t < n; t++) {
        s->pos[t] = (uint32_t)blm__reduce(s->g[t], s->m);
        ask(s, t);
    }
    while ((n = look(s, list, n)) != 0)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t t = list[i];
            s->g[t]    = blm__chain_next(s->g[t]);
            s->pos[t]  = (uint32_t)blm__reduce(s->g[t], s->m);
            ask(s, t);
        }
}

void blm__hands_end_steps(struct blm__hands *s, uint32_t hands)
{
    const uint32_t m = (uint32_t)s->m, wrap              = blm__steps_wrap(&s->steps);
    uint32_t       list[BLM__HANDS + BLM__HANDS_OVER], n = take_all(s, hands, list);
    for (uint32_t t = hands; t < n; t++)
        ask(s, t);
    while ((n = look(s, list, n)) != 0)
        for (uint32_t i = 0; i < n; i++) {
            uint32_t t = list[i];
            s->pos[t]  = blm__hands_on(s->pos[t], s->by[t], s->wraps[t], wrap, m);
            s->wraps[t] >>= 1;
            ask(s, t);
        }
}

size_t blm__hands_count(const struct blm__hands *s) { return blm__ones(s->maybe, s->given); }

bool blm__hands_always(bool absent)
{
    (void)absent;
    return true;
}

bool blm__hands_if_absent(bool absent) { return absent; }

bool blm__hands_never(bool absent)
{
    (void)absent;
    return false;
}

void blm__hands_none(struct blm__hands *s, size_t n) { (void)s, (void)n; }
