/* SPDX-License-Identifier: MIT */
/* Fetches pages over one connection that is kept alive. */
#ifndef CRAWLER_FETCH_H
#define CRAWLER_FETCH_H

#include <stddef.h>
#include <stdint.h>

int fetch_connect(uint16_t port);
/* The page's body, NUL-ended, in `room` bytes at `out`. The job ends when there is none. */
void fetch(int connection, const char *path, char *out, size_t room);

#endif
