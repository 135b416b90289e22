/* SPDX-License-Identifier: MIT */
/* schemes: lists what this build can read, write and make. JSON: docs/json.md. */
#include <string.h>

#include "command.h"
#include "json.h"
#include "out.h"
#include "say.h"

static bool json;

static const struct option rows[] = {
    { "json", 0, OPT_FLAG, NULL, &json,
      "Print JSON, with more about each, such as a scheme's known faults.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, NULL };

static void show_schemes(void)
{
    const blm_scheme_row *s;
    out_print("Schemes (create --scheme): the rule from a key to its bits\n");
    for (size_t i = 0; (s = blm_scheme_at(i)) != NULL; i++) {
        out_print("  %-15s %s%s\n", s->name, s->summary,
                  s->by_caller ? " (in programs only)"
                  : s->creates ? ""
                               : " (reads only)");
        for (size_t f = 0; s->funnels && s->funnels[f]; f++)
            out_print("%s%s", f ? " " : "                  funnels: ", s->funnels[f]);
        if (s->funnels && s->funnels[0])
            out_print("\n");
    }
}

static void show_formats(void)
{
    const blm_format_row *f;
    out_print("\n"
              "Formats (convert --to): how a filter is stored\n");
    for (size_t i = 0; (f = blm_format_at(i)) != NULL; i++)
        out_print("  %-15s %s%s\n", f->name, f->summary,
                  f->reads && f->writes ? ""
                  : f->reads            ? " (reads only)"
                                        : " (writes only)");
}

static bool is_default(const blm_kind_row *k)
{
    return k->kind == blm_kind_find(BLM_ANY_KIND)->kind;
}

static void show_kinds(void)
{
    const blm_kind_row *k;
    out_print("\n"
              "Kinds (create --kind): what a filter can do\n");
    for (size_t i = 0; (k = blm_kind_at(i)) != NULL; i++)
        out_print("  %-15s %s%s\n", k->name, k->summary, is_default(k) ? " (the default)" : "");
}

/* ---- JSON ---- */

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
        json_bool(j, "default", is_default(k));
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

static int run(int count, char **operands)
{
    (void)count, (void)operands;
    if (!json) {
        show_schemes();
        show_formats();
        show_kinds();
        return EXIT_YES;
    }
    struct json j = JSON_INIT;
    json_open(&j, NULL, '{');
    json_schemes(&j);
    json_formats(&j);
    json_kinds(&j);
    json_close(&j, '}');
    out_bytes(j.text, j.len);
    json_free(&j);
    return EXIT_YES;
}

static const char *const usage[] = { "[--json]", NULL };
static const char *const about[] = {
    "Lists the schemes, formats and kinds that this build of bloomery knows and what it can do "
    "with each. For each scheme it also lists the ways to hash a key (funnels).",
    "A filter of another system keeps that system's scheme, including its faults, so that both "
    "give the same answers. --json lists the known faults of every scheme, and bloomery info "
    "those of one filter.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery schemes", "List all schemes, formats and kinds" },
    { "bloomery schemes --json | jq -r '.formats[] | select(.writes).name'",
      "List the formats that can be written" },
    { NULL, NULL },
};

const struct command cmd_schemes = {
    .name     = "schemes",
    .summary  = "list the schemes, formats and kinds this build knows",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "operand",
    .least    = 0,
    .most     = 0,
    .run      = run,
};
