/* SPDX-License-Identifier: MIT */
/* As much of Bitcoin's script as a filter needs: what it pushes, and whether it pays to keys. */
#ifndef BLM_BIP37_SCRIPT_H
#define BLM_BIP37_SCRIPT_H

#include "core/bytes.h"

struct blm_op {
    uint8_t        code;
    const uint8_t *data; /* what it pushes; NULL and 0 for most */
    size_t         len;
};

/* The next opcode; false at the end, or where a push runs past it. */
bool blm__next_op(struct blm_cursor *c, struct blm_op *out);

/* Pay-to-pubkey, or bare multisig: the outputs that name keys and no hash of them. */
bool blm__pays_to_keys(const void *script, size_t len);

#endif
