/* SPDX-License-Identifier: MIT */
/* Counts are parsed in integers, not through double:
 * 2^53 + 1 stays what it is, and 1e6 is exact. */
#include "numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* digits · 10^exponent, and where the number ended. */
struct decimal {
    uint64_t    digits;
    int         exponent;
    bool        cut; /* digits after the point were left out, some not 0 */
    const char *end;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Appends one digit; false: past 2^64 − 1. */
static bool push(struct decimal *d, char c)
{
    uint64_t v = (uint64_t)(c - '0');
    if (d->digits > (UINT64_MAX - v) / 10)
        return false;
    d->digits = d->digits * 10 + v;
    return true;
}

/* The same after the point. Zeros wait until another digit follows, and what is past the room is
 * left out: calculators print 20 digits and more. */
static void push_part(struct decimal *d, int *zeros, char c)
{
    if (c == '0' || d->cut) {
        ++*zeros;
        return;
    }
    struct decimal longer = *d;
    for (; *zeros > 0 && push(&longer, '0'); --*zeros)
        longer.exponent--;
    d->cut = *zeros > 0 || !push(&longer, c);
    if (!d->cut) {
        longer.exponent--;
        *d = longer;
    }
}

/* Digits with single underscores between them, after the point or before it. Returns where they
 * end, NULL: there are none, or too many. */
static const char *digits(const char *s, struct decimal *d, bool part)
{
    int zeros = 0;
    if (!is_digit(*s))
        return NULL;
    for (;; s++) {
        if (part)
            push_part(d, &zeros, *s);
        else if (!push(d, *s))
            return NULL;
        if (s[1] == '_' && is_digit(s[2]))
            s++;
        else if (!is_digit(s[1]))
            return s + 1;
    }
}

static bool decimal(const char *s, struct decimal *d)
{
    *d = (struct decimal){ 0 };
    if (*s != '.')
        s = digits(s, d, false);
    if (s && *s == '.')
        s = digits(s + 1, d, true);
    if (!s)
        return false;
    if (*s == 'e' || *s == 'E') {
        bool minus = s[1] == '-';
        s += 1 + (s[1] == '-' || s[1] == '+');
        int e = 0;
        if (!is_digit(*s))
            return false;
        for (; is_digit(*s); s++)
            e = e < 1000 ? e * 10 + (*s - '0') : e;
        d->exponent += minus ? -e : e;
    }
    d->end = s;
    return true;
}

/* digits · 10^exponent · 2^shift as a whole number; with `round`, parts below one are dropped. */
static bool whole(const struct decimal *d, unsigned shift, bool round, uint64_t *out)
{
    uint64_t v = d->digits;
    int      e = d->exponent;
    if (v == 0) {
        *out = 0;
        return true;
    }
    for (; e < 0 && v % 10 == 0; e++)
        v /= 10;
    for (; e > 0; e--) {
        if (v > UINT64_MAX / 10)
            return false;
        v *= 10;
    }
    uint64_t divisor = 1;
    for (; e < 0; e++) {
        if (divisor > UINT64_MAX / 10)
            return false;
        divisor *= 10;
    }
    if ((divisor > 1 || d->cut) && !round)
        return false;
    /* v / divisor · 2^shift, one bit at a time, so that no bit is lost. */
    uint64_t q = v / divisor, r = v % divisor;
    for (; shift > 0; shift--) {
        bool carry = r >= divisor - r; /* 2r >= divisor */
        if (q > (UINT64_MAX - carry) / 2)
            return false;
        q = q * 2 + carry;
        r = carry ? r - (divisor - r) : r * 2;
    }
    *out = q;
    return true;
}

bool parse_count(const char *text, uint64_t *out)
{
    struct decimal d;
    return decimal(text, &d) && *d.end == 0 && whole(&d, 0, false, out);
}

bool parse_time(const char *text, uint64_t *out)
{
    static const struct {
        const char *unit;
        uint64_t    ms;
    } units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 } };
    struct decimal d;
    if (!decimal(text, &d))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(d.end, units[i].unit) != 0 || d.digits > UINT64_MAX / units[i].ms)
            continue;
        d.digits *= units[i].ms;
        return whole(&d, 0, false, out);
    }
    return false;
}

bool parse_size(const char *text, uint64_t *out)
{
    static const char letters[] = "KMGT";
    struct decimal    d;
    if (!decimal(text, &d))
        return false;
    const char *s     = d.end;
    char        c     = *s >= 'a' && *s <= 'z' ? (char)(*s - 'a' + 'A') : *s;
    const char *at    = c ? strchr(letters, c) : NULL;
    unsigned    shift = 0;
    if (at) {
        shift = 10 * (unsigned)(at - letters + 1);
        s++;
        if (s[0] == 'i' && s[1] == 'B')
            s++;
    }
    if (*s == 'B')
        s++;
    return *s == 0 && whole(&d, shift, at != NULL, out);
}

bool parse_rate(const char *text, double *out)
{
    struct decimal d;
    if (!decimal(text, &d))
        return false;
    bool percent = d.end[0] == '%';
    if (d.end[percent] != 0)
        return false;
    /* strtod does not read underscores, and a rate needs none. Otherwise it is exact. */
    char  *end;
    double p = strtod(text, &end);
    if (end != d.end)
        return false;
    *out = percent ? p / 100 : p;
    return *out > 0 && *out < 1;
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool parse_seed(const char *text, uint64_t out[2])
{
    out[0] = out[1] = 0;
    if (text[0] == '-') { /* a signed number of 64 bits, as Java has them */
        uint64_t v;
        if (!parse_count(text + 1, &v) || v > (uint64_t)1 << 63)
            return false;
        out[0] = 0 - v;
        return true;
    }
    if (text[0] != '0' || (text[1] != 'x' && text[1] != 'X'))
        return parse_count(text, &out[0]);
    const char *s = text + 2;
    size_t      n = strlen(s);
    if (n == 0 || n > 32)
        return false;
    for (; *s; s++) {
        int v = hex_value(*s);
        if (v < 0)
            return false;
        out[1] = out[1] << 4 | out[0] >> 60;
        out[0] = out[0] << 4 | (uint64_t)v;
    }
    return true;
}

/* ---- numbers as text ---- */

const char *count_text(uint64_t n, char *out)
{
    char   plain[24];
    int    len = snprintf(plain, sizeof plain, "%llu", (unsigned long long)n);
    size_t to  = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[to++] = ',';
        out[to++] = plain[i];
    }
    out[to] = 0;
    return out;
}

const char *plural_text(uint64_t n, const char *thing, char *out)
{
    size_t len = strlen(count_text(n, out));
    snprintf(out + len, NUMBER_TEXT - len, " %s%s", thing, n == 1 ? "" : "s");
    return out;
}

const char *size_text(uint64_t bytes, char *out)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    if (bytes < 1024)
        return plural_text(bytes, "byte", out);
    double v = (double)bytes / 1024;
    size_t u = 0;
    for (; v >= 1023.95 && u < 5; u++)
        v /= 1024;
    snprintf(out, NUMBER_TEXT, "%.1f %s", v, units[u]);
    return out;
}

const char *size_option_text(uint64_t bytes, char *out)
{
    static const char letters[] = "KMGTPE";
    uint64_t          v         = bytes / 1024 + (bytes % 1024 > 0);
    size_t            u         = 0;
    for (; v >= 10240 && u < 5; u++)
        v = v / 1024 + (v % 1024 > 0);
    snprintf(out, NUMBER_TEXT, "%llu%c", (unsigned long long)v, letters[u]);
    return out;
}

const char *short_text(double n, char *out)
{
    static const char units[] = " KMGTPE";
    size_t            u       = 0;
    for (; n >= 999.5 && u < 6; u++)
        n /= 1000;
    if (u == 0)
        snprintf(out, NUMBER_TEXT, n == floor(n) ? "%.0f" : "%.3g", n);
    else
        snprintf(out, NUMBER_TEXT, "%.*f%c", n < 9.995 ? 2 : n < 99.95 ? 1 : 0, n, units[u]);
    return out;
}

const char *rate_text(double p, char *out)
{
    if (p >= 0.000995)
        snprintf(out, NUMBER_TEXT, "%.3g%%", p * 100);
    else if (!(p > 0))
        snprintf(out, NUMBER_TEXT, "0");
    else { /* 3.90e-04 reads better as 3.9e-4 */
        int    tens = (int)floor(log10(p) + 1e-9);
        double m    = p / pow(10, tens);
        if (m >= 9.995) {
            m = 1;
            tens++;
        }
        snprintf(out, NUMBER_TEXT, "%.3ge%d", m, tens);
    }
    return out;
}

const char *span_text(uint64_t ms, char *out)
{
    static const struct {
        double      ms;
        const char *unit;
    } units[] = { { 86400e3, "day" }, { 3600e3, "hour" }, { 60e3, "minute" }, { 1e3, "second" } };
    const char *u = "millisecond";
    double      n = (double)ms;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if ((double)ms >= units[i].ms) {
            n = (double)ms / units[i].ms;
            u = units[i].unit;
            break;
        }
    snprintf(out, NUMBER_TEXT, "%.4g %s%s", n, u, n == 1 ? "" : "s");
    return out;
}

const char *time_text(double seconds, char *out)
{
    if (!(seconds >= 0) || seconds > 3.6e8) {
        snprintf(out, NUMBER_TEXT, "-:--");
        return out;
    }
    unsigned long s = (unsigned long)(seconds + 0.5);
    if (s >= 3600)
        snprintf(out, NUMBER_TEXT, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, NUMBER_TEXT, "%lu:%02lu", s / 60, s % 60);
    return out;
}
