/* SPDX-License-Identifier: MIT */
/* intersect: one filter that has the keys that all of several have. */
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
    return meet(count, operands, blm_intersect, "intersected, at most about", force);
}

static const char *const usage[] = { "OUT A B...", NULL };
static const char *const about[] = {
    "Writes a filter that may have every key that is in A and B and all the others. They must have "
    "the same size, scheme and seed, so make them with create --like.",
    "No common key is lost. Some bits that keys of A and keys of B share by chance stay set, so "
    "the "
    "rate lies between that of a filter of the common keys and that of the smallest operand. "
    "Scalable filters have no intersection.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery intersect both.blm site-a.blm site-b.blm", "Visitors that two sites share" },
    { "bloomery intersect - a.blm b.blm | bloomery info -", "Look at it without keeping it" },
    { NULL, NULL },
};

const struct command cmd_intersect = {
    .name     = "intersect",
    .summary  = "keep the keys that several filters share",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "name for the result",
    .least    = 3,
    .most     = -1,
    .run      = run,
};
