/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <stdio.h>
#include <string.h>

#include "bloomery/fixed.h"
#include "bloomery/maths.h"
#include "bloomery/window.h"
#include "decode.h"

#define AGES 64 /* the most there are */

/* ---- info ---- */

static const char *seed_policy(blm_seed_policy p)
{
    return p == BLM_SEED_RANDOM ? "random" : p == BLM_SEED_FIXED ? "fixed" : "none";
}

static const char *writer(blm_writer w)
{
    return w == BLM_WRITER_LIVE    ? "live"
           : w == BLM_WRITER_DIED  ? "died"
           : w == BLM_WRITER_CRASH ? "crash"
                                   : "none";
}

static void json_estimate(struct json *j, const char *key, const blm_estimate *e)
{
    json_open(j, key, '{');
    json_real(j, "value", e->value);
    json_real(j, "low", e->low);
    json_real(j, "high", e->high);
    json_bool(j, "saturated", e->saturated);
    json_close(j, '}');
}

static void window_json(struct json *j, const blm_filter *f)
{
    blm_window w = { .size = sizeof w };
    blm_age    age[AGES];
    if (blm_get_window(f, &w) != BLM_OK) {
        json_text(j, "window", NULL);
        return;
    }
    size_t ages = blm_get_ages(f, age, AGES);
    json_open(j, "window", '{');
    json_text(j, "by", w.by_time ? "time" : "number");
    json_count(j, "length", w.length);
    json_count(j, "slack", w.slack);
    json_count(j, "turn_length", w.turn_length);
    json_count(j, "share", w.share);
    json_count(j, "busiest", w.busiest);
    json_count(j, "behind", w.behind);
    json_open(j, "ages", '[');
    for (size_t i = 0; i < ages; i++) {
        json_open(j, NULL, '{');
        json_count(j, "adds", age[i].adds);
        json_real(j, "estimated", age[i].estimated.value);
        json_real(j, "fill", age[i].fill);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void fixed_json(struct json *j, const blm_filter *f)
{
    blm_fixed x = { .size = sizeof x };
    if (blm_get_fixed(f, &x) != BLM_OK) {
        json_text(j, "fixed", NULL);
        return;
    }
    json_open(j, "fixed", '{');
    json_count(j, "included", x.included);
    json_count(j, "excluded", x.excluded);
    json_count(j, "passed", x.passed);
    json_count(j, "print_bits", x.print_bits);
    json_real(j, "rate", x.rate);
    json_close(j, '}');
}

static void json_shape(struct json *j, const blm_params *p)
{
    json_text(j, "kind", blm_kind_name(p->kind));
    json_count(j, "bits", p->bits);
    json_count(j, "probes", p->probes);
    json_known(j, "lines", p->lines, p->lines != 0);
    json_count(j, "bytes", p->bytes);
    json_known(j, "capacity", p->capacity, p->capacity != 0);
    json_count(j, "items", p->items);
    json_maybe(j, "rate_promised", p->rate, p->rate > 0);
}

/* A server that draws a seed gives it to its replicas as any other, so there it may be a secret. */
static void json_seed(struct json *j, const blm_params *p, bool on_server)
{
    char text[40];
    json_text(j, "seed_policy", seed_policy(p->seed_policy));
    snprintf(text, sizeof text, "0x%016llx%016llx", (unsigned long long)p->seed[1],
             (unsigned long long)p->seed[0]);
    json_text(j, "seed", p->seed_policy == BLM_SEED_FIXED && !on_server ? text : NULL);
}

#define STRANGERS                                                                              \
    "whoever can choose keys can fill it, and can prepare keys that it answers maybe to; see " \
    "SECURITY.md"

const char *scheme_warning(const char *scheme)
{
    const blm_scheme_row *s = blm_scheme_find(scheme);
    if (!s || s->by_caller || strcmp(s->name, "native") == 0)
        return NULL;
    return s->seeded ? "its seed keeps nobody out: " STRANGERS : "no secret seed: " STRANGERS;
}

double full_rate(const blm_filter *f, const blm_params *p)
{
    double rate = 0;
    /* A window's model is of all its turns full, which is more than it was planned for. */
    bool known = p->capacity && !(p->can & BLM_CAN_FORGET);
    return known && blm_rate_at(f, p->capacity, &rate) == BLM_OK ? rate : 0;
}

double broken_rate(const blm_filter *f, const blm_params *p)
{
    if (!(p->rate > 0) || strcmp(p->scheme, "native") == 0)
        return 0;
    double full = full_rate(f, p);
    return full > RATE_ABOVE * p->rate ? full : 0;
}

void info_json(struct json *j, const char *name, const blm_filter *f, const blm_stats *s,
               bool on_server)
{
    const blm_params     *p      = &s->params;
    const blm_scheme_row *scheme = blm_scheme_find(p->scheme);
    const double          full   = full_rate(f, p);
    json_text(j, "filter", name);
    json_text(j, "format", p->format);
    json_text(j, "scheme", p->scheme);
    json_count(j, "scheme_version", p->scheme_version);
    json_text(j, "hash", p->hash);
    json_text(j, "funnel", funnel_said(p) ? p->funnel : NULL);
    json_count(j, "variant", p->variant);
    json_shape(j, p);
    json_estimate(j, "estimated", &s->estimated);
    json_count(j, "ones", s->ones);
    json_real(j, "fill", s->fill);
    json_real(j, "rate_now", s->rate_now);
    json_maybe(j, "rate_full", full, full > 0);
    json_bool(j, "overfilled", s->overfilled);
    json_known(j, "stuck", s->stuck,
               p->cell_bits > 1 && p->can & BLM_CAN_REMOVE && !(p->can & BLM_CAN_FILL_UP));
    json_seed(j, p, on_server);
    json_text(j, "writer", writer(p->writer));
    json_bool(j, "unclosed", p->unclosed);
    json_bool(j, "mapped", p->backing == BLM_FILE_READ);
    json_text(j, "kernel", p->kernel);
    json_bool(j, "huge_pages", p->huge_pages);
    json_maybe(j, "growth", p->growth, p->can & BLM_CAN_GROW);
    json_maybe(j, "tightening", p->tightening, p->can & BLM_CAN_GROW);
    json_maybe(j, "rate_cap", p->rate_cap, p->can & BLM_CAN_GROW);
    json_open(j, "layers", '[');
    for (uint32_t i = 0; i < p->layers; i++) {
        blm_params l = { .size = sizeof l };
        if (blm_get_layer(f, i, &l) != BLM_OK)
            break;
        json_open(j, NULL, '{');
        json_shape(j, &l);
        json_close(j, '}');
    }
    json_close(j, ']');
    window_json(j, f);
    fixed_json(j, f);
    json_text(j, "notice", p->notice);
    json_text(j, "faults", scheme ? scheme->faults : NULL);
    json_text(j, "warning", scheme_warning(p->scheme));
}

/* ---- compare ---- */

void compare_json(struct json *j, const char *a, const char *b, const blm_overlap *o)
{
    json_open(j, NULL, '{');
    json_text(j, "a", a);
    json_text(j, "b", b);
    json_estimate(j, "keys_a", &o->a);
    json_estimate(j, "keys_b", &o->b);
    json_estimate(j, "both", &o->both);
    json_estimate(j, "either", &o->either);
    json_estimate(j, "jaccard", &o->jaccard);
    json_close(j, '}');
}

/* ---- schemes ---- */

/* A list that ends with NULL; where there is no list: null, or an empty one. */
static void json_names(struct json *j, const char *key, const char *const *names, bool or_null)
{
    if (!names && or_null) {
        json_text(j, key, NULL);
        return;
    }
    json_open(j, key, '[');
    for (size_t i = 0; names && names[i]; i++)
        json_text(j, NULL, names[i]);
    json_close(j, ']');
}

static void json_kinds_of(struct json *j, uint32_t kinds)
{
    const blm_kind_row *k;
    json_open(j, "kinds", '[');
    for (size_t i = 0; (k = blm_kind_at(i)) != NULL; i++)
        if (kinds >> k->kind & 1)
            json_text(j, NULL, k->name);
    json_close(j, ']');
}

static void json_schemes(struct json *j)
{
    const blm_scheme_row *s;
    json_open(j, "schemes", '[');
    for (size_t i = 0; (s = blm_scheme_at(i)) != NULL; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", s->name);
        json_text(j, "summary", s->summary);
        json_bool(j, "creates", s->creates && !s->by_caller);
        json_bool(j, "by_caller", s->by_caller);
        json_text(j, "means", s->means);
        json_bool(j, "seeded", s->seeded);
        json_kinds_of(j, s->kinds);
        json_text(j, "format", s->format);
        json_names(j, "funnels", s->funnels, false);
        json_text(j, "faults", s->faults);
        json_text(j, "warning", scheme_warning(s->name));
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_formats(struct json *j)
{
    const blm_format_row *f;
    json_open(j, "formats", '[');
    for (size_t i = 0; (f = blm_format_at(i)) != NULL; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", f->name);
        json_text(j, "summary", f->summary);
        json_bool(j, "reads", f->reads);
        json_bool(j, "writes", f->writes);
        json_bool(j, "sniffs", f->sniffs);
        json_bool(j, "maps", f->maps);
        json_names(j, "schemes", f->schemes, true);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static const struct {
    uint32_t    bit;
    const char *word;
} abilities[] = {
    { BLM_CAN_ADD, "add" },         { BLM_CAN_REMOVE, "remove" },
    { BLM_CAN_GROW, "grow" },       { BLM_CAN_SHARE, "share" },
    { BLM_CAN_UNION, "union" },     { BLM_CAN_INTERSECT, "intersect" },
    { BLM_CAN_COMPARE, "compare" }, { BLM_CAN_FORGET, "forget" },
    { BLM_CAN_FOLD, "fold" },       { BLM_CAN_REDUCE, "reduce" },
    { BLM_CAN_FILL_UP, "fill_up" },
};

static void json_kinds(struct json *j)
{
    const blm_kind_row *k;
    json_open(j, "kinds", '[');
    for (size_t i = 0; (k = blm_kind_at(i)) != NULL; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", k->name);
        json_text(j, "summary", k->summary);
        json_bool(j, "default", k == blm_kind_find(BLM_ANY_KIND));
        json_open(j, "can", '[');
        for (size_t a = 0; a < sizeof abilities / sizeof *abilities; a++)
            if (k->can & abilities[a].bit)
                json_text(j, NULL, abilities[a].word);
        json_close(j, ']');
        json_count(j, "cell_bits", k->cell_bits);
        json_count(j, "max_lines", k->max_lines);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void schemes_json(struct json *j)
{
    json_open(j, NULL, '{');
    json_schemes(j);
    json_formats(j);
    json_kinds(j);
    json_close(j, '}');
}
