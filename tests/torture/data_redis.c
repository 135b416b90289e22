/* SPDX-License-Identifier: MIT */
/* A real redis-server on a Unix socket. It is started when first needed, keeps nothing on disk and
 * ends with this program. */
#include <bloomery_redis.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

static pid_t server;
static char  folder[] = "/tmp/torture-redis-XXXXXX";
static pid_t owner;

void redis_socket(char out[120]) { snprintf(out, 120, "%s/s", folder); }

static void finish(void)
{
    char path[120];
    if (!server || owner != getpid())
        return;
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    redis_socket(path);
    unlink(path);
    rmdir(folder);
    server = 0;
}

static void start_server(void)
{
    char path[120];
    if (!mkdtemp(folder))
        exit(2);
    redis_socket(path);
    owner  = getpid();
    server = fork();
    if (server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path, "--save", "",
               "--appendonly", "no", "--logfile", "/dev/null", "--dir", folder,
               "--notify-keyspace-events", "KA", "--enable-debug-command", "local", (char *)NULL);
        perror("redis-server");
        _exit(127);
    }
    for (int i = 0; i < 3000; i++) {
        struct timespec t  = { 0, 10000000 };
        redisContext   *c  = redisConnectUnix(path);
        bool            up = c && !c->err;
        redisFree(c);
        if (up)
            return;
        nanosleep(&t, NULL);
    }
    fprintf(stderr, "torture: redis-server does not start\n");
    exit(2);
}

static void prepare(void)
{
    char path[120];
    if (!server)
        start_server();
    redis_socket(path);
    redisContext *c = redisConnectUnix(path);
    void         *r = c && !c->err ? redisCommand(c, "FLUSHALL") : NULL;
    if (!r) {
        fprintf(stderr, "torture: redis-server went away\n");
        exit(2);
    }
    freeReplyObject(r);
    redisFree(c);
}

static blm_status open_it(blm_dataset *out, blm_error *err)
{
    blm_redis_options o = BLM_REDIS_OPTIONS_INIT;
    char              path[120];
    redis_socket(path);
    o.socket     = path;
    o.timeout_ms = 20000;
    if (world->variant == 0)
        o.prefix = "row:";
    else if (world->variant == 1)
        o.hash = "rows";
    else
        o.prefix = "h*[", o.field = "v";
    return blm_redis_open(&o, out, err);
}

const struct adapter redis_adapter = { .name       = "redis",
                                       .operations = 1000,
                                       .variants   = 3,
                                       .prepare    = prepare,
                                       .open       = open_it,
                                       .finish     = finish };
