/* SPDX-License-Identifier: MIT */
/* What calc is made of: calc_work.c works it out, cmd_calc.c shows it, calc_plot.c draws it. */
#ifndef CLI_CALC_H
#define CLI_CALC_H

#include "bloomery.h"
#include "bloomery/maths.h"
#include "json.h"

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

/* Chooses what is missing as create would, or so that half of the bits get set. Returns what is
 * wrong; NULL: nothing. */
const char *calc_complete(blm_options *o);
/* How many bits or counters were asked for; 0: not given. */
uint64_t calc_asked_cells(const blm_options *o);
/* Fills the rest of c from c->asked, which is complete; of asked.kind only, if it names one. False:
 * no kind can do it, and *err says why the first one cannot. */
bool calc_work_out(struct calc *c, blm_error *err);
/* Why create (build, of a static filter) refuses a row: its rate is "too high", or it is "too large"
 * for the memory. NULL: it does not. */
const char *calc_misfit(const struct calc *c, const blm_plan *p);
/* What calc --json prints. */
void calc_json(struct json *j, const struct calc *c);

/* A plan's `lines` are lines of a key, and not bits of a fingerprint. */
bool calc_in_lines(const blm_plan *p);
/* Bits of one of the plan's cells: its `bits` are cells. */
unsigned calc_cell_bits(const blm_plan *p);
/* The rate of a plan's filter with other keys or probes in it. */
double calc_rate(const blm_plan *p, uint32_t probes, uint64_t items);
/* Bytes a kind would take for these keys at a rate; 0: it cannot reach that rate. */
uint64_t calc_bytes_for(blm_kind kind, uint64_t items, double rate);

/* p against n and p against k, around a plan. */
void calc_plot(const blm_plan *p);

#endif
