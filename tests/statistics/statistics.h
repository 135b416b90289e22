/* SPDX-License-Identifier: MIT */
/* What the parts of the statistics share. Public headers only: this is a user's view. */
#ifndef BLM_STATISTICS_H
#define BLM_STATISTICS_H

#include <bloomery.h>
#include <bloomery/maths.h>

/* ---- chance (chance.c) ---- */

/* Exact binomial tails, P(X <= hits) and P(X >= hits) of `trials` at chance p. */
double chance_below(uint64_t hits, uint64_t trials, double p);
double chance_above(uint64_t hits, uint64_t trials, double p);
/* Two-sided: twice the smaller tail, at most 1. */
double chance_beyond(uint64_t hits, uint64_t trials, double p);

/* Every judged p-value is registered under a number; holm() says afterwards which are rejected when
 * the chance that any true hypothesis is rejected shall be `level`. */
size_t judge(double p);
void   holm(double level);
bool   rejected(size_t which);
size_t judged(void);
void   forget(void); /* all of them */

/* ---- keys (keys.c) ---- */

enum pattern { INTEGERS, DECIMALS, URLS, UUIDS, DENSE, LOOKALIKES, PATTERNS };
extern const char *const pattern_name[PATTERNS];

#define WIDE 80u /* bytes that a key may have */
/* Key i of a pattern: different numbers give different keys. */
size_t write_key(enum pattern p, uint64_t i, char *out);
/* The j-th question about a filter that has the keys first … first + n − 1: never one of them. */
size_t write_question(enum pattern p, uint64_t first, uint64_t n, uint64_t j, char *out);

uint64_t mix(uint64_t v);

/* ---- the parts ---- */

struct effort {
    bool     quick;
    uint64_t native, foreign; /* questions a cell */
    uint64_t seeds;           /* filters a row of coverage */
};

/* Each prints its rows, as JSON, and registers its p-values. */
void rates_native(const struct effort *e);
void rates_large(const struct effort *e); /* native, ten million keys */
void rates_foreign(const struct effort *e);
void coverage(const struct effort *e);

/* After holm(): prints the verdicts in the order of the rows; true: nothing is refused. Of
 * rates_foreign nothing is judged, but it has rows that must look bad: true if they do. */
bool rates_verdict(void);
bool foreign_verdict(void);
bool coverage_verdict(void);

void must(blm_status s, const char *what);

#endif
