/* SPDX-License-Identifier: MIT */
/* Windows that are kept: time that passes while a file is closed, a writer that is killed, a power
 * cut, copies and deltas. */
#include "windows.h"

#include "bloomery/delta.h"
#include "bloomery/embed.h"
#include "core/kernel/ages.h"

/* ---- the clock ---- */

static void time_may_go_back(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u, key = 5, other = 6;
    blm_options o = asked(1000, 0.01, 7000, &clock);
    blm_filter *f = made(&o);
    blm_add(f, &key, 8);
    clock -= 1000000;
    assert_true(has(f, key));
    assert_true(window_of(f).behind > 0);
    blm_add(f, &other, 8);
    assert_true(has(f, key) && has(f, other));
    clock += 1000000 + 7000;
    assert_int_equal(window_of(f).behind, 0);
    clock += 1000;
    assert_false(has(f, key));
    blm_free(f);
}

/* The system's clock: a file that has seen a later time goes on from there. */
static void a_file_from_the_future(void **state)
{
    (void)state;
    uint64_t    clock = (uint64_t)4000000000u * 1000, key = 5;
    blm_options o = asked(1000, 0.01, 3600000, &clock);
    blm_filter *f;
    assert_int_equal(blm_create_file(at("future.blm"), &o, &f, NULL), BLM_OK);
    blm_add(f, &key, 8);
    assert_int_equal(blm_close(f, NULL), BLM_OK);
    assert_int_equal(blm_open(at("future.blm"), NULL, &f, NULL), BLM_OK);
    assert_true(has(f, key));
    assert_true(window_of(f).behind > (uint64_t)1000 * 86400 * 365);
    blm_free(f);
}

/* ---- files, copies, bytes ---- */

static void a_file_forgets_while_it_is_closed(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u, a = 1, b = 2;
    blm_options o = asked(1000, 0.01, 7000, &clock);
    blm_filter *f, *reader;
    assert_int_equal(blm_create_file(at("window.blm"), &o, &f, NULL), BLM_OK);
    blm_add(f, &a, 8);
    clock += 6000;
    blm_add(f, &b, 8);
    assert_int_equal(blm_open(at("window.blm"), &o, &reader, NULL), BLM_OK); /* beside the writer */
    assert_true(has(reader, a) && has(reader, b));
    assert_int_equal(blm_close(f, NULL), BLM_OK);
    clock += 3000; /* nobody writes */
    assert_true(!has(reader, a) && has(reader, b));
    blm_free(reader);
    o.flags = BLM_WRITE | BLM_VERIFY;
    assert_int_equal(blm_open(at("window.blm"), &o, &f, NULL), BLM_OK);
    assert_true(!has(f, a) && has(f, b));
    blm_add(f, &a, 8);
    assert_true(has(f, a) && has(f, b));
    blm_verdict v = { .size = sizeof v };
    assert_int_equal(blm_close(f, NULL), BLM_OK);
    assert_int_equal(blm_open(at("window.blm"), &o, &f, NULL), BLM_OK);
    assert_int_equal(blm_verify(f, &v, NULL), BLM_OK);
    assert_int_equal(v.good, v.regions);
    blm_free(f);
}

/* A killed writer's adds are all there, and its count too. */
static void a_killed_writer_loses_nothing(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    blm_options o     = asked(5000, 0.01, 0, &clock);
    blm_filter *f;
    for (int shared = 0; shared < 2; shared++) {
        o.flags   = BLM_SEEDED | BLM_REPLACE | (shared ? BLM_SHARED : 0);
        pid_t pid = fork();
        if (pid == 0) {
            if (blm_create_file(at("killed.blm"), &o, &f, NULL) != BLM_OK)
                _exit(1);
            for (uint64_t k = 0; k < 23456; k++)
                blm_add(f, &k, 8);
            kill(getpid(), SIGKILL);
        }
        int how;
        assert_int_equal(waitpid(pid, &how, 0), pid);
        assert_true(WIFSIGNALED(how));
        blm_options again = BLM_OPTIONS_INIT;
        again.flags       = BLM_WRITE;
        assert_int_equal(blm_open(at("killed.blm"), &again, &f, NULL), BLM_OK);
        for (uint64_t k = 23456 - 5000; k < 23456; k++)
            assert_true(has(f, k));
        for (uint64_t k = 23456; k < 30000; k++) {
            blm_add(f, &k, 8);
            assert_true(has(f, k - 4999));
        }
        assert_int_equal(blm_close(f, NULL), BLM_OK);
    }
}

/* Another boot than the writer's, in both slots. */
static void reboot(uint8_t *file)
{
    uint32_t block = blm__get32le(file + 48), size = blm__get32le(file + 52);
    for (unsigned i = 0; i < 2; i++)
        memset(file + block + i * size + 40, 0x55, 16);
    seal_slots(file);
}

/* Power fails: of the pages since the last sync any may be there, the count of adds an old one. What
 * was synced, and is in the window of all that was added, is there; and the next writer's adds are,
 * whatever it finds. */
static void a_power_cut_keeps_what_was_synced(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    struct rng  r     = { 4 };
    blm_filter *f;
    for (unsigned round = 0; round < (quick_tests() ? 12u : 60u); round++) {
        blm_options o = asked(20000, 0.01, round & 1 ? 20000 : 0, &clock);
        o.flags |= BLM_REPLACE;
        assert_int_equal(blm_create_file(at("cut.blm"), &o, &f, NULL), BLM_OK);
        for (uint64_t k = 0; k < 30000; k++, clock++)
            blm_add(f, &k, 8);
        assert_int_equal(blm_sync(f, NULL), BLM_OK);
        struct bytes disk = slurp(at("cut.blm"));
        uint64_t     last = 30000 + rng_below(&r, round % 3 ? 19000 : 90000);
        for (uint64_t k = 30000; k < last; k++, clock++)
            blm_add(f, &k, 8);
        struct bytes now = slurp(at("cut.blm"));
        assert_int_equal(now.len, disk.len);
        blm_free(f);
        for (size_t page = 0; page < disk.len; page += 4096)
            if (rng_below(&r, 2))
                memcpy(disk.p + page, now.p + page,
                       disk.len - page < 4096 ? disk.len - page : 4096);
        reboot(disk.p);
        spit(at("cut.blm"), disk.p, disk.len);
        free(disk.p);
        free(now.p);
        o.flags = BLM_WRITE | (round & 2 ? BLM_SHARED : 0);
        assert_int_equal(blm_open(at("cut.blm"), &o, &f, NULL), BLM_OK);
        for (uint64_t k = last > 20000 ? last - 20000 : 0; k < 30000; k++)
            if (!has(f, k))
                fail_msg("round %u: %llu of %llu", round, (unsigned long long)k,
                         (unsigned long long)last);
        for (uint64_t k = 500000; k < 560000; k++, clock++) {
            blm_add(f, &k, 8);
            assert_true(has(f, k) && (k < 519000 || has(f, k - 19000)));
        }
        blm_free(f);
    }
}

static void copies_and_bytes_are_the_filter(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    blm_options o     = asked(3000, 0.01, 5000, &clock);
    blm_filter *f     = made(&o), *g, *h;
    for (uint64_t k = 0; k < 3000; k++) {
        clock += 2;
        blm_add(f, &k, 8);
    }
    assert_int_equal(blm_copy(f, &g, NULL), BLM_OK);
    struct bytes all = encoded(f);
    assert_int_equal(blm_decode(all.p, all.len, &o, &h, NULL), BLM_OK);
    assert_true(blm_equal(f, g) && blm_equal(f, h));
    for (int step = 0; step < 12; step++) {
        for (uint64_t k = 0; k < 4000; k++)
            assert_true(has(f, k) == has(g, k) && has(f, k) == has(h, k));
        clock += 700;
    }
    assert_int_equal(window_of(h).adds, 0);
    assert_int_equal(blm_clear(g), BLM_OK);
    uint64_t one = 1;
    blm_add(g, &one, 8);
    assert_true(has(g, 1) && !has(g, 2));
    free(all.p);
    blm_free(f);
    blm_free(g);
    blm_free(h);
}

/* What a window has forgotten meanwhile is in a delta too. */
static void deltas_lead_from_one_to_the_other(void **state)
{
    (void)state;
    uint64_t    clock = 1700000000000u;
    blm_options o     = asked(3000, 0.01, 5000, &clock);
    blm_filter *f     = made(&o), *before, *after;
    for (uint64_t k = 0; k < 8000; k++) {
        if (k == 4000)
            assert_int_equal(blm_copy(f, &before, NULL), BLM_OK);
        clock += 2;
        blm_add(f, &k, 8);
    }
    struct bytes delta = { 0 };
    assert_int_equal(blm_diff(before, f, bytes_add, &delta, NULL), BLM_OK);
    assert_int_equal(blm_patch(before, bytes_get, &delta, &after, NULL), BLM_OK);
    assert_true(blm_equal(f, after));
    for (uint64_t k = 0; k < 8000; k++)
        assert_int_equal(has(f, k), has(after, k));
    free(delta.p);
    blm_free(f);
    blm_free(before);
    blm_free(after);
}

/* ---- a reader beside the writer ---- */

#define WINDOW 70u /* turns of ten keys */
#define KEPT   ((uint64_t)1 << 60)

/* The writer gets on after a reader has looked at the turn, and before it looks at the words. */
static struct {
    const struct blm__ages *real;
    blm_filter             *writer;
    uint64_t                fill; /* the next key that nobody asks for */
    unsigned                adds; /* at each look, of those … */
    unsigned                looks;
    bool                    renew; /* … and then KEPT */
} race;

static void race_on(void)
{
    race.looks++;
    for (unsigned i = 0; i < race.adds; i++, race.fill++)
        blm_add(race.writer, &race.fill, 8);
    if (race.renew)
        blm_add(race.writer, &(uint64_t){ KEPT }, 8);
    race.adds = race.renew ? 0 : race.adds;
}

static size_t slow_check(const struct blm__layer *l, const struct blm__age_turn *t,
                         const uint64_t *h, size_t n, uint8_t *maybe)
{
    race_on();
    return race.real->check(l, t, h, n, maybe);
}

static size_t slow_check8(const struct blm__layer *l, const struct blm__age_turn *t, uint64_t flip,
                          const void *keys, size_t n, uint8_t *maybe)
{
    race_on();
    return race.real->check8(l, t, flip, keys, n, maybe);
}

static size_t ask(const blm_filter *f, uint64_t key, unsigned how)
{
    blm_key    k = { &key, 8 };
    blm_digest d;
    if (how == 0)
        return blm_check(f, &key, 8);
    if (how == 1)
        return blm_check_many(f, &k, 1, NULL);
    if (how == 2)
        return blm_check_fixed(f, &key, 8, 1, NULL);
    assert_int_equal(blm_digest_of(f, &key, 8, &d), BLM_OK);
    return blm_check_digests(f, &d, 1, NULL);
}

/* Is the key there for a reader whose writer adds meanwhile? KEPT was added as the last key of a turn,
 * and sixty more after it. */
static size_t raced(unsigned how, uint64_t key, unsigned adds, bool renew)
{
    blm_options        o = asked(WINDOW, 1e-6, 0, NULL);
    blm_filter        *reader;
    struct blm__kernel kernel;
    struct blm__ages   ages;
    o.flags |= BLM_REPLACE;
    assert_int_equal(blm_create_file(at("raced.blm"), &o, &race.writer, NULL), BLM_OK);
    assert_int_equal(window_of(race.writer).turn_length, 10);
    race.fill = 0;
    for (unsigned i = 0; i < 70; i++, race.fill++)
        blm_add(race.writer, i == 9 ? &(uint64_t){ KEPT } : &race.fill, 8);
    assert_int_equal(blm_open(at("raced.blm"), NULL, &reader, NULL), BLM_OK);
    race.real           = reader->body.kernel->ages;
    race.adds           = adds;
    race.renew          = renew;
    race.looks          = 0;
    ages                = *race.real;
    ages.check          = slow_check;
    ages.check8         = race.real->check8 ? slow_check8 : NULL;
    kernel              = *reader->body.kernel;
    kernel.ages         = &ages;
    reader->body.kernel = &kernel;
    size_t hits         = ask(reader, key, how);
    blm_free(reader);
    blm_free(race.writer);
    return hits;
}

static void a_reader_never_misses_what_was_renewed(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 4; how++) {
        /* Among the last seventy at every moment: ten come, and it comes again. */
        assert_int_equal(raced(how, KEPT, 10, true), 1);
        assert_int_equal(race.looks, 2);
        /* A key that is not there: no, unless turns begin at each look. */
        assert_int_equal(raced(how, KEPT + 1, 10, false), 1);
        assert_int_equal(race.looks, 4);
        assert_int_equal(raced(how, KEPT + 1, 0, false), 0);
        assert_int_equal(race.looks, 1);
        assert_int_equal(raced(how, KEPT + 1, 10, true), 0);
        assert_int_equal(race.looks, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_may_go_back),
        cmocka_unit_test(a_file_from_the_future),
        cmocka_unit_test(a_file_forgets_while_it_is_closed),
        cmocka_unit_test(a_killed_writer_loses_nothing),
        cmocka_unit_test(a_power_cut_keeps_what_was_synced),
        cmocka_unit_test(copies_and_bytes_are_the_filter),
        cmocka_unit_test(deltas_lead_from_one_to_the_other),
        cmocka_unit_test(a_reader_never_misses_what_was_renewed),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
