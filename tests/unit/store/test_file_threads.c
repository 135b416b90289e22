/* SPDX-License-Identifier: MIT */
/* A sync beside adds from many threads: nothing is lost, and no region whose words and checksum
 * differ is left without a mark. */
#include "unit/support.h"

#include "unit/files.h"

#include <pthread.h>

#define ADDERS 3u
#define KEYS   12u /* a round and thread: few, so that a round ends soon after the sync */

static struct {
    blm_filter       *f;
    pthread_barrier_t begin, end;
    unsigned          rounds;
    bool              batches;
} team;

static uint64_t key_of(unsigned round, unsigned who, unsigned i)
{
    return ((uint64_t)round << 32) + who * 1000 + i;
}

static void *adder(void *arg)
{
    unsigned who = (unsigned)(uintptr_t)arg;
    for (unsigned r = 0; r < team.rounds; r++) {
        uint64_t keys[KEYS];
        for (unsigned i = 0; i < KEYS; i++)
            keys[i] = key_of(r, who, i);
        pthread_barrier_wait(&team.begin);
        if (team.batches)
            blm_add_fixed(team.f, keys, 8, KEYS, NULL, NULL);
        else
            for (unsigned i = 0; i < KEYS; i++)
                blm_add(team.f, &keys[i], 8);
        pthread_barrier_wait(&team.end);
    }
    return NULL;
}

static uint64_t absent_in(unsigned rounds)
{
    uint64_t n = 0;
    for (unsigned r = 0; r < rounds; r++)
        for (unsigned who = 0; who < ADDERS; who++)
            for (unsigned i = 0; i < KEYS; i++) {
                uint64_t key = key_of(r, who, i);
                n += !blm_check(team.f, &key, 8);
            }
    return n;
}

static void run(blm_kind kind, unsigned rounds, bool batches)
{
    pthread_t   threads[ADDERS];
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = kind;
    o.bits      = kind == BLM_COUNTING ? 1u << 18 : 1u << 20; /* two regions: some keys mark both */
    o.probes    = kind == BLM_BLOCKED ? 3 : 2;
    o.flags     = BLM_SHARED | BLM_SEEDED;
    o.seed[0]   = 9;
    team.f      = create_at(at("f"), &o);
    team.rounds = rounds;
    team.batches = batches;
    assert_int_equal(pthread_barrier_init(&team.begin, NULL, ADDERS + 1), 0);
    assert_int_equal(pthread_barrier_init(&team.end, NULL, ADDERS + 1), 0);
    for (unsigned i = 0; i < ADDERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, adder, (void *)(uintptr_t)i), 0);
    for (unsigned r = 0; r < rounds; r++) {
        pthread_barrier_wait(&team.begin);
        blm_status st = blm_sync(team.f, NULL);
        pthread_barrier_wait(&team.end);
        if (st != BLM_OK)
            fail_msg("sync fails");
        verdict_of(team.f,
                   BLM_OK); /* nobody is adding now: a mismatch has its mark, or is damage */
    }
    for (unsigned i = 0; i < ADDERS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&team.begin);
    pthread_barrier_destroy(&team.end);
    assert_int_equal(absent_in(rounds), 0);
    uint64_t items = params_of(team.f).items;
    close_well(team.f);
    team.f = open_at(at("f"), BLM_VERIFY);
    assert_int_equal(params_of(team.f).items, items);
    assert_int_equal(verdict_of(team.f, BLM_OK).unverified, 0);
    assert_int_equal(absent_in(rounds), 0);
    blm_free(team.f);
}

static void syncs_beside_adds(void **state)
{
    (void)state;
    run(BLM_CLASSIC, 400, false);
}

static void syncs_beside_batches(void **state)
{
    (void)state;
    run(BLM_BLOCKED, 400, true);
}

static void syncs_beside_counters(void **state)
{
    (void)state;
    run(BLM_COUNTING, 400, false);
}

static bool nowhere(void *ctx, const void *p, size_t len)
{
    (void)ctx;
    (void)p;
    (void)len;
    return true;
}

static void *reads(void *arg)
{
    (void)arg;
    for (unsigned r = 0; r < team.rounds; r++) {
        blm_stats   s = { .size = sizeof s };
        blm_verdict v = { .size = sizeof v };
        blm_get_stats(team.f, &s);
        blm_verify(team.f, &v, NULL);
        blm_encode(team.f, NULL, nowhere, NULL, NULL);
    }
    return NULL;
}

static void *adds(void *arg)
{
    unsigned who = (unsigned)(uintptr_t)arg;
    for (unsigned r = 0; r < team.rounds; r++)
        for (unsigned i = 0; i < KEYS; i++) {
            uint64_t key = key_of(r, who, i);
            blm_add(team.f, &key, 8);
        }
    return NULL;
}

/* Reading the whole filter beside adds and syncs: whatever it finds, no races. */
static void stats_verify_and_encode_beside_adds(void **state)
{
    (void)state;
    pthread_t   a, b;
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 1u << 17;
    o.probes      = 3;
    o.flags       = BLM_SHARED;
    team.f        = create_at(at("f"), &o);
    team.rounds   = 100;
    assert_int_equal(pthread_create(&a, NULL, adds, (void *)(uintptr_t)1), 0);
    assert_int_equal(pthread_create(&b, NULL, reads, NULL), 0);
    for (int i = 0; i < 30; i++)
        assert_status(blm_sync(team.f, NULL), BLM_OK);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    verdict_of(team.f, BLM_OK);
    close_well(team.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(syncs_beside_adds),
        file_test(syncs_beside_batches),
        file_test(syncs_beside_counters),
        file_test(stats_verify_and_encode_beside_adds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
