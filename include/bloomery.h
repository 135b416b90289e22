/* SPDX-License-Identifier: MIT */
/*
 * bloomery - membership filters: "is this key in the set?" without the set.
 *
 *     #include <bloomery.h>
 *
 *     blm_options o = BLM_OPTIONS_INIT;
 *     o.items = 1000000;                       // n: how many keys will come
 *     o.rate  = 0.01;                          // p: share of absent keys answered "maybe"
 *     blm_filter *f;
 *     if (blm_create(&o, &f, NULL) != BLM_OK) return 1;
 *     blm_add(f, "tuesday", 7);
 *     if (blm_check(f, "tuesday", 7)) puts("maybe");      // never a wrong "no"
 *     blm_free(f);
 *
 * What is promised
 *   A key that was added (and not removed, or forgotten by a window) is never answered "no". A key
 *   that was not added is answered "maybe" no more often than the promised rate, as long as the
 *   filter holds no more keys than it was planned for. blm_get_stats tells how full it is.
 *
 * Conventions
 *   1. Keys are bytes and a length. Any bytes, any length, the empty key too.
 *   2. A call that can fail returns a blm_status: BLM_OK (0) or BLM_PRESENT (1) when it happened,
 *      negative when it did not (and then nothing changed, unless its comment says otherwise).
 *      Where the last argument is a `blm_error *err`, it may be NULL. On failure it receives one
 *      sentence, and a byte offset if the fault is in the input. Nothing is printed and errno is
 *      not used.
 *   3. A question has no error path: a filter that cannot know answers "maybe".
 *   4. create, open, decode and copy give you a filter, and you blm_free it. view lends you memory
 *      that the filter keeps. free takes NULL.
 *   5. Option and result structs begin with their size, so that they can grow. Start options from
 *      BLM_OPTIONS_INIT; zero means "default". Start results from { .size = sizeof x }.
 *   6. Threads: any number may read (check, stats, encode) a filter that nobody is changing. With
 *      BLM_SHARED any number may add and check at once, and checks never wait. "Exclusive" at a
 *      call means that nobody else may use it meanwhile, shared or not. Filters share no state.
 *      In a forked child a filter that its parent has open for writing is read-only.
 *
 * What is settled
 *   This file, except for the names below, and the native format: files written today stay
 *   readable. Structs only get new fields at their end, enums only new values. May still change
 *   before 1.0: blm_bid, blm_scheme_row, blm_format_row, options.variant, and how fast a
 *   scalable filter grows by default. Each header in bloomery/ says what is settled in it.
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

#if defined(__GNUC__) && !defined(_WIN32)
#define BLM_API __attribute__((visibility("default")))
#else
#define BLM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ------------------------------------------------------------------------------ */

/* One row per status. Values are never reused. */
#define BLM_STATUS_MAP(X)                                                 \
    X(OK, 0, "ok")                                                        \
    X(PRESENT, 1, "the filter may already have had the key")              \
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
    X(E_FUNNEL, -21, "the scheme has no such funnel")                     \
    X(E_CONFLICT, -22, "a key is both included and excluded")

typedef enum blm_status {
#define BLM_STATUS_ENUM(name, value, text) BLM_##name = value,
    BLM_STATUS_MAP(BLM_STATUS_ENUM)
#undef BLM_STATUS_ENUM
        BLM_STATUS_MIN = -1000 /* keeps the enum signed; never returned */
} blm_status;

/* What a status means, in English. Never NULL: an unknown value has a text that says so. */
BLM_API const char *blm_status_text(blm_status s);
/* The name the status has in this header: "BLM_E_FORMAT". Never NULL. */
BLM_API const char *blm_status_name(blm_status s);
/* The version of the library that is linked, "0.1.0". */
BLM_API const char *blm_version(void);

#define BLM_NO_OFFSET UINT64_MAX
/* What went wrong. It holds no memory of its own and need not be freed. */
typedef struct blm_error {
    blm_status status;
    int        system;    /* the system's error number behind E_IO, E_SPACE, …; else 0 */
    uint64_t   offset;    /* where in the input the fault is, or BLM_NO_OFFSET */
    uint16_t   named;     /* bytes at the start of text that name the file, with ": "; 0: none */
    uint16_t   wrong;     /* bytes of text that say what is wrong, the name included; what to do
                             about it may follow, after "; " */
    char       text[256]; /* one sentence: what, where, what to do */
} blm_error;

/* ---- types ------------------------------------------------------------------------------- */

typedef struct blm_filter blm_filter; /* opaque; if you hold one, it is valid */
/* One row per kind: what a filter is to its user. Values are never reused. */
/* clang-format off */
#define BLM_KIND_MAP(X)                                                                \
    X(CLASSIC, 1, classic)   /* k bits anywhere in m: the smallest general filter */   \
    X(BLOCKED, 2, blocked)   /* all bits of a key in one 64-byte line, two or three    \
                                at strict rates: fast, and the default */              \
    X(COUNTING, 3, counting) /* 4-bit saturating counters: can remove */               \
    X(SCALABLE, 4, scalable) /* grows layer by layer: for an unknown number of keys */ \
    X(WINDOW, 5, window)     /* forgets what is older than a window: bloomery/window.h */ \
    X(CUCKOO, 6, cuckoo)     /* fingerprints: can remove in little memory, may be full */ \
    X(STATIC, 7, static)     /* built once, the fewest bits: bloomery/fixed.h */       \
    X(CASCADE, 8, cascade)   /* built once from two lists, without errors on either */
/* clang-format on */

typedef enum blm_kind {
    BLM_ANY_KIND = 0, /* in options: blocked; where bits and probes are both given, classic; for
                         other systems' schemes the kind they are kept in */
#define BLM_KIND_ENUM(NAME, value, name) BLM_##NAME = value,
    BLM_KIND_MAP(BLM_KIND_ENUM)
#undef BLM_KIND_ENUM
} blm_kind;

/* From kind to name ("classic"; NULL for any other value) and back (false for an unknown name). */
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
#define BLM_CAN_FORGET    0x200u /* keys go by age, and every add changes the filter */
#define BLM_CAN_FILL_UP   0x400u /* an add may find no room: E_FULL, and nothing changed */

typedef enum blm_hash {
    BLM_HASH_XXH3    = 0, /* the default: a keyed hash, from XXH3's rules (docs/hash.md) */
    BLM_HASH_SIPHASH = 1, /* SipHash-2-4: when an adversary chooses the keys and can watch the
                             answers */
    BLM_HASH_CUSTOM  = 2  /* options.hash_fn */
} blm_hash;

/* Your own hash: 64 well-mixed bits of key and seed, the same on every call and every machine. */
typedef uint64_t (*blm_hash_fn)(void *ctx, const void *key, size_t len, const uint64_t seed[2]);

/* The caller's own k hash functions (scheme "functions"): function i of the key, any 64 bits, the
 * same on every call and machine; position i is its value mod m. */
typedef uint64_t (*blm_probe_fn)(void *ctx, uint32_t i, const void *key, size_t len);

typedef struct blm_key {
    const void *data;
    size_t      len;
} blm_key;

/* A key hashed for one scheme and seed: hash once, ask many filters. A filter with another scheme
 * or seed answers "maybe" to it and refuses to add it (E_MISMATCH). Plain data: copy it freely. */
typedef struct blm_digest {
    uint64_t tag;   /* identifies scheme, hash and seed; 0: not a digest */
    uint64_t w[27]; /* most schemes use the first one or two */
} blm_digest;

/* Where a filter's memory comes from. alloc returns memory aligned for any C type, or NULL if there
 * is none. zalloc (may be NULL) returns zeroed memory. free is told the size that was allocated. */
typedef struct blm_allocator {
    void *ctx;
    void *(*alloc)(void *ctx, size_t size);
    void *(*zalloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *ptr, size_t size);
} blm_allocator;

typedef uint64_t (*blm_clock_fn)(void *ctx); /* milliseconds since 1970, for windows */
/* Called now and then during a long call. Return false to cancel it; it then gives E_CANCELLED. */
typedef bool (*blm_progress_fn)(void *ctx, uint64_t done, uint64_t total);

/* options.flags */
#define BLM_SHARED  0x001u /* adds and checks from many threads at once (not scalable) */
#define BLM_SEEDED  0x002u /* use options.seed; without this the seed is random, from the OS */
#define BLM_WRITE   0x004u /* open: read-write; one writer at a time */
#define BLM_VERIFY  0x008u /* open, decode: check every checksum first */
#define BLM_REPLACE 0x010u /* create_file, save: an existing file may be replaced */
#define BLM_PUBLIC  0x040u /* create_file, save: a new native file gets the usual mode, not 0600 */
#define BLM_ADOPT   0x020u /* create takes options.words over and frees them by the allocator */

/* What you want. create, create_file, plan, open and decode each read only some of it. */
typedef struct blm_options {
    size_t      size; /* sizeof(blm_options), set by BLM_OPTIONS_INIT */
    blm_kind    kind;
    uint32_t    flags;  /* BLM_… above */
    const char *scheme; /* NULL: "native" */

    /* How large: (items, rate), (items, memory), (bits, probes), (memory, rate) and more, see
     * blm_plan_for. For a scalable filter, items is the capacity of the first layer. If it is 0, a
     * filter in a file starts at 131 072; one in memory starts smaller, keeps its keys' hashes
     * (blm_params.kept) and is rebuilt larger from them, up to ten million keys in one layer. */
    uint64_t items;  /* n, keys expected */
    double   rate;   /* p, the rate to promise, 0 < p < 1 */
    uint64_t bits;   /* m; for counting, the number of counters */
    uint32_t probes; /* k */
    uint32_t lines;  /* lines per key, blocked 1…3, counting 1…5 (0: chosen from the rate) */
    uint64_t memory; /* bytes the filter's bits may take */

    const blm_filter *like; /* copy this one's parameters and seed, so that both can be combined;
                               what contradicts it is E_ARGUMENT, and so is a size beside it */

    /* Your own memory for the bits (classic, blocked); bit i is bit i % 8 of byte i / 8. It is not
     * cleared; bits of the last word past m must be 0. The filter borrows it until blm_free, or
     * owns it with BLM_ADOPT. */
    uint64_t *words;
    uint64_t  word_count;

    /* Hash and seed. */
    blm_hash    hash;
    uint64_t    seed[2]; /* with BLM_SEEDED; other systems' schemes have seed[0] only */
    blm_hash_fn hash_fn; /* with BLM_HASH_CUSTOM */
    void       *hash_ctx;
    const char *hash_name; /* 1…15 of bytes 0x21…0x7e, no hash's of ours; files refuse another */

    /* Scalable; growth also makes a cuckoo filter grow. */
    double growth;     /* a layer's capacity divided by the one before's, above 1. 0: 4 after one
                            of fewer than 2^15 keys, then 16 up to 2^17, 4 below 2^23, else 2 */
    double tightening; /* rate of a layer over the one before, 0 < r < 1 (0: 0.85) */
    double rate_cap; /* the worst rate that a union may promise (0: ten times rate, at most 1/2) */
    bool   layer_classic; /* layers are classic, not blocked: a little smaller, slower */

    /* Schemes of other systems. */
    uint64_t    variant; /* what it means is in docs/formats; 0: the scheme's default */
    const char *format;  /* open, decode: the format's name; NULL: found from the bytes */
    const char *funnel;  /* how text becomes hashed bytes, where a scheme has several ways */

    const blm_allocator *allocator; /* NULL: malloc and free; must outlive the filter */
    uint64_t             max_bytes; /* E_LIMIT above, also as it grows or is mapped; 0: none */
    blm_progress_fn      progress;  /* for open, decode, and every later call on the filter */
    void                *progress_ctx;

    uint64_t offset;  /* open, decode: the byte of the input at which the filter starts */
    uint32_t threads; /* for batches, as in blm_set_threads */

    /* With scheme "functions" (classic, counting; at most 26 probes). hash_name is the name by which
     * files know them: opening one without them, or under another name, is E_HASH. */
    blm_probe_fn probe_fn;
    void        *probe_ctx;

    uint64_t
           window_ms; /* window: remember for this long, up to `items` keys; 0: the last `items` */
    double slack;     /* the most that a key may outstay, as a share of the window (0: 1/7) */
    blm_clock_fn clock; /* NULL: the system's; for open and decode too */
    void        *clock_ctx;
    uint32_t version; /* of the scheme; 0: the newest. Native: 1, with xxh3 2 too, the default */
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

/* An empty filter in memory; you own it: blm_free. E_LIMIT: one that would say "maybe" to all, too. */
BLM_API blm_status blm_create(const blm_options *o, blm_filter **out, blm_error *err);

/* Releases a filter, and its mapping if it is in a file. A file open for writing is synced first;
 * blm_close does the same and tells you whether that worked. NULL is allowed. Exclusive. */
BLM_API void       blm_free(blm_filter *f);
BLM_API blm_status blm_close(blm_filter *f, blm_error *err);

/* Adds a key; its bytes are read, not kept. BLM_OK: the key is new, it set at least one bit.
 * BLM_PRESENT: it set none, so it has probably been added before. If two threads add the same key
 * to a shared filter at once, both may get BLM_OK. Fails with E_ARGUMENT (a length, and no data);
 * E_READONLY; E_MEMORY, E_SPACE, E_IO, E_LIMIT, E_FULL (no more layers) if it has to grow and cannot;
 * of cuckoo filters E_FULL (no room, or eight copies in each layer) and E_IO (its file fails). */
BLM_API blm_status blm_add(blm_filter *f, const void *key, size_t len);

/* false is "no": it does not have the key. true is "maybe". Cannot fail, does not allocate. */
BLM_API bool blm_check(const blm_filter *f, const void *key, size_t len);

/* Counting, cuckoo: takes back one add of the key. E_ABSENT: the key was never added; nothing
 * changed. Removing a key that is answered "maybe" but was never added can remove other keys: remove
 * only keys that you know were added. Exclusive. */
BLM_API blm_status blm_remove(blm_filter *f, const void *key, size_t len);
/* How many adds of the key, less removes, there may be: never fewer than there were, up to 15 in a
 * counting filter. Other kinds do not count: 0 is "no", 1 "maybe". */
BLM_API uint64_t blm_count(const blm_filter *f, const void *key, size_t len);

/* Batches are the fast path: keys are hashed, prefetched and probed in a pipeline. Each byte of
 * `fresh` or `maybe` (arrays of `count` bytes, or NULL) becomes 1 if its key was new or may be
 * present, else 0. Keys are added in order. check_* return how many answers were "maybe"; add_* put
 * into *done (or NULL) how many keys were added, after a failure too.
 *
 * A million keys or more for a filter larger than the processor's caches are first sorted by the
 * part of the filter they fall into. The call then takes as much memory again as the filter has, or
 * a quarter of that above 128 MiB; if its allocator has none, the keys are not sorted. */
BLM_API blm_status blm_add_many(blm_filter *f, const blm_key *keys, size_t count, uint8_t *fresh,
                                size_t *done);
BLM_API size_t     blm_check_many(const blm_filter *f, const blm_key *keys, size_t count,
                                  uint8_t *maybe);
/* Keys of one width, side by side in one buffer: integers, hashes, UUIDs. */
BLM_API blm_status blm_add_fixed(blm_filter *f, const void *keys, size_t width, size_t count,
                                 uint8_t *fresh, size_t *done);
BLM_API size_t blm_check_fixed(const blm_filter *f, const void *keys, size_t width, size_t count,
                               uint8_t *maybe);

/* blm_remove for many keys, in order. gone[i] (or NULL) becomes 1 if an add of key i was taken
 * back, 0 if it was never added, which is no failure here. *removed (or NULL) counts the ones.
 * E_ARGUMENT: a key has a length but no data; those before it have been removed. Exclusive. */
BLM_API blm_status blm_remove_many(blm_filter *f, const blm_key *keys, size_t count, uint8_t *gone,
                                   size_t *removed);
BLM_API blm_status blm_remove_fixed(blm_filter *f, const void *keys, size_t width, size_t count,
                                    uint8_t *gone, size_t *removed);

/* Hash once, ask many. A digest works for every filter with the same scheme, hash and seed. With
 * schemes that hash once per probe, that filter may not have more probes. */
BLM_API blm_status blm_digest_of(const blm_filter *f, const void *key, size_t len, blm_digest *out);
BLM_API blm_status blm_add_digest(blm_filter *f, const blm_digest *d);
BLM_API bool       blm_check_digest(const blm_filter *f, const blm_digest *d);
BLM_API blm_status blm_add_digests(blm_filter *f, const blm_digest *d, size_t count, uint8_t *fresh,
                                   size_t *done);
BLM_API size_t     blm_check_digests(const blm_filter *f, const blm_digest *d, size_t count,
                                     uint8_t *maybe);

/* Forgets every key. Parameters and seed stay, and a scalable filter's first layer. Exclusive. */
BLM_API blm_status blm_clear(blm_filter *f);

/* A copy in memory, even of a filter in a file; same allocator. You own it. */
BLM_API blm_status blm_copy(const blm_filter *f, blm_filter **out, blm_error *err);

/* Same parameters, seed and bits. Funnels, counts, plans and growth do not matter. */
BLM_API bool blm_equal(const blm_filter *a, const blm_filter *b);

/* BLM_OK: blm_union, blm_intersect and blm_compare, where the kind has them, take these two.
 * E_MISMATCH names what differs. Reads parameters only. */
BLM_API blm_status blm_can_meet(const blm_filter *a, const blm_filter *b, blm_error *err);

/* dst becomes dst ∪ src, or dst ∩ src. Parameters and seed must be the same; E_MISMATCH names the
 * one that differs. Counting: a union adds the counters (saturating), an intersection keeps the
 * smaller ones. Scalable: a union appends src's layers, the promised rates add up, and it is E_LIMIT
 * if the sum passes rate_cap, E_FULL if there are too many layers; an intersection is E_UNSUPPORTED.
 * An intersection keeps every common key. Its rate is at least that of a filter built from the
 * common keys, and at most the smaller operand's; items is the smaller count, 0 if no bit is left.
 * Exclusive on dst. If progress cancels it, part is done, and no key of the result is lost. */
BLM_API blm_status blm_union(blm_filter *dst, const blm_filter *src, blm_error *err);
BLM_API blm_status blm_intersect(blm_filter *dst, const blm_filter *src, blm_error *err);

/* A filter of 1/factor the size, made without the keys, that answers "maybe" to every key that the
 * original does. k stays. factor must divide m (with lines: their number), else E_INDIVISIBLE. */
BLM_API blm_status blm_fold(const blm_filter *f, uint64_t factor, blm_filter **out, blm_error *err);

/* Counting only: a filter without counters that gives the same answers in a quarter of the memory.
 * It is blocked, with lines of 16 bytes; for another system's scheme it is classic. */
BLM_API blm_status blm_reduce(const blm_filter *f, blm_filter **out, blm_error *err);

/* The bits of one layer, as in files: bit i is bit i % 8 of byte i / 8. Borrowed: valid until the
 * filter changes. NULL if there is no such layer. */
BLM_API const void *blm_view(const blm_filter *f, uint32_t layer, uint64_t *bytes);

/* Sets the progress callback for later long calls on f (NULL: none). Exclusive. */
BLM_API void blm_set_progress(blm_filter *f, blm_progress_fn fn, void *ctx);

/* Chooses the funnel (options.funnel) for keys from now on; NULL: the scheme's default. What was
 * added keeps the bits it has. Most formats do not record the funnel; this is for them. A native file
 * does: E_UNSUPPORTED for its writer. E_FUNNEL: the scheme has no such funnel. Exclusive. */
BLM_API blm_status blm_set_funnel(blm_filter *f, const char *name, blm_error *err);

/* How many threads later batches on f may use, counting the caller's. 0 and 1, the default, mean no
 * others; at most 64 are used. They end with the call. Answers, bits and counts are the same as
 * with one thread, on a shared filter if nobody else adds meanwhile. Batches below some ten
 * thousand keys stay on one thread. A custom hash is called from all threads at once, progress and
 * the allocator only from the caller's. Exclusive. */
BLM_API void blm_set_threads(blm_filter *f, uint32_t threads);

/* ---- what it is, what is in it ----------------------------------------------------------- */

typedef enum blm_seed_policy {
    BLM_SEED_NONE   = 0, /* the scheme has no seed */
    BLM_SEED_RANDOM = 1, /* from the OS */
    BLM_SEED_FIXED  = 2  /* given by the caller */
} blm_seed_policy;

typedef enum blm_backing {
    BLM_IN_MEMORY  = 0,
    BLM_IN_WORDS   = 1, /* in memory borrowed from the caller */
    BLM_FILE_READ  = 2, /* mapped read-only */
    BLM_FILE_WRITE = 3  /* mapped read-write */
} blm_backing;

typedef enum blm_writer {
    BLM_WRITER_NONE  = 0, /* closed properly, or not a file */
    BLM_WRITER_LIVE  = 1, /* a writer has it open now (perhaps this handle) */
    BLM_WRITER_DIED  = 2, /* a writer died since this boot: the adds it finished are in the file */
    BLM_WRITER_CRASH = 3  /* the machine went down: the adds before the last sync are in the file */
} blm_writer; /* a new writer reads how the one before it ended, until its own first sync */

/* Parameters of a whole filter (the layers' totals) or of one layer. Takes no time to get. */
typedef struct blm_params {
    size_t          size;
    blm_kind        kind;
    const char     *scheme; /* static text */
    uint32_t        scheme_version;
    const char     *hash;   /* static text, or the custom hash's name while the filter lives */
    uint64_t        bits;   /* m (counting: counters); the sum over layers */
    uint32_t        probes; /* k, in all lines together; scalable: the newest layer's */
    uint32_t        lines;  /* lines per key (blocked, counting), else 0 */
    uint32_t        layers;
    uint64_t        capacity; /* n it was planned for; the sum over layers; 0: unknown */
    uint64_t        items;    /* keys that were new when added; counting: adds less removes */
    double          rate;     /* promised rate (scalable: of all layers); 0: none was promised */
    uint64_t        bytes;    /* that the bits take */
    uint64_t        seed[2];
    blm_seed_policy seed_policy;
    bool            shared;
    bool            huge_pages; /* were asked for: memory of 2 MiB and more, never mapped files */
    blm_backing     backing;
    blm_writer      writer;
    double          growth, tightening, rate_cap; /* scalable, else 0 */
    const char     *kernel;                       /* which loops run: "portable", "avx2", … */
    const char     *format;                       /* it came from, or would be saved as */
    uint64_t        variant;                      /* the scheme's own */
    const char     *notice;     /* what is odd about these parameters; static text, or NULL */
    uint32_t        threads;    /* batches may use, at least 1 */
    uint32_t        line_bytes; /* size of a line: 64; 16 after blm_reduce; 0: no lines */
    uint64_t        kept;       /* bytes of hashes that a young scalable filter keeps, see items */
    uint32_t        can;        /* BLM_CAN_…: what the kind can, less what its scheme cannot */
    uint32_t        cell_bits;  /* bits of a cell: 1, 4 for counters, else a fingerprint's */
    const char     *funnel;     /* in use, static text; NULL: the scheme has only one way */
    uint8_t         identity[16]; /* of the file that blm_create_file made: random; zeroes: none */
    uint64_t writes; /* how often that file's header had been written when this handle opened it */
    bool     unclosed; /* some adds may not be in items: docs/formats/native.md, Counts */
} blm_params;
BLM_API blm_status blm_get_params(const blm_filter *f, blm_params *out);
BLM_API blm_status blm_get_layer(const blm_filter *f, uint32_t layer, blm_params *out);

/* An estimated number and its interval: 95% unless said otherwise. */
typedef struct blm_estimate {
    double value, low, high;
    bool   saturated; /* every bit is set, or none asked for: value is the most, high infinite */
} blm_estimate;

typedef struct blm_stats {
    size_t       size;
    uint64_t     ones;       /* set bits (non-zero counters), all layers */
    double       fill;       /* share of cells that are in use; cells are bits but for windows' */
    blm_estimate estimated;  /* different keys, from the bits alone */
    double       rate_now;   /* the rate that the bits give now */
    uint64_t     stuck;      /* counting: saturated counters, which never go down again */
    bool         overfilled; /* more keys than planned, and rate_now above the promise, surely */
    blm_params   params;     /* last, because it grows; its size is the library's */
} blm_stats;

/* Reads every bit (double hashing: and some ms more). During adds to a shared filter it sees some of them. */
BLM_API blm_status blm_get_stats(const blm_filter *f, blm_stats *out);

/* The fill of `slices` equal parts, in order. E_UNSUPPORTED: kinds that are built at once or forget. */
BLM_API blm_status blm_fill_map(const blm_filter *f, double *out, size_t slices);

/* How many keys two filters have, and how many in common, estimated from the bits
 * (Swamidass–Baldi). The filters must have the same parameters and seed and not be scalable. */
typedef struct blm_overlap {
    size_t       size;
    blm_estimate a, b, both, either, jaccard;
} blm_overlap;
BLM_API blm_status blm_compare(const blm_filter *a, const blm_filter *b, blm_overlap *out,
                               blm_error *err);

/* 128 bits that identify parameters, seed and bits: two filters have the same fingerprint if and
 * (up to a chance of 2^-128) only if they are blm_equal. Reads every bit. */
BLM_API blm_status blm_fingerprint(const blm_filter *f, uint8_t out[16]);

/* ---- files and streams ------------------------------------------------------------------- */

/* Makes a new native file with all its space allocated, and maps it for writing. You are its writer
 * until you blm_free it. E_EXISTS if there is one, unless BLM_REPLACE; the old file then stays
 * whole until the new one is ready. */
BLM_API blm_status blm_create_file(const char *path, const blm_options *o, blm_filter **out,
                                   blm_error *err);

/* Opens a filter file. A native file is mapped, which takes no longer for a large one. It can be
 * read while another process writes to it; BLM_WRITE makes you its one writer. Another system's
 * file is read into memory; BLM_WRITE is E_UNSUPPORTED there: change the filter and blm_save it.
 * `o` may be NULL; flags (WRITE, VERIFY, SHARED), format, funnel, hash_fn, probe_fn, allocator,
 * max_bytes, progress, offset and threads are read from it; format "raw" also reads scheme, bits,
 * probes, seed and variant. */
BLM_API blm_status blm_open(const char *path, const blm_options *o, blm_filter **out,
                            blm_error *err);

/* For a file opened read-only: takes in the layers that its writer has added since, and a first
 * writer after a power cut. Until then every question is answered "maybe". Exclusive. */
BLM_API blm_status blm_refresh(blm_filter *f, blm_error *err);

/* Writes what changed to the disk. After BLM_OK, the adds that had returned before the call survive
 * a power cut. Calls progress. On a shared filter one may run beside adds (cuckoo's wait for it).
 * After any failure but E_CANCELLED nobody knows what is on the disk, and every later sync fails
 * too: save the filter elsewhere. */
BLM_API blm_status blm_sync(blm_filter *f, blm_error *err);

/* Writes the filter to a file in a format (NULL: the one it came from, else "native"): the old file is
 * whole until the new one is. A mapped filter is verified first (E_CHECKSUM). flags: BLM_REPLACE. */
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

/* Compares every region of a native file that is open with its checksum; a filter in memory is
 * good. BLM_OK: nothing is damaged. Regions changed since the last sync are unverified, and so is a
 * damaged copy of the header, of which there are two. E_CHECKSUM: *out and err name the first
 * damaged region. */
BLM_API blm_status blm_verify(const blm_filter *f, blm_verdict *out, blm_error *err);

/* Takes encoded bytes. Return false to stop; the call then gives E_IO. */
typedef bool (*blm_write_fn)(void *ctx, const void *bytes, size_t len);
/* Gives up to `len` bytes and returns how many; 0 is the end, SIZE_MAX an error. */
typedef size_t (*blm_read_fn)(void *ctx, void *bytes, size_t len);

/* Writes the filter's bytes in a format (NULL, and E_CHECKSUM: as in blm_save), with little memory. */
BLM_API blm_status blm_encode(const blm_filter *f, const char *format, blm_write_fn write,
                              void *ctx, blm_error *err);
BLM_API blm_status blm_encoded_size(const blm_filter *f, const char *format, uint64_t *bytes,
                                    blm_error *err);
/* Decoding is validating: what comes back is a whole, valid filter in memory, and you own it. No
 * bytes make this crash, hang, or allocate more than they justify or options.max_bytes allows. */
BLM_API blm_status blm_decode(const void *bytes, size_t len, const blm_options *o, blm_filter **out,
                              blm_error *err);
BLM_API blm_status blm_decode_stream(blm_read_fn read, void *ctx, const blm_options *o,
                                     blm_filter **out, blm_error *err);

/* Which formats these first bytes may be in, of an input of `total` bytes (0: not known), best
 * first. Returns how many, and writes at most `cap` of them. */
typedef struct blm_bid {
    const char *format; /* static text */
    int         bid;    /* how sure: from 100 (its magic number) down to 1 */
} blm_bid;
BLM_API size_t blm_sniff(const void *head, size_t len, uint64_t total, blm_bid *out, size_t cap);

/* ---- the schemes and formats of this build, row by row: NULL past the end ----------------- */

typedef struct blm_kind_row {
    size_t      size;
    blm_kind    kind;
    const char *name, *summary;
    uint32_t    can;       /* BLM_CAN_… */
    uint32_t    cell_bits; /* as in blm_params; 0: it depends on the rate */
    uint32_t    max_lines; /* most lines a key may have (options.lines); 0: has no lines */
} blm_kind_row;
typedef struct blm_scheme_row {
    size_t             size;
    const char        *name, *summary, *faults; /* faults: of the original; NULL: none known */
    const char *const *funnels;   /* ends with NULL, the default first; NULL: there are none */
    bool               creates;   /* new filters can have it; false: only with options.like */
    bool               seeded;    /* has a seed (options.seed) */
    uint32_t           kinds;     /* 1u << kind, for each kind that it can be kept in */
    const char        *format;    /* a new filter is saved in it unless told otherwise */
    const char        *means;     /* this is another name for that scheme; else NULL */
    bool               by_caller; /* needs the caller's functions (options.probe_fn) */
} blm_scheme_row;
typedef struct blm_format_row {
    size_t             size;
    const char        *name, *summary;
    bool               reads, writes;
    bool               sniffs; /* blm_sniff can tell it by its bytes */
    bool               maps;   /* a file of it is mapped, and can be changed in place (BLM_WRITE) */
    const char *const *schemes; /* that it carries, NULL-ended; NULL: raw, or native: nearly all */
} blm_format_row;
BLM_API const blm_kind_row   *blm_kind_at(size_t i);
BLM_API const blm_scheme_row *blm_scheme_at(size_t i);
BLM_API const blm_format_row *blm_format_at(size_t i);
/* The row of this kind (BLM_ANY_KIND: of the default), or of this name; NULL: there is none. */
BLM_API const blm_kind_row   *blm_kind_find(blm_kind k);
BLM_API const blm_scheme_row *blm_scheme_find(const char *name);
BLM_API const blm_format_row *blm_format_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
