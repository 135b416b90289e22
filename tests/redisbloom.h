/* SPDX-License-Identifier: MIT */
/* RedisBloom's golden vectors: what the tests of its scheme and of both its codecs share. Include
 * after cmocka.h. */
#ifndef BLM_TESTS_REDISBLOOM_H
#define BLM_TESTS_REDISBLOOM_H

#include "golden_filter.h"

/* All vectors; the first `RB_NEW` were made by commands, the others from the header of an old
 * version, handed to LOADCHUNK empty. */
static const char *const rb_vectors[] = {
    "redisbloom/small10",
    "redisbloom/med1000-p03",
    "redisbloom/med1000-p01-zh",
    "redisbloom/emptykey",
    "redisbloom/binary200",
    "redisbloom/overfilled",
    "redisbloom/empty",
    "redisbloom/cap1",
    "redisbloom/autocreate-default",
    "redisbloom/expansion1",
    "redisbloom/expansion4-deep",
    "redisbloom/nonscaling100-full",
    "redisbloom/legacy32-pow2",
    "redisbloom/legacy32-pow2-scales",
    "redisbloom/legacy32-compat-mod",
    "redisbloom/legacy64-pow2",
};
#define RB_NEW     12u
#define RB_VECTORS (sizeof rb_vectors / sizeof *rb_vectors)

/* The chunks of a dump, one after the other. */
GOLDEN_FN struct golden_file rb_chunks(const char *dir)
{
    struct golden_file all  = { NULL, 0, 0 };
    struct golden_file list = golden_read_in(dir, "scandump.tsv");
    char              *field[4];
    for (char *line; (line = golden_line(&list, NULL));) {
        if (line[0] == '#' || golden_fields(line, field, 4) < 4 || field[2][0] == '-')
            continue;
        struct golden_file chunk = golden_read_in(dir, field[2]);
        assert_int_equal(chunk.len, strtoul(field[3], NULL, 10));
        bytes_append(&all, chunk.data, chunk.len);
        golden_free_file(&chunk);
    }
    golden_free_file(&list);
    return all;
}

/* An empty filter with the vector's parameters: reserved, or from the empty header it tells of. */
GOLDEN_FN blm_filter *rb_empty(const char *dir)
{
    blm_options o = BLM_OPTIONS_INIT;
    char        reserve[64], header[1024], *expansion;
    assert_true(golden_meta_text(dir, "reserve", reserve, sizeof reserve));
    if (golden_meta_text(dir, "empty_header_hex", header, sizeof header)) {
        struct golden_file b          = { NULL, 0, 0 };
        uint8_t            zero[4096] = { 0 };
        size_t             len = golden_unhex(header), bytes = 0;
        bytes_append(&b, header, len);
        for (int i = 3; i >= 0; i--) /* the tests' vectors are small */
            bytes = bytes << 8 | (uint8_t)header[20 + i];
        bytes_append(&b, zero, bytes);
        o.format      = "redisbloom";
        blm_filter *f = golden_decode(dir, b.data, b.len, &o);
        free(b.data);
        return f;
    }
    o.scheme = "redisbloom";
    if (strncmp(reserve, "none", 4) != 0) {
        o.items = (uint64_t)golden_meta(dir, "design_n");
        o.rate  = golden_meta(dir, "design_p");
    }
    if (strstr(reserve, "NONSCALING"))
        o.variant = 13;
    if ((expansion = strstr(reserve, "EXPANSION")))
        o.growth = strtod(expansion + 9, NULL);
    return create_or_fail(&o);
}

#endif
