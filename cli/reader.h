/* SPDX-License-Identifier: MIT */
/*
 * The inputs, as blocks of whole lines.
 *
 * Blocks are read, not mapped: a block is small enough to stay in the processor's cache while it is
 * cut, hashed and asked, a file that shrinks meanwhile does no harm (a mapping would raise SIGBUS),
 * and a pipe is the same as a file. wc -l reads 1.4 GB of lines from the page cache in 0.23 s where
 * dedup takes 1.1 (bench/cli.sh 20e6): what the copy costs is not what there is to gain.
 *
 * One thread at a time reads. What happens to an input (it cannot be opened, it cannot be read on)
 * is a block of its own, without lines, so that it is said in its turn.
 */
#ifndef CLI_READER_H
#define CLI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bloomery.h"

#define READER_BLOCK ((size_t)256 << 10)

struct block {
    char       *bytes;
    size_t      room, len; /* whole lines, but for … */
    bool        cut;       /* the last one, which came without a newline */
    bool        first;     /* of its input: lines are counted anew */
    bool        end;       /* there is nothing more; no lines */
    int         error;     /* of this input; no lines */
    const char *argument;  /* the input as it was given */

    /* What is made of the lines: keys.c. */
    blm_key     *keys;
    const char **at;
    uint64_t    *hashes;
    uint8_t     *flags;
    size_t       lines_room, count;
    bool         bad; /* line number `count` (from 0) could not be decoded */
    bool         hashed, flagged;
    char        *decoded;
    size_t       decoded_room, decoded_used;
    uint64_t     ticket;
    bool         ready;
};

struct reader {
    char      **inputs;
    int         count, next; /* next: the one to open */
    int         fd;          /* −1: none is open */
    const char *argument;    /* of the open one */
    bool        begun, ended;
    int         error; /* to be told of the open one, after its last whole line */
    char       *rest;  /* of the block before: the beginning of a line */
    size_t      rest_room, rest_len;
    bool        eager;       /* take what one read gives */
    void (*idle)(void *ctx); /* about to wait for input; may be NULL */
    void *ctx;
};

/* The next block. */
void reader_next(struct reader *r, struct block *b);
void reader_close(struct reader *r);

/* What would be wrong with an input; 0: nothing that can be seen without opening it. *size becomes
 * its bytes, or UINT64_MAX when nobody knows. */
int  reader_look(const char *argument, uint64_t *size);
bool reader_is_stdin(const char *argument);

void block_free(struct block *b);

#endif
