/* SPDX-License-Identifier: MIT */
/* The table of classic hash values (tests/golden/classic-hashes): for each input, algorithm and
 * seed the result in hex. Include after cmocka.h. */
#ifndef BLM_TESTS_HASH_TABLE_H
#define BLM_TESTS_HASH_TABLE_H

#include "golden.h"

#define HASH_TEXT 64

/* Hashes and prints in the table's own notation, NUL-ended, into HASH_TEXT bytes. */
typedef void (*hash_print_fn)(const uint8_t *key, size_t len, const char *seed, char *out);

struct hash_input {
    char  *name;
    char  *bytes;
    size_t len;
};

/* Every row of one algorithm must agree; returns how many rows there were. */
GOLDEN_FN size_t check_hash_table(const char *algorithm, hash_print_fn print)
{
    struct golden_file inputs = golden_read("classic-hashes/inputs.tsv");
    struct golden_file table  = golden_read("classic-hashes/vectors.tsv");
    struct hash_input  input[64];
    size_t             count = 0, rows = 0;
    char              *field[4], *line = golden_line(&inputs, NULL); /* headers */
    for (; (line = golden_line(&inputs, NULL)); count++) {
        assert_true(count < 64 && golden_fields(line, field, 3) == 3);
        input[count] = (struct hash_input){ field[0], field[2], golden_unhex(field[2]) };
        assert_int_equal(input[count].len, strtoul(field[1], NULL, 10));
    }
    for (line = golden_line(&table, NULL); (line = golden_line(&table, NULL));) {
        assert_int_equal(golden_fields(line, field, 4), 4);
        if (strcmp(field[1], algorithm) != 0)
            continue;
        size_t i = 0;
        while (i < count && strcmp(input[i].name, field[0]) != 0)
            i++;
        assert_true(i < count);
        char got[HASH_TEXT];
        print((const uint8_t *)input[i].bytes, input[i].len, field[2], got);
        if (strcmp(got, field[3]) != 0)
            fail_msg("%s of %s, seed %s: %s, not %s", algorithm, field[0], field[2], got, field[3]);
        rows++;
    }
    golden_free_file(&inputs);
    golden_free_file(&table);
    return rows;
}

#endif
