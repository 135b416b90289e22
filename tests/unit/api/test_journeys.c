/* SPDX-License-Identifier: MIT */
/* Filters on random journeys through the public calls, beside a plain table of how often each key
 * was added: after every step each key that is in is answered maybe, and at the end of the journey
 * the bits are those of a filter that was given the same keys in order. What single tests of single
 * calls cannot see is what one call leaves behind for the next. */
#include <unistd.h>

#include "bloomery/delta.h"
#include "unit/bytes.h"

#define KEYS 400u

struct journey {
    const struct flavour *v;
    struct rng            r;
    blm_filter           *f;
    unsigned              in[KEYS]; /* how often each key is in */
    bool                  in_file;
    char                  path[64], done[600];
};

static void say(struct journey *j, const char *word)
{
    size_t at = strlen(j->done);
    if (at > 500) {
        memmove(j->done, j->done + 250, at - 250 + 1);
        at -= 250;
    }
    snprintf(j->done + at, sizeof j->done - at, " %s", word);
}

#define NEED(j, x)                                                         \
    do {                                                                   \
        if (!(x))                                                          \
            fail_msg("%s: not %s, after:%s", (j)->v->name, #x, (j)->done); \
    } while (0)

static uint32_t some_key(struct journey *j) { return (uint32_t)rng_below(&j->r, KEYS); }

static void replace(struct journey *j, blm_filter *with)
{
    NEED(j, blm_close(j->f, NULL) == BLM_OK);
    j->f = with;
    if (j->in_file)
        unlink(j->path);
    j->in_file = false;
}

/* ---- steps ---- */

static void step_add(struct journey *j)
{
    uint32_t k = some_key(j);
    NEED(j, blm_add(j->f, &k, 4) >= 0);
    j->in[k]++;
}

static void step_add_many(struct journey *j)
{
    uint32_t keys[300];
    size_t   n = (size_t)rng_below(&j->r, 300), done = 0;
    for (size_t i = 0; i < n; i++)
        keys[i] = some_key(j);
    NEED(j, blm_add_fixed(j->f, keys, 4, n, NULL, &done) == BLM_OK && done == n);
    for (size_t i = 0; i < n; i++)
        j->in[keys[i]]++;
}

static void step_remove(struct journey *j)
{
    for (int i = 0; i < 20 && j->v->kind == BLM_COUNTING; i++) {
        uint32_t k = some_key(j);
        if (j->in[k] == 0)
            continue;
        NEED(j, blm_remove(j->f, &k, 4) == BLM_OK);
        j->in[k]--;
    }
}

static void step_clear(struct journey *j)
{
    NEED(j, blm_clear(j->f) == BLM_OK);
    memset(j->in, 0, sizeof j->in);
    NEED(j, stats_of(j->f).ones == 0);
}

static void step_copy(struct journey *j)
{
    blm_filter *g = NULL;
    NEED(j, blm_copy(j->f, &g, NULL) == BLM_OK);
    NEED(j, blm_equal(j->f, g));
    replace(j, g);
}

static void step_union(struct journey *j)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *g;
    unsigned    more[KEYS] = { 0 };
    o.like                 = j->f;
    o.flags                = j->v->flags & BLM_SHARED;
    g                      = make(&o);
    for (int i = 0; i < 50; i++) {
        uint32_t k = some_key(j);
        blm_add(g, &k, 4);
        more[k]++;
    }
    blm_status st = blm_union(j->f, g, NULL);
    NEED(j, st == BLM_OK || (st == BLM_E_LIMIT && j->v->kind == BLM_SCALABLE));
    for (size_t i = 0; i < KEYS && st == BLM_OK; i++)
        j->in[i] += more[i];
    blm_free(g);
}

static void step_fold(struct journey *j)
{
    blm_filter *g  = NULL;
    blm_status  st = blm_fold(j->f, 2, &g, NULL);
    if (st == BLM_OK && params_of(g).bits > 2000)
        replace(j, g);
    else
        blm_free(g);
}

static void step_bytes(struct journey *j)
{
    struct bytes b = { 0 };
    blm_filter  *g = NULL;
    blm_options  o = BLM_OPTIONS_INIT;
    o.flags        = j->v->flags & BLM_SHARED;
    NEED(j, blm_encode(j->f, NULL, bytes_add, &b, NULL) == BLM_OK);
    NEED(j, blm_decode_stream(bytes_get, &b, &o, &g, NULL) == BLM_OK);
    NEED(j, blm_equal(j->f, g));
    replace(j, g);
    free(b.p);
}

static void step_delta(struct journey *j)
{
    struct bytes b   = { 0 };
    blm_filter  *old = NULL, *g = NULL;
    NEED(j, blm_copy(j->f, &old, NULL) == BLM_OK);
    step_add_many(j);
    step_remove(j);
    NEED(j, blm_diff(old, j->f, bytes_add, &b, NULL) == BLM_OK);
    NEED(j, blm_patch(old, bytes_get, &b, &g, NULL) >= 0);
    NEED(j, blm_equal(j->f, g));
    replace(j, g);
    blm_free(old);
    free(b.p);
}

/* Into a file, and on from there; or, in one already, closed and opened again. */
static void step_file(struct journey *j)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.flags       = BLM_WRITE | BLM_VERIFY | (j->v->flags & BLM_SHARED);
    if (!j->in_file)
        NEED(j, blm_save(j->f, j->path, NULL, BLM_REPLACE, NULL) == BLM_OK);
    NEED(j, blm_close(j->f, NULL) == BLM_OK);
    j->f       = NULL;
    j->in_file = true;
    NEED(j, blm_open(j->path, &o, &j->f, NULL) == BLM_OK);
}

static void step_sync(struct journey *j)
{
    if (j->in_file)
        NEED(j, blm_sync(j->f, NULL) == BLM_OK);
}

static const struct {
    const char *name;
    unsigned    weight;
    void (*take)(struct journey *j);
} steps[] = {
    { "add", 20, step_add },    { "add_many", 12, step_add_many }, { "remove", 10, step_remove },
    { "clear", 1, step_clear }, { "copy", 4, step_copy },          { "union", 3, step_union },
    { "fold", 1, step_fold },   { "bytes", 4, step_bytes },        { "delta", 3, step_delta },
    { "file", 2, step_file },   { "sync", 2, step_sync },
};

/* ---- what must hold ---- */

static void check_keys(struct journey *j)
{
    uint32_t keys[KEYS];
    uint8_t  maybe[KEYS];
    for (uint32_t i = 0; i < KEYS; i++)
        keys[i] = i;
    blm_check_fixed(j->f, keys, 4, KEYS, maybe);
    for (uint32_t i = 0; i < KEYS; i++)
        if (j->in[i] && (!maybe[i] || !blm_check(j->f, &i, 4)))
            fail_msg("%s: key %u is denied, after:%s", j->v->name, (unsigned)i, j->done);
}

/* The same keys into a new filter of the same size. Counters that were ever full are the one
 * thing that remembers its past; and layers of a scalable filter remember theirs. */
static void check_bits(struct journey *j)
{
    if (j->v->kind == BLM_SCALABLE || stats_of(j->f).stuck > 0)
        return;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *g;
    o.like = j->f;
    g      = make(&o);
    for (uint32_t i = 0; i < KEYS; i++)
        for (unsigned n = 0; n < j->in[i]; n++)
            blm_add(g, &i, 4);
    NEED(j, same_bits(j->f, g));
    blm_free(g);
}

static void any_journey_keeps_its_keys(void **state)
{
    (void)state;
    unsigned total = 0;
    for (size_t i = 0; i < COUNT_OF(steps); i++)
        total += steps[i].weight;
    EACH_BITS(v)
    for (uint64_t seed = 0; seed < (slow_tests() ? 100u : 12u); seed++) {
        struct journey j = { .v = v, .r = { seed * 1000 + (uint64_t)(v - flavours) } };
        blm_options    o = flavour_options(v, KEYS, 0.02, seed);
        snprintf(j.path, sizeof j.path, "journeys.%ld.blm", (long)getpid());
        if (v->kind != BLM_SCALABLE) { /* a size that can be folded more than once */
            o.items  = 0;
            o.rate   = 0;
            o.bits   = 512 * 64;
            o.probes = 6;
        }
        j.f = make(&o);
        for (int step = 0; step < 60; step++) {
            unsigned at = (unsigned)rng_below(&j.r, total);
            size_t   s  = 0;
            while (at >= steps[s].weight)
                at -= steps[s++].weight;
            say(&j, steps[s].name);
            steps[s].take(&j);
            check_keys(&j);
            if (step % 10 == 9)
                check_bits(&j);
        }
        check_bits(&j);
        replace(&j, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_journey_keeps_its_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
