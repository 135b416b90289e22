/* SPDX-License-Identifier: MIT */
/* foreign.h for bytes that are made in the test rather than read from one golden file: arrays cut out
 * of files, chunks put together, headers written by hand. Include after cmocka.h. */
#ifndef BLM_TESTS_GOLDEN_FILTER_H
#define BLM_TESTS_GOLDEN_FILTER_H

#include "foreign.h"

/* ---- bytes out ---- */

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
    struct golden_file b = encode_as(f, format);
    golden_assert_bytes(what, b.data, b.len, want, len);
    golden_free_file(&b);
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

GOLDEN_FN blm_options golden_as(const char *format)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.format      = format;
    return o;
}

/* Decodes bytes, from the buffer and in drops, which must agree. */
GOLDEN_FN blm_filter *golden_decode(const char *what, const void *bytes, size_t len,
                                    const blm_options *o)
{
    blm_filter    *f, *g;
    blm_error      err;
    struct trickle drops = { bytes, len, 0, 7 };
    if (blm_decode(bytes, len, o, &f, &err) != BLM_OK)
        fail_msg("%s: %s", what, err.text);
    if (blm_decode_stream(trickle_read, &drops, o, &g, &err) != BLM_OK)
        fail_msg("%s in drops: %s", what, err.text);
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

GOLDEN_FN void golden_add_members(blm_filter *f, const char *dir)
{
    struct golden_keys k = golden_members(dir);
    size_t             done;
    assert_int_equal(blm_add_many(f, k.key, k.count, NULL, &done), BLM_OK);
    assert_int_equal(done, k.count);
    golden_free_keys(&k);
}

/* ---- malformed bytes ---- */

/* As refuse_bytes, with options beside the format (which may be NULL). */
GOLDEN_FN void golden_refused(const char *what, const void *bytes, size_t len,
                              const blm_options *options)
{
    for (int stream = 0; stream < 2; stream++) {
        struct counted c;
        struct trickle drops = { bytes, len, 0, 3 };
        blm_options    o     = *options;
        blm_filter    *f     = NULL;
        blm_error      err   = { .status = BLM_OK };
        counted_start(&c);
        o.allocator   = &c.allocator;
        blm_status st = stream ? blm_decode_stream(trickle_read, &drops, &o, &f, &err)
                               : blm_decode(bytes, len, &o, &f, &err);
        if (st >= 0)
            fail_msg("%s was accepted", what);
        assert_null(f);
        assert_int_equal(st, err.status);
        assert_true(strlen(err.text) > 10);
        if (err.offset > len)
            fail_msg("%s: offset %llu of %zu bytes: %s", what, (unsigned long long)err.offset, len,
                     err.text);
        assert_int_equal(c.now, 0);
        assert_true(c.peak <= MEMORY_FOR(len));
    }
}

/* Every file that format/bad/REASONS.tsv lists and whose name begins with prefix; how many. */
GOLDEN_FN size_t golden_refuses(const char *format, const char *prefix, const blm_options *o)
{
    char   dir[128], *field[4];
    size_t count = 0;
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
    blm_status st = BLM_E_MEMORY;
    for (size_t at = 1; st != BLM_OK; at++) {
        struct counted c;
        blm_options    o = *options;
        blm_filter    *f = NULL;
        counted_start(&c);
        c.fail_at   = at;
        o.allocator = &c.allocator;
        st          = blm_decode(bytes, len, &o, &f, NULL);
        assert_true(st == BLM_OK || st == BLM_E_MEMORY);
        blm_free(f);
        assert_int_equal(c.now, 0);
        assert_true(at < 1000);
    }
}

#endif
