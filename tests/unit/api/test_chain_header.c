/* SPDX-License-Identifier: MIT */
/* The header of a RedisBloom dump: what format redisbloom begins with is what blm_chain_write_header
 * writes and blm_chain_read_header reads, in all three layouts. */
#include "bloomery/redisbloom.h"
#include "unit/support.h"

#define LAYERS 3u
#define NEW    (20 + 53 * LAYERS)

struct bytes {
    uint8_t data[8192];
    size_t  len;
};

static bool keep(void *ctx, const void *bytes, size_t len)
{
    struct bytes *b = ctx;
    if (len > sizeof b->data - b->len)
        return false;
    memcpy(b->data + b->len, bytes, len);
    b->len += len;
    return true;
}

static blm_filter *grown(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.scheme = "redisbloom";
    o.items  = 100;
    o.rate   = 0.01;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
    for (uint64_t i = 0; i < 500; i++)
        assert_true(blm_add(f, &i, 8) >= 0);
    return f;
}

/* The same header as versions up to 2.2.0 wrote it: entries in 32 bits, and before 2.2.0 no growth. */
static size_t older(const uint8_t *h, bool growth, uint8_t *out)
{
    size_t at = growth ? 20 : 16;
    memcpy(out, h, at);
    for (unsigned i = 0; i < LAYERS; i++, at += 49) {
        memcpy(out + at, h + 20 + 53 * i, 48);
        out[at + 48] = h[20 + 53 * i + 52];
    }
    return at;
}

static void it_is_what_dumps_begin_with(void **state)
{
    (void)state;
    blm_filter  *f    = grown();
    struct bytes dump = { .len = 0 };
    uint8_t      h[BLM_CHAIN_MAX_HEADER];
    size_t       len = 0;
    assert_int_equal(blm_encode(f, "redisbloom", keep, &dump, NULL), BLM_OK);
    assert_int_equal(blm_chain_write_header(f, NULL, 0, &len, NULL), BLM_OK);
    assert_int_equal(len, NEW);
    assert_int_equal(blm_chain_write_header(f, h, len - 1, &len, NULL), BLM_E_LIMIT);
    assert_int_equal(blm_chain_write_header(f, h, sizeof h, &len, NULL), BLM_OK);
    assert_int_equal(len, NEW);
    assert_memory_equal(h, dump.data, len);

    blm_chain_header r = { .size = sizeof r };
    blm_chain_layer  l[LAYERS], want;
    assert_int_equal(blm_chain_read_header(h, len, &r, l, LAYERS, NULL), BLM_OK);
    assert_int_equal(r.layers, LAYERS);
    assert_int_equal(r.items, params_of(f).items);
    assert_int_equal(r.options, BLM_CHAIN_NOROUND | BLM_CHAIN_FORCE64);
    assert_int_equal(r.growth, 2);
    assert_int_equal(r.bytes, dump.len - len);
    for (uint32_t i = 0; i < LAYERS; i++) {
        assert_int_equal(blm_chain_get_layer(f, i, &want), BLM_OK);
        assert_true(l[i].bytes == want.bytes && l[i].bits == want.bits && l[i].items == want.items);
        assert_true(l[i].error == want.error && l[i].bpe == want.bpe && l[i].n2 == want.n2);
        assert_true(l[i].hashes == want.hashes && l[i].entries == want.entries && !l[i].words);
    }
    blm_free(f);
}

static void old_layouts_are_told_by_their_length(void **state)
{
    (void)state;
    blm_filter      *f = grown();
    uint8_t          h[NEW], old[NEW];
    size_t           len;
    blm_chain_header r = { .size = sizeof r };
    blm_chain_layer  l[LAYERS];
    assert_int_equal(blm_chain_write_header(f, h, sizeof h, &len, NULL), BLM_OK);
    h[16] = 4; /* growth */
    for (int growth = 0; growth < 2; growth++) {
        size_t n = older(h, growth, old);
        assert_int_equal(n, growth ? 20 + 49 * LAYERS : 16 + 49 * LAYERS);
        assert_int_equal(blm_chain_read_header(old, n, &r, l, 2, NULL), BLM_OK);
        assert_int_equal(r.growth, growth ? 4 : 2);
        assert_int_equal(l[1].entries, 200);
        assert_int_equal(r.layers, LAYERS);
    }
    blm_free(f);
}

/* A filter that came with an old header has that length, and not today's. */
static void what_came_old_goes_old(void **state)
{
    (void)state;
    blm_filter  *f    = grown(), *g;
    struct bytes dump = { .len = 0 }, old = { .len = 0 };
    size_t       len;
    assert_int_equal(blm_encode(f, "redisbloom", keep, &dump, NULL), BLM_OK);
    old.len = older(dump.data, true, old.data);
    keep(&old, dump.data + NEW, dump.len - NEW);
    blm_options o = BLM_OPTIONS_INIT;
    o.format      = "redisbloom";
    assert_int_equal(blm_decode(old.data, old.len, &o, &g, NULL), BLM_OK);
    assert_int_equal(blm_chain_write_header(g, NULL, 0, &len, NULL), BLM_OK);
    assert_int_equal(len, 20 + 49 * LAYERS);
    blm_free(f);
    blm_free(g);
}

static void what_no_header_says(void **state)
{
    (void)state;
    blm_filter      *f = grown();
    uint8_t          h[NEW];
    size_t           len;
    blm_chain_header r = { .size = sizeof r };
    blm_error        err;
    assert_int_equal(blm_chain_write_header(f, h, sizeof h, &len, NULL), BLM_OK);
    blm_free(f);
#define REFUSED(at, value, n, st, where)                                      \
    do {                                                                      \
        uint8_t was = h[at];                                                  \
        h[at]       = (uint8_t)(value);                                       \
        assert_int_equal(blm_chain_read_header(h, n, &r, NULL, 0, &err), st); \
        assert_int_equal(err.offset, where);                                  \
        h[at] = was;                                                          \
    } while (0)
    REFUSED(0, h[0] + 1, NEW, BLM_E_FORMAT, 0); /* items do not add up */
    REFUSED(8, 0, NEW, BLM_E_FORMAT, 8);
    REFUSED(9, 0xff, NEW, BLM_E_LIMIT, 8);
    REFUSED(12, 16, NEW, BLM_E_FORMAT, 12);
    REFUSED(8, 2, NEW, BLM_E_FORMAT, NEW); /* a length that no layout has */
    REFUSED(0, h[0], 15, BLM_E_TRUNCATED, 15);
    REFUSED(20 + 53, h[73] + 1, NEW, BLM_E_FORMAT, 81); /* bytes, which bits do not follow */
    REFUSED(20 + 53 + 52, 64, NEW, BLM_E_FORMAT, 125);
#undef REFUSED
    /* Sizes that add up only past 2^64, and one that leaves no room to count on. */
    uint8_t over[NEW];
    memcpy(over, h, NEW);
    memset(over + 20 + 16, 0xff, 8);
    over[20 + 53 + 16]++; /* one more, so that the sum is the same */
    assert_int_equal(blm_chain_read_header(over, NEW, &r, NULL, 0, &err), BLM_E_FORMAT);
    assert_int_equal(err.offset, 20 + 16);
    over[20 + 16 + 7] = 0x7f;
    assert_int_equal(blm_chain_read_header(over, NEW, &r, NULL, 0, &err), BLM_E_FORMAT);
    assert_int_equal(err.offset, 20 + 53 + 16);
    assert_int_equal(blm_chain_read_header(NULL, 100, &r, NULL, 0, &err), BLM_E_ARGUMENT);
    r.size = 0;
    assert_int_equal(blm_chain_read_header(h, NEW, &r, NULL, 0, &err), BLM_E_ARGUMENT);
}

static void other_schemes_have_none(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    size_t      len;
    o.items = 10;
    o.rate  = 0.1;
    assert_int_equal(blm_create(&o, &f, NULL), BLM_OK);
    assert_int_equal(blm_chain_write_header(f, NULL, 0, &len, NULL), BLM_E_UNSUPPORTED);
    blm_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_what_dumps_begin_with),
        cmocka_unit_test(old_layouts_are_told_by_their_length),
        cmocka_unit_test(what_came_old_goes_old),
        cmocka_unit_test(what_no_header_says),
        cmocka_unit_test(other_schemes_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
