/* SPDX-License-Identifier: MIT */
/* The Redis adapter's client and any replies. The first byte says what the rows are, the second
 * what is asked. Only an answer that says so means "absent". */
#include <bloomery_redis.h>

#include "replies.h"

static size_t seen;

static bool take_key(void *ctx, const void *key, size_t len)
{
    uint8_t *sum = ctx;
    for (size_t i = 0; i < len; i++) /* every byte must be readable */
        *sum ^= ((const uint8_t *)key)[i];
    return ++seen < 1000;
}

static bool take_value(void *ctx, const void *bytes, size_t len)
{
    return take_key(ctx, bytes, len);
}

static bool told_absent(void)
{
    return replies_have("$-1") || replies_have("*-1") || replies_have("_\r\n");
}

static void ask(const blm_dataset *d, uint8_t what)
{
    uint8_t    sum = 0, mark[BLM_MARK_MAX];
    size_t     len = 0;
    uint64_t   rows;
    blm_error  err = { .status = BLM_OK };
    blm_status st  = BLM_OK;
    switch (what % 7) {
    case 0:
        st = d->get(d->ctx, "key", 3, take_value, &sum, &err);
        must(st != BLM_E_ABSENT || told_absent());
        break;
    case 1:
        st = d->put(d->ctx, "key", 3, "value", 5, &err);
        must(st != BLM_E_ABSENT);
        break;
    case 2:
        st = d->del(d->ctx, "key", 3, &err);
        break;
    case 3:
        st = d->scan(d->ctx, take_key, &sum, &err);
        must(st != BLM_E_ABSENT);
        break;
    case 4:
        st = d->count ? d->count(d->ctx, &rows, &err) : BLM_OK;
        must(st != BLM_E_ABSENT);
        break;
    case 5:
        st = d->mark_read(d->ctx, mark, &len, &err);
        must(st != BLM_OK || (len > 0 && len <= BLM_MARK_MAX));
        break;
    default:
        st = d->mark_write(d->ctx, "mark", 4, &err);
        must(st != BLM_E_ABSENT);
    }
    must(st == BLM_OK || st == BLM_E_ABSENT || (err.status == st && err.text[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blm_redis_options o = BLM_REDIS_OPTIONS_INIT;
    blm_dataset       d;
    blm_error         err;
    if (size < 2 || size > 60000)
        return 0;
    o.socket     = "/nowhere";
    o.timeout_ms = 1000;
    o.prefix     = data[0] & 1 ? "row:" : NULL;
    o.field      = data[0] & 2 ? "f" : NULL;
    o.hash       = data[0] & 4 ? "rows" : NULL;
    o.password   = data[0] & 8 ? "secret" : NULL;
    o.database   = data[0] & 16 ? 3 : 0;
    seen         = 0;
    replies_begin(data + 2, size - 2);
    if (blm_redis_open(&o, &d, &err) == BLM_OK) {
        for (uint8_t i = 0; i < 4; i++)
            ask(&d, (uint8_t)(data[1] + i));
        d.close(d.ctx);
    }
    replies_end();
    return 0;
}
