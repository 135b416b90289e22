/* SPDX-License-Identifier: MIT */
/*
 * A kind is policy over layers: how many there are, which of them a key goes to and is looked for
 * in, what happens when one is full. How a layer keeps its cells is its engine's business
 * (engine/engine.h). One file and one row of BLM_KIND_MAP (bloomery.h) each.
 *
 * Kinds of one layer share kind/single.c, and add only how they are planned.
 */
#ifndef BLM_KIND_KIND_H
#define BLM_KIND_KIND_H

#include "bloomery/maths.h"
#include "engine/engine.h"

/* Why growth and BLM_SHARED do not go together, in kinds that have both. */
#define BLM__GROWS_ALONE                                                             \
    "a cuckoo filter that grows cannot be shared between threads: give it its full " \
    "size, or use a lock of your own"

struct blm__kind {
    blm_kind_row row;   /* what blm_kind_at shows */
    bool         words; /* may be made over a caller's words */
    /* How many layers it has at most, where it does not grow; 0: one. */
    uint32_t layers;
    /* A key must be in every layer; else in any one. */
    bool every;
    /* It promises more than "no" for some keys: a file of it is verified when it is opened. */
    bool certain;

    /* Options (native scheme) to plan. Pure. */
    blm_status (*plan)(const blm_options *o, blm_plan *out, blm_error *err);
    /* Plan to the shape of the first layer (bits, probes, …; the caller fills scheme, capacity and
     * rate), and what is body-wide (growth, …). */
    void (*shape)(const blm_options *o, const blm_plan *p, struct blm__body *b,
                  struct blm__shape *out);
    /* The options of a filter that is to live in a file, changed where that matters; NULL: it does
     * not. */
    void (*in_file)(blm_options *o);
    /* options.like: what b takes from another filter beside its first layer's shape. NULL:
     * nothing. */
    void (*like)(struct blm__body *b, const struct blm__body *other,
                 const struct blm__shape *first);
    /* Why this body, its layers filled, is no filter of the kind; for decoders. NULL: it is one. */
    const char *(*fault)(const struct blm__body *b, bool native);

    /* A file, or decoded bytes, have become this body. NULL: nothing to do. */
    void (*opened)(struct blm__body *b);

    /* Hashed keys, at most BLM__BATCH. Adds in order; *done were added when it fails. NULL: it is
     * built at once (api/builder.c), as are its shapes. */
    blm_status (*add)(struct blm__body *b, const struct blm__keys *k, uint8_t *fresh, size_t *done);
    size_t (*check)(const struct blm__body *b, const struct blm__keys *k, uint8_t *maybe);
    /* The same of any number of keys, raw or hashed, where the kind has a loop for several layers; NULL:
     * there is none. */
    size_t (*check_raw)(const struct blm__body *b, const struct blm__keys *k, uint8_t *maybe);
    bool (*check_one)(const struct blm__body *b, uint64_t h); /* native schemes */
    /* In order; gone[i]: one add of key i was taken back. Returns how many. NULL: never forgets. */
    size_t (*remove)(struct blm__body *b, const struct blm__keys *k, uint8_t *gone);
    /* How many adds may pass the kind by and go straight to the only layer (blm__only_layer). */
    uint64_t (*room)(const struct blm__body *b);

    /* Both have the same parameters; those that grow only the rule by which keys find their
     * cells. */
    blm_status (*unite)(struct blm__body *dst, const struct blm__body *src, blm_error *err);
    blm_status (*intersect)(struct blm__body *dst, const struct blm__body *src, blm_error *err);
    /* Layer 0 of an earlier and of a later snapshot of one filter: may the layer have been replaced
     * meanwhile? NULL: never. */
    bool (*replaced)(const struct blm__shape *earlier, const struct blm__shape *later);
    /* The modelled rate when the filter holds n keys. */
    blm_status (*rate_at)(const struct blm__body *b, uint64_t n, double *rate);
    /* The growth that blm_params tells. NULL: body.growth. */
    double (*growth)(const struct blm__body *b);

    /* What the layers' sums do not say of the whole; s may be NULL. NULL: they say it. */
    void (*totals)(const struct blm__body *b, blm_params *p, blm_stats *s);

    /* body.state, where a kind keeps what is its own. NULL: it keeps nothing, or there is nothing
     * to do. clear: the first layer is empty, and the only one (dropped: there were others).
     * changed: somebody wrote cells behind the kind's back. kept: blm_params.kept. memory: all bytes
     * beside the layers. */
    void (*clear)(struct blm__body *b, bool dropped);
    void (*copy)(struct blm__body *to, const struct blm__body *from);
    void (*changed)(struct blm__body *b);
    void (*move)(struct blm__body *b, const struct blm__mover *m);
    uint64_t (*kept)(const struct blm__body *b);
    uint64_t (*memory)(const struct blm__body *b);
    void (*close)(struct blm__body *b);
};

/* Has it, or may it get, several layers? Some kinds always, others if they were asked to. */
static inline bool blm__grows(const struct blm__body *b)
{
    return (b->ops->row.can & BLM_CAN_GROW) || b->growth != 0;
}

/* The layer that answers alone, so that checks may pass the kind by; NULL: there are several, or, as
 * a reader of a file learns only by asking, may be. */
static inline struct blm__layer *blm__only_layer(const struct blm__body *b)
{
    bool alone = !b->store->stale || !(blm__grows(b) || b->snapshot);
    return b->layer_count == 1 && alone ? b->layers : NULL;
}

const struct blm__kind *blm__kind_of(blm_kind k); /* NULL: no such kind */

/* Files and deltas hold a kind's number: its value less one. */
static inline uint32_t blm__kind_number(blm_kind k) { return (uint32_t)k - 1; }
/* NULL: no kind has this number. */
const struct blm__kind *blm__kind_numbered(uint32_t number);

/* BLM_OK when the layers and the body-wide values go together; for decoders, at the end. */
blm_status blm__body_valid(const struct blm__body *b, bool native, uint64_t offset, blm_error *err);

/* ---- one key: kind/one.c ---- */

/* Chooses body.check_key and add_key: when kind, scheme, hash, sharing and the first layer's shape
 * are known. */
void blm__body_singles(struct blm__body *b, const struct blm__shape *first);
/* One key as the engines take it: in `room` of one key. */
struct blm__one {
    uint64_t         h, step;
    blm_digest       d;
    struct blm__keys keys;
};
void blm__hash_one(const struct blm__body *b, const void *key, size_t len, struct blm__one *out);
blm_status blm__add_one(struct blm__body *b, const struct blm__keys *one);

/* ---- kinds of one layer: kind/single.c ---- */

/* What such a kind names in its table; one that differs in a hook names them all itself. */
#define BLM__SINGLE_KIND                                                                          \
    .fault = blm__single_fault, .add = blm__single_add, .check = blm__single_check,               \
    .check_one = blm__single_check_one, .room = blm__single_room, .rate_at = blm__single_rate_at, \
    .unite = blm__single_unite, .intersect = blm__single_intersect

const char *blm__single_fault(const struct blm__body *b, bool native);
blm_status  blm__single_add(struct blm__body *b, const struct blm__keys *k, uint8_t *fresh,
                            size_t *done);
size_t      blm__single_check(const struct blm__body *b, const struct blm__keys *k, uint8_t *maybe);
bool        blm__single_check_one(const struct blm__body *b, uint64_t h);
size_t      blm__single_remove(struct blm__body *b, const struct blm__keys *k, uint8_t *gone);
uint64_t    blm__single_room(const struct blm__body *b);
blm_status  blm__single_rate_at(const struct blm__body *b, uint64_t n, double *rate);
blm_status  blm__single_unite(struct blm__body *dst, const struct blm__body *src, blm_error *err);
blm_status  blm__single_intersect(struct blm__body *dst, const struct blm__body *src,
                                  blm_error *err);

#endif
