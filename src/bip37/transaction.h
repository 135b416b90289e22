/* SPDX-License-Identifier: MIT */
/* A Bitcoin transaction in its serialised bytes, which are read but not unpacked. */
#ifndef BLM_BIP37_TRANSACTION_H
#define BLM_BIP37_TRANSACTION_H

#include "core/bytes.h"
#include "core/error.h"

struct blm__transaction {
    const uint8_t *version; /* 4 bytes */
    const uint8_t *middle;  /* the inputs and outputs, each with its count in front */
    size_t         middle_len;
    const uint8_t *lock_time;  /* 4 bytes */
    size_t         outputs_at; /* where in `middle` the outputs begin */
};

/* Reads one transaction, with or without witness. If it fails, err says what is wrong, and at which
 * offset of the cursor's bytes. */
blm_status blm__transaction_take(struct blm__cursor *c, struct blm__transaction *t, blm_error *err);

/* The id: SHA-256, twice, of everything except the witness. Internal byte order. */
void blm__transaction_id(const struct blm__transaction *t, uint8_t out[32]);

/* Inputs and outputs, one by one. The transaction has been read, so nothing is missing. */
struct blm__parts {
    struct blm__cursor c;
    uint64_t           left;
};
struct blm__input {
    const uint8_t *outpoint; /* 36 bytes: the id of the transaction it spends, and which output */
    blm_key        script;
};
struct blm__parts blm__inputs(const struct blm__transaction *t);
struct blm__parts blm__outputs(const struct blm__transaction *t);
bool              blm__next_input(struct blm__parts *p, struct blm__input *out);
bool              blm__next_output(struct blm__parts *p, blm_key *script);

#endif
