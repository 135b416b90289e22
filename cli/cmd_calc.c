/* SPDX-License-Identifier: MIT */
/* calc: works out the missing ones of keys, rate, size and probes before a filter is made. */
#include <math.h>
#include <string.h>

#include "bloomery/maths.h"
#include "calc.h"
#include "command.h"
#include "json.h"
#include "numbers.h"
#include "out.h"
#include "say.h"
#include "size.h"

#define DEFAULT_RATE 0.01

static struct {
    bool plot, json;
} opt;

static const struct option rows[] = {
    { "plot", 0, OPT_FLAG, NULL, &opt.plot,
      "Draw the rate against the number of keys, and against the number of probes.", NULL },
    { "json", 0, OPT_FLAG, NULL, &opt.json, "Print JSON instead of a table.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &size_group, &own, NULL };

/* One row of the table. */
struct row {
    const char *name;
    blm_plan    plan;
};
#define MOST_ROWS 8

struct calc {
    blm_options asked;
    blm_plan    textbook; /* bits 0: the formulas have no answer */
    blm_kind    usual;    /* what create makes of this without --kind; BLM_ANY_KIND: nothing */
    struct row  rows[MOST_ROWS];
    size_t      count;
};

/* Bits of a cell; where they follow from the rate, the textbook's. */
static unsigned cell_bits(blm_kind kind)
{
    unsigned bits = blm_kind_find(kind)->cell_bits;
    return bits ? bits : 1;
}

/* How many bits or counters were asked for; 0: not given. */
static uint64_t asked_cells(const blm_options *o)
{
    uint64_t bits = o->memory < UINT64_MAX / 8 ? o->memory * 8 : UINT64_MAX;
    return o->bits ? o->bits : bits / cell_bits(o->kind);
}

static bool grows(const blm_plan *p) { return blm_kind_find(p->kind)->can & BLM_CAN_GROW; }

/* ---- working it out ---- */

/* The rate of k probes when half of the bits are set, which is where k is the best number. */
static double half_full_rate(uint32_t probes)
{
    return ldexp(1, -(int)(probes < 1000 ? probes : 1000));
}

/* Chooses what is missing as create would, or so that half of the bits get set. */
static bool wanted(blm_options *o)
{
    blm_options none = BLM_OPTIONS_INIT;
    *o               = none;
    if (!size_fill(o))
        return false;
    bool sized = o->bits || o->memory;
    if (!size_given() || (!o->items && !sized))
        return misuse("give at least two of -n, -p, -k and a size (-m or --memory); one of them "
                      "must be -n or a size"),
               false;
    if (o->bits && o->memory)
        return misuse("-m and --memory both give the size: use only one of them"), false;
    if (sized && !o->items && !o->probes && !(o->rate > 0))
        o->rate = DEFAULT_RATE;
    if (!sized && !(o->rate > 0))
        o->rate = o->probes ? half_full_rate(o->probes) : DEFAULT_RATE;
    return true;
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
    *t         = (blm_plan){ .size = sizeof *t, .items = o->items, .bits = asked_cells(o) };
    t->probes  = o->probes;
    double p   = o->rate;
    if (!t->bits && blm_textbook(o->items, p, &t->bits, &t->probes) != BLM_OK) {
        t->bits = 0;
    } else if (o->probes) {
        t->probes = o->probes;
        if (!asked_cells(o))
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
    t->rate          = r.value;
    unsigned cell    = cell_bits(o->kind);
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

static bool work_out(struct calc *c)
{
    blm_error           err = { .offset = BLM_NO_OFFSET };
    const blm_kind_row *kind;
    textbook(&c->asked, &c->textbook);
    c->usual = usual_kind(&c->asked);
    for (size_t i = 0; c->count < MOST_ROWS && (kind = blm_kind_at(i)) != NULL; i++) {
        blm_options o    = c->asked;
        struct row *next = &c->rows[c->count];
        blm_error this   = { .offset = BLM_NO_OFFSET };
        if (size_options.kind && strcmp(size_options.kind, kind->name) != 0)
            continue;
        o.kind     = kind->kind;
        next->name = kind->name;
        next->plan = (blm_plan){ .size = sizeof next->plan };
        if (blm_plan_for(&o, &next->plan, &this) == BLM_OK)
            c->count++;
        else if (err.status == BLM_OK)
            err = this;
    }
    if (c->count == 0)
        trouble("%s", filter_words(&err));
    return c->count > 0;
}

/* Bytes a kind would take for the given keys at another rate; 0: it cannot reach that rate. */
static uint64_t bytes_for(const struct calc *c, blm_kind kind, double rate)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_plan    p = { .size = sizeof p };
    o.kind        = kind;
    o.items       = c->asked.items;
    o.rate        = rate;
    return blm_plan_for(&o, &p, NULL) == BLM_OK ? p.bytes : 0;
}

/* ---- a table ---- */

static void show_asked(const blm_options *o)
{
    char        text[NUMBER_TEXT];
    const char *gap = "";
    if (o->items)
        out_print("%s", plural_text(o->items, "key", text)), gap = ", ";
    if (o->bits)
        out_print("%s%s bits", gap, count_text(o->bits, text)), gap = ", ";
    if (o->memory)
        out_print("%s%s", gap, size_text(o->memory, text)), gap = ", ";
    if (o->probes)
        out_print("%s%s", gap, plural_text(o->probes, "probe", text)), gap = ", ";
    if (o->rate > 0)
        out_print("%sa rate of %s", gap, rate_text(o->rate, text));
    out_print("\n\n");
}

static void show_row(const char *name, const blm_plan *p, bool usual)
{
    char        size[NUMBER_TEXT], bits[NUMBER_TEXT], keys[NUMBER_TEXT], rate[NUMBER_TEXT];
    const char *note = grows(p) ? "  first layer" : p->asked > 0 && !p->fits ? "  too high" : "";
    out_print("%-9s %10s %16s %9.2f %7u %14s %9s%s%s\n", name, size_text(p->bytes, size),
              count_text(p->bits, bits), p->bits_per_item, (unsigned)p->probes,
              count_text(p->items, keys), rate_text(p->rate, rate), note,
              !usual  ? ""
              : *note ? ", the default"
                      : "  the default");
}

static void show_table(const struct calc *c)
{
    show_asked(&c->asked);
    out_print("%-9s %10s %16s %9s %7s %14s %9s\n", "", "memory", "bits", "bits/key", "probes",
              "keys", "rate");
    if (c->textbook.bits)
        show_row("textbook", &c->textbook, false);
    for (size_t i = 0; i < c->count; i++)
        show_row(c->rows[i].name, &c->rows[i].plan, c->rows[i].plan.kind == c->usual);
}

/* Common rates, highest first. */
static const double usual_rates[] = { 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9 };
#define USUAL_RATES (sizeof usual_rates / sizeof *usual_rates)

/* For given keys and size: the steps people usually do by hand, and what they lead to. */
static void show_walk(const struct calc *c)
{
    const blm_plan *p = &c->rows[0].plan;
    char            a[NUMBER_TEXT], b[NUMBER_TEXT];
    if (!c->asked.items || !asked_cells(&c->asked) || grows(p) || p->model == BLM_MODEL_BUCKETS)
        return;
    out_print("\nBy hand, for %s:\n", c->rows[0].name);
    out_print("  m = %s %s for %s keys: %.2f per key\n", count_text(p->bits, a),
              blm_kind_find(p->kind)->cell_bits > 1 ? "counters" : "bits", count_text(p->items, b),
              (double)p->bits / (double)p->items);
    if (c->asked.probes)
        out_print("  k = %u, as given; the best is m/n ln 2 = %.2f\n", (unsigned)p->probes,
                  (double)p->bits / (double)p->items * log(2));
    else
        out_print("  k = %u; m/n ln 2 = %.2f\n", (unsigned)p->probes,
                  (double)p->bits / (double)p->items * log(2));
    out_print("  p = %s\n", rate_text(p->rate, a));
    if (p->asked > 0 && p->bytes_needed != UINT64_MAX)
        out_print(p->fits ? "%s fits: it takes %s\n" : "%s does not fit: it would take %s\n",
                  rate_text(p->asked, a), size_text(p->bytes_needed, b));
    bool begun = false;
    for (size_t i = 0; i < USUAL_RATES; i++) {
        bool     said = p->asked > 0 && usual_rates[i] > p->asked * 0.999;
        uint64_t bytes =
            usual_rates[i] < p->rate && !said ? bytes_for(c, p->kind, usual_rates[i]) : 0;
        if (!bytes)
            continue;
        if (!begun)
            out_print("Better rates would take\n");
        begun = true;
        out_print("  %10s  for %s\n", size_text(bytes, b), rate_text(usual_rates[i], a));
    }
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
        json_given(j, "lines", p->lines);
        json_bool(j, "fits", p->fits);
        json_given(j, "bytes_needed", p->bytes_needed == UINT64_MAX ? 0 : p->bytes_needed);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void show_json(const struct calc *c)
{
    struct json j = JSON_INIT;
    json_open(&j, NULL, '{');
    json_asked(&j, &c->asked);
    if (c->textbook.bits) {
        json_open(&j, "textbook", '{');
        json_plan(&j, &c->textbook);
        json_close(&j, '}');
    } else {
        json_text(&j, "textbook", NULL);
    }
    json_rows(&j, c);
    json_close(&j, '}');
    out_bytes(j.text, j.len);
    json_free(&j);
}

/* ---- the command ---- */

static int run(int count, char **operands)
{
    (void)count, (void)operands;
    struct calc c = { .count = 0 };
    if (opt.plot && opt.json)
        return misuse("--plot and --json cannot be used together: give one of them");
    if (!wanted(&c.asked) || !work_out(&c))
        return EXIT_TROUBLE;
    if (opt.plot && grows(&c.rows[0].plan))
        return misuse("--plot cannot draw a scalable filter: give --kind classic, blocked or "
                      "counting");
    if (opt.json) {
        show_json(&c);
        return EXIT_YES;
    }
    show_table(&c);
    show_walk(&c);
    if (opt.plot)
        calc_plot(&c.rows[0].plan);
    return EXIT_YES;
}

static const char *const usage[] = {
    "[-n N] [-p P] [-m BITS | --memory SIZE] [-k K] [--kind KIND] [--plot] [--json]", NULL
};
static const char *const about[] = {
    "Works out the size of a filter before you make it. Give any two or three of keys, rate, size "
    "(bits or memory) and probes, and see the others for every kind of filter.",
    "The first line is the result of the textbook formulas. The other lines are what create would "
    "make. Their rate is computed for the probes the filter really uses, and the filter is "
    "enlarged until its rate is no worse than the one asked for. One of them is the default: what "
    "create makes without --kind. For a scalable filter, the line shows its first layer.",
    "If you give keys and a size, calc also shows the steps people usually do by hand: the bits, "
    "the best number of probes, the rate they give, and what better rates would take.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery calc -n 1e6 -p 0.01", "How large must a filter for a million keys at 1% be?" },
    { "bloomery calc -n 50e6 --memory 64M", "How good can 64 MiB be for fifty million keys?" },
    { "bloomery calc -m 1e9 -k 7 -p 1e-3 --kind classic --plot",
      "How many keys fit, and what happens beyond?" },
    { NULL, NULL },
};

const struct command cmd_calc = {
    .name     = "calc",
    .summary  = "work out a filter's size, rate and probes",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "operand",
    .least    = 0,
    .most     = 0,
    .run      = run,
};
