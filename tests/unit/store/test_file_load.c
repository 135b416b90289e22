/* SPDX-License-Identifier: MIT */
/* Native files that are opened by their names: forged or damaged ones, with a writer beside them and
 * without; attached bytes; holes; and too few descriptors. test_file.c has whole ones. */
#include "unit/support.h"

#include <sys/resource.h>
#include <time.h>

#include "bloomery/embed.h"
#include "unit/files.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A small closed file, 100 bits in blocks of 512 bytes, and its bytes. */
static struct bytes closed_file(const char *path)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 100;
    o.probes      = 3;
    blm_filter *f = create_at(path, &o);
    add_range(f, 0, 5);
    close_well(f);
    return slurp(path);
}

static void refused(const char *path, uint32_t flags, blm_status want, uint64_t offset,
                    const char *word)
{
    blm_error e = { .text = "" };
    assert_status(try_open(path, flags, &e), want);
    check_error(&e, want, word);
    assert_true(e.offset == offset);
}

/* ---- forged ---- */

static void forged_files(void **state)
{
    (void)state;
    struct bytes b = closed_file(at("f"));
    /* a scheme that nobody knows */
    b.p[64] = 'x';
    seal_head(b.p);
    spit(at("f"), b.p, b.len);
    refused(at("f"), 0, BLM_E_UNSUPPORTED, 64, "does not know scheme");
    b.p[64] = 'n';
    /* a kind that nobody knows */
    uint8_t kind = b.p[60];
    b.p[60]      = 200;
    seal_head(b.p);
    spit(at("f"), b.p, b.len);
    refused(at("f"), 0, BLM_E_FORMAT, 60, "kind of filter is unknown");
    b.p[60] = kind;
    seal_head(b.p);
    /* bits past the last one */
    uint64_t words = blm__get64le(b.p + 3 * 512 + 80), sums = blm__get64le(b.p + 3 * 512 + 104);
    b.p[words + 15] ^= 0x80;
    spit(at("f"), b.p, b.len);
    refused(at("f"), 0, BLM_E_FORMAT, sums - 8, "bits past the last one");
    b.p[words + 15] ^= 0x80;
    /* a length that ends within the first record, and a file that does */
    for (unsigned i = 0; i < 2; i++)
        blm__put64le(b.p + 512 + 512 * i + 16, 3 * 512 + 100);
    seal_slots(b.p);
    spit(at("f"), b.p, 3 * 512 + 100);
    refused(at("f"), 0, BLM_E_IO, BLM_NO_OFFSET, "cannot read layer 0");
    free(b.p);
}

/* ---- both slots damaged ---- */

static void spoil_slots(const char *path)
{
    flip(path, 512 + 3, 1);
    flip(path, 1024 + 3, 1);
}

static void damaged_slots(void **state)
{
    (void)state;
    struct bytes b = closed_file(at("f"));
    spoil_slots(at("f"));
    refused(at("f"), 0, BLM_E_CHECKSUM, 512, "both copies");
    refused(at("f"), BLM_WRITE, BLM_E_CHECKSUM, 512, "both copies");
    free(b.p);
}

/* A writer may be in the middle of them: they are read again, but not for ever. */
static void damaged_slots_beside_a_writer(void **state)
{
    (void)state;
    struct bytes b = closed_file(at("f"));
    blm_filter  *w = open_at(at("f"), BLM_WRITE), *r = open_at(at("f"), 0);
    spoil_slots(at("f"));
    double begun = now();
    refused(at("f"), 0, BLM_E_CHECKSUM, 512, "both copies");
    assert_true(now() - begun < 10); /* 200 times a millisecond, once */
    /* A second writer is told that there is one, without its number. */
    refused(at("f"), BLM_WRITE, BLM_E_BUSY, BLM_NO_OFFSET, "another writer has the file open");
    /* A reader that is there goes on with what it read. */
    assert_int_equal(params_of(r).writer, BLM_WRITER_LIVE);
    assert_int_equal(missing(r, 0, 5), 0);
    spoil_slots(at("f")); /* as they were */
    flip(at("f"), 70, 1);
    refused(at("f"), BLM_WRITE, BLM_E_BUSY, BLM_NO_OFFSET, "another writer has the file open");
    flip(at("f"), 70, 1);
    blm_free(r);
    close_well(w);
    free(b.p);
}

static void a_damaged_record_beside_a_writer(void **state)
{
    (void)state;
    struct bytes b = closed_file(at("f"));
    blm_filter  *w = open_at(at("f"), BLM_WRITE);
    flip(at("f"), 3 * 512 + 8, 1);
    refused(at("f"), 0, BLM_E_CHECKSUM, 3 * 512 + 184, "layer 0 is damaged");
    flip(at("f"), 3 * 512 + 8, 1);
    close_well(w);
    free(b.p);
}

/* ---- attached bytes ---- */

static void save_with_attached(const char *path)
{
    blm_options  o = BLM_OPTIONS_INIT;
    struct bytes b = { 0 };
    o.scheme       = "dcso";
    o.items        = 20;
    o.rate         = 0.1;
    blm_filter *f = make(&o), *g = NULL;
    assert_status(blm_encode(f, "dcso", bytes_add, &b, NULL), BLM_OK);
    bytes_add(&b, "0123456789", 10);
    assert_status(blm_decode(b.p, b.len, NULL, &g, NULL), BLM_OK);
    assert_status(blm_save(g, path, "native", 0, NULL), BLM_OK);
    free(b.p);
    blm_free(f);
    blm_free(g);
}

static void attached_bytes_are_loaded(void **state)
{
    (void)state;
    save_with_attached(at("f"));
    blm_filter  *f = open_at(at("f"), 0);
    struct bytes b = { 0 };
    assert_status(blm_refresh(f, NULL), BLM_OK); /* which keeps those it has */
    assert_status(blm_encode(f, "dcso", bytes_add, &b, NULL), BLM_OK);
    assert_memory_equal(b.p + b.len - 10, "0123456789", 10);
    free(b.p);
    blm_free(f);
    blm_status st = BLM_E_MEMORY;
    for (uint64_t n = 0; st != BLM_OK; n++) {
        struct meter  m = { .fail_at = n };
        blm_allocator a = meter_allocator(&m);
        blm_options   o = BLM_OPTIONS_INIT;
        o.allocator     = &a;
        f               = NULL;
        st              = blm_open(at("f"), &o, &f, NULL);
        assert_true(st == BLM_OK || st == BLM_E_MEMORY);
        m.fail_at = UINT64_MAX;
        blm_free(f);
        assert_int_equal(m.live, 0);
    }
    flip(at("f"), 3 * 512 + 4, 1);
    refused(at("f"), 0, BLM_E_CHECKSUM, 3 * 512, "attached bytes are damaged");
}

/* Beside a writer a file is read again; what was damaged the first time is not taken the second. */
static void damaged_attached_bytes_beside_a_writer(void **state)
{
    (void)state;
    save_with_attached(at("f"));
    blm_filter *w = open_at(at("f"), BLM_WRITE);
    flip(at("f"), 3 * 512 + 4, 1);
    refused(at("f"), 0, BLM_E_CHECKSUM, 3 * 512, "attached bytes are damaged");
    close_well(w);
}

/* The limit is on bits and attached bytes together, here as in memory. */
static void attached_bytes_count(void **state)
{
    (void)state;
    save_with_attached(at("f"));
    blm_filter *f     = open_at(at("f"), 0);
    uint64_t    words = params_of(f).bytes;
    blm_free(f);
    for (uint64_t cap = words - 1; cap < words + 12; cap++) {
        blm_options o = BLM_OPTIONS_INIT;
        blm_error   e = { .text = "" };
        f             = NULL;
        o.max_bytes   = cap;
        assert_status(blm_open(at("f"), &o, &f, &e), cap < words + 10 ? BLM_E_LIMIT : BLM_OK);
        if (f)
            assert_status(blm_refresh(f, &e), BLM_OK);
        else
            check_error(&e, BLM_E_LIMIT, cap < words ? "of bits" : "of attached data");
        blm_free(f);
    }
}

/* ---- holes ---- */

/* Writes only what is not zero, as a copying program may. */
static void copy_with_holes(const char *path, const struct bytes *b)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    for (size_t i = 0; i < b->len; i += 512) {
        size_t n = b->len - i < 512 ? b->len - i : 512, any = 0;
        for (size_t j = 0; j < n; j++)
            any |= b->p[i + j];
        if (any)
            assert_int_equal(pwrite(fd, b->p + i, n, (off_t)i), n);
    }
    assert_int_equal(ftruncate(fd, (off_t)b->len), 0);
    close(fd);
}

static void holes_are_filled_before_a_writer_begins(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    struct stat is;
    o.bits   = (uint64_t)8 << 20;
    o.probes = 3;
    close_well(create_at(at("f"), &o));
    struct bytes b = slurp(at("f"));
    copy_with_holes(at("g"), &b);
    if (stat(at("g"), &is) != 0 || (size_t)is.st_blocks * 512 >= b.len)
        skip(); /* no holes here */
    blm_error e = { .text = "" };
    os_watch(0, ENOSPC); /* the first call is the one that reserves */
    assert_status(try_open(at("g"), BLM_WRITE, &e), BLM_E_SPACE);
    assert_int_equal(os_log.log[0], 'r');
    check_error(&e, BLM_E_SPACE, "cannot reserve");
    os_unwatch();
    close_well(open_at(at("g"), BLM_WRITE));
    assert_int_equal(stat(at("g"), &is), 0);
    assert_true((size_t)is.st_blocks * 512 >= b.len);
    free(b.p);
}

/* ---- descriptors ---- */

/* With each number of descriptors that is too small: no file, or a whole one and a word about it. */
static void descriptors_may_run_out(void **state)
{
    (void)state;
    struct rlimit was, few;
    blm_options   o  = file_options(BLM_CLASSIC, 20);
    blm_status    st = BLM_E_IO;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    unsigned refusals = 0;
    for (rlim_t n = 3; st != BLM_OK; n++) {
        blm_filter *f = NULL;
        blm_error   e = { .text = "" };
        few           = was;
        few.rlim_cur  = n;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        st = blm_create_file(at("f"), &o, &f, &e);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
        if (st == BLM_OK) {
            close_well(f);
            break;
        }
        assert_null(f);
        if (strstr(e.text, "in place")) { /* but its directory was not flushed */
            assert_int_equal(scratch_count(), 1);
            blm_free(open_at(at("f"), BLM_VERIFY));
            assert_int_equal(unlink(at("f")), 0);
        }
        assert_int_equal(scratch_count(), 0);
        check_error(&e, BLM_E_IO, "f");
        refusals++;
        assert_true(n < 1000);
    }
    assert_true(refusals > 0);
}

static uint64_t any_hash(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    (void)ctx, (void)key;
    return len ^ seed[0];
}

/* A name that a file cannot keep: nothing is created. */
static void a_hash_with_a_bad_name(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 20);
    blm_filter *f = NULL;
    blm_error   e = { .text = "" };
    o.hash        = BLM_HASH_CUSTOM;
    o.hash_fn     = any_hash;
    o.hash_name   = "two words";
    assert_status(blm_create_file(at("f"), &o, &f, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "1 to 15 printable");
    assert_int_equal(scratch_count(), 0);
    o.hash_name = "one-word";
    close_well(create_at(at("f"), &o));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(forged_files),
        file_test(damaged_slots),
        file_test(damaged_slots_beside_a_writer),
        file_test(a_damaged_record_beside_a_writer),
        file_test(attached_bytes_are_loaded),
        file_test(damaged_attached_bytes_beside_a_writer),
        file_test(attached_bytes_count),
        file_test(holes_are_filled_before_a_writer_begins),
        file_test(descriptors_may_run_out),
        file_test(a_hash_with_a_bad_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
