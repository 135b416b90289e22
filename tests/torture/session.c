/* SPDX-License-Identifier: MIT */
/* One session: a process that opens a guard, lets threads use it, and ends in one of several
 * ways. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "session.h"

#define CHILD_HANGS 30u /* seconds, as HANGS */

/* ---- another process uses the same guard --------------------------------------------------------- */

/* The child of a fork. It does what its parent does, as the owner of the keys that no thread has:
 * with a data set that a child may use, everything; else only what reaches none. Whatever the
 * guard makes of that, "absent" must not be wrong, here or there. */
__attribute__((noreturn)) static void in_child(struct worker *w)
{
    alarm(CHILD_HANGS);
    if (here.data->forks)
        work(w);
    else
        for (unsigned i = 0; i < 2000; i++)
            ask_many((unsigned)pick(&w->chance, world->keys), "maybe_many in a child");
    if (here.data->forks && once_in(&w->chance, 2))
        blm_guard_close(here.guard, NULL);
    _exit(0);
}

static void fork_and_go_on(struct worker *w)
{
    unsigned forks = 1 + (unsigned)pick(&w->chance, 2);
    for (unsigned i = 0; i < forks; i++) {
        while (atomic_load(&world->ended) < (uint64_t)(i + 1) * here.session->operations / 4)
            sched_yield();
        pid_t child = fork();
        if (child == 0)
            in_child(w);
        draw(&w->chance);
        count_up(N_FORKS, 1);
        for (unsigned n = 0; n < 50; n++) {
            chatter(w);
            ask_many((unsigned)pick(&w->chance, world->keys), "maybe_many beside a child");
        }
        int status = 0;
        if (atomic_load(&world->violated))
            kill(child, SIGKILL);
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
            violated("the child of a fork %s (signal %d)",
                     WTERMSIG(status) == SIGALRM ? "hangs" : "died", WTERMSIG(status));
    }
}

/* ---- the session ---------------------------------------------------------------------------- */

static void say_trust(void)
{
    blm_guard_stats s = { .size = sizeof s };
    if (blm_guard_get_stats(here.guard, &s) != BLM_OK)
        violated("there are no figures");
    count_up(s.trusted ? N_TRUSTED : N_UNTRUSTED, 1);
    trace("  opened: %s\n", s.trusted ? "trusted" : "not trusted");
}

static void open_guard(struct worker *w)
{
    blm_dataset inner, faulty;
    blm_error   err;
    blm_status  st = here.data->open(&inner, &err);
    if (st != BLM_OK) {
        violated("the data set cannot be opened: %s", err.text);
        _exit(0);
    }
    faults_wrap(&here.session->faults, &inner, &faulty);
    faults_seed(here.session->seed);
    /* What was on its way when the last session ended has arrived, or never will. */
    for (unsigned k = 0; k < world->keys; k++) {
        if (once_in(&w->chance, 2))
            faults_land(k, UINT32_MAX);
        atomic_store(&world->key[k].late_puts, 0);
        atomic_store(&world->key[k].late_dels, 0);
    }
    st = blm_guard_open(&here.session->guard, &faulty, &here.guard, &err);
    if (st != BLM_OK)
        trace("  refused: %s\n", err.text);
    if (st != BLM_OK) /* it may refuse, with a reason */
        _exit(err.status == st && err.text[0] ? 0 : (violated("open: no reason"), 0));
}

/* A second guard for the same file is refused, whoever asks. */
static void open_another(void)
{
    blm_guard_options o = here.session->guard;
    blm_dataset       nothing;
    blm_guard        *other;
    memory_adapter.open(&nothing, NULL);
    if (!o.path)
        return;
    o.path = world->path; /* the process may have moved */
    if (blm_guard_open(&o, &nothing, &other, NULL) != BLM_E_BUSY)
        violated("two guards have one file open");
}

static void finish(void)
{
    blm_guard_stats s = { .size = sizeof s };
    faults_stop();
    for (unsigned k = 0; k < world->keys; k++)
        faults_land(k, UINT32_MAX);
    audit(here.guard, "at rest");
    audit_rows(here.guard, "at rest");
    blm_guard_wait(here.guard, NULL);
    blm_guard_get_stats(here.guard, &s);
    count_up(N_REBUILDS, s.rebuilds);
    audit(here.guard, "after the last rebuild");
    if (here.session->ending == END_KILL_AFTER)
        kill(getpid(), SIGKILL);
    if (here.session->ending == END_CLOSE)
        blm_guard_close(here.guard, NULL);
    _exit(0);
}

void session_run(const struct adapter *a, const struct session *s)
{
    struct worker w[MOST_THREADS + 1];
    here = (struct here){ .session = s, .data = a };
    alarm(HANGS);
    if (chdir(world->base) != 0)
        violated("chdir: %s", strerror(errno));
    for (unsigned i = 0; i <= world->threads; i++)
        w[i] = (struct worker){ .chance = { s->seed + i * 0x5851f42d4c957f2du }, .id = i };
    struct worker *self = &w[world->threads];
    atomic_store(&world->ended, 0);
    atomic_store(&world->kill_in, s->ending == END_KILL_LATER
                                      ? (int64_t)pick(&self->chance, s->operations * world->threads)
                                      : -1);
    open_guard(self);
    say_trust();
    audit(here.guard, "just opened");
    for (unsigned i = 0; i < world->threads; i++)
        if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
            violated("no thread");
    if (s->second)
        open_another();
    if (s->forks)
        fork_and_go_on(self);
    for (unsigned i = 0; i < world->threads; i++)
        pthread_join(w[i].thread, NULL);
    finish();
    _exit(0);
}

bool session_start(const struct adapter *a, const struct session *s)
{
    static const char *const endings[ENDINGS] = { "closed", "killed in a call", "killed at rest",
                                                  "left" };
    int                      status           = 0;
    count_up(N_SESSIONS, 1);
    trace("session: %s, %u keys, %u threads, kind %d, hash %d, rate %g, one fault in %u%s%s%s%s%s, "
          "to be %s\n",
          s->guard.path ? s->guard.path : "no file", world->keys, world->threads,
          (int)s->filter.kind, (int)s->filter.hash, s->guard.rate, s->faults.one_in,
          s->faults.late ? ", late" : "", s->faults.no_mark ? ", no mark" : "",
          s->moves ? ", moves" : "", s->forks ? ", forks" : "", s->second ? ", second" : "",
          endings[s->ending]);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        session_run(a, s);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && s->ending != END_CLOSE)
        count_up(N_KILLED, 1);
    else if (WIFSIGNALED(status))
        violated("a session %s (signal %d)", WTERMSIG(status) == SIGALRM ? "hangs" : "died",
                 WTERMSIG(status));
    else if (WEXITSTATUS(status))
        violated("a session ended with %d", WEXITSTATUS(status));
    return !atomic_load(&world->violated);
}
