/* SPDX-License-Identifier: MIT */
/* The header of a native filter in chunks: its bytes, and everything that is none. */
#include "bloomery/embed.h"
#include "unit/support.h"

static const uint8_t known[BLM_DUMP_HEADER] = {
    'B', 'L', 'M', 'N', 'A', 'T', 'I', 'V', 1, 0, 0, 0, 1, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1
};

static void the_bytes_are_these(void **state)
{
    (void)state;
    uint8_t  h[BLM_DUMP_HEADER];
    uint32_t flags = 9;
    uint64_t bytes = 9;
    blm_dump_write_header(h, BLM_DUMP_SATURATE, 0x0102030405060708u);
    assert_memory_equal(h, known, sizeof h);
    assert_status(blm_dump_read_header(known, sizeof known, &flags, &bytes, NULL), BLM_OK);
    assert_true(flags == BLM_DUMP_SATURATE && bytes == 0x0102030405060708u);
}

static void others_are_refused(void **state)
{
    (void)state;
    for (size_t at = 0; at < 16; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            uint8_t   h[BLM_DUMP_HEADER];
            uint32_t  flags;
            uint64_t  bytes;
            blm_error e;
            memcpy(h, known, sizeof h);
            h[at] ^= (uint8_t)(1u << bit);
            bool       fine = at == 12 && bit == 0; /* no flags at all */
            blm_status st   = blm_dump_read_header(h, sizeof h, &flags, &bytes, &e);
            assert_status(st, fine ? BLM_OK : at >= 8 && at < 12 ? BLM_E_VERSION : BLM_E_FORMAT);
            if (!fine)
                assert_int_equal(e.offset, at < 8 ? 0 : at < 12 ? 8 : 12);
        }
    uint8_t  longer[BLM_DUMP_HEADER + 1] = { 0 };
    uint32_t flags;
    uint64_t bytes;
    memcpy(longer, known, sizeof known);
    for (size_t len = 0; len <= sizeof longer; len++)
        assert_status(blm_dump_read_header(longer, len, &flags, &bytes, NULL),
                      len == BLM_DUMP_HEADER ? BLM_OK : BLM_E_FORMAT);
    memset(longer + 16, 0, 8); /* of nothing */
    assert_status(blm_dump_read_header(longer, BLM_DUMP_HEADER, &flags, &bytes, NULL),
                  BLM_E_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_these),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
