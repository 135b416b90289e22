/* SPDX-License-Identifier: MIT */
/*
 * URL-like lines, some of them repeated, and the truth about them.
 *
 *     genlines COUNT SHARE SEED            writes COUNT lines, about SHARE of them repeats
 *     genlines COUNT SHARE SEED --verify   reads what a deduplicator made of them
 *
 * A line is either new, and then it is the text of the next index 0, 1, 2, …, or the text of an
 * index that came before; the text has the index in it, so texts of two indices differ. Hence the
 * right answer is the texts of 0, 1, 2, … in order, and --verify can hold an output against it
 * without a set: every line must be the next index's or a later one's, indices passed over are
 * lines that were dropped, and anything else (a duplicate, a changed line) is an error. It prints
 * "unique U dropped D"; exit 1 when the output is wrong.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x) /* splitmix64's finaliser */
{
    x += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static char *put_text(char *to, const char *s)
{
    size_t n = strlen(s);
    memcpy(to, s, n);
    return to + n;
}

static char *put_number(char *to, uint64_t v)
{
    char  digits[20];
    char *at = digits + sizeof digits;
    do
        *--at = (char)('0' + v % 10);
    while (v /= 10);
    size_t n = (size_t)(digits + sizeof digits - at);
    memcpy(to, at, n);
    return to + n;
}

static char *put_hex(char *to, uint64_t v, unsigned n)
{
    for (unsigned i = n; i-- > 0;)
        *to++ = "0123456789abcdef"[v >> (4 * i) & 15];
    return to;
}

/* The text of an index with its newline: 60 to 75 bytes. Returns its length. */
static size_t text(uint64_t index, uint64_t seed, char *out)
{
    static const char *const areas[] = { "news", "product", "wiki",         "user/profile",
                                         "tag",  "images",  "forum/thread", "api/v2/items" };
    uint64_t                 h       = mix(index ^ seed << 40);
    char                    *p       = put_text(out, "https://www.");
    p                                = put_hex(p, h % 4093 * 37, 5);
    p                                = put_text(p, h >> 12 & 1 ? ".example.com/" : ".example.org/");
    p                                = put_text(p, areas[h >> 13 & 7]);
    p                                = put_text(p, "/");
    p                                = put_number(p, index);
    p                                = put_text(p, "-");
    p                                = put_hex(p, h >> 16, 6 + (unsigned)(h >> 60 & 7));
    p                                = put_text(p, h >> 59 & 1 ? "?page=" : "?ref=home&id=");
    p                                = put_number(p, h >> 48 & 255);
    *p++                             = '\n';
    return (size_t)(p - out);
}

struct stream {
    uint64_t state, unique, threshold;
};

/* The index of the next line. */
static uint64_t next(struct stream *s)
{
    uint64_t r = mix(s->state++), q = mix(s->state++);
    if (s->unique == 0 || r >= s->threshold)
        return s->unique++;
    return q % s->unique;
}

static int verify(struct stream *s, uint64_t count, uint64_t seed)
{
    char     want[128], got[4096];
    uint64_t dropped = 0, printed = 0;
    bool     have = fgets(got, sizeof got, stdin) != NULL;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t before = s->unique;
        if (next(s) != before)
            continue;
        size_t n = text(before, seed, want);
        if (have && strncmp(got, want, n) == 0 && got[n] == 0) {
            printed++;
            have = fgets(got, sizeof got, stdin) != NULL;
        } else {
            dropped++;
        }
    }
    printf("unique %" PRIu64 " dropped %" PRIu64 "\n", s->unique, dropped);
    if (have)
        fprintf(stderr, "genlines: line %" PRIu64 " of the output is out of place: %s", printed + 1,
                got);
    return have;
}

static int generate(struct stream *s, uint64_t count, uint64_t seed)
{
    enum { ROOM = 1 << 18 };
    static char buffer[ROOM + 128];
    size_t      used = 0;
    for (uint64_t i = 0; i < count; i++) {
        used += text(next(s), seed, buffer + used);
        if (used >= ROOM || i + 1 == count) {
            if (fwrite(buffer, 1, used, stdout) != used)
                return 1;
            used = 0;
        }
    }
    return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
    if (argc < 4 || argc > 5 || (argc == 5 && strcmp(argv[4], "--verify") != 0)) {
        fputs("usage: genlines COUNT SHARE SEED [--verify]\n", stderr);
        return 2;
    }
    uint64_t      count = (uint64_t)strtod(argv[1], NULL), seed = strtoull(argv[3], NULL, 10);
    double        share = strtod(argv[2], NULL);
    struct stream s = { .state = mix(seed), .threshold = (uint64_t)(share * 0x1p64 * 0.999999) };
    return argc == 5 ? verify(&s, count, seed) : generate(&s, count, seed);
}
