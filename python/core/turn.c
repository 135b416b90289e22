/* SPDX-License-Identifier: MIT */
/* Who may use a filter, or a guard, now: turns, and those who wait for them in the order of coming. The GIL
 * guards them; what is waited for without it has a lock of its own. */
#include "core.h"

static void wake(struct core_turn *t)
{
    pthread_mutex_lock(&t->mutex);
    t->ticks++;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->mutex);
}

unsigned core_forks;

static void in_child(void) { core_forks++; }

bool core_watch_forks(void) { return pthread_atfork(NULL, NULL, in_child) == 0; }

static void make_locks(struct core_turn *t)
{
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->changed, NULL);
    t->forks = core_forks;
}

/* A process that was forked has none of the threads that were in a call or stood in line, and one of
 * them may have had the mutex. What a writer has half changed must not even be looked at. */
static void forget_the_parents(struct core_turn *t)
{
    if (t->forks == core_forks)
        return;
    t->torn    = t->torn || (t->writer && !t->mild);
    t->writer  = t->torn;
    t->readers = 0;
    t->serving = t->ticket;
    make_locks(t);
}

bool core_turn_taken(struct core_turn *t, bool write)
{
    forget_the_parents(t);
    return core_turn_busy(t, write);
}

bool core_turn_torn(struct core_turn *t)
{
    forget_the_parents(t);
    return t->torn;
}

/* Nobody can leave between the look at the turn and the look at the ticks: leaving takes the GIL. Who
 * waits is served in the order of coming. Else a thread that is back with its next batch before
 * the others have the GIL takes every turn: a check was seen to wait 70 s for adds of 1 ms each. */
static void stand_in_line(struct core_turn *t, bool write)
{
    uint64_t mine = t->ticket++;
    while (core_turn_busy(t, write) || t->serving != mine) {
        pthread_mutex_lock(&t->mutex);
        uint64_t seen = t->ticks;
        pthread_mutex_unlock(&t->mutex);
        Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&t->mutex);
        while (t->ticks == seen)
            pthread_cond_wait(&t->changed, &t->mutex);
        pthread_mutex_unlock(&t->mutex);
        Py_END_ALLOW_THREADS
    }
    t->serving++;
    wake(t); /* the next may go too */
}

bool core_turn_wait(struct core_turn *t, bool write)
{
    if (!core_turn_busy(t, write))
        return true;
    if (core_turn_torn(t)) {
        blm_error err = { .text   = "another thread was changing this when the process forked, so "
                                    "the child has half of the change: open it again, or fork when "
                                    "no thread changes it",
                          .offset = BLM_NO_OFFSET };
        core_raise(BLM_E_BUSY, &err);
        return false;
    }
    if (core_turn_busy(t, write))
        stand_in_line(t, write);
    return true;
}

bool core_turn_take(struct core_turn *t, bool write)
{
    forget_the_parents(t);
    if (!core_turn_wait(t, write))
        return false;
    if (write)
        t->writer = true, t->mild = false;
    else
        t->readers++;
    return true;
}

void core_turn_end(struct core_turn *t, bool write)
{
    if (write)
        t->writer = false;
    else
        t->readers--;
    wake(t);
}

void core_turn_init(struct core_turn *t) { make_locks(t); }

void core_turn_destroy(struct core_turn *t)
{
    forget_the_parents(t); /* to destroy a condition waits for those who wait, who may be dead */
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->mutex);
}

static bool enter_at_once(core_filter *self, bool write)
{
    return core_may(self, write) && core_turn_take(&self->turn, write);
}

bool core_enter(core_filter *self, bool write)
{
    struct core_turn *t = &self->turn;
    forget_the_parents(t);
    if (t->serving != t->ticket && !t->torn)
        stand_in_line(t, write);
    return enter_at_once(self, write);
}

void core_leave(core_filter *self, bool write) { core_turn_end(&self->turn, write); }

bool core_enter_both(core_filter *self, bool write, core_filter *other)
{
    bool         mine_first = (uintptr_t)self < (uintptr_t)other;
    core_filter *first = mine_first ? self : other, *second = mine_first ? other : self;
    if (!core_enter(first, write && mine_first))
        return false;
    /* A filter with itself: whoever stands in line waits for us. */
    if (self == other ? enter_at_once(self, write) : core_enter(second, write && !mine_first))
        return true;
    core_leave(first, write && mine_first);
    return false;
}

void core_leave_both(core_filter *self, bool write, core_filter *other)
{
    core_leave(other, false);
    core_leave(self, write);
}
