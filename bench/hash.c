/* SPDX-License-Identifier: MIT */
/*
 * Which hash? The candidates on keys of 8, 20, 60 and 1024 bytes, in cache and streaming from
 * memory: ns per key, processor time, the best of several rounds with all candidates in each.
 *
 *   hash [--json]
 *
 * XXH3 comes from its own header, inlined, with the length known to the compiler as in our batches
 * (8, 20) or not (60, 1024). "fold" is the cheapest hash that could be trusted: folded 128-bit
 * products, sixteen bytes per step, with two rounds at the end. murmur3 (x64, 128 bits) and
 * SipHash-2-4 are written plainly from their descriptions. The library's own SipHash is the option
 * for keys from an adversary. All take a 64-bit seed. Their quality is not measured here but
 * tested: tests/unit/scheme/test_native_quality.c.
 * "native" is what our filters have, keyed with 48 words, and native_siphash the library's own
 * SipHash: both by blm_hash_many, 256 keys a call, with the list of them made on the way.
 */
#include <bloomery/embed.h>
#include <string.h>

#include "clock.h"
#include "keys.h"
#include "memory.h"
#include "report.h"
#include "split.h" /* and with it XXH3 */

#define ROUNDS 9
#define CACHE  ((size_t)16 << 10)
#define STREAM ((size_t)64 << 20)
#define WORK   ((size_t)4 << 20) /* bytes hashed at once, in cache */

__extension__ typedef unsigned __int128 wide;

#define ALWAYS __attribute__((always_inline)) static inline

ALWAYS uint64_t load64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}
ALWAYS uint64_t turn(uint64_t v, int by) { return v << by | v >> (64 - by); }

ALWAYS uint64_t xxh3_64(const void *key, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(key, len, seed);
}

ALWAYS uint64_t xxh3_128(const void *key, size_t len, uint64_t seed)
{
    XXH128_hash_t h = XXH3_128bits_withSeed(key, len, seed);
    return h.low64 ^ h.high64;
}

ALWAYS uint64_t folded(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

ALWAYS uint64_t fold(const void *key, size_t len, uint64_t seed)
{
    const char    *p  = key;
    const uint64_t c1 = 0x9e3779b97f4a7c15u, c2 = 0xd6e8feb86659fd93u;
    uint64_t       h = seed ^ c1, last[2] = { 0, 0 };
    size_t         at = 0;
    for (; at + 16 < len; at += 16)
        h = folded(load64(p + at) ^ c2, load64(p + at + 8) ^ h);
    if (len >= 16) {
        last[0] = load64(p + len - 16);
        last[1] = load64(p + len - 8);
    } else
        memcpy(last, p, len);
    h = folded(last[0] ^ c2, last[1] ^ h);
    return folded(h ^ len, c1);
}

ALWAYS uint64_t finish64(uint64_t v)
{
    v = (v ^ v >> 33) * 0xff51afd7ed558ccdu;
    v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53u;
    return v ^ v >> 33;
}

ALWAYS uint64_t murmur3(const void *key, size_t len, uint64_t seed)
{
    const char    *p  = key;
    const uint64_t c1 = 0x87c37b91114253d5u, c2 = 0x4cf5ad432745937fu;
    uint64_t       h1 = seed, h2 = seed, k[2] = { 0, 0 };
    size_t         at = 0;
    for (; at + 16 <= len; at += 16) {
        h1 ^= turn(load64(p + at) * c1, 31) * c2;
        h1 = (turn(h1, 27) + h2) * 5 + 0x52dce729;
        h2 ^= turn(load64(p + at + 8) * c2, 33) * c1;
        h2 = (turn(h2, 31) + h1) * 5 + 0x38495ab5;
    }
    memcpy(k, p + at, len - at);
    h2 ^= turn(k[1] * c2, 33) * c1;
    h1 ^= turn(k[0] * c1, 31) * c2;
    h1 ^= len;
    h2 ^= len;
    h1 += h2;
    h2 += h1;
    h1 = finish64(h1);
    h2 = finish64(h2);
    return h1 + h2;
}

ALWAYS void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = turn(v[1], 13) ^ v[0];
    v[3] = turn(v[3], 16) ^ v[2];
    v[0] = turn(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = turn(v[1], 17) ^ v[2];
    v[3] = turn(v[3], 21) ^ v[0];
    v[2] = turn(v[2], 32);
}

ALWAYS uint64_t siphash(const void *key, size_t len, uint64_t seed)
{
    const char *p    = key;
    uint64_t    v[4] = { seed ^ 0x736f6d6570736575u, ~seed ^ 0x646f72616e646f6du,
                         seed ^ 0x6c7967656e657261u, ~seed ^ 0x7465646279746573u };
    size_t      at   = 0;
    for (; at + 8 <= len; at += 8) {
        uint64_t m = load64(p + at);
        v[3] ^= m;
        sip_round(v);
        sip_round(v);
        v[0] ^= m;
    }
    uint64_t last = 0;
    memcpy(&last, p + at, len - at);
    last |= (uint64_t)len << 56;
    v[3] ^= last;
    sip_round(v);
    sip_round(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- passes: one function for each candidate and width, the width being a constant where our
 * batches have it so ---- */

#define WIDTHS 4
static const size_t width_of[WIDTHS] = { 8, 20, 60, 1024 };

#define PASS(name)                                                                               \
    __attribute__((noinline)) static uint64_t name##_pass(const char *p, size_t width, size_t n) \
    {                                                                                            \
        uint64_t sum = 0;                                                                        \
        if (width == 8)                                                                          \
            for (size_t i = 0; i < n; i++)                                                       \
                sum += name(p + i * 8, 8, 42);                                                   \
        else if (width == 20)                                                                    \
            for (size_t i = 0; i < n; i++)                                                       \
                sum += name(p + i * 20, 20, 42);                                                 \
        else                                                                                     \
            for (size_t i = 0; i < n; i++)                                                       \
                sum += name(p + i * width, width, 42);                                           \
        return sum;                                                                              \
    }
PASS(xxh3_64)
PASS(xxh3_128)
PASS(fold)
PASS(murmur3)
PASS(siphash)

static blm_filter *by_native, *by_siphash;

static blm_filter *make(blm_hash hash)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.items = 1000;
    o.rate  = 0.01;
    o.kind  = BLM_BLOCKED;
    o.hash  = hash;
    if (blm_create(&o, &f, NULL) != BLM_OK)
        exit(2);
    return f;
}

static uint64_t many(const blm_filter *f, const char *p, size_t width, size_t n)
{
    enum { SOME = 256 };
    blm_key  keys[SOME];
    uint64_t h[SOME], sum = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < SOME ? n - at : SOME;
        for (size_t i = 0; i < some; i++)
            keys[i] = (blm_key){ p + (at + i) * width, width };
        blm_hash_many(f, keys, some, h);
        sum += h[some - 1];
    }
    return sum;
}

static uint64_t native_pass(const char *p, size_t width, size_t n)
{
    return many(by_native, p, width, n);
}

static uint64_t native_siphash_pass(const char *p, size_t width, size_t n)
{
    return many(by_siphash, p, width, n);
}

static const struct {
    const char *name;
    uint64_t (*pass)(const char *p, size_t width, size_t n);
} candidate[] = { { "xxh3_64", xxh3_64_pass },
                  { "xxh3_128", xxh3_128_pass },
                  { "fold", fold_pass },
                  { "murmur3_128", murmur3_pass },
                  { "siphash24", siphash_pass },
                  { "native", native_pass },
                  { "native_siphash", native_siphash_pass } };
#define CANDIDATES (sizeof candidate / sizeof *candidate)

static double ns[CANDIDATES][WIDTHS][2]; /* [1]: streaming */

static volatile uint64_t sink; /* keeps the compiler from dropping the work */

static void measure(const char *bytes)
{
    for (int r = 0; r < ROUNDS; r++)
        for (size_t c = 0; c < CANDIDATES; c++)
            for (int w = 0; w < WIDTHS; w++) {
                size_t       near = CACHE / width_of[w], far = STREAM / 8 / width_of[w];
                struct watch in = { 0, 0 }, out = { 0, 0 };
                watch_go(&in);
                for (size_t done = 0; done < WORK / 8; done += CACHE)
                    sink += candidate[c].pass(bytes, width_of[w], near);
                watch_halt(&in);
                least(&ns[c][w][0], in.spent / (double)((WORK / 8 + CACHE - 1) / CACHE * near));
                /* An eighth of the stream at a time: by the next turn the cache has lost it. */
                watch_go(&out);
                sink += candidate[c].pass(bytes + (size_t)(r * WIDTHS + w) % 8 * (STREAM / 8),
                                          width_of[w], far);
                watch_halt(&out);
                least(&ns[c][w][1], out.spent / (double)far);
            }
}

int main(int argc, char **argv)
{
    bool  json  = argc > 1 && strcmp(argv[1], "--json") == 0;
    char *bytes = need(huge_alloc(STREAM));
    for (size_t i = 0; i < STREAM / 8; i++) {
        uint64_t v = mix(i);
        memcpy(bytes + i * 8, &v, 8);
    }
    by_native  = make(BLM_HASH_XXH3);
    by_siphash = make(BLM_HASH_SIPHASH);
    measure(bytes);
    blm_free(by_native);
    blm_free(by_siphash);
    free(bytes);
    if (json) {
        report_head("hash", argc, argv);
        printf(" \"unit\": \"ns/key\", \"rows\": [");
    } else
        printf("ns a key, in cache (streaming)\n%-14s %14s %14s %14s %14s\n", "", "8 bytes", "20",
               "60", "1024");
    for (size_t c = 0; c < CANDIDATES; c++) {
        if (!json)
            printf("%-14s", candidate[c].name);
        for (int w = 0; w < WIDTHS; w++)
            if (json)
                printf(
                    "%s\n  {\"hash\": \"%s\", \"bytes\": %zu, \"cache\": %.2f, \"stream\": %.2f}",
                    c + (size_t)w ? "," : "", candidate[c].name, width_of[w], ns[c][w][0],
                    ns[c][w][1]);
            else
                printf(" %6.1f (%5.1f)", ns[c][w][0], ns[c][w][1]);
        if (!json)
            putchar('\n');
    }
    if (json)
        printf("\n ]}\n");
    return 0;
}
