/* SPDX-License-Identifier: MIT */
/*
 * Compares ours with the peers that are hard to beat and with the bare memory: the same keys, the same
 * promised rate (1%), one process, one thread, the thread's processor time, the best of several
 * rounds with all contenders in every round, huge pages for all. Only the ratios mean anything.
 *
 *   compare [--json] [--rounds R] [--keys ints|bytes20|urls] [--owed] [N …]
 *
 * Default: 1e3 1e4 1e5 1e6 1e7 1e8, and 5 rounds. Up to 1e5 keys there are eight times as many
 * rounds, because a round takes a few milliseconds and other work on the same processor may last
 * longer. 1e9 takes 3 GiB. All filters but ours are left out there to save time and memory. --owed:
 * only those that the owed rows name, and no figures of building: half a minute at 1e8.
 *
 * Contenders (ours have a star):
 *   libbloom        one call a key
 *   classic*        one call a key; classic_batch*: all keys in one call
 *   blocked*        one call a key; blocked_inline*: <bloomery/inline.h>; blocked_batch*: all keys in
 *                   one call; blocked_32*, blocked_1000*: so many a call; blocked_digests*: hashed before;
 *                   blocked_shared*: batch adds to a filter that threads may share
 *   split           a 256-bit split block behind a call; split_inline: inlined; split_pipe: a rolling
 *                   pipeline, the better of 32 and 96 keys ahead (split.h)
 *   local           RocksDB's cache-local filter behind a call; local_32: batches of 32, as its
 *                   MultiGet; local_pipe: a rolling pipeline (local.h)
 *   limit           one random line in as many bytes as the blocked filter has, read (hit, miss) or
 *                   changed (add, build), at the best hint and depth (memory.h)
 *
 * Every filter holds n keys. Then, at most a million keys each:
 *   build   n integers to an empty filter, in batches if the contender has batches
 *   miss    keys that are not in it
 *   hit     keys that are
 *   add     new keys in every round: up to 4e6 to an emptied filter, above that to the full one
 * The order of the contenders turns with every round, and each checks as many other keys before
 * its time is taken, so that nobody finds the lines or the keys that another has left in
 * the cache. A row of the table names the fastest first: who beats us stands before us.
 * At the end, what is owed (docs/performance.md) and whether this run met it.
 */
#include "contenders.h"
#include "report.h"

/* ---- filling ---- */

static blm_filter *make(blm_kind kind, uint64_t n, bool shared, double *bits)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_params  p = { .size = sizeof p };
    blm_error   e;
    blm_filter *f;
    o.kind  = kind;
    o.items = n;
    o.rate  = RATE;
    o.flags = shared ? BLM_SHARED : 0;
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
    f->blocked = make(BLM_BLOCKED, n, false, &f->blocked_bits);
    if (n <= PEERS_TOP)
        f->shared = make(BLM_BLOCKED, n, true, &f->blocked_bits);
    if (n <= PEERS_TOP && !owed_only)
        f->classic = make(BLM_CLASSIC, n, false, &f->classic_bits);
    if (n <= PEERS_TOP && !split_open(&f->split, n, SPLIT_BITS_AT_1_PERCENT))
        need(NULL);
    if (n <= PEERS_TOP && !local_open(&f->local, n, LOCAL_BITS_AT_1_PERCENT))
        need(NULL);
    limit_open(&f->limit, (uint64_t)(f->blocked_bits * (double)n / 8));
#ifdef BENCH_LIBBLOOM
    if (n <= PEERS_TOP && !owed_only) {
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
    blm_free(f->shared);
    split_close(&f->split);
    local_close(&f->local);
    limit_close(&f->limit);
#ifdef BENCH_LIBBLOOM
    if (f->theirs.ready)
        bloom_free(&f->theirs);
#endif
}

static const enum who owner[] = { LIBBLOOM,       CLASSIC_BATCH, BLOCKED_BATCH,
                                  BLOCKED_SHARED, SPLIT_PIPE,    LOCAL_PIPE };
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

static struct {
    const char *keys;
    uint64_t    n;
    enum op     op;
    double      ns[ALL];
} told[256];
static size_t told_count;

static void print_head(int rounds, int argc, char **argv)
{
    char cpu[128];
    if (json) {
        report_head("compare", argc, argv);
        printf(" \"rate\": %g, \"rounds\": %d, \"unit\": \"ns/key\",\n \"rows\": [", RATE, rounds);
        return;
    }
    read_line("/proc/cpuinfo", "model name", cpu, sizeof cpu);
    printf(
        "%s, kernel %s; ns a key, best of %d; 1%% promised; the fastest first, ours with a star\n",
        cpu, kernel_name(), rounds);
}

static void print_sorted(const double ns[ALL])
{
    bool done[ALL] = { false };
    for (;;) {
        int best = -1;
        for (int w = 0; w < ALL; w++)
            if (!done[w] && ns[w] > 0 && (best < 0 || ns[w] < ns[best]))
                best = w;
        if (best < 0)
            break;
        done[best] = true;
        printf("  %s%s %.1f", row_of[best].name, row_of[best].ours ? "*" : "", ns[best]);
    }
    putchar('\n');
}

static void print_row(const struct field *f, const char *keys, enum op op, const double ns[ALL])
{
    if (json) {
        printf("%s\n  {\"keys\": \"%s\", \"n\": %.0f, \"op\": \"%s\", \"bits\": %.3f",
               first_row ? "" : ",", keys, (double)f->n, op_name[op], f->blocked_bits);
        for (int w = 0; w < ALL; w++)
            if (ns[w] > 0)
                printf(", \"%s\": %.2f", row_of[w].name, ns[w]);
        printf("}");
        first_row = false;
    } else {
        printf("%s %.0e %s:", keys, (double)f->n, op_name[op]);
        print_sorted(ns);
    }
    if (told_count < sizeof told / sizeof *told) {
        told[told_count].keys = keys;
        told[told_count].n    = f->n;
        told[told_count].op   = op;
        memcpy(told[told_count++].ns, ns, sizeof told->ns);
    }
    fflush(stdout);
}

/* ---- what is owed ---- */

/* `over` as a multiple of `of`, or of `or_of` where that is faster; at most so much. */
static const struct owed {
    const char *row, *keys;
    double      n;
    bool        add; /* else checks, hits and misses */
    enum who    over, of, or_of;
    double      most;
} owed[] = {
    { "A", "urls", 1e7, false, BLOCKED_BATCH, SPLIT_PIPE, LOCAL_PIPE, 1 / 1.1 },
    { "A", "urls", 1e8, false, BLOCKED_BATCH, SPLIT_PIPE, LOCAL_PIPE, 1 / 1.1 },
    { "B", "ints", 1e8, false, BLOCKED_BATCH, LIMIT, LIMIT, 1.2 },
    { "B", "ints", 1e8, false, BLOCKED_BATCH, SPLIT_PIPE, SPLIT_PIPE, 1 },
    { "C", "ints", 1e5, false, BLOCKED_INLINE, SPLIT_INLINED, SPLIT_INLINED, 1.05 },
    { "C", "ints", 1e5, false, BLOCKED, SPLIT, SPLIT, 1 },
    { "D", "ints", 1e7, false, BLOCKED_32, LOCAL_32, LOCAL_32, 1 / 1.2 },
    { "D", "ints", 1e8, false, BLOCKED_32, LOCAL_32, LOCAL_32, 1 / 1.2 },
    { "D", "urls", 1e7, false, BLOCKED_32, LOCAL_32, LOCAL_32, 1 / 1.2 },
    { "D", "urls", 1e8, false, BLOCKED_32, LOCAL_32, LOCAL_32, 1 / 1.2 },
    { "E", "ints", 1e8, true, BLOCKED_BATCH, LIMIT, LIMIT, 1.4 },
    { "F", "ints", 1e7, true, BLOCKED_SHARED, BLOCKED_BATCH, BLOCKED_BATCH, 3 },
    { "F", "ints", 1e8, true, BLOCKED_SHARED, BLOCKED_BATCH, BLOCKED_BATCH, 3 },
};

static bool owes(const struct owed *o, size_t t)
{
    bool op = o->add ? told[t].op == ADD : told[t].op == MISS || told[t].op == HIT;
    return op && strcmp(told[t].keys, o->keys) == 0 && (double)told[t].n == o->n &&
           told[t].ns[o->over] > 0 && told[t].ns[o->of] > 0;
}

static void print_owed(void)
{
    for (const struct owed *o = owed; o < owed + sizeof owed / sizeof *owed; o++) {
        bool headed = false;
        for (size_t t = 0; t < told_count; t++) {
            const double *ns = told[t].ns;
            if (!owes(o, t))
                continue;
            enum who of    = ns[o->or_of] > 0 && ns[o->or_of] < ns[o->of] ? o->or_of : o->of;
            double   ratio = ns[o->over] / ns[of];
            if (!headed)
                printf("owed %s: %s %.0e, %s over %s%s, at most %.2f\n", o->row, o->keys, o->n,
                       row_of[o->over].name, row_of[o->of].name,
                       o->or_of == o->of ? "" : " or local_pipe, the faster", o->most);
            headed = true;
            printf("  %s %.2fx %s: %s\n", op_name[told[t].op], ratio, row_of[of].name,
                   ratio <= o->most ? "met" : "NOT MET");
        }
    }
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
    struct keys other   = make_keys(sort, 99, q, q);
    for (int round = 0; round < rounds; round++) {
        limit_too(f, false, round);
        for (int turn = 0; turn < LIMIT; turn++) {
            enum who     who  = (enum who)((turn + round) % LIMIT);
            struct watch none = { 0, 0 }, w = { 0, 0 };
            if (!there(f, who) || !row_of[who].checks)
                continue;
            pass(f, who, &other, op, &none);
            pass(f, who, &k, op, &w);
            least(&ns[who], w.spent / (double)q);
        }
    }
    ns[LIMIT] = f->limit.best;
    print_row(f, sort_name[sort], op, ns);
    free_keys(&k);
    free_keys(&other);
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
        for (int turn = 0; turn < LIMIT; turn++) {
            int          who   = (turn + round) % LIMIT;
            struct watch w     = { 0, 0 };
            bool         first = who == BLOCKED || who == CLASSIC || who == SPLIT || who == LOCAL;
            size_t       from  = emptied ? 0 : part * (first ? 1 : who == BLOCKED_DIGESTS ? 2 : 0);
            if (!there(f, (enum who)who) || !row_of[who].adds)
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
    if (owed_only)
        rounds = 1;
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
    if (!owed_only)
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
        else if (strcmp(argv[i], "--owed") == 0)
            owed_only = true;
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
    kernel_used = kernel_name();
    print_head(rounds, argc, argv);
    for (int i = 0; i < (count ? count : 6); i++)
        compare((uint64_t)sizes[i], rounds, sorts ? sorts : (1u << SORTS) - 1);
    if (json)
        printf("\n ]}\n");
    else
        print_owed();
    return 0;
}
