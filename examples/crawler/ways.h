/* SPDX-License-Identifier: MIT */
/* Other ways to remember what was visited, each really built with the site's URLs and measured. */
#ifndef CRAWLER_WAYS_H
#define CRAWLER_WAYS_H

#include <bloomery.h>
#include <stdint.h>

struct way {
    const char *name;
    uint64_t    bytes;  /* of memory, or of the file */
    uint64_t    missed; /* URLs taken for visited that were not */
};

#define WAYS 6

/* Fills `out` in the order: URLs, SHA-1s, MD5s, a database table, a one-hash bitmap of the same
 * rate, one of the same size as the filter. */
void ways_measure(uint64_t pages, double rate, uint64_t filter_bytes, struct way out[WAYS]);

#endif
