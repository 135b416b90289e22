/* SPDX-License-Identifier: MIT */
/* The parser. It follows GNU (--name=value, --name value, -n1e6, -vc, operands anywhere, -- ends
 * the options), but without abbreviations: a script that says --mem must not change its meaning
 * when we add an option. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery.h"
#include "bloomery/maths.h"
#include "command.h"
#include "numbers.h"
#include "say.h"

bool options_help;

static const struct option common[] = {
    { "quiet", 0, OPT_FLAG, NULL, &say_quiet, "Print only errors, no notes and no progress.",
      NULL },
    { "help", 'h', OPT_FLAG, NULL, &options_help, "Show this help.", NULL },
    OPTION_END,
};
const struct option_group options_common = { "Other", common };

size_t options_groups(const struct command *c, const struct option_group *out[OPTIONS_MAX_GROUPS])
{
    size_t n = 0;
    for (; c->options && c->options[n] && n < OPTIONS_MAX_GROUPS - 1; n++)
        out[n] = c->options[n];
    out[n++] = &options_common;
    return n;
}

/* ---- names ---- */

const char *kind_names(size_t i)
{
    const blm_kind_row *row = blm_kind_at(i);
    return row ? row->name : NULL;
}

/* Those whose size follows from a number of keys. */
const char *planned_kind_names(size_t i)
{
    const blm_kind_row *row;
    for (size_t at = 0; (row = blm_kind_at(at)); at++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_plan    p = { .size = sizeof p };
        o.kind        = row->kind;
        o.items       = 1000;
        if (blm_plan_for(&o, &p, NULL) != BLM_E_UNSUPPORTED && i-- == 0)
            return row->name;
    }
    return NULL;
}

/* Those to which keys are added. Others are built at once. */
const char *made_kind_names(size_t i)
{
    const blm_kind_row *row;
    for (size_t at = 0; (row = blm_kind_at(at)); at++)
        if (row->can & BLM_CAN_ADD && i-- == 0)
            return row->name;
    return NULL;
}

const char *hash_names(size_t i)
{
    static const char *const names[] = { "xxh3", "siphash" };
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

const char *scheme_names(size_t i)
{
    const blm_scheme_row *row = blm_scheme_at(i);
    return row ? row->name : NULL;
}

/* What create makes by itself: not what needs a program's functions, or another filter (--like). */
const char *made_scheme_names(size_t i)
{
    const blm_scheme_row *row;
    for (size_t at = 0; (row = blm_scheme_at(at)); at++)
        if (row->creates && !row->by_caller && i-- == 0)
            return row->name;
    return NULL;
}

const char *format_names(size_t i)
{
    const blm_format_row *row = blm_format_at(i);
    return row ? row->name : NULL;
}

/* Edit distance for words of at most 31 letters. Swapping two neighbours counts as one edit. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[3][32];
    size_t   n = strlen(a), m = strlen(b);
    if (n > 31 || m > 31)
        return 99;
    for (unsigned j = 0; j <= m; j++)
        row[0][j] = j;
    for (unsigned i = 1; i <= n; i++) {
        unsigned *d = row[i % 3], *up = row[(i + 2) % 3], *two = row[(i + 1) % 3];
        d[0] = i;
        for (unsigned j = 1; j <= m; j++) {
            unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);
            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (d[j - 1] + 1 < best)
                best = d[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                two[j - 2] + 1 < best)
                best = two[j - 2] + 1;
            d[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *nearest(const char *typed, const char *(*name_at)(const void *ctx, size_t i),
                    const void *ctx)
{
    const char *best  = NULL, *name;
    unsigned    least = 6; /* twice the distance; the same first letter counts for half an edit */
    for (size_t i = 0; (name = name_at(ctx, i)) != NULL; i++) {
        unsigned d = 2 * distance(typed, name) + (typed[0] != name[0]);
        if (d < least && d < 2 * strlen(name)) {
            least = d;
            best  = name;
        }
    }
    return best;
}

/* ---- rows ---- */

static const struct option *find(const struct command *c, const char *name, size_t len, char letter)
{
    const struct option_group *groups[OPTIONS_MAX_GROUPS];
    size_t                     n = options_groups(c, groups);
    for (size_t g = 0; g < n; g++)
        for (const struct option *o = groups[g]->rows; o->into; o++)
            if (name ? o->name && strlen(o->name) == len && memcmp(o->name, name, len) == 0
                     : o->letter == letter)
                return o;
    return NULL;
}

static const char *long_name(const void *ctx, size_t i)
{
    const struct option_group *groups[OPTIONS_MAX_GROUPS];
    size_t                     n = options_groups(ctx, groups);
    for (size_t g = 0; g < n; g++)
        for (const struct option *o = groups[g]->rows; o->into; o++)
            if (o->name && i-- == 0)
                return o->name;
    return NULL;
}

/* "--kind" or "-n", as it was typed. */
static const char *title(const struct option *o, bool letter, char out[40])
{
    if (letter)
        snprintf(out, 40, "-%c", o->letter);
    else
        snprintf(out, 40, "--%s", o->name);
    return out;
}

/* "classic, blocked, counting or scalable". */
static void list_names(const char *(*names)(size_t), char *out, size_t room)
{
    size_t at = 0;
    out[0]    = 0;
    for (size_t i = 0; names(i) && at < room; i++) {
        const char *gap = i == 0 ? "" : names(i + 1) ? ", " : " or ";
        int         n   = snprintf(out + at, room - at, "%s%s", gap, names(i));
        at += n > 0 ? (size_t)n : 0;
    }
}

/* Why a kind that there is is none of an option's names. NULL: there is no such kind, or it is not
 * about kinds. */
static const char *known_kind(const struct option *o, const char *value)
{
    blm_kind kind;
    if (!o->name || strcmp(o->name, "kind") != 0 || !blm_kind_from_name(value, &kind))
        return NULL;
    if (o->names == planned_kind_names)
        return "its size follows from the keys themselves: use bloomery build";
    return blm_kind_find(kind)->can & BLM_CAN_ADD
               ? "it is not built from a list at once: use bloomery create --from"
               : "it is built from all its keys at once: use bloomery build";
}

static bool store_name(const struct option *o, bool letter, const char *value)
{
    /* The command says why it does not take the rest. */
    const char *(*known)(size_t) = o->names == made_scheme_names ? scheme_names : o->names;
    for (size_t i = 0; known(i); i++)
        if (strcmp(known(i), value) == 0) {
            *(const char **)o->into = known(i);
            return true;
        }
    char        names[600], call[40];
    const char *why = known_kind(o, value);
    if (why)
        return misuse("%s %s: %s", title(o, letter, call), value, why), false;
    list_names(o->names, names, sizeof names);
    misuse("%s %s: unknown name: use %s", title(o, letter, call), value, names);
    return false;
}

static bool store_byte(const char *value, int *into)
{
    if (strcmp(value, "\\t") == 0)
        *into = '\t';
    else if (strcmp(value, "\\0") == 0)
        *into = 0;
    else if (strlen(value) == 1)
        *into = (unsigned char)value[0];
    else
        return false;
    return true;
}

/* What a value of a type should look like, for the error message. */
static const char *wanted(enum option_type t)
{
    switch (t) {
    case OPT_COUNT:
        return "a whole number of at least 1, like 1000000, 1e6 or 1_000_000";
    case OPT_NUMBER:
        return "a whole number, 0 or more";
    case OPT_THREADS:
        return "how many threads, at least 1";
    case OPT_SIZE:
        return "a size in bytes, or in K, M, G or T: 4096, 64M, 1.5G";
    case OPT_TIME:
        return "a time with its unit, like 500ms, 90s, 10m, 1.5h or 2d";
    case OPT_RATE:
        return "a rate above 0 and below 1, like 0.01, 1e-6 or 1%";
    case OPT_BYTE:
        return "one byte, like , or \\t";
    case OPT_SEED:
        return "a number, perhaps with a minus, or 0x and up to 32 hexadecimal digits";
    default:
        return "something else";
    }
}

/* A number, but past 2^64 − 1? */
static bool is_too_large(const struct option *o, const char *value)
{
    char *end;
    return (o->type == OPT_COUNT || o->type == OPT_THREADS || o->type == OPT_NUMBER) &&
           value[0] >= '0' && value[0] <= '9' && strtod(value, &end) >= 0x1p64 && *end == 0;
}

static bool store(const struct option *o, bool letter, const char *value)
{
    bool                good = true;
    struct option_seed *seed;
    switch (o->type) {
    case OPT_FLAG:
        *(bool *)o->into = true;
        return true;
    case OPT_TEXT:
    case OPT_FILE:
        *(const char **)o->into = value;
        return true;
    case OPT_KEYS:
        if (*(const char **)o->into)
            return misuse("--%s was given twice, and one list is read: join the lists with cat",
                          o->name),
                   false;
        *(const char **)o->into = value;
        return true;
    case OPT_NAME:
        return store_name(o, letter, value);
    case OPT_COUNT:
    case OPT_THREADS:
        good = parse_count(value, o->into) && *(uint64_t *)o->into > 0;
        break;
    case OPT_NUMBER:
        good = parse_count(value, o->into);
        break;
    case OPT_SIZE:
        good = parse_size(value, o->into) && *(uint64_t *)o->into > 0;
        break;
    case OPT_TIME:
        good = parse_time(value, o->into) && *(uint64_t *)o->into > 0;
        break;
    case OPT_RATE:
        good = parse_rate(value, o->into);
        break;
    case OPT_BYTE:
        good = store_byte(value, o->into);
        break;
    case OPT_SEED:
        seed        = o->into;
        seed->given = good = parse_seed(value, seed->word);
        break;
    }
    if (!good) {
        char call[40];
        if (is_too_large(o, value))
            return misuse("%s %s is more than can be counted: give a smaller number",
                          title(o, letter, call), value),
                   false;
        misuse("%s %s: give %s", title(o, letter, call), value, wanted(o->type));
    }
    return good;
}

/* ---- the walk over argv ---- */

static bool parse_long(const struct command *c, const char *text, char **next, bool *used)
{
    const char          *equals = strchr(text, '=');
    size_t               len    = equals ? (size_t)(equals - text) : strlen(text);
    const struct option *o      = find(c, text, len, 0);
    if (!o) {
        char typed[64];
        snprintf(typed, sizeof typed, "%.*s", (int)(len < 60 ? len : 60), text);
        const char *near = nearest(typed, long_name, c);
        misuse("unknown option --%s%s%s%s", typed, near ? ": did you mean --" : "",
               near ? near : "", near ? "?" : "");
        return false;
    }
    if (o->type == OPT_FLAG && equals) {
        misuse("--%s takes no argument", o->name);
        return false;
    }
    const char *value = equals ? equals + 1 : NULL;
    if (o->type != OPT_FLAG && !value) {
        if (!*next) {
            misuse("--%s needs %s after it", o->name, o->arg);
            return false;
        }
        value = *next;
        *used = true;
    }
    return store(o, false, value);
}

static bool parse_letters(const struct command *c, const char *text, char **next, bool *used)
{
    for (; *text; text++) {
        const struct option *o = find(c, NULL, 0, *text);
        if (!o) {
            misuse("unknown option -%c", *text);
            return false;
        }
        if (o->type == OPT_FLAG) {
            store(o, true, NULL);
            continue;
        }
        const char *value = text + 1;
        if (!*value) {
            if (!*next) {
                misuse("-%c needs %s after it", *text, o->arg);
                return false;
            }
            value = *next;
            *used = true;
        }
        return store(o, true, value);
    }
    return true;
}

static int count_operands(const struct command *c, int n, char **argv)
{
    if (n < c->least) {
        misuse(n == 0 ? "no %s given" : "too few operands after the %s", c->operand);
        return -1;
    }
    if (c->most >= 0 && n > c->most) {
        misuse("unexpected operand %s", argv[1 + c->most]);
        return -1;
    }
    return n;
}

int options_parse(const struct command *c, int argc, char **argv)
{
    int  operands = 0;
    bool open     = true;
    for (int i = 1; i < argc; i++) {
        char *a    = argv[i];
        bool  used = false, good = true;
        if (!open || a[0] != '-' || a[1] == 0)
            argv[1 + operands++] = a;
        else if (strcmp(a, "--") == 0)
            open = false;
        else if (a[1] == '-')
            good = parse_long(c, a + 2, &argv[i + 1], &used);
        else
            good = parse_letters(c, a + 1, &argv[i + 1], &used);
        if (!good)
            return -1;
        if (options_help)
            return operands;
        i += used;
    }
    return count_operands(c, operands, argv);
}
