/* SPDX-License-Identifier: MIT */
/* Themes about what a guard says of itself: the options in force, and figures that must outlive a
 * session. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "world.h"

/* ---- options -------------------------------------------------------------------------------- */

/* What the figures say of the hash, and what the file has. */
static void judge_hash(const char *said)
{
    blm_params  p = { .size = sizeof p };
    blm_filter *f = NULL;
    blm_error   err;
    if (blm_open(world->path, NULL, &f, &err) != BLM_OK || blm_get_params(f, &p) != BLM_OK)
        violated("the file cannot be opened: %s", err.text);
    else if (strcmp(p.hash, said) != 0)
        violated("the guard says %s, and %s is in force", said, p.hash);
    blm_free(f);
}

static void judge_options(struct errand *e)
{
    unsigned      asked = 20000, passed = 0;
    struct chance c = { e->session.seed };
    char          key[KEY_ROOM];
    blm_guard    *g = errand_guard(e);
    blm_guard_wait(g, NULL);
    audit(g, "other options");
    blm_guard_stats now = errand_stats(g);
    for (unsigned i = 0; i < asked; i++)
        passed += blm_guard_maybe(g, key, stranger(&c, key));
    /* Twenty standard errors, and a filter that came out fuller than planned. */
    if (now.trusted && passed > 2 * now.promised * asked + 100)
        violated("the guard promises %g and lets %u of %u through", now.promised, passed, asked);
    bool manual = (e->session.guard.flags & BLM_GUARD_MANUAL) != 0;
    if (now.trusted && !manual && now.promised > e->session.guard.rate)
        violated("a rate of %g was asked for, and %g is in force", e->session.guard.rate,
                 now.promised);
    if (now.trusted && !manual &&
        (e->session.filter.hash == BLM_HASH_SIPHASH) != (strncmp(now.hash, "sip", 3) == 0))
        violated("hash %d was asked for, and %s is in force", (int)e->session.filter.hash,
                 now.hash);
    blm_guard_close(g, NULL);
    if (now.trusted)
        judge_hash(now.hash);
}

/* The same file, opened with another rate or hash: what is said to be in force must be. */
void theme_options(const struct adapter *a, struct chance *c)
{
    static const double rates[] = { 0.3, 0.05, 0.001 };
    struct errand       e       = { .adapter = a };
    make_keys(c, 800, 1200);
    for (unsigned i = 0; i < 3; i++) {
        struct session s = plain(a, c);
        s.faults         = (struct faults){ 0 };
        s.guard.items    = world->keys;
        s.guard.rate     = i ? e.session.guard.rate : rates[0];
        s.filter.hash    = i ? e.session.filter.hash : BLM_HASH_XXH3;
        if (!start(a, &s))
            return;
        e.session             = s;
        e.session.guard.rate  = rates[pick(c, 3)];
        e.session.filter.hash = once_in(c, 2) ? BLM_HASH_SIPHASH : BLM_HASH_XXH3;
        e.session.guard.flags = once_in(c, 2) ? BLM_GUARD_MANUAL : 0; /* then it is not rebuilt */
        if (!apart(judge_options, &e))
            return;
    }
}

/* ---- figures -------------------------------------------------------------------------------- */

#define DELETED 100u

/* Puts every key, deletes some, and ends. */
static void put_and_delete(struct errand *e)
{
    char       key[KEY_ROOM];
    blm_guard *g = errand_guard(e);
    blm_guard_build(g, NULL);
    for (unsigned k = 0; k < world->keys; k++)
        blm_guard_put(g, key, key_bytes(k, key), "value", 5, NULL);
    for (unsigned k = 0; k < DELETED; k++)
        blm_guard_delete(g, key, key_bytes(k, key), NULL);
    for (unsigned k = DELETED; k < world->keys; k++)
        claim_set(k, HELD);
    if (errand_stats(g).stale < DELETED)
        violated("%u keys were deleted, and %u are stale", DELETED,
                 (unsigned)errand_stats(g).stale);
    if (e->session.ending != END_CLOSE)
        kill(getpid(), SIGKILL);
    blm_guard_close(g, NULL);
}

static void judge_figures(struct errand *e)
{
    blm_guard *g = errand_guard(e);
    audit(g, "figures");
    blm_guard_stats now = errand_stats(g);
    const char     *how = e->session.ending == END_CLOSE ? "close" : "kill";
    /* Half: they may be derived from the bits and from the rows there are. */
    if (now.trusted && now.items < world->keys / 2)
        violated("after a %s the filter of %u keys says that it has %u", how, world->keys,
                 (unsigned)now.items);
    if (now.trusted && now.stale < DELETED / 2)
        violated("after a %s, %u of %u deleted keys are stale", how, (unsigned)now.stale, DELETED);
    blm_guard_close(g, NULL);
}

/* How many keys a filter has, and how many of them are stale, is known in the next session. */
void theme_figures(const struct adapter *a, struct chance *c)
{
    struct errand e = { .adapter = a };
    make_keys(c, 500, 600);
    e.session             = plain(a, c);
    e.session.faults      = (struct faults){ 0 };
    e.session.guard.flags = BLM_GUARD_MANUAL;
    e.session.guard.items = 2 * world->keys;
    e.session.guard.rate  = 0.01;
    e.session.ending      = world->seed % 2 ? END_CLOSE : END_KILL_AFTER;
    if (apart(put_and_delete, &e))
        apart(judge_figures, &e);
}
