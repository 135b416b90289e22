/* SPDX-License-Identifier: MIT */
#include "spill.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bloomery/maths.h"
#include "bloomery/spill.h"
#include "interrupt.h"
#include "keys.h"
#include "memory.h"
#include "numbers.h"
#include "progress.h"
#include "ref.h"
#include "say.h"

struct spill_options spill_options;

static const struct option rows[] = {
    { "working-memory", 0, OPT_SIZE, "SIZE", &spill_options.memory,
      "With --from: build a filter that may be larger than this, by way of files on the disk. If "
      "the "
      "command is killed or the disk is full, run it again with the same keys: it goes on where it "
      "was. For classic and blocked filters.",
      NULL },
    { "spill", 0, OPT_FILE, "DIR", &spill_options.dir,
      "Where those files go: a directory that is new or empty. Default: FILTER.spill. They take 8 "
      "bytes a key for a blocked filter of one line (9 to 10 for each line of more), 5 to 6 bytes "
      "a probe for a classic "
      "one, and twice the filter's size.",
      NULL },
    OPTION_END,
};
const struct option_group spill_group = { "Larger than memory", rows };

static const char *directory(const char *text)
{
    static char path[4096];
    if (spill_options.dir)
        return spill_options.dir;
    snprintf(path, sizeof path, "%s.spill", text);
    return path;
}

static size_t name_length(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

/* Found only when the filter is to be put there, after all keys were read. */
bool spill_is_filter(const char *dir, const char *text)
{
    while (strncmp(dir, "./", 2) == 0)
        dir += 2;
    while (strncmp(text, "./", 2) == 0)
        text += 2;
    size_t n = name_length(dir);
    if (n != name_length(text) || memcmp(dir, text, n) != 0)
        return false;
    misuse("--spill %s is the filter's own name: give another directory", dir);
    return true;
}

int spill_trouble(const char *dir, const blm_error *err)
{
    const char *words = filter_words(err);
    if (err->status != BLM_E_MISMATCH || strchr(words, ':'))
        return filter_trouble(dir, err);
    return trouble("%s: %s: give the options it was begun with, or another --spill, or remove it",
                   dir, words);
}

bool spill_needed(const char *text, const blm_options *o)
{
    struct stat st;
    blm_plan    plan = { .size = sizeof plan };
    if (!spill_options.memory)
        return false;
    if (stat(directory(text), &st) == 0)
        return true;
    return o->like || blm_plan_for(o, &plan, NULL) != BLM_OK ||
           plan.bytes > spill_options.memory / 2;
}

static void hash(void *ctx, struct batch *b)
{
    b->hashed = blm_spill_hash_many(ctx, b->keys, b->count, b->hashes) == BLM_OK;
}

static bool add_keys(blm_spill *s, struct keys *k, blm_error *err)
{
    struct batch b;
    bool         good = true;
    progress_start("keys", k->total);
    while (good && keys_next(k, &b)) {
        good = (b.hashed ? blm_spill_add_hashes(s, b.hashes, b.count, err)
                         : blm_spill_add_many(s, b.keys, b.count, err)) == BLM_OK;
        progress_tick(k->lines, k->bytes);
    }
    keys_stop(k);
    progress_stop();
    return good;
}

/* False: already reported. */
static bool read_keys(blm_spill *s, const char *text, const char *from, blm_error *err)
{
    char       *inputs[] = { (char *)(uintptr_t)from };
    struct keys k        = {
               .strict = true, .prepare = hash, .ctx = s, .hashing = true, .threads = keys_threads()
    };
    if (!keys_open(&k, inputs, 1))
        return false;
    bool good = add_keys(s, &k, err), failed = k.failed;
    keys_close(&k);
    if (good && (failed || interrupted()))
        blm_spill_sync(s, NULL); /* the next run goes on from here */
    if (!good)
        filter_trouble(directory(text), err);
    return good && !failed && !interrupted();
}

static int stopped(const char *text, const blm_spill *s)
{
    blm_spill_state is = { .size = sizeof is };
    char            keys[NUMBER_TEXT];
    blm_spill_get_state(s, &is);
    uint64_t seen = is.keys > is.kept ? is.keys : is.kept;
    return trouble("%s after %s; %s is not made yet: run the command again to go on (or remove %s)",
                   interrupted() ? "interrupted" : "stopped", plural_text(seen, "key", keys), text,
                   directory(text));
}

static int finish(blm_spill *s, const char *text, const blm_options *o)
{
    blm_error       err = { .offset = BLM_NO_OFFSET };
    blm_spill_state is  = { .size = sizeof is };
    char            keys[NUMBER_TEXT], fresh[NUMBER_TEXT], size[NUMBER_TEXT], parts[NUMBER_TEXT];
    blm_status      st = blm_spill_finish(s, text, o->flags & (BLM_REPLACE | BLM_PUBLIC), &err);
    progress_hide();
    blm_spill_get_state(s, &is);
    uint64_t seen = is.keys > is.kept ? is.keys : is.kept;
    if (st != BLM_OK) {
        if (st != BLM_E_CANCELLED)
            filter_trouble(text, &err);
        return stopped(text, s);
    }
    if (!spill_options.dir) /* a run that was killed may have made it, and not said so */
        rmdir(directory(text));
    say("%s: %s, %s, filled in %s", text, blm_kind_name(o->kind ? o->kind : BLM_BLOCKED),
        size_text(is.bytes, size), plural_text(is.parts, "part", parts));
    say("%s: %s added, %s new", text, plural_text(seen, "key", keys), count_text(is.items, fresh));
    return EXIT_YES;
}

int spill_build(const char *text, const blm_options *options, const char *from)
{
    blm_error       err = { .offset = BLM_NO_OFFSET };
    blm_options     o   = *options;
    blm_spill      *s   = NULL;
    blm_spill_state is  = { .size = sizeof is };
    char            keys[NUMBER_TEXT];
    if (ref_is_shared(text) || ref_is_stream(text))
        return misuse("--working-memory builds a file: give a path");
    if (spill_is_filter(directory(text), text) || !ref_vacant(text, o.flags & BLM_REPLACE))
        return EXIT_TROUBLE;
    o.progress     = progress_library;
    o.progress_ctx = "filling";
    if (blm_spill_open(directory(text), &o, spill_options.memory, &s, &err) != BLM_OK)
        return spill_trouble(directory(text), &err);
    blm_spill_get_state(s, &is);
    if (is.kept)
        say("%s: %s has %s of an earlier run: going on", text, directory(text),
            plural_text(is.kept, "key", keys));
    interrupt_catch();
    bool filling = blm_spill_filling(s), good = read_keys(s, text, from, &err);
    blm_spill_get_state(s, &is);
    if (good && filling && is.keys < is.kept)
        good = !trouble("%s: there are fewer keys than %s has: give them all again, or remove it",
                        text, directory(text));
    int status = good ? finish(s, text, &o) : stopped(text, s);
    blm_spill_free(s);
    return status;
}
