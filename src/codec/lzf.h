/* SPDX-License-Identifier: MIT */
/* LZF, the compression inside Redis dumps:
 *
 *   000lllll                     l + 1 bytes follow as they are
 *   lllooooo oooooooo            l + 2 bytes (l = 1 … 6) from o + 1 bytes back
 *   111ooooo llllllll oooooooo   l + 9 bytes from o + 1 bytes back
 */
#ifndef BLM_CODEC_LZF_H
#define BLM_CODEC_LZF_H

#include "bloomery.h"

#define BLM__LZF_TABLE (1u << 16)
/* No input unpacks to more than this times its length: 264 bytes from three. */
#define BLM__LZF_RATIO 88u

/* Unpacks to exactly out_len bytes; false: the input is not LZF of that many. */
bool blm__lzf_unpack(const uint8_t *in, size_t len, uint8_t *out, size_t out_len);

/* Packs as Redis does, so that the bytes are the same. Returns the length; 0: it does not fit
 * `room`, or put (NULL: only count) returned false. table: BLM__LZF_TABLE zeroes. len < 2^32. */
size_t blm__lzf_pack(const uint8_t *in, size_t len, size_t room, uint32_t *table, blm_write_fn put,
                     void *ctx);

#endif
