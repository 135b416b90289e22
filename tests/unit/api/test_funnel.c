/* SPDX-License-Identifier: MIT */
/* The funnel of a filter that is there already. */
#include "bloomery/delta.h"
#include "unit/support.h"

#include "unit/files.h"

static blm_filter *guava(const char *funnel)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "guava64";
    o.items       = 100;
    o.rate        = 0.01;
    o.funnel      = funnel;
    return make(&o);
}

/* A Guava file does not say that its keys are Java strings: whoever opened it says so then. */
static void a_filter_from_a_file_is_told(void **state)
{
    (void)state;
    blm_filter  *f = guava("chars"), *g;
    struct bytes b = { .len = 0 };
    blm_digest   before, after;
    assert_status(blm_add(f, "h\xc3\xa9", 3), BLM_OK);
    assert_status(blm_encode(f, "guava", bytes_add, &b, NULL), BLM_OK);
    assert_status(blm_decode(b.p, b.len, NULL, &g, NULL), BLM_OK);
    assert_string_equal(params_of(g).funnel, blm_scheme_find("guava64")->funnels[0]);
    assert_false(blm_check(g, "h\xc3\xa9", 3));
    assert_status(blm_digest_of(g, "h\xc3\xa9", 3, &before), BLM_OK);
    assert_status(blm_set_funnel(g, "chars", NULL), BLM_OK);
    assert_string_equal(params_of(g).funnel, "chars");
    assert_true(blm_check(g, "h\xc3\xa9", 3));
    assert_true(blm_check_many(g, &(blm_key){ "h\xc3\xa9", 3 }, 1, NULL) == 1);
    assert_status(blm_digest_of(g, "h\xc3\xa9", 3, &after), BLM_OK);
    assert_true(before.tag != after.tag); /* digests made before are no longer its own */
    assert_status(blm_add_digest(g, &before), BLM_E_MISMATCH);
    assert_true(blm_check_digest(g, &after));
    assert_status(blm_set_funnel(g, NULL, NULL), BLM_OK);
    assert_false(blm_check(g, "h\xc3\xa9", 3));
    assert_true(blm_equal(f, g)); /* no bit has changed */
    blm_free(f);
    blm_free(g);
    free(b.p);
}

static void one_that_is_none_changes_nothing(void **state)
{
    (void)state;
    blm_filter *f = guava("string"), *plain;
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e;
    assert_status(blm_set_funnel(f, "String", &e), BLM_E_FUNNEL);
    check_error(&e, BLM_E_FUNNEL, "guava64 has no funnel called String");
    assert_string_equal(params_of(f).funnel, "string");
    o.items = 10;
    o.rate  = 0.1;
    plain   = make(&o);
    assert_null(params_of(plain).funnel);
    assert_status(blm_set_funnel(plain, "string", &e), BLM_E_FUNNEL);
    assert_status(blm_set_funnel(plain, NULL, &e), BLM_OK);
    blm_free(plain);
    blm_free(f);
}

/* A key becomes other bytes in each, and those of one would be missed in the other. */
static void two_that_differ_do_not_meet(void **state)
{
    (void)state;
    blm_filter  *a = guava("chars"), *b = guava("string"), *c = guava("chars");
    blm_error    e;
    blm_overlap  o     = { .size = sizeof o };
    struct bytes delta = { .len = 0 };
    assert_status(blm_add(a, "abc", 3), BLM_OK);
    assert_status(blm_add(b, "xyz", 3), BLM_OK);
    assert_status(blm_can_meet(a, b, &e), BLM_E_MISMATCH);
    check_error(&e, BLM_E_MISMATCH, "funnels differ, chars and string");
    assert_status(blm_union(a, b, &e), BLM_E_MISMATCH);
    assert_status(blm_intersect(a, b, &e), BLM_E_MISMATCH);
    assert_status(blm_compare(a, b, &o, &e), BLM_E_MISMATCH);
    assert_status(blm_diff(a, b, bytes_add, &delta, &e), BLM_E_MISMATCH);
    assert_true(blm_check(a, "abc", 3) && !blm_check(a, "xyz", 3));
    assert_status(blm_add(c, "xyz", 3), BLM_OK);
    assert_status(blm_union(a, c, &e), BLM_OK);
    assert_true(blm_check(a, "abc", 3) && blm_check(a, "xyz", 3));
    blm_free(a);
    blm_free(b);
    blm_free(c);
}

static blm_status open_by(const char *path, uint32_t flags, const char *funnel, blm_error *e)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    o.flags       = flags;
    o.funnel      = funnel;
    blm_status st = blm_open(path, &o, &f, e);
    blm_free(f);
    return st;
}

/* What is added to a file through another funnel than it records would be denied later. */
static void a_writer_keeps_the_funnel_of_its_file(void **state)
{
    (void)state;
    static const char key[] = "h\xc3\xa9";
    blm_options       o     = BLM_OPTIONS_INIT;
    blm_error         e;
    o.scheme      = "guava64";
    o.items       = 100;
    o.rate        = 0.01;
    o.funnel      = "chars";
    blm_filter *f = create_at(at("f"), &o);
    assert_status(blm_set_funnel(f, "string", &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, "chars, not by string; open it to read");
    assert_status(blm_set_funnel(f, NULL, &e), BLM_E_UNSUPPORTED);
    assert_string_equal(params_of(f).funnel, "chars");
    assert_status(blm_set_funnel(f, "chars", &e), BLM_OK);
    assert_status(blm_add(f, key, 3), BLM_OK);
    close_well(f);
    assert_status(open_by(at("f"), BLM_WRITE, "string", &e), BLM_E_UNSUPPORTED);
    check_error(&e, BLM_E_UNSUPPORTED, "chars, not by string");
    assert_status(open_by(at("f"), BLM_WRITE, "chars", &e), BLM_OK);
    assert_status(open_by(at("f"), 0, "string", &e), BLM_OK);
    f = open_at(at("f"), 0);
    assert_true(blm_check(f, key, 3));
    assert_status(blm_set_funnel(f, "string", &e), BLM_OK); /* a question may go by any */
    assert_false(blm_check(f, key, 3));
    assert_status(blm_save(f, at("g"), NULL, 0, &e), BLM_OK);
    blm_free(f);
    f = open_at(at("g"), 0); /* the way out, if what the file records is wrong */
    assert_string_equal(params_of(f).funnel, "string");
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_from_a_file_is_told),
        cmocka_unit_test(two_that_differ_do_not_meet),
        cmocka_unit_test(one_that_is_none_changes_nothing),
        file_test(a_writer_keeps_the_funnel_of_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
