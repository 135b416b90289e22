/* SPDX-License-Identifier: MIT */
/* What a theme does in a process of its own, without the threads of a session. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

bool apart(void (*fn)(struct errand *e), struct errand *e)
{
    int status = 0;
    atomic_store(&world->kill_in, -1);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(HANGS);
        faults_seed(e->session.seed);
        fn(e);
        _exit(0);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status) ? WTERMSIG(status) != SIGKILL || e->session.ending == END_CLOSE
                            : WEXITSTATUS(status) != 0)
        violated("a process ended with status 0x%x", (unsigned)status);
    return !atomic_load(&world->violated);
}

blm_guard *errand_guard(struct errand *e)
{
    blm_dataset inner, faulty;
    blm_guard  *g = NULL;
    blm_error   err;
    e->session.guard.filter = &e->session.filter;
    if (e->adapter->open(&inner, &err) == BLM_OK) {
        faults_wrap(&e->session.faults, &inner, &faulty);
        if (blm_guard_open(&e->session.guard, &faulty, &g, &err) == BLM_OK)
            return g;
    }
    violated("a guard cannot be opened: %s", err.text);
    _exit(0);
}

blm_guard_stats errand_stats(blm_guard *g)
{
    blm_guard_stats s = { .size = sizeof s };
    if (blm_guard_get_stats(g, &s) != BLM_OK)
        violated("there are no figures");
    return s;
}

void errand_put(blm_guard *g, unsigned from, unsigned to)
{
    char key[KEY_ROOM];
    for (unsigned k = from; k < to; k++)
        if (blm_guard_put(g, key, key_bytes(k, key), "value", 5, NULL) == BLM_OK)
            claim_set(k, HELD);
        else
            violated("a put fails");
}
