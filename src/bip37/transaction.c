/* SPDX-License-Identifier: MIT */
/*
 * i32 version | [00 01: a witness follows] | inputs | outputs | [witness] | u32 lock time
 *   inputs     CompactSize n, then n × (outpoint 36 | script: CompactSize + bytes | u32 sequence)
 *   outputs    CompactSize n, then n × (i64 value | script)
 *   witness    for each input: CompactSize n, then n × (CompactSize + bytes); not all of them empty
 */
#include "bip37/transaction.h"

#include "core/compact.h"
#include "core/hash/sha256.h"

#define MOST ((uint64_t)0x02000000) /* the largest CompactSize that Bitcoin reads */

struct reading {
    struct blm__cursor *c;
    blm_error          *err;
    blm_status          status;
};

static void bad(struct reading *r, size_t at, const char *what)
{
    if (r->status == BLM_OK)
        r->status = blm__fail_at(r->err, BLM_E_FORMAT, at, "not a transaction: %s", what);
}

static void check_short(struct reading *r, const char *what)
{
    if (r->status == BLM_OK && r->c->bad)
        r->status = blm__fail_at(r->err, BLM_E_TRUNCATED, r->c->short_at,
                                 "the transaction ends within its %s", what);
}

static uint64_t take_count(struct reading *r, const char *what)
{
    size_t   at       = r->c->at;
    uint64_t n        = 0;
    bool     shortest = blm__take_compact(r->c, &n);
    check_short(r, what);
    if (!shortest)
        bad(r, at, "a number that is not in its shortest form");
    if (n > MOST)
        bad(r, at, "a number above 2^25");
    return r->status == BLM_OK ? n : 0;
}

static void skip_bytes(struct reading *r, uint64_t n, const char *what)
{
    blm__take(r->c, (size_t)n); /* at most MOST */
    check_short(r, what);
}

static uint64_t skip_inputs(struct reading *r)
{
    uint64_t n = take_count(r, "inputs");
    for (uint64_t i = 0; i < n && r->status == BLM_OK; i++) {
        skip_bytes(r, 36, "inputs");
        skip_bytes(r, take_count(r, "inputs"), "inputs");
        skip_bytes(r, 4, "inputs");
    }
    return n;
}

static void skip_outputs(struct reading *r)
{
    uint64_t n = take_count(r, "outputs");
    for (uint64_t i = 0; i < n && r->status == BLM_OK; i++) {
        skip_bytes(r, 8, "outputs");
        skip_bytes(r, take_count(r, "outputs"), "outputs");
    }
}

static void skip_witness(struct reading *r, uint64_t inputs)
{
    size_t at  = r->c->at;
    bool   any = false;
    for (uint64_t i = 0; i < inputs && r->status == BLM_OK; i++) {
        uint64_t items = take_count(r, "witness");
        any |= items > 0;
        for (; items > 0 && r->status == BLM_OK; items--)
            skip_bytes(r, take_count(r, "witness"), "witness");
    }
    if (!any)
        bad(r, at, "a witness that is empty for every input");
}

/* A count of 0 inputs announces a witness, if the next byte is not 0. */
static bool take_marker(struct reading *r)
{
    if (blm__left(r->c) < 2 || r->c->data[r->c->at] != 0 || r->c->data[r->c->at + 1] == 0)
        return false;
    if (r->c->data[r->c->at + 1] != 1)
        bad(r, r->c->at + 1, "unknown optional data");
    blm__take(r->c, 2);
    return true;
}

blm_status blm__transaction_take(struct blm__cursor *c, struct blm__transaction *t, blm_error *err)
{
    struct reading r = { c, err, BLM_OK };
    t->version       = blm__take(c, 4);
    check_short(&r, "version");
    bool     witness = r.status == BLM_OK && take_marker(&r);
    size_t   start   = c->at;
    uint64_t inputs  = skip_inputs(&r);
    t->outputs_at    = c->at - start;
    if (r.status == BLM_OK)
        skip_outputs(&r);
    t->middle     = c->data + start;
    t->middle_len = c->at - start;
    if (r.status == BLM_OK && witness)
        skip_witness(&r, inputs);
    if (r.status == BLM_OK) {
        t->lock_time = blm__take(c, 4);
        check_short(&r, "lock time");
    }
    return r.status;
}

void blm__transaction_id(const struct blm__transaction *t, uint8_t out[32])
{
    const blm_key part[3] = { { t->version, 4 },
                              { t->middle, t->middle_len },
                              { t->lock_time, 4 } };
    blm__sha256d(part, 3, out);
}

/* ---- one by one ---- */

static blm_key take_script(struct blm__cursor *c)
{
    uint64_t n = 0;
    blm__take_compact(c, &n);
    blm_key script = { blm__take(c, (size_t)n), (size_t)n };
    return script;
}

struct blm__parts blm__inputs(const struct blm__transaction *t)
{
    struct blm__parts p = { blm__cursor(t->middle, t->outputs_at), 0 };
    blm__take_compact(&p.c, &p.left);
    return p;
}

struct blm__parts blm__outputs(const struct blm__transaction *t)
{
    struct blm__parts p = { blm__cursor(t->middle + t->outputs_at, t->middle_len - t->outputs_at),
                            0 };
    blm__take_compact(&p.c, &p.left);
    return p;
}

bool blm__next_input(struct blm__parts *p, struct blm__input *out)
{
    if (p->left == 0)
        return false;
    p->left--;
    out->outpoint = blm__take(&p->c, 36);
    out->script   = take_script(&p->c);
    blm__take(&p->c, 4);
    return true;
}

bool blm__next_output(struct blm__parts *p, blm_key *script)
{
    if (p->left == 0)
        return false;
    p->left--;
    blm__take(&p->c, 8);
    *script = take_script(&p->c);
    return true;
}
