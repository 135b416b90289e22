/* SPDX-License-Identifier: MIT */
/* The handle behind blm_filter, for the files that implement the public calls. */
#ifndef BLM_API_FILTER_H
#define BLM_API_FILTER_H

#include <string.h>

#include "core/body.h"
#include "core/error.h"
#include "kind/kind.h"
#include "scheme/scheme.h"

/* Copies a result to a caller's struct that begins with its size and may be older (shorter) or
 * newer (longer) than ours. E_ARGUMENT: the size was not set. */
static inline blm_status blm__emit(void *out, const void *result, size_t size)
{
    size_t room;
    if (!out)
        return BLM_E_ARGUMENT;
    memcpy(&room, out, sizeof room);
    if (room < sizeof room)
        return BLM_E_ARGUMENT;
    size_t n = room < size ? room : size;
    memcpy((char *)out + sizeof room, (const char *)result + sizeof room, n - sizeof room);
    return BLM_OK;
}

struct blm_filter {
    struct blm__body body;
    uint32_t         threads; /* for batches; 0 and 1: the caller's */
    blm_allocator    own;     /* body.alloc points here: a copy of the caller's struct */
};

/* A copy of the caller's options with later fields zero; E_ARGUMENT when NULL, or of a size this
 * library does not know and with unknown fields set. `o` NULL gives defaults when `null_ok`. */
blm_status blm__options_read(const blm_options *o, bool null_ok, blm_options *out, blm_error *err);

/* The kind of filters whose options name none. Where the scheme leaves the choice: the fast one, or
 * classic where bits and probes are both given, because only it has them exactly. Else the first
 * kind that the scheme is kept in. */
blm_kind blm__usual_kind(const struct blm__scheme *s, const blm_options *o);

/* A filter with no layers and nothing decided but allocator, kernel, caps, progress and the memory
 * store: what decoders fill. Released by blm_free. */
blm_status blm__filter_blank(const blm_options *o, blm_filter **out, blm_error *err);
/* After a decoder or a file has filled f->body: finds kind and scheme, checks that they go
 * together, takes the hash function and funnel from o, computes the digest tag. */
blm_status blm__filter_finish(blm_filter *f, const blm_options *o, blm_error *err);
/* Scheme, kind, hash, version, seed and funnel from options that were read, for a new filter. */
blm_status blm__filter_choose(blm_filter *f, const blm_options *o, blm_error *err);
/* Chooses how single keys and batches are hashed, once scheme, hash, version and seed are there. */
blm_status blm__filter_hashes(blm_filter *f, const struct blm__shape *first, blm_error *err);
/* Options (already read) to a filter with no layers, and the shape its first layer is to have. It may
 * be one that answers maybe to everything: for plans. */
blm_status blm__filter_sized(const blm_options *o, blm_filter **out, struct blm__shape *first,
                             blm_error *err);
/* The same of a filter that is to be made: what cannot be saved and opened again is refused. */
blm_status blm__filter_prepare(const blm_options *o, blm_filter **out, struct blm__shape *first,
                               blm_error *err);

/* E_ARGUMENT: the options contradict options.like, and which does: api/like.c */
blm_status blm__like_agrees(const blm_options *o, blm_error *err);

/* Has a writer added layers to the file that we do not see? Then our layers are not the filter, and
 * nothing may be made from them; checks say "maybe". */
static inline bool blm__filter_stale(const blm_filter *f)
{
    return f->body.store->stale && f->body.store->stale(&f->body);
}

/* Errors of files say which: "PATH: what is wrong". Of a long path the end. Returns st: api/files.c */
blm_status blm__name_file(blm_status st, const char *path, blm_error *err);
/* Would blm_save begin? For calls that save what they first have to work out. */
blm_status blm__may_save(const char *path, uint32_t flags, const blm_allocator *a, blm_error *err);
/* A filter from a source that stands at options.offset, of which bytes may follow if it is not 0. */
struct blm__codec;
struct blm__source;
blm_status blm__decode_with(const struct blm__codec *codec, struct blm__source *in,
                            const blm_options *o, blm_filter **out, blm_error *err);

/* The funnel of this name; NULL: the one it has, or the scheme's first. */
blm_status blm__choose_funnel(struct blm__hasher *h, const struct blm__scheme *s, const char *name,
                              blm_error *err);

/* May a hash, or functions, of the caller be called that? As native files may. */
bool blm__name_fits(const char *name);

/* A file's header is written once, so its writer hashes by the funnel that it records (NULL: the scheme's
 * first), or what he adds would be denied when the file is opened again. E_UNSUPPORTED: another was
 * chosen: api/funnel.c */
blm_status blm__keeps_funnel(const struct blm__body *b, const char *recorded, blm_error *err);

/* The caller's functions (scheme.row.by_caller), for a new filter, or for one from a file, whose
 * name for them must be the caller's: api/functions.c */
blm_status blm__new_functions(struct blm__hasher *h, const blm_options *o, blm_error *err);
blm_status blm__old_functions(struct blm__hasher *h, const blm_options *o, blm_error *err);

/* BLM_CAN_… of this filter: api/rows.c */
uint32_t blm__filter_can(const blm_filter *f);

/* BLM_OK when two filters have the same parameters, layer by layer; E_MISMATCH names the first
 * that differs. */
blm_status blm__filter_same(const blm_filter *a, const blm_filter *b, blm_error *err);
/* May the first layer of a filter have been replaced by this one since (kind.replaced)? */
bool blm__filter_replaced(const blm_filter *earlier, const struct blm__shape *later);
/* The same when `to` may have grown layers that `from` has not. */
blm_status blm__filter_extends(const blm_filter *from, const blm_filter *to, blm_error *err);

#endif
