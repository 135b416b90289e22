/* SPDX-License-Identifier: MIT */
/*
 * Adds keys, and decides how a filter that nobody reserved grows.
 *
 * RedisBloom makes one for 100 keys, then adds layers of twice the size and half the rate. At 10^7
 * keys that is 17 layers. Each check asks all of them, and the newest, made for a rate of 8e-8,
 * takes 35 bits per key. Ours keeps the first layer as it is and then
 *
 *   - grows by 12 to 24 while it is small, by 17 and then by 4 when it is large: 100, 1 200,
 *     24 000, 576 000, 9 792 000. So 10^7 keys take 5 layers, with nearly all keys in the last. A
 *     BF.MEXISTS of 100 takes 12.6 µs; 6 layers with steps of 7 to 12 took 15.3;
 *   - shares out the half of the rate that the first layer left. The layer with most of the keys
 *     gets most of it, and takes 9 probes per key. Layers 2 to 4, which are small, get a fifth in
 *     all, layer 5 gets two fifths, and each later one half of what is left. The rates of any
 *     number of layers add up to no more than was promised. If RedisBloom takes the chain over
 *     after any layer and halves from there, that layer's share is still left for it.
 *
 * So 10^7 keys at 1% cost 13.7 bits each; in a reserved filter they cost 11. The price is the empty
 * space after a step: a filter of 602 000 keys takes 17 MB, and RedisBloom's takes 2.8 MB.
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

double bf_auto_rate(double rate) { return rate * MARK; }

/* Before it was marked, the rate had at most nine digits. Below 1e-308 the mark cannot be seen, so
 * such a rate counts as typed. */
bool bf_is_auto(double first_error)
{
    char   text[32];
    double rate = first_error * 2;
    snprintf(text, sizeof text, "%.9g", rate);
    double round = strtod(text, NULL);
    return round > rate && bf_auto_rate(round) == rate;
}

/* ---- the next layer ---- */

/* Shares of the first layer's rate, by layer. The first has its own. */
static const double shares[] = { 0, 0.03, 0.06, 0.11, 0.4 };
#define SHARES (uint32_t)(sizeof shares / sizeof *shares)

uint64_t bf_auto_factor(uint64_t entries)
{
    return entries <= 1000      ? 12
           : entries <= 10000   ? 20
           : entries <= 100000  ? 24
           : entries <= 1000000 ? 17
                                : 4;
}

static double share(double first_error, uint32_t layer)
{
    double part = layer < SHARES ? shares[layer]
                                 : shares[SHARES - 1] * pow(0.5, (double)layer - (SHARES - 1));
    return first_error * part;
}

static blm_status grow(struct value *v)
{
    uint32_t        layers = bf_params(v).layers;
    blm_chain_layer first, newest;
    blm_chain_get_layer(v->filter, 0, &first);
    blm_chain_get_layer(v->filter, layers - 1, &newest);
    uint64_t factor = bf_auto_factor(newest.entries);
    if (newest.entries > UINT64_MAX / factor)
        return BLM_E_LIMIT;
    blm_status st =
        blm_chain_grow(v->filter, newest.entries * factor, share(first.error, layers), NULL);
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
    *fresh = blm_add(v->filter, key->data, key->len) == BLM_OK;
    *done  = 1;
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
