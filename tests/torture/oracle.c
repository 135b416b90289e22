/* SPDX-License-Identifier: MIT */
/*
 * The oracle: a key's claim is read before and after a question. If it was HELD all the time and
 * the answer is "absent", the law is broken.
 */
#include "session.h"

struct here here;

static void judge(unsigned k, uint64_t before, bool absent, const char *how)
{
    if (!absent)
        return;
    count_up(N_ABSENT, 1);
    if (claim_of(before) == HELD && claim_now(k) == before)
        violated("%s: key %u was put and not deleted, and is absent (the data set %s)", how, k,
                 here.session && !here.data->forks && here.session->forks ? "was not asked"
                 : faults_inner_get(k) == BLM_E_ABSENT                    ? "does not have it"
                                                                          : "has it");
}

void ask_get(unsigned k)
{
    char     key[KEY_ROOM];
    size_t   len    = key_bytes(k, key);
    uint64_t before = claim_now(k);
    judge(k, before, blm_guard_get(here.guard, key, len, NULL, NULL, NULL) == BLM_E_ABSENT, "get");
}

void ask_maybe(unsigned k)
{
    char     key[KEY_ROOM];
    size_t   len    = key_bytes(k, key);
    uint64_t before = claim_now(k);
    judge(k, before, !blm_guard_maybe(here.guard, key, len), "maybe");
}

#define MANY 24u
void ask_many(unsigned first, const char *how)
{
    char     bytes[MANY][KEY_ROOM];
    blm_key  keys[MANY] = { { NULL, 0 } };
    uint8_t  maybe[MANY];
    uint64_t before[MANY];
    unsigned n = world->keys - first < MANY ? world->keys - first : MANY;
    for (unsigned i = 0; i < n; i++) {
        keys[i]   = (blm_key){ bytes[i], key_bytes(first + i, bytes[i]) };
        before[i] = claim_now(first + i);
    }
    blm_guard_maybe_many(here.guard, keys, n, maybe);
    for (unsigned i = 0; i < n; i++)
        judge(first + i, before[i], !maybe[i], how);
}

void audit(blm_guard *g, const char *where)
{
    here.guard = g;
    for (unsigned k = 0; k < world->keys; k += MANY)
        ask_many(k, where);
    count_up(N_AUDITED, world->keys);
}

void audit_rows(blm_guard *g, const char *where)
{
    for (unsigned k = 0; k < world->keys; k++) {
        char   key[KEY_ROOM];
        size_t len = key_bytes(k, key);
        if (faults_inner_get(k) == BLM_OK &&
            blm_guard_get(g, key, len, NULL, NULL, NULL) == BLM_E_ABSENT)
            violated("%s: the data set has key %u, and the guard says absent (claim %d)", where, k,
                     (int)claim_of(claim_now(k)));
    }
}
