/* SPDX-License-Identifier: MIT */
/* Near copies. By the first byte: a server that gives any replies while a copy is loaded and followed;
 * or a directory with any descriptor of shards, beside two files that are whole. Or filters of shards on
 * a cluster that gives any replies while they are merged. */
#include <bloomery_near.h>
#include <bloomery_remote.h>

#include "place.h"
#include "replies.h"

static void ask(blm_near *n)
{
    const blm_key  keys[2]  = { { "a", 1 }, { "", 0 } };
    uint8_t        maybe[2] = { 9, 9 };
    blm_near_stats s        = { .size = sizeof s };
    size_t         yes      = blm_near_check_many(n, keys, 2, maybe);
    must(yes == (size_t)maybe[0] + maybe[1] && maybe[0] <= 1 && maybe[1] <= 1);
    blm_near_check(n, "key", 3);
    blm_near_get_stats(n, &s);
}

/* Then the server is asked, which here forgets what it has acknowledged. */
static bool too_old(blm_near *n)
{
    blm_near_stats s = { .size = sizeof s };
    blm_near_get_stats(n, &s);
    return !s.current;
}

static void follow(const uint8_t *data, size_t size, uint8_t how)
{
    blm_near_options o   = BLM_NEAR_OPTIONS_INIT;
    blm_near        *n   = NULL;
    blm_error        err = { .status = BLM_OK };
    const blm_key    key = { "key", 3 };
    uint8_t          fresh;
    size_t           done = 0;
    o.every_ms            = UINT32_MAX; /* only when we say so */
    o.ask                 = how & 2;
    replies_begin(data, size);
    blm_status st = blm_near_open("unix:///nowhere?timeout=0.001#key", &o, &n, &err);
    must(st == BLM_OK ? n != NULL : !n && err.status == st && err.text[0]);
    if (n) {
        ask(n);
        st = blm_near_update(n, &err);
        must(st == BLM_OK || (err.status == st && err.text[0]));
        st = blm_near_add_many(n, &key, 1, &fresh, &done, &err);
        must(st >= 0 || (err.status == st && err.text[0]));
        must(st < 0 || blm_near_check(n, "key", 3) || (o.ask && too_old(n)));
        st = blm_near_update(n, &err);
        must(st == BLM_OK || (err.status == st && err.text[0]));
        ask(n);
    }
    blm_near_close(n);
    replies_end();
}

/* The bytes of a shard are made once: working out its size took more time than all the rest. */
static void write_shard(char path[160], const char *dir, unsigned i)
{
    static struct fuzz_bytes shard;
    if (!shard.len) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f;
        o.items = 10;
        o.rate  = 0.01;
        must(blm_create(&o, &f, NULL) == BLM_OK && blm_add(f, "key", 3) >= 0);
        must(blm_encode(f, "native", fuzz_append, &shard, NULL) == BLM_OK);
        blm_free(f);
    }
    snprintf(path, 160, "%s/00000001-%05u.blm", dir, i);
    place_write(path, shard.bytes, shard.len);
}

static void open_directory(const uint8_t *data, size_t size)
{
    char      dir[128], path[160], shard[2][160];
    blm_near *n   = NULL;
    blm_error err = { .status = BLM_OK };
    place_path(dir, "copy");
    must(mkdir(dir, 0700) == 0);
    snprintf(path, sizeof path, "%s/shards", dir);
    place_write(path, data, size);
    for (unsigned i = 0; i < 2; i++)
        write_shard(shard[i], dir, i);
    blm_status st = blm_near_open_file(dir, NULL, &n, &err);
    must(st == BLM_OK ? n != NULL : !n && err.status == st && err.text[0]);
    if (n) {
        ask(n);
        must(blm_near_check(n, "key", 3)); /* both have it */
    }
    blm_near_close(n);
    unlink(path);
    unlink(shard[0]);
    unlink(shard[1]);
    must(rmdir(dir) == 0);
}

/* One to three filters that are opened one after another, whatever came of those before. */
static void merge(const uint8_t *data, size_t size, uint8_t how)
{
    static const char url[]   = "redis+cluster://nowhere:7000/key?timeout=0.001&shards=2";
    blm_remote       *from[3] = { NULL };
    size_t            wanted = 1 + how / 16 % 3, there = 0;
    blm_error         err = { .status = BLM_OK };
    replies_begin(data, size);
    for (size_t i = 0; i < wanted; i++) {
        blm_status st = blm_remote_open(url, NULL, &from[there], &err);
        must(st == BLM_OK ? from[there] != NULL : !from[there] && err.status == st && err.text[0]);
        there += st == BLM_OK;
    }
    blm_status st = blm_remote_merge(url, from, there, how & 8, NULL, &err);
    must(st == BLM_OK ? there > 0 : err.status == st && err.text[0]);
    while (there)
        blm_remote_close(from[--there]);
    replies_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 60000)
        return 0;
    if (data[0] & 1)
        open_directory(data + 1, size - 1);
    else if (data[0] & 4)
        merge(data + 1, size - 1, data[0]);
    else
        follow(data + 1, size - 1, data[0]);
    return 0;
}
