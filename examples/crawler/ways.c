/* SPDX-License-Identifier: MIT */
/* See ways.h. Heap memory is what malloc says each allocation takes. The tables are open-addressed
 * and at most two thirds full, which is compact for such tables. */
#include "ways.h"

#include <malloc.h>
#include <math.h>
#include <md5.h>
#include <sha1.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/job.h"
#include "site.h"

static size_t url_of(uint64_t page, char out[96])
{
    memcpy(out, "http://site.example", 19);
    return 19 + site_path(page, out + 19);
}

/* With the word that malloc keeps in front of it. */
static uint64_t takes(void *piece) { return malloc_usable_size(piece) + sizeof(size_t); }

static uint64_t hash_of(const void *bytes, size_t len)
{
    uint64_t       h = 0xcbf29ce484222325u;
    const uint8_t *p = bytes;
    for (size_t i = 0; i < len; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h ^ h >> 29;
}

/* URLs as they are: a table of pointers to strings. */
static uint64_t set_of_urls(uint64_t pages)
{
    uint64_t slots = pages + pages / 2;
    char   **table = calloc((size_t)slots, sizeof *table);
    uint64_t bytes = takes(table);
    for (uint64_t i = 0; i < pages; i++) {
        char     url[96];
        size_t   len = url_of(i, url);
        uint64_t at  = hash_of(url, len) % slots;
        while (table[at] && strcmp(table[at], url) != 0)
            at = (at + 1) % slots;
        if (!table[at])
            bytes += takes(table[at] = strdup(url));
    }
    for (uint64_t i = 0; i < slots; i++)
        free(table[i]);
    free(table);
    return bytes;
}

/* Digests of `width` bytes, side by side; an empty slot is all zeros. */
static uint64_t set_of_digests(uint64_t pages, size_t width)
{
    static const uint8_t empty[20];
    uint64_t             slots = pages + pages / 2;
    uint8_t             *table = calloc((size_t)slots, width);
    for (uint64_t i = 0; i < pages; i++) {
        char     url[96];
        uint8_t  digest[20];
        size_t   len = url_of(i, url);
        uint64_t at;
        if (width == 16) {
            MD5_CTX c;
            MD5Init(&c);
            MD5Update(&c, (const uint8_t *)url, len);
            MD5Final(digest, &c);
        } else {
            SHA1_CTX c;
            SHA1Init(&c);
            SHA1Update(&c, (const uint8_t *)url, len);
            SHA1Final(digest, &c);
        }
        memcpy(&at, digest, sizeof at);
        at %= slots;
        while (memcmp(table + at * width, empty, width) != 0 &&
               memcmp(table + at * width, digest, width) != 0)
            at = (at + 1) % slots;
        memcpy(table + at * width, digest, width);
    }
    uint64_t bytes = takes(table);
    free(table);
    return bytes;
}

/* A table with the URL as its key, in a file. Its size is the size of the file's pages. */
static uint64_t database_table(uint64_t pages)
{
    char          path[512];
    sqlite3      *db;
    sqlite3_stmt *insert, *size;
    job_path(path, sizeof path, "seen.db");
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, "create table seen(url text primary key) without rowid; begin", NULL, NULL,
                     NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "insert or ignore into seen values(?)", -1, &insert, NULL) !=
            SQLITE_OK)
        job_trouble("SQLite: %s", sqlite3_errmsg(db));
    for (uint64_t i = 0; i < pages; i++) {
        char   url[96];
        size_t len = url_of(i, url);
        sqlite3_bind_text(insert, 1, url, (int)len, SQLITE_STATIC);
        sqlite3_step(insert);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    sqlite3_exec(db, "commit", NULL, NULL, NULL);
    sqlite3_prepare_v2(db, "select page_count * page_size from pragma_page_count, pragma_page_size",
                       -1, &size, NULL);
    uint64_t bytes = sqlite3_step(size) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(size, 0) : 0;
    sqlite3_finalize(size);
    sqlite3_close(db);
    return bytes;
}

/* One bit per URL: a filter with one probe. */
static struct way bitmap(const char *name, uint64_t pages, uint64_t bits)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   err;
    blm_filter *f;
    struct way  w = { name, 0, 0 };
    o.bits        = bits;
    o.probes      = 1;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 23;
    job_need(blm_create(&o, &f, &err), &err);
    for (uint64_t i = 0; i < pages; i++) {
        char   url[96];
        size_t len = url_of(i, url);
        w.missed += blm_add(f, url, len) == BLM_PRESENT;
    }
    blm_view(f, 0, &w.bytes);
    blm_free(f);
    return w;
}

void ways_measure(uint64_t pages, double rate, uint64_t filter_bytes, struct way out[WAYS])
{
    out[0] = (struct way){ "set of URLs", set_of_urls(pages), 0 };
    out[1] = (struct way){ "set of SHA-1s", set_of_digests(pages, 20), 0 };
    out[2] = (struct way){ "set of MD5s", set_of_digests(pages, 16), 0 };
    out[3] = (struct way){ "database table", database_table(pages), 0 };
    out[4] = bitmap("bitmap, same rate", pages, (uint64_t)(-(double)pages / log1p(-rate)));
    out[5] = bitmap("bitmap, same size", pages, filter_bytes * 8);
}
