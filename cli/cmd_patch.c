/* SPDX-License-Identifier: MIT */
/* patch: brings a filter from the state a delta starts from to the one it leads to, or leaves it
 * alone. */
#include <unistd.h>

#include "command.h"
#include "interrupt.h"
#include "numbers.h"
#include "ref.h"
#include "say.h"
#include "squeeze.h"

static const struct option_group *const groups[] = { NULL };

/* The library's words are about the delta, or about the two not fitting. */
static int refuse(const struct ref *r, const struct unsqueeze *u, blm_status st,
                  const blm_error *err)
{
    if (u->trouble)
        return trouble("the delta on standard input: %s: get it again", u->trouble);
    if (st == BLM_E_MISMATCH)
        return trouble("%s: %s: give the filter it was made from, or the whole new one", r->name,
                       err->text);
    if (st == BLM_E_CANCELLED)
        return trouble("interrupted; %s is as it was", r->name);
    if (st == BLM_E_LIMIT || st == BLM_E_MEMORY || st == BLM_E_VERSION)
        return trouble("%s: %s", r->name, err->text);
    if (err->offset != BLM_NO_OFFSET)
        return trouble("the delta on standard input: %s (byte %llu%s): get it again", err->text,
                       (unsigned long long)err->offset, u->packed ? " uncompressed" : "");
    return trouble("the delta on standard input: %s: get it again", err->text);
}

static int patch(struct ref *r)
{
    struct unsqueeze u;
    blm_filter      *f;
    blm_error        err = { .offset = BLM_NO_OFFSET };
    char             keys[NUMBER_TEXT], size[NUMBER_TEXT];
    unsqueeze_start(&u);
    blm_status st = blm_patch(r->filter, unsqueeze_read, &u, &f, &err);
    unsqueeze_end(&u);
    if (st == BLM_PRESENT) {
        say("%s is already where this delta leads", r->name);
        blm_free(f);
        ref_drop(r);
        return EXIT_YES;
    }
    if (st != BLM_OK) {
        int status = refuse(r, &u, st, &err);
        ref_drop(r);
        return status;
    }
    blm_params  p    = { .size = sizeof p };
    const char *name = r->name;
    blm_get_params(f, &p);
    if (!ref_replace(r, f))
        return EXIT_TROUBLE;
    say("%s: patched with %s, %s keys now", name, size_text(u.got, size),
        count_text(p.items, keys));
    return EXIT_YES;
}

static int run(int count, char **operands)
{
    (void)count;
    struct ref r;
    if (ref_is_stdin(operands[0]))
        return misuse("the delta comes from standard input: give the filter as a file");
    if (isatty(STDIN_FILENO))
        return misuse("the delta comes from standard input, as in < DELTA");
    interrupt_catch();
    return ref_change(&r, operands[0], NULL) ? patch(&r) : EXIT_TROUBLE;
}

static const char *const usage[] = { "FILTER < DELTA", NULL };
static const char *const about[] = {
    "Brings a filter to the state that a delta, written by bloomery diff, leads to. The filter "
    "must "
    "be in the state that the delta starts from; anything else is refused, and the file is not "
    "touched. A filter that is already where the delta leads is left as it is, and that is no "
    "trouble.",
    "The new filter is made beside the old one, checked against the fingerprint in the delta, and "
    "then put in its place at once: whoever opens the file sees the old or the new one, never a "
    "mixture. Processes that have the old one open keep it until they open it again.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery patch seen.blm < today.delta", "Follow by one day" },
    { "bloomery diff old.blm new.blm | ssh replica bloomery patch seen.blm",
      "Let a replica follow" },
    { NULL, NULL },
};

const struct command cmd_patch = {
    .name     = "patch",
    .summary  = "bring a filter to the state a delta leads to",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "filter",
    .least    = 1,
    .most     = 1,
    .run      = run,
};
