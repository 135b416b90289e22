/* SPDX-License-Identifier: MIT */
/* The Redis adapter against a real server: rows of each form, a guard over them, and what must
 * never be "absent": a server that is gone, slow, locked or of another opinion. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

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

static bool count_key(void *ctx, const void *key, size_t len)
{
    assert_true(len == 0 || key != NULL);
    ++*(unsigned *)ctx;
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

/* ---- signals ---- */

static void on_tick(int signal) { (void)signal; }

/* A signal each 2 ms for this thread; 0: no more. */
static void tick(int us)
{
    struct sigaction a = { .sa_handler = on_tick, .sa_flags = SA_RESTART };
    struct itimerval t = { { 0, us }, { 0, us } };
    sigaction(SIGALRM, &a, NULL);
    setitimer(ITIMER_REAL, &t, NULL);
}

static pthread_t without_ticks(void *(*run)(void *), void *ctx)
{
    pthread_t t;
    sigset_t  alarms, before;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, &before);
    assert_int_equal(pthread_create(&t, NULL, run, ctx), 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return t;
}

static atomic_bool answered, resumed;

/* The stopped server goes on after a while, or when it is no longer needed. */
static void *resume_after(void *ms)
{
    for (uintptr_t i = 0; i < (uintptr_t)ms && !atomic_load(&answered); i += 10)
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    atomic_store(&resumed, !atomic_load(&answered));
    kill(server.pid, SIGCONT);
    return NULL;
}

static pthread_t stop_for(uintptr_t ms)
{
    atomic_store(&answered, false);
    assert_int_equal(kill(server.pid, SIGSTOP), 0);
    return without_ticks(resume_after, (void *)ms);
}

/* A put of more than the socket takes at once, and signals: it goes on. A server that says nothing, and
 * signals: the wait ends all the same. */
static void signals_are_no_trouble(void **state)
{
    (void)state;
    size_t            len = 32u << 20;
    char             *big = calloc(1, len);
    blm_redis_options o   = options();
    blm_dataset       d;
    blm_error         err = { .status = BLM_OK };
    assert_non_null(big);
    outsider("FLUSHALL");
    o.timeout_ms = 30000;
    assert_int_equal(blm_redis_open(&o, &d, &err), BLM_OK);
    pthread_t t = stop_for(300);
    tick(2000);
    blm_status st = d.put(d.ctx, "big", 3, big, len, &err);
    tick(0);
    atomic_store(&answered, true);
    pthread_join(t, NULL);
    if (st != BLM_OK)
        fail_msg("%s", err.text);
    assert_true(atomic_load(&resumed));
    assert_int_equal(d.get(d.ctx, "big", 3, NULL, NULL, &err), BLM_OK);
    d.close(d.ctx);

    o.timeout_ms = 300;
    for (int put = 0; put < 2; put++) {
        st = BLM_E_IO; /* somebody in a hurry may have to wait on a busy machine */
        for (int i = 0; st == BLM_E_IO && i < 100; i++)
            st = blm_redis_open(&o, &d, &err);
        assert_int_equal(st, BLM_OK);
        t = stop_for(60000);
        tick(2000);
        st =
            put ? d.put(d.ctx, "big", 3, big, len, &err) : d.get(d.ctx, "big", 3, NULL, NULL, &err);
        tick(0);
        atomic_store(&answered, true);
        pthread_join(t, NULL);
        assert_int_equal(st, BLM_E_IO);
        assert_false(atomic_load(&resumed));
        d.close(d.ctx);
    }
    free(big);
}

/* Takes connections after a while, and says PONG to everything. */
static struct {
    int         fd;
    atomic_bool ends;
} crowded;

static void *serve_crowd(void *ctx)
{
    struct pollfd p[256] = { { .fd = crowded.fd, .events = POLLIN } };
    nfds_t        n      = 1;
    char          words[200];
    (void)ctx;
    nanosleep(&(struct timespec){ 0, 200000000 }, NULL);
    while (!atomic_load(&crowded.ends) && poll(p, n, 20) >= 0)
        for (nfds_t i = 0; i < n; i++) {
            if (!(p[i].revents & POLLIN))
                continue;
            if (i == 0 && n < 256)
                p[n++] = (struct pollfd){ .fd = accept(crowded.fd, NULL, NULL), .events = POLLIN };
            else if (i && (read(p[i].fd, words, sizeof words) <= 0 ||
                           write(p[i].fd, "+PONG\r\n", 7) != 7))
                p[i].events = 0;
        }
    for (nfds_t i = 1; i < n; i++)
        close(p[i].fd);
    return NULL;
}

/* A server that is slow to take connections, and signals. */
static void signals_while_connecting(void **state)
{
    (void)state;
    struct sockaddr_in at  = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    socklen_t          len = sizeof at;
    int                first[3];
    blm_redis_options  o = options();
    blm_dataset        d;
    blm_error          err = { .status = BLM_OK };
    crowded.fd             = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(crowded.fd, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(crowded.fd, 0), 0);
    assert_int_equal(getsockname(crowded.fd, (struct sockaddr *)&at, &len), 0);
    for (int i = 0; i < 3; i++) { /* the queue is full */
        first[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        connect(first[i], (struct sockaddr *)&at, sizeof at);
    }
    pthread_t t  = without_ticks(serve_crowd, NULL);
    o.port       = ntohs(at.sin_port);
    o.timeout_ms = 30000;
    tick(5000);
    blm_status st = blm_redis_open(&o, &d, &err);
    tick(0);
    atomic_store(&crowded.ends, true);
    pthread_join(t, NULL);
    if (st != BLM_OK)
        fail_msg("%s", err.text);
    d.close(d.ctx);
    for (int i = 0; i < 3; i++)
        close(first[i]);
    close(crowded.fd);
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

/* ---- a server that is replaced ---- */

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
        cmocka_unit_test(signals_are_no_trouble),
        cmocka_unit_test(signals_while_connecting),
        cmocka_unit_test(password),
        cmocka_unit_test(guard_is_built_by_scan),
        cmocka_unit_test(server_replaced_during_a_scan),
        cmocka_unit_test(one_connection_and_a_scan),
        cmocka_unit_test(server_replaced_before_a_put),
        cmocka_unit_test(server_replaced_is_said),
        cmocka_unit_test(server_replaced_after_a_scan),
        cmocka_unit_test(server_does_not_say),
        cmocka_unit_test(server_goes_back),
        cmocka_unit_test(threads_share_connections),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
