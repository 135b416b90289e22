/* SPDX-License-Identifier: MIT */
/*
 * The header that goes before a filter's native bytes when they travel in chunks:
 *
 *   "BLMNATIV"   u32 version (1)   u32 flags   u64 bytes that follow        little-endian
 */
#include <string.h>

#include "api/filter.h"
#include "bloomery/embed.h"
#include "core/bytes.h"

#define MAGIC   "BLMNATIV"
#define VERSION 1u
#define FLAGS   BLM_DUMP_SATURATE

void blm_dump_write_header(uint8_t out[BLM_DUMP_HEADER], uint32_t flags, uint64_t bytes)
{
    memcpy(out, MAGIC, 8);
    blm__put32le(out + 8, VERSION);
    blm__put32le(out + 12, flags);
    blm__put64le(out + 16, bytes);
}

blm_status blm_dump_read_header(const void *header, size_t len, uint32_t *flags, uint64_t *bytes,
                                blm_error *err)
{
    const uint8_t *h = header;
    if (len != BLM_DUMP_HEADER || memcmp(h, MAGIC, 8) != 0)
        return blm__fail_at(err, BLM_E_FORMAT, 0, "not the header of a native filter in chunks");
    if (blm__get32le(h + 8) != VERSION)
        return blm__fail_at(err, BLM_E_VERSION, 8, "version %u of the header, where %u is known",
                            (unsigned)blm__get32le(h + 8), VERSION);
    if (blm__get32le(h + 12) & ~FLAGS)
        return blm__fail_at(err, BLM_E_FORMAT, 12, "unknown flags 0x%x",
                            (unsigned)blm__get32le(h + 12));
    if (blm__get64le(h + 16) == 0)
        return blm__fail_at(err, BLM_E_FORMAT, 16, "no bytes follow the header");
    *flags = blm__get32le(h + 12);
    *bytes = blm__get64le(h + 16);
    return BLM_OK;
}
