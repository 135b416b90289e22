/* SPDX-License-Identifier: MIT */
/* Every format, as it is written: to somebody who stops listening after any number of bytes, without
 * memory, and for a caller who has had enough. */
#include "unit/support.h"

#include "bloomery/redisbloom.h"
#include "unit/bytes.h"

static blm_filter *cuckoo_of_redisbloom(const blm_allocator *a)
{
    blm_cf      c = { .size           = sizeof c,
                      .buckets        = 64,
                      .layers         = 2,
                      .bucket_size    = 2,
                      .max_iterations = 20,
                      .expansion      = 1 };
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    o.allocator   = a;
    assert_status(blm_cf_create(&c, &o, &f, NULL), BLM_OK);
    return f;
}

/* A filter that the format can hold, with some keys; `size` is about how many it is for. */
static blm_filter *for_format(const blm_format_row *row, uint64_t size, const blm_allocator *a)
{
    const char *scheme = row->schemes ? row->schemes[0] : NULL;
    if (strcmp(row->name, "raw") == 0) /* whatever has no seed, and needs no library */
        scheme = "fnv-murmur";
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    o.scheme      = scheme;
    o.items       = size;
    o.rate        = 0.01;
    o.allocator   = a;
    if (scheme && strcmp(scheme, "redisbloom-cf") == 0)
        f = cuckoo_of_redisbloom(a);
    else
        f = make(&o);
    for (uint64_t i = 0; i < size / 2; i++)
        assert_true(blm_add(f, &i, sizeof i) >= 0);
    return f;
}

#define EACH_FORMAT(row)                                                       \
    size_t at_ = 0;                                                            \
    for (const blm_format_row *row; (row = blm_format_at(at_)) != NULL; at_++) \
        if (row->writes)

static bool put_until_full(void *ctx, const void *bytes, size_t len)
{
    size_t *room = ctx;
    (void)bytes;
    if (len > *room)
        return false;
    *room -= len;
    return true;
}

static void stops_at_every_byte(const blm_format_row *row, uint64_t keys)
{
    blm_filter *f = for_format(row, keys, NULL);
    uint64_t    size;
    blm_error   e = { .text = "" };
    if (blm_encoded_size(f, row->name, &size, &e) != BLM_OK)
        fail_msg("%s: %s", row->name, e.text);
    for (size_t stop = 0; stop <= size; stop++) {
        size_t     room = stop;
        blm_status st   = blm_encode(f, row->name, put_until_full, &room, &e);
        if (st != (stop == size ? BLM_OK : BLM_E_IO))
            fail_msg("%s, %zu of %llu bytes: %s", row->name, stop, (unsigned long long)size,
                     blm_status_name(st));
        if (st != BLM_OK) /* how far it came */
            assert_true(e.status == BLM_E_IO && e.offset <= stop);
    }
    blm_free(f);
}

/* Of bytes, also of words, that are a multiple of three, and that are not: base64 cares. */
static void a_writer_that_stops_is_named(void **state)
{
    (void)state;
    EACH_FORMAT(row)
    {
        stops_at_every_byte(row, 100);
        stops_at_every_byte(row, 107);
    }
}

static void memory_may_run_out(void **state)
{
    (void)state;
    EACH_FORMAT(row)
    {
        struct meter  m    = { .fail_at = UINT64_MAX };
        blm_allocator a    = meter_allocator(&m);
        blm_filter   *f    = for_format(row, 100, &a);
        int64_t       live = m.live;
        uint64_t      from = m.calls;
        for (uint64_t n = 0;; n++) {
            struct bytes b = { 0 };
            blm_error    e;
            m.fail_at     = from + n;
            m.calls       = from;
            blm_status st = blm_encode(f, row->name, bytes_add, &b, &e);
            free(b.p);
            assert_int_equal(m.live, live);
            if (st == BLM_OK)
                break;
            if (st != BLM_E_MEMORY || e.status != st)
                fail_msg("%s: %s", row->name, blm_status_name(st));
            assert_true(n < 100);
        }
        m.fail_at = UINT64_MAX;
        blm_free(f);
        assert_int_equal(m.live, 0);
    }
}

static bool stop_after(void *ctx, uint64_t done, uint64_t total)
{
    unsigned *left = ctx;
    assert_true(done <= total);
    return (*left)-- > 0;
}

/* Each call of progress may be the last one. */
static void a_caller_may_have_had_enough(void **state)
{
    (void)state;
    unsigned asked = 0;
    EACH_FORMAT(row)
    {
        blm_filter *f  = for_format(row, 100, NULL);
        blm_status  st = BLM_E_CANCELLED;
        for (unsigned n = 0; st != BLM_OK; n++) {
            struct bytes b    = { 0 };
            unsigned     left = n;
            blm_error    e    = { .text = "" };
            blm_set_progress(f, stop_after, &left);
            st = blm_encode(f, row->name, bytes_add, &b, &e);
            if (st != BLM_OK)
                check_error(&e, BLM_E_CANCELLED, "cancelled");
            asked += n;
            free(b.p);
        }
        blm_free(f);
    }
    assert_true(asked > 10);
}

static bool drop(void *ctx, const void *bytes, size_t len)
{
    (void)ctx, (void)bytes, (void)len;
    return true;
}

/* Words of the caller's own, in which somebody set a bit that is no cell: no reader would take that. */
static void a_bit_past_the_last_is_not_written(void **state)
{
    (void)state;
    uint64_t    words[2] = { 0, 0 };
    blm_options o        = BLM_OPTIONS_INIT;
    blm_filter *f        = NULL;
    blm_error   e;
    o.kind       = BLM_CLASSIC;
    o.bits       = 100;
    o.probes     = 3;
    o.words      = words;
    o.word_count = 2;
    assert_int_equal(blm_create(&o, &f, &e), BLM_OK);
    assert_int_equal(blm_encode(f, "native", drop, NULL, &e), BLM_OK);
    ((uint8_t *)words)[15] = 0x80;
    assert_int_equal(blm_encode(f, "native", drop, NULL, &e), BLM_E_ARGUMENT);
    assert_non_null(strstr(e.text, "past the last"));
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bit_past_the_last_is_not_written),
        cmocka_unit_test(a_writer_that_stops_is_named),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(a_caller_may_have_had_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
