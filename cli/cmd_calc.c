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

static struct {
    bool plot, json;
} opt;

static const struct option rows[] = {
    { "plot", 0, OPT_FLAG, NULL, &opt.plot,
      "Draw the rate against the number of keys, and against the number of probes.", NULL },
    { "json", 0, OPT_FLAG, NULL, &opt.json, "Print JSON instead of a table.", NULL },
    OPTION_END,
};
static const struct option_group own         = { "Output", rows };
static const struct option       kind_rows[] = {
          { "kind", 0, OPT_NAME, "KIND", &size_options.kind, "The kind of filter.", planned_kind_names },
          OPTION_END,
};
static const struct option_group        filter   = { "Filter", kind_rows };
static const struct option_group *const groups[] = { &size_group, &filter, &own, NULL };

static bool grows(const blm_plan *p) { return blm_kind_find(p->kind)->can & BLM_CAN_GROW; }

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

static const char *cells_word(const blm_plan *p)
{
    uint32_t can = blm_kind_find(p->kind)->can;
    return can & BLM_CAN_FILL_UP ? "fingerprints" : can & BLM_CAN_REMOVE ? "counters" : "cells";
}

/* What stands behind a row; its cells, if they have more than one bit. */
static void show_notes(const struct calc *c, const blm_plan *p)
{
    char        cells[NUMBER_TEXT];
    const char *before = "  ", *misfit = calc_misfit(c, p);
    unsigned    bits = calc_cell_bits(p);
    if (grows(p) || misfit)
        out_print("%s%s", before, grows(p) ? "first layer" : misfit), before = ", ";
    if (bits > 1)
        out_print("%s%s %s of %u bits", before, count_text(p->bits, cells), cells_word(p), bits),
            before = ", ";
    if (p->model != BLM_MODEL_USUAL && p->kind == c->usual)
        out_print("%sthe default", before);
    out_print("\n");
}

static void show_row(const struct calc *c, const char *name, const blm_plan *p)
{
    char size[NUMBER_TEXT], bits[NUMBER_TEXT], keys[NUMBER_TEXT], rate[NUMBER_TEXT];
    out_print("%-9s %10s %16s %9.2f %7u %14s %9s", name, size_text(p->bytes, size),
              count_text(p->bits * calc_cell_bits(p), bits), p->bits_per_item, (unsigned)p->probes,
              count_text(p->items, keys), rate_text(p->rate, rate));
    show_notes(c, p);
}

static void show_table(const struct calc *c)
{
    char rate[NUMBER_TEXT], probes[NUMBER_TEXT];
    show_asked(&c->asked);
    out_print("%-9s %10s %16s %9s %7s %14s %9s\n", "", "memory", "bits", "bits/key", "probes",
              "keys", "rate");
    if (c->textbook.bits)
        show_row(c, "textbook", &c->textbook);
    for (size_t i = 0; i < c->count; i++)
        show_row(c, c->rows[i].name, &c->rows[i].plan);
    if (c->asked.probes && size_options.rate == 0 && !calc_asked_cells(&c->asked))
        out_print(
            "\nWhen half of the bits are set, the rate of %s is %s. create does not choose it: "
            "give it -p.\n",
            plural_text(c->asked.probes, "probe", probes), rate_text(c->asked.rate, rate));
}

/* Common rates, highest first. */
static const double usual_rates[] = { 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9 };
#define USUAL_RATES (sizeof usual_rates / sizeof *usual_rates)

/* Do the steps lead to this kind? A window's keys are spread over its ages, and a fingerprint is not
 * m bits that all keys share. */
static bool has_steps(const blm_plan *p)
{
    return p->model == BLM_MODEL_INDEPENDENT || p->model == BLM_MODEL_LINES ||
           p->model == BLM_MODEL_COUNTERS;
}

/* The steps people usually do by hand. */
static void show_steps(const struct calc *c)
{
    const blm_plan *p    = &c->rows[0].plan;
    double          each = (double)p->bits / (double)p->items;
    char            a[NUMBER_TEXT], b[NUMBER_TEXT];
    out_print("\nBy hand, for %s:\n", c->rows[0].name);
    out_print("  m = %s %s for %s keys: %.2f per key\n", count_text(p->bits, a),
              blm_kind_find(p->kind)->cell_bits > 1 ? "counters" : "bits", count_text(p->items, b),
              each);
    out_print(c->asked.probes ? "  k = %u, as given; the best is m/n ln 2 = %.2f\n"
                              : "  k = %u; m/n ln 2 = %.2f\n",
              (unsigned)p->probes, each * log(2));
    out_print("  p = %s\n", rate_text(p->rate, a));
}

/* gap: what stands before the first line. */
static void show_better(const struct calc *c, const char *gap)
{
    const blm_plan *p     = &c->rows[0].plan;
    bool            begun = false;
    char            a[NUMBER_TEXT], b[NUMBER_TEXT];
    for (size_t i = 0; i < USUAL_RATES; i++) {
        bool     said  = p->asked > 0 && usual_rates[i] > p->asked * 0.999;
        uint64_t bytes = usual_rates[i] < p->rate && !said
                             ? calc_bytes_for(p->kind, c->asked.items, usual_rates[i])
                             : 0;
        if (!bytes)
            continue;
        if (!begun)
            out_print("%sBetter rates would take\n", gap);
        begun = true;
        out_print("  %10s  for %s\n", size_text(bytes, b), rate_text(usual_rates[i], a));
    }
}

/* For given keys and size: what they lead to. */
static void show_walk(const struct calc *c)
{
    const blm_plan *p   = &c->rows[0].plan;
    const char     *gap = "\n";
    char            a[NUMBER_TEXT], b[NUMBER_TEXT];
    if (!c->asked.items || !calc_asked_cells(&c->asked) || grows(p))
        return;
    if (has_steps(p))
        show_steps(c), gap = "";
    if (p->asked > 0 && p->bytes_needed != UINT64_MAX) {
        out_print(p->fits ? "%s%s fits: it takes %s\n" : "%s%s does not fit: it would take %s\n",
                  gap, rate_text(p->asked, a), size_text(p->bytes_needed, b));
        gap = "";
    }
    show_better(c, gap);
}

/* ---- JSON: docs/json.md ---- */

static void show_json(const struct calc *c)
{
    struct json j = JSON_INIT;
    calc_json(&j, c);
    out_bytes(j.text, j.len);
    json_free(&j);
}

/* ---- the command ---- */

static int run(int count, char **operands)
{
    (void)count, (void)operands;
    struct calc c   = { .asked = BLM_OPTIONS_INIT };
    blm_error   err = { .offset = BLM_NO_OFFSET };
    if (opt.plot && opt.json)
        return misuse("--plot and --json cannot be used together: give one of them");
    if (!size_fill(&c.asked))
        return EXIT_TROUBLE;
    const char *wrong = calc_complete(&c.asked);
    if (wrong)
        return misuse("%s", wrong);
    if (!calc_work_out(&c, &err))
        return trouble("%s", filter_words(&err));
    if (opt.plot && grows(&c.rows[0].plan))
        return misuse("--plot cannot draw a scalable filter: give another --kind");
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
    "make (build, of a static filter). Their rate is computed for the probes the filter really "
    "uses, and the filter is enlarged until its rate is no worse than the one asked for. One of "
    "them is the default: what create makes without --kind. For a scalable filter, the line shows "
    "its first layer. A line that says too high or too large would be refused: its rate is above "
    "the one asked for (or 1/2, of a given memory), or it does not fit the memory.",
    "If you give keys and a size, calc also shows what better rates would take. For classic, "
    "blocked and counting it shows the steps people usually do by hand, too: the bits, the best "
    "number of probes and the rate they give.",
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
