/* SPDX-License-Identifier: MIT */
/*
 * The inputs, as blocks of whole lines.
 *
 * Blocks are read, not mapped. A block is small enough to stay in the processor's cache while it is
 * cut, hashed and checked. A file that shrinks meanwhile does no harm (a mapping would raise
 * SIGBUS). A pipe works like a file. Copying 1.4 GB of lines from the page cache takes 0.20 s, mapping
 * them 0.09 s, and then they are read from memory and not from the cache; dedup takes 0.87 s, so
 * avoiding the copy would gain little.
 *
 * One thread at a time reads. An error of an input (it cannot be opened, or cannot be read further)
 * is a block of its own without lines, so that it is reported in order.
 */
#ifndef CLI_READER_H
#define CLI_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bloomery.h"

/* Half the second cache of common processors. On two threads dedup takes 3% longer with half of it,
 * as threads wait for each other twice as often, and as long with twice of it. */
#define READER_BLOCK ((size_t)512 << 10)

struct block {
    char       *bytes;
    size_t      room, len; /* whole lines, except for … */
    bool        cut;       /* the last one, which came without a newline */
    bool        first;     /* of its input: line numbers start again */
    bool        end;       /* there is nothing more; no lines */
    int         error;     /* of this input; no lines */
    const char *argument;  /* the input as it was given */

    /* What keys.c makes of the lines. */
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
    int         error; /* of the open one, reported after its last whole line */
    char       *rest;  /* of the block before: the beginning of a line */
    size_t      rest_room, rest_len;
    bool        eager;       /* take what one read gives */
    void (*idle)(void *ctx); /* about to wait for input; may be NULL */
    void *ctx;
};

/* The next block. */
void reader_next(struct reader *r, struct block *b);
void reader_close(struct reader *r);

/* What is wrong with an input, as far as can be seen without opening it: 0 or an error number.
 * *size becomes its bytes, or UINT64_MAX if not known. */
int  reader_look(const char *argument, uint64_t *size);
bool reader_is_stdin(const char *argument);
/* Do two arguments (- is standard input) lead to one file or pipe? */
bool same_file(const char *a, const char *b);

void block_free(struct block *b);

#endif
