/* SPDX-License-Identifier: MIT */
/* Makes raw Bitcoin transactions of the most common form: inputs signed by a key, outputs that pay
 * to the hash of a key. The signatures are random bytes, because the filter does not look at
 * them. */
#ifndef WALLET_TRANSACTION_H
#define WALLET_TRANSACTION_H

#include <stddef.h>
#include <stdint.h>

struct transaction {
    uint8_t  bytes[1024];
    size_t   len;
    unsigned inputs;
};

void random_bytes(uint64_t *chance, void *out, size_t len);

/* In this order: begin, that many inputs, outputs, that many output, end. */
void transaction_begin(struct transaction *t, unsigned inputs);
void transaction_input(struct transaction *t, const uint8_t outpoint[36], const uint8_t key[33],
                       uint64_t *chance);
void transaction_outputs(struct transaction *t, unsigned outputs);
void transaction_output(struct transaction *t, const uint8_t hash[20]);
void transaction_end(struct transaction *t);

#endif
