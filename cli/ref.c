/* SPDX-License-Identifier: MIT */
/* What is the same for every place: which one a reference means, the words when it fails, the funnel
 * that goes with -e. A place that is written scheme://… is a file like place_path.c and a row here. */
#include "ref.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keys.h"
#include "place.h"
#include "progress.h"
#include "say.h"

/* ---- saying what is wrong ---- */

/* What to do about it. The library says what is wrong; it does not know our commands. */
static const char *remedy(const struct ref *r, const blm_error *err)
{
    switch (err->status) {
    case BLM_E_ARGUMENT:
        return strstr(err->text, "funnel") ? "bloomery schemes lists them" : NULL;
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
    case BLM_E_CHECKSUM:
        return "use another copy";
    case BLM_E_AMBIGUOUS:
        return "bloomery convert --from FORMAT can be told";
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
                       : err->status == BLM_E_EXISTS                      ? "exists already"
                       : err->status == BLM_E_BUSY ? "another process is writing to it"
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
        { "int32", "int", "int32", NULL },   { "int64", "long", "int64", NULL },
        { "hex", "bytes", "binary", NULL },  { "base64", "bytes", "binary", NULL },
        { "text", "string", "bytes", NULL },
    };
    const char           *encoding = keys_options.encoding ? keys_options.encoding : "text";
    const blm_scheme_row *row      = NULL;
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
                              blm_error  *err)
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

/* ---- places ---- */

static const struct place *const places[] = { &place_dash };

blm_status place_fail(blm_error *err, blm_status status, int system, const char *text)
{
    *err = (blm_error){ .status = status, .system = system, .offset = BLM_NO_OFFSET };
    snprintf(err->text, sizeof err->text, "%s", text ? text : "");
    return status;
}

static const struct place *place_of(const char *text)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *prefix = places[i]->prefix;
        bool        uri    = strchr(prefix, ':') != NULL;
        if (uri ? strncmp(text, prefix, strlen(prefix)) == 0 : strcmp(text, prefix) == 0)
            return places[i];
    }
    return &place_path;
}

bool ref_is_stdin(const char *text) { return strcmp(text, "-") == 0; }

bool ref_exists(const char *text) { return place_of(text)->exists(text); }

static void begin(struct ref *r, const char *text, const blm_options *o)
{
    blm_options none = BLM_OPTIONS_INIT;
    *r         = (struct ref){ .name = text, .text = text, .place = place_of(text), .lock = -1 };
    r->options = o ? *o : none;
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

void ref_refresh(struct ref *r)
{
    if (r->place->refresh)
        r->place->refresh(r);
}

bool ref_sync(struct ref *r)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    blm_on_progress(r->filter, progress_to_the_end, "writing");
    return !r->place->sync || r->place->sync(r, &err) == BLM_OK || refuse(r, &err);
}

bool ref_commit(struct ref *r)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    blm_on_progress(r->filter, progress_to_the_end, "writing");
    blm_status st = r->place->save(r, &err);
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
