/* SPDX-License-Identifier: MIT */
/* The rows of kinds, schemes and formats are true: what they say can be done is done, and what they
 * do not say is refused. */
#include "bloomery/fixed.h"
#include "bloomery/redisbloom.h"
#include "unit/support.h"

static blm_filter *made(const char *scheme, const blm_kind_row *kind, uint64_t variant)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.scheme  = scheme;
    o.items   = 1000;
    o.rate    = 0.01;
    o.variant = variant;
    if (kind)
        o.kind = kind->kind;
    return blm_create(&o, &f, NULL) == BLM_OK ? f : NULL;
}

/* A kind to which nothing can be added cannot be made empty. */
static blm_filter *built(blm_kind kind)
{
    blm_options  o = BLM_OPTIONS_INIT;
    blm_builder *b;
    blm_filter  *f;
    o.kind  = kind;
    o.items = 1000;
    o.rate  = 0.01;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_E_UNSUPPORTED);
    assert_int_equal(blm_builder_new(&o, &b, NULL), BLM_OK);
    assert_int_equal(blm_builder_build(b, &f, NULL), BLM_OK);
    blm_builder_free(b);
    return f;
}

static uint32_t can(const blm_filter *f) { return params_of(f).can; }

/* Of each thing: did it happen? */
static void tell(const blm_filter *original)
{
    blm_filter *f, *same, *out;
    blm_overlap o = { .size = sizeof o };
    uint32_t    c = can(original);
    assert_int_equal(blm_copy(original, &f, NULL), BLM_OK);
    assert_int_equal(blm_copy(original, &same, NULL), BLM_OK);
    assert_int_equal((c & BLM_CAN_ADD) != 0, blm_add(f, "key", 3) >= 0);
    assert_int_equal((c & BLM_CAN_REMOVE) != 0, blm_remove(f, "key", 3) == BLM_OK);
    assert_int_equal((c & BLM_CAN_COMPARE) != 0, blm_compare(f, same, &o, NULL) == BLM_OK);
    assert_int_equal((c & BLM_CAN_UNION) != 0, blm_union(f, same, NULL) == BLM_OK);
    assert_int_equal((c & BLM_CAN_INTERSECT) != 0, blm_intersect(f, same, NULL) == BLM_OK);
    assert_int_equal((c & BLM_CAN_FOLD) != 0, blm_fold(f, 1, &out, NULL) == BLM_OK);
    blm_free(out);
    assert_int_equal((c & BLM_CAN_REDUCE) != 0, blm_reduce(f, &out, NULL) == BLM_OK);
    blm_free(out);
    blm_free(f);
    blm_free(same);
}

/* A filter that grows has more layers, or a larger one, after ten times its keys. */
static void grow(blm_filter *f)
{
    uint64_t before = params_of(f).bytes;
    for (uint64_t i = 0; i < 10000; i++)
        blm_add(f, &i, 8);
    assert_int_equal((can(f) & BLM_CAN_GROW) != 0, params_of(f).bytes > before);
}

static void kinds_can_what_they_say(void **state)
{
    (void)state;
    const blm_kind_row *row;
    size_t              n = 0;
    for (; (row = blm_kind_at(n)) != NULL; n++) {
        assert_true(row->size == sizeof *row);
        assert_string_equal(row->name, blm_kind_name(row->kind));
        assert_ptr_equal(blm_kind_find(row->kind), row);
        assert_true(strlen(row->summary) > 0);
        blm_filter *f = row->can & BLM_CAN_ADD ? made(NULL, row, 0) : built(row->kind);
        assert_non_null(f);
        assert_int_equal(can(f), row->can);
        assert_true(params_of(f).cell_bits == row->cell_bits || row->cell_bits == 0);
        tell(f);
        grow(f);
        blm_free(f);

        blm_options o = BLM_OPTIONS_INIT;
        o.kind        = row->kind;
        o.items       = 1000;
        o.rate        = 0.01;
        o.flags       = BLM_SHARED;
        assert_int_equal((row->can & BLM_CAN_SHARE) != 0, blm_create(&o, &f, NULL) == BLM_OK);
        blm_free(f);
        for (uint32_t lines = 1; lines <= row->max_lines + 1 && row->max_lines; lines++) {
            o.flags = 0;
            o.lines = lines;
            assert_int_equal(lines <= row->max_lines, blm_create(&o, &f, NULL) == BLM_OK);
            blm_free(f);
        }
    }
    assert_int_equal(n, 8);
    assert_null(blm_kind_at(n));
    assert_null(blm_kind_find((blm_kind)1000));
}

/* … and filters of other schemes, in every kind that they are kept in. */
static void schemes_can_what_their_filters_say(void **state)
{
    (void)state;
    const blm_scheme_row *row;
    const blm_kind_row   *kind;
    for (size_t i = 0; (row = blm_scheme_at(i)) != NULL; i++)
        for (size_t k = 0; row->creates && (kind = blm_kind_at(k)) != NULL; k++) {
            blm_filter *f = row->kinds >> kind->kind & 1 ? made(row->name, kind, 0) : NULL;
            if (!f)
                continue;
            assert_int_equal(params_of(f).kind, kind->kind);
            assert_string_equal(params_of(f).format, row->format);
            assert_string_equal(params_of(f).scheme, row->means ? row->means : row->name);
            tell(f);
            blm_free(f);
        }
}

static void a_chain_that_may_not_scale_does_not_grow(void **state)
{
    (void)state;
    const uint64_t usual = BLM_CHAIN_NOROUND | BLM_CHAIN_FORCE64;
    blm_filter    *f     = made("redisbloom", NULL, usual | BLM_CHAIN_NO_SCALING);
    assert_false(can(f) & BLM_CAN_GROW);
    grow(f);
    blm_free(f);
    f = made("redisbloom", NULL, usual);
    assert_true(can(f) & BLM_CAN_GROW);
    grow(f);
    blm_free(f);
}

static bool carries(const blm_format_row *row, const char *scheme)
{
    for (size_t i = 0; row->schemes && row->schemes[i]; i++)
        if (strcmp(row->schemes[i], scheme) == 0)
            return true;
    return row->schemes == NULL;
}

static void formats_carry_the_schemes_they_say(void **state)
{
    (void)state;
    const blm_scheme_row *s;
    const blm_format_row *row;
    for (size_t i = 0; (s = blm_scheme_at(i)) != NULL; i++) {
        blm_filter *f = s->creates && !s->means ? made(s->name, NULL, 0) : NULL;
        for (size_t j = 0; f && (row = blm_format_at(j)) != NULL; j++) {
            uint64_t bytes;
            assert_ptr_equal(blm_format_find(row->name), row);
            if (row->writes && row->schemes)
                assert_int_equal(carries(row, s->name),
                                 blm_encoded_size(f, row->name, &bytes, NULL) == BLM_OK);
        }
        if (f)
            assert_true(carries(blm_format_find(s->format), s->name));
        blm_free(f);
    }
    assert_true(blm_format_find("native")->maps && blm_format_find("native")->sniffs);
    assert_false(blm_format_find("raw")->sniffs || blm_format_find("guava")->maps);
    assert_null(blm_format_find("Guava"));
    assert_null(blm_scheme_find("Guava"));
    assert_string_equal(blm_scheme_find("guava")->means, "guava64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_can_what_they_say),
        cmocka_unit_test(schemes_can_what_their_filters_say),
        cmocka_unit_test(a_chain_that_may_not_scale_does_not_grow),
        cmocka_unit_test(formats_carry_the_schemes_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
