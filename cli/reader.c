/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interrupt.h"
#include "keys.h"
#include "memory.h"

#define PIPE_BYTES (1 << 20) /* how much a pipe may hold, if the system lets us choose */

bool reader_is_stdin(const char *argument) { return strcmp(argument, "-") == 0; }

static int look(const char *argument, struct stat *st)
{
    return reader_is_stdin(argument) ? fstat(STDIN_FILENO, st) : stat(argument, st);
}

bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return look(a, &x) == 0 && look(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Reading what we write would never end: `dedup log >> log`. */
static bool is_output(const struct stat *st)
{
    struct stat out;
    return S_ISREG(st->st_mode) && fstat(STDOUT_FILENO, &out) == 0 && st->st_ino == out.st_ino &&
           st->st_dev == out.st_dev && lseek(STDOUT_FILENO, 0, SEEK_CUR) < st->st_size;
}

/* A FIFO must not be opened twice, so this does not open it. */
int reader_look(const char *argument, uint64_t *size)
{
    struct stat st;
    *size = UINT64_MAX;
    if (reader_is_stdin(argument)) {
        if (fstat(STDIN_FILENO, &st) < 0)
            return errno;
        if ((fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY)
            return EBADF;
    } else if (stat(argument, &st) < 0 || access(argument, R_OK) < 0) {
        return errno;
    }
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (S_ISREG(st.st_mode))
        *size = (uint64_t)st.st_size;
    return 0;
}

static void close_input(struct reader *r)
{
    if (r->fd > STDIN_FILENO)
        close(r->fd);
    r->fd = -1;
}

void reader_close(struct reader *r)
{
    close_input(r);
    free(r->rest);
    r->rest = NULL;
}

/* Opens the next input. Returns 0 or an error number. */
static int open_next(struct reader *r)
{
    struct stat st;
    int         error = 0;
    r->argument       = r->inputs[r->next++];
    r->fd = reader_is_stdin(r->argument) ? STDIN_FILENO : open(r->argument, O_RDONLY | O_CLOEXEC);
    r->begun = r->ended = false;
    r->error            = 0;
    r->rest_len         = 0;
    if (r->fd < 0)
        return errno;
    if (fstat(r->fd, &st) == 0) {
        error = S_ISDIR(st.st_mode) ? EISDIR : is_output(&st) ? EDEADLK : 0;
#ifdef F_SETPIPE_SZ
        if (S_ISFIFO(st.st_mode) && !r->eager)
            fcntl(r->fd, F_SETPIPE_SZ, PIPE_BYTES); /* if refused, the size stays as it is */
#endif
    }
    if (error)
        close_input(r);
    else
        posix_fadvise(r->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return error;
}

/* Appends bytes to the block. From a pipe it takes what is available without waiting, so that
 * blocks are large if input is fast and immediate if it is slow. Returns 0 or an error number;
 * EINTR: stop. */
static int read_more(struct reader *r, struct block *b)
{
    size_t got = 0;
    if (b->len == b->room) {
        b->room  = b->room ? b->room * 2 : READER_BLOCK + READER_BLOCK / 4;
        b->bytes = memory_grow(b->bytes, b->room);
    }
    while (b->len < b->room && got < READER_BLOCK) {
        struct pollfd p     = { .fd = r->fd, .events = POLLIN };
        bool          ready = poll(&p, 1, 0) > 0; /* files are always ready */
        if (got > 0 && (r->eager || !ready))
            return 0;
        if (!ready) {
            if (r->idle)
                r->idle(r->ctx);
            if (!interrupt_wait(r->fd))
                return EINTR;
        }
        size_t most = b->room - b->len < READER_BLOCK - got ? b->room - b->len : READER_BLOCK - got;
        ssize_t n   = read(r->fd, b->bytes + b->len, most);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            if (interrupted())
                return EINTR;
            continue;
        }
        if (n < 0)
            return errno;
        r->ended = n == 0;
        if (n == 0)
            return 0;
        b->len += (size_t)n;
        got += (size_t)n;
    }
    return 0;
}

/* Keeps what follows the last newline for the next block. False: there is no newline from `from`
 * on. */
static bool keep_rest(struct reader *r, struct block *b, char stop, size_t from)
{
    const char *last = memrchr(b->bytes + from, stop, b->len - from);
    if (!last)
        return false;
    size_t whole = (size_t)(last + 1 - b->bytes);
    r->rest_len  = b->len - whole;
    if (r->rest_len > r->rest_room) {
        r->rest_room = r->rest_len * 2;
        r->rest      = memory_grow(r->rest, r->rest_room);
    }
    if (r->rest_len)
        memcpy(r->rest, b->bytes + whole, r->rest_len);
    b->len = whole;
    return true;
}

static void take_rest(struct reader *r, struct block *b)
{
    if (b->room < r->rest_len + READER_BLOCK) {
        b->room  = r->rest_len + READER_BLOCK + READER_BLOCK / 4;
        b->bytes = memory_grow(b->bytes, b->room);
    }
    if (r->rest_len)
        memcpy(b->bytes, r->rest, r->rest_len);
    b->len      = r->rest_len;
    r->rest_len = 0;
}

/* Continues reading the open input. False: it ended without another line. */
static bool read_lines(struct reader *r, struct block *b)
{
    char   stop = keys_options.nul ? 0 : '\n';
    size_t from;
    take_rest(r, b);
    do {
        from      = b->len; /* there is no newline up to here */
        int error = r->error ? r->error : read_more(r, b);
        if (error == EINTR) {
            b->len = 0;
            b->end = true;
            return true;
        }
        if (error) { /* whole lines first, then the error; a line that is cut off does not count */
            if (!r->error && keep_rest(r, b, stop, from)) {
                r->error = error;
                return true;
            }
            b->error = error;
            b->len   = 0;
            close_input(r);
            return true;
        }
        if (r->ended) {
            close_input(r);
            b->cut = b->len && b->bytes[b->len - 1] != stop;
            return b->len > 0;
        }
    } while (!keep_rest(r, b, stop, from));
    return true;
}

void reader_next(struct reader *r, struct block *b)
{
    b->cut = b->first = b->end = false;
    b->error                   = 0;
    b->len                     = 0;
    for (;;) {
        if (r->fd < 0) {
            b->end = r->next == r->count;
            if (b->end)
                return;
            b->error    = open_next(r);
            b->argument = r->argument;
            if (b->error)
                return;
        }
        b->argument = r->argument;
        b->first    = !r->begun;
        r->begun    = true;
        if (read_lines(r, b))
            return;
    }
}

void block_free(struct block *b)
{
    free(b->bytes);
    free(b->keys);
    free((void *)b->at);
    free(b->hashes);
    free(b->flags);
    free(b->decoded);
    *b = (struct block){ 0 };
}
