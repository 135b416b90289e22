/* SPDX-License-Identifier: MIT */
/* One thread of a session: it writes the keys that it owns, asks for all, and now and then does
 * something that disturbs the others. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

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
    if (blm_guard_put(here.guard, key, len, "value", 5, NULL) == BLM_OK)
        hold(k);
}

static void take_away(unsigned k)
{
    char   key[KEY_ROOM];
    size_t len = key_bytes(k, key);
    claim_set(k, OPEN);
    blm_status st = blm_guard_delete(here.guard, key, len, NULL);
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
    if (blm_guard_update(here.guard, a, a_len, b, b_len, "moved", 5, NULL) != BLM_OK)
        return;
    hold(to);
    if (from != to)
        claim_set(from, NONE);
}

/* ---- what a thread does --------------------------------------------------------------------- */

void chatter(struct worker *w)
{
    blm_guard_stats s = { .size = sizeof s };
    switch (pick(&w->chance, 5)) {
    case 0:
        blm_guard_build(here.guard, NULL);
        break;
    case 1:
        blm_guard_sync(here.guard, NULL);
        break;
    case 2:
        blm_guard_get_stats(here.guard, &s);
        break;
    default:
        blm_guard_rebuild(here.guard, NULL);
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
        blm_guard_build(here.guard, NULL);
    for (uint64_t n = pick(&w->chance, 8); n > 0; n--) {
        faults_land(k, 1);
        take_away(k);
    }
    put(k);
    ask_get(k);
    if (once_in(&w->chance, 2))
        blm_guard_sync(here.guard, NULL);
    ask_get(k);
}

static void operate(struct worker *w)
{
    char     key[KEY_ROOM];
    unsigned k = own(w), any = (unsigned)pick(&w->chance, world->keys);
    uint64_t what = pick(&w->chance, 100);
    if (pick(&w->chance, 1000) < here.session->chatter)
        chatter(w);
    if (here.session->moves && once_in(&w->chance, 100))
        move_about(w);
    if (here.session->snapshots && w->id == 0 && once_in(&w->chance, 200))
        files_keep((unsigned)pick(&w->chance, SNAPSHOTS));
    if (here.session->faults.late && once_in(&w->chance, 3))
        faults_land(k, 1);
    if (here.session->bursts && once_in(&w->chance, 4))
        burst(w, k);
    if (what < 25)
        ask_get(any);
    else if (what < 35)
        ask_maybe(any);
    else if (what < 38)
        ask_many(any, "maybe_many");
    else if (what < 45)
        blm_guard_get(here.guard, key, stranger(&w->chance, key), NULL, NULL, NULL);
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

void *work(void *arg)
{
    struct worker *w = arg;
    faults_seed(draw(&w->chance));
    for (unsigned i = 0; i < here.session->operations && !atomic_load(&world->violated); i++)
        operate(w);
    count_up(N_OPERATIONS, here.session->operations);
    return NULL;
}
