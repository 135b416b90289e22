/* SPDX-License-Identifier: MIT */
/* Themes about others: rows that somebody writes past the guard while it scans, and keys that
 * somebody chooses because the filter lets them through. */
#include <time.h>

#include "world.h"

static void pause_ms(long ms)
{
    struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&t, NULL);
}

/* ---- rows past the guard -------------------------------------------------------------------- */

/* Writes rows that the scan which runs has passed. */
static void write_behind_the_scan(blm_guard *g)
{
    unsigned from = world->keys / 4;
    faults_scan_watch();
    if (blm_guard_rebuild(g, NULL) != BLM_OK)
        violated("outside: no rebuild");
    while (faults_scanned() < from && errand_stats(g).rebuilding)
        pause_ms(1);
    for (unsigned k = 0; k < from; k++) {
        if (faults_inner_put(k) != BLM_OK)
            violated("outside: the data set fails");
        claim_set(k, HELD);
    }
}

static void write_past(struct errand *e)
{
    blm_guard *g = errand_guard(e);
    for (unsigned k = world->keys / 4; k < world->keys; k++) {
        faults_inner_put(k);
        claim_set(k, HELD);
    }
    if (blm_guard_build(g, NULL) != BLM_OK)
        violated("outside: the first build fails");
    write_behind_the_scan(g);
    if (e->number != 0) { /* the guard is told that it missed something */
        blm_guard_distrust(g);
        audit(g, "distrusted");
    } else if (blm_guard_rebuild(g, NULL) < 0) { /* … or that there is something new */
        violated("outside: no second rebuild");
    }
    blm_guard_wait(g, NULL);
    audit(g, e->number != 0 ? "distrusted during a rebuild" : "a rebuild was asked for during one");
    blm_guard_close(g, NULL);
}

void theme_outside(const struct adapter *a, struct chance *c)
{
    struct errand e = { .adapter = a };
    for (int told = 0; told < 2; told++) {
        begin_again(a);
        make_keys(c, 400, 500);
        e.session             = plain(a, c);
        e.session.faults      = (struct faults){ .scan_us = 100 };
        e.session.guard.flags = BLM_GUARD_ADVISORY | BLM_GUARD_MANUAL;
        e.session.guard.rate  = 0.01;
        e.session.guard.items = 2 * world->keys;
        e.session.guard.path  = once_in(c, 2) ? NULL : world->path;
        e.session.ending      = END_CLOSE;
        e.number              = told;
        if (!apart(write_past, &e))
            return;
    }
}

/* ---- keys that somebody chooses ------------------------------------------------------------- */

/* Asks for so many absent keys that pass. */
static void ask_what_passes(blm_guard *g, struct chance *c, unsigned passes)
{
    char key[KEY_ROOM];
    while (passes > 0 && !atomic_load(&world->violated)) {
        size_t len = stranger(c, key);
        if (!blm_guard_maybe(g, key, len))
            continue;
        if (blm_guard_get(g, key, len, NULL, NULL, NULL) != BLM_E_ABSENT)
            violated("chosen: nobody put that key");
        passes--;
    }
}

static void choose(struct errand *e)
{
    struct chance c = { e->session.seed };
    blm_guard    *g = errand_guard(e);
    errand_put(g, 0, world->keys);
    blm_guard_rebuild(g, NULL);
    blm_guard_wait(g, NULL);
    if (errand_stats(g).polluted)
        violated("chosen: polluted, and nobody has asked for anything");
    uint64_t before = errand_stats(g).rebuilds;
    for (int round = 0; round < 5; round++) {
        ask_what_passes(g, &c, 100);
        blm_guard_wait(g, NULL);
    }
    blm_guard_stats s = errand_stats(g);
    if (s.rebuilds > before + 1)
        violated("chosen: %u rebuilds within a pause", (unsigned)(s.rebuilds - before));
    if (s.held == 0 || !s.polluted)
        violated("chosen: 500 chosen keys pass, and the guard says nothing of it");
    audit(g, "chosen keys");
    blm_guard_close(g, NULL);
}

/* Deleted rows that are asked for pass too. */
static void ask_for_deleted(struct errand *e)
{
    char       key[KEY_ROOM];
    blm_guard *g = errand_guard(e);
    errand_put(g, 0, world->keys);
    blm_guard_build(g, NULL);
    for (unsigned k = 0; k < world->keys / 4; k++) {
        claim_set(k, NONE);
        blm_guard_delete(g, key, key_bytes(k, key), NULL);
    }
    for (unsigned k = 0; k < world->keys / 4; k++)
        blm_guard_get(g, key, key_bytes(k, key), NULL, NULL, NULL);
    if (errand_stats(g).polluted)
        violated("chosen: deleted keys are taken for an attack");
    audit(g, "deleted keys");
    blm_guard_close(g, NULL);
}

void theme_chosen(const struct adapter *a, struct chance *c)
{
    struct errand e = { .adapter = a };
    for (int deleted = 0; deleted < 2; deleted++) {
        begin_again(a);
        make_keys(c, 800, 900);
        e.session                     = plain(a, c);
        e.session.faults              = (struct faults){ 0 };
        e.session.guard.items         = 1000;
        e.session.guard.rate          = 0.01;
        e.session.guard.remember      = 0;
        e.session.guard.rate_pause_ms = 10000000;
        e.session.guard.flags         = deleted ? BLM_GUARD_MANUAL : 0;
        e.session.ending              = END_CLOSE;
        if (!apart(deleted ? ask_for_deleted : choose, &e))
            return;
    }
}
