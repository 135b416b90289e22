/* SPDX-License-Identifier: MIT */
/* Fetches pages over one keep-alive connection. */
#ifndef CRAWLER_FETCH_H
#define CRAWLER_FETCH_H

#include <stddef.h>
#include <stdint.h>

int fetch_connect(uint16_t port);
/* Puts the page's body, NUL-ended, into `room` bytes at `out`. If there is no such page, the job
 * ends. */
void fetch(int connection, const char *path, char *out, size_t room);

#endif
