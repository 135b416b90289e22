/* SPDX-License-Identifier: MIT */
/* schemes: lists what this build can read, write and make. */
#include <string.h>

#include "command.h"
#include "json.h"
#include "out.h"
#include "say.h"

static bool json;

static const struct option rows[] = {
    { "json", 0, OPT_FLAG, NULL, &json, "Print JSON, with each scheme's known faults.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, NULL };

static void show_schemes(void)
{
    const blm_scheme_row *s;
    out_print("Schemes (create --scheme): the rule from a key to its bits\n");
    for (size_t i = 0; (s = blm_scheme_at(i)) != NULL; i++) {
        out_print("  %-14s %s%s\n", s->name, s->summary,
                  s->by_caller ? " (in programs only)"
                  : s->creates ? ""
                               : " (reads only)");
        for (size_t f = 0; s->funnels && s->funnels[f]; f++)
            out_print("%s%s", f ? " " : "                 funnels: ", s->funnels[f]);
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
        out_print("  %-14s %s%s\n", f->name, f->summary,
                  f->reads && f->writes ? ""
                  : f->reads            ? " (reads only)"
                                        : " (writes only)");
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
        json_open(j, "funnels", '[');
        for (size_t f = 0; s->funnels && s->funnels[f]; f++)
            json_text(j, NULL, s->funnels[f]);
        json_close(j, ']');
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
        return EXIT_YES;
    }
    struct json j = JSON_INIT;
    json_open(&j, NULL, '{');
    json_schemes(&j);
    json_formats(&j);
    json_close(&j, '}');
    out_bytes(j.text, j.len);
    json_free(&j);
    return EXIT_YES;
}

static const char *const usage[] = { "[--json]", NULL };
static const char *const about[] = {
    "Lists the schemes and formats that this build of bloomery knows and what it can do with "
    "each. For each scheme it also lists the ways to hash a key (funnels).",
    "A filter of another system keeps that system's scheme, including its faults, so that both "
    "give the same answers. --json lists the known faults of every scheme, and bloomery info "
    "those of one filter.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery schemes", "List all schemes and formats" },
    { "bloomery schemes --json | jq -r '.formats[] | select(.writes).name'",
      "List the formats that can be written" },
    { NULL, NULL },
};

const struct command cmd_schemes = {
    .name     = "schemes",
    .summary  = "list the schemes and formats this build knows",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "operand",
    .least    = 0,
    .most     = 0,
    .run      = run,
};
