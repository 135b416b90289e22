/* SPDX-License-Identifier: MIT */
/* add: keys into a filter that exists. */
#include "add.h"
#include "command.h"
#include "interrupt.h"
#include "numbers.h"
#include "ref.h"
#include "say.h"

static const struct option_group *const groups[] = { &keys_group, &threads_group, NULL };

static int run(int count, char **operands)
{
    struct ref   r;
    struct added a;
    struct keys  k = { .strict = true };
    if (ref_is_stdin(operands[0]) && count == 1)
        return misuse("the filter comes from standard input: give the keys as files");
    if (!keys_open(&k, operands + 1, count - 1))
        return EXIT_TROUBLE;
    interrupt_catch();
    if (!ref_change_keys(&r, operands[0])) {
        keys_close(&k);
        return EXIT_TROUBLE;
    }
    bool good = add_all(&r, &k, &a);
    if (good || !r.remote) /* a server that has been lost is not asked again */
        add_warn_overfilled(&r);
    keys_close(&k); /* first: where adding stopped early, threads still hash by the filter */
    bool kept = ref_commit(&r);
    if (!kept)
        return EXIT_TROUBLE;
    return add_report(r.name, &a, good);
}

static const char *const usage[] = { "FILTER [INPUT...]", NULL };
static const char *const about[] = {
    "Adds every key of the inputs to a filter. Keys that are in it already change nothing.",
    "A native file is changed in place, and a process that asks it meanwhile sees the new keys; "
    "only one process can add at a time. When add is interrupted, or the process dies, the file "
    "is valid and has every key added so far: adding the same input again is safe and finishes "
    "the work. A file of another system's format is read, changed and replaced as a whole at the "
    "end. With - the filter is read from standard input and written to standard output.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery add seen.blm urls.txt", "Add the lines of a file" },
    { "zcat *.gz | bloomery add -f 7 -d ' ' seen.blm", "Add the seventh field of compressed logs" },
    { "bloomery add redis://localhost/seen urls.txt", "Add them to a filter on Redis" },
    { NULL, NULL },
};

const struct command cmd_add = {
    .name     = "add",
    .summary  = "add keys to a filter",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "filter",
    .least    = 1,
    .most     = -1,
    .run      = run,
};
