/* SPDX-License-Identifier: MIT */
/*
 * The input: files or standard input, cut into lines, with a key taken from each line.
 *
 * Input is read in blocks (reader.h) that are reused. From the second block on, other threads read,
 * cut and prepare blocks (hash their keys, or check them), one block each at a time. The caller's
 * thread gets the blocks in the order in which they were read, so its output is the same as with
 * one thread.
 *
 * The `recycle` hook runs before a block is given back, and so before every wait for input.
 * Commands write their output there, so all output for the lines read so far appears before we
 * wait.
 */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <pthread.h>

#include "bloomery.h"
#include "options.h"
#include "reader.h"

#define KEYS_BATCH 4096 /* lines in a batch, at most */

struct keys_options {
    bool        nul, crlf;
    uint64_t    field;     /* 0: the whole line */
    int         delimiter; /* byte between fields; −1: a tab */
    const char *encoding;  /* NULL: text */
    const char *funnel;    /* NULL: the one that fits the encoding */
    uint64_t    threads;   /* 0: as many as there are processors */
};
extern struct keys_options       keys_options;
extern const struct option_group keys_group;
/* Asked before a command begins, so that nothing is made or opened. False: already reported. */
bool                             keys_options_fit(void);
extern const struct option_group threads_group;      /* for commands that can use several */
unsigned                         keys_threads(void); /* how many they should use */

/* Lines whose bytes are valid until the next recycle. */
struct batch {
    size_t             count;
    const blm_key     *keys;
    const char *const *at;  /* count + 1 of them: line i with its newline is at[i] … at[i + 1] */
    bool               cut; /* the last line came without a newline */
    uint8_t           *flags;           /* a byte per key, for the caller or its `prepare` */
    uint64_t          *hashes;          /* the same, with `hashing` */
    bool               hashed, flagged; /* what `prepare` says it has filled */
};

#define KEYS_MAX_THREADS 64

struct keys {
    /* Set by the caller. */
    void (*recycle)(void *ctx); /* may be NULL */
    void (*idle)(void *ctx);    /* no input is available or being read; may be NULL */
    /* Called by any thread, blocks in any order; on the caller's thread until it got its first lines.
     * May be NULL. */
    void (*prepare)(void *ctx, struct batch *b);
    void    *ctx;
    unsigned threads; /* 0, 1: the caller's alone */
    bool     hashing; /* batches have room for hashes */
    bool     eager;   /* take what one read gives */
    bool     one_way; /* the command has no options for how lines are encoded */
    bool     strict;  /* stop at the first trouble with an input */

    const char *name;    /* the input that the batch is from, for messages */
    uint64_t    line;    /* in this input */
    uint64_t    lines;   /* given out, all inputs */
    uint64_t    bytes;   /* of the blocks given out */
    uint64_t    total;   /* bytes of all inputs, 0 when unknown */
    bool        failed;  /* something was wrong with an input; already reported */
    bool        spoiled; /* a line could not be decoded: nothing comes after it */

    /* Private to keys.c. */
    struct reader   reader;
    struct block   *blocks, *now; /* now: the one being given out */
    unsigned        block_count;
    size_t          given;   /* its lines given out */
    uint64_t        tickets; /* blocks given out */
    bool            over;
    unsigned        workers;
    pthread_t       worker[KEYS_MAX_THREADS];
    pthread_mutex_t mutex;
    pthread_cond_t  changed, done; /* for the workers; for the caller */
    struct block  **free;          /* unused blocks */
    unsigned        free_count;
    uint64_t        next_ticket; /* of the next block to be read */
    bool            reading, waiting, stop, ended;
    bool            helps; /* the caller's thread makes blocks too */
};

/* No inputs: standard input. With `strict`, every input is tested first. False: trouble, already
 * reported. */
bool keys_open(struct keys *k, char **inputs, int count);
/* The next batch, of at least one line. False: the end, or interrupted, or (strict) trouble. */
bool keys_next(struct keys *k, struct batch *b);
/* Ends its threads. Call it before what k->ctx points to is freed. No more keys come; call
 * keys_close next. */
void keys_stop(struct keys *k);
void keys_close(struct keys *k);

/* How many of the flags are 1. */
size_t batch_count(const struct batch *b);
/* Sends lines first … last − 1 of a batch to the output. */
void batch_print(const struct batch *b, size_t first, size_t last);
/* Sends the lines for which pick[i] is `value` (0 or 1), in order. Returns how many. */
size_t batch_print_picked(const struct batch *b, const uint8_t *pick, uint8_t value);

#endif
