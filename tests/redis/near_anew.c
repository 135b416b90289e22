/* SPDX-License-Identifier: MIT */
/*
 * A filter that is sharded anew under a copy in a directory and one that reads the directory, while threads
 * ask both and add. Each must get to the new shards and what was added there. When the follower has ended, the
 * reader becomes too old; and it goes by the date, also by one that cannot be. tests/redis/test_near.py starts the servers.
 *
 *     redis.near_anew URL DIRECTORY PROGRAM
 */
#include <bloomery_near.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define TIMES  6
#define TRIES  6000 /* of 10 ms: never reached but by a mistake */
#define THREAD 4

static atomic_bool over;

static void rest(void) { nanosleep(&(struct timespec){ 0, 10000000 }, NULL); }

static void *ask(void *ctx)
{
    char text[32];
    for (unsigned i = 0; !over; i++)
        blm_near_check(ctx, text, (size_t)snprintf(text, sizeof text, "key%u", i % 1000));
    return NULL;
}

static void *add(void *ctx)
{
    char text[32];
    for (unsigned i = 0; !over; i++) {
        blm_key one = { text, (size_t)snprintf(text, sizeof text, "own%u", i) };
        blm_near_add_many(ctx, &one, 1, NULL, NULL, NULL); /* while it is replaced: an error */
        rest();
    }
    return NULL;
}

static blm_near_stats stats(blm_near *n)
{
    blm_near_stats s = { .size = sizeof s };
    blm_near_get_stats(n, &s);
    return s;
}

/* Does it follow so many shards, and know the key itself? */
static bool there(blm_near *n, uint32_t shards, const char *key, size_t len)
{
    blm_near_stats s = stats(n);
    return s.current && s.shards == shards && blm_near_check(n, key, len);
}

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

/* What the reader makes of a date so many seconds from now. */
static blm_near_stats dated(blm_near *reads, const char *copy, double seconds)
{
    struct timespec t;
    char            path[1100];
    snprintf(path, sizeof path, "%s/shards", copy);
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += (time_t)seconds;
    if (utimensat(AT_FDCWD, path, (struct timespec[2]){ t, t }, 0) != 0 ||
        blm_near_update(reads, NULL) != BLM_OK)
        fail("the copy cannot be dated");
    return stats(reads);
}

int main(int argc, char **argv)
{
    blm_near_options o = BLM_NEAR_OPTIONS_INIT, r = BLM_NEAR_OPTIONS_INIT;
    blm_near        *follows = NULL, *reads = NULL;
    blm_error        err;
    pthread_t        thread[THREAD];
    char             command[2000], key[16], url[1000];
    if (argc != 4)
        return 2;
    snprintf(url, sizeof url, "%s?shards=5&timeout=30", argv[1]); /* which it has at first */
    o.file     = argv[2];
    o.every_ms = r.every_ms = 10;
    r.stale_ms              = 2000;
    if (blm_near_open(url, &o, &follows, &err) != BLM_OK ||
        blm_near_open_file(argv[2], &r, &reads, &err) != BLM_OK)
        fail(err.text);
    blm_near *const of[THREAD] = { follows, reads, reads, follows };
    for (int i = 0; i < THREAD; i++)
        if (pthread_create(&thread[i], NULL, i < THREAD - 1 ? ask : add, of[i]) != 0)
            return 2;
    for (unsigned i = 0; i < TIMES; i++) {
        unsigned shards = 2 + 3 * i % 7;
        size_t   len    = (size_t)snprintf(key, sizeof key, "new%u", i);
        snprintf(
            command, sizeof command,
            "%s create --quiet --force '%s?shards=%u' -n 5000 %s && echo %s | %s add --quiet %s",
            argv[3], argv[1], shards, i % 2 ? "--scheme redisbloom" : "", key, argv[3], argv[1]);
        if (system(command) != 0)
            fail(command);
        int tries = 0;
        while (!there(follows, shards, key, len) || !there(reads, shards, key, len)) {
            if (++tries == TRIES)
                fail("the copies do not follow the new shards");
            rest();
        }
    }
    over = true;
    for (int i = 0; i < THREAD; i++)
        pthread_join(thread[i], NULL);
    if (blm_near_add_many(reads, &(blm_key){ "x", 1 }, 1, NULL, NULL, &err) != BLM_E_READONLY)
        fail("a key was added to a copy that is only read");
    blm_near_close(follows);
    for (int tries = 0; stats(reads).current; rest())
        if (++tries == TRIES)
            fail("nobody keeps the copy, and it does not become too old");
    if (!blm_near_check(reads, "absent", 6))
        fail("a copy that is too old says no");
    if (!dated(reads, argv[2], 0).current || blm_near_check(reads, "absent", 6))
        fail("a copy of now does not know");
    blm_near_stats future = dated(reads, argv[2], 3600), past = dated(reads, argv[2], -4e8);
    if (future.current || future.age_ms != UINT64_MAX)
        fail(
            "a date to come passes for now"); /* the clock was set back, and nobody keeps the copy */
    if (past.current || past.age_ms < 399999000000)
        fail("a copy cannot be older than the machine's start");
    if (dated(reads, argv[2], 3600).current || !blm_near_check(reads, "absent", 6))
        fail("a copy of a date to come says no");
    blm_near_close(reads);
    return 0;
}
