/* SPDX-License-Identifier: MIT */
/* merge: one filter that has the keys of several. */
#include "command.h"
#include "meet.h"

static bool force;

static const struct option rows[] = {
    { "force", 0, OPT_FLAG, NULL, &force, "Replace OUT if it exists.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, NULL };

static int run(int count, char **operands)
{
    return meet(count, operands, blm_union, "merged, about", force);
}

static const char *const usage[] = { "OUT A B...", NULL };
static const char *const about[] = {
    "Writes a filter that may have every key of A, B and the others: builds on many machines meet "
    "here. They must have the same size, scheme and seed, so make them with create --like.",
    "The result is exactly what adding all the keys to one filter would have made, and holds as "
    "many: it is told when that is more than it was made for. Counting filters add their counters. "
    "Scalable filters may differ in size; their layers are put side by side and their rates add "
    "up, to a limit.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery merge week.blm mon.blm tue.blm wed.blm thu.blm fri.blm",
      "Five days in one filter" },
    { "bloomery merge --force all.blm all.blm today.blm", "Put today's keys into all.blm" },
    { NULL, NULL },
};

const struct command cmd_merge = {
    .name     = "merge",
    .summary  = "put the keys of several filters into one",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "name for the result",
    .least    = 3,
    .most     = -1,
    .run      = run,
};
