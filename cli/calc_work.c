/* SPDX-License-Identifier: MIT */
/* calc, without options and words: the same file works out the page's numbers (web/wasm). */
#include <math.h>

#include "calc.h"
#include "size.h"

#define DEFAULT_RATE 0.01

/* Bits of a cell; where they follow from the rate, the textbook's. */
static unsigned cell_bits(blm_kind kind)
{
    unsigned bits = blm_kind_find(kind)->cell_bits;
    return bits ? bits : 1;
}

unsigned calc_cell_bits(const blm_plan *p)
{
    return calc_in_lines(p) || !p->lines ? cell_bits(p->kind) : p->lines;
}

bool calc_in_lines(const blm_plan *p)
{
    return p->lines && p->model != BLM_MODEL_BUCKETS && p->model != BLM_MODEL_FUSE;
}

uint64_t calc_asked_cells(const blm_options *o)
{
    uint64_t bits = o->memory < UINT64_MAX / 8 ? o->memory * 8 : UINT64_MAX;
    return o->bits ? o->bits : bits / cell_bits(o->kind);
}

/* The rate of k probes when half of the bits are set, which is where k is the best number. */
static double half_full_rate(uint32_t probes)
{
    return ldexp(1, -(int)(probes < 1000 ? probes : 1000));
}

const char *calc_complete(blm_options *o)
{
    bool sized = o->bits || o->memory;
    if (!o->items && !sized)
        return "the number of keys and the size are missing: give -n, -m or --memory; -p and "
               "-k may be left out";
    if (o->bits && o->memory)
        return "-m and --memory both give the size: use only one of them";
    if (sized && !o->items && !o->probes && !(o->rate > 0))
        o->rate = DEFAULT_RATE;
    if (!sized && !(o->rate > 0))
        o->rate = o->probes ? half_full_rate(o->probes) : DEFAULT_RATE;
    return NULL;
}

/* (1 − e^(−kn/m))^k = p, solved for m; 0: too many. */
static uint64_t bits_for(uint64_t n, double p, uint32_t k)
{
    double m = ceil(-(double)k * (double)n / log1p(-pow(p, 1.0 / k)));
    return m < 0x1p63 ? (uint64_t)m : 0;
}

/* The textbook formulas: m = −n ln p / ln² 2, k = m/n ln 2, p = (1 − e^(−kn/m))^k. */
static void textbook(const blm_options *o, blm_plan *t)
{
    blm_rate r = { .size = sizeof r };
    *t         = (blm_plan){ .size = sizeof *t, .items = o->items, .bits = calc_asked_cells(o) };
    t->probes  = o->probes;
    t->fits    = true;
    double p   = o->rate;
    if (!t->bits && blm_textbook(o->items, p, &t->bits, &t->probes) != BLM_OK) {
        t->bits = 0;
    } else if (o->probes) {
        t->probes = o->probes;
        if (!calc_asked_cells(o))
            t->bits = bits_for(o->items, p, o->probes);
    }
    if (!t->items) {
        if (!(p > 0))
            p = half_full_rate(o->probes);
        if (blm_capacity_for(t->bits, t->probes, p, &t->items) != BLM_OK)
            t->items = 0;
    }
    if (!t->bits || !t->items || (!t->probes && blm_best_probes(t->bits, t->items, &t->probes)) ||
        blm_rate_of(BLM_MODEL_USUAL, t->bits, t->probes, 0, t->items, &r) != BLM_OK) {
        t->bits = 0;
        return;
    }
    unsigned cell    = cell_bits(o->kind);
    t->kind          = cell > 1 ? o->kind : t->kind;
    t->rate          = r.value;
    t->bytes         = (t->bits * cell + 7) / 8;
    t->bits_per_item = (double)t->bits * cell / (double)t->items;
}

static blm_kind usual_kind(const blm_options *asked)
{
    blm_options o = *asked;
    blm_plan    p = { .size = sizeof p };
    o.kind        = BLM_ANY_KIND;
    return blm_plan_for(&o, &p, NULL) == BLM_OK ? p.kind : BLM_ANY_KIND;
}

/* What create refuses although there is a plan. */
static bool useless(const blm_options *o, const blm_plan *p)
{
    return o->items && o->rate == 0 && (p->rate >= 1 || (o->memory && p->rate > SIZE_WORST));
}

const char *calc_misfit(const struct calc *c, const blm_plan *p)
{
    bool large = c->asked.memory && p->bytes > c->asked.memory;
    return p->fits ? NULL : large ? "too large" : "too high";
}

bool calc_work_out(struct calc *c, blm_error *err)
{
    blm_kind            only  = c->asked.kind;
    blm_status          first = BLM_OK;
    const blm_kind_row *kind;
    textbook(&c->asked, &c->textbook);
    c->usual = usual_kind(&c->asked);
    for (size_t i = 0; c->count < MOST_ROWS && (kind = blm_kind_at(i)) != NULL; i++) {
        blm_options o    = c->asked;
        struct row *next = &c->rows[c->count];
        blm_error this   = { .offset = BLM_NO_OFFSET };
        if (only != BLM_ANY_KIND && only != kind->kind)
            continue;
        o.kind     = kind->kind;
        next->name = kind->name;
        next->plan = (blm_plan){ .size = sizeof next->plan };
        if (blm_plan_for(&o, &next->plan, &this) == BLM_OK) {
            next->plan.fits = next->plan.fits && !useless(&o, &next->plan);
            c->count++;
        } else if (first == BLM_OK) {
            first = this.status, *err = this;
        }
    }
    return c->count > 0;
}

double calc_rate(const blm_plan *p, uint32_t probes, uint64_t items)
{
    blm_rate r = { .size = sizeof r };
    if (items == 0)
        return 0;
    return blm_rate_of(p->model, p->bits, probes, p->lines, items, &r) == BLM_OK ? r.value : 0;
}

uint64_t calc_bytes_for(blm_kind kind, uint64_t items, double rate)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_plan    p = { .size = sizeof p };
    o.kind        = kind;
    o.items       = items;
    o.rate        = rate;
    return blm_plan_for(&o, &p, NULL) == BLM_OK ? p.bytes : 0;
}

/* ---- JSON: docs/json.md ---- */

static void json_given(struct json *j, const char *key, uint64_t value)
{
    if (value)
        json_count(j, key, value);
    else
        json_text(j, key, NULL);
}

static void json_asked(struct json *j, const blm_options *o)
{
    json_open(j, "asked", '{');
    json_given(j, "items", o->items);
    if (o->rate > 0)
        json_real(j, "rate", o->rate);
    else
        json_text(j, "rate", NULL);
    json_given(j, "bits", o->bits);
    json_given(j, "memory", o->memory);
    json_given(j, "probes", o->probes);
    json_close(j, '}');
}

static void json_plan(struct json *j, const blm_plan *p)
{
    json_count(j, "items", p->items);
    json_real(j, "rate", p->rate);
    json_count(j, "bits", p->bits);
    json_count(j, "probes", p->probes);
    json_count(j, "bytes", p->bytes);
    json_real(j, "bits_per_item", p->bits_per_item);
}

static void json_rows(struct json *j, const struct calc *c)
{
    json_open(j, "plans", '[');
    for (size_t i = 0; i < c->count; i++) {
        const blm_plan *p = &c->rows[i].plan;
        json_open(j, NULL, '{');
        json_text(j, "kind", c->rows[i].name);
        json_bool(j, "default", p->kind == c->usual);
        json_plan(j, p);
        json_count(j, "cell_bits", calc_cell_bits(p));
        json_given(j, "lines", calc_in_lines(p) ? p->lines : 0);
        json_bool(j, "fits", p->fits);
        json_given(j, "bytes_needed", p->bytes_needed == UINT64_MAX ? 0 : p->bytes_needed);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void calc_json(struct json *j, const struct calc *c)
{
    json_open(j, NULL, '{');
    json_asked(j, &c->asked);
    if (c->textbook.bits) {
        json_open(j, "textbook", '{');
        json_plan(j, &c->textbook);
        json_count(j, "cell_bits", calc_cell_bits(&c->textbook));
        json_close(j, '}');
    } else {
        json_text(j, "textbook", NULL);
    }
    json_rows(j, c);
    json_close(j, '}');
}
