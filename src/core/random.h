/* SPDX-License-Identifier: MIT */
#ifndef BLM_CORE_RANDOM_H
#define BLM_CORE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>

/* Fills a buffer with secret random bytes from the system. False: the system has none. */
bool blm__random(void *out, size_t len);

#endif
