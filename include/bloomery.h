/* SPDX-License-Identifier: MIT */
/*
 * bloomery - membership filters: "is this key in the set?" without the set.
 *
 *     #include <bloomery.h>
 *
 *     blm_options o = BLM_OPTIONS_INIT;
 *     o.items = 1000000;                       // n: how many keys will come
 *     o.rate  = 0.01;                          // p: how often "maybe" may be wrong
 *     blm_filter *f;
 *     if (blm_create(&o, &f, NULL) != BLM_OK) return 1;
 *     blm_add(f, "tuesday", 7);
 *     if (blm_check(f, "tuesday", 7)) puts("maybe");      // never a wrong "no"
 *     blm_free(f);
 *
 * What is promised
 *   A key that was added (and not removed) is never answered "no". A key that was not added is
 *   answered "maybe" no more often than the promised rate while no more than the planned number
 *   of keys is in the filter. blm_get_stats tells rate, fill and an estimate of the keys at any
 *   time.
 *
 * Conventions
 *   1. Keys are bytes and a length. Any bytes, any length, the empty key too.
 *   2. A call that can fail returns a blm_status: BLM_OK (0) or BLM_PRESENT (1) when it happened,
 *      negative when it did not (and then nothing changed, unless its comment says otherwise).
 *      A last argument `blm_error *err` may be NULL; else it is filled on failure with a sentence,
 *      and with a byte offset where the trouble is in bytes. Nothing is printed, no errno is set.
 *   3. A question has no error path: a filter that cannot know answers "maybe".
 *   4. create, open, decode, copy give you a filter: blm_free it. view borrows. free takes NULL.
 *   5. Option and result structs begin with their size, so that they can grow. Start options from
 *      BLM_OPTIONS_INIT; zero means "default". Start results from { .size = sizeof x }.
 *   6. Threads: any number may read (check, stats, encode) a filter that nobody is changing. With
 *      BLM_SHARED any number may add and check at once, without locks; what is exclusive even then
 *      says so. Different filters never share state.
 */
#ifndef BLOOMERY_H
#define BLOOMERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLM_VERSION_MAJOR 0
#define BLM_VERSION_MINOR 1
#define BLM_VERSION_PATCH 0
#define BLM_VERSION       "0.1.0"

#if defined(_WIN32)
#define BLM_API
#elif defined(__GNUC__)
#define BLM_API __attribute__((visibility("default")))
#else
#define BLM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ------------------------------------------------------------------------------ */

/* One row per status. Negative: it did not happen. Values are never reused. */
#define BLM_STATUS_MAP(X)                                                 \
    X(OK, 0, "ok")                                                        \
    X(PRESENT, 1, "every bit was already set")                            \
    X(E_MEMORY, -1, "out of memory")                                      \
    X(E_FORMAT, -2, "bytes are not a valid filter")                       \
    X(E_UNSUPPORTED, -3, "this kind, scheme or format cannot do this")    \
    X(E_ARGUMENT, -4, "an argument is outside its domain")                \
    X(E_LIMIT, -5, "a size overflows or exceeds the cap")                 \
    X(E_ABSENT, -6, "the key was never added")                            \
    X(E_MISMATCH, -7, "the filters differ in a parameter")                \
    X(E_IO, -8, "the system refused to read or write")                    \
    X(E_TRUNCATED, -9, "the bytes end too early")                         \
    X(E_CHECKSUM, -10, "a checksum does not match")                       \
    X(E_VERSION, -11, "written by a newer version")                       \
    X(E_BUSY, -12, "another writer has the file open")                    \
    X(E_READONLY, -13, "the filter was opened read-only")                 \
    X(E_SPACE, -14, "no space left on the device")                        \
    X(E_CANCELLED, -15, "cancelled by the caller")                        \
    X(E_FULL, -16, "the filter is full and may not grow")                 \
    X(E_INDIVISIBLE, -17, "the factor does not divide the size")          \
    X(E_EXISTS, -18, "the file exists")                                   \
    X(E_AMBIGUOUS, -19, "the bytes fit more than one format")             \
    X(E_HASH, -20, "the filter needs a hash function that was not given") \
    X(E_FUNNEL, -21, "the scheme has no such funnel")

typedef enum blm_status {
#define BLM_STATUS_ENUM(name, value, text) BLM_##name = value,
    BLM_STATUS_MAP(BLM_STATUS_ENUM)
#undef BLM_STATUS_ENUM
        BLM_STATUS_MIN = -1000 /* keeps the enum signed; never returned */
} blm_status;

/* What a status means, in English; for an unknown value, a text that says so. Never NULL. */
BLM_API const char *blm_status_text(blm_status s);
/* The status's name as it stands in this header: "BLM_E_FORMAT". Never NULL. */
BLM_API const char *blm_status_name(blm_status s);
/* The version of the library that is linked, "0.1.0". */
BLM_API const char *blm_version(void);

#define BLM_NO_OFFSET UINT64_MAX

/* Filled on failure, by calls that take one. Caller-owned, no memory behind it. */
typedef struct blm_error {
    blm_status status;
    int        system;    /* the system's error number behind E_IO, E_SPACE, …; else 0 */
    uint64_t   offset;    /* byte offset of the trouble in the input, or BLM_NO_OFFSET */
    uint16_t   named;     /* bytes at text's start that name the file and ": "; 0: none do */
    uint16_t   wrong;     /* bytes of text that say what is wrong, the name among them. A remedy in
                             the library's own words may follow, after "; " */
    char       text[256]; /* one sentence: what, where, what to do */
} blm_error;

/* ---- words ------------------------------------------------------------------------------- */

typedef struct blm_filter blm_filter; /* opaque; if you hold one, it is valid */

typedef enum blm_kind {
    BLM_CLASSIC  = 0, /* k bits anywhere in m: the smallest general filter; the default */
    BLM_BLOCKED  = 1, /* every probe inside one 64-byte line (two or three at strict rates): fast */
    BLM_COUNTING = 2, /* 4-bit saturating counters: can remove */
    BLM_SCALABLE = 3  /* grows layer by layer: for an unknown number of keys */
} blm_kind;

/* "classic" …; NULL for a value that is no kind. And back: false for an unknown name. */
BLM_API const char *blm_kind_name(blm_kind k);
BLM_API bool        blm_kind_from_name(const char *name, blm_kind *out);

/* What the filters of a kind can do (blm_kind_row.can), and one filter (blm_params.can). */
#define BLM_CAN_ADD       0x001u
#define BLM_CAN_REMOVE    0x002u
#define BLM_CAN_GROW      0x004u /* takes more keys than it was planned for, layer by layer */
#define BLM_CAN_SHARE     0x008u /* BLM_SHARED */
#define BLM_CAN_UNION     0x010u
#define BLM_CAN_INTERSECT 0x020u
#define BLM_CAN_FOLD      0x040u
#define BLM_CAN_REDUCE    0x080u
#define BLM_CAN_COMPARE   0x100u

typedef enum blm_hash {
    BLM_HASH_XXH3    = 0, /* XXH3-64, seeded: the default */
    BLM_HASH_SIPHASH = 1, /* SipHash-2-4 with a 128-bit key: when keys come from an adversary
                             who can also watch the answers */
    BLM_HASH_CUSTOM  = 2  /* options.hash_fn */
} blm_hash;

/* A caller's own hash. 64 well-mixed bits of (key, seed), the same on every call and machine. */
typedef uint64_t (*blm_hash_fn)(void *ctx, const void *key, size_t len, const uint64_t seed[2]);

/* The caller's own k hash functions (scheme "functions"): function i of the key, any 64 bits, the
 * same on every call and machine; position i is its value mod m. */
typedef uint64_t (*blm_probe_fn)(void *ctx, uint32_t i, const void *key, size_t len);

typedef struct blm_key {
    const void *data;
    size_t      len;
} blm_key;

/* A key hashed for one scheme and seed: hash once, ask many filters. Asking a filter of another
 * scheme or seed is answered "maybe", adding there is E_MISMATCH. Plain data, may be copied. */
typedef struct blm_digest {
    uint64_t tag;   /* names scheme, hash and seed; 0 is no digest */
    uint64_t w[27]; /* most schemes use the first one or two */
} blm_digest;

/* Where a filter's memory comes from. alloc returns NULL when it cannot; the result is aligned
 * for any C type. zalloc (may be NULL) returns zeroed memory. free gets the size back. */
typedef struct blm_allocator {
    void *ctx;
    void *(*alloc)(void *ctx, size_t size);
    void *(*zalloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *ptr, size_t size);
} blm_allocator;

/* Called now and then during a long call. Return false to cancel (then: E_CANCELLED). */
typedef bool (*blm_progress_fn)(void *ctx, uint64_t done, uint64_t total);

/* options.flags */
#define BLM_SHARED  0x001u /* adds and checks from many threads at once (not scalable) */
#define BLM_SEEDED  0x002u /* options.seed is given; else the seed comes from the OS */
#define BLM_WRITE   0x004u /* open: read-write; one writer at a time */
#define BLM_VERIFY  0x008u /* open, decode: check every checksum first */
#define BLM_REPLACE 0x010u /* create_file, save: an existing file may be replaced */
#define BLM_ADOPT   0x020u /* options.words now belongs to the filter, freed by its allocator */

/* What is wanted. Used by create, create_file, plan, open and decode; each reads its part. */
typedef struct blm_options {
    size_t      size; /* sizeof(blm_options), set by BLM_OPTIONS_INIT */
    blm_kind    kind;
    uint32_t    flags;  /* BLM_… above */
    const char *scheme; /* NULL: "native" */

    /* How large. (items, rate) · (items, memory) · (bits, probes) · (memory, rate) · …:
     * see blm_plan_for. A scalable filter takes items as its first layer's size. 0, in memory: it
     * begins small, keeps its keys' hashes, and is made anew, larger, from them, up to ten million
     * keys in one layer (blm_params.kept); in a file 131 072. */
    uint64_t items;  /* n, keys expected */
    double   rate;   /* p, false-positive rate wanted, 0 < p < 1 */
    uint64_t bits;   /* m; for counting, the number of counters */
    uint32_t probes; /* k */
    uint32_t lines;  /* lines per key, blocked 1…3, counting 1…5 (0: chosen from the rate) */
    uint64_t memory; /* bytes the filter's bits may take */

    const blm_filter *like; /* same parameters and seed as this one, so that they can meet */

    /* Bits over the caller's own words (classic, blocked), bit i being bit i % 8 of byte i / 8.
     * Kept as they are, not cleared; bits of the last word past m must be 0. Borrowed until
     * blm_free, or adopted with BLM_ADOPT. */
    uint64_t *words;
    uint64_t  word_count;

    /* Hash and seed. */
    blm_hash    hash;
    uint64_t    seed[2]; /* with BLM_SEEDED; XXH3 and most schemes use seed[0] only */
    blm_hash_fn hash_fn; /* with BLM_HASH_CUSTOM */
    void       *hash_ctx;
    const char *hash_name; /* 1…15 bytes, written to files so that a wrong hash is refused */

    /* Scalable. */
    double growth;     /* size of a layer over the one before, > 1 (0: after one of fewer than
                            2^15 keys 4, or where items was 0 to 2^17 keys; up to 2^17 16, fewer
                            than 2^23 4, else 2) */
    double tightening; /* rate of a layer over the one before, 0 < r < 1 (0: 0.85) */
    double rate_cap;   /* a union may not promise a worse rate (0: ten times rate, at most 1/2) */
    bool   layer_classic; /* layers are classic, not blocked: a little smaller, slower */

    /* Schemes of other systems: see docs/formats; 0 is each scheme's own default. */
    uint64_t    variant;
    const char *format; /* open, decode: the codec's name; NULL: sniff */
    const char *funnel; /* how text becomes hashed bytes, where a scheme has several ways */

    const blm_allocator *allocator; /* NULL: malloc and friends; must outlive the filter */
    uint64_t             max_bytes; /* refuse (E_LIMIT) to allocate more for one filter; 0: none */
    blm_progress_fn      progress;  /* for open, decode, and every later call on the filter */
    void                *progress_ctx;

    uint64_t offset;  /* open, decode: where in the input the filter starts, inside another file */
    uint32_t threads; /* for batches, as blm_set_threads says; 0 and 1: the caller's alone */

    /* With scheme "functions" (classic, counting; at most 26 probes), and hash_name, by which files
     * know them: opened without them, or under another name, is E_HASH. */
    blm_probe_fn probe_fn;
    void        *probe_ctx;
} blm_options;

#ifdef __cplusplus
#define BLM_OPTIONS_INIT blm_options_init()
#else
#define BLM_OPTIONS_INIT            \
    {                               \
        .size = sizeof(blm_options) \
    }
#endif
static inline blm_options blm_options_init(void)
{
#ifdef __cplusplus
    blm_options o = {};
#else
    blm_options o = { 0 };
#endif
    o.size = sizeof o;
    return o;
}

/* ---- the filter -------------------------------------------------------------------------- */

/* Makes an empty filter in memory. On success *out is yours to blm_free. */
BLM_API blm_status blm_create(const blm_options *o, blm_filter **out, blm_error *err);

/* Releases a filter and, if it was opened from a file, its mapping. A read-write file is synced
 * first; use blm_close to hear whether that worked. NULL is fine. Exclusive. */
BLM_API void       blm_free(blm_filter *f);
BLM_API blm_status blm_close(blm_filter *f, blm_error *err);

/* Adds a key. The key is read, not kept. BLM_OK: at least one bit was new; BLM_PRESENT: none was
 * (the key had probably been added before). Two threads adding one key to a shared filter at once
 * may both hear BLM_OK. E_READONLY; scalable: E_MEMORY, E_SPACE when it must grow and cannot. */
BLM_API blm_status blm_add(blm_filter *f, const void *key, size_t len);

/* false: the key was never added. true: it may have been. Cannot fail, does not allocate. */
BLM_API bool blm_check(const blm_filter *f, const void *key, size_t len);

/* Counting only: takes back one add of the key. E_ABSENT: the filter says it was never added, and
 * nothing changed. Removing a key that was never added but is answered "maybe" can make other
 * keys vanish: remove only what the data set confirms. Exclusive. */
BLM_API blm_status blm_remove(blm_filter *f, const void *key, size_t len);

/* Batches: the fast path. Keys are hashed, prefetched and probed in a pipeline.
 * `fresh[i]` / `maybe[i]` (arrays of `count` bytes, or NULL) become 1 where key i set a new bit /
 * may be present, else 0. Within one batch keys are added in order. check_* return the number of
 * "maybe". add_* report in *done (or NULL) how many keys were added before a failure.
 *
 * From a million keys on, into a filter larger than the processor's caches, an add first sorts the
 * keys of a round by the part of the filter they fall into, which halves the time or better. That
 * takes memory for the length of the call, as much as the filter has up to 128 MiB and past that a
 * quarter of it, from the filter's allocator;
 * when there is none, keys are added the ordinary way. */
BLM_API blm_status blm_add_many(blm_filter *f, const blm_key *keys, size_t count, uint8_t *fresh,
                                size_t *done);
BLM_API size_t     blm_check_many(const blm_filter *f, const blm_key *keys, size_t count,
                                  uint8_t *maybe);
/* Keys of one width, side by side in one buffer: integers, hashes, UUIDs. */
BLM_API blm_status blm_add_fixed(blm_filter *f, const void *keys, size_t width, size_t count,
                                 uint8_t *fresh, size_t *done);
BLM_API size_t blm_check_fixed(const blm_filter *f, const void *keys, size_t width, size_t count,
                               uint8_t *maybe);

/* blm_remove of many keys, in order. `gone[i]` (or NULL) becomes 1 where one add of key i was taken
 * back, 0 where the filter says that it was never added: no failure here. *removed (or NULL) is how
 * many were. E_ARGUMENT at a key that is none; the keys before it have been removed. Exclusive. */
BLM_API blm_status blm_remove_many(blm_filter *f, const blm_key *keys, size_t count, uint8_t *gone,
                                   size_t *removed);
BLM_API blm_status blm_remove_fixed(blm_filter *f, const void *keys, size_t width, size_t count,
                                    uint8_t *gone, size_t *removed);

/* Hash once, ask many. The digest is good for every filter with the same scheme, hash and seed
 * (and, for schemes that hash once per probe, no more probes). */
BLM_API blm_status blm_digest_of(const blm_filter *f, const void *key, size_t len, blm_digest *out);
BLM_API blm_status blm_add_digest(blm_filter *f, const blm_digest *d);
BLM_API bool       blm_check_digest(const blm_filter *f, const blm_digest *d);
BLM_API blm_status blm_add_digests(blm_filter *f, const blm_digest *d, size_t count, uint8_t *fresh,
                                   size_t *done);
BLM_API size_t     blm_check_digests(const blm_filter *f, const blm_digest *d, size_t count,
                                     uint8_t *maybe);

/* Forgets every key; parameters and seed stay.
 * A scalable filter keeps its first layer. Exclusive. */
BLM_API blm_status blm_clear(blm_filter *f);

/* A copy in memory, whatever the original lives in; same allocator. */
BLM_API blm_status blm_copy(const blm_filter *f, blm_filter **out, blm_error *err);

/* Same parameters, same seed, same bits. (How many keys were counted does not matter.) */
BLM_API bool blm_equal(const blm_filter *a, const blm_filter *b);

/* BLM_OK: they can meet, by blm_union, and where their kind has it by blm_intersect and
 * blm_compare. E_MISMATCH names what differs. Reads parameters only. */
BLM_API blm_status blm_can_meet(const blm_filter *a, const blm_filter *b, blm_error *err);

/* dst becomes dst ∪ src / dst ∩ src. Parameters and seed must be the same: E_MISMATCH names the
 * one that differs. Counting: counters are added (saturating) / the smaller one stays. Scalable:
 * a union appends src's layers, promised rates add up, and E_LIMIT refuses to pass rate_cap;
 * intersection is E_UNSUPPORTED. An intersection keeps every common key but its rate lies between
 * that of a filter built from the common keys and that of the smaller operand. Exclusive on dst.
 * Cancelled by progress, part of the work is done: no key that the result should have is lost. */
BLM_API blm_status blm_union(blm_filter *dst, const blm_filter *src, blm_error *err);
BLM_API blm_status blm_intersect(blm_filter *dst, const blm_filter *src, blm_error *err);

/* A filter 1/factor the size that answers "maybe" for every key the original does, made without
 * the keys; k stays. factor must divide m (with lines: their number), else E_INDIVISIBLE. */
BLM_API blm_status blm_fold(const blm_filter *f, uint64_t factor, blm_filter **out, blm_error *err);

/* Counting only: the plain filter with the same answers, in a quarter of the memory (blocked, in
 * lines of 16 bytes; of another system's scheme, classic). What a cache hands out of its own
 * counting filter: the copy follows the original by blm_diff of one
 * reduced snapshot and the next. */
BLM_API blm_status blm_reduce(const blm_filter *f, blm_filter **out, blm_error *err);

/* The bits of one layer, borrowed until the next change to the filter. Byte order as in files:
 * bit i is bit i % 8 of byte i / 8. NULL when there is no such layer. */
BLM_API const void *blm_view(const blm_filter *f, uint32_t layer, uint64_t *bytes);

/* Sets the progress callback for later long calls on f (NULL: none). Exclusive. */
BLM_API void blm_set_progress(blm_filter *f, blm_progress_fn fn, void *ctx);

/* Chooses the funnel (options.funnel) for keys from now on; NULL: the scheme's default. What was
 * added keeps the bits it has. For filters from files that do not say which: most. E_FUNNEL: the
 * scheme has no such funnel. Exclusive. */
BLM_API blm_status blm_set_funnel(blm_filter *f, const char *name, blm_error *err);

/* How many threads later batches on f may use, the caller's among them: 0 and 1 (the default) mean
 * no others, at most 64 are used. They live as long as the call. Answers, bits and counts are those
 * of one thread; on a shared filter too, as far as nobody else is adding. Batches too small to
 * gain, below some ten thousand keys, stay on one. A custom hash is called by all of them at once,
 * progress and the allocator only by the caller's. Exclusive. */
BLM_API void blm_set_threads(blm_filter *f, uint32_t threads);

/* ---- what it is, what is in it ----------------------------------------------------------- */

typedef enum blm_seed_policy {
    BLM_SEED_NONE   = 0, /* the scheme has no seed */
    BLM_SEED_RANDOM = 1, /* from the OS */
    BLM_SEED_FIXED  = 2  /* given by the caller */
} blm_seed_policy;

typedef enum blm_backing {
    BLM_IN_MEMORY  = 0,
    BLM_IN_WORDS   = 1, /* borrowed words of the caller */
    BLM_FILE_READ  = 2, /* mapped read-only */
    BLM_FILE_WRITE = 3  /* mapped read-write */
} blm_backing;

typedef enum blm_writer {
    BLM_WRITER_NONE  = 0, /* closed properly, or not a file */
    BLM_WRITER_LIVE  = 1, /* a writer has it open now (perhaps this handle) */
    BLM_WRITER_DIED  = 2, /* a process died while writing, this boot: its completed adds are here */
    BLM_WRITER_CRASH = 3  /* the machine went down: the adds before the last sync are here */
} blm_writer; /* a writer is told DIED or CRASH of the one before it, until its own first sync */

/* Parameters: O(1) to get. For a whole filter (layer totals) or one layer of it. */
typedef struct blm_params {
    size_t          size;
    blm_kind        kind;
    const char     *scheme; /* static text */
    uint32_t        scheme_version;
    const char     *hash;   /* static text, or the custom hash's name while the filter lives */
    uint64_t        bits;   /* m (counters for counting); the sum over layers */
    uint32_t        probes; /* k, all lines together; the newest layer's for scalable */
    uint32_t        lines;  /* lines per key (blocked, counting), else 0 */
    uint32_t        layers;
    uint64_t        capacity; /* n it was planned for; the sum over layers; 0: unknown */
    uint64_t        items;    /* adds that were new; counting: adds less removes */
    double          rate;     /* promised rate (compound for scalable); 0: none was promised */
    uint64_t        bytes;    /* of the bits */
    uint64_t        seed[2];
    blm_seed_policy seed_policy;
    bool            shared;
    bool            huge_pages; /* asked for: memory of 2 MiB and more. Not for mapped files, where
                                   one question would read 2 MiB */
    blm_backing     backing;
    blm_writer      writer;
    double          growth, tightening, rate_cap; /* scalable, else 0 */
    const char     *kernel;                       /* "portable", "avx2", … that answers */
    const char     *format;                       /* codec it came from or would be saved as */
    uint64_t        variant;                      /* the scheme's own */
    const char     *notice;     /* what is odd about these parameters; static text, or NULL */
    uint32_t        threads;    /* that batches may use, at least 1 */
    uint32_t        line_bytes; /* of a line: 64; what blm_reduce made of counters 16; no lines 0 */
    uint64_t        kept;       /* bytes beside the bits: hashes, of a young scalable filter */
    uint32_t        can;        /* BLM_CAN_…: its kind's, less what its scheme or variant cannot.
                                   Opened read-only (backing) it changes nothing all the same */
    uint32_t        cell_bits;  /* bits of a cell: 1, of counters 4 */
    const char     *funnel;     /* in use: static text; NULL: the scheme has one way only */
} blm_params;

BLM_API blm_status blm_get_params(const blm_filter *f, blm_params *out);
BLM_API blm_status blm_get_layer(const blm_filter *f, uint32_t layer, blm_params *out);

/* A number with its error bar (95% unless said otherwise). */
typedef struct blm_estimate {
    double value, low, high;
    bool   saturated; /* every bit is set: value is the most that can be said, high is infinite */
} blm_estimate;

typedef struct blm_stats {
    size_t       size;
    blm_params   params;
    uint64_t     ones;       /* set bits (non-zero counters), all layers */
    double       fill;       /* ones / bits */
    blm_estimate estimated;  /* keys, from the bits alone */
    double       rate_now;   /* false-positive rate the bits give now */
    uint64_t     stuck;      /* counting: saturated counters, never to be decremented */
    bool         overfilled; /* rate_now is above the promised rate beyond chance */
} blm_stats;

/* Reads every bit once. On a shared filter it may run beside adds and sees some of them. */
BLM_API blm_status blm_get_stats(const blm_filter *f, blm_stats *out);

/* The fill of `slices` equal parts of the filter, in order, to draw. */
BLM_API blm_status blm_fill_map(const blm_filter *f, double *out, size_t slices);

/* Sizes of two sets and of what they share, from the bits (Swamidass–Baldi). Same parameters and
 * seed, not scalable. */
typedef struct blm_overlap {
    size_t       size;
    blm_estimate a, b, both, either, jaccard;
} blm_overlap;

BLM_API blm_status blm_compare(const blm_filter *a, const blm_filter *b, blm_overlap *out,
                               blm_error *err);

/* Asks the filter `count` keys known not to be in it: the caller's (keys), or, with keys NULL,
 * generated ones (16 random bytes from `seed`). The interval is 95%, exact binomial. */
typedef struct blm_trial {
    size_t   size;
    uint64_t trials, hits;
    double   rate, low, high;
    double   promised, modelled; /* the promise; what the bits give now */
    bool     holds;              /* the promise is not above reach: low <= promised */
} blm_trial;

BLM_API blm_status blm_try_rate(const blm_filter *f, const blm_key *keys, uint64_t count,
                                uint64_t seed, blm_trial *out, blm_error *err);

/* 128 bits of content: parameters, seed and bits. Two filters are blm_equal iff (but for 2^-128)
 * their fingerprints are. Reads every bit. */
BLM_API blm_status blm_fingerprint(const blm_filter *f, uint8_t out[16]);

/* ---- files and streams ------------------------------------------------------------------- */

/* Makes a new native file, fully allocated, mapped read-write, you its writer. E_EXISTS unless
 * BLM_REPLACE (then the old file stays whole until the new one is ready). */
BLM_API blm_status blm_create_file(const char *path, const blm_options *o, blm_filter **out,
                                   blm_error *err);

/* Opens a filter file. A native file is mapped: O(1) whatever its size; read-only unless
 * BLM_WRITE, also while another process writes. Another system's file (options.format, or sniffed)
 * is read into memory; BLM_WRITE is E_UNSUPPORTED there: change it and blm_save it. `o` may be
 * NULL; read from it: flags (WRITE, VERIFY, SHARED), format, funnel, hash_fn, probe_fn, allocator,
 * caps. */
BLM_API blm_status blm_open(const char *path, const blm_options *o, blm_filter **out,
                            blm_error *err);

/* Read-only scalable files: sees layers a writer added since. Until then keys in them are
 * answered "maybe" by answering everything "maybe". Exclusive. */
BLM_API blm_status blm_refresh(blm_filter *f, blm_error *err);

/* Writes what changed to the disk: after BLM_OK the adds that ended before the call survive a
 * power cut. Long on a large filter: takes progress. On a shared filter it may run beside adds, but
 * not beside another sync. After a failure that is not E_CANCELLED the disk's state is unknown, and
 * every later sync fails too: save the filter elsewhere. */
BLM_API blm_status blm_sync(blm_filter *f, blm_error *err);

/* Writes the filter to a file in a named format (NULL: the one it came from, else "native"):
 * temporary file, fsync, rename. flags: BLM_REPLACE. On failure an old file is whole. */
BLM_API blm_status blm_save(const blm_filter *f, const char *path, const char *format,
                            uint32_t flags, blm_error *err);

typedef struct blm_verdict {
    size_t     size;
    blm_writer writer;
    uint64_t   regions, good, unverified, damaged;
    uint64_t   first_damaged;  /* region number, valid when damaged > 0 */
    uint64_t   damaged_offset; /* its byte offset in the file */
    uint64_t   damaged_bytes;  /* its length */
} blm_verdict;

/* Reads every checksum of a filter opened from a native file (for one in memory: trivially good).
 * BLM_OK: nothing is damaged (there may be unverified regions; one of the header's two copies that
 * is not whole counts as one). E_CHECKSUM: *out and err name the first damaged region. */
BLM_API blm_status blm_verify(const blm_filter *f, blm_verdict *out, blm_error *err);

/* Where encoded bytes go: return false to stop (E_IO, or E_CANCELLED from progress). */
typedef bool (*blm_write_fn)(void *ctx, const void *bytes, size_t len);
/* Where they come from: fill up to `len` bytes, return how many;
 * 0 is the end, SIZE_MAX an error. */
typedef size_t (*blm_read_fn)(void *ctx, void *bytes, size_t len);

/* Format NULL as in blm_save. Bounded memory, whatever the filter's size. */
BLM_API blm_status blm_encode(const blm_filter *f, const char *format, blm_write_fn write,
                              void *ctx, blm_error *err);
BLM_API blm_status blm_encoded_size(const blm_filter *f, const char *format, uint64_t *bytes,
                                    blm_error *err);
/* Decoding is validating: what comes back is a whole, valid filter in memory; no byte sequence
 * makes this crash, hang, or allocate more than the input justifies or options.max_bytes allows. */
BLM_API blm_status blm_decode(const void *bytes, size_t len, const blm_options *o, blm_filter **out,
                              blm_error *err);
BLM_API blm_status blm_decode_stream(blm_read_fn read, void *ctx, const blm_options *o,
                                     blm_filter **out, blm_error *err);

/* How sure each format is that these first bytes (of `total`, or 0 when unknown) are its own:
 * bids from 100 (magic) down to 1, best first. Returns how many bid; writes at most `cap`. */
typedef struct blm_bid {
    const char *format; /* static text */
    int         bid;
} blm_bid;
BLM_API size_t blm_sniff(const void *head, size_t len, uint64_t total, blm_bid *out, size_t cap);

/* ---- what this build knows, row by row: NULL past the end --------------------------------- */

typedef struct blm_kind_row {
    size_t      size;
    blm_kind    kind;
    const char *name, *summary;
    uint32_t    can;       /* BLM_CAN_… */
    uint32_t    cell_bits; /* as in blm_params */
    uint32_t    max_lines; /* most lines a key may have (options.lines); 0: has no lines */
} blm_kind_row;
typedef struct blm_scheme_row {
    size_t             size;
    const char        *name, *summary, *faults; /* faults: NULL, or the original's known ones */
    const char *const *funnels;                 /* NULL-ended, the default first; or NULL */
    bool               creates;                 /* usable for a new filter */
    bool               seeded;                  /* has a seed (options.seed) */
    uint32_t           kinds;                   /* 1u << kind for each that it can be kept in */
    const char        *format;    /* that a new filter is saved in when nobody says another */
    const char        *means;     /* this is a second name, of this scheme; else NULL */
    bool               by_caller; /* needs the caller's functions (options.probe_fn) */
} blm_scheme_row;
typedef struct blm_format_row {
    size_t             size;
    const char        *name, *summary;
    bool               reads, writes;
    bool               sniffs; /* blm_sniff can tell it by its bytes */
    bool               maps;   /* a file of it is mapped, and can be changed in place (BLM_WRITE) */
    const char *const *schemes; /* that it carries, NULL-ended; NULL: any */
} blm_format_row;
BLM_API const blm_kind_row   *blm_kind_at(size_t i);
BLM_API const blm_scheme_row *blm_scheme_at(size_t i);
BLM_API const blm_format_row *blm_format_at(size_t i);
/* The row of this kind (the default: classic's), or of this name; NULL: there is none. */
BLM_API const blm_kind_row   *blm_kind_find(blm_kind k);
BLM_API const blm_scheme_row *blm_scheme_find(const char *name);
BLM_API const blm_format_row *blm_format_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
