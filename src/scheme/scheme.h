/* SPDX-License-Identifier: MIT */
/* A scheme is the rule from key to positions. One file and one row in scheme.c each. */
#ifndef BLM_SCHEME_SCHEME_H
#define BLM_SCHEME_SCHEME_H

#include "bloomery/maths.h"
#include "core/body.h"

/* How a filter of this scheme can be made smaller without its keys (blm_fold). */
enum blm_fold_rule {
    BLM__FOLD_NONE,
    BLM__FOLD_ADJACENT, /* multiply-shift reduction: neighbouring units meet */
    BLM__FOLD_STRIDED   /* modulo reduction: units m/factor apart meet */
};

/* Keys side by side: a list, or, where that is NULL, `width` bytes each. */
struct blm_key_array {
    const blm_key *list;
    const uint8_t *fixed;
    size_t         width;
};
static inline blm_key blm__key_at(const struct blm_key_array *k, size_t i)
{
    if (k->list)
        return k->list[i];
    blm_key key = { k->fixed + i * k->width, k->width };
    return key;
}

struct blm_scheme {
    blm_scheme_row row; /* what blm_scheme_at shows */
    uint32_t       version;
    bool           native;    /* digest.w[0] is a 64-bit hash: chains, lines and kernels apply */
    bool           no_probes; /* k = 0 is allowed: such a filter answers "maybe" to everything */
    bool           per_probe; /* hashes once a probe: digests hold w[26] = how many probes */
    uint64_t       digest_variant; /* bits of shape.variant that a digest depends on */
    uint64_t       fixed_variant;  /* bits of it that say: it may not grow */
    const char    *missing; /* a library this build was made without and the scheme needs; NULL */
    blm_model      model;   /* of its probes, for the rate */
    enum blm_fold_rule fold;
    uint32_t           fold_unit; /* in cells; positions inside a unit stay */
    uint32_t           layers;    /* most layers in memory; 0: BLM__MAX_LAYERS, as in a file */

    /* Key to digest. k: probes, for schemes that hash once a probe. Fills d->w, not d->tag. */
    void (*digest)(const struct blm_hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d);
    /* Digest to positions: exactly shape->probes of them (native lines: lines × probes). */
    void (*positions)(const struct blm_shape *s, const blm_digest *d, uint64_t *out);
    /* Before reduction. NULL: the scheme has no such thing. */
    bool (*positions_raw)(const struct blm_shape *s, const blm_digest *d, uint64_t *out);
    /* Where a position is its raw value modulo one number: that number, never 0. Then a batch does
     * without positions(). NULL: it is not. */
    uint64_t (*modulus)(const struct blm_shape *s);
    /* Where moreover raw value i is start + i·step mod 2^wrap, from two words of a key: that wrap,
     * and those words, for many keys at once. Then a batch does without digests
     * (core/kernel/steps.h). 0 and NULL: it is not so. */
    uint8_t wrap;
    void (*pairs)(const struct blm_hasher *h, const struct blm_kernel *v,
                  const struct blm_key_array *keys, size_t n, uint64_t *start, uint64_t *step);
    /* One raw value to a position; NULL when positions_raw is. */
    uint64_t (*reduce)(const struct blm_shape *s, uint64_t raw);

    /* Options to shape, sized as the original sizes: fills bits, probes, capacity, rate, variant,
     * aux (kind, engine, scheme, cell_bits are set already) and in b what is body-wide (growth,
     * rate, hasher.seed from options). NULL: the kind plans, as for native. */
    blm_status (*plan)(const blm_options *o, struct blm_body *b, struct blm_shape *out,
                       blm_error *err);
    /* Scalable chains: the shape of the layer after the last one; E_FULL: it may not grow.
     * NULL: the native rule (growth, tightening). */
    blm_status (*grow)(const struct blm_body *b, struct blm_shape *out, blm_error *err);
    /* The rate the bits give now, where fill^k is not it (parquet's blocks). NULL: fill^k. */
    double (*rate_now)(const struct blm_layer *l);
    /* The rate of a shape with n keys in it, where `model` does not give it. NULL: it does. */
    double (*rate_at)(const struct blm_shape *s, uint64_t n);
    /* Cells that a probe can reach, where that is not all of them. NULL: all. */
    uint64_t (*reach)(const struct blm_shape *s);
    /* Why no filter of this scheme has such a shape: asked of every layer that comes from a file,
     * before positions() sees it, which may then rely on the answer. NULL: nothing to object. */
    const char *(*fault)(const struct blm_shape *s);
    /* What a user should know about a shape that is allowed (blm_params.notice). */
    const char *(*notice)(const struct blm_shape *s);
};

/* Most layers that a filter of this scheme may have where the body keeps them. */
static inline uint32_t blm__most_layers(const struct blm_body *b, const struct blm_scheme *s)
{
    bool file = b->store->backing == BLM_FILE_READ || b->store->backing == BLM_FILE_WRITE;
    return s->layers && !file ? s->layers : BLM__MAX_LAYERS;
}

uint64_t blm__shape_reach(const struct blm_shape *s);
/* layer.steps, for schemes that have a wrap: the store's last touch to a new layer. */
void blm__layer_steps(struct blm_layer *l);
/* scheme.modulus of those that reduce modulo m. */
uint64_t blm__modulus_m(const struct blm_shape *s);

const struct blm_scheme *blm__scheme_find(const char *name); /* NULL name: native; NULL: unknown */
extern const struct blm_scheme blm__scheme_native;
extern const struct blm_scheme blm__scheme_guava64, blm__scheme_guava32, blm__scheme_go,
    blm__scheme_spark1, blm__scheme_spark2, blm__scheme_dcso, blm__scheme_dcso01;
extern const blm_scheme_row    blm__alias_guava, blm__alias_spark;
extern const struct blm_scheme blm__scheme_bip37, blm__scheme_parquet, blm__scheme_redisbloom,
    blm__scheme_byteslot, blm__scheme_polynomial, blm__scheme_md5_cat, blm__scheme_md5_or,
    blm__scheme_fnv_murmur, blm__scheme_bkdr, blm__scheme_js, blm__scheme_rs,
    blm__scheme_bkdr_js_rs, blm__scheme_functions;

/* Fills hasher->variant and then hasher->tag, from the rest and a layer's shape. */
void blm__hasher_tag(struct blm_hasher *h, const struct blm_shape *s);
/* The native 64-bit hash of a key; of many; of many of one width, side by side. */
uint64_t blm__native_hash(const struct blm_hasher *h, const void *key, size_t len);
void     blm__native_hash_many(const struct blm_hasher *h, const struct blm_kernel *v,
                               const blm_key *keys, size_t n, uint64_t *out);
void     blm__native_hash_fixed(const struct blm_hasher *h, const struct blm_kernel *v,
                                const void *keys, size_t width, size_t n, uint64_t *out);

#endif
