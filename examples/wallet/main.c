/* SPDX-License-Identifier: MIT */
/*
 * A light wallet and its node (BIP37). The wallet adds its keys to a filter and sends that to a
 * node. The node sends back only transactions that match: the wallet's own, and some decoys. The
 * node cannot tell which is which, and the more decoys, the less it learns.
 *
 *     wallet [--transactions 100000] [--addresses 100] [--renew 5000]
 *
 * The transactions are made here, as raw bytes as in a block. Most are between strangers, one in
 * five hundred pays the wallet, and half of those coins are spent again later. Spending is found
 * because a match adds the coin to the filter (BLM_BIP37_ALL). Decoys' coins are added too, so the
 * filter fills with strangers' coins. Therefore the wallet sends a new filter every --renew
 * transactions.
 */
#include <stdlib.h>
#include <string.h>

#include "bloomery/bip37.h"
#include "common/job.h"
#include "transaction.h"

struct coin {
    uint8_t outpoint[36];
    bool    spent;
};

struct wallet {
    uint64_t count;
    uint8_t (*hash)[20], (*key)[33];
    struct coin coins[4096];
    size_t      coin_count;
};

static void wallet_make(struct wallet *w, uint64_t addresses)
{
    uint64_t chance = 99;
    w->count        = addresses;
    w->coin_count   = 0;
    w->hash         = calloc((size_t)addresses, sizeof *w->hash);
    w->key          = calloc((size_t)addresses, sizeof *w->key);
    for (uint64_t i = 0; i < addresses; i++) {
        random_bytes(&chance, w->hash[i], 20);
        random_bytes(&chance, w->key[i], 33);
        w->key[i][0] = 2;
    }
}

struct buffer {
    uint8_t *bytes;
    size_t   len, room;
};
static bool append(void *ctx, const void *bytes, size_t len)
{
    struct buffer *b = ctx;
    if (len > b->room - b->len)
        return false;
    memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
    return true;
}

/* The wallet's side: makes a payload of its keys, their hashes and its unspent coins, with room for
 * future coins. Size and tweak stay the same, because two different filters of one wallet would
 * show the node what they have in common. */
static size_t filter_send(const struct wallet *w, double rate, uint8_t *payload, size_t room)
{
    struct buffer out = { payload, 0, room };
    blm_options   o   = BLM_OPTIONS_INIT;
    blm_error     err;
    blm_filter   *f;
    o.scheme  = "bip37";
    o.variant = BLM_BIP37_ALL;
    o.items   = w->count * 2 + 300;
    o.rate    = rate;
    o.flags   = BLM_SEEDED;
    o.seed[0] = 0x5eed; /* the tweak; a real wallet uses a random one */
    job_need(blm_create(&o, &f, &err), &err);
    for (uint64_t i = 0; i < w->count; i++) {
        blm_add(f, w->hash[i], 20);
        blm_add(f, w->key[i], 33);
    }
    for (size_t i = 0; i < w->coin_count; i++)
        if (!w->coins[i].spent)
            blm_add(f, w->coins[i].outpoint, 36);
    job_need(blm_encode(f, "bip37", append, &out, &err), &err);
    blm_free(f);
    return out.len;
}

/* Makes the next transaction of the stream. True: it concerns the wallet. *pays: which of its
 * outputs pays the wallet (−1: none). */
static bool next_transaction(struct wallet *w, uint64_t *chance, struct transaction *t, int *pays)
{
    bool own = false;
    *pays    = -1;
    transaction_begin(t, 1 + (unsigned)job_below(chance, 2));
    for (unsigned i = 0; i < t->inputs; i++) {
        uint8_t outpoint[36], key[33];
        random_bytes(chance, outpoint, 32);
        memcpy(outpoint + 32, "\0\0\0\0", 4);
        random_bytes(chance, key, 33);
        if (i == 0 && w->coin_count && job_below(chance, 1000) == 0) {
            struct coin *c = &w->coins[job_below(chance, w->coin_count)];
            if (!c->spent) {
                memcpy(outpoint, c->outpoint, 36);
                c->spent = own = true;
            }
        }
        transaction_input(t, outpoint, key, chance);
    }
    transaction_outputs(t, 2);
    for (int i = 0; i < 2; i++) {
        uint8_t hash[20];
        random_bytes(chance, hash, 20);
        if (i == 1 && job_below(chance, 500) == 0) {
            memcpy(hash, w->hash[job_below(chance, w->count)], 20);
            *pays = i;
            own   = true;
        }
        transaction_output(t, hash);
    }
    transaction_end(t);
    return own;
}

struct result {
    uint64_t own, passed, decoys, lost, bytes, passed_bytes;
    size_t   filter_bytes;
};

/* The node's side: replaces its filter by the wallet's payload. */
static blm_filter *filter_load(blm_filter *old, const struct wallet *w, double rate, size_t *len)
{
    uint8_t     payload[40000];
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   err;
    blm_filter *f;
    blm_free(old);
    *len     = filter_send(w, rate, payload, sizeof payload);
    o.format = "bip37";
    job_need(blm_decode(payload, *len, &o, &f, &err), &err);
    return f;
}

/* The node sends matching transactions. */
static struct result node(uint64_t addresses, double rate, uint64_t transactions, uint64_t renew)
{
    static struct wallet w;
    struct result        r = { 0 };
    blm_error            err;
    blm_filter          *f      = NULL;
    uint64_t             chance = 37;
    wallet_make(&w, addresses);
    for (uint64_t i = 0; i < transactions; i++) {
        if (i % renew == 0)
            f = filter_load(f, &w, rate, &r.filter_bytes);
        struct transaction t;
        uint8_t            id[32];
        bool               relevant;
        int                pays;
        bool               own = next_transaction(&w, &chance, &t, &pays);
        job_need(blm_bip37_match(f, t.bytes, t.len, &relevant, id, &err), &err);
        relevant = job_answers(relevant);
        r.own += own;
        r.passed += relevant;
        r.decoys += relevant && !own;
        r.lost += own && !relevant;
        r.bytes += t.len;
        r.passed_bytes += relevant ? t.len : 0;
        if (pays >= 0 && w.coin_count < 4096) {
            struct coin *c = &w.coins[w.coin_count++];
            memcpy(c->outpoint, id, 32);
            memcpy(c->outpoint + 32, (uint8_t[4]){ (uint8_t)pays, 0, 0, 0 }, 4);
            c->spent = false;
        }
    }
    blm_free(f);
    free(w.hash);
    free(w.key);
    return r;
}

int main(int argc, char **argv)
{
    uint64_t            transactions = job_number(argc, argv, "--transactions", 100000);
    uint64_t            addresses    = job_number(argc, argv, "--addresses", 100);
    uint64_t            renew        = job_number(argc, argv, "--renew", 5000);
    static const double rates[]      = { 0.01, 0.001, 0.0001 };
    char                a[16], b[16];
    printf("%llu transactions, a wallet of %llu addresses\n\n", (unsigned long long)transactions,
           (unsigned long long)addresses);
    printf("%-8s %9s %6s %6s %7s %11s %16s %10s\n", "rate", "filter", "own", "lost", "decoys",
           "decoy rate", "decoys per own", "received");
    for (size_t i = 0; i < 3; i++) {
        struct result r       = node(addresses, rates[i], transactions, renew);
        double        foreign = (double)(transactions - r.own);
        printf("%-8g %9s %6llu %6llu %7llu %10.3f%% %16.2f %10s\n", rates[i],
               job_bytes((double)r.filter_bytes, a, sizeof a), (unsigned long long)r.own,
               (unsigned long long)r.lost, (unsigned long long)r.decoys,
               100 * (double)r.decoys / foreign, (double)r.decoys / (double)r.own,
               job_bytes((double)r.passed_bytes, b, sizeof b));
        job_promise(r.lost == 0, "%llu of the wallet's own transactions were not sent",
                    (unsigned long long)r.lost);
        /* A stranger's transaction shows at most 9 things to the filter. */
        job_promise((double)r.decoys < 9 * rates[i] * foreign * 1.2 + 10,
                    "%llu decoys pass where %.0f were planned", (unsigned long long)r.decoys,
                    9 * rates[i] * foreign);
        job_promise(r.decoys > 0 || rates[i] < 0.0005, "no decoys: the node knows what is whose");
        if (i == 2)
            printf("\nthe whole stream is %s; at this rate %.2f%% of it is sent\n",
                   job_bytes((double)r.bytes, a, sizeof a),
                   100 * (double)r.passed_bytes / (double)r.bytes);
    }
    return job_end();
}
