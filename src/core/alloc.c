/* SPDX-License-Identifier: MIT */
/* Memory. The default allocator is the C library's, but bit arrays of 2 MiB and more are anonymous
 * mappings: those come zeroed, and can have huge pages, on which reading a random line of 128 MiB
 * costs two thirds of what it costs on 4 KiB pages. */
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/alloc.h"
#include "core/error.h"

#define HUGE_FROM ((size_t)2 << 20)
#define ALIGN     ((size_t)64)

static void *std_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}
static void *std_zalloc(void *ctx, size_t size)
{
    (void)ctx;
    return calloc(1, size);
}
static void std_free(void *ctx, void *p, size_t size)
{
    (void)ctx;
    (void)size;
    free(p);
}

const blm_allocator blm__default_allocator = { NULL, std_alloc, std_zalloc, std_free };

void *blm__alloc(const blm_allocator *a, size_t size) { return a->alloc(a->ctx, size); }

void *blm__zalloc(const blm_allocator *a, size_t size)
{
    if (a->zalloc)
        return a->zalloc(a->ctx, size);
    void *p = a->alloc(a->ctx, size);
    if (p)
        memset(p, 0, size);
    return p;
}

void blm__free(const blm_allocator *a, void *p, size_t size)
{
    if (p)
        a->free(a->ctx, p, size);
}

#if defined(__linux__)
/* Rounds up so that the end is on a huge page too, if that costs at most an eighth more memory. In
 * 12 MB, a filter of 10^7 keys, one probe in eight would otherwise be on small pages and wait for
 * its address. Foreign classic filters of that size: 27 ns for a key that is there become 23. */
static size_t whole_pages(size_t size)
{
    size_t whole = (size + HUGE_FROM - 1) & ~(size_t)(HUGE_FROM - 1);
    return whole - size <= size / 8 ? whole : size;
}

static bool map_block(size_t size, struct blm__block *out)
{
    size = whole_pages(size);
    /* Two MiB more than needed, so that the words can start where a huge page does. */
    size_t room = size + HUGE_FROM;
    if (room < size)
        return false;
    void *p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return false;
    uintptr_t start = ((uintptr_t)p + HUGE_FROM - 1) & ~(uintptr_t)(HUGE_FROM - 1);
    *out            = (struct blm__block){ (uint64_t *)start, p, room, true, false };
#ifdef MADV_HUGEPAGE
    out->huge = madvise((void *)start, size, MADV_HUGEPAGE) == 0;
#endif
    return true;
}
#endif

bool blm__block_alloc(const blm_allocator *a, uint64_t bytes, struct blm__block *out)
{
    if (bytes == 0 || bytes > SIZE_MAX / 2)
        return false;
    size_t size = ((size_t)bytes + ALIGN - 1) & ~(ALIGN - 1);
#if defined(__linux__)
    if (size >= HUGE_FROM && a->alloc == std_alloc)
        return map_block(size, out);
#endif
    size_t room = size + ALIGN - 1; /* allocators align to less than a cache line */
    void  *p    = blm__zalloc(a, room);
    if (!p)
        return false;
    uintptr_t start = ((uintptr_t)p + ALIGN - 1) & ~(uintptr_t)(ALIGN - 1);
    *out            = (struct blm__block){ (uint64_t *)start, p, room, false, false };
    return true;
}

blm_status blm__block_make(const blm_allocator *a, uint64_t bytes, struct blm__block *out,
                           blm_error *err)
{
    if (blm__block_alloc(a, bytes, out))
        return BLM_OK;
    return blm__fail(err, BLM_E_MEMORY, "no memory for %llu bytes of bits",
                     (unsigned long long)bytes);
}

void blm__block_free(const blm_allocator *a, struct blm__block *b)
{
    if (b->size == 0)
        return;
#if defined(__linux__)
    if (b->mapped) {
        munmap(b->base, b->size);
        b->size = 0;
        return;
    }
#endif
    blm__free(a, b->base, b->size);
    b->size = 0;
}

/* ---- moving ---- */

void *blm__moved(const struct blm__mover *m, void *p)
{
    void *to = p ? m->move(m->ctx, p) : NULL;
    return to ? to : p;
}

/* A bit array starts on a cache line somewhere in its block, and the new block may begin at another
 * distance from one. What was adopted stands at the block's very start, and stays there. */
uint64_t *blm__moved_block(const struct blm__mover *m, struct blm__block *b, uint64_t *words,
                           size_t bytes)
{
    if (b->size == 0 || b->mapped)
        return words;
    size_t   was  = (size_t)((uint8_t *)words - (uint8_t *)b->base);
    uint8_t *base = blm__moved(m, b->base);
    size_t   now  = b->size - bytes < 63 ? was : (size_t)(-(uintptr_t)base & 63);
    if (now != was)
        memmove(base + now, base + was, bytes);
    b->base  = base;
    b->words = (uint64_t *)(void *)(base + now);
    return b->words;
}
