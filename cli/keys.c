/* SPDX-License-Identifier: MIT */
#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode.h"
#include "interrupt.h"
#include "memory.h"
#include "out.h"
#include "say.h"

#define BLOCK ((size_t)1 << 20) /* bytes a read: large for the system, small for the L2 cache */

struct keys_options keys_options = { .delimiter = '\t' };

static const struct option rows[] = {
    { NULL, '0', OPT_FLAG, NULL, &keys_options.nul,
      "Keys end with a NUL byte instead of a newline, as find -print0 writes them.", NULL },
    { "crlf", 0, OPT_FLAG, NULL, &keys_options.crlf,
      "A carriage return before the newline is not part of the key.", NULL },
    { NULL, 'e', OPT_NAME, "ENC", &keys_options.encoding,
      "What a line encodes: its bytes are decoded to the key. Integers become 4 or 8 "
      "little-endian bytes.",
      encoding_names },
    { NULL, 'f', OPT_COUNT, "N", &keys_options.field,
      "The key is field N of the line, counted from 1; a line that has no such field has the "
      "empty key. The whole line is printed.",
      NULL },
    { NULL, 'd', OPT_BYTE, "C", &keys_options.delimiter,
      "Fields are separated by the byte C (a tab when not given). Two in a row enclose an empty "
      "field.",
      NULL },
    { "funnel", 0, OPT_TEXT, "NAME", &keys_options.funnel,
      "How a scheme of another system hashes a key, where it has several ways; chosen from -e "
      "when not given.",
      NULL },
    OPTION_END,
};
const struct option_group keys_group = { "Keys", rows };

/* ---- opening ---- */

static bool is_stdin(const char *name) { return strcmp(name, "-") == 0; }

/* Says what is wrong with an input that could not be opened or read. */
static void complain(struct keys *k, const char *name, int error)
{
    k->failed = true;
    if (error == EBADF && is_stdin(name)) {
        trouble("standard input is closed: give a file, or pipe the keys in");
        return;
    }
    if (is_stdin(name))
        name = "standard input";
    if (error == EISDIR)
        trouble("%s: is a directory: give the files in it", name);
    else if (error == EDEADLK)
        trouble("%s: is the output too: write to another file", name);
    else if (error == ENOENT)
        trouble("%s: no such file: check the name (- is standard input)", name);
    else if (error == EACCES)
        trouble("%s: permission denied: make it readable, or read it as another user", name);
    else
        system_trouble(name, error, NULL);
}

/* Reading what we write would never end: `dedup log >> log`. */
static bool is_output(const struct stat *st)
{
    struct stat out;
    return S_ISREG(st->st_mode) && fstat(STDOUT_FILENO, &out) == 0 && st->st_ino == out.st_ino &&
           st->st_dev == out.st_dev && lseek(STDOUT_FILENO, 0, SEEK_CUR) < st->st_size;
}

/* What would be wrong with it; 0: nothing that can be seen without opening it. Also counts its
 * bytes. A FIFO must not be opened twice, so this only looks. */
static int look(struct keys *k, const char *name)
{
    struct stat st;
    if (is_stdin(name)) {
        if (fstat(STDIN_FILENO, &st) < 0)
            return errno;
        if ((fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE) == O_WRONLY)
            return EBADF;
    } else if (stat(name, &st) < 0 || access(name, R_OK) < 0) {
        return errno;
    }
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    if (!S_ISREG(st.st_mode))
        k->total = UINT64_MAX; /* nobody knows */
    else if (k->total != UINT64_MAX)
        k->total += (uint64_t)st.st_size;
    return 0;
}

bool keys_open(struct keys *k, char **inputs, int count)
{
    static char  dash[]     = "-";
    static char *standard[] = { dash };
    k->inputs               = count ? inputs : standard;
    k->input_count          = count ? count : 1;
    k->input                = 0;
    k->fd                   = -1;
    for (int i = 0; i < k->input_count; i++) {
        int error = look(k, k->inputs[i]);
        if (error && k->strict)
            complain(k, k->inputs[i], error);
    }
    if (k->failed)
        return false;
    if (k->total == UINT64_MAX)
        k->total = 0;
    k->room  = BLOCK + BLOCK / 4; /* a block, and the line that the one before it broke off in */
    k->block = memory_need(k->room);
    k->keys  = memory_need(KEYS_BATCH * sizeof *k->keys);
    k->at    = memory_need((KEYS_BATCH + 1) * sizeof *k->at);
    return true;
}

void keys_close(struct keys *k)
{
    if (k->fd > STDIN_FILENO)
        close(k->fd);
    k->fd = -1;
    free(k->block);
    free(k->decoded);
    free(k->keys);
    free((void *)k->at);
    k->block = k->decoded = NULL;
    k->keys               = NULL;
    k->at                 = NULL;
}

static void close_input(struct keys *k)
{
    if (k->fd > STDIN_FILENO)
        close(k->fd);
    k->fd = -1;
}

/* Opens the next input that can be opened. False: there is none. */
static bool open_input(struct keys *k)
{
    while (k->input < k->input_count) {
        char *name = k->inputs[k->input++];
        k->name    = is_stdin(name) ? "standard input" : name;
        k->fd      = is_stdin(name) ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
        k->ended = k->broken = false;
        k->line              = 0;
        k->start = k->scanned = k->end = 0;
        struct stat st;
        int         error = 0;
        if (k->fd < 0)
            error = errno;
        else if (fstat(k->fd, &st) == 0)
            error = S_ISDIR(st.st_mode) ? EISDIR : is_output(&st) ? EDEADLK : 0;
        if (!error) {
            posix_fadvise(k->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
            return true;
        }
        complain(k, name, error);
        close_input(k);
        if (k->strict)
            return false;
    }
    return false;
}

/* ---- reading ---- */

/* More bytes at the end of the block. From a pipe as many as are there without waiting, so that
 * batches are large when input is fast and immediate when it is slow. False: interrupted, or
 * trouble. */
static bool read_more(struct keys *k)
{
    size_t most = k->room - k->end < BLOCK ? k->room - k->end : BLOCK, got = 0;
    while (got < most) {
        struct pollfd p     = { .fd = k->fd, .events = POLLIN };
        bool          ready = poll(&p, 1, 0) > 0; /* files are always ready */
        if (got > 0 && (k->eager || !ready))
            return true;
        if (!ready && !interrupt_wait(k->fd))
            return false;
        ssize_t n = read(k->fd, k->block + k->end, most - got);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            if (interrupted())
                return false;
            continue;
        }
        if (n < 0) {
            complain(k, k->inputs[k->input - 1], errno);
            k->broken = true;
            return false;
        }
        if (n == 0) {
            k->ended = true;
            return true;
        }
        k->end += (size_t)n;
        got += (size_t)n;
        k->bytes += (uint64_t)n;
    }
    return true;
}

/* Everything given out so far is dealt with; what is left moves to the front and is continued. */
static bool refill(struct keys *k)
{
    if (k->recycle)
        k->recycle(k->ctx);
    if (out_stopped())
        return false;
    size_t left = k->end - k->start;
    if (k->start) {
        memmove(k->block, k->block + k->start, left);
        k->scanned -= k->start;
        k->start = 0;
        k->end   = left;
    }
    if (k->end == k->room) {
        k->room *= 2;
        k->block = memory_grow(k->block, k->room);
    }
    k->decoded_used = 0;
    return read_more(k);
}

/* ---- cutting ---- */

/* Takes as many whole lines as there are, at most a batch; keys are the lines. */
static size_t cut(struct keys *k)
{
    const char *line = k->block + k->start, *from = k->block + k->scanned;
    const char *end  = k->block + k->end;
    int         stop = keys_options.nul ? 0 : '\n';
    size_t      n    = 0;
    while (n < KEYS_BATCH) {
        const char *at = memchr(from, stop, (size_t)(end - from));
        if (!at) {
            k->scanned = k->end;
            break;
        }
        k->at[n]        = line;
        k->keys[n].data = line;
        k->keys[n].len  = (size_t)(at - line);
        n++;
        line = from = at + 1;
    }
    k->at[n]   = line;
    k->start   = (size_t)(line - k->block);
    k->scanned = k->scanned > k->start ? k->scanned : k->start;
    return n;
}

static void take_field(blm_key *key)
{
    const char *p = key->data, *end = p + key->len;
    for (uint64_t i = 1; i < keys_options.field; i++) {
        const char *at = memchr(p, keys_options.delimiter, (size_t)(end - p));
        if (!at) {
            key->len = 0;
            return;
        }
        p = at + 1;
    }
    const char *at = memchr(p, keys_options.delimiter, (size_t)(end - p));
    key->data      = p;
    key->len       = (size_t)((at ? at : end) - p);
}

static void drop_return(blm_key *key)
{
    if (key->len && ((const char *)key->data)[key->len - 1] == '\r')
        key->len--;
}

/* Replaces a key by what it encodes, in memory that lives as long as the block. Lines of a block
 * take at least two bytes each and at most 8 decoded, so four times the block (and 4, for
 * a last line without a newline) is always enough. */
static bool decode_key(struct keys *k, const struct encoding *e, blm_key *key)
{
    if (k->decoded_room < 4 * k->room + 16) {
        k->decoded_room = 4 * k->room + 16;
        k->decoded      = memory_grow(k->decoded, k->decoded_room);
    }
    char *to = k->decoded + k->decoded_used;
    if (!e->decode(key->data, key->len, to, &key->len))
        return false;
    key->data = to;
    k->decoded_used += key->len;
    return true;
}

/* From lines to keys. Returns how many are good; trouble with the next one has been said. */
static size_t refine(struct keys *k, size_t n)
{
    const struct encoding *e = keys_options.encoding ? encoding_find(keys_options.encoding) : NULL;
    bool                   decodes = e && e->decode;
    if (!keys_options.crlf && !keys_options.field && !decodes)
        return n;
    for (size_t i = 0; i < n; i++) {
        blm_key *key = &k->keys[i];
        if (keys_options.crlf)
            drop_return(key);
        if (keys_options.field)
            take_field(key);
        if (decodes && !decode_key(k, e, key)) {
            k->failed = true;
            trouble("%s: line %llu is not %s: mend it, or give another -e", k->name,
                    (unsigned long long)(k->line + i + 1), e->what);
            return i;
        }
    }
    return n;
}

/* The last line, when it has no newline of its own. */
static size_t cut_rest(struct keys *k)
{
    if (k->start == k->end)
        return 0;
    k->at[0]        = k->block + k->start;
    k->at[1]        = k->block + k->end;
    k->keys[0].data = k->at[0];
    k->keys[0].len  = k->end - k->start;
    k->start = k->scanned = k->end;
    return 1;
}

bool keys_next(struct keys *k, struct batch *b)
{
    if (k->spoiled || out_stopped() || interrupted())
        return false;
    for (;;) {
        if (k->fd < 0 && !open_input(k))
            return false;
        size_t n = cut(k);
        b->cut   = n == 0 && k->ended;
        if (b->cut) {
            n = cut_rest(k);
            if (n == 0) {
                close_input(k);
                continue;
            }
        }
        if (n) {
            size_t good = refine(k, n);
            k->spoiled  = good < n;
            b->count    = good;
            b->keys     = k->keys;
            b->at       = k->at;
            b->cut      = b->cut && good;
            k->line += good;
            k->lines += good;
            return good > 0;
        }
        if (!refill(k)) {
            if (!k->broken || k->strict)
                return false;
            close_input(k); /* this one cannot be read: on to the next */
        }
    }
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
