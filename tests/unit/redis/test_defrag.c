/* SPDX-License-Identifier: MIT */
/* Active defragmentation moves every block of every kind of value, awake, asleep and half loaded, and
 * it is the same value afterwards. The server moves all it is asked to move (fuzz/fake_redis.h), which
 * a real one does only with its own allocator. */
#include "unit/redis/module.h"

static const char *const makes[] = {
    "bf.reserve 0.01 100",
    "bf.reserve 0.01 5 EXPANSION 2",
    "bf.reserve 0.01 20000",
    "bf.add first",
    "bf.reserve 0.01 100 NONSCALING",
    "bf.reserve 0.01 100 KIND classic SEED 1",
    "bf.reserve 0.01 100 KIND blocked SEED 1",
    "bf.reserve 0.01 100 KIND counting SEED 1",
    "bf.reserve 0.01 5 KIND scalable SEED 1",
    "bf.reserve 0.01 100 KIND cuckoo SEED 1",
    "bf.reserve 0.01 100 KIND window SEED 1",
    "bf.reserve 0.01 100 WINDOW 600 SEED 1",
    "cf.reserve 8",
    "cf.add first",
};

static struct stream saved(const struct slot *k)
{
    struct stream s = { 0 };
    k->type->m.rdb_save(&s, k->value);
    return s;
}

static void defrag(struct slot *k)
{
    struct stream before = saved(k);
    struct str   *name   = string("0", 1);
    unsigned      moved  = moves;
    assert_int_equal(k->type->m.defrag(NULL, name, &k->value), 0);
    assert_true(moves > moved);
    struct stream after = saved(k);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.out, after.out, before.len);
    free(before.out);
    free(after.out);
    string_free(name);
}

static void fill(struct slot *k)
{
    const bool cf = k->type == &server.types[2];
    char       text[32];
    for (int i = 0; i < 20; i++) {
        snprintf(text, sizeof text, "%s %d", cf ? "cf.add" : "bf.add", i);
        run(k, text);
    }
}

/* Takes the places of all that are awake. */
static void send_to_sleep(void)
{
    static struct slot others[32];
    for (int i = 0; i < 32; i++)
        run(&others[i], "bf.add x");
    for (int i = 0; i < 32; i++)
        forget(&others[i]);
}

static void values_are_moved(void **state)
{
    (void)state;
    server_start();
    for (int asleep = 0; asleep < 2; asleep++)
        for (size_t i = 0; i < COUNT_OF(makes); i++) {
            struct slot k = { NULL, NULL };
            run(&k, makes[i]);
            fill(&k);
            if (asleep)
                send_to_sleep();
            defrag(&k);
            fill(&k); /* and it can be used */
            defrag(&k);
            forget(&k);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
