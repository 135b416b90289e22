/* SPDX-License-Identifier: MIT */
/* bip37: what a full node does with a light wallet's filter, and what the wallet does with the
 * node's answer. Each line of input is a transaction, block or merkleblock in hexadecimal. */
#include <string.h>

#include "bloomery/bip37.h"
#include "command.h"
#include "from.h"
#include "interrupt.h"
#include "keys.h"
#include "out.h"
#include "ref.h"
#include "say.h"

static struct {
    bool txid, update;
} opt;

static const struct option rows[] = {
    { "txid", 0, OPT_FLAG, NULL, &opt.txid,
      "With match: print each transaction's id instead of its line.", NULL },
    { "update", 0, OPT_FLAG, NULL, &opt.update,
      "Save what the filter learns from the matches, if its flags make it learn. Without this "
      "option the filter learns only while the command runs, and the file does not change.",
      NULL },
    OPTION_END,
};
static const struct option_group        own      = { "BIP37", rows };
static const struct option_group *const groups[] = { &own, &from_group, NULL };

/* A job: one of the words after bip37. */
struct job {
    const char *name;
    bool        filter; /* works with a filter */
    /* Handles one line. False: trouble, already reported. */
    bool (*line)(const struct job *j, blm_filter *f, const struct keys *k, const blm_key *key,
                 const char *text, size_t len);
};

static uint64_t matches;

/* Prints an id as people write it: the bytes in reverse. */
static void print_id(const uint8_t id[32])
{
    for (int i = 31; i >= 0; i--)
        out_print("%02x", id[i]);
}

static bool refuse(const struct keys *k, uint64_t line, const char *what, const blm_error *err)
{
    if (err->status == BLM_E_UNSUPPORTED) /* not the line's fault */
        trouble("%s", filter_words(err));
    else if (err->offset != BLM_NO_OFFSET)
        trouble("%s, line %llu: %s: %s (byte %llu)", k->name, (unsigned long long)line, what,
                filter_words(err), (unsigned long long)err->offset);
    else
        trouble("%s, line %llu: %s: %s", k->name, (unsigned long long)line, what,
                filter_words(err));
    return false;
}

static uint64_t line_number; /* of the current line, over all inputs */

static bool match_line(const struct job *j, blm_filter *f, const struct keys *k, const blm_key *key,
                       const char *text, size_t len)
{
    bool      relevant;
    uint8_t   txid[32];
    blm_error err = { .offset = BLM_NO_OFFSET };
    (void)j;
    if (blm_bip37_match(f, key->data, key->len, &relevant, txid, &err) != BLM_OK)
        return refuse(k, line_number, "not a transaction", &err);
    if (!relevant)
        return true;
    matches++;
    if (opt.txid) {
        print_id(txid);
        out_print("\n");
    } else {
        out_span(text, len);
    }
    return true;
}

static bool count_match(void *ctx, uint32_t index, const uint8_t txid[32])
{
    (void)ctx;
    (void)index;
    (void)txid;
    matches++;
    return true;
}

static bool write_hex(void *ctx, const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    (void)ctx;
    for (size_t i = 0; i < len; i++)
        out_print("%02x", p[i]);
    return true;
}

static bool merkleblock_line(const struct job *j, blm_filter *f, const struct keys *k,
                             const blm_key *key, const char *text, size_t len)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    (void)j;
    (void)text;
    (void)len;
    if (blm_bip37_match_block(f, key->data, key->len, count_match, NULL, write_hex, NULL, &err) !=
        BLM_OK)
        return refuse(k, line_number, "not a block", &err);
    out_print("\n");
    return true;
}

/* The matched ids come before the block's id is known, so they wait here. */
#define MOST 16666 /* transactions a block can have */
static uint8_t  found[MOST][32];
static uint32_t found_count;

static bool keep_id(void *ctx, uint32_t index, const uint8_t txid[32])
{
    (void)ctx;
    (void)index;
    if (found_count < MOST)
        memcpy(found[found_count++], txid, 32);
    return true;
}

static bool prove_line(const struct job *j, blm_filter *f, const struct keys *k, const blm_key *key,
                       const char *text, size_t len)
{
    blm_bip37_proof proof = { .size = sizeof proof };
    blm_error       err   = { .offset = BLM_NO_OFFSET };
    (void)j;
    (void)f;
    (void)text;
    (void)len;
    found_count = 0;
    if (blm_bip37_check(key->data, key->len, keep_id, NULL, &proof, &err) != BLM_OK)
        return refuse(k, line_number, "not a valid merkleblock", &err);
    for (uint32_t i = 0; i < found_count; i++) {
        print_id(proof.block);
        out_print("\t");
        print_id(found[i]);
        out_print("\n");
    }
    matches += found_count;
    return true;
}

static const struct job jobs[] = {
    { "match", true, match_line },
    { "merkleblock", true, merkleblock_line },
    { "prove", false, prove_line },
};

static void recycle(void *ctx)
{
    (void)ctx;
    out_flush();
}

static bool each_line(const struct job *j, blm_filter *f, struct keys *k)
{
    struct batch b;
    while (keys_next(k, &b))
        for (size_t i = 0; i < b.count; i++) {
            line_number = k->lines - b.count + i + 1;
            if (!j->line(j, f, k, &b.keys[i], b.at[i], (size_t)(b.at[i + 1] - b.at[i])))
                return false;
        }
    return !k->failed && !interrupted();
}

static int run_lines(const struct job *j, blm_filter *f, char **inputs, int count)
{
    struct keys k         = { .recycle = recycle, .one_way = true, .strict = true };
    keys_options.encoding = "hex";
    if (!keys_open(&k, inputs, count))
        return EXIT_TROUBLE;
    bool good = each_line(j, f, &k);
    out_flush();
    keys_close(&k);
    return !good ? EXIT_TROUBLE : matches ? EXIT_YES : EXIT_NO;
}

static bool is_bip37(const struct ref *r)
{
    blm_params p = { .size = sizeof p };
    blm_get_params(r->filter, &p);
    if (strcmp(p.scheme, "bip37") == 0)
        return true;
    trouble("%s: this filter has scheme %s, not bip37: make a wallet's filter with bloomery "
            "create --scheme bip37",
            r->name, p.scheme);
    return false;
}

/* Works on a copy in memory, so that the filter can learn and the file does not change. */
static int run_aside(const struct job *j, const char *text, char **inputs, int count)
{
    struct ref  r;
    blm_options o      = BLM_OPTIONS_INIT;
    blm_filter *f      = NULL;
    blm_error   err    = { .offset = BLM_NO_OFFSET };
    int         status = EXIT_TROUBLE;
    if (!from_options(text, &o) || !ref_open(&r, text, &o))
        return EXIT_TROUBLE;
    if (is_bip37(&r)) {
        if (blm_copy(r.filter, &f, &err) == BLM_OK)
            status = run_lines(j, f, inputs, count);
        else
            filter_trouble(r.name, &err);
        blm_free(f);
    }
    ref_drop(&r);
    return status;
}

static int run_update(const struct job *j, const char *text, char **inputs, int count)
{
    struct ref  r;
    blm_options o = BLM_OPTIONS_INIT;
    if (!from_options(text, &o) || !ref_change(&r, text, &o))
        return EXIT_TROUBLE;
    if (!is_bip37(&r)) {
        ref_drop(&r);
        return EXIT_TROUBLE;
    }
    int status = run_lines(j, r.filter, inputs, count);
    return ref_commit(&r) ? status : EXIT_TROUBLE;
}

static int run(int count, char **operands)
{
    const struct job *j = NULL;
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        if (strcmp(jobs[i].name, operands[0]) == 0)
            j = &jobs[i];
    if (!j)
        return misuse("unknown job %s: use match, merkleblock or prove", operands[0]);
    interrupt_catch();
    if (!j->filter)
        return run_lines(j, NULL, operands + 1, count - 1);
    if (count < 2)
        return misuse("%s needs a filter: name it after %s", j->name, j->name);
    if (ref_is_stdin(operands[1]) && count == 2)
        return misuse("the filter is read from standard input: give the lines as files");
    return (opt.update ? run_update : run_aside)(j, operands[1], operands + 2, count - 2);
}

static const char *const usage[] = {
    "match FILTER [INPUT...] [--txid] [--update]",
    "merkleblock FILTER [INPUT...] [--update]",
    "prove [INPUT...]",
    NULL,
};
static const char *const about[] = {
    "Works with the filters of Bitcoin's light wallets (BIP37). match reads raw transactions, one "
    "per line in hexadecimal, and prints those that are relevant to the filter. merkleblock reads "
    "raw blocks and prints, for each block, the payload of the merkleblock message that proves "
    "its relevant transactions. prove reads such payloads, checks them, and prints the block's id "
    "and the transaction's id for each transaction they prove.",
    "A filter can have flags that make it learn from what it matches: the output that paid the "
    "wallet is added, so that the transaction that spends it matches too. The order of the lines "
    "therefore matters, as it does in a block.",
    "Some matches are wrong, at the filter's rate. These decoys hide the wallet's addresses from "
    "the node. This command does not check that a block has the proof of work its header claims.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery create wallet.bip37 --scheme bip37 -n 20 -p 1e-4 -e hex --from keys.hex",
      "Make a wallet's filter from its public key hashes" },
    { "bloomery bip37 match wallet.bip37 --txid < transactions.hex",
      "List the transactions that may concern the wallet" },
    { "bloomery bip37 merkleblock wallet.bip37 < block.hex | bloomery bip37 prove",
      "Prove to the wallet which transactions of a block are its own" },
    { NULL, NULL },
};

const struct command cmd_bip37 = {
    .name     = "bip37",
    .summary  = "match Bitcoin transactions and blocks against a wallet's filter",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .status   = "0 something matched, 1 nothing did, 2 trouble.",
    .operand  = "job",
    .least    = 1,
    .most     = -1,
    .run      = run,
};
