/* SPDX-License-Identifier: MIT */
/* verify: does a filter keep its promises? Its checksums, its members, its rate; and what size it
 * should have for the keys it has. */
#include <math.h>
#include <string.h>

#include "command.h"
#include "from.h"
#include "interrupt.h"
#include "keys.h"
#include "numbers.h"
#include "out.h"
#include "progress.h"
#include "ref.h"
#include "say.h"

#define LEAST_TRIALS 1000000u
#define MOST_TRIALS  20000000u /* when we choose: a second or two */
#define EXPECTED     100       /* wrong answers that we try to see, when we choose */
#define SEED         1         /* of the random keys: the same filter gives the same report */
#define SURE         0.999999  /* before a filter is called polluted */
#define SLICES       64u

static struct {
    const char *members, *absent;
    uint64_t    trials;
} opt;

static const struct option rows[] = {
    { "members", 0, OPT_FILE, "F", &opt.members,
      "Keys that were added: each must be found (- is standard input).", NULL },
    { "absent", 0, OPT_FILE, "F", &opt.absent,
      "Keys that were not added, to measure the rate on, instead of random ones.", NULL },
    { "trials", 0, OPT_COUNT, "N", &opt.trials,
      "How many random keys to ask; as many as it takes to see a hundred wrong answers when not "
      "given, from a million to twenty.",
      NULL },
    OPTION_END,
};
static const struct option_group        own      = { "What to ask", rows };
static const struct option_group *const groups[] = { &own, &keys_group, &from_group, NULL };

enum verdict { GOOD, BAD, STOPPED }; /* STOPPED: trouble, and it has been said */

static void row(const char *label) { out_print("%-11s", label); }

/* ---- checksums ---- */

static enum verdict check_sums(const struct ref *r, const blm_params *p)
{
    blm_verdict v   = { .size = sizeof v };
    blm_error   err = { .offset = BLM_NO_OFFSET };
    char        good[NUMBER_TEXT], bad[NUMBER_TEXT], at[NUMBER_TEXT], size[NUMBER_TEXT];
    if (p->backing != BLM_FILE_READ) {
        row("checksums");
        out_print(strcmp(p->format, "native") == 0 ? "good: all were read with the filter\n"
                                                   : "none: format %s has none of ours\n",
                  p->format);
        return GOOD;
    }
    blm_status st = blm_verify(r->filter, &v, &err);
    progress_hide();
    if (st != BLM_OK && st != BLM_E_CHECKSUM) {
        filter_trouble(r->name, &err);
        return STOPPED;
    }
    row("checksums");
    if (st == BLM_E_CHECKSUM) {
        out_print("DAMAGED: %s of %s regions, the first of %s at byte %s\n",
                  count_text(v.damaged, bad), count_text(v.regions, good),
                  size_text(v.damaged_bytes, size), count_text(v.damaged_offset, at));
        return BAD;
    }
    out_print("good: %s", plural_text(v.good, "region", good));
    if (v.unverified)
        out_print(", %s not yet summed by %s", count_text(v.unverified, bad),
                  v.writer == BLM_WRITER_LIVE ? "the process that is writing"
                                              : "the writer that did not close the file");
    out_print("\n");
    return GOOD;
}

/* ---- keys from files ---- */

struct asked {
    uint64_t keys, maybe;
    uint64_t first_absent; /* its line, when maybe < keys */
};

static bool ask(const struct ref *r, const char *file, struct asked *a)
{
    char          *inputs[] = { (char *)(uintptr_t)file };
    struct keys    k        = { .strict = true };
    struct batch   b;
    static uint8_t maybe[KEYS_BATCH];
    if (!keys_open(&k, inputs, 1))
        return false;
    progress_start("keys", k.total);
    while (keys_next(&k, &b)) {
        size_t hits = blm_check_many(r->filter, b.keys, b.count, maybe);
        if (hits < b.count && a->maybe == a->keys)
            a->first_absent =
                a->keys + 1 + (uint64_t)((const uint8_t *)memchr(maybe, 0, b.count) - maybe);
        a->keys += b.count;
        a->maybe += hits;
        progress_tick(a->keys, k.bytes);
    }
    progress_stop();
    bool good = !k.failed;
    keys_close(&k);
    if (good && a->keys == 0) {
        trouble("%s: has no keys: give a file that has", file);
        return false;
    }
    return good;
}

static enum verdict check_members(const struct ref *r)
{
    struct asked a = { 0 };
    char         keys[NUMBER_TEXT], denied[NUMBER_TEXT], line[NUMBER_TEXT];
    if (!opt.members)
        return GOOD;
    if (!ask(r, opt.members, &a))
        return STOPPED;
    row("members");
    if (a.maybe == a.keys) {
        out_print("good: %s, all of them found\n", plural_text(a.keys, "key", keys));
        return GOOD;
    }
    out_print("FALSE NEGATIVES: %s of %s keys are denied, the first in line %s: they were never "
              "added, or with another -e, -f or --funnel, or the filter is damaged\n",
              count_text(a.keys - a.maybe, denied), count_text(a.keys, keys),
              count_text(a.first_absent, line));
    return BAD;
}

/* ---- the rate ---- */

static uint64_t choose_trials(const blm_params *p)
{
    double want = p->rate > 0 ? EXPECTED / p->rate : 0;
    if (opt.trials)
        return opt.trials;
    return want < LEAST_TRIALS ? LEAST_TRIALS : want > MOST_TRIALS ? MOST_TRIALS : (uint64_t)want;
}

static bool measure(const struct ref *r, const blm_stats *s, blm_trial *t)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    if (opt.absent) {
        struct asked a = { 0 };
        if (!ask(r, opt.absent, &a))
            return false;
        t->trials   = a.keys;
        t->hits     = a.maybe;
        t->rate     = (double)a.maybe / (double)a.keys;
        t->promised = s->params.rate;
        blm_binomial_interval(a.maybe, a.keys, 0.95, &t->low, &t->high);
        t->holds = !(t->promised > 0) || t->low <= t->promised;
        return true;
    }
    blm_status st = blm_try_rate(r->filter, NULL, choose_trials(&s->params), SEED, t, &err);
    progress_hide();
    if (st != BLM_OK)
        filter_trouble(r->name, &err);
    return st == BLM_OK;
}

static enum verdict check_rate(const struct ref *r, const blm_stats *s)
{
    blm_trial t = { .size = sizeof t };
    char      rate[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT], keys[NUMBER_TEXT];
    char      hits[NUMBER_TEXT];
    if (!measure(r, s, &t))
        return STOPPED;
    row("rate");
    out_print("%s measured (%s to %s, 95%%): %s of %s %s keys answered \"maybe\"\n",
              rate_text(t.rate, rate), rate_text(t.low, low), rate_text(t.high, high),
              count_text(t.hits, hits), count_text(t.trials, keys),
              opt.absent ? "absent" : "random");
    row("promise");
    if (!(t.promised > 0))
        out_print("none was made; its bits give %s now\n", rate_text(s->rate_now, rate));
    else if (t.holds)
        out_print("holds: %s\n", rate_text(t.promised, rate));
    else
        out_print("BROKEN: %s was promised\n", rate_text(t.promised, rate));
    return t.holds ? GOOD : BAD;
}

/* ---- over-filled, polluted ---- */

/* Keys that someone chose set more bits than keys that come as they do: all of theirs are new. So
 * do bits that no add set. Either way there are more bits than so many adds leave by chance. */
static bool polluted(const blm_stats *s)
{
    const blm_params *p = &s->params;
    blm_estimate      e;
    bool              derived = strcmp(p->scheme, "native") != 0 || p->kind == BLM_BLOCKED;
    if (p->kind == BLM_SCALABLE || p->items == 0 ||
        blm_fill_interval(p->bits, p->probes, p->items, derived, SURE, &e) != BLM_OK)
        return false;
    return s->fill > e.high;
}

/* A part that is much fuller or emptier than the whole, where a hash cannot have done that. Bits of
 * a slice vary as if there were a k-th of them, because a key's probes go together (blocked). */
static bool uneven(const struct ref *r, const blm_stats *s, unsigned *where, double *fill)
{
    const blm_params *p = &s->params;
    double            map[SLICES], slice = (double)p->bits / SLICES;
    if (strcmp(p->scheme, "native") != 0 || p->kind == BLM_SCALABLE || slice < 1024 ||
        blm_fill_map(r->filter, map, SLICES) != BLM_OK)
        return false;
    double most = 8 * sqrt(s->fill * (1 - s->fill) * p->probes / slice);
    for (unsigned i = 0; i < SLICES; i++)
        if (fabs(map[i] - s->fill) > most) {
            *where = i;
            *fill  = map[i];
            return true;
        }
    return false;
}

static enum verdict check_fill(const struct ref *r, const blm_stats *s)
{
    const blm_params *p = &s->params;
    unsigned          where;
    double            fill;
    char              keys[NUMBER_TEXT], room[NUMBER_TEXT], rate[NUMBER_TEXT];
    if (uneven(r, s, &where, &fill)) {
        row("fill");
        out_print("POLLUTED: part %u of %u is %.3g%% full, the whole %.3g%%: keys do not do that\n",
                  where + 1, SLICES, fill * 100, s->fill * 100);
        return BAD;
    }
    if (polluted(s)) {
        row("fill");
        out_print(
            "POLLUTED: %.3g%% is more than %s keys fill by chance: its keys were chosen to do "
            "harm, or bits were set by something else\n",
            s->fill * 100, count_text(p->items, keys));
        return BAD;
    }
    if (s->estimated.saturated) {
        row("fill");
        out_print("OVER-FILLED: every bit is set, so the answer is always \"maybe\"\n");
        return BAD;
    }
    if (s->overfilled) {
        row("fill");
        out_print("OVER-FILLED: about %s where %s were planned: the rate is %s by now\n",
                  plural_text((uint64_t)llround(s->estimated.value), "key", keys),
                  p->capacity ? count_text(p->capacity, room) : "fewer",
                  rate_text(s->rate_now, rate));
        return BAD;
    }
    row("fill");
    out_print("good: %.3g%%, about %s", s->fill * 100,
              plural_text((uint64_t)llround(s->estimated.value), "key", keys));
    if (p->capacity)
        out_print(" of %s planned", count_text(p->capacity, room));
    out_print("\n");
    return GOOD;
}

/* What to make for the keys that are in it. */
static void advise(const blm_stats *s)
{
    const blm_params *p    = &s->params;
    blm_options       o    = BLM_OPTIONS_INIT;
    blm_plan          plan = { .size = sizeof plan };
    char              keys[NUMBER_TEXT], rate[NUMBER_TEXT], bits[NUMBER_TEXT], size[NUMBER_TEXT];
    /* Adds that were counted are no better than the bits: a merge counts common keys twice. */
    double n =
        s->estimated.saturated ? fmax((double)p->items, s->estimated.value) : s->estimated.value;
    o.kind  = p->kind == BLM_SCALABLE ? BLM_BLOCKED : p->kind;
    o.items = n >= 1 ? (uint64_t)llround(n) : 1;
    o.rate  = p->rate > 0 ? p->rate : 0.01;
    if (blm_plan_for(&o, &plan, NULL) != BLM_OK)
        return;
    row("advice");
    out_print("for %s at %s: m = %s, k = %u (%s, %s)\n", plural_text(o.items, "key", keys),
              rate_text(o.rate, rate), count_text(plan.bits, bits), (unsigned)plan.probes,
              blm_kind_name(o.kind), size_text(plan.bytes, size));
}

/* ---- the command ---- */

static int verify(const struct ref *r)
{
    blm_stats s = { .size = sizeof s };
    blm_get_stats(r->filter, &s);
    enum verdict worst = check_sums(r, &s.params), v;
    if (worst != STOPPED && (v = check_members(r)) > worst)
        worst = v;
    if (worst != STOPPED && (v = check_rate(r, &s)) > worst)
        worst = v;
    if (worst != STOPPED && (v = check_fill(r, &s)) > worst)
        worst = v;
    if (worst == STOPPED || interrupted())
        return EXIT_TROUBLE;
    advise(&s);
    return worst == GOOD ? EXIT_YES : EXIT_NO;
}

static int run(int count, char **operands)
{
    (void)count;
    struct ref  r;
    blm_options o      = BLM_OPTIONS_INIT;
    int         dashes = ref_is_stdin(operands[0]) + (opt.members && ref_is_stdin(opt.members)) +
                 (opt.absent && ref_is_stdin(opt.absent));
    if (dashes > 1)
        return misuse("only one of filter and keys can come from standard input");
    if (opt.absent && opt.trials)
        return misuse("--trials is for random keys: --absent asks every key of its file");
    if (!from_options(operands[0], &o) || !ref_open(&r, operands[0], &o))
        return EXIT_TROUBLE;
    int status = verify(&r);
    ref_drop(&r);
    return status;
}

static const char *const usage[] = {
    "FILTER [--members F] [--absent F] [--trials N]",
    "FILTER --from F [--from-scheme S] [--offset BYTE]",
    NULL,
};
static const char *const about[] = {
    "Reads every checksum, asks the filter for keys that were added (--members: none may be "
    "denied) and for keys that were not (random ones, or those of --absent), says whether the "
    "promised rate holds, and which size would be right for the keys it has.",
    "The measured rate comes with its 95% interval (Clopper-Pearson). The promise is called broken "
    "when the whole interval lies above it. A filter is over-filled when it holds more keys than "
    "it was planned for and its rate is above the promise beyond chance. It is polluted when more "
    "bits are set than its number of keys explains, or one part is much fuller than the others, "
    "with a chance of one in a million to be wrong about it.",
    "The format is found from the bytes. Where they fit several, or are only bits (raw), --from "
    "and the options beside it say what they are.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery verify seen.blm --members urls.txt", "Prove that no URL is denied" },
    { "bloomery verify seen.blm --absent queries.txt", "Measure the rate on your own traffic" },
    { NULL, NULL },
};

const struct command cmd_verify = {
    .name     = "verify",
    .summary  = "prove that a filter keeps its promises",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .status = "0 all is well, 1 damaged, a member is denied, the rate is broken, or over-filled or "
              "polluted, 2 trouble.",
    .operand = "filter",
    .least   = 1,
    .most    = 1,
    .run     = run,
};
