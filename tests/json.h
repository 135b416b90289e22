/* SPDX-License-Identifier: MIT */
/* Just enough JSON to read test cases: no escapes but the simple ones, no errors but a failed test.
 * Include after cmocka.h. */
#ifndef BLM_TESTS_JSON_H
#define BLM_TESTS_JSON_H

#include "golden.h"

enum json_type { JSON_OTHER, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT };

struct json {
    enum json_type type;
    char          *name;         /* a member's; else NULL */
    char          *text;         /* of strings, and numbers and words as they were written */
    struct json   *first, *next; /* children; the next of the same parent */
};

GOLDEN_FN void json_free(struct json *j)
{
    while (j) {
        struct json *next = j->next;
        json_free(j->first);
        free(j->name);
        free(j->text);
        free(j);
        j = next;
    }
}

GOLDEN_FN char *json_copy(const char *from, const char *to)
{
    size_t n = (size_t)(to - from);
    char  *s = malloc(n + 1);
    assert_non_null(s);
    memcpy(s, from, n);
    s[n] = 0;
    return s;
}

GOLDEN_FN void json_space(const char **at) { *at += strspn(*at, " \t\r\n"); }

GOLDEN_FN char *json_string(const char **at)
{
    assert_int_equal(**at, '"');
    const char *from = ++*at;
    *at += strcspn(*at, "\"\\");
    assert_int_equal(**at, '"'); /* no case needs an escape */
    return json_copy(from, (*at)++);
}

GOLDEN_FN struct json *json_value(const char **at);

GOLDEN_FN struct json *json_children(const char **at, bool named, char close)
{
    struct json *first = NULL, **last = &first;
    ++*at;
    json_space(at);
    while (**at != close) {
        char *name = NULL;
        if (named) {
            name = json_string(at);
            json_space(at);
            assert_int_equal(*(*at)++, ':');
        }
        *last         = json_value(at);
        (*last)->name = name;
        last          = &(*last)->next;
        json_space(at);
        if (**at == ',') {
            ++*at;
            json_space(at);
        } else {
            assert_int_equal(**at, close);
        }
    }
    ++*at;
    return first;
}

GOLDEN_FN struct json *json_value(const char **at)
{
    struct json *j = calloc(1, sizeof *j);
    assert_non_null(j);
    json_space(at);
    if (**at == '{' || **at == '[') {
        bool object = **at == '{';
        j->type     = object ? JSON_OBJECT : JSON_ARRAY;
        j->first    = json_children(at, object, object ? '}' : ']');
    } else if (**at == '"') {
        j->type = JSON_TEXT;
        j->text = json_string(at);
    } else {
        const char *from = *at;
        j->type          = strchr("-0123456789", **at) ? JSON_NUMBER : JSON_OTHER;
        *at += strcspn(*at, ",]} \t\r\n");
        j->text = json_copy(from, *at);
    }
    return j;
}

GOLDEN_FN struct json *json_parse(const struct golden_file *f)
{
    const char  *at = f->data;
    struct json *j  = json_value(&at);
    json_space(&at);
    assert_int_equal(*at, 0);
    return j;
}

/* A member of an object; NULL: none of that name. */
GOLDEN_FN const struct json *json_member(const struct json *o, const char *name)
{
    for (const struct json *m = o->first; m; m = m->next)
        if (strcmp(m->name, name) == 0)
            return m;
    return NULL;
}

GOLDEN_FN const struct json *json_must(const struct json *o, const char *name)
{
    const struct json *m = json_member(o, name);
    if (!m)
        fail_msg("no member %s", name);
    return m;
}

GOLDEN_FN double json_number(const struct json *o, const char *name)
{
    return strtod(json_must(o, name)->text, NULL);
}

/* Hex text to bytes. */
struct json_bytes {
    uint8_t *data;
    size_t   len;
};

GOLDEN_FN struct json_bytes json_unhex(const struct json *j)
{
    struct json_bytes b;
    b.data = (uint8_t *)json_copy(j->text, j->text + strlen(j->text));
    b.len  = golden_unhex((char *)b.data);
    return b;
}

GOLDEN_FN struct json_bytes json_hex(const struct json *o, const char *name)
{
    return json_unhex(json_must(o, name));
}

#endif
