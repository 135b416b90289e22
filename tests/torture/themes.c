/* SPDX-License-Identifier: MIT */
/*
 * What an episode is about: which sessions follow one another, and what happens between them. Each
 * theme is drawn from the seed. "mixed" has everything; the others make one thing likely that would
 * be rare there.
 */
#include <string.h>

#include "world.h"

/* ---- sessions ------------------------------------------------------------------------------- */

struct session plain(const struct adapter *a, struct chance *c)
{
    static const unsigned fault_rates[] = { 0, 40, 8, 3 };
    struct session        s             = { .seed = draw(c), .operations = a->operations };
    blm_guard_options     guard         = BLM_GUARD_OPTIONS_INIT;
    blm_options           filter        = BLM_OPTIONS_INIT;
    s.guard                             = guard;
    s.filter                            = filter;
    s.operations                        = a->operations / 2 + (unsigned)pick(c, a->operations);
    s.faults.one_in                     = fault_rates[pick(c, 4)];
    s.faults.late                       = once_in(c, 2);
    s.faults.slow_scan                  = once_in(c, 2);
    s.faults.no_count                   = once_in(c, 4);
    s.chatter                           = 3;
    s.ending                            = (enum ending)pick(c, ENDINGS);
    s.guard.items                       = 1 + pick(c, world->keys);
    s.guard.rate                        = 0.2;
    s.guard.retry_ms                    = 1;
    s.guard.remember                    = (uint32_t[]){ 0, 16, BLM_GUARD_NONE }[pick(c, 3)];
    s.guard.path                        = world->path;
    return s;
}

/* The same filter in every session of an episode. */
static blm_kind kind_of(struct chance *c)
{
    return (blm_kind[]){ BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING, BLM_CUCKOO }[pick(c, 4)];
}

bool start(const struct adapter *a, struct session *s)
{
    s->guard.filter = &s->filter;
    if (s->relative)
        s->guard.path = strrchr(world->path, '/') + 1;
    return session_start(a, s);
}

void make_keys(struct chance *c, unsigned least, unsigned most)
{
    world->keys    = least + (unsigned)pick(c, most - least + 1);
    world->threads = 2 + (unsigned)pick(c, 3);
}

/* ---- themes --------------------------------------------------------------------------------- */

/* Everything, one after another. */
static void theme_mixed(const struct adapter *a, struct chance *c)
{
    blm_kind kind = kind_of(c);
    bool     mark = !once_in(c, 6);
    make_keys(c, 20, 800);
    for (unsigned i = 3 + (unsigned)pick(c, 4); i > 0; i--) {
        struct session s = plain(a, c);
        s.filter.kind    = once_in(c, 8) ? kind_of(c) : kind;
        s.filter.hash    = once_in(c, 6) ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
        s.faults.no_mark = !mark;
        s.relative       = once_in(c, 3);
        s.moves          = once_in(c, 3);
        s.second         = once_in(c, 4);
        s.snapshots      = mark;
        s.forks          = once_in(c, 6);
        if (once_in(c, 8))
            s.guard.rate = 0.01;
        if (mark && once_in(c, 6))
            s.guard.path = NULL;
        if (once_in(c, 8))
            s.guard.flags |= BLM_GUARD_MANUAL;
        if (!start(a, &s))
            return;
        if (mark && once_in(c, 3))
            files_mischief(c);
    }
}

/* A relative path, and a process that goes elsewhere and rebuilds there. */
static void theme_chdir(const struct adapter *a, struct chance *c)
{
    blm_kind kind = kind_of(c);
    make_keys(c, 200, 600);
    for (unsigned i = 0; i < 4; i++) {
        struct session s = plain(a, c);
        s.filter.kind    = kind;
        s.faults.one_in  = 0;
        s.relative       = true;
        s.moves          = i % 2 == 1;
        s.chatter        = 10;
        if (!start(a, &s))
            return;
    }
}

/* Puts every row into the data set, before any guard has seen it. */
static void fill(struct errand *e)
{
    blm_dataset d;
    char        key[KEY_ROOM];
    blm_error   err;
    if (e->adapter->open(&d, &err) != BLM_OK)
        violated("fill: %s", err.text);
    for (unsigned k = 0; k < world->keys && !atomic_load(&world->violated); k++)
        if (d.put(d.ctx, key, key_bytes(k, key), "there", 5, &err) != BLM_OK)
            violated("fill: %s", err.text);
    if (d.close)
        d.close(d.ctx);
}

/* Many rows, there before the first guard is opened, and scans of several pages in every shape of
 * table. */
static void theme_scan(const struct adapter *a, struct chance *c)
{
    struct errand e = { .adapter = a };
    make_keys(c, 2500, 3500);
    if (a->fill)
        a->fill();
    else if (!apart(fill, &e))
        return;
    for (unsigned k = 0; k < world->keys; k++)
        claim_set(k, HELD);
    for (unsigned i = 0; i < 2; i++) {
        struct session s = plain(a, c);
        s.faults.one_in  = 0;
        s.chatter        = 10;
        s.ending         = END_CLOSE;
        s.guard.path     = i ? NULL : world->path;
        if (!start(a, &s))
            return;
    }
}

/* Every key is put twice, and both fail. A new generation knows that the key is in doubt, and not how
 * often. Then one lands and is deleted, and the other lands. */
static void land_twice(struct errand *e)
{
    char       key[KEY_ROOM];
    blm_guard *g = errand_guard(e);
    for (unsigned k = 0; k < 2 * world->keys; k++)
        blm_guard_put(g, key, key_bytes(k / 2, key), "value", 5, NULL);
    faults_stop();
    blm_guard_build(g, NULL);
    for (unsigned k = 0; k < world->keys; k++) {
        faults_land(k, 1);
        blm_guard_delete(g, key, key_bytes(k, key), NULL);
    }
    blm_guard_sync(g, NULL); /* removes what waits */
    for (unsigned k = 0; k < world->keys; k++)
        faults_land(k, UINT32_MAX);
    audit_rows(g, "puts that landed late");
    blm_guard_close(g, NULL);
}

/* A filter that keys are removed from, few keys, and many writes that fail and land late. */
static void theme_late(const struct adapter *a, struct chance *c)
{
    blm_kind      kind = once_in(c, 2) ? BLM_COUNTING : BLM_CUCKOO;
    struct errand e    = { .adapter = a };
    make_keys(c, 60, 100);
    e.session             = plain(a, c);
    e.session.ending      = END_CLOSE;
    e.session.filter.kind = kind;
    e.session.guard.flags = BLM_GUARD_MANUAL;
    e.session.guard.rate  = 0.01;
    e.session.guard.items = 4000;
    e.session.faults      = (struct faults){ .one_in = 1, .late = true, .no_mark = true };
    if (!apart(land_twice, &e))
        return;
    begin_again(a);
    make_keys(c, 6, 24);
    for (unsigned i = 0; i < 3; i++) {
        struct session s = plain(a, c);
        s.filter.kind    = kind;
        s.guard.rate     = 0.01;
        s.guard.items    = 4000; /* a counter that is one too low is seen at once */
        s.faults.one_in  = 2 + (unsigned)pick(c, 3);
        s.faults.late    = true;
        s.bursts         = true;
        if (once_in(c, 2))
            s.guard.path = NULL;
        if (!start(a, &s))
            return;
    }
}

/* Files kept at any moment and put back between the sessions. */
static void theme_files(const struct adapter *a, struct chance *c)
{
    blm_kind kind = kind_of(c);
    make_keys(c, 100, 400);
    for (unsigned i = 0; i < 6; i++) {
        struct session s = plain(a, c);
        s.filter.kind    = kind;
        s.faults.one_in  = 0;
        s.faults.late    = false;
        s.chatter        = once_in(c, 3) ? 3 : 0;
        s.snapshots      = true;
        s.guard.items    = 400;
        s.operations     = a->operations / 4;
        if (i && once_in(c, 4))
            s.guard.path = NULL;
        if (!start(a, &s))
            return;
        files_keep((unsigned)pick(c, SNAPSHOTS));
        if (i % 2)
            files_mischief(c);
    }
}

/* Processes that share one guard. */
static void theme_fork(const struct adapter *a, struct chance *c)
{
    blm_kind kind = kind_of(c);
    make_keys(c, 100, 600);
    for (unsigned i = 0; i < 3; i++) {
        struct session s = plain(a, c);
        s.filter.kind    = kind;
        s.faults.one_in  = 0;
        s.forks          = i < 2;
        s.chatter        = 10;
        s.guard.path     = once_in(c, 2) ? NULL : world->path;
        if (!start(a, &s))
            return;
    }
}

const struct theme themes[] = { { "mixed", NULL, theme_mixed },
                                { "chdir", NULL, theme_chdir },
                                { "scan", NULL, theme_scan },
                                { "late", NULL, theme_late },
                                { "files", NULL, theme_files },
                                { "fork", NULL, theme_fork },
                                { "left", NULL, theme_left },
                                { "outside", "memory", theme_outside },
                                { "chosen", "memory", theme_chosen },
                                { "options", NULL, theme_options },
                                { "figures", NULL, theme_figures },
                                { "storm", "memory", theme_storm },
                                { "writer", "memory", theme_writer },
#ifdef TORTURE_REDIS
                                { "follow", "redis", theme_follow },
#endif
                                { NULL, NULL, NULL } };
