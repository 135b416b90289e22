/* SPDX-License-Identifier: MIT */
/* Where filters live is a table of places. Today: files, and the standard streams. A place that is
 * written scheme://… is one row more. */
#include "ref.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keys.h"
#include "memory.h"
#include "out.h"
#include "progress.h"
#include "say.h"

struct place {
    const char *prefix; /* NULL: a path */
    bool (*exists)(const char *text);
    blm_status (*open)(struct ref *r, blm_error *err);
    blm_status (*change)(struct ref *r, blm_error *err);
    blm_status (*reopen)(struct ref *r, blm_error *err); /* with other options; NULL: open again */
    blm_status (*create)(struct ref *r, bool whole, blm_error *err);
    blm_status (*sync)(struct ref *r, blm_error *err);
    blm_status (*save)(struct ref *r, blm_error *err); /* what is not in place yet */
};

/* ---- saying what is wrong ---- */

/* What to do about it. The library says what is wrong; it does not know our commands. */
static const char *remedy(const struct ref *r, const blm_error *err)
{
    switch (err->status) {
    case BLM_E_IO:
        return err->system == ENOENT && r->is_new ? "make it first"
               : err->system == ENOENT ? "check the name, or make it with bloomery create"
               : err->system == EACCES ? "change its permissions, or run as its owner"
               : err->system == EISDIR ? (r->is_new ? "give a name in it" : "give the file in it")
                                       : NULL;
    case BLM_E_FORMAT:
        return err->offset == 0 || err->offset == BLM_NO_OFFSET
                   ? "bloomery schemes lists what can be read"
                   : "use another copy";
    case BLM_E_TRUNCATED:
        return "use another copy";
    case BLM_E_AMBIGUOUS:
        return "bloomery convert --from FORMAT can be told";
    case BLM_E_CHECKSUM:
        return "use another copy; bloomery verify says what is damaged";
    case BLM_E_READONLY:
        return "change its permissions, or run as its owner";
    case BLM_E_BUSY:
        return "wait until it has ended, or use another file";
    case BLM_E_EXISTS:
        return "give another name, or --force to replace it";
    case BLM_E_SPACE:
        return "make room, or use another disk";
    case BLM_E_VERSION:
        return "use a newer bloomery";
    default:
        return NULL;
    }
}

static bool refuse(const struct ref *r, const blm_error *err)
{
    const char *text = filter_words(r->name, err);
    bool        none = err->status == BLM_E_IO && err->system == ENOENT;
    const char *what = none ? (r->is_new ? "no such directory" : "no such file")
                       : err->status == BLM_E_IO && err->system == EISDIR ? "is a directory"
                       : err->status == BLM_E_EXISTS ? "exists already"
                       : err->status == BLM_E_BUSY   ? "another process is writing to it"
                                                     : text;
    const char *how  = remedy(r, err);
    if (!how)
        return filter_trouble(r->name, err), false;
    if (err->offset != BLM_NO_OFFSET && err->offset > 0 && what == text && !strstr(text, "byte "))
        return trouble("%s: %s (byte %llu): %s", r->name, what, (unsigned long long)err->offset,
                       how),
               false;
    return trouble("%s: %s: %s", r->name, what, how), false;
}

/* ---- funnels ---- */

/* The funnel of a scheme that takes what -e gives; NULL: the scheme's own default. */
static const char *natural_funnel(const char *scheme)
{
    static const char *const wishes[][4] = {
        { "int32", "int", "int32", NULL },    { "int64", "long", "int64", NULL },
        { "hex", "bytes", "binary", NULL },   { "base64", "bytes", "binary", NULL },
        { "text", "string", "bytes", NULL },
    };
    const char           *encoding = keys_options.encoding ? keys_options.encoding : "text";
    const blm_scheme_row *row = NULL;
    for (size_t i = 0; (row = blm_scheme_at(i)) != NULL; i++)
        if (strcmp(row->name, scheme) == 0)
            break;
    if (!row || !row->funnels)
        return NULL;
    const char *const *all = row->funnels;
    for (size_t w = 0; w < sizeof wishes / sizeof *wishes; w++)
        for (size_t i = 1; strcmp(wishes[w][0], encoding) == 0 && wishes[w][i]; i++)
            for (size_t f = 0; all[f]; f++)
                if (strcmp(all[f], wishes[w][i]) == 0)
                    return f ? all[f] : NULL;
    return NULL;
}

/* Opens, then once more when the scheme turns out to have a better funnel for -e. */
static blm_status with_funnel(struct ref *r, blm_status (*how)(struct ref *, blm_error *),
                              blm_error *err)
{
    blm_status st = how(r, err);
    if (st != BLM_OK || r->options.funnel)
        return st;
    blm_params  p = { .size = sizeof p };
    const char *funnel;
    if (blm_get_params(r->filter, &p) != BLM_OK || !(funnel = natural_funnel(p.scheme)))
        return st;
    r->options.funnel = funnel;
    if (r->place->reopen)
        return r->place->reopen(r, err);
    blm_free(r->filter);
    r->filter = NULL;
    return how(r, err);
}

/* ---- files ---- */

static bool path_exists(const char *text)
{
    struct stat st;
    return stat(text, &st) == 0;
}

static blm_status path_open(struct ref *r, blm_error *err)
{
    struct stat st;
    if (stat(r->text, &st) == 0 && S_ISDIR(st.st_mode)) {
        *err = (blm_error){ .status = BLM_E_IO, .system = EISDIR, .offset = BLM_NO_OFFSET };
        return BLM_E_IO;
    }
    return blm_open(r->text, &r->options, &r->filter, err);
}

/* A file that is rewritten as a whole: two of us must not read the same old one and each write a
 * new one, or the first one's keys are lost. The lock is on the old file; whoever gets it must
 * still find that file under the name, else it has been replaced meanwhile. */
static blm_status lock(struct ref *r, blm_error *err)
{
    for (;;) {
        struct stat mine, named;
        int fd = open(r->text, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
            int error = errno;
            if (fd >= 0)
                close(fd);
            *err = (blm_error){ .status = error == EWOULDBLOCK ? BLM_E_BUSY : BLM_E_IO,
                                .system = error,
                                .offset = BLM_NO_OFFSET };
            return err->status;
        }
        if (fstat(fd, &mine) == 0 && stat(r->text, &named) == 0 && mine.st_ino == named.st_ino &&
            mine.st_dev == named.st_dev) {
            r->lock = fd;
            return BLM_OK;
        }
        close(fd);
    }
}

static blm_status path_change(struct ref *r, blm_error *err)
{
    blm_error first = { .offset = BLM_NO_OFFSET };
    r->options.flags |= BLM_WRITE;
    r->native     = true;
    blm_status st = path_open(r, &first);
    *err          = first;
    if (st != BLM_E_UNSUPPORTED)
        return st;
    /* Another system's format: read it, change it in memory, save it as a whole. */
    r->native = false;
    r->options.flags &= ~BLM_WRITE;
    if (r->lock < 0 && lock(r, err) != BLM_OK)
        return err->status;
    st = path_open(r, err);
    return st == BLM_E_UNSUPPORTED ? (*err = first, first.status) : st;
}

static blm_status path_create(struct ref *r, bool whole, blm_error *err)
{
    bool native = !r->options.scheme || strcmp(r->options.scheme, "native") == 0;
    if (path_exists(r->text) && !(r->options.flags & BLM_REPLACE)) {
        *err = (blm_error){ .status = BLM_E_EXISTS, .offset = BLM_NO_OFFSET };
        return BLM_E_EXISTS;
    }
    if (r->options.like) {
        blm_params p = { .size = sizeof p };
        native = blm_get_params(r->options.like, &p) == BLM_OK && strcmp(p.format, "native") == 0;
    }
    r->native = native && !whole;
    if (r->native)
        return blm_create_file(r->text, &r->options, &r->filter, err);
    return blm_create(&r->options, &r->filter, err);
}

static blm_status path_sync(struct ref *r, blm_error *err)
{
    return r->native ? blm_sync(r->filter, err) : BLM_OK;
}

static blm_status path_save(struct ref *r, blm_error *err)
{
    if (r->native)
        return BLM_OK;
    return blm_save(r->filter, r->text, r->options.format,
                    r->lock >= 0 ? BLM_REPLACE : r->options.flags & BLM_REPLACE, err);
}

/* ---- standard input and output ---- */

static size_t read_stdin(void *ctx, void *bytes, size_t len)
{
    (void)ctx;
    for (;;) {
        ssize_t n = read(STDIN_FILENO, bytes, len);
        if (n >= 0)
            return (size_t)n;
        if (errno != EINTR)
            return SIZE_MAX;
    }
}

/* The bytes of a filter do a terminal no good. */
static blm_status refuse_terminal(blm_error *err)
{
    *err = (blm_error){ .status = BLM_E_UNSUPPORTED, .offset = BLM_NO_OFFSET };
    snprintf(err->text, sizeof err->text, "is a terminal: send it to a file or a pipe");
    return err->status;
}

static bool dash_exists(const char *text)
{
    (void)text;
    return true;
}

static blm_status dash_open(struct ref *r, blm_error *err)
{
    r->name   = "standard input";
    r->native = false;
    return blm_decode_stream(read_stdin, NULL, &r->options, &r->filter, err);
}

/* A stream cannot be read twice: write the filter to memory and read that. */
struct buffer {
    char  *bytes;
    size_t len, room;
};

static bool keep(void *ctx, const void *bytes, size_t len)
{
    struct buffer *b = ctx;
    if (b->room - b->len < len) {
        b->room  = 2 * (b->len + len);
        b->bytes = memory_grow(b->bytes, b->room);
    }
    memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
    return true;
}

static blm_status dash_reopen(struct ref *r, blm_error *err)
{
    struct buffer b  = { 0 };
    blm_status    st = blm_encode(r->filter, r->options.format, keep, &b, err);
    if (st == BLM_OK) {
        blm_free(r->filter);
        r->filter = NULL;
        st        = blm_decode(b.bytes, b.len, &r->options, &r->filter, err);
    }
    free(b.bytes);
    return st;
}

static blm_status dash_change(struct ref *r, blm_error *err)
{
    return isatty(STDOUT_FILENO) ? refuse_terminal(err) : dash_open(r, err);
}

static blm_status dash_create(struct ref *r, bool whole, blm_error *err)
{
    (void)whole;
    r->name   = "standard output";
    r->native = false;
    if (isatty(STDOUT_FILENO))
        return refuse_terminal(err);
    return blm_create(&r->options, &r->filter, err);
}

static blm_status dash_save(struct ref *r, blm_error *err)
{
    blm_status st = blm_encode(r->filter, r->options.format, out_write, NULL, err);
    return st == BLM_E_IO && out_stopped() ? BLM_OK : st; /* out.c has said what there is to say */
}

/* ---- the table ---- */

static const struct place places[] = {
    { .prefix = "-",
      .exists = dash_exists,
      .open   = dash_open,
      .change = dash_change,
      .reopen = dash_reopen,
      .create = dash_create,
      .save   = dash_save },
    { .exists = path_exists,
      .open   = path_open,
      .change = path_change,
      .create = path_create,
      .sync   = path_sync,
      .save   = path_save },
};
#define PLACES (sizeof places / sizeof *places)

static const struct place *place_of(const char *text)
{
    for (size_t i = 0; i < PLACES - 1; i++) {
        const char *prefix = places[i].prefix;
        bool        uri    = strchr(prefix, ':') != NULL;
        if (uri ? strncmp(text, prefix, strlen(prefix)) == 0 : strcmp(text, prefix) == 0)
            return &places[i];
    }
    return &places[PLACES - 1];
}

bool ref_is_stdin(const char *text) { return strcmp(text, "-") == 0; }

bool ref_exists(const char *text) { return place_of(text)->exists(text); }

static void begin(struct ref *r, const char *text, const blm_options *o)
{
    blm_options none = BLM_OPTIONS_INIT;
    *r = (struct ref){ .name = text, .text = text, .place = place_of(text), .lock = -1 };
    r->options = o ? *o : none;
    if (!r->options.funnel)
        r->options.funnel = keys_options.funnel;
    r->options.progress = progress_library;
}

static bool end(struct ref *r, blm_status st, const blm_error *err)
{
    progress_hide();
    if (st == BLM_OK)
        return true;
    refuse(r, err);
    ref_drop(r);
    return false;
}

bool ref_open(struct ref *r, const char *text, const blm_options *o)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    begin(r, text, o);
    return end(r, with_funnel(r, r->place->open, &err), &err);
}

bool ref_change(struct ref *r, const char *text, const blm_options *o)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    begin(r, text, o);
    return end(r, with_funnel(r, r->place->change, &err), &err);
}

bool ref_create(struct ref *r, const char *text, const blm_options *o, bool whole)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    begin(r, text, o);
    r->is_new = true;
    if (!r->options.funnel && r->options.scheme)
        r->options.funnel = natural_funnel(r->options.scheme);
    return end(r, r->place->create(r, whole, &err), &err);
}

bool ref_vacant(const char *text, bool force)
{
    if (force || ref_is_stdin(text) || !ref_exists(text))
        return true;
    struct ref r   = { .name = text };
    blm_error  err = { .status = BLM_E_EXISTS, .offset = BLM_NO_OFFSET };
    return refuse(&r, &err);
}

bool ref_put(const char *text, const blm_filter *f, const char *format, bool force)
{
    struct ref r;
    blm_error  err = { .offset = BLM_NO_OFFSET };
    begin(&r, text, NULL);
    r.filter         = (blm_filter *)(uintptr_t)f; /* saving only reads */
    r.options.format = format;
    r.options.flags  = force ? BLM_REPLACE : 0;
    if (ref_is_stdin(text))
        r.name = "standard output";
    blm_status st = r.place->save(&r, &err);
    progress_hide();
    return st == BLM_OK || refuse(&r, &err);
}

/* A file that is mapped to be written is let go just before: the library will not rename another
 * one over it while it has a writer, even us. */
bool ref_replace(struct ref *r, blm_filter *f)
{
    if (r->native)
        r->options.flags |= BLM_REPLACE;
    r->native = false;
    blm_free(r->filter);
    r->filter = f;
    return ref_commit(r);
}

bool ref_sync(struct ref *r)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    return !r->place->sync || r->place->sync(r, &err) == BLM_OK || refuse(r, &err);
}

bool ref_commit(struct ref *r)
{
    blm_error  err = { .offset = BLM_NO_OFFSET };
    blm_status st  = r->place->save(r, &err);
    if (st == BLM_OK) {
        st        = blm_close(r->filter, &err);
        r->filter = NULL;
    }
    progress_hide();
    if (st != BLM_OK)
        refuse(r, &err);
    ref_drop(r);
    return st == BLM_OK;
}

void ref_drop(struct ref *r)
{
    blm_free(r->filter);
    r->filter = NULL;
    if (r->lock >= 0)
        close(r->lock);
    r->lock = -1;
}
