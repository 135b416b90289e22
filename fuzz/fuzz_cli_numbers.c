/* SPDX-License-Identifier: MIT */
/* Numbers, sizes, times, rates, seeds and encoded keys as people type them, beside the C library's
 * reading of the same text; and text that is made fit to be shown. */
#include <decode.h>
#include <escape.h>
#include <float.h>
#include <math.h>
#include <numbers.h>

#include "mute.h"

/* What strtold makes of the number at the front; *end: what follows it. Underscores stand only between
 * digits, and are left out. */
static long double value_of(const char *text, const char **end)
{
    char   plain[256];
    size_t n = 0, i = 0;
    for (; text[i] && n < sizeof plain - 1; i++)
        if (text[i] != '_')
            plain[n++] = text[i];
    plain[n] = 0;
    char       *stop;
    long double v    = strtold(plain, &stop);
    size_t      used = (size_t)(stop - plain);
    for (i = 0; used > 0; i++)
        used -= text[i] != '_';
    *end = text + i;
    return v;
}

static void counts(const char *text)
{
    const char *end;
    uint64_t    v;
    char        out[NUMBER_TEXT];
    if (!parse_count(text, &v))
        return;
    if (LDBL_MANT_DIG >= 64) /* exact */
        must(value_of(text, &end) == (long double)v && *end == 0);
    must(strlen(count_text(v, out)) < NUMBER_TEXT && strlen(size_text(v, out)) < NUMBER_TEXT);
    must(strlen(size_option_text(v, out)) < NUMBER_TEXT && strlen(span_text(v, out)) < NUMBER_TEXT);
    must(strlen(plural_text(v, "key", out)) < NUMBER_TEXT);
    must(strlen(short_text((double)v, out)) < NUMBER_TEXT);
    must(strlen(time_text((double)v, out)) < NUMBER_TEXT);
}

static void sizes(const char *text)
{
    const char *end;
    uint64_t    v, unit = 1;
    char        option[NUMBER_TEXT];
    if (!parse_size(text, &v))
        return;
    static const char letters[] = "kKmMgGtT";
    long double       x         = value_of(text, &end);
    const char       *letter    = *end ? strchr(letters, *end) : NULL;
    if (letter)
        unit = (uint64_t)1 << 10 * (1 + (letter - letters) / 2);
    long double exact = x * (long double)unit;
    must(fabsl((long double)v - exact) <= 1 + 4 * exact * LDBL_EPSILON);
    if (parse_size(size_option_text(v, option), &unit)) /* P and E cannot be typed */
        must(unit >= v);
}

static void times(const char *text)
{
    static const struct {
        const char *unit;
        long double ms;
    } units[] = { { "ms", 1 }, { "s", 1e3L }, { "m", 6e4L }, { "h", 3.6e6L }, { "d", 8.64e7L } };
    const char *end;
    uint64_t    v;
    if (!parse_time(text, &v))
        return;
    long double x    = value_of(text, &end);
    bool        told = false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0) {
            must(fabsl((long double)v - x * units[i].ms) <= 4 * (long double)v * LDBL_EPSILON);
            told = true;
        }
    must(told);
}

static void others(const char *text)
{
    uint64_t seed[2];
    double   rate;
    char     out[NUMBER_TEXT];
    if (parse_rate(text, &rate)) {
        must(rate > 0 && rate < 1);
        must(strlen(rate_text(rate, out)) < NUMBER_TEXT);
    }
    if (parse_seed(text, seed) && text[0] == '0' && (text[1] | 32) == 'x') {
        char   back[40];
        size_t digits = strlen(text) - 2;
        snprintf(back, sizeof back, "%016llx%016llx", (unsigned long long)seed[1],
                 (unsigned long long)seed[0]);
        must(strncasecmp(back + 32 - digits, text + 2, digits) == 0);
    }
}

static void encodings(const uint8_t *data, size_t size)
{
    const char *name;
    for (size_t i = 0; (name = encoding_names(i)); i++) {
        const struct encoding *e = encoding_find(name);
        if (!e->decode)
            continue;
        size_t len  = 0;
        char  *out  = malloc(decode_room(size)); /* ASan sees if that is too little */
        char  *text = malloc(size + 1);
        must(out && text);
        memcpy(text, data, size);
        bool good = e->decode(text, size, out, &len);
        must(!good || len <= decode_room(size));
        if (good && strcmp(name, "int64") == 0) {
            uint64_t v = 0;
            text[size] = 0;
            for (unsigned j = 0; j < 8; j++)
                v |= (uint64_t)(uint8_t)out[j] << 8 * j;
            must(v == (uint64_t)strtoll(text, NULL, 10));
        }
        if (good && strcmp(name, "hex") == 0)
            for (size_t j = 0; j < len; j++) {
                char pair[3];
                snprintf(pair, 3, "%02x", (uint8_t)out[j]);
                must(strncasecmp(pair, text + 2 * j, 2) == 0);
            }
        free(out);
        free(text);
    }
}

static void shows(const char *text)
{
    char   out[64];
    size_t n = escape(text, out, sizeof out);
    must(n < sizeof out && out[n] == 0);
    for (size_t i = 0; i < n; i++)
        must((uint8_t)out[i] >= 0x20 && out[i] != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 200)
        return 0;
    char *text = malloc(size + 1);
    must(text != NULL);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    counts(text);
    sizes(text);
    times(text);
    others(text);
    encodings(data, size);
    shows(text);
    free(text);
    return 0;
}
