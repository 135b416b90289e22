/* SPDX-License-Identifier: MIT */
/* What every foreign format must prove with its golden vectors: each filter is read, written back
 * byte for byte, answers as the original did, and is rebuilt from its members; each bad file is
 * refused within the memory its bytes justify. Include after cmocka.h. */
#ifndef BLM_TESTS_FOREIGN_H
#define BLM_TESTS_FOREIGN_H

#include <math.h>

#include "append.h"
#include "golden.h"

/* ---- memory, counted ---- */

struct counted {
    blm_allocator allocator;
    size_t        now, peak;      /* bytes */
    size_t        calls, fail_at; /* fail_at: the call (from 1) that gets nothing; 0: none */
};

GOLDEN_FN void *counted_alloc(void *ctx, size_t size)
{
    struct counted *c = ctx;
    if (++c->calls == c->fail_at)
        return NULL;
    c->now += size;
    if (c->now > c->peak)
        c->peak = c->now;
    return malloc(size ? size : 1);
}

GOLDEN_FN void counted_free(void *ctx, void *p, size_t size)
{
    struct counted *c = ctx;
    assert_true(size <= c->now);
    c->now -= size;
    free(p);
}

GOLDEN_FN void counted_start(struct counted *c)
{
    memset(c, 0, sizeof *c);
    c->allocator = (blm_allocator){ c, counted_alloc, NULL, counted_free };
}

/* ---- bytes in and out ---- */

GOLDEN_FN bool bytes_append(void *ctx, const void *bytes, size_t len)
{
    struct golden_file *f = ctx;
    f->data               = append_room(f->data, f->len + len);
    memcpy(f->data + f->len, bytes, len);
    f->len += len;
    return true;
}

/* A reader that gives `step` bytes at a time. */
struct trickle {
    const char *data;
    size_t      len, at, step;
};

GOLDEN_FN size_t trickle_read(void *ctx, void *bytes, size_t len)
{
    struct trickle *t = ctx;
    size_t          n = len < t->step ? len : t->step;
    if (n > t->len - t->at)
        n = t->len - t->at;
    memcpy(bytes, t->data + t->at, n);
    t->at += n;
    return n;
}

GOLDEN_FN struct golden_file encode_as(const blm_filter *f, const char *format)
{
    struct golden_file out = { calloc(1, 1), 0, 0 };
    blm_error          err;
    if (blm_encode(f, format, bytes_append, &out, &err) != BLM_OK)
        fail_msg("encode: %s", err.text);
    return out;
}

GOLDEN_FN void assert_same_bytes(const struct golden_file *got, const struct golden_file *want)
{
    assert_int_equal(got->len, want->len);
    assert_memory_equal(got->data, want->data, want->len);
}

GOLDEN_FN blm_filter *decode_bytes(const struct golden_file *bytes, const blm_options *o)
{
    blm_filter *f;
    blm_error   err;
    if (blm_decode(bytes->data, bytes->len, o, &f, &err) != BLM_OK)
        fail_msg("decode: %s (offset %llu)", err.text, (unsigned long long)err.offset);
    return f;
}

GOLDEN_FN blm_filter *create_or_fail(const blm_options *o)
{
    blm_filter *f;
    blm_error   err;
    if (blm_create(o, &f, &err) != BLM_OK)
        fail_msg("create: %s", err.text);
    return f;
}

GOLDEN_FN void create_is(blm_options o, blm_status want)
{
    blm_filter *f;
    blm_error   err;
    assert_int_equal(blm_create(&o, &f, &err), want);
    if (want == BLM_OK)
        blm_free(f);
    else
        assert_null(f);
}

/* ---- good files ---- */

GOLDEN_FN void check_probes(const blm_filter *f, const char *dir)
{
    struct golden_keys k     = golden_probes(dir);
    uint8_t           *maybe = malloc(k.count + 1);
    assert_true(k.count >= 200);
    blm_check_many(f, k.key, k.count, maybe);
    for (size_t i = 0; i < k.count; i++) {
        if (maybe[i] != k.answer[i] || blm_check(f, k.key[i].data, k.key[i].len) != k.answer[i])
            fail_msg("%s: probe %zu is answered %d, not %d", dir, i, maybe[i], k.answer[i]);
    }
    free(maybe);
    golden_free_keys(&k);
}

/* dir/file is read (as `format`, and when `sniffed` without being told), as a whole and in drops,
 * gives the same filter each time, is written back byte for byte (gzip: see test_dcso) and answers
 * every probe. `o`: funnel and the like; its format is set here. */
GOLDEN_FN void prove_file(const char *dir, const char *file, const char *format, bool sniffed,
                          const blm_options *o)
{
    struct golden_file bytes = golden_read_in(dir, file);
    blm_options        named = *o, unnamed = *o;
    struct trickle     drops = { bytes.data, bytes.len, 0, 7 };
    blm_filter        *g;
    blm_error          err;
    named.format  = format;
    blm_filter *f = decode_bytes(&bytes, &named);
    blm_params  p = { .size = sizeof p };
    assert_int_equal(blm_get_params(f, &p), BLM_OK);
    assert_string_equal(p.format, format);
    struct golden_file again = encode_as(f, NULL);
    assert_same_bytes(&again, &bytes);
    check_probes(f, dir);
    if (blm_decode_stream(trickle_read, &drops, &named, &g, &err) != BLM_OK)
        fail_msg("%s/%s in drops: %s", dir, file, err.text);
    assert_true(blm_equal(f, g));
    blm_free(g);
    if (sniffed) {
        unnamed.format = NULL;
        g              = decode_bytes(&bytes, &unnamed);
        assert_int_equal(blm_get_params(g, &p), BLM_OK);
        assert_string_equal(p.format, format);
        assert_true(blm_equal(f, g));
        blm_free(g);
    }
    blm_free(f);
    golden_free_file(&again);
    golden_free_file(&bytes);
}

/* A new filter made with `o`, the members added, encoded as `format`: the same bytes as dir/file.
 * Members from … to − 1 (to 0: all). */
GOLDEN_FN void prove_rebuild(const char *dir, const char *file, const char *format,
                             const blm_options *o, size_t from, size_t to)
{
    struct golden_file bytes = golden_read_in(dir, file);
    struct golden_keys k     = golden_members(dir);
    blm_filter        *f     = create_or_fail(o);
    assert_int_equal(k.count, golden_meta(dir, "inserted"));
    if (to == 0)
        to = k.count;
    assert_int_equal(blm_add_many(f, k.key + from, to - from, NULL, NULL), BLM_OK);
    struct golden_file made = encode_as(f, format);
    assert_same_bytes(&made, &bytes);
    blm_free(f);
    golden_free_file(&made);
    golden_free_file(&bytes);
    golden_free_keys(&k);
}

/* a.bin ∪ b.bin is filter.bin, and each part is rebuilt from its part of the members. */
GOLDEN_FN void prove_union(const char *dir, const char *format, const blm_options *create)
{
    struct golden_file a = golden_read_in(dir, "a.bin"), b = golden_read_in(dir, "b.bin");
    struct golden_file whole = golden_read_in(dir, "filter.bin");
    blm_options        o     = BLM_OPTIONS_INIT;
    o.format                 = format;
    blm_filter *x = decode_bytes(&a, &o), *y = decode_bytes(&b, &o);
    assert_int_equal(blm_union(x, y, NULL), BLM_OK);
    struct golden_file both = encode_as(x, NULL);
    assert_same_bytes(&both, &whole);
    size_t split = (size_t)golden_meta(dir, "union_split_a");
    prove_rebuild(dir, "a.bin", format, create, 0, split);
    prove_rebuild(dir, "b.bin", format, create, split, 0);
    blm_free(x);
    blm_free(y);
    golden_free_file(&both);
    golden_free_file(&whole);
    golden_free_file(&a);
    golden_free_file(&b);
}

/* ---- bad files ---- */

/* What reading may hold at once: the bytes twice (a stream's claim of a size is believed step by
 * step), the handle, zlib's windows. */
#define MEMORY_FOR(len) (2 * (len) + (192u << 10))

/* One file of <format>/bad must be refused, whole and in drops, with a sentence and a place, no
 * memory beyond what the file justifies, and none kept. */
GOLDEN_FN blm_error refuse_bytes(const struct golden_file *bytes, const char *name,
                                 const char *format)
{
    struct counted c;
    blm_filter    *f;
    blm_error      err = { .status = BLM_OK }, dropped;
    blm_options    o   = BLM_OPTIONS_INIT;
    struct trickle t   = { bytes->data, bytes->len, 0, 3 };
    counted_start(&c);
    o.format    = format;
    o.allocator = &c.allocator;
    if (blm_decode(bytes->data, bytes->len, &o, &f, &err) == BLM_OK)
        fail_msg("%s was accepted as %s", name, format);
    assert_null(f);
    if (blm_decode_stream(trickle_read, &t, &o, &f, &dropped) == BLM_OK)
        fail_msg("%s was accepted as %s in drops", name, format);
    /* A stream cannot be seen to end: where a size_t is too small for its claim, that is the reason. */
    bool beyond =
        sizeof(size_t) < 8 && err.status == BLM_E_TRUNCATED && dropped.status == BLM_E_LIMIT;
    if ((err.status != dropped.status && !beyond) || err.offset == BLM_NO_OFFSET ||
        err.text[0] == 0)
        fail_msg("%s: %s at %llu: \"%s\"; in drops %s", name, blm_status_name(err.status),
                 (unsigned long long)err.offset, err.text, blm_status_name(dropped.status));
    assert_true(err.offset <= bytes->len);
    assert_true(c.peak <= MEMORY_FOR(bytes->len));
    assert_int_equal(c.now, 0);
    return err;
}

/* Every file that REASONS.tsv lists and `format_of` (NULL: not this test's) gives a format for;
 * returns how many. */
GOLDEN_FN size_t refuse_all(const char *dir, const char *(*format_of)(const char *file))
{
    char path[128];
    snprintf(path, sizeof path, "%s/bad", dir);
    struct golden_file reasons = golden_read_in(path, "REASONS.tsv");
    size_t             count   = 0;
    for (char *line; (line = golden_line(&reasons, NULL));) {
        char *field[2];
        if (line[0] == '#' || golden_fields(line, field, 2) != 2 || !format_of(field[0]))
            continue;
        struct golden_file bytes = golden_read_in(path, field[0]);
        refuse_bytes(&bytes, field[0], format_of(field[0]));
        golden_free_file(&bytes);
        count++;
    }
    golden_free_file(&reasons);
    return count;
}

/* What is wrong with a file of <dir>/bad, where, and a word of the sentence that must say so. */
struct fault {
    const char *file, *word;
    blm_status  status;
    uint64_t    offset;
};

GOLDEN_FN void refuse_at(const char *dir, const struct fault *faults, size_t count,
                         const char *(*format_of)(const char *file))
{
    char path[128];
    snprintf(path, sizeof path, "%s/bad", dir);
    for (const struct fault *f = faults; f < faults + count; f++) {
        struct golden_file bytes = golden_read_in(path, f->file);
        blm_error          err   = refuse_bytes(&bytes, f->file, format_of(f->file));
        if (err.status != f->status || err.offset != f->offset || !strstr(err.text, f->word))
            fail_msg("%s: %s at %llu: %s", f->file, blm_status_name(err.status),
                     (unsigned long long)err.offset, err.text);
        golden_free_file(&bytes);
    }
}

/* A good file cut at every length is refused: it has no shorter filter inside. */
GOLDEN_FN void refuse_cuts(const char *dir, const char *file, const char *format)
{
    struct golden_file bytes = golden_read_in(dir, file);
    for (size_t len = 0; len < bytes.len; len++) {
        struct golden_file cut = { malloc(len + 1), len, 0 };
        memcpy(cut.data, bytes.data, len);
        blm_error err = refuse_bytes(&cut, "a cut file", format);
        if (err.status != BLM_E_TRUNCATED)
            fail_msg("%s/%s cut to %zu bytes: %s: %s", dir, file, len, blm_status_name(err.status),
                     err.text);
        golden_free_file(&cut);
    }
    golden_free_file(&bytes);
}

/* Each allocation of a decode fails once: E_MEMORY, nothing kept. And with a cap below the filter's
 * size: E_LIMIT. */
GOLDEN_FN void starve(const char *dir, const char *file, const char *format)
{
    struct golden_file bytes = golden_read_in(dir, file);
    blm_options        o     = BLM_OPTIONS_INIT;
    struct counted     c;
    blm_filter        *f;
    blm_error          err;
    blm_status         st = BLM_E_MEMORY;
    o.format              = format;
    o.allocator           = &c.allocator;
    for (size_t fail_at = 1; st != BLM_OK; fail_at++) {
        counted_start(&c);
        c.fail_at = fail_at;
        st        = blm_decode(bytes.data, bytes.len, &o, &f, &err);
        if (st == BLM_OK)
            blm_free(f);
        else
            assert_int_equal(st, BLM_E_MEMORY);
        assert_int_equal(c.now, 0);
        assert_true(fail_at < 100);
    }
    counted_start(&c);
    o.max_bytes = 8;
    assert_int_equal(blm_decode(bytes.data, bytes.len, &o, &f, &err), BLM_E_LIMIT);
    assert_int_equal(c.now, 0);
    golden_free_file(&bytes);
}

/* Guava's and Spark's expectedFpp is the fill to the power of k, to a last digit of pow. The rate now is above it,
 * because probes are in step. */
GOLDEN_FN void assert_java_rate(const char *dir, const blm_stats *s)
{
    double fpp = golden_meta(dir, "expectedFpp"), rate = pow(s->fill, s->params.probes);
    if (fabs(rate - fpp) > 4e-16 * fpp)
        fail_msg("%s: a rate of %.17g, not %.17g", dir, rate, fpp);
    if (!(s->rate_now >= fpp && s->rate_now < 1.5 * fpp + 0.01))
        fail_msg("%s: a rate now of %g, where the original says %g", dir, s->rate_now, fpp);
}

#endif
