/* SPDX-License-Identifier: MIT */
/* Numbers as people type and read them. The locale does not matter. */
#ifndef CLI_NUMBERS_H
#define CLI_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bloomery.h"

/* 1000000, 1_000_000, 1e6, 1.5e6: exact, or false (not a whole number, or past 2^64 − 1). */
bool parse_count(const char *text, uint64_t *out);
/* The same with an optional K, M, G or T (1024), as in 64M, 1.5G, 2GiB; bytes. */
bool parse_size(const char *text, uint64_t *out);
/* 0.01, 1e-6, 1%: above 0 and below 1. */
bool parse_rate(const char *text, double *out);
/* A time with its unit, 500ms, 90s, 10m, 1.5h or 2d, in milliseconds. */
bool parse_time(const char *text, uint64_t *out);
/* Decimal, from −2^63 (two's complement, in out[0]), or 0x hexadecimal; up to 16 hex digits fill out[0], 17 to 32 fill out[1] and out[0]. */
bool parse_seed(const char *text, uint64_t out[2]);

/* The ends of an estimate, so far out that one in a million lies beyond; its own are for 95%. */
static inline double surely_above(const blm_estimate *e)
{
    return e->value - 2.5 * (e->value - e->low);
}
static inline double surely_below(const blm_estimate *e)
{
    return e->saturated ? INFINITY : e->value + 2.5 * (e->high - e->value);
}

#define NUMBER_TEXT 48
/* 20000000 → "20,000,000". Each writes to `out` (NUMBER_TEXT bytes) and returns it. */
const char *count_text(uint64_t n, char *out);
/* 1 → "1 key", 2000 → "2,000 keys". */
const char *plural_text(uint64_t n, const char *thing, char *out);
/* 78643200 → "75.0 MiB". */
const char *size_text(uint64_t bytes, char *out);
/* 3900000 → "4M": at least that, as --memory takes it. */
const char *size_option_text(uint64_t bytes, char *out);
/* 4123456.7 → "4.12M"; for rates and estimates. */
const char *short_text(double n, char *out);
/* 0.01 → "1%", 0.00039 → "3.9e-4". */
const char *rate_text(double p, char *out);
/* Milliseconds: 600000 → "10 minutes", 1500 → "1.5 seconds". */
const char *span_text(uint64_t ms, char *out);
/* 3725 → "1:02:05", 72 → "1:12". */
const char *time_text(double seconds, char *out);

#endif
