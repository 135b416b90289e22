/* SPDX-License-Identifier: MIT */
/*
 * The input: files or standard input, cut into lines, a key taken from each.
 *
 * Input is read in blocks (reader.h) that are used again and again. From the second block on, other
 * threads read, cut and prepare blocks (hash their keys, or ask a filter about them), each a block
 * at a time; the caller's thread gets them in the order in which they were read, so that whatever
 * it does with them comes out as if it were alone.
 *
 * Before a block is given back, and so before every wait for input, the `recycle` hook runs: there
 * commands write their output. Hence what can be said about the lines read so far is always said
 * before we wait.
 */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <pthread.h>

#include "bloomery.h"
#include "options.h"
#include "reader.h"

#define KEYS_BATCH 4096 /* lines a batch, at most */

struct keys_options {
    bool        nul, crlf;
    uint64_t    field;     /* 0: the whole line */
    int         delimiter; /* byte between fields */
    const char *encoding;  /* NULL: text */
    const char *funnel;    /* NULL: the natural one for the encoding */
    uint64_t    threads;   /* 0: as many as there are processors */
};
extern struct keys_options       keys_options;
extern const struct option_group keys_group;
extern const struct option_group threads_group;      /* for commands that can use several */
unsigned                         keys_threads(void); /* how many they are to use */

/* Lines whose bytes are valid until the next recycle. */
struct batch {
    size_t             count;
    const blm_key     *keys;
    const char *const *at;  /* count + 1 of them: line i with its newline is at[i] … at[i + 1] */
    bool               cut; /* the last line came without a newline */
    uint8_t           *flags;           /* a byte a key, for the caller or its `prepare` */
    uint64_t          *hashes;          /* the same, with `hashing` */
    bool               hashed, flagged; /* what `prepare` says it has filled */
};

#define KEYS_MAX_THREADS 64

struct keys {
    /* Set by the caller. */
    void (*recycle)(void *ctx); /* may be NULL */
    void (*idle)(void *ctx);    /* no input is there, nor on its way; may be NULL */
    void (*prepare)(void         *ctx,
                    struct batch *b); /* by any thread, blocks in any order; may be NULL. On the
                                         caller's until it was given the first lines */
    void    *ctx;
    unsigned threads; /* 0, 1: the caller's alone */
    bool     hashing; /* batches have room for hashes */
    bool     eager;   /* take what one read gives */
    bool     strict;  /* the first trouble with an input is the end */

    const char *name;    /* of the input that the batch is from, for messages */
    uint64_t    line;    /* in this input */
    uint64_t    lines;   /* given out, all inputs */
    uint64_t    bytes;   /* of the blocks given out */
    uint64_t    total;   /* bytes of all inputs, 0 when unknown */
    bool        failed;  /* something was wrong with an input; it has been said */
    bool        spoiled; /* a line could not be decoded: nothing comes after it */

    /* keys.c's own. */
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
    struct block  **free;          /* blocks nobody uses */
    unsigned        free_count;
    uint64_t        next_ticket; /* of the next block to be read */
    bool            reading, waiting, stop, ended;
};

/* No inputs: standard input. With `strict`, every input is looked at first. False: trouble, and it
 * has been said. */
bool keys_open(struct keys *k, char **inputs, int count);
/* The next batch, at least one line. False: the end, or interrupted, or (strict) trouble. */
bool keys_next(struct keys *k, struct batch *b);
/* Ends its threads: before what k->ctx points to goes. No more keys come; keys_close follows. */
void keys_stop(struct keys *k);
void keys_close(struct keys *k);

/* How many of the flags are 1. */
size_t batch_count(const struct batch *b);
/* Sends lines first … last − 1 of a batch to the output. */
void batch_print(const struct batch *b, size_t first, size_t last);
/* Sends the lines for which pick[i] is `value` (0 or 1), in order. Returns how many. */
size_t batch_print_picked(const struct batch *b, const uint8_t *pick, uint8_t value);

#endif
