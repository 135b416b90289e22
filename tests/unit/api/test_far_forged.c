/* SPDX-License-Identifier: MIT */
/* Native files asked from afar: forged ones, readers that fail while a file is opened, memory that
 * runs out, and what one read may join. test_far.c has whole ones. */
#include "unit/support.h"

#include "bloomery/far.h"
#include "unit/files.h"
#include "unit/fixed.h"

struct file {
    struct bytes b;
    uint64_t     reads, fail_at; /* the number of the read that fails */
    size_t       largest;
};

static blm_status read_file(void *ctx, uint64_t offset, void *to, size_t len, blm_error *e)
{
    struct file *f = ctx;
    (void)e;
    if (f->reads++ == f->fail_at)
        return BLM_E_IO;
    assert_true(offset <= f->b.len && len <= f->b.len - offset);
    memcpy(to, f->b.p + offset, len);
    f->largest = len > f->largest ? len : f->largest;
    return BLM_OK;
}

static struct file file_of(const blm_filter *f)
{
    struct file is = { .b = encoded(f), .fail_at = UINT64_MAX };
    return is;
}

static blm_status open_far(struct file *f, uint32_t flags, const blm_allocator *a, blm_error *e)
{
    blm_options o   = BLM_OPTIONS_INIT;
    blm_far    *far = NULL;
    o.flags         = flags;
    o.allocator     = a;
    f->reads        = 0;
    blm_status st   = blm_far_open(read_file, f, f->b.len, &o, &far, e);
    assert_int_equal(st == BLM_OK, far != NULL);
    blm_far_free(far);
    return st;
}

static blm_filter *grown(void)
{
    blm_options o = file_options(BLM_SCALABLE, 2000);
    blm_filter *f = make(&o);
    add_range(f, 0, 20000);
    assert_true(params_of(f).layers >= 3);
    return f;
}

static blm_filter *fixed(void)
{
    blm_options o = fixed_options(BLM_STATIC, 0.004, 9);
    return fixed_of(&o, 5000, 0);
}

/* ---- while it is opened ---- */

/* Each read in turn, and each allocation. */
static void openings_that_fail(void **state)
{
    (void)state;
    blm_filter *(*const all[])(void) = { grown, fixed };
    for (size_t i = 0; i < COUNT_OF(all); i++)
        for (uint32_t flags = 0; flags <= BLM_VERIFY; flags += BLM_VERIFY) {
            blm_filter *f  = all[i]();
            struct file is = file_of(f);
            blm_status  st = BLM_E_IO;
            blm_error   e;
            for (is.fail_at = 0; st != BLM_OK; is.fail_at++) {
                st = open_far(&is, flags, NULL, &e);
                assert_true(st == BLM_OK || st == BLM_E_IO);
                assert_true(is.fail_at < 100);
            }
            assert_true(is.fail_at > 1); /* at least one failed */
            is.fail_at = UINT64_MAX;
            st         = BLM_E_MEMORY;
            for (uint64_t n = 0; st != BLM_OK; n++) {
                struct meter  m = { .fail_at = n };
                blm_allocator a = meter_allocator(&m);
                st              = open_far(&is, flags, &a, &e);
                assert_true(st == BLM_OK || st == BLM_E_MEMORY);
                assert_int_equal(m.live, 0);
                assert_true(n < 100);
            }
            free(is.b.p);
            blm_free(f);
        }
}

static void forged_files(void **state)
{
    (void)state;
    blm_filter *f     = grown();
    struct file is    = file_of(f);
    uint8_t    *p     = is.b.p;
    uint32_t    block = blm__get32le(p + 48), slot = blm__get32le(p + 52);
    uint64_t    last = blm__get64le(p + block + 128 + 16 * 2);
    blm_error   e;
    p[last + 8] ^= 1; /* the third layer's record */
    assert_status(open_far(&is, BLM_VERIFY, NULL, &e), BLM_E_CHECKSUM);
    check_error(&e, BLM_E_CHECKSUM, "layer 2 is damaged");
    assert_int_equal(e.offset, last + 184);
    p[last + 8] ^= 1;
    uint64_t was = blm__get64le(p + block + 64);
    for (unsigned i = 0; i < 2; i++) /* a rate of 2 */
        blm__put64le(p + block + i * slot + 64, blm__f64_bits(2));
    seal_slots(p);
    assert_status(open_far(&is, 0, NULL, &e), BLM_E_FORMAT);
    check_error(&e, BLM_E_FORMAT, "a rate that is not between");
    assert_int_equal(e.offset, block);
    for (unsigned i = 0; i < 2; i++)
        blm__put64le(p + block + i * slot + 64, was);
    seal_slots(p);
    assert_status(open_far(&is, 0, NULL, &e), BLM_OK);
    blm_far *far = NULL;
    assert_status(blm_far_open(read_file, &is, is.b.len, &(blm_options){ .size = 3 }, &far, &e),
                  BLM_E_ARGUMENT);
    free(p);
    blm_free(f);
}

/* ---- when it is asked ---- */

static void keys_that_are_none(void **state)
{
    (void)state;
    blm_filter *f   = grown();
    struct file is  = file_of(f);
    blm_far    *far = NULL;
    uint64_t    k   = 1;
    uint8_t     maybe[3];
    blm_key     keys[3] = { { &k, 8 }, { NULL, 8 }, { &k, 8 } };
    blm_error   e;
    assert_status(blm_far_open(read_file, &is, is.b.len, NULL, &far, &e), BLM_OK);
    assert_status(blm_far_check_many(far, keys, 3, NULL, &e), BLM_E_ARGUMENT);
    assert_status(blm_far_check_many(far, NULL, 3, maybe, &e), BLM_E_ARGUMENT);
    memset(maybe, 0, sizeof maybe);
    assert_status(blm_far_check_many(far, keys, 3, maybe, &e), BLM_E_ARGUMENT);
    check_error(&e, BLM_E_ARGUMENT, "key 1 has a length but no data");
    for (size_t i = 0; i < 3; i++) /* not knowing is maybe */
        assert_int_equal(maybe[i], 1);
    blm_key *many   = malloc(5000 * sizeof *many); /* more than are taken together */
    uint8_t *answer = malloc(5000);
    for (size_t i = 0; i < 5000; i++)
        many[i] = keys[i == 1];
    assert_status(blm_far_check_many(far, many, 5000, answer, &e), BLM_E_ARGUMENT);
    assert_int_equal(answer[4999], 1);
    free(answer);
    free(many);
    blm_far_free(far);
    free(is.b.p);
    blm_free(f);
}

/* However large the gap: no read is of more than a MiB. */
static void reads_are_joined_up_to_a_limit(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = (uint64_t)40 << 20;
    o.probes      = 3;
    blm_filter *f = make(&o);
    add_range(f, 0, 1000);
    struct file is  = file_of(f);
    blm_far    *far = NULL;
    assert_status(blm_far_open(read_file, &is, is.b.len, NULL, &far, NULL), BLM_OK);
    blm_far_set_gap(far, UINT32_MAX);
    uint64_t k[1000];
    blm_key  keys[1000];
    uint8_t  maybe[1000];
    for (uint64_t i = 0; i < 1000; i++)
        k[i] = i, keys[i] = (blm_key){ &k[i], 8 };
    is.largest = 0;
    is.reads   = 0;
    assert_status(blm_far_check_many(far, keys, 1000, maybe, NULL), BLM_OK);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(maybe[i], 1);
    assert_true(is.largest > 1u << 19 && is.largest <= 1u << 20);
    assert_true(is.reads >= 5);
    blm_far_free(far);
    free(is.b.p);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(openings_that_fail),
        cmocka_unit_test(forged_files),
        cmocka_unit_test(keys_that_are_none),
        cmocka_unit_test(reads_are_joined_up_to_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
