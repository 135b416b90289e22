/* SPDX-License-Identifier: MIT */
/* Writes and reads deltas, through zstd if this build has it. Input may be compressed or not: its
 * first bytes say. */
#ifndef CLI_SQUEEZE_H
#define CLI_SQUEEZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct squeeze {
    void    *stream; /* NULL: as it is */
    char    *buffer;
    size_t   room;
    uint64_t wrote; /* bytes that went out */
    bool     failed;
};

void squeeze_start(struct squeeze *s);
bool squeeze_write(void *s, const void *bytes, size_t len); /* a blm_write_fn */
/* finish: everything went well so far, so write the end too. False: that failed. */
bool squeeze_end(struct squeeze *s, bool finish);

struct unsqueeze {
    void       *stream;
    char       *buffer;
    size_t      room, at, len;
    uint64_t    got;                       /* bytes that came in */
    bool        begun, packed, ended, mid; /* mid: inside a compressed frame */
    const char *trouble; /* what is wrong with the bytes, or with reading; NULL: nothing */
    int         why;     /* the error number of a read that failed */
};

void   unsqueeze_start(struct unsqueeze *u);
size_t unsqueeze_read(void *u, void *bytes, size_t len); /* a blm_read_fn */
void   unsqueeze_end(struct unsqueeze *u);

/* Are these the first bytes of a delta, compressed or not? A compressed block may be as long as
 * SQUEEZE_HEAD, and nothing of it can be seen before its end. */
#define SQUEEZE_HEAD ((size_t)160 << 10)
bool squeeze_is_delta(const void *bytes, size_t len);

#endif
