/* SPDX-License-Identifier: MIT */
/*
 * An engine is how one layer finds and keeps its cells. It is chosen once, when the layer is made;
 * nobody else asks what a layer is. One file and one row in engine.c each.
 *
 *   chain       native   bits anywhere in the layer
 *   lines       native   bits in one to three lines of 64 bytes
 *   short       native   bits in lines of 16 bytes: what blm_reduce makes of counters
 *   counters    native   four-bit counters in lines of 64 bytes
 *   positions   others   bits where the scheme's positions say
 *   steps       others   the same, where position i is (a + i·b) mod m
 *   tallies     others   four-bit counters where the scheme's positions say
 *   ages        native   bits in words that say of which turn they are: windows
 *   buckets     native   fingerprints in buckets of four
 *   slots       others   fingerprints of a byte, in buckets of any size: RedisBloom's CF
 *   fuse        native   fingerprints that three cells add up to: built at once, never added to
 *
 * Engines know layers, keys and kernels. What layers are for, and how many there are, is the kind's
 * business (kind/kind.h).
 */
#ifndef BLM_ENGINE_ENGINE_H
#define BLM_ENGINE_ENGINE_H

#include "bloomery/maths.h"
#include "core/body.h"
#include "core/error.h"
#include "core/kernel/kernel.h"
#include "core/keys.h"
#include "scheme/scheme.h"

/* How large adds to a layer can be sorted by the part of the layer they fall into (api/bulk.c). */
enum blm__sorting {
    BLM__SORTS_NOT,
    BLM__SORTS_BITS, /* bit by bit: probes as in a chain */
    BLM__SORTS_LINES /* key by key, where a key has one line */
};

/* Fingerprints that were looked at: each is one time that a key was added. */
struct blm__prints {
    double all, differ; /* how many; without those that are there again */
    double begin;       /* buckets in which a key may begin to be passed for one of them */
};

struct blm__engine {
    const char *name;

    /* Which layers have it: those of this rule and cells of this width (0: of cell_most and below,
     * down to cell_least). steps: … whose scheme steps (scheme.wrap); the row stands before the one
     * without. */
    enum blm__rule rule;
    uint32_t       cell_bits, cell_least, cell_most;
    bool           steps;
    bool           native; /* its keys come as native hashes */
    blm_model      model;  /* of its probes, where it is native; else the scheme's */
    uint32_t       kinds;  /* bit per blm_kind that a layer of it may say it is */

    enum blm__sorting sorting;
    bool              stretches; /* threads can each own a stretch of its lines (api/split.c) */
    bool              flows;     /* keys can come and answers go one by one (api/flow.c) */

    /* What the layer needs worked out before its first key; NULL: nothing. */
    void (*ready)(struct blm__layer *l);

    /* Adds hashed keys in order, at most BLM__BATCH, and counts them; fresh[i]: key i changed a
     * cell from unused to used. Returns how many did. */
    size_t (*add)(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  uint8_t *fresh);
    size_t (*check)(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe);
    /* One native hash; NULL: it has none. */
    bool (*check_one)(const struct blm__body *b, const struct blm__layer *l, uint64_t h);
    /* In order; gone[i]: key i may have been there, and one add of it was taken back. Returns how
     * many. NULL: it never forgets. */
    size_t (*remove)(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                     uint8_t *gone);

    /* Of engines whose cells each hold one key's fingerprint, in place of add and remove, as a layer
     * may be full; else NULL. Key i of k. place: into a free cell; move: or one made free by moving
     * others. False: there is none, and nothing changed. take: out of one cell. copies: how many
     * cells may be this key's. None of them counts items. place_many: all of k in order, with moves;
     * fresh[i]: no cell had key i. It stops at the first that finds no cell, or has most_copies, and
     * says how many it placed. NULL: one by one. */
    bool (*place)(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  size_t i, bool move);
    size_t (*place_many)(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                         uint8_t *fresh);
    bool (*take)(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                 size_t i);
    uint32_t (*copies)(const struct blm__body *b, const struct blm__layer *l,
                       const struct blm__keys *k, size_t i);
    void (*fetch)(const struct blm__layer *l, const struct blm__keys *k); /* for all of them */
    void (*removed)(struct blm__body *b); /* what the original does after each take; or NULL */
    bool     moves;       /* place does, beside readers: docs/formats/native.md, "Moves" */
    uint32_t most_copies; /* of one key that a layer may take; 0: any number */

    /* Keys to answers in one loop: for raw or hashed keys that `takes` says yes to, any number, and a
     * layer that alone is asked. Adds count, and are exclusive; NULL where the kind knows of no room
     * (kind.room). takes NULL: there is no such loop. */
    bool (*takes)(const struct blm__body *b, const struct blm__layer *l, const struct blm__keys *k);
    size_t (*add_raw)(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                      uint8_t *fresh);
    size_t (*check_raw)(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, uint8_t *maybe);
    /* As place_many, of raw keys, and counts them; it may stop at any key, the first too, which then
     * goes through the kind. NULL: all do. */
    size_t (*place_raw)(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                        uint8_t *fresh);

    /* Better single calls than the long way (kind/one.c): replaces what is there already in
     * b->check_key and b->add_key. only: the body has one layer, of shape s, and never another;
     * otherwise b->check_key must ask all layers. NULL: there are none. */
    void (*singles)(struct blm__body *b, const struct blm__shape *s, bool only);
    /* b->quick, of the first layer, for them. NULL: they do not look there. */
    void (*quick)(struct blm__body *b, struct blm__quick *q);

    /* The cells of a key, in probe order; for blm_positions and what is built on it. raw: the
     * 64-bit values before they are brought below m. False: there is no such thing. */
    bool (*positions)(const struct blm__shape *s, const blm_digest *d, bool raw, uint64_t *out);
    /* For layers of which only a few bytes can be read (api/far.c), where positions are no answer:
     * the cells that decide about a native hash, and whether these values of theirs say that the
     * layer may have it. NULL: every cell of `positions` must be in use; if that is NULL too, more
     * than cells decide. */
    uint32_t deciders; /* how many */
    /* Words before the cells that say where a key's cells are: they are read beforehand, and are the
     * layer's words then. NULL: there are none. */
    uint64_t (*guides)(const struct blm__shape *s);
    void (*deciding)(const struct blm__layer *l, uint64_t h, uint64_t *cell);
    bool (*decides)(const struct blm__layer *l, uint64_t h, const uint64_t *value);
    /* Marks a cell as used by one more key: blm_add_positions. 1: it was unused. */
    unsigned (*use)(const struct blm__body *b, struct blm__layer *l, uint64_t cell);

    /* Numbers. */
    /* Looks at fingerprints, at all of them or at some that are evenly spread. NULL: a cell is none. */
    void (*prints)(const struct blm__layer *l, struct blm__prints *p);
    uint64_t (*ones)(const struct blm__layer *l, const struct blm__kernel *v); /* cells in use */
    uint64_t (*cells)(const struct blm__shape *s); /* … of how many; NULL: shape.bits */
    uint64_t (*items)(const struct blm__layer *l); /* keys it has now; NULL: as counted */
    void (*estimate)(const struct blm__layer *l, blm_estimate *out); /* NULL: by ones and probes */
    /* … in either of two layers of one shape. */
    uint64_t (*ones_or)(const struct blm__layer *a, const struct blm__layer *b,
                        const struct blm__kernel *v);
    uint64_t (*stuck)(const struct blm__layer *l); /* saturated counters; NULL: it has none */
    double (*rate_now)(const struct blm__layer *l, uint64_t ones);
    double (*rate_at)(const struct blm__shape *s, uint64_t n);

    /* Whole layers. dst becomes what both together, or what both have in common, for n words. NULL:
     * the kind has something of its own, or nothing. */
    void (*unite)(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src, uint64_t n);
    void (*intersect)(const struct blm__kernel *v, uint64_t *dst, const uint64_t *src, uint64_t n);
    /* Into zeroed words of the smaller shape; the scheme says whether that is possible. */
    void (*fold)(const struct blm__layer *from, uint64_t factor, struct blm__layer *to);
    /* Counters to the plain bits with the same answers: the shape, and the words into zeroed ones.
     * NULL: it has none. */
    void (*reduced)(struct blm__shape *s);
    void (*reduce)(const struct blm__layer *from, struct blm__layer *to);
};

/* The engine of layers of this shape; NULL: there is none, the shape is not valid. */
const struct blm__engine *blm__engine_of(const struct blm__shape *s);

/* For stores, the last touch to a new layer: gives it its engine. */
void blm__layer_ready(struct blm__layer *l);
/* b->quick: whoever makes, moves or opens layers, or changes read_only, must call it. */
void blm__body_ready(struct blm__body *b);

/* Before bits of the layer that are in use are overwritten. False: they must stay. */
static inline bool blm__save(const struct blm__body *b, const struct blm__layer *l, uint64_t bit,
                             uint64_t bits)
{
    return !b->store->save || b->store->save(b, l, bit, bits);
}
/* It was for this reason that a key could not be placed, or taken. */
static inline bool blm__save_failed(const struct blm__body *b)
{
    return b->layers[0].engine->moves && b->store->broken && b->store->broken(b);
}

/* Of one layer, by its engine: */
static inline uint64_t blm__layer_ones(const struct blm__layer *l, const struct blm__kernel *v)
{
    return l->engine->ones(l, v);
}
double blm__layer_rate_now(const struct blm__layer *l, uint64_t ones);
/* What probes that are in step with those of other keys add to a rate, with n keys or so many bits set
 * (docs/maths.md, Double hashing); 0 where the scheme has none. */
double blm__in_step(const struct blm__shape *s, uint64_t n);
double blm__in_step_now(const struct blm__shape *s, uint64_t ones);
/* Estimates of separate cells add up; their errors as squares. */
void blm__estimate_add(blm_estimate *sum, const blm_estimate *e);
/* Keys that it holds now. */
static inline uint64_t blm__layer_holds(const struct blm__layer *l)
{
    return l->engine->items ? l->engine->items(l) : blm__layer_items(l);
}
/* The modelled rate of a shape with n keys in it, and by which model. */
double    blm__shape_rate(const struct blm__shape *s, uint64_t n);
blm_model blm__shape_model(const struct blm__shape *s);
/* The same with the ends made safe: 0 without keys, 1 without probes, never above 1. */
double blm__layer_model(const struct blm__shape *s, uint64_t n);
/* Cells that a fold moves together: a line, or what the scheme says. */
uint64_t blm__fold_unit(const struct blm__shape *s);
/* Is this cell in use? And how many of from … to − 1 are. */
bool     blm__cell_used(const struct blm__layer *l, uint64_t cell);
uint64_t blm__cells_used(const struct blm__layer *l, uint64_t from, uint64_t to);

#endif
