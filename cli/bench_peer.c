/* SPDX-License-Identifier: MIT */
/*
 * libbloom 1.x, a well-known C library, to compare with. It is looked up at run time, so it need
 * not be installed. We only pass its struct through, and leave ample room for it.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>

#include "bench.h"

#define MOST 200000000u /* its sizes are ints */

struct bench_peer {
    void *library;
    int (*init)(void *bloom, int entries, double error);
    int (*check)(void *bloom, const void *key, int len);
    int (*add)(void *bloom, const void *key, int len);
    int (*reset)(void *bloom);
    void (*free)(void *bloom);
    uint64_t bloom[64];
};

/* POSIX promises that a function's address fits the void * that dlsym gives; C does not. */
static bool find(void *library, const char *name, void *out)
{
    void *found   = dlsym(library, name);
    *(void **)out = found;
    return found != NULL;
}

struct bench_peer *bench_peer_open(uint64_t items, double rate)
{
    if (items > MOST || items < 1000)
        return NULL;
    struct bench_peer *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->library = dlopen("libbloom.so.1", RTLD_NOW | RTLD_LOCAL);
    if (p->library && find(p->library, "bloom_init", &p->init) &&
        find(p->library, "bloom_check", &p->check) && find(p->library, "bloom_add", &p->add) &&
        find(p->library, "bloom_reset", &p->reset) && find(p->library, "bloom_free", &p->free) &&
        p->init(p->bloom, (int)items, rate) == 0)
        return p;
    if (p->library)
        dlclose(p->library);
    free(p);
    return NULL;
}

void bench_peer_clear(struct bench_peer *p) { p->reset(p->bloom); }

uint64_t bench_peer_add(struct bench_peer *p, const uint64_t *keys, size_t count)
{
    uint64_t there = 0;
    for (size_t i = 0; i < count; i++)
        there += (uint64_t)p->add(p->bloom, keys + i, 8);
    return there;
}

uint64_t bench_peer_check(struct bench_peer *p, const uint64_t *keys, size_t count)
{
    uint64_t there = 0;
    for (size_t i = 0; i < count; i++)
        there += (uint64_t)p->check(p->bloom, keys + i, 8);
    return there;
}

uint64_t bench_peer_bytes(uint64_t items, double rate)
{
    return (uint64_t)(-(double)items * log(rate) / (M_LN2 * M_LN2) / 8) + 1;
}

void bench_peer_free(struct bench_peer *p)
{
    if (!p)
        return;
    p->free(p->bloom);
    dlclose(p->library);
    free(p);
}
