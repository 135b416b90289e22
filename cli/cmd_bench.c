/* SPDX-License-Identifier: MIT */
/*
 * bench: how fast filters are on this machine, and how fast they could be.
 *
 * Keys are 16 bytes, made before the clock starts. Every figure is the best of a few passes: what
 * disturbs a measurement only ever makes it slower. Beside them stands what one read of a random
 * cache line costs in as much memory, with nothing else done: no filter that reads one line a key
 * can be faster than that, and a classic one reads several.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "command.h"
#include "json.h"
#include "numbers.h"
#include "out.h"
#include "progress.h"
#include "say.h"

#define RATE  0.01
#define WIDTH 16u
#define CHUNK 4096u /* keys timed at once: 64 KiB, which stay in the cache */

static struct {
    bool quick, json;
} opt;

static const struct option rows[] = {
    { "quick", 0, OPT_FLAG, NULL, &opt.quick, "Two sizes in a few seconds instead of four.", NULL },
    { "json", 0, OPT_FLAG, NULL, &opt.json, "Print JSON instead of a table.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, NULL };

/* Nanoseconds a key. */
struct result {
    const char *kind;
    uint64_t    items, bytes;
    double      add_one, add_many, check_one, check_many, absent_one, absent_many, line;
};

static volatile uint64_t sink; /* what is computed must be used */

static uint64_t mix(uint64_t v)
{
    v ^= v >> 30;
    v *= 0xbf58476d1ce4e5b9u;
    v ^= v >> 27;
    v *= 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

/* Keys `from` … of a stream; streams of different numbers share none. */
static void make_keys(uint64_t stream, uint64_t from, size_t count, uint64_t *out)
{
    for (size_t i = 0; i < 2 * count; i++)
        out[i] = mix(stream + (2 * from + i) * 0x9e3779b97f4a7c15u);
}

/* ---- one pass over some keys of a stream ---- */

typedef void (*work_fn)(blm_filter *f, const uint64_t *keys, size_t count);

static void add_one(blm_filter *f, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sink += blm_add(f, keys + 2 * i, WIDTH) == BLM_OK;
}

static void add_many(blm_filter *f, const uint64_t *keys, size_t count)
{
    blm_add_fixed(f, keys, WIDTH, count, NULL, NULL);
}

static void check_one(blm_filter *f, const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sink += blm_check(f, keys + 2 * i, WIDTH);
}

static void check_many(blm_filter *f, const uint64_t *keys, size_t count)
{
    sink += blm_check_fixed(f, keys, WIDTH, count, NULL);
}

/* Nanoseconds a key, over `total` keys. */
static double pass(blm_filter *f, work_fn work, uint64_t stream, uint64_t total)
{
    static uint64_t keys[2 * CHUNK];
    double          spent = 0;
    for (uint64_t at = 0; at < total; at += CHUNK) {
        size_t n = total - at < CHUNK ? (size_t)(total - at) : CHUNK;
        make_keys(stream, at, n, keys);
        double start = now();
        work(f, keys, n);
        spent += now() - start;
    }
    return spent / (double)total * 1e9;
}

/* Passes until a quarter of a second has been measured, three at least. */
static double best_pass(blm_filter *f, work_fn work, uint64_t stream, uint64_t total)
{
    double best = 0, spent = 0;
    for (int i = 0; i < 3 || (spent < 0.25e9 && i < 100); i++) {
        double ns = pass(f, work, stream, total);
        spent += ns * (double)total;
        best = i == 0 || ns < best ? ns : best;
    }
    return best;
}

/* ---- the limit ---- */

#define HUGE ((size_t)2 << 20)

/* Memory as the library's: on huge pages from 2 MiB, so that the limit has no more TLB misses than
 * the filter. */
static uint64_t *line_memory(size_t bytes)
{
    size_t room = (bytes + HUGE - 1) / HUGE * HUGE;
    void  *p = bytes < HUGE ? aligned_alloc(64, (bytes + 63) / 64 * 64) : aligned_alloc(HUGE, room);
    if (!p)
        return NULL;
    if (bytes >= HUGE)
        madvise(p, room, MADV_HUGEPAGE);
    memset(p, 1, bytes);
    return p;
}

/* Lines are chosen without waiting for those before, so that the processor can have as many reads
 * under way as it is able to. 0: no memory for it. */
static double random_lines(uint64_t bytes)
{
    const uint64_t total = 4000000;
    size_t         lines = (size_t)(bytes / 64 ? bytes / 64 : 1);
    uint64_t      *words = line_memory(lines * 64), sum = 0;
    double         best = 0;
    for (int i = 0; words && i < 5; i++) {
        uint64_t at    = mix((uint64_t)i);
        double   start = now();
        for (uint64_t j = 0; j < total; j++) {
            at = at * 6364136223846793005u + 1442695040888963407u;
            sum += words[(size_t)((at >> 32) * lines >> 32) * 8];
        }
        double ns = (now() - start) / (double)total * 1e9;
        best      = i == 0 || ns < best ? ns : best;
    }
    sink += sum;
    free(words);
    return best;
}

/* ---- all of it ---- */

static bool measure(blm_kind kind, uint64_t items, struct result *r)
{
    blm_options o   = BLM_OPTIONS_INIT;
    blm_error   err = { .offset = BLM_NO_OFFSET };
    blm_params  p   = { .size = sizeof p };
    blm_filter *f;
    uint64_t    few = items < 1000000 ? items : 1000000; /* one at a time is slow: that is enough */
    o.kind          = kind;
    o.items         = items;
    o.rate          = RATE;
    o.flags         = BLM_SEEDED;
    *r              = (struct result){ .kind = blm_kind_name(kind), .items = items };
    if (blm_create(&o, &f, &err) != BLM_OK) {
        filter_trouble(NULL, &err);
        return false;
    }
    blm_get_params(f, &p);
    r->bytes = p.bytes;
    for (int i = 0; i < 3; i++) { /* filled anew each time: adding keys that are there is cheaper */
        blm_clear(f);
        double one = pass(f, add_one, 1, few);
        r->add_one = i == 0 || one < r->add_one ? one : r->add_one;
        blm_clear(f);
        double many = pass(f, add_many, 1, items);
        r->add_many = i == 0 || many < r->add_many ? many : r->add_many;
    }
    r->check_one   = best_pass(f, check_one, 1, few);
    r->check_many  = best_pass(f, check_many, 1, items < 4000000 ? items : 4000000);
    r->absent_one  = best_pass(f, check_one, 2, few);
    r->absent_many = best_pass(f, check_many, 2, items < 4000000 ? items : 4000000);
    r->line        = random_lines(p.bytes);
    blm_free(f);
    return true;
}

static void show(const struct result *r, size_t count, const char *kernel)
{
    out_print("Nanoseconds a key, one thread, kernel %s, 16-byte keys, rate 1%%; best of a few "
              "passes.\n\n",
              kernel);
    out_print("%-8s %12s %10s | %12s | %12s | %12s | %6s\n", "", "", "", "add", "check, there",
              "check, absent", "limit");
    out_print("%-8s %12s %10s | %6s %5s | %6s %5s | %6s %6s | %6s\n", "kind", "keys", "memory",
              "one", "many", "one", "many", "one", "many", "line");
    for (size_t i = 0; i < count; i++, r++) {
        char keys[NUMBER_TEXT], size[NUMBER_TEXT];
        out_print("%-8s %12s %10s | %6.1f %5.1f | %6.1f %5.1f | %6.1f %6.1f | %6.1f\n", r->kind,
                  count_text(r->items, keys), size_text(r->bytes, size), r->add_one, r->add_many,
                  r->check_one, r->check_many, r->absent_one, r->absent_many, r->line);
    }
    out_print("\none: a call a key; many: batches. limit: reading one random line of 64 bytes of "
              "as much memory.\n");
}

static void show_json(const struct result *r, size_t count, const char *kernel)
{
    struct json j = JSON_INIT;
    json_open(&j, NULL, '{');
    json_text(&j, "version", blm_version());
    json_text(&j, "kernel", kernel);
    json_text(&j, "unit", "ns/key");
    json_real(&j, "rate", RATE);
    json_count(&j, "key_bytes", WIDTH);
    json_open(&j, "results", '[');
    for (size_t i = 0; i < count; i++, r++) {
        json_open(&j, NULL, '{');
        json_text(&j, "kind", r->kind);
        json_count(&j, "items", r->items);
        json_count(&j, "bytes", r->bytes);
        json_real(&j, "add_one", r->add_one);
        json_real(&j, "add_many", r->add_many);
        json_real(&j, "check_one", r->check_one);
        json_real(&j, "check_many", r->check_many);
        json_real(&j, "absent_one", r->absent_one);
        json_real(&j, "absent_many", r->absent_many);
        json_real(&j, "random_line", r->line);
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
    struct result         results[8];
    progress_start("measurements", 0);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < n; i++) {
            if (!measure(k == 0 ? BLM_BLOCKED : BLM_CLASSIC, items[i], &results[done]))
                return EXIT_TROUBLE;
            progress_tick(++done, 0);
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
    "Measures adding and checking keys, one by one and in batches, in blocked and classic filters "
    "from ones that fit the cache to ones that do not, in this process and on this machine.",
    "The last column is the limit: what reading one random cache line of as much memory costs. A "
    "blocked filter reads one line a key; a classic one reads as many as it has probes when the "
    "key "
    "is there, and about two when it is not.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery bench --quick", "A first impression" },
    { "bloomery bench --json > here.json", "Keep the figures of this machine" },
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
