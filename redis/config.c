/* SPDX-License-Identifier: MIT */
/*
 * The module's settings: arguments of loadmodule, then configs (CONFIG SET, the configuration
 * file), which go before them. The names are RedisBloom's. A server without unprefixed names shows
 * them as bf.bf-error-rate. There are no floating-point configs, so a rate is text.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf.h"

struct bf_config bf_config = { .rate              = 0.01,
                               .capacity          = 100,
                               .expansion         = BF_DEFAULT_EXPANSION,
                               .max_bytes         = 2LL << 30,
                               .changes           = 65536,
                               .auto_growth       = 1,
                               .huge_pages        = 1,
                               .cf_capacity       = 1024,
                               .cf_bucket         = 2,
                               .cf_iterations     = 20,
                               .cf_expansion      = 1,
                               .cf_max_expansions = 32 };

#define MOST_BYTES (1LL << 46)

static Str *rate_text; /* what CONFIG GET shows; owned here */

/* ---- bf-error-rate ---- */

static Str *get_rate(const char *name, void *priv)
{
    (void)name;
    (void)priv;
    return rate_text;
}

static int refuse(Str **err, const char *text)
{
    *err = api.CreateString(NULL, text, strlen(text));
    return API_ERR;
}

static int set_rate(const char *name, Str *value, void *priv, Str **err)
{
    double rate;
    char   text[32];
    (void)name;
    (void)priv;
    if (api.StringToDouble(value, &rate) != API_OK || rate != rate)
        return refuse(err, "Invalid value for `bf-error-rate`");
    if (bf_read_rate(value, &rate))
        return refuse(err, "Value for `bf-error-rate` must be in the range (0.000000, 1.000000)");
    snprintf(text, sizeof text, "%.9g", rate);
    if (strtod(text, NULL) != rate)
        snprintf(text, sizeof text, "%.17g", rate);
    if (rate_text)
        api.FreeString(NULL, rate_text);
    rate_text      = api.CreateString(NULL, text, strlen(text));
    bf_config.rate = rate;
    return API_OK;
}

/* ---- numbers ---- */

static long long get_number(const char *name, void *priv)
{
    (void)name;
    return *(long long *)priv;
}

static int set_number(const char *name, long long value, void *priv, Str **err)
{
    (void)name;
    (void)err;
    *(long long *)priv = value;
    return API_OK;
}

/* A bucket may have at most half the slots of a filter that an add makes. Judged when all of a CONFIG
 * SET is set, so that one command can change both. */
static bool sizes_agree(void) { return 2 * bf_config.cf_bucket <= bf_config.cf_capacity; }

static int apply_sizes(Ctx *ctx, void *priv, Str **err)
{
    char text[96];
    (void)ctx;
    if (sizes_agree())
        return API_OK;
    if (priv == &bf_config.cf_bucket)
        snprintf(text, sizeof text, "Value for `cf-bucket-size` must be in the range [1, %lld]",
                 bf_config.cf_capacity / 2);
    else
        snprintf(text, sizeof text, "Value for `cf-initial-size` must be in the range [%lld, %lld]",
                 2 * bf_config.cf_bucket, BF_MAX_CAPACITY);
    return refuse(err, text);
}

static int get_bool(const char *name, void *priv)
{
    (void)name;
    return *(int *)priv;
}

static int set_bool(const char *name, int value, void *priv, Str **err)
{
    (void)name;
    (void)err;
    *(int *)priv = value;
    return API_OK;
}

static const struct number {
    const char *name;
    long long  *value, min, max;
    unsigned    flags;
    ConfigApply apply;
} numbers[] = {
    { "bf-initial-size", &bf_config.capacity, 1, BF_MAX_CAPACITY, 0, NULL },
    { "bf-expansion-factor", &bf_config.expansion, 0, BF_MAX_EXPANSION, 0, NULL },
    { "bf-max-bytes", &bf_config.max_bytes, 1024, MOST_BYTES, API_CONFIG_MEMORY, NULL },
    { "bf-changes-length", &bf_config.changes, 1, 1LL << 24, 0, NULL },
    { "cf-initial-size", &bf_config.cf_capacity, 2, BF_MAX_CAPACITY, 0, apply_sizes },
    { "cf-bucket-size", &bf_config.cf_bucket, 1, 255, 0, apply_sizes },
    { "cf-max-iterations", &bf_config.cf_iterations, 1, 65535, 0, NULL },
    { "cf-expansion-factor", &bf_config.cf_expansion, 0, BF_MAX_EXPANSION, 0, NULL },
    { "cf-max-expansions", &bf_config.cf_max_expansions, 1, 65536, 0, NULL },
};
#define NUMBERS (sizeof numbers / sizeof *numbers)

static const struct {
    const char *name;
    int        *value;
} switches[] = {
    { "bf-auto-growth", &bf_config.auto_growth },
    { "bf-huge-pages", &bf_config.huge_pages },
};
#define SWITCHES (sizeof switches / sizeof *switches)

/* ---- loadmodule's arguments ---- */

/* Bytes, or a number with kb, mb, gb or tb (powers of 1024), upper or lower case. CONFIG SET takes
 * more: there the server reads k, m and g as thousands. We refuse those here, because 3g must not
 * mean two sizes. */
static bool read_memory(const Str *value, long long *out)
{
    static const char units[] = "kmgt";
    size_t            len;
    const char       *text = api.StringPtrLen(value, &len);
    long long         v    = 0;
    size_t            at   = 0;
    for (; at < len && text[at] >= '0' && text[at] <= '9' && v <= MOST_BYTES; at++)
        v = v * 10 + (text[at] - '0');
    const char *unit = at < len ? strchr(units, text[at] | 32) : NULL;
    bool        ends = unit ? len == at + 2 && (text[at + 1] | 32) == 'b' : at == len;
    if (at == 0 || !ends)
        return false;
    for (const char *u = units; unit && u <= unit && v <= MOST_BYTES; u++)
        v *= 1024;
    *out = v;
    return true;
}

static bool read_number(const Str *value, const struct number *n)
{
    long long v;
    bool      good = n->flags & API_CONFIG_MEMORY ? read_memory(value, &v)
                                                  : api.StringToLongLong(value, &v) == API_OK;
    if (!good || v < n->min || v > n->max)
        return false;
    *n->value = v;
    return true;
}

static bool read_argument(Str *name, Str *value)
{
    if (bf_word(name, "bf-error-rate") || bf_word(name, "ERROR_RATE"))
        return bf_read_rate(value, &bf_config.rate) == NULL;
    if (bf_word(name, "INITIAL_SIZE"))
        return read_number(value, &numbers[0]);
    for (size_t i = 0; i < NUMBERS; i++)
        if (bf_word(name, numbers[i].name))
            return read_number(value, &numbers[i]);
    for (size_t i = 0; i < SWITCHES; i++)
        if (bf_word(name, switches[i].name)) {
            *switches[i].value = bf_word(value, "yes");
            return *switches[i].value || bf_word(value, "no");
        }
    if (bf_word(name, "CF_MAX_EXPANSIONS"))
        return read_number(value, &numbers[NUMBERS - 1]);
    return false;
}

static bool read_arguments(Ctx *ctx, Str **argv, int argc)
{
    if (argc == 1 && bf_word(argv[0], ""))
        return true;
    for (int i = 0; i < argc; i += 2)
        if (i + 1 == argc || !read_argument(argv[i], argv[i + 1])) {
            api.Log(ctx, "warning", "argument %s is unknown, or its value is missing or not valid",
                    api.StringPtrLen(argv[i], NULL));
            return false;
        }
    return true;
}

/* ---- configs ---- */

static bool register_configs(Ctx *ctx, unsigned flags)
{
    char rate[32];
    snprintf(rate, sizeof rate, "%.17g", bf_config.rate);
    if (api.RegisterStringConfig(ctx, "bf-error-rate", rate, flags, get_rate, set_rate, NULL,
                                 NULL) != API_OK)
        return false;
    for (size_t i = 0; i < NUMBERS; i++)
        if (api.RegisterNumericConfig(ctx, numbers[i].name, *numbers[i].value,
                                      flags | numbers[i].flags, numbers[i].min, numbers[i].max,
                                      get_number, set_number, numbers[i].apply,
                                      numbers[i].value) != API_OK)
            return false;
    for (size_t i = 0; i < SWITCHES; i++)
        if (api.RegisterBoolConfig(ctx, switches[i].name, *switches[i].value, flags, get_bool,
                                   set_bool, NULL, switches[i].value) != API_OK)
            return false;
    return true;
}

bool bf_config_load(Ctx *ctx, Str **argv, int argc)
{
    if (!read_arguments(ctx, argv, argc))
        return false;
    bool done = api.LoadDefaultConfigs && register_configs(ctx, API_CONFIG_UNPREFIXED);
    if (!done)
        done = register_configs(ctx, 0);
    if (done && api.LoadDefaultConfigs)
        done = api.LoadDefaultConfigs(ctx) == API_OK;
    if (!done || api.LoadConfigs(ctx) != API_OK)
        return false;
    if (!sizes_agree()) /* a server that starts sets them and applies nothing */
        api.Log(ctx, "warning", "cf-bucket-size is more than half of cf-initial-size");
    return sizes_agree();
}
