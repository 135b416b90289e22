/* SPDX-License-Identifier: MIT */
/* The whole job of a filter between wallet and node: Bitcoin Core's own cases, and cases of ours
 * that Core has answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "bloomery/bip37.h"
#include "golden_filter.h"
#include "json.h"

static blm_filter *load(const struct json *c, const char *name)
{
    blm_options       o = BLM_OPTIONS_INIT;
    struct json_bytes b = json_hex(c, name);
    o.format            = "bip37";
    blm_filter *f       = golden_decode(name, b.data, b.len, &o);
    free(b.data);
    return f;
}

static void is_now(const blm_filter *f, const struct json *c, const char *name)
{
    struct json_bytes want = json_hex(c, name);
    golden_encodes_to(f, NULL, json_must(c, "name")->text, want.data, want.len);
    free(want.data);
}

/* Printed order is the reverse of the internal one. */
static void assert_printed(const uint8_t id[32], const char *text)
{
    char got[65];
    for (int i = 0; i < 32; i++)
        snprintf(got + 2 * i, 3, "%02x", id[31 - i]);
    assert_string_equal(got, text);
}

/* The filter as the case says it was made: sized by n and p, filled with elements. */
static void check_made(const struct json *c, const char *payload)
{
    blm_options o = BLM_OPTIONS_INIT;
    if (!json_member(c, "n"))
        return;
    o.scheme      = "bip37";
    o.items       = (uint64_t)json_number(c, "n");
    o.rate        = json_number(c, "p");
    o.flags       = BLM_SEEDED;
    o.seed[0]     = (uint64_t)json_number(c, "tweak");
    o.variant     = (uint64_t)json_number(c, "flags");
    blm_filter *f = create_or_fail(&o);
    for (const struct json *k = json_must(c, "insert_hex")->first; k; k = k->next) {
        struct json_bytes b = json_unhex(k);
        assert_true(blm_add(f, b.data, b.len) >= 0);
        free(b.data);
    }
    const struct json *points = json_member(c, "insert_outpoints");
    for (const struct json *p = points ? points->first : NULL; p; p = p->next) {
        struct json_bytes id        = json_unhex(p->first);
        uint8_t           point[36] = { 0 };
        for (int i = 0; i < 32; i++)
            point[i] = id.data[31 - i];
        point[32] = (uint8_t)strtoul(p->first->next->text, NULL, 10);
        assert_true(blm_add(f, point, 36) >= 0);
        free(id.data);
    }
    is_now(f, c, payload);
    blm_free(f);
}

static void match_one(blm_filter *f, const struct json *c, const char *tx, const char *relevant,
                      const char *after)
{
    struct json_bytes b = json_hex(c, tx);
    bool              is;
    uint8_t           id[32];
    blm_error         err;
    if (blm_bip37_match(f, b.data, b.len, &is, id, &err) != BLM_OK)
        fail_msg("%s: %s", json_must(c, "name")->text, err.text);
    if (is != (json_number(c, relevant) != 0))
        fail_msg("%s: relevant is %d", json_must(c, "name")->text, is);
    if (strcmp(tx, "tx") == 0)
        assert_printed(id, json_must(c, "txid")->text);
    is_now(f, c, after);
    free(b.data);
}

static size_t check_transactions(const struct json *list)
{
    size_t count = 0;
    for (const struct json *c = list->first; c; c = c->next, count++) {
        blm_filter *f = load(c, "filter_before");
        check_made(c, "filter_before");
        match_one(f, c, "tx", "relevant", "filter_after");
        if (json_member(c, "then_tx"))
            match_one(f, c, "then_tx", "then_relevant", "then_filter_after");
        blm_free(f);
    }
    return count;
}

struct matches {
    const struct json *next; /* expected: [index, txid] */
    size_t             told;
};

static bool expect_match(void *ctx, uint32_t index, const uint8_t txid[32])
{
    struct matches *m = ctx;
    assert_non_null(m->next);
    assert_int_equal(index, strtoul(m->next->first->text, NULL, 10));
    assert_printed(txid, m->next->first->next->text);
    m->next = m->next->next;
    m->told++;
    return true;
}

static size_t check_blocks(const struct json *list)
{
    size_t count = 0;
    for (const struct json *c = list->first; c; c = c->next, count++) {
        blm_filter        *f     = load(c, "filter_before");
        struct json_bytes  block = json_hex(c, "block"), want = json_hex(c, "merkleblock");
        struct golden_file got = { NULL, 0, 0 };
        struct matches     m   = { json_must(c, "matched")->first, 0 };
        blm_bip37_proof    p   = { .size = sizeof p };
        blm_error          err;
        check_made(c, "filter_before");
        if (blm_bip37_match_block(f, block.data, block.len, expect_match, &m, bytes_append, &got,
                                  &err) != BLM_OK)
            fail_msg("%s: %s", json_must(c, "name")->text, err.text);
        assert_null(m.next);
        golden_assert_bytes(json_must(c, "name")->text, got.data, got.len, want.data, want.len);
        is_now(f, c, "filter_after");
        /* and the other side of the wire */
        size_t told = m.told;
        m           = (struct matches){ json_must(c, "matched")->first, 0 };
        assert_int_equal(blm_bip37_check(got.data, got.len, expect_match, &m, &p, &err), BLM_OK);
        assert_null(m.next);
        assert_int_equal(m.told, told);
        assert_int_equal(p.matched, told);
        assert_printed(p.block, json_must(c, "block_hash")->text);
        assert_printed(p.root, json_must(c, "merkle_root")->text);
        free(block.data);
        free(want.data);
        free(got.data);
        blm_free(f);
    }
    return count;
}

static struct json *read_json(const char *path)
{
    struct golden_file in = golden_read(path);
    struct json       *j  = json_parse(&in);
    golden_free_file(&in);
    return j;
}

static void test_transactions(void **state)
{
    (void)state;
    struct json *j = read_json("bip37/cases/tx_cases.json");
    assert_int_equal(check_transactions(j), 43);
    json_free(j);
}

static void test_blocks(void **state)
{
    (void)state;
    struct json *j = read_json("bip37/cases/merkle_cases.json");
    assert_int_equal(check_blocks(j), 48);
    json_free(j);
}

static bool never(void *ctx, uint32_t index, const uint8_t txid[32])
{
    (void)ctx;
    (void)index;
    (void)txid;
    fail_msg("told of a match in a merkleblock that is not valid");
    return false;
}

static void test_malformed(void **state)
{
    (void)state;
    struct json *j     = read_json("bip37/cases/merkle_malformed.json");
    size_t       count = 0, valid = 0;
    for (const struct json *c = j->first; c; c = c->next, count++) {
        struct json_bytes b   = json_hex(c, "merkleblock");
        blm_bip37_proof   p   = { .size = sizeof p };
        blm_error         err = { 0 };
        bool              is  = strcmp(json_must(c, "valid")->text, "true") == 0;
        blm_status        st  = blm_bip37_check(b.data, b.len, is ? NULL : never, NULL, &p, &err);
        if ((st == BLM_OK) != is)
            fail_msg("%s: %s", json_must(c, "name")->text, is ? err.text : "accepted");
        if (!is) {
            assert_int_equal(err.status, st);
            assert_true(err.offset <= b.len);
            if (getenv("GOLDEN_VERBOSE"))
                printf("%-40s @%llu %s\n", json_must(c, "name")->text,
                       (unsigned long long)err.offset, err.text);
        }
        valid += is;
        free(b.data);
    }
    assert_int_equal(count, 44);
    assert_int_equal(valid, 5);
    json_free(j);
}

/* Bitcoin Core's own unit tests' data. */
static void test_fetched(void **state)
{
    (void)state;
    struct golden_file in = { 0 };
    if (!golden_fetched("bip37/core_cases.json", &in))
        skip();
    struct json *j = json_parse(&in);
    for (const struct json *c = json_must(j, "bloom")->first; c; c = c->next) {
        blm_filter *f = load(c, "payload");
        check_made(c, "payload");
        for (const struct json *k = json_must(c, "insert_hex")->first; k; k = k->next) {
            struct json_bytes b = json_unhex(k);
            assert_true(blm_check(f, b.data, b.len));
            free(b.data);
        }
        for (const struct json *k = json_must(c, "not_contained")->first; k; k = k->next) {
            struct json_bytes b = json_unhex(k);
            assert_false(blm_check(f, b.data, b.len));
            free(b.data);
        }
        blm_free(f);
    }
    assert_int_equal(check_transactions(json_must(j, "tx")), 10);
    assert_int_equal(check_blocks(json_must(j, "blocks")), 11);
    json_free(j);
    golden_free_file(&in);
}

/* A transaction or block cut anywhere, and with a byte too many, changes no filter. */
static void test_cut(void **state)
{
    (void)state;
    struct json       *j = read_json("bip37/cases/merkle_cases.json");
    const struct json *c = j->first;
    while (strcmp(json_must(c, "name")->text, "synth3-addr-f1") != 0)
        c = c->next;
    blm_filter        *f     = load(c, "filter_before");
    struct json_bytes  block = json_hex(c, "block");
    struct golden_file got   = { NULL, 0, 0 };
    uint8_t           *copy  = malloc(block.len + 1);
    for (size_t n = 0; n <= block.len + 1; n++) {
        blm_error err;
        if (n == block.len)
            continue;
        uint8_t *exact = malloc(n ? n : 1); /* so that a read past the end is seen */
        memcpy(copy, block.data, block.len);
        copy[block.len] = 0;
        memcpy(exact, copy, n);
        assert_true(blm_bip37_match_block(f, exact, n, NULL, NULL, bytes_append, &got, &err) < 0);
        assert_true(err.offset <= n);
        assert_int_equal(got.len, 0);
        free(exact);
    }
    is_now(f, c, "filter_before");
    free(copy);
    /* the first transaction alone, from behind the header and the count */
    size_t whole = 0;
    for (size_t n = 0; n + 81 <= block.len; n++) {
        blm_status st = blm_bip37_match(f, block.data + 81, n, NULL, NULL, NULL);
        whole += st == BLM_OK;
    }
    assert_int_equal(whole, 1);
    free(block.data);
    blm_free(f);
    json_free(j);
}

/* Every single-bit change of a merkleblock is noticed, but for the parts of the header other than
 * the root, and padding bits. (A change of the count may go unseen
 * where the tree's shape stays.) */
static void test_flipped(void **state)
{
    (void)state;
    struct json       *j = read_json("bip37/cases/merkle_cases.json");
    const struct json *c = j->first;
    while (strcmp(json_must(c, "name")->text, "synth7-middle-f1") != 0)
        c = c->next;
    struct json_bytes b      = json_hex(c, "merkleblock");
    size_t            unseen = 0;
    for (size_t i = 0; i < b.len * 8; i++) {
        bool header = i / 8 < 36 || (i / 8 >= 68 && i / 8 < 80);
        b.data[i / 8] ^= (uint8_t)(1u << (i % 8));
        blm_status st = blm_bip37_check(b.data, b.len, NULL, NULL, NULL, NULL);
        b.data[i / 8] ^= (uint8_t)(1u << (i % 8));
        if (header)
            assert_int_equal(st, BLM_OK);
        else if (i / 8 >= 84 && i / 8 < b.len - 1)
            assert_true(st < 0);
        else
            unseen += st == BLM_OK;
    }
    assert_true(unseen < 16);
    free(b.data);
    json_free(j);
}

/* Two transactions with the same id at the end of an odd level: the tree of the tampered block has
 * the root of the honest one, and is refused. */
static void test_duplicates(void **state)
{
    (void)state;
    struct json       *j = read_json("bip37/cases/merkle_cases.json");
    const struct json *c = j->first;
    while (strcmp(json_must(c, "name")->text, "synth3-all-f0") != 0)
        c = c->next;
    struct json_bytes  b     = json_hex(c, "block");
    blm_filter        *f     = load(c, "filter_before");
    struct golden_file proof = { NULL, 0, 0 };
    blm_error          err;
    /* four transactions: the third again, which begins where that makes a whole block */
    uint8_t   *four = malloc(b.len * 2);
    blm_status st   = BLM_E_FORMAT;
    memcpy(four, b.data, b.len);
    four[80] = 4;
    for (size_t len = 60; len < b.len - 81 && st != BLM_OK; len++) {
        memcpy(four + b.len, b.data + b.len - len, len);
        st = blm_bip37_match_block(f, four, b.len + len, NULL, NULL, bytes_append, &proof, NULL);
    }
    assert_int_equal(st, BLM_OK);
    assert_memory_equal(proof.data, b.data, 80);
    assert_int_equal(blm_bip37_check(proof.data, proof.len, never, NULL, NULL, &err), BLM_E_FORMAT);
    assert_non_null(strstr(err.text, "equal"));
    free(proof.data);
    free(four);
    free(b.data);
    blm_free(f);
    json_free(j);
}

static bool stop(void *ctx, uint32_t index, const uint8_t txid[32])
{
    (void)ctx;
    (void)index;
    (void)txid;
    return false;
}

static bool full(void *ctx, const void *bytes, size_t len)
{
    (void)bytes;
    size_t *room = ctx;
    bool    fits = len <= *room;
    *room -= fits ? len : 0;
    return fits;
}

static void test_stopped(void **state)
{
    (void)state;
    struct json       *j = read_json("bip37/cases/merkle_cases.json");
    const struct json *c = j->first;
    while (strcmp(json_must(c, "name")->text, "synth3-all-f0") != 0)
        c = c->next;
    struct json_bytes b = json_hex(c, "block"), m = json_hex(c, "merkleblock");
    blm_filter       *f = load(c, "filter_before");
    assert_int_equal(blm_bip37_match_block(f, b.data, b.len, stop, NULL, NULL, NULL, NULL),
                     BLM_E_CANCELLED);
    assert_int_equal(blm_bip37_check(m.data, m.len, stop, NULL, NULL, NULL), BLM_E_CANCELLED);
    for (size_t room = 0; room < m.len; room++) {
        size_t left = room;
        assert_int_equal(blm_bip37_match_block(f, b.data, b.len, NULL, NULL, full, &left, NULL),
                         BLM_E_IO);
    }
    assert_int_equal(blm_bip37_match_block(f, b.data, b.len, NULL, NULL, NULL, NULL, NULL), BLM_OK);
    free(b.data);
    free(m.data);
    blm_free(f);
    json_free(j);
}

static void test_other_scheme(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   err;
    o.items       = 10;
    o.rate        = 0.1;
    blm_filter *f = create_or_fail(&o);
    assert_int_equal(blm_bip37_match(f, "", 0, NULL, NULL, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_bip37_match_block(f, "", 0, NULL, NULL, NULL, NULL, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_bip37_check(NULL, 0, NULL, NULL, NULL, &err), BLM_E_TRUNCATED);
    blm_free(f);
    assert_int_equal(blm_bip37_match(NULL, "", 0, NULL, NULL, &err), BLM_E_ARGUMENT);
    o.scheme = "bip37";
    f        = create_or_fail(&o);
    assert_int_equal(blm_bip37_match(f, NULL, 9, NULL, NULL, &err), BLM_E_TRUNCATED);
    assert_int_equal(err.offset, 0);
    assert_int_equal(blm_bip37_match_block(f, NULL, 9, NULL, NULL, NULL, NULL, &err),
                     BLM_E_TRUNCATED);
    blm_free(f);
}

/* Numbers in more bytes than they need, in a block and in a proof. */
static void test_long_counts(void **state)
{
    (void)state;
    blm_options o       = BLM_OPTIONS_INIT;
    uint8_t     in[300] = { 0 };
    blm_error   err;
    o.scheme      = "bip37";
    o.items       = 10;
    o.rate        = 0.1;
    blm_filter *f = create_or_fail(&o);
    memcpy(in + 80, "\xfd\1\0", 3); /* one transaction */
    assert_int_equal(blm_bip37_match_block(f, in, sizeof in, NULL, NULL, NULL, NULL, &err),
                     BLM_E_FORMAT);
    assert_int_equal(err.offset, 80);
    memcpy(in + 80, "\1\0\0\0\xfd\1\0", 7); /* one hash, and a byte of flags */
    in[80 + 7 + 32] = 1;
    assert_int_equal(blm_bip37_check(in, 80 + 7 + 32 + 2, NULL, NULL, NULL, &err), BLM_E_FORMAT);
    assert_int_equal(err.offset, 84);
    assert_non_null(strstr(err.text, "shortest"));
    blm_free(f);
}

/* One input and its witness: empty, or cut within the count of its items, or within an item. */
static void test_witness(void **state)
{
    (void)state;
    static const struct {
        const char *witness;
        size_t      len;
        blm_status  want;
    } rows[] = {
        { "\0", 1, BLM_E_FORMAT },       { "\1\1x", 3, BLM_OK },
        { "", 0, BLM_E_TRUNCATED },      { "\2\1x", 3, BLM_E_TRUNCATED },
        { "\1\5x", 3, BLM_E_TRUNCATED }, { "\3\5x\0", 4, BLM_E_TRUNCATED },
    };
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "bip37";
    o.items       = 10;
    o.rate        = 0.1;
    blm_filter *f = create_or_fail(&o);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t inputs = 1; inputs < 3; inputs++) {
            struct golden_file b        = { NULL, 0, 0 };
            uint8_t            zero[41] = { 0 };
            blm_error          err      = { .status = BLM_OK };
            char               head[7]  = { 1, 0, 0, 0, 0, 1, (char)inputs };
            bytes_append(&b, head, 7);
            for (size_t j = 0; j < inputs; j++)
                bytes_append(&b, zero, 41); /* outpoint, no script, sequence */
            bytes_append(&b, zero, 1);      /* no outputs */
            for (size_t j = 0; j < inputs && (j == 0 || rows[i].want != BLM_E_TRUNCATED); j++)
                bytes_append(&b, rows[i].witness, rows[i].len);
            if (rows[i].want != BLM_E_TRUNCATED)
                bytes_append(&b, zero, 4); /* lock time */
            if (blm_bip37_match(f, b.data, b.len, NULL, NULL, &err) != rows[i].want)
                fail_msg("witness %zu of %zu inputs: %s %s", i, inputs, blm_status_name(err.status),
                         err.text);
            free(b.data);
        }
    blm_free(f);
}

/* A filter opened read-only can be asked, unless its flags would change it. */
static void test_read_only(void **state)
{
    (void)state;
    for (unsigned flags = 0; flags < 4; flags++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f, *g;
        char        path[] = "/tmp/bip37-XXXXXX";
        int         fd     = mkstemp(path);
        uint8_t     tx[10] = { 1 }; /* nothing in, nothing out */
        assert_true(fd >= 0);
        o.scheme  = "bip37";
        o.items   = 10;
        o.rate    = 0.001;
        o.variant = flags;
        f         = create_or_fail(&o);
        assert_int_equal(blm_save(f, path, "native", BLM_REPLACE, NULL), BLM_OK);
        assert_int_equal(blm_open(path, NULL, &g, NULL), BLM_OK);
        assert_int_equal(blm_bip37_match(g, tx, 10, NULL, NULL, NULL),
                         flags == 1 || flags == 2 ? BLM_E_READONLY : BLM_OK);
        blm_free(f);
        blm_free(g);
        remove(path);
    }
}

int main(void)
{
    if (blm_bip37_check("", 0, NULL, NULL, NULL, NULL) == BLM_E_UNSUPPORTED) {
        print_message("this build has no SHA-256: nothing to test\n");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transactions), cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_malformed),    cmocka_unit_test(test_fetched),
        cmocka_unit_test(test_cut),          cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_duplicates),   cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_other_scheme), cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_long_counts),  cmocka_unit_test(test_witness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
