/* SPDX-License-Identifier: MIT */
/* The command line's filters on Redis and any replies: what is pulled is a valid filter, and what
 * the server says about keys is understood or refused. The first byte says what is done, and whether the
 * filter is one key or shards over a cluster. */
#include <command.h>
#include <place.h>

#include "replies.h"

#define KEYS 3

/* The command line without its commands. */
const struct command *const commands[] = { NULL };
const struct command       *command_find(const char *name) { return (void)name, NULL; }

static void ask_keys(struct ref *r, uint8_t what)
{
    const blm_key keys[KEYS] = { { "a", 1 }, { "", 0 }, { "key", 3 } };
    uint8_t       out[KEYS]  = { 0 };
    size_t        n          = 0;
    blm_error     err        = { .status = BLM_OK };
    if (place_redis.keys(r, &err) != BLM_OK)
        return;
    blm_status st = what % 3 == 0   ? place_redis.check_many(r, keys, KEYS, out, &n, &err)
                    : what % 3 == 1 ? place_redis.add_many(r, keys, KEYS, out, &n, &err)
                                    : place_redis.remove_many(r, keys, KEYS, out, &n, &err);
    must(n <= KEYS);
    must(st >= 0 || (err.status == st && err.text[0]));
}

static void pull(struct ref *r)
{
    blm_error  err = { .status = BLM_OK };
    blm_params p   = { .size = sizeof p };
    blm_status st  = *r->text == 'u' ? place_redis.open(r, &err) : place_redis.like(r, &err);
    must(st == BLM_OK ? r->filter != NULL : err.status == st && !r->filter);
    if (st != BLM_OK)
        return;
    must(blm_get_params(r->filter, &p) == BLM_OK);
    fuzz_use(r->filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blm_options o = BLM_OPTIONS_INIT;
    struct ref  r = { .text = "unix:///nowhere?timeout=0.001#key", .name = "key", .lock = -1 };
    blm_error   err;
    if (size < 1 || size > 60000)
        return 0;
    replies_begin(data + 1, size - 1);
    r.place         = &place_redis;
    r.options       = o;
    r.options.items = 10;
    r.options.rate  = 0.01;
    r.options.kind  = BLM_CLASSIC; /* whose size is worked out fastest */
    if (data[0] & 64)
        r.options.flags |= BLM_REPLACE;
    if (data[0] & 128)
        r.text = "redis+cluster://nowhere:7000/key?timeout=0.001&shards=2";
    switch (data[0] % 6) {
    case 0:
    case 1:
        pull(&r);
        break;
    case 2:
        place_redis.exists(r.text);
        break;
    case 3:
        if (place_redis.create(&r, data[0] & 8, &err) == BLM_OK)
            place_redis.save(&r, &err);
        break;
    default:
        ask_keys(&r, data[0] / 6);
    }
    place_redis.drop(&r);
    blm_free(r.filter);
    replies_end();
    return 0;
}
