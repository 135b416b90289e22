/* SPDX-License-Identifier: MIT */
/* The Redis adapter against a real server: rows of each form, a guard over them, and what must
 * never be "absent": a server that is gone, slow, or of another opinion. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "adapters/redis/server.h"

struct value {
    char   bytes[64];
    size_t len;
};
static bool keep(void *ctx, const void *bytes, size_t len)
{
    struct value *v = ctx;
    memcpy(v->bytes + v->len, bytes, len);
    v->len += len;
    return true;
}

/* put, get, del, scan, whatever the rows' form; keys of any bytes. */
static void rows(blm_redis_options *o)
{
    static const struct {
        const char *key;
        size_t      len;
    } keys[] = {
        { "tuesday", 7 },
        { "", 0 },
        { "\xff\0\r\n*?[", 7 },
        { "a*b", 3 },
    };
    char        big[300];
    blm_dataset d;
    blm_error   err;
    unsigned    seen = 0;
    outsider("FLUSHALL");
    assert_int_equal(blm_redis_open(o, &d, &err), BLM_OK);
    for (size_t i = 0; i < 4; i++) {
        struct value v = { .len = 0 };
        assert_int_equal(d.get(d.ctx, keys[i].key, keys[i].len, keep, &v, &err), BLM_E_ABSENT);
        assert_int_equal(d.del(d.ctx, keys[i].key, keys[i].len, &err), BLM_E_ABSENT);
        assert_int_equal(d.put(d.ctx, keys[i].key, keys[i].len, "v\0w", 3, &err), BLM_OK);
        assert_int_equal(d.get(d.ctx, keys[i].key, keys[i].len, keep, &v, &err), BLM_OK);
        assert_int_equal(v.len, 3);
        assert_memory_equal(v.bytes, "v\0w", 3);
    }
    memset(big, 'b', sizeof big);
    assert_int_equal(d.put(d.ctx, big, sizeof big, NULL, 0, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, big, sizeof big, NULL, NULL, &err), BLM_OK);
    assert_int_equal(d.scan(d.ctx, count_key, &seen, &err), BLM_OK);
    assert_int_equal(seen, 5);
    assert_int_equal(d.del(d.ctx, "tuesday", 7, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "tuesday", 7, NULL, NULL, &err), BLM_E_ABSENT);
    if (d.count) {
        uint64_t n = 0;
        assert_int_equal(d.count(d.ctx, &n, &err), BLM_OK);
        assert_int_equal(n, 4);
    }
    d.close(d.ctx);
}

static void strings(void **state)
{
    (void)state;
    blm_redis_options o = options();
    rows(&o);
    o.database = 3;
    rows(&o);
}

/* The prefix is no pattern: keys that only look alike are not named. */
static void strings_with_prefix(void **state)
{
    (void)state;
    blm_redis_options o = options();
    o.prefix            = "us[e]r*:";
    rows(&o);
    blm_dataset d;
    blm_error   err;
    unsigned    seen = 0;
    outsider("FLUSHALL");
    outsider("SET use*:1 x");
    outsider("SET user:1 x");
    outsider("SET us[e]r*:1 x");
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
    assert_int_equal(d.scan(d.ctx, count_key, &seen, &err), BLM_OK);
    assert_int_equal(seen, 1);
    d.close(d.ctx);
}

static void hash_fields(void **state)
{
    (void)state;
    blm_redis_options o = options();
    o.prefix            = "device:";
    o.field             = "segment";
    rows(&o);
    blm_redis_options h = options();
    h.hash              = "devices";
    rows(&h);
    h.prefix = "x";
    blm_dataset d;
    blm_error   err;
    assert_int_equal(blm_redis_open(&h, &d, &err), BLM_E_ARGUMENT);
}

/* Every form of rows keeps what a guard relies on. */
static void kit(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        blm_redis_options o   = options();
        blm_error         err = { .status = BLM_OK };
        blm_dataset       d;
        if (form == 1 || form == 2)
            o.prefix = "kit:";
        if (form == 2)
            o.field = "f";
        if (form == 3)
            o.hash = "kit";
        outsider("FLUSHALL");
        assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
        if (blm_dataset_try(&d, 2000, NULL, NULL, &err) != BLM_OK)
            fail_msg("form %d: %s", form, err.text);
        d.close(d.ctx);
    }
}

static void mark_is_kept(void **state)
{
    (void)state;
    blm_redis_options o = options();
    blm_dataset       d;
    blm_error         err;
    char              mark[BLM_MARK_MAX];
    size_t            len = 0;
    o.prefix              = "user:";
    outsider("FLUSHALL");
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
    assert_int_equal(d.mark_read(d.ctx, mark, &len, &err), BLM_E_ABSENT);
    assert_int_equal(d.mark_write(d.ctx, "\0mark", 5, &err), BLM_OK);
    assert_int_equal(d.mark_read(d.ctx, mark, &len, &err), BLM_OK);
    assert_int_equal(len, 5);
    assert_memory_equal(mark, "\0mark", 5);
    unsigned seen = 0;
    assert_int_equal(d.scan(d.ctx, count_key, &seen, &err), BLM_OK);
    assert_int_equal(seen, 0); /* it is no row */
    d.close(d.ctx);
    o.prefix = NULL; /* nor is it without a prefix, where others are */
    outsider("SET bloomery:guard::x x");
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
    assert_int_equal(d.mark_write(d.ctx, "own", 3, &err), BLM_OK);
    assert_int_equal(d.scan(d.ctx, count_key, &seen, &err), BLM_OK);
    assert_int_equal(seen, 2); /* with the mark of the prefix */
    assert_int_equal(d.put(d.ctx, "bloomery:guard::", 16, "v", 1, &err), BLM_E_ARGUMENT);
    assert_int_equal(d.del(d.ctx, "bloomery:guard::", 16, &err), BLM_E_ARGUMENT);
    assert_int_equal(d.get(d.ctx, "bloomery:guard::", 16, NULL, NULL, &err), BLM_E_ABSENT);
    assert_int_equal(d.mark_read(d.ctx, mark, &len, &err), BLM_OK);
    assert_int_equal(len, 3);
    d.close(d.ctx);
}

/* Error replies, a slow server, a server that is gone: failures, and never "absent". */
static void trouble_is_not_absence(void **state)
{
    (void)state;
    blm_redis_options o = options();
    blm_dataset       d;
    blm_error         err;
    outsider("FLUSHALL");
    outsider("LPUSH list x");
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "list", 4, NULL, NULL, &err), BLM_E_IO);
    assert_non_null(strstr(err.text, "WRONGTYPE"));
    assert_int_equal(d.get(d.ctx, "absent", 6, NULL, NULL, &err), BLM_E_ABSENT);

    redis_server_stop(&server);
    assert_int_equal(d.get(d.ctx, "absent", 6, NULL, NULL, &err), BLM_E_IO);
    assert_int_equal(d.put(d.ctx, "k", 1, "v", 1, &err), BLM_E_IO);
    assert_int_equal(d.del(d.ctx, "k", 1, &err), BLM_E_IO);
    unsigned seen = 0;
    assert_int_equal(d.scan(d.ctx, count_key, &seen, &err), BLM_E_IO);
    blm_dataset other;
    assert_int_equal(blm_redis_open(&o, &other, &err), BLM_E_IO);
    assert_true(redis_server_start(&server, NULL));
    /* A read comes back by itself on a new connection. */
    assert_int_equal(d.get(d.ctx, "absent", 6, NULL, NULL, &err), BLM_E_ABSENT);
    assert_int_equal(d.put(d.ctx, "k", 1, "v", 1, &err), BLM_OK);
    /* An idle connection whose server was replaced: the read goes on, the write tells. */
    redis_server_stop(&server);
    assert_true(redis_server_start(&server, NULL));
    assert_int_equal(d.get(d.ctx, "k", 1, NULL, NULL, &err), BLM_E_ABSENT);
    redis_server_stop(&server);
    assert_true(redis_server_start(&server, NULL));
    assert_int_equal(d.put(d.ctx, "k", 1, "v", 1, &err), BLM_E_IO);
    assert_int_equal(d.put(d.ctx, "k", 1, "v", 1, &err), BLM_OK);
    d.close(d.ctx);
}

/* The same until it is no trouble: a busy machine may keep somebody
 * in a hurry waiting more than once. */
static blm_status get_in_the_end(const blm_dataset *d, const char *key, blm_error *err)
{
    blm_status st = BLM_E_IO;
    for (int i = 0; st == BLM_E_IO && i < 100; i++)
        st = d->get(d->ctx, key, strlen(key), NULL, NULL, err);
    return st;
}

/* A server that does not answer in time: trouble, and its late answer is nobody else's. */
static void slow_is_not_absence(void **state)
{
    (void)state;
    blm_redis_options o = options();
    blm_dataset       d;
    blm_error         err;
    blm_status        st = BLM_E_IO;
    outsider("FLUSHALL");
    outsider("SET there x");
    o.timeout_ms = 200;
    for (int i = 0; st == BLM_E_IO && i < 100; i++)
        st = blm_redis_open(&o, &d, &err);
    assert_int_equal(st, BLM_OK);
    assert_int_equal(get_in_the_end(&d, "there", &err), BLM_OK);
    assert_int_equal(kill(server.pid, SIGSTOP), 0);
    assert_int_equal(d.get(d.ctx, "there", 5, NULL, NULL, &err), BLM_E_IO);
    assert_int_equal(kill(server.pid, SIGCONT), 0);
    assert_int_equal(get_in_the_end(&d, "absent", &err), BLM_E_ABSENT);
    d.close(d.ctx);
}

static void password(void **state)
{
    (void)state;
    struct redis_server locked = { .port = 0 };
    blm_redis_options   o      = options();
    blm_dataset         d;
    blm_error           err;
    assert_true(redis_server_start(&locked, "secret"));
    o.port = locked.port;
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_E_IO);
    assert_non_null(strstr(err.text, "NOAUTH"));
    o.password = "wrong";
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_E_IO);
    o.password = "secret";
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
    assert_int_equal(d.get(d.ctx, "k", 1, NULL, NULL, &err), BLM_E_ABSENT);
    d.close(d.ctx);
    redis_server_stop(&locked);
}

/* 5 000 rows that were there before, by SCAN; then rows through the guard. */
static void guard_is_built_by_scan(void **state)
{
    (void)state;
    blm_redis_options o = options();
    blm_error         err;
    blm_guard_stats   s = { .size = sizeof s };
    o.prefix            = "user:";
    outsider("FLUSHALL");
    redisContext *c = redisConnect("127.0.0.1", server.port);
    for (int i = 0; i < 5000; i++)
        redisAppendCommand(c, "SET user:%d x", i);
    for (int i = 0; i < 5000; i++) {
        void *r;
        assert_int_equal(redisGetReply(c, &r), REDIS_OK);
        freeReplyObject(r);
    }
    redisFree(c);
    blm_guard *g = guard_over(&o, 0);
    for (int i = 0; i < 10000; i++) {
        char key[16];
        int  len = snprintf(key, sizeof key, "%d", i);
        assert_int_equal(blm_guard_get(g, key, (size_t)len, NULL, NULL, &err),
                         i < 5000 ? BLM_OK : BLM_E_ABSENT);
    }
    blm_guard_get_stats(g, &s);
    assert_int_equal(s.found, 5000);
    assert_true(s.reads_saved > 4700);
    assert_int_equal(blm_guard_put(g, "new", 3, "v", 1, &err), BLM_OK);
    assert_int_equal(blm_guard_get(g, "new", 3, NULL, NULL, &err), BLM_OK);
    assert_int_equal(blm_guard_delete(g, "new", 3, &err), BLM_OK);
    assert_int_equal(blm_guard_get(g, "new", 3, NULL, NULL, &err), BLM_E_ABSENT);
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
}

/* More threads than connections: all are served. */
static void *reader(void *ctx)
{
    blm_dataset *d    = ctx;
    uintptr_t    good = 0;
    blm_error    err;
    for (int i = 0; i < 200; i++)
        good += d->get(d->ctx, "k", 1, NULL, NULL, &err) == BLM_OK;
    return (void *)good;
}

static void threads_share_connections(void **state)
{
    (void)state;
    blm_redis_options o = options();
    blm_dataset       d;
    blm_error         err;
    pthread_t         t[6];
    o.connections = 2;
    outsider("FLUSHALL");
    outsider("SET k v");
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&t[i], NULL, reader, &d), 0);
    for (int i = 0; i < 6; i++) {
        void *good;
        pthread_join(t[i], &good);
        assert_int_equal((uintptr_t)good, 200);
    }
    d.close(d.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings),
        cmocka_unit_test(strings_with_prefix),
        cmocka_unit_test(hash_fields),
        cmocka_unit_test(kit),
        cmocka_unit_test(mark_is_kept),
        cmocka_unit_test(trouble_is_not_absence),
        cmocka_unit_test(slow_is_not_absence),
        cmocka_unit_test(password),
        cmocka_unit_test(guard_is_built_by_scan),
        cmocka_unit_test(threads_share_connections),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
