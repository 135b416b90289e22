/* SPDX-License-Identifier: MIT */
/*
 * convert: writes a filter in another format. There are three ways; the first that works is used:
 *
 *   the format can hold the filter as it is    its bits are written there
 *   --plain, of a counting filter              its counters become bits
 *   another scheme, kind or size               it is rebuilt from its keys (--members): bits do not
 *                                              say which keys set them
 */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "from.h"
#include "keys.h"
#include "numbers.h"
#include "rebuild.h"
#include "ref.h"
#include "say.h"

static struct {
    const char *to, *scheme, *kind, *members;
    uint64_t    items;
    double      rate;
    bool        plain, force;
} opt;

static const struct option rows[] = {
    { "to", 0, OPT_NAME, "F", &opt.to, "OUT's format. bloomery schemes lists them.", format_names },
    { "kind", 0, OPT_NAME, "KIND", &opt.kind,
      "OUT's kind. If it is not IN's, --members is "
      "needed.",
      made_kind_names },
    { "plain", 0, OPT_FLAG, NULL, &opt.plain,
      "Turn counters into bits. The answers stay the same in a quarter of the space, and the keys "
      "are not needed, but nothing can be removed from OUT.",
      NULL },
    { "scheme", 0, OPT_NAME, "S", &opt.scheme,
      "OUT's scheme. If it is not IN's, --members is "
      "needed.",
      scheme_names },
    { "members", 0, OPT_KEYS, "KEYS", &opt.members,
      "Rebuild the filter from this file, which holds all keys that were added to IN (- is "
      "standard input).",
      NULL },
    { "items", 'n', OPT_COUNT, "N", &opt.items,
      "Rebuild for this many keys. Default: as many as IN.", NULL },
    { "rate", 'p', OPT_RATE, "P", &opt.rate, "Rebuild for this rate. Default: IN's rate.", NULL },
    { "force", 0, OPT_FLAG, NULL, &opt.force, "Replace OUT if it exists.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, &from_group, &keys_group, NULL };

/* ---- as it is ---- */

/* A format that nothing tells by its bytes has nothing but the bits. */
static void say_what_is_lost(const char *name, const blm_params *p)
{
    const blm_format_row *format    = blm_format_find(opt.to);
    const blm_scheme_row *scheme    = blm_scheme_find(p->scheme);
    char                  need[200] = "", more[80] = "";
    if (format->sniffs)
        return;
    if (!format->schemes)
        snprintf(need, sizeof need, " --from-scheme %s -m %llu -k %u", p->scheme,
                 (unsigned long long)p->bits, (unsigned)p->probes);
    if (scheme->seeded && p->seed_policy == BLM_SEED_FIXED)
        snprintf(more, sizeof more, " --seed %llu", (unsigned long long)p->seed[0]);
    if (p->variant)
        snprintf(more + strlen(more), sizeof more - strlen(more), " --variant %llu",
                 (unsigned long long)p->variant);
    say("%s: the bits alone, without the number of keys, the plan and attached data: read it with "
        "--from %s%s%s",
        name, opt.to, need, more);
}

static int write_as_is(const blm_filter *f, const char *text)
{
    blm_params  p    = { .size = sizeof p };
    const char *name = ref_is_dash(text) ? "standard output" : ref_name(text);
    char        size[NUMBER_TEXT];
    blm_get_params(f, &p);
    if (!ref_put(text, f, opt.to, opt.force))
        return EXIT_TROUBLE;
    say("%s: %s, a %s filter of scheme %s, %s", name, opt.to, blm_kind_name(p.kind), p.scheme,
        size_text(p.bytes, size));
    say_what_is_lost(name, &p);
    return EXIT_YES;
}

static int reduce(const struct ref *in, const char *text)
{
    blm_filter *f;
    blm_error   err = { .offset = BLM_NO_OFFSET };
    if (blm_reduce(in->filter, &f, &err) != BLM_OK)
        return filter_trouble(in->name, &err);
    int status =
        format_fits(f, opt.to, &err) ? write_as_is(f, text) : filter_trouble(in->name, &err);
    blm_free(f);
    return status;
}

/* Why the filter cannot be written to OUT without its keys; NULL: it can. */
static const char *obstacle(const struct ref *in, const blm_params *p, blm_error *err)
{
    static char text[300];
    if (opt.scheme && strcmp(scheme_called(opt.scheme), p->scheme) != 0)
        snprintf(text, sizeof text,
                 "its scheme is %s, not %s, and the bits do not say which keys set them", p->scheme,
                 opt.scheme);
    else if (opt.kind && strcmp(opt.kind, blm_kind_name(p->kind)) != 0)
        snprintf(text, sizeof text,
                 "its kind is %s, not %s, and the bits do not say which keys set them",
                 blm_kind_name(p->kind), opt.kind);
    else if (opt.items || opt.rate > 0)
        snprintf(text, sizeof text,
                 "its size cannot be changed, because the bits do not say which keys set them");
    else if (!format_fits(in->filter, opt.to, err)) {
        if (err->wrong)
            err->text[err->wrong] = 0; /* what to do about it is ours to say */
        snprintf(text, sizeof text, "%s", filter_words(err));
    } else {
        return NULL;
    }
    return text;
}

static int convert(const struct ref *in, const char *text)
{
    blm_stats   s = { .size = sizeof s };
    blm_error   err;
    const char *why;
    blm_get_stats(in->filter, &s);
    if (opt.plain && !(s.params.can & BLM_CAN_REDUCE))
        return trouble("%s: a %s filter has no counters: --plain is only for counting filters",
                       in->name, blm_kind_name(s.params.kind));
    if (opt.plain)
        return reduce(in, text);
    why = obstacle(in, &s.params, &err);
    if (!why)
        return write_as_is(in->filter, text);
    struct rebuild want = { .to      = opt.to,
                            .scheme  = opt.scheme,
                            .kind    = opt.kind,
                            .members = opt.members,
                            .items   = opt.items,
                            .rate    = opt.rate,
                            .force   = opt.force };
    if (opt.members)
        return rebuild(&want, in, &s, text);
    return trouble("%s: %s: give the keys with --members", in->name, why);
}

static int run(int count, char **operands)
{
    (void)count;
    struct ref  in;
    blm_options o = BLM_OPTIONS_INIT;
    if (!opt.to)
        return misuse("the output format is missing: give --to");
    if (opt.plain && (opt.kind || opt.scheme || opt.members || opt.items || opt.rate > 0))
        return misuse("--plain keeps the scheme and size: remove --kind, --scheme, --members, -n "
                      "and -p");
    if (opt.members && ref_is_stdin(opt.members) && ref_is_stdin(operands[0]))
        return misuse("the filter and the keys cannot both come from standard input: give one of "
                      "them as a file");
    o.flags = BLM_VERIFY; /* OUT gets checksums of its own, which must not vouch for damage */
    if (!from_options(operands[0], &o) || !ref_vacant(operands[1], opt.force) ||
        !ref_open(&in, operands[0], &o))
        return EXIT_TROUBLE;
    int status = convert(&in, operands[1]);
    ref_drop(&in);
    return status;
}

static const char *const usage[] = {
    "IN OUT --to F [--from F]",
    "IN OUT --to F --members KEYS",
    NULL,
};
static const char *const about[] = {
    "Writes a filter in another format. IN's format is detected from its bytes. If they fit "
    "several formats, convert names them and you choose one with --from.",
    "A format can hold a filter as it is if it was made for the filter's scheme. The native "
    "format holds every scheme but redisbloom-cf. For another scheme, kind or size the filter must "
    "be rebuilt from "
    "its keys (--members), because bits do not say which keys set them. Every key in --members "
    "must be in IN, and convert checks that it is in OUT. If some are missing, as IN's bits tell, "
    "nothing is written, because OUT would answer no for them.",
    "On Redis (redis://host/KEY), --to native makes a filter of bloomery's module and --to "
    "redisbloom one of RedisBloom's. The filter is loaded under another name (KEY.loading.N) and "
    "renamed at the end, so nobody sees half of it. If convert fails, it deletes that key. If "
    "convert is killed (kill -9) or cannot reach the server, the server deletes the key within an "
    "hour (EXPIRE, if the user may run it).",
    "Formats that are only bits (raw) need --from and --from-scheme, and -m, -k, --seed and "
    "--variant if the scheme does not fix them.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery convert seen.guava seen.blm --to native", "Read a Guava file and write a native "
                                                          "one" },
    { "bloomery convert seen.blm seen.guava --to guava --members urls.txt",
      "Rebuild a filter from its keys so that Guava can read it" },
    { "bloomery convert counts.blm bits.blm --to native --plain",
      "Turn counters into bits for a copy a quarter of the size" },
    { "bloomery convert redis://localhost/seen seen.blm --to native",
      "Copy a filter from Redis to a file, bit for bit" },
    { "bloomery convert seen.blm redis://localhost/seen --to native", "Copy a filter from a file "
                                                                      "to Redis" },
    { NULL, NULL },
};

const struct command cmd_convert = {
    .name     = "convert",
    .summary  = "write a filter in another system's format",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "filter",
    .least    = 2,
    .most     = 2,
    .run      = run,
};
