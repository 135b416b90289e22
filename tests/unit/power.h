/* SPDX-License-Identifier: MIT */
/* Power cuts: what is on the disk is recorded, flush by flush, and files as any cut may leave them are
 * looked at before and after each call. Include after files.h. */
#ifndef BLM_UNIT_POWER_H
#define BLM_UNIT_POWER_H

#include "unit/files.h"

/* The disk as it is after a power cut: what flushes left, mixed sector by sector with what was
 * written since; where the file has become longer, zeroes or what was written; and the length
 * itself, the old or the new one. */
static struct {
    const char  *path;
    struct bytes disk;   /* as of the last flush */
    uint64_t   promised; /* keys 0 … promised − 1 were added before the last sync that ended */
    struct rng rng;
    int        cuts;
    int        mixtures;                             /* looked at in each cut; 0: 32 */
    void (*check)(const uint8_t *bytes, size_t len); /* that such a file keeps its promises */
} power;

#define SECTOR 512u

/* One of the many ways a power cut can end. */
static void check_mixture(const struct bytes *now)
{
    size_t   len  = rng_next(&power.rng) & 1 ? now->len : power.disk.len;
    size_t   most = now->len > power.disk.len ? now->len : power.disk.len;
    uint8_t *mix  = calloc(1, most + SECTOR);
    unsigned bias = 1 + (unsigned)rng_below(&power.rng, 7); /* of 8: much, or little, got through */
    assert_non_null(mix);
    for (size_t from = 0; from < most; from += SECTOR) {
        const struct bytes *b =
            from < now->len && rng_below(&power.rng, 8) < bias ? now : &power.disk;
        if (from < b->len)
            memcpy(mix + from, b->p + from, b->len - from < SECTOR ? b->len - from : SECTOR);
    }
    power.check(mix, len);
    free(mix);
}

static void cut_power(void)
{
    struct blm__os watched = blm__os;
    size_t         calls   = os_log.calls;
    blm__os                = real_os;
    struct bytes now       = slurp(power.path);
    power.check(power.disk.p, power.disk.len);
    power.check(now.p, now.len);
    for (int i = 0; i < (power.mixtures ? power.mixtures : 32); i++)
        check_mixture(&now);
    free(now.p);
    blm__os      = watched;
    os_log.calls = calls;
}

/* Bytes from … to − 1 of the file, and its length, have reached the disk. */
static void flushed(size_t from, size_t to)
{
    struct bytes now = slurp(power.path);
    power.disk.p     = realloc(power.disk.p, now.len + 1);
    if (now.len > power.disk.len)
        memset(power.disk.p + power.disk.len, 0, now.len - power.disk.len);
    power.disk.len = now.len;
    to             = to < now.len ? to : now.len;
    if (from < to)
        memcpy(power.disk.p + from, now.p + from, to - from);
    free(now.p);
}

/* Some sectors reach the disk without being asked to. */
UNUSED_OK static void seep(void)
{
    struct bytes now  = slurp(power.path);
    uint64_t     bias = 1 + rng_below(&power.rng, 7);
    for (size_t from = 0; from < now.len && from < power.disk.len; from += SECTOR)
        if (rng_below(&power.rng, 8) < bias)
            memcpy(power.disk.p + from, now.p + from,
                   now.len - from < SECTOR ? now.len - from : SECTOR);
    free(now.p);
}

/* Which part of a file is mapped there? */
static size_t map_offset(const void *map)
{
    FILE  *maps = fopen("/proc/self/maps", "r");
    char   line[1024];
    size_t found = SIZE_MAX;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long begin, end, offset;
        if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) == 3 &&
            (uintptr_t)map >= begin && (uintptr_t)map < end)
            found = offset + ((uintptr_t)map - begin);
    }
    if (maps)
        fclose(maps);
    return found;
}

static int cut_write_at(int fd, const void *p, size_t len, uint64_t to)
{
    cut_power();
    int why = log_write_at(fd, p, len, to);
    cut_power();
    return why;
}
static int cut_sync_file(int fd)
{
    cut_power();
    int why = log_sync_file(fd);
    flushed(0, SIZE_MAX);
    return why;
}
static int cut_sync_map(void *map, size_t len)
{
    cut_power();
    int    why  = log_sync_map(map, len);
    size_t from = map_offset(map);
    assert_true(from != SIZE_MAX);
    flushed(from, from + len);
    return why;
}
static int cut_reserve(int fd, uint64_t from, uint64_t len)
{
    cut_power();
    int why = log_reserve(fd, from, len);
    cut_power();
    return why;
}

static void power_watch(void)
{
    os_watch(SIZE_MAX, 0);
    blm__os.write_at  = cut_write_at;
    blm__os.sync_file = cut_sync_file;
    blm__os.sync_map  = cut_sync_map;
    blm__os.reserve   = cut_reserve;
}

#endif
