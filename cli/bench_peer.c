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
#define RATE 0.01

struct libbloom {
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

static void clear(void *state)
{
    struct libbloom *b = state;
    b->reset(b->bloom);
}

static uint64_t add(void *state, const uint64_t *keys, size_t count)
{
    struct libbloom *b     = state;
    uint64_t         there = 0;
    for (size_t i = 0; i < count; i++)
        there += (uint64_t)b->add(b->bloom, keys + i, 8);
    return there;
}

static uint64_t check(void *state, const uint64_t *keys, size_t count)
{
    struct libbloom *b     = state;
    uint64_t         there = 0;
    for (size_t i = 0; i < count; i++)
        there += (uint64_t)b->check(b->bloom, keys + i, 8);
    return there;
}

static void give_back(void *state)
{
    struct libbloom *b = state;
    b->free(b->bloom);
    dlclose(b->library);
    free(b);
}

bool bench_libbloom(struct bench_peer *p, uint64_t items)
{
    if (items > MOST || items < 1000)
        return false;
    struct libbloom *b = calloc(1, sizeof *b);
    if (!b)
        return false;
    *p         = (struct bench_peer){ .state = b,
                                      .bytes =
                                          (uint64_t)(-(double)items * log(RATE) / (M_LN2 * M_LN2) / 8) + 1,
                                      .clear     = clear,
                                      .free      = give_back,
                                      .add_one   = add,
                                      .check_one = check };
    b->library = dlopen("libbloom.so.1", RTLD_NOW | RTLD_LOCAL);
    if (b->library && find(b->library, "bloom_init", &b->init) &&
        find(b->library, "bloom_check", &b->check) && find(b->library, "bloom_add", &b->add) &&
        find(b->library, "bloom_reset", &b->reset) && find(b->library, "bloom_free", &b->free) &&
        b->init(b->bloom, (int)items, RATE) == 0)
        return true;
    if (b->library)
        dlclose(b->library);
    free(b);
    return false;
}
