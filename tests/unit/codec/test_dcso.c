/* SPDX-License-Identifier: MIT */
/* Filters written by DCSO's bloom 0.2.4 and 0.1.0, plain and in gzip. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "api/filter.h"
#include "foreign.h"

static const char *const vectors[] = {
    "v01-binary200",  "v01-med1000-p03",   "v1-binary200",  "v1-empty",   "v1-emptykey",
    "v1-med1000-p03", "v1-med1000-p01-zh", "v1-overfilled", "v1-small10", "v1-union",
};

#define VECTORS (sizeof vectors / sizeof *vectors)

static const char *format_in(const char *vector)
{
    return strncmp(vector, "v01-", 4) == 0 ? "dcso01" : "dcso";
}

static void path_of(const char *vector, char *dir) { snprintf(dir, 64, "dcso/%s", vector); }

static blm_options create_options(const char *dir, const char *format)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = format;
    o.items       = (uint64_t)golden_meta(dir, "design_n");
    o.rate        = golden_meta(dir, "design_p");
    return o;
}

static void test_read_and_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        char        dir[64];
        blm_options o = BLM_OPTIONS_INIT;
        path_of(vectors[i], dir);
        prove_file(dir, "filter.bin", format_in(vectors[i]), true, &o);
    }
}

/* What is attached is not built from keys: compare without it. The union's own count is a sum. */
static void test_rebuild(void **state)
{
    (void)state;
    for (size_t i = 0; i < VECTORS; i++) {
        char dir[64];
        path_of(vectors[i], dir);
        blm_options        o     = create_options(dir, format_in(vectors[i]));
        struct golden_file bytes = golden_read_in(dir, "filter.bin");
        struct golden_keys k     = golden_members(dir);
        blm_filter        *f     = create_or_fail(&o);
        blm_params         p     = { .size = sizeof p };
        assert_int_equal(blm_add_many(f, k.key, k.count, NULL, NULL), BLM_OK);
        blm_get_params(f, &p);
        assert_int_equal(p.bits, golden_meta(dir, "m"));
        assert_int_equal(p.probes, golden_meta(dir, "k"));
        if (strcmp(vectors[i], "v1-union") != 0)
            assert_int_equal(p.items, golden_meta(dir, "N_elements"));
        struct golden_file made = encode_as(f, NULL);
        char               data[16];
        size_t             attached = 0;
        if (golden_meta_text(dir, "data_bytes", data, sizeof data))
            attached = strtoul(data, NULL, 10);
        assert_int_equal(made.len + attached, bytes.len);
        assert_memory_equal(made.data + 48, bytes.data + 48, made.len - 48);
        if (strcmp(vectors[i], "v1-union") != 0)
            assert_memory_equal(made.data, bytes.data, made.len);
        blm_free(f);
        golden_free_file(&made);
        golden_free_file(&bytes);
        golden_free_keys(&k);
    }
}

static void test_union(void **state)
{
    (void)state;
    blm_options o = create_options("dcso/v1-union", "dcso");
    prove_union("dcso/v1-union", "dcso", &o);
}

/* What the file says of itself, and what it carries along. */
static void test_fields(void **state)
{
    (void)state;
    struct golden_file bytes = golden_read("dcso/v1-med1000-p03/filter.bin");
    blm_filter        *f     = decode_bytes(&bytes, NULL), *g;
    blm_params         p     = { .size = sizeof p };
    blm_get_params(f, &p);
    assert_int_equal(p.capacity, 1000);
    assert_true(p.rate == 0.03);
    assert_int_equal(p.items, 992);
    /* A copy has the attached data too, and adds do not touch it. */
    assert_int_equal(blm_copy(f, &g, NULL), BLM_OK);
    assert_int_equal(blm_add(g, "surely a new key", 16), BLM_OK);
    struct golden_file out = encode_as(g, NULL);
    assert_int_equal(out.len, bytes.len);
    assert_memory_equal(out.data + out.len - 27, bytes.data + bytes.len - 27, 27);
    assert_int_equal((uint8_t)out.data[40], 992 % 256 + 1);
    blm_free(f);
    blm_free(g);
    golden_free_file(&out);
    golden_free_file(&bytes);
}

/* ---- gzip ---- */

static void check_gzip(const char *dir)
{
    struct golden_file       packed = golden_read_in(dir, "filter.bin.gz");
    struct golden_file       plain  = golden_read_in(dir, "filter.bin");
    static const char *const ways[] = { NULL, "dcso", "dcso-gz" };
    for (size_t i = 0; i < 3; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_params  p = { .size = sizeof p };
        o.format      = ways[i];
        blm_filter *f = decode_bytes(&packed, &o);
        blm_get_params(f, &p);
        assert_string_equal(p.format, "dcso-gz");
        check_probes(f, dir);
        struct golden_file inflated = encode_as(f, "dcso");
        assert_same_bytes(&inflated, &plain);
        /* Written as it was read, in gzip, and readable again. */
        struct golden_file again = encode_as(f, NULL);
        assert_int_equal((uint8_t)again.data[0], 0x1f);
        blm_filter *g = decode_bytes(&again, &o);
        assert_true(blm_equal(f, g));
        struct golden_file twice = encode_as(g, "dcso");
        assert_same_bytes(&twice, &plain);
        blm_free(f);
        blm_free(g);
        golden_free_file(&inflated);
        golden_free_file(&again);
        golden_free_file(&twice);
    }
    golden_free_file(&packed);
    golden_free_file(&plain);
}

static bool has_gzip(void)
{
    for (size_t i = 0; blm_format_at(i); i++)
        if (strcmp(blm_format_at(i)->name, "dcso-gz") == 0)
            return blm_format_at(i)->reads;
    return false;
}

static void test_gzip(void **state)
{
    (void)state;
    if (!has_gzip())
        skip();
    check_gzip("dcso/v1-small10");
    check_gzip("dcso/v1-med1000-p01-zh");
}

/* Two members one after the other are one stream, as every gzip reader takes them. */
static void test_gzip_members(void **state)
{
    (void)state;
    if (!has_gzip())
        skip();
    struct golden_file plain = golden_read("dcso/v1-small10/filter.bin");
    struct golden_file more  = { NULL, 0, 0 };
    blm_filter        *f     = decode_bytes(&plain, NULL), *g;
    struct golden_file first = encode_as(f, "dcso-gz");
    bytes_append(&more, first.data, first.len);
    bytes_append(&more, first.data, first.len); /* the second filter is attached data now */
    g = decode_bytes(&more, NULL);
    assert_true(blm_equal(f, g));
    struct golden_file out = encode_as(g, "dcso");
    assert_int_equal(out.len, 2 * plain.len);
    assert_memory_equal(out.data + plain.len, plain.data, plain.len);
    more.len -= 1; /* and cut, it is refused */
    refuse_bytes(&more, "a cut second member", "dcso-gz");
    more.len = first.len + 5;
    memcpy(more.data + first.len, "trash", 5);
    refuse_bytes(&more, "trash behind gzip", "dcso-gz");
    blm_free(f);
    blm_free(g);
    golden_free_file(&plain);
    golden_free_file(&more);
    golden_free_file(&first);
    golden_free_file(&out);
}

/* Trouble inside is told by both places: the compressed byte, and the one it inflates to. */
static void test_gzip_places(void **state)
{
    (void)state;
    if (!has_gzip())
        skip();
    /* Deflate's stored blocks: the bytes as they are. A dcso header with k = 0. */
    uint8_t            gz[23 + 64] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 64, 0, 191, 255 };
    struct golden_file plain       = golden_read("dcso/bad/k-zero.bloom");
    struct golden_file in          = { (char *)gz, 15 + 64, 0 };
    assert_int_equal(plain.len, 64);
    memcpy(gz + 15, plain.data, 64);
    blm_error err = refuse_bytes(&in, "k = 0 in gzip", "dcso");
    assert_non_null(strstr(err.text, "byte 24 of the inflated bytes: k is 0"));
    golden_free_file(&plain);
}

/* 16 MiB of zeroes, attached to a small filter, in some 16 KiB of gzip: within a cap they are
 * refused before they are all there. */
static void test_gzip_bomb(void **state)
{
    (void)state;
    if (!has_gzip())
        skip();
    enum { SIZE = 16 << 20 };
    struct golden_file plain = golden_read("dcso/v1-small10/filter.bin");
    plain.data               = realloc(plain.data, SIZE);
    memset(plain.data + plain.len, 0, SIZE - plain.len);
    plain.len               = SIZE;
    blm_filter        *f    = decode_bytes(&plain, NULL), *g;
    struct golden_file bomb = encode_as(f, "dcso-gz");
    struct counted     c;
    blm_options        o = BLM_OPTIONS_INIT;
    blm_error          err;
    assert_true(bomb.len < 64 << 10);
    counted_start(&c);
    o.allocator = &c.allocator;
    o.max_bytes = 1 << 20;
    assert_int_equal(blm_decode(bomb.data, bomb.len, &o, &g, &err), BLM_E_LIMIT);
    assert_true(c.peak < 8 << 20);
    assert_int_equal(c.now, 0);
    blm_free(f);
    golden_free_file(&plain);
    golden_free_file(&bomb);
}

/* Without a cap of the caller's a gzip stream may inflate to 1 GiB: one more is refused. A member
 * of 16 MiB again and again makes it cheap to write. */
static void test_gzip_most(void **state)
{
    (void)state;
    if (!has_gzip() || !getenv("BLM_SLOW"))
        skip();
    enum { SIZE = 16 << 20 };
    struct golden_file plain = golden_read("dcso/v1-small10/filter.bin");
    struct golden_file many  = { NULL, 0, 0 };
    blm_filter        *f, *g;
    blm_error          err;
    plain.data = realloc(plain.data, SIZE);
    memset(plain.data + plain.len, 0, SIZE - plain.len);
    plain.len                 = SIZE;
    f                         = decode_bytes(&plain, NULL);
    struct golden_file member = encode_as(f, "dcso-gz");
    for (int i = 0; i < 64; i++)
        bytes_append(&many, member.data, member.len);
    g = decode_bytes(&many, NULL); /* exactly 1 GiB */
    blm_free(g);
    bytes_append(&many, member.data, member.len);
    assert_int_equal(blm_decode(many.data, many.len, NULL, &g, &err), BLM_E_LIMIT);
    assert_true(err.offset <= many.len);
    blm_free(f);
    golden_free_file(&plain);
    golden_free_file(&many);
    golden_free_file(&member);
}

/* Words and what is attached to them share the caller's cap. */
static void test_attached_counts(void **state)
{
    (void)state;
    struct golden_file plain = golden_read("dcso/v1-small10/filter.bin");
    uint64_t           words = plain.len - 48;
    bytes_append(&plain, "0123456789", 10);
    blm_filter *f = decode_bytes(&plain, NULL);
    for (int i = 0; i < (has_gzip() ? 3 : 2); i++) {
        struct golden_file b = encode_as(f, i == 0 ? "dcso" : i == 1 ? "native" : "dcso-gz");
        for (uint64_t cap = words - 1; cap < words + 12; cap++) {
            blm_options o = BLM_OPTIONS_INIT;
            blm_filter *g = NULL;
            blm_error   err;
            o.max_bytes   = cap;
            blm_status st = blm_decode(b.data, b.len, &o, &g, &err);
            assert_int_equal(st, cap < words + 10 ? BLM_E_LIMIT : BLM_OK);
            if (i == 0 && cap == words + 9)
                assert_non_null(strstr(err.text, "with the attached data"));
            blm_free(g);
        }
        golden_free_file(&b);
    }
    blm_free(f);
    golden_free_file(&plain);
}

/* ---- bad ---- */

static const char *format_of(const char *file)
{
    return strncmp(file, "v01-", 4) == 0 ? "dcso01"
           : strstr(file, ".gz")         ? (has_gzip() ? "dcso-gz" : NULL)
                                         : "dcso";
}

static void test_bad(void **state)
{
    (void)state;
    assert_int_equal(refuse_all("dcso", format_of), has_gzip() ? 20 : 18);
    refuse_cuts("dcso/v1-small10", "filter.bin", "dcso");
    refuse_cuts("dcso/v01-binary200", "filter.bin", "dcso01");
    starve("dcso/v1-med1000-p03", "filter.bin", "dcso");
    starve("dcso/v01-binary200", "filter.bin", "dcso01");
    if (has_gzip()) {
        refuse_cuts("dcso/v1-small10", "filter.bin.gz", "dcso-gz");
        starve("dcso/v1-small10", "filter.bin.gz", "dcso-gz");
    }
}

static void test_places(void **state)
{
    (void)state;
    static const struct fault faults[] = {
        { "version0.bloom", "version 0", BLM_E_FORMAT, 0 },
        { "version2.bloom", "version 2", BLM_E_FORMAT, 0 },
        { "p-nan.bloom", "p is", BLM_E_FORMAT, 16 },
        { "p-neg.bloom", "p is -", BLM_E_FORMAT, 16 },
        { "p-two.bloom", "p is 2", BLM_E_FORMAT, 16 },
        { "k-zero.bloom", "k is 0", BLM_E_FORMAT, 24 },
        { "k-max.bloom", "k is 18446744073709551615", BLM_E_FORMAT, 24 },
        { "m-zero.bloom", "m is 0", BLM_E_FORMAT, 32 },
        { "m-huge.bloom", "m is 4611686018427387904", BLM_E_FORMAT, 32 },
        { "no-body.bloom", "ends", BLM_E_TRUNCATED, 48 },
        { "v01-m-zero.bloom", "m is 0", BLM_E_FORMAT, 16 },
        { "v01-k-zero.bloom", "k is 0", BLM_E_FORMAT, 12 },
        { "v01-trunc.bloom", "ends", BLM_E_TRUNCATED, 88 },
    };
    refuse_at("dcso", faults, sizeof faults / sizeof *faults, format_of);
}

/* Bits past m: no DCSO program sets them, and they would be counted. */
static void test_slack(void **state)
{
    (void)state;
    struct golden_file bytes = golden_read("dcso/v1-small10/filter.bin"); /* m = 95 */
    bytes.data[48 + 11] |= (char)0x80;                                    /* bit 95 */
    blm_error err = refuse_bytes(&bytes, "bit 95 of 95", "dcso");
    assert_int_equal(err.status, BLM_E_FORMAT);
    assert_int_equal(err.offset, 56);
    golden_free_file(&bytes);
}

/* Bytes that begin as gzip and are none, and gzip with something else in it. */
static void test_not_gzip(void **state)
{
    (void)state;
    struct golden_file half = { (char *)"\x1f\0", 2, 0 };
    blm_error          err  = refuse_bytes(&half, "half of gzip's first bytes", "dcso");
    assert_int_equal(err.offset, 0);
    if (!has_gzip())
        skip();
    struct golden_file packed = golden_read("dcso/v1-small10/filter.bin.gz");
    blm_options        o      = BLM_OPTIONS_INIT;
    o.max_bytes               = UINT64_MAX; /* a limit that is none */
    blm_free(decode_bytes(&packed, &o));
    golden_free_file(&packed);
    /* gzip of "hello" */
    static const char  hello[] = "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\7\0"
                                 "\x86\xa6\x10\x36\x05\0\0\0";
    struct golden_file text    = { (char *)hello, sizeof hello - 1, 0 };
    err                        = refuse_bytes(&text, "gzip of a text", "dcso-gz");
    assert_int_equal(err.status, BLM_E_FORMAT);
    assert_non_null(strstr(err.text, "no dcso filter is in it"));
}

/* Format 0.1 has 32 bits for both. */
static void test_too_large_for_dcso01(void **state)
{
    (void)state;
    blm_options o         = BLM_OPTIONS_INIT;
    o.scheme              = "dcso01";
    o.items               = 100;
    o.rate                = 0.01;
    blm_filter        *f  = create_or_fail(&o);
    struct blm__shape *s  = &f->body.layers[0].shape;
    struct golden_file b  = { NULL, 0, 0 };
    uint64_t           is = s->bits;
    blm_error          err;
    s->capacity = (uint64_t)1 << 32;
    assert_int_equal(blm_encode(f, NULL, bytes_append, &b, &err), BLM_E_UNSUPPORTED);
    s->capacity = UINT32_MAX;
    s->bits     = (uint64_t)1 << 32;
    assert_int_equal(blm_encode(f, NULL, bytes_append, &b, &err), BLM_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "32-bit"));
    assert_int_equal(b.len, 0);
    s->bits = is;
    blm_free(f);
}

/* Bits that came without n and p get those of a new filter of this size: a file without is none. */
static void test_bits_without_n_and_p(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes, items, n;
        uint32_t probes;
        double   p;
    } rows[] = {
        { 125, 0, 231, 3, 0.125 },
        { 125, 50, 50, 3, 0.0027 },
        { 8, UINT32_MAX, UINT32_MAX, 1, 1 }, /* just below */
        { 250, 0, 1, 1400, 5e-324 },         /* just above 0 */
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        static const uint8_t bits[250] = { 1 };
        const char          *format    = i % 2 ? "dcso01" : "dcso";
        blm_options          o         = BLM_OPTIONS_INIT;
        o.format                       = "raw";
        o.scheme                       = format;
        o.probes                       = rows[i / 2].probes;
        o.items                        = rows[i / 2].items;
        struct golden_file in          = { (char *)(uintptr_t)bits, (size_t)rows[i / 2].bytes, 0 };
        blm_filter        *f           = decode_bytes(&in, &o), *g;
        struct golden_file b           = encode_as(f, format), again;
        o                              = (blm_options)BLM_OPTIONS_INIT;
        o.format                       = format;
        g                              = decode_bytes(&b, &o);
        blm_params p                   = { .size = sizeof p };
        assert_int_equal(blm_get_params(g, &p), BLM_OK);
        assert_int_equal(p.capacity, rows[i / 2].n);
        assert_true(fabs(p.rate / rows[i / 2].p - 1) < 0.03);
        again = encode_as(g, format);
        assert_same_bytes(&again, &b);
        free(again.data);
        blm_free(f);
        blm_free(g);
        free(b.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read_and_write),
        cmocka_unit_test(test_rebuild),
        cmocka_unit_test(test_union),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_gzip_members),
        cmocka_unit_test(test_gzip_places),
        cmocka_unit_test(test_gzip_bomb),
        cmocka_unit_test(test_gzip_most),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_slack),
        cmocka_unit_test(test_bits_without_n_and_p),
        cmocka_unit_test(test_attached_counts),
        cmocka_unit_test(test_not_gzip),
        cmocka_unit_test(test_too_large_for_dcso01),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
