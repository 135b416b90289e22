/* SPDX-License-Identifier: MIT */
/* Whose file is it? Every golden filter is its own format's, by its whole length and by its first
 * bytes alone; heads that are almost right are nobody's. */
#include "unit/support.h"

#include "core/bytes.h"
#include "foreign.h"

/* The bid of one format for a head. */
static int bid_of(const char *format, const void *head, size_t len, uint64_t total)
{
    blm_bid bids[32];
    size_t  n = blm_sniff(head, len, total, bids, COUNT_OF(bids));
    for (size_t i = 0; i < n && i < COUNT_OF(bids); i++)
        if (strcmp(bids[i].format, format) == 0)
            return bids[i].bid;
    return 0;
}

static bool reads(const char *format)
{
    for (size_t i = 0; blm_format_at(i); i++)
        if (strcmp(blm_format_at(i)->name, format) == 0)
            return blm_format_at(i)->reads;
    return false;
}

static void test_golden(void **state)
{
    (void)state;
    static const struct {
        const char *path, *format;
    } rows[] = {
        { "guava/m64-small10/filter.bin", "guava" },
        { "guava/m32-med1000-p03/filter.bin", "guava" },
        { "guava/m64-empty/filter.bin", "guava" },
        { "go/small10/filter.bin", "go" },
        { "go/empty/filter.bin", "go" },
        { "go/lengths/new-0-3.bin", "go" },
        { "go/lengths/from-4-words-m130.bin", "go" },
        { "go/small10/filter.json", "go-json" },
        { "go/small10/filter.gob", "go-gob" },
        { "go/gob/later-ids.gob", "go-gob" },
        { "go/gob/named-type.gob", "go-gob" },
        { "spark/v1-emptykey/filter.bin", "spark" },
        { "spark/v2-small10/filter.bin", "spark" },
        { "dcso/v1-small10/filter.bin", "dcso" },
        { "dcso/v1-med1000-p03/filter.bin", "dcso" },
        { "dcso/v1-small10/filter.bin.gz", "dcso-gz" },
        { "dcso/v01-binary200/filter.bin", "dcso01" },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct golden_file f = golden_read(rows[i].path);
        blm_bid            best[2];
        size_t             head = f.len < 64 ? f.len : 64;
        if (!reads(rows[i].format))
            continue;
        size_t n = blm_sniff(f.data, head, f.len, best, 2);
        if (n == 0 || strcmp(best[0].format, rows[i].format) != 0 ||
            (n > 1 && best[1].bid == best[0].bid))
            fail_msg("%s: %s bids %d, %s bids %d", rows[i].path, n ? best[0].format : "nobody",
                     n ? best[0].bid : 0, n > 1 ? best[1].format : "nobody",
                     n > 1 ? best[1].bid : 0);
        /* A stream's length is not known: less sure, dcso01 not at all. */
        int unsure = bid_of(rows[i].format, f.data, head, 0);
        assert_int_equal(unsure > 0, strcmp(rows[i].format, "dcso01") != 0);
        assert_true(unsure <= best[0].bid);
        /* Another length, where the header tells the length. */
        if (strcmp(rows[i].format, "guava") == 0 || strcmp(rows[i].format, "spark") == 0 ||
            strcmp(rows[i].format, "go") == 0 || strcmp(rows[i].format, "dcso01") == 0) {
            assert_int_equal(bid_of(rows[i].format, f.data, head, f.len + 1), 0);
            assert_int_equal(bid_of(rows[i].format, f.data, head, f.len - 1), 0);
        }
        golden_free_file(&f);
    }
}

/* One field of a good head at a time set to what no filter has. */
static void test_near_misses(void **state)
{
    (void)state;
    static const struct {
        const char *path, *format;
        size_t      at, len;
        const char *bytes;
        size_t      head; /* how much of it is shown; 0: all */
    } rows[] = {
        { "guava/m64-small10/filter.bin", "guava", 0, 1, "\2", 0 },
        { "guava/m64-small10/filter.bin", "guava", 1, 1, "\0", 0 },
        { "guava/m64-small10/filter.bin", "guava", 2, 4, "\0\0\0\0", 0 },
        { "guava/m64-small10/filter.bin", "guava", 2, 4, "\200\0\0\0", 0 },
        { "guava/m64-small10/filter.bin", "guava", 0, 0, "", 5 },
        { "spark/v1-emptykey/filter.bin", "spark", 3, 1, "\3", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 3, 1, "\0", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 4, 4, "\0\0\0\0", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 4, 4, "\0\0\10\1", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 8, 4, "\0\0\0\0", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 8, 4, "\200\0\0\0", 0 },
        { "spark/v1-emptykey/filter.bin", "spark", 0, 0, "", 15 },
        { "go/small10/filter.bin", "go", 0, 8, "\0\0\0\0\0\0\0\0", 0 },
        { "go/small10/filter.bin", "go", 8, 8, "\0\0\0\0\0\0\0\0", 0 },
        { "go/small10/filter.bin", "go", 0, 0, "", 23 },
        { "go/small10/filter.json", "go-json", 0, 1, "[", 0 },
        { "go/small10/filter.json", "go-json", 1, 1, "m", 0 },
        { "go/small10/filter.json", "go-json", 2, 1, "x", 0 },
        { "go/small10/filter.json", "go-json", 3, 1, "m", 0 },
        { "go/small10/filter.json", "go-json", 0, 0, "", 3 },
        { "go/small10/filter.json", "go-json", 0, 0, "", 1 },
        { "go/small10/filter.gob", "go-gob", 0, 1, "\11", 0 },
        { "go/small10/filter.gob", "go-gob", 2, 1, "\202", 0 },
        { "go/small10/filter.gob", "go-gob", 3, 1, "\7", 0 },
        { "go/small10/filter.gob", "go-gob", 4, 1, "\2", 0 },
        { "go/small10/filter.gob", "go-gob", 5, 1, "\3", 0 },
        { "go/small10/filter.gob", "go-gob", 8, 1, "\1", 0 },
        { "go/small10/filter.gob", "go-gob", 9, 1, "\1", 0 },
        { "go/small10/filter.gob", "go-gob", 10, 1, "\1", 0 },
        { "go/small10/filter.gob", "go-gob", 0, 0, "", 10 },
        { "dcso/v1-small10/filter.bin", "dcso", 0, 1, "\2", 0 },
        { "dcso/v1-small10/filter.bin", "dcso", 16, 8, "\0\0\0\0\0\0\360\77", 0 }, /* p = 1 */
        { "dcso/v1-small10/filter.bin", "dcso", 24, 1, "\0", 0 },
        { "dcso/v1-small10/filter.bin", "dcso", 32, 1, "\0", 0 },
        { "dcso/v1-small10/filter.bin", "dcso", 32, 1, "\201", 0 }, /* more bits than there are */
        { "dcso/v1-small10/filter.bin", "dcso", 0, 0, "", 47 },
        { "dcso/v1-small10/filter.bin.gz", "dcso-gz", 0, 1, "\36", 0 },
        { "dcso/v1-small10/filter.bin.gz", "dcso-gz", 1, 1, "\212", 0 },
        { "dcso/v1-small10/filter.bin.gz", "dcso-gz", 2, 1, "\7", 0 },
        { "dcso/v1-small10/filter.bin.gz", "dcso-gz", 0, 0, "", 2 },
        { "dcso/v01-binary200/filter.bin", "dcso01", 12, 4, "\0\0\0\0", 0 },
        { "dcso/v01-binary200/filter.bin", "dcso01", 16, 4, "\0\0\0\0", 0 },
        { "dcso/v01-binary200/filter.bin", "dcso01", 0, 0, "", 23 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct golden_file f    = golden_read(rows[i].path);
        size_t             head = rows[i].head ? rows[i].head : f.len < 64 ? f.len : 64;
        memcpy(f.data + rows[i].at, rows[i].bytes, rows[i].len);
        if (bid_of(rows[i].format, f.data, head, f.len) != 0)
            fail_msg("row %zu: %s bids for it", i, rows[i].format);
        golden_free_file(&f);
    }
}

/* White space before and inside; every member may come first. */
static void test_json_heads(void **state)
{
    (void)state;
    if (!reads("go-json"))
        skip();
    static const char *const good[] = { "{\"m\"", " \t\r\n{ \n\"k\":", "{\"b\":\"", "{\r\"m\":1" };
    static const char *const bad[]  = { "", " ", "{", "{\"", "{\"m", "{\"mm\"", "{m", "\"m\"" };
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(bid_of("go-json", good[i], strlen(good[i]), 0) > 0);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(bid_of("go-json", bad[i], strlen(bad[i]), 0), 0);
}

/* The version word's upper bytes are ignored, but make it less likely. */
static void test_dcso_flags(void **state)
{
    (void)state;
    struct golden_file f    = golden_read("dcso/v1-small10/filter.bin");
    int                sure = bid_of("dcso", f.data, 48, f.len);
    f.data[3]               = 1;
    int less                = bid_of("dcso", f.data, 48, f.len);
    assert_true(less > 0 && less < sure);
    golden_free_file(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_near_misses),
        cmocka_unit_test(test_json_heads),
        cmocka_unit_test(test_dcso_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
