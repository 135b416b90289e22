/* SPDX-License-Identifier: MIT */
/* build: makes a filter at once from a list of keys, or from two: of what is in, and of what is not. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/fixed.h"
#include "bloomery/maths.h"
#include "command.h"
#include "interrupt.h"
#include "keys.h"
#include "memory.h"
#include "numbers.h"
#include "progress.h"
#include "ref.h"
#include "say.h"

#define DEFAULT_RATE 0.01
#define SEEDS        8 /* tried, if two different keys have one hash */

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
    { "include", 0, OPT_FILE, "KEYS", &opt.include,
      "The keys that are in the set (- is standard input).", NULL },
    { "exclude", 0, OPT_FILE, "KEYS", &opt.exclude,
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
      "Build in about this much memory, by way of files on the disk: the keys may be more than "
      "memory "
      "holds. If the command is killed or the disk is full, run it again with the same keys: it "
      "goes on where it was.",
      NULL },
    { "working-memory", 0, OPT_SIZE, "SIZE", &opt.memory, "The same, as create calls it.", NULL },
    { "spill", 0, OPT_FILE, "DIR", &opt.dir,
      "Where those files go. Default: FILTER.spill. They take 16 bytes a key, and twice the "
      "filter's size.",
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

/* Called by several threads at once. */
static void hash(void *ctx, struct batch *b)
{
    b->hashed = blm_builder_hash(ctx, b->keys, b->count, b->hashes) == BLM_OK;
}

/* The keys keep `path`, not only what it points to. */
static bool open_list(struct keys *k, blm_builder *b, const char **path)
{
    *k = (struct keys){
        .strict = true, .hashing = true, .prepare = hash, .ctx = b, .threads = keys_threads()
    };
    return keys_open(k, (char **)(uintptr_t)path, 1);
}

typedef blm_status (*take_fn)(blm_builder *b, const uint64_t *hashes, size_t count);

static bool read_list(blm_builder *b, const char *path, take_fn take, uint64_t *count)
{
    struct keys  k;
    struct batch some;
    blm_status   st = BLM_OK;
    if (!open_list(&k, b, &path))
        return false;
    progress_start("keys", k.total);
    while (st == BLM_OK && keys_next(&k, &some)) {
        if (!some.hashed)
            hash(b, &some);
        st = take(b, some.hashes, some.count);
        progress_tick(k.lines, k.bytes);
    }
    progress_stop();
    bool good = st == BLM_OK && !k.failed && !interrupted();
    *count    = k.lines;
    keys_stop(&k);
    keys_close(&k);
    if (st != BLM_OK) {
        blm_error err = { .status = st, .offset = BLM_NO_OFFSET };
        blm_builder_sync(b, &err); /* says what is the matter with the files, if it is that */
        filter_trouble(path, &err);
    }
    return good;
}

/* ---- a key in both lists ---- */

struct found {
    uint64_t line;
    char    *bytes;
    size_t   len;
};

/* The first key of the file with this hash. False: it cannot be read again, or has none. */
static bool find(blm_builder *b, const char *path, uint64_t wanted, struct found *out)
{
    struct keys  k;
    struct batch some;
    bool         good = false;
    if (ref_is_stream(path) || !open_list(&k, b, &path))
        return false;
    while (!good && keys_next(&k, &some)) {
        if (!some.hashed)
            hash(b, &some);
        for (size_t i = 0; i < some.count && !good; i++)
            if (some.hashes[i] == wanted) {
                out->line  = k.line - some.count + i + 1;
                out->len   = some.keys[i].len;
                out->bytes = memory_need(out->len + 1);
                if (out->len)
                    memcpy(out->bytes, some.keys[i].data, out->len);
                good = true;
            }
    }
    keys_stop(&k);
    keys_close(&k);
    return good;
}

/* True: two different keys have one hash, and another seed is worth a try. */
static bool only_hash_in_common(blm_builder *b)
{
    struct found in = { 0, NULL, 0 }, out = { 0, NULL, 0 };
    uint64_t     common = 0;
    blm_builder_conflict(b, &common);
    bool has_in = find(b, opt.include, common, &in), has_out = find(b, opt.exclude, common, &out);
    bool differ = has_in && has_out && (in.len != out.len || memcmp(in.bytes, out.bytes, in.len));
    if (differ && opt.seed.given)
        trouble("line %llu of %s and line %llu of %s have the same hash: give another --seed",
                (unsigned long long)in.line, opt.include, (unsigned long long)out.line,
                opt.exclude);
    else if (!differ && has_in && has_out)
        trouble("%s: line %llu is also line %llu of %s: a key cannot be both in and out",
                opt.include, (unsigned long long)in.line, (unsigned long long)out.line,
                opt.exclude);
    else if (!differ && (has_in || has_out))
        trouble("%s: line %llu is also in the other list: a key cannot be both in and out",
                has_in ? opt.include : opt.exclude,
                (unsigned long long)(has_in ? in.line : out.line));
    else if (!differ)
        trouble(
            "a key of one list is also in the other, and neither can be read again: give files");
    free(in.bytes);
    free(out.bytes);
    return differ && !opt.seed.given;
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
    bool cascade = blm_get_fixed(f, &x) == BLM_OK && p.kind == BLM_CASCADE;
    say("%s: %s, %s at a rate of %s: %s, %.2f bits a key", name, blm_kind_name(p.kind),
        plural_text(p.capacity, "key", keys), rate_text(cascade ? x.rate : p.rate, rate),
        size_text(p.bytes, size), p.capacity ? 8 * (double)p.bytes / (double)p.capacity : 0);
    if (cascade)
        say("no errors on these and %s excluded; the rate is for keys in neither list",
            plural_text(x.excluded, "key", out));
    else
        say_sizes(&p);
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
        filter_trouble(opt.memory ? directory(text) : NULL, &err);
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

static bool read_lists(blm_builder *b)
{
    uint64_t count = 0;
    return read_list(b, opt.include, blm_builder_add_hashes, &count) &&
           (!opt.exclude || read_list(b, opt.exclude, blm_builder_exclude_hashes, &count));
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
    bool       all = read_lists(b);
    blm_status st  = !all         ? BLM_E_CANCELLED
                     : opt.memory ? blm_builder_save(b, text, opt.force ? BLM_REPLACE : 0, &err)
                                  : blm_builder_build(b, f, &err);
    progress_hide();
    if (st == BLM_OK)
        end = MADE;
    else if (st == BLM_E_CONFLICT)
        end = only_hash_in_common(b) ? AGAIN : FAILED;
    else if (st != BLM_E_CANCELLED)
        filter_trouble(opt.memory ? text : NULL, &err);
    if (opt.memory && end == FAILED && st != BLM_E_CONFLICT)
        say_stopped(text, b);
    blm_builder_free(b);
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
    if (opt.exclude && ref_is_stdin(opt.include) && ref_is_stdin(opt.exclude))
        return misuse("both lists are standard input: give one of them as a file");
    if (opt.dir && !opt.memory)
        return misuse("--spill is for building larger than memory: give --memory too");
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
