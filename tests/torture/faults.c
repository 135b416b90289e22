/* SPDX-License-Identifier: MIT */
/*
 * A data set that fails. A call that fails returns an error without its effect, with its effect, or
 * with its effect later; several of them may be on their way for one key. A late delete takes the
 * key's claim away before it happens, so late effects are only let go by the key's owner.
 * Here a session is killed, too: before or after a call, also in the middle of a scan.
 */
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

static struct {
    struct faults    f;
    blm_dataset      inner;
    _Atomic bool     stopped;
    _Atomic uint64_t scanned;
    _Atomic int      broken_scans; /* yet to come */
} set;

static _Thread_local struct chance mine;

void faults_seed(uint64_t seed) { mine.state = seed; }

/* The guard's own threads have no seed yet when they come here first. */
static struct chance *chance_here(void)
{
    static _Atomic uint64_t threads;
    if (mine.state == 0)
        mine.state = world->seed + atomic_fetch_add(&threads, 1) * 0xd1342543de82ef95u;
    return &mine;
}

void faults_stop(void)
{
    atomic_store(&set.stopped, true);
    atomic_store(&world->kill_in, -1);
}

void faults_go_on(void) { atomic_store(&set.stopped, false); }

/* ---- when ----------------------------------------------------------------------------------- */

static void may_die(void)
{
    if (atomic_load(&world->kill_in) >= 0 && atomic_fetch_sub(&world->kill_in, 1) == 0)
        kill(getpid(), SIGKILL);
}

static void dawdle(void)
{
    if (once_in(chance_here(), 8))
        sched_yield();
    if (once_in(chance_here(), 500)) {
        struct timespec t = { 0, (long)pick(chance_here(), 300000) };
        nanosleep(&t, NULL);
    }
}

enum fault { FAULT_NONE, FAULT_LOST, FAULT_DONE, FAULT_LATE };

static enum fault fault(bool may_be_late)
{
    if (atomic_load(&set.stopped) || !once_in(chance_here(), set.f.one_in))
        return FAULT_NONE;
    count_up(N_FAULTS, 1);
    return (enum fault)(FAULT_LOST + pick(chance_here(), may_be_late && set.f.late ? 3 : 2));
}

static blm_status failed(blm_error *err)
{
    *err = (blm_error){ .status = BLM_E_IO, .offset = BLM_NO_OFFSET };
    strcpy(err->text, "a fault was injected");
    return BLM_E_IO;
}

/* ---- the calls ------------------------------------------------------------------------------ */

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    may_die();
    dawdle();
    if (fault(false))
        return failed(err);
    blm_status st = set.inner.get(ctx, key, len, value, value_ctx, err);
    dawdle();
    may_die();
    return st;
}

static blm_status put(void *ctx, const void *key, size_t len, const void *value, size_t value_len,
                      blm_error *err)
{
    may_die();
    dawdle();
    enum fault f  = fault(true);
    blm_status st = f == FAULT_LOST || f == FAULT_LATE
                        ? BLM_OK
                        : set.inner.put(ctx, key, len, value, value_len, err);
    if (f == FAULT_LATE)
        atomic_fetch_add(&world->key[key_number(key, len)].late_puts, set.f.twice ? 2 : 1);
    dawdle();
    may_die();
    return f && st == BLM_OK ? failed(err) : st;
}

static blm_status del(void *ctx, const void *key, size_t len, blm_error *err)
{
    may_die();
    dawdle();
    enum fault f  = fault(true);
    blm_status st = f == FAULT_LOST || f == FAULT_LATE ? BLM_OK : set.inner.del(ctx, key, len, err);
    if (f == FAULT_LATE)
        atomic_fetch_add(&world->key[key_number(key, len)].late_dels, 1);
    dawdle();
    may_die();
    return f ? failed(err) : st;
}

struct listener {
    blm_key_fn each;
    void      *ctx;
    uint64_t   stop_after;
    bool       stopped;
};

static bool pass_on(void *ctx, const void *key, size_t len)
{
    struct listener *l = ctx;
    may_die();
    if (set.f.slow_scan)
        dawdle();
    if (set.f.scan_us)
        usleep(set.f.scan_us);
    l->stopped = l->stop_after-- == 0;
    bool more  = !l->stopped && l->each(l->ctx, key, len);
    atomic_fetch_add(&set.scanned, 1);
    return more;
}

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    bool            breaks = fault(false) != FAULT_NONE || (atomic_load(&set.broken_scans) > 0 &&
                                                 atomic_fetch_sub(&set.broken_scans, 1) > 0);
    struct listener l  = { each, each_ctx, breaks ? pick(chance_here(), world->keys) : UINT64_MAX,
                           false };
    blm_status      st = set.inner.scan(ctx, pass_on, &l, err);
    return breaks ? failed(err) : st;
}

static blm_status count(void *ctx, uint64_t *rows, blm_error *err)
{
    if (fault(false))
        return failed(err);
    return set.inner.count(ctx, rows, err);
}

static blm_status mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    may_die();
    if (fault(false))
        return failed(err);
    return set.inner.mark_read(ctx, mark, len, err);
}

static blm_status mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    may_die();
    enum fault f  = fault(false);
    blm_status st = f == FAULT_LOST ? BLM_OK : set.inner.mark_write(ctx, mark, len, err);
    may_die();
    return f ? failed(err) : st;
}

static void close_it(void *ctx)
{
    if (set.inner.close)
        set.inner.close(ctx);
}

void faults_wrap(const struct faults *f, const blm_dataset *inner, blm_dataset *out)
{
    set.f     = *f;
    set.inner = *inner;
    *out      = (blm_dataset){ .size  = sizeof *out,
                               .ctx   = inner->ctx,
                               .get   = get,
                               .put   = put,
                               .del   = del,
                               .scan  = scan,
                               .close = close_it };
    if (inner->count && !f->no_count)
        out->count = count;
    if (inner->mark_read && !f->no_mark) {
        out->mark_read  = mark_read;
        out->mark_write = mark_write;
    }
}

/* ---- past the guard ------------------------------------------------------------------------- */

blm_status faults_inner_get(unsigned k)
{
    char      key[KEY_ROOM];
    blm_error err;
    return set.inner.get(set.inner.ctx, key, key_bytes(k, key), NULL, NULL, &err);
}

blm_status faults_inner_put(unsigned k)
{
    char      key[KEY_ROOM];
    blm_error err;
    return set.inner.put(set.inner.ctx, key, key_bytes(k, key), "past", 4, &err);
}

void faults_fail_scans(int n) { atomic_store(&set.broken_scans, n); }

void faults_scan_watch(void) { atomic_store(&set.scanned, 0); }

uint64_t faults_scanned(void) { return atomic_load(&set.scanned); }

void faults_land(unsigned k, unsigned most)
{
    struct key_state *s = &world->key[k];
    char              key[KEY_ROOM];
    size_t            len = key_bytes(k, key);
    blm_error         err;
    for (; most > 0; most--) {
        uint32_t dels = atomic_load(&s->late_dels), puts = atomic_load(&s->late_puts);
        if (dels + puts == 0)
            return;
        if (pick(chance_here(), dels + puts) < dels) {
            claim_set(k, OPEN);
            set.inner.del(set.inner.ctx, key, len, &err);
            atomic_fetch_sub(&s->late_dels, 1);
        } else {
            set.inner.put(set.inner.ctx, key, len, "late", 4, &err);
            atomic_fetch_sub(&s->late_puts, 1);
        }
        count_up(N_LATE, 1);
    }
}
