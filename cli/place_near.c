/* SPDX-License-Identifier: MIT */
/* near+redis://…: a copy of a filter on Redis, loaded once and then followed, for check. And the
 * directory that bloomery follow keeps of a filter in shards. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "place.h"

#define NEAR   "near+"
#define PREFIX "near+redis:// near+redis+unix:// near+redis+cluster:// near+unix:"

static const char *server_of(const char *text) { return text + strlen(NEAR); }

static size_t near_secret(const char *text, size_t *at)
{
    size_t len = place_redis.secret(server_of(text), at);
    *at += strlen(NEAR);
    return len;
}

static bool near_exists(const char *text) { return place_redis.exists(server_of(text)); }

static blm_status near_open(struct ref *r, blm_error *err)
{
    (void)r;
    return place_fail(err, BLM_E_UNSUPPORTED, 0,
                      "a near copy is only for checks: give the filter itself, redis://host/KEY");
}

static blm_status near_create(struct ref *r, bool whole, blm_error *err)
{
    (void)whole;
    return near_open(r, err);
}

bool place_is_copy(const char *text)
{
    char        path[4096];
    struct stat s;
    return snprintf(path, sizeof path, "%s/shards", text) < (int)sizeof path &&
           stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

static bool copy_exists(const char *text)
{
    (void)text;
    return true; /* or it were another place */
}

static blm_status copy_open(struct ref *r, blm_error *err)
{
    (void)r;
    return place_fail(err, BLM_E_UNSUPPORTED, 0,
                      "this directory is a copy of a filter in shards, only for checks: give the "
                      "filter itself, redis+cluster://host/KEY");
}

static blm_status copy_create(struct ref *r, bool whole, blm_error *err)
{
    (void)whole;
    return copy_open(r, err);
}

#ifdef BLOOMERY_WITH_HIREDIS
#include <bloomery_near.h>
#include <stdatomic.h>

#include "say.h"

static void near_drop(struct ref *r)
{
    blm_near_close(r->connection);
    r->connection = NULL;
}

static blm_status near_keys(struct ref *r, blm_error *err)
{
    blm_near_options o = BLM_NEAR_OPTIONS_INIT;
    blm_near        *n = NULL;
    if (r->changes)
        return near_open(r, err);
    o.ask         = true;
    blm_status st = blm_near_open(server_of(r->text), &o, &n, err);
    r->connection = n;
    r->remote     = st == BLM_OK;
    return st;
}

static blm_status near_check(struct ref *r, const blm_key *keys, size_t count, uint8_t *maybe,
                             size_t *hits, blm_error *err)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    blm_near_stats     s    = { .size = sizeof s };
    (void)err;
    *hits = blm_near_check_many(r->connection, keys, count, maybe);
    blm_near_get_stats(r->connection, &s);
    if (!s.current && !atomic_flag_test_and_set(&said))
        say("%s: the copy is out of date: the server is asked, and while it does not answer every "
            "key may be in it",
            ref_name(r->text));
    return BLM_OK;
}

const struct place place_near = {
    .prefix     = PREFIX,
    .secret     = near_secret,
    .exists     = near_exists,
    .open       = near_open,
    .keys       = near_keys,
    .change     = near_open,
    .create     = near_create,
    .save       = near_open,
    .drop       = near_drop,
    .check_many = near_check,
};

/* As old as it is, as any file. */
static blm_status copy_keys(struct ref *r, blm_error *err)
{
    blm_near *n = NULL;
    if (r->changes)
        return copy_open(r, err);
    blm_status st = blm_near_open_file(r->text, NULL, &n, err);
    r->connection = n;
    r->remote     = st == BLM_OK;
    return st;
}

#else

static blm_status copy_keys(struct ref *r, blm_error *err) { return place_redis.keys(r, err); }
static blm_status no_keys(struct ref *r, blm_error *err) { return place_redis.keys(r, err); }

const struct place place_near = {
    .prefix = PREFIX,
    .secret = near_secret,
    .exists = near_exists,
    .open   = near_open,
    .keys   = no_keys,
    .change = near_open,
    .create = near_create,
    .save   = near_open,
};
#endif

const struct place place_copy = {
    .exists = copy_exists,
    .open   = copy_open,
    .keys   = copy_keys,
    .change = copy_open,
    .create = copy_create,
    .save   = copy_open,
#ifdef BLOOMERY_WITH_HIREDIS
    .drop       = near_drop,
    .check_many = near_check,
#endif
};
