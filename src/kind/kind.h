/* SPDX-License-Identifier: MIT */
/* A kind is how positions are kept and asked. One file and one row in kind.c each. */
#ifndef BLM_KIND_KIND_H
#define BLM_KIND_KIND_H

#include "bloomery/maths.h"
#include "core/body.h"
#include "core/kernel/kernel.h"

/* Hashed keys, at most BLM__BATCH: 64-bit hashes for native schemes; two words where positions are
 * steps from one by the other (scheme.wrap); digests for other schemes, and where a caller brings
 * them. */
struct blm_batch {
    const uint64_t   *h;    /* native hashes, or the words that steps start from; else NULL */
    const uint64_t   *step; /* beside h: by what they go on; NULL: h is native */
    const blm_digest *d;    /* in place of h */
    size_t            n;
    const uint16_t   *pick; /* key i is d[pick[i]]; NULL: d[i]. Only layers of scalable meet it */
};

struct blm_kind_ops {
    const char  *name;
    blm_kind     id;
    bool         shares; /* BLM_SHARED allowed */
    blm_kind_row row;    /* what blm_kind_at shows */

    /* Options (native scheme) to plan. Pure. */
    blm_status (*plan)(const blm_options *o, blm_plan *out, blm_error *err);
    /* Plan to the shape of the first layer (bits, probes, …; the caller fills scheme, capacity and
     * rate), and body-wide values (growth, …). */
    void (*shape)(const blm_options *o, const blm_plan *p, struct blm_body *b,
                  struct blm_shape *out);

    /* Adds in order; *done keys were added when it fails. */
    blm_status (*add)(struct blm_body *b, const struct blm_batch *k, uint8_t *fresh, size_t *done);
    size_t (*check)(const struct blm_body *b, const struct blm_batch *k, uint8_t *maybe);
    bool (*check_one)(const struct blm_body *b, uint64_t h); /* native schemes */
    /* In order; gone[i]: key i was taken out. Returns how many. NULL: never forgets. */
    size_t (*remove)(struct blm_body *b, const struct blm_batch *k, uint8_t *gone);

    blm_status (*unite)(struct blm_body *dst, const struct blm_body *src, blm_error *err);
    blm_status (*intersect)(struct blm_body *dst, const struct blm_body *src, blm_error *err);
    /* Folds one layer's words into zeroed words of the smaller shape; NULL: cannot. */
    void (*fold)(const struct blm_layer *from, uint64_t factor, struct blm_layer *to);
};

/* Of one layer, by what the layer is (layers of one filter may differ from its kind): */
uint64_t blm__layer_ones(const struct blm_layer *l, const struct blm_kernel *k); /* cells in use */
double   blm__layer_rate_now(const struct blm_layer *l, uint64_t ones);
/* The modelled rate of a shape with n keys in it. */
double blm__shape_rate(const struct blm_shape *s, uint64_t n);

/* Scalable: the next layer's keys over the last one's. body.growth, where 0 is the usual rule. */
double blm__next_growth(const struct blm_body *b);
/* Scalable: the shape of the layer that would be grown now. E_FULL, E_LIMIT: none would. */
blm_status blm__next_layer(const struct blm_body *b, struct blm_shape *out, blm_error *err);
/* Keys of the first layer where nobody said, and the filter grows by layers. */
#define BLM__FIRST_LAYER ((uint64_t)1 << 17)
#define BLM__HALF        1u /* shape.aux[0] of a layer that was young */

/* The share of the filter's rate that its first layer has: 1 − tightening, or half for one that was
 * young (shape.aux[0]). */
static inline double blm__first_share(const struct blm_shape *first, double tightening)
{
    return first->aux[0] == BLM__HALF ? 0.5 : 1 - tightening;
}

/* Scalable, young: kind/young.c */
uint64_t blm__young_first(void);               /* keys of the first layer */
uint64_t blm__young_next(uint64_t capacity);   /* of the one after it; 0: none */
void     blm__young_begin(struct blm_body *b); /* where the store can; no layers yet */
void     blm__young_keep(struct blm_body *b, const uint64_t *h, size_t n);
uint64_t blm__young_count(const struct blm_body *b); /* different hashes kept */
/* How many of h[0], h[1], … it has, up to the first that it has not. */
size_t   blm__young_known(const struct blm_body *b, const uint64_t *h, size_t n);
uint64_t blm__young_bytes(const struct blm_body *b);
/* False: it cannot, and nothing has changed. */
bool blm__young_grow(struct blm_body *b, const struct blm_shape *larger);
void blm__young_clear(struct blm_body *b);
void blm__young_copy(struct blm_body *to, const struct blm_body *from);
/* Is this the layer of a young filter, and that the same filter's when it was older? */
bool blm__young_grew(blm_kind kind, const struct blm_shape *from, const struct blm_shape *to);
void blm__young_end(struct blm_body *b); /* also when it is not */

/* Cells that a fold moves together: a line, or what the scheme says. */
uint64_t blm__fold_unit(const struct blm_shape *s);

const struct blm_kind_ops *blm__kind_ops(blm_kind k); /* NULL: no such kind */

/* Shared by the kinds that keep plain bits (classic, blocked, scalable's layers): kind/bits.c */
/* Single-layer kinds: the layer is layers[0]. */
blm_status blm__single_add(struct blm_body *b, const struct blm_batch *k, uint8_t *fresh,
                           size_t *done);
size_t     blm__single_check(const struct blm_body *b, const struct blm_batch *k, uint8_t *maybe);
bool       blm__single_check_one(const struct blm_body *b, uint64_t h);

size_t blm__bits_add(struct blm_body *b, struct blm_layer *l, const struct blm_batch *k,
                     uint8_t *fresh);
size_t blm__bits_check(const struct blm_body *b, const struct blm_layer *l,
                       const struct blm_batch *k, uint8_t *maybe);
/* … of another system's scheme: kind/positions.c */
size_t blm__positions_add(const struct blm_body *b, struct blm_layer *l, const struct blm_batch *k,
                          uint8_t *fresh);
size_t blm__positions_check(const struct blm_body *b, const struct blm_layer *l,
                            const struct blm_batch *k, uint8_t *maybe);
bool   blm__bits_check_one(const struct blm_body *b, const struct blm_layer *l, uint64_t h);
double blm__lines_rate_now(const struct blm_layer *l);  /* kind/blocked.c */
uint64_t blm__counters_ones(const struct blm_layer *l); /* kind/counting.c */
/* Up by one unless stuck; the value before. */
unsigned blm__counter_raise(struct blm_layer *l, uint64_t cell, bool shared);
uint64_t blm__counters_stuck(const struct blm_layer *l);
void     blm__counters_reduce(const struct blm_layer *from, struct blm_layer *to);
void     blm__bits_fold(const struct blm_layer *from, uint64_t factor, struct blm_layer *to);
/* dst's words become op(dst, src), piece by piece with progress: for kinds of one layer. */
blm_status blm__combine(struct blm_body *dst, const struct blm_body *src, blm_error *err,
                        void (*op)(uint64_t *, const uint64_t *, uint64_t));
blm_status blm__bits_unite(struct blm_body *dst, const struct blm_body *src, blm_error *err);
blm_status blm__bits_intersect(struct blm_body *dst, const struct blm_body *src, blm_error *err);

#endif
