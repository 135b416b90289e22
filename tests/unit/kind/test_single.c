/* SPDX-License-Identifier: MIT */
/* Kinds of one layer: what they count when two filters meet, and what is no filter of theirs. */
#include "api/filter.h"
#include "unit/support.h"

static const struct flavour singles[] = {
    { "classic", BLM_CLASSIC, 0, 0, false },
    { "blocked", BLM_BLOCKED, 0, 1, false },
    { "blocked shared", BLM_BLOCKED, BLM_SHARED, 2, false },
    { "counting", BLM_COUNTING, 0, 0, false },
};
#define EACH_SINGLE(v) for (const struct flavour *v = singles; v < singles + COUNT_OF(singles); v++)

static void add_range(blm_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_true(blm_add(f, &i, 8) >= 0);
}

/* A set united with itself has the keys it had; counters have each twice. */
static void united_with_itself(void **state)
{
    (void)state;
    EACH_SINGLE(v)
    {
        blm_filter *f = make_flavour(v, 500, 0.01, 3);
        add_range(f, 0, 300);
        uint64_t items = params_of(f).items, ones = stats_of(f).ones;
        assert_status(blm_union(f, f, NULL), BLM_OK);
        assert_int_equal(params_of(f).items, v->kind == BLM_COUNTING ? 2 * items : items);
        assert_int_equal(stats_of(f).ones, ones);
        blm_free(f);
    }
}

/* Union: as many as both have counted. Intersection: not more than either has. */
static void what_is_counted_when_two_meet(void **state)
{
    (void)state;
    EACH_SINGLE(v)
    for (int more = 0; more < 2; more++) {
        blm_filter *a = make_flavour(v, 500, 0.01, 3), *b = make_flavour(v, 500, 0.01, 3), *c;
        add_range(a, 0, more ? 300 : 100);
        add_range(b, 50, more ? 150 : 400);
        uint64_t x = params_of(a).items, y = params_of(b).items;
        assert_status(blm_copy(a, &c, NULL), BLM_OK);
        assert_status(blm_union(c, b, NULL), BLM_OK);
        assert_int_equal(params_of(c).items, x + y);
        assert_status(blm_intersect(a, b, NULL), BLM_OK);
        assert_int_equal(params_of(a).items, x < y ? x : y);
        assert_int_equal(params_of(b).items, y);
        blm_free(a);
        blm_free(b);
        blm_free(c);
    }
}

/* Whoever asks or adds may go to the layer itself, for ever. */
static void the_only_layer_has_room_for_all(void **state)
{
    (void)state;
    EACH_SINGLE(v)
    {
        blm_filter *f = make_flavour(v, 50, 0.01, 3);
        add_range(f, 0, 500);
        assert_ptr_equal(blm__only_layer(&f->body), f->body.layers);
        assert_true(f->body.ops->room(&f->body) == UINT64_MAX);
        blm_free(f);
    }
}

/* What a decoder must refuse, one by one. */
static void what_is_no_filter_of_one_layer(void **state)
{
    (void)state;
    EACH_SINGLE(v)
    {
        blm_filter       *f    = make_flavour(v, 50, 0.01, 3);
        struct blm__body  b    = f->body;
        struct blm__layer l[2] = { f->body.layers[0], f->body.layers[0] };
        b.layers               = l;
        assert_null(b.ops->fault(&b, true));
        b.layer_count = 2;
        assert_non_null(b.ops->fault(&b, true));
        b.layer_count   = 1;
        l[0].shape.kind = v->kind == BLM_CLASSIC ? BLM_BLOCKED : BLM_CLASSIC;
        assert_non_null(b.ops->fault(&b, true));
        l[0].shape.kind = v->kind;
        b.growth        = 2;
        assert_non_null(b.ops->fault(&b, true));
        b.growth     = 0;
        b.tightening = 0.5;
        assert_non_null(b.ops->fault(&b, true));
        b.tightening = 0;
        b.rate_cap   = 0.5;
        assert_non_null(b.ops->fault(&b, true));
        b.rate_cap = 0;
        b.active   = 1;
        assert_non_null(b.ops->fault(&b, true));
        b.active = 0;
        assert_null(b.ops->fault(&b, true));
        blm_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(united_with_itself),
        cmocka_unit_test(what_is_counted_when_two_meet),
        cmocka_unit_test(the_only_layer_has_room_for_all),
        cmocka_unit_test(what_is_no_filter_of_one_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
