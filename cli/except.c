/* SPDX-License-Identifier: MIT */
#include "except.h"

#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "memory.h"
#include "progress.h"

static struct {
    blm_key *keys; /* sorted */
    size_t   count, room;
    char   **blocks; /* their bytes */
    size_t   block_count;
} list;

static int by_bytes(const void *a, const void *b)
{
    const blm_key *x = a, *y = b;
    size_t         n = x->len < y->len ? x->len : y->len;
    int            c = n ? memcmp(x->data, y->data, n) : 0;
    return c ? c : (x->len > y->len) - (x->len < y->len);
}

/* The batch's bytes are lost with the next one: a copy of them in one block. */
static void keep(const struct batch *b)
{
    size_t bytes = 0, at = 0;
    for (size_t i = 0; i < b->count; i++)
        bytes += b->keys[i].len;
    if (list.count + b->count > list.room) {
        list.room = 2 * (list.count + b->count);
        list.keys = memory_grow(list.keys, list.room * sizeof *list.keys);
    }
    char *block = memory_need(bytes + 1);
    list.blocks = memory_grow(list.blocks, (list.block_count + 1) * sizeof *list.blocks);
    list.blocks[list.block_count++] = block;
    for (size_t i = 0; i < b->count; i++) {
        if (b->keys[i].len)
            memcpy(block + at, b->keys[i].data, b->keys[i].len);
        list.keys[list.count++] = (blm_key){ block + at, b->keys[i].len };
        at += b->keys[i].len;
    }
}

bool except_read(const char *path)
{
    char        *inputs[] = { (char *)(uintptr_t)path };
    struct keys  k        = { .strict = true };
    struct batch b;
    if (!keys_open(&k, inputs, 1))
        return false;
    progress_start("keys", k.total);
    while (keys_next(&k, &b)) {
        keep(&b);
        progress_tick(k.lines, k.bytes);
    }
    progress_stop();
    bool good = !k.failed && !interrupted();
    keys_close(&k);
    if (list.count)
        qsort(list.keys, list.count, sizeof *list.keys, by_bytes);
    return good;
}

void except_free(void)
{
    for (size_t i = 0; i < list.block_count; i++)
        free(list.blocks[i]);
    free(list.blocks);
    free(list.keys);
    memset(&list, 0, sizeof list);
}

void except_drop(const struct batch *b)
{
    for (size_t i = 0; list.count && i < b->count; i++)
        if (b->flags[i] && bsearch(&b->keys[i], list.keys, list.count, sizeof *list.keys, by_bytes))
            b->flags[i] = 0;
}
