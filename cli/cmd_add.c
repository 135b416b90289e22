/* SPDX-License-Identifier: MIT */
/* add: adds keys to an existing filter. */
#include "add.h"
#include "command.h"
#include "from.h"
#include "interrupt.h"
#include "numbers.h"
#include "ref.h"
#include "say.h"

static const struct option_group *const groups[] = { &keys_group, &threads_group, &from_group,
                                                     &server_group, NULL };

static int run(int count, char **operands)
{
    struct ref   r;
    struct added a;
    blm_options  o = BLM_OPTIONS_INIT;
    struct keys  k = { .strict = true };
    if (!ref_wait_fits(operands[0]))
        return EXIT_TROUBLE;
    if (ref_is_stdin(operands[0]) && ref_keys_from_stdin(count, operands))
        return misuse("the filter is read from standard input: give the keys as files");
    if (ref_is_input(operands[0], operands + 1, count - 1) ||
        !keys_open(&k, operands + 1, count - 1))
        return EXIT_TROUBLE;
    interrupt_catch();
    if (!from_options(operands[0], &o) || !ref_change_keys(&r, operands[0], &o)) {
        keys_close(&k);
        return EXIT_TROUBLE;
    }
    if (!add_possible(&r)) {
        keys_close(&k);
        ref_drop(&r);
        return EXIT_TROUBLE;
    }
    bool good = add_all(&r, &k, &a);
    if (good || !r.remote) /* do not ask a server again after losing it */
        add_warn_overfilled(&r);
    keys_close(&k); /* first: if adding stopped early, threads are still hashing with the filter */
    bool kept = ref_commit(&r);
    if (!kept)
        return EXIT_TROUBLE;
    return add_report(r.name, &a, good);
}

static const char *const usage[] = { "FILTER [INPUT...]", NULL };
static const char *const about[] = {
    "Adds every key in the inputs to a filter. Keys that are already in it change nothing, except "
    "in a counting or cuckoo filter: it counts each copy, and each must be removed again.",
    "A native file is changed in place, and a process that checks it meanwhile sees the new keys. "
    "Only one process can add at a time. If add is interrupted, or the process dies, the file "
    "stays valid and holds every key added so far. Adding the same input again "
    "finishes the work, and is safe where copies are not counted. A counting filter that got keys "
    "twice never says no to one it has, but keeps them when they are removed once; a cuckoo filter "
    "takes eight copies of a key and is then full of it. A file in another system's format is "
    "read, changed in memory and replaced "
    "as a whole at the end. With - the filter is read from standard input and written to standard "
    "output. One from another pipe, such as <(zcat seen.blm.gz), goes to standard output too.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery add seen.blm urls.txt", "Add the lines of a file" },
    { "zcat *.gz | bloomery add -f 7 -d ' ' seen.blm", "Add the seventh field of compressed logs" },
    { "bloomery add redis://localhost/seen urls.txt", "Add the lines to a filter on Redis" },
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
