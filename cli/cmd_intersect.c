/* SPDX-License-Identifier: MIT */
/* intersect: makes one filter of the keys that all given filters have. */
#include "command.h"
#include "from.h"
#include "meet.h"

static bool force;

static const struct option rows[] = {
    { "force", 0, OPT_FLAG, NULL, &force, "Replace OUT if it exists.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, &from_group, NULL };

static int run(int count, char **operands)
{
    static const struct meet common = { blm_intersect, "intersect", "intersected",
                                        "at most about" };
    return meet(count, operands, &common, force);
}

static const char *const usage[] = { "OUT A B...", NULL };
static const char *const about[] = {
    "Writes a filter that answers maybe for every key that is in all of the given filters. They "
    "must have the same size, scheme and seed: make them with create --like.",
    "No common key is lost. Some bits stay set because different keys of A and B set them by "
    "chance, so the rate lies between the rate of a filter of the common keys and the lowest rate "
    "of the given filters. Scalable filters cannot be intersected.",
    "Nobody counted the common keys. As keys added the result has the least number of the given "
    "filters, which is the most there can be; the number that info gives from the bits is nearer.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery intersect both.blm site-a.blm site-b.blm", "Find the visitors that two sites "
                                                           "share" },
    { "bloomery intersect - a.blm b.blm | bloomery info -", "Show the result without keeping it" },
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
