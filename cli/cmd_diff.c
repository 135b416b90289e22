/* SPDX-License-Identifier: MIT */
/* diff: writes what changed between two snapshots of a filter. */
#include <string.h>
#include <unistd.h>

#include "bloomery/delta.h"
#include "command.h"
#include "from.h"
#include "numbers.h"
#include "out.h"
#include "ref.h"
#include "say.h"
#include "squeeze.h"

static const struct option_group *const groups[] = { &from_group, NULL };

/* Copies a filter that another process is writing to, so that the delta leads to a state the filter
 * really had at one moment. */
static bool hold_still(struct ref *r)
{
    blm_params  p = { .size = sizeof p };
    blm_filter *copy;
    blm_error   err = { .offset = BLM_NO_OFFSET };
    if (blm_get_params(r->filter, &p) != BLM_OK || p.writer != BLM_WRITER_LIVE)
        return true;
    blm_refresh(r->filter, NULL);
    if (blm_copy(r->filter, &copy, &err) != BLM_OK) {
        filter_trouble(r->name, &err);
        return false;
    }
    blm_free(r->filter);
    r->filter = copy;
    return true;
}

static int diff(struct ref *old, struct ref *new)
{
    struct squeeze s;
    blm_error      err = { .offset = BLM_NO_OFFSET };
    blm_params     p   = { .size = sizeof p };
    if (!hold_still(old) || !hold_still(new))
        return EXIT_TROUBLE;
    squeeze_start(&s);
    blm_status st    = blm_diff(old->filter, new->filter, squeeze_write, &s, &err);
    bool       whole = squeeze_end(&s, st == BLM_OK);
    if (out_stopped())
        return EXIT_YES; /* out.c has already reported it, if it is trouble */
    if (st != BLM_OK)
        return trouble("%s and %s: %s", old->name, new->name, filter_words(&err));
    if (!whole)
        return trouble("not enough memory to compress the delta: free some memory and run the "
                       "command again");
    char wrote[NUMBER_TEXT], size[NUMBER_TEXT];
    blm_get_params(new->filter, &p);
    say("%s for a filter of %s", size_text(s.wrote, wrote), size_text(p.bytes, size));
    return EXIT_YES;
}

static int run(int count, char **operands)
{
    (void)count;
    struct ref old, new;
    if (isatty(STDOUT_FILENO))
        return misuse("a delta cannot be written to a terminal: send it to a file with > DELTA");
    if (!ref_open_two(&old, &new, operands, BLM_VERIFY)) /* not into the delta */
        return EXIT_TROUBLE;
    int status = diff(&old, &new);
    ref_drop(&old);
    ref_drop(&new);
    return status;
}

static const char *const usage[] = { "OLD NEW > DELTA", NULL };
static const char *const about[] = {
    "Writes the differences between a filter and an earlier snapshot of it to standard output, "
    "compressed. The delta is usually much smaller than the filter. bloomery patch then brings a "
    "copy of OLD to the state of NEW.",
    "OLD and NEW must be two states of one filter, with the same kind, scheme, size and seed: "
    "copies of a file, or filters made with create --like. A scalable filter may have grown in "
    "between. The delta holds a fingerprint of both states, so it cannot be applied to anything "
    "else.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery diff yesterday.blm today.blm > today.delta", "Write what was added since "
                                                             "yesterday" },
    { "bloomery diff old.blm new.blm | ssh replica bloomery patch seen.blm", "Update a replica" },
    { NULL, NULL },
};

const struct command cmd_diff = {
    .name     = "diff",
    .summary  = "write what changed between two snapshots of a filter",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "filter",
    .least    = 2,
    .most     = 2,
    .run      = run,
};
