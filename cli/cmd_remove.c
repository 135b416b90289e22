/* SPDX-License-Identifier: MIT */
/* remove: removes keys from a counting or cuckoo filter. */
#include "command.h"
#include "from.h"
#include "interrupt.h"
#include "keys.h"
#include "numbers.h"
#include "progress.h"
#include "ref.h"
#include "say.h"

static const struct option_group *const groups[] = { &keys_group, &threads_group, &from_group,
                                                     &server_group, NULL };

struct removed {
    uint64_t keys, absent;
};

static bool can_remove(struct ref *r)
{
    blm_params p;
    if (!ref_params(r, &p))
        return false;
    if (p.can & BLM_CAN_REMOVE)
        return true;
    trouble("%s: keys cannot be removed from a %s filter: make one that can with bloomery create "
            "--kind cuckoo or --kind counting",
            r->name, blm_kind_name(p.kind));
    return false;
}

static bool remove_all(struct ref *r, struct keys *k, struct removed *n)
{
    struct batch b;
    uint8_t      gone[KEYS_BATCH];
    bool         good = true;
    *n                = (struct removed){ 0 };
    progress_start("keys", k->total);
    while (good && keys_next(k, &b)) {
        size_t done = 0, keys = 0;
        good = ref_remove(r, b.keys, b.count, gone, &done);
        for (size_t i = 0; i < done; i++)
            keys += gone[i];
        n->keys += keys;
        n->absent += done - keys;
        progress_tick(k->lines, k->bytes);
    }
    if (!good)
        return false;
    return !k->failed && !interrupted();
}

static int report(const char *name, const struct removed *n, uint64_t lines, bool good)
{
    char keys[NUMBER_TEXT], absent[NUMBER_TEXT], at[NUMBER_TEXT];
    plural_text(n->keys, "key", keys);
    count_text(n->absent, absent);
    count_text(lines, at);
    if (!good)
        return trouble("%s after line %s of the input; %s is valid: continue with the next line",
                       interrupted() ? "interrupted" : "stopped", at, name);
    if (n->absent)
        say("%s: %s removed, %s never added", name, keys, absent);
    else
        say("%s: %s removed", name, keys);
    return n->absent ? EXIT_NO : EXIT_YES;
}

static int run(int count, char **operands)
{
    struct ref     r;
    blm_options    o = BLM_OPTIONS_INIT;
    struct keys    k = { .strict = true, .threads = keys_threads() };
    struct removed n;
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
    if (!can_remove(&r)) {
        keys_close(&k);
        ref_drop(&r);
        return EXIT_TROUBLE;
    }
    bool good = remove_all(&r, &k, &n);
    progress_stop();
    uint64_t lines = n.keys + n.absent;
    keys_close(&k); /* first: its threads hash with the filter */
    bool kept = ref_commit(&r);
    return kept ? report(r.name, &n, lines, good) : EXIT_TROUBLE;
}

static const char *const usage[] = { "FILTER [INPUT...]", NULL };
static const char *const about[] = {
    "Removes every key in the inputs, undoing one add each. Only counting and cuckoo filters can "
    "do "
    "this.",
    "Remove only keys that were really added. If the filter wrongly answers maybe for a key that "
    "was never added, removing it takes away what stands for other keys, and the filter may then "
    "answer no for them. A key that the filter knows was never added is counted and changes "
    "nothing.",
    "Unlike add, remove must not be run twice with the same input. If it is interrupted, it says "
    "after which line.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery remove sessions.blm ended.txt", "Remove the sessions that have ended" },
    { "sqlite3 shop.db 'select id from gone' | bloomery remove items.blm",
      "Remove keys that are gone from a database" },
    { NULL, NULL },
};

const struct command cmd_remove = {
    .name     = "remove",
    .summary  = "remove keys from a counting or cuckoo filter",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .status   = "0 every key was removed, 1 some were never added, 2 trouble.",
    .operand  = "filter",
    .least    = 1,
    .most     = -1,
    .run      = run,
};
