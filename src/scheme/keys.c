/* SPDX-License-Identifier: MIT */
#include "scheme/keys.h"

#include "core/bits.h"

BLM__INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

BLM__INLINE size_t good_keys(const blm_key *list, size_t n)
{
    size_t i = 0;
    while (i < n && (list[i].data || !list[i].len))
        i++;
    return i;
}

static size_t good_digests(const struct blm__body *b, const blm_digest *d, size_t n)
{
    const uint64_t tag  = b->hasher.tag;
    const uint64_t need = b->scheme->per_probe ? b->layers[0].shape.probes : 0;
    size_t         i    = 0;
    while (i < n && d[i].tag == tag && (!need || d[i].w[26] >= need))
        i++;
    return i;
}

size_t blm__keys_good(const struct blm__body *b, const struct blm__keys *k)
{
    return k->list      ? good_keys(k->list, k->n)
           : k->digests ? good_digests(b, k->digests, k->n)
                        : k->n;
}

/* The hashes of native digests up to the first that is not this filter's; how many. One pass, and
 * asked for ahead, as a digest is 224 bytes and what counts is the first 16: a batch check in cache
 * takes 2.6 ns a digest where two passes that wait for each took 5.9 (Zen 3). */
#define DIGESTS_AHEAD 8u
static size_t digest_hashes(const struct blm__body *b, const blm_digest *d, size_t n, uint64_t *h)
{
    const uint64_t tag = b->hasher.tag;
    for (size_t i = 0; i < n; i++) {
        if (i + DIGESTS_AHEAD < n)
            BLM__PREFETCH(&d[i + DIGESTS_AHEAD]);
        if (d[i].tag != tag)
            return i;
        h[i] = d[i].w[0];
    }
    return n;
}

static void hash_native(const struct blm__body *b, const struct blm__keys *k, size_t at, size_t n,
                        const struct blm__hash_room *room, struct blm__keys *out)
{
    n           = least(n, room->words);
    out->hashes = room->hashes;
    if (k->digests) {
        n = digest_hashes(b, k->digests + at, n, room->hashes);
    } else if (k->hashes) {
        out->hashes = k->hashes + at;
    } else if (k->list) {
        n = good_keys(k->list + at, n);
        blm__native_hash_many(&b->hasher, b->kernel, k->list + at, n, room->hashes);
    } else {
        blm__native_hash_fixed(&b->hasher, b->kernel, k->fixed + at * k->width, k->width, n,
                               room->hashes);
    }
    out->n = n;
}

static void hash_steps(const struct blm__body *b, const struct blm__keys *k, size_t at, size_t n,
                       const struct blm__hash_room *room, struct blm__keys *out)
{
    n = least(n, room->words);
    if (k->steps) {
        out->hashes = k->hashes + at;
        out->steps  = k->steps + at;
    } else {
        struct blm__keys part = blm__keys_part(k, at, n);
        n                     = part.list ? good_keys(part.list, n) : n;
        b->scheme->pairs(&b->hasher, b->kernel, &part, n, room->hashes, room->steps);
        out->hashes = room->hashes;
        out->steps  = room->steps;
    }
    out->n = n;
}

/* As a caller would bring them: they say whose they are. */
static void make_digests(const struct blm__body *b, const struct blm__keys *k, size_t at, size_t n,
                         blm_digest *d)
{
    uint32_t probes = b->layers[0].shape.probes;
    for (size_t i = 0; i < n; i++) {
        blm_key key = blm__key_at(k, at + i);
        b->scheme->digest(&b->hasher, probes, key.data ? key.data : "", key.len, &d[i]);
        d[i].tag = b->hasher.tag;
        if (b->scheme->per_probe)
            d[i].w[26] = probes;
    }
}

static void hash_digests(const struct blm__body *b, const struct blm__keys *k, size_t at, size_t n,
                         const struct blm__hash_room *room, struct blm__keys *out)
{
    n = least(n, room->digest_count);
    if (k->digests) {
        out->digests = k->digests + at;
        out->n       = good_digests(b, out->digests, n);
        return;
    }
    out->digests = room->digests;
    out->n       = k->list ? good_keys(k->list + at, n) : n;
    make_digests(b, k, at, out->n, room->digests);
}

size_t blm__keys_hash(const struct blm__body *b, const struct blm__keys *k, size_t at, size_t end,
                      const struct blm__hash_room *room, struct blm__keys *out)
{
    size_t n = end - at;
    *out     = (struct blm__keys){ .n = 0 };
    if (b->scheme->native)
        hash_native(b, k, at, n, room, out);
    else if (b->scheme->wrap && !k->digests)
        hash_steps(b, k, at, n, room, out);
    else
        hash_digests(b, k, at, n, room, out);
    return out->n;
}
