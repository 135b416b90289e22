/* SPDX-License-Identifier: MIT */
/* What all places share: which place a reference means, the error messages, the funnel that goes
 * with -e. A place that is written scheme://… is a file like place_path.c and a row here. */
#include "ref.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode.h"
#include "from.h"
#include "keys.h"
#include "memory.h"
#include "place.h"
#include "progress.h"
#include "reader.h"
#include "rebuild.h"
#include "say.h"
#include "squeeze.h"

/* ---- saying what is wrong ---- */

void ref_head(const char *path, char head[REF_HEAD])
{
    int     fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t  at = 0;
    ssize_t n;
    memset(head, 0, REF_HEAD);
    while (fd >= 0 && at < REF_HEAD && (n = read(fd, head + at, REF_HEAD - at)) > 0)
        at += (size_t)n;
    if (fd >= 0)
        close(fd);
}

/* What bloomery diff writes? */
static bool file_is_delta(const char *path)
{
    FILE *f    = fopen(path, "rb");
    char *some = f ? malloc(SQUEEZE_HEAD) : NULL;
    bool  is   = some && squeeze_is_delta(some, fread(some, 1, SQUEEZE_HEAD, f));
    free(some);
    if (f)
        fclose(f);
    return is;
}

/* What to do with a file that no format fits, by what it seems to be: compressed, or a .parquet
 * file. NULL: not that. */
static const char *packed(const struct ref *r)
{
    static const struct {
        const char *magic, *file, *stream;
    } rows[] = {
        { "\x1f\x8b", "it is compressed: give <(gzip -dc FILE) instead",
          "it is compressed: send it through gzip -dc" },
        { "\x28\xb5\x2f\xfd", "it is compressed: give <(zstd -dc FILE) instead",
          "it is compressed: send it through zstd -dc" },
        { "\xfd"
          "7zXZ",
          "it is compressed: give <(xz -dc FILE) instead",
          "it is compressed: send it through xz -dc" },
        { "BZh", "it is compressed: give <(bzip2 -dc FILE) instead",
          "it is compressed: send it through bzip2 -dc" },
        { "PAR1", "give --column NAME; bloomery info FILE lists the columns",
          "it is read from its end: give a file, not a pipe, and --column NAME" },
    };
    char        head[REF_HEAD];
    const char *how = NULL;
    if (r->is_delta || (!ref_is_stream(r->text) && file_is_delta(r->text)))
        return "it is a delta: apply it with bloomery patch FILTER < DELTA";
    if (ref_is_stream(r->text))
        memcpy(head, r->head, sizeof head);
    else
        ref_head(r->text, head);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (memcmp(head, rows[i].magic, strlen(rows[i].magic)) == 0)
            how = ref_is_stream(r->text) ? rows[i].stream : rows[i].file;
    if (how && (r->is_like || r->changes) &&
        memcmp(head, "PAR1", 4) == 0) /* no --column for these */
        how = "copy a column's filter out with bloomery convert --column NAME, and give that";
    return how;
}

/* A symbolic link to a file that is not there? */
static bool leads_nowhere(const char *text)
{
    struct stat st;
    return lstat(text, &st) == 0 && S_ISLNK(st.st_mode) && stat(text, &st) < 0 && errno == ENOENT;
}

/* A name that is not allowed is one thing, a disk that takes nothing is another. */
static const char *remedy_of_writing(const struct ref *r, int error)
{
    if (error == EROFS)
        return r->is_new ? "use another disk" : "copy it to another disk, and change the copy";
    return r->is_new ? "use another directory, or change its permissions"
                     : "change its permissions, or run as its owner";
}

/* What to do about it. The library says what is wrong; it does not know our commands. */
static const char *remedy(const struct ref *r, const blm_error *err)
{
    switch (err->status) {
    case BLM_E_FUNNEL:
        return "bloomery schemes lists them";
    case BLM_E_IO:
        return err->system == ENOENT && strstr(r->text, "://")
                   ? "filters are in files, or on Redis (redis://host/KEY)"
               : err->system == ENOENT && r->is_new ? "make it first"
               : err->system == ENOENT && leads_nowhere(r->text)
                   ? "remove the link, or make that file with bloomery create --force"
               : err->system == ENOENT ? "check the name, or make it with bloomery create"
               : err->system == EACCES || err->system == EPERM || err->system == EROFS
                   ? remedy_of_writing(r, err->system)
               : err->system == EISDIR ? (r->is_new ? "give a name in it" : "give the file in it")
                                       : NULL;
    case BLM_E_FORMAT:
        if (r->options.offset) /* more likely wrong than the file is damaged */
            return "check --offset";
        if (from_column())
            return "use another copy";
        if (!r->remote && packed(r))
            return packed(r);
        if (r->options.bits)
            return "check -m";
        if (err->offset != 0 && err->offset != BLM_NO_OFFSET)
            return "use another copy";
        return r->options.format ? "bloomery schemes lists what can be read"
               : r->is_like      ? "if it has no header, say what it is with --like-from (bloomery "
                                   "schemes lists the formats)"
                                 : "if it has no header, say what it is with --from (bloomery "
                                   "schemes lists the formats)";
    case BLM_E_TRUNCATED:
        return r->options.offset ? "check --offset"
               : r->options.bits ? "check -m"
                                 : "use another copy";
    case BLM_E_CHECKSUM:
        return "use another copy";
    case BLM_E_AMBIGUOUS:
        return r->is_like ? "say which with --like-from FORMAT" : "say which with --from FORMAT";
    case BLM_E_READONLY:
        return remedy_of_writing(r, err->system);
    case BLM_E_BUSY:
        return ref_is_shared(r->text) ? "try again, or follow it into a file and use that"
                                      : "wait until it ends, or use another file";
    case BLM_E_EXISTS:
        return leads_nowhere(r->text) ? "give another name, or --force to make that file"
                                      : "give another name, or --force to replace it";
    case BLM_E_FULL:
        return "make one with a larger -n";
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
    if (err->status == BLM_E_IO && err->system == EBADF && ref_is_dash(r->text))
        return trouble("%s is closed: give a file, or pipe the filter in", r->name), false;
    const char *text = filter_words(err);
    bool        none = err->status == BLM_E_IO && err->system == ENOENT;
    bool        link = (none ? !r->is_new : err->status == BLM_E_EXISTS) && leads_nowhere(r->text);
    const char *what = link   ? "a symbolic link that leads to no file"
                       : none ? (r->is_new ? "no such directory" : "no such file")
                       : err->status == BLM_E_IO && err->system == EISDIR ? "is a directory"
                       : err->status == BLM_E_EXISTS                      ? "already exists"
                       : err->status == BLM_E_BUSY && !ref_is_shared(r->text)
                           ? "another process is writing to it"
                           : text;
    const char *how  = remedy(r, err);
    if (!how)
        return filter_trouble(r->name, err), false;
    if (err->offset != BLM_NO_OFFSET && err->offset > 0 && what == text)
        return trouble("%s: %s (byte %llu): %s", r->name, what, (unsigned long long)err->offset,
                       how),
               false;
    return trouble("%s: %s: %s", r->name, what, how), false;
}

int ref_trouble(const struct ref *r, const blm_error *err)
{
    refuse(r, err);
    return EXIT_TROUBLE;
}

/* ---- funnels ---- */

static const char *natural_funnel(const char *scheme)
{
    return encoding_funnel(keys_options.encoding ? keys_options.encoding : "text", scheme);
}

/* Spark's seed is an int: −5 and 4294967291 are one. */
static bool same_seed(const blm_options *o, const blm_params *p)
{
    uint64_t other = p->seed[0] > INT32_MAX ? p->seed[0] - ((uint64_t)1 << 32) : p->seed[0];
    return memcmp(o->seed, p->seed, sizeof p->seed) == 0 ||
           (strcmp(p->scheme, "spark2") == 0 && o->seed[0] == other && o->seed[1] == 0);
}

/* Do the options say other than the file itself? They are for formats that do not say. A native
 * file says everything. */
static blm_status contradicts(const struct ref *r, blm_error *err)
{
    const blm_options *o = &r->options;
    blm_params         p = { .size = sizeof p };
    char               text[sizeof err->text];
    if (blm_get_params(r->filter, &p) != BLM_OK)
        return BLM_OK;
    bool native = strcmp(p.format, "native") == 0;
    if (o->bits && o->bits != p.bits)
        snprintf(text, sizeof text, "it has %llu bits, not %llu: remove -m",
                 (unsigned long long)p.bits, (unsigned long long)o->bits);
    else if (o->probes && o->probes != p.probes)
        snprintf(text, sizeof text, "it has %u probes, not %u: remove -k", (unsigned)p.probes,
                 (unsigned)o->probes);
    else if (native && o->scheme && strcmp(scheme_called(o->scheme), p.scheme) != 0)
        snprintf(text, sizeof text, "its scheme is %s, not %s: remove --from-scheme", p.scheme,
                 o->scheme);
    else if (native && o->flags & BLM_SEEDED && !same_seed(o, &p))
        snprintf(text, sizeof text, "it has another seed: remove --seed");
    else
        return BLM_OK;
    return place_fail(err, BLM_E_MISMATCH, 0, text);
}

/* Opens the filter, and chooses the scheme's better funnel for -e where nobody said which. Without -e a native
 * file's own is the one. */
static blm_status with_funnel(struct ref *r, blm_status (*how)(struct ref *, blm_error *),
                              blm_error  *err)
{
    blm_status st = how(r, err);
    if (st == BLM_OK && r->filter && !r->is_new)
        st = contradicts(r, err);
    if (st != BLM_OK || r->options.funnel || !r->filter)
        return st;
    blm_params p = { .size = sizeof p };
    blm_get_params(r->filter, &p);
    if (strcmp(p.format, "native") == 0 && (!keys_options.encoding || funnel_said(&p))) {
        r->options.funnel = p.funnel;
        return BLM_OK;
    }
    r->options.funnel = natural_funnel(p.scheme);
    return r->options.funnel ? blm_set_funnel(r->filter, r->options.funnel, err) : BLM_OK;
}

/* ---- servers ---- */

uint64_t ref_wait;

static const struct option server_rows[] = {
    { "wait", 0, OPT_COUNT, "R", &ref_wait,
      "On a server: a key is added when R replicas have it too. Otherwise a failover may lose the "
      "last keys.",
      NULL },
    OPTION_END,
};
const struct option_group server_group = { "Server", server_rows };

bool ref_wait_fits(const char *text)
{
    if (ref_wait && !(text && strstr(text, "://")))
        return misuse("--wait is for filters on a server: remove it, or give redis://host/KEY"),
               false;
    return true;
}

/* ---- places ---- */

static const struct place *const places[] = { &place_dash, &place_redis, &place_near };

blm_status place_fail(blm_error *err, blm_status status, int system, const char *text)
{
    *err = (blm_error){ .status = status, .system = system, .offset = BLM_NO_OFFSET };
    snprintf(err->text, sizeof err->text, "%s", text ? text : "");
    return status;
}

/* Does the text begin with one of the prefixes, which are separated by spaces, or equal it? */
static bool begins(const char *text, const char *prefixes)
{
    for (size_t n; *prefixes; prefixes += n + (prefixes[n] == ' ')) {
        n        = strcspn(prefixes, " ");
        bool uri = memchr(prefixes, ':', n) != NULL;
        if (strncmp(text, prefixes, n) == 0 && (uri || text[n] == 0))
            return true;
    }
    return false;
}

static const struct place *place_of(const char *text)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (begins(text, places[i]->prefix))
            return places[i];
    return place_is_copy(text) ? &place_copy : &place_path;
}

/* Where an existing filter is read from: --column looks inside a file. */
static const struct place *source_of(const char *text)
{
    return from_column() && place_of(text) == &place_path ? &place_parquet : place_of(text);
}

/* A path that leads to no file that could be mapped or replaced, but can be read. */
static bool is_stream(const char *text)
{
    struct stat st;
    return place_of(text) == &place_path && stat(text, &st) == 0 &&
           (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode) || S_ISCHR(st.st_mode));
}

bool ref_is_stream(const char *text) { return ref_is_dash(text) || is_stream(text); }

bool ref_is_dash(const char *text) { return strcmp(text, "-") == 0; }

bool ref_is_stdin(const char *text)
{
    return ref_is_dash(text) || (is_stream(text) && same_file("-", text));
}

bool ref_keys_from_stdin(int count, char **operands)
{
    bool yes = count == 1;
    for (int i = 1; i < count; i++)
        yes |= ref_is_stdin(operands[i]);
    return yes;
}

bool ref_is_input(const char *text, char **inputs, int count)
{
    static char dash[] = "-", *standard[] = { dash };
    for (int i = 0; i < count || i == 0; i++) {
        const char *input = (count ? inputs : standard)[i];
        if (!ref_is_stream(text) && same_file(input, text))
            return trouble("%s is both the filter and its keys: give another file", ref_name(text)),
                   true;
    }
    return false;
}

bool ref_is_shared(const char *text) { return place_of(text)->keys != NULL; }

/* ---- passwords ---- */

static size_t secret_of(const char *text, size_t *at)
{
    const struct place *p = place_of(text);
    return p->secret ? p->secret(text, at) : 0;
}

/* Texts that live as long as the process: there are few. */
static char *kept(const char *text)
{
    static struct keep {
        struct keep *next;
        char         text[];
    } * all;
    struct keep *k = memory_need(sizeof *k + strlen(text) + 1);
    k->next        = all;
    all            = k;
    return strcpy(k->text, text);
}

const char *ref_name(const char *text)
{
    size_t at, len = secret_of(text, &at);
    if (len == 0)
        return text;
    char *name = kept(text);
    memmove(name + at, name + at + len, strlen(text) - at - len + 1);
    return name;
}

void ref_hide_passwords(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *equals = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
        size_t      from   = equals ? (size_t)(equals + 1 - argv[i]) : 0, at, len;
        if ((len = secret_of(argv[i] + from, &at)) == 0)
            continue;
        char *seen = argv[i];
        argv[i]    = kept(seen);
        memset(seen + from + at, '*', len - 1); /* all but the @ */
    }
}

bool ref_exists(const char *text) { return place_of(text)->exists(text); }

static void begin(struct ref *r, const char *text, const blm_options *o)
{
    blm_options none = BLM_OPTIONS_INIT;
    *r               = (struct ref){ .text = text, .place = place_of(text), .lock = -1 };
    r->name          = ref_name(text);
    r->options       = o ? *o : none;
    if (!r->options.funnel)
        r->options.funnel = keys_options.funnel;
    r->options.progress     = progress_library;
    r->options.progress_ctx = "reading";
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
    r->place = is_stream(text) ? &place_stream : source_of(text);
    return end(r, with_funnel(r, r->place->open, &err), &err);
}

bool ref_open_like(struct ref *r, const char *text, const blm_options *o)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    begin(r, text, o);
    r->is_like = true;
    r->place   = is_stream(text) ? &place_stream : r->place;
    return end(r, with_funnel(r, r->place->like ? r->place->like : r->place->open, &err), &err);
}

bool ref_open_two(struct ref *a, struct ref *b, char **texts, uint32_t flags)
{
    if (ref_is_stdin(texts[0]) && ref_is_stdin(texts[1]))
        return misuse("only one filter can come from standard input: give the other as a file"),
               false;
    blm_options first = BLM_OPTIONS_INIT, second = BLM_OPTIONS_INIT;
    first.flags = second.flags = flags;
    if (!from_options_each(texts[0], &first) || !from_options_each(texts[1], &second) ||
        !ref_open(a, texts[0], &first))
        return false;
    if (ref_open(b, texts[1], &second))
        return true;
    ref_drop(a);
    return false;
}

bool ref_change(struct ref *r, const char *text, const blm_options *o)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    begin(r, text, o);
    r->changes = true;
    if (is_stream(text))
        r->place = &place_stream;
    if (r->options.offset || from_column())
        return trouble("%s: a filter inside another file cannot be changed there: copy it out with "
                       "bloomery convert",
                       r->name),
               false;
    return end(r, with_funnel(r, r->place->change, &err), &err);
}

/* Opens a filter for its keys, at a place that takes keys; else as a whole. */
static bool begin_keys(struct ref *r, const char *text, const blm_options *o, bool changes)
{
    blm_error           err   = { .offset = BLM_NO_OFFSET };
    const struct place *place = changes ? place_of(text) : source_of(text);
    if (!place->keys)
        return changes ? ref_change(r, text, o) : ref_open(r, text, o);
    begin(r, text, o);
    r->place   = place;
    r->changes = changes;
    if (r->options.funnel && place == place_of(text))
        return trouble("%s: the server hashes the bytes of a key: remove --funnel", r->name), false;
    return end(r, r->place->keys(r, &err), &err);
}

bool ref_open_keys(struct ref *r, const char *text, const blm_options *o)
{
    return begin_keys(r, text, o, false);
}

bool ref_change_keys(struct ref *r, const char *text, const blm_options *o)
{
    return begin_keys(r, text, o, true);
}

/* Can there be a file of this name? Not where something is that no file may replace. */
static blm_status may_be_file(const char *text, blm_error *err)
{
    struct stat st;
    if (place_of(text) != &place_path || stat(text, &st) < 0 || S_ISREG(st.st_mode))
        return BLM_OK;
    if (S_ISDIR(st.st_mode))
        return place_fail(err, BLM_E_IO, EISDIR, NULL);
    return place_fail(err, BLM_E_UNSUPPORTED, 0,
                      is_stream(text) ? "not a regular file: use - for standard output"
                                      : "not a regular file: give another name");
}

static blm_status create(struct ref *r, const char *text, const blm_options *o, bool whole,
                         blm_error *err)
{
    begin(r, text, o);
    r->is_new = true;
    if (may_be_file(text, err) != BLM_OK)
        return err->status;
    if (!r->options.funnel && r->options.scheme)
        r->options.funnel = natural_funnel(r->options.scheme);
    return r->place->create(r, whole, err);
}

bool ref_create(struct ref *r, const char *text, const blm_options *o, bool whole)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    return end(r, create(r, text, o, whole, &err), &err);
}

bool ref_create_keys(struct ref *r, const char *text, const blm_options *o)
{
    blm_error  err = { .offset = BLM_NO_OFFSET };
    blm_status st  = create(r, text, o, false, &err);
    if (st != BLM_E_EXISTS)
        return end(r, st, &err);
    ref_drop(r);
    return ref_change_keys(r, text, NULL);
}

bool ref_vacant(const char *text, bool force)
{
    struct ref r   = { .name = ref_name(text), .text = text, .is_new = true };
    blm_error  err = { .status = BLM_E_EXISTS, .offset = BLM_NO_OFFSET };
    if (may_be_file(text, &err) != BLM_OK)
        return refuse(&r, &err);
    if (force || ref_is_dash(text) || !(ref_exists(text) || leads_nowhere(text)))
        return true;
    return refuse(&r, &err);
}

bool ref_put(const char *text, const blm_filter *f, const char *format, bool force)
{
    struct ref r;
    blm_error  err = { .offset = BLM_NO_OFFSET };
    begin(&r, text, NULL);
    r.filter         = (blm_filter *)(uintptr_t)f; /* saving only reads */
    r.is_new         = true;
    r.options.format = format;
    r.options.flags  = force ? BLM_REPLACE : 0;
    if (ref_is_dash(text))
        r.name = "standard output";
    blm_status st = r.place->save(&r, &err);
    progress_hide();
    if (r.place->drop)
        r.place->drop(&r);
    return st == BLM_OK || refuse(&r, &err);
}

/* A file that is mapped for writing is released just before: the library does not rename another
 * file over one that has a writer, even if we are the writer. */
bool ref_replace(struct ref *r, blm_filter *f)
{
    if (r->native)
        r->options.flags |= BLM_REPLACE;
    r->native = false;
    blm_free(r->filter);
    r->filter = f;
    return ref_commit(r);
}

/* ---- keys ---- */

bool ref_check(struct ref *r, const blm_key *keys, size_t count, uint8_t *maybe, size_t *hits)
{
    blm_error err  = { .offset = BLM_NO_OFFSET };
    size_t    n    = 0;
    bool      good = true;
    if (!r->remote)
        n = blm_check_many(r->filter, keys, count, maybe);
    else
        good = r->place->check_many(r, keys, count, maybe, &n, &err) == BLM_OK || refuse(r, &err);
    if (hits)
        *hits = n;
    return good;
}

bool ref_add(struct ref *r, const blm_key *keys, size_t count, uint8_t *fresh, size_t *done)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    size_t    n   = 0;
    if (r->remote) {
        blm_status st = r->place->add_many(r, keys, count, fresh, &n, &err);
        if (done)
            *done = n;
        return st == BLM_OK || st == BLM_E_CANCELLED || refuse(r, &err);
    }
    err.status = blm_add_many(r->filter, keys, count, fresh, done ? done : &n);
    if (err.status == BLM_OK || err.status == BLM_E_CANCELLED) /* interrupted: the caller says so */
        return true;
    return refuse(r, &err);
}

bool ref_remove(struct ref *r, const blm_key *keys, size_t count, uint8_t *gone, size_t *done)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    if (r->remote)
        return r->place->remove_many(r, keys, count, gone, done, &err) == BLM_OK || refuse(r, &err);
    for (*done = 0; *done < count; ++*done) {
        blm_status st = blm_remove(r->filter, keys[*done].data, keys[*done].len);
        if (st != BLM_OK && st != BLM_E_ABSENT) {
            err.status = st;
            return filter_trouble(r->name, &err), false;
        }
        gone[*done] = st == BLM_OK;
    }
    return true;
}

bool ref_params(struct ref *r, blm_params *p)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    *p            = (blm_params){ .size = sizeof *p };
    if (r->remote)
        return r->place->params(r, p, &err) == BLM_OK || refuse(r, &err);
    return blm_get_params(r->filter, p) == BLM_OK;
}

void ref_refresh(struct ref *r)
{
    if (r->place->refresh)
        r->place->refresh(r);
}

bool ref_sync(struct ref *r)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    if (r->filter)
        blm_set_progress(r->filter, progress_to_the_end, "writing");
    return !r->place->sync || r->place->sync(r, &err) == BLM_OK || refuse(r, &err);
}

bool ref_commit(struct ref *r)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    if (r->filter)
        blm_set_progress(r->filter, progress_to_the_end, "writing");
    blm_status st = r->place->save(r, &err);
    if (st == BLM_OK && r->filter) {
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
    if (r->place->drop)
        r->place->drop(r);
}
