/* SPDX-License-Identifier: MIT */
#include "rebuild.h"

#include <math.h>
#include <string.h>

#include "bloomery/window.h"
#include "interrupt.h"
#include "keys.h"
#include "numbers.h"
#include "progress.h"
#include "say.h"

/* ---- what fits where ---- */

static bool refuse_all(void *ctx, const void *bytes, size_t len)
{
    (void)bytes, (void)len;
    *(bool *)ctx = true; /* the encoder started writing, so the format can hold the filter */
    return false;
}

bool format_fits(const blm_filter *f, const char *format, blm_error *err)
{
    bool wrote = false;
    *err       = (blm_error){ .offset = BLM_NO_OFFSET };
    return blm_encode(f, format, refuse_all, &wrote, err) == BLM_OK || wrote;
}

const char *scheme_called(const char *name)
{
    const blm_scheme_row *row = blm_scheme_find(name);
    return row && row->means ? row->means : name;
}

/* The usual scheme of a format: the one with the same name, or saved in it by default, or the only
 * one that fits. NULL: none or several; already reported. */
static const char *usual_scheme(const char *format)
{
    const blm_scheme_row *row = blm_scheme_find(format), *only = NULL;
    const char *const    *fits = blm_format_find(format)->schemes;
    if (row && row->creates)
        return scheme_called(format);
    for (size_t i = 0; fits && fits[i]; i++) {
        row = blm_scheme_find(fits[i]);
        if (row->creates && strcmp(row->format, format) == 0)
            return row->name;
        if (row->creates && i == 0 && !fits[1])
            only = row;
    }
    if (only)
        return only->name;
    trouble(!fits || fits[1] ? "format %s can hold several schemes: give --scheme"
                             : "no new filter can be made in format %s: give another --to",
            format);
    return NULL;
}

/* ---- rebuilding ---- */

/* What the same kind of IN has and OUT is to have too, beside a size. */
static void keep_kind(const struct rebuild *w, const struct ref *in, const blm_params *p,
                      blm_options *o)
{
    blm_window window = { .size = sizeof window };
    blm_params layer  = { .size = sizeof layer };
    o->growth         = p->growth;
    o->tightening     = p->tightening;
    if (p->rate_cap > o->rate)
        o->rate_cap = p->rate_cap;
    if (w->rate == 0) /* another one has other lines */
        o->lines = p->lines;
    if (p->can & BLM_CAN_GROW && blm_get_layer(in->filter, 0, &layer) == BLM_OK)
        o->layer_classic = layer.kind == BLM_CLASSIC;
    if (blm_get_window(in->filter, &window) != BLM_OK)
        return;
    o->window_ms = window.by_time ? window.length : 0;
    o->slack     = (double)window.slack / (double)window.length;
}

/* … and of the same scheme. A seed that was drawn is drawn again. */
static void keep_scheme(const blm_params *p, blm_options *o)
{
    o->funnel = p->funnel;
    o->hash   = strcmp(p->hash, "siphash") == 0 ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
    if (strcmp(p->scheme, "native") != 0)
        o->variant = p->variant;
    if (p->seed_policy == BLM_SEED_FIXED) {
        o->flags |= BLM_SEEDED;
        memcpy(o->seed, p->seed, sizeof o->seed);
    }
}

/* How to make OUT: as asked for, and otherwise like IN. */
static bool plan(const struct rebuild *w, const struct ref *in, const blm_stats *s, blm_options *o)
{
    blm_options       none = BLM_OPTIONS_INIT;
    const blm_params *p    = &s->params;
    *o                     = none;
    o->scheme              = w->scheme ? w->scheme : usual_scheme(w->to);
    if (!o->scheme)
        return false;
    if (w->kind)
        blm_kind_from_name(w->kind, &o->kind);
    else if (strcmp(o->scheme, "native") == 0) /* else what the scheme is kept in */
        o->kind = p->kind;
    double n = p->capacity ? (double)p->capacity : p->items ? (double)p->items : s->estimated.value;
    o->items = w->items ? w->items : n >= 1 ? (uint64_t)llround(n) : 1;
    o->rate  = w->rate > 0 ? w->rate : p->rate > 0 ? p->rate : 0.01;
    o->format = w->to;
    o->flags  = w->force ? BLM_REPLACE : 0;
    if (strcmp(o->scheme, p->scheme) == 0)
        keep_scheme(p, o);
    if (o->kind == p->kind && strcmp(o->scheme, p->scheme) == 0)
        keep_kind(w, in, p, o);
    return true;
}

/* Are these all of the keys? Plain bits say so: keys of which none is missing give the same bits `again`.
 * Otherwise `again` counts the keys that differ. The new filter cannot: at its rate it takes some keys
 * for ones it has. */
struct rebuilt {
    blm_filter *again;
    bool        alike;
    uint64_t    keys, fresh;
};
#define DISTINCT_RATE 1e-6

static bool begin_again(const struct ref *in, const blm_stats *s, struct rebuilt *r)
{
    const blm_params *p   = &s->params;
    blm_options       o   = BLM_OPTIONS_INIT;
    blm_error         err = { .offset = BLM_NO_OFFSET };
    o.like                = in->filter;
    r->alike              = p->cell_bits == 1 && p->can & BLM_CAN_ADD &&
               !(p->can & (BLM_CAN_GROW | BLM_CAN_FORGET)) &&
               blm_create(&o, &r->again, &err) == BLM_OK;
    if (r->alike)
        return true;
    o.like  = NULL;
    o.items = s->estimated.value >= 1 ? (uint64_t)llround(s->estimated.value) : 1;
    o.rate  = DISTINCT_RATE;
    o.flags = BLM_SEEDED; /* the same list gives the same count */
    return blm_create(&o, &r->again, &err) == BLM_OK || (filter_trouble(NULL, &err), false);
}

/* The new filter would answer no for keys that are missing. */
static bool complete(const struct ref *in, const blm_stats *s, const struct rebuilt *r)
{
    if (r->alike)
        return blm_equal(in->filter, r->again);
    return s->estimated.saturated || (double)r->fresh >= surely_above(&s->estimated);
}

/* Adds one batch: its keys must be in the old filter, and must then be in the new one. */
static bool carry_batch(const struct ref *in, struct ref *out, const struct keys *k,
                        const struct batch *b, struct rebuilt *r)
{
    static uint8_t flags[KEYS_BATCH];
    size_t         done = 0;
    if (blm_check_many(in->filter, b->keys, b->count, flags) != b->count) {
        uint64_t line = k->line - b->count + 1;
        line += (uint64_t)((uint8_t *)memchr(flags, 0, b->count) - flags);
        trouble("%s: line %llu is not in %s: give the keys that were added to it", k->name,
                (unsigned long long)line, in->name);
        return false;
    }
    blm_status st = blm_add_many(out->filter, b->keys, b->count, NULL, &done);
    if (st == BLM_OK)
        st = blm_add_many(r->again, b->keys, b->count, flags, &done);
    if (st != BLM_OK) {
        blm_error err = { .status = st, .offset = BLM_NO_OFFSET };
        filter_trouble(out->name, &err);
        return false;
    }
    for (size_t i = 0; i < done; i++)
        r->fresh += flags[i];
    r->keys += done;
    if (blm_check_many(out->filter, b->keys, b->count, NULL) == b->count)
        return true;
    trouble("%s: the answer is no for a key that was just added: nothing was written: please "
            "report this",
            out->name);
    return false;
}

static bool carry(const struct rebuild *w, const struct ref *in, struct ref *out, struct rebuilt *r)
{
    char        *inputs[] = { (char *)(uintptr_t)w->members };
    struct keys  k        = { .strict = true };
    struct batch b;
    bool         good = true;
    if (!keys_open(&k, inputs, 1))
        return false;
    interrupt_catch();
    progress_start("keys", k.total);
    while (good && keys_next(&k, &b)) {
        good = carry_batch(in, out, &k, &b, r);
        progress_tick(r->keys, k.bytes);
    }
    progress_stop();
    good = good && !k.failed;
    if (good && interrupted()) {
        trouble("interrupted; %s was not written", out->name);
        good = false;
    }
    keys_close(&k);
    return good;
}

int rebuild(const struct rebuild *w, const struct ref *in, const blm_stats *s, const char *text)
{
    struct ref     out;
    struct rebuilt r = { 0 };
    blm_options    o;
    char           keys[NUMBER_TEXT], held[NUMBER_TEXT], size[NUMBER_TEXT];
    if (ref_is_input(text, (char *[]){ (char *)(uintptr_t)w->members }, 1) || !plan(w, in, s, &o) ||
        !ref_create(&out, text, &o, true))
        return EXIT_TROUBLE;
    bool good = begin_again(in, s, &r) && carry(w, in, &out, &r);
    if (good && !complete(in, s, &r)) {
        trouble(
            "%s holds about %s, and some are not among the %s of %s: give all of them, or make a "
            "filter of only these with bloomery create --scheme %s --from",
            in->name, plural_text((uint64_t)llround(s->estimated.value), "key", held),
            count_text(r.keys, keys), ref_is_stdin(w->members) ? "standard input" : w->members,
            o.scheme);
        good = false;
    }
    blm_free(r.again);
    blm_params p = { .size = sizeof p };
    if (good)
        blm_get_params(out.filter, &p);
    const char *name = out.name;
    if (!good) {
        ref_drop(&out);
        return EXIT_TROUBLE;
    }
    if (!ref_commit(&out))
        return EXIT_TROUBLE;
    say("%s: rebuilt as %s, scheme %s, from %s, all of them found: %s", name, w->to, o.scheme,
        plural_text(r.keys, "key", keys), size_text(p.bytes, size));
    return EXIT_YES;
}
