/* SPDX-License-Identifier: MIT */
/*
 * The loops that must be fast, one table per instruction set. portable.c is the oracle: every
 * other kernel gives the same bits and the same answers. Every table is full: where a kernel has
 * nothing of its own it names another's function. Kernels know nothing but layers, hashes and words;
 * core/cpu.c picks one at creation and the body keeps the pointer.
 *
 * h: 64-bit native hashes. fresh/maybe: n bytes, never NULL.
 * The add functions return how many keys were fresh, the check functions how many are "maybe".
 */
#ifndef BLM_CORE_KERNEL_KERNEL_H
#define BLM_CORE_KERNEL_KERNEL_H

#include "core/keys.h"

/* A layer of this many bytes or less is taken to be in a core's own cache, where fetching ahead
 * costs more than it gives: the second-level cache's size where the system tells (core/cpu.c), else
 * this. Tests set it, to see both ways. */
#ifdef __wasm__
#define BLM__IN_CACHE_BYTES UINT64_MAX /* nothing can be fetched ahead there */
#else
#define BLM__IN_CACHE_BYTES ((uint64_t)512 << 10)
#endif
extern _Atomic uint64_t blm__in_cache_bytes;

/* WebAssembly as we build it has one thread. There the form of a loop for shared filters is the plain
 * one, and the tables name that, so that the page does not carry code that it cannot need. */
#ifdef __wasi__
#define BLM__SHARED_FORM(shared, plain) (0 ? (shared) : (plain))
#else
#define BLM__SHARED_FORM(shared, plain) (shared)
#endif

struct blm__ages;     /* core/kernel/ages.h */
struct blm__buckets;  /* core/kernel/buckets.h */
struct blm__fuse;     /* core/kernel/fuse.h */
struct blm__hands;    /* core/kernel/hands.h */
struct blm__counters; /* core/kernel/counters.h */
struct blm__stack;    /* core/kernel/layers.h */
struct blm__stepper;  /* core/kernel/steps.h */

struct blm__kernel {
    const char *name;
    /* Hash xxh3 of n keys of 8 bytes, side by side; flip is blm__hasher_flip. */
    void (*hash8)(uint64_t flip, const void *keys, size_t n, uint64_t *h);
    /* The same of keys of any lengths; data may be NULL where len is 0. */
    void (*hash_many)(const struct blm__hasher *by, const blm_key *keys, size_t n, uint64_t *h);

    size_t (*lines_add)(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh);
    size_t (*lines_add_shared)(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh);
    size_t (*lines_check)(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe);
    bool (*lines_check_one)(const struct blm__layer *l, uint64_t h);
    /* From n keys of 8 bytes, side by side, to the answers, where a key has one line: hash8 and the
     * two above in one. Any n. Adds are exclusive. */
    size_t (*line_add8)(struct blm__layer *l, uint64_t flip, const void *keys, size_t n,
                        uint8_t *fresh);
    size_t (*line_check8)(const struct blm__layer *l, uint64_t flip, const void *keys, size_t n,
                          uint8_t *maybe);
    /* The same from keys of any lengths, as hash_many takes them. */
    size_t (*line_add_keys)(struct blm__layer *l, const struct blm__hasher *by, const blm_key *keys,
                            size_t n, uint8_t *fresh);
    size_t (*line_check_keys)(const struct blm__layer *l, const struct blm__hasher *by,
                              const blm_key *keys, size_t n, uint8_t *maybe);
    /* Single calls, from the key's bytes to the answer: body->check_key and add_key of filters with
     * one layer and hash xxh3. */
    void (*quick)(struct blm__quick *q, uint32_t k); /* what these want there for k */
    blm__check_key line_check_key;                   /* with one line a key */
    blm__add_key   line_add_key;
    blm__check_key lines_check_key;
    blm__add_key   lines_add_key, lines_add_key_shared;

    size_t (*chain_add)(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh);
    size_t (*chain_add_shared)(struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *fresh);
    size_t (*chain_check)(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe);
    /* Runs of many keys, by hands (core/kernel/hands.h). NULL: nothing can be fetched ahead. */
    void (*chain_follow)(struct blm__hands *s, size_t n);
    /* Are hands worth it? absent: most keys before were not there. */
    bool (*hands_for)(bool absent);
    bool (*chain_check_one)(const struct blm__layer *l, uint64_t h);
    blm__check_key chain_check_key;
    blm__add_key   chain_add_key, chain_add_key_shared;

    uint64_t (*popcount)(const uint64_t *w, uint64_t n);
    uint64_t (*popcount_or)(const uint64_t *a, const uint64_t *b, uint64_t n);
    void (*or_into)(uint64_t *dst, const uint64_t *src, uint64_t n);
    void (*and_into)(uint64_t *dst, const uint64_t *src, uint64_t n);

    const struct blm__buckets  *buckets;
    const struct blm__fuse     *fuse;
    const struct blm__counters *counters;
    const struct blm__stepper  *stepper;
    const struct blm__ages     *ages;
    /* Several layers of lines at once: core/kernel/layers.h. */
    size_t (*layers_check)(const struct blm__stack *s, const uint64_t *h, size_t n, uint8_t *maybe);
    size_t (*layers_add)(const struct blm__stack *s, struct blm__layer *l, const uint64_t *h,
                         size_t n, uint8_t *fresh);
};

extern const struct blm__kernel blm__kernel_portable;
#if defined(__x86_64__) && defined(__GNUC__)
#define BLM__HAVE_AVX2   1
#define BLM__HAVE_AVX512 1
extern const struct blm__kernel blm__kernel_avx2, blm__kernel_avx512;
void blm__hash_many_avx2(const struct blm__hasher *by, const blm_key *keys, size_t n, uint64_t *h);
size_t blm__line_check_keys_avx2(const struct blm__layer *l, const struct blm__hasher *by,
                                 const blm_key *keys, size_t n, uint8_t *maybe);
size_t blm__line_add_keys_avx2(struct blm__layer *l, const struct blm__hasher *by,
                               const blm_key *keys, size_t n, uint8_t *fresh);
#endif
#if defined(__aarch64__) && defined(__GNUC__) && !BLM__BIG_ENDIAN
#define BLM__HAVE_NEON 1
extern const struct blm__kernel blm__kernel_neon;
#endif
#ifdef __wasm_simd128__ /* told to the compiler, as a module cannot ask (web/build) */
#define BLM__HAVE_SIMD128 1
extern const struct blm__kernel blm__kernel_simd128;
#endif

/* The best kernel this machine runs. BLOOMERY_CPU=portable|avx2|avx512|neon|simd128 in the environment
 * forces one that it can run (read once). */
const struct blm__kernel *blm__kernel_best(void);
/* By name, if this machine runs it; NULL otherwise. For tests. */
const struct blm__kernel *blm__kernel_named(const char *name);

#endif
