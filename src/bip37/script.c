/* SPDX-License-Identifier: MIT */
#include "bip37/script.h"

enum {
    OP_PUSHDATA1     = 0x4c,
    OP_PUSHDATA2     = 0x4d,
    OP_PUSHDATA4     = 0x4e,
    OP_1             = 0x51,
    OP_16            = 0x60,
    OP_CHECKSIG      = 0xac,
    OP_CHECKMULTISIG = 0xae
};

#define MOST_KEYS 20

bool blm__next_op(struct blm__cursor *c, struct blm__op *out)
{
    if (blm__left(c) == 0)
        return false;
    out->code = blm__take8(c);
    out->data = NULL;
    out->len  = 0;
    if (out->code > OP_PUSHDATA4)
        return true;
    switch (out->code) {
    case OP_PUSHDATA1:
        out->len = blm__take8(c);
        break;
    case OP_PUSHDATA2:
        out->len = blm__take16le(c);
        break;
    case OP_PUSHDATA4:
        out->len = blm__take32le(c);
        break;
    default:
        out->len = out->code;
        break;
    }
    out->data = blm__take(c, out->len);
    return out->data != NULL;
}

/* A key's first byte says how long it is. */
static bool is_key(const uint8_t *p, size_t len)
{
    if (len == 33)
        return p[0] == 2 || p[0] == 3;
    return len == 65 && (p[0] == 4 || p[0] == 6 || p[0] == 7);
}

static bool pays_to_key(const uint8_t *p, size_t len)
{
    return (len == 35 || len == 67) && p[0] == len - 2 && p[len - 1] == OP_CHECKSIG &&
           is_key(p + 1, len - 2);
}

/* A small number as in multisig: OP_1 … OP_16, or 17 … 20 pushed as one byte by the shortest push.
 * 0: none of these. */
static unsigned small_number(const struct blm__op *op)
{
    if (op->code >= OP_1 && op->code <= OP_16)
        return op->code - OP_1 + 1u;
    return op->code == 1 && op->data[0] > 16 && op->data[0] <= MOST_KEYS ? op->data[0] : 0;
}

/* m <key> … <key> n OP_CHECKMULTISIG */
static bool is_multisig(const uint8_t *p, size_t len)
{
    struct blm__cursor c = blm__cursor(p, len);
    struct blm__op     op;
    if (len == 0 || p[len - 1] != OP_CHECKMULTISIG || !blm__next_op(&c, &op))
        return false;
    unsigned m = small_number(&op), keys = 0;
    while (blm__next_op(&c, &op)) {
        if (op.data && is_key(op.data, op.len)) {
            keys++;
            continue;
        }
        unsigned n = small_number(&op);
        return m >= 1 && n >= m && n == keys && blm__left(&c) == 1;
    }
    return false;
}

bool blm__pays_to_keys(const void *script, size_t len)
{
    return pays_to_key(script, len) || is_multisig(script, len);
}
