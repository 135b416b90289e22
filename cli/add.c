/* SPDX-License-Identifier: MIT */
#include "add.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "interrupt.h"
#include "memory.h"
#include "numbers.h"
#include "progress.h"
#include "say.h"
#include "window.h"

#define GATHER ((size_t)1 << 20)    /* hashes: enough that the library sorts them */
#define LARGE  ((uint64_t)16 << 20) /* bytes: it sorts for filters this large */
#define COPIES 8u                   /* of one key, that a layer of a cuckoo filter takes */

struct adder {
    struct ref        *ref;
    const struct keys *input;
    struct added      *a;
    uint64_t          *gathered; /* NULL: batches are added as they come */
    size_t             count;
    bool               good;
};

bool add_possible(const struct ref *r)
{
    blm_params p = { .size = sizeof p };
    if (r->remote || blm_get_params(r->filter, &p) != BLM_OK || p.can & BLM_CAN_ADD)
        return true;
    trouble("%s: nothing can be added to a %s filter: build it again from all its keys", r->name,
            blm_kind_name(p.kind));
    return false;
}

/* Called by several threads at once. */
static void hash(void *ctx, struct batch *b)
{
    const struct adder *d = ctx;
    b->hashed             = blm_hash_many(d->ref->filter, b->keys, b->count, b->hashes) == BLM_OK;
}

/* Full of this one key? Then says so. `at` is its place in the batch. */
static bool full_of_one(const struct adder *d, const blm_key *key, size_t at, size_t count)
{
    blm_params p      = { .size = sizeof p };
    uint64_t   copies = blm_count(d->ref->filter, key->data, key->len);
    blm_get_params(d->ref->filter, &p);
    if (copies < (uint64_t)COPIES * p.layers)
        return false;
    trouble(
        "%s: line %llu of %s: this key has been added %llu times, and no more copies of it fit: "
        "send the keys through bloomery dedup first, or make it with --kind counting",
        d->ref->name, (unsigned long long)(d->input->line - count + at + 1), d->input->name,
        (unsigned long long)copies);
    return true;
}

/* keys: that these are the hashes of; NULL: not known any more. */
static void add_hashes(struct adder *d, const blm_key *keys, const uint64_t *hashes, size_t count,
                       uint8_t *fresh)
{
    size_t     done = 0;
    blm_status st   = blm_add_hashes(d->ref->filter, hashes, count, fresh, &done);
    d->a->keys += done;
    for (size_t i = 0; fresh && i < done; i++)
        d->a->fresh += fresh[i];
    if (st != BLM_OK && st != BLM_E_CANCELLED) {
        blm_error err = { .status = st, .offset = BLM_NO_OFFSET };
        d->good       = false;
        if (st != BLM_E_FULL || !keys || !full_of_one(d, &keys[done], done, count))
            ref_trouble(d->ref, &err);
    }
}

/* Does it count the copies of a key? Of a filter on a server that is not known. */
static bool counts(const struct ref *r)
{
    blm_params p = { .size = sizeof p };
    return !r->remote && blm_get_params(r->filter, &p) == BLM_OK && p.can & BLM_CAN_REMOVE;
}

static uint64_t items_of(const struct ref *r)
{
    blm_params p = { .size = sizeof p };
    blm_get_params(r->filter, &p);
    return p.items;
}

/* Adds the gathered hashes to the filter. Runs when enough have come, and before every wait for
 * input, so that a process that checks the file meanwhile sees every key read so far. */
static void add_gathered(void *ctx)
{
    struct adder *d = ctx;
    if (!d->gathered || !d->count)
        return;
    uint64_t before = items_of(d->ref);
    add_hashes(d, NULL, d->gathered, d->count, NULL);
    d->a->fresh += items_of(d->ref) - before;
    d->count = 0;
}

static void add_batch(struct adder *d, const struct batch *b)
{
    if (!b->hashed) {
        size_t done = 0;
        memset(b->flags, 0, b->count); /* those answered need not be the first ones */
        d->good = ref_add(d->ref, b->keys, b->count, b->flags, &done);
        d->a->keys += done;
        for (size_t i = 0; i < b->count; i++)
            d->a->fresh += b->flags[i];
    } else if (!d->gathered) {
        add_hashes(d, b->keys, b->hashes, b->count, b->flags);
    } else {
        if (d->count + b->count > GATHER)
            add_gathered(d);
        memcpy(d->gathered + d->count, b->hashes, b->count * sizeof *d->gathered);
        d->count += b->count;
    }
}

/* A local filter of the native scheme takes hashes, which other threads compute. A large classic or
 * blocked filter takes many hashes at once faster: blm_add_many says why. */
static void plan(struct adder *d, struct keys *k)
{
    blm_params p = { .size = sizeof p };
    k->threads   = keys_threads();
    if (d->ref->remote || blm_hash_many(d->ref->filter, NULL, 0, NULL) != BLM_OK)
        return;
    k->hashing = true;
    k->prepare = hash;
    k->idle    = add_gathered;
    k->ctx     = d;
    blm_get_params(d->ref->filter, &p);
    if (p.bytes >= LARGE && p.cell_bits == 1 && p.lines <= 1 && !(p.can & BLM_CAN_GROW)) {
        d->gathered = memory_need(GATHER * sizeof *d->gathered);
        blm_set_threads(d->ref->filter, k->threads);
    }
}

void add_warn_failover(const struct ref *r)
{
    if (r->shards && !ref_wait)
        say("%s: a failover may lose the last keys: --wait 1 adds them to a replica too", r->name);
}

bool add_all(struct ref *r, struct keys *k, struct added *a)
{
    struct adder d = { .ref = r, .input = k, .a = a, .good = true };
    struct batch b;
    *a = (struct added){ 0 };
    plan(&d, k);
    progress_start("keys", k->total);
    while (d.good && keys_next(k, &b)) {
        add_batch(&d, &b);
        progress_tick(a->keys + d.count, k->bytes);
    }
    if (d.good)
        add_gathered(&d);
    a->repeated = r->repeated;
    a->counted  = counts(r);
    if (a->keys)
        add_warn_failover(r);
    keys_stop(k); /* if adding stopped early, threads are still hashing with d */
    progress_stop();
    free(d.gathered);
    return d.good && !k->failed && !interrupted();
}

/* The rate now; 0: not known. Asking a server for it is expensive, so for a filter there it is
 * modelled, as for one planned for as many keys at the same rate. */
static double rate_now(const struct ref *r, const blm_params *p)
{
    blm_stats   s    = { .size = sizeof s };
    blm_options o    = BLM_OPTIONS_INIT;
    blm_plan    plan = { .size = sizeof plan };
    if (!r->remote)
        return blm_get_stats(r->filter, &s) == BLM_OK ? s.rate_now : 0;
    o.kind  = p->kind;
    o.items = p->capacity;
    o.rate  = p->rate;
    if (blm_plan_for(&o, &plan, NULL) != BLM_OK)
        return 0;
    o.items  = p->items;
    o.rate   = 0;
    o.bits   = plan.bits;
    o.probes = plan.probes;
    o.lines  = plan.lines;
    return blm_plan_for(&o, &plan, NULL) == BLM_OK ? plan.rate : 0;
}

void add_warn_overfilled(struct ref *r)
{
    blm_params p;
    double     rate;
    if (say_quiet || !ref_params(r, &p) || p.can & BLM_CAN_GROW || p.capacity == 0 ||
        !window_overfilled(r, &p) || p.rate == 0 || !((rate = rate_now(r, &p)) > p.rate))
        return;
    char items[NUMBER_TEXT], room[NUMBER_TEXT], was[NUMBER_TEXT], is[NUMBER_TEXT];
    if (p.can & BLM_CAN_FORGET) {
        char burst[4 * NUMBER_TEXT];
        bool known = window_burst(r->filter, burst) != NULL;
        say("%s: keys come faster than it was planned for: its rate is now %s, not %s%s%s", r->name,
            rate_text(rate, is), rate_text(p.rate, was), known ? "; " : ": make a larger window",
            known ? burst : "");
        return;
    }
    blm_stats s    = { .size = sizeof s };
    bool      here = !r->remote && blm_get_stats(r->filter, &s) == BLM_OK;
    if (here && !s.overfilled) /* a counting filter counts a key each time it comes */
        return;
    /* Keys that all bits were set for already were not counted. */
    bool     full = here && s.estimated.saturated, more = here && s.estimated.low > (double)p.items;
    uint64_t held = full   ? (uint64_t)fmax((double)p.items, s.estimated.low)
                    : more ? (uint64_t)llround(s.estimated.value)
                           : p.items;
    say("%s holds %s%s keys but was planned for %s: its rate is now %s%s, not %s: make a larger "
        "filter",
        r->name,
        full   ? "at least "
        : more ? "about "
               : "",
        count_text(held, items), count_text(p.capacity, room), r->remote ? "about " : "",
        rate_text(rate, is), rate_text(p.rate, was));
}

int add_report(const char *name, const struct added *a, bool good)
{
    char keys[NUMBER_TEXT], fresh[NUMBER_TEXT];
    plural_text(a->keys, "key", keys);
    count_text(a->fresh, fresh);
    if (interrupted() && a->counted)
        return trouble(
            "interrupted after %s; %s is valid and holds every key added so far: add only the rest "
            "of the input to finish, because keys that are added again are counted twice",
            keys, name);
    if (interrupted())
        return trouble("interrupted after %s; %s is valid and holds every key added so far: add "
                       "the same input again to finish",
                       keys, name);
    if (!good)
        return trouble("stopped after %s; %s is valid and holds every key added so far", keys,
                       name);
    say("%s: %s added, %s%s new", name, keys, a->repeated && a->fresh < a->keys ? "at least " : "",
        fresh);
    return EXIT_YES;
}
