/* SPDX-License-Identifier: MIT */
#include "spread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "interrupt.h"
#include "json.h"
#include "keys.h"
#include "memory.h"
#include "numbers.h"
#include "out.h"
#include "progress.h"
#include "ref.h"
#include "say.h"

bool spread_is(const char *text)
{
    static const char prefix[] = "redis+cluster://";
    return strncmp(text, prefix, sizeof prefix - 1) == 0;
}

/* Random keys: 16 bytes that nobody adds. */
bool spread_try(struct ref *r, uint64_t trials, blm_trial *t)
{
    static char    bytes[KEYS_BATCH][32];
    static blm_key keys[KEYS_BATCH];
    static uint8_t maybe[KEYS_BATCH];
    progress_start("keys", 0);
    for (*t = (blm_trial){ .size = sizeof *t }; t->trials < trials && !interrupted();) {
        size_t n = trials - t->trials < KEYS_BATCH ? (size_t)(trials - t->trials) : KEYS_BATCH;
        size_t hits;
        for (size_t i = 0; i < n; i++) {
            int len = snprintf(bytes[i], sizeof bytes[i], "\x01verify\x02%llx",
                               (unsigned long long)(t->trials + i) * 0x9e3779b97f4a7c15u);
            keys[i] = (blm_key){ bytes[i], (size_t)len };
        }
        if (!ref_check(r, keys, n, maybe, &hits))
            return false;
        t->trials += n;
        t->hits += hits;
        progress_tick(t->trials, 0);
    }
    progress_stop();
    t->rate = t->trials ? (double)t->hits / (double)t->trials : 0;
    blm_binomial_interval(t->hits, t->trials, 0.95, &t->low, &t->high);
    return true;
}

#ifdef BLOOMERY_WITH_HIREDIS
#include <bloomery_remote.h>

/* ---- info ---- */

struct shown {
    const blm_remote *remote;
    struct json      *json;
};

static void each_shard(void *ctx, uint32_t shard, const blm_stats *s)
{
    struct shown *w = ctx;
    size_t        len;
    uint32_t      slot = 0;
    char          keys[NUMBER_TEXT], rate[NUMBER_TEXT];
    const char   *key = blm_remote_shard(w->remote, shard, &len, &slot);
    progress_hide();
    if (!w->json) {
        out_print("  %5u  %5u  %14s  %5.1f%%  %8s  %s\n", (unsigned)shard, (unsigned)slot,
                  count_text(s->params.items, keys), s->fill * 100, rate_text(s->rate_now, rate),
                  shown(key));
        return;
    }
    json_open(w->json, NULL, '{');
    json_text(w->json, "key", key);
    json_count(w->json, "slot", slot);
    json_count(w->json, "items", s->params.items);
    json_real(w->json, "fill", s->fill);
    json_real(w->json, "rate_now", s->rate_now);
    json_close(w->json, '}');
}

static void row(const char *label) { out_print("  %-12s", label); }

static void show_front(const struct ref *r, const blm_params *p)
{
    char size[NUMBER_TEXT], keys[NUMBER_TEXT], rate[NUMBER_TEXT], shards[NUMBER_TEXT];
    out_print("%s\n", shown(r->name));
    row("kind");
    out_print("%s: %s\n", blm_kind_name(p->kind), blm_kind_find(p->kind)->summary);
    row("scheme");
    out_print("%s\n", p->scheme);
    row("size");
    out_print("%s in %s\n", size_text(p->bytes, size), plural_text(r->shards, "shard", shards));
    row("planned for");
    out_print("%s at a rate of %s\n\n", plural_text(p->capacity, "key", keys),
              rate_text(p->rate, rate));
    out_print("  %5s  %5s  %14s  %6s  %8s  %s\n", "shard", "slot", "keys", "fill", "rate", "key");
}

static void show_sum(const blm_stats *s)
{
    char count[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT], added[NUMBER_TEXT];
    char rate[NUMBER_TEXT];
    out_print("\n");
    row("keys");
    out_print("%s added, %s from the bits (%s to %s, 95%%)\n", count_text(s->params.items, added),
              count_text((uint64_t)llround(s->estimated.value), count),
              count_text((uint64_t)llround(fmax(s->estimated.low, 0)), low),
              count_text((uint64_t)llround(s->estimated.high), high));
    row("rate now");
    out_print("%s\n", rate_text(s->rate_now, rate));
}

static void json_sum(struct json *j, const blm_stats *s)
{
    const blm_params *p = &s->params;
    json_text(j, "kind", blm_kind_name(p->kind));
    json_text(j, "scheme", p->scheme);
    json_known(j, "capacity", p->capacity, p->capacity != 0);
    json_maybe(j, "rate_promised", p->rate, p->rate > 0);
    json_count(j, "items", p->items);
    json_count(j, "bits", p->bits);
    json_count(j, "bytes", p->bytes);
    json_open(j, "estimated", '{');
    json_real(j, "value", s->estimated.value);
    json_real(j, "low", s->estimated.low);
    json_real(j, "high", s->estimated.high);
    json_bool(j, "saturated", s->estimated.saturated);
    json_close(j, '}');
    json_count(j, "ones", s->ones);
    json_real(j, "fill", s->fill);
    json_real(j, "rate_now", s->rate_now);
    json_bool(j, "overfilled", s->overfilled);
}

static bool measure(struct ref *r, struct shown *w, blm_stats *s)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    *s            = (blm_stats){ .size = sizeof *s };
    if (blm_remote_measure(r->connection, w ? each_shard : NULL, w, s, &err) == BLM_OK)
        return true;
    filter_trouble(r->name, &err);
    return false;
}

bool spread_stats(struct ref *r, blm_stats *s) { return measure(r, NULL, s); }

static bool info_json(struct ref *r)
{
    struct json  j = JSON_INIT;
    struct shown w = { r->connection, &j };
    blm_stats    s;
    json_open(&j, NULL, '{');
    json_text(&j, "filter", r->name);
    json_open(&j, "shards", '[');
    bool good = measure(r, &w, &s);
    json_close(&j, ']');
    json_sum(&j, &s);
    json_close(&j, '}');
    if (good)
        out_bytes(j.text, j.len);
    json_free(&j);
    return good;
}

static bool info_text(struct ref *r)
{
    struct shown w = { r->connection, NULL };
    blm_params   p;
    blm_stats    s;
    if (!ref_params(r, &p))
        return false;
    show_front(r, &p);
    if (!measure(r, &w, &s))
        return false;
    show_sum(&s);
    return true;
}

bool spread_info(const char *text, bool json)
{
    struct ref r;
    if (!ref_open_keys(&r, text, NULL))
        return false;
    bool good = json ? info_json(&r) : info_text(&r);
    ref_drop(&r);
    return good;
}

/* ---- merge ---- */

int spread_merge(int count, char **operands, bool force)
{
    blm_remote_options o    = BLM_REMOTE_OPTIONS_INIT;
    blm_error          err  = { .offset = BLM_NO_OFFSET };
    struct ref        *r    = memory_need((size_t)count * sizeof *r);
    blm_remote       **from = memory_need((size_t)count * sizeof *from);
    int                open = 0, status = EXIT_YES;
    o.wait = (uint32_t)ref_wait;
    for (int i = 1; i < count && status == EXIT_YES; i++) {
        if (!spread_is(operands[i]))
            status = trouble("%s is one filter, and %s is in shards: merge filters in as many "
                             "shards",
                             ref_name(operands[i]), ref_name(operands[0]));
        else if (!ref_open_keys(&r[open], operands[i], NULL))
            status = EXIT_TROUBLE;
        else
            from[open] = r[open].connection, open++;
    }
    if (status == EXIT_YES) {
        blm_status st = blm_remote_merge(operands[0], from, (size_t)open, force, &o, &err);
        if (st == BLM_E_EXISTS)
            status = trouble("%s: already exists: give another name, or --force to replace it",
                             ref_name(operands[0]));
        else if (st != BLM_OK)
            status = filter_trouble(ref_name(operands[0]), &err);
        else
            say("%s: %d filters merged, shard by shard", ref_name(operands[0]), open);
    }
    while (open > 0)
        ref_drop(&r[--open]);
    free(r);
    free(from);
    return status;
}

#else

static bool missing(const char *text)
{
    struct ref r;
    return ref_open(&r, text, NULL); /* says what is missing */
}

bool spread_info(const char *text, bool json)
{
    (void)json;
    return missing(text);
}

int spread_merge(int count, char **operands, bool force)
{
    (void)count, (void)force;
    return missing(operands[0]) ? EXIT_YES : EXIT_TROUBLE;
}

bool spread_stats(struct ref *r, blm_stats *s)
{
    (void)s;
    return missing(r->text);
}
#endif
