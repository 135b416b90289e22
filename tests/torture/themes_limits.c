/* SPDX-License-Identifier: MIT */
/* Themes that go past a limit: more failed puts than anybody expects, and more processes than
 * writers. */
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "world.h"

/* ---- a storm of failed puts ----------------------------------------------------------------- */

static void weather(struct errand *e)
{
    char key[KEY_ROOM];
    faults_stop();
    blm_guard *g = errand_guard(e);
    if (blm_guard_build(g, NULL) != BLM_OK && blm_guard_wait(g, NULL) != BLM_OK)
        violated("storm: the first build fails");
    faults_go_on();
    for (unsigned k = 0; k < world->keys; k++)
        blm_guard_put(g, key, key_bytes(k, key), "value", 5, NULL);
    faults_stop();
    blm_guard_build(g, NULL);
    /* The last ones come, go and come again. */
    for (unsigned k = world->keys - 200; k < world->keys; k++) {
        faults_land(k, 1);
        blm_guard_delete(g, key, key_bytes(k, key), NULL);
    }
    blm_guard_sync(g, NULL);
    for (unsigned k = 0; k < world->keys; k++)
        faults_land(k, UINT32_MAX);
    audit_rows(g, "after a storm of failed puts");
    blm_guard_close(g, NULL);
}

/* Every put fails, the guard is rebuilt, and then they all land, and land again. */
void theme_storm(const struct adapter *a, struct chance *c)
{
    struct errand e = { .adapter = a };
    make_keys(c, 70000, MOST_KEYS);
    e.session             = plain(a, c);
    e.session.ending      = END_CLOSE;
    e.session.guard.rate  = 0.01;
    e.session.guard.flags = once_in(c, 2) ? BLM_GUARD_COUNTING | BLM_GUARD_MANUAL : 0;
    /* Without a mark, or the guard could not write it and would put nothing. */
    e.session.faults = (struct faults){ .one_in = 1, .late = true, .twice = true, .no_mark = true };
    if (once_in(c, 2))
        e.session.guard.path = NULL;
    apart(weather, &e);
}

/* ---- one file, two writers ------------------------------------------------------------------ */

/* What the other process has added is not absent: here it may be unknown. */
static void ask_for(const blm_filter *f, unsigned first)
{
    char key[KEY_ROOM];
    for (unsigned k = first; k < world->keys; k += 2)
        if (claim_of(claim_now(k)) == HELD && !blm_check(f, key, key_bytes(k, key)))
            violated("writer: key %u was added by another process and is absent", k);
}

/* Adds the keys from `first` on, every second one. */
static void add_keys(blm_filter *f, unsigned first)
{
    char key[KEY_ROOM];
    for (unsigned k = first; k < world->keys; k += 2) {
        if (blm_add(f, key, key_bytes(k, key)) >= 0)
            claim_set(k, HELD);
        if (k % 64 < 2)
            sched_yield();
    }
}

static void write_together(struct errand *e)
{
    blm_options   o = BLM_OPTIONS_INIT;
    struct chance c = { e->session.seed };
    blm_filter   *f = NULL;
    blm_error     err;
    int           status = 0;
    o.items              = world->keys / (1 + pick(&c, 8));
    o.kind  = (blm_kind[]){ BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING, BLM_SCALABLE }[pick(&c, 4)];
    o.rate  = 0.001;
    o.flags = BLM_REPLACE;
    if (blm_create_file(world->path, &o, &f, &err) != BLM_OK) {
        violated("writer: %s", err.text);
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        add_keys(f, 1);
        ask_for(f, 0);
        if (once_in(&c, 2))
            blm_free(f);
        _exit(0);
    }
    add_keys(f, 0);
    waitpid(child, &status, 0);
    if (status != 0)
        violated("writer: the child ended with status 0x%x", (unsigned)status);
    if (blm_close(f, &err) != BLM_OK)
        violated("writer: %s", err.text);
}

static void read_alone(struct errand *e)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    char        key[KEY_ROOM];
    blm_error   err;
    (void)e;
    o.flags = BLM_VERIFY;
    if (blm_open(world->path, &o, &f, &err) != BLM_OK) {
        violated("writer: the file cannot be opened: %s", err.text);
        return;
    }
    for (unsigned k = 0; k < world->keys; k++)
        if (claim_of(claim_now(k)) == HELD && !blm_check(f, key, key_bytes(k, key)))
            violated("writer: key %u was added and is absent", k);
    count_up(N_AUDITED, world->keys);
    blm_free(f);
}

/* A writer forks, and both processes add: what an add acknowledged is in the file, which is
 * whole. */
void theme_writer(const struct adapter *a, struct chance *c)
{
    struct errand e = { .adapter = a };
    make_keys(c, 2000, 20000);
    e.session.seed = draw(c);
    count_up(N_FORKS, 1);
    if (apart(write_together, &e))
        apart(read_alone, &e);
}
