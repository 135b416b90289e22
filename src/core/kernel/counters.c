/* SPDX-License-Identifier: MIT */
/* Short lines in plain C: the oracle for other kernels' counters, the form for many threads, and
 * the plain bits, which nobody asked to be faster yet. */
#include "core/kernel/counters.h"

/* ---- counters ---- */

/* The counters of one key in one line: words[j] where the pattern has bit j. */
BLM__INLINE bool line_all(const uint64_t *line, uint64_t x, uint32_t k)
{
    unsigned words = blm__line_words(x, k), zero = 0;
    for (unsigned j = 0; j < BLM__LINE_WORDS; j++) {
        uint64_t v = blm__le64(blm__load(&line[j])) >> 4 * blm__short_cell(x, j);
        zero |= (words >> j & 1) & ((v & 15) == 0);
    }
    return !zero;
}

BLM__INLINE bool all(const struct blm__layer *l, uint64_t h)
{
    for (uint32_t i = 0; i < l->shape.lines; i++) {
        uint64_t x = blm__line_x(h);
        if (!line_all(l->words + blm__counters_line(l, h), x, l->shape.probes))
            return false;
        h = blm__line_next(x);
    }
    return true;
}

static size_t check(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe)
{
    size_t hits = 0, ahead = blm__short_begin(l, h, n, 3, false);
    for (size_t i = 0; i < n; i++) {
        blm__short_next(l, h, n, i, ahead, 3, false);
        hits += maybe[i] = all(l, h[i]);
    }
    return hits;
}

/* Up by one unless stuck; the value before. */
static unsigned raise(struct blm__layer *l, uint64_t word, unsigned shift, bool shared)
{
    uint64_t *w = &l->words[word], seen = blm__load(w);
    for (;;) {
        uint64_t v   = blm__le64(seen);
        unsigned old = (unsigned)(v >> shift) & 15;
        if (old == BLM__COUNTER_MAX)
            return old;
        if (l->marks)
            blm__mark(l, word);
        uint64_t next = blm__le64(v + ((uint64_t)1 << shift));
        if (!shared) {
            *w = next;
            return old;
        }
        if (__atomic_compare_exchange_n(w, &seen, next, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_RELAXED)) {
            if (l->marks)
                blm__mark(l, word); /* again, for a sync that ran meanwhile */
            return old;
        }
    }
}

BLM__INLINE size_t add_keys(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh,
                            bool shared)
{
    size_t count = 0, ahead = blm__short_begin(l, h, n, 3, true);
    for (size_t i = 0; i < n; i++) {
        uint64_t g      = h[i];
        unsigned is_new = 0;
        blm__short_next(l, h, n, i, ahead, 3, true);
        for (uint32_t t = 0; t < l->shape.lines; t++) {
            uint64_t x = blm__line_x(g), line = blm__counters_line(l, g);
            unsigned words = blm__line_words(x, l->shape.probes);
            for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
                if (words >> j & 1)
                    is_new |= raise(l, line + j, 4 * blm__short_cell(x, j), shared) == 0;
            g = blm__line_next(x);
        }
        count += fresh[i] = (uint8_t)is_new;
    }
    return count;
}

static size_t add(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    return add_keys(l, h, n, fresh, false);
}

size_t blm__counters_add_shared(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh)
{
    return add_keys(l, h, n, fresh, true);
}

/* Every counter that key h names: its word and shift, in order. Returns how many. */
static uint32_t list(const struct blm__layer *l, uint64_t h, uint64_t *cell)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < l->shape.lines; t++) {
        uint64_t x = blm__line_x(h), line = blm__counters_line(l, h);
        unsigned words = blm__line_words(x, l->shape.probes);
        for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
            if (words >> j & 1)
                cell[n++] = (line + j) * 16 + blm__short_cell(x, j);
        h = blm__line_next(x);
    }
    return n;
}

static unsigned value(const struct blm__layer *l, uint64_t cell)
{
    return (unsigned)(blm__le64(blm__load(&l->words[cell >> 4])) >> 4 * (cell & 15)) & 15;
}

bool blm__counters_bear(const struct blm__layer *l, uint64_t h)
{
    uint64_t cell[BLM__MAX_SHORT * BLM__LINE_WORDS];
    uint32_t n = list(l, h, cell);
    for (uint32_t i = 0; i < n; i++) {
        unsigned named = 0; /* at most five times, once a line */
        for (uint32_t j = 0; j < n; j++)
            named += cell[j] == cell[i];
        if (value(l, cell[i]) < named)
            return false;
    }
    return true;
}

static size_t remove_keys(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *gone)
{
    size_t count = 0, ahead = blm__short_begin(l, h, n, 3, true);
    for (size_t i = 0; i < n; i++) {
        uint64_t cell[BLM__MAX_SHORT * BLM__LINE_WORDS];
        blm__short_next(l, h, n, i, ahead, 3, true);
        gone[i] = blm__counters_bear(l, h[i]);
        if (!gone[i])
            continue;
        count++;
        uint32_t cells = list(l, h[i], cell);
        for (uint32_t j = 0; j < cells; j++) {
            if (value(l, cell[j]) == BLM__COUNTER_MAX)
                continue;
            if (l->marks)
                blm__mark(l, cell[j] >> 4);
            uint64_t *w = &l->words[cell[j] >> 4];
            *w          = blm__le64(blm__le64(*w) - ((uint64_t)1 << 4 * (cell[j] & 15)));
        }
    }
    return count;
}

/* Every add counts, fresh or not. */
BLM__INLINE blm_status add_hash(struct blm__layer *l, uint64_t h, bool shared)
{
    uint8_t fresh;
    add_keys(l, &h, 1, &fresh, shared);
    blm__added_key(l, 1, shared);
    return fresh ? BLM_OK : BLM_PRESENT;
}

#define NO_TARGET
BLM__SINGLE_CHECK(NO_TARGET, blm__portable_counters, all)
BLM__SINGLE_ADD(NO_TARGET, blm__portable_counters_add_key, blm__portable_counters_add_any, add_hash,
                false)

/* Hashed some at a time by whoever hashes them fastest. */
#define RUN 1024u

static size_t add8(struct blm__layer *l, const struct blm__kernel *v, uint64_t flip,
                   const void *keys, size_t n, uint8_t *fresh)
{
    uint64_t h[RUN];
    size_t   count = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = blm__hash_some(v, flip, keys, at, n, RUN, h);
        count += add(l, h, some, fresh + at);
    }
    return count;
}

static size_t check8(const struct blm__layer *l, const struct blm__kernel *v, uint64_t flip,
                     const void *keys, size_t n, uint8_t *maybe)
{
    uint64_t h[RUN];
    size_t   count = 0;
    for (size_t at = 0, some; at < n; at += some) {
        some = blm__hash_some(v, flip, keys, at, n, RUN, h);
        count += check(l, h, some, maybe + at);
    }
    return count;
}

const struct blm__counters blm__counters_portable = {
    .add        = add,
    .check      = check,
    .add8       = add8,
    .check8     = check8,
    .remove     = remove_keys,
    .add_shared = BLM__SHARED_FORM(blm__counters_add_shared, add),
    .check_key  = blm__portable_counters_check_key,
    .add_key    = blm__portable_counters_add_key,
};

/* ---- plain bits ---- */

static uint64_t first_bit(const struct blm__layer *l, uint64_t h)
{
    return blm__reduce(h, l->shape.line_count) * BLM__SHORT_CELLS;
}

static bool bits_all(const struct blm__layer *l, uint64_t h)
{
    for (uint32_t t = 0; t < l->shape.lines; t++) {
        uint64_t x = blm__line_x(h), first = first_bit(l, h);
        unsigned words = blm__line_words(x, l->shape.probes), clear = 0;
        for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
            clear |=
                (words >> j & 1) & !blm__bit_get(l->words, first + j * 16 + blm__short_cell(x, j));
        if (clear)
            return false;
        h = blm__line_next(x);
    }
    return true;
}

size_t blm__short_check(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe)
{
    size_t hits = 0, ahead = blm__short_begin(l, h, n, 1, false);
    for (size_t i = 0; i < n; i++) {
        blm__short_next(l, h, n, i, ahead, 1, false);
        hits += maybe[i] = bits_all(l, h[i]);
    }
    return hits;
}

size_t blm__short_add(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh,
                      bool shared)
{
    size_t count = 0, ahead = blm__short_begin(l, h, n, 1, true);
    for (size_t i = 0; i < n; i++) {
        uint64_t g      = h[i];
        unsigned is_new = 0;
        blm__short_next(l, h, n, i, ahead, 1, true);
        for (uint32_t t = 0; t < l->shape.lines; t++) {
            uint64_t x = blm__line_x(g), first = first_bit(l, g);
            unsigned words = blm__line_words(x, l->shape.probes);
            for (unsigned j = 0; j < BLM__LINE_WORDS; j++)
                if (words >> j & 1)
                    is_new |= blm__bit_set(l, first + j * 16 + blm__short_cell(x, j), shared);
            g = blm__line_next(x);
        }
        count += fresh[i] = (uint8_t)is_new;
    }
    return count;
}
