/* SPDX-License-Identifier: MIT */
/* A small JSON writer. It appends values to a growing text and adds commas and indentation. Keys
 * and their order are part of the contract of each command that uses it. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char  *text; /* NUL-ended; freed by json_free */
    size_t len, room;
    int    depth;
    bool   first; /* nothing yet at this depth */
};
#define JSON_INIT     \
    {                 \
        .first = true \
    }

/* `key` is NULL inside arrays and at the top. */
void json_open(struct json *j, const char *key, char bracket);      /* '{' or '[' */
void json_close(struct json *j, char bracket);                      /* '}' or ']' */
void json_text(struct json *j, const char *key, const char *value); /* NULL: null */
void json_count(struct json *j, const char *key, uint64_t value);
void json_real(struct json *j, const char *key, double value); /* not finite: null */
/* The value, or null if it is not known. */
void json_maybe(struct json *j, const char *key, double value, bool known);
void json_known(struct json *j, const char *key, uint64_t value, bool known);
void json_bool(struct json *j, const char *key, bool value);
void json_free(struct json *j);

#endif
