/* SPDX-License-Identifier: MIT */
/*
 * dedup: prints each line the first time it is seen, in order and at once.
 *
 * Without --state a line is added to the filter and printed if its key was new. With --state the
 * order is reversed, because the filter outlives the process: lines are printed first, and their
 * keys are added once the lines have been written. If the process or its reader dies in between, or
 * the disk is full, the next run prints those lines again, so none is lost. Other runs may share a
 * state on a server and check the same lines meanwhile, so there each batch is written and added on
 * its own. With a file, keys gather until we have to wait for input.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "add.h"
#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "command.h"
#include "expected.h"
#include "figures.h"
#include "from.h"
#include "interrupt.h"
#include "keys.h"
#include "memory.h"
#include "numbers.h"
#include "out.h"
#include "progress.h"
#include "ref.h"
#include "say.h"
#include "size.h"
#include "window.h"

#define DEFAULT_RATE 1e-6
#define FIRST_LAYER  ((uint64_t)1 << 22) /* keys, when the number is not known: 17 MB */
#define FIRST_STATE \
    ((uint64_t)1 << 20) /* the same for a state file, which may stay small for years */
#define LEAST_FIRST 4096
#define MOST_FIRST  ((uint64_t)1 << 25) /* the most, even if the size of the input suggests more */
#define USUAL_LINE  40.0                /* bytes */
#define PENDING     32768               /* keys waiting for their lines to be written */
#define SYNC_EVERY  30.0                /* seconds */
#define RUNS        8                   /* of lines in a turn of a window */
#define ASKS        16 /* of its rate, in so many lines as a window holds, for --stats */

static struct {
    uint64_t    items, memory;
    double      rate;
    const char *state, *window;
    uint64_t    last, ms; /* of the window: lines, or milliseconds */
    bool        duplicates, stats, json;
} opt;

static const struct option rows[] = {
    { "items", 'n', OPT_COUNT, "N", &opt.items,
      "How many different lines to expect. Default: the filter grows as needed.", NULL },
    { "rate", 'p', OPT_RATE, "P", &opt.rate,
      "The share of new lines that may be dropped wrongly. Default: 1e-6.", NULL },
    { "memory", 0, OPT_SIZE, "SIZE", &opt.memory,
      "Bytes the filter may take, like 64M. With -n, the best rate that fits is used. Without -n, "
      "the filter holds as many lines as fit at the rate.",
      NULL },
    { "state", 0, OPT_FILE, "FILTER", &opt.state,
      "Keep what was seen in this filter for the next run. It is made if it does not exist; -n, "
      "-p and --memory matter only then.",
      NULL },
    { "window", 0, OPT_TEXT, "N|TIME", &opt.window,
      "Forget lines that were not among the last N, or not seen for TIME (10m, 1.5h), so that a "
      "pipe can run for ever. By time, -n says how many different lines come in that time.",
      NULL },
    { NULL, 'D', OPT_FLAG, NULL, &opt.duplicates,
      "Print the lines that were seen before instead "
      "of the new ones.",
      NULL },
    { "stats", 0, OPT_FLAG, NULL, &opt.stats,
      "At the end, report on standard error how many lines were read, kept and dropped, and how "
      "many were probably dropped wrongly.",
      NULL },
    { "json", 0, OPT_FLAG, NULL, &opt.json, "Like --stats, but as JSON.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Set", rows };
static const struct option_group *const groups[] = { &own,        &keys_group,   &threads_group,
                                                     &from_group, &server_group, NULL };

/* New lines that a window did not let through, as expected: its rate rises and falls, so it is asked now
 * and then, and the lines between two answers met rates between them. */
struct lost {
    double   wrong, rate; /* so far; at the last answer */
    uint64_t unique;      /* by then */
    bool     at_least;    /* so full that new lines do not say how many came */
};

struct dedup {
    struct ref      ref; /* with --state */
    blm_filter     *filter;
    struct keys     keys;
    struct expected expected;
    uint64_t        unique;
    double          start, synced;
    struct lost     lost;         /* a window's */
    bool            failed, open; /* open: there is a filter, in memory or on a server */
    /* With --state: keys whose lines are not yet written, and a small filter of the same keys. */
    blm_filter *recent;
    blm_key    *pending;
    size_t      pending_count;
    size_t      run; /* of a window: lines that are printed and then added; 0: it is none */
};

/* ---- the filter ---- */

/* How many different lines to expect, guessed from the input's size and its first batch. first is
 * NULL with --state, which is opened before anything is read so that a second run is refused at
 * once. */
static uint64_t guess(const struct dedup *d, const struct batch *first)
{
    uint64_t least = opt.state ? FIRST_STATE : LEAST_FIRST;
    if (!d->keys.total)
        return opt.state ? FIRST_STATE : FIRST_LAYER;
    double each  = first ? (double)(first->at[first->count] - first->at[0]) / (double)first->count
                         : USUAL_LINE;
    double lines = (double)d->keys.total / each * 1.1;
    return lines < (double)least        ? least
           : lines > (double)MOST_FIRST ? MOST_FIRST
                                        : (uint64_t)lines;
}

/* A growing filter shares its rate among its layers, so each layer has a lower rate than the whole,
 * and the general rule would choose three cache lines per key from the first layer on. Two lines
 * take 6% more space and made the whole command a quarter faster on 20 million lines. */
static blm_options wanted(const struct dedup *d, const struct batch *first)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = BLM_BLOCKED;
    o.items       = opt.items;
    o.memory      = opt.memory;
    o.rate        = opt.rate;
    if (o.rate == 0 && !(opt.items && opt.memory))
        o.rate = DEFAULT_RATE;
    if (opt.window) {
        o.kind      = BLM_WINDOW;
        o.items     = opt.last ? opt.last : opt.items;
        o.window_ms = opt.ms;
    } else if (!opt.items && !opt.memory) {
        o.kind       = BLM_SCALABLE;
        o.items      = guess(d, first);
        o.tightening = 0.5;
        o.lines      = 2;
    }
    return o;
}

/* Reports what --memory holds, before anything is made. */
static bool plan_memory(const blm_options *o)
{
    blm_plan p;
    char     size[NUMBER_TEXT], lines[NUMBER_TEXT], rate[NUMBER_TEXT], more[NUMBER_TEXT];
    char     usual[NUMBER_TEXT];
    if (!size_fits(o, DEFAULT_RATE, "lines", &p))
        return false;
    size_text(o->memory, size);
    count_text(p.items, lines);
    rate_text(p.rate, rate);
    if (opt.items && opt.rate == 0 && p.rate > DEFAULT_RATE)
        say("%s holds %s lines at a rate of %s (a rate of %s needs --memory %s)", size, lines, rate,
            rate_text(DEFAULT_RATE, usual), size_option_text(p.bytes_needed, more));
    else
        say("%s holds %s lines at a rate of %s", size, lines, rate);
    return true;
}

/* Whether an old state has the window that was asked for. */
static bool same_window(const struct dedup *d, const blm_window *w)
{
    char text[NUMBER_TEXT];
    if (!opt.window || w->length == (w->by_time ? opt.ms : opt.last))
        return true;
    if (w->by_time)
        span_text(w->length, text);
    else
        plural_text(w->length, "line", text);
    trouble("%s remembers the last %s, not --window %s: give another --state, or no --window",
            d->ref.name, text, opt.window);
    return false;
}

/* An old state may be a window, and decides then. */
static bool run_of(struct dedup *d)
{
    blm_params p = { .size = sizeof p };
    blm_window w = { .size = sizeof w };
    if (!ref_params(&d->ref, &p))
        return false;
    if (!(p.can & BLM_CAN_FORGET)) {
        if (opt.window)
            trouble(
                "%s is a %s filter, which forgets nothing: give another --state, or no --window",
                d->ref.name, blm_kind_name(p.kind));
        return !opt.window;
    }
    bool known = !d->ref.remote && blm_get_window(d->filter, &w) == BLM_OK;
    if (known && !same_window(d, &w))
        return false;
    d->run = known && !w.by_time && w.turn_length / RUNS < KEYS_BATCH
                 ? (size_t)(w.turn_length / RUNS) + 1
                 : KEYS_BATCH;
    return true;
}

static bool open_state(struct dedup *d, const blm_options *o)
{
    blm_options old  = BLM_OPTIONS_INIT;
    bool        made = !ref_exists(opt.state);
    if (!made && !from_options(opt.state, &old))
        return false;
    if (made && opt.memory && !plan_memory(o))
        return false;
    if (made ? !ref_create_keys(&d->ref, opt.state, o) : !ref_change_keys(&d->ref, opt.state, &old))
        return false;
    d->filter = d->ref.filter;
    if (!add_possible(&d->ref) || !run_of(d))
        return false;
    blm_options small = BLM_OPTIONS_INIT;
    small.kind        = BLM_BLOCKED;
    small.items       = PENDING;
    small.rate = 1e-9; /* far below any usual rate; the filter is small, so this costs little */
    blm_error err;
    if (blm_create(&small, &d->recent, &err) != BLM_OK)
        return filter_trouble(NULL, &err), false;
    d->pending = memory_need(PENDING * sizeof *d->pending);
    d->synced  = now();
    return true;
}

/* Can such a filter be made at all? Asked before anything is read. How many lines a file has is only
 * known from the first of them, so for that the smallest filter is tried. */
static bool possible(const struct dedup *d)
{
    blm_options o   = wanted(d, NULL);
    blm_plan    p   = { .size = sizeof p };
    blm_error   err = { .offset = BLM_NO_OFFSET };
    if (opt.memory)
        return opt.state || plan_memory(&o);
    if (!opt.items && !opt.state && !opt.window && d->keys.total)
        o.items = LEAST_FIRST;
    return blm_plan_for(&o, &p, &err) == BLM_OK || (filter_trouble(NULL, &err), false);
}

static bool open_filter(struct dedup *d, const struct batch *first)
{
    blm_options o = wanted(d, first);
    blm_error   err;
    if (opt.state) {
        if (!open_state(d, &o))
            return false;
    } else {
        if (blm_create(&o, &d->filter, &err) != BLM_OK)
            return filter_trouble(NULL, &err), false;
    }
    if (!d->ref.remote && (opt.stats || opt.json))
        expected_start(&d->expected, d->filter);
    d->open = true;
    return true;
}

/* ---- lines ---- */

static void complain(struct dedup *d, blm_status st)
{
    blm_error err = { .status = st, .offset = BLM_NO_OFFSET };
    d->failed     = true;
    filter_trouble("the filter", &err);
}

/* Called by several threads at once. The adds themselves are made in order by one thread. */
static void hash(void *ctx, struct batch *b)
{
    const struct dedup *d = ctx;
    b->hashed = d->filter && blm_hash_many(d->filter, b->keys, b->count, b->hashes) == BLM_OK;
}

static void add_and_print(struct dedup *d, const struct batch *b)
{
    size_t     done = 0;
    blm_status st   = b->hashed ? blm_add_hashes(d->filter, b->hashes, b->count, b->flags, &done)
                                : blm_add_many(d->filter, b->keys, b->count, b->flags, &done);
    if (st != BLM_OK) {
        complain(d, st);
        memset(b->flags + done, 1, b->count - done); /* treat as not seen */
    }
    size_t printed = batch_print_picked(b, b->flags, !opt.duplicates);
    d->unique += opt.duplicates ? b->count - printed : printed;
}

/* Writes the pending lines, then adds their keys to the state. */
static void write_pending(struct dedup *d)
{
    if (!out_flush() || d->failed || !opt.state)
        return;
    if (d->pending_count) {
        bool reports = (opt.stats || opt.json) && !d->ref.remote;
        if (reports)
            expected_batch(&d->expected, d->filter, d->pending_count);
        d->failed = !ref_add(&d->ref, d->pending, d->pending_count, NULL, NULL);
        if (reports)
            expected_added(&d->expected, d->filter);
        d->pending_count = 0;
        blm_clear(d->recent);
    }
    if (now() - d->synced > SYNC_EVERY) {
        d->failed |= !ref_sync(&d->ref);
        d->synced = now();
    }
}

static void recycle(void *ctx) { write_pending(ctx); }

/* Prints the lines that are neither in the state nor pending, and makes them pending. */
static void print_and_queue(struct dedup *d, const struct batch *b)
{
    uint8_t seen[KEYS_BATCH], fresh[KEYS_BATCH];
    if (d->pending_count + b->count > PENDING)
        write_pending(d);
    if (d->failed || out_stopped())
        return;
    if (!ref_check(&d->ref, b->keys, b->count, seen, NULL)) {
        d->failed = true;
        return;
    }
    blm_key *queue = d->pending + d->pending_count;
    size_t   n     = 0;
    for (size_t i = 0; i < b->count; i++)
        if (!seen[i])
            queue[n++] = b->keys[i];
    blm_add_many(d->recent, queue, n, fresh, NULL);
    size_t kept = 0;
    for (size_t i = 0, c = 0; i < b->count; i++) {
        if (seen[i])
            continue;
        if (fresh[c])
            queue[kept++] = queue[c];
        seen[i] = !fresh[c++];
    }
    d->pending_count += kept;
    d->unique += kept;
    batch_print_picked(b, seen, opt.duplicates);
    if (d->ref.remote)
        write_pending(d);
}

/* A window with --state: every line is added, since a line that comes back is renewed. What the
 * state does not have yet must be few compared with the window, so lines go in runs. */
static void print_and_renew(struct dedup *d, const struct batch *b)
{
    uint8_t seen[KEYS_BATCH], fresh[KEYS_BATCH];
    for (size_t at = 0, n; at < b->count && !d->failed && !out_stopped(); at += n) {
        const blm_key *key = b->keys + at;
        n                  = b->count - at < d->run ? b->count - at : d->run;
        if (!ref_check(&d->ref, key, n, seen + at, NULL)) {
            d->failed = true;
            return;
        }
        blm_add_many(d->recent, key, n, fresh, NULL);
        for (size_t i = 0; i < n; i++) {
            seen[at + i] |= !fresh[i];
            d->unique += !seen[at + i];
            d->pending[d->pending_count++] = key[i];
        }
        struct batch some = *b;
        some.at           = b->at + at;
        some.keys         = b->keys + at;
        some.count        = n;
        some.cut          = b->cut && at + n == b->count;
        batch_print_picked(&some, seen + at, opt.duplicates);
        write_pending(d);
    }
}

/* Half full of what it does not hold, the new lines do not say how many were not let through. */
static void ask_window(struct dedup *d)
{
    struct lost *w   = &d->lost;
    blm_stats    s   = { .size = sizeof s };
    double       now = blm_get_stats(d->filter, &s) == BLM_OK ? s.rate_now : w->rate;
    double       met = (w->rate + now) / 2;
    if (met > 0.5)
        w->at_least = true;
    else
        w->wrong += met / (1 - met) * (double)(d->unique - w->unique);
    w->rate   = now;
    w->unique = d->unique;
}

/* Every ASKS-th part of what it was planned for: each answer reads all bits. */
static void watch_window(struct dedup *d)
{
    blm_params p = { .size = sizeof p };
    if (opt.window && (opt.stats || opt.json) && d->open && !d->ref.remote &&
        blm_get_params(d->filter, &p) == BLM_OK && d->unique - d->lost.unique > p.capacity / ASKS)
        ask_window(d);
}

static void all_lines(struct dedup *d)
{
    struct batch b;
    while (!d->failed && keys_next(&d->keys, &b)) {
        if (!d->open && !open_filter(d, &b)) {
            d->failed = true;
            break;
        }
        if (d->run)
            print_and_renew(d, &b);
        else if (opt.state)
            print_and_queue(d, &b);
        else
            add_and_print(d, &b);
        watch_window(d);
        progress_tick(d->keys.lines, d->keys.bytes);
    }
    write_pending(d);
}

/* ---- statistics ---- */

static double wrongly_dropped(struct dedup *d, double *rate, bool *at_least)
{
    blm_stats s = { .size = sizeof s };
    if (opt.window) {
        ask_window(d);
        *rate     = d->lost.rate;
        *at_least = d->lost.at_least;
        return d->lost.wrong;
    }
    double wrong = expected_end(&d->expected, d->filter, rate);
    *at_least    = d->expected.at_least;
    if (*at_least)
        *rate = blm_get_stats(d->filter, &s) == BLM_OK ? s.rate_now : 0; /* by the bits */
    return wrong;
}

static void report(struct dedup *d)
{
    struct figures f = { .lines   = d->keys.lines,
                         .unique  = d->unique,
                         .bytes   = d->keys.bytes,
                         .seconds = now() - d->start };
    struct rusage  u;
    blm_params     p = { .size = sizeof p };
    if (f.seconds < 1e-6)
        f.seconds = 1e-6;
    if (getrusage(RUSAGE_SELF, &u) == 0)
        f.peak = (uint64_t)u.ru_maxrss * 1024;
    if (d->open && d->ref.remote) { /* its bits are not here, so its rate is not known */
        f.unknown      = true;
        f.filter_bytes = ref_params(&d->ref, &p) ? p.bytes : 0;
    } else if (d->open) {
        blm_get_params(d->filter, &p);
        f.filter_bytes = p.bytes;
        f.wrong        = wrongly_dropped(d, &f.rate, &f.at_least);
        /* Near saturation the count of new lines hardly says how many lines came. */
        f.wrong = fmin(f.wrong, (double)(f.lines - f.unique));
    }
    if (opt.json)
        figures_json(&f);
    else
        figures_print(&f);
}

/* Warns when more lines came than the fixed size was planned for: lines are lost at a higher
 * rate. */
static void warn(struct dedup *d)
{
    blm_params p = { .size = sizeof p };
    if (d->open && d->ref.remote && !d->failed)
        add_warn_overfilled(&d->ref);
    if (d->open && d->ref.remote && d->unique)
        add_warn_failover(&d->ref);
    if (!d->open || d->ref.remote || say_quiet || blm_get_params(d->filter, &p) != BLM_OK ||
        p.can & BLM_CAN_GROW || !p.capacity)
        return;
    if (p.can & BLM_CAN_FORGET) { /* as many as were planned, but all at once, are too many */
        if (!opt.state)
            d->ref = (struct ref){ .filter = d->filter, .name = "the window" };
        add_warn_overfilled(&d->ref);
        return;
    }
    blm_stats s = { .size = sizeof s };
    if (p.items <= p.capacity + p.capacity / 50 || blm_get_stats(d->filter, &s) != BLM_OK ||
        !s.overfilled) /* a union's count is a sum; the smallest filter has room for more than a few lines */
        return;
    char   items[NUMBER_TEXT], room[NUMBER_TEXT], share[NUMBER_TEXT], dropped[64];
    double held = s.estimated.saturated ? s.estimated.low : s.estimated.value;
    if (s.rate_now < 0.5)
        snprintf(dropped, sizeof dropped, "one new line in %.0f is", 1 / s.rate_now);
    else
        snprintf(dropped, sizeof dropped, "%s of new lines are", rate_text(s.rate_now, share));
    say("the filter holds %s %s different lines but was planned for %s: %s now dropped, not one in "
        "%.0f: give a larger %s%s",
        s.estimated.saturated ? "at least" : "about", count_text((uint64_t)llround(held), items),
        count_text(p.capacity, room), dropped, 1 / p.rate,
        opt.memory && !opt.items ? "--memory" : "-n", opt.state ? " and a new --state" : "");
}

/* ---- the command ---- */

static int finish(struct dedup *d)
{
    bool broken = interrupted();
    warn(d);
    if (opt.stats || opt.json)
        report(d);
    keys_close(&d->keys);
    free(d->pending);
    blm_free(d->recent);
    if (!opt.state) {
        blm_free(d->filter);
    } else if (d->open && !ref_commit(&d->ref)) {
        return EXIT_TROUBLE;
    }
    if (broken) {
        char lines[NUMBER_TEXT];
        return trouble("interrupted after %s; %s is valid and has every line that was written: "
                       "run the command again",
                       plural_text(d->keys.lines, "line", lines), ref_name(opt.state));
    }
    return d->failed || d->keys.failed ? EXIT_TROUBLE : EXIT_YES;
}

static int run(int count, char **operands)
{
    static struct dedup d;
    d.keys.recycle = recycle;
    d.keys.ctx     = &d;
    d.keys.threads = keys_threads();
    d.keys.hashing = !opt.state;
    d.keys.prepare = opt.state ? NULL : hash;
    d.start        = now();
    if (opt.window && !window_parse(opt.window, &opt.last, &opt.ms))
        return misuse("--window %s: give a number of lines, like 1e6, or a time, like 10m",
                      opt.window);
    if (opt.last && opt.items)
        return misuse("--window %s says how many lines: remove -n", opt.window);
    bool old = opt.state && !ref_is_stream(opt.state) && ref_exists(opt.state);
    if (opt.ms && !opt.items && !opt.memory && !old)
        return misuse("--window %s needs the number of lines that come in that time: give -n too",
                      opt.window);
    if (opt.state && ref_is_stream(opt.state))
        return misuse("--state %s is not possible, because the state is read and written: give a "
                      "file",
                      opt.state);
    if (from_given() && (!opt.state || !ref_exists(opt.state)))
        return misuse(
            "--from and the options next to it say what an existing --state is, and there "
            "is none: remove them");
    if (!ref_wait_fits(opt.state) || (opt.state && ref_is_input(opt.state, operands, count)))
        return EXIT_TROUBLE;
    if (opt.state)
        interrupt_catch();
    keys_open(&d.keys, operands, count);
    if (!(old || possible(&d)) || (opt.state && !open_filter(&d, NULL))) {
        keys_close(&d.keys);
        return EXIT_TROUBLE;
    }
    progress_start("lines", d.keys.total);
    all_lines(&d);
    progress_stop();
    return finish(&d);
}

static const char *const usage[] = { "[INPUT...] [-n N] [-p P] [--memory SIZE] [--state FILTER] "
                                     "[--window N|TIME] [-D] [--stats]",
                                     NULL };
static const char *const about[] = {
    "Prints each line the first time it is seen, in order and at once, using a few bytes of "
    "memory per line whatever its length. At rate P a new line is mistaken for one seen before "
    "and dropped. The default is one in a million.",
    "Output is written before every wait for input, so dedup can be used in a live pipe. With -n "
    "the filter has the right size from the start, which is fastest and smallest. Without it the "
    "filter grows and still keeps the rate.",
    "--state FILE remembers the lines across runs. It is safe against crashes: a line counts as "
    "seen only after it has been written to standard output. If the process is killed, the reader "
    "goes away or the disk is full, the next run may print some lines again, but none is lost. "
    "Two runs cannot use the same file at the same time.",
    "A state on Redis (redis://host/KEY) can be shared by any number of runs. Each run checks up "
    "to 4096 lines on the server, prints those not seen, and then adds them. Once a run has added "
    "a line, no other run prints it. Runs that get the same line at the same moment, before any "
    "of them has added it, all print it: no line is lost, but a line can appear twice. If a line "
    "must be processed at most once, and may be lost with the process that took it, let the "
    "program that processes it send BF.ADD itself: at most one sender gets the answer 1.",
    "--window forgets: a line is dropped if it came among the last N lines, or in the last TIME, "
    "and "
    "is printed again later. A line that keeps coming stays known. It is forgotten after at most a "
    "seventh more than the window and six lines (or milliseconds): a window of one line may know "
    "the last seven. With --state the window goes on in the next run, and time that "
    "passes between the runs counts.",
    "--stats reports how many lines were probably dropped wrongly. A new line that arrives after "
    "N different ones is dropped with probability r(N), the modelled rate of the filter at that "
    "moment. The figure is the sum of r(N) over the lines of this run. While the filter is not "
    "full, it is far less than P times the number of lines. The true number varies around it like "
    "a Poisson variable: if 0.9 is expected, 0 to 3 is usual. A filter that drops more than half "
    "of the new lines may not show how many came. The figure is then a lower bound, and --stats "
    "says at least.",
    "--json writes one object to standard error, with lines, unique, duplicates, bytes (read), "
    "seconds, lines_per_second, filter_bytes, memory_bytes (the most the process used), rate_now, "
    "expected_wrongly_dropped and expected_at_least (true: the figure before is a lower bound).",
    NULL,
};
static const struct example examples[] = {
    { "bloomery dedup crawl.log > unique.log", "Keep the first copy of every line" },
    { "zcat *.gz | bloomery dedup -n 1e9 --stats > unique.txt",
      "Deduplicate a billion lines in 4 GB of memory, with a report at the end" },
    { "crawl | bloomery dedup --state seen.blm | fetch",
      "Fetch only URLs that no earlier run has fetched" },
    { "crawl | bloomery dedup --state redis://crawl.example/seen | fetch",
      "The same for many crawlers that share one filter" },
    { "bloomery dedup -f 3 -d , -D orders.csv", "Show the orders whose third field was seen "
                                                "before" },
    { NULL, NULL },
};

const struct command cmd_dedup = {
    .name     = "dedup",
    .summary  = "print each line the first time it is seen",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "input",
    .least    = 0,
    .most     = -1,
    .run      = run,
};
