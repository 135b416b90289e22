/* SPDX-License-Identifier: MIT */
/* Filter bytes of LevelDB tables: any bytes can be asked, and a filter that we made of keys has
 * them. The input is a list of keys, each after its length. */
#include <bloomery_leveldb.h>

#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 64 };
    const char *keys[MOST];
    size_t      lens[MOST], count = 0, left = size;
    uint64_t    seed = blm_leveldb_seed("fuzz");
    for (const uint8_t *p = data; left > 0 && count < MOST; count++) {
        size_t len  = *p < left - 1 ? *p : left - 1;
        keys[count] = (const char *)p + 1;
        lens[count] = len;
        p += len + 1;
        left -= len + 1;
    }
    for (size_t i = 0; i < count; i++) /* the input as a filter */
        blm_leveldb_filter_check(seed, (const char *)data, size, keys[i], lens[i]);
    double per_key = size ? 1 + data[0] % 64 : 10;
    size_t room    = blm_leveldb_filter_size(per_key, count);
    char  *filter  = malloc(room);
    must(filter != NULL);
    blm_leveldb_filter_make(seed, per_key, keys, lens, count, filter);
    for (size_t i = 0; i < count; i++)
        must(blm_leveldb_filter_check(seed, filter, room, keys[i], lens[i]));
    for (size_t i = 0; i < room; i++) /* and cut off anywhere */
        blm_leveldb_filter_check(seed, filter, i, "key", 3);
    free(filter);
    return 0;
}
