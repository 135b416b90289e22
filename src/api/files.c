/* SPDX-License-Identifier: MIT */
/* The public calls on files and streams: find the codec, lend it bytes, settle what it read. The
 * mapped file itself is store/file.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/filter.h"
#include "bloomery/embed.h"
#include "codec/codec.h"
#include "core/os.h"
#include "store/replace.h"
#include "store/store.h"

blm_status blm__name_file(blm_status st, const char *path, blm_error *err)
{
    enum { PATH_MOST = 120 };
    if (st == BLM_OK || !err)
        return st;
    blm_error   was = *err;
    size_t      len = strlen(path), most = sizeof err->text - 1;
    const char *dots = len > PATH_MOST ? "..." : "";
    int         used = snprintf(err->text, sizeof err->text, "%s%s: ", dots,
                        len > PATH_MOST ? path + len - PATH_MOST : path);
    err->named       = (uint16_t)used;
    snprintf(err->text + used, sizeof err->text - (size_t)used, "%.*s", (int)(most - (size_t)used),
             was.text);
    size_t wrong = (size_t)used + was.wrong;
    err->wrong   = (uint16_t)(wrong < most ? wrong : most);
    return st;
}

/* ---- which codec ------------------------------------------------------------------------- */

static blm_status codec_named(const char *name, const struct blm__codec **out, blm_error *err)
{
    *out = blm__codec_find(name);
    return *out ? BLM_OK : blm__fail(err, BLM_E_ARGUMENT, "unknown format %s", name);
}

#define MOST_BIDS  32
#define BID_INSIDE 40 /* three fields that agree, as Spark's */

static blm_status ambiguous(const blm_bid *bids, size_t count, blm_error *err)
{
    char   names[160] = "";
    size_t len        = 0;
    for (size_t i = 0; i < count && bids[i].bid == bids[0].bid && len < sizeof names; i++)
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "",
                                bids[i].format);
    return blm__fail(err, BLM_E_AMBIGUOUS, "these bytes fit more than one format: %s", names);
}

/* Nobody bids. If someone would for another length, the input was cut, or more follows. */
static blm_status unknown(const uint8_t *head, size_t len, uint64_t total, blm_error *err)
{
    blm_bid near[2] = { { NULL, 0 } };
    blm_sniff(head, len, 0, near, 2);
    if (near[0].bid > BLM__BID_WEAK && near[1].bid < near[0].bid)
        return blm__fail_at(err, BLM_E_FORMAT, total,
                            "its first bytes look like format %s, but its length does not fit",
                            near[0].format);
    return blm__fail_at(err, BLM_E_FORMAT, 0, "not a filter of any format known here");
}

/* inside: bytes may follow the filter, so that a length that does not fit means nothing. Nor does
 * anything else tell a wrong offset: only a header that says much is believed. */
static blm_status codec_sniffed(const uint8_t *head, size_t len, uint64_t total, bool inside,
                                const struct blm__codec **out, blm_error *err)
{
    blm_bid bids[MOST_BIDS] = { { NULL, 0 } };
    size_t  count           = blm_sniff(head, len, total, bids, MOST_BIDS);
    if (len == 0)
        return blm__fail_at(err, BLM_E_TRUNCATED, 0, "the input is empty");
    if (count == 0 && inside)
        count = blm_sniff(head, len, 0, bids, MOST_BIDS);
    if (inside && bids[0].bid < BID_INSIDE)
        return blm__fail_at(err, BLM_E_FORMAT, 0, "no filter is recognised there");
    if (count == 0)
        return unknown(head, len, total, err);
    if (count > 1 && bids[1].bid == bids[0].bid)
        return ambiguous(bids, count < MOST_BIDS ? count : MOST_BIDS, err);
    return codec_named(bids[0].format, out, err);
}

/* ---- in ---------------------------------------------------------------------------------- */

/* A place in the filter becomes one in the input. */
static blm_status place(blm_status st, const blm_options *o, blm_error *err)
{
    if (st != BLM_OK && err && err->offset != BLM_NO_OFFSET)
        err->offset += o->offset;
    return st;
}

/* The format asked for, or the one the first bytes look like. total: 0 when unknown. */
static blm_status choose_codec(struct blm__source *in, const blm_options *o, uint64_t total,
                               const struct blm__codec **out, blm_error *err)
{
    blm_status st;
    if (o->format) {
        st = codec_named(o->format, out, err);
    } else if (in->data) {
        st = codec_sniffed(in->data, in->len, total, o->offset > 0, out, err);
    } else {
        in->head_len = blm__read(in, in->head, sizeof in->head);
        if (in->head_len < sizeof in->head) /* that was all */
            total = in->head_len;
        st     = in->failed ? blm__short(in, "its first bytes", err)
                            : codec_sniffed(in->head, in->head_len, total, o->offset > 0, out, err);
        in->at = 0;
    }
    place(st, o, err);
    if (st == BLM_OK && !(*out)->decode) /* one that lacks a library says which */
        st = blm__fail(err, BLM_E_UNSUPPORTED, "format %s can only be written", (*out)->row.name);
    return st;
}

/* To the place where the filter starts, which becomes the source's byte 0. */
static blm_status skip_to(struct blm__source *in, uint64_t offset, blm_error *err)
{
    uint8_t  bytes[4096];
    uint64_t left = offset;
    while (left > 0) {
        size_t n   = left < sizeof bytes ? (size_t)left : sizeof bytes;
        size_t got = blm__read(in, bytes, n);
        if (got != n && in->failed)
            return blm__short(in, "what comes before the filter", err);
        if (got != n) /* the offset may be wrong as well as the input cut */
            return blm__fail_at(err, BLM_E_TRUNCATED, in->at,
                                "the filter is to start at byte %llu, but the input ends before "
                                "that",
                                (unsigned long long)offset);
        left -= n;
    }
    in->at = 0;
    return BLM_OK;
}

/* Formats without a count say 0. A filter that has bits then has keys that nobody counted. */
static bool is_counted(const struct blm__body *b)
{
    for (uint32_t i = 0; i < b->layer_count; i++)
        if (blm__layer_holds(&b->layers[i]) > 0)
            return true;
    for (uint32_t i = 0; i < b->layer_count; i++)
        for (uint64_t w = 0; w < b->layers[i].word_count; w++)
            if (b->layers[i].words[w])
                return false;
    return true;
}

blm_status blm__decode_with(const struct blm__codec *codec, struct blm__source *in,
                            const blm_options *o, blm_filter **out, blm_error *err)
{
    blm_filter *f  = NULL;
    blm_status  st = blm__filter_blank(o, &f, err);
    if (st != BLM_OK)
        return st;
    f->body.shared = (o->flags & BLM_SHARED) != 0;
    st             = codec->decode(in, o, &f->body, err);
    if (!f->body.format && codec != &blm__codec_native)
        f->body.format = codec->row.name;
    if (st == BLM_OK)
        st = blm__filter_finish(f, o, err);
    if (st != BLM_OK) {
        blm_free(f);
        return place(st, o, err);
    }
    f->body.unclosed |= codec != &blm__codec_native && !is_counted(&f->body);
    *out = f;
    return BLM_OK;
}

/* A stream that was cut off has told its length by that. It fails as the same bytes in a buffer would:
 * if no format has this length, the one that its first bytes looked like was a guess. */
static blm_status judge_cut(const struct blm__source *in, const blm_options *o, blm_error *err)
{
    const struct blm__codec *codec;
    blm_error                why;
    blm_status st = codec_sniffed(in->head, in->head_len, in->at, o->offset > 0, &codec, &why);
    if (st == BLM_OK)
        return BLM_E_TRUNCATED;
    if (err)
        *err = why;
    return place(st, o, err);
}

/* Nor is it a bad filter of a format that bids for almost any bytes. */
static blm_status judge_guess(const struct blm__source *in, blm_error *err)
{
    blm_bid best = { NULL, 0 };
    size_t  len  = in->head_len;
    blm_sniff(in->head, len, len < sizeof in->head ? len : 0, &best, 1);
    return best.bid > BLM__BID_WEAK ? BLM_E_FORMAT : unknown(in->head, len, 0, err);
}

static blm_status judge(blm_status st, const struct blm__source *in, const blm_options *o,
                        blm_error *err)
{
    if (in->data || o->format)
        return st;
    return st == BLM_E_TRUNCATED ? judge_cut(in, o, err)
           : st == BLM_E_FORMAT  ? judge_guess(in, err)
                                 : st;
}

static blm_status decode_source(struct blm__source *in, const blm_options *options,
                                blm_filter **out, blm_error *err)
{
    blm_options              o;
    const struct blm__codec *codec;
    if (!out)
        return blm__fail(err, BLM_E_ARGUMENT, "nowhere to put the filter: out is NULL");
    *out          = NULL;
    blm_status st = blm__options_read(options, true, &o, err);
    if (st == BLM_OK && in->data && o.offset <= in->len) {
        in->data += o.offset;
        in->len -= (size_t)o.offset;
    } else if (st == BLM_OK) {
        st = skip_to(in, o.offset, err);
    }
    if (st == BLM_OK)
        st = choose_codec(in, &o, in->data ? in->len : 0, &codec, err);
    if (st != BLM_OK)
        return st;
    st = blm__decode_with(codec, in, &o, out, err);
    return judge(st, in, &o, err);
}

blm_status blm_decode(const void *bytes, size_t len, const blm_options *o, blm_filter **out,
                      blm_error *err)
{
    if (!bytes && len)
        return blm__fail(err, BLM_E_ARGUMENT, "NULL with a length");
    struct blm__source in = { .data = bytes ? bytes : (const void *)"", .len = len };
    return decode_source(&in, o, out, err);
}

blm_status blm_decode_stream(blm_read_fn read, void *ctx, const blm_options *o, blm_filter **out,
                             blm_error *err)
{
    if (!read)
        return blm__fail(err, BLM_E_ARGUMENT, "no function to read with");
    struct blm__source in = { .read = read, .ctx = ctx };
    return decode_source(&in, o, out, err);
}

/* ---- opening ----------------------------------------------------------------------------- */

struct file_in {
    int fd;
    int why;
};

static size_t read_fd(void *ctx, void *bytes, size_t len)
{
    struct file_in *in = ctx;
    ssize_t         n;
    do
        n = read(in->fd, bytes, len < (size_t)1 << 30 ? len : (size_t)1 << 30);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        in->why = errno;
    return n < 0 ? SIZE_MAX : (size_t)n;
}

static blm_status decode_fd(int fd, const blm_options *o, blm_filter **out, blm_error *err)
{
    struct file_in           file = { fd, 0 };
    struct blm__source       in   = { .read = read_fd, .ctx = &file };
    const struct blm__codec *codec;
    struct stat              s;
    if (fstat(fd, &s) < 0)
        return blm__fail_system(err, errno, "cannot look at it: %s", blm__os_text(errno));
    uint64_t   size = S_ISREG(s.st_mode) ? (uint64_t)s.st_size : 0;
    blm_status st   = skip_to(&in, o->offset, err);
    if (st == BLM_OK)
        st = choose_codec(&in, o, size > o->offset ? size - o->offset : 0, &codec, err);
    if (st == BLM_OK && (o->flags & BLM_WRITE))
        st = blm__fail(err, BLM_E_UNSUPPORTED,
                       "a file of format %s cannot be changed in place: read it, change it, and "
                       "blm_save it",
                       codec->row.name);
    if (st == BLM_OK)
        st = blm__decode_with(codec, &in, o, out, err);
    if (st == BLM_E_IO && file.why)
        st = blm__fail_system(err, file.why, "cannot read it: %s", blm__os_text(file.why));
    return st;
}

/* Another system's file, read into memory. */
static blm_status open_foreign(const char *path, const blm_options *o, blm_filter **out,
                               blm_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return blm__fail_system(err, errno, "cannot open it: %s", blm__os_text(errno));
    blm_status st = decode_fd(fd, o, out, err);
    close(fd);
    return st;
}

static blm_status open_mapped(const char *path, const blm_options *o, blm_filter **out,
                              bool *foreign, blm_error *err)
{
    blm_filter *f  = NULL;
    blm_status  st = blm__filter_blank(o, &f, err);
    if (st != BLM_OK)
        return st;
    st                   = blm__file_open(path, o->flags, &f->body, foreign, err);
    const char *recorded = f->body.hasher.funnel;
    if (st == BLM_OK && !*foreign)
        st = blm__filter_finish(f, o, err);
    if (st == BLM_OK && !*foreign)
        st = blm__keeps_funnel(&f->body, recorded, err);
    if (st == BLM_OK && !*foreign && (o->flags & BLM_WRITE))
        st = blm__file_begin(&f->body, err);
    if (st != BLM_OK || *foreign) {
        blm_free(f);
        return st;
    }
    *out = f;
    return BLM_OK;
}

blm_status blm_open(const char *path, const blm_options *options, blm_filter **out, blm_error *err)
{
    blm_options o;
    bool        foreign = false;
    if (!path || !out)
        return blm__fail(err, BLM_E_ARGUMENT, "no path, or nowhere to put the filter (NULL)");
    *out          = NULL;
    blm_status st = blm__options_read(options, true, &o, err);
    if (st != BLM_OK)
        return st;
    bool native = o.format && strcmp(o.format, "native") == 0;
    if (o.offset == 0 && (!o.format || native))
        st = open_mapped(path, &o, out, &foreign, err);
    else
        foreign = true; /* or native, but inside another file: it cannot be mapped there */
    if (st == BLM_OK && foreign)
        st = open_foreign(path, &o, out, err);
    return blm__name_file(st, path, err);
}

static bool is_native(const char *scheme)
{
    const struct blm__scheme *s = blm__scheme_find(scheme);
    return s && s->native;
}

blm_status blm_create_file(const char *path, const blm_options *options, blm_filter **out,
                           blm_error *err)
{
    blm_options       o;
    blm_filter       *f = NULL;
    struct blm__shape first;
    if (!path || !out)
        return blm__fail(err, BLM_E_ARGUMENT, "no path, or nowhere to put the filter (NULL)");
    *out          = NULL;
    blm_status st = blm__options_read(options, false, &o, err);
    if (st == BLM_OK && o.words)
        st = blm__fail(err, BLM_E_ARGUMENT, "a file has its own words: options.words must be NULL");
    const struct blm__kind *kind = blm__kind_of(o.kind);
    if (st == BLM_OK && kind && kind->in_file && !o.like && is_native(o.scheme))
        kind->in_file(&o);
    if (st == BLM_OK)
        st = blm__filter_prepare(&o, &f, &first, err);
    if (st != BLM_OK)
        return st;
    f->body.format = NULL;
    st             = blm__file_create(path, o.flags, &f->body, &first, err);
    if (st != BLM_OK) {
        blm_free(f);
        return blm__name_file(st, path, err);
    }
    *out = f;
    return BLM_OK;
}

blm_status blm_refresh(blm_filter *f, blm_error *err)
{
    return f->body.store->backing == BLM_FILE_READ ? blm__file_refresh(&f->body, err) : BLM_OK;
}

blm_status blm_sync(blm_filter *f, blm_error *err)
{
    return f->body.store->sync ? f->body.store->sync(&f->body, err) : BLM_OK;
}

/* ---- out --------------------------------------------------------------------------------- */

static blm_status codec_for(const blm_filter *f, const char *format, const struct blm__codec **out,
                            blm_error *err)
{
    const char *name = format ? format : f->body.format ? f->body.format : "native";
    blm_status  st   = codec_named(name, out, err);
    if (st == BLM_OK && (!(*out)->encode || !(*out)->row.writes))
        st = blm__fail(err, BLM_E_UNSUPPORTED, "format %s can only be read", name);
    if (st == BLM_OK && blm__filter_stale(f))
        st = blm__fail(err, BLM_E_BUSY,
                       "a writer has added layers to the file: call blm_refresh first");
    return st;
}

static blm_status vouch(const blm_filter *f, blm_error *err)
{
    const struct blm__store *s = f->body.store;
    return s->vouch ? s->vouch(&f->body, err) : BLM_OK;
}

static blm_status encode_to(const blm_filter *f, const char *format, struct blm__sink *out,
                            blm_error *err)
{
    const struct blm__codec *codec;
    blm_status               st = codec_for(f, format, &codec, err);
    if (st == BLM_OK && out->write)
        st = vouch(f, err);
    if (st == BLM_OK)
        st = codec->encode(&f->body, out, err);
    if (st == BLM_OK && out->failed)
        st = blm__fail_at(err, BLM_E_IO, out->written, "writing stopped");
    return st;
}

blm_status blm_encode(const blm_filter *f, const char *format, blm_write_fn write, void *ctx,
                      blm_error *err)
{
    return blm_encode_from(f, format, 0, write, ctx, err);
}

blm_status blm_encode_from(const blm_filter *f, const char *format, uint64_t at, blm_write_fn write,
                           void *ctx, blm_error *err)
{
    struct blm__sink out = { .write = write, .ctx = ctx, .from = at };
    if (!write)
        return blm__fail(err, BLM_E_ARGUMENT, "no function to write with");
    return encode_to(f, format, &out, err);
}

blm_status blm_encoded_size(const blm_filter *f, const char *format, uint64_t *bytes,
                            blm_error *err)
{
    struct blm__sink out = { .from = UINT64_MAX };
    blm_status       st  = encode_to(f, format, &out, err);
    *bytes               = st == BLM_OK ? out.written : 0;
    return st;
}

/* A file written from front to back, in pieces worth a system call. */
struct file_out {
    int      fd, why;
    uint64_t at;
    size_t   held;
    uint8_t  buffer[16384];
};

static bool flush_out(struct file_out *o)
{
    if (!o->why)
        o->why = blm__os.write_at(o->fd, o->buffer, o->held, o->at);
    o->at += o->held;
    o->held = 0;
    return o->why == 0;
}

static bool write_out(void *ctx, const void *bytes, size_t len)
{
    struct file_out *o = ctx;
    const uint8_t   *p = bytes;
    while (len > 0) {
        size_t n = sizeof o->buffer - o->held < len ? sizeof o->buffer - o->held : len;
        memcpy(o->buffer + o->held, p, n);
        o->held += n;
        p += n;
        len -= n;
        if (o->held == sizeof o->buffer && !flush_out(o))
            return false;
    }
    return true;
}

/* Of a file that a writer opens meanwhile the header is written before that is known: then once more. */
static blm_status encode_whole(const struct blm__body *b, const struct blm__codec *codec, int fd,
                               blm_error *err)
{
    struct file_out out;
    blm_status      st;
    bool            told;
    do {
        told                  = codec != &blm__codec_native || blm__body_unclosed(b);
        out                   = (struct file_out){ .fd = fd };
        struct blm__sink sink = { .write = write_out, .ctx = &out };
        st                    = codec->encode(b, &sink, err);
        if (st == BLM_OK)
            flush_out(&out);
    } while (st == BLM_OK && !out.why && !told && blm__body_unclosed(b));
    return out.why ? blm__fail_system(err, out.why, "cannot write it: %s", blm__os_text(out.why))
                   : st;
}

static blm_status save_new(const blm_filter *f, const char *path, const struct blm__codec *codec,
                           uint32_t flags, blm_error *err)
{
    struct blm__temp t;
    blm_status       st = blm__temp_begin(path, flags | (f->body.scheme->native ? 0 : BLM_PUBLIC),
                                          f->body.alloc, &t, err); /* only native files hold a secret */
    if (st != BLM_OK)
        return st;
    st = vouch(f, err);
    if (st == BLM_OK)
        st = encode_whole(&f->body, codec, t.fd, err);
    if (st != BLM_OK) {
        blm__temp_abandon(&t);
        return st;
    }
    return blm__temp_commit(&t, err);
}

/* Over the very file a writer has mapped: another file in its place would take the name away from
 * under it, and every later add would go to a file without one. The file has the filter already,
 * or will have when it is synced. */
static blm_status save_in_place(const blm_filter *f, const struct blm__codec *codec, blm_error *err)
{
    if (codec != &blm__codec_native)
        return blm__fail(err, BLM_E_BUSY,
                         "this filter is the file's writer: close it before another format goes "
                         "there");
    struct blm__body body = f->body; /* what sync changes is behind store_ctx */
    return body.store->sync(&body, err);
}

static blm_status save_flags(const char *path, uint32_t flags, blm_error *err)
{
    if (!path)
        return blm__fail(err, BLM_E_ARGUMENT, "no path (NULL)");
    if (flags & ~(BLM_REPLACE | BLM_PUBLIC))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "unknown flags 0x%x: BLM_REPLACE and BLM_PUBLIC are known",
                         flags & ~(BLM_REPLACE | BLM_PUBLIC));
    return BLM_OK;
}

blm_status blm__may_save(const char *path, uint32_t flags, const blm_allocator *a, blm_error *err)
{
    struct blm__temp t;
    blm_status       st = save_flags(path, flags, err);
    if (st != BLM_OK)
        return st;
    st = blm__temp_begin(path, flags, a, &t, err);
    if (st == BLM_OK)
        blm__temp_abandon(&t);
    return blm__name_file(st, path, err);
}

blm_status blm_save(const blm_filter *f, const char *path, const char *format, uint32_t flags,
                    blm_error *err)
{
    const struct blm__codec *codec;
    blm_status               st = save_flags(path, flags, err);
    if (st != BLM_OK)
        return st;
    st = codec_for(f, format, &codec, err);
    if (st == BLM_OK) {
        bool own = (flags & BLM_REPLACE) && f->body.store->backing == BLM_FILE_WRITE &&
                   blm__file_same(&f->body, path);
        st = own ? save_in_place(f, codec, err) : save_new(f, path, codec, flags, err);
    }
    return blm__name_file(st, path, err);
}

/* ---- what the bytes say ------------------------------------------------------------------ */

blm_status blm_verify(const blm_filter *f, blm_verdict *out, blm_error *err)
{
    blm_verdict v     = { .size = sizeof v };
    blm_backing where = f->body.store->backing;
    blm_status  st    = BLM_OK;
    if (where == BLM_FILE_READ || where == BLM_FILE_WRITE)
        st = blm__file_verify(&f->body, &v, err);
    if (out && blm__emit(out, &v, sizeof v) != BLM_OK)
        return blm__fail(err, BLM_E_ARGUMENT, "start the verdict from { .size = sizeof v }");
    return st;
}
