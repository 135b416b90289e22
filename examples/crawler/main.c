/* SPDX-License-Identifier: MIT */
/*
 * A crawler that visits each page of a site once. It remembers what it has seen in a filter in a
 * file. That takes a fiftieth of the memory of the URLs, and survives when the process is killed.
 * The price is that it misses some pages because it wrongly takes them for seen: this job compares
 * their number with the expected number.
 *
 *     crawler [--pages 50000]
 *
 * The site is served on loopback and really fetched. Half way the crawler is killed (SIGKILL), and
 * a new one continues.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bloomery/maths.h"
#include "common/job.h"
#include "crawl.h"
#include "site.h"
#include "ways.h"

/* Crawls in a child, so that it can be killed. True: it was. */
static bool crawl_apart(const struct crawl *c, uint16_t port)
{
    int   status;
    pid_t child = fork();
    if (child == 0) {
        crawl_run(c, port);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        job_trouble("cannot start a process for the crawler");
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        exit(WEXITSTATUS(status));
    return WIFSIGNALED(status);
}

/* The expected number of missed pages, if every page is checked once as a new page while the filter
 * fills: the sum of the rates at 0, 1, … n − 1 keys, sampled at a hundred places. */
static double expectation(const blm_filter *f, uint64_t pages)
{
    double sum = 0;
    for (unsigned i = 0; i < 100; i++) {
        double rate;
        job_need(blm_rate_at(f, pages * (2 * i + 1) / 200, &rate), NULL);
        sum += rate * (double)pages / 100;
    }
    return sum;
}

static void row(const char *name, uint64_t bytes, uint64_t pages, uint64_t missed)
{
    char a[16];
    printf("%-20s %10s %12.1f %9llu\n", name, job_bytes((double)bytes, a, sizeof a),
           8 * (double)bytes / (double)pages, (unsigned long long)missed);
}

int main(int argc, char **argv)
{
    uint64_t     pages = job_number(argc, argv, "--pages", 50000);
    struct site  site;
    struct way   ways[WAYS];
    struct crawl c = { .directory  = job_scratch(),
                       .most_pages = pages,
                       .rate       = 0.001,
                       .kill_after = pages / 2,
                       .give_up    = 2 * pages };
    site_start(&site, pages);
    bool killed  = crawl_apart(&c, site.port);
    c.kill_after = 0;
    crawl_apart(&c, site.port);

    uint64_t missed = 0, fetches = 0;
    for (uint64_t i = 0; i < pages; i++) {
        missed += site.served[i] == 0;
        fetches += site.served[i];
    }
    site_stop(&site);
    blm_filter *f        = crawl_filter(&c);
    double      expected = expectation(f, pages);
    blm_params  p        = { .size = sizeof p };
    blm_get_params(f, &p);
    blm_free(f);
    ways_measure(pages, c.rate, p.bytes, ways);

    printf("%llu pages, %u links each; killed once and resumed\n\n", (unsigned long long)pages,
           SITE_LINKS);
    printf("pages fetched        %llu, %llu of them twice\n", (unsigned long long)(pages - missed),
           (unsigned long long)(fetches - (pages - missed)));
    printf("pages missed         %llu (expected: %.1f)\n\n", (unsigned long long)missed, expected);
    printf("%-20s %10s %12s %9s\n", "what was seen, as", "takes", "bits a page", "missed");
    for (unsigned i = 0; i < WAYS; i++)
        row(ways[i].name, ways[i].bytes, pages, ways[i].missed);
    row("bloomery", p.bytes, pages, missed);

    job_promise(killed, "the crawler was killed half way");
    job_promise(fetches - (pages - missed) <= 1, "%llu pages were fetched again",
                (unsigned long long)(fetches - (pages - missed)));
    job_promise((double)missed <= expected + 5 * sqrt(expected) + 1,
                "%llu pages missed where %.1f were expected", (unsigned long long)missed, expected);
    job_promise(p.bytes * 20 < ways[0].bytes, "the filter is small");
    return job_end();
}
