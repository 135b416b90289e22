/* SPDX-License-Identifier: MIT */
/* A data set in memory that all processes share: a row is one atomic word, so that a process may be
 * killed at any moment. Variant 1 cannot keep a mark. */
#include <string.h>

#include "world.h"

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    (void)ctx, (void)err;
    unsigned k   = key_number(key, len);
    uint32_t row = k < MOST_KEYS ? atomic_load(&world->key[k].row) : 0;
    if (row && value)
        value(value_ctx, &row, sizeof row);
    return row ? BLM_OK : BLM_E_ABSENT;
}

static blm_status put(void *ctx, const void *key, size_t len, const void *value, size_t value_len,
                      blm_error *err)
{
    (void)ctx, (void)err, (void)value, (void)value_len;
    atomic_store(&world->key[key_number(key, len)].row, 1);
    return BLM_OK;
}

static blm_status del(void *ctx, const void *key, size_t len, blm_error *err)
{
    (void)ctx, (void)err;
    return atomic_exchange(&world->key[key_number(key, len)].row, 0) ? BLM_OK : BLM_E_ABSENT;
}

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    char key[KEY_ROOM];
    (void)ctx, (void)err;
    for (unsigned k = 0; k < world->keys; k++)
        if (atomic_load(&world->key[k].row) && !each(each_ctx, key, key_bytes(k, key)))
            return BLM_E_CANCELLED;
    return BLM_OK;
}

static blm_status count(void *ctx, uint64_t *rows, blm_error *err)
{
    (void)ctx, (void)err;
    *rows = 0;
    for (unsigned k = 0; k < world->keys; k++)
        *rows += atomic_load(&world->key[k].row);
    return BLM_OK;
}

static blm_status mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    (void)ctx, (void)err;
    uint32_t now = atomic_load(&world->mark_now);
    if (now == 2)
        return BLM_E_ABSENT;
    *len = atomic_load(&world->mark_len[now]);
    memcpy(mark, world->mark[now], *len);
    return BLM_OK;
}

static blm_status mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    (void)ctx, (void)err;
    uint32_t next = atomic_load(&world->mark_now) == 0;
    memcpy(world->mark[next], mark, len);
    atomic_store(&world->mark_len[next], (uint32_t)len);
    atomic_store(&world->mark_now, next);
    return BLM_OK;
}

static void prepare(void)
{
    for (unsigned k = 0; k < MOST_KEYS; k++)
        atomic_store(&world->key[k].row, 0);
    atomic_store(&world->mark_now, 2);
}

static blm_status open_it(blm_dataset *out, blm_error *err)
{
    (void)err;
    *out = (blm_dataset){ .size       = sizeof *out,
                          .get        = get,
                          .put        = put,
                          .del        = del,
                          .scan       = scan,
                          .count      = count,
                          .mark_read  = mark_read,
                          .mark_write = mark_write };
    return BLM_OK;
}

const struct adapter memory_adapter = { .name       = "memory",
                                        .forks      = true,
                                        .operations = 3000,
                                        .variants   = 1,
                                        .prepare    = prepare,
                                        .open       = open_it };
