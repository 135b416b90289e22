/* SPDX-License-Identifier: MIT */
/* verify: does a filter keep its promises? Checks its checksums, its members and its rate, and
 * suggests a size for the keys it has. */
#include <math.h>
#include <string.h>

#include "bloomery/maths.h"
#include "command.h"
#include "from.h"
#include "interrupt.h"
#include "keys.h"
#include "numbers.h"
#include "out.h"
#include "parquet.h"
#include "progress.h"
#include "ref.h"
#include "report.h"
#include "say.h"
#include "spread.h"
#include "verify.h"
#include "window.h"

#define LEAST_TRIALS 1000000u
#define MOST_TRIALS  20000000u /* if --trials is not given: a second or two */
#define EXPECTED     100       /* wrong answers to aim for, if --trials is not given */
#define SEED         1 /* of the random keys, so that the same filter gives the same report */

static struct {
    const char *members, *absent;
    uint64_t    trials;
    double      rate;
    bool        json;
} opt;

static const struct option rows[] = {
    { "members", 0, OPT_KEYS, "F", &opt.members,
      "Keys that were added. The filter must not answer no for any of them (- is standard input).",
      NULL },
    { "absent", 0, OPT_KEYS, "F", &opt.absent,
      "Measure the rate on these keys, which were not added, instead of on random keys.", NULL },
    { "trials", 0, OPT_COUNT, "N", &opt.trials,
      "How many random keys to check. Default: enough for about a hundred wrong answers, from one "
      "to twenty million.",
      NULL },
    { "rate", 'p', OPT_RATE, "P", &opt.rate,
      "Judge the filter by this rate instead of the promised rate in its file.", NULL },
    { "json", 0, OPT_FLAG, NULL, &opt.json, "Print JSON instead of text.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "What to check", rows };
static const struct option_group *const groups[] = { &own, &keys_group, &from_group, NULL };

static struct json report = JSON_INIT;
struct json       *verify_json;

void verify_row(const char *label) { out_print("%-11s", label); }

/* ---- checksums ---- */

static void json_sums(const char *verdict, const blm_verdict *v)
{
    json_open(verify_json, "checksums", '{');
    json_text(verify_json, "verdict", verdict);
    json_count(verify_json, "regions", v->regions);
    json_count(verify_json, "good", v->good);
    json_count(verify_json, "unverified", v->unverified);
    json_count(verify_json, "damaged", v->damaged);
    json_known(verify_json, "damaged_offset", v->damaged_offset, v->damaged > 0);
    json_known(verify_json, "damaged_bytes", v->damaged_bytes, v->damaged > 0);
    json_close(verify_json, '}');
}

static enum verdict check_sums(const struct ref *r, const blm_params *p)
{
    blm_verdict v   = { .size = sizeof v };
    blm_error   err = { .offset = BLM_NO_OFFSET };
    char        good[NUMBER_TEXT], bad[NUMBER_TEXT], at[NUMBER_TEXT], size[NUMBER_TEXT];
    bool        native = strcmp(p->format, "native") == 0;
    if (p->backing != BLM_FILE_READ && verify_json) {
        json_sums(native ? "good" : "none", &v);
        return GOOD;
    }
    if (p->backing != BLM_FILE_READ) {
        verify_row("checksums");
        out_print(native ? "good: all were checked when the filter was "
                           "read\n"
                         : "none: format %s has no checksums that "
                           "bloomery can check\n",
                  p->format);
        return GOOD;
    }
    blm_status st = blm_verify(r->filter, &v, &err);
    progress_hide();
    if (st != BLM_OK && st != BLM_E_CHECKSUM) {
        filter_trouble(r->name, &err);
        return STOPPED;
    }
    if (verify_json) {
        json_sums(st == BLM_OK ? "good" : "damaged", &v);
        return st == BLM_OK ? GOOD : BAD;
    }
    verify_row("checksums");
    if (st == BLM_E_CHECKSUM) {
        out_print("DAMAGED: %s of %s regions; the first is %s long, at byte %s\n",
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
    uint64_t first_absent; /* its line, if maybe < keys */
};

static bool ask(struct ref *r, const char *file, struct asked *a)
{
    char          *inputs[] = { (char *)(uintptr_t)file };
    struct keys    k        = { .strict = true };
    struct batch   b;
    static uint8_t maybe[KEYS_BATCH];
    bool           answered = true;
    if (!keys_open(&k, inputs, 1))
        return false;
    progress_start("keys", k.total);
    while (keys_next(&k, &b)) {
        size_t hits = 0;
        if (!(answered = ref_check(r, b.keys, b.count, maybe, &hits)))
            break;
        if (hits < b.count && a->maybe == a->keys)
            a->first_absent =
                a->keys + 1 + (uint64_t)((const uint8_t *)memchr(maybe, 0, b.count) - maybe);
        a->keys += b.count;
        a->maybe += hits;
        progress_tick(a->keys, k.bytes);
    }
    progress_stop();
    bool good = answered && !k.failed;
    keys_close(&k);
    if (good && a->keys == 0) {
        trouble("%s: the file has no keys: give one that has", file);
        return false;
    }
    return good;
}

static enum verdict check_members(struct ref *r)
{
    struct asked a = { 0 };
    blm_params   p = { .size = sizeof p };
    char         keys[NUMBER_TEXT], denied[NUMBER_TEXT], line[NUMBER_TEXT];
    if (!opt.members && verify_json)
        json_text(verify_json, "members", NULL);
    if (!opt.members)
        return GOOD;
    if (!ask(r, opt.members, &a))
        return STOPPED;
    if (verify_json) {
        json_open(verify_json, "members", '{');
        json_count(verify_json, "keys", a.keys);
        json_count(verify_json, "found", a.maybe);
        json_known(verify_json, "first_missing_line", a.first_absent, a.maybe < a.keys);
        json_close(verify_json, '}');
        return a.maybe == a.keys ? GOOD : BAD;
    }
    verify_row("members");
    if (a.maybe == a.keys) {
        out_print("good: %s, all of them found\n", plural_text(a.keys, "key", keys));
        return GOOD;
    }
    bool forgets = r->filter && ref_params(r, &p) && p.can & BLM_CAN_FORGET;
    out_print("FALSE NEGATIVES: the answer is no for %s of %s keys, first in line %s: they were "
              "%snever added, or were added with another -e, -f or --funnel, or the filter is "
              "damaged\n",
              count_text(a.keys - a.maybe, denied), count_text(a.keys, keys),
              count_text(a.first_absent, line),
              forgets ? "forgotten (a window has only what came lately), or were " : "");
    return BAD;
}

/* ---- the rate ---- */

/* The rate by which the filter is judged; 0: none. */
static double held_to(const blm_params *p) { return opt.rate > 0 ? opt.rate : p->rate; }

static uint64_t choose_trials(const blm_stats *s)
{
    double rate = held_to(&s->params) > 0 ? held_to(&s->params) : s->rate_now;
    double want = rate > 0 ? EXPECTED / rate : 0;
    if (opt.trials)
        return opt.trials;
    return want < LEAST_TRIALS ? LEAST_TRIALS : want > MOST_TRIALS ? MOST_TRIALS : (uint64_t)want;
}

static bool measure(struct ref *r, const blm_stats *s, blm_trial *t)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    if (opt.absent) {
        struct asked a = { 0 };
        if (!ask(r, opt.absent, &a))
            return false;
        t->trials = a.keys;
        t->hits   = a.maybe;
        t->rate   = (double)a.maybe / (double)a.keys;
        blm_binomial_interval(a.maybe, a.keys, 0.95, &t->low, &t->high);
        return true;
    }
    if (r->remote)
        return spread_try(r, choose_trials(s), t);
    blm_status st = blm_try_rate(r->filter, NULL, choose_trials(s), SEED, t, &err);
    progress_hide();
    if (st != BLM_OK)
        filter_trouble(r->name, &err);
    return st == BLM_OK;
}

/* Does the scheme promise what its filters do not keep, even of as many keys as were planned? */
static bool by_scheme(const struct ref *r, const blm_stats *s)
{
    return !(opt.rate > 0) && !r->remote && broken_rate(r->filter, &s->params) > 0;
}

/* A promise is of filters with so many keys: half of them are a little above it, and a million trials see
 * that. It is not broken by a filter whose bits are as chance makes them, and that answers by its bits. */
static bool by_chance(const struct ref *r, const blm_stats *s, const blm_trial *t)
{
    double low, high;
    return !s->overfilled && !by_scheme(r, s) &&
           blm_binomial_interval(t->hits, t->trials, SURE, &low, &high) == BLM_OK &&
           low <= s->rate_now && (r->remote || !verify_polluted(r, s));
}

/* --rate goes before the file's promised rate. If there is neither, nothing can be broken: the rate
 * that m and k give with half of the bits set is not a promise. */
static enum verdict judge(const struct ref *r, const blm_stats *s, const blm_trial *t)
{
    const blm_params *p    = &s->params;
    double            held = held_to(p);
    char              rate[NUMBER_TEXT];
    bool              within = !(held > 0) || t->low <= held;
    bool              good   = within || (!(opt.rate > 0) && by_chance(r, s, t));
    bool              ours   = strcmp(p->format, "native") == 0;
    if (verify_json) {
        json_open(verify_json, "promise", '{');
        json_maybe(verify_json, "rate", held, held > 0);
        json_bool(verify_json, "asked", opt.rate > 0);
        json_bool(verify_json, "holds", good);
        json_close(verify_json, '}');
        return good ? GOOD : BAD;
    }
    verify_row(opt.rate > 0 ? "asked" : "promise");
    if (!(held > 0))
        out_print("none: %s%s gives no rate; m, k and the fill predict %s (give --rate P to judge "
                  "it)\n",
                  ours ? "the file" : "format ", ours ? "" : p->format,
                  rate_text(s->rate_now, rate));
    else if (good)
        out_print("holds: %s%s\n", rate_text(held, rate),
                  within ? "" : "; that this filter is above it is chance");
    else
        out_print("BROKEN: %s was %s%s%s\n", rate_text(held, rate),
                  opt.rate > 0 ? "asked for" : "promised",
                  by_scheme(r, s) ? ", which such filters do not keep in scheme " : "",
                  by_scheme(r, s) ? p->scheme : "");
    return good ? GOOD : BAD;
}

static enum verdict check_rate(struct ref *r, const blm_stats *s)
{
    blm_trial t = { .size = sizeof t };
    char      rate[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT], keys[NUMBER_TEXT];
    char      hits[NUMBER_TEXT];
    if (!measure(r, s, &t))
        return STOPPED;
    if (verify_json) {
        json_open(verify_json, "rate", '{');
        json_text(verify_json, "keys", opt.absent ? "absent" : "random");
        json_count(verify_json, "trials", t.trials);
        json_count(verify_json, "maybe", t.hits);
        json_real(verify_json, "measured", t.rate);
        json_real(verify_json, "low", t.low);
        json_real(verify_json, "high", t.high);
        json_close(verify_json, '}');
        return judge(r, s, &t);
    }
    verify_row("rate");
    out_print("%s measured (%s to %s, 95%%): %s of %s %s keys answered \"maybe\"\n",
              rate_text(t.rate, rate), rate_text(t.low, low), rate_text(t.high, high),
              count_text(t.hits, hits), count_text(t.trials, keys),
              opt.absent ? "absent" : "random");
    return judge(r, s, &t);
}

/* ---- the command ---- */

/* A filter for the keys that are in this one. False: the bits do not say which. */
static bool advice(const struct ref *r, const blm_stats *s, blm_options *o, blm_plan *plan)
{
    const blm_params *p = &s->params;
    char              burst[4 * NUMBER_TEXT];
    if (s->estimated.saturated) /* any number of keys does that */
        return false;
    /* The bits do not say how fast keys come, and those of shards not how they lie in their ages. */
    if (p->can & BLM_CAN_FORGET && (r->remote || window_burst(r->filter, burst)))
        return false;
    /* The number of counted adds is no better than the bits: a merge counts common keys twice. */
    double n = s->estimated.value;
    o->kind  = blm_kind_find(p->kind)->can & BLM_CAN_GROW ? BLM_BLOCKED : p->kind;
    o->items = n >= 1 ? (uint64_t)llround(n) : 1;
    o->rate  = held_to(p) > 0 ? held_to(p) : 0.01;
    if (!r->remote && window_plan(r->filter, o) && o->items == 0)
        return false; /* everything is forgotten */
    return blm_plan_for(o, plan, NULL) == BLM_OK;
}

static void advise_json(bool known, const blm_options *o, const blm_plan *plan)
{
    if (!known) {
        json_text(verify_json, "advice", NULL);
        return;
    }
    json_open(verify_json, "advice", '{');
    json_text(verify_json, "kind", blm_kind_name(o->kind));
    json_count(verify_json, "items", o->items);
    json_real(verify_json, "rate", o->rate);
    json_count(verify_json, "bits", plan->bits);
    json_count(verify_json, "probes", plan->probes);
    json_count(verify_json, "bytes", plan->bytes);
    json_close(verify_json, '}');
}

static void advise(const struct ref *r, const blm_stats *s)
{
    blm_options o    = BLM_OPTIONS_INIT;
    blm_plan    plan = { .size = sizeof plan };
    char        keys[NUMBER_TEXT], rate[NUMBER_TEXT], bits[NUMBER_TEXT], size[NUMBER_TEXT];
    bool        known = advice(r, s, &o, &plan);
    if (verify_json) {
        advise_json(known, &o, &plan);
        return;
    }
    if (!known && !s->estimated.saturated)
        return;
    verify_row("advice");
    if (!known)
        out_print("%s, so the bits do not say how many keys it has: count those it is for\n",
                  s->params.probes ? "every bit is set" : "it asks for no bit");
    else
        out_print("for %s at %s: m = %s, k = %u (%s, %s)\n", plural_text(o.items, "key", keys),
                  rate_text(o.rate, rate), count_text(plan.bits, bits), (unsigned)plan.probes,
                  blm_kind_name(o.kind), size_text(plan.bytes, size));
}

static enum verdict worse(enum verdict a, enum verdict b) { return a > b ? a : b; }

/* Everything about one filter but its members. */
static enum verdict verify_filter(struct ref *r, enum verdict worst)
{
    blm_stats s = { .size = sizeof s };
    if (!r->remote)
        blm_get_stats(r->filter, &s);
    else if (!spread_stats(r, &s))
        return STOPPED;
    if (worst != STOPPED)
        worst = worse(worst, check_rate(r, &s));
    if (worst != STOPPED && !r->remote)
        worst = worse(worst, verify_fill(r, &s, opt.rate > 0));
    if (worst != STOPPED && !interrupted())
        advise(r, &s);
    return worst;
}

static enum verdict verify(struct ref *r)
{
    blm_params   p     = { .size = sizeof p };
    enum verdict worst = GOOD;
    if (!r->remote) { /* shards are checked when they are fetched */
        blm_get_params(r->filter, &p);
        worst = check_sums(r, &p);
    }
    if (worst != STOPPED)
        worst = worse(worst, check_members(r));
    return verify_filter(r, worst);
}

/* A column of a .parquet file: a member may be in any row group, and each filter has its rate. */
static enum verdict verify_groups(struct ref *all, const blm_options *o)
{
    enum verdict worst = check_members(all);
    if (parquet_groups(all) == 0)
        say("%s: it has no row groups, and so no filters to verify", all->name);
    if (verify_json)
        json_open(verify_json, "row_groups", '[');
    for (uint32_t i = 0; i < parquet_groups(all) && worst != STOPPED; i++) {
        struct ref one;
        if (!parquet_has_filter(all, i))
            continue;
        if (!parquet_open_group(&one, all, i, o)) {
            worst = STOPPED;
            break;
        }
        if (verify_json) {
            json_open(verify_json, NULL, '{');
            json_count(verify_json, "row_group", parquet_group(all, i));
        } else {
            out_print("row group %lu\n", (unsigned long)parquet_group(all, i));
        }
        worst = verify_filter(&one, worst);
        if (verify_json)
            json_close(verify_json, '}');
        ref_drop(&one);
    }
    if (verify_json)
        json_close(verify_json, ']');
    return worst;
}

static int run(int count, char **operands)
{
    (void)count;
    struct ref  r;
    blm_options o      = BLM_OPTIONS_INIT;
    int         dashes = ref_is_stdin(operands[0]) + (opt.members && ref_is_stdin(opt.members)) +
                 (opt.absent && ref_is_stdin(opt.absent));
    if (dashes > 1)
        return misuse("only one of the filter and the keys can come from standard input: give the "
                      "others as files");
    if (opt.absent && opt.trials)
        return misuse("--trials is for random keys, and --absent checks every key in its file: "
                      "give one of them");
    if (!from_options(operands[0], &o))
        return EXIT_TROUBLE;
    bool all = parquet_all();
    if (all && opt.absent && ref_is_stdin(opt.absent))
        return misuse("the keys of --absent are read for each row group: give them as a file");
    if (!(all || spread_is(operands[0]) ? ref_open_keys : ref_open)(&r, operands[0], &o))
        return EXIT_TROUBLE;
    if (opt.json) {
        verify_json = &report;
        json_open(verify_json, NULL, '{');
        json_text(verify_json, "filter", r.name);
    }
    enum verdict worst = all ? verify_groups(&r, &o) : verify(&r);
    bool         whole = worst != STOPPED && !interrupted();
    if (verify_json && whole) {
        json_bool(verify_json, "good", worst == GOOD);
        json_close(verify_json, '}');
        out_bytes(report.text, report.len);
    }
    json_free(&report);
    ref_drop(&r);
    return !whole ? EXIT_TROUBLE : worst == GOOD ? EXIT_YES : EXIT_NO;
}

static const char *const usage[] = {
    "FILTER [--members F] [--absent F] [--trials N] [-p P]",
    "FILTER --from F [--from-scheme S] [--offset BYTE]",
    "FILE.parquet --column NAME [--row-group N] [--members F] [--rate P]",
    NULL,
};
static const char *const about[] = {
    "Verifies every checksum. Checks keys that were added (--members): the answer must not be no "
    "for any of them. Checks keys that were not added (random keys, or those in --absent) and "
    "says whether the promised rate holds. Suggests the right size for the keys the filter has.",
    "A native file has a checksum for each of its parts. merge, intersect, convert and diff "
    "compare them too and take no damaged file. check, info and add do not: they answer by the "
    "bits there are. A part of the file that keys are added to gets a new checksum, so damage in "
    "it that nobody looked for is not found later: verify before you add to a file you doubt.",
    "The measured rate comes with its 95% interval (Clopper-Pearson). The promise is of all "
    "filters with so many keys, half of which are a little above it. So it is broken if the "
    "whole interval lies above it, and the filter is over-filled or polluted, or answers "
    "otherwise than by its bits. A filter is over-filled if it holds more keys than it was "
    "planned for and its rate is above the promise by more than chance, or if every bit is "
    "set. It is polluted if more bits are set than its number of keys explains, or if one "
    "part is much fuller than the others. The chance that one of these verdicts is wrong is "
    "one in a million. A rate that you give (--rate) is asked of this very filter: it is "
    "broken if the whole interval lies above it. A file that has a writer now, or whose "
    "writer was killed once, is not judged by its number of keys: those of its last batch "
    "may be there in part and not counted.",
    "Files of format native, dcso and redisbloom hold a promised rate; create says which, even if "
    "it follows from -m and -k. Files of format guava, go, spark, parquet, bip37, byteslot and "
    "raw hold none, nor do native files converted from them, because the filter may have been "
    "planned for any number of keys. verify then shows the measured rate next to the one that m, "
    "k and the fill predict, and judges it only if you give --rate P. --rate also goes before a "
    "promised rate. The number of planned keys is then shown but not judged.",
    "The format is detected from the bytes. If they fit several formats, or are only bits (raw), "
    "say what they are with --from and the options next to it.",
    "With --column, each filter of a column of a .parquet file is judged, or that of --row-group. "
    "A member must be found in one of them.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery verify seen.blm --members urls.txt", "Check that no URL is missing" },
    { "bloomery verify seen.blm --absent queries.txt", "Measure the rate on your own traffic" },
    { "bloomery verify f.guava --rate 0.03",
      "Judge a filter by a rate that its file does not give" },
    { NULL, NULL },
};

const struct command cmd_verify = {
    .name     = "verify",
    .summary  = "check that a filter keeps its promises",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .status   = "0 all is well; 1 the filter is damaged, over-filled or polluted, a member is "
                "missing, or the rate is broken; 2 trouble.",
    .operand  = "filter",
    .least    = 1,
    .most     = 1,
    .run      = run,
};
