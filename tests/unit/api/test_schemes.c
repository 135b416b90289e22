/* SPDX-License-Identifier: MIT */
/* The laws again, for every scheme that can make a filter and every kind it is kept in, whatever
 * this build has: what the schemes' own tests take for granted of the calls around them. */
#include "api/filter.h"
#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "unit/bytes.h"

#define KEYS 400u

struct made {
    const struct blm__scheme *scheme;
    blm_kind                  kind;
    blm_options               o;
};

/* Calls law(m, keys) for each scheme and kind. */
static void each_scheme(void (*law)(const struct made *m, const struct key_set *keys))
{
    struct key_set keys  = key_set_make(77, 2 * KEYS);
    unsigned       pairs = 0;
    for (size_t i = 0; blm_scheme_at(i); i++) {
        struct made m = { .scheme = blm__scheme_find(blm_scheme_at(i)->name) };
        if (!m.scheme->row.creates || m.scheme->missing || m.scheme->row.by_caller)
            continue;
        for (int kind = BLM_CLASSIC; kind <= BLM_SCALABLE; kind++) {
            if (!(m.scheme->row.kinds >> kind & 1))
                continue;
            blm_options o = BLM_OPTIONS_INIT;
            blm_filter *f = NULL;
            blm_error   e;
            o.kind   = (blm_kind)kind;
            o.scheme = m.scheme->row.name;
            o.items  = kind == BLM_SCALABLE ? KEYS / 5 : KEYS;
            o.rate   = 0.01;
            if (m.scheme->row.seeded) {
                o.flags   = BLM_SEEDED;
                o.seed[0] = 12345;
            }
            blm_status st = blm_create(&o, &f, &e);
            if (st != BLM_OK)
                fail_msg("%s, %s: %s: %s", o.scheme, blm_kind_name(o.kind), blm_status_name(st),
                         e.text);
            m.kind = o.kind;
            m.o    = o;
            blm_free(f);
            law(&m, &keys);
            pairs++;
        }
    }
    print_message("%u pairs of scheme and kind\n", pairs);
    assert_true(pairs >= 4); /* the native scheme's alone */
    key_set_free(&keys);
}

#define FAIL(m, ...)                                                              \
    do {                                                                          \
        print_error("%s, %s: ", (m)->scheme->row.name, blm_kind_name((m)->kind)); \
        fail_msg(__VA_ARGS__);                                                    \
    } while (0)

static void law_of_adding(const struct made *m, const struct key_set *s)
{
    blm_filter *f = make(&m->o);
    for (size_t i = 0; i < KEYS; i++) {
        bool       before = blm_check(f, s->keys[i].data, s->keys[i].len);
        blm_status st     = blm_add(f, s->keys[i].data, s->keys[i].len);
        if (st != (before ? BLM_PRESENT : BLM_OK))
            FAIL(m, "key %zu: check said %d, add %s", i, before, blm_status_name(st));
    }
    for (size_t i = 0; i < KEYS; i++)
        if (!blm_check(f, s->keys[i].data, s->keys[i].len))
            FAIL(m, "key %zu is denied", i);
    size_t hits = blm_check_many(f, s->keys + KEYS, KEYS, NULL);
    if (hits > KEYS / 4) /* far above 1%: any scheme here does better than that */
        FAIL(m, "%zu of %u absent keys pass", hits, KEYS);
    blm_free(f);
}

static void law_of_batches(const struct made *m, const struct key_set *s)
{
    static blm_digest digests[2 * KEYS];
    static uint8_t    fixed[2 * KEYS * 13], fresh[3][2 * KEYS];
    static blm_key    fixed_keys[2 * KEYS];
    struct rng        r = { 4 };
    blm_filter       *a = make(&m->o), *b = make(&m->o), *c = make(&m->o), *d = make(&m->o);
    size_t            done = 0;
    for (size_t i = 0; i < 2 * KEYS; i++)
        assert_status(blm_digest_of(a, s->keys[i].data, s->keys[i].len, &digests[i]), BLM_OK);
    for (size_t i = 0; i < KEYS; i++)
        blm_add(a, s->keys[i].data, s->keys[i].len);
    assert_status(blm_add_many(b, s->keys, KEYS, fresh[0], &done), BLM_OK);
    assert_int_equal(done, KEYS);
    assert_status(blm_add_digests(c, digests, KEYS, fresh[1], NULL), BLM_OK);
    if (!same_bits(a, b) || !same_bits(a, c))
        FAIL(m, "batches set other bits than single calls");
    assert_memory_equal(fresh[0], fresh[1], KEYS);
    assert_true(params_of(a).items == params_of(b).items);
    size_t n = blm_check_many(a, s->keys, 2 * KEYS, fresh[0]);
    assert_int_equal(blm_check_digests(a, digests, 2 * KEYS, fresh[1]), n);
    assert_memory_equal(fresh[0], fresh[1], 2 * KEYS);
    for (size_t i = 0; i < 2 * KEYS; i++) {
        if (fresh[0][i] != blm_check(a, s->keys[i].data, s->keys[i].len))
            FAIL(m, "key %zu: one call and a batch differ", i);
        assert_int_equal(fresh[0][i], blm_check_digest(a, &digests[i]));
    }
    blm_clear(b);
    rng_bytes(&r, fixed, sizeof fixed);
    for (size_t i = 0; i < 2 * KEYS; i++)
        fixed_keys[i] = (blm_key){ fixed + 13 * i, 13 };
    assert_status(blm_add_fixed(b, fixed, 13, KEYS, fresh[0], NULL), BLM_OK);
    assert_status(blm_add_many(d, fixed_keys, KEYS, fresh[1], NULL), BLM_OK);
    if (!same_bits(b, d))
        FAIL(m, "fixed keys set other bits than listed ones");
    blm_free(a);
    blm_free(b);
    blm_free(c);
    blm_free(d);
}

static void law_of_positions(const struct made *m, const struct key_set *s)
{
    blm_filter *f = make(&m->o);
    for (size_t i = 0; i < KEYS; i++) {
        static uint64_t pos[4096], raw[4096];
        size_t          n = 0, r = 0;
        const blm_key  *k = &s->keys[i];
        assert_status(blm_positions(f, k->data, k->len, pos, 4096, &n), BLM_OK);
        if (blm_check_positions(f, pos, n) != blm_check(f, k->data, k->len))
            FAIL(m, "key %zu: its positions answer otherwise", i);
        blm_add(f, k->data, k->len);
        assert_status(blm_positions(f, k->data, k->len, pos, 4096, &n), BLM_OK);
        assert_true(n <= 4096);
        for (size_t j = 0; j < n; j++)
            if (pos[j] >= params_of(f).bits)
                FAIL(m, "key %zu: position %zu is out of range", i, j);
        if (!blm_check_positions(f, pos, n))
            FAIL(m, "key %zu: its positions are not set", i);
        blm_status st = blm_positions_raw(f, k->data, k->len, raw, 4096, &r);
        if (st == BLM_OK) {
            assert_int_equal(n, r);
            if (!blm_check_positions_raw(f, raw, r))
                FAIL(m, "key %zu: its raw positions are not set", i);
        } else {
            assert_status(st, BLM_E_UNSUPPORTED);
        }
    }
    blm_free(f);
}

/* What a filter denies cannot be removed from it, and a counter that was full stays full. */
static void law_of_removing(const struct made *m, const struct key_set *s)
{
    enum { TIMES = 20 }; /* more often than a counter can count */
    if (m->kind != BLM_COUNTING)
        return;
    blm_filter    *f = make(&m->o), *was = NULL;
    const blm_key *often = &s->keys[0];
    blm_add_many(f, s->keys + 1, KEYS - 1, NULL, NULL);
    assert_status(blm_copy(f, &was, NULL), BLM_OK);
    for (size_t i = KEYS; i < 2 * KEYS; i++)
        if (!blm_check(f, s->keys[i].data, s->keys[i].len) &&
            blm_remove(f, s->keys[i].data, s->keys[i].len) != BLM_E_ABSENT)
            FAIL(m, "key %zu was never added, and was removed", i);
    assert_true(same_bits(f, was) && params_of(f).items == KEYS - 1);
    for (int i = 0; i < TIMES; i++)
        blm_add(f, often->data, often->len);
    for (int i = 0; i < TIMES; i++)
        assert_status(blm_remove(f, often->data, often->len), BLM_OK);
    if (!blm_check(f, often->data, often->len))
        FAIL(m, "counters that were full have been lowered");
    for (size_t i = 1; i < KEYS; i++)
        assert_status(blm_remove(f, s->keys[i].data, s->keys[i].len), BLM_OK);
    assert_true(params_of(f).items == 0);
    blm_free(f);
    blm_free(was);
}

static void law_of_sets(const struct made *m, const struct key_set *s)
{
    blm_filter *a = make(&m->o), *b = NULL, *both = make(&m->o), *g = NULL;
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e;
    o.like = a;
    b      = make(&o);
    blm_add_many(a, s->keys, KEYS / 2, NULL, NULL);
    blm_add_many(b, s->keys + KEYS / 4, KEYS / 2, NULL, NULL);
    blm_add_many(both, s->keys, KEYS / 2, NULL, NULL);
    blm_add_many(both, s->keys + KEYS / 4, KEYS / 2, NULL, NULL);
    assert_status(blm_copy(a, &g, NULL), BLM_OK);
    if (!blm_equal(a, g) || !same_bits(a, g))
        FAIL(m, "a copy differs");
    blm_status st = blm_union(g, b, &e);
    if (m->kind == BLM_SCALABLE) { /* appended layers, or the original's rule against it */
        if (st == BLM_OK && blm_check_many(g, s->keys, 3 * KEYS / 4, NULL) != 3 * KEYS / 4)
            FAIL(m, "a union denies keys");
    } else if (st != BLM_OK || !same_bits(g, both)) {
        FAIL(m, "a union is not the filter of both (%s)", blm_status_name(st));
    }
    assert_status(blm_clear(g), BLM_OK);
    assert_true(stats_of(g).ones == 0 && params_of(g).items == 0);
    blm_free(g);
    for (uint64_t factor = 1; factor <= 8; factor++) {
        st = blm_fold(a, factor, &g, &e);
        if (st != BLM_OK) {
            assert_true(st == BLM_E_INDIVISIBLE || st == BLM_E_UNSUPPORTED);
            continue;
        }
        if (blm_check_many(g, s->keys, KEYS / 2, NULL) != KEYS / 2)
            FAIL(m, "folded by %d it denies keys", (int)factor);
        blm_add_many(g, s->keys + KEYS / 2, KEYS / 2, NULL, NULL);
        if (blm_check_many(g, s->keys, KEYS, NULL) != KEYS)
            FAIL(m, "folded by %d it loses what is added", (int)factor);
        blm_free(g);
    }
    blm_free(a);
    blm_free(b);
    blm_free(both);
}

static void law_of_numbers(const struct made *m, const struct key_set *s)
{
    blm_filter *f = make(&m->o);
    blm_plan    p = { .size = sizeof p };
    double      map[16];
    blm_stats   st = stats_of(f);
    assert_true(st.ones == 0 && st.rate_now == 0 && st.estimated.value == 0);
    assert_string_equal(st.params.scheme, m->scheme->row.name);
    assert_status(blm_plan_for(&m->o, &p, NULL), BLM_OK);
    assert_true(p.bits == st.params.bits && p.probes == st.params.probes);
    blm_add_many(f, s->keys, KEYS, NULL, NULL);
    st = stats_of(f);
    assert_true(st.fill > 0 && st.fill < 1 && st.rate_now > 0 && st.rate_now < 0.2);
    /* An original whose probes repeat sets fewer bits than it should, and says so in its faults. */
    double least = m->scheme->row.faults ? 0.3 : 0.8;
    if (!(st.estimated.value > least * KEYS && st.estimated.value < 1.25 * KEYS))
        FAIL(m, "%u keys are estimated at %g", KEYS, st.estimated.value);
    assert_status(blm_fill_map(f, map, 16), BLM_OK);
    blm_free(f);
}

/* Without a kind the scheme's own is taken; one it is not kept in is refused by name. */
static void kinds_fit_schemes(void **state)
{
    (void)state;
    for (size_t i = 0; blm_scheme_at(i); i++) {
        const struct blm__scheme *s = blm__scheme_find(blm_scheme_at(i)->name);
        if (!s->row.creates || s->missing || s->row.by_caller)
            continue;
        for (int kind = BLM_ANY_KIND; kind <= BLM_SCALABLE; kind++) {
            blm_options o = BLM_OPTIONS_INIT;
            blm_filter *f = NULL;
            blm_error   e;
            blm_kind    own = s->native ? BLM_BLOCKED : BLM_CLASSIC;
            o.kind          = (blm_kind)kind;
            o.scheme        = s->row.name;
            o.items         = KEYS;
            o.rate          = 0.01;
            while (!(s->row.kinds >> own & 1))
                own++;
            blm_status st = blm_create(&o, &f, &e);
            if (kind == BLM_ANY_KIND) {
                assert_status(st, BLM_OK);
                assert_int_equal(params_of(f).kind, own);
            } else if (s->row.kinds >> kind & 1) {
                assert_status(st, BLM_OK);
                assert_int_equal(params_of(f).kind, kind);
            } else {
                assert_status(st, BLM_E_UNSUPPORTED);
                check_error(&e, BLM_E_UNSUPPORTED, blm_kind_name(o.kind));
            }
            if (!s->row.seeded && f) {
                blm_free(f);
                o.flags = BLM_SEEDED; /* a seed that would be ignored is refused instead */
                assert_status(blm_create(&o, &f, &e), BLM_E_UNSUPPORTED);
                check_error(&e, BLM_E_UNSUPPORTED, "seed");
            }
            blm_free(f);
        }
    }
}

/* To bytes and back: the format each scheme is saved in by default, and the native one. */
static void law_of_bytes(const struct made *m, const struct key_set *s)
{
    static const char *const formats[] = { NULL, "native" };
    for (size_t i = 0; i < COUNT_OF(formats); i++) {
        blm_filter  *f = make(&m->o), *g = NULL;
        struct bytes b = { 0 };
        blm_error    e;
        blm_options  o = BLM_OPTIONS_INIT;
        uint8_t      x[2 * KEYS], y[2 * KEYS];
        blm_add_many(f, s->keys, KEYS, NULL, NULL);
        blm_status st = blm_encode(f, formats[i], bytes_add, &b, &e);
        if (st != BLM_OK)
            FAIL(m, "to %s: %s: %s", formats[i] ? formats[i] : "its own format",
                 blm_status_name(st), e.text);
        o.format = formats[i] ? formats[i] : params_of(f).format;
        st       = blm_decode(b.p, b.len, &o, &g, &e);
        if (st != BLM_OK)
            FAIL(m, "from %s: %s: %s", o.format, blm_status_name(st), e.text);
        if (strcmp(params_of(g).scheme, m->scheme->row.name) == 0) {
            blm_check_many(f, s->keys, 2 * KEYS, x);
            blm_check_many(g, s->keys, 2 * KEYS, y);
            assert_memory_equal(x, y, sizeof x);
        } else {
            FAIL(m, "came back from %s as scheme %s", o.format, params_of(g).scheme);
        }
        blm_free(f);
        blm_free(g);
        free(b.p);
    }
}

/* A format either keeps the count, or it is said that there are keys which nobody counted: also where the native
 * format holds what was read from it, to which keys are added that are. */
static void law_of_counts(const struct made *m, const struct key_set *s)
{
    for (size_t keys = 0; keys <= KEYS; keys += KEYS) {
        blm_filter  *f = make(&m->o), *g = NULL, *h = NULL;
        struct bytes b = { 0 }, again = { 0 };
        blm_options  o = BLM_OPTIONS_INIT;
        blm_add_many(f, s->keys, keys, NULL, NULL);
        assert_false(params_of(f).unclosed);
        assert_status(blm_encode(f, NULL, bytes_add, &b, NULL), BLM_OK);
        o.format = params_of(f).format;
        assert_status(blm_decode(b.p, b.len, &o, &g, NULL), BLM_OK);
        bool counted = params_of(g).items == params_of(f).items;
        if (params_of(g).unclosed == counted || (!counted && params_of(g).items != 0))
            FAIL(m, "%u keys, then %u, and it says %d", (unsigned)params_of(f).items,
                 (unsigned)params_of(g).items, params_of(g).unclosed);
        assert_status(blm_encode(g, "native", bytes_add, &again, NULL), BLM_OK);
        assert_status(blm_decode(again.p, again.len, NULL, &h, NULL), BLM_OK);
        blm_add_many(h, s->keys + keys, KEYS / 2, NULL, NULL);
        assert_int_equal(params_of(h).unclosed, !counted);
        blm_free(f);
        blm_free(g);
        blm_free(h);
        free(b.p);
        free(again.p);
    }
}

static void adding(void **state)
{
    (void)state;
    each_scheme(law_of_adding);
}
static void batches(void **state)
{
    (void)state;
    each_scheme(law_of_batches);
}
static void positions(void **state)
{
    (void)state;
    each_scheme(law_of_positions);
}
static void removing(void **state)
{
    (void)state;
    each_scheme(law_of_removing);
}
static void sets(void **state)
{
    (void)state;
    each_scheme(law_of_sets);
}
static void numbers(void **state)
{
    (void)state;
    each_scheme(law_of_numbers);
}
static void counts(void **state)
{
    (void)state;
    each_scheme(law_of_counts);
}
static void bytes(void **state)
{
    (void)state;
    each_scheme(law_of_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adding),   cmocka_unit_test(batches), cmocka_unit_test(positions),
        cmocka_unit_test(removing), cmocka_unit_test(sets),    cmocka_unit_test(numbers),
        cmocka_unit_test(counts),   cmocka_unit_test(bytes),   cmocka_unit_test(kinds_fit_schemes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
