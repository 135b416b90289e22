/* SPDX-License-Identifier: MIT */
/* Batches longer than a run (engine/runs.h) are single calls, only faster, whatever the keys come as:
 * counting filters, windows whose turns end amid a run, and cascades, whose keys pass one level or two. */
#include "core/kernel/kernel.h"
#include "engine/runs.h"
#include "unit/fixed.h"

#define KEYS  (2 * BLM__RUN + 77)
#define WIDTH 20u

enum form { LIST, EIGHTS, WIDE, HASHES, FORMS };

/* The same number as a key of 8 bytes or of WIDTH, as a list of the former, and as the former's hash. */
struct forms {
    uint64_t eight[KEYS], hash[KEYS];
    uint8_t  wide[KEYS][WIDTH];
    blm_key  list[KEYS];
};

static struct forms *forms_of(const blm_filter *f, struct rng *r, uint64_t below)
{
    struct forms *x = malloc(sizeof *x);
    assert_non_null(x);
    memset(x->wide, 0, sizeof x->wide);
    for (size_t i = 0; i < KEYS; i++) {
        x->eight[i] = rng_below(r, below);
        x->list[i]  = (blm_key){ &x->eight[i], 8 };
        memcpy(x->wide[i], &x->eight[i], 8);
    }
    assert_status(blm_hash_many(f, x->list, KEYS, x->hash), BLM_OK);
    return x;
}

static blm_key key_of(const struct forms *x, enum form form, size_t i)
{
    return form == WIDE ? (blm_key){ x->wide[i], WIDTH } : x->list[i];
}

static void add_all(blm_filter *f, const struct forms *x, enum form form, uint8_t *fresh)
{
    size_t     done = 0;
    blm_status st   = form == LIST     ? blm_add_many(f, x->list, KEYS, fresh, &done)
                      : form == EIGHTS ? blm_add_fixed(f, x->eight, 8, KEYS, fresh, &done)
                      : form == WIDE   ? blm_add_fixed(f, x->wide, WIDTH, KEYS, fresh, &done)
                                       : blm_add_hashes(f, x->hash, KEYS, fresh, &done);
    assert_status(st, BLM_OK);
    assert_int_equal(done, KEYS);
}

static size_t check_all(const blm_filter *f, const struct forms *x, enum form form, uint8_t *maybe)
{
    return form == LIST     ? blm_check_many(f, x->list, KEYS, maybe)
           : form == EIGHTS ? blm_check_fixed(f, x->eight, 8, KEYS, maybe)
           : form == WIDE   ? blm_check_fixed(f, x->wide, WIDTH, KEYS, maybe)
                            : blm_check_hashes(f, x->hash, KEYS, maybe);
}

static void judge_checks(const blm_filter *f, const struct forms *x, enum form form)
{
    uint8_t got[KEYS + 1];
    size_t  hits = 0;
    got[KEYS]    = 77;
    size_t said  = check_all(f, x, form, got);
    for (size_t i = 0; i < KEYS; i++) {
        blm_key k = key_of(x, form, i);
        assert_int_equal(got[i], blm_check(f, k.data, k.len));
        hits += got[i];
    }
    assert_int_equal(said, hits);
    assert_int_equal(got[KEYS], 77);
    assert_int_equal(check_all(f, x, form, NULL), hits);
    assert_true(hits > KEYS / 20 && hits < KEYS); /* both answers are there */
}

static void judge_adds(const blm_options *o, enum form form)
{
    blm_filter   *a = make(o), *b = make(o);
    struct rng    r = { 7 + form };
    struct forms *x = forms_of(a, &r, 3 * KEYS);
    uint8_t       fresh[KEYS + 1];
    fresh[KEYS] = 77;
    for (int again = 0; again < 2; again++) {
        add_all(a, x, form, fresh);
        for (size_t i = 0; i < KEYS; i++) {
            blm_key k = key_of(x, form, i);
            assert_int_equal(blm_add(b, k.data, k.len) == BLM_OK, fresh[i]);
        }
        assert_true(same_bits(a, b));
        assert_true(params_of(a).items == params_of(b).items);
    }
    assert_int_equal(fresh[KEYS], 77);
    struct forms *y = forms_of(a, &r, 3 * KEYS);
    judge_checks(a, y, form);
    free(x);
    free(y);
    blm_free(a);
    blm_free(b);
}

static void each_form(const blm_options *o)
{
    for (int form = LIST; form < FORMS; form++) {
        judge_adds(o, (enum form)form);
        uint64_t before =
            atomic_exchange(&blm__in_cache_bytes, 0); /* as if nothing were in cache */
        judge_adds(o, (enum form)form);
        atomic_store(&blm__in_cache_bytes, before);
    }
}

static blm_options options_of(blm_kind kind, uint64_t items, double rate)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = kind;
    o.items       = items;
    o.rate        = rate;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 11;
    return o;
}

static void counting_in_runs(void **state)
{
    (void)state;
    static const double rates[] = { 0.01, 1e-4, 1e-9 }; /* one line a key, and several */
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        blm_options o = options_of(BLM_COUNTING, KEYS, rates[i]);
        each_form(&o);
    }
}

/* Turns of a seventh of the keys and more; 8 ages and 32, one span a key and several. */
static void windows_in_runs(void **state)
{
    (void)state;
    static const double rates[] = { 0.3, 0.01, 1e-5 };
    for (size_t i = 0; i < COUNT_OF(rates); i++)
        for (int fine = 0; fine < 2; fine++) {
            blm_options o = options_of(BLM_WINDOW, i ? KEYS : 2 * KEYS, rates[i]);
            o.slack       = fine ? 0.05 : 0;
            each_form(&o);
        }
}

/* Turns of 15 keys: many end amid a run, and tags come round. Most keys are forgotten. */
static void short_turns_end_amid_runs(void **state)
{
    (void)state;
    blm_options o = options_of(BLM_WINDOW, 100, 0.01);
    for (int form = LIST; form < FORMS; form++) {
        blm_filter   *a = make(&o), *b = make(&o);
        struct rng    r = { 3 };
        struct forms *x = forms_of(a, &r, 500);
        uint8_t       fresh[KEYS];
        size_t        known = 0;
        add_all(a, x, (enum form)form, fresh);
        for (size_t j = 0; j < KEYS; j++) {
            blm_key k = key_of(x, (enum form)form, j);
            assert_int_equal(blm_add(b, k.data, k.len) == BLM_OK, fresh[j]);
            known += !fresh[j];
        }
        assert_true(known > KEYS / 20 && known < KEYS);
        assert_true(same_bits(a, b));
        free(x);
        blm_free(a);
        blm_free(b);
    }
}

/* Keys of either list and of neither: all of a stretch pass the first level, or none, or some. */
static void cascades_in_runs(void **state)
{
    (void)state;
    static const size_t lists[][2] = { { 3000, 3000 }, { 1000, 9000 }, { 5000, 100 }, { 20, 4 } };
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        blm_options o = fixed_options(BLM_CASCADE, i == 0 ? 0.01 : i == 1 ? 0.3 : 0, 5 + i);
        blm_filter *f = fixed_of(&o, lists[i][0], lists[i][1]);
        struct rng  r = { i };
        assert_true(i != 0 || params_of(f).layers == 2);
        for (int form = LIST; form < FORMS; form++) {
            if (form == WIDE)
                continue; /* its keys are of 8 bytes */
            struct forms *x = forms_of(f, &r, 2 * (lists[i][0] + lists[i][1]));
            for (size_t j = 0; j < KEYS; j++) /* stretches of one answer */
                if (j / 300 % 3 == 0)
                    x->eight[j] = j % lists[i][0];
                else if (j / 300 % 3 == 1 && j % 50)
                    x->eight[j] = lists[i][0] + j % lists[i][1];
            assert_status(blm_hash_many(f, x->list, KEYS, x->hash), BLM_OK);
            judge_checks(f, x, (enum form)form);
            free(x);
        }
        blm_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counting_in_runs),
        cmocka_unit_test(windows_in_runs),
        cmocka_unit_test(short_turns_end_amid_runs),
        cmocka_unit_test(cascades_in_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
