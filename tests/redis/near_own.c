/* SPDX-License-Identifier: MIT */
/*
 * A copy in a file, to which its keeper adds a key of its own, while it has not asked the server for a
 * while: the file has that key, and is no newer for it. Who reads it must not say no to a key that
 * another client added meanwhile. tests/redis/test_near.py starts the server.
 *
 *     redis.near_own URL FILE
 */
#include <bloomery_near.h>
#include <bloomery_remote.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define STALE_MS 300

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static bool current(blm_near *n)
{
    blm_near_stats s = { .size = sizeof s };
    blm_near_get_stats(n, &s);
    return s.current;
}

int main(int argc, char **argv)
{
    blm_near_options   o = BLM_NEAR_OPTIONS_INIT, r = BLM_NEAR_OPTIONS_INIT;
    blm_remote_options ro    = BLM_REMOTE_OPTIONS_INIT;
    blm_near          *keeps = NULL, *reads = NULL;
    blm_remote        *client = NULL;
    blm_key            other = { "other", 5 }, own = { "own", 3 };
    blm_error          err;
    if (argc != 3)
        return 2;
    o.file     = argv[2];
    o.every_ms = 3600000; /* by blm_near_update alone */
    r.every_ms = 1;
    r.stale_ms = STALE_MS;
    if (blm_near_open_file(NULL, &r, &reads, &err) != BLM_E_ARGUMENT)
        fail("a copy without a name is opened");
    if (blm_near_open(NULL, &o, &keeps, &err) != BLM_E_ARGUMENT ||
        blm_remote_open(NULL, &ro, &client, &err) != BLM_E_ARGUMENT)
        fail("a server without a name is asked");
    char pipe[256];
    snprintf(pipe, sizeof pipe, "%s.pipe", argv[2]);
    if (mkfifo(pipe, 0600) != 0 || blm_near_open_file(pipe, &r, &reads, &err) != BLM_E_UNSUPPORTED)
        fail("a pipe is opened");
    unlink(pipe);
    if (blm_near_open(argv[1], &o, &keeps, &err) != BLM_OK ||
        blm_near_open_file(argv[2], &r, &reads, &err) != BLM_OK ||
        blm_remote_open(argv[1], &ro, &client, &err) != BLM_OK ||
        blm_remote_add_many(client, &other, 1, NULL, NULL, &err) != BLM_OK)
        fail(err.text);
    nanosleep(&(struct timespec){ 0, 2 * STALE_MS * 1000000L }, NULL);
    if (current(reads))
        fail("nobody has asked the server, and the copy does not become too old");
    if (blm_near_add_many(keeps, &own, 1, NULL, NULL, &err) != BLM_OK)
        fail(err.text);
    if (blm_near_update(reads, &err) != BLM_OK)
        fail(err.text);
    if (current(reads) || !blm_near_check(reads, other.data, other.len))
        fail("a key of its keeper's own has made the copy new, and it says no to another's");
    if (blm_near_update(keeps, &err) != BLM_OK || blm_near_finish(keeps, &err) != BLM_OK)
        fail(err.text);
    r.stale_ms = 0;
    blm_near_close(reads);
    if (blm_near_open_file(argv[2], &r, &reads, &err) != BLM_OK)
        fail(err.text);
    if (!blm_near_check(reads, other.data, other.len) ||
        !blm_near_check(reads, own.data, own.len) || blm_near_check(reads, "absent", 6))
        fail("the copy does not have what was added");
    blm_near_close(reads);
    blm_remote_close(client);
    return 0;
}
