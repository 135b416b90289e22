/* SPDX-License-Identifier: MIT */
/*
 * Ways to other keys with the same hashes.
 *
 * MurmurHash2 and 3 and XXH64 mix a word by itself, xor it into the state, and go on with rotations,
 * additions and odd multipliers. A difference in the top bit of the state survives an addition and an
 * odd multiplication as just that, so a difference that one word puts there is taken out by the next
 * word, whatever the state is: for every seed (Aumasson and Bernstein, "SipHash", 2012, section 7, for
 * MurmurHash; the same works for XXH64's short keys). Words with the differences wanted come from
 * undoing the mixing, which has an inverse.
 *
 * Hashes h·x + c in 2^32 are polynomials in x. The product of 1 − x^(2^j), j = 0 … 6, is divisible by
 * 2^34 for every odd x, and its coefficients are Thue's and Morse's 128 signs. Added to the letters of a
 * key they change no such hash, whatever its multiplier.
 *
 * FNV-1 is h·p ^ c: nearly linear. Steps that are small numbers and add up to nothing in 2^64 make a
 * lattice; a short basis of it gives steps to any hash.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bloomery/embed.h>

#include "adversary.h"

/* ---- words ---- */

static uint64_t rotl64(uint64_t v, unsigned n) { return v << n | v >> (64 - n); }
static uint32_t rotl32(uint32_t v, unsigned n) { return v << n | v >> (32 - n); }

/* The inverse of an odd number in 2^64, by Newton: each step doubles the digits that are right. */
static uint64_t inverse(uint64_t odd)
{
    uint64_t v = odd;
    for (int i = 0; i < 6; i++)
        v *= 2 - odd * v;
    return v;
}

typedef uint64_t (*mixer)(uint64_t word, bool back);

static uint64_t scramble64(uint64_t w, bool back, uint64_t first, unsigned turn, uint64_t second)
{
    return back ? rotl64(w * inverse(second), 64 - turn) * inverse(first)
                : rotl64(w * first, turn) * second;
}
static uint64_t murmur3_low(uint64_t w, bool back)
{
    return scramble64(w, back, 0x87c37b91114253d5u, 31, 0x4cf5ad432745937fu);
}
static uint64_t murmur3_high(uint64_t w, bool back)
{
    return scramble64(w, back, 0x4cf5ad432745937fu, 33, 0x87c37b91114253d5u);
}
static uint64_t xxh64(uint64_t w, bool back)
{
    return scramble64(w, back, 0xc2b2ae3d27d4eb4fu, 31, 0x9e3779b185ebca87u);
}
static uint64_t murmur3_32(uint64_t word, bool back)
{
    uint32_t w = (uint32_t)word;
    return back ? rotl32(w * (uint32_t)inverse(0x1b873593), 17) * (uint32_t)inverse(0xcc9e2d51)
                : rotl32(w * 0xcc9e2d51u, 15) * 0x1b873593u;
}
static uint64_t murmur64a(uint64_t w, bool back)
{
    const uint64_t by = back ? inverse(0xc6a4a7935bd1e995u) : 0xc6a4a7935bd1e995u;
    w *= by;
    return (w ^ w >> 47) * by; /* the shift undoes itself */
}

static uint64_t murmur2_32(uint64_t word, bool back)
{
    const uint32_t by = back ? (uint32_t)inverse(0x5bd1e995) : 0x5bd1e995u;
    uint32_t       w  = (uint32_t)word * by;
    return (w ^ w >> 24) * by;
}

/* The words of a unit of a key, and the difference that each gets after it is mixed. */
struct trick {
    unsigned width, words; /* bytes of a word; words of a unit */
    mixer    mix[4];
    uint64_t flip[4];
};
static const struct trick of_murmur3_128 = { 8,
                                             4,
                                             { murmur3_low, murmur3_high, murmur3_low },
                                             { (uint64_t)1 << 36, (uint64_t)1 << 32,
                                               (uint64_t)1 << 63, 0 } };
static const struct trick of_murmur3_32  = {
     4, 2, { murmur3_32, murmur3_32 }, { 1u << 18, 1u << 31 }
};
static const struct trick of_murmur64a = {
    8, 2, { murmur64a, murmur64a }, { (uint64_t)1 << 63, (uint64_t)1 << 63 }
};
static const struct trick of_murmur2_32 = {
    4, 2, { murmur2_32, murmur2_32 }, { 1u << 31, 1u << 31 }
};
static const struct trick of_xxh64 = {
    8, 2, { xxh64, xxh64 }, { (uint64_t)1 << 36, (uint64_t)1 << 63 }
};

static uint64_t get(const uint8_t *p, unsigned width)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < width; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}
static void put(uint8_t *p, unsigned width, uint64_t v)
{
    for (unsigned i = 0; i < width; i++)
        p[i] = (uint8_t)(v >> 8 * i);
}

static void flip_unit(const struct trick *t, uint8_t *unit)
{
    for (unsigned i = 0; i < t->words; i++)
        if (t->flip[i])
            put(unit + i * t->width, t->width,
                t->mix[i](t->mix[i](get(unit + i * t->width, t->width), false) ^ t->flip[i], true));
}

/* The units that `number` names. */
static size_t flip_some(const struct trick *t, uint8_t *key, size_t len, uint64_t number)
{
    size_t unit = (size_t)t->width * t->words;
    for (size_t i = 0; i < len / unit && i < 64; i++)
        if (number >> i & 1)
            flip_unit(t, key + i * unit);
    return len;
}

/* 4 units of 32 bytes, 8 of 16, 16 of 8: any of them but none. */
static size_t murmur3_128_twin(uint8_t *key, uint64_t number)
{
    return flip_some(&of_murmur3_128, key, LONG, 1 + number % 15);
}
static size_t murmur3_32_twin(uint8_t *key, uint64_t number)
{
    return flip_some(&of_murmur3_32, key, LONG, 1 + number % 65535);
}
static size_t murmur64a_twin(uint8_t *key, uint64_t number)
{
    return flip_some(&of_murmur64a, key, LONG, 1 + number % 255);
}

/* ---- polynomials ---- */

static int sign(unsigned i) { return __builtin_parity(i) ? -1 : 1; }

/* Text stays text: letters from b to y become their neighbours. */
static size_t thue_morse(uint8_t *key, uint64_t number)
{
    int by = number & 1 ? 1 : -1;
    for (unsigned i = 0; i < LONG; i++)
        key[i] = (uint8_t)(key[i] + by * sign(i));
    return LONG;
}

/* RS: the weight of a letter depends on its place alone. Two sets of places with one sum, by a sort;
 * the letters of the one go up, of the other down. */
#define PLACES 20u

struct sum {
    uint32_t value, set;
};
static int by_sum(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value ? 1 : x->set < y->set ? -1 : 1;
}

static void rs_weights(uint32_t w[LONG])
{
    uint32_t a[LONG], p = 1;
    a[0] = 63689;
    for (unsigned i = 1; i < LONG; i++)
        a[i] = a[i - 1] * 378551;
    for (unsigned i = LONG; i-- > 0; p *= a[i])
        w[i] = p;
}

static size_t rs_twin(uint8_t *key, uint64_t number)
{
    static struct sum sums[1u << PLACES];
    static uint32_t   up, down;
    if (!up) {
        uint32_t w[LONG];
        rs_weights(w);
        for (uint32_t s = 0; s < 1u << PLACES; s++) {
            sums[s] = (struct sum){ 0, s };
            for (unsigned i = 0; i < PLACES; i++)
                sums[s].value += s >> i & 1 ? w[LONG - PLACES + i] : 0;
        }
        qsort(sums, 1u << PLACES, sizeof *sums, by_sum);
        for (uint32_t s = 1; s < 1u << PLACES && !up; s++)
            if (sums[s].value == sums[s - 1].value) {
                up   = sums[s].set;
                down = sums[s - 1].set;
            }
    }
    for (unsigned i = 0; i < PLACES; i++) {
        int by                 = (int)(up >> i & 1) - (int)(down >> i & 1);
        key[LONG - PLACES + i] = (uint8_t)(key[LONG - PLACES + i] + (number & 1 ? by : -by));
    }
    return up ? LONG : 0;
}

/* ---- md5-or ---- */

/* "…a" sets the bits of "…a", "…c", "…e" and "…g"; "…g" asks for its own alone. */
static size_t last_letter(uint8_t *key, uint64_t number)
{
    (void)number;
    key[LONG - 1] = 'g';
    return LONG;
}

/* ---- FNV-1 ---- */

#define STEPS 16u
#define PRIME 1099511628211u
#define BASIS 14695981039346656037u

/* Steps that add up to 0: row r has Σ r[i]·PRIME^(15 − i) = 0 in 2^64, which steps() sees to. Found by
 * LLL (delta 0.99) from the rows e[i] − PRIME^(15 − i)·e[15] and 2^64·e[15]. */
static const int8_t nothing[STEPS][STEPS] = {
    { 6, -1, 1, -1, -7, -7, 1, 2, 2, -3, 5, 1, -1, -1, -7, 10 },
    { 5, 0, -2, 8, -3, 0, -7, -7, -2, 2, 8, 4, 5, 1, -6, -2 },
    { 3, -2, -6, 4, -2, -5, -7, -8, 10, -4, 4, 1, -2, -3, 7, 4 },
    { 5, -4, 4, -10, 0, -1, 5, 4, -8, 7, 3, 6, -10, -2, -4, 7 },
    { -2, 2, 5, -8, -7, -7, 3, 6, 0, 2, 9, 1, -4, 8, 1, -3 },
    { -10, -2, -3, 5, 2, 1, 5, 8, -4, 6, 3, 3, -6, 7, -4, -9 },
    { 3, -4, -2, 1, -1, 2, -2, -1, -1, 7, -7, 2, -3, -2, -15, -9 },
    { -1, -1, 0, -8, 3, -1, -1, -4, -2, 8, 1, -2, 7, -12, -6, -7 },
    { 1, -6, 6, 0, 5, 4, -6, -3, -1, -6, 5, 4, 6, -9, -4, -4 },
    { -2, 1, -2, 6, 4, -11, 10, -7, 1, -1, 8, -2, -1, -2, 0, 2 },
    { 5, -9, 9, -2, 4, -2, 4, -4, -1, 8, 5, 10, 7, -1, -7, -6 },
    { 6, -2, -1, -5, -6, -1, 4, 3, -14, 0, 0, 0, -2, 0, 11, 3 },
    { -4, 3, 11, -6, 11, 1, -5, 4, -12, 4, -2, -6, -2, 7, 5, 3 },
    { 12, 3, 4, -8, 2, -5, -11, 10, 1, -3, -4, 2, -6, 0, 4, -5 },
    { 2, 6, 4, 3, -3, -11, 1, -3, 1, -7, -9, 4, 6, -13, -3, 0 },
    { 5, -3, -2, 7, 2, 6, 1, 5, 0, 7, 2, -5, -11, -3, 12, -1 },
};

/* The inverse of that matrix, so that a vector's coordinates in it can be read off. */
static const long double (*coordinates(void))[STEPS]
{
    static long double out[STEPS][STEPS];
    long double        a[STEPS][2 * STEPS];
    if (out[0][0] != 0)
        return (const long double(*)[STEPS])out;
    for (unsigned i = 0; i < STEPS; i++)
        for (unsigned j = 0; j < 2 * STEPS; j++)
            a[i][j] = j < STEPS ? nothing[i][j] : j - STEPS == i;
    for (unsigned c = 0; c < STEPS; c++) {
        unsigned best = c;
        for (unsigned r = c; r < STEPS; r++)
            best = fabsl(a[r][c]) > fabsl(a[best][c]) ? r : best;
        for (unsigned j = 0; j < 2 * STEPS; j++) {
            long double v = a[c][j];
            a[c][j]       = a[best][j];
            a[best][j]    = v;
        }
        for (unsigned r = 0; r < STEPS; r++) {
            long double by = r == c ? 0 : a[r][c] / a[c][c];
            for (unsigned j = 0; j < 2 * STEPS && r != c; j++)
                a[r][j] -= by * a[c][j];
        }
    }
    for (unsigned i = 0; i < STEPS; i++)
        for (unsigned j = 0; j < STEPS; j++)
            out[i][j] = a[i][STEPS + j] / a[i][i];
    return (const long double(*)[STEPS])out;
}

/* Small steps that add up to `sum`: the last one alone, less what the lattice has near it. The first
 * round leaves what 64 bits of a long double lose, the second takes that too. */
static void steps(uint64_t sum, int64_t d[STEPS])
{
    const long double(*in)[STEPS] = coordinates();
    memset(d, 0, STEPS * sizeof *d);
    d[STEPS - 1] = (int64_t)sum;
    for (int round = 0; round < 3; round++) {
        uint64_t take[STEPS] = { 0 };
        for (unsigned r = 0; r < STEPS; r++) {
            long double c = 0;
            for (unsigned j = 0; j < STEPS; j++)
                c += (long double)d[j] * in[j][r];
            uint64_t times = (uint64_t)(int64_t)roundl(c);
            for (unsigned j = 0; j < STEPS; j++)
                take[j] += times * (uint64_t)(int64_t)nothing[r][j];
        }
        for (unsigned j = 0; j < STEPS; j++)
            d[j] = (int64_t)((uint64_t)d[j] - take[j]);
    }
}

/* Behind eight letters of the number come 16 bytes that lead to the key's own hash. A step of d is the
 * byte that changes the state's low byte by d, if it stays a byte. */
static size_t fnv_forge(uint8_t *key, uint64_t number)
{
    uint64_t want = BASIS, h = BASIS, ahead;
    int64_t  d[STEPS];
    for (unsigned i = 0; i < LONG; i++)
        want = want * PRIME ^ key[i];
    for (unsigned i = 0; i < 8; i++) {
        key[i] = (uint8_t)('a' + (number >> 4 * i & 15));
        h      = h * PRIME ^ key[i];
    }
    ahead = h;
    for (unsigned i = 0; i < STEPS; i++)
        ahead *= PRIME;
    steps(want - ahead, d);
    for (unsigned i = 0; i < STEPS; i++) {
        int64_t low = (int64_t)(h * PRIME & 255), to = low + d[i];
        if (to < 0 || to > 255)
            return 0;
        key[8 + i] = (uint8_t)(low ^ to);
        h          = h * PRIME ^ key[8 + i];
    }
    return h == want ? 8 + STEPS : 0;
}

/* ---- parquet ---- */

/* XXH64 takes words one by one only from the last 31 bytes: of 24, two are flipped and one stays. */
static size_t parquet_twin(uint8_t *key, uint64_t number)
{
    (void)number;
    flip_unit(&of_xxh64, key);
    return 24;
}

/* ---- pairs by the birthday bound ---- */

struct seen {
    uint64_t hash;
    uint32_t number;
};
static int by_hash(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Key `number` of a family: of js any keys, of fnv-murmur those that MurmurHash2 takes for one. */
static size_t family(const struct attack *a, char letter, uint32_t number, uint8_t out[LONG])
{
    memset(out, letter, LONG);
    if (strcmp(a->scheme, "fnv-murmur") == 0) {
        for (unsigned i = 0; i < LONG / 8; i++)
            if (number >> i & 1)
                flip_unit(&of_murmur2_32, out + 8 * i);
        return LONG;
    }
    for (unsigned i = 0; i < 4; i++)
        out[1 + i] = (uint8_t)('a' + (number >> 4 * i & 15));
    return 16;
}

uint64_t find_pair(const struct attack *a, const blm_filter *f, uint8_t x[LONG], uint8_t y[LONG],
                   size_t *len)
{
    enum { KEYS = 1 << 16 };
    static struct seen all[KEYS];
    uint64_t           hashed = 0;
    for (char letter = 'a'; letter <= 'z';
         letter++) { /* a letter finds one with a chance of 40% or more */
        for (uint32_t i = 0; i < KEYS; i++, hashed++) {
            uint64_t raw[16];
            size_t   n;
            *len = family(a, letter, i, x);
            must(blm_positions_raw(f, x, *len, raw, 16, &n), "positions");
            all[i] = (struct seen){ raw[0], i };
        }
        qsort(all, KEYS, sizeof *all, by_hash);
        for (uint32_t i = 1; i < KEYS; i++)
            if (all[i].hash == all[i - 1].hash) {
                family(a, letter, all[i].number, x);
                *len = family(a, letter, all[i - 1].number, y);
                return hashed;
            }
    }
    return 0;
}

/* ---- the table ---- */

#define MURMUR "two words of the key, changed together: the same state for every seed"
#define THUE \
    "Thue and Morse's 128 signs added to the letters: the same value for every odd multiplier"
#define LATTICE "16 bytes from a short basis of a lattice lead FNV-1 to any hash"

const struct attack attacks[] = {
    { "guava64", TWIN, 32, MURMUR, murmur3_128_twin },
    { "guava32", TWIN, 32, MURMUR, murmur3_128_twin },
    { "go", TWIN, 32, MURMUR, murmur3_128_twin },
    { "spark1", TWIN, 8, MURMUR, murmur3_32_twin },
    { "spark2", TWIN, 8, MURMUR, murmur3_32_twin },
    { "bip37", TWIN, 8, MURMUR, murmur3_32_twin },
    { "redisbloom", TWIN, 16, MURMUR, murmur64a_twin },
    { "parquet", TWIN, 24, MURMUR, parquet_twin },
    { "dcso", FORGE, 1, LATTICE, fnv_forge },
    { "dcso01", FORGE, 1, LATTICE, fnv_forge },
    { "byteslot", TWIN, 128, THUE, thue_morse },
    { "polynomial", TWIN, 128, THUE, thue_morse },
    { "bkdr", TWIN, 128, THUE, thue_morse },
    { "rs", TWIN, 20, "letters at places whose weights add up to the same, by one sort", rs_twin },
    { "md5-or", TWIN, 1, "a last letter that asks for one of the bits of another", last_letter },
    { "fnv-murmur", BIRTHDAY, 0, "65 536 keys of one MurmurHash2, two of which have one FNV",
      NULL },
    { "js", BIRTHDAY, 0, "a birthday among 65 536 keys: 32 bits", NULL },
    { "md5-cat", NO_WAY, 0, "nothing but trying", NULL },
    { "bkdr-js-rs", NO_WAY, 0,
      "nothing but trying here: three hashes of 32 bits, none of them strong", NULL },
};
const size_t attack_count = sizeof attacks / sizeof *attacks;

const struct attack *attack_on(const char *scheme)
{
    for (size_t i = 0; i < attack_count; i++)
        if (strcmp(attacks[i].scheme, scheme) == 0)
            return &attacks[i];
    return NULL;
}
