/* SPDX-License-Identifier: MIT */
/*
 * Adds keys, and decides how a filter that nobody reserved grows.
 *
 * RedisBloom makes one for 100 keys, then adds layers of twice the size and half the rate. At 10^7
 * keys that is 17 layers. Each check asks all of them, and the newest, made for a rate of 8e-8,
 * takes 34 bits per key. Ours does the same for seven layers, so that up to 12 700 keys it is
 * RedisBloom's to the byte. Then
 *
 *   - it grows to four times its capacity where RedisBloom grows to twice: 12 700, 51 100, 204 700,
 *     819 100. Both grow at the same counts, so ours has twice RedisBloom's capacity at most, and
 *     half of the time the same. 10^7 keys take 12 layers;
 *   - it stops halving. What the seven layers left of the rate goes to the next four in equal
 *     parts of a fifth, and each later one gets half of what is left. The rates of any number of
 *     layers add up to no more than was promised. If RedisBloom takes the chain over after any
 *     layer and halves from there, that layer's share is still left for it.
 *
 * tests/redis/peer.py has both as numbers, and test_peer.py holds one against the other.
 *
 * The chain must carry a mark that it grows this way, in a dump, to a replica and after a restart,
 * but has no field for it. So the mark is in its rate: a default of 0.01 becomes 0.01·(1 − 2^-40).
 * Nobody types that and no rounding error gives it, and it changes neither the size nor any output.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bf.h"
#include "bloomery/redisbloom.h"

/* ---- the mark ---- */

#define MARK (1 - 0x1p-40)

/* Before it is marked, a rate is rounded to nine digits, so that it can be found again. Below 1e-308
 * the mark cannot be seen, so such a rate counts as typed. */
static double nine_digits(double rate)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", rate);
    return strtod(text, NULL);
}

double bf_auto_rate(double rate) { return nine_digits(rate) * MARK; }

bool bf_is_auto(double first_error)
{
    double rate = first_error * 2, round = nine_digits(rate);
    return round > rate && bf_auto_rate(round) == rate;
}

/* Bits per entry change with it, in a digit that changes no size. */
void bf_unmark(blm_chain_layer *first, uint32_t options)
{
    blm_chain_layer plan;
    if (!bf_is_auto(first->error))
        return;
    first->error = nine_digits(first->error * 2) / 2;
    if (blm_chain_plan(first->entries, first->error, options, &plan, NULL) == BLM_OK)
        first->bpe = plan.bpe;
}

/* ---- the next layer ---- */

#define DOUBLING 7u /* layers that grow as RedisBloom's do */
#define FIFTHS   4u /* layers after them, each with a fifth of the rate that is left */

/* The layer after those that double has six times the capacity of the last of them: together with
 * them, four times theirs. */
static uint64_t factor(uint32_t layers)
{
    return layers < DOUBLING ? 2 : layers == DOUBLING ? 6 : 4;
}

static double share(double first_error, uint32_t layer)
{
    if (layer < DOUBLING)
        return ldexp(first_error, -(int)layer);
    double left = ldexp(first_error, 1 - (int)DOUBLING) / 5;
    return layer < DOUBLING + FIFTHS ? left : ldexp(left, (int)(DOUBLING + FIFTHS - 1 - layer));
}

static blm_status grow(struct value *v)
{
    uint32_t        layers = bf_params(v).layers;
    blm_chain_layer first, newest;
    blm_chain_get_layer(v->filter, 0, &first);
    blm_chain_get_layer(v->filter, layers - 1, &newest);
    uint64_t times = factor(layers);
    if (newest.entries > UINT64_MAX / times)
        return BLM_E_LIMIT;
    blm_status st =
        blm_chain_grow(v->filter, newest.entries * times, share(first.error, layers), NULL);
    bf_value_tally(v);
    return st;
}

/* ---- adding ---- */

/* There is no room. Keys that are already in the filter need none: skips them up to the first new
 * one. */
static size_t pass_present(const struct value *v, const blm_key *keys, size_t n, uint8_t *fresh)
{
    size_t at = 0;
    while (at < n && blm_check(v->filter, keys[at].data, keys[at].len))
        fresh[at++] = 0;
    return at;
}

static size_t count_new(const uint8_t *fresh, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += fresh[i];
    return sum;
}

/* Never adds more keys at once than there is room for, so that the filter does not grow by
 * itself. */
static enum bf_outcome add_within(struct value *v, const blm_key *keys, size_t n, uint8_t *fresh,
                                  size_t *done)
{
    size_t at = 0;
    while (at < n) {
        size_t some = n - at < v->room ? n - at : (size_t)v->room, took = 0;
        if (some) {
            blm_status st = blm_add_many(v->filter, keys + at, some, fresh + at, &took);
            bf_value_added(v, count_new(fresh + at, took));
            at += took;
            if (st != BLM_OK)
                break;
            continue;
        }
        if (!v->counts) /* a counting filter counts every add, so each needs room */
            at += pass_present(v, keys + at, n - at, fresh + at);
        if (at < n && (v->native || grow(v) != BLM_OK))
            break;
    }
    *done = at;
    return at == n ? BF_ADDED : v->native ? BF_FULL : BF_FAILED;
}

/* For one key with room: the library's single call is cheaper than a batch of one. */
static enum bf_outcome add_one(struct value *v, const blm_key *key, uint8_t *fresh, size_t *done)
{
    blm_status st = blm_add(v->filter, key->data, key->len);
    *fresh        = st == BLM_OK;
    *done         = st >= 0;
    if (st < 0) /* a kind that may be full before its capacity says so */
        return st == BLM_E_FULL ? BF_FULL : BF_FAILED;
    if (*fresh || v->counts)
        bf_value_added(v, *fresh);
    return BF_ADDED;
}

enum bf_outcome bf_add(struct value *v, const blm_key *keys, size_t n, uint8_t *fresh, size_t *done)
{
    if (n == 1 && v->room)
        return add_one(v, keys, fresh, done);
    if (v->automatic || (v->native && v->fixed))
        return add_within(v, keys, n, fresh, done);
    blm_status st = blm_add_many(v->filter, keys, n, fresh, done);
    bf_value_added(v, count_new(fresh, *done));
    return st == BLM_OK ? BF_ADDED : v->fixed && st == BLM_E_FULL ? BF_FULL : BF_FAILED;
}
