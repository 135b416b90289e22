/* SPDX-License-Identifier: MIT */
/* A least-recently-used cache of numbered documents: what each peer really holds. */
#ifndef SHARED_CACHES_CACHE_H
#define SHARED_CACHES_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define CACHE_NONE UINT32_MAX

struct cache {
    uint32_t  documents, room, count, newest, oldest;
    uint32_t *newer, *older; /* CACHE_NONE at the ends */
    bool     *held;
};

void cache_make(struct cache *c, uint32_t documents, uint32_t room);
void cache_free(struct cache *c);
bool cache_use(struct cache *c, uint32_t d); /* is it held? Then it becomes the newest */
/* Adds a document. Returns the one that was evicted for it, or CACHE_NONE. */
uint32_t cache_insert(struct cache *c, uint32_t d);

#endif
