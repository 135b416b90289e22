/* SPDX-License-Identifier: MIT */
/* Is a filter fuller than planned, or were bits set by something other than its keys? */
#include "verify.h"

#include <math.h>
#include <string.h>

#include "bloomery/maths.h"
#include "expected.h"
#include "numbers.h"
#include "out.h"
#include "window.h"

#define SLICES 64u

static bool grows(const blm_params *p) { return blm_kind_find(p->kind)->can & BLM_CAN_GROW; }

/* A cell is a key: nothing is left to chance. */
static bool exact(const blm_params *p)
{
    return p->can & BLM_CAN_FILL_UP || !(p->can & BLM_CAN_ADD);
}

/* Is the fill judged by how many keys were added? */
static bool judged(const blm_params *p) { return !grows(p) && !exact(p); }

/* What the bits look like, and whether it is known how many keys set them. A writer that was killed, or that
 * came while we counted, may have added keys that it did not count, and those of a batch to some parts only.
 * Other systems' formats may keep no count. */
struct look {
    bool     counted, uneven;
    unsigned part; /* that is much fuller or emptier than the whole */
    double   fill; /* of it */
};

/* Is the fill above what this many keys can reach by chance? Not every bit of a window is in a cell. */
static bool beyond(const blm_stats *s, double keys)
{
    const blm_params *p = &s->params;
    blm_estimate      e;
    bool              derived = strcmp(p->scheme, "native") != 0 || (p->lines && p->cell_bits == 1);
    uint64_t          cells = s->fill > 0 ? (uint64_t)llround((double)s->ones / s->fill) : p->bits;
    double            fill =
        (double)(s->ones - s->stuck) / (double)cells; /* those stay, whatever is removed */
    return blm_fill_interval(cells, p->probes, (uint64_t)ceil(keys), derived, SURE, &e) == BLM_OK &&
           fill > e.high;
}

/* Keys that an adversary chose set more bits than usual keys, because each of their bits is new.
 * Bits that no add set count too. Either way more bits are set than this many adds can set by
 * chance.
 *
 * Only adds of new keys are counted. In a filter past its capacity, many keys that were never added
 * before do not count as new. So the filter is judged by how many keys it takes until this many
 * were new. Otherwise every filter with twice its keys would be called polluted. Counting filters
 * count every add. */
static bool polluted(const struct ref *r, const blm_stats *s, const struct look *l)
{
    const blm_params *p    = &s->params;
    double            rate = 0, items = (double)p->items;
    struct expected   since = { 0 }; /* from when it was empty */
    if (!l->counted || p->items == 0 || !beyond(s, items))
        return false;
    return p->cell_bits > 1 || beyond(s, items + expected_end(&since, r->filter, &rate));
}

/* Finds a part that is much fuller or emptier than the whole, more than a hash can explain. The
 * bits of a slice vary as if there were only a k-th of them, because a key's probes are in the same
 * line (blocked). */
static void find_uneven(const struct ref *r, const blm_stats *s, struct look *l)
{
    const blm_params *p = &s->params;
    double            map[SLICES], slice = (double)p->bits / SLICES;
    if (strcmp(p->scheme, "native") != 0 || grows(p) || slice < 1024 ||
        blm_fill_map(r->filter, map, SLICES) != BLM_OK)
        return;
    double most = 8 * sqrt(s->fill * (1 - s->fill) * p->probes / slice);
    for (unsigned i = 0; i < SLICES && !l->uneven; i++) {
        l->uneven = fabs(map[i] - s->fill) > most;
        l->part   = i;
        l->fill   = map[i];
    }
}

static struct look look_at(const struct ref *r, const blm_stats *s)
{
    struct look l   = { 0 };
    blm_params  now = { .size = sizeof now };
    find_uneven(r, s, &l);
    blm_get_params(r->filter, &now); /* last: after it has looked at the bits */
    l.counted = judged(&now) && !now.unclosed;
    l.uneven &= !now.unclosed;
    return l;
}

bool verify_polluted(const struct ref *r, const blm_stats *s)
{
    struct look l = look_at(r, s);
    return l.uneven || polluted(r, s, &l);
}

static enum verdict json_fill(const struct ref *r, const blm_stats *s, bool held)
{
    struct look l       = look_at(r, s);
    const char *verdict = l.uneven || polluted(r, s, &l)                       ? "polluted"
                          : s->estimated.saturated || (s->overfilled && !held) ? "over-filled"
                                                                               : "good";
    json_open(verify_json, "fill", '{');
    json_text(verify_json, "verdict", verdict);
    json_real(verify_json, "fill", s->fill);
    json_maybe(verify_json, "estimated", s->estimated.value, !s->estimated.saturated);
    json_known(verify_json, "capacity", s->params.capacity, s->params.capacity != 0);
    json_bool(verify_json, "by_count", l.counted);
    json_close(verify_json, '}');
    return strcmp(verdict, "good") == 0 ? GOOD : BAD;
}

enum verdict verify_fill(const struct ref *r, const blm_stats *s, bool held)
{
    if (verify_json)
        return json_fill(r, s, held);
    const blm_params *p = &s->params;
    struct look       l = look_at(r, s);
    char              keys[NUMBER_TEXT], room[NUMBER_TEXT], rate[NUMBER_TEXT];
    if (l.uneven) {
        verify_row("fill");
        out_print("POLLUTED: part %u of %u is %.3g%% full, and the whole %.3g%%: adding keys does "
                  "not do that\n",
                  l.part + 1, SLICES, l.fill * 100, s->fill * 100);
        return BAD;
    }
    if (polluted(r, s, &l)) {
        verify_row("fill");
        out_print(
            "POLLUTED: %.3g%% is more than %s keys fill by chance: keys were chosen to do harm, "
            "%ssomething else set bits\n",
            s->fill * 100, count_text(p->items, keys),
            strcmp(p->scheme, "native") == 0 ? "or "
                                             : "or this scheme's hash does not mix them, or ");
        return BAD;
    }
    if (s->estimated.saturated) {
        verify_row("fill");
        out_print("OVER-FILLED: %s, so the answer is always \"maybe\"\n",
                  p->probes ? "every bit is set" : "it asks for no bit");
        return BAD;
    }
    if (s->overfilled && !held) {
        char        burst[4 * NUMBER_TEXT];
        const char *why = r->remote ? NULL : window_burst(r->filter, burst);
        verify_row("fill");
        if (why) {
            out_print("OVER-FILLED: %s; the rate is now %s\n", why, rate_text(s->rate_now, rate));
            return BAD;
        }
        out_print("OVER-FILLED: about %s, but %s were planned: the rate is now %s\n",
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
    if (judged(p) && !l.counted && strcmp(p->format, "native") == 0)
        out_print("; not judged by its count, since not all of its keys are in it");
    out_print("\n");
    return GOOD;
}
