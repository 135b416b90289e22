/* SPDX-License-Identifier: MIT */
/*
 * Compares ours with libbloom, a 256-bit split block and the bare memory: the same keys, the same
 * promised rate (1%), one process, one thread, the thread's processor time, the best of several
 * rounds with all contenders in every round, huge pages for all. Only the ratios mean anything.
 *
 *   compare [--json] [--rounds R] [--keys ints|bytes20|urls] [N …]
 *
 * Default: 1e3 1e4 1e5 1e6 1e7 1e8, and 5 rounds. Up to 1e5 keys there are eight times as many
 * rounds, because a round takes a few milliseconds and other work on the same processor may last
 * longer. 1e9 takes 3 GiB. The classic kind and the split block are left out there to save time,
 * and libbloom because its size is an int.
 *
 * Every filter holds n keys. Then, at most a million keys each:
 *   build   n integers to an empty filter, in batches if the contender has batches
 *   miss    keys that are not in it
 *   hit     keys that are
 *   add     new keys in every round: up to 4e6 to an emptied filter, above that to the full one
 * "limit" is one random line in as many bytes as the blocked filter has, read (hit, miss) or
 * changed (add, build): memory.h.
 */
#include <math.h>

#include "clock.h"
#include "keys.h"
#include "memory.h"
#include "report.h"
#include "split.h"
#ifdef BENCH_LIBBLOOM
#include <bloom.h>
#endif

#define RATE      0.01
#define SAMPLE    1000000u
#define FEW       100000u      /* up to here rounds are short, so there are eight times as many */
#define LEAST     65536u       /* keys to time at once, at least */
#define EMPTIED   (4 * SAMPLE) /* filters up to this are emptied before adds */
#define PEERS_TOP 200000000u

enum op { MISS, HIT, ADD, BUILD, OPS };
static const char *const op_name[OPS] = { "miss", "hit", "add", "build" };

enum who {
    LIBBLOOM,
    CLASSIC,
    CLASSIC_BATCH,
    BLOCKED,
    BLOCKED_BATCH,
    BLOCKED_DIGESTS,
    SPLIT,
    LIMIT,
    ALL
};
static const char *const who_name[ALL] = { "libbloom", "classic",       "classic_batch",
                                           "blocked",  "blocked_batch", "blocked_digests",
                                           "split",    "limit" };

/* What is measured at one n. NULL or ready = 0: left out. */
struct field {
    uint64_t     n;
    blm_filter  *classic, *blocked;
    struct split split;
    struct limit limit;
    double       classic_bits, blocked_bits; /* a key */
#ifdef BENCH_LIBBLOOM
    struct bloom theirs;
#endif
};

static uint8_t           answers[SAMPLE];
static volatile uint64_t sink;
static bool              json, first_row = true;

/* ---- one pass of one contender over some keys ---- */

#define EACH_KEY(k, CALL)                                   \
    do {                                                    \
        uint64_t got = 0;                                   \
        if ((k)->width) {                                   \
            const char  *key = (k)->bytes;                  \
            const size_t len = (k)->width;                  \
            for (size_t i = 0; i < (k)->n; i++, key += len) \
                got += (uint64_t)(CALL);                    \
        } else                                              \
            for (size_t i = 0; i < (k)->n; i++) {           \
                const void  *key = (k)->list[i].data;       \
                const size_t len = (k)->list[i].len;        \
                got += (uint64_t)(CALL);                    \
            }                                               \
        sink += got;                                        \
    } while (0)

static void one_by_one(blm_filter *f, const struct keys *k, enum op op, struct watch *w)
{
    watch_go(w);
    if (op == ADD)
        EACH_KEY(k, blm_add(f, key, len));
    else
        EACH_KEY(k, blm_check(f, key, len));
    watch_halt(w);
}

static void batch(blm_filter *f, const struct keys *k, enum op op, struct watch *w)
{
    watch_go(w);
    if (op == BUILD) /* whether a key is new is not asked for */
        blm_add_fixed(f, k->bytes, k->width, k->n, NULL, NULL);
    else if (op == ADD && k->width)
        blm_add_fixed(f, k->bytes, k->width, k->n, answers, NULL);
    else if (op == ADD)
        blm_add_many(f, k->list, k->n, answers, NULL);
    else if (k->width)
        sink += blm_check_fixed(f, k->bytes, k->width, k->n, answers);
    else
        sink += blm_check_many(f, k->list, k->n, answers);
    watch_halt(w);
}

/* Keys hashed in advance, a few at a time, because a digest has room for every scheme: 224
 * bytes. */
static void digests(blm_filter *f, const struct keys *k, enum op op, struct watch *w)
{
    enum { SOME = 1024 };
    static blm_digest d[SOME];
    for (size_t at = 0; at < k->n; at += SOME) {
        size_t some = k->n - at < SOME ? k->n - at : SOME;
        for (size_t i = 0; i < some; i++)
            blm_digest_of(f, k->list[at + i].data, k->list[at + i].len, &d[i]);
        watch_go(w);
        if (op == ADD)
            blm_add_digests(f, d, some, answers, NULL);
        else
            sink += blm_check_digests(f, d, some, answers);
        watch_halt(w);
    }
}

static void split_pass(struct split *s, const struct keys *k, enum op op, struct watch *w)
{
    watch_go(w);
    if (op == ADD || op == BUILD)
        EACH_KEY(k, (split_add(s, key, len), 0));
    else
        EACH_KEY(k, split_check(s, key, len));
    watch_halt(w);
}

#ifdef BENCH_LIBBLOOM
static void libbloom(struct bloom *b, const struct keys *k, enum op op, struct watch *w)
{
    watch_go(w);
    if (op == ADD || op == BUILD)
        EACH_KEY(k, bloom_add(b, key, (int)len));
    else
        EACH_KEY(k, bloom_check(b, key, (int)len));
    watch_halt(w);
}
#endif

static bool there(const struct field *f, enum who who)
{
    switch (who) {
    case CLASSIC:
    case CLASSIC_BATCH:
        return f->classic != NULL;
    case SPLIT:
        return f->split.block != NULL;
    case LIBBLOOM:
#ifdef BENCH_LIBBLOOM
        return f->theirs.ready;
#else
        return false;
#endif
    default:
        return true;
    }
}

static void pass(struct field *f, enum who who, const struct keys *k, enum op op, struct watch *w)
{
    switch (who) {
    case CLASSIC:
        one_by_one(f->classic, k, op, w);
        break;
    case CLASSIC_BATCH:
        batch(f->classic, k, op, w);
        break;
    case BLOCKED:
        one_by_one(f->blocked, k, op, w);
        break;
    case BLOCKED_BATCH:
        batch(f->blocked, k, op, w);
        break;
    case BLOCKED_DIGESTS:
        digests(f->blocked, k, op, w);
        break;
    case SPLIT:
        split_pass(&f->split, k, op, w);
        break;
#ifdef BENCH_LIBBLOOM
    case LIBBLOOM:
        libbloom(&f->theirs, k, op, w);
        break;
#endif
    default:
        break;
    }
}

static void empty(struct field *f, enum who who)
{
    switch (who) {
    case CLASSIC:
    case CLASSIC_BATCH:
        blm_clear(f->classic);
        break;
    case SPLIT:
        split_clear(&f->split);
        break;
#ifdef BENCH_LIBBLOOM
    case LIBBLOOM:
        bloom_reset(&f->theirs);
        break;
#endif
    default:
        blm_clear(f->blocked);
        break;
    }
}

/* ---- filling ---- */

static blm_filter *make(blm_kind kind, uint64_t n, double *bits)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_params  p = { .size = sizeof p };
    blm_error   e;
    blm_filter *f;
    o.kind  = kind;
    o.items = n;
    o.rate  = RATE;
    if (blm_create(&o, &f, &e) != BLM_OK) {
        fprintf(stderr, "compare: %s\n", e.text);
        exit(2);
    }
    blm_get_params(f, &p);
    *bits = (double)p.bytes * 8 / (double)n;
    return f;
}

static void open_field(struct field *f, uint64_t n)
{
    *f         = (struct field){ .n = n };
    f->blocked = make(BLM_BLOCKED, n, &f->blocked_bits);
    if (n <= PEERS_TOP)
        f->classic = make(BLM_CLASSIC, n, &f->classic_bits);
    if (n <= PEERS_TOP && !split_open(&f->split, n, SPLIT_BITS_AT_1_PERCENT))
        need(NULL);
    limit_open(&f->limit, (uint64_t)(f->blocked_bits * (double)n / 8));
#ifdef BENCH_LIBBLOOM
    if (n <= PEERS_TOP) {
        bloom_init(&f->theirs, (int)n, RATE);
        huge_ask(f->theirs.bf, (size_t)f->theirs.bytes);
        bloom_reset(&f->theirs);
    }
#endif
}

static void close_field(struct field *f)
{
    blm_free(f->classic);
    blm_free(f->blocked);
    split_close(&f->split);
    limit_close(&f->limit);
#ifdef BENCH_LIBBLOOM
    if (f->theirs.ready)
        bloom_free(&f->theirs);
#endif
}

static const enum who owner[] = { LIBBLOOM, CLASSIC_BATCH, BLOCKED_BATCH, SPLIT }; /* of a filter */
#define OWNERS (sizeof owner / sizeof *owner)

/* Adds keys from…to of stream 0 to every filter and times it. The keys are made in runs outside the
 * time. The runs are large, as when a filter is built from a file. */
static void fill(struct field *f, enum sort sort, uint64_t from, uint64_t to, struct watch w[ALL])
{
    const size_t run = sort == INTS ? 128 * SAMPLE : SAMPLE;
    while (from < to) {
        size_t      some = to - from < run ? (size_t)(to - from) : run;
        struct keys k    = { sort, some, sort_width[sort], NULL, NULL };
        if (sort == INTS) {
            k.bytes = need(malloc(some * 8));
            for (size_t i = 0; i < some; i++)
                write_key(sort, 0, from + i, k.bytes + i * 8);
        } else
            k = make_keys(sort, 0, some, to); /* from is 0 */
        for (size_t o = 0; o < OWNERS; o++)
            if (there(f, owner[o]))
                pass(f, owner[o], &k, sort == INTS ? BUILD : ADD, &w[owner[o]]);
        free_keys(&k);
        from += some;
    }
}

static void empty_all(struct field *f)
{
    for (size_t o = 0; o < OWNERS; o++)
        if (there(f, owner[o]))
            empty(f, owner[o]);
}

/* ---- the table ---- */

static void print_head(int rounds, int argc, char **argv)
{
    if (json) {
        report_head("compare", argc, argv);
        printf(" \"rate\": %g, \"rounds\": %d, \"unit\": \"ns/key\",\n \"rows\": [", RATE, rounds);
        return;
    }
    printf("ns a key, best of %d; 1%% promised; kernel %s\n", rounds, kernel_name());
    printf("%-7s %-5s %-5s %8s %13s %21s %6s %6s   %s\n", "keys", "n", "op", "libbloom", "classic",
           "blocked", "split", "limit", "blocked over");
    printf("%-7s %-5s %-5s %8s %6s %6s %6s %6s %7s %6s %6s   %s\n", "", "", "", "one", "one",
           "batch", "one", "batch", "digests", "one", "line",
           "libbloom: one, batch; split: one; limit: batch");
}

static void ratio(double over, double of)
{
    if (over > 0 && of > 0)
        printf(" %5.1fx", over / of);
    else
        printf("      -");
}

static void print_row(const struct field *f, const char *keys, enum op op, const double ns[ALL])
{
    if (json) {
        printf("%s\n  {\"keys\": \"%s\", \"n\": %.0f, \"op\": \"%s\", \"bits\": %.3f",
               first_row ? "" : ",", keys, (double)f->n, op_name[op], f->blocked_bits);
        for (int w = 0; w < ALL; w++)
            if (ns[w] > 0)
                printf(", \"%s\": %.2f", who_name[w], ns[w]);
        printf("}");
        first_row = false;
    } else {
        static const int width[ALL] = { 8, 6, 6, 6, 6, 7, 6, 6 };
        printf("%-7s %-5.0e %-5s", keys, (double)f->n, op_name[op]);
        for (int w = 0; w < ALL; w++)
            if (ns[w] > 0)
                printf(" %*.1f", width[w], ns[w]);
            else
                printf(" %*s", width[w], "-");
        printf("  ");
        ratio(ns[LIBBLOOM], ns[BLOCKED]);
        ratio(ns[LIBBLOOM], ns[BLOCKED_BATCH]);
        ratio(ns[BLOCKED], ns[SPLIT]);
        ratio(ns[BLOCKED_BATCH], ns[LIMIT]);
        putchar('\n');
    }
    fflush(stdout);
}

/* ---- the measurements ---- */

/* The limit is measured again in every round of every row, so that what slows the others slows it
 * too. */
static void limit_too(struct field *f, bool change, int round)
{
    if (round == 0)
        f->limit.best = 0;
    limit_round(&f->limit, change, (uint64_t)round << 32, SAMPLE / 4);
}

static void measure_checks(struct field *f, enum sort sort, enum op op, size_t q, int rounds)
{
    double      ns[ALL] = { 0 };
    struct keys k       = make_keys(sort, op == HIT ? 0 : 1, q, op == HIT ? f->n : q);
    for (int round = 0; round < rounds; round++) {
        limit_too(f, false, round);
        for (int who = 0; who < LIMIT; who++) {
            struct watch w = { 0, 0 };
            if (!there(f, (enum who)who))
                continue;
            pass(f, (enum who)who, &k, op, &w);
            least(&ns[who], w.spent / (double)q);
        }
    }
    ns[LIMIT] = f->limit.best;
    print_row(f, sort_name[sort], op, ns);
    free_keys(&k);
}

/* A large filter is already full, so each contender gets its own part of the keys and does not find
 * what another has added. */
static void measure_adds(struct field *f, enum sort sort, size_t q, int rounds)
{
    double       ns[ALL] = { 0 };
    const bool   emptied = f->n <= EMPTIED;
    const size_t part = emptied ? q : q / 4, run = part < f->n ? part : (size_t)f->n;
    for (int round = 0; round < rounds; round++) {
        struct keys k = make_keys(sort, 2 + (unsigned)round, q, q);
        limit_too(f, true, round);
        for (int who = 0; who < LIMIT; who++) {
            struct watch w    = { 0, 0 };
            size_t       from = emptied ? 0
                                        : part * (who == BLOCKED || who == CLASSIC ? 1
                                                  : who == BLOCKED_DIGESTS         ? 2
                                                                                   : 0);
            if (!there(f, (enum who)who))
                continue;
            for (size_t at = 0; at < part; at += run) {
                struct keys some = some_keys(&k, from + at, part - at < run ? part - at : run);
                if (emptied)
                    empty(f, (enum who)who);
                pass(f, (enum who)who, &some, ADD, &w);
            }
            least(&ns[who], w.spent / (double)part);
        }
        free_keys(&k);
    }
    ns[LIMIT] = f->limit.best;
    print_row(f, sort_name[sort], ADD, ns);
}

static void measure_build(struct field *f, enum sort last, int rounds)
{
    double   ns[ALL] = { 0 };
    uint64_t apart   = f->n > EMPTIED ? (uint64_t)SAMPLE * ((unsigned)last + 1) : 0;
    if (f->n > EMPTIED && rounds > 2)
        rounds = 2; /* each is long; in the first, the system provides the memory to all alike */
    for (int r = 0; r < rounds; r++) {
        struct watch w[ALL] = { { 0, 0 } };
        limit_too(f, true, r);
        if (r > 0)
            empty_all(f);
        fill(f, INTS, 0, f->n - apart, w);
        for (int who = 0; who < ALL; who++)
            if (w[who].spent > 0)
                least(&ns[who], w[who].spent / (double)(f->n - apart));
    }
    ns[LIMIT] = f->limit.best;
    print_row(f, "ints", BUILD, ns);
}

static void compare(uint64_t n, int rounds, unsigned sorts)
{
    struct field f;
    struct watch w[ALL] = { { 0, 0 } };
    size_t       q      = n < LEAST ? LEAST : n > SAMPLE ? SAMPLE : (size_t)n;
    if (n <= FEW)
        rounds *= 8;
    open_field(&f, n);
    measure_build(&f, SORTS - 1, rounds);
    if (n > EMPTIED) /* one fill for all: the rest of the n keys are a sample of each sort */
        for (int s = 0; s < SORTS; s++)
            fill(&f, (enum sort)s, s == INTS ? n - (uint64_t)SAMPLE * SORTS : 0,
                 s == INTS ? n - (uint64_t)SAMPLE * (SORTS - 1) : SAMPLE, w);
    for (int s = 0; s < SORTS; s++) {
        if (!(sorts >> s & 1))
            continue;
        if (n <= EMPTIED && s != INTS) {
            empty_all(&f);
            fill(&f, (enum sort)s, 0, q < n ? q : n, w);
            fill(&f, INTS, 0, q < n ? n - q : 0, w);
        }
        measure_checks(&f, (enum sort)s, MISS, q, rounds);
        measure_checks(&f, (enum sort)s, HIT, q, rounds);
    }
    for (int s = 0; s < SORTS; s++)
        if (sorts >> s & 1)
            measure_adds(&f, (enum sort)s, q, rounds);
    close_field(&f);
}

int main(int argc, char **argv)
{
    double   sizes[16] = { 1e3, 1e4, 1e5, 1e6, 1e7, 1e8 };
    int      count = 0, rounds = 5;
    unsigned sorts = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
            rounds = atoi(argv[++i]);
        else if (strcmp(argv[i], "--keys") == 0 && i + 1 < argc) {
            i++;
            for (int s = 0; s < SORTS; s++)
                sorts |= strcmp(argv[i], sort_name[s]) == 0 ? 1u << s : 0;
        } else if (count < 16 && strtod(argv[i], NULL) >= 1000)
            sizes[count++] = strtod(argv[i], NULL);
        else {
            fprintf(stderr, "compare: %s? See the head of bench/compare.c\n", argv[i]);
            return 2;
        }
    }
    print_head(rounds, argc, argv);
    for (int i = 0; i < (count ? count : 6); i++)
        compare((uint64_t)sizes[i], rounds, sorts ? sorts : (1u << SORTS) - 1);
    if (json)
        printf("\n ]}\n");
    return 0;
}
