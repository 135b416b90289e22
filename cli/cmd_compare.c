/* SPDX-License-Identifier: MIT */
/* compare: how many keys two filters have, and how many they share. */
#include <math.h>

#include "command.h"
#include "escape.h"
#include "from.h"
#include "json.h"
#include "numbers.h"
#include "out.h"
#include "ref.h"
#include "report.h"
#include "say.h"

static bool json;

static const struct option rows[] = {
    { "json", 0, OPT_FLAG, NULL, &json, "Print JSON instead of a table.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, &from_group, NULL };

static const char *keys_text(double n, char *out)
{
    return isfinite(n) ? count_text((uint64_t)llround(fmax(n, 0)), out) : "no limit";
}

static void show_keys(const char *label, const blm_estimate *e)
{
    char value[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT];
    out_print("%-8s %16s  %16s  %16s%s\n", label, keys_text(e->value, value),
              keys_text(e->low, low), keys_text(e->high, high),
              e->saturated ? "  every bit is set" : "");
}

static void show(const struct ref *a, const struct ref *b, const blm_overlap *o)
{
    out_print("A is %s, B is %s\n\n", shown(a->name), shown(b->name));
    out_print("%-8s %16s  %16s  %16s\n", "", "keys", "at least (95%)", "at most (95%)");
    show_keys("A", &o->a);
    show_keys("B", &o->b);
    show_keys("A and B", &o->both);
    show_keys("A or B", &o->either);
    out_print("%-8s %16.4f  %16.4f  %16.4f\n", "Jaccard", o->jaccard.value, o->jaccard.low,
              o->jaccard.high);
}

static void show_json(const struct ref *a, const struct ref *b, const blm_overlap *o)
{
    struct json j = JSON_INIT;
    compare_json(&j, a->name, b->name, o);
    out_bytes(j.text, j.len);
    json_free(&j);
}

static int compare(const struct ref *a, const struct ref *b)
{
    blm_overlap o   = { .size = sizeof o };
    blm_error   err = { .offset = BLM_NO_OFFSET };
    if (blm_compare(a->filter, b->filter, &o, &err) != BLM_OK)
        return trouble("%s and %s: %s", a->name, b->name, filter_words(&err));
    if (json)
        show_json(a, b, &o);
    else
        show(a, b, &o);
    return EXIT_YES;
}

static int run(int count, char **operands)
{
    (void)count;
    struct ref a, b;
    if (!ref_open_two(&a, &b, operands, 0))
        return EXIT_TROUBLE;
    int status = compare(&a, &b);
    ref_drop(&a);
    ref_drop(&b);
    return status;
}

static const char *const usage[] = { "A B [--json]", NULL };
static const char *const about[] = {
    "Estimates from the bits alone how many keys two filters have, how many they share, and how "
    "alike they are (Jaccard: shared keys divided by all keys). Each estimate comes with its 95% "
    "interval. The filters must have the same size, scheme and seed: make one with create --like "
    "the other.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery compare monday.blm tuesday.blm", "How many visitors came back?" },
    { "bloomery compare --json a.blm b.blm | jq .jaccard.value", "Get one number for a script" },
    { NULL, NULL },
};

const struct command cmd_compare = {
    .name     = "compare",
    .summary  = "estimate how many keys two filters share",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "filter",
    .least    = 2,
    .most     = 2,
    .run      = run,
};
