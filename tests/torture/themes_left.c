/* SPDX-License-Identifier: MIT */
/*
 * What one session leaves to the next, case by case: files that nobody touched are trusted, and
 * files that somebody put back, or that lack another guard's rows, must not be believed.
 *
 * Each case is three sessions. The first puts a third of the rows, builds and closes; its files are
 * kept as 0. The second puts another third, its files are kept as 1, and puts the rest. Then comes
 * what the case is about, and the third is asked for every row.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

struct left {
    const char *what;
    bool        kill;     /* the second session */
    bool        rebuild;  /* … builds again */
    bool        moves;    /* … elsewhere, with a relative path */
    bool        advisory; /* … and is advisory: the third, which is not, deletes rows */
    bool        beside;   /* a guard without a file puts rows beside it … */
    bool        between;  /* … or after it */
    int         back;     /* which files are put back; -1: none */
    bool        filter, note, over;
};

static const struct left cases[] = {
    { "nobody touched it", .back = -1 },
    { "nobody touched it after a kill", .kill = true, .back = -1 },
    { "it was rebuilt from another directory", .rebuild = true, .moves = true, .back = -1 },
    { "it was advisory", .advisory = true, .back = -1 },
    { "it was advisory, and killed", .kill = true, .advisory = true, .back = -1 },
    { "a guard beside it", .beside = true, .back = -1 },
    { "a guard between two sessions", .between = true, .back = -1 },
    { "an older filter", .back = 0, .filter = true },
    { "an older filter in place", .back = 0, .filter = true, .over = true },
    { "an older generation", .rebuild = true, .back = 0, .filter = true },
    { "older files", .back = 0, .filter = true, .note = true },
    { "older files in place", .back = 0, .filter = true, .note = true, .over = true },
    { "a copy of the session's filter", .kill = true, .back = 1, .filter = true },
    { "a copy of it in place", .kill = true, .back = 1, .filter = true, .over = true },
    { "a copy of the session", .kill = true, .back = 1, .filter = true, .note = true },
    { "… in place", .kill = true, .back = 1, .filter = true, .note = true, .over = true },
};

static const struct left *now;

static void first_session(struct errand *e)
{
    blm_guard *g = errand_guard(e);
    errand_put(g, 0, world->keys / 3);
    if (blm_guard_build(g, NULL) != BLM_OK)
        violated("left: the first build fails");
    blm_guard_close(g, NULL);
}

/* Another guard of the same data set, without a file, which is never built. */
static void put_by_another(struct errand *e, unsigned from, unsigned to)
{
    struct errand other      = *e;
    other.session.guard.path = NULL;
    blm_guard *g             = errand_guard(&other);
    errand_put(g, from, to);
    blm_guard_close(g, NULL);
}

static void second_session(struct errand *e)
{
    unsigned third = world->keys / 3;
    if (now->advisory)
        e->session.guard.flags |= BLM_GUARD_ADVISORY;
    if (now->moves)
        e->session.guard.path = strrchr(world->path, '/') + 1;
    if (chdir(world->base) != 0)
        violated("left: chdir");
    blm_guard *g = errand_guard(e);
    if (now->moves && chdir(world->elsewhere) != 0)
        violated("left: chdir");
    errand_put(g, third, 2 * third);
    if (now->rebuild && blm_guard_build(g, NULL) != BLM_OK)
        violated("left: the second build fails");
    files_keep(1);
    errand_put(g, 2 * third, world->keys - (now->beside || now->between ? 50 : 0));
    if (now->beside)
        put_by_another(e, world->keys - 50, world->keys);
    if (now->kill)
        kill(getpid(), SIGKILL);
    blm_guard_close(g, NULL);
}

static void put_between(struct errand *e) { put_by_another(e, world->keys - 50, world->keys); }

/* The others must not have relied on them. */
static void delete_some(blm_guard *g)
{
    char key[KEY_ROOM];
    for (unsigned k = 0; k < world->keys; k += 2) {
        claim_set(k, NONE);
        if (blm_guard_delete(g, key, key_bytes(k, key), NULL) != BLM_OK)
            violated("left: a row that was put cannot be deleted");
    }
    blm_guard_sync(g, NULL); /* removes what waits */
}

static void third_session(struct errand *e)
{
    char            elsewhere[300];
    blm_guard      *g       = errand_guard(e);
    blm_guard_stats s       = errand_stats(g);
    bool            intact  = now->back < 0 && !now->beside && !now->between && !now->advisory;
    const char     *trusted = s.trusted ? "trusted" : "not trusted";
    audit(g, now->what);
    if (now->advisory)
        delete_some(g);
    audit(g, now->what);
    if (s.trusted != intact)
        violated("left: the file is %s: %s", trusted, now->what);
    snprintf(elsewhere, sizeof elsewhere, "%s/rows.blm", world->elsewhere);
    if (access(elsewhere, F_OK) == 0)
        violated("left: there is a file in another directory");
    blm_guard_close(g, NULL);
}

void theme_left(const struct adapter *a, struct chance *c)
{
    struct errand e = { .adapter = a };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        now = &cases[i];
        if (now->beside && a->alone)
            continue;
        begin_again(a);
        make_keys(c, 300, 400);
        e.session        = plain(a, c);
        e.session.faults = (struct faults){ 0 };
        e.session.filter.kind =
            (blm_kind[]){ BLM_BLOCKED, BLM_CLASSIC, BLM_COUNTING, BLM_CUCKOO }[pick(c, 4)];
        e.session.guard.flags = BLM_GUARD_MANUAL;
        e.session.guard.items = 2 * world->keys;
        e.session.guard.rate  = 0.001;
        e.session.ending      = END_CLOSE;
        count_up(N_SESSIONS, 3);
        if (!apart(first_session, &e))
            return;
        files_keep(0);
        e.session.ending = now->kill ? END_KILL_AFTER : END_CLOSE;
        if (!apart(second_session, &e) || (now->between && !apart(put_between, &e)))
            return;
        if (now->back >= 0)
            files_put_back((unsigned)now->back, now->filter, now->note, now->over);
        e.session.ending = END_CLOSE;
        if (!apart(third_session, &e))
            return;
    }
}
