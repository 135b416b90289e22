/* SPDX-License-Identifier: MIT */
/*
 * bench: how fast filters are on this machine, and how fast they could be.
 *
 * Keys are 8-byte integers; making them is not timed. Every figure is processor time, the best of
 * as many passes as its share of the time allows, since a disturbance can only make a pass slower.
 * For comparison there are the peers (bench.h), and the bare cost of one random cache line in the same
 * amount of memory. A peer that beats a blocked filter in anything stands above it.
 *
 * --quick has to end soon on a slow or busy machine too, so its time limits are wall time: once the
 * total is used up, each remaining cell gets one short pass.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bloomery/inline.h"
#include "command.h"
#include "json.h"
#include "numbers.h"
#include "out.h"
#include "progress.h"
#include "say.h"

#define RATE  0.01
#define CHUNK 4096u /* keys timed at once: 32 KiB, so that they stay in the cache */

static struct {
    bool quick, json;
} opt;

static const struct option rows[] = {
    { "quick", 0, OPT_FLAG, NULL, &opt.quick,
      "Measure two sizes in about ten seconds (at most twenty) instead of four sizes in minutes.",
      NULL },
    { "json", 0, OPT_FLAG, NULL, &opt.json, "Print JSON instead of a table.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, NULL };

/* Nanoseconds per key; 0: not measured. */
struct result {
    const char *kind;
    uint64_t    items, bytes;
    double      add_one, add_many, check_one, check_many, absent_one, absent_many;
    double      line_read, line_change;
};

/* Wall time: for each cell, and the deadline after which cells are cut short. */
static double cell_seconds, deadline;

static volatile uint64_t sink; /* keeps the compiler from dropping the work */

/* ---- keys ---- */

static uint64_t mix(uint64_t v)
{
    v ^= v >> 30;
    v *= 0xbf58476d1ce4e5b9u;
    v ^= v >> 27;
    v *= 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

/* Keys from number `from` on of a stream. Different streams share no keys. */
static void make_keys(uint64_t stream, uint64_t from, size_t count, uint64_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = mix((stream << 48 | (from + i)) * 0x9e3779b97f4a7c15u);
}

/* ---- one pass over some keys of a stream ---- */

struct subject {
    blm_filter        *filter;
    blm_inline         view; /* of it */
    struct bench_peer *peer;
    bench_peer_fn      way; /* of the peer's */
};
typedef void (*work_fn)(const struct subject *s, const uint64_t *keys, size_t count);

static void add_one(const struct subject *s, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sink += blm_add(s->filter, keys + i, 8) == BLM_OK;
}

static void add_many(const struct subject *s, const uint64_t *keys, size_t count)
{
    static uint8_t fresh[CHUNK];
    blm_add_fixed(s->filter, keys, 8, count, fresh, NULL);
}

static void check_one(const struct subject *s, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sink += blm_check(s->filter, keys + i, 8);
}

static void check_many(const struct subject *s, const uint64_t *keys, size_t count)
{
    static uint8_t maybe[CHUNK];
    sink += blm_check_fixed(s->filter, keys, 8, count, maybe);
}

static void check_inlined(const struct subject *s, const uint64_t *keys, size_t count)
{
    uint64_t there = 0;
    for (size_t i = 0; i < count; i++)
        there += blm_inline_check(&s->view, keys + i, 8);
    sink += there;
}

static void peer_work(const struct subject *s, const uint64_t *keys, size_t count)
{
    sink += s->way(s->peer->state, keys, count);
}

/* Nanoseconds per key over `total` keys, or over fewer if `seconds` of wall time run out (0: no
 * limit). *done, if not NULL, becomes how many there were. */
static double pass(const struct subject *s, work_fn work, uint64_t stream, uint64_t total,
                   double seconds, uint64_t *done)
{
    static uint64_t keys[CHUNK];
    double          spent = 0, until = now() + seconds;
    uint64_t        at = 0;
    while (at < total && (seconds == 0 || at == 0 || now() < until)) {
        size_t n = total - at < CHUNK ? (size_t)(total - at) : CHUNK;
        make_keys(stream, at, n, keys);
        double start = bench_clock();
        work(s, keys, n);
        spent += bench_clock() - start;
        at += n;
    }
    if (done)
        *done = at;
    return spent / (double)at * 1e9;
}

static void least(double *best, double ns)
{
    if (*best == 0 || ns < *best)
        *best = ns;
}

/* Passes over at most a million keys while the cell's share lasts. */
static double checks(const struct subject *s, work_fn work, uint64_t stream, uint64_t items)
{
    double   best = 0, share = now() < deadline ? cell_seconds : cell_seconds / 10;
    double   until = now() + share;
    uint64_t few   = items < 1000000 ? items : 1000000;
    do
        least(&best, pass(s, work, stream, few, share, NULL));
    while (now() < until);
    return best;
}

/* Adds to an emptied filter, since keys that are already in it are cheaper. */
static double adds(const struct subject *s, work_fn work, uint64_t items)
{
    double   best = 0, share = now() < deadline ? cell_seconds : cell_seconds / 10;
    double   until = now() + share;
    uint64_t few   = items < 1000000 ? items : 1000000;
    do {
        if (s->peer)
            s->peer->clear(s->peer->state);
        else
            blm_clear(s->filter);
        least(&best, pass(s, work, 1, few, share, NULL));
    } while (now() < until);
    return best;
}

/* ---- measuring ---- */

/* inlined, unless NULL, becomes the same filter's checks by <bloomery/inline.h>, which has no adds. */
static bool measure(blm_kind kind, uint64_t items, struct result *r, struct result *inlined)
{
    blm_options    o   = BLM_OPTIONS_INIT;
    blm_error      err = { .offset = BLM_NO_OFFSET };
    blm_params     p   = { .size = sizeof p };
    struct subject s   = { .view = BLM_INLINE_INIT };
    o.kind             = kind;
    o.items            = items;
    o.rate             = RATE;
    o.flags            = BLM_SEEDED;
    *r                 = (struct result){ .kind = blm_kind_name(kind), .items = items };
    if (blm_create(&o, &s.filter, &err) != BLM_OK) {
        filter_trouble(NULL, &err);
        return false;
    }
    blm_get_params(s.filter, &p);
    r->bytes    = p.bytes;
    r->add_one  = adds(&s, add_one, items);
    r->add_many = adds(&s, add_many, items);
    pass(&s, add_many, 1, items, 0, NULL);
    r->check_one   = checks(&s, check_one, 1, items);
    r->check_many  = checks(&s, check_many, 1, items);
    r->absent_one  = checks(&s, check_one, 2, items);
    r->absent_many = checks(&s, check_many, 2, items);
    if (inlined) {
        *inlined = (struct result){ .kind = "inlined", .items = items, .bytes = p.bytes };
        blm_inline_of(s.filter, &s.view);
        inlined->check_one  = checks(&s, check_inlined, 1, items);
        inlined->absent_one = checks(&s, check_inlined, 2, items);
    }
    struct bench_limit l = bench_limit(p.bytes, now() < deadline ? cell_seconds : 0);
    r->line_read         = l.read;
    r->line_change       = l.change;
    blm_free(s.filter);
    return true;
}

/* The better of the peer's two ways. */
static double ways(struct subject *s, const bench_peer_fn way[2], uint64_t stream, uint64_t items)
{
    double best = 0;
    for (size_t i = 0; i < 2 && way[i]; i++) {
        s->way = way[i];
        least(&best, stream ? checks(s, peer_work, stream, items) : adds(s, peer_work, items));
    }
    return best;
}

static const struct {
    const char *name;
    bool (*open)(struct bench_peer *p, uint64_t items);
} peers[] = {
    { "split", bench_split },
    { "split_in", bench_split_inlined },
    { "local", bench_local },
    { "libbloom", bench_libbloom },
};
#define PEERS (sizeof peers / sizeof *peers)

/* False: it cannot be run here, or could not be filled in `seconds`. */
static bool measure_peer(size_t which, uint64_t items, double seconds, struct result *r)
{
    struct bench_peer p;
    struct subject    s    = { .peer = &p };
    uint64_t          done = 0;
    *r                     = (struct result){ .kind = peers[which].name, .items = items };
    if (!peers[which].open(&p, items))
        return false;
    bench_peer_fn add[2] = { p.add_one }, check[2] = { p.check_one };
    r->bytes    = p.bytes;
    r->add_one  = ways(&s, add, 0, items);
    r->add_many = ways(&s, p.add_many, 0, items);
    s.way       = p.add_one;
    pass(&s, peer_work, 1, items, seconds, &done);
    if (done == items) {
        r->check_one   = ways(&s, check, 1, items);
        r->absent_one  = ways(&s, check, 2, items);
        r->check_many  = ways(&s, p.check_many, 1, items);
        r->absent_many = ways(&s, p.check_many, 2, items);
    }
    p.free(p.state);
    return done == items;
}

static bool lower(double a, double b) { return a > 0 && b > 0 && a < b; }

/* Is a peer faster than our filter in anything? What it inlines is compared with what we inline. */
static bool beats(const struct result *peer, const struct result *ours)
{
    return lower(peer->add_one, ours->add_one) || lower(peer->add_many, ours->add_many) ||
           lower(peer->check_one, ours->check_one) || lower(peer->check_many, ours->check_many) ||
           lower(peer->absent_one, ours->absent_one) || lower(peer->absent_many, ours->absent_many);
}

/* Everything with so many keys: who beats us, we, the others. Returns how many there are, 0: trouble. */
static size_t measure_all(uint64_t items, double seconds, struct result *out)
{
    struct result ours[3], other[PEERS];
    bool          run[PEERS];
    size_t        n = 0;
    if (!measure(BLM_BLOCKED, items, &ours[0], &ours[1]) ||
        !measure(BLM_CLASSIC, items, &ours[2], NULL))
        return 0;
    for (size_t i = 0; i < PEERS; i++)
        run[i] = measure_peer(i, items, seconds, &other[i]);
    for (int loses = 0; loses < 2; loses++) {
        for (size_t i = 0; i < PEERS; i++) {
            const struct result *us = &ours[strcmp(other[i].kind, "split_in") == 0];
            if (run[i] && beats(&other[i], us) == !loses)
                out[n++] = other[i];
        }
        for (size_t i = 0; i < 3 && !loses; i++)
            out[n++] = ours[i];
    }
    return n;
}

/* ---- results ---- */

static const char *figure(double ns, char out[16])
{
    snprintf(out, 16, ns > 0 ? "%.1f" : "-", ns);
    return out;
}

static const struct result *find(const struct result *r, size_t count, const char *kind,
                                 uint64_t items)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(r[i].kind, kind) == 0 && r[i].items == items)
            return r + i;
    return NULL;
}

/* "blocked, 10,000,000 keys in batches: add 14.2 x libbloom, 1.3 x the limit; …" */
static void show_ratios(const struct result *r, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char                 keys[NUMBER_TEXT];
        const struct result *peer = find(r, count, "libbloom", r[i].items);
        if (strcmp(r[i].kind, "blocked") != 0)
            continue;
        out_print("blocked, %s keys, batches:", count_text(r[i].items, keys));
        if (peer)
            out_print(" adds %.1fx as fast as libbloom, checks present keys %.1fx and absent keys "
                      "%.1fx as fast;",
                      peer->add_one / r[i].add_many, peer->check_one / r[i].check_many,
                      peer->absent_one / r[i].absent_many);
        if (r[i].line_read > 0)
            out_print(" %.1f, %.1f, %.1f times the cost of a line",
                      r[i].add_many / r[i].line_change, r[i].check_many / r[i].line_read,
                      r[i].absent_many / r[i].line_read);
        out_print("\n");
    }
}

static void show(const struct result *r, size_t count, const char *kernel)
{
    out_print(
        "Nanoseconds per key, one thread, kernel %s, 8-byte keys, rate 1%%; processor time, best "
        "of a few passes.\n\n",
        kernel);
    out_print("%-8s %12s %10s | %12s | %12s | %13s | %13s\n", "", "", "", "add", "check, added",
              "check, absent", "limit: a line");
    out_print("%-8s %12s %10s | %6s %5s | %6s %5s | %6s %6s | %6s %6s\n", "kind", "keys", "memory",
              "one", "many", "one", "many", "one", "many", "change", "read");
    for (size_t i = 0; i < count; i++) {
        char keys[NUMBER_TEXT], size[NUMBER_TEXT], f[8][16];
        out_print("%-8s %12s %10s | %6s %5s | %6s %5s | %6s %6s | %6s %6s\n", r[i].kind,
                  count_text(r[i].items, keys), size_text(r[i].bytes, size),
                  figure(r[i].add_one, f[0]), figure(r[i].add_many, f[1]),
                  figure(r[i].check_one, f[2]), figure(r[i].check_many, f[3]),
                  figure(r[i].absent_one, f[4]), figure(r[i].absent_many, f[5]),
                  figure(r[i].line_change, f[6]), figure(r[i].line_read, f[7]));
    }
    out_print("\n"
              "one: one call per key; many: batches. limit: changing or reading one random "
              "64-byte line in as much memory.\n");
    show_ratios(r, count);
}

static void json_figure(struct json *j, const char *key, double ns)
{
    if (ns > 0)
        json_real(j, key, ns);
    else
        json_text(j, key, NULL);
}

static void show_json(const struct result *r, size_t count, const char *kernel)
{
    struct json j = JSON_INIT;
    json_open(&j, NULL, '{');
    json_text(&j, "version", blm_version());
    json_text(&j, "kernel", kernel);
    json_text(&j, "unit", "ns/key");
    json_real(&j, "rate", RATE);
    json_count(&j, "key_bytes", 8);
    json_open(&j, "results", '[');
    for (size_t i = 0; i < count; i++, r++) {
        json_open(&j, NULL, '{');
        json_text(&j, "kind", r->kind);
        json_count(&j, "items", r->items);
        json_count(&j, "bytes", r->bytes);
        json_figure(&j, "add_one", r->add_one);
        json_figure(&j, "add_many", r->add_many);
        json_figure(&j, "check_one", r->check_one);
        json_figure(&j, "check_many", r->check_many);
        json_figure(&j, "absent_one", r->absent_one);
        json_figure(&j, "absent_many", r->absent_many);
        json_figure(&j, "line_change", r->line_change);
        json_figure(&j, "line_read", r->line_read);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    out_bytes(j.text, j.len);
    json_free(&j);
}

static const char *kernel_name(void)
{
    static const char *name = "unknown";
    blm_options        o    = BLM_OPTIONS_INIT;
    blm_params         p    = { .size = sizeof p };
    blm_filter        *f;
    o.items = 1;
    o.rate  = RATE;
    if (blm_create(&o, &f, NULL) == BLM_OK) {
        if (blm_get_params(f, &p) == BLM_OK)
            name = p.kernel;
        blm_free(f);
    }
    return name;
}

static int run(int count, char **operands)
{
    (void)count, (void)operands;
    static const uint64_t sizes[] = { 100000, 1000000, 10000000, 100000000 };
    static const uint64_t few[]   = { 100000, 10000000 };
    const uint64_t       *items   = opt.quick ? few : sizes;
    size_t                n = opt.quick ? 2 : 4, done = 0;
    struct result         results[4 * (3 + PEERS)];
    cell_seconds = opt.quick ? 0.1 : 1;
    deadline     = now() + (opt.quick ? 10 : 600);
    progress_start("measurements", 0);
    for (size_t i = 0; i < n; i++) {
        size_t more = measure_all(items[i], opt.quick ? 6 : 60, results + done);
        if (!more)
            return EXIT_TROUBLE;
        done += more;
        progress_tick(done, 0);
    }
    progress_stop();
    if (opt.json)
        show_json(results, done, kernel_name());
    else
        show(results, done, kernel_name());
    return EXIT_YES;
}

static const char *const usage[] = { "[--quick] [--json]", NULL };
static const char *const about[] = {
    "Measures how fast this machine adds and checks keys, one by one and in batches. It measures "
    "blocked and classic filters, some that fit in the cache and some that do not.",
    "The last columns are the limit: the cost of changing or reading one random cache line in the "
    "same amount of memory. A blocked filter touches one line per key. A classic filter touches "
    "as many lines as it has probes when the key is present, and about two when it is absent.",
    "Other filters are measured beside ours, at the same rate, and one that is faster in anything "
    "stands above: split, a 256-bit split block of 10.5 bits per key, behind a call and, as "
    "split_in, "
    "inlined; local, the cache-local filter of RocksDB with 10 bits per key; and libbloom, if it "
    "is "
    "installed (libbloom1 on Debian). Their batches are rolling pipelines: hash a key, ask for its "
    "block, look up the key hashed 32 or 96 keys before. inlined is our blocked filter through "
    "<bloomery/inline.h>.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery bench --quick", "Get a first impression" },
    { "bloomery bench --json > here.json", "Save this machine's figures" },
    { NULL, NULL },
};

const struct command cmd_bench = {
    .name     = "bench",
    .summary  = "measure filters on this machine",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "operand",
    .least    = 0,
    .most     = 0,
    .run      = run,
};
