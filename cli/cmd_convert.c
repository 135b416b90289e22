/* SPDX-License-Identifier: MIT */
/*
 * convert: a filter in another format. Three ways, the first that does:
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
    { "kind", 0, OPT_NAME, "KIND", &opt.kind, "OUT's kind: another than IN's needs --members.",
      kind_names },
    { "plain", 0, OPT_FLAG, NULL, &opt.plain,
      "Counters to bits: the same answers in a quarter of the space, without the keys; but nothing "
      "can be removed from OUT.",
      NULL },
    { "scheme", 0, OPT_NAME, "S", &opt.scheme, "OUT's scheme: another than IN's needs --members.",
      scheme_names },
    { "members", 0, OPT_FILE, "KEYS", &opt.members,
      "All keys that were added to IN, to rebuild it from (- is standard input).", NULL },
    { "items", 'n', OPT_COUNT, "N", &opt.items,
      "Rebuild for this many keys; as many as IN when not given.", NULL },
    { "rate", 'p', OPT_RATE, "P", &opt.rate, "Rebuild for this rate; IN's when not given.", NULL },
    { "force", 0, OPT_FLAG, NULL, &opt.force, "Replace OUT if it exists.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, &from_group, &keys_group, NULL };

/* ---- as it is ---- */

static int write_as_is(const blm_filter *f, const char *text)
{
    blm_params p = { .size = sizeof p };
    char       size[NUMBER_TEXT];
    blm_get_params(f, &p);
    if (!ref_put(text, f, opt.to, opt.force))
        return EXIT_TROUBLE;
    say("%s: %s, a %s filter of scheme %s, %s",
        ref_is_stdin(text) ? "standard output" : ref_name(text), opt.to, blm_kind_name(p.kind),
        p.scheme, size_text(p.bytes, size));
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

/* Why the filter cannot go to OUT without its keys; NULL: it can. */
static const char *obstacle(const struct ref *in, const blm_params *p, blm_error *err)
{
    static char text[300];
    if (opt.scheme && strcmp(scheme_called(opt.scheme), p->scheme) != 0)
        snprintf(text, sizeof text,
                 "its scheme is %s, not %s, and bits do not say which keys set "
                 "them",
                 p->scheme, opt.scheme);
    else if (opt.kind && strcmp(opt.kind, blm_kind_name(p->kind)) != 0)
        snprintf(text, sizeof text,
                 "its kind is %s, not %s, and bits do not say which keys set "
                 "them",
                 blm_kind_name(p->kind), opt.kind);
    else if (opt.items || opt.rate > 0)
        snprintf(text, sizeof text,
                 "its size cannot be changed: bits do not say which keys set "
                 "them");
    else if (!format_fits(in->filter, opt.to, err))
        snprintf(text, sizeof text, "%s", err->text);
    else
        return NULL;
    return text;
}

static int convert(const struct ref *in, const char *text)
{
    blm_stats   s = { .size = sizeof s };
    blm_error   err;
    const char *why;
    blm_get_stats(in->filter, &s);
    if (opt.plain && !(s.params.can & BLM_CAN_REDUCE))
        return trouble("%s: a %s filter has no counters that --plain could turn into bits",
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
        return misuse("convert to what? Give --to");
    if (opt.plain && (opt.kind || opt.scheme || opt.members || opt.items || opt.rate > 0))
        return misuse("--plain keeps scheme and size: leave --kind, --scheme, --members, -n and -p "
                      "away");
    if (opt.members && ref_is_stdin(opt.members) && ref_is_stdin(operands[0]))
        return misuse("filter and keys cannot both come from standard input");
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
    "Writes a filter in another format. IN's format is found from its bytes; when they fit "
    "several, "
    "the names are given and --from chooses.",
    "A format can take a filter as it is when it is made for the filter's scheme; the native "
    "format "
    "takes every scheme. For another scheme, kind or size the filter has to be rebuilt, and for "
    "that its keys are needed, because bits do not say which keys set them. Every key that "
    "--members gives must be in IN, and is checked to be in OUT; when they are fewer than IN's "
    "bits "
    "speak of, nothing is written, because the missing ones would be denied.",
    "On Redis (redis://host/KEY) --to native makes a filter of bloomery's module and --to "
    "redisbloom one of RedisBloom's. It is loaded under another name (KEY.loading.N), renamed at "
    "the end, and never seen half. When convert fails it deletes that key; when it is killed (kill "
    "-9) or the server is out of reach, the server deletes it within an hour, by EXPIRE, where the "
    "user is allowed to.",
    "Formats that are only bits (raw) need --from, --from-scheme and, where the scheme leaves it "
    "open, -m, -k, --seed and --variant.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery convert seen.guava seen.blm --to native", "Read Guava's file, write our own" },
    { "bloomery convert seen.blm seen.guava --to guava --members urls.txt",
      "Rebuild a filter from its keys so that Guava can read it" },
    { "bloomery convert counts.blm bits.blm --to native --plain",
      "Counters to bits, a quarter of the size: a copy to hand out" },
    { "bloomery convert redis://localhost/seen seen.blm --to native",
      "Copy a filter from Redis, with its bits as they are" },
    { "bloomery convert seen.blm redis://localhost/seen --to native", "Put one there" },
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
