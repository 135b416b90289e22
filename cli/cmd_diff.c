/* SPDX-License-Identifier: MIT */
/* diff: what changed between two snapshots of a filter. */
#include <string.h>
#include <unistd.h>

#include "bloomery/delta.h"
#include "command.h"
#include "numbers.h"
#include "out.h"
#include "ref.h"
#include "say.h"
#include "squeeze.h"

static const struct option_group *const groups[] = { NULL };

/* A filter that someone is writing to: a copy, which is as it was at some moment, so that the delta
 * leads to something that has been. */
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
        return EXIT_YES; /* out.c says what there is to say */
    if (st != BLM_OK)
        return trouble("%s and %s: %s", old->name, new->name, err.text);
    if (!whole)
        return trouble("the delta could not be compressed: free some memory");
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
        return misuse("a delta is not for a terminal: send it to a file, as in > DELTA");
    if (!ref_open_two(&old, &new, operands))
        return EXIT_TROUBLE;
    int status = diff(&old, &new);
    ref_drop(&old);
    ref_drop(&new);
    return status;
}

static const char *const usage[] = { "OLD NEW > DELTA", NULL };
static const char *const about[] = {
    "Writes the bits in which a filter differs from an earlier snapshot of it to standard output, "
    "compressed: mostly a small part of the filter's size. bloomery patch brings a copy of OLD to "
    "the state of NEW.",
    "OLD and NEW must be two states of one filter: same kind, scheme, size and seed, as copies of "
    "a "
    "file are, or filters made with create --like. A scalable filter may have grown meanwhile. The "
    "delta names both by a fingerprint of their bits, so it cannot be applied to anything else.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery diff yesterday.blm today.blm > today.delta", "What came since yesterday" },
    { "bloomery diff old.blm new.blm | ssh replica bloomery patch seen.blm",
      "Let a replica follow" },
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
