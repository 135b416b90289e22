/* SPDX-License-Identifier: MIT */
/*
 * The work whose instructions tools/counts has valgrind count: each case at two lengths, so that
 * what is done once a call cancels out and instructions a key remain. Fixed seeds and keys: the
 * same binary gives the same counts, on a busy machine too.
 *
 * Not a test by itself: without callgrind it runs through the cases and says nothing.
 */
#include <bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#define SHORT 1024u
#define LONG  2048u
#define KEYS  (4 * LONG) /* in it: the first half; never in it: the second */
#define WIDE  60u

static uint64_t ints[KEYS];
static char     text[KEYS][WIDE];
static blm_key  list[KEYS];
static uint8_t  answers[KEYS];

static volatile uint64_t sink;

static void make_keys(void)
{
    uint64_t v = 7;
    for (size_t i = 0; i < KEYS; i++) {
        for (size_t j = 0; j < WIDE; j++) {
            v          = v * 6364136223846793005u + 1442695040888963407u;
            text[i][j] = (char)('a' + (v >> 40) % 26);
        }
        ints[i] = v;
        list[i] = (blm_key){ text[i], WIDE };
    }
}

enum op { ADD_ONE, HIT_ONE, MISS_ONE, REMOVE_ONE, ADD_BATCH, HIT_BATCH, MISS_BATCH, OPS };
static const char *const op_name[OPS] = { "add one",   "hit one",   "miss one",  "remove one",
                                          "add batch", "hit batch", "miss batch" };

#define EACH(CALL)                                                  \
    for (size_t i = from; i < from + n; i++) {                      \
        const void  *key = wide ? text[i] : (const void *)&ints[i]; \
        const size_t len = wide ? WIDE : 8;                         \
        sum += (uint64_t)(CALL);                                    \
    }

static void work(blm_filter *f, enum op op, bool wide, size_t n)
{
    uint64_t sum  = 0;
    size_t   from = op == MISS_ONE || op == MISS_BATCH ? KEYS / 2 : 0;
    switch (op) {
    case ADD_ONE:
        EACH(blm_add(f, key, len)) break;
    case HIT_ONE:
    case MISS_ONE:
        EACH(blm_check(f, key, len)) break;
    case REMOVE_ONE:
        EACH(blm_remove(f, key, len)) break;
    case ADD_BATCH:
        if (wide)
            blm_add_many(f, list + from, n, answers, NULL);
        else
            blm_add_fixed(f, ints + from, 8, n, answers, NULL);
        break;
    default:
        sum += wide ? blm_check_many(f, list + from, n, answers)
                    : blm_check_fixed(f, ints + from, 8, n, answers);
    }
    sink += sum;
}

/* A filter with the keys that the operation needs; a scalable one has grown to its second layer and
 * has room in it for all that comes: growing would be counted as adding. */
static blm_filter *make(const blm_options *want, enum op op, bool wide)
{
    blm_options o = *want;
    blm_filter *f;
    o.flags   = BLM_SEEDED;
    o.seed[0] = 42;
    if (blm_create(&o, &f, NULL) != BLM_OK)
        exit(2);
    if (o.kind == BLM_SCALABLE)
        for (uint64_t i = 0; i < 2 * o.items; i++) {
            uint64_t other = i * 0x9e3779b97f4a7c15u;
            blm_add(f, &other, 8);
        }
    if (op != ADD_ONE && op != ADD_BATCH)
        work(f, ADD_BATCH, wide, KEYS / 2);
    return f;
}

static void count(const char *kind, const blm_options *o, enum op op, bool wide, size_t n)
{
    char        name[80];
    blm_filter *f = make(o, op, wide);
    snprintf(name, sizeof name, "%s, %s, %u bytes, %zu", kind, op_name[op], wide ? WIDE : 8, n);
    CALLGRIND_ZERO_STATS;
    work(f, op, wide, n);
    CALLGRIND_DUMP_STATS_AT(name);
    blm_free(f);
}

/* counts kernel: prints which kernel answers, to see whether the one asked for runs here. */
static int print_kernel(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_params  p = { .size = sizeof p };
    blm_filter *f;
    o.items = 1;
    o.rate  = 0.01;
    if (blm_create(&o, &f, NULL) != BLM_OK || blm_get_params(f, &p) != BLM_OK)
        return 2;
    puts(p.kernel);
    blm_free(f);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        blm_kind    kind;
        uint64_t    items;
        double      rate;
    } row[] = {
        { "classic", BLM_CLASSIC, KEYS, 0.01 },      { "blocked", BLM_BLOCKED, KEYS, 0.01 },
        { "blocked 1e-6", BLM_BLOCKED, KEYS, 1e-6 }, { "counting", BLM_COUNTING, KEYS, 0.01 },
        { "scalable", BLM_SCALABLE, 2000, 0.01 },
    };
    if (argc > 1 && strcmp(argv[1], "kernel") == 0)
        return print_kernel();
    make_keys();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int op = 0; op < OPS; op++)
            for (int wide = 0; wide < 2; wide++) {
                blm_options o = BLM_OPTIONS_INIT;
                o.kind        = row[i].kind;
                o.items       = row[i].items;
                o.rate        = row[i].rate;
                if (op == REMOVE_ONE && o.kind != BLM_COUNTING)
                    continue;
                count(row[i].name, &o, (enum op)op, wide, SHORT);
                count(row[i].name, &o, (enum op)op, wide, LONG);
            }
    return 0;
}
