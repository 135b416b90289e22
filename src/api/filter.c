/* SPDX-License-Identifier: MIT */
/* The public calls that make filters and ask them: check the arguments, then join kind, scheme,
 * kernel and store. Set operations are in combine.c, numbers in measure.c, files in files.c. */
#include "api/filter.h"

#include <string.h>

#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "core/hash/xxh3_key.h"
#include "core/kernel/counters.h"
#include "core/kernel/steps.h"
#include "core/random.h"
#include "core/shape.h"
#include "store/store.h"

#define FLAGS (BLM_SHARED | BLM_SEEDED | BLM_WRITE | BLM_VERIFY | BLM_REPLACE | BLM_ADOPT)

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
    f->threads           = o->threads;
    *out                 = f;
    return BLM_OK;
}

static blm_status set_hash(struct blm_hasher *h, const blm_options *o, blm_error *err)
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
    size_t len = o->hash_name ? strlen(o->hash_name) : 0;
    if (len < 1 || len > 15)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "a custom hash needs options.hash_name, 1 to 15 bytes, so that files "
                         "can say which it is");
    memcpy(h->name, o->hash_name, len + 1);
    h->fn  = o->hash_fn;
    h->ctx = o->hash_ctx;
    return BLM_OK;
}

static blm_status set_seed(struct blm_hasher *h, const struct blm_scheme *s, const blm_options *o,
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
            return blm__fail(err, BLM_E_IO, "the system gives no random bytes: give a seed");
        h->policy = BLM_SEED_RANDOM;
    }
    return BLM_OK;
}

blm_status blm__choose_funnel(struct blm_hasher *h, const struct blm_scheme *s, const char *name,
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

/* The kind asked for, or the one the scheme is kept in when none was. */
static blm_status choose_kind(blm_filter *f, const blm_options *o, blm_error *err)
{
    uint32_t kinds = f->scheme->row.kinds;
    blm_kind kind  = o->kind;
    if (!blm__kind_ops(kind))
        return blm__fail(err, BLM_E_ARGUMENT, "unknown kind %d", (int)kind);
    if (kind == BLM_CLASSIC && !(kinds & 1u << BLM_CLASSIC))
        while (!(kinds >> kind & 1))
            kind++;
    if (!(kinds >> kind & 1))
        return blm__fail(err, BLM_E_UNSUPPORTED, "scheme %s is not kept in a %s filter",
                         f->scheme->row.name, blm_kind_name(kind));
    f->kind      = blm__kind_ops(kind);
    f->body.kind = kind;
    if ((o->flags & BLM_SHARED) && !f->kind->shares)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "a %s filter cannot be shared between threads: use classic, blocked or "
                         "counting, or a lock of your own",
                         f->kind->name);
    f->body.shared = (o->flags & BLM_SHARED) != 0;
    return BLM_OK;
}

static blm_status check_size(const struct blm_shape *s, const blm_options *o, blm_error *err)
{
    uint64_t bytes = blm__shape_words(s) * 8;
    if (s->bits == 0 || s->bits > BLM__MAX_BITS)
        return blm__fail(err, BLM_E_LIMIT, "%llu bits: a filter has 1 to 2^48",
                         (unsigned long long)s->bits);
    if ((s->probes == 0 && !s->scheme->no_probes) || s->probes > BLM__MAX_PROBES)
        return blm__fail(err, BLM_E_ARGUMENT, "%u probes: a filter has 1 to %u",
                         (unsigned)s->probes, (unsigned)BLM__MAX_PROBES);
    if (o->max_bytes && bytes > o->max_bytes)
        return blm__fail(err, BLM_E_LIMIT, "the filter takes %llu bytes, past the cap of %llu",
                         (unsigned long long)bytes, (unsigned long long)o->max_bytes);
    return BLM_OK;
}

/* Native: the kind plans. What does not fit the asked memory is refused here, not in the plan. */
static blm_status plan_native(blm_filter *f, const blm_options *o, struct blm_shape *s,
                              blm_error *err)
{
    blm_plan   p  = { .size = sizeof p };
    blm_status st = f->kind->plan(o, &p, err);
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
    f->kind->shape(o, &p, &f->body, s);
    return BLM_OK;
}

static blm_status no_library(const struct blm_scheme *s, blm_error *err)
{
    return blm__fail(err, BLM_E_UNSUPPORTED, "scheme %s needs %s, which this build has not",
                     s->row.name, s->missing);
}

static blm_status options_to_shape(blm_filter *f, const blm_options *o, struct blm_shape *s,
                                   blm_error *err)
{
    f->scheme = blm__scheme_find(o->scheme);
    if (!f->scheme)
        return blm__fail(err, BLM_E_ARGUMENT, "unknown scheme %s", o->scheme);
    if (f->scheme->missing)
        return no_library(f->scheme, err);
    if (!f->scheme->row.creates)
        return blm__fail(err, BLM_E_UNSUPPORTED, "scheme %s is for reading only", o->scheme);
    blm_status st = choose_kind(f, o, err);
    if (st == BLM_OK && f->scheme->native)
        st = set_hash(&f->body.hasher, o, err);
    if (st == BLM_OK && f->scheme->row.by_caller)
        st = blm__new_functions(&f->body.hasher, o, err);
    if (st == BLM_OK)
        st = set_seed(&f->body.hasher, f->scheme, o, err);
    if (st == BLM_OK)
        st = blm__choose_funnel(&f->body.hasher, f->scheme, o->funnel, err);
    if (st != BLM_OK)
        return st;
    memset(s, 0, sizeof *s);
    s->kind    = f->body.kind;
    s->scheme  = f->scheme;
    s->variant = o->variant;
    if (!f->scheme->plan)
        return plan_native(f, o, s, err);
    s->engine    = BLM__POSITIONS;
    s->cell_bits = s->kind == BLM_COUNTING ? 4 : 1;
    if (s->kind == BLM_SCALABLE)
        s->kind = BLM_CLASSIC;
    f->body.format = f->scheme->row.format;
    return f->scheme->plan(o, &f->body, s, err);
}

/* Everything of another filter but its keys. */
static blm_status shape_like(blm_filter *f, const blm_options *o, struct blm_shape *s,
                             blm_error *err)
{
    const blm_filter *like = o->like;
    if (o->items || o->rate != 0 || o->bits || o->probes || o->memory)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "options.like gives the size: items, rate, bits, probes and memory must "
                         "be 0");
    f->scheme        = like->scheme;
    blm_options kind = *o;
    kind.kind        = like->body.kind;
    blm_status st    = choose_kind(f, &kind, err);
    if (st != BLM_OK)
        return st;
    f->body.hasher     = like->body.hasher;
    f->body.rate       = like->body.rate;
    f->body.growth     = like->body.growth;
    f->body.tightening = like->body.tightening;
    f->body.rate_cap   = like->body.rate_cap;
    f->body.format     = like->body.format;
    *s                 = like->body.layers[0].shape;
    if (f->body.kind == BLM_SCALABLE && s->rate > 0)
        f->body.rate =
            s->scheme->native ? s->rate / blm__first_share(s, f->body.tightening) : like->body.rate;
    return BLM_OK;
}

blm_status blm__filter_prepare(const blm_options *o, blm_filter **out, struct blm_shape *first,
                               blm_error *err)
{
    blm_filter *f  = NULL;
    blm_status  st = blm__filter_blank(o, &f, err);
    if (st != BLM_OK)
        return st;
    st = o->like ? shape_like(f, o, first, err) : options_to_shape(f, o, first, err);
    if (st == BLM_OK)
        st = check_size(first, o, err);
    if (st != BLM_OK) {
        blm_free(f);
        return st;
    }
    blm__hasher_tag(&f->body.hasher, first);
    blm__filter_singles(f, first);
    *out = f;
    return BLM_OK;
}

blm_status blm__filter_settle(blm_filter *f, const blm_options *o, blm_error *err)
{
    struct blm_body   *b = &f->body;
    struct blm_hasher *h = &b->hasher;
    f->kind              = blm__kind_ops(b->kind);
    f->scheme            = b->layer_count ? b->layers[0].shape.scheme : NULL;
    if (!f->kind || !f->scheme || !(f->scheme->row.kinds >> b->kind & 1))
        return blm__fail(err, BLM_E_FORMAT, "kind and scheme do not go together");
    if (f->scheme->missing)
        return no_library(f->scheme, err);
    if (b->shared && !f->kind->shares)
        return blm__fail(err, BLM_E_UNSUPPORTED, "a %s filter cannot be shared between threads",
                         f->kind->name);
    for (uint32_t i = 0; i < b->layer_count; i++) {
        const struct blm_shape *s     = &b->layers[i].shape;
        const char             *fault = s->scheme->fault ? s->scheme->fault(s) : NULL;
        if (s->probes == 0 && !s->scheme->no_probes)
            fault = "it has no probes";
        if (s->scheme != f->scheme)
            fault = "its layers are of different schemes";
        if (fault)
            return blm__fail(err, BLM_E_FORMAT, "not a filter of scheme %s: %s",
                             f->scheme->row.name, fault);
    }
    if (f->scheme->row.by_caller) {
        blm_status own = blm__old_functions(h, o, err);
        if (own != BLM_OK)
            return own;
    } else if (h->id == BLM_HASH_CUSTOM) {
        if (!o->hash_fn || !o->hash_name || strcmp(o->hash_name, h->name) != 0)
            return blm__fail(err, BLM_E_HASH,
                             "the filter was made with the custom hash %s: give it in "
                             "options.hash_fn and hash_name",
                             h->name);
        h->fn  = o->hash_fn;
        h->ctx = o->hash_ctx;
    }
    blm_status st = blm__choose_funnel(h, f->scheme, o->funnel, err);
    if (st == BLM_OK) {
        blm__hasher_tag(h, &b->layers[0].shape);
        blm__filter_singles(f, &b->layers[0].shape);
    }
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
    blm_kind kind = o->like ? o->like->body.kind : o->kind;
    if (kind != BLM_CLASSIC && kind != BLM_BLOCKED)
        return blm__fail(err, BLM_E_UNSUPPORTED,
                         "only classic and blocked filters can be made over a caller's words");
    if (o->bits == 0 && o->memory == 0 && !o->like)
        sized->bits = o->word_count * 64;
    return BLM_OK;
}

static blm_status make_layer(blm_filter *f, const struct blm_shape *s, const blm_options *o,
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
    blm_filter      *f = NULL;
    struct blm_shape first;
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
    blm_status    st = f->body.store->close(&f->body, err);
    blm_allocator a  = f->own;
    blm__young_end(&f->body);
    blm__free(&a, f->body.attached, f->body.attached_len);
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

/* ---- one key ---- */

/* A key as a batch of one, hashed for the filter's scheme. */
struct one {
    uint64_t         h, step;
    blm_digest       d;
    struct blm_batch batch;
};

static void hash_one(const blm_filter *f, const void *key, size_t len, struct one *k)
{
    k->batch = (struct blm_batch){ .n = 1 };
    if (f->scheme->native) {
        k->h       = blm__native_hash(&f->body.hasher, key, len);
        k->batch.h = &k->h;
    } else if (f->scheme->wrap) {
        struct blm_key_array keys = { .fixed = key ? key : "", .width = len };
        f->scheme->pairs(&f->body.hasher, f->body.kernel, &keys, 1, &k->h, &k->step);
        k->batch.h    = &k->h;
        k->batch.step = &k->step;
    } else {
        f->scheme->digest(&f->body.hasher, f->body.layers[0].shape.probes, key ? key : "", len,
                          &k->d);
        k->batch.d = &k->d;
    }
}

static blm_status add_batch(blm_filter *f, const struct blm_batch *k)
{
    uint8_t    fresh;
    size_t     done;
    blm_status st = f->kind->add(&f->body, k, &fresh, &done);
    return st != BLM_OK ? st : fresh ? BLM_OK : BLM_PRESENT;
}

/* The long way, for filters that no kernel has a function for. */
static blm_status add_any(struct blm_body *b, const void *key, size_t len)
{
    blm_filter *f = (blm_filter *)(void *)b;
    struct one  k;
    if (!key && len)
        return BLM_E_ARGUMENT;
    if (b->read_only)
        return BLM_E_READONLY;
    hash_one(f, key, len, &k);
    return add_batch(f, &k.batch);
}

static bool check_any(const struct blm_body *b, const void *key, size_t len)
{
    const blm_filter *f = (const blm_filter *)(const void *)b;
    struct one        k;
    uint8_t           maybe;
    if (!key && len)
        return true; /* not a key: we cannot know */
    hash_one(f, key, len, &k);
    return f->kind->check(b, &k.batch, &maybe) != 0;
}

static bool check_native(const struct blm_body *b, const void *key, size_t len)
{
    const blm_filter *f = (const blm_filter *)(const void *)b;
    if (!key && len)
        return true;
    return f->kind->check_one(b, blm__native_hash(&b->hasher, key, len));
}

/* Schemes that step: two words of a key instead of a digest. */
static bool steps_of(const struct blm_body *b, const void *key, size_t len, uint64_t *start,
                     uint64_t *step)
{
    const blm_filter    *f    = (const blm_filter *)(const void *)b;
    struct blm_key_array keys = { .fixed = key ? key : "", .width = len };
    if (!key && len)
        return false;
    f->scheme->pairs(&b->hasher, b->kernel, &keys, 1, start, step);
    return true;
}

/* The layers themselves, the newest first. */
static bool check_steps(const struct blm_body *b, const void *key, size_t len)
{
    uint64_t start, step;
    if (!steps_of(b, key, len, &start, &step))
        return true;
    for (uint32_t i = b->layer_count; i-- > 0;)
        if (blm__steps_check_one(&b->layers[i], start, step))
            return true;
    return b->kind == BLM_SCALABLE && b->store->stale && b->store->stale(b);
}

/* Where there is one layer, and never another. */
static blm_status add_steps(struct blm_body *b, const void *key, size_t len)
{
    uint64_t start, step;
    if (!steps_of(b, key, len, &start, &step))
        return BLM_E_ARGUMENT;
    if (b->read_only)
        return BLM_E_READONLY;
    return blm__added_key(b->layers, blm__steps_add_one(b->layers, start, step, b->shared),
                          b->shared);
}

void blm__filter_singles(blm_filter *f, const struct blm_shape *first)
{
    struct blm_body         *b = &f->body;
    const struct blm_kernel *v = b->kernel;
    b->flip                    = blm__xxh3_turn(blm__xxh3_flip(b->hasher.seed[0]));
    blm__body_quick(b);
    b->check_key = f->scheme->native ? check_native : check_any;
    b->add_key   = add_any;
    if (f->scheme->wrap) {
        b->check_key = check_steps;
        b->add_key   = b->kind == BLM_SCALABLE ? add_any : add_steps;
    }
    if (!f->scheme->native || b->hasher.id != BLM_HASH_XXH3)
        return;
    if (b->kind == BLM_BLOCKED && first->engine == BLM__LINES) {
        bool one     = first->lines == 1;
        b->check_key = one ? v->line_check_key : v->lines_check_key;
        b->add_key = b->shared ? v->lines_add_key_shared : one ? v->line_add_key : v->lines_add_key;
    } else if (b->kind == BLM_CLASSIC && first->engine == BLM__CHAIN) {
        b->check_key = v->chain_check_key;
        b->add_key   = b->shared ? v->chain_add_key_shared : v->chain_add_key;
    } else if (b->kind == BLM_COUNTING && first->engine == BLM__SHORT && first->cell_bits > 1) {
        const struct blm_counters *c = blm__counters_of(v);
        if (c->check_key)
            b->check_key = c->check_key;
        if (c->add_key && !b->shared)
            b->add_key = c->add_key;
    }
}

blm_status blm_add(blm_filter *f, const void *key, size_t len)
{
    return f->body.add_key(&f->body, key, len);
}

bool blm_check(const blm_filter *f, const void *key, size_t len)
{
    return f->body.check_key(&f->body, key, len);
}

blm_status blm_remove(blm_filter *f, const void *key, size_t len)
{
    if (!key && len)
        return BLM_E_ARGUMENT;
    if (!f->kind->remove)
        return BLM_E_UNSUPPORTED;
    if (f->body.read_only)
        return BLM_E_READONLY;
    struct one k;
    uint8_t    gone;
    hash_one(f, key, len, &k);
    return f->kind->remove(&f->body, &k.batch, &gone) ? BLM_OK : BLM_E_ABSENT;
}

/* ---- digests ---- */

static bool digest_fits(const blm_filter *f, const blm_digest *d)
{
    return d->tag == f->body.hasher.tag &&
           (!f->scheme->per_probe || d->w[26] >= f->body.layers[0].shape.probes);
}

blm_status blm_digest_of(const blm_filter *f, const void *key, size_t len, blm_digest *out)
{
    if (!key && len)
        return BLM_E_ARGUMENT;
    memset(out, 0, sizeof *out);
    f->scheme->digest(&f->body.hasher, f->body.layers[0].shape.probes, key ? key : "", len, out);
    out->tag = f->body.hasher.tag;
    if (f->scheme->per_probe)
        out->w[26] = f->body.layers[0].shape.probes;
    return BLM_OK;
}

static struct blm_batch digest_batch(const blm_filter *f, const blm_digest *d)
{
    struct blm_batch k = { .n = 1 };
    if (f->scheme->native)
        k.h = d->w;
    else
        k.d = d;
    return k;
}

blm_status blm_add_digest(blm_filter *f, const blm_digest *d)
{
    if (f->body.read_only)
        return BLM_E_READONLY;
    if (!digest_fits(f, d))
        return BLM_E_MISMATCH;
    struct blm_batch k = digest_batch(f, d);
    return add_batch(f, &k);
}

bool blm_check_digest(const blm_filter *f, const blm_digest *d)
{
    if (!digest_fits(f, d))
        return true;
    if (f->scheme->native)
        return f->kind->check_one(&f->body, d->w[0]);
    struct blm_batch k = digest_batch(f, d);
    uint8_t          maybe;
    return f->kind->check(&f->body, &k, &maybe) != 0;
}

/* ---- positions ---- */

static blm_status list_positions(const blm_filter *f, const void *key, size_t len, uint64_t *out,
                                 size_t cap, size_t *count, bool raw)
{
    blm_digest d;
    blm_status st = blm_digest_of(f, key, len, &d);
    if (st != BLM_OK)
        return st;
    uint64_t base = 0;
    size_t   n    = 0;
    for (uint32_t i = 0; i < f->body.layer_count; i++) {
        const struct blm_shape *s = &f->body.layers[i].shape;
        uint64_t                pos[BLM__MAX_PROBES];
        if (!raw)
            f->scheme->positions(s, &d, pos);
        else if (!f->scheme->positions_raw || !f->scheme->positions_raw(s, &d, pos))
            return BLM_E_UNSUPPORTED;
        for (uint32_t j = 0; j < blm__shape_probes(s); j++, n++)
            if (n < cap)
                out[n] = raw ? pos[j] : base + pos[j];
        base += s->bits;
    }
    *count = n;
    return BLM_OK;
}

blm_status blm_positions(const blm_filter *f, const void *key, size_t len, uint64_t *out,
                         size_t cap, size_t *count)
{
    return list_positions(f, key, len, out, cap, count, false);
}

blm_status blm_positions_raw(const blm_filter *f, const void *key, size_t len, uint64_t *out,
                             size_t cap, size_t *count)
{
    return list_positions(f, key, len, out, cap, count, true);
}

static bool cell_in_use(const struct blm_layer *l, uint64_t cell)
{
    uint64_t bit = cell * l->shape.cell_bits;
    uint64_t w   = blm__le64(__atomic_load_n(&l->words[bit >> 6], __ATOMIC_RELAXED));
    return (w >> (bit & 63) & (l->shape.cell_bits == 4 ? 15 : 1)) != 0;
}

static bool check_list(const blm_filter *f, const uint64_t *pos, size_t count, bool raw)
{
    if (raw && !f->scheme->reduce)
        return true;
    uint64_t base = 0;
    for (uint32_t i = 0; i < f->body.layer_count; i++) {
        const struct blm_layer *l = &f->body.layers[i];
        /* One layer: whatever was given. Several: each has its own part of the list. */
        size_t part = f->body.layer_count == 1 ? count : blm__shape_probes(&l->shape);
        bool   all  = true;
        if (part > count)
            return true; /* a short list: we cannot know */
        for (size_t j = 0; j < part && all; j++) {
            uint64_t p = raw ? f->scheme->reduce(&l->shape, pos[j]) : pos[j] - base;
            if (!raw && pos[j] < base)
                return true;
            all = p >= l->shape.bits || cell_in_use(l, p);
        }
        if (all)
            return true;
        pos += part;
        count -= part;
        base += l->shape.bits;
    }
    return false;
}

bool blm_check_positions(const blm_filter *f, const uint64_t *pos, size_t count)
{
    return check_list(f, pos, count, false);
}

bool blm_check_positions_raw(const blm_filter *f, const uint64_t *pos, size_t count)
{
    return check_list(f, pos, count, true);
}
