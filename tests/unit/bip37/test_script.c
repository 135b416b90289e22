/* SPDX-License-Identifier: MIT */
/* Which scripts pay to keys, and what a script pushes, at the edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bip37/script.h"

static uint8_t script[2048];
static size_t  len;

static void byte(unsigned b) { script[len++] = (uint8_t)b; }

/* A push of a key of n bytes that begins with `first`. */
static void key(unsigned n, unsigned first)
{
    byte(n);
    byte(first);
    memset(script + len, 0xab, n - 1);
    len += n - 1;
}

static void pays(bool want)
{
    assert_int_equal(blm__pays_to_keys(script, len), want);
    len = 0;
}

static void test_pubkey(void **state)
{
    (void)state;
    static const unsigned good33[] = { 2, 3 }, good65[] = { 4, 6, 7 };
    for (size_t i = 0; i < 2; i++)
        key(33, good33[i]), byte(0xac), pays(true);
    for (size_t i = 0; i < 3; i++)
        key(65, good65[i]), byte(0xac), pays(true);
    key(33, 4), byte(0xac), pays(false);
    key(65, 2), byte(0xac), pays(false);
    key(33, 2), byte(0xad), pays(false);
    key(33, 2), byte(0xac), byte(0xac), pays(false);
    key(33, 2), pays(false);
    key(32, 2), byte(0xac), pays(false);
    byte(0x4c), key(33, 2), byte(0xac), pays(false); /* pushed the long way */
    pays(false);                                     /* the empty script */
    byte(32), memset(script + 1, 2, 33), len += 33, byte(0xac), pays(false); /* not 33 pushed */
    byte(5), byte(0xae), pays(false); /* a push that is cut, which ends like a multisig */
}

static void multisig(unsigned m, unsigned keys, unsigned n, bool want)
{
    if (m <= 16)
        byte(0x50 + m);
    else
        byte(1), byte(m);
    for (unsigned i = 0; i < keys; i++)
        i % 2 ? key(65, 4) : key(33, 2);
    if (n <= 16)
        byte(0x50 + n);
    else
        byte(1), byte(n);
    byte(0xae);
    pays(want);
}

static void test_multisig(void **state)
{
    (void)state;
    multisig(1, 1, 1, true);
    multisig(1, 2, 2, true);
    multisig(2, 2, 2, true);
    multisig(16, 16, 16, true);
    multisig(1, 17, 17, true); /* no opcode for 17: pushed as a byte */
    multisig(17, 20, 20, true);
    multisig(1, 21, 21, false);
    multisig(3, 2, 2, false);
    multisig(1, 2, 3, false);
    multisig(1, 3, 2, false);
    multisig(0, 1, 1, false); /* 0x50 is no number */
    /* 1 as a pushed byte: there is an opcode for it */
    byte(1), byte(1), key(33, 2), byte(0x51), byte(0xae), pays(false);
    byte(0x51), key(33, 2), byte(1), byte(1), byte(0xae), pays(false);
    /* 17 in two bytes, and by the long push */
    byte(2), byte(17), byte(0), key(33, 2), byte(0x51), byte(0xae), pays(false);
    byte(0x4c), byte(1), byte(17), key(33, 2), byte(0x51), byte(0xae), pays(false);
    byte(0x51), key(33, 2), byte(0x51), byte(0xae), byte(0xae), pays(false);
    byte(0x51), key(33, 2), byte(0x51), byte(0x61), byte(0xae), pays(false);
    byte(0x51), key(33, 5), byte(0x51), byte(0xae), pays(false);
    byte(0x51), byte(0x51), byte(0xae), pays(false);
    byte(0x51), key(33, 2), byte(0), byte(0xae), pays(false);
    byte(0xae), pays(false);
    byte(0x51), byte(33), byte(2), byte(0xae), pays(false); /* a push that runs past the end */
}

struct push {
    const char *script;
    size_t      script_len;
    const char *pushes; /* lengths of what is pushed, as digits; '.' an opcode without */
};

#define P(text, pushes)                \
    {                                  \
        text, sizeof(text) - 1, pushes \
    }

static void test_ops(void **state)
{
    (void)state;
    static const struct push row[] = {
        P("", ""),
        P("\1a", "1"),
        P("\0", "."),
        P("\3abc\2de", "32"),
        P("\x51\x60\x76", "..."),
        P("\x4c\1a", "1"),
        P("\x4d\2\0ab", "2"),
        P("\x4e\3\0\0\0abc", "3"),
        P("\x4c\0", "."),
        P("\1a\2b", "1"), /* the second is cut */
        P("\1a\x4c", "1"),
        P("\1a\x4d\1", "1"),
        P("\1a\x4e\1\0\0", "1"),
        P("\1a\x4e\xff\xff\xff\xff", "1"),
        P("\x4f\1a\xff", ".1."),
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct blm__cursor c = blm__cursor(row[i].script, row[i].script_len);
        struct blm__op     op;
        const char        *want = row[i].pushes;
        for (; blm__next_op(&c, &op); want++)
            assert_int_equal(*want, op.len ? '0' + (int)op.len : '.');
        assert_int_equal(*want, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pubkey),
        cmocka_unit_test(test_multisig),
        cmocka_unit_test(test_ops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
