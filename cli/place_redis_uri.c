/* SPDX-License-Identifier: MIT */
/*
 * References to filters on Redis:
 *
 *   redis://[user:password@]host[:port]/[db/]KEY[?timeout=SECONDS]
 *   unix://[user:password@]/path/of/socket[?db=N&timeout=SECONDS]#KEY      (also redis+unix://)
 *
 * As for redis-cli -u, plus the key. Each part is percent-decoded. The key is everything up to the
 * end, including slashes; digits and a slash before it are the database. If there is no password,
 * REDISCLI_AUTH in the environment is used, which does not show up in a list of processes.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "place_redis.h"

#define DEFAULT_PORT    6379
#define DEFAULT_TIMEOUT 30.0
#define MOST_TIMEOUT    86400.0

static const struct {
    const char *prefix;
    bool        socket;
} forms[] = {
    { "redis://", false }, { "rediss://", false }, { "redis+unix://", true },
    { "unix://", true },   { "unix:", true },
};

static blm_status bad(blm_error *err, const char *what)
{
    char text[200];
    snprintf(text, sizeof text,
             "%s: write redis://[user:password@]host[:port]/[db/]KEY or "
             "unix://[user:password@]/path/of/socket[?db=N]#KEY",
             what);
    return place_fail(err, BLM_E_UNSUPPORTED, 0, text);
}

/* What follows the prefix; NULL: not a reference to Redis. */
static const char *after_prefix(const char *text, bool *socket)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = strlen(forms[i].prefix);
        if (strncmp(text, forms[i].prefix, n) == 0) {
            *socket = forms[i].socket;
            return text + n;
        }
    }
    return NULL;
}

/* User and password end at the last @ before the first slash: a / in a password is %2F. */
static const char *secret_end(const char *start)
{
    const char *at = NULL;
    for (const char *c = start; *c && *c != '/'; c++)
        if (*c == '@')
            at = c;
    return at;
}

size_t redis_uri_secret(const char *text, size_t *at)
{
    bool             socket;
    const char      *start = after_prefix(text, &socket);
    const char      *end   = start ? secret_end(start) : NULL;
    struct redis_uri u;
    blm_error        err;
    if (!start)
        return 0;
    *at = (size_t)(start - text);
    if (redis_uri_parse(text, &u, &err) != BLM_OK) /* perhaps a password that was not encoded */
        return strchr(start, '@') ? (size_t)(strrchr(start, '@') + 1 - start) : 0;
    redis_uri_free(&u);
    return end ? (size_t)(end + 1 - start) : 0;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* NULL: a % without two hexadecimal digits. */
static char *decode(const char *start, const char *end, size_t *len)
{
    char  *out = memory_need((size_t)(end - start) + 1);
    size_t n   = 0;
    for (const char *c = start; c < end; c++) {
        if (*c != '%') {
            out[n++] = *c;
            continue;
        }
        if (end - c < 3 || digit(c[1]) < 0 || digit(c[2]) < 0) {
            free(out);
            return NULL;
        }
        out[n++] = (char)(digit(c[1]) << 4 | digit(c[2]));
        c += 2;
    }
    out[n] = 0;
    if (len)
        *len = n;
    return out;
}

/* Digits only, below 2^31. */
static bool small_number(const char *start, const char *end, uint64_t *out)
{
    if (start == end || end - start > 9)
        return false;
    for (*out = 0; start < end; start++) {
        if (*start < '0' || *start > '9')
            return false;
        *out = *out * 10 + (uint64_t)(*start - '0');
    }
    return true;
}

static blm_status take_secret(const char *start, const char *end, struct redis_uri *u,
                              blm_error *err)
{
    const char *colon = memchr(start, ':', (size_t)(end - start));
    if (colon && colon > start)
        u->user = decode(start, colon, NULL);
    u->password = decode(colon ? colon + 1 : start, end, NULL);
    return u->password && (u->user || !colon || colon == start)
               ? BLM_OK
               : bad(err, "a % in the password is not followed by two hexadecimal digits");
}

static blm_status take_host(const char *start, const char *end, struct redis_uri *u, blm_error *err)
{
    const char *colon = NULL;
    uint64_t    port  = DEFAULT_PORT;
    if (start < end && *start == '[') { /* an IPv6 address has colons of its own */
        const char *close = memchr(start, ']', (size_t)(end - start));
        if (!close)
            return bad(err, "the [ has no ]");
        u->host = decode(start + 1, close, NULL);
        colon   = close + 1 < end ? close + 1 : NULL;
        if (colon && *colon != ':')
            return bad(err, "there is something between the ] and the port");
    } else {
        colon   = memchr(start, ':', (size_t)(end - start));
        u->host = decode(start, colon ? colon : end, NULL);
    }
    if (colon && (!small_number(colon + 1, end, &port) || port == 0 || port > 65535))
        return bad(err, "the port is not a number from 1 to 65535");
    if (!u->host)
        return bad(err, "a % in the host is not followed by two hexadecimal digits");
    if (!*u->host) {
        free(u->host);
        u->host = strcpy(memory_need(sizeof "127.0.0.1"), "127.0.0.1");
    }
    u->port = (int)port;
    return BLM_OK;
}

static blm_status take_query(const char *start, const char *end, struct redis_uri *u,
                             blm_error *err)
{
    while (start < end) {
        const char *stop = memchr(start, '&', (size_t)(end - start));
        stop             = stop ? stop : end;
        if (u->socket && strncmp(start, "db=", 3) == 0) {
            if (!small_number(start + 3, stop, &u->db))
                return bad(err, "db is not a number");
        } else if (strncmp(start, "timeout=", 8) == 0) {
            char *rest;
            u->timeout = isdigit((unsigned char)start[8]) ? strtod(start + 8, &rest) : 0;
            if (!(u->timeout > 0 && u->timeout <= MOST_TIMEOUT) || rest != stop)
                return bad(err, "timeout is not a number of seconds");
        } else {
            return bad(err, u->socket ? "after the ? only db and timeout are known"
                                      : "after the ? only timeout is known (a ? in a key is %3F)");
        }
        start = stop < end ? stop + 1 : end;
    }
    return BLM_OK;
}

static blm_status take_key(const char *start, const char *end, struct redis_uri *u, blm_error *err)
{
    if (start == end)
        return bad(err, "the key is missing");
    u->key = decode(start, end, &u->key_len);
    return u->key ? BLM_OK : bad(err, "a % in the key is not followed by two hexadecimal digits");
}

static blm_status parse_tcp(const char *rest, struct redis_uri *u, blm_error *err)
{
    const char *slash = strchr(rest, '/'), *end, *query;
    uint64_t    db;
    if (!slash)
        return bad(err, "the key is missing");
    blm_status st = take_host(rest, slash, u, err);
    if (st != BLM_OK)
        return st;
    query              = strchr(slash, '?');
    end                = query ? query : slash + strlen(slash);
    const char *second = memchr(slash + 1, '/', (size_t)(end - slash - 1));
    if (second && small_number(slash + 1, second, &db)) {
        u->db = db;
        slash = second;
    } else if (!second && small_number(slash + 1, end, &db)) {
        return bad(err, "there is a database but no key");
    }
    st = query ? take_query(query + 1, query + strlen(query), u, err) : BLM_OK;
    return st == BLM_OK ? take_key(slash + 1, end, u, err) : st;
}

static blm_status parse_socket(const char *rest, struct redis_uri *u, blm_error *err)
{
    const char *hash = strchr(rest, '#');
    if (*rest != '/')
        return bad(err, "the path of a socket begins with /");
    if (!hash)
        return bad(err, "the key is missing");
    const char *query = memchr(rest, '?', (size_t)(hash - rest));
    u->socket         = decode(rest, query ? query : hash, NULL);
    if (!u->socket)
        return bad(err, "a % in the path is not followed by two hexadecimal digits");
    blm_status st = query ? take_query(query + 1, hash, u, err) : BLM_OK;
    return st == BLM_OK ? take_key(hash + 1, hash + strlen(hash), u, err) : st;
}

blm_status redis_uri_parse(const char *text, struct redis_uri *u, blm_error *err)
{
    bool        socket = false;
    const char *rest   = after_prefix(text, &socket), *secret, *word;
    blm_status  st     = BLM_OK;
    *u                 = (struct redis_uri){ .timeout = DEFAULT_TIMEOUT };
    if (!rest)
        return bad(err, "this is not a reference to Redis");
    if (strncmp(text, "rediss:", 7) == 0)
        return place_fail(err, BLM_E_UNSUPPORTED, 0,
                          "TLS is not supported: use a socket, or redis:// through a tunnel such "
                          "as stunnel");
    secret = secret_end(rest);
    if (secret) {
        st   = take_secret(rest, secret, u, err);
        rest = secret + 1;
    } else if ((word = getenv("REDISCLI_AUTH")) && *word) {
        u->password = strcpy(memory_need(strlen(word) + 1), word);
    }
    if (st == BLM_OK)
        st = socket ? parse_socket(rest, u, err) : parse_tcp(rest, u, err);
    if (st != BLM_OK)
        redis_uri_free(u);
    return st;
}

void redis_uri_free(struct redis_uri *u)
{
    free(u->host);
    free(u->socket);
    free(u->user);
    free(u->password);
    free(u->key);
    *u = (struct redis_uri){ 0 };
}
