/* SPDX-License-Identifier: MIT */
/* create: makes a new filter, empty or filled. */
#include <stdio.h>
#include <string.h>

#include "add.h"
#include "bloomery/maths.h"
#include "command.h"
#include "interrupt.h"
#include "numbers.h"
#include "out.h"
#include "ref.h"
#include "report.h"
#include "say.h"
#include "size.h"
#include "spill.h"
#include "window.h"

#define DEFAULT_RATE 0.01

static struct {
    const char        *scheme, *hash, *like, *like_from, *from;
    struct option_seed seed;
    uint64_t           variant, lines, growth, last, ms;
    double             slack;
    bool               force, public;
} opt;

static const struct option rows[] = {
    { "kind", 0, OPT_NAME, "KIND", &size_options.kind,
      "The kind of filter. Default: classic if -m and -k are both given, else blocked; of another "
      "system's scheme, what that system has.",
      made_kind_names },
    { "like", 0, OPT_FILE, "FILTER", &opt.like,
      "Take size, kind, scheme and seed from FILTER, so that the two can be merged and compared.",
      NULL },
    { "like-from", 0, OPT_NAME, "F", &opt.like_from,
      "The format of --like's FILTER, if its bytes fit several.", format_names },
    { "scheme", 0, OPT_NAME, "S", &opt.scheme,
      "The rule from a key to its bits: native, or another system's, to make a filter that system "
      "can read. bloomery schemes lists them.",
      made_scheme_names },
    { "hash", 0, OPT_NAME, "H", &opt.hash,
      "The hash of the native scheme. Use siphash if keys come from an adversary who also sees "
      "the answers.",
      hash_names },
    { "seed", 0, OPT_SEED, "S", &opt.seed,
      "A fixed seed, for filters that are to be merged or compared. Default: random.", NULL },
    { "variant", 0, OPT_NUMBER, "V", &opt.variant,
      "The variant of a scheme that has several: bip37's flags, redisbloom's options, the width "
      "of a textbook hash. docs/formats lists them.",
      NULL },
    { "lines", 0, OPT_COUNT, "L", &opt.lines,
      "Cache lines per key, for blocked, counting and window filters. Default: chosen by the "
      "rate. More lines save space, fewer are faster.",
      NULL },
    { "growth", 0, OPT_COUNT, "G", &opt.growth,
      "Of a filter that grows: the capacity of a layer divided by the one before's. RedisBloom "
      "calls it expansion. Default: 2 for redisbloom, else chosen layer by layer.",
      NULL },
    { "last", 0, OPT_COUNT, "N", &opt.last,
      "Make a window: a filter that remembers the last N keys added, and forgets older ones.",
      NULL },
    { "for", 0, OPT_TIME, "TIME", &opt.ms,
      "Make a window by time, like 10m: it remembers keys for that long, up to -n N of them at the "
      "rate, and then forgets them. N is for keys that come evenly; for bursts, give seven times "
      "the keys of the busiest seventh of the window.",
      NULL },
    { "slack", 0, OPT_RATE, "P", &opt.slack,
      "How much longer a window may remember a key, as a share of the window. Default: a seventh, "
      "and up to six keys or milliseconds. The least is 1/63, and more of a short window, whose "
      "turns are whole keys or milliseconds; less slack takes more space.",
      NULL },
    { "from", 0, OPT_KEYS, "KEYS", &opt.from,
      "Add the keys in this file (- is standard input). The filter appears once all of them are "
      "added.",
      NULL },
    { "public", 0, OPT_FLAG, NULL, &opt.public,
      "Let others read the file, as the umask allows. Default: only its owner, because the secret "
      "seed is in it. A file that is replaced keeps its mode.",
      NULL },
    { "force", 0, OPT_FLAG, NULL, &opt.force, "Replace the file if it exists.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Filter", rows };
static const struct option_group *const groups[] = { &size_group, &own,           &spill_group,
                                                     &keys_group, &threads_group, &server_group,
                                                     NULL };

/* The rate if none is given. Some libraries have one of their own, as Guava has: what they make of a
 * number of keys alone is their affair (0), and a size alone is planned at that rate. False: already
 * reported. */
static bool default_rate(bool sized, double *rate)
{
    blm_options one    = BLM_OPTIONS_INIT;
    blm_filter *f      = NULL;
    blm_params  p      = { .size = sizeof p };
    blm_error   err    = { .offset = BLM_NO_OFFSET };
    bool        native = !opt.scheme || strcmp(opt.scheme, "native") == 0;
    *rate              = native && sized ? 0 : DEFAULT_RATE; /* 0: the plan has the same */
    if (native)
        return true;
    one.scheme    = opt.scheme;
    one.items     = 1000;
    blm_status st = blm_create(&one, &f, &err);
    if (st == BLM_E_MEMORY)
        return filter_trouble(NULL, &err), false;
    if (st == BLM_OK) {
        blm_get_params(f, &p);
        *rate = sized ? p.rate : 0;
    }
    blm_free(f);
    return true;
}

/* --last, --for and --slack: a window. */
static bool wanted_window(blm_options *o)
{
    const blm_kind_row *kind = size_options.kind ? blm_kind_find(o->kind) : NULL;
    if (!opt.last && !opt.ms && opt.slack == 0 && !(kind && kind->can & BLM_CAN_FORGET))
        return true;
    if (kind && !(kind->can & BLM_CAN_FORGET))
        return misuse(
                   "--last, --for and --slack are for windows: remove them, or give --kind window"),
               false;
    if (!opt.last && !opt.ms && !kind && !opt.like)
        return misuse("--slack is how much longer a window remembers: give --last or --for too, or "
                      "remove it"),
               false;
    if (opt.last && (opt.ms || o->items))
        return misuse("--last %llu is a window by number: remove --for and -n",
                      (unsigned long long)opt.last),
               false;
    if (opt.ms && !o->items && !o->memory && !o->bits)
        return misuse("--for needs the number of keys that come in that time: give -n too"), false;
    o->kind      = BLM_WINDOW;
    o->items     = opt.last ? opt.last : o->items;
    o->window_ms = opt.ms;
    o->slack     = opt.slack;
    return true;
}

/* Fills in what was asked for. Checks what only we can word well; the library refuses the rest. */
static bool wanted(blm_options *o)
{
    blm_options none = BLM_OPTIONS_INIT;
    *o               = none;
    if (!size_fill(o) || !wanted_window(o))
        return false;
    const blm_kind_row *kind     = blm_kind_find(o->kind);
    bool                scalable = kind->can & BLM_CAN_GROW;
    if (opt.like && (size_given() || o->kind || opt.scheme || opt.hash || opt.seed.given ||
                     opt.variant || opt.lines || opt.growth))
        return misuse("--like gives size, kind, scheme and seed: remove the options that set them"),
               false;
    if ((spill_options.memory || spill_options.dir) && !(opt.from && spill_options.memory))
        return misuse("--working-memory and --spill are for filling a new filter: give --from and "
                      "--working-memory"),
               false;
    if (opt.like_from && !opt.like)
        return misuse("--like-from is the format of --like's filter: give --like too"), false;
    if (!opt.like && !size_given() && !opt.last && !scalable)
        return misuse("the size is missing: give -n and -p, or -m and -k, or --memory, or --like"),
               false;
    bool sized = o->bits || o->memory;
    if (!opt.like && o->rate == 0 && (sized ? !o->items && !o->probes : o->items > 0) &&
        !default_rate(sized, &o->rate))
        return false;
    if (scalable && o->rate == 0)
        o->rate = DEFAULT_RATE;
    if (o->probes && !sized && !opt.scheme && !(o->items && size_options.rate > 0))
        return misuse("-k %u needs the size: give -m too, or -n and -p", (unsigned)o->probes),
               false;
    if (o->bits && o->memory)
        return misuse("-m and --memory both give the size: use only one of them"), false;
    if (o->rate > 0 && !o->items && !o->bits && !o->memory && !scalable)
        return misuse("the number of keys is missing: give -n too, or --kind scalable"), false;
    const blm_scheme_row *scheme = opt.scheme ? blm_scheme_find(opt.scheme) : NULL;
    if (scheme && scheme->by_caller)
        return misuse(
                   "--scheme %s is for programs that bring their own hash functions: give another "
                   "scheme",
                   opt.scheme),
               false;
    if (opt.variant && !opt.scheme)
        return misuse("--variant needs a scheme: give --scheme too"), false;
    if (opt.lines && !kind->max_lines)
        return misuse("--lines is for blocked, counting and window filters: give one of them as "
                      "--kind"),
               false;
    if (opt.lines > kind->max_lines)
        return misuse("--lines %llu: give a number from 1 to %u", (unsigned long long)opt.lines,
                      (unsigned)kind->max_lines),
               false;
    if (opt.growth && !scalable && !(kind->can & BLM_CAN_FILL_UP) &&
        !(scheme && scheme->kinds >> BLM_SCALABLE & 1))
        return misuse("--growth is for filters that grow: give --kind scalable, --kind cuckoo or "
                      "--scheme redisbloom"),
               false;
    o->growth  = (double)opt.growth;
    o->lines   = (uint32_t)opt.lines;
    o->scheme  = opt.scheme;
    o->variant = opt.variant;
    o->hash    = opt.hash && strcmp(opt.hash, "siphash") == 0 ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
    if (opt.seed.given) {
        o->flags |= BLM_SEEDED;
        memcpy(o->seed, opt.seed.word, sizeof o->seed);
    }
    if (opt.force)
        o->flags |= BLM_REPLACE;
    if (opt.public)
        o->flags |= BLM_PUBLIC;
    return true;
}

/* Of a filter in shards only the server knows. */
static void params_of(struct ref *r, blm_params *p)
{
    if (r->filter)
        blm_get_params(r->filter, p);
    else
        ref_params(r, p);
}

/* "blocked, 1,000,000 keys at a rate of 1%: 1.2 MiB, 6 probes". */
static void describe(struct ref *r, char *out, size_t room)
{
    blm_params p = { .size = sizeof p };
    char       keys[NUMBER_TEXT], rate[NUMBER_TEXT], size[NUMBER_TEXT], window[NUMBER_TEXT + 16];
    char       shards[NUMBER_TEXT];
    params_of(r, &p);
    bool native = strcmp(p.scheme, "native") == 0;
    int  n      = snprintf(out, room, "%s%s%s", blm_kind_name(p.kind), native ? "" : " ",
                     native ? "" : p.scheme);
    if (p.capacity && p.rate > 0)
        n += snprintf(out + n, room - (size_t)n, ", %s at a rate of %s%s",
                      plural_text(p.capacity, "key", keys), rate_text(p.rate, rate),
                      p.can & BLM_CAN_GROW ? " before it grows" : "");
    if (r->filter && window_text(r->filter, window))
        n += snprintf(out + n, room - (size_t)n, ", %s", window);
    if (r->shards)
        snprintf(out + n, room - (size_t)n, ": %s in %s", size_text(p.bytes, size),
                 plural_text(r->shards, "shard", shards));
    else
        snprintf(out + n, room - (size_t)n, ": %s, %u probe%s", size_text(p.bytes, size),
                 (unsigned)p.probes, p.probes == 1 ? "" : "s");
}

/* Adds the keys of --from. The filter is still only in memory, so a failure leaves nothing
 * behind. */
static int fill(struct ref *r, struct added *a)
{
    char       *inputs[] = { (char *)(uintptr_t)opt.from };
    struct keys k        = { .strict = true };
    if (!keys_open(&k, inputs, 1))
        return EXIT_TROUBLE;
    interrupt_catch();
    bool good = add_all(r, &k, a);
    keys_close(&k);
    if (good)
        return EXIT_YES;
    char keys[NUMBER_TEXT];
    return trouble("%s after %s; %s was not made%s", interrupted() ? "interrupted" : "stopped",
                   plural_text(a->keys, "key", keys), r->name,
                   interrupted() ? ": run the command again" : "");
}

/* A scheme's own formula may promise more than its probes give: in small filters at strict rates it can
 * be a thousand times as much. 0: it gives what was asked for, about. */
static double rate_short_of(const struct ref *r, const blm_options *o)
{
    double rate;
    return opt.scheme && r->filter && o->items && o->rate > 0 && !o->bits && !o->memory &&
                   !o->probes && strcmp(opt.scheme, "native") != 0 &&
                   blm_rate_at(r->filter, o->items, &rate) == BLM_OK && rate > RATE_ABOVE * o->rate
               ? rate
               : 0;
}

static int make(const char *text, const blm_options *o)
{
    struct ref   r;
    struct added a = { 0 };
    blm_plan     plan;
    blm_params   p = { .size = sizeof p };
    char         words[300], asked[NUMBER_TEXT], given[NUMBER_TEXT], keys[NUMBER_TEXT];
    if (o->items && o->memory && !opt.scheme && !size_fits(o, DEFAULT_RATE, "keys", &plan))
        return EXIT_TROUBLE;
    if (opt.from && ref_is_input(text, (char *[]){ (char *)(uintptr_t)opt.from }, 1))
        return EXIT_TROUBLE;
    if (spill_needed(text, o))
        return spill_build(text, o, opt.from);
    if (!ref_create(&r, text, o, opt.from != NULL))
        return EXIT_TROUBLE;
    if (opt.from) {
        int status = fill(&r, &a);
        if (status != EXIT_YES) {
            ref_drop(&r);
            return status;
        }
    }
    describe(&r, words, sizeof words);
    params_of(&r, &p); /* its notice is static text and outlives the filter */
    double broken = rate_short_of(&r, o);
    if (opt.from)
        add_warn_overfilled(&r);
    if (!ref_commit(&r))
        return EXIT_TROUBLE;
    if (out_stopped()) /* out.c has already reported it, if it is trouble */
        return EXIT_YES;
    say("%s: %s", r.name, words);
    if (p.notice)
        say("%s: %s", r.name, p.notice);
    if (o->rate > 0 && p.rate > o->rate)
        say("%s: scheme %s cannot give that many keys a rate of %s: it is %s, because its size is "
            "limited",
            r.name, p.scheme, rate_text(o->rate, asked), rate_text(p.rate, given));
    else if (broken > 0)
        say("%s: with %s its rate will be about %s, not %s, because of scheme %s; native filters "
            "keep what they promise",
            r.name, plural_text(o->items, "key", keys), rate_text(broken, given),
            rate_text(o->rate, asked), p.scheme);
    return opt.from ? add_report(r.name, &a, true) : EXIT_YES;
}

static int run(int count, char **operands)
{
    (void)count;
    blm_options o;
    if (!wanted(&o) || !ref_wait_fits(operands[0]))
        return EXIT_TROUBLE;
    if (!opt.like)
        return make(operands[0], &o);
    if (opt.from && ref_is_stdin(opt.like) && ref_is_stdin(opt.from))
        return misuse("--like and --from cannot both come from standard input: give one of them as "
                      "a file");
    struct ref  like;
    blm_options from = BLM_OPTIONS_INIT;
    from.format      = opt.like_from;
    if (!ref_open_like(&like, opt.like, &from))
        return EXIT_TROUBLE;
    o.like     = like.filter;
    int status = make(operands[0], &o);
    ref_drop(&like);
    return status;
}

static const char *const usage[] = {
    "FILTER -n N [-p P] [--from KEYS]",
    "FILTER -m BITS -k K",
    "FILTER --memory SIZE [-n N]",
    "FILTER --last N | --for TIME -n N",
    "FILTER --like OTHER",
    "FILTER -n N --from KEYS --working-memory SIZE [--spill DIR]",
    NULL,
};
static const char *const about[] = {
    "Makes a filter for N keys that wrongly answers \"maybe\" for at most a share P of absent "
    "keys, or a filter of a given size: BITS, SIZE, or that of another filter. P is 1% unless "
    "given, of a size alone, too; schemes of libraries that have a default of their own use that "
    "(guava and spark: 3%).",
    "There are six kinds to which keys can be added (bloomery build makes two more). blocked is "
    "the fastest, and the kind of a new filter unless --kind says "
    "otherwise. classic is the smallest general filter, and the default when -m and -k are both "
    "given. counting can remove keys and takes four times the space. cuckoo can remove keys in "
    "about the space of classic, but may be full. scalable grows, for an unknown number of keys. "
    "window forgets: --last makes one of the last N keys, --for one of the last seconds, minutes "
    "or "
    "days.",
    "A new filter gets a random seed, so that nobody can choose keys that collide. Filters that "
    "are to be merged or compared must share a seed: use --like or --seed.",
    "FILTER is a path, - for standard output, or a key on Redis (redis://host/KEY). On Redis, "
    "--scheme redisbloom makes a filter that every RedisBloom client can use; any other scheme "
    "needs bloomery's module. Nothing is overwritten without --force, and with it the old file "
    "stays intact until the new one is ready.",
    "With --from and --working-memory the filter may be larger than memory. The keys' hashes are "
    "sorted into files by the part of the filter they fall into, and each part is filled in turn. "
    "The result is the same file, byte for byte. A run that was killed, or stopped by a full disk, "
    "goes on when the command is run again with the same keys in the same order.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery create seen.blm -n 1e6 -p 0.01", "Make a filter for a million keys at a rate of "
                                                 "1%" },
    { "bloomery create words.blm -n 500e3 -p 1e-4 --from words.txt",
      "Make a filter and add the lines of a file" },
    { "bloomery create all.blm -n 1e10 --from keys.txt --working-memory 1G",
      "Make a filter of 11 GiB in 1 GiB of memory" },
    { "bloomery create recent.blm --for 10m -n 1e6",
      "Remember for ten minutes, up to a million keys "
      "in that time" },
    { "bloomery create tuesday.blm --like monday.blm", "Make a filter that can be merged with "
                                                       "monday.blm" },
    { "bloomery create redis://localhost/seen -n 1e7 --scheme redisbloom",
      "Make a filter on Redis, as BF.RESERVE would" },
    { NULL, NULL },
};

const struct command cmd_create = {
    .name     = "create",
    .summary  = "make a filter",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "filter",
    .least    = 1,
    .most     = 1,
    .run      = run,
};
