/* SPDX-License-Identifier: MIT */
/*
 * RedisBloom chains of more links than a native file has room for, up to the last there can be.
 * EXPANSION 1 and a capacity of 1 make a link of every key that is new; 0.25 is the highest rate
 * that RedisBloom takes, and so the longest chain that its commands make.
 */
#include "unit/bytes.h"

#include "bloomery/delta.h"
#include "bloomery/redisbloom.h"
#include "core/body.h"

#define LAST 1072u /* rates of 2^-3 to 2^-1074 */
#define KEYS 2249u /* as many as it takes: others seem to be there */

static char    texts[KEYS + 1][8];
static blm_key keys[KEYS + 1];

static int name_keys(void **state)
{
    (void)state;
    for (unsigned i = 0; i <= KEYS; i++)
        keys[i] = (blm_key){ texts[i], (size_t)snprintf(texts[i], 8, "k%u", i) };
    return 0;
}

static blm_options ones(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.scheme      = "redisbloom";
    o.kind        = BLM_SCALABLE;
    o.items       = 1;
    o.growth      = 1;
    o.rate        = 0.25;
    return o;
}

static blm_filter *chain_of_ones(void)
{
    blm_options o = ones();
    return make(&o);
}

/* Of so many links, all full. */
static void grow_to(blm_filter *f, uint32_t links)
{
    for (size_t n = 0; params_of(f).items < links; n++)
        assert_true(blm_add(f, keys[n].data, keys[n].len) >= 0);
    assert_int_equal(params_of(f).layers, links);
}

static blm_filter *grown_to(uint32_t links)
{
    blm_filter *f = chain_of_ones();
    grow_to(f, links);
    return f;
}

static struct bytes encoded_as(const blm_filter *f, const char *format)
{
    struct bytes b = { 0 };
    assert_status(blm_encode(f, format, bytes_add, &b, NULL), BLM_OK);
    return b;
}

static uint64_t fnv(const struct bytes *b)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < b->len; i++)
        h = (h ^ b->p[i]) * 0x100000001b3u;
    return h;
}

/* ---- growing and answering ---- */

/* The rule without anything clever: bits one to a byte. */
struct plain {
    uint32_t links;
    uint8_t  bit[LAST][2048];
};

static bool plain_has(const struct plain *p, const blm_filter *f, uint32_t link,
                      const blm_digest *d)
{
    blm_chain_layer l;
    assert_status(blm_chain_get_layer(f, link, &l), BLM_OK);
    for (uint32_t i = 0; i < l.hashes; i++)
        if (!p->bit[link][(d->w[0] + i * d->w[1]) % l.bits])
            return false;
    return true;
}

static bool plain_check(const struct plain *p, const blm_filter *f, const blm_key *key)
{
    blm_digest d;
    assert_status(blm_digest_of(f, key->data, key->len, &d), BLM_OK);
    for (uint32_t i = 0; i < p->links; i++)
        if (plain_has(p, f, i, &d))
            return true;
    return false;
}

/* f has the link already. */
static bool plain_add(struct plain *p, const blm_filter *f, const blm_key *key)
{
    blm_digest      d;
    blm_chain_layer l;
    if (plain_check(p, f, key))
        return false;
    assert_status(blm_digest_of(f, key->data, key->len, &d), BLM_OK);
    assert_status(blm_chain_get_layer(f, p->links, &l), BLM_OK);
    for (uint32_t i = 0; i < l.hashes; i++)
        p->bit[p->links][(d.w[0] + i * d.w[1]) % l.bits] = 1;
    p->links++;
    return true;
}

static void same_as_plain(const struct plain *p, const blm_filter *f)
{
    for (uint32_t i = 0; i < p->links; i++) {
        uint64_t       bytes;
        const uint8_t *bits = blm_view(f, i, &bytes);
        assert_true(bytes * 8 <= sizeof p->bit[i]);
        for (uint64_t j = 0; j < bytes * 8; j++)
            assert_int_equal(bits[j / 8] >> j % 8 & 1, p->bit[i][j]);
    }
}

static bool odd_ones_absent(const struct plain *p, const blm_filter *f, uint8_t *maybe)
{
    blm_key other[256];
    char    text[256][16];
    size_t  absent = 0;
    for (unsigned at = 0; at < 4; at++) {
        for (unsigned i = 0; i < 256; i++)
            other[i] =
                (blm_key){ text[i], (size_t)snprintf(text[i], 16, "other %u", at * 256 + i) };
        blm_check_many(f, other, 256, maybe);
        for (unsigned i = 0; i < 256; i++) {
            bool is = plain_check(p, f, &other[i]);
            assert_int_equal(maybe[i], is);
            assert_int_equal(blm_check(f, other[i].data, other[i].len), is);
            absent += !is;
        }
    }
    return absent > 100;
}

/* In batches of all sizes, so that links of every number of probes are asked by every road. */
static void to_the_end_by_the_plain_rule(void **state)
{
    (void)state;
    static struct plain p;
    static uint8_t      fresh[KEYS], maybe[KEYS];
    blm_filter         *f = chain_of_ones();
    struct rng          r = { 6 };
    size_t              done;
    for (size_t at = 0, n; at < KEYS; at += n) {
        n = 1 + rng_size(&r, 300);
        n = n < KEYS - at ? n : KEYS - at;
        assert_status(blm_add_many(f, keys + at, n, fresh + at, &done), BLM_OK);
        assert_int_equal(done, n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(fresh[at + i], plain_add(&p, f, &keys[at + i]));
    }
    assert_int_equal(params_of(f).layers, LAST);
    same_as_plain(&p, f);
    assert_int_equal(blm_check_many(f, keys, KEYS, maybe), KEYS);
    for (size_t i = 0; i < KEYS; i++)
        assert_true(blm_check(f, keys[i].data, keys[i].len));
    assert_true(odd_ones_absent(&p, f, maybe));
    blm_free(f);
}

static void after_the_last_link(void **state)
{
    (void)state;
    blm_filter     *f = chain_of_ones();
    blm_chain_layer l;
    uint8_t         fresh[3];
    size_t          done;
    blm_error       e;
    grow_to(f, LAST);
    assert_status(blm_chain_get_layer(f, LAST - 1, &l), BLM_OK);
    assert_true(l.error == 0x1p-1074 && l.hashes == 1075);
    assert_status(blm_add(f, keys[KEYS].data, keys[KEYS].len), BLM_E_FULL);
    assert_false(blm_check(f, keys[KEYS].data, keys[KEYS].len));
    blm_key some[3] = { keys[0], keys[1], keys[KEYS] }; /* what is there needs no room */
    assert_status(blm_add_many(f, some, 3, fresh, &done), BLM_E_FULL);
    assert_true(done == 2 && !fresh[0] && !fresh[1]);
    assert_int_equal(params_of(f).layers, LAST);
    /* links of one's own choice go on, to as many as any chain may have */
    for (uint32_t i = LAST; i < BLM_CHAIN_MAX_LAYERS; i++)
        assert_status(blm_chain_grow(f, 1, 0.01, &e), BLM_OK);
    assert_status(blm_chain_grow(f, 1, 0.01, &e), BLM_E_LIMIT);
    check_error(&e, BLM_E_LIMIT, "1075");
    blm_free(f);
}

/* The highest rate that a header may have, halved until it is 0. */
static void as_many_as_a_double_halves(void **state)
{
    (void)state;
    static blm_chain_layer links[BLM_CHAIN_MAX_LAYERS + 1];
    blm_filter            *f = chain_of_ones(), *g;
    blm_error              e;
    uint32_t               n = 0;
    assert_status(blm_chain_get_layer(f, 0, &links[0]), BLM_OK);
    for (double error = 1 - 0x1p-53; error > 0; error /= 2, n++) {
        blm_chain_layer *l = &links[n];
        *l                 = links[0];
        l->error           = error;
        l->bpe    = 1; /* what it is of this error is not asked, only how many hashes it gives */
        l->hashes = 1;
    }
    assert_int_equal(n, BLM_CHAIN_MAX_LAYERS);
    assert_status(blm_chain_create(links, n, 5, 1, NULL, &g, &e), BLM_OK);
    assert_int_equal(params_of(g).layers, BLM_CHAIN_MAX_LAYERS);
    links[n] = links[0];
    blm_free(g);
    assert_status(blm_chain_create(links, n + 1, 5, 1, NULL, &g, &e), BLM_E_LIMIT);
    check_error(&e, BLM_E_LIMIT, "1 to 1075");
    blm_free(f);
}

/* ---- bytes ---- */

/* RedisBloom's own code (2.4), given these keys, makes chains whose SCANDUMP chunks have these
 * sums. */
static void the_originals_bytes(void **state)
{
    (void)state;
    static const struct {
        uint32_t links;
        size_t   bytes;
        uint64_t sum;
    } rows[] = { { 300, 25352, 0xb7abcff8e7f7d146u }, { LAST, 165108, 0xc2a939a9fc7d38dau } };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        blm_filter  *f = grown_to(rows[i].links);
        struct bytes b = encoded_as(f, "redisbloom");
        assert_int_equal(b.len, rows[i].bytes);
        assert_true(fnv(&b) == rows[i].sum);
        free(b.p);
        blm_free(f);
    }
}

static const uint32_t lengths[] = { 256, 257, LAST };

static void there_and_back(void **state)
{
    (void)state;
    static const char *const formats[] = { "redisbloom", "redisbloom-dump" };
    for (size_t i = 0; i < COUNT_OF(lengths) * COUNT_OF(formats); i++) {
        const char  *format = formats[i % 2];
        blm_filter  *f      = grown_to(lengths[i / 2]), *g, *h;
        struct bytes b      = encoded_as(f, format), again;
        assert_status(blm_decode(b.p, b.len, NULL, &g, NULL), BLM_OK); /* known by its bytes */
        b.sip = 1000;
        assert_status(blm_decode_stream(bytes_get, &b, NULL, &h, NULL), BLM_OK);
        assert_true(same_bits(f, g) && blm_equal(f, g) && blm_equal(f, h));
        assert_string_equal(params_of(g).format, format);
        again = encoded_as(g, NULL);
        assert_true(again.len == b.len && memcmp(again.p, b.p, b.len) == 0);
        for (size_t k = 0; k < KEYS; k++) /* it goes on as it would have */
            assert_int_equal(blm_add(f, keys[k].data, keys[k].len),
                             blm_add(h, keys[k].data, keys[k].len));
        assert_true(blm_equal(f, h) && params_of(h).layers == LAST);
        free(b.p);
        free(again.p);
        blm_free(f);
        blm_free(g);
        blm_free(h);
    }
}

static void native_files_have_room_for_256(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(lengths); i++) {
        blm_filter  *f = grown_to(lengths[i]), *g;
        struct bytes b = { 0 };
        blm_error    e;
        uint64_t     size;
        blm_status   want = lengths[i] <= BLM__MAX_LAYERS ? BLM_OK : BLM_E_LIMIT;
        assert_status(blm_encode(f, "native", bytes_add, &b, &e), want);
        if (want == BLM_OK) {
            assert_status(blm_decode(b.p, b.len, NULL, &g, NULL), BLM_OK);
            assert_true(blm_equal(f, g));
            blm_free(g);
        } else {
            check_error(&e, want, "save it as redisbloom");
            assert_int_equal(b.len, 0);
            assert_status(blm_encoded_size(f, "native", &size, NULL), want);
        }
        free(b.p);
        blm_free(f);
    }
}

/* Every cut of a header is too short, and takes no more memory than its bytes are worth. */
static void a_number_is_not_believed(void **state)
{
    (void)state;
    blm_filter   *f      = grown_to(LAST), *g;
    struct bytes  b      = encoded_as(f, "redisbloom");
    struct meter  m      = { .fail_at = UINT64_MAX };
    blm_allocator a      = meter_allocator(&m);
    blm_options   o      = BLM_OPTIONS_INIT;
    const size_t  header = 20 + 53 * LAST;
    blm_error     e;
    o.allocator = &a;
    o.format    = "redisbloom";
    assert_status(blm_decode(b.p, 16, &o, &g, &e), BLM_E_TRUNCATED);
    int64_t little = m.peak_bytes;
    assert_true(little < 4096);
    for (size_t len = 16; len <= header; len += len < 64 ? 1 : 977) {
        m.peak_bytes = 0;
        assert_status(blm_decode(b.p, len, &o, &g, &e), BLM_E_TRUNCATED);
        assert_true(e.offset == len && m.peak_bytes <= little + (int64_t)len);
    }
    for (uint32_t n = BLM_CHAIN_MAX_LAYERS + 1; n; n <<= 1) {
        blm__put32le(b.p + 8, n);
        assert_status(blm_decode(b.p, b.len, &o, &g, &e), BLM_E_LIMIT);
        assert_int_equal(e.offset, 8);
    }
    assert_int_equal(m.live, 0);
    free(b.p);
    blm_free(f);
}

/* ---- what else is done with filters ---- */

static void copies_and_deltas(void **state)
{
    (void)state;
    blm_filter  *f = grown_to(250), *later = grown_to(700), *g;
    struct bytes d = { 0 };
    blm_error    e;
    assert_status(blm_copy(later, &g, NULL), BLM_OK);
    assert_true(blm_equal(later, g));
    blm_free(g);
    assert_status(blm_diff(f, later, bytes_add, &d, &e), BLM_OK);
    assert_status(blm_patch(f, bytes_get, &d, &g, &e), BLM_OK);
    assert_true(blm_equal(later, g));
    blm_free(g);
    free(d.p);
    blm_free(f);
    blm_free(later);
}

static void unions_of_chains(void **state)
{
    (void)state;
    blm_options o = ones();
    o.rate_cap    = 0.9;
    blm_filter *f = make(&o), *g = grown_to(300);
    blm_error   e;
    grow_to(f, 250);
    assert_status(blm_union(f, g, &e), BLM_OK);
    assert_int_equal(params_of(f).layers, 550);
    for (uint32_t i = 0; i < KEYS; i++)
        assert_true(!blm_check(g, keys[i].data, keys[i].len) ||
                    blm_check(f, keys[i].data, keys[i].len));
    blm_free(g);
    g = grown_to(526);
    assert_status(blm_union(f, g, &e), BLM_E_FULL);
    check_error(&e, BLM_E_FULL, "1076 layers");
    assert_int_equal(params_of(f).layers, 550);
    blm_free(g);
    g = grown_to(525);
    assert_status(blm_union(f, g, &e), BLM_OK);
    assert_int_equal(params_of(f).layers, BLM_CHAIN_MAX_LAYERS);
    blm_free(g);
    blm_free(f);
}

static void figures_of_all_of_it(void **state)
{
    (void)state;
    blm_filter *f = grown_to(LAST);
    blm_stats   s = stats_of(f);
    assert_true(s.fill > 0 && s.fill < 1 && s.rate_now > 0 && s.rate_now <= 1);
    assert_int_equal(params_of(f).items, LAST);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(to_the_end_by_the_plain_rule),
        cmocka_unit_test(after_the_last_link),
        cmocka_unit_test(as_many_as_a_double_halves),
        cmocka_unit_test(the_originals_bytes),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(native_files_have_room_for_256),
        cmocka_unit_test(a_number_is_not_believed),
        cmocka_unit_test(copies_and_deltas),
        cmocka_unit_test(unions_of_chains),
        cmocka_unit_test(figures_of_all_of_it),
    };
    return cmocka_run_group_tests(tests, name_keys, NULL);
}
