/* SPDX-License-Identifier: MIT */
/*
 * One session: a process that opens a guard, lets threads use it, and ends in one of several ways.
 *
 * The oracle: a key's claim is read before and after a question. If it was HELD all the time and
 * the answer is "absent", the law is broken.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

/* Seconds: far beyond what a busy machine needs. */
#define HANGS       240u
#define CHILD_HANGS 30u

static const struct session *now;
static const struct adapter *data;
static blm_guard            *guard;

struct worker {
    pthread_t     thread;
    struct chance chance;
    unsigned      id;    /* owns the keys k with k % (threads + 1) == id */
    bool          child; /* of a fork */
};

/* ---- questions ------------------------------------------------------------------------------ */

static void judge(unsigned k, uint64_t before, bool absent, const char *how)
{
    if (!absent)
        return;
    count_up(N_ABSENT, 1);
    if (claim_of(before) == HELD && claim_now(k) == before)
        violated("%s: key %u was put and not deleted, and is absent (the data set %s)", how, k,
                 !data->forks && now->forks            ? "was not asked"
                 : faults_inner_get(k) == BLM_E_ABSENT ? "does not have it"
                                                       : "has it");
}

static void ask_get(unsigned k)
{
    char     key[KEY_ROOM];
    size_t   len    = key_bytes(k, key);
    uint64_t before = claim_now(k);
    judge(k, before, blm_guard_get(guard, key, len, NULL, NULL, NULL) == BLM_E_ABSENT, "get");
}

static void ask_maybe(unsigned k)
{
    char     key[KEY_ROOM];
    size_t   len    = key_bytes(k, key);
    uint64_t before = claim_now(k);
    judge(k, before, !blm_guard_maybe(guard, key, len), "maybe");
}

#define MANY 24u
static void ask_many(unsigned first, const char *how)
{
    char     bytes[MANY][KEY_ROOM];
    blm_key  keys[MANY] = { { NULL, 0 } };
    uint8_t  maybe[MANY];
    uint64_t before[MANY];
    unsigned n = world->keys - first < MANY ? world->keys - first : MANY;
    for (unsigned i = 0; i < n; i++) {
        keys[i]   = (blm_key){ bytes[i], key_bytes(first + i, bytes[i]) };
        before[i] = claim_now(first + i);
    }
    blm_guard_maybe_many(guard, keys, n, maybe);
    for (unsigned i = 0; i < n; i++)
        judge(first + i, before[i], !maybe[i], how);
}

void audit(blm_guard *g, const char *where)
{
    guard = g;
    for (unsigned k = 0; k < world->keys; k += MANY)
        ask_many(k, where);
    count_up(N_AUDITED, world->keys);
}

void audit_rows(blm_guard *g, const char *where)
{
    for (unsigned k = 0; k < world->keys; k++) {
        char   key[KEY_ROOM];
        size_t len = key_bytes(k, key);
        if (faults_inner_get(k) == BLM_OK &&
            blm_guard_get(g, key, len, NULL, NULL, NULL) == BLM_E_ABSENT)
            violated("%s: the data set has key %u, and the guard says absent (claim %d)", where, k,
                     (int)claim_of(claim_now(k)));
    }
}

/* ---- writes: by the owner of the key -------------------------------------------------------- */

static unsigned own(struct worker *w)
{
    unsigned owners = world->threads + 1, mine = (world->keys - w->id - 1) / owners + 1;
    return w->id + owners * (unsigned)pick(&w->chance, mine);
}

/* A put was acknowledged. A delete on its way may take the row yet. */
static void hold(unsigned k)
{
    count_up(N_PUTS, 1);
    if (atomic_load(&world->key[k].late_dels) == 0 && claim_of(claim_now(k)) != HELD)
        claim_set(k, HELD);
}

static void put(unsigned k)
{
    char   key[KEY_ROOM];
    size_t len = key_bytes(k, key);
    if (claim_of(claim_now(k)) == NONE)
        claim_set(k, OPEN);
    if (blm_guard_put(guard, key, len, "value", 5, NULL) == BLM_OK)
        hold(k);
}

static void take_away(unsigned k)
{
    char   key[KEY_ROOM];
    size_t len = key_bytes(k, key);
    claim_set(k, OPEN);
    blm_status st = blm_guard_delete(guard, key, len, NULL);
    if (st == BLM_OK || st == BLM_E_ABSENT) {
        count_up(N_DELETES, 1);
        claim_set(k, NONE);
    }
}

static void move_row(unsigned from, unsigned to)
{
    char   a[KEY_ROOM], b[KEY_ROOM];
    size_t a_len = key_bytes(from, a), b_len = key_bytes(to, b);
    if (from != to)
        claim_set(from, OPEN);
    if (claim_of(claim_now(to)) == NONE)
        claim_set(to, OPEN);
    if (blm_guard_update(guard, a, a_len, b, b_len, "moved", 5, NULL) != BLM_OK)
        return;
    hold(to);
    if (from != to)
        claim_set(from, NONE);
}

/* ---- what a thread does --------------------------------------------------------------------- */

static void chatter(struct worker *w)
{
    blm_guard_stats s = { .size = sizeof s };
    switch (pick(&w->chance, 5)) {
    case 0:
        blm_guard_build(guard, NULL);
        break;
    case 1:
        blm_guard_sync(guard, NULL);
        break;
    case 2:
        blm_guard_get_stats(guard, &s);
        break;
    default:
        blm_guard_rebuild(guard, NULL);
    }
}

static void move_about(struct worker *w)
{
    if (chdir(once_in(&w->chance, 3) ? world->base : world->elsewhere) != 0)
        violated("chdir: %s", strerror(errno));
}

/* Several writes of one key, some of which stay on their way; a new generation; and then they land,
 * one by one, between deletes and puts. */
static void burst(struct worker *w, unsigned k)
{
    for (uint64_t n = pick(&w->chance, 8); n > 0; n--)
        once_in(&w->chance, 3) ? take_away(k) : put(k);
    if (once_in(&w->chance, 2))
        blm_guard_build(guard, NULL);
    for (uint64_t n = pick(&w->chance, 8); n > 0; n--) {
        faults_land(k, 1);
        take_away(k);
    }
    put(k);
    ask_get(k);
    if (once_in(&w->chance, 2))
        blm_guard_sync(guard, NULL);
    ask_get(k);
}

static void operate(struct worker *w)
{
    char     key[KEY_ROOM];
    unsigned k = own(w), any = (unsigned)pick(&w->chance, world->keys);
    uint64_t what = pick(&w->chance, 100);
    if (pick(&w->chance, 1000) < now->chatter)
        chatter(w);
    if (now->moves && once_in(&w->chance, 100))
        move_about(w);
    if (now->snapshots && w->id == 0 && once_in(&w->chance, 200))
        files_keep((unsigned)pick(&w->chance, SNAPSHOTS));
    if (now->faults.late && once_in(&w->chance, 3))
        faults_land(k, 1);
    if (now->bursts && once_in(&w->chance, 4))
        burst(w, k);
    if (what < 25)
        ask_get(any);
    else if (what < 35)
        ask_maybe(any);
    else if (what < 38)
        ask_many(any, "maybe_many");
    else if (what < 45)
        blm_guard_get(guard, key, stranger(&w->chance, key), NULL, NULL, NULL);
    else if (what < 55)
        ask_get(k);
    else if (what < 80)
        put(k);
    else if (what < 95)
        take_away(k);
    else
        move_row(k, own(w));
    atomic_fetch_add(&world->ended, 1);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    faults_seed(draw(&w->chance));
    for (unsigned i = 0; i < now->operations && !atomic_load(&world->violated); i++)
        operate(w);
    count_up(N_OPERATIONS, now->operations);
    return NULL;
}

/* ---- another process uses the same guard ---------------------------------------------------- */

/* The child of a fork. It does what its parent does, as the owner of the keys that no thread has:
 * with a data set that a child may use, everything; else only what reaches none. Whatever the
 * guard makes of that, "absent" must not be wrong, here or there. */
__attribute__((noreturn)) static void in_child(struct worker *w)
{
    alarm(CHILD_HANGS);
    if (data->forks)
        work(w);
    else
        for (unsigned i = 0; i < 2000; i++)
            ask_many((unsigned)pick(&w->chance, world->keys), "maybe_many in a child");
    if (data->forks && once_in(&w->chance, 2))
        blm_guard_close(guard, NULL);
    _exit(0);
}

static void fork_and_go_on(struct worker *w)
{
    unsigned forks = 1 + (unsigned)pick(&w->chance, 2);
    for (unsigned i = 0; i < forks; i++) {
        while (atomic_load(&world->ended) < (uint64_t)(i + 1) * now->operations / 4)
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
    if (blm_guard_get_stats(guard, &s) != BLM_OK)
        violated("there are no figures");
    count_up(s.trusted ? N_TRUSTED : N_UNTRUSTED, 1);
    trace("  opened: %s\n", s.trusted ? "trusted" : "not trusted");
}

static void open_guard(struct worker *w)
{
    blm_dataset inner, faulty;
    blm_error   err;
    blm_status  st = data->open(&inner, &err);
    if (st != BLM_OK) {
        violated("the data set cannot be opened: %s", err.text);
        _exit(0);
    }
    faults_wrap(&now->faults, &inner, &faulty);
    faults_seed(now->seed);
    /* What was on its way when the last session ended has arrived, or never will. */
    for (unsigned k = 0; k < world->keys; k++) {
        if (once_in(&w->chance, 2))
            faults_land(k, UINT32_MAX);
        atomic_store(&world->key[k].late_puts, 0);
        atomic_store(&world->key[k].late_dels, 0);
    }
    st = blm_guard_open(&now->guard, &faulty, &guard, &err);
    if (st != BLM_OK)
        trace("  refused: %s\n", err.text);
    if (st != BLM_OK) /* it may refuse, with a reason */
        _exit(err.status == st && err.text[0] ? 0 : (violated("open: no reason"), 0));
}

/* A second guard for the same file is refused, whoever asks. */
static void open_another(void)
{
    blm_guard_options o = now->guard;
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
    audit(guard, "at rest");
    audit_rows(guard, "at rest");
    blm_guard_wait(guard, NULL);
    blm_guard_get_stats(guard, &s);
    count_up(N_REBUILDS, s.rebuilds);
    audit(guard, "after the last rebuild");
    if (now->ending == END_KILL_AFTER)
        kill(getpid(), SIGKILL);
    if (now->ending == END_CLOSE)
        blm_guard_close(guard, NULL);
    _exit(0);
}

void session_run(const struct adapter *a, const struct session *s)
{
    struct worker w[MOST_THREADS + 1];
    now  = s;
    data = a;
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
    audit(guard, "just opened");
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
