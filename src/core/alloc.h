/* SPDX-License-Identifier: MIT */
/* Memory: small structs from the caller's allocator, and bit arrays, which need 64-byte alignment,
 * zeroes and, if they are large and the allocator is ours, huge pages. */
#ifndef BLM_CORE_ALLOC_H
#define BLM_CORE_ALLOC_H

#include "bloomery/embed.h"

/* The library's own: malloc, calloc, free; anonymous mappings for bit arrays of 2 MiB and more. */
extern const blm_allocator blm__default_allocator;

void *blm__alloc(const blm_allocator *a, size_t size);         /* NULL: no memory */
void *blm__zalloc(const blm_allocator *a, size_t size);        /* zeroed */
void  blm__free(const blm_allocator *a, void *p, size_t size); /* p may be NULL */

/* A bit array: `words` is 64-byte aligned and zeroed; `base` and `size` are what to free. */
struct blm__block {
    uint64_t *words;
    void     *base;
    size_t    size;   /* 0: not ours to free (borrowed words, a file's mapping) */
    bool      mapped; /* by mmap, not by the allocator */
    bool      huge;   /* huge pages were asked for */
};

/* bytes > 0, rounded up to a multiple of 64. False if there is no memory. */
bool blm__block_alloc(const blm_allocator *a, uint64_t bytes, struct blm__block *out);
/* The same with an error: E_MEMORY. */
blm_status blm__block_make(const blm_allocator *a, uint64_t bytes, struct blm__block *out,
                           blm_error *err);
void       blm__block_free(const blm_allocator *a, struct blm__block *b);

/* blm_relocate: shows memory to whoever moves it, and follows it. Both return where it is now. */
struct blm__mover {
    blm_move_fn move;
    void       *ctx;
};
void *blm__moved(const struct blm__mover *m, void *p); /* p may be NULL */
/* A block in use for `bytes` from `words` on, which is somewhere inside it. */
uint64_t *blm__moved_block(const struct blm__mover *m, struct blm__block *b, uint64_t *words,
                           size_t bytes);

#endif
