/* SPDX-License-Identifier: MIT */
/*
 * The crawler. Its state is two files: the frontier (every path that was found, in order, and how
 * many of them are done) and the filter of the paths in the frontier. A path is added to the
 * frontier first and then to the filter. If the crawler is killed between the two, a page is
 * fetched twice. The other way round, it would be lost.
 */
#ifndef CRAWLER_CRAWL_H
#define CRAWLER_CRAWL_H

#include <bloomery.h>
#include <stdint.h>

struct crawl {
    const char *directory;
    uint64_t    most_pages; /* the filter is made for this many */
    double      rate;
    uint64_t    kill_after; /* fetches until the process kills itself; 0: never */
    uint64_t    give_up;    /* after this many fetches something must be wrong */
};

/* Continues where the last crawl stopped, or begins. Returns how many fetches were made. */
uint64_t crawl_run(const struct crawl *c, uint16_t port);
/* The filter that the crawl left behind, read-only. */
blm_filter *crawl_filter(const struct crawl *c);

#endif
