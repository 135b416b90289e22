/* SPDX-License-Identifier: MIT */
/* The Redis adapter while signals interrupt its calls: they go on, and a timeout is a timeout all the same. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "adapters/redis/server.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_are_no_trouble),
        cmocka_unit_test(signals_while_connecting),
    };
    return cmocka_run_group_tests(tests, start_server, stop_server);
}
