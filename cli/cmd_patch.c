/* SPDX-License-Identifier: MIT */
/* patch: brings a filter from the state a delta starts from to the state it leads to, or leaves it
 * unchanged. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bloomery/delta.h"
#include "command.h"
#include "from.h"
#include "interrupt.h"
#include "numbers.h"
#include "ref.h"
#include "say.h"
#include "squeeze.h"

static const struct option_group *const groups[] = { &from_group, NULL };

/* The library's text is about the delta, or about delta and filter not matching. */
static int refuse(const struct ref *r, const struct unsqueeze *u, blm_status st,
                  const blm_error *err)
{
    if (interrupted())
        return trouble("interrupted; %s was not changed", r->name);
    if (u->why == EBADF)
        return trouble("standard input is closed: add < DELTA, or pipe the delta in");
    if (u->why)
        return system_trouble("the delta on standard input", u->why,
                              u->why == EISDIR ? "give a file" : NULL);
    if (u->trouble)
        return trouble("the delta on standard input: %s: get it again", u->trouble);
    if (st == BLM_E_MISMATCH)
        return trouble("%s: %s: patch the filter that the delta was made from, or copy the whole "
                       "new filter",
                       r->name, filter_words(err));
    if (st == BLM_E_LIMIT || st == BLM_E_MEMORY || st == BLM_E_VERSION)
        return trouble("%s: %s", r->name, filter_words(err));
    if (err->offset != BLM_NO_OFFSET)
        return trouble("the delta on standard input: %s (byte %llu%s): get it again",
                       filter_words(err), (unsigned long long)err->offset,
                       u->packed ? " uncompressed" : "");
    return trouble("the delta on standard input: %s: get it again", filter_words(err));
}

/* The file is opened for writing only when the new filter is ready, so that a refused delta does
 * not change a byte of it. By then it must still hold what the delta was applied to. */
static int put_in_place(const char *text, const blm_options *o, const uint8_t before[16],
                        blm_filter *f)
{
    struct ref r;
    uint8_t    print[16];
    if (!ref_change(&r, text, o)) {
        blm_free(f);
        return EXIT_TROUBLE;
    }
    if (blm_fingerprint(r.filter, print) != BLM_OK || memcmp(print, before, 16) != 0) {
        blm_free(f);
        ref_drop(&r);
        return trouble("%s: another process changed it meanwhile: run the command again",
                       ref_name(text));
    }
    return ref_replace(&r, f) ? EXIT_YES : EXIT_TROUBLE;
}

/* The filter that the delta leads to, and the fingerprint of the one it was applied to. NULL: there
 * is nothing to do, or trouble. It has been reported, and *status is set. */
static blm_filter *apply(const struct ref *r, struct unsqueeze *u, uint8_t before[16], int *status)
{
    blm_filter *f;
    blm_params  p   = { .size = sizeof p };
    blm_error   err = { .offset = BLM_NO_OFFSET };
    *status         = EXIT_YES;
    if (blm_get_params(r->filter, &p) == BLM_OK && p.writer == BLM_WRITER_LIVE) {
        *status = trouble("%s: another process is writing to it: wait until it ends", r->name);
        return NULL;
    }
    blm_status st = blm_fingerprint(r->filter, before);
    if (st == BLM_OK)
        st = blm_patch(r->filter, unsqueeze_read, u, &f, &err);
    if (st == BLM_OK)
        return f;
    if (st == BLM_PRESENT) {
        say("%s is already in the state this delta leads to", r->name);
        blm_free(f);
    } else {
        *status = refuse(r, u, st, &err);
    }
    return NULL;
}

static int patch(const char *text)
{
    struct ref       r;
    blm_options      o = BLM_OPTIONS_INIT;
    struct unsqueeze u;
    uint8_t          before[16];
    int              status;
    char             keys[NUMBER_TEXT], size[NUMBER_TEXT];
    bool stream = ref_is_stream(text); /* the result goes to standard output, in any case */
    if (!from_options(text, &o) || !(stream ? ref_change : ref_open)(&r, text, &o))
        return EXIT_TROUBLE;
    unsqueeze_start(&u);
    blm_filter *f = apply(&r, &u, before, &status);
    unsqueeze_end(&u);
    if (!f && stream && status == EXIT_YES)
        return ref_commit(&r) ? EXIT_YES : EXIT_TROUBLE;
    if (!f) {
        ref_drop(&r);
        return status;
    }
    blm_params p = { .size = sizeof p };
    blm_get_params(f, &p);
    if (stream) {
        status = ref_replace(&r, f) ? EXIT_YES : EXIT_TROUBLE;
    } else {
        ref_drop(&r);
        status = put_in_place(text, &o, before, f);
    }
    if (status == EXIT_YES)
        say("%s: patched with %s%s%s%s", ref_name(text), size_text(u.got, size),
            p.items ? ", " : "", p.items ? plural_text(p.items, "key", keys) : "",
            p.items ? " now" : "");
    return status;
}

static int run(int count, char **operands)
{
    (void)count;
    if (ref_is_stdin(operands[0]))
        return misuse("the delta is read from standard input: give the filter as a file");
    if (isatty(STDIN_FILENO))
        return misuse("the delta is read from standard input: add < DELTA");
    interrupt_catch();
    return patch(operands[0]);
}

static const char *const usage[] = { "FILTER < DELTA", NULL };
static const char *const about[] = {
    "Applies a delta, written by bloomery diff, to a filter. The filter must be in the state the "
    "delta starts from. Anything else is refused, and the file is not touched. A filter that is "
    "already in the state the delta leads to is left unchanged, and the exit status is 0.",
    "The new filter is made next to the old one, checked against the fingerprint in the delta, "
    "and then replaces the old one in one step. A process that opens the file sees the old filter "
    "or the new one, never a mixture. Processes that have the old one open keep it until they "
    "open the file again.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery patch seen.blm < today.delta", "Apply one day's changes" },
    { "bloomery diff old.blm new.blm | ssh replica bloomery patch seen.blm", "Update a replica" },
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
