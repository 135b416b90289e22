/* SPDX-License-Identifier: MIT */
/*
 * Memory. All of it comes from Redis, so that maxmemory and MEMORY USAGE see it, and none of it
 * through calls that abort the server.
 *
 * Large bit arrays ask for huge pages. Every probe is a random line, so on 4 KiB pages most probes
 * also miss the TLB: MEXISTS of 100 keys on a filter of 10^8 took 24 µs that way, and 15.7 on huge
 * pages (of 10^7: 9.6 and 8.7). We ask only if the kernel leaves it to the program (`madvise`). If
 * it gives huge pages to everyone, the server has switched them off for itself or was told to keep
 * them, and we must not change either. Memory that goes back to the allocator is asked to be small
 * pages again, because many small things will use it next. A fork still copies single small pages:
 * since Linux 5.8 a huge page that is written to while a child shares it is split first.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bf.h"

#define HUGE_PAGE ((uintptr_t)2 << 20)
#define LEAST     ((size_t)4 << 20) /* so that it contains at least one whole huge page */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* in Linux since 6.1; many C libraries do not define it yet */
#endif

static bool ours_to_ask; /* the kernel's rule is madvise */

void bf_memory_find_rule(void)
{
    char  rule[64] = "";
    FILE *f        = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!f)
        return;
    ours_to_ask = fgets(rule, sizeof rule, f) && strstr(rule, "[madvise]");
    fclose(f);
}

/* Advises the huge pages that lie completely inside an allocation. A refusal does no harm. */
static void advise(const void *p, size_t size, int advice)
{
    uintptr_t from = ((uintptr_t)p + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    uintptr_t to   = ((uintptr_t)p + size) & ~(HUGE_PAGE - 1);
    if (ours_to_ask && size >= LEAST && to > from)
        madvise((void *)from, to - from, advice);
}

/* The small pages already exist. They are collapsed now, or later in the background by an older
 * kernel. */
void bf_memory_filled(void *p, size_t size)
{
    if (!bf_config.huge_pages)
        return;
    advise(p, size, MADV_HUGEPAGE);
    advise(p, size, MADV_COLLAPSE);
}

void *bf_try_alloc(size_t size) { return api.TryAlloc(size); }

static bool no_failing;

void bf_memory_must(bool must) { no_failing = must; }

static void *allocate(void *ctx, size_t size)
{
    (void)ctx;
    return no_failing ? api.Alloc(size) : api.TryAlloc(size);
}

/* Servers before 7.4 have no call that gives zeroed memory and does not abort. Clearing a large
 * array by hand would touch all of it: BF.RESERVE of 10^9 items then stopped the server for
 * seconds. So its whole pages are given back to the kernel, which puts zeroed ones in their place
 * when they are touched. */
static void clear(void *p, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1),
              to   = ((uintptr_t)p + size) & ~(page - 1);
    if (size < LEAST || madvise((void *)from, to - from, MADV_DONTNEED) != 0) {
        memset(p, 0, size);
        return;
    }
    memset(p, 0, from - (uintptr_t)p);
    memset((void *)to, 0, (uintptr_t)p + size - to);
}

/* Asked before the pages exist, so that they are huge from the first touch on. */
static void *allocate_zeroes(void *ctx, size_t size)
{
    (void)ctx;
    void *p = api.TryCalloc ? api.TryCalloc(1, size) : api.TryAlloc(size);
    if (p && bf_config.huge_pages)
        advise(p, size, MADV_HUGEPAGE);
    if (p && !api.TryCalloc)
        clear(p, size);
    return p;
}

static void release(void *ctx, void *p, size_t size)
{
    (void)ctx;
    advise(p, size, MADV_NOHUGEPAGE);
    api.Free(p);
}

const blm_allocator bf_allocator = { NULL, allocate, allocate_zeroes, release };

blm_options bf_options(uint64_t max_bytes)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.allocator   = &bf_allocator;
    o.max_bytes   = max_bytes;
    o.clock       = bf_clock;
    return o;
}
