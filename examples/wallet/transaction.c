/* SPDX-License-Identifier: MIT */
/* See transaction.h. */
#include "transaction.h"

#include <string.h>

#include "common/job.h"

#define SIGNATURE 71u

void random_bytes(uint64_t *chance, void *out, size_t len)
{
    uint8_t *p = out;
    while (len) {
        uint64_t word = job_random(chance);
        size_t   part = len < 8 ? len : 8;
        memcpy(p, &word, part);
        p += part;
        len -= part;
    }
}

static void put(struct transaction *t, const void *bytes, size_t len)
{
    memcpy(t->bytes + t->len, bytes, len);
    t->len += len;
}
static void put_byte(struct transaction *t, unsigned byte) { t->bytes[t->len++] = (uint8_t)byte; }

void transaction_begin(struct transaction *t, unsigned inputs)
{
    t->len    = 0;
    t->inputs = inputs;
    put(t, "\1\0\0\0", 4); /* version */
    put_byte(t, inputs);
}

void transaction_input(struct transaction *t, const uint8_t outpoint[36], const uint8_t key[33],
                       uint64_t *chance)
{
    uint8_t signature[SIGNATURE];
    random_bytes(chance, signature, sizeof signature);
    put(t, outpoint, 36);
    put_byte(t, 1 + SIGNATURE + 1 + 33); /* the script: push signature, push key */
    put_byte(t, SIGNATURE);
    put(t, signature, SIGNATURE);
    put_byte(t, 33);
    put(t, key, 33);
    put(t, "\xff\xff\xff\xff", 4); /* sequence */
}

void transaction_outputs(struct transaction *t, unsigned outputs) { put_byte(t, outputs); }

void transaction_output(struct transaction *t, const uint8_t hash[20])
{
    put(t, "\x10\x27\0\0\0\0\0\0", 8); /* the amount */
    put_byte(t, 25);
    put(t, "\x76\xa9\x14", 3); /* OP_DUP OP_HASH160, push 20 */
    put(t, hash, 20);
    put(t, "\x88\xac", 2); /* OP_EQUALVERIFY OP_CHECKSIG */
}

void transaction_end(struct transaction *t) { put(t, "\0\0\0\0", 4); /* lock time */ }
