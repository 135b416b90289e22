/* SPDX-License-Identifier: MIT */
/*
 * Hashes are spread evenly, so they are sorted by their bytes from the highest on, in place: count,
 * then move each to its place in turn (McIlroy, Bostic and McIlroy, "Engineering radix sort", 1993).
 * The parts by the first byte are for several threads.
 */
#include "api/hashes.h"

#include <string.h>

#include "core/threads.h"

#define RADIX   256u
#define FEW     48u               /* so few are sorted by insertion */
#define TOP     56u               /* shift of the highest byte */
#define AT_ONCE ((size_t)1 << 12) /* the least room */

/* ---- gathering ---- */

uint64_t *blm__hashes_room(struct blm__hashes *h, const blm_allocator *a, size_t n)
{
    if (h->room - h->n >= n)
        return h->of + h->n;
    if (n > SIZE_MAX / 16 - h->n)
        return NULL;
    size_t    room = h->n + n < AT_ONCE ? AT_ONCE : h->n + n + (h->n ? h->n / 2 : 0);
    uint64_t *of   = blm__alloc(a, room * sizeof *of);
    if (!of)
        return NULL;
    if (h->n)
        memcpy(of, h->of, h->n * sizeof *of);
    blm__free(a, h->of, h->room * sizeof *of);
    h->of   = of;
    h->room = room;
    return of + h->n;
}

void blm__hashes_free(struct blm__hashes *h, const blm_allocator *a)
{
    blm__free(a, h->of, h->room * sizeof *h->of);
    *h = (struct blm__hashes){ NULL, 0, 0 };
}

/* ---- sorting ---- */

static void insert(uint64_t *h, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t v = h[i];
        size_t   j = i;
        for (; j > 0 && h[j - 1] > v; j--)
            h[j] = h[j - 1];
        h[j] = v;
    }
}

static unsigned byte_of(uint64_t v, unsigned shift) { return (unsigned)(v >> shift) & (RADIX - 1); }

/* By one byte; end[i] is where those of byte i end. */
static void spread(uint64_t *h, size_t n, unsigned shift, size_t end[RADIX])
{
    size_t next[RADIX], at = 0;
    memset(end, 0, RADIX * sizeof *end);
    for (size_t i = 0; i < n; i++)
        end[byte_of(h[i], shift)]++;
    for (unsigned i = 0; i < RADIX; i++) {
        next[i] = at;
        end[i]  = at += end[i];
    }
    for (unsigned i = 0; i < RADIX; i++)
        while (next[i] < end[i]) {
            uint64_t v = h[next[i]];
            for (unsigned to; (to = byte_of(v, shift)) != i;) {
                uint64_t other = h[next[to]];
                h[next[to]++]  = v;
                v              = other;
            }
            h[next[i]++] = v;
        }
}

static void sort_from(uint64_t *h, size_t n, unsigned shift)
{
    size_t end[RADIX];
    if (n <= FEW) {
        insert(h, n);
        return;
    }
    spread(h, n, shift, end);
    for (unsigned i = 0; shift > 0 && i < RADIX; i++) {
        size_t from = i ? end[i - 1] : 0;
        sort_from(h + from, end[i] - from, shift - 8);
    }
}

struct sorting {
    uint64_t      *h;
    size_t         end[RADIX];
    _Atomic size_t next;
};

static void sort_shares(void *ctx)
{
    struct sorting *s = ctx;
    for (size_t i; (i = blm__next_share(&s->next)) < RADIX;) {
        size_t from = i ? s->end[i - 1] : 0;
        sort_from(s->h + from, s->end[i] - from, TOP - 8);
    }
}

void blm__hashes_sort(struct blm__hashes *h, uint32_t threads)
{
    struct sorting s = { .h = h->of };
    size_t         n = 0;
    if (h->n <= AT_ONCE || threads < 2) {
        sort_from(h->of, h->n, TOP);
    } else {
        spread(h->of, h->n, TOP, s.end);
        blm__threads_run(threads, sort_shares, &s);
    }
    for (size_t i = 0; i < h->n; i++)
        if (n == 0 || h->of[i] != h->of[n - 1])
            h->of[n++] = h->of[i];
    h->n = n;
}

bool blm__hashes_meet(const struct blm__hashes *a, const struct blm__hashes *b, uint64_t *hash)
{
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        if (a->of[i] == b->of[j]) {
            *hash = a->of[i];
            return true;
        }
        if (a->of[i] < b->of[j])
            i++;
        else
            j++;
    }
    return false;
}
