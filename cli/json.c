/* SPDX-License-Identifier: MIT */
/* Two spaces per level, one value per line, for jq and for people. Numbers keep all their digits:
 * counts are printed in full, reals with as many digits as it takes to read back the same
 * double. */
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static void put(struct json *j, const char *bytes, size_t len)
{
    if (j->len + len + 1 > j->room) {
        j->room = 2 * (j->len + len + 1) + 256;
        j->text = memory_grow(j->text, j->room);
    }
    memcpy(j->text + j->len, bytes, len);
    j->len += len;
    j->text[j->len] = 0;
}

static void words(struct json *j, const char *s) { put(j, s, strlen(s)); }

static void line(struct json *j)
{
    if (j->depth == 0 && j->len == 0)
        return;
    words(j, "\n");
    for (int i = 0; i < j->depth; i++)
        words(j, "  ");
}

/* Control characters become escapes and bytes that are not UTF-8 become U+FFFD, so that the result
 * is JSON whatever a file is called. */
static size_t utf8(const unsigned char *s)
{
    static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t n = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
    unsigned c = n == 1 ? s[0] : s[0] & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        c = c << 6 | (s[i] & 0x3Fu);
    }
    return n == 1 || (n > 1 && c >= least[n] && c <= 0x10FFFF && c >> 11 != 27) ? n : 0;
}

static void quote(struct json *j, const char *s)
{
    char escape[8];
    words(j, "\"");
    while (*s) {
        unsigned char c = (unsigned char)*s;
        size_t        n = utf8((const unsigned char *)s);
        if (c == '"' || c == '\\') {
            escape[0] = '\\';
            escape[1] = (char)c;
            put(j, escape, 2);
        } else if (n == 0 || c < 32) {
            snprintf(escape, sizeof escape, "\\u%04x", n == 0 ? 0xFFFDu : c);
            words(j, escape);
            n = 1;
        } else {
            put(j, s, n);
        }
        s += n ? n : 1;
    }
    words(j, "\"");
}

static void begin(struct json *j, const char *key)
{
    if (!j->first)
        words(j, ",");
    line(j);
    j->first = false;
    if (key) {
        quote(j, key);
        words(j, ": ");
    }
}

void json_open(struct json *j, const char *key, char bracket)
{
    begin(j, key);
    put(j, &bracket, 1);
    j->depth++;
    j->first = true;
}

void json_close(struct json *j, char bracket)
{
    bool empty = j->first;
    j->depth--;
    j->first = false;
    if (!empty)
        line(j);
    put(j, &bracket, 1);
    if (j->depth == 0)
        words(j, "\n");
}

void json_text(struct json *j, const char *key, const char *value)
{
    begin(j, key);
    if (value)
        quote(j, value);
    else
        words(j, "null");
}

void json_count(struct json *j, const char *key, uint64_t value)
{
    char text[24];
    begin(j, key);
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    words(j, text);
}

void json_real(struct json *j, const char *key, double value)
{
    char text[40] = "null";
    begin(j, key);
    if (isfinite(value))
        for (int digits = 6; digits <= 17; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, value);
            if (strtod(text, NULL) == value)
                break;
        }
    words(j, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
    begin(j, key);
    words(j, value ? "true" : "false");
}

void json_free(struct json *j)
{
    free(j->text);
    *j = (struct json)JSON_INIT;
}

void json_maybe(struct json *j, const char *key, double value, bool known)
{
    if (known)
        json_real(j, key, value);
    else
        json_text(j, key, NULL);
}

void json_known(struct json *j, const char *key, uint64_t value, bool known)
{
    if (known)
        json_count(j, key, value);
    else
        json_text(j, key, NULL);
}
