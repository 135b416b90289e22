/* SPDX-License-Identifier: MIT */
/* follow: keeps a near copy of a filter on Redis in a file, for other processes to map. */
#include <string.h>

#include "command.h"
#include "interrupt.h"
#include "numbers.h"
#include "progress.h"
#include "ref.h"
#include "say.h"

#define TICK 0.05 /* seconds: how quickly a signal is noticed */

static struct {
    uint64_t every, stale;
    bool     once, force;
} opt = { .every = 100, .stale = 1000 };

static const struct option rows[] = {
    { "every", 0, OPT_TIME, "TIME", &opt.every,
      "How often to ask the server for new keys. Default: 100ms.", NULL },
    { "stale", 0, OPT_TIME, "TIME", &opt.stale,
      "Say so when the file is older than this. Default: 1s.", NULL },
    { "once", 0, OPT_FLAG, NULL, &opt.once, "Bring the file up to date, and end.", NULL },
    { "force", 0, OPT_FLAG, NULL, &opt.force,
      "Replace a file that is not a copy of the same filter.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Copy", rows };
static const struct option_group *const groups[] = { &own, NULL };

#ifdef BLOOMERY_WITH_HIREDIS
#include <bloomery_near.h>
#include <time.h>

static void say_size(const char *name, const char *file, blm_near *n)
{
    blm_near_stats s = { .size = sizeof s };
    char           size[NUMBER_TEXT];
    blm_near_get_stats(n, &s);
    say("%s: a copy of %s, %s", file, name, size_text(s.bytes, size));
}

/* Says when the file becomes too old, and when it is current again; and why, as soon as that is known: a
 * server that does not answer is asked for as long as ?timeout says. */
struct watch {
    bool      old;
    blm_error told;
};

static void watch(const char *file, blm_near *n, struct watch *w)
{
    blm_near_stats s = { .size = sizeof s };
    char           age[NUMBER_TEXT];
    blm_near_get_stats(n, &s);
    if (!w->old && !s.current && s.age_ms == UINT64_MAX)
        say("%s: out of date", file);
    else if (!w->old && !s.current)
        say("%s: out of date, %s s old", file, count_text(s.age_ms / 1000, age));
    else if (w->old && s.current)
        say("%s: up to date again", file);
    w->old = !s.current;
    if (s.current)
        w->told.status = BLM_OK;
    if (s.current || s.why.status == BLM_OK ||
        (w->told.status == s.why.status && strcmp(w->told.text, s.why.text) == 0))
        return;
    say("%s: %s", file, s.why.text);
    w->told = s.why;
}

static int run(int count, char **operands)
{
    blm_near_options o   = BLM_NEAR_OPTIONS_INIT;
    blm_error        err = { .offset = BLM_NO_OFFSET };
    blm_near        *n   = NULL;
    const char      *ref = operands[0], *name = ref_name(ref);
    struct watch     w = { false, { .status = BLM_OK } };
    (void)count;
    o.every_ms = (uint32_t)(opt.every < UINT32_MAX ? opt.every : UINT32_MAX);
    o.stale_ms = (uint32_t)(opt.stale < UINT32_MAX ? opt.stale : UINT32_MAX);
    o.file     = operands[1];
    o.replace  = opt.force;
    if (!ref_is_shared(ref) || strncmp(ref, "near+", 5) == 0)
        return trouble("%s is not a filter on a server: give redis://host/KEY", name);
    interrupt_catch();
    blm_status st = blm_near_open(ref, &o, &n, &err);
    if (st == BLM_E_EXISTS)
        return trouble("%s is not a copy of this filter: give another name, or --force to replace "
                       "it",
                       operands[1]);
    if (st != BLM_OK)
        return filter_trouble(name, &err);
    say_size(name, operands[1], n);
    while (!opt.once && !interrupted()) {
        struct timespec t = { 0, (long)(TICK * 1e9) };
        nanosleep(&t, NULL);
        watch(operands[1], n, &w);
    }
    st = blm_near_finish(n, &err);
    return st == BLM_OK ? EXIT_YES : filter_trouble(operands[1], &err);
}

#else

static int run(int count, char **operands)
{
    (void)count;
    return trouble("%s: this bloomery was built without a Redis client: install hiredis (on "
                   "Debian, libhiredis-dev) and build it again",
                   ref_name(operands[0]));
}
#endif

static const char *const usage[] = { "redis://HOST/KEY FILE [--every TIME]",
                                     "redis+cluster://HOST/KEY DIRECTORY [--every TIME]", NULL };
static const char *const about[] = {
    "Loads a filter from a server into a file, and then adds to it what is added on the server, "
    "until it is interrupted. Other processes check the file meanwhile, as any file that is being "
    "written to.",
    "The file's modification time is how current it is: every key that was acknowledged before is "
    "in it, give or take the time of one question. If the server is restarted, fails over, or "
    "loses "
    "track of what the file lacks, the filter is loaded again, into the same file. Only if it is "
    "another filter by then, or one that grows, is the file replaced: then processes that have it "
    "open must open it again.",
    "A filter in shards (redis+cluster://) becomes a directory, with a file for each shard and "
    "one, "
    "shards, that says which key is in which and whose modification time counts. Give check the "
    "directory. If the filter is sharded anew, so is the directory.",
    "The server needs bloomery's module. Windows and cuckoo filters cannot be followed.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery follow redis://cache1/visited /var/lib/visited.blm",
      "Keep a copy that this machine's processes can check" },
    { "bloomery follow --once redis://cache1/visited visited.blm", "Refresh a copy from cron" },
    { "bloomery follow redis+cluster://cache1/visited /var/lib/visited",
      "Keep a directory with a copy of a filter in shards" },
    { NULL, NULL },
};

const struct command cmd_follow = {
    .name     = "follow",
    .summary  = "keep a copy of a filter on a server up to date",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "filter",
    .least    = 2,
    .most     = 2,
    .run      = run,
};
