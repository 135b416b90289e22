/* SPDX-License-Identifier: MIT */
/* merge: makes one filter of the keys of several. */
#include "command.h"
#include "from.h"
#include "meet.h"
#include "ref.h"
#include "say.h"
#include "spread.h"

static bool force;

static const struct option rows[] = {
    { "force", 0, OPT_FLAG, NULL, &force, "Replace OUT if it exists.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, &from_group, &server_group, NULL };

static int run(int count, char **operands)
{
    static const struct meet all = { blm_union, "merge", "merged", "about" };
    if (!ref_wait_fits(operands[0]))
        return EXIT_TROUBLE;
    if (spread_is(operands[0]))
        return spread_merge(count, operands, force);
    return meet(count, operands, &all, force);
}

static const char *const usage[] = { "OUT A B...", NULL };
static const char *const about[] = {
    "Writes a filter that answers maybe for every key in any of the given filters. Use it to "
    "combine filters built on several machines. They must have the same size, scheme and seed: "
    "make them with create --like.",
    "The result is exactly what adding all the keys to one filter would give. merge warns if that "
    "is more keys than the filter was planned for. Counting filters add their counters. Scalable "
    "filters may differ in size: the result has the layers of all of them, and their rates add "
    "up, to a limit. Windows of the last N keys have aged each by itself: the result ages like the "
    "first, and its ages are as full as those of all together.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery merge week.blm mon.blm tue.blm wed.blm thu.blm fri.blm",
      "Combine five days in one filter" },
    { "bloomery merge --force all.blm all.blm today.blm", "Add today's keys to all.blm" },
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
