/* SPDX-License-Identifier: MIT */
/* build: makes a filter at once from a list of keys, or from two: of what is in, and of what is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bloomery/fixed.h"
#include "bloomery/maths.h"
#include "build.h"
#include "command.h"
#include "interrupt.h"
#include "keys.h"
#include "numbers.h"
#include "progress.h"
#include "ref.h"
#include "say.h"
#include "spill.h"

#define DEFAULT_RATE 0.01
#define SEEDS        8 /* tried, if two different keys have one hash */
/* With less, the files of hashes are so many and so short that the disk does nothing but flush them:
 * 4e6 keys took 89 s with 64K and 6 s with 1M. A part of the filter takes 40 MB beside it anyway. */
#define LEAST_MEMORY ((uint64_t)1 << 20)

static struct {
    const char        *include, *exclude, *kind, *hash;
    double             rate;
    struct option_seed seed;
    bool               force;
    uint64_t           memory;
    const char        *dir;
} opt;

static const char *built_kinds(size_t i)
{
    static const char *const names[] = { "static", "cascade", "classic", "blocked" };
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

static const struct option rows[] = {
    { "include", 0, OPT_KEYS, "KEYS", &opt.include,
      "The keys that are in the set (- is standard input).", NULL },
    { "exclude", 0, OPT_KEYS, "KEYS", &opt.exclude,
      "Keys that are not, and must never be answered \"maybe\". The filter is then a cascade.",
      NULL },
    { "rate", 'p', OPT_RATE, "P", &opt.rate,
      "The rate: how often a key in neither list may be answered \"maybe\". Default: 1%; with "
      "--exclude, whatever makes the filter smallest.",
      NULL },
    { "kind", 0, OPT_NAME, "KIND", &opt.kind,
      "The kind of filter. Default: cascade with --exclude, else the smallest that has the rate.",
      built_kinds },
    { "hash", 0, OPT_NAME, "H", &opt.hash,
      "The hash. Use siphash if keys come from an adversary who also sees the answers.",
      hash_names },
    { "seed", 0, OPT_SEED, "S", &opt.seed, "A fixed seed. Default: random.", NULL },
    { "force", 0, OPT_FLAG, NULL, &opt.force, "Replace the file if it exists.", NULL },
    OPTION_END,
};
static const struct option disk_rows[] = {
    { "memory", 0, OPT_SIZE, "SIZE", &opt.memory,
      "Build in about this much memory (1M or more), and up to 40 MB more, by way of files on the "
      "disk: "
      "the keys may "
      "be more than memory holds. If the command is killed or the disk is full, run it again with "
      "the "
      "same keys: it "
      "goes on where it was.",
      NULL },
    { "working-memory", 0, OPT_SIZE, "SIZE", &opt.memory, "The same, as create calls it.", NULL },
    { "spill", 0, OPT_FILE, "DIR", &opt.dir,
      "Where those files go: a directory that is new or empty. Default: FILTER.spill. They take 16 "
      "bytes a key, and twice the filter's size.",
      NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Filter", rows };
static const struct option_group        disk     = { "Larger than memory", disk_rows };
static const struct option_group *const groups[] = { &own, &disk, &keys_group, &threads_group,
                                                     NULL };

static const char *directory(const char *text)
{
    static char path[4096];
    if (opt.dir)
        return opt.dir;
    snprintf(path, sizeof path, "%s.spill", text);
    return path;
}

/* ---- reading ---- */

typedef blm_status (*take_fn)(blm_builder *b, const uint64_t *hashes, size_t count);

/* where: the files that the keys go into; NULL: they stay in memory. */
static bool read_list(blm_builder *b, const char *path, const char *where, take_fn take,
                      struct build_order *order)
{
    struct keys  k;
    struct batch some;
    blm_status   st = BLM_OK;
    if (!build_open_list(&k, b, &path))
        return false;
    progress_start("keys", k.total);
    while (st == BLM_OK && keys_next(&k, &some)) {
        if (!some.hashed)
            build_hash(b, &some);
        build_order_note(order, some.hashes, some.count);
        st = take(b, some.hashes, some.count);
        progress_tick(k.lines, k.bytes);
    }
    progress_stop();
    bool good = st == BLM_OK && !k.failed && !interrupted();
    keys_stop(&k);
    keys_close(&k);
    if (st != BLM_OK) {
        blm_error err = { .status = st, .offset = BLM_NO_OFFSET };
        blm_builder_sync(b, &err); /* says what is the matter with the files, if it is that */
        filter_trouble(where ? where : path, &err);
    }
    return good;
}

/* ---- what was made, and why ---- */

static void say_sizes(const blm_params *p)
{
    char size[NUMBER_TEXT], other[NUMBER_TEXT], text[200] = "";
    for (size_t i = 0, n = 0; built_kinds(i); i++) {
        blm_options o    = BLM_OPTIONS_INIT;
        blm_plan    plan = { .size = sizeof plan };
        blm_kind_from_name(built_kinds(i), &o.kind);
        o.items = p->capacity;
        o.rate  = p->rate;
        if (o.kind == p->kind || p->capacity == 0 || blm_plan_for(&o, &plan, NULL) != BLM_OK)
            continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s would take %s", n ? ", " : "",
                              built_kinds(i), size_text(plan.bytes, other));
    }
    if (text[0])
        say("%s: %s; %s", opt.kind ? "as asked for" : "the smallest", size_text(p->bytes, size),
            text);
}

static void report(const char *name, const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    blm_fixed  x = { .size = sizeof x };
    char       keys[NUMBER_TEXT], out[NUMBER_TEXT], rate[NUMBER_TEXT], size[NUMBER_TEXT];
    blm_get_params(f, &p);
    if (p.items == 0) /* a kind that can be added to is made for one key at least */
        p.capacity = 0;
    bool cascade           = blm_get_fixed(f, &x) == BLM_OK && p.kind == BLM_CASCADE;
    char each[NUMBER_TEXT] = "";
    if (p.capacity)
        snprintf(each, sizeof each, ", %.2f bits a key", 8 * (double)p.bytes / (double)p.capacity);
    say("%s: %s, %s at a rate of %s: %s%s", name, blm_kind_name(p.kind),
        plural_text(p.capacity, "key", keys), rate_text(cascade ? x.rate : p.rate, rate),
        size_text(p.bytes, size), each);
    if (!cascade) {
        say_sizes(&p);
        return;
    }
    say("no errors on these and %s excluded; the rate is for keys in neither list",
        plural_text(x.excluded, "key", out));
    if (x.excluded == 0 && p.capacity && opt.rate == 0)
        say("nothing is excluded, and -p says how many of the other keys may be answered "
            "\"maybe\"");
}

/* ---- building ---- */

static void options_of(blm_options *o)
{
    blm_options none = BLM_OPTIONS_INIT;
    *o               = none;
    if (opt.kind)
        blm_kind_from_name(opt.kind, &o->kind);
    else
        o->kind = opt.exclude ? BLM_CASCADE : BLM_ANY_KIND;
    o->rate = opt.rate > 0 || o->kind == BLM_CASCADE ? opt.rate : DEFAULT_RATE;
    o->hash = opt.hash && strcmp(opt.hash, "siphash") == 0 ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
    if (opt.seed.given) {
        o->flags |= BLM_SEEDED;
        memcpy(o->seed, opt.seed.word, sizeof o->seed);
    }
    o->threads      = keys_threads();
    o->progress     = progress_library;
    o->progress_ctx = (void *)(uintptr_t) "building";
}

static blm_builder *begin(const char *text, const blm_options *o)
{
    blm_builder      *b   = NULL;
    blm_error         err = { .offset = BLM_NO_OFFSET };
    blm_builder_state is  = { .size = sizeof is };
    char              keys[NUMBER_TEXT];
    blm_status        st = opt.memory ? blm_builder_open(directory(text), o, opt.memory, &b, &err)
                                      : blm_builder_new(o, &b, &err);
    if (st != BLM_OK) {
        if (opt.memory)
            spill_trouble(directory(text), &err);
        else
            filter_trouble(NULL, &err);
        return NULL;
    }
    blm_builder_get_state(b, &is);
    if (is.kept_included + is.kept_excluded)
        say("%s: %s has %s of an earlier run: going on", text, directory(text),
            plural_text(is.kept_included + is.kept_excluded, "key", keys));
    return b;
}

/* What is in the files stays there. */
static void say_stopped(const char *text, blm_builder *b)
{
    blm_builder_state is = { .size = sizeof is };
    char              keys[NUMBER_TEXT];
    blm_builder_sync(b, NULL);
    blm_builder_get_state(b, &is);
    uint64_t in  = is.included > is.kept_included ? is.included : is.kept_included;
    uint64_t out = is.excluded > is.kept_excluded ? is.excluded : is.kept_excluded;
    trouble("%s after %s; %s is not made yet: run the command again to go on (or remove %s)",
            interrupted() ? "interrupted" : "stopped", plural_text(in + out, "key", keys), text,
            directory(text));
}

static bool read_lists(blm_builder *b, const char *where, struct build_list *in,
                       struct build_list *out)
{
    return read_list(b, in->path, where, blm_builder_add_hashes, &in->order) &&
           (!out->path || read_list(b, out->path, where, blm_builder_exclude_hashes, &out->order));
}

enum outcome { MADE, AGAIN, FAILED }; /* AGAIN: another seed may help; FAILED: already reported */

/* In files: *f stays NULL. */
static enum outcome build_once(const char *text, const blm_options *o, blm_filter **f)
{
    blm_error    err = { .offset = BLM_NO_OFFSET };
    blm_builder *b   = begin(text, o);
    enum outcome end = FAILED;
    if (!b)
        return FAILED;
    struct build_list in = { .path = opt.include }, out = { .path = opt.exclude };
    const char       *where = opt.memory ? directory(text) : NULL;
    if (opt.exclude) {
        build_order_begin(&in, where);
        build_order_begin(&out, where);
    }
    bool       all = read_lists(b, where, &in, &out);
    blm_status st  = !all         ? BLM_E_CANCELLED
                     : opt.memory ? blm_builder_save(b, text, opt.force ? BLM_REPLACE : 0, &err)
                                  : blm_builder_build(b, f, &err);
    progress_hide();
    if (st == BLM_OK)
        end = MADE;
    else if (st == BLM_E_CONFLICT)
        end = build_conflict(b, &in, &out, opt.seed.given) ? AGAIN : FAILED;
    else if (st != BLM_E_CANCELLED)
        filter_trouble(opt.memory ? text : NULL, &err);
    if (opt.memory && end == FAILED && st != BLM_E_CONFLICT)
        say_stopped(text, b);
    build_order_end(&in);
    build_order_end(&out);
    blm_builder_free(b);
    if (opt.memory && end == MADE &&
        !opt.dir) /* a run that was killed may have made it, and not said so */
        rmdir(directory(text));
    return end;
}

/* Builds until a seed tells all keys apart, and puts the filter where it belongs. */
static int build(const char *text, const blm_options *o)
{
    blm_filter  *f   = NULL;
    enum outcome end = AGAIN;
    blm_error    err = { .offset = BLM_NO_OFFSET };
    for (int i = 0; i < SEEDS && end == AGAIN; i++)
        end = build_once(text, o, &f);
    if (end != MADE && interrupted() && !opt.memory)
        return trouble("interrupted; %s was not made", ref_name(text));
    if (end != MADE)
        return EXIT_TROUBLE;
    if (opt.memory && blm_open(text, NULL, &f, &err) != BLM_OK)
        return filter_trouble(text, &err);
    bool good = opt.memory || ref_put(text, f, NULL, opt.force);
    if (good)
        report(ref_name(text), f);
    blm_free(f);
    return good ? EXIT_YES : EXIT_TROUBLE;
}

static int run(int count, char **operands)
{
    (void)count;
    blm_options o;
    const char *text     = operands[0];
    char       *inputs[] = { (char *)(uintptr_t)opt.include, (char *)(uintptr_t)opt.exclude };
    if (!opt.include)
        return misuse("the keys are missing: give --include");
    if (opt.exclude && opt.kind && strcmp(opt.kind, "cascade") != 0)
        return misuse("--exclude is for a cascade: remove it, or --kind %s", opt.kind);
    if (!opt.exclude && opt.kind && strcmp(opt.kind, "cascade") == 0)
        return misuse("a cascade has no errors on two lists, and there is one: give --exclude too, "
                      "or --kind static");
    if (opt.exclude && ref_is_stdin(opt.include) && ref_is_stdin(opt.exclude))
        return misuse("both lists are standard input: give one of them as a file");
    if (opt.dir && !opt.memory)
        return misuse("--spill is for building larger than memory: give --memory too");
    if (opt.memory && opt.memory < LEAST_MEMORY)
        return misuse(
            "--memory is too small: give 1M or more, because with less the time goes into "
            "flushing thousands of short files");
    if (opt.memory && spill_is_filter(directory(text), text))
        return EXIT_TROUBLE;
    if (opt.memory && (ref_is_shared(text) || ref_is_stream(text)))
        return misuse("--memory builds a file: give a path");
    if (ref_is_input(text, inputs, opt.exclude ? 2 : 1) || !ref_vacant(text, opt.force))
        return EXIT_TROUBLE;
    interrupt_catch();
    options_of(&o);
    return build(text, &o);
}

static const char *const usage[] = {
    "FILTER --include KEYS [-p P] [--kind KIND]",
    "FILTER --include KEYS --exclude KEYS [-p P]",
    "FILTER --include KEYS [--exclude KEYS] --memory SIZE [--spill DIR]",
    NULL,
};
static const char *const about[] = {
    "Makes a filter from a list that will not change: breached passwords, a block list, the keys "
    "of "
    "a file that is written once. All keys are read first, so their number need not be known, and "
    "the filter can be smaller than one to which keys are added. Keys that come twice count once.",
    "Without --exclude it is the smallest kind that has the rate. For more than some hundred keys "
    "that is static: 9 bits a key at 0.4%, and 1.13 bits more for half the rate.",
    "With --exclude it is a cascade. It answers \"maybe\" for every included key and \"no\" for "
    "every excluded one; both lists are checked before the filter is written. A key of neither "
    "list "
    "is answered \"maybe\" at the rate that is printed: with -p P, at most at P.",
    "The hashes of all keys are in memory while it builds, 8 bytes a key. With --memory they are "
    "in "
    "files instead, and the filter may be larger than memory too. It comes out the same, bit for "
    "bit.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery build leaked.blm --include passwords.txt -p 1e-3",
      "Make the smallest filter of a list" },
    { "bloomery build revoked.blm --include revoked.txt --exclude valid.txt",
      "Make a filter without errors on two lists of certificates" },
    { "bloomery build blocked.blm --include spammers.txt --exclude customers.txt -p 1%",
      "Never stop a customer, and at most one stranger in a hundred" },
    { "bloomery build all.blm --include keys.txt --memory 256M",
      "Build from ten thousand million keys in little memory" },
    { NULL, NULL },
};

const struct command cmd_build = {
    .name     = "build",
    .summary  = "make a filter at once from lists of keys",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "filter",
    .least    = 1,
    .most     = 1,
    .run      = run,
};
