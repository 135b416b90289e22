/* SPDX-License-Identifier: MIT */
/* What a Bitcoin node does with a wallet's filter, and the wallet with the node's answer. */
#include <string.h>

#include "api/filter.h"
#include "bip37/merkle.h"
#include "bip37/script.h"
#include "bip37/transaction.h"
#include "bloomery/bip37.h"
#include "core/compact.h"
#include "core/hash/sha256.h"

#define MOST_TRANSACTIONS 16666u /* 4 000 000 weight, 240 of it the least a transaction can have */
#define LEAST_TRANSACTION 10u    /* bytes */

static blm_status no_sha256(blm_error *err)
{
    return blm__fail(err, BLM_E_UNSUPPORTED,
                     "transaction ids need SHA-256 from libmd, and this build was made without it");
}

static blm_status may_match(const blm_filter *f, blm_error *err)
{
    if (!BLM__SHA256)
        return no_sha256(err);
    if (!f || f->body.scheme != &blm__scheme_bip37)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "only a filter of scheme bip37 can match transactions");
    uint64_t flags = f->body.layers[0].shape.variant & 3;
    if (f->body.read_only && flags != BLM_BIP37_NONE && flags != 3)
        return blm__fail(err, BLM_E_READONLY,
                         "a match would have to be added to the filter, and it was opened "
                         "read-only");
    return BLM_OK;
}

/* ---- one transaction ---- */

static bool any_push_matches(const blm_filter *f, blm_key script)
{
    struct blm__cursor c = blm__cursor(script.data, script.len);
    struct blm__op     op;
    while (blm__next_op(&c, &op))
        if (op.len && blm_check(f, op.data, op.len))
            return true;
    return false;
}

/* Adds what a match in an output adds, so that later transactions that spend it match too. */
static void add_outpoint(blm_filter *f, const uint8_t txid[32], uint32_t index, blm_key script)
{
    uint64_t flags = f->body.layers[0].shape.variant & 3;
    uint8_t  outpoint[36];
    if (flags != BLM_BIP37_ALL &&
        !(flags == BLM_BIP37_KEYS && blm__pays_to_keys(script.data, script.len)))
        return;
    memcpy(outpoint, txid, 32);
    blm__put32le(outpoint + 32, index);
    blm_add(f, outpoint, sizeof outpoint); /* cannot fail: in memory, or a writer's file */
}

static bool match(blm_filter *f, const struct blm__transaction *t, const uint8_t txid[32])
{
    if (f->body.layers[0].shape.aux[0]) /* a filter without bytes */
        return true;
    bool              found   = blm_check(f, txid, 32);
    struct blm__parts outputs = blm__outputs(t), inputs = blm__inputs(t);
    struct blm__input input;
    blm_key           script;
    for (uint32_t i = 0; blm__next_output(&outputs, &script); i++)
        if (any_push_matches(f, script)) {
            found = true;
            add_outpoint(f, txid, i, script);
        }
    while (!found && blm__next_input(&inputs, &input))
        found = blm_check(f, input.outpoint, 36) || any_push_matches(f, input.script);
    return found;
}

blm_status blm_bip37_match(blm_filter *f, const void *tx, size_t len, bool *relevant,
                           uint8_t txid[32], blm_error *err)
{
    struct blm__cursor      c = blm__cursor(tx ? tx : "", tx ? len : 0);
    struct blm__transaction t;
    uint8_t                 id[32];
    blm_status              st = may_match(f, err);
    if (st == BLM_OK)
        st = blm__transaction_take(&c, &t, err);
    if (st == BLM_OK && blm__left(&c))
        st = blm__fail_at(err, BLM_E_FORMAT, c.at, "bytes follow the transaction");
    if (st != BLM_OK)
        return st;
    blm__transaction_id(&t, id);
    bool is = match(f, &t, id);
    if (relevant)
        *relevant = is;
    if (txid)
        memcpy(txid, id, 32);
    return BLM_OK;
}

/* ---- a block ---- */

/* Reads through the whole block before anything is matched: a damaged one changes no filter. */
static blm_status take_block(struct blm__cursor *c, uint32_t *count, size_t *first, blm_error *err)
{
    uint64_t n = 0;
    blm__take(c, BLM__MERKLE_HEADER);
    size_t at       = c->at;
    bool   shortest = blm__take_compact(c, &n);
    if (c->bad)
        return blm__fail_at(err, BLM_E_TRUNCATED, c->short_at,
                            "the block ends within its header of 80 bytes and a count");
    if (!shortest || n == 0 || n > blm__left(c) / LEAST_TRANSACTION || n > INT32_MAX)
        return blm__fail_at(err, BLM_E_FORMAT, at,
                            "a block of %llu bytes cannot have %llu transactions",
                            (unsigned long long)c->len, (unsigned long long)n);
    *first = c->at;
    *count = (uint32_t)n;
    for (uint32_t i = 0; i < *count; i++) {
        struct blm__transaction t;
        blm_status              st = blm__transaction_take(c, &t, err);
        if (st != BLM_OK)
            return st;
    }
    if (blm__left(c))
        return blm__fail_at(err, BLM_E_FORMAT, c->at, "bytes follow the block");
    return BLM_OK;
}

struct merkleblock {
    blm_write_fn write;
    void        *ctx;
    uint64_t     written;
};

static bool put(void *ctx, const void *bytes, size_t len)
{
    struct merkleblock *m = ctx;
    m->written += len;
    return m->write(m->ctx, bytes, len);
}

static bool put_count(struct merkleblock *m, uint64_t n)
{
    uint8_t bytes[9];
    return put(m, bytes, blm__put_compact(bytes, n));
}

/* 80-byte header | u32 transactions | CompactSize, hashes | CompactSize, flag bytes */
static blm_status put_merkleblock(const uint8_t *header, const struct blm__merkle *tree,
                                  uint8_t *flags, struct merkleblock *m, blm_error *err)
{
    uint32_t bits, hashes;
    uint8_t  count[4];
    blm__merkle_flags(tree, flags, &bits, &hashes);
    blm__put32le(count, tree->count);
    if (put(m, header, BLM__MERKLE_HEADER) && put(m, count, 4) && put_count(m, hashes) &&
        blm__merkle_hashes(tree, put, m) && put_count(m, (bits + 7) / 8) &&
        put(m, flags, (bits + 7) / 8))
        return BLM_OK;
    return blm__fail_at(err, BLM_E_IO, m->written, "writing stopped within the merkleblock");
}

/* Matches in order, so that the next transaction sees what one adds. */
static blm_status match_all(blm_filter *f, struct blm__cursor *c, uint32_t count, uint8_t (*id)[32],
                            uint8_t *matched, blm_bip37_fn found, void *ctx, blm_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        struct blm__transaction t;
        blm_status              st = blm__transaction_take(c, &t, err);
        if (st != BLM_OK)
            return st;
        blm__transaction_id(&t, id[i]);
        matched[i] = match(f, &t, id[i]);
        if (matched[i] && found && !found(ctx, i, id[i]))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled at transaction %lu",
                             (unsigned long)i);
    }
    return BLM_OK;
}

blm_status blm_bip37_match_block(blm_filter *f, const void *block, size_t len, blm_bip37_fn found,
                                 void *found_ctx, blm_write_fn write, void *ctx, blm_error *err)
{
    struct blm__cursor c     = blm__cursor(block ? block : "", block ? len : 0);
    uint32_t           count = 0;
    size_t             first = 0;
    blm_status         st    = may_match(f, err);
    if (st == BLM_OK)
        st = take_block(&c, &count, &first, err);
    if (st != BLM_OK)
        return st;
    size_t   room = (size_t)count * 33 + blm__merkle_flag_room(count);
    uint8_t *mine = blm__zalloc(f->body.alloc, room);
    if (!mine)
        return blm__fail(err, BLM_E_MEMORY, "no memory for the ids of %lu transactions",
                         (unsigned long)count);
    uint8_t(*id)[32]           = (uint8_t(*)[32])(void *)mine;
    uint8_t           *matched = mine + (size_t)count * 32, *flags = matched + count;
    struct blm__merkle tree = { (const uint8_t(*)[32])id, matched, count };
    struct merkleblock out  = { write, ctx, 0 };
    c                       = blm__cursor(block, len);
    c.at                    = first;
    st                      = match_all(f, &c, count, id, matched, found, found_ctx, err);
    if (st == BLM_OK && write)
        st = put_merkleblock(block, &tree, flags, &out, err);
    blm__free(f->body.alloc, mine, room);
    return st;
}

/* ---- a merkleblock ---- */

/* Reads a list after its count; NULL: the input does not have all of it. */
static const uint8_t *take_list(struct blm__cursor *c, size_t unit, uint64_t *count, uint64_t *at,
                                bool *shortest)
{
    *shortest &= blm__take_compact(c, count);
    *at = c->at;
    return *count <= blm__left(c) / unit ? blm__take(c, (size_t)*count * unit) : NULL;
}

static blm_status take_proof(struct blm__cursor *c, struct blm__proof *p, blm_error *err)
{
    const char *where    = NULL;
    bool        shortest = true;
    blm__take(c, BLM__MERKLE_HEADER);
    p->count = blm__take32le(c);
    if (c->bad)
        where = "header of 80 bytes and its count";
    else if (!(p->hashes = take_list(c, 32, &p->hash_count, &p->hashes_at, &shortest)))
        where = "hashes";
    else if (!(p->flags = take_list(c, 1, &p->flag_bytes, &p->flags_at, &shortest)))
        where = "flags";
    if (where)
        return blm__fail_at(err, BLM_E_TRUNCATED, c->len, "the merkleblock ends within its %s",
                            where);
    if (!shortest)
        return blm__fail_at(err, BLM_E_FORMAT, BLM__MERKLE_HEADER + 4,
                            "the number of hashes or flags is not in its shortest form");
    if (blm__left(c))
        return blm__fail_at(err, BLM_E_FORMAT, c->at, "bytes follow the merkleblock");
    if (p->count == 0 || p->count > MOST_TRANSACTIONS)
        return blm__fail_at(err, BLM_E_FORMAT, BLM__MERKLE_HEADER,
                            "%lu transactions are impossible: a block has 1 to 16666",
                            (unsigned long)p->count);
    return BLM_OK;
}

static bool count_match(void *ctx, uint32_t index, const uint8_t txid[32])
{
    (void)index;
    (void)txid;
    ++*(uint32_t *)ctx;
    return true;
}

blm_status blm_bip37_check(const void *merkleblock, size_t len, blm_bip37_fn found, void *ctx,
                           blm_bip37_proof *out, blm_error *err)
{
    struct blm__cursor c = blm__cursor(merkleblock ? merkleblock : "", merkleblock ? len : 0);
    struct blm__proof  p = { 0 };
    blm_bip37_proof    r = { .size = sizeof r };
    if (!BLM__SHA256)
        return no_sha256(err);
    blm_status st = take_proof(&c, &p, err);
    if (st == BLM_OK)
        st = blm__merkle_check(&p, r.root, count_match, &r.matched, err);
    if (st != BLM_OK)
        return st;
    const uint8_t *header = c.data;
    if (memcmp(r.root, header + BLM__MERKLE_ROOT, 32) != 0)
        return blm__fail_at(err, BLM_E_CHECKSUM, BLM__MERKLE_ROOT,
                            "the tree does not lead to the root in the header");
    if (found) /* only now, since all of it is right */
        st = blm__merkle_check(&p, r.root, found, ctx, err);
    r.transactions = p.count;
    blm__sha256d(&(blm_key){ header, BLM__MERKLE_HEADER }, 1, r.block);
    if (st == BLM_OK && out)
        st = blm__emit(out, &r, sizeof r);
    return st;
}
