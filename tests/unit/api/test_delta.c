/* SPDX-License-Identifier: MIT */
/* Deltas: what blm_diff writes, blm_patch turns back into the very same filter, for every kind and
 * every sort of change; and nothing else ever comes out, whatever happens to the bytes. */
#include "api/delta.h"
#include "api/filter.h"
#include "bloomery/delta.h"
#include "core/checksum.h"
#include "unit/bytes.h"

static struct bytes diff_of(const blm_filter *from, const blm_filter *to)
{
    struct bytes b = { 0 };
    blm_error    err;
    if (blm_diff(from, to, bytes_add, &b, &err) != BLM_OK)
        fail_msg("blm_diff: %s", err.text);
    return b;
}

static blm_status patch_of(const blm_filter *base, const uint8_t *data, size_t len,
                           blm_filter **out, blm_error *err)
{
    struct bytes b = { .p = malloc(len ? len : 1), .len = len }; /* its own, for ASan to guard */
    memcpy(b.p, data, len);
    blm_status st = blm_patch(base, bytes_get, &b, out, err);
    free(b.p);
    if ((st >= 0) != (*out != NULL))
        fail_msg("%s with%s a filter", blm_status_name(st), *out ? "" : "out");
    return st;
}

static void same(const blm_filter *a, const blm_filter *b)
{
    uint8_t    x[16], y[16];
    blm_params p = { .size = sizeof p }, q = { .size = sizeof q };
    assert_true(blm_equal(a, b));
    assert_int_equal(blm_fingerprint(a, x), BLM_OK);
    assert_int_equal(blm_fingerprint(b, y), BLM_OK);
    assert_memory_equal(x, y, 16);
    for (uint32_t i = 0; blm_get_layer(a, i, &p) == BLM_OK; i++) {
        assert_int_equal(blm_get_layer(b, i, &q), BLM_OK);
        assert_true(p.items == q.items && p.capacity == q.capacity && p.rate == q.rate);
    }
    blm_get_params(a, &p);
    blm_get_params(b, &q);
    assert_true(p.rate == q.rate && p.rate_cap == q.rate_cap && p.layers == q.layers);
}

/* ---- filters ---- */

static blm_filter *made(blm_kind kind, uint64_t items)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.kind    = kind;
    o.items   = items;
    o.rate    = 0.01;
    o.flags   = BLM_SEEDED;
    o.seed[0] = 42;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
    return f;
}

static void add(blm_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        assert_true(blm_add(f, &i, sizeof i) >= 0);
}

static blm_filter *copy(const blm_filter *f)
{
    blm_filter *g;
    assert_int_equal(blm_copy(f, &g, NULL), BLM_OK);
    return g;
}

static void round_trip(const blm_filter *from, const blm_filter *to, size_t most)
{
    struct bytes d = diff_of(from, to);
    blm_filter  *g;
    blm_error    err;
    if (d.len > most)
        fail_msg("the delta takes %zu bytes, more than %zu", d.len, most);
    if (patch_of(from, d.p, d.len, &g, &err) != BLM_OK)
        fail_msg("blm_patch: %s", err.text);
    same(g, to);
    blm_free(g);
    free(d.p);
}

static const blm_kind kinds[] = { BLM_CLASSIC, BLM_BLOCKED, BLM_COUNTING, BLM_SCALABLE };
#define KINDS (sizeof kinds / sizeof *kinds)

/* Nothing, one key, some, more than the filter was made for; and back again, bits going. A delta
 * of nothing is header, layer and end: 96 + 104 + 24 bytes. A key is at most 15 gaps of 3 bytes. */
static void every_kind_follows(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        blm_filter *a = made(kinds[k], 20000), *b;
        add(a, 0, 10000);
        b = copy(a);
        round_trip(a, b, 224);
        add(b, 10000, 10001);
        round_trip(a, b, 224 + 24 + 45);
        add(b, 10001, 10100);
        round_trip(a, b, 224 + 24 + 100 * 45);
        add(b, 10100, 19000);
        round_trip(a, b, SIZE_MAX);
        round_trip(b, a, SIZE_MAX);
        blm_free(a);
        blm_free(b);
    }
}

/* From empty to far too full the delta is never larger than the filter by more than its frames. */
static void a_dense_delta_is_no_larger_than_the_filter(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS - 1; k++) {
        blm_filter *a = made(kinds[k], 20000), *b = copy(a);
        blm_params  p = { .size = sizeof p };
        blm_get_params(a, &p);
        add(b, 0, 200000);
        round_trip(a, b, (size_t)(p.bytes + p.bytes / 32768 * 24 + 24 + 224));
        blm_free(a);
        blm_free(b);
    }
}

static void removed_and_cleared_bits_go(void **state)
{
    (void)state;
    blm_filter *a = made(BLM_COUNTING, 1000), *b;
    add(a, 0, 500);
    b = copy(a);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(blm_remove(b, &i, sizeof i), BLM_OK);
    round_trip(a, b, SIZE_MAX);
    assert_int_equal(blm_clear(b), BLM_OK);
    round_trip(a, b, SIZE_MAX);
    blm_free(a);
    blm_free(b);
}

/* A scalable filter that grew: new layers, empty or not; a union, which adds rates. */
static void new_layers_come(void **state)
{
    (void)state;
    blm_filter *a = made(BLM_SCALABLE, 1000), *b, *c;
    blm_params  p = { .size = sizeof p };
    add(a, 0, 900);
    b = copy(a);
    add(b, 900, 20000);
    blm_get_params(b, &p);
    assert_true(p.layers >= 3);
    round_trip(a, b, SIZE_MAX);
    c = made(BLM_SCALABLE, 1000);
    add(c, 5, 50);
    assert_int_equal(blm_union(c, a, NULL), BLM_OK);
    round_trip(c, c, SIZE_MAX);
    blm_free(c);
    c = copy(a);
    assert_int_equal(blm_union(c, b, NULL), BLM_OK);
    round_trip(a, c, SIZE_MAX);
    blm_free(a);
    blm_free(b);
    blm_free(c);
}

static void fewer_layers_are_refused(void **state)
{
    (void)state;
    blm_filter  *a = made(BLM_SCALABLE, 1000), *b = copy(a);
    struct bytes d = { 0 };
    blm_error    err;
    add(b, 0, 5000);
    assert_int_equal(blm_diff(b, a, bytes_add, &d, &err), BLM_E_MISMATCH);
    assert_non_null(strstr(err.text, "fewer"));
    assert_int_equal(d.len, 0);
    blm_free(a);
    blm_free(b);
}

/* A delta that asks for much more memory than its base has is refused, whoever made it. */
static void growth_is_bounded(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *a, *b, *g;
    blm_error   err;
    o.kind   = BLM_SCALABLE;
    o.items  = 64;
    o.rate   = 0.01;
    o.growth = 1024;
    assert_int_equal(blm_create(&o, &a, NULL), BLM_OK);
    b = copy(a);
    add(b, 0, 1000);
    round_trip(a, b, SIZE_MAX); /* one step at the largest growth there is */
    add(b, 1000, 66000);
    struct bytes d = diff_of(a, b);
    assert_int_equal(patch_of(a, d.p, d.len, &g, &err), BLM_E_LIMIT);
    assert_true(err.offset < d.len);
    free(d.p);
    blm_free(a);
    blm_free(b);

    o.growth    = 10;
    o.max_bytes = 600; /* the first layer fits, the second does not */
    assert_int_equal(blm_create(&o, &a, NULL), BLM_OK);
    o.max_bytes = 0;
    o.like      = a;
    o.items = 0, o.rate = 0, o.growth = 0;
    assert_int_equal(blm_create(&o, &b, NULL), BLM_OK);
    add(b, 0, 200);
    d = diff_of(a, b);
    assert_int_equal(patch_of(a, d.p, d.len, &g, &err), BLM_E_LIMIT);
    free(d.p);
    blm_free(a);
    blm_free(b);
}

/* ---- the wrong base ---- */

static void a_wrong_base_is_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        blm_filter *a = made(kinds[k], 1000), *b, *c, *g;
        blm_error   err;
        add(a, 0, 100);
        b = copy(a);
        add(b, 100, 200);
        c = copy(b);
        add(c, 200, 300);
        struct bytes d = diff_of(a, b);
        assert_int_equal(patch_of(c, d.p, d.len, &g, &err), BLM_E_MISMATCH);
        assert_non_null(strstr(err.text, "another"));
        assert_int_equal(patch_of(b, d.p, d.len, &g, &err), BLM_PRESENT);
        same(g, b);
        blm_free(g);
        free(d.p);
        blm_free(a);
        blm_free(b);
        blm_free(c);
    }
}

static void unlike_filters_have_no_delta(void **state)
{
    (void)state;
    blm_options  o = BLM_OPTIONS_INIT;
    blm_filter  *a = made(BLM_CLASSIC, 1000), *b;
    struct bytes d = { 0 };
    blm_error    err;
    o.items = 1000;
    o.rate  = 0.01;
    o.kind  = BLM_CLASSIC;
    assert_int_equal(blm_create(&o, &b, NULL), BLM_OK); /* another seed */
    assert_int_equal(blm_diff(a, b, bytes_add, &d, &err), BLM_E_MISMATCH);
    assert_non_null(strstr(err.text, "seed"));
    blm_free(b);
    b = made(BLM_BLOCKED, 1000);
    assert_int_equal(blm_diff(a, b, bytes_add, &d, &err), BLM_E_MISMATCH);
    blm_free(b);
    b = made(BLM_CLASSIC, 1001);
    assert_int_equal(blm_diff(a, b, bytes_add, &d, &err), BLM_E_MISMATCH);
    assert_int_equal(d.len, 0);
    assert_int_equal(blm_diff(NULL, b, bytes_add, &d, &err), BLM_E_ARGUMENT);
    assert_int_equal(blm_diff(a, b, NULL, &d, &err), BLM_E_ARGUMENT);
    blm_free(a);
    blm_free(b);
}

/* Equal filters that will not stay so: a delta does not say how they grow. */
static void filters_that_grow_differently_have_no_delta(void **state)
{
    (void)state;
    static const struct {
        const char *scheme;
        uint64_t    items;
        double      growth[2], tightening[2];
    } rows[] = {
        { "native", 1000, { 2, 4 }, { 0, 0 } },
        { "native", 1000, { 2, 2 }, { 0.5, 0.5 + 1e-9 } },
        { "redisbloom", 1000, { 2, 7 }, { 0, 0 } },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_filter  *f[2];
        struct bytes d = { 0 };
        blm_error    err;
        for (int j = 0; j < 2; j++) {
            blm_options o = BLM_OPTIONS_INIT;
            o.kind        = BLM_SCALABLE;
            o.scheme      = rows[i].scheme;
            o.items       = rows[i].items;
            o.rate        = 0.01;
            o.growth      = rows[i].growth[j];
            o.tightening  = rows[i].tightening[j];
            o.flags       = strcmp(o.scheme, "native") == 0 ? BLM_SEEDED : 0;
            assert_int_equal(blm_create(&o, &f[j], NULL), BLM_OK);
        }
        assert_true(blm_equal(f[0], f[1]));
        assert_int_equal(blm_diff(f[0], f[1], bytes_add, &d, &err), BLM_E_MISMATCH);
        assert_non_null(strstr(err.text, "grow differently"));
        assert_int_equal(d.len, 0);
        blm_free(f[0]);
        blm_free(f[1]);
    }
}

/* ---- damage ---- */

/* One delta that has every frame there is: two layers, flips and words. */
static void both_ends(blm_filter **a, blm_filter **b)
{
    blm_options o   = BLM_OPTIONS_INIT;
    o.kind          = BLM_SCALABLE;
    o.items         = 200;
    o.rate          = 0.01;
    o.flags         = BLM_SEEDED;
    o.layer_classic = true;
    assert_int_equal(blm_create(&o, a, NULL), BLM_OK);
    add(*a, 0, 199);
    *b = copy(*a);
    add(*b, 199, 450);
}

static void a_cut_delta_is_refused(void **state)
{
    (void)state;
    blm_filter *a, *b, *g;
    blm_error   err;
    both_ends(&a, &b);
    struct bytes d = diff_of(a, b);
    for (size_t len = 0; len < d.len; len++) {
        blm_status st = patch_of(a, d.p, len, &g, &err);
        if (st != (len == 0 ? BLM_E_FORMAT : BLM_E_TRUNCATED) || err.offset > len)
            fail_msg("%zu of %zu bytes: %s at %llu", len, d.len, blm_status_name(st),
                     (unsigned long long)err.offset);
    }
    free(d.p);
    blm_free(a);
    blm_free(b);
}

static void a_flipped_bit_is_found(void **state)
{
    (void)state;
    blm_filter *a, *b, *g;
    blm_error   err;
    both_ends(&a, &b);
    struct bytes d = diff_of(a, b);
    for (size_t bit = 0; bit < d.len * 8; bit++) {
        d.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        blm_status st = patch_of(a, d.p, d.len, &g, &err);
        if (st >= 0 || err.offset == BLM_NO_OFFSET || err.offset > d.len)
            fail_msg("bit %zu: %s at %llu", bit, blm_status_name(st),
                     (unsigned long long)err.offset);
        d.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(bytes_add(&d, "x", 1));
    assert_int_equal(patch_of(a, d.p, d.len, &g, &err), BLM_E_FORMAT);
    assert_int_equal(err.offset, d.len - 1);
    free(d.p);
    blm_free(a);
    blm_free(b);
}

/* Writes every checksum anew, so that what is behind them is reached. */
static void seal(uint8_t *p, size_t len)
{
    blm__put64le(p + BLM__DELTA_SUM, blm__checksum(p, BLM__DELTA_SUM));
    for (size_t at = BLM__DELTA_HEADER; at + BLM__FRAME_FRONT + 8 <= len;) {
        size_t payload = blm__get32le(p + at + 4), sum = at + BLM__FRAME_FRONT + payload;
        if (payload > BLM__FRAME_PAYLOAD || sum + 8 > len)
            return;
        blm__put64le(p + sum, blm__checksum(p + at, sum - at));
        at = sum + 8;
    }
}

/* RedisBloom 2.2.0 to 2.2.4 rounded to bytes: links of equal bytes whose positions are modulo
 * different numbers. Neither by diff nor by a forged delta does one become the other. */
static void another_modulus_is_another_filter(void **state)
{
    (void)state;
    blm_options  o = BLM_OPTIONS_INIT;
    blm_filter  *a, *b, *g;
    struct bytes d, none = { 0 };
    blm_error    err;
    o.kind   = BLM_SCALABLE;
    o.scheme = "redisbloom";
    o.items  = 100;
    o.rate   = 0.01;
    assert_int_equal(blm_create(&o, &a, NULL), BLM_OK);
    add(a, 0, 40);
    b = copy(a);
    add(b, 40, 60);
    d            = diff_of(a, b);
    uint64_t was = b->body.layers[0].shape.aux[1], less = was - ((uint64_t)3 << 16);
    uint8_t *aux = d.p + BLM__DELTA_HEADER + BLM__FRAME_FRONT + 72; /* of the first frame's layer */
    assert_true(blm__get64le(aux) == was);
    blm__put64le(aux, less);
    seal(d.p, d.len);
    assert_int_equal(patch_of(a, d.p, d.len, &g, &err), BLM_E_FORMAT);
    b->body.layers[0].shape.aux[1] = less;
    assert_int_equal(blm_diff(a, b, bytes_add, &none, &err), BLM_E_MISMATCH);
    assert_non_null(strstr(err.text, "moduli"));
    assert_false(blm_equal(a, b));
    uint8_t x[16], y[16];
    blm_free(b);
    b                              = copy(a); /* the same bits, then, … */
    b->body.layers[0].shape.aux[1] = less;    /* … by another modulus */
    assert_true(blm_fingerprint(a, x) == BLM_OK && blm_fingerprint(b, y) == BLM_OK);
    assert_memory_not_equal(x, y, sizeof x);
    free(d.p);
    blm_free(a);
    blm_free(b);
}

/* Bytes that no table of docs/formats/delta.md gives a meaning, under checksums that match. */
static void bytes_without_a_meaning_are_0(void **state)
{
    (void)state;
    static const size_t spare[][2] = { { 76, 88 }, { 96 + 16 + 36, 96 + 16 + 40 } };
    blm_filter         *a, *b, *g;
    both_ends(&a, &b);
    struct bytes d = diff_of(a, b);
    for (size_t i = 0; i < COUNT_OF(spare); i++)
        for (size_t at = spare[i][0]; at < spare[i][1]; at++) {
            blm_error err = { .status = BLM_OK };
            d.p[at]       = 1;
            seal(d.p, d.len);
            assert_int_equal(patch_of(a, d.p, d.len, &g, &err), BLM_E_FORMAT);
            assert_int_equal(err.offset, at);
            d.p[at] = 0;
        }
    for (unsigned flag = 2; flag < 256; flag *= 2) {
        blm_error err = { .status = BLM_OK };
        d.p[72]       = (uint8_t)flag;
        seal(d.p, d.len);
        assert_int_equal(patch_of(a, d.p, d.len, &g, &err), BLM_E_FORMAT);
        assert_int_equal(err.offset, 72);
    }
    for (unsigned unclosed = 2; unclosed-- > 0;) {
        blm_params p = { .size = sizeof p };
        d.p[72]      = (uint8_t)unclosed;
        seal(d.p, d.len);
        assert_int_equal(patch_of(a, d.p, d.len, &g, NULL), BLM_OK);
        blm_get_params(g, &p);
        assert_int_equal(p.unclosed, unclosed);
        struct bytes again = diff_of(a, g);
        assert_int_equal(again.p[72], unclosed);
        free(again.p);
        blm_free(g);
    }
    free(d.p);
    blm_free(a);
    blm_free(b);
}

/* Which types of frames there are, a bit each. */
static unsigned frames_in(const struct bytes *d)
{
    unsigned types = 0;
    for (size_t at = BLM__DELTA_HEADER; at < d->len;
         at += BLM__FRAME_FRONT + blm__get32le(d->p + at + 4) + 8)
        types |= 1u << blm__get32le(d->p + at);
    return types;
}

/* What someone means to be harmful, every byte in turn: it is refused, or it is the right result
 * (a changed count of items is not seen by a fingerprint). */
static void a_forged_delta_does_no_harm(void **state)
{
    (void)state;
    static const uint8_t masks[] = { 0x01, 0x02, 0x80, 0xff };
    blm_filter          *a, *b, *g;
    both_ends(&a, &b);
    struct bytes d = diff_of(a, b);
    assert_int_equal(frames_in(&d), 1u << BLM__FRAME_LAYER | 1u << BLM__FRAME_FLIPS |
                                        1u << BLM__FRAME_WORDS | 1u << BLM__FRAME_END);
    uint8_t *p       = malloc(d.len);
    unsigned refused = 0;
    for (size_t i = 0; i < d.len * sizeof masks; i++) {
        blm_error err;
        memcpy(p, d.p, d.len);
        p[i / sizeof masks] ^= masks[i % sizeof masks];
        seal(p, d.len);
        if (patch_of(a, p, d.len, &g, &err) >= 0) {
            assert_true(blm_equal(g, b));
            blm_free(g);
        } else {
            refused++;
        }
    }
    assert_true(refused > d.len * sizeof masks / 2);
    free(p);
    free(d.p);
    blm_free(a);
    blm_free(b);
}

/* ---- trouble on the way ---- */

static bool put_until_full(void *ctx, const void *bytes, size_t len)
{
    size_t *room = ctx;
    (void)bytes;
    if (len > *room)
        return false;
    *room -= len;
    return true;
}

static void a_writer_that_stops_and_a_reader_that_fails(void **state)
{
    (void)state;
    blm_filter *a, *b, *g;
    blm_error   err;
    both_ends(&a, &b);
    struct bytes d = diff_of(a, b);
    for (size_t stop = 0; stop < d.len; stop += 7) {
        size_t room = stop;
        assert_int_equal(blm_diff(a, b, put_until_full, &room, &err), BLM_E_IO);
        struct bytes in = { .p = d.p, .len = stop, .broken = true };
        assert_int_equal(blm_patch(a, bytes_get, &in, &g, &err), BLM_E_IO);
        assert_null(g);
    }
    struct bytes slow = { .p = d.p, .len = d.len, .sip = 1 };
    assert_int_equal(blm_patch(a, bytes_get, &slow, &g, &err), BLM_OK);
    same(g, b);
    blm_free(g);
    free(d.p);
    blm_free(a);
    blm_free(b);
}

static struct {
    long   left; /* allocations until one fails; −1: none does */
    size_t now, most;
} memory;

static void *take(void *ctx, size_t size)
{
    (void)ctx;
    if (memory.left == 0)
        return NULL;
    memory.left -= memory.left > 0;
    memory.now += size;
    if (memory.now > memory.most)
        memory.most = memory.now;
    return malloc(size);
}

static void give(void *ctx, void *p, size_t size)
{
    (void)ctx;
    if (p)
        memory.now -= size;
    free(p);
}

static const blm_allocator counted = { .alloc = take, .free = give };

static void memory_is_bounded_and_may_run_out(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *a, *b, *g = NULL;
    blm_error   err;
    memory.left = -1;
    o.kind      = BLM_SCALABLE;
    o.items     = 100000;
    o.rate      = 0.01;
    o.allocator = &counted;
    assert_int_equal(blm_create(&o, &a, NULL), BLM_OK);
    b = copy(a);
    add(b, 0, 150000);
    size_t       held = memory.most = memory.now;
    struct bytes d                  = diff_of(a, b);
    assert_true(memory.most - held <= 64 << 10);
    assert_int_equal(memory.now, held);

    struct bytes none = { 0 };
    memory.left       = 0;
    assert_int_equal(blm_diff(a, b, bytes_add, &none, &err), BLM_E_MEMORY);
    unsigned failures = 0;
    for (long left = 0;; left++, failures++) {
        memory.left   = left;
        blm_status st = patch_of(a, d.p, d.len, &g, &err);
        memory.left   = -1;
        if (st == BLM_OK)
            break;
        assert_int_equal(st, BLM_E_MEMORY);
        assert_int_equal(memory.now, held);
    }
    assert_true(failures >= 4); /* frame, handle, layers, bits, the new layer's bits */
    same(g, b);
    blm_free(g);
    blm_free(a);
    blm_free(b);
    assert_int_equal(memory.now, 0);
    free(d.p);
}

static bool stop_at_once(void *ctx, uint64_t done, uint64_t total)
{
    int *left = ctx;
    assert_true(done <= total);
    return (*left)-- > 0;
}

static void both_can_be_cancelled(void **state)
{
    (void)state;
    blm_filter *a, *b, *g;
    blm_error   err;
    both_ends(&a, &b);
    struct bytes d = diff_of(a, b), part = { 0 };
    int          diffs = 0, patches = 0;
    for (blm_status st = BLM_E_CANCELLED; st != BLM_OK; diffs++) {
        int left = diffs;
        blm_set_progress(b, stop_at_once, &left);
        st = blm_diff(a, b, bytes_add, &part, &err);
        assert_true(st == BLM_OK || st == BLM_E_CANCELLED);
    }
    for (blm_status st = BLM_E_CANCELLED; st != BLM_OK; patches++) {
        int left = patches;
        blm_set_progress(a, stop_at_once, &left);
        st = patch_of(a, d.p, d.len, &g, &err);
        assert_true(st == BLM_OK || st == BLM_E_CANCELLED);
    }
    assert_true(diffs > 2 && patches > 4);
    blm_set_progress(g, NULL, NULL);
    blm_free(g);
    blm_free(a);
    blm_free(b);
    free(d.p);
    free(part.p);
}

/* ---- the bytes ---- */

/* The delta of docs/formats/delta.md: a filter of 64 bits and two probes over words of our own, in
 * which bits 3, 4 and 60 have come and bit 10 has gone. A reader of another version, or on a
 * machine of the other byte order, must agree. */
static const uint8_t documented[] = {
    0xb1, 0x42, 0x4c, 0x4d, 0x64, 0x6c, 0x74, 0x0a, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x5f, 0x51, 0xc5, 0xd6, 0x83, 0xa6, 0x58, 0xf1, 0x1d, 0xaf, 0xfe, 0x42, 0xc0, 0xe6, 0xb8, 0x22,
    0x7c, 0xd1, 0x6d, 0xed, 0xb1, 0x4a, 0x15, 0xc2, 0xdb, 0x05, 0x3d, 0x16, 0x6e, 0xd6, 0x0c, 0xbe,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3c, 0x16, 0xb3, 0xb4, 0xb9, 0x11, 0xd0, 0x3f,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x8b, 0x2a, 0x61, 0x07, 0x2f, 0xe6, 0xae, 0x02,
    0x01, 0x00, 0x00, 0x00, 0x50, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x16, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x3c, 0x16, 0xb3, 0xb4, 0xb9, 0x11, 0xd0, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0xb4, 0x79, 0xf9, 0x0c, 0x9b, 0x6d, 0xbb, 0x20, 0x02, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x05, 0x31, 0x41, 0xfb, 0x61, 0x38,
    0x3c, 0x60, 0xfa, 0xfa, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x49, 0xca, 0x31, 0x0f, 0xf3, 0x60, 0xe9, 0x1b,
};

static void the_documented_bytes(void **state)
{
    (void)state;
    uint64_t old  = blm__le64((uint64_t)1 << 10 | 1);
    uint64_t new  = blm__le64((uint64_t)1 << 60 | 1 << 4 | 1 << 3 | 1);
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *a, *b;
    o.bits       = 64;
    o.probes     = 2;
    o.flags      = BLM_SEEDED;
    o.version    = 1;
    o.words      = &old;
    o.word_count = 1;
    assert_int_equal(blm_create(&o, &a, NULL), BLM_OK);
    o.words = &new;
    assert_int_equal(blm_create(&o, &b, NULL), BLM_OK);
    struct bytes d = diff_of(a, b);
    assert_int_equal(d.len, sizeof documented);
    assert_memory_equal(d.p, documented, sizeof documented);
    free(d.p);
    blm_free(a);
    blm_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_follows),
        cmocka_unit_test(a_dense_delta_is_no_larger_than_the_filter),
        cmocka_unit_test(removed_and_cleared_bits_go),
        cmocka_unit_test(new_layers_come),
        cmocka_unit_test(fewer_layers_are_refused),
        cmocka_unit_test(growth_is_bounded),
        cmocka_unit_test(a_wrong_base_is_refused),
        cmocka_unit_test(unlike_filters_have_no_delta),
        cmocka_unit_test(filters_that_grow_differently_have_no_delta),
        cmocka_unit_test(a_cut_delta_is_refused),
        cmocka_unit_test(a_flipped_bit_is_found),
        cmocka_unit_test(another_modulus_is_another_filter),
        cmocka_unit_test(bytes_without_a_meaning_are_0),
        cmocka_unit_test(a_forged_delta_does_no_harm),
        cmocka_unit_test(a_writer_that_stops_and_a_reader_that_fails),
        cmocka_unit_test(memory_is_bounded_and_may_run_out),
        cmocka_unit_test(both_can_be_cancelled),
        cmocka_unit_test(the_documented_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
