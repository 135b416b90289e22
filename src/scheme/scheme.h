/* SPDX-License-Identifier: MIT */
/* A scheme is the rule from a key to its positions. Each has a file and a row in scheme.c. */
#ifndef BLM_SCHEME_SCHEME_H
#define BLM_SCHEME_SCHEME_H

#include "bloomery/maths.h"
#include "core/keys.h"

/* How a filter of this scheme is made smaller without its keys (blm_fold). */
enum blm__fold_rule {
    BLM__FOLD_NONE,
    BLM__FOLD_ADJACENT, /* multiply-shift reduction: neighbouring units are joined */
    BLM__FOLD_STRIDED   /* modulo reduction: units m/factor apart are joined */
};

struct blm__scheme {
    blm_scheme_row row; /* what blm_scheme_at shows */
    uint32_t       version;
    bool           native;     /* digest.w[0] is a 64-bit hash: chains, lines and kernels apply */
    bool           exchanges;  /* adds change earlier keys' cells in place: kept in memory only */
    bool           no_probes;  /* k = 0 is allowed: such a filter answers "maybe" to everything */
    bool           one_probe;  /* plan takes bits without probes, as one probe */
    bool           variants;   /* plan takes options.variant; others refuse all but 0 */
    bool           short_seed; /* its seed has 32 bits */
    bool           per_probe;  /* hashes once per probe: w[26] of a digest is how many probes */
    uint32_t       seeded_probes;  /* with a seed it has at most so many probes; 0: as without */
    uint64_t       digest_variant; /* the bits of shape.variant that a digest depends on */
    uint64_t       fixed_variant;  /* those that say that it may not grow */
    const char    *missing; /* a library that it needs and this build was made without; or NULL */
    blm_model      model;   /* of its probes, for the rate */
    enum blm__fold_rule fold;
    uint32_t            fold_unit; /* in cells; positions inside a unit stay */
    uint32_t            layers;    /* most layers in memory; 0: BLM__MAX_LAYERS, as in a file */

    /* From key to digest. k: probes, for schemes that hash once per probe. Fills d->w, not
     * d->tag. */
    void (*digest)(const struct blm__hasher *h, uint32_t k, const void *key, size_t len,
                   blm_digest *d);
    /* From digest to positions: exactly shape->probes of them. NULL: native, where engines do it. */
    void (*positions)(const struct blm__shape *s, const blm_digest *d, uint64_t *out);
    /* The values before they are reduced. NULL: the scheme has none. */
    bool (*positions_raw)(const struct blm__shape *s, const blm_digest *d, uint64_t *out);
    /* If a position is its raw value modulo one number: that number, never 0. A batch then does not
     * call positions(). NULL: it is not. */
    uint64_t (*modulus)(const struct blm__shape *s);
    /* If, besides, raw value i is start + i·step mod 2^wrap: that wrap, and start and step of many
     * keys at once. A batch then needs no digests (core/kernel/steps.h). 0 and NULL: it is not. */
    uint8_t wrap;
    void (*pairs)(const struct blm__hasher *h, const struct blm__kernel *v,
                  const struct blm__keys *keys, size_t n, uint64_t *start, uint64_t *step);
    /* From one raw value to a position; NULL if positions_raw is. */
    uint64_t (*reduce)(const struct blm__shape *s, uint64_t raw);

    /* From options to a shape, sized as the original would: fills bits, probes, capacity, rate,
     * variant, aux (kind, rule, scheme, cell_bits are set already), and in b what concerns the
     * whole filter (growth, rate, hasher.seed). NULL: the kind plans, as for native. */
    blm_status (*plan)(const blm_options *o, struct blm__body *b, struct blm__shape *out,
                       blm_error *err);
    /* Scalable: the shape of the layer after the last one; E_FULL: it may not grow. NULL: the
     * native rule (growth, tightening). */
    blm_status (*grow)(const struct blm__body *b, struct blm__shape *out, blm_error *err);
    /* Probes a + i·b: the share of what BLM_MODEL_DOUBLE adds to independent probes that is left after this
     * scheme's sums have wrapped around, as measured (docs/maths.md); the second for an m that is a power of
     * two, where wrapping changes nothing. 0: other probes. */
    double in_step[2];
    /* How many keys set this share of the bits, and by how much the variance of the bits that another one adds,
     * divided by the square of their mean, is above that of independent probes. spread may be NULL; −1: all that
     * probes lead to are set, by any number of keys from there on. NULL: −ln(1 − fill)·m/k, and 0. */
    double (*keys)(const struct blm__shape *s, double fill, double *spread);
    /* The rate now, if it is not fill^k (Parquet's blocks). NULL: fill^k. Keys in step are
     * not counted here, nor in rate_at. */
    double (*rate_now)(const struct blm__layer *l, uint64_t ones);
    /* The rate of a shape with n keys in it. NULL: `model` gives it. */
    double (*rate_at)(const struct blm__shape *s, uint64_t n);
    /* How many different hashes a key has on average, and their variance divided by the square of
     * that. NULL: one a probe. */
    double (*throws)(const struct blm__shape *s, double *spread);
    /* How many cells a probe can reach. NULL: all. */
    uint64_t (*reach)(const struct blm__shape *s);
    /* Why no filter of this scheme can have such a shape; NULL: it can. Every layer that comes from
     * a file is checked by this before positions() sees it, which may rely on that. */
    const char *(*fault)(const struct blm__shape *s);
    /* What a user should know about a shape that is allowed (blm_params.notice); or NULL. */
    const char *(*notice)(const struct blm__shape *s);
};

/* How many layers a filter of this scheme may have, in memory or in a file. */
static inline uint32_t blm__most_layers(const struct blm__body *b, const struct blm__scheme *s)
{
    bool file = b->store->backing == BLM_FILE_READ || b->store->backing == BLM_FILE_WRITE;
    return s->layers && !file ? s->layers : BLM__MAX_LAYERS;
}

uint64_t blm__shape_reach(const struct blm__shape *s);
/* For schemes that reduce their raw values modulo m: modulus, reduce and positions. */
uint64_t blm__modulus_m(const struct blm__shape *s);
uint64_t blm__reduce_m(const struct blm__shape *s, uint64_t raw);
void     blm__positions_m(const struct blm__shape *s, const blm_digest *d, uint64_t *out);

const struct blm__scheme *blm__scheme_find(const char *name); /* NULL name: native; NULL: unknown */
extern const struct blm__scheme blm__scheme_native;
extern const struct blm__scheme blm__scheme_guava64, blm__scheme_guava32, blm__scheme_go,
    blm__scheme_spark1, blm__scheme_spark2, blm__scheme_dcso, blm__scheme_dcso01;
extern const blm_scheme_row     blm__alias_guava, blm__alias_spark;
extern const struct blm__scheme blm__scheme_bip37, blm__scheme_parquet, blm__scheme_redisbloom,
    blm__scheme_redisbloom_cf, blm__scheme_byteslot, blm__scheme_polynomial, blm__scheme_md5_cat,
    blm__scheme_md5_or, blm__scheme_fnv_murmur, blm__scheme_bkdr, blm__scheme_js, blm__scheme_rs,
    blm__scheme_bkdr_js_rs, blm__scheme_functions;

/* E_ARGUMENT if a variant is asked of a scheme that has none. */
blm_status blm__check_variant(const struct blm__scheme *s, const blm_options *o, blm_error *err);
/* Fills hasher->variant and then hasher->tag, from the rest and a layer's shape. */
void blm__hasher_tag(struct blm__hasher *h, const struct blm__shape *s);

/* From this version of the native scheme on, hash xxh3 is keyed (core/hash/keyed.h). SipHash and
 * custom hashes are of version 1: nothing has changed for them. */
#define BLM__NATIVE_KEYED 2u
/* What hashing needs, from the hasher's hash, version, seed and funnel: the secret, the tag. A secret
 * that was there is freed: clear that of a copied hasher. False: no memory. */
bool blm__hasher_ready(struct blm__body *b, const struct blm__shape *first);
/* The native 64-bit hash of a key; of many; of many of one width, side by side. */
uint64_t blm__native_hash(const struct blm__hasher *h, const void *key, size_t len);
void     blm__native_hash_many(const struct blm__hasher *h, const struct blm__kernel *v,
                               const blm_key *keys, size_t n, uint64_t *out);
void     blm__native_hash_fixed(const struct blm__hasher *h, const struct blm__kernel *v,
                                const void *keys, size_t width, size_t n, uint64_t *out);

#endif
