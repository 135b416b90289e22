/* SPDX-License-Identifier: MIT */
/* What calc is made of: cmd_calc.c decides what to plan and shows it, calc_plot.c draws it. */
#ifndef CLI_CALC_H
#define CLI_CALC_H

#include "bloomery.h"
#include "bloomery/maths.h"

/* The rate of a plan's filter with other keys or probes in it. */
double calc_rate(const blm_plan *p, uint32_t probes, uint64_t items);

/* p against n and p against k, around a plan. */
void calc_plot(const blm_plan *p);

#endif
