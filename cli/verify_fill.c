/* SPDX-License-Identifier: MIT */
/* Is a filter fuller than it was meant to be, or filled by something that is not its keys? */
#include "verify.h"

#include <math.h>
#include <string.h>

#include "bloomery/maths.h"
#include "expected.h"
#include "numbers.h"
#include "out.h"

#define SURE   0.999999 /* before a filter is called polluted */
#define SLICES 64u

static bool grows(const blm_params *p) { return blm_kind_find(p->kind)->can & BLM_CAN_GROW; }

/* The fill is above what so many keys leave by chance. */
static bool beyond(const blm_stats *s, double keys)
{
    const blm_params *p = &s->params;
    blm_estimate      e;
    bool              derived = strcmp(p->scheme, "native") != 0 || (p->lines && p->cell_bits == 1);
    return blm_fill_interval(p->bits, p->probes, (uint64_t)ceil(keys), derived, SURE, &e) ==
               BLM_OK &&
           s->fill > e.high;
}

/* Keys that someone chose set more bits than keys that come as they do: all of theirs are new. So
 * do bits that no add set. Either way there are more bits than so many adds leave by chance.
 *
 * Adds are counted where they were new. To a filter past its plan many keys come that are not,
 * though they never were there before: it is judged by how many it takes until so many were new,
 * else every one that holds twice its keys would be called polluted. Counting filters count all. */
static bool polluted(const struct ref *r, const blm_stats *s)
{
    const blm_params *p    = &s->params;
    double            rate = 0, items = (double)p->items;
    struct expected   since = { 0 }; /* it was empty */
    if (grows(p) || p->items == 0 || !beyond(s, items))
        return false;
    return p->cell_bits > 1 || beyond(s, items + expected_end(&since, r->filter, &rate));
}

/* A part that is much fuller or emptier than the whole, where a hash cannot have done that. Bits of
 * a slice vary as if there were a k-th of them, because a key's probes go together (blocked). */
static bool uneven(const struct ref *r, const blm_stats *s, unsigned *where, double *fill)
{
    const blm_params *p = &s->params;
    double            map[SLICES], slice = (double)p->bits / SLICES;
    if (strcmp(p->scheme, "native") != 0 || grows(p) || slice < 1024 ||
        blm_fill_map(r->filter, map, SLICES) != BLM_OK)
        return false;
    double most = 8 * sqrt(s->fill * (1 - s->fill) * p->probes / slice);
    for (unsigned i = 0; i < SLICES; i++)
        if (fabs(map[i] - s->fill) > most) {
            *where = i;
            *fill  = map[i];
            return true;
        }
    return false;
}

enum verdict verify_fill(const struct ref *r, const blm_stats *s, bool held)
{
    const blm_params *p = &s->params;
    unsigned          where;
    double            fill;
    char              keys[NUMBER_TEXT], room[NUMBER_TEXT], rate[NUMBER_TEXT];
    if (uneven(r, s, &where, &fill)) {
        verify_row("fill");
        out_print("POLLUTED: part %u of %u is %.3g%% full, the whole %.3g%%: keys do not do that\n",
                  where + 1, SLICES, fill * 100, s->fill * 100);
        return BAD;
    }
    if (polluted(r, s)) {
        verify_row("fill");
        out_print(
            "POLLUTED: %.3g%% is more than %s keys fill by chance: its keys were chosen to do "
            "harm, or bits were set by something else\n",
            s->fill * 100, count_text(p->items, keys));
        return BAD;
    }
    if (s->estimated.saturated) {
        verify_row("fill");
        out_print("OVER-FILLED: every bit is set, so the answer is always \"maybe\"\n");
        return BAD;
    }
    if (s->overfilled && !held) {
        verify_row("fill");
        out_print("OVER-FILLED: about %s where %s were planned: the rate is %s by now\n",
                  plural_text((uint64_t)llround(s->estimated.value), "key", keys),
                  p->capacity ? count_text(p->capacity, room) : "fewer",
                  rate_text(s->rate_now, rate));
        return BAD;
    }
    verify_row("fill");
    out_print("%s%.3g%%, about %s", p->rate > 0 && !held ? "good: " : "", s->fill * 100,
              plural_text((uint64_t)llround(s->estimated.value), "key", keys));
    if (p->capacity)
        out_print(" of %s planned", count_text(p->capacity, room));
    out_print("\n");
    return GOOD;
}
