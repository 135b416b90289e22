/* SPDX-License-Identifier: MIT */
/* The public calls on files and streams: arguments, formats, saving, fingerprints. */
#include "unit/support.h"

#include "unit/files.h"

static blm_options options(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.items       = 1000;
    o.rate        = 0.01;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 3;
    return o;
}

static blm_filter *full(void)
{
    blm_options o = options();
    blm_filter *f = make(&o);
    add_range(f, 0, 1000);
    return f;
}

static size_t no_reads(void *ctx, void *p, size_t len)
{
    (void)ctx;
    (void)p;
    (void)len;
    return 0;
}

static void arguments(void **state)
{
    (void)state;
    blm_filter *f = full(), *g = NULL;
    blm_options o = options(), bad = { .size = 3 };
    blm_error   e = { .text = "" };
    uint64_t    words[4];
    assert_status(blm_open(NULL, NULL, &g, &e), BLM_E_ARGUMENT);
    assert_status(blm_open(at("f"), NULL, NULL, &e), BLM_E_ARGUMENT);
    assert_status(blm_open(at("f"), &bad, &g, &e), BLM_E_ARGUMENT);
    assert_status(blm_create_file(NULL, &o, &g, &e), BLM_E_ARGUMENT);
    assert_status(blm_create_file(at("f"), NULL, &g, &e), BLM_E_ARGUMENT);
    assert_status(blm_create_file(at("f"), &o, NULL, &e), BLM_E_ARGUMENT);
    o.words      = words;
    o.word_count = 4;
    assert_status(blm_create_file(at("f"), &o, &g, &e), BLM_E_ARGUMENT);
    o      = options();
    o.rate = 2;
    assert_status(blm_create_file(at("f"), &o, &g, &e), BLM_E_ARGUMENT);
    assert_status(blm_decode(NULL, 5, NULL, &g, &e), BLM_E_ARGUMENT);
    assert_status(blm_decode("x", 1, NULL, NULL, &e), BLM_E_ARGUMENT);
    assert_status(blm_decode(NULL, 0, NULL, &g, &e), BLM_E_TRUNCATED);
    assert_status(blm_decode_stream(NULL, NULL, NULL, &g, &e), BLM_E_ARGUMENT);
    assert_status(blm_decode_stream(no_reads, NULL, NULL, &g, &e), BLM_E_TRUNCATED);
    assert_status(blm_encode(f, NULL, NULL, NULL, &e), BLM_E_ARGUMENT);
    struct bytes b = { 0 };
    assert_status(blm_encode(f, "no such format", bytes_add, &b, &e), BLM_E_ARGUMENT);
    assert_non_null(strstr(e.text, "no such format"));
    assert_status(blm_save(f, NULL, NULL, 0, &e), BLM_E_ARGUMENT);
    assert_status(blm_save(f, at("f"), NULL, BLM_SHARED, &e), BLM_E_ARGUMENT);
    assert_status(blm_save(f, at("f"), "no such format", 0, &e), BLM_E_ARGUMENT);
    o        = options();
    o.format = "no such format";
    assert_status(blm_decode("x", 1, &o, &g, &e), BLM_E_ARGUMENT);
    assert_status(blm_open(at("f"), &o, &g, &e), BLM_E_IO);
    assert_int_equal(scratch_count(), 0);
    assert_status(blm_sync(f, &e), BLM_OK); /* in memory: nothing to do, and nothing wrong */
    assert_status(blm_refresh(f, &e), BLM_OK);
    blm_free(f);
}

static void a_format_is_believed(void **state)
{
    (void)state;
    blm_filter  *f = full(), *g = NULL;
    blm_options  o = BLM_OPTIONS_INIT;
    blm_error    e;
    struct bytes b = encoded(f);
    o.format       = "native";
    assert_status(blm_decode(b.p, b.len, &o, &g, &e), BLM_OK);
    blm_free(g);
    assert_status(blm_decode("something else that is long enough", 34, &o, &g, &e),
                  BLM_E_TRUNCATED);
    spit(at("f"), "something else that is long enough", 34);
    assert_status(blm_open(at("f"), &o, &g, &e), BLM_E_TRUNCATED);
    memset(b.p, 'x', 8);
    spit(at("g"), b.p, b.len);
    assert_status(blm_open(at("g"), &o, &g, &e), BLM_E_FORMAT);
    assert_int_equal(e.offset, 0);
    assert_non_null(strstr(e.text, "/g: "));
    free(b.p);
    blm_free(f);
}

/* A stream that ends too early fails as the same bytes in a buffer do, whatever was guessed from its
 * beginning. */
static void a_cut_stream_is_a_cut_buffer(void **state)
{
    (void)state;
    static const char *const schemes[][2] = { { "guava64", "guava" }, { "spark2", "spark" },
                                              { "dcso", "dcso" },     { "go", "go" },
                                              { "bip37", "bip37" },   { "native", "native" } };
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_filter *f = NULL, *g = NULL;
        blm_error   e, stream_e;
        o.items  = 200;
        o.rate   = 0.01;
        o.kind   = BLM_CLASSIC;
        o.scheme = schemes[i][0];
        assert_status(blm_create(&o, &f, &e), BLM_OK);
        struct bytes b = { 0 };
        assert_status(blm_encode(f, schemes[i][1], bytes_add, &b, &e), BLM_OK);
        for (size_t cut = 0; cut < b.len; cut += cut < 300 ? 1 : b.len / 50 + 1) {
            struct bytes in    = { .p = b.p, .len = cut };
            blm_status   whole = blm_decode(b.p, cut, NULL, &g, &e);
            if (whole == BLM_OK) { /* zeroes of a length that fits bip37 */
                blm_free(g);
                continue;
            }
            assert_status(blm_decode_stream(bytes_get, &in, NULL, &g, &stream_e), whole);
            assert_string_equal(stream_e.text, e.text);
        }
        free(b.p);
        blm_free(f);
    }
}

/* 32 bytes: dcso01, 64 bits for 22 keys, sized by hand; or bip37 with 22 bytes of bits. */
static void two_formats_for_one_input(void **state)
{
    (void)state;
    uint8_t      head[32] = { 22, [10] = 0xe0, 0x3f, 3, [16] = 64, [30] = 1 };
    struct bytes b        = { .p = head, .len = sizeof head };
    blm_bid      bids[8];
    blm_filter  *f = NULL;
    blm_error    e = { .text = "" };
    assert_true(blm_sniff(head, sizeof head, sizeof head, bids, 8) >= 2);
    assert_int_equal(bids[0].bid, bids[1].bid);
    assert_status(blm_decode_stream(bytes_get, &b, NULL, &f, &e), BLM_E_AMBIGUOUS);
    assert_null(f);
    assert_non_null(strstr(e.text, "bip37"));
    assert_non_null(strstr(e.text, "dcso01"));
    blm_options o = BLM_OPTIONS_INIT; /* say which, and it is that one */
    o.format      = "dcso01";
    b             = (struct bytes){ .p = head, .len = sizeof head };
    assert_status(blm_decode_stream(bytes_get, &b, &o, &f, &e), BLM_OK);
    assert_string_equal(params_of(f).format, "dcso01");
    spit(at("g"), head, sizeof head);
    blm_filter *g = NULL;
    o.flags       = BLM_WRITE; /* not a file that can be changed where it is */
    assert_status(blm_open(at("g"), &o, &g, &e), BLM_E_UNSUPPORTED);
    o.flags = 0;
    assert_status(blm_open(at("g"), NULL, &g, &e), BLM_E_AMBIGUOUS);
    assert_status(blm_open(at("g"), &o, &g, &e), BLM_OK);
    assert_true(same_bits(f, g));
    assert_int_equal(params_of(g).backing, BLM_IN_MEMORY);
    blm_free(g);
    blm_free(f);
}

/* Saved natively, a filter of another scheme keeps the scheme, and can live in a mapped file. */
static void another_scheme_in_a_native_file(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "guava64";
    o.items       = 500;
    o.rate        = 0.01;
    blm_filter *f = make(&o), *g;
    blm_error   e = { .text = "" };
    add_range(f, 0, 500);
    assert_status(blm_save(f, at("n"), "native", 0, &e), BLM_OK);
    g = open_at(at("n"), BLM_WRITE | BLM_VERIFY);
    assert_string_equal(params_of(g).scheme, "guava64");
    assert_string_equal(params_of(g).format, "native");
    assert_true(same_bits(f, g));
    assert_int_equal(missing(g, 0, 500), 0);
    add_range(g, 500, 510);
    close_well(g);
    g = create_at(at("m"), &o);
    add_range(g, 0, 500);
    assert_true(same_bits(f, g));
    close_well(g);
    g = open_at(at("m"), BLM_VERIFY);
    assert_int_equal(missing(g, 0, 500), 0);
    blm_free(g);
    blm_free(f);
}

static void saved_is_encoded_is_mapped(void **state)
{
    (void)state;
    blm_filter  *f = full();
    struct bytes b = encoded(f);
    blm_error    e;
    assert_status(blm_save(f, at("f"), NULL, 0, &e), BLM_OK);
    struct bytes s = slurp(at("f"));
    assert_int_equal(b.len, s.len);
    assert_memory_equal(b.p, s.p, b.len);
    assert_status(blm_save(f, at("f"), NULL, 0, &e), BLM_E_EXISTS);
    assert_non_null(strstr(e.text, "/f: "));
    assert_status(blm_save(f, at("f"), "native", BLM_REPLACE, &e), BLM_OK);
    blm_filter *g = open_at(at("f"), BLM_WRITE | BLM_VERIFY);
    assert_true(same_bits(f, g));
    add_range(g, 1000, 1010);
    close_well(g);
    free(b.p);
    free(s.p);
    blm_free(f);
}

static void saving_over_its_own_file(void **state)
{
    (void)state;
    blm_options o = options();
    blm_error   e;
    /* A writer: the file stays its file. */
    blm_filter *f = create_at(at("f"), &o);
    add_range(f, 0, 100);
    assert_status(blm_save(f, at("f"), NULL, 0, &e), BLM_E_EXISTS);
    assert_status(blm_save(f, at("f"), NULL, BLM_REPLACE, &e), BLM_OK);
    blm_filter *r = open_at(at("f"), 0);
    assert_int_equal(verdict_of(r, BLM_OK).unverified, 0); /* it was a sync */
    blm_free(r);
    add_range(f, 100, 200);
    assert_int_equal(symlink("f", at("link")), 0);
    assert_status(blm_save(f, at("link"), NULL, BLM_REPLACE, &e), BLM_OK);
    add_range(f, 200, 300);
    close_well(f);
    f = open_at(at("f"), BLM_VERIFY);
    assert_int_equal(missing(f, 0, 300), 0);
    /* A reader: a new file takes the name, it keeps the old one. */
    assert_status(blm_save(f, at("f"), NULL, BLM_REPLACE, &e), BLM_OK);
    assert_int_equal(missing(f, 0, 300), 0);
    blm_filter *g = open_at(at("f"), BLM_WRITE | BLM_VERIFY);
    assert_int_equal(missing(g, 0, 300), 0);
    assert_int_equal(params_of(f).writer, BLM_WRITER_NONE); /* of the old one */
    assert_status(blm_save(f, at("f"), NULL, BLM_REPLACE, &e), BLM_E_BUSY);
    close_well(g);
    blm_free(f);
    assert_int_equal(scratch_count(), 2);
}

static void a_failed_save_leaves_the_old_file(void **state)
{
    (void)state;
    blm_filter *f = full();
    blm_error   e;
    spit(at("f"), "old", 3);
    for (size_t n = 0;; n++) {
        os_watch(n, ENOSPC);
        blm_status st = blm_save(f, at("f"), NULL, BLM_REPLACE, &e);
        os_unwatch();
        if (st == BLM_OK)
            break;
        assert_int_equal(st, BLM_E_SPACE);
        assert_int_equal(e.system, ENOSPC);
        assert_int_equal(scratch_count(), 1);
        if (os_log.log[n] == 'd')
            break; /* in place, but its directory is not flushed */
        struct bytes b = slurp(at("f"));
        assert_int_equal(b.len, 3);
        assert_memory_equal(b.p, "old", 3);
        free(b.p);
    }
    blm_free(open_at(at("f"), BLM_VERIFY));
    /* And an allocator that fails at any call. */
    for (uint64_t n = 0;; n++) {
        struct meter  m = { .fail_at = UINT64_MAX };
        blm_allocator a = meter_allocator(&m);
        blm_options   o = options();
        o.allocator     = &a;
        blm_filter *g   = make(&o);
        m.fail_at       = m.calls + n;
        blm_status st   = blm_save(g, at("g"), NULL, 0, &e);
        m.fail_at       = UINT64_MAX;
        blm_free(g);
        assert_int_equal(m.live, 0);
        if (st == BLM_OK)
            break;
        assert_int_equal(st, BLM_E_MEMORY);
        assert_int_equal(scratch_count(), 1);
    }
    blm_free(f);
}

static void a_filter_inside_another_file(void **state)
{
    (void)state;
    blm_filter  *f = full(), *g = NULL;
    struct bytes b = encoded(f), outer = { 0 };
    blm_options  o = BLM_OPTIONS_INIT;
    blm_error    e;
    for (size_t i = 0; i < 10000; i++)
        bytes_add(&outer, "?", 1);
    bytes_add(&outer, b.p, b.len);
    bytes_add(&outer, "after", 5);
    o.offset = 10000;
    assert_status(blm_decode(outer.p, outer.len, &o, &g, &e), BLM_OK);
    assert_true(same_bits(f, g));
    blm_free(g);
    spit(at("outer"), outer.p, outer.len);
    assert_status(blm_open(at("outer"), &o, &g, &e), BLM_OK);
    assert_int_equal(params_of(g).backing, BLM_IN_MEMORY);
    assert_true(same_bits(f, g));
    blm_free(g);
    o.flags = BLM_WRITE;
    assert_status(blm_open(at("outer"), &o, &g, &e), BLM_E_UNSUPPORTED);
    o.flags = 0;
    outer.p[10000 + 300] ^= 1;
    assert_status(blm_decode(outer.p, outer.len, &o, &g, &e), BLM_E_CHECKSUM);
    assert_int_equal(e.offset, 10504); /* counted from the input's first byte */
    o.offset = outer.len;
    assert_status(blm_decode(outer.p, outer.len, &o, &g, &e), BLM_E_TRUNCATED);
    assert_int_equal(e.offset, outer.len);
    o.offset = 700; /* so are places where nothing is */
    assert_status(blm_decode(outer.p, outer.len, &o, &g, &e), BLM_E_FORMAT);
    assert_int_equal(e.offset, 700);
    struct bytes in = { .p = outer.p, .len = outer.len, .sip = 1000 };
    assert_status(blm_decode_stream(bytes_get, &in, &o, &g, &e), BLM_E_FORMAT);
    assert_int_equal(e.offset, 700);
    assert_status(blm_open(at("outer"), &o, &g, &e), BLM_E_FORMAT);
    assert_int_equal(e.offset, 700);
    in = (struct bytes){ .p = outer.p, .len = 710, .broken = true };
    assert_status(blm_decode_stream(bytes_get, &in, &o, &g, &e), BLM_E_IO);
    assert_int_equal(e.offset, 710);
    o.offset = 10000; /* cut within it */
    in       = (struct bytes){ .p = outer.p, .len = 10100 };
    assert_status(blm_decode_stream(bytes_get, &in, &o, &g, &e), BLM_E_TRUNCATED);
    assert_int_equal(e.offset, 10100);
    o.offset = outer.len + 1;
    assert_status(blm_decode(outer.p, outer.len, &o, &g, &e), BLM_E_TRUNCATED);
    o.offset = UINT64_MAX;
    assert_status(blm_open(at("outer"), &o, &g, &e), BLM_E_TRUNCATED);
    assert_int_equal(e.offset, outer.len);
    assert_non_null(
        strstr(e.text, "start at byte 18446744073709551615, but the input ends before that"));
    free(b.p);
    free(outer.p);
    blm_free(f);
}

static void long_paths_leave_room_for_words(void **state)
{
    (void)state;
    char      path[2000];
    blm_error e = { .text = "" };
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = 0;
    assert_status(try_open(path, 0, &e), BLM_E_IO);
    assert_non_null(strstr(e.text, "ppp: cannot open it: the name is too long"));
    strcpy(path + 1000, "/the-end");
    path[0] = '/';
    assert_status(try_open(path, 0, &e), BLM_E_IO);
    assert_non_null(strstr(e.text, "/the-end: cannot"));
    assert_true(strlen(e.text) < sizeof e.text);
    assert_memory_equal(e.text + e.named, "cannot", 6); /* behind the name */
    assert_int_equal(e.wrong, strlen(e.text));
}

static void verdicts(void **state)
{
    (void)state;
    blm_filter *f = full();
    blm_error   e;
    blm_verdict v = { .size = sizeof v, .damaged = 9 };
    assert_status(blm_verify(f, &v, &e), BLM_OK); /* in memory: nothing to doubt */
    assert_int_equal(v.damaged, 0);
    assert_int_equal(v.size, sizeof v);
    assert_status(blm_verify(f, NULL, &e), BLM_OK);
    v.size = 0;
    assert_status(blm_verify(f, &v, &e), BLM_E_ARGUMENT);
    /* An older caller's shorter struct is not overrun. */
    v.size = offsetof(blm_verdict, good);
    v.good = 77;
    assert_status(blm_verify(f, &v, &e), BLM_OK);
    assert_int_equal(v.good, 77);
    blm_free(f);
}

struct stopping {
    int left;
};

static bool stop(void *ctx, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    return ((struct stopping *)ctx)->left-- > 0;
}

static void verify_may_be_cancelled(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 4 * 65536 * 8;
    o.probes      = 2;
    close_well(create_at(at("f"), &o));
    struct stopping s = { 2 };
    blm_options     p = BLM_OPTIONS_INIT;
    blm_filter     *f = NULL;
    p.flags           = BLM_VERIFY;
    p.progress        = stop;
    p.progress_ctx    = &s;
    assert_status(blm_open(at("f"), &p, &f, NULL), BLM_E_CANCELLED);
    assert_null(f);
    s.left = 100;
    assert_status(blm_open(at("f"), &p, &f, NULL), BLM_OK);
    s.left        = 1;
    blm_verdict v = { .size = sizeof v };
    uint8_t     print[16];
    assert_status(blm_verify(f, &v, NULL), BLM_E_CANCELLED);
    assert_status(blm_fingerprint(f, print), BLM_E_CANCELLED);
    blm_free(f);
}

/* ---- fingerprints ---- */

static void print_of(const blm_filter *f, uint8_t out[16])
{
    assert_status(blm_fingerprint(f, out), BLM_OK);
}

static void differs(const blm_options *o, const uint8_t *from, uint64_t keys)
{
    uint8_t     p[16];
    blm_filter *f = make(o);
    add_range(f, 0, keys);
    print_of(f, p);
    assert_memory_not_equal(p, from, 16);
    blm_free(f);
}

static void fingerprints(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_options o = flavour_options(v, 1000, 0.01, 5);
        uint8_t     one[16], two[16];
        blm_filter *f = make(&o), *g = NULL;
        add_range(f, 0, 500);
        print_of(f, one);
        assert_status(blm_copy(f, &g, NULL), BLM_OK);
        print_of(g, two);
        assert_memory_equal(one, two, 16);
        add_range(g, 0, 500); /* adds nothing new; counting counts */
        print_of(g, two);
        assert_int_equal(memcmp(one, two, 16) == 0, blm_equal(f, g));
        add_range(g, 500, 501);
        print_of(g, two);
        assert_int_equal(memcmp(one, two, 16) == 0, blm_equal(f, g));
        blm_free(g);
        g = create_at(at("f"), &o); /* wherever it lives */
        add_range(g, 0, 500);
        print_of(g, two);
        assert_memory_equal(one, two, 16);
        close_well(g);
        unlink(at("f"));
        o.flags &= ~BLM_SHARED; /* not a matter of content */
        g = make(&o);
        add_range(g, 0, 500);
        print_of(g, two);
        assert_memory_equal(one, two, 16);
        blm_free(g);
        blm_options other = o;
        other.seed[0]++;
        differs(&other, one, 500);
        other = o;
        other.seed[1]++;
        differs(&other, one, 500);
        other      = o;
        other.hash = BLM_HASH_SIPHASH;
        differs(&other, one, 500);
        other      = o;
        other.rate = 0.02;
        differs(&other, one, 500);
        differs(&o, one, 499);
        blm_free(f);
    }
    /* One bit of one word, and nothing else. */
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 64 * 5000;
    o.probes      = 3;
    o.flags       = BLM_SEEDED;
    uint8_t     one[16], two[16];
    blm_filter *f = make(&o);
    print_of(f, one);
    for (uint64_t w = 0; w < 5000; w += 499) {
        f->body.layers[0].words[w] ^= (uint64_t)1 << w % 64;
        print_of(f, two);
        assert_memory_not_equal(one, two, 16);
        f->body.layers[0].words[w] = 0;
    }
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(arguments),
        file_test(a_format_is_believed),
        file_test(a_cut_stream_is_a_cut_buffer),
        file_test(two_formats_for_one_input),
        file_test(another_scheme_in_a_native_file),
        file_test(saved_is_encoded_is_mapped),
        file_test(saving_over_its_own_file),
        file_test(a_failed_save_leaves_the_old_file),
        file_test(a_filter_inside_another_file),
        file_test(long_paths_leave_room_for_words),
        file_test(verdicts),
        file_test(verify_may_be_cancelled),
        file_test(fingerprints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
