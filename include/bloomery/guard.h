/* SPDX-License-Identifier: MIT */
/* The guard: client, filter, data set. */
#ifndef BLOOMERY_GUARD_H
#define BLOOMERY_GUARD_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stands in front of a data set that is expensive to reach. A put goes to the filter, then to the
 * data set; a get that the filter refuses never reaches the data set; a filter grown stale or worse
 * than promised is rebuilt from a scan, in the background.
 *
 *     blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
 *     o.items = 1000000;                                   // rows expected
 *     o.path  = "users.blm";                               // the filter, kept beside the data set
 *     blm_guard *g;
 *     if (blm_guard_open(&o, &data_set, &g, &err) != BLM_OK) return 1;
 *     blm_guard_put(g, key, key_len, value, value_len, &err);
 *     if (blm_guard_get(g, key, key_len, keep_value, &mine, &err) == BLM_E_ABSENT) …
 *     blm_guard_close(g, &err);
 *
 * The law: a put that was acknowledged (BLM_OK) and not deleted is never answered "absent". It
 * holds for writes that go through this guard, whatever the threads, however the data set fails,
 * across rebuilds and after a crash: a guard that cannot trust its file lets everything through
 * until it is rebuilt. Somebody who writes past the guard voids it for his keys: say
 * BLM_GUARD_ADVISORY then, and tell the guard of such writes where
 * you hear of them (blm_guard_note_put).
 *
 * Every call but open and close may be made from any number of threads at once. */
typedef struct blm_guard blm_guard;

/* Told of each key of a scan, in any order; the bytes are the scan's until it returns. False: stop
 * (the scan then returns E_CANCELLED). */
typedef bool (*blm_key_fn)(void *ctx, const void *key, size_t len);

/* The longest mark, in bytes. */
#define BLM_MARK_MAX 64

/* A data set, as the guard sees it: a ctx and what to do with it. Calls come from any thread,
 * several at once. They return BLM_OK, or BLM_E_ABSENT ("there is no such row"), or any other
 * failure, which the guard takes as "the outcome is unknown" and hands to its caller;
 * err is never NULL. */
typedef struct blm_dataset {
    size_t size; /* sizeof(blm_dataset) */
    void  *ctx;
    /* Gives the row's value to `value` (in one call or several; NULL: nobody wants it), or says
     * that there is none. When `value` returns false: E_CANCELLED. */
    blm_status (*get)(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err);
    /* Writes the row, new or over the old one. NULL: the guard only reads. */
    blm_status (*put)(void *ctx, const void *key, size_t len, const void *value, size_t value_len,
                      blm_error *err);
    /* BLM_OK only when a row was there and now is not. NULL: nothing is ever deleted. */
    blm_status (*del)(void *ctx, const void *key, size_t len, blm_error *err);
    /* Names every key that is there from its beginning to its end, at least once; keys that come or
     * go meanwhile may be named or not. Other calls run beside it. */
    blm_status (*scan)(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err);
    /* About how many rows there are; may be NULL. Saves a second scan when a filter's first size
     * turns out too small. */
    blm_status (*count)(void *ctx, uint64_t *rows, blm_error *err);
    /* A few bytes kept with the data, written in one piece and as durable as a put: by them the
     * guard knows that file and data set belong together. Both NULL: the data set cannot hold one.
     * mark_read: E_ABSENT when none was written; at most BLM_MARK_MAX bytes. */
    blm_status (*mark_read)(void *ctx, void *mark, size_t *len, blm_error *err);
    blm_status (*mark_write)(void *ctx, const void *mark, size_t len, blm_error *err);
    /* The guard was closed, or could not be opened; may be NULL. */
    void (*close)(void *ctx);
} blm_dataset;

#define BLM_GUARD_COUNTING 0x1u /* deletes matter: a counting filter, four times the memory */
#define BLM_GUARD_ADVISORY \
    0x2u                      /* others write past the guard: "absent" may be wrong for their
                                   keys; nothing is learnt from rows that were not there, nor
                                   removed */
#define BLM_GUARD_MANUAL 0x4u /* rebuilds only when asked to */

typedef struct blm_guard_options {
    size_t      size;
    uint32_t    flags; /* BLM_GUARD_… */
    uint64_t    items; /* rows to plan for at least; a rebuild plans for half more than it finds */
    double      rate;  /* false-positive rate wanted (0: 0.01) */
    const char *path;  /* the filter's file; NULL: in memory. path.guard beside it holds the mark */
    /* Anything else about the filter: kind (classic, blocked, counting), hash, seed, max_bytes,
     * allocator (called from any thread). NULL: blocked, a new secret seed with every rebuild. */
    const blm_options *filter;
    double   stale_share; /* rebuild when so many of the filter's keys were deleted (0: 0.25) */
    double   rate_factor; /* … or when the measured rate is so many times the promise (0: 2) */
    uint32_t remember;    /* wrong keys kept in the exact table (0: 4 096; BLM_GUARD_NONE: none) */
    uint32_t retry_ms;    /* at least this long from a failed rebuild to the next automatic one
                             (0: 10 000) */
} blm_guard_options;

#define BLM_GUARD_NONE UINT32_MAX

#ifdef __cplusplus
#define BLM_GUARD_OPTIONS_INIT blm_guard_options_init()
#else
#define BLM_GUARD_OPTIONS_INIT            \
    {                                     \
        .size = sizeof(blm_guard_options) \
    }
#endif
static inline blm_guard_options blm_guard_options_init(void)
{
#ifdef __cplusplus
    blm_guard_options o = {};
#else
    blm_guard_options o = { 0 };
#endif
    o.size = sizeof o;
    return o;
}

/* Opens the guard; `d` is copied, its ctx belongs to the guard until d->close. A file that can be
 * trusted answers at once; without one everything passes until the first build, which starts now,
 * in the background (blm_guard_wait), unless BLM_GUARD_MANUAL. A file at path that is no filter of
 * ours is refused (E_FORMAT), never overwritten; E_BUSY when another guard has it. */
BLM_API blm_status blm_guard_open(const blm_guard_options *o, const blm_dataset *d, blm_guard **out,
                                  blm_error *err);

/* Stops a rebuild, writes the file, releases everything. No other call may be running. NULL is
 * fine. The status is that of writing the file; the guard is gone either way. */
BLM_API blm_status blm_guard_close(blm_guard *g, blm_error *err);

/* BLM_OK: the row was there and `value` (may be NULL) was given its bytes. BLM_E_ABSENT: there is
 * no such row. Anything else comes from the data set. */
BLM_API blm_status blm_guard_get(blm_guard *g, const void *key, size_t len, blm_write_fn value,
                                 void *value_ctx, blm_error *err);

/* What the guard alone can say: false is "absent", true is "ask the data set". For callers who read
 * by themselves. many: 1 or 0 for each key; returns how many may be there. */
BLM_API bool   blm_guard_maybe(blm_guard *g, const void *key, size_t len);
BLM_API size_t blm_guard_maybe_many(blm_guard *g, const blm_key *keys, size_t count,
                                    uint8_t *maybe);

/* BLM_OK: the row is in the data set, and the law holds for it. A failure is the data set's, and
 * the row may be there or not (or come later): the filter lets its key through from now on. */
BLM_API blm_status blm_guard_put(blm_guard *g, const void *key, size_t len, const void *value,
                                 size_t value_len, blm_error *err);

/* Always reaches the data set. BLM_OK: the row is gone. BLM_E_ABSENT: there was none. */
BLM_API blm_status blm_guard_delete(blm_guard *g, const void *key, size_t len, blm_error *err);

/* A row moves to another key: put new, then delete old. When the put fails old stays; when the
 * delete fails both are there, and the failure is returned. Equal keys: a put. Old being absent is
 * not a failure. */
BLM_API blm_status blm_guard_update(blm_guard *g, const void *old_key, size_t old_len,
                                    const void *new_key, size_t new_len, const void *value,
                                    size_t value_len, blm_error *err);

/* Somebody else wrote, or deleted, this key: for data sets that tell of it. */
BLM_API void blm_guard_note_put(blm_guard *g, const void *key, size_t len);
BLM_API void blm_guard_note_delete(blm_guard *g, const void *key, size_t len);

/* Builds the filter anew from a scan and swaps it in, while gets and puts go on. build: here and
 * now. rebuild: in a thread of its own. E_BUSY, and for rebuild BLM_PRESENT, when one is under way.
 * A build that fails leaves the old filter in place. Meanwhile there are two filters' memory. wait:
 * until no background rebuild runs; how the last one ended (BLM_OK: or none was). */
BLM_API blm_status blm_guard_build(blm_guard *g, blm_error *err);
BLM_API blm_status blm_guard_rebuild(blm_guard *g, blm_error *err);
BLM_API blm_status blm_guard_wait(blm_guard *g, blm_error *err);

/* Writes the filter's file to the disk. After a power cut the guard rebuilds all the same; this
 * shortens the next blm_guard_close. */
BLM_API blm_status blm_guard_sync(blm_guard *g, blm_error *err);

/* Why a guard rebuilds, or did last. */
typedef enum blm_guard_cause {
    BLM_CAUSE_NONE  = 0,
    BLM_CAUSE_FIRST = 1, /* there was no filter that could be trusted */
    BLM_CAUSE_ASKED = 2, /* blm_guard_build, blm_guard_rebuild */
    BLM_CAUSE_STALE = 3, /* too many deleted keys */
    BLM_CAUSE_RATE  = 4  /* wrong too often */
} blm_guard_cause;

/* Figures since open; those of the filter since its generation began. Taken while others work, they
 * are each right but may be of slightly different moments. */
typedef struct blm_guard_stats {
    size_t size;
    /* Lookups = refused + remembered + passed. Reads saved = refused + remembered. */
    uint64_t lookups;
    uint64_t refused;         /* by the filter */
    uint64_t remembered;      /* by the table of confirmed false positives */
    uint64_t passed;          /* to the data set */
    uint64_t found;           /* … and the row was there */
    uint64_t false_positives; /* … and it was not */
    uint64_t errors;          /* of the data set, in any call */
    uint64_t reads_saved;
    uint64_t puts, deletes, updates; /* that succeeded (deletes: of a row that was there) */

    /* The filter. */
    uint64_t generation; /* counts rebuilds over the life of the file; 0: none yet */
    bool     trusted;    /* false: everything passes until rebuilt */
    bool     advisory;
    bool     rebuilding;
    blm_kind kind;
    uint64_t capacity, items, bytes; /* planned keys; keys in it, removed ones left out; its bits */
    double   promised;
    uint64_t absent_asked;  /* keys without a row that this generation was asked */
    uint64_t absent_passed; /* … and let through: deleted keys are among them, table hits not */
    double   rate, rate_low, rate_high; /* their ratio, and its 95% interval (exact binomial) */
    uint64_t stale;                     /* deleted keys that the filter still has */
    double   stale_share;
    uint64_t table_keys; /* confirmed false positives held now */

    uint64_t        rebuilds, rebuild_failures; /* since open */
    blm_guard_cause cause;                      /* of the last one */
    double          rebuild_seconds;            /* the last one that succeeded */
    uint64_t        rebuild_keys;               /* … and how many keys its scan named */
} blm_guard_stats;

BLM_API blm_status blm_guard_get_stats(blm_guard *g, blm_guard_stats *out);
/* The same as one JSON object, one line, the names as above. */
BLM_API blm_status blm_guard_json(blm_guard *g, blm_write_fn write, void *ctx, blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
