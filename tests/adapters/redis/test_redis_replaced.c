/* SPDX-License-Identifier: MIT */
/* The Redis adapter and a server that another one replaces: during a scan, before a put, between two
 * sessions of a guard. It may have other rows, or older ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/redis/server.h"

#define ROWS 6000

/* Rows 0 …, of strings, or with `hash` of the fields of one. */
static void fill(const char *hash)
{
    redisContext *c = redisConnect("127.0.0.1", server.port);
    assert_false(c->err);
    for (int i = 0; i < ROWS; i++)
        if (hash)
            redisAppendCommand(c, "HSET %s %d x", hash, i);
        else
            redisAppendCommand(c, "SET row:%d x", i);
    for (int i = 0; i < ROWS; i++) {
        void *r;
        assert_int_equal(redisGetReply(c, &r), REDIS_OK);
        freeReplyObject(r);
    }
    redisFree(c);
}

static struct {
    const char *hash;
    unsigned    named, replace_at;
    bool        seen[ROWS];
} interrupted;

static bool replace_server(void *ctx, const void *key, size_t len)
{
    char text[16] = "";
    (void)ctx;
    memcpy(text, key, len < 15 ? len : 15);
    interrupted.seen[strtoul(text, NULL, 10) % ROWS] = true;
    if (++interrupted.named == interrupted.replace_at) { /* by one with the same rows */
        redis_server_stop(&server);
        assert_true(redis_server_start(&server, NULL));
        fill(interrupted.hash);
    }
    return true;
}

/* A cursor means nothing to another server process: a scan that went on with it left out 2 559 of 20 000
 * rows, and said that these were all. */
static void server_replaced_during_a_scan(void **state)
{
    (void)state;
    for (int hash = 0; hash < 2; hash++) {
        blm_redis_options o = options();
        blm_dataset       d;
        blm_error         err = { .status = BLM_OK };
        o.hash                = hash ? "rows" : NULL;
        o.prefix              = hash ? NULL : "row:";
        interrupted.hash      = o.hash;
        outsider("FLUSHALL");
        fill(o.hash);
        assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
        for (int replaced = 1; replaced >= 0; replaced--) {
            interrupted.named      = 0;
            interrupted.replace_at = replaced ? ROWS / 3 : 0;
            memset(interrupted.seen, 0, sizeof interrupted.seen);
            blm_status st      = d.scan(d.ctx, replace_server, NULL, &err);
            unsigned   missing = 0;
            for (int i = 0; i < ROWS; i++)
                missing += !interrupted.seen[i];
            if (st == BLM_OK && missing)
                fail_msg("%u of %d rows were left out", missing, ROWS);
            assert_int_equal(st, replaced ? BLM_E_IO : BLM_OK);
            assert_true(!replaced || err.text[0]);
        }
        d.close(d.ctx);
    }
}

/* A scan needs no connection of the pool: whoever has one meanwhile is served. */
static bool ask_meanwhile(void *ctx, const void *key, size_t len)
{
    blm_dataset *d = ctx;
    blm_error    err;
    return d->get(d->ctx, key, len, NULL, NULL, &err) == BLM_OK;
}

static void one_connection_and_a_scan(void **state)
{
    (void)state;
    blm_redis_options o = options();
    blm_dataset       d;
    blm_error         err;
    o.connections = 1;
    o.prefix      = "row:";
    outsider("FLUSHALL");
    fill(NULL);
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
    assert_int_equal(d.scan(d.ctx, ask_meanwhile, &d, &err), BLM_OK);
    d.close(d.ctx);
}

/* The text of a key, for `outsider` to set it again. */
static void remember(const char *key, char out[100])
{
    redisContext *c = redisConnect("127.0.0.1", server.port);
    redisReply   *r = redisCommand(c, "GET %s", key);
    assert_int_equal(r->type, REDIS_REPLY_STRING);
    snprintf(out, 100, "%s", r->str);
    freeReplyObject(r);
    redisFree(c);
}

static void replace(void)
{
    redis_server_stop(&server);
    assert_true(redis_server_start(&server, NULL));
}

#define MARK "bloomery:guard:row::"

/* Another server process may have older rows, and another mark. Until that has been looked at, reads go
 * on and puts do not, however often they are tried. */
static void server_replaced_before_a_put(void **state)
{
    (void)state;
    static const struct {
        const char *mark; /* that the other server has; NULL: none */
        bool        read_suffices;
    } others[]          = { { NULL, true }, { "own", true }, { "another guard's", false } };
    blm_redis_options o = options();
    blm_error         err;
    char              mark[BLM_MARK_MAX];
    size_t            len;
    o.prefix = "row:";
    outsider("FLUSHALL");
    for (size_t i = 0; i < 3; i++) {
        blm_dataset d;
        assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
        assert_int_equal(d.mark_write(d.ctx, "own", 3, &err), BLM_OK);
        assert_int_equal(d.put(d.ctx, "a", 1, "v", 1, &err), BLM_OK);
        replace();
        if (others[i].mark)
            outsider("SET " MARK " %s", others[i].mark);
        assert_int_equal(d.get(d.ctx, "a", 1, NULL, NULL, &err), BLM_E_ABSENT);
        for (int n = 0; n < 3; n++) {
            assert_int_equal(d.put(d.ctx, "b", 1, "v", 1, &err), BLM_E_MISMATCH);
            assert_non_null(strstr(err.text, "restarted or replaced"));
            assert_int_equal(d.get(d.ctx, "b", 1, NULL, NULL, &err), BLM_E_ABSENT);
        }
        assert_int_equal(d.del(d.ctx, "b", 1, &err), BLM_E_ABSENT);
        assert_int_equal(d.mark_read(d.ctx, mark, &len, &err),
                         others[i].mark ? BLM_OK : BLM_E_ABSENT);
        assert_int_equal(d.put(d.ctx, "b", 1, "v", 1, &err),
                         others[i].read_suffices ? BLM_OK : BLM_E_MISMATCH);
        assert_int_equal(d.mark_write(d.ctx, "own", 3, &err), BLM_OK);
        assert_int_equal(d.put(d.ctx, "b", 1, "v", 1, &err), BLM_OK);
        d.close(d.ctx);
    }
}

/* Whichever call comes first says so, once: a delete, or one about the mark, since a guard reads that
 * after any other failure and would take the same mark for the same rows. */
static void server_replaced_is_said(void **state)
{
    (void)state;
    blm_redis_options o = options();
    blm_error         err;
    char              mark[BLM_MARK_MAX];
    size_t            len;
    o.prefix = "row:";
    for (int first = 0; first < 3; first++) {
        blm_dataset d;
        assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
        assert_int_equal(d.mark_write(d.ctx, "own", 3, &err), BLM_OK);
        replace();
        outsider("SET " MARK " own");
        outsider("SET row:a v");
        assert_int_equal(d.get(d.ctx, "a", 1, NULL, NULL, &err), BLM_OK);
        for (int i = 0; i < 2; i++)
            assert_int_equal(first == 0   ? d.del(d.ctx, "a", 1, &err)
                             : first == 1 ? d.mark_read(d.ctx, mark, &len, &err)
                                          : d.mark_write(d.ctx, "own", 3, &err),
                             i == 0 ? BLM_E_MISMATCH : BLM_OK);
        assert_int_equal(d.put(d.ctx, "b", 1, "v", 1, &err), first == 0 ? BLM_E_MISMATCH : BLM_OK);
        d.close(d.ctx);
    }
}

/* … also before there is a mark: what a guard removes keys from is a scan, and rows that it deleted may be
 * there again. Another scan may be the first after that, and does not hide it. */
static void server_replaced_after_a_scan(void **state)
{
    (void)state;
    blm_redis_options o = options();
    blm_error         err;
    o.prefix = "row:";
    for (int scans = 1; scans <= 2; scans++) {
        blm_dataset d;
        unsigned    seen = 0;
        outsider("SET row:a v");
        assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
        assert_int_equal(d.scan(d.ctx, count_key, &seen, &err), BLM_OK);
        assert_int_equal(d.del(d.ctx, "a", 1, &err), BLM_OK);
        replace();
        outsider("SET row:a v");
        assert_int_equal(d.get(d.ctx, "a", 1, NULL, NULL, &err), BLM_OK);
        if (scans == 2)
            assert_int_equal(d.scan(d.ctx, count_key, &seen, &err), BLM_OK);
        for (int i = 0; i < 2; i++)
            assert_int_equal(d.del(d.ctx, "a", 1, &err), i == 0 ? BLM_E_MISMATCH : BLM_OK);
        d.close(d.ctx);
    }
}

/* Where INFO is forbidden nobody knows, and all is as without marks. */
static void server_does_not_say(void **state)
{
    (void)state;
    static const char quiet[] = "ACL SETUSER quiet on >pw ~* +@all -info";
    blm_redis_options o       = options();
    blm_dataset       d;
    blm_error         err;
    o.prefix   = "row:";
    o.user     = "quiet";
    o.password = "pw";
    outsider(quiet);
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
    assert_int_equal(d.mark_write(d.ctx, "own", 3, &err), BLM_OK);
    assert_int_equal(d.put(d.ctx, "a", 1, "v", 1, &err), BLM_OK);
    replace();
    outsider(quiet);
    assert_int_equal(d.get(d.ctx, "a", 1, NULL, NULL, &err), BLM_E_ABSENT);
    assert_int_equal(d.put(d.ctx, "b", 1, "v", 1, &err), BLM_OK);
    d.close(d.ctx);
}

static blm_guard *row_guard(const char *path)
{
    blm_redis_options r = options();
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_dataset       d;
    blm_guard        *g;
    blm_error         err;
    r.prefix = "row:";
    o.items  = 1000;
    o.path   = path;
    assert_int_equal(blm_redis_open(&r, &d, &err), BLM_OK);
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_OK);
    assert_int_equal(blm_guard_wait(g, &err), BLM_OK);
    return g;
}

/* One guard has a file and is closed. Under the next, which has none, the server comes back as it was
 * then. What that guard puts afterwards is not absent to the first one. */
static void server_goes_back(void **state)
{
    (void)state;
    char      folder[] = "/tmp/blm-XXXXXX", path[64], note[72], mark[100];
    bool      put      = false;
    blm_error err;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/rows.blm", folder);
    snprintf(note, sizeof note, "%s.guard", path);
    outsider("FLUSHALL");
    blm_guard *g = row_guard(path);
    assert_int_equal(blm_guard_put(g, "a", 1, "v", 1, &err), BLM_OK);
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
    remember(MARK, mark);
    g = row_guard(NULL);
    assert_int_equal(blm_guard_put(g, "b", 1, "v", 1, &err), BLM_OK);
    replace();
    outsider("SET row:a v");
    outsider("SET " MARK " %s", mark);
    assert_int_equal(blm_guard_get(g, "a", 1, NULL, NULL, &err), BLM_OK);
    for (int i = 0; i < 3; i++)
        put |= blm_guard_put(g, "c", 1, "v", 1, &err) == BLM_OK;
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
    g = row_guard(path);
    assert_int_equal(blm_guard_get(g, "a", 1, NULL, NULL, &err), BLM_OK);
    assert_int_equal(blm_guard_get(g, "c", 1, NULL, NULL, &err), put ? BLM_OK : BLM_E_ABSENT);
    assert_int_equal(blm_guard_close(g, &err), BLM_OK);
    unlink(path);
    unlink(note);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(server_replaced_during_a_scan),
        cmocka_unit_test(one_connection_and_a_scan),
        cmocka_unit_test(server_replaced_before_a_put),
        cmocka_unit_test(server_replaced_is_said),
        cmocka_unit_test(server_replaced_after_a_scan),
        cmocka_unit_test(server_does_not_say),
        cmocka_unit_test(server_goes_back),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
