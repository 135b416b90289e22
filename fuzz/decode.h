/* SPDX-License-Identifier: MIT */
/* What a decoder must do with any bytes: fail with a sentence and a place inside the input, or
 * return a complete filter that can be checked and added to, and that encodes to bytes which decode
 * to the same filter. */
#ifndef BLM_FUZZ_DECODE_H
#define BLM_FUZZ_DECODE_H

#include <bloomery.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_bytes {
    uint8_t *bytes;
    size_t   len, room;
};

static bool fuzz_append(void *ctx, const void *bytes, size_t len)
{
    struct fuzz_bytes *b = ctx;
    if (len > b->room - b->len) {
        size_t   room = (b->len + len) * 2;
        uint8_t *more = realloc(b->bytes, room);
        if (!more)
            return false;
        b->bytes = more;
        b->room  = room;
    }
    if (len)
        memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
    return true;
}

/* What does not hold is named, because a stack alone does not tell the line after inlining. */
#define must(truth) ((truth) ? (void)0 : fuzz_broken(#truth, __FILE__, __LINE__))

static inline void fuzz_broken(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

/* Time stands still: a window of a millisecond may rightly forget a key between two lines. */
static inline uint64_t fuzz_clock(void *ctx)
{
    (void)ctx;
    return 1700000000000u;
}

/* Many keys at once and one by one are answered alike. Removing one that was just added works. Counters can say
 * 0 of a key that is answered "maybe": it names one of them twice, and that stands at 1. */
static void fuzz_ask(blm_filter *f, uint32_t can)
{
    enum { MOST = 40 };
    blm_key keys[MOST];
    uint8_t maybe[MOST];
    size_t  yes = 0;
    for (size_t i = 0; i < MOST; i++)
        keys[i] = (blm_key){ "any key, of some length or none, and so on", i };
    size_t said = blm_check_many(f, keys, MOST, maybe);
    for (size_t i = 0; i < MOST; i++) {
        must(blm_check(f, keys[i].data, i) == (maybe[i] == 1) && maybe[i] <= 1);
        uint64_t n = blm_count(f, keys[i].data, i);
        must(n == 0 || maybe[i] == 1);
        must(n > 0 || !maybe[i] || blm_remove(f, keys[i].data, i) == BLM_E_ABSENT);
        yes += maybe[i];
    }
    must(said == yes);
    blm_status s = blm_add_many(f, keys, MOST, NULL, &yes);
    must(yes <= MOST && (s < 0 || yes == MOST));
    must(can & BLM_CAN_FORGET || blm_check_many(f, keys, yes, NULL) == yes);
    if (can & BLM_CAN_REMOVE)
        must(blm_remove_many(f, keys, yes, NULL, &said) == BLM_OK && said == yes);
}

/* What can be made of it. */
static void fuzz_derive(const blm_filter *f, uint32_t can)
{
    blm_filter *d = NULL;
    double      map[7];
    if (blm_fill_map(f, map, 7) == BLM_OK) /* not of fewer cells, fixed sets and windows */
        for (int i = 0; i < 7; i++)
            must(map[i] >= 0 && map[i] <= 1);
    must(blm_copy(f, &d, NULL) == BLM_OK && blm_equal(d, f));
    blm_status s = blm_union(d, f, NULL);
    must((can & BLM_CAN_UNION) ? s == BLM_OK || s == BLM_E_LIMIT : s == BLM_E_UNSUPPORTED);
    must(blm_check(d, "key", 3) || !blm_check(f, "key", 3));
    blm_free(d);
    for (int how = 0; how < 2; how++) {
        s = how ? blm_reduce(f, &d, NULL) : blm_fold(f, 2, &d, NULL);
        if (s == BLM_OK) {
            must(blm_check(d, "key", 3) || !blm_check(f, "key", 3));
            blm_free(d);
        }
    }
}

static void fuzz_use(blm_filter *f)
{
    blm_stats stats = { .size = sizeof stats };
    must(blm_get_stats(f, &stats) == BLM_OK);
    must(stats.fill >= 0 && stats.fill <= 1);
    must(stats.rate_now >= 0 && stats.rate_now <= 1);
    must(stats.estimated.value >= 0 && stats.estimated.low <= stats.estimated.high);
    blm_params p = { .size = sizeof p };
    must(blm_get_params(f, &p) == BLM_OK);
    blm_status s = blm_add(f, "key", 3); /* a RedisBloom chain may be full and forbidden to grow */
    must((p.can & BLM_CAN_ADD) ? s >= 0 || s == BLM_E_FULL || s == BLM_E_LIMIT
                               : s == BLM_E_UNSUPPORTED);
    must(s < 0 || blm_check(f, "key", 3));
    if (p.bits < 1 << 16) { /* larger ones take too long for so little */
        fuzz_derive(f, p.can);
        fuzz_ask(f, p.can);
    }
}

/* exact: what was read is written back byte for byte, not only as the same filter. */
static void fuzz_decode_with(const blm_options *with, bool exact, const uint8_t *data, size_t size)
{
    blm_error   err;
    blm_filter *f = NULL, *again = NULL;
    blm_options o = *with;
    o.clock       = fuzz_clock;
    blm_status s  = blm_decode(data, size, &o, &f, &err);
    if (s != BLM_OK) {
        must(s < 0 && !f && err.status == s && err.text[0]);
        must(err.offset == BLM_NO_OFFSET || err.offset <= size);
        return;
    }
    struct fuzz_bytes b = { 0 };
    must(blm_encode(f, NULL, fuzz_append, &b, &err) == BLM_OK);
    must(!exact || (b.len == size && memcmp(b.bytes, data, size) == 0));
    must(blm_decode(b.bytes, b.len, &o, &again, &err) == BLM_OK);
    must(blm_equal(f, again));
    fuzz_use(again);
    blm_free(again);
    blm_free(f);
    free(b.bytes);
}

static inline void fuzz_decode(const char *format, bool exact, const uint8_t *data, size_t size)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.format      = format;
    o.max_bytes   = (uint64_t)16 << 20;
    fuzz_decode_with(&o, exact, data, size);
}

#endif
