/* SPDX-License-Identifier: MIT */
/*
 * URLs of filters on Redis: bloomery_remote.h lists them. They are as for redis-cli -u, plus the key.
 * Each part is percent-decoded. The key is everything up to the end, including slashes; digits and a
 * slash before it are the database, except on a cluster, which has only one. If there is no
 * password, REDISCLI_AUTH in the environment is used, which does not show up in a list of processes.
 *
 * Nothing here needs hiredis: a program without it can still hide passwords.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote_url.h"

#define DEFAULT_PORT    6379
#define DEFAULT_TIMEOUT 30.0
#define MOST_TIMEOUT    86400.0

enum form { HOST, TLS, SOCKET, CLUSTER };

static const struct {
    const char *prefix;
    enum form   form;
} forms[] = {
    { "redis://", HOST },        { "rediss://", TLS },
    { "redis+unix://", SOCKET }, { "redis+cluster://", CLUSTER },
    { "unix://", SOCKET },       { "unix:", SOCKET },
};

static blm_status fail(blm_error *err, blm_status st, const char *text)
{
    *err = (blm_error){ .status = st, .offset = BLM_NO_OFFSET };
    snprintf(err->text, sizeof err->text, "%s", text);
    return st;
}

static blm_status bad(const struct blm__remote_url *u, blm_error *err, const char *what)
{
    char text[256];
    snprintf(text, sizeof text, "%s: write %s", what,
             u->cluster ? "redis+cluster://[user:password@]host[:port],host[:port]/KEY[?shards=N]"
                        : "redis://[user:password@]host[:port]/[db/]KEY or "
                          "unix://[user:password@]/path/of/socket[?db=N]#KEY");
    return fail(err, BLM_E_UNSUPPORTED, text);
}

static blm_status no_memory(blm_error *err) { return fail(err, BLM_E_MEMORY, "out of memory"); }

/* What follows the prefix; NULL: not a URL of Redis. */
static const char *after_prefix(const char *text, enum form *form)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t n = strlen(forms[i].prefix);
        if (strncmp(text, forms[i].prefix, n) == 0) {
            *form = forms[i].form;
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

size_t blm_remote_secret(const char *text, size_t *at)
{
    enum form              form;
    const char            *start = after_prefix(text, &form);
    const char            *end   = start ? secret_end(start) : NULL;
    struct blm__remote_url u;
    blm_error              err;
    if (!start)
        return 0;
    *at = (size_t)(start - text);
    if (blm__remote_url_parse(text, &u, &err) != BLM_OK) /* perhaps a password not encoded */
        return strchr(start, '@') ? (size_t)(strrchr(start, '@') + 1 - start) : 0;
    blm__remote_url_free(&u);
    return end ? (size_t)(end + 1 - start) : 0;
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* `what` it is, for the message about a % without two hexadecimal digits. */
static blm_status decode(const struct blm__remote_url *u, const char *what, const char *start,
                         const char *end, char **text, size_t *len, blm_error *err)
{
    char  *out = malloc((size_t)(end - start) + 1);
    size_t n   = 0;
    char   words[80];
    if (!out)
        return no_memory(err);
    for (const char *c = start; c < end; c++) {
        if (*c != '%') {
            out[n++] = *c;
            continue;
        }
        if (end - c < 3 || digit(c[1]) < 0 || digit(c[2]) < 0) {
            free(out);
            snprintf(words, sizeof words,
                     "a %% in the %s is not followed by two hexadecimal digits", what);
            return bad(u, err, words);
        }
        out[n++] = (char)(digit(c[1]) << 4 | digit(c[2]));
        c += 2;
    }
    out[n] = 0;
    *text  = out;
    if (len)
        *len = n;
    return BLM_OK;
}

/* Digits only, below 10^9. */
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

static blm_status take_secret(const char *start, const char *end, struct blm__remote_url *u,
                              blm_error *err)
{
    const char *colon = memchr(start, ':', (size_t)(end - start));
    blm_status  st    = BLM_OK;
    if (colon && colon > start)
        st = decode(u, "password", start, colon, &u->user, NULL, err);
    return st == BLM_OK
               ? decode(u, "password", colon ? colon + 1 : start, end, &u->password, NULL, err)
               : st;
}

static blm_status take_host(const char *start, const char *end, struct blm__remote_url *u,
                            blm_error *err)
{
    const char              *colon = NULL;
    uint64_t                 port  = DEFAULT_PORT;
    blm_status               st;
    struct blm__remote_seed *more = realloc(u->seeds, (u->seed_count + 1) * sizeof *more);
    if (!more)
        return no_memory(err);
    u->seeds                      = more;
    struct blm__remote_seed *seed = &u->seeds[u->seed_count++];
    *seed                         = (struct blm__remote_seed){ NULL, 0 };
    if (start < end && *start == '[') { /* an IPv6 address has colons of its own */
        const char *close = memchr(start, ']', (size_t)(end - start));
        if (!close)
            return bad(u, err, "the [ has no ]");
        st    = decode(u, "host", start + 1, close, &seed->host, NULL, err);
        colon = close + 1 < end ? close + 1 : NULL;
        if (st == BLM_OK && colon && *colon != ':')
            return bad(u, err, "there is something between the ] and the port");
    } else {
        colon = memchr(start, ':', (size_t)(end - start));
        st    = decode(u, "host", start, colon ? colon : end, &seed->host, NULL, err);
    }
    if (colon && (!small_number(colon + 1, end, &port) || port == 0 || port > 65535))
        return bad(u, err, "the port is not a number from 1 to 65535");
    if (st == BLM_OK && !*seed->host) {
        free(seed->host);
        seed->host = strdup("127.0.0.1");
        st         = seed->host ? BLM_OK : no_memory(err);
    }
    seed->port = (int)port;
    return st;
}

static blm_status take_hosts(const char *start, const char *end, struct blm__remote_url *u,
                             blm_error *err)
{
    for (blm_status st;; start++) {
        const char *comma = u->cluster ? memchr(start, ',', (size_t)(end - start)) : NULL;
        st                = take_host(start, comma ? comma : end, u, err);
        if (st != BLM_OK || !comma)
            return st;
        start = comma;
    }
}

static blm_status take_word(const char *start, const char *stop, struct blm__remote_url *u,
                            blm_error *err)
{
    uint64_t n;
    char    *rest;
    if (u->socket && strncmp(start, "db=", 3) == 0)
        return small_number(start + 3, stop, &u->db) ? BLM_OK : bad(u, err, "db is not a number");
    if (u->cluster && strncmp(start, "shards=", 7) == 0) {
        if (!small_number(start + 7, stop, &n) || n < 1 || n > BLM__SLOTS)
            return bad(u, err, "shards is not a number from 1 to 16384");
        u->shards = (uint32_t)n;
        return BLM_OK;
    }
    if (strncmp(start, "timeout=", 8) == 0) {
        u->timeout = isdigit((unsigned char)start[8]) ? strtod(start + 8, &rest) : 0;
        return u->timeout > 0 && u->timeout <= MOST_TIMEOUT && rest == stop
                   ? BLM_OK
                   : bad(u, err, "timeout is not a number of seconds");
    }
    return bad(u, err,
               u->socket    ? "after the ? only db and timeout are known"
               : u->cluster ? "after the ? only shards and timeout are known (a ? in a key is %3F)"
                            : "after the ? only timeout is known (a ? in a key is %3F)");
}

static blm_status take_query(const char *start, const char *end, struct blm__remote_url *u,
                             blm_error *err)
{
    blm_status st = BLM_OK;
    while (start < end && st == BLM_OK) {
        const char *stop = memchr(start, '&', (size_t)(end - start));
        stop             = stop ? stop : end;
        st               = take_word(start, stop, u, err);
        start            = stop < end ? stop + 1 : end;
    }
    return st;
}

static blm_status take_key(const char *start, const char *end, struct blm__remote_url *u,
                           blm_error *err)
{
    return start == end ? bad(u, err, "the key is missing")
                        : decode(u, "key", start, end, &u->key, &u->key_len, err);
}

static blm_status parse_hosts(const char *rest, struct blm__remote_url *u, blm_error *err)
{
    const char *slash = strchr(rest, '/'), *end, *query;
    uint64_t    db;
    if (!slash)
        return bad(u, err, "the key is missing");
    blm_status st = take_hosts(rest, slash, u, err);
    if (st != BLM_OK)
        return st;
    query              = strchr(slash, '?');
    end                = query ? query : slash + strlen(slash);
    const char *second = memchr(slash + 1, '/', (size_t)(end - slash - 1));
    if (!u->cluster && second && small_number(slash + 1, second, &db)) {
        u->db = db;
        slash = second;
    } else if (!u->cluster && !second && small_number(slash + 1, end, &db)) {
        return bad(u, err, "there is a database but no key");
    }
    st = query ? take_query(query + 1, query + strlen(query), u, err) : BLM_OK;
    return st == BLM_OK ? take_key(slash + 1, end, u, err) : st;
}

static blm_status parse_socket(const char *rest, struct blm__remote_url *u, blm_error *err)
{
    const char *hash = strchr(rest, '#');
    if (*rest != '/')
        return bad(u, err, "the path of a socket begins with /");
    if (!hash)
        return bad(u, err, "the key is missing");
    const char *query = memchr(rest, '?', (size_t)(hash - rest));
    blm_status  st    = decode(u, "path", rest, query ? query : hash, &u->socket, NULL, err);
    if (st == BLM_OK && query)
        st = take_query(query + 1, hash, u, err);
    return st == BLM_OK ? take_key(hash + 1, hash + strlen(hash), u, err) : st;
}

static blm_status parse(const char *rest, enum form form, struct blm__remote_url *u, blm_error *err)
{
    const char *secret = secret_end(rest), *word;
    blm_status  st     = BLM_OK;
    if (secret) {
        st   = take_secret(rest, secret, u, err);
        rest = secret + 1;
    } else if ((word = getenv("REDISCLI_AUTH")) && *word) {
        u->password = strdup(word);
        st          = u->password ? BLM_OK : no_memory(err);
    }
    if (st != BLM_OK)
        return st;
    return form == SOCKET ? parse_socket(rest, u, err) : parse_hosts(rest, u, err);
}

blm_status blm__remote_url_parse(const char *text, struct blm__remote_url *u, blm_error *err)
{
    enum form   form = HOST;
    const char *rest = text ? after_prefix(text, &form) : NULL;
    *u = (struct blm__remote_url){ .timeout = DEFAULT_TIMEOUT, .cluster = form == CLUSTER };
    if (!text)
        return fail(err, BLM_E_ARGUMENT, "no reference to Redis (NULL)");
    if (!rest)
        return bad(u, err, "this is not a reference to Redis");
    if (form == TLS)
        return fail(err, BLM_E_UNSUPPORTED,
                    "TLS is not supported: use a socket, or redis:// through a tunnel such as "
                    "stunnel");
    blm_status st = parse(rest, form, u, err);
    if (st != BLM_OK)
        blm__remote_url_free(u);
    return st;
}

void blm__remote_url_free(struct blm__remote_url *u)
{
    for (size_t i = 0; i < u->seed_count; i++)
        free(u->seeds[i].host);
    free(u->seeds);
    free(u->socket);
    free(u->user);
    free(u->password);
    free(u->key);
    *u = (struct blm__remote_url){ .seed_count = 0 };
}
