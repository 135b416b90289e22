/* SPDX-License-Identifier: MIT */
/*
 * The input: files or standard input, cut into lines, a key taken from each.
 *
 * Input is read in large blocks into one buffer that is used again and again: it stays in the
 * processor's cache, a file that shrinks meanwhile does no harm (a mapping would raise SIGBUS), a
 * pipe is the same as a file, and memory stays small. Batches point into the block. Before a block
 * is recycled, and so before every wait for input, the `recycle` hook runs: there commands write
 * their output. Hence what can be said about the lines read so far is always said before we wait.
 */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include "bloomery.h"
#include "options.h"

#define KEYS_BATCH 4096 /* lines a batch, at most */

struct keys_options {
    bool        nul, crlf;
    uint64_t    field;     /* 0: the whole line */
    int         delimiter; /* byte between fields */
    const char *encoding;  /* NULL: text */
    const char *funnel;    /* NULL: the natural one for the encoding */
};
extern struct keys_options       keys_options;
extern const struct option_group keys_group;

/* Lines whose bytes are valid until the next recycle. */
struct batch {
    size_t             count;
    const blm_key     *keys;
    const char *const *at;  /* count + 1 of them: line i with its newline is at[i] … at[i + 1] */
    bool               cut; /* the last line came without a newline */
};

struct keys {
    void (*recycle)(void *ctx); /* may be NULL */
    void *ctx;

    char       **inputs;
    int          input_count, input; /* input: the next to open */
    const char  *name;               /* of the open one, for messages */
    int          fd;                 /* −1: none open */
    bool         ended;              /* it has no more bytes */
    bool         broken;             /* it could not be read on */
    char        *block;
    size_t       room, start, scanned, end; /* start … end: bytes not yet given out */
    char        *decoded;
    size_t       decoded_room, decoded_used;
    blm_key     *keys;
    const char **at;

    uint64_t line;    /* in this input */
    uint64_t lines;   /* given out, all inputs */
    uint64_t bytes;   /* read, all inputs */
    uint64_t total;   /* bytes of all inputs, 0 when unknown */
    bool     failed;  /* something was wrong with an input; it has been said */
    bool     spoiled; /* a line could not be decoded: nothing comes after it */
    bool     eager;   /* set by the caller: take what one read gives */
    bool     strict;  /* set by the caller: the first trouble with an input is the end */
};

/* No inputs: standard input. With `strict`, every input is looked at first. False: trouble, and it
 * has been said. */
bool keys_open(struct keys *k, char **inputs, int count);
/* The next batch, at least one line. False: the end, or interrupted, or (strict) trouble. */
bool keys_next(struct keys *k, struct batch *b);
void keys_close(struct keys *k);

/* Sends lines first … last − 1 of a batch to the output. */
void batch_print(const struct batch *b, size_t first, size_t last);
/* Sends the lines for which pick[i] is `value` (0 or 1), in order. Returns how many. */
size_t batch_print_picked(const struct batch *b, const uint8_t *pick, uint8_t value);

#endif
