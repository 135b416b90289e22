/* SPDX-License-Identifier: MIT */
/*
 * The plain structs in which kinds, schemes, codecs and stores meet.
 *
 *   shape   the parameters of one bit array: how many cells, how many probes, for how many keys
 *   layer   a shape and its bits
 *   body    everything a filter is: one layer, or several for scalable; the hasher they share
 *
 * Words in memory are little-endian bytes on every host (bit i is bit i % 8 of byte i / 8), so a
 * file's mapping is the filter. Code converts masks (blm__le64), not words.
 */
#ifndef BLM_CORE_BODY_H
#define BLM_CORE_BODY_H

#include <stdatomic.h>

#include "bloomery.h"
#include "core/alloc.h"
#include "core/bits.h"
#include "core/clock.h"
#include "core/forks.h"

struct blm__scheme; /* scheme/scheme.h */
struct blm__engine; /* engine/engine.h */
struct blm__kind;   /* kind/kind.h */
struct blm__kernel; /* core/kernel/kernel.h */
struct blm__store;  /* below */
struct blm__secret; /* core/hash/keyed.h */

#define BLM__MAX_BITS    ((uint64_t)1 << 48)
#define BLM__MAX_PROBES  2048u /* RedisBloom's smallest rates ask for 1 075 */
#define BLM__MAX_LINES   3u    /* lines per key … */
#define BLM__MAX_SHORT   5u    /* … and short lines */
#define BLM__MAX_LAYERS  256u  /* as many as a native file's directory has room for */
#define BLM__LINE_BITS   512u
#define BLM__LINE_WORDS  8u
#define BLM__SHORT_CELLS 128u /* of a short line: 64 bytes of counters, or 16 of bits */
#define BLM__COUNTER_MAX 15u
#define BLM__BUCKET      4u /* cells of a bucket */

#define BLM__FUSE_PROBES  3u
#define BLM__SEGMENT_MOST ((uint64_t)1 << 18) /* cells of a segment: as a kernel has bits for it */
#define BLM__MAX_PARTS    ((uint64_t)1 << 28)

/* How a key finds its cells. These numbers stand in files; together with what a cell is, and
 * whether the scheme steps, they say which engine a layer has (engine/engine.h). */
enum blm__rule {
    BLM__CHAIN     = 0, /* native: position i = mulhi(h·C^i, m) */
    BLM__LINES     = 1, /* native: L lines of 512 bits, one bit in each of k words of a line */
    BLM__POSITIONS = 2, /* any other scheme: its positions() says */
    BLM__SHORT   = 3, /* native: as LINES, but of 128 cells: counters, and the bits made of them */
    BLM__AGES    = 4, /* native: words that say of which turn they are (core/ages.h) */
    BLM__BUCKETS = 5, /* native: a fingerprint in one of two buckets of four cells */
    BLM__FUSE    = 6  /* native: a fingerprint that three cells add up to */
};

struct blm__shape {
    blm_kind                  kind; /* of this layer: never scalable */
    enum blm__rule            rule;
    const struct blm__scheme *scheme;
    uint64_t                  bits; /* m: cells (bits, or counters) */
    uint64_t line_count; /* LINES: bits / 512; SHORT: bits / 128; AGES: spans; BUCKETS: of a part;
                       FUSE: parts; else 0 */
    uint32_t probes;     /* k; for LINES and SHORT, cells per line (1…8) */
    uint32_t lines;      /* LINES, SHORT: lines per key; AGES: spans; else 0 */
    uint32_t cell_bits;  /* 1, 4 for counting, more for fingerprints */
    uint64_t capacity;   /* n it was planned for; 0: unknown */
    double   rate;       /* promised at capacity; 0: none */
    uint64_t variant;    /* the scheme's own: bip37 flags, redisbloom options, … */
    uint64_t aux[2];     /* the codec's or the kind's own, kept for writing back */
};

/* Bits that may be set: the cells, and before those of FUSE a word for each part. */
static inline uint64_t blm__shape_used(const struct blm__shape *s)
{
    return s->bits * s->cell_bits + (s->rule == BLM__FUSE ? s->line_count * 64 : 0);
}
/* 64-bit words that hold them. Fingerprints are read by the word, wherever they begin: behind them
 * is a word that stays 0. */
static inline uint64_t blm__shape_words(const struct blm__shape *s)
{
    return (blm__shape_used(s) + 63) / 64 + (s->rule == BLM__BUCKETS || s->rule == BLM__FUSE);
}
static inline uint32_t blm__shape_probes(const struct blm__shape *s)
{
    return s->lines ? s->lines * s->probes : s->probes;
}

/* Cells of a line; 0: there are none. */
static inline uint32_t blm__line_cells(enum blm__rule r)
{
    return r == BLM__LINES || r == BLM__AGES ? BLM__LINE_BITS
           : r == BLM__SHORT                 ? BLM__SHORT_CELLS
                                             : 0;
}

/* Lines that a key may have. */
static inline uint32_t blm__lines_most(enum blm__rule r)
{
    return r == BLM__LINES || r == BLM__AGES ? BLM__MAX_LINES
           : r == BLM__SHORT                 ? BLM__MAX_SHORT
                                             : 0;
}

/* What all layers of a filter share: how a key is hashed. */
struct blm__hasher {
    blm_hash        id;
    blm_hash_fn     fn;    /* custom */
    blm_probe_fn    probe; /* … of scheme functions */
    void           *ctx;
    char            name[16]; /* "xxh3", "siphash", or the custom one's */
    uint64_t        seed[2];
    blm_seed_policy policy;
    uint32_t        version; /* of the scheme */
    /* Made from the seed, owned by the body: native, version 2, hash xxh3; else NULL. */
    struct blm__secret *secret;
    uint64_t            tag;    /* of digests; never 0 */
    const char         *funnel; /* static text, or NULL: the scheme's first */
    uint64_t variant;           /* the shapes', but only what scheme->digest_variant leaves of it */
};

/* Items are counted in stripes when many threads add, each on a cache line of its own. */
#define BLM__STRIPES    16u
/* … and two more, for layers whose keys move: how many did, and a lock for those that add. */
#define BLM__MOVES      16u
#define BLM__ADDING     17u
/* … and sixteen for layers of lines: core/kernel/lanes.h. */
#define BLM__LANE_FIRST 18u
#define BLM__LANES      16u
/* … and a last one, for who is told of forks: a thread that has a lock stays with the parent. */
#define BLM__FORKED     34u
struct blm__stripe {
    union {
        _Alignas(64) _Atomic uint64_t count;
        struct blm__fork_watch watch;
    };
};
#define BLM__STRIPES_BYTES ((BLM__FORKED + 1) * sizeof(struct blm__stripe))

/* What core/kernel/steps.h needs of a scheme whose positions are (a + i·b mod 2^wrap) mod m. */
struct blm__steps {
    uint64_t m;      /* 0: this layer's positions are not of that form */
    uint64_t hi, lo; /* of ⌊(2^128 − 1) / m⌋ */
    uint64_t turn;   /* 2^wrap / m, the fraction, in units of 2^-64 */
    unsigned spare;  /* 64 − wrap */
};

struct blm__layer {
    struct blm__shape         shape;
    const struct blm__engine *engine;      /* set when the layer is made, with … */
    struct blm__steps         steps;       /* … what it works out beforehand */
    uint64_t                  turn_length; /* AGES: keys or milliseconds */
    struct blm__clock         clock;       /* AGES: the body's, kept by blm__body_ready */
    uint64_t                 *words;
    uint64_t                  word_count;
    uint64_t            items;   /* adds that were new (counting: adds less removes), but for … */
    struct blm__stripe *stripes; /* … those counted here: shared filters only, else NULL */
    struct blm__block   stripes_block; /* their memory, freed with the layer */
    bool                lanes;         /* batches lock lanes of it: line >> lane_shift says which */
    uint8_t             lane_shift;
    uint8_t            *marks;      /* one dirty mark a region (file-backed, writable), else NULL */
    unsigned            mark_shift; /* region = word index >> mark_shift */
    uint8_t            *live;       /* where a file keeps `items` between syncs (little-endian), so
                                   that a killed writer's count is there; NULL: nowhere */
    uint64_t           *moves;      /* where a file counts the cells that were moved, for its
                                   readers (core/kernel/buckets.h); NULL: nowhere */
    struct blm__block   block;      /* owned memory; size 0 when the words are someone else's */
};

/* Where layers live: memory (store/memory.c) or a mapped file (store/file.c). */
struct blm__body;
struct blm__store {
    const char *name;
    blm_backing backing;
    /* Appends an empty layer of this shape to the body, durable before it is visible. */
    blm_status (*add_layer)(struct blm__body *b, const struct blm__shape *s, blm_error *err);
    /* Keeps only the first `keep` layers. */
    blm_status (*drop_layers)(struct blm__body *b, uint32_t keep, blm_error *err);
    /* The newest layer takes the place of the first, which goes. NULL:
     * layers stay where they are. */
    void (*supplant)(struct blm__body *b);
    blm_status (*sync)(struct blm__body *b, blm_error *err);  /* NULL: nothing to do */
    blm_status (*close)(struct blm__body *b, blm_error *err); /* releases layers and b->store_ctx */
    blm_writer (*writer)(const struct blm__body *b);          /* NULL: none */
    bool (*stale)(const struct blm__body *b);                 /* NULL: never; true: a writer has
                                                                added layers we do not see */
    bool (*overtaken)(const struct blm__body *b); /* NULL: never; true: a writer has come since we
                                                     opened it */
    /* Before cells in use are overwritten, where an engine moves them: these bits of the layer as they
     * are now are on the disk when it returns. False: they are not, and must stay. NULL: nothing to
     * do. broken: whether that has failed, for good. */
    bool (*save)(const struct blm__body *b, const struct blm__layer *l, uint64_t bit,
                 uint64_t bits);
    bool (*broken)(const struct blm__body *b);
    /* Before it is written elsewhere: those bytes get checksums of their own, which must not vouch for
     * damage. NULL: there is none to find. */
    blm_status (*vouch)(const struct blm__body *b, blm_error *err);
    /* A file's identity, and how often its header had been written when it was opened. NULL: it is
     * no file. */
    void (*which)(const struct blm__body *b, uint8_t identity[16], uint64_t *writes);
};

/* What blm_check and blm_add do, argument checks and counting included. */
typedef bool (*blm__check_key)(const struct blm__body *b, const void *key, size_t len);
typedef blm_status (*blm__add_key)(struct blm__body *b, const void *key, size_t len);

/* layers[0] as the shortest single calls want it: each load through a pointer less is an
 * instruction of fifty. A copy, kept by blm__body_ready (engine/engine.h). */
struct blm__quick {
    uint64_t *words;
    uint64_t  line_count;
    size_t    add_len;   /* of keys that may be added without further questions: 8, or none's */
    uint8_t   needed[8]; /* the kernel's own, by how far the pattern of words is turned */
    uint8_t   ones[8][8];
};

struct blm__body {
    /* Single calls, chosen when the filter is made and never NULL: for the common native filters a
     * kernel's function that does it all, else the long way by scheme and kind (kind/one.c). First,
     * and a tail call with the caller's arguments in place: a check is few enough instructions for
     * each of them to count. What they choose by never changes in a filter's life. */
    blm__check_key    check_key;
    blm__add_key      add_key;
    uint64_t          flip; /* the seed as single 8-byte keys want it: blm__xxh3_8_one */
    struct blm__quick quick;

    blm_kind                  kind; /* of the whole filter */
    const struct blm__kind   *ops;  /* … and what it does; NULL while a decoder fills the body */
    const struct blm__scheme *scheme; /* of all layers; NULL likewise */
    struct blm__hasher        hasher;
    const struct blm__kernel *kernel;
    const blm_allocator      *alloc;  /* never NULL */
    struct blm__layer        *layers; /* oldest first */
    uint32_t                  layer_count, layer_room;
    uint32_t                  active; /* the layer that adds go to (scalable; else 0) */
    bool                      shared;
    bool                      read_only;
    bool                      unclosed; /* a writer has not closed it, or had not: see blm_params */
    bool   snapshot; /* a reader's, put right in its memory alone: a new writer makes it stale */
    double rate;     /* promised for the whole; 0: none */
    double growth, tightening, rate_cap; /* scalable; else 0 (growth 0: usual rule) */
    struct blm__clock        clock;      /* by which windows go */
    void                    *state;      /* the kind's own, behind its hooks; or NULL */
    const char              *format;     /* codec it came from; NULL: native. Static text */
    uint8_t                 *attached;   /* bytes a format carries along (dcso); NULL: none */
    size_t                   attached_len;
    uint64_t                 max_bytes; /* 0: none */
    uint64_t                 held;      /* what layers that store/memory.c added count for */
    const struct blm__store *store;     /* never NULL */
    void                    *store_ctx;
    blm_progress_fn          progress;
    void                    *progress_ctx;
};

/* What blm_params.unclosed says. A reader's words are those of a writer that came after it: to be asked
 * when they have been read. */
static inline bool blm__body_unclosed(const struct blm__body *b)
{
    return b->unclosed || (b->store->overtaken && b->store->overtaken(b));
}
/* Bytes of all layers' words. */
uint64_t blm__body_bytes(const struct blm__body *b);
uint64_t blm__body_held(const struct blm__body *b); /* … and what is attached */
/* E_LIMIT: so many bytes of this, beside those that are held, would pass max_bytes. For stores. */
blm_status blm__body_may_have(const struct blm__body *b, uint64_t held, uint64_t bytes,
                              const char *what, blm_error *err);
/* Items of a layer, stripes included. */
uint64_t blm__layer_items(const struct blm__layer *l);
/* Adds n to (or, exclusive only, takes from) a layer's items. */
void blm__layer_count(struct blm__layer *l, int64_t n);
/* Adds n in the same way, and says how many of those counted so the others may hear of: all, or
 * of a shared filter whole units of a stripe. */
uint64_t blm__layer_tally(struct blm__layer *l, uint64_t n, uint64_t unit);
/* Takes n off, which a file may have counted too low. Exclusive. */
void blm__layer_uncount(struct blm__layer *l, uint64_t n);
/* Makes it n, whatever was counted. Exclusive. */
void blm__layer_recount(struct blm__layer *l, uint64_t n);
/* Room for one more layer struct at the end (zeroed, not yet counted in layer_count); NULL: no
 * memory. For stores. */
struct blm__layer *blm__body_room(struct blm__body *b);
/* Room for so many, if there are none yet: a filter whose number of layers is known takes no more
 * than them. False: no memory. */
bool blm__body_reserve(struct blm__body *b, uint32_t layers);
/* Allocates stripes if the body is shared. False: no memory. For stores. */
bool blm__layer_stripes(struct blm__body *b, struct blm__layer *l);
/* They are about to move, or have moved to l->stripes. */
void blm__layer_stripes_leave(struct blm__layer *l);
void blm__layer_stripes_moved(struct blm__layer *l);
/* Frees them; l->stripes may be NULL and is NULL afterwards. Their counts are lost: move them into
 * l->items first where they still matter. For stores. */
void blm__layer_unstripe(struct blm__body *b, struct blm__layer *l);
/* Lets batches of shared adds lock lanes (core/kernel/lanes.h), if that is for this layer. Its words
 * are memory that no other filter changes, and its shape is set. For stores. */
void blm__layer_lanes(struct blm__layer *l);
/* Reports progress; false means the caller wants to stop. */
static inline bool blm__go_on(const struct blm__body *b, uint64_t done, uint64_t total)
{
    return !b->progress || b->progress(b->progress_ctx, done, total);
}

/* Dirty marks: 0 when the region's checksum holds, 1 when words have changed since, 2 while a sync
 * is at it. Set to 1 before the words change; on shared filters also after, which lets sync run
 * beside adds (docs/formats/native.md, "Marks", says why that is enough). The order is what counts,
 * so everything is sequentially consistent: a plain load on x86, one that acquires on ARM. */
static inline void blm__mark(const struct blm__layer *l, uint64_t word)
{
    uint8_t *m = &l->marks[word >> l->mark_shift];
    if (__atomic_load_n(m, __ATOMIC_SEQ_CST) != 1)
        __atomic_store_n(m, 1, __ATOMIC_SEQ_CST);
}
/* Where adds take turns because they move what others wrote, nobody adds to a shared filter between
 * these two. */
void blm__adds_stop(struct blm__body *b);
void blm__adds_go_on(struct blm__body *b);
/* Every region of the layer: before clear, union into, … */
void blm__mark_all(const struct blm__layer *l);

#endif
