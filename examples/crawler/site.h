/* SPDX-License-Identifier: MIT */
/* The site that is crawled: a generated graph of pages, full of cycles, served by a small HTTP/1.1
 * server on 127.0.0.1 in its own process. */
#ifndef CRAWLER_SITE_H
#define CRAWLER_SITE_H

#include <stdint.h>
#include <sys/types.h>

struct site {
    uint64_t  pages;
    uint16_t  port;
    pid_t     server;
    uint32_t *served; /* how often each page was; shared with the server */
};

#define SITE_LINKS 10u

/* Starts the server. The site's first page is /catalogue/item-00000000.html. */
void site_start(struct site *s, uint64_t pages);
void site_stop(struct site *s);

/* The path of page i, as in links. Returns its length. */
size_t site_path(uint64_t page, char out[64]);

#endif
