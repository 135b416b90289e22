/* SPDX-License-Identifier: MIT */
/* What every foreign format must pass, given its golden vectors: decode, answer every probe as the
 * original does, write the same bytes back, and refuse the malformed files within bounds of memory.
 * Include after cmocka.h. */
#ifndef BLM_TESTS_GOLDEN_FILTER_H
#define BLM_TESTS_GOLDEN_FILTER_H

#include "golden.h"

/* ---- bytes out ---- */

struct golden_bytes {
    uint8_t *data;
    size_t   len, room;
};

GOLDEN_FN bool golden_gather(void *ctx, const void *bytes, size_t len)
{
    struct golden_bytes *b = ctx;
    if (b->len + len > b->room) {
        b->room = (b->len + len) * 2;
        b->data = realloc(b->data, b->room);
        assert_non_null(b->data);
    }
    if (len)
        memcpy(b->data + b->len, bytes, len);
    b->len += len;
    return true;
}

/* Encoded; format NULL: the one it came from. The caller frees data. */
GOLDEN_FN struct golden_bytes golden_encode(const blm_filter *f, const char *format)
{
    struct golden_bytes b = { NULL, 0, 0 };
    blm_error           err;
    if (blm_encode(f, format, golden_gather, &b, &err) != BLM_OK)
        fail_msg("cannot encode as %s: %s", format ? format : "itself", err.text);
    return b;
}

GOLDEN_FN void golden_assert_bytes(const char *what, const void *got, size_t got_len,
                                   const void *want, size_t want_len)
{
    if (got_len != want_len)
        fail_msg("%s: %zu bytes, not %zu", what, got_len, want_len);
    for (size_t i = 0; i < got_len; i++)
        if (((const uint8_t *)got)[i] != ((const uint8_t *)want)[i])
            fail_msg("%s: byte %zu of %zu differs", what, i, got_len);
}

/* The filter encodes to these bytes. */
GOLDEN_FN void golden_encodes_to(const blm_filter *f, const char *format, const char *what,
                                 const void *want, size_t len)
{
    struct golden_bytes b = golden_encode(f, format);
    golden_assert_bytes(what, b.data, b.len, want, len);
    free(b.data);
}

/* The filter encodes to the bytes of dir/name. */
GOLDEN_FN void golden_writes(const blm_filter *f, const char *format, const char *dir,
                             const char *name)
{
    struct golden_file want = golden_read_in(dir, name);
    golden_encodes_to(f, format, dir, want.data, want.len);
    golden_free_file(&want);
}

/* ---- bytes in ---- */

/* A reader that gives a buffer in small, uneven pieces, as a pipe might. */
struct golden_pipe {
    const uint8_t *data;
    size_t         len, at;
};

GOLDEN_FN size_t golden_pour(void *ctx, void *bytes, size_t len)
{
    struct golden_pipe *p = ctx;
    size_t piece = 1 + (p->at * 7 + 3) % 61, left = p->len - p->at;
    size_t n = len < piece ? len : piece;
    n = n < left ? n : left;
    if (n)
        memcpy(bytes, p->data + p->at, n);
    p->at += n;
    return n;
}

/* Decodes bytes, from the buffer and as a stream, which must agree. */
GOLDEN_FN blm_filter *golden_decode(const char *what, const void *bytes, size_t len,
                                    const blm_options *o)
{
    blm_filter        *f, *g;
    blm_error          err;
    struct golden_pipe pipe = { bytes, len, 0 };
    if (blm_decode(bytes, len, o, &f, &err) != BLM_OK)
        fail_msg("%s: %s", what, err.text);
    if (blm_decode_stream(golden_pour, &pipe, o, &g, &err) != BLM_OK)
        fail_msg("%s as a stream: %s", what, err.text);
    assert_true(blm_equal(f, g));
    blm_free(g);
    return f;
}

GOLDEN_FN blm_filter *golden_load(const char *dir, const char *name, const blm_options *o)
{
    struct golden_file in = golden_read_in(dir, name);
    blm_filter        *f  = golden_decode(dir, in.data, in.len, o);
    golden_free_file(&in);
    return f;
}

/* Data files of other projects, which are not copied into this tree: read where they lie beside it
 * (../shared/formats/fetched). False, and a word about it, when they are not there. */
GOLDEN_FN bool golden_fetched(const char *path, struct golden_file *out)
{
    char full[512];
    snprintf(full, sizeof full, "../../../shared/formats/fetched/%s", path);
    FILE *in = fopen(TEST_DATA "/../../shared/formats/fetched", "rb");
    if (!in) {
        print_message("%s is not beside this tree: not tried\n", path);
        return false;
    }
    fclose(in);
    *out = golden_read(full);
    return true;
}

/* ---- keys ---- */

/* Every line of probes.tsv, one by one and in a batch. */
GOLDEN_FN void golden_answers(const blm_filter *f, const char *dir)
{
    struct golden_keys k     = golden_probes(dir);
    uint8_t           *maybe = malloc(k.count + 1);
    assert_true(k.count >= 200);
    blm_check_many(f, k.key, k.count, maybe);
    for (size_t i = 0; i < k.count; i++)
        if (blm_check(f, k.key[i].data, k.key[i].len) != (k.answer[i] != 0) ||
            maybe[i] != k.answer[i])
            fail_msg("%s: probe %zu is answered %s", dir, i + 1, k.answer[i] ? "no" : "maybe");
    free(maybe);
    golden_free_keys(&k);
}

GOLDEN_FN void golden_add_members(blm_filter *f, const char *dir)
{
    struct golden_keys k = golden_members(dir);
    size_t             done;
    assert_int_equal(blm_add_many(f, k.key, k.count, NULL, &done), BLM_OK);
    assert_int_equal(done, k.count);
    golden_free_keys(&k);
}

GOLDEN_FN blm_filter *golden_create(const char *what, const blm_options *o)
{
    blm_filter *f;
    blm_error   err;
    if (blm_create(o, &f, &err) != BLM_OK)
        fail_msg("%s: cannot create: %s", what, err.text);
    return f;
}

/* ---- malformed files ---- */

/* An allocator that knows how much is out, how much was out at most, and what to refuse. */
struct golden_meter {
    size_t out, most, calls, fail_at; /* fail_at: refuse this call (counted from 1); 0: none */
};

GOLDEN_FN void *golden_meter_alloc(void *ctx, size_t size)
{
    struct golden_meter *m = ctx;
    if (++m->calls == m->fail_at)
        return NULL;
    m->out += size;
    if (m->out > m->most)
        m->most = m->out;
    return malloc(size);
}

GOLDEN_FN void golden_meter_free(void *ctx, void *p, size_t size)
{
    ((struct golden_meter *)ctx)->out -= size;
    free(p);
}

/* Bytes must be refused, with a place and a sentence, and within memory that their length justifies:
 * from a buffer and as a stream. */
GOLDEN_FN void golden_refused(const char *what, const void *bytes, size_t len,
                              const blm_options *options)
{
    for (int stream = 0; stream < 2; stream++) {
        struct golden_meter m = { 0 };
        blm_allocator       a = { &m, golden_meter_alloc, NULL, golden_meter_free };
        struct golden_pipe  pipe = { bytes, len, 0 };
        blm_options         o = *options;
        blm_filter         *f = NULL;
        blm_error           err = { 0 };
        o.allocator = &a;
        blm_status st = stream ? blm_decode_stream(golden_pour, &pipe, &o, &f, &err)
                               : blm_decode(bytes, len, &o, &f, &err);
        if (st >= 0)
            fail_msg("%s was accepted", what);
        assert_null(f);
        assert_int_equal(st, err.status);
        assert_true(strlen(err.text) > 10);
        if (err.offset > len)
            fail_msg("%s: offset %llu of %zu bytes: %s", what, (unsigned long long)err.offset, len,
                     err.text);
        assert_int_equal(m.out, 0);
        if (m.most > 4 * len + (1u << 17))
            fail_msg("%s: %zu bytes allocated for %zu of input", what, m.most, len);
        if (getenv("GOLDEN_VERBOSE") && !stream)
            printf("%-24s @%-6llu %s\n", what, (unsigned long long)err.offset, err.text);
    }
}

/* Every file that format/bad/REASONS.tsv lists and whose name begins with prefix; how many. */
GOLDEN_FN size_t golden_refuses(const char *format, const char *prefix, const blm_options *o)
{
    char               dir[128], *field[4];
    size_t             count = 0;
    snprintf(dir, sizeof dir, "%s/bad", format);
    struct golden_file list = golden_read_in(dir, "REASONS.tsv");
    for (char *line; (line = golden_line(&list, NULL));) {
        if (line[0] == '#' || golden_fields(line, field, 4) < 3 ||
            strncmp(field[0], prefix, strlen(prefix)) != 0)
            continue;
        struct golden_file in = golden_read_in(dir, field[0]);
        assert_int_equal(in.len, strtoul(field[1], NULL, 10));
        golden_refused(field[0], in.data, in.len, o);
        golden_free_file(&in);
        count++;
    }
    golden_free_file(&list);
    return count;
}

/* Decoding with every allocation failing in turn: an error, nothing lost; until it succeeds. */
GOLDEN_FN void golden_starve(const void *bytes, size_t len, const blm_options *options)
{
    for (size_t at = 1;; at++) {
        struct golden_meter m = { .fail_at = at };
        blm_allocator       a = { &m, golden_meter_alloc, NULL, golden_meter_free };
        blm_options         o = *options;
        blm_filter         *f = NULL;
        o.allocator = &a;
        blm_status st = blm_decode(bytes, len, &o, &f, NULL);
        if (st == BLM_OK) {
            blm_free(f);
            assert_int_equal(m.out, 0);
            assert_true(at > 1);
            return;
        }
        assert_int_equal(st, BLM_E_MEMORY);
        assert_int_equal(m.out, 0);
        assert_true(at < 1000);
    }
}

#endif
