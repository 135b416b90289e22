/* SPDX-License-Identifier: MIT */
/*
 * What chance should do, done often: the rates of every kind, scheme and size on patterned keys, and
 * the coverage of every interval that the library gives (docs/statistics.md).
 *
 *   statistics [native] [large] [foreign] [coverage]   a JSON object each; without names all of them
 *   statistics --quick                                 some of each in seconds: the test statistics.quick
 *
 * Seeds are fixed, so the figures are the same on every machine. The level is shared evenly by the four
 * parts (Bonferroni), and each corrects for its own number of tests by Holm. Exit 1: something native
 * was refused, or what must look bad did not.
 */
#include <stdio.h>
#include <string.h>

#include "bench/report.h"
#include "statistics.h"

#define PARTS 4
#define LEVEL \
    (0.001 / PARTS) /* 0.001: the chance that a set of seeds refuses anything that is true */

static const struct part {
    const char *name;
    void (*run)(const struct effort *e);
    bool (*verdict)(void);
} parts[PARTS] = {
    { "native", rates_native, rates_verdict },
    { "large", rates_large, rates_verdict },
    { "foreign", rates_foreign, foreign_verdict },
    { "coverage", coverage, coverage_verdict },
};

static bool wanted(const char *name, int argc, char **argv)
{
    bool any = argc < 2 || strcmp(argv[1], "--quick") == 0;
    for (int i = 1; i < argc; i++)
        any |= strcmp(argv[i], name) == 0;
    return any;
}

static bool run(const struct part *p, const struct effort *e, int argc, char **argv)
{
    size_t refused = 0;
    forget();
    report_head_in("build/", "statistics", argc, argv);
    printf(" \"part\": \"%s\", \"level\": %g, \"rows\": [", p->name, LEVEL);
    p->run(e);
    holm(LEVEL);
    for (size_t i = 0; i < judged(); i++)
        refused += rejected(i);
    printf("],\n \"tests\": %zu, \"refused\": %zu, \"verdicts\": [", judged(), refused);
    bool fine = p->verdict();
    printf("]}\n");
    return fine;
}

int main(int argc, char **argv)
{
    struct effort e    = { false, 1000000, 250000, 10000 };
    bool          fine = true;
    if (argc > 1 && strcmp(argv[1], "--quick") == 0)
        e = (struct effort){ true, 40000, 100000, 200 };
    for (size_t i = 0; i < PARTS; i++)
        if (wanted(parts[i].name, argc, argv))
            fine = run(&parts[i], &e, argc, argv) && fine;
    return fine ? 0 : 1;
}
