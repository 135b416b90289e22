/* SPDX-License-Identifier: MIT */
/* What 32 bits cannot address is refused by name, before memory or disk is taken for it. The same calls
 * are tried on every machine; where 64 bits leave nothing to refuse, they are skipped. Public headers
 * only, so that tests/amalgamation/test_cross.py can run it on a 32-bit machine in the gate. */
#include <bloomery.h>
#ifndef BLOOMERY_MATHS_H /* the two-file form has all headers in one */
#include <bloomery/fixed.h>
#include <bloomery/guard.h>
#include <bloomery/maths.h>
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FEW_BITS (SIZE_MAX >> 31 >> 1 == 0)  /* 32 of them */
#define HUGE     (((uint64_t)1 << 35) + 512) /* bits: 4 GiB and a line */
#define LENGTH \
    ((uint64_t)4294967296u + 315392) /* of the golden file: its layer, checksums, marks */
#define BEYOND "than this machine can address"

static char place[] = "/tmp/bloomery-address-XXXXXX";

static int setup(void **state)
{
    (void)state;
    return mkdtemp(place) ? 0 : -1;
}

static const char *at(const char *name)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

static blm_options huge(blm_kind kind)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = kind;
    o.bits        = HUGE / (kind == BLM_COUNTING ? 4 : 1);
    o.probes      = 7;
    o.flags       = BLM_SEEDED;
    return o;
}

static void refused(blm_status st, const blm_error *err, const char *word)
{
    assert_int_equal(st, BLM_E_LIMIT);
    assert_int_equal(err->status, BLM_E_LIMIT);
    if (!strstr(err->text, word))
        fail_msg("\"%s\" does not say \"%s\"", err->text, word);
}

static void a_filter_is_refused(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING };
    if (!FEW_BITS)
        skip();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        blm_options o = huge(kinds[i]);
        blm_filter *f = NULL;
        blm_error   err;
        refused(blm_create(&o, &f, &err), &err, BEYOND);
        o.bits /= 2; /* 2 GiB: no object is larger than half of the addresses */
        refused(blm_create(&o, &f, &err), &err, BEYOND);
        assert_null(f);
    }
}

/* The disk would have had the space: it is not asked for it. */
static void a_new_file_is_refused_before_the_disk_is_asked(void **state)
{
    (void)state;
    if (!FEW_BITS)
        skip();
    blm_options o = huge(BLM_CLASSIC);
    blm_filter *f = NULL;
    blm_error   err;
    refused(blm_create_file(at("new"), &o, &f, &err), &err, BEYOND);
    assert_null(f);
    assert_int_equal(access(at("new"), F_OK), -1);
}

/* The first bytes of a file with one layer of 4 GiB, and a hole behind them. */
static FILE *large_file(const char *path)
{
    static uint8_t head[20480];
    FILE          *golden = fopen(TEST_DATA "/golden/native/large.head", "rb");
    FILE          *f      = fopen(path, "w+b");
    assert_true(golden && f);
    size_t len = fread(head, 1, sizeof head, golden);
    assert_true(len > 12288 && len < sizeof head);
    assert_int_equal(fwrite(head, 1, len, f), len);
    fflush(f);
    assert_int_equal(ftruncate(fileno(f), (off_t)LENGTH), 0);
    rewind(f);
    fclose(golden);
    return f;
}

static void a_large_file_is_opened_or_refused(void **state)
{
    (void)state;
    blm_filter *f = NULL;
    blm_error   err;
    fclose(large_file(at("large")));
    blm_status st = blm_open(at("large"), NULL, &f, &err);
    if (FEW_BITS) {
        refused(st, &err, BEYOND);
        assert_null(f);
    } else {
        assert_int_equal(st, BLM_OK);
        assert_false(blm_check(f, "key", 3));
        blm_params p = { .size = sizeof p };
        assert_int_equal(blm_get_params(f, &p), BLM_OK);
        assert_true(p.bits == HUGE);
        blm_free(f);
    }
    unlink(at("large"));
}

static size_t give(void *ctx, void *bytes, size_t len) { return fread(bytes, 1, len, ctx); }

static void a_large_stream_is_refused(void **state)
{
    (void)state;
    if (!FEW_BITS)
        skip(); /* 4 GiB of zeros */
    blm_filter *f = NULL;
    blm_error   err;
    FILE       *in = large_file(at("large"));
    refused(blm_decode_stream(give, in, NULL, &f, &err), &err, BEYOND);
    assert_null(f);
    fclose(in);
    unlink(at("large"));
}

/* More memory than there can be is as much as there can be, not as little as is left of the number. */
static void a_builder_takes_what_it_can(void **state)
{
    (void)state;
    blm_options  o = BLM_OPTIONS_INIT;
    blm_builder *b = NULL;
    blm_filter  *f = NULL;
    blm_error    err;
    char         path[128];
    o.kind  = BLM_STATIC;
    o.rate  = 0.004;
    o.flags = BLM_SEEDED;
    if (!FEW_BITS)
        skip();
    assert_int_equal(blm_builder_open(at("spill"), &o, (uint64_t)1 << 37, &b, &err), BLM_OK);
    for (uint64_t i = 0; i < 1000; i++) {
        blm_key k = { &i, sizeof i };
        assert_int_equal(blm_builder_add(b, &k, 1), BLM_OK);
    }
    snprintf(path, sizeof path, "%s", at("set.blm"));
    assert_int_equal(blm_builder_save(b, path, 0, &err), BLM_OK);
    blm_builder_free(b);
    assert_int_equal(blm_open(path, NULL, &f, &err), BLM_OK);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(blm_check(f, &i, sizeof i));
    blm_free(f);
    unlink(path);
}

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    (void)ctx, (void)key, (void)len, (void)value, (void)value_ctx, (void)err;
    return BLM_OK;
}

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    (void)ctx, (void)each, (void)each_ctx, (void)err;
    return BLM_OK;
}

/* 2^32 - 2 rows that were not there, in sixteen tables of 6 GiB. */
static void a_guard_s_memory_is_refused(void **state)
{
    (void)state;
    if (!FEW_BITS)
        skip();
    blm_dataset       d = { .size = sizeof d, .get = get, .scan = scan };
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_guard        *g = NULL;
    blm_error         err;
    o.items    = 1000;
    o.flags    = BLM_GUARD_MANUAL;
    o.remember = UINT32_MAX - 1;
    assert_int_equal(blm_guard_open(&o, &d, &g, &err), BLM_E_MEMORY);
    assert_true(strstr(err.text, "table"));
    assert_null(g);
}

static int teardown(void **state)
{
    (void)state;
    rmdir(at("spill"));
    return rmdir(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_is_refused),
        cmocka_unit_test(a_new_file_is_refused_before_the_disk_is_asked),
        cmocka_unit_test(a_large_file_is_opened_or_refused),
        cmocka_unit_test(a_large_stream_is_refused),
        cmocka_unit_test(a_builder_takes_what_it_can),
        cmocka_unit_test(a_guard_s_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
