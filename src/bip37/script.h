/* SPDX-License-Identifier: MIT */
/* What a filter needs of Bitcoin's script: what it pushes, and whether it pays to keys. */
#ifndef BLM_BIP37_SCRIPT_H
#define BLM_BIP37_SCRIPT_H

#include "core/bytes.h"

struct blm__op {
    uint8_t        code;
    const uint8_t *data; /* what it pushes; most opcodes push nothing: NULL and 0 */
    size_t         len;
};

/* Reads the next opcode; false at the end, or if a push runs past it. */
bool blm__next_op(struct blm__cursor *c, struct blm__op *out);

/* Pay-to-pubkey, or bare multisig: the outputs that have keys, and not hashes of them. */
bool blm__pays_to_keys(const void *script, size_t len);

#endif
