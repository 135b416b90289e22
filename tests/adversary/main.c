/* SPDX-License-Identifier: MIT */
/*
 * What somebody who chooses keys can do to a filter of each scheme: docs/adversary.md.
 *
 *   adversary           every attack, as JSON
 *   adversary --quick   smaller, and judged: the test adversary.quick
 *
 * Against each scheme: other keys with all hashes of a member (ways.c); prepared adds that set as many
 * bits as they can; a stolen file, searched for false positives; and what is left of those when the
 * filter is made again from its keys. The same against a native filter with a secret seed, for which
 * the keys are prepared with another seed, as they must be.
 *
 * Exit 1: an attack that is known to win did not, or one won against the secret seed.
 */
#include <bloomery/embed.h>
#include <bloomery/maths.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adversary.h"
#include "bench/clock.h"
#include "bench/report.h"

#define RATE  0.01
#define TRIES 400u /* candidates for one prepared add, at most */
#define SHORT 20u  /* letters of an honest key, or of one that is tried */
#define BRIEF (1 << 14)

struct outcome {
    uint64_t twins, pass, native, made; /* made: keys computed for one twin, in all */
    uint64_t pair;
    double   promised, polluted, pollution_tries, pollution_ns, honest;
    double   search_tries, search_ns;
    double   rebuilt;
};

uint64_t next(uint64_t *rng)
{
    uint64_t v = *rng += 0x9e3779b97f4a7c15u;
    v          = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v          = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

void must(blm_status s, const char *what)
{
    if (s < 0) {
        fprintf(stderr, "adversary: %s: %s\n", what, blm_status_text(s));
        exit(2);
    }
}

static void letters(uint8_t *out, size_t len, uint64_t *rng)
{
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)('b' + next(rng) % 24);
}

static bool seeded(const char *scheme)
{
    return strcmp(scheme, "native") == 0 || strcmp(scheme, "bip37") == 0 ||
           strcmp(scheme, "spark2") == 0;
}

/* `secret` stands for what the attacker does not know: seeds are drawn from it. */
static blm_filter *make(const char *scheme, uint64_t n, uint64_t secret)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.scheme = scheme;
    o.items  = n;
    o.rate   = RATE;
    if (seeded(scheme)) {
        o.flags   = BLM_SEEDED;
        o.seed[0] = next(&secret);
        o.seed[1] = next(&secret);
        if (strcmp(scheme, "native") != 0) { /* a tweak, an int */
            o.seed[0] >>= 33;
            o.seed[1] = 0;
        }
    }
    must(blm_create(&o, &f, NULL), scheme);
    return f;
}

/* ---- other keys with the same hashes ---- */

static void pairs(const struct attack *a, uint64_t rounds, uint64_t secret, struct outcome *out)
{
    blm_filter *f = make(a->scheme, 100000, secret), *ours = make("native", 100000, secret);
    uint8_t     x[LONG], y[LONG];
    size_t      len;
    out->pair = find_pair(a, f, x, y, &len);
    if (out->pair) {
        blm_add(f, x, len);
        blm_add(ours, x, len);
        out->twins  = 1;
        out->pass   = blm_check(f, y, len);
        out->native = blm_check(ours, y, len);
    }
    (void)rounds;
    blm_free(f);
    blm_free(ours);
}

static void twins(const struct attack *a, uint64_t rounds, uint64_t secret, struct outcome *out)
{
    blm_filter *f = make(a->scheme, 10000, secret), *ours = make("native", 10000, secret);
    uint64_t    rng   = 7;
    size_t      given = strcmp(a->scheme, "parquet") == 0 ? 24 : LONG;
    for (uint64_t i = 0; i < rounds; i++) {
        uint8_t member[LONG], key[LONG];
        size_t  len = 0;
        letters(member, LONG, &rng);
        if (strcmp(a->scheme, "md5-or") == 0)
            member[LONG - 1] = 'a';
        blm_add(f, member, given);
        blm_add(ours, member, given);
        for (uint64_t number = next(&rng), tried = 0; !len && tried < 100; tried++, number++) {
            memcpy(key, member, LONG);
            len = a->make(key, number);
            out->made++;
        }
        if (!len || (len == given && memcmp(key, member, len) == 0))
            continue;
        out->twins++;
        out->pass += blm_check(f, key, len);
        out->native += blm_check(ours, key, len);
    }
    blm_free(f);
    blm_free(ours);
}

/* ---- prepared adds ---- */

struct map {
    uint8_t *set;
    uint64_t pos[BRIEF];
    size_t   count;
};

static size_t fresh(const blm_filter *f, struct map *m, const uint8_t *key)
{
    size_t n = 0;
    must(blm_positions(f, key, SHORT, m->pos, BRIEF, &m->count), "positions");
    for (size_t i = 0; i < m->count; i++) { /* each once, then as before */
        n += !m->set[m->pos[i]];
        m->set[m->pos[i]] |= 2;
    }
    for (size_t i = 0; i < m->count; i++)
        m->set[m->pos[i]] &= 1;
    return n;
}

/* The attacker has a filter of his own with the same parameters, and of those seeds that he can know.
 * Of some candidates he takes the first that sets only new bits, or the one that sets most. */
static void pollute(const char *scheme, uint64_t n, uint64_t secret, struct outcome *out)
{
    bool        native = strcmp(scheme, "native") == 0;
    blm_filter *victim = make(scheme, n, secret),
               *mine   = make(scheme, n, native ? ~secret : secret);
    blm_params  p      = { .size = sizeof p };
    struct map *m      = calloc(1, sizeof *m);
    uint64_t    rng = 99, tried = 0;
    must(blm_get_params(mine, &p), "params");
    if (!m || !(m->set = calloc(p.bits + 1, 1)))
        exit(2);
    double began = thread_ns();
    for (uint64_t i = 0; i + 1 < n; i++) {
        uint8_t best[SHORT], key[SHORT];
        size_t  most = 0, all = 1;
        for (unsigned t = 0; t < TRIES && most < all; t++, tried++) {
            letters(key, SHORT, &rng);
            size_t got = fresh(mine, m, key);
            all        = m->count;
            if (t == 0 || got > most) {
                most = got;
                memcpy(best, key, SHORT);
            }
        }
        fresh(mine, m, best);
        for (size_t j = 0; j < m->count; j++)
            m->set[m->pos[j]] = 1;
        blm_add(victim, best, SHORT);
    }
    out->pollution_ns = (thread_ns() - began) / (double)n;
    blm_trial t       = { .size = sizeof t };
    must(blm_try_rate(victim, NULL, 200000, 5, &t, NULL), "trial");
    out->promised        = p.rate;
    out->polluted        = t.rate;
    out->pollution_tries = (double)tried / (double)n;
    free(m->set);
    free(m);
    blm_free(victim);
    blm_free(mine);
}

/* ---- a stolen file, and the filter made again ---- */

static blm_filter *honest(const char *scheme, uint64_t n, uint64_t secret)
{
    blm_filter *f   = make(scheme, n, secret);
    uint64_t    rng = 3;
    for (uint64_t i = 0; i + 1 < n; i++) {
        uint8_t key[SHORT];
        letters(key, SHORT, &rng);
        blm_add(f, key, SHORT);
    }
    return f;
}

static void search(const char *scheme, uint64_t n, uint64_t wanted, uint64_t secret,
                   struct outcome *out)
{
    blm_filter *f   = honest(scheme, n, secret);
    uint64_t    rng = 12345, tried = 0, found = 0, still = 0;
    uint8_t    *keys  = malloc(wanted * SHORT);
    double      began = thread_ns();
    if (!keys)
        exit(2);
    for (; found < wanted && tried < 2000 * wanted; tried++) {
        uint8_t *key = keys + found * SHORT;
        letters(key, SHORT, &rng);
        found += blm_check(f, key, SHORT);
    }
    out->search_ns    = (thread_ns() - began) / (double)(found ? found : 1);
    out->search_tries = (double)tried / (double)(found ? found : 1);
    out->honest       = (double)found / (double)tried;
    blm_free(f);
    f = honest(scheme, n, ~secret); /* another seed, where there is one */
    for (uint64_t i = 0; i < found; i++)
        still += blm_check(f, keys + i * SHORT, SHORT);
    out->rebuilt = (double)still / (double)(found ? found : 1);
    blm_free(f);
    free(keys);
}

/* ---- judging ---- */

/* Of `trials` at a rate of 1%, more than this many by chance: less than once in 10^9 runs. */
static bool by_chance(uint64_t hits, uint64_t trials)
{
    double low, high;
    must(blm_binomial_interval(hits, trials, 1 - 2e-9, &low, &high), "interval");
    return low <= RATE;
}

static bool refuse(const char *scheme, const char *what)
{
    fprintf(stderr, "adversary: %s: %s\n", scheme, what);
    return false;
}

static bool judge(const struct attack *a, const struct outcome *o)
{
    bool fine = true;
    if (a->way != NO_WAY && (o->twins == 0 || o->pass != o->twins))
        fine = refuse(a->scheme, "keys made to have a member's hashes do not pass");
    if (!by_chance(o->native, o->twins ? o->twins : 1) || (o->twins == 1 && o->native))
        fine = refuse(a->scheme, "the same keys pass a native filter with a secret seed");
    return fine;
}

static void print(const struct attack *a, const char *scheme, const struct outcome *o)
{
    static const char *const ways[] = { "search", "twin", "forge", "birthday" };
    static bool              comma;
    printf(
        "%s\n  {\"scheme\": \"%s\", \"way\": \"%s\", \"needs\": %u, \"how\": \"%s\", \"twins\": "
        "%" PRIu64 ", \"pass\": %" PRIu64 ", \"native_pass\": %" PRIu64 ", \"made\": %" PRIu64
        ", \"pair\": %" PRIu64
        ", \"promised\": %g, \"polluted\": %g, \"pollution_tries\": %.1f, \"pollution_ns\": %.0f, "
        "\"honest\": %g, \"search_tries\": %.1f, \"search_ns\": %.0f, \"rebuilt\": %g}",
        comma ? "," : "", scheme, a ? ways[a->way] : "search", a ? a->needs : 0,
        a ? a->how : "a secret seed", o->twins, o->pass, o->native, o->made, o->pair, o->promised,
        o->polluted, o->pollution_tries, o->pollution_ns, o->honest, o->search_tries, o->search_ns,
        o->rebuilt);
    fflush(stdout);
    comma = true;
}

static bool run(const char *scheme, bool quick)
{
    const struct attack *a      = attack_on(scheme);
    struct outcome       o      = { 0 };
    uint64_t             rounds = quick ? 200 : 5000, n = quick ? 300 : 2000;
    bool                 native = strcmp(scheme, "native") == 0, fine = true;
    if (a && a->way == BIRTHDAY)
        pairs(a, rounds, 11, &o);
    else if (a && a->make)
        twins(a, rounds, 11, &o);
    if (!quick || native || strcmp(scheme, "go") == 0)
        pollute(scheme, n, 21, &o);
    if (!quick || native || strcmp(scheme, "go") == 0)
        search(scheme, n, quick ? 200 : 2000, 31, &o);
    if (!native && !a)
        fine = refuse(scheme, "no attack is written for it");
    else if (a)
        fine = judge(a, &o);
    if (native && o.polluted > 1.5 * o.promised)
        fine = refuse(scheme, "keys prepared with another seed pollute it");
    if (strcmp(scheme, "go") == 0 && o.polluted < 3 * o.promised)
        fine = refuse(scheme, "prepared keys do not pollute it");
    if (strcmp(scheme, "go") == 0 && o.rebuilt < 1)
        fine = refuse(scheme, "false positives do not outlive it being made again");
    if (native && o.rebuilt > 0.1)
        fine = refuse(scheme, "false positives outlive a new seed");
    print(a, scheme, &o);
    return fine;
}

int main(int argc, char **argv)
{
    bool                  quick = argc > 1 && strcmp(argv[1], "--quick") == 0, fine = true;
    const blm_scheme_row *row;
    report_head_in("build/", "adversary", argc, argv);
    printf(" \"rate\": %g, \"rows\": [", RATE);
    for (size_t i = 0; (row = blm_scheme_at(i)) != NULL; i++)
        if (row->creates && !row->by_caller && !row->means)
            fine = run(row->name, quick) && fine;
    printf("]}\n");
    return fine ? 0 : 1;
}
