/* SPDX-License-Identifier: MIT */
/* The guard's figures, as a struct and as JSON. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bloomery/maths.h"
#include "guard/guard.h"

uint64_t blm__guard_counted(blm_guard *g, enum blm__count what)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < BLM__EPOCH_STRIPES; i++)
        n += atomic_load_explicit(&g->counts[i].n[what], memory_order_relaxed);
    return n;
}

static uint64_t since(uint64_t now, _Atomic uint64_t *then)
{
    uint64_t base = atomic_load(then);
    return now > base ? now - base : 0;
}

/* More absent keys pass than the promise and chance explain, though the filter is not overfull, and
 * also if every stale key is taken off, each of which passes once and is then remembered. */
static bool polluted(const blm_guard *g, const struct blm__figures *f)
{
    double low, high;
    if (f->passed < BLM__FEW + f->stale || f->items > f->params.capacity)
        return false;
    blm_binomial_interval(f->passed - f->stale, f->asked - f->stale, 0.95, &low, &high);
    return low > g->rate_factor * f->params.rate;
}

void blm__guard_figures(blm_guard *g, struct blm__figures *out)
{
    memset(out, 0, sizeof *out);
    out->params.size                   = sizeof out->params;
    struct blm__section            s   = blm__epoch_look(&g->readers);
    const struct blm__guard_state *now = atomic_load(&g->state);
    if (now->cur) {
        blm_get_params(now->cur, &out->params);
        out->items = out->params.items + atomic_load(&g->uncounted);
        snprintf(out->hash, sizeof out->hash, "%s", out->params.hash); /* while the filter lives */
    }
    blm__epoch_leave(&s, BLM__LEFT_OTHER);
    out->generation = atomic_load(&g->generation);
    out->passed     = since(blm__guard_counted(g, BLM__N_FALSE), &g->base_false);
    out->asked =
        out->passed + since(blm__epoch_count(&g->readers, BLM__LEFT_REFUSED), &g->base_refused);
    out->rate = out->asked ? (double)out->passed / (double)out->asked : 0;
    blm_binomial_interval(out->passed, out->asked, 0.95, &out->low, &out->high);
    uint64_t stale = atomic_load(&g->trust.live->stale);
    out->stale = stale < (uint64_t)1 << 63 ? stale : 0; /* a removal counted before its delete */
    if (out->items)
        out->stale_share = (double)out->stale / (double)out->items;
    if (out->stale_share > 1)
        out->stale_share = 1;
    out->polluted = polluted(g, out);
}

static void lookups(blm_guard *g, blm_guard_stats *s)
{
    uint64_t learnt = blm__guard_counted(g, BLM__N_REMEMBERED);
    uint64_t asked  = blm__guard_counted(g, BLM__N_ASKED_REMEMBERED);
    uint64_t maybe  = blm__epoch_count(&g->readers, BLM__LEFT_PASSED);
    s->refused      = blm__epoch_count(&g->readers, BLM__LEFT_REFUSED) +
                 blm__guard_counted(g, BLM__N_ASKED_REFUSED);
    s->remembered = learnt + asked;
    s->passed  = (maybe > learnt ? maybe - learnt : 0) + blm__guard_counted(g, BLM__N_ASKED_PASSED);
    s->lookups = s->refused + s->remembered + s->passed;
    s->reads_saved     = s->refused + s->remembered;
    s->found           = blm__guard_counted(g, BLM__N_FOUND);
    s->false_positives = blm__guard_counted(g, BLM__N_FALSE);
    s->errors          = blm__guard_counted(g, BLM__N_ERRORS);
    s->puts            = blm__guard_counted(g, BLM__N_PUTS);
    s->deletes         = blm__guard_counted(g, BLM__N_DELETES);
    s->updates         = blm__guard_counted(g, BLM__N_UPDATES);
}

blm_status blm_guard_get_stats(blm_guard *g, blm_guard_stats *out)
{
    blm_guard_stats     s = { .size = sizeof s };
    struct blm__figures now;
    if (!out || out->size < sizeof(size_t))
        return BLM_E_ARGUMENT;
    if (blm__guard_mine(g, NULL) != BLM_OK)
        return BLM_E_BUSY;
    lookups(g, &s);
    blm__guard_figures(g, &now);
    s.generation = now.generation;
    s.rebuilding = atomic_load(&g->building); /* before trust, which one that has ended has given */
    s.trusted    = atomic_load(&g->trusted);
    s.advisory   = (g->flags & BLM_GUARD_ADVISORY) != 0;
    s.kind       = g->filter.kind;
    s.capacity   = now.params.capacity;
    s.items      = now.items;
    s.bytes      = now.params.bytes;
    s.promised   = now.params.rate > 0 ? now.params.rate : g->filter.rate;
    s.polluted   = now.polluted;
    memcpy(s.hash, now.hash, sizeof s.hash);
    s.held          = atomic_load(&g->held);
    s.absent_asked  = now.asked;
    s.absent_passed = now.passed;
    s.rate          = now.rate;
    s.rate_low      = now.low;
    s.rate_high     = now.high;
    s.stale         = now.stale;
    s.stale_share   = now.stale_share;
    s.table_keys    = atomic_load(&g->table.count);
    pthread_mutex_lock(&g->lock);
    s.rebuilds         = g->rebuilds;
    s.rebuild_failures = g->failures;
    s.cause            = g->cause;
    s.rebuild_seconds  = g->rebuild_seconds;
    s.rebuild_keys     = g->rebuild_keys;
    pthread_mutex_unlock(&g->lock);
    size_t size = out->size; /* shorter if the caller has an older header */
    memcpy(out, &s, size < sizeof s ? size : sizeof s);
    out->size = size;
    return BLM_OK;
}

/* ---- JSON -------------------------------------------------------------------------------- */

struct text {
    char   at[2048]; /* some forty numbers and their names: 1 200 at the longest */
    size_t len;
};

BLM__PRINTF(2, 3) static void say(struct text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->at + t->len, sizeof t->at - t->len, fmt, args);
    va_end(args);
    if (n > 0 && (size_t)n < sizeof t->at - t->len)
        t->len += (size_t)n;
}

/* With a point for the decimals, whatever the locale says. */
static void number(struct text *t, const char *name, double v)
{
    size_t from = t->len;
    say(t, ",\"%s\":%.9g", name, v);
    for (size_t i = from + strlen(name) + 4; i < t->len; i++)
        if (!strchr("0123456789+-e", t->at[i]))
            t->at[i] = '.';
}

static void count(struct text *t, const char *name, uint64_t v)
{
    say(t, ",\"%s\":%" PRIu64, name, v);
}

static void yes_no(struct text *t, const char *name, bool v)
{
    say(t, ",\"%s\":%s", name, v ? "true" : "false");
}

static void put_filter(struct text *t, const blm_guard_stats *s)
{
    count(t, "generation", s->generation);
    yes_no(t, "trusted", s->trusted);
    yes_no(t, "advisory", s->advisory);
    yes_no(t, "rebuilding", s->rebuilding);
    say(t, ",\"kind\":\"%s\"", blm_kind_name(s->kind));
    count(t, "capacity", s->capacity);
    count(t, "items", s->items);
    count(t, "bytes", s->bytes);
    number(t, "promised", s->promised);
    say(t, ",\"hash\":\"%s\"", s->hash);
    count(t, "absent_asked", s->absent_asked);
    count(t, "absent_passed", s->absent_passed);
    number(t, "rate", s->rate);
    number(t, "rate_low", s->rate_low);
    number(t, "rate_high", s->rate_high);
    count(t, "stale", s->stale);
    number(t, "stale_share", s->stale_share);
    count(t, "table_keys", s->table_keys);
    yes_no(t, "polluted", s->polluted);
}

static void put_rebuilds(struct text *t, const blm_guard_stats *s)
{
    static const char *const cause[] = { "none", "first",   "asked", "stale",
                                         "rate", "options", "full" };
    count(t, "rebuilds", s->rebuilds);
    count(t, "rebuild_failures", s->rebuild_failures);
    count(t, "held", s->held);
    say(t, ",\"cause\":\"%s\"", cause[s->cause]);
    number(t, "rebuild_seconds", s->rebuild_seconds);
    count(t, "rebuild_keys", s->rebuild_keys);
}

blm_status blm_guard_json(blm_guard *g, blm_write_fn write, void *ctx, blm_error *err)
{
    blm_guard_stats s = { .size = sizeof s };
    struct text     t = { .len = 0 };
    if (!write)
        return blm__fail(err, BLM_E_ARGUMENT, "no function to write with");
    blm_status st = blm_guard_get_stats(g, &s);
    if (st != BLM_OK)
        return blm__guard_mine(g, err);
    say(&t, "{\"lookups\":%" PRIu64, s.lookups);
    count(&t, "refused", s.refused);
    count(&t, "remembered", s.remembered);
    count(&t, "passed", s.passed);
    count(&t, "found", s.found);
    count(&t, "false_positives", s.false_positives);
    count(&t, "errors", s.errors);
    count(&t, "reads_saved", s.reads_saved);
    count(&t, "puts", s.puts);
    count(&t, "deletes", s.deletes);
    count(&t, "updates", s.updates);
    put_filter(&t, &s);
    put_rebuilds(&t, &s);
    say(&t, "}\n");
    return write(ctx, t.at, t.len) ? BLM_OK
                                   : blm__fail(err, BLM_E_IO, "writing the figures stopped");
}
