/* SPDX-License-Identifier: MIT */
/* See cache.h. A doubly linked list through two arrays. */
#include "cache.h"

#include <stdlib.h>

void cache_make(struct cache *c, uint32_t documents, uint32_t room)
{
    *c        = (struct cache){ .documents = documents, .room = room };
    c->newer  = malloc(documents * sizeof *c->newer);
    c->older  = malloc(documents * sizeof *c->older);
    c->held   = calloc(documents, sizeof *c->held);
    c->newest = c->oldest = CACHE_NONE;
}

void cache_free(struct cache *c)
{
    free(c->newer);
    free(c->older);
    free(c->held);
}

static void unlink_one(struct cache *c, uint32_t d)
{
    *(c->newer[d] == CACHE_NONE ? &c->newest : &c->older[c->newer[d]]) = c->older[d];
    *(c->older[d] == CACHE_NONE ? &c->oldest : &c->newer[c->older[d]]) = c->newer[d];
}

static void link_newest(struct cache *c, uint32_t d)
{
    c->newer[d]                                                    = CACHE_NONE;
    c->older[d]                                                    = c->newest;
    *(c->newest == CACHE_NONE ? &c->oldest : &c->newer[c->newest]) = d;
    c->newest                                                      = d;
}

bool cache_use(struct cache *c, uint32_t d)
{
    if (!c->held[d])
        return false;
    unlink_one(c, d);
    link_newest(c, d);
    return true;
}

uint32_t cache_insert(struct cache *c, uint32_t d)
{
    uint32_t gone = CACHE_NONE;
    if (c->count == c->room) {
        gone = c->oldest;
        unlink_one(c, gone);
        c->held[gone] = false;
        c->count--;
    }
    link_newest(c, d);
    c->held[d] = true;
    c->count++;
    return gone;
}
