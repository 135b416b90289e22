/* SPDX-License-Identifier: MIT */
/* Making a filter, and letting it go: check the options, then join scheme, kind, engine and store. */
#include "api/filter.h"

#include <string.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "core/hash/keyed.h"
#include "core/random.h"
#include "engine/shape.h"
#include "store/store.h"

#define FLAGS                                                                                  \
    (BLM_SHARED | BLM_SEEDED | BLM_WRITE | BLM_VERIFY | BLM_REPLACE | BLM_ADOPT | BLM_PUBLIC | \
     BLM_TORN)

/* ---- options ---- */

blm_status blm__options_read(const blm_options *o, bool null_ok, blm_options *out, blm_error *err)
{
    blm_options none = BLM_OPTIONS_INIT;
    *out             = none;
    if (!o && null_ok)
        return BLM_OK;
    if (!o)
        return blm__fail(err, BLM_E_ARGUMENT, "options are missing (NULL)");
    if (o->size < sizeof(size_t))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "options.size is %zu: start options from BLM_OPTIONS_INIT", o->size);
    if (o->size > sizeof *out) {
        /* From a newer header: fine as long as what we do not know is not used. */
        const uint8_t *extra = (const uint8_t *)o + sizeof *out;
        for (size_t i = 0; i < o->size - sizeof *out; i++)
            if (extra[i])
                return blm__fail(err, BLM_E_UNSUPPORTED,
                                 "options use a field that this library (%s) does not know",
                                 BLM_VERSION);
    }
    memcpy(out, o, o->size < sizeof *out ? o->size : sizeof *out);
    out->size = sizeof *out;
    if (out->flags & ~FLAGS)
        return blm__fail(err, BLM_E_ARGUMENT, "unknown flags 0x%x", out->flags & ~FLAGS);
    return BLM_OK;
}

/* ---- making one ---- */

blm_status blm__filter_blank(const blm_options *o, blm_filter **out, blm_error *err)
{
    const blm_allocator *a = o->allocator ? o->allocator : &blm__default_allocator;
    blm_filter          *f = blm__zalloc(a, sizeof *f);
    if (!f)
        return blm__fail(err, BLM_E_MEMORY, "no memory for a filter's handle");
    f->own               = *a;
    f->body.alloc        = &f->own;
    f->body.kernel       = blm__kernel_best();
    f->body.store        = &blm__store_memory;
    f->body.max_bytes    = o->max_bytes;
    f->body.progress     = o->progress;
    f->body.progress_ctx = o->progress_ctx;
    blm__clock_start(&f->body.clock, o->clock, o->clock_ctx);
    f->threads = o->threads;
    *out       = f;
    return BLM_OK;
}

static blm_status set_version(struct blm__body *b, const blm_options *o, blm_error *err)
{
    bool     keyed  = !b->scheme->native || o->hash == BLM_HASH_XXH3;
    uint32_t newest = keyed ? b->scheme->version : BLM__NATIVE_KEYED - 1;
    if (o->version > newest)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "version %u of scheme %s%s: this library has versions up to %u",
                         (unsigned)o->version, b->scheme->row.name, keyed ? "" : " with this hash",
                         (unsigned)newest);
    b->hasher.version = o->version ? o->version : newest;
    return BLM_OK;
}

static blm_status set_hash(struct blm__hasher *h, const blm_options *o, blm_error *err)
{
    h->id = o->hash;
    switch (o->hash) {
    case BLM_HASH_XXH3:
        strcpy(h->name, "xxh3");
        return BLM_OK;
    case BLM_HASH_SIPHASH:
        strcpy(h->name, "siphash");
        return BLM_OK;
    case BLM_HASH_CUSTOM:
        break;
    default:
        return blm__fail(err, BLM_E_ARGUMENT, "unknown hash %d", (int)o->hash);
    }
    if (!o->hash_fn)
        return blm__fail(err, BLM_E_ARGUMENT, "a custom hash needs options.hash_fn");
    if (!blm__name_fits(o->hash_name))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "a custom hash needs options.hash_name, 1 to 15 printable characters of "
                         "ASCII without spaces, so that files can say which it is");
    if (strcmp(o->hash_name, "xxh3") == 0 || strcmp(o->hash_name, "siphash") == 0)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "a custom hash cannot be called %s: that is a hash of this library",
                         o->hash_name);
    memcpy(h->name, o->hash_name, strlen(o->hash_name) + 1);
    h->fn  = o->hash_fn;
    h->ctx = o->hash_ctx;
    return BLM_OK;
}

static blm_status set_seed(struct blm__hasher *h, const struct blm__scheme *s, const blm_options *o,
                           blm_error *err)
{
    h->policy = BLM_SEED_NONE;
    if (!s->row.seeded) {
        if (o->flags & BLM_SEEDED)
            return blm__fail(err, BLM_E_UNSUPPORTED, "scheme %s has no seed", s->row.name);
        return BLM_OK;
    }
    if (o->flags & BLM_SEEDED) {
        memcpy(h->seed, o->seed, sizeof h->seed);
        h->policy = BLM_SEED_FIXED;
    } else if (s->native) {
        if (!blm__random(h->seed, sizeof h->seed))
            return blm__fail(err, BLM_E_IO, "the system has no random bytes: give a seed");
        h->policy = BLM_SEED_RANDOM;
    }
    return BLM_OK;
}

blm_status blm__choose_funnel(struct blm__hasher *h, const struct blm__scheme *s, const char *name,
                              blm_error *err)
{
    if (!h->funnel) /* a file may have said which */
        h->funnel = s->row.funnels ? s->row.funnels[0] : NULL;
    if (!name)
        return BLM_OK;
    for (const char *const *f = s->row.funnels; f && *f; f++)
        if (strcmp(*f, name) == 0) {
            h->funnel = *f;
            return BLM_OK;
        }
    return blm__fail(err, BLM_E_FUNNEL, "scheme %s has no funnel called %s", s->row.name, name);
}

blm_kind blm__usual_kind(const struct blm__scheme *s, const blm_options *o)
{
    blm_kind k = BLM_CLASSIC;
    if (s->native)
        return o->bits && o->probes && !o->lines ? BLM_CLASSIC : BLM_BLOCKED;
    while (!(s->row.kinds >> k & 1))
        k++;
    return k;
}

static blm_status choose_kind(struct blm__body *b, const blm_options *o, blm_error *err)
{
    b->kind = o->kind ? o->kind : blm__usual_kind(b->scheme, o);
    b->ops  = blm__kind_of(b->kind);
    if (!b->ops)
        return blm__fail(err, BLM_E_ARGUMENT, "unknown kind %d", (int)o->kind);
    if (!(b->scheme->row.kinds >> b->kind & 1))
        return blm__fail(err, BLM_E_UNSUPPORTED, "scheme %s is not kept in a %s filter",
                         b->scheme->row.name, b->ops->row.name);
    if (o->words && !b->ops->words)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "only classic and blocked filters can be made over a caller's words");
    if ((o->flags & BLM_SHARED) && (!(b->ops->row.can & BLM_CAN_SHARE) || b->scheme->exchanges))
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "a %s filter cannot be shared between threads: use another kind (blocked, "
                         "classic, counting, cuckoo, window), or a lock of your own",
                         b->ops->row.name);
    b->shared = (o->flags & BLM_SHARED) != 0;
    return BLM_OK;
}

/* Its layers would move while others read. Known when its growth is. */
static blm_status may_share(const struct blm__body *b, blm_error *err)
{
    if (b->shared && b->growth != 0)
        return blm__fail(err, BLM_E_UNSUPPORTED, BLM__GROWS_ALONE);
    return BLM_OK;
}

/* Kinds that are built at once never are without their keys. */
static blm_status can_be_empty(const struct blm__body *b, blm_error *err)
{
    if (b->ops->add)
        return BLM_OK;
    return blm__fail(err, BLM_E_UNSUPPORTED,
                     "a %s filter is built from all its keys at once, and none is added later: use "
                     "bloomery build (bloomery/fixed.h), or another kind",
                     b->ops->row.name);
}

static blm_status check_size(const struct blm__shape *s, const blm_options *o, blm_error *err)
{
    uint64_t bytes = blm__shape_words(s) * 8;
    if (s->bits == 0 || s->bits > BLM__MAX_BITS)
        return blm__fail(err, BLM_E_LIMIT, "%llu bits: a filter has 1 to 2^48",
                         (unsigned long long)s->bits);
    if ((s->probes == 0 && !s->scheme->no_probes) || s->probes > BLM__MAX_PROBES)
        return blm__fail(err, BLM_E_ARGUMENT, "%u probes: a filter has 1 to %u",
                         (unsigned)s->probes, (unsigned)BLM__MAX_PROBES);
    if (o->max_bytes && bytes > o->max_bytes)
        return blm__fail(err, BLM_E_LIMIT,
                         "the filter takes %llu bytes, more than the limit of %llu",
                         (unsigned long long)bytes, (unsigned long long)o->max_bytes);
    return BLM_OK;
}

/* Native: the kind plans. What does not fit the asked memory is refused here, not in the plan. */
static blm_status plan_native(blm_filter *f, const blm_options *o, struct blm__shape *s,
                              blm_error *err)
{
    blm_plan   p  = { .size = sizeof p };
    blm_status st = f->body.ops->plan(o, &p, err);
    if (st != BLM_OK)
        return st;
    if (!p.fits)
        return blm__fail(err, BLM_E_LIMIT,
                         "a rate of %g for %llu keys does not fit: %llu bytes give %.3g, it would "
                         "take %llu",
                         p.asked, (unsigned long long)p.items, (unsigned long long)p.bytes, p.rate,
                         (unsigned long long)p.bytes_needed);
    s->capacity = p.items;
    s->rate = f->body.rate = p.asked > 0 ? p.asked : p.rate;
    f->body.ops->shape(o, &p, &f->body, s);
    return BLM_OK;
}

static blm_status no_library(const struct blm__scheme *s, blm_error *err)
{
    return blm__fail(err, BLM_E_UNSUPPORTED,
                     "scheme %s needs %s, and this build was made without it", s->row.name,
                     s->missing);
}

/* Scheme, kind, and how keys are hashed. */
blm_status blm__filter_choose(blm_filter *f, const blm_options *o, blm_error *err)
{
    f->body.scheme = blm__scheme_find(o->scheme);
    if (!f->body.scheme)
        return blm__fail(err, BLM_E_ARGUMENT, "unknown scheme %s", o->scheme);
    if (f->body.scheme->missing)
        return no_library(f->body.scheme, err);
    if (!f->body.scheme->row.creates)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "filters of scheme %s are only made like others of it: use options.like "
                         "(--like)",
                         o->scheme);
    blm_status st = choose_kind(&f->body, o, err);
    if (st == BLM_OK && f->body.scheme->native)
        st = set_hash(&f->body.hasher, o, err);
    if (st == BLM_OK)
        st = set_version(&f->body, o, err);
    if (st == BLM_OK && f->body.scheme->row.by_caller)
        st = blm__new_functions(&f->body.hasher, o, err);
    if (st == BLM_OK)
        st = set_seed(&f->body.hasher, f->body.scheme, o, err);
    if (st == BLM_OK)
        st = blm__choose_funnel(&f->body.hasher, f->body.scheme, o->funnel, err);
    if (st == BLM_OK)
        st = blm__check_variant(f->body.scheme, o, err);
    return st;
}

static blm_status options_to_shape(blm_filter *f, const blm_options *o, struct blm__shape *s,
                                   blm_error *err)
{
    blm_status st = blm__filter_choose(f, o, err);
    if (st == BLM_OK)
        st = can_be_empty(&f->body, err);
    if (st != BLM_OK)
        return st;
    memset(s, 0, sizeof *s);
    s->kind    = f->body.kind;
    s->scheme  = f->body.scheme;
    s->variant = o->variant;
    if (!f->body.scheme->plan)
        return plan_native(f, o, s, err);
    s->rule      = BLM__POSITIONS;
    s->cell_bits = f->body.ops->row.cell_bits;
    if (blm__grows(&f->body))
        s->kind = BLM_CLASSIC;
    f->body.format = f->body.scheme->row.format;
    return f->body.scheme->plan(o, &f->body, s, err);
}

/* Everything of another filter but its keys. */
static blm_status shape_like(blm_filter *f, const blm_options *o, struct blm__shape *s,
                             blm_error *err)
{
    const blm_filter *like = o->like;
    blm_options       kind = *o;
    kind.kind              = like->body.kind;
    f->body.scheme         = like->body.scheme;
    blm_status st          = blm__like_agrees(o, err);
    if (st == BLM_OK)
        st = choose_kind(&f->body, &kind, err);
    if (st == BLM_OK)
        st = can_be_empty(&f->body, err);
    if (st != BLM_OK)
        return st;
    f->body.hasher        = like->body.hasher;
    f->body.hasher.secret = NULL; /* that one is the other's */
    f->body.rate          = like->body.rate;
    f->body.format        = like->body.format;
    *s                    = like->body.layers[0].shape;
    if (f->body.ops->like)
        f->body.ops->like(&f->body, &like->body, s);
    return BLM_OK;
}

blm_status blm__filter_hashes(blm_filter *f, const struct blm__shape *first, blm_error *err)
{
    if (!blm__hasher_ready(&f->body, first))
        return blm__fail(err, BLM_E_MEMORY, "no memory for a filter's secret");
    blm__body_singles(&f->body, first);
    return BLM_OK;
}

blm_status blm__filter_sized(const blm_options *o, blm_filter **out, struct blm__shape *first,
                             blm_error *err)
{
    blm_filter *f  = NULL;
    blm_status  st = blm__filter_blank(o, &f, err);
    if (st != BLM_OK)
        return st;
    st = o->like ? shape_like(f, o, first, err) : options_to_shape(f, o, first, err);
    if (st == BLM_OK)
        st = may_share(&f->body, err);
    if (st == BLM_OK)
        st = check_size(first, o, err);
    if (st == BLM_OK)
        st = blm__filter_hashes(f, first, err);
    if (st != BLM_OK) {
        blm_free(f);
        return st;
    }
    *out = f;
    return BLM_OK;
}

/* Is every layer one that the scheme could have made? */
static blm_status check_layers(const struct blm__body *b, blm_error *err)
{
    for (uint32_t i = 0; i < b->layer_count; i++) {
        const struct blm__shape *s     = &b->layers[i].shape;
        const char              *fault = s->scheme->fault ? s->scheme->fault(s) : NULL;
        uint32_t most = b->hasher.policy == BLM_SEED_FIXED ? s->scheme->seeded_probes : 0;
        if (s->probes == 0 && !s->scheme->no_probes)
            fault = "it has no probes";
        if (most && s->probes > most)
            fault = "with a seed it has fewer probes";
        if (s->scheme != b->scheme)
            fault = "its layers are of different schemes";
        if (fault)
            return blm__fail(err, BLM_E_FORMAT, "not a filter of scheme %s: %s",
                             b->scheme->row.name, fault);
    }
    return BLM_OK;
}

/* At a rate of 1, to the last digit, no answer says anything. Who said how many keys come is told so;
 * who only gave a shape (bits and probes, a filter of one bit) gets it, and no promise. */
static blm_status check_promise(struct blm__body *b, struct blm__shape *s, const blm_options *o,
                                blm_error *err)
{
    if (b->rate < 1 && s->rate < 1)
        return BLM_OK;
    if (o->items)
        return blm__fail(err, BLM_E_LIMIT,
                         "a filter of %llu bytes with %llu keys answers maybe to everything; give "
                         "it more memory, or fewer keys%s",
                         (unsigned long long)blm__shape_words(s) * 8, (unsigned long long)o->items,
                         o->probes ? " or probes" : "");
    s->rate = b->rate = 0;
    return BLM_OK;
}

/* What its readers would refuse is not made. Plans refuse what they know of, in better words. */
static blm_status check_readable(const struct blm__body *real, const struct blm__shape *first,
                                 blm_error *err)
{
    bool              native = real->scheme->native;
    struct blm__body  b      = *real;
    struct blm__layer layer  = { .shape = *first, .engine = blm__engine_of(first) };
    blm_error         why;
    b.layers      = &layer;
    b.layer_count = b.layer_room = 1;
    blm_status st                = blm__shape_valid(first, native, BLM_NO_OFFSET, &why);
    if (st == BLM_OK)
        st = check_layers(&b, &why);
    if (st == BLM_OK)
        st = blm__body_valid(&b, native, BLM_NO_OFFSET, &why);
    if (st == BLM_E_FORMAT) /* of bytes that are not there yet */
        st = BLM_E_ARGUMENT;
    return st == BLM_OK ? BLM_OK : blm__fail(err, st, "%s", why.text);
}

blm_status blm__filter_prepare(const blm_options *o, blm_filter **out, struct blm__shape *first,
                               blm_error *err)
{
    blm_filter *f  = NULL;
    blm_status  st = blm__filter_sized(o, &f, first, err);
    if (st != BLM_OK)
        return st;
    st = check_promise(&f->body, first, o, err);
    if (st == BLM_OK)
        st = check_readable(&f->body, first, err);
    if (st != BLM_OK) {
        blm_free(f);
        return st;
    }
    *out = f;
    return BLM_OK;
}

blm_status blm__filter_finish(blm_filter *f, const blm_options *o, blm_error *err)
{
    struct blm__body   *b = &f->body;
    struct blm__hasher *h = &b->hasher;
    b->ops                = blm__kind_of(b->kind);
    b->scheme             = b->layer_count ? b->layers[0].shape.scheme : NULL;
    if (!b->ops || !b->scheme || !(b->scheme->row.kinds >> b->kind & 1))
        return blm__fail(err, BLM_E_FORMAT, "kind and scheme do not go together");
    if (b->scheme->missing)
        return no_library(b->scheme, err);
    if (b->shared && (!(b->ops->row.can & BLM_CAN_SHARE) || b->scheme->exchanges))
        return blm__fail(err, BLM_E_UNSUPPORTED, "a %s filter cannot be shared between threads",
                         b->ops->row.name);
    blm_status st = may_share(b, err);
    if (st == BLM_OK)
        st = check_layers(b, err);
    if (st != BLM_OK)
        return st;
    if (b->scheme->row.by_caller) {
        st = blm__old_functions(h, o, err);
        if (st != BLM_OK)
            return st;
    } else if (h->id == BLM_HASH_CUSTOM) {
        if (!o->hash_fn || !o->hash_name || strcmp(o->hash_name, h->name) != 0)
            return blm__fail(err, BLM_E_HASH,
                             "the filter was made with the custom hash %s: give it in "
                             "options.hash_fn and hash_name",
                             h->name);
        h->fn  = o->hash_fn;
        h->ctx = o->hash_ctx;
    }
    st = blm__choose_funnel(h, b->scheme, o->funnel, err);
    if (st == BLM_OK)
        st = blm__filter_hashes(f, &b->layers[0].shape, err);
    if (st == BLM_OK && b->ops->opened)
        b->ops->opened(b);
    return st;
}

/* The caller's words: their number decides m unless bits are given. */
static blm_status over_words(const blm_options *o, blm_options *sized, blm_error *err)
{
    *sized = *o;
    if ((uintptr_t)o->words % 8)
        return blm__fail(err, BLM_E_ARGUMENT, "options.words is not aligned to 8 bytes");
    if (o->word_count == 0 || o->word_count > BLM__MAX_BITS / 64)
        return blm__fail(err, BLM_E_LIMIT, "options.word_count is %llu: 1 to 2^42",
                         (unsigned long long)o->word_count);
    if (o->bits == 0 && o->memory == 0 && !o->like)
        sized->bits = o->word_count * 64;
    return BLM_OK;
}

static blm_status make_layer(blm_filter *f, const struct blm__shape *s, const blm_options *o,
                             blm_error *err)
{
    if (!o->words)
        return f->body.store->add_layer(&f->body, s, err);
    uint64_t need = blm__shape_words(s);
    if (need > o->word_count)
        return blm__fail(err, BLM_E_LIMIT, "the filter takes %llu words, %llu were given",
                         (unsigned long long)need, (unsigned long long)o->word_count);
    if (!blm__slack_clear(s, o->words))
        return blm__fail(err, BLM_E_ARGUMENT,
                         "options.words has bits set past the filter's %llu: clear them",
                         (unsigned long long)s->bits);
    bool adopt = (o->flags & BLM_ADOPT) != 0;
    if (adopt && need != o->word_count)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "adopted words must be used whole: %llu given, %llu used",
                         (unsigned long long)o->word_count, (unsigned long long)need);
    return blm__memory_borrow(&f->body, s, o->words, adopt, err);
}

blm_status blm_create(const blm_options *options, blm_filter **out, blm_error *err)
{
    blm_options o;
    if (!out)
        return blm__fail(err, BLM_E_ARGUMENT, "nowhere to put the filter: out is NULL");
    *out          = NULL;
    blm_status st = blm__options_read(options, false, &o, err);
    if (st == BLM_OK && o.words) {
        blm_options given = o;
        st                = over_words(&given, &o, err);
    }
    blm_filter       *f = NULL;
    struct blm__shape first;
    if (st == BLM_OK)
        st = blm__filter_prepare(&o, &f, &first, err);
    if (st != BLM_OK)
        return st;
    st = make_layer(f, &first, &o, err);
    if (st != BLM_OK) {
        blm_free(f);
        return st;
    }
    *out = f;
    return BLM_OK;
}

blm_status blm_close(blm_filter *f, blm_error *err)
{
    if (!f)
        return BLM_OK;
    if (f->body.ops && f->body.ops->close)
        f->body.ops->close(&f->body);
    blm_status    st = f->body.store->close(&f->body, err);
    blm_allocator a  = f->own;
    blm__free(&a, f->body.attached, f->body.attached_len);
    blm__free(&a, f->body.hasher.secret, sizeof *f->body.hasher.secret);
    blm__free(&a, f, sizeof *f);
    return st;
}

void blm_free(blm_filter *f) { (void)blm_close(f, NULL); }

void blm_set_progress(blm_filter *f, blm_progress_fn fn, void *ctx)
{
    f->body.progress     = fn;
    f->body.progress_ctx = ctx;
}

void blm_set_threads(blm_filter *f, uint32_t threads) { f->threads = threads; }
