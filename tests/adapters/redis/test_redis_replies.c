/* SPDX-License-Identifier: MIT */
/* Filters on a server that says what no server should: the connections of the fuzz targets
 * (fuzz/replies.h), with conversations that a fuzzer found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bloomery_near.h"
#include "bloomery_remote.h"
#include "fuzz/replies.h"

#define HERE    "unix:///nowhere?timeout=0.001#key"
#define CLUSTER "redis+cluster://nowhere:7000/key?timeout=0.001&shards=2"

/* ---- what is said ---- */

static struct fuzz_bytes said_so_far;

static void say_bytes(const void *bytes, size_t len)
{
    assert_true(fuzz_append(&said_so_far, bytes, len));
}

static void say(const char *text) { say_bytes(text, strlen(text)); }

static void say_string(const void *bytes, size_t len)
{
    char head[32];
    snprintf(head, sizeof head, "$%zu\r\n", len);
    say(head);
    say_bytes(bytes, len);
    say("\r\n");
}

/* The reply to BF.CHANGES: they stand at `to`, and `hashes` are those since. NULL: it does not know. */
static void say_changes(unsigned to, const void *hashes, size_t len)
{
    char head[64];
    snprintf(head, sizeof head, "*3\r\n:77\r\n:%u\r\n", to);
    say(head);
    if (hashes)
        say_string(hashes, len);
    else
        say("$-1\r\n");
}

static void listen_anew(void) { said_so_far.len = 0; }

static void begin(void) { replies_begin(said_so_far.bytes, said_so_far.len); }

/* ---- a filter of RedisBloom's that is copied ---- */

#define TYPE "+MBbloom--\r\n"
#define INFO                                                                   \
    "*10\r\n+Capacity\r\n:20\r\n+Size\r\n:128\r\n+Number of filters\r\n:1\r\n" \
    "+Number of items inserted\r\n:0\r\n+Expansion rate\r\n:2\r\n"

#define CHAIN_HEAD 73 /* of a filter of one layer, as BF.SCANDUMP gives it first */

static blm_filter *chain(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.scheme = "redisbloom";
    o.items  = 20;
    o.rate   = 0.01;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
    return f;
}

static void say_chunk(unsigned cursor, const void *bytes, size_t len)
{
    char head[32];
    snprintf(head, sizeof head, "*2\r\n:%u\r\n", cursor);
    say(head);
    say_string(bytes, len);
}

/* All that a copy asks until it is loaded, with no change since. */
static void say_whole(const blm_filter *f)
{
    struct fuzz_bytes b = { 0 };
    assert_int_equal(blm_encode(f, "redisbloom", fuzz_append, &b, NULL), BLM_OK);
    listen_anew();
    say(TYPE INFO);
    say_changes(0, NULL, 0);
    say_changes(0, NULL, 0);
    say(TYPE);
    say_chunk(1, b.bytes, CHAIN_HEAD);
    say_changes(0, "", 0);
    say_chunk((unsigned)(1 + b.len - CHAIN_HEAD), b.bytes + CHAIN_HEAD, b.len - CHAIN_HEAD);
    for (int i = 0; i < 2; i++)
        say_changes(0, "", 0);
    free(b.bytes);
}

static blm_near *loaded(void)
{
    blm_near_options o = BLM_NEAR_OPTIONS_INIT;
    blm_near        *n = NULL;
    blm_error        err;
    o.every_ms = o.stale_ms = UINT32_MAX; /* only when we say so */
    begin();
    if (blm_near_open(HERE, &o, &n, &err) != BLM_OK)
        fail_msg("%s", err.text);
    return n;
}

static uint64_t taken_over(blm_near *n)
{
    blm_near_stats s = { .size = sizeof s };
    blm_near_get_stats(n, &s);
    return s.changes;
}

static void lacks_changes(blm_near *n)
{
    blm_error err = { .status = BLM_OK };
    assert_int_equal(blm_near_update(n, &err), BLM_E_FORMAT);
    assert_int_equal(err.status, BLM_E_FORMAT);
    assert_non_null(strstr(err.text, "lacks changes"));
}

/* Two words, the low byte first. */
static void change(const blm_filter *f, const char *key, uint8_t out[16])
{
    blm_digest d;
    blm_digest_of(f, key, strlen(key), &d);
    for (int i = 0; i < 16; i++)
        out[i] = (uint8_t)(d.w[i / 8] >> i % 8 * 8);
}

/* A copy that took the server's number for changes that did not come would lack keys for good, and
 * say "no" to them. One that refuses asks from where it was, and gets them. */
static void fewer_changes_than_announced(void **state)
{
    uint8_t     both[32];
    blm_filter *f = chain();
    (void)state;
    change(f, "one", both);
    change(f, "two", both + 16);
    say_whole(f);
    say_changes(2, "", 0);    /* of two, none: nothing was added to memory that was never taken */
    say_changes(2, both, 16); /* of two, one */
    say_changes(2, both, 31); /* of two, one and a part */
    say_changes(1, both, 17); /* one, and a part of another that was not announced */
    say_changes(2, both, 32);
    say_changes(2, "", 0);
    blm_near *n = loaded();
    for (int i = 0; i < 4; i++) {
        lacks_changes(n);
        assert_int_equal(taken_over(n), 0);
    }
    assert_int_equal(blm_near_update(n, NULL), BLM_OK);
    assert_int_equal(taken_over(n), 2);
    assert_true(blm_near_check(n, "one", 3) && blm_near_check(n, "two", 3));
    assert_false(blm_near_check(n, "three", 5));
    blm_near_close(n);
    replies_end();
    blm_free(f);
}

/* ---- a key that exists ---- */

static void is_said(blm_status st, const blm_error *err, const char *words)
{
    assert_int_equal(st, BLM_E_EXISTS);
    assert_int_equal(err->status, BLM_E_EXISTS);
    assert_string_equal(err->text, words);
    replies_end();
}

static void refusals_that_mean_exists(void **state)
{
    static const char *const refusals[] = { "-BUSYKEY Target key name already exists.\r\n",
                                            "-ERR item exists\r\n" };
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        blm_near   *n = NULL;
        blm_remote *r = NULL;
        blm_error   err;
        listen_anew();
        say(refusals[i]);
        begin();
        is_said(blm_near_open(HERE, NULL, &n, &err), &err, "the key exists");
        begin();
        is_said(blm_remote_open(HERE, NULL, &r, &err), &err, "the key exists");
        assert_true(!n && !r);
    }
}

static blm_status create(const char *url, blm_error *err)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_remote *r = NULL;
    o.items       = 10;
    o.rate        = 0.01;
    blm_status st = blm_remote_create(url, &o, NULL, &r, err);
    assert_null(r);
    return st;
}

static void a_key_is_there_already(void **state)
{
    blm_error err;
    (void)state;
    listen_anew();
    say(":1\r\n"); /* EXISTS */
    begin();
    is_said(create(HERE, &err), &err, "the key exists");
}

/* COMMAND INFO of a command that the server has: bloomery's module. */
#define HAS_MODULE "*2\r\n*1\r\n$11\r\nbf.estimate\r\n*1\r\n$6\r\nbf.add\r\n"
#define SLOTS \
    "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:7000\r\n$2\r\nid\r\n" REPLIES_NEXT

/* Nothing is there at first, and then somebody else was faster. */
static void a_key_comes_meanwhile(void **state)
{
    blm_error   err;
    blm_filter *f = chain();
    (void)state;
    listen_anew();
    say("+OK\r\n:1\r\n"  /* BF.LOADCHUNK of the header, PEXPIRE */
        "+OK\r\n:1\r\n"  /* BF.LOADCHUNK, PERSIST */
        ":0\r\n:1\r\n"); /* RENAMENX, DEL */
    begin();
    is_said(blm_remote_store(HERE, f, NULL, false, NULL, &err), &err, "the key exists");
    listen_anew();
    say(SLOTS "$-1\r\n" HAS_MODULE "+OK\r\n" HAS_MODULE "+OK\r\n"
              "$-1\r\n:2\r\n"); /* SET NX, UNLINK */
    begin();
    is_said(create(CLUSTER, &err), &err, "the key exists");
    blm_free(f);
}

static void say_descriptor(void)
{
    static const char text[] =
        "bloomery-shards 1 shards=2 route=siphash24 "
        "seed=00000000000000010000000000000002 id=00000003 items=10 rate=0.01";
    say(SLOTS);
    say_string(text, strlen(text));
}

static void shards_are_there_already(void **state)
{
    blm_error err;
    (void)state;
    listen_anew();
    say_descriptor();
    begin();
    is_said(create(CLUSTER, &err), &err, "the key exists");
}

/* A directory with a file of somebody else is not taken for a copy. */
static void what_is_there_is_no_copy(void **state)
{
    char             dir[] = "/tmp/bloomery-replies-XXXXXX", path[64];
    blm_near_options o     = BLM_NEAR_OPTIONS_INIT;
    blm_near        *n     = NULL;
    blm_error        err;
    (void)state;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/letter", dir);
    fclose(fopen(path, "w"));
    o.file = dir;
    listen_anew();
    say_descriptor();
    say(TYPE TYPE INFO INFO);
    begin();
    is_said(blm_near_open(CLUSTER, &o, &n, &err), &err,
            "what is there is not a copy of this filter");
    assert_null(n);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_changes_than_announced), cmocka_unit_test(refusals_that_mean_exists),
        cmocka_unit_test(a_key_is_there_already),       cmocka_unit_test(a_key_comes_meanwhile),
        cmocka_unit_test(shards_are_there_already),     cmocka_unit_test(what_is_there_is_no_copy),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(said_so_far.bytes);
    return failed;
}
