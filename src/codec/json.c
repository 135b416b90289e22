/* SPDX-License-Identifier: MIT */
#include "codec/json.h"

#include <string.h>

static bool wrong(struct blm__json *j, const char *what)
{
    j->wrong = j->at < j->len ? what : "the text ends too early";
    return false;
}

/* The next character; a text has no NUL outside of strings, so that is its end. */
static uint8_t peek(const struct blm__json *j) { return j->at < j->len ? j->text[j->at] : 0; }

static void space(struct blm__json *j)
{
    while (peek(j) == ' ' || peek(j) == '\t' || peek(j) == '\r' || peek(j) == '\n')
        j->at++;
}

static bool take(struct blm__json *j, char c, const char *else_wrong)
{
    space(j);
    if (peek(j) != (uint8_t)c)
        return wrong(j, else_wrong);
    j->at++;
    return true;
}

/* ---- values without brackets ---- */

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static bool is_hex(uint8_t c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* What follows a backslash. */
static bool escape(struct blm__json *j)
{
    uint8_t c = peek(j);
    if (c == 0 || !strchr("\"\\/bfnrtu", c))
        return wrong(j, "no such escape");
    j->at++;
    for (int i = 0; c == 'u' && i < 4; i++, j->at++)
        if (!is_hex(peek(j)))
            return wrong(j, "four hexadecimal digits are missing");
    return true;
}

static bool string(struct blm__json *j)
{
    for (j->at++; j->at < j->len;) {
        uint8_t c = j->text[j->at];
        if (c < 0x20)
            return wrong(j, "a control character in a string");
        j->at++;
        if (c == '"')
            return true;
        if (c == '\\' && !escape(j))
            return false;
    }
    return wrong(j, "");
}

static bool digits(struct blm__json *j)
{
    if (!is_digit(peek(j)))
        return wrong(j, "a digit is missing");
    while (is_digit(peek(j)))
        j->at++;
    return true;
}

static bool number(struct blm__json *j)
{
    j->at += peek(j) == '-';
    if (peek(j) == '0')
        j->at++;
    else if (!digits(j))
        return false;
    if (peek(j) == '.') {
        j->at++;
        if (!digits(j))
            return false;
    }
    if (peek(j) == 'e' || peek(j) == 'E') {
        j->at++;
        j->at += peek(j) == '+' || peek(j) == '-';
        return digits(j);
    }
    return true;
}

static bool literal(struct blm__json *j, const char *word)
{
    for (; *word; word++, j->at++)
        if (peek(j) != (uint8_t)*word)
            return wrong(j, "no JSON value");
    return true;
}

static bool scalar(struct blm__json *j)
{
    switch (peek(j)) {
    case '"':
        return string(j);
    case 't':
        return literal(j, "true");
    case 'f':
        return literal(j, "false");
    case 'n':
        return literal(j, "null");
    default:
        return peek(j) == '-' || is_digit(peek(j)) ? number(j) : wrong(j, "no JSON value");
    }
}

/* ---- values with brackets ---- */

static bool name(struct blm__json *j)
{
    space(j);
    if (peek(j) != '"')
        return wrong(j, "a member's name is missing");
    return string(j);
}

static bool name_and_colon(struct blm__json *j) { return name(j) && take(j, ':', "no colon"); }

/* The brackets that are open, a bit each: is it an object's? */
struct brackets {
    size_t  depth;
    uint8_t object[BLM__JSON_DEPTH / 8];
};

static bool is_object(const struct brackets *b)
{
    return b->object[(b->depth - 1) / 8] >> ((b->depth - 1) % 8) & 1;
}

/* In at a bracket, up to where a value must come; or out again, if there is none. */
static bool enter(struct blm__json *j, struct brackets *b)
{
    bool object = peek(j) == '{';
    if (b->depth == BLM__JSON_DEPTH)
        return wrong(j, "more than 10000 brackets are open");
    uint8_t *byte = &b->object[b->depth / 8], bit = (uint8_t)(1u << b->depth % 8);
    *byte = object ? *byte | bit : *byte & (uint8_t)~bit;
    b->depth++;
    j->at++;
    space(j);
    if (peek(j) != (object ? '}' : ']'))
        return !object || name_and_colon(j);
    j->at++;
    b->depth--;
    return true;
}

/* After a value: out of the brackets that end there, and up to the next value, if one must come. */
static bool leave(struct blm__json *j, struct brackets *b, bool *more)
{
    *more = false;
    while (b->depth > 0) {
        bool object = is_object(b);
        space(j);
        if (peek(j) == ',') {
            j->at++;
            *more = true;
            return !object || name_and_colon(j);
        }
        if (peek(j) != (object ? '}' : ']'))
            return wrong(j, "no comma and no bracket after a value");
        j->at++;
        b->depth--;
    }
    return true;
}

static bool value(struct blm__json *j)
{
    struct brackets b    = { 0 };
    bool            more = true;
    while (more) {
        size_t depth = b.depth;
        space(j);
        if (peek(j) == '{' || peek(j) == '[' ? !enter(j, &b) : !scalar(j))
            return false;
        if (b.depth == depth && !leave(j, &b, &more)) /* else its first value is next */
            return false;
    }
    return true;
}

/* ---- the object ---- */

bool blm__json_open(struct blm__json *j) { return take(j, '{', "no object"); }

bool blm__json_next(struct blm__json *j, struct blm__json_member *m)
{
    *m = (struct blm__json_member){ .name = NULL };
    space(j);
    if (peek(j) == '}') {
        j->at++;
        return false;
    }
    if (j->begun && !take(j, ',', "no comma and no bracket after a value"))
        return false;
    j->begun = true;
    space(j);
    m->at = j->at;
    if (!name(j))
        return false;
    m->name     = j->text + m->at + 1;
    m->name_len = j->at - m->at - 2;
    if (!take(j, ':', "no colon"))
        return false;
    space(j);
    m->value = j->text + j->at;
    if (!value(j))
        return false;
    m->value_len = (size_t)(j->text + j->at - m->value);
    return true;
}

bool blm__json_end(struct blm__json *j)
{
    space(j);
    if (j->at < j->len)
        return wrong(j, "something follows the JSON value");
    return true;
}
