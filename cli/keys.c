/* SPDX-License-Identifier: MIT */
#include "keys.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "interrupt.h"
#include "memory.h"
#include "out.h"
#include "say.h"

#define NO_DELIMITER (-1) /* -d was not given */

struct keys_options keys_options = { .delimiter = NO_DELIMITER };

static const struct option rows[] = {
    { NULL, '0', OPT_FLAG, NULL, &keys_options.nul,
      "Keys end with a NUL byte instead of a newline, as in the output of find -print0.", NULL },
    { "crlf", 0, OPT_FLAG, NULL, &keys_options.crlf,
      "A carriage return before the newline is not part of the key.", NULL },
    { NULL, 'e', OPT_NAME, "ENC", &keys_options.encoding,
      "How lines are encoded. Each line is decoded to get the key. Integers, float and double "
      "become 4 or 8 little-endian bytes.",
      encoding_names },
    { NULL, 'f', OPT_COUNT, "N", &keys_options.field,
      "The key is field N of the line, counted from 1. If a line has no such field, its key is "
      "empty. Output is still the whole line.",
      NULL },
    { NULL, 'd', OPT_BYTE, "C", &keys_options.delimiter,
      "The byte between fields. Default: a tab. Two in a row enclose an empty field.", NULL },
    { "funnel", 0, OPT_TEXT, "NAME", &keys_options.funnel,
      "How another system's scheme hashes a key, if it has several ways. Default: the one that "
      "fits -e.",
      NULL },
    OPTION_END,
};
const struct option_group keys_group = { "Keys", rows };

static const struct option thread_rows[] = {
    { "threads", 0, OPT_THREADS, "N", &keys_options.threads,
      "How many threads to use. Default: one for each processor. The output does not depend on "
      "it.",
      NULL },
    OPTION_END,
};
const struct option_group threads_group = { "Speed", thread_rows };

bool keys_options_fit(void)
{
    if (keys_options.delimiter != NO_DELIMITER && !keys_options.field)
        return misuse("-d is the byte between fields: give -f too, the number of the field"), false;
    return true;
}

unsigned keys_threads(void)
{
    cpu_set_t set;
    uint64_t  n = keys_options.threads;
    if (n == 0 && sched_getaffinity(0, sizeof set, &set) == 0)
        n = (uint64_t)CPU_COUNT(&set);
    return n < 1 ? 1 : n > KEYS_MAX_THREADS ? KEYS_MAX_THREADS : (unsigned)n;
}

/* ---- opening and closing ---- */

/* Says what is wrong with an input that could not be opened or read. */
static void complain(struct keys *k, const char *name, int error)
{
    k->failed = true;
    if (error == EBADF && reader_is_stdin(name)) {
        trouble("standard input is closed: give a file, or pipe the keys in");
        return;
    }
    if (reader_is_stdin(name))
        name = "standard input";
    if (error == EISDIR)
        trouble("%s: is a directory: give the files in it", name);
    else if (error == EDEADLK)
        trouble("%s: is both input and output: write to another file", name);
    else if (error == ENOENT)
        trouble("%s: no such file: check the name (- is standard input)", name);
    else if (error == EACCES)
        trouble("%s: permission denied: make it readable, or run as a user who may read it", name);
    else
        system_trouble(name, error, NULL);
}

bool keys_open(struct keys *k, char **inputs, int count)
{
    static char  dash[]     = "-";
    static char *standard[] = { dash };
    bool         known      = true;
    k->reader               = (struct reader){
                      .inputs = count ? inputs : standard, .count = count ? count : 1, .fd = -1, .eager = k->eager
    };
    for (int i = 0; i < k->reader.count; i++) {
        uint64_t size;
        int      error = reader_look(k->reader.inputs[i], &size);
        if (error && k->strict)
            complain(k, k->reader.inputs[i], error);
        if (!error && size == UINT64_MAX)
            known = false;
        else if (!error)
            k->total += size;
    }
    if (k->failed)
        return false;
    if (!known)
        k->total = 0;
    k->blocks      = memory_need(sizeof *k->blocks);
    k->blocks[0]   = (struct block){ 0 };
    k->block_count = 1;
    return true;
}

void keys_stop(struct keys *k)
{
    if (k->workers) {
        pthread_mutex_lock(&k->mutex);
        k->stop = true;
        pthread_cond_broadcast(&k->changed);
        pthread_mutex_unlock(&k->mutex);
        interrupt_wake(true);
        for (unsigned i = 0; i < k->workers; i++)
            pthread_join(k->worker[i], NULL);
        interrupt_wake(false);
        pthread_mutex_destroy(&k->mutex);
        pthread_cond_destroy(&k->changed);
        pthread_cond_destroy(&k->done);
        k->workers = 0;
    }
}

void keys_close(struct keys *k)
{
    keys_stop(k);
    reader_close(&k->reader);
    for (unsigned i = 0; i < k->block_count; i++)
        block_free(&k->blocks[i]);
    free(k->blocks);
    free((void *)k->free);
    k->blocks      = NULL;
    k->free        = NULL;
    k->block_count = 0;
}

/* ---- from bytes to keys ---- */

static void more_lines(const struct keys *k, struct block *b)
{
    size_t n      = b->lines_room ? b->lines_room * 2 : KEYS_BATCH;
    b->lines_room = n;
    b->keys       = memory_grow(b->keys, n * sizeof *b->keys);
    b->at         = memory_grow((void *)b->at, (n + 1) * sizeof *b->at);
    b->flags      = memory_grow(b->flags, n);
    if (k->hashing)
        b->hashes = memory_grow(b->hashes, n * sizeof *b->hashes);
}

/* Line n ends at `to`. Returns where the next begins. */
static const char *put_line(struct block *b, size_t n, const char *line, const char *to)
{
    b->at[n]   = line;
    b->keys[n] = (blm_key){ line, (size_t)(to - line) };
    return to + 1;
}

#if defined(__SSE2__) && defined(__GNUC__)
#define LOOKED_AT 64
typedef char sixteen __attribute__((vector_size(16)));

/* Bit i: from[i] is a stop. */
static inline uint64_t stops(const char *from, sixteen stop)
{
    uint64_t found = 0;
    for (int i = 0; i < LOOKED_AT; i += 16) {
        sixteen bytes;
        memcpy(&bytes, from + i, sizeof bytes);
        found |= (uint64_t)(unsigned)__builtin_ia32_pmovmskb128((sixteen)(bytes == stop)) << i;
    }
    return found;
}

/* The lines that end in the first bytes, 64 at a time: 5.1 ns a line of 69 bytes where a memchr for
 * each takes 8.7 (Zen 3). How many; the next one begins at *line. */
static size_t cut_most(const struct keys *k, struct block *b, char stop, const char **line)
{
    const char *end = b->bytes + b->len, *begun = *line;
    sixteen     each;
    size_t      n = 0;
    memset(&each, stop, sizeof each);
    for (const char *from = begun; end - from >= LOOKED_AT; from += LOOKED_AT) {
        if (b->lines_room - n < LOOKED_AT)
            more_lines(k, b);
        for (uint64_t found = stops(from, each); found; found &= found - 1)
            begun = put_line(b, n++, begun, from + __builtin_ctzll(found));
    }
    *line = begun;
    return n;
}
#else
static size_t cut_most(const struct keys *k, struct block *b, char stop, const char **line)
{
    return (void)k, (void)b, (void)stop, (void)line, 0;
}
#endif

/* Keys are the lines. */
static void cut(const struct keys *k, struct block *b)
{
    const char *line = b->bytes, *end = b->bytes + b->len;
    char        stop = keys_options.nul ? 0 : '\n';
    size_t      n    = cut_most(k, b, stop, &line);
    while (line < end) {
        const char *to = memchr(line, stop, (size_t)(end - line));
        if (n == b->lines_room)
            more_lines(k, b);
        put_line(b, n++, line, to ? to : end);
        line = to ? to + 1 : end;
    }
    b->at[n] = end;
    b->count = n;
}

static void take_field(blm_key *key)
{
    const char *p = key->data, *end = p + key->len;
    int         stop = keys_options.delimiter == NO_DELIMITER ? '\t' : keys_options.delimiter;
    for (uint64_t i = 1; i < keys_options.field; i++) {
        const char *at = memchr(p, stop, (size_t)(end - p));
        if (!at) {
            key->len = 0;
            return;
        }
        p = at + 1;
    }
    const char *at = memchr(p, stop, (size_t)(end - p));
    key->data      = p;
    key->len       = (size_t)((at ? at : end) - p);
}

static void drop_return(blm_key *key)
{
    if (key->len && ((const char *)key->data)[key->len - 1] == '\r')
        key->len--;
}

/* Replaces a key by what it encodes, in memory that lives as long as the block. Each line takes at
 * least 2 bytes in the block and at most 8 decoded (or no more than it had), so four times the
 * block is always enough, plus 4 for a last line without a newline. */
static bool decode_key(struct block *b, const struct encoding *e, blm_key *key)
{
    if (b->decoded_room < 4 * b->len + 16) {
        b->decoded_room = 4 * b->len + 16;
        b->decoded      = memory_grow(b->decoded, b->decoded_room);
    }
    char *to = b->decoded + b->decoded_used;
    if (!e->decode(key->data, key->len, to, &key->len))
        return false;
    key->data = to;
    b->decoded_used += key->len;
    return true;
}

/* Turns lines into keys, up to the first that cannot be decoded. */
static void refine(struct block *b)
{
    const struct encoding *e = keys_options.encoding ? encoding_find(keys_options.encoding) : NULL;
    bool                   decodes = e && e->decode;
    b->decoded_used                = 0;
    if (!keys_options.crlf && !keys_options.field && !decodes)
        return;
    for (size_t i = 0; i < b->count && !b->bad; i++) {
        blm_key *key = &b->keys[i];
        if (keys_options.crlf)
            drop_return(key);
        if (keys_options.field)
            take_field(key);
        if (decodes && !decode_key(b, e, key)) {
            b->bad   = true;
            b->count = i;
        }
    }
}

static struct batch batch_of(const struct block *b, size_t from, size_t n)
{
    return (struct batch){ .count   = n,
                           .keys    = b->keys + from,
                           .at      = b->at + from,
                           .cut     = b->cut && !b->bad && from + n == b->count,
                           .flags   = b->flags + from,
                           .hashes  = b->hashes ? b->hashes + from : NULL,
                           .hashed  = b->hashed,
                           .flagged = b->flagged };
}

static void make_keys(const struct keys *k, struct block *b)
{
    b->count = 0;
    b->bad = b->hashed = b->flagged = false;
    if (!b->len)
        return;
    cut(k, b);
    refine(b);
    if (!k->prepare || !b->count)
        return;
    struct batch all = batch_of(b, 0, b->count);
    k->prepare(k->ctx, &all);
    b->hashed  = all.hashed;
    b->flagged = all.flagged;
}

/* ---- other threads ---- */

/* The thread that reads is about to wait for input. */
static void say_waiting(void *ctx)
{
    struct keys *k = ctx;
    pthread_mutex_lock(&k->mutex);
    k->waiting = true;
    pthread_cond_signal(&k->done);
    pthread_mutex_unlock(&k->mutex);
}

/* May somebody read now? Called with the mutex held, as the next. */
static bool can_read(const struct keys *k)
{
    return !k->stop && !k->ended && !k->reading && k->free_count;
}

/* Takes a free block and reads it: one thread at a time, in the order of the tickets. The mutex is
 * not held meanwhile, and on return. */
static struct block *read_block(struct keys *k)
{
    struct block *b = k->free[--k->free_count];
    b->ticket       = k->next_ticket++;
    k->reading      = true;
    pthread_mutex_unlock(&k->mutex);
    reader_next(&k->reader, b);
    pthread_mutex_lock(&k->mutex);
    k->reading = k->waiting = false;
    k->ended                = b->end;
    pthread_cond_broadcast(&k->changed);
    if (k->helps)
        pthread_cond_signal(&k->done);
    pthread_mutex_unlock(&k->mutex);
    return b;
}

static struct block *read_one(struct keys *k)
{
    pthread_mutex_lock(&k->mutex);
    while (!k->stop && !k->ended && !can_read(k))
        pthread_cond_wait(&k->changed, &k->mutex);
    if (k->stop || k->ended) {
        pthread_mutex_unlock(&k->mutex);
        return NULL;
    }
    return read_block(k);
}

static void *work(void *ctx)
{
    struct keys  *k = ctx;
    struct block *b;
    while ((b = read_one(k)) != NULL) {
        make_keys(k, b);
        pthread_mutex_lock(&k->mutex);
        b->ready = true;
        if (b->ticket == k->tickets)
            pthread_cond_signal(&k->done);
        pthread_mutex_unlock(&k->mutex);
    }
    return NULL;
}

/* Starts as many threads as wanted, or as many as the system gives. With none, the caller's thread
 * does everything. The threads block all signals, so the caller gets them. */
static void start_workers(struct keys *k)
{
    unsigned      count  = k->threads + 2, wanted;
    struct block *blocks = calloc(count, sizeof *blocks);
    sigset_t      all, before;
    if (!blocks || !interrupt_ready()) {
        free(blocks);
        k->threads = 1;
        return;
    }
    blocks[0] = k->blocks[0];
    free(k->blocks);
    k->blocks      = blocks;
    k->block_count = count;
    k->free        = memory_need(count * sizeof *k->free);
    for (k->free_count = 0; k->free_count < count; k->free_count++)
        k->free[k->free_count] = &blocks[k->free_count];
    k->next_ticket = k->tickets;
    k->helps       = k->total > 0;
    wanted         = k->threads - k->helps;
    k->reader.idle = say_waiting;
    k->reader.ctx  = k;
    pthread_mutex_init(&k->mutex, NULL);
    pthread_cond_init(&k->changed, NULL);
    pthread_cond_init(&k->done, NULL);
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* a thread's own fault: blocked, it would kill without a word */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (k->workers < wanted && pthread_create(&k->worker[k->workers], NULL, work, k) == 0)
        k->workers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!k->workers) {
        k->reader.idle = NULL;
        k->threads     = 1;
    }
}

/* The next block in order, from the workers. If all inputs are files, which never keep a reader
 * waiting, the caller's thread makes blocks too while it has nothing else to do: it is one of the
 * k->threads then. With a thread more than processors, each block cost two changes between threads,
 * and dedup of 20 million lines took 0.67 s on two processors instead of 0.47 (bench/lines.c). */
static struct block *await(struct keys *k)
{
    struct block *b    = NULL;
    bool          idle = false;
    pthread_mutex_lock(&k->mutex);
    if (k->now) {
        k->free[k->free_count++] = k->now;
        k->now->ready            = false;
        pthread_cond_signal(&k->changed);
    }
    for (;;) {
        for (unsigned i = 0; i < k->block_count && !b; i++)
            if (k->blocks[i].ready && k->blocks[i].ticket == k->tickets)
                b = &k->blocks[i];
        if (b)
            break;
        if (k->helps && can_read(k)) {
            struct block *own = read_block(k);
            make_keys(k, own);
            pthread_mutex_lock(&k->mutex);
            own->ready = true;
            continue;
        }
        if (k->waiting && !idle && k->idle && k->next_ticket == k->tickets + 1) {
            idle = true;
            pthread_mutex_unlock(&k->mutex);
            k->idle(k->ctx);
            pthread_mutex_lock(&k->mutex);
            continue;
        }
        pthread_cond_wait(&k->done, &k->mutex);
    }
    k->tickets++;
    pthread_mutex_unlock(&k->mutex);
    return b;
}

static void tell_idle(void *ctx)
{
    struct keys *k = ctx;
    if (k->idle)
        k->idle(k->ctx);
}

/* The next block, read by the caller's thread. */
static struct block *make(struct keys *k)
{
    struct block *b = &k->blocks[0];
    k->reader.idle  = tell_idle;
    k->reader.ctx   = k;
    reader_next(&k->reader, b);
    make_keys(k, b);
    k->tickets++;
    return b;
}

/* ---- batches ---- */

/* Is the rest of the input worth other threads? Not if the first block is the whole input. They
 * also start only after the caller got its first lines, because it may make what `prepare` needs
 * only then. */
static bool wants_workers(const struct keys *k)
{
    return k->threads > 1 && !k->workers && k->lines > 0 &&
           (!k->total || k->bytes + READER_BLOCK < k->total);
}

/* The next block that has lines. False: the end. */
static bool next_block(struct keys *k)
{
    for (;;) {
        if (k->now && k->recycle)
            k->recycle(k->ctx);
        if (out_stopped() || interrupted())
            return false;
        if (wants_workers(k)) {
            start_workers(k);
            k->now = NULL;
        }
        k->now   = k->workers ? await(k) : make(k);
        k->given = 0;
        if (k->now->end)
            return false;
        if (k->now->error) {
            complain(k, k->now->argument, k->now->error);
            if (k->strict)
                return false;
            continue;
        }
        if (k->now->first)
            k->line = 0;
        k->name = reader_is_stdin(k->now->argument) ? "standard input" : k->now->argument;
        k->bytes += k->now->len;
        return true;
    }
}

/* Does a line end as those of Windows do? */
static bool ends_in_return(const struct block *b, size_t line)
{
    const char *from = b->at[line], *to = b->at[line + 1];
    return !keys_options.crlf && !keys_options.nul && to - from >= 2 && to[-1] == '\n' &&
           to[-2] == '\r';
}

/* The line after the last good one. */
static void say_bad(struct keys *k)
{
    k->failed = k->spoiled = true;
    trouble("%s: line %llu is not %s: %s", k->name, (unsigned long long)(k->line + 1),
            encoding_find(keys_options.encoding)->what,
            ends_in_return(k->now, k->now->count)
                ? k->one_way ? "it ends with a carriage return: send it through tr -d '\\r'"
                             : "it ends with a carriage return: give --crlf"
            : k->one_way ? "correct it"
                         : "correct it, or give another -e");
}

bool keys_next(struct keys *k, struct batch *b)
{
    if (k->spoiled || k->over || out_stopped() || interrupted())
        return false;
    if (!k->now || k->given == k->now->count)
        k->over = !next_block(k);
    if (k->over)
        return false;
    size_t left = k->now->count - k->given, n = left < KEYS_BATCH ? left : KEYS_BATCH;
    *b = batch_of(k->now, k->given, n);
    k->given += n;
    k->line += n;
    k->lines += n;
    if (k->given == k->now->count && k->now->bad)
        say_bad(k);
    return n > 0;
}

size_t batch_count(const struct batch *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++)
        n += b->flags[i];
    return n;
}

/* ---- printing ---- */

void batch_print(const struct batch *b, size_t first, size_t last)
{
    if (first >= last)
        return;
    out_span(b->at[first], (size_t)(b->at[last] - b->at[first]));
    if (b->cut && last == b->count)
        out_span(keys_options.nul ? "" : "\n", 1);
}

size_t batch_print_picked(const struct batch *b, const uint8_t *pick, uint8_t value)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->count;) {
        const uint8_t *from = memchr(pick + i, value, b->count - i);
        if (!from)
            break;
        const uint8_t *to    = memchr(from, !value, b->count - (size_t)(from - pick));
        size_t         first = (size_t)(from - pick), last = to ? (size_t)(to - pick) : b->count;
        batch_print(b, first, last);
        kept += last - first;
        i = last;
    }
    return kept;
}
