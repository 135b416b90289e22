/* SPDX-License-Identifier: MIT */
/* schemes: lists what this build can read, write and make. JSON: docs/json.md. */
#include <string.h>

#include "command.h"
#include "json.h"
#include "out.h"
#include "report.h"
#include "say.h"

static bool json;

static const struct option rows[] = {
    { "json", 0, OPT_FLAG, NULL, &json,
      "Print JSON, with more about each, such as a scheme's known faults.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, NULL };

/* Why create does not make filters of it. Of some schemes filters are only made like others; of the rest
 * this build has no hash. */
static const char *not_made(const blm_scheme_row *s)
{
    const blm_format_row *f = blm_format_find(s->format);
    return s->by_caller                   ? " (in programs only)"
           : s->creates                   ? ""
           : f && f->writes && f->schemes ? " (create --like only)"
                                          : " (not in this build)";
}

static void show_schemes(void)
{
    const blm_scheme_row *s;
    out_print("Schemes (create --scheme): the rule from a key to its bits\n");
    for (size_t i = 0; (s = blm_scheme_at(i)) != NULL; i++) {
        out_print("  %-15s %s%s\n", s->name, s->summary, not_made(s));
        for (size_t f = 0; s->funnels && s->funnels[f]; f++)
            out_print("%s%s", f ? " " : "                  funnels: ", s->funnels[f]);
        if (s->funnels && s->funnels[0])
            out_print("\n");
    }
    out_print(
        "Only native filters have a secret seed; in front of strangers read SECURITY.md first.\n");
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
    schemes_json(&j);
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
    "those of one filter. Only native filters have a secret seed: with any other scheme, whoever "
    "can "
    "choose keys can fill a filter, and can make keys that it answers maybe to.",
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
