/* SPDX-License-Identifier: MIT */
/* Chance, claims and keys: see world.h. */
#include "world.h"

#include <stdarg.h>
#include <string.h>

struct world *world;

uint64_t draw(struct chance *c)
{
    uint64_t v = c->state += 0x9e3779b97f4a7c15u;
    v          = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v          = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

uint64_t pick(struct chance *c, uint64_t n) { return draw(c) % n; }

bool once_in(struct chance *c, uint64_t n) { return n && draw(c) % n == 0; }

void count_up(enum tally what, uint64_t n) { atomic_fetch_add(&world->tally[what], n); }

bool tracing;

void trace(const char *format, ...)
{
    va_list args;
    if (!tracing)
        return;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
}

void violated(const char *format, ...)
{
    va_list args;
    if (atomic_exchange(&world->violated, true))
        return;
    va_start(args, format);
    vsnprintf(world->violation, sizeof world->violation, format, args);
    va_end(args);
}

enum claim claim_of(uint64_t claim) { return (enum claim)(claim % 4); }

uint64_t claim_now(unsigned k) { return atomic_load(&world->key[k].claim); }

void claim_set(unsigned k, enum claim c)
{
    uint64_t was = claim_now(k);
    atomic_store(&world->key[k].claim, (was / 4 + 1) * 4 + c);
}

/* Mostly short, some longer than any buffer on a stack may expect. */
size_t key_bytes(unsigned k, char out[KEY_ROOM])
{
    size_t len = (size_t)snprintf(out, KEY_ROOM, world->numbers ? "%u" : "key-%u-", k);
    if (world->numbers || k % 7)
        return len;
    memset(out + len, 'x', 300 - len);
    return 300;
}

unsigned key_number(const void *key, size_t len)
{
    const char *p = key;
    unsigned    k = 0;
    for (size_t i = 0; i < len && p[i] != 'x'; i++)
        if (p[i] >= '0' && p[i] <= '9')
            k = k * 10 + (unsigned)(p[i] - '0');
    return k;
}

size_t stranger(struct chance *c, char out[KEY_ROOM])
{
    unsigned n = MOST_KEYS + (unsigned)pick(c, 1000000);
    return (size_t)snprintf(out, KEY_ROOM, world->numbers ? "%u" : "absent-%u", n);
}
