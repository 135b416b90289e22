/* SPDX-License-Identifier: MIT */
#ifndef BLM_CORE_HASH_SIPHASH_H
#define BLM_CORE_HASH_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-2-4, 64-bit result, key = key[0] ‖ key[1] as little-endian words. */
uint64_t blm__siphash24(const uint64_t key[2], const void *data, size_t len);

#endif
