/* SPDX-License-Identifier: MIT */
#include "meet.h"

#include <math.h>
#include <string.h>

#include "add.h"
#include "from.h"
#include "interrupt.h"
#include "numbers.h"
#include "out.h"
#include "progress.h"
#include "ref.h"
#include "say.h"

/* The library says what differs and what to do; we add which two filters it is about. */
static int refuse(const char *first, const char *other, const blm_error *err)
{
    return trouble("%s and %s: %s", first, other, filter_words(err));
}

static void report(const char *name, const blm_filter *f, int filters, const struct meet *m)
{
    blm_stats s = { .size = sizeof s };
    char      keys[NUMBER_TEXT], rate[NUMBER_TEXT], was[NUMBER_TEXT];
    if (say_quiet || blm_get_stats(f, &s) != BLM_OK)
        return;
    rate_text(s.rate_now, rate);
    /* Layers stand side by side, and what they have in common does not show. */
    const char *about =
        blm_kind_find(s.params.kind)->can & BLM_CAN_GROW ? "at most about" : m->about;
    if (s.estimated.saturated)
        say("%s: %d filters %s, rate %s: %s, so the bits do not say how many keys it has", name,
            filters, m->did, rate, s.params.probes ? "every bit is set" : "it asks for no bit");
    else
        say("%s: %d filters %s, %s %s, rate %s", name, filters, m->did, about,
            plural_text((uint64_t)llround(s.estimated.value), "key", keys), rate);
    if (s.overfilled)
        say("%s holds more keys than it was planned for: its rate is now %s, not %s: make larger "
            "filters and %s those",
            name, rate, rate_text(s.params.rate, was), m->verb);
}

/* OUT gets checksums of its own, which must not vouch for damage: every byte is read anyway. */
static bool open_whole(struct ref *r, const char *text)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.flags       = BLM_VERIFY;
    return from_options_each(text, &o) && ref_open(r, text, &o);
}

/* Opens a filter and combines it with `into`. */
static int join(blm_filter *into, const char *first, const char *text, meet_fn how)
{
    struct ref r;
    blm_error  err = { .offset = BLM_NO_OFFSET };
    if (!open_whole(&r, text))
        return EXIT_TROUBLE;
    int status = how(into, r.filter, &err) == BLM_OK ? EXIT_YES : refuse(first, r.name, &err);
    ref_drop(&r);
    return status;
}

/* A copy in memory of the first filter. */
static blm_filter *begin(const char *text)
{
    struct ref  r;
    blm_filter *f   = NULL;
    blm_error   err = { .offset = BLM_NO_OFFSET };
    if (!open_whole(&r, text))
        return NULL;
    if (blm_copy(r.filter, &f, &err) != BLM_OK)
        filter_trouble(r.name, &err);
    ref_drop(&r);
    return f;
}

int meet(int count, char **operands, const struct meet *m, bool force)
{
    const char *out    = operands[0];
    int         status = EXIT_YES, dashes = 0;
    for (int i = 1; i < count; i++)
        dashes += ref_is_stdin(operands[i]);
    if (dashes > 1)
        return misuse("only one filter can come from standard input: give the others as files");
    for (int i = 1; i < count; i++)
        if (ref_is_shared(out) && strcmp(out, operands[i]) == 0)
            return trouble("%s: keys that others add to it meanwhile would be lost: merge on the "
                           "server with BF.MERGE",
                           ref_name(out));
    if (!ref_vacant(out, force))
        return EXIT_TROUBLE;
    interrupt_catch();
    blm_filter *f = begin(operands[1]);
    if (!f)
        return EXIT_TROUBLE;
    for (int i = 2; i < count && status == EXIT_YES; i++)
        status = interrupted() ? trouble("interrupted; %s was not written", ref_name(out))
                               : join(f, ref_name(operands[1]), operands[i], m->how);
    if (status == EXIT_YES && !ref_put(out, f, NULL, force))
        status = EXIT_TROUBLE;
    if (status == EXIT_YES && !out_stopped())
        report(ref_is_dash(out) ? "standard output" : ref_name(out), f, count - 1, m);
    blm_free(f);
    return status;
}
