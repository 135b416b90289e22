/* SPDX-License-Identifier: MIT */
/*
 * The guard: a read-through between client, filter and data set.
 *
 * Settled: open, close, get, put, delete, update, maybe, build, rebuild, wait, and the law below.
 * May still change before 1.0: the figures in blm_guard_stats, and the numbers behind the defaults.
 */
#ifndef BLOOMERY_GUARD_H
#define BLOOMERY_GUARD_H

#include <bloomery.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A guard stands in front of a data set that is expensive to reach. A put goes to the filter, then
 * to the data set. A get to which the filter says "no" never reaches the data set. A filter that
 * has become stale, or worse than promised, is rebuilt from a scan in the background.
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
 * The law: a row that was put (BLM_OK) and not deleted is never answered "absent". It holds for
 * writes that go through this guard, from any number of threads, however the data set fails, across
 * rebuilds and after a crash: a guard that cannot trust its file lets everything through until it
 * is rebuilt. It does not hold for rows that somebody writes past the guard: set BLM_GUARD_ADVISORY
 * then, and tell the guard of such writes if you learn of them (blm_guard_note_put).
 *
 * Every call except open and close may be made from any number of threads at once.
 *
 * Processes: a guard belongs to the process that opened it. In a forked child every call on it gives
 * E_BUSY and does nothing, and blm_guard_maybe answers true: open another guard there, with another
 * file and another connection. blm_guard_close in the child releases the filter, and leaves the data
 * set alone: it is the parent's. */
typedef struct blm_guard blm_guard;

/* Called with each key of a scan, in any order; the bytes are only valid during the call. Returns
 * false to stop; the scan then returns E_CANCELLED. */
typedef bool (*blm_key_fn)(void *ctx, const void *key, size_t len);

/* The longest mark, in bytes. */
#define BLM_MARK_MAX 64

/* A data set, as the guard sees it. The functions are called from any thread, several at once. They
 * return BLM_OK, or BLM_E_ABSENT ("there is no such row"), or BLM_E_ARGUMENT (such a key or value is
 * refused: nothing was written, nor will be), or any other failure. The guard takes that as "the outcome
 * is unknown" and hands it to its caller; before the next put it reads the mark again. E_MISMATCH says
 * moreover that the data set may have gone back to an earlier state of itself:
 * the guard then acts as after blm_guard_distrust, and rebuilds; an advisory one goes on, since it removes
 * nothing. So return it for nothing else: each one voids a rebuild under way. You may fill *err with your
 * own sentence (err is never NULL here); if its text stays empty, a sentence is written for you. */
typedef struct blm_dataset {
    size_t size; /* sizeof(blm_dataset) */
    void  *ctx;
    /* Gives the row's value to `value` (may be NULL), in one call or several. E_ABSENT: there is no
     * such row. E_CANCELLED: `value` returned false. */
    blm_status (*get)(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err);
    /* Writes the row, and replaces an old one. NULL: the guard only reads. */
    blm_status (*put)(void *ctx, const void *key, size_t len, const void *value, size_t value_len,
                      blm_error *err);
    /* BLM_OK only if there was a row and now there is none. NULL: nothing is ever deleted. */
    blm_status (*del)(void *ctx, const void *key, size_t len, blm_error *err);
    /* Calls `each` at least once for every key that is there during the whole scan; for keys that
     * come or go meanwhile it may or may not. Other calls run at the same time. */
    blm_status (*scan)(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err);
    /* About how many rows there are. May be NULL; it saves a second scan when the filter's first
     * size turns out too small. */
    blm_status (*count)(void *ctx, uint64_t *rows, blm_error *err);
    /* The mark: a few bytes kept with the data, written atomically and as durable as a put. They
     * tell the guard that file and data set belong together, and other guards that somebody wrote.
     * Both NULL: the data set cannot keep one; then the guard does not learn that another guard put
     * rows between its sessions, nor that the data set is an older copy. mark_read gives at most
     * BLM_MARK_MAX bytes, or E_ABSENT if none were written. While the mark is
     * another guard's, a put writes ours first, and if mark_write fails, the put does. If it was ours
     * and after a failure is not any more, everything passes until a rebuild, which starts now unless
     * BLM_GUARD_MANUAL. */
    blm_status (*mark_read)(void *ctx, void *mark, size_t *len, blm_error *err);
    blm_status (*mark_write)(void *ctx, const void *mark, size_t len, blm_error *err);
    /* Called once, when the guard is closed or could not be opened. May be NULL. */
    void (*close)(void *ctx);
} blm_dataset;

/* Tries a data set for what a guard relies on: rows that are put, replaced and deleted, scans that
 * name every row (at rest, after deletes, while rows come, go and are replaced), deletes by two
 * threads, the mark. For the tests of an adapter: run it on a database of its own. It puts at least
 * 1 000 rows and deletes them again; rows that are there already do not matter. BLM_OK: all is as it
 * must be. E_MISMATCH: err says what is not. Other failures are the data set's.
 *
 * `key` writes the key of row i to out (at most 256 bytes) and returns its length; different rows
 * have different keys. NULL: text, "bloomery-kit-0" and so on. */
typedef size_t (*blm_kit_key)(void *ctx, uint64_t i, void *out);
BLM_API blm_status blm_dataset_try(const blm_dataset *d, uint64_t rows, blm_kit_key key,
                                   void *key_ctx, blm_error *err);

#define BLM_GUARD_COUNTING 0x1u /* many deletes: a counting filter, four times the memory */
/* Others write past the guard: "absent" may be wrong for their keys. Rows that were not there are
 * not remembered, and no key is removed from the filter. Its file is rebuilt when a guard opens it that
 * is not advisory. */
#define BLM_GUARD_ADVISORY 0x2u
#define BLM_GUARD_MANUAL   0x4u /* rebuild only when asked to */

typedef struct blm_guard_options {
    size_t   size;
    uint32_t flags; /* BLM_GUARD_… */
    uint64_t items; /* rows to plan for; a rebuild plans for half more than it finds, if more */
    double   rate;  /* the rate to promise (0: 0.01) */
    /* The filter's file; NULL: in memory. path.guard beside it has the state, and path.next is what a
     * rebuild writes; it replaces whatever has that name. */
    const char *path;
    /* Anything else about the filter: kind (classic, blocked, counting, cuckoo), hash, seed, max_bytes,
     * allocator (called from any thread). No kind named: as blm_create chooses, so blocked. NULL:
     * the same, and a new secret seed with every rebuild. */
    const blm_options *filter;
    double   stale_share; /* rebuild when this share of the filter's keys was deleted (0: 0.25) */
    double   rate_factor; /* … or when the measured rate is this many times the promise (0: 2) */
    uint32_t remember; /* confirmed false positives to remember (0: 4 096; BLM_GUARD_NONE: none) */
    uint32_t retry_ms; /* shortest time from a failed rebuild to the next automatic one
                             (0: 10 000) */
    /* Shortest time between two rebuilds because of the rate (0: 60 000). It doubles, up to 64 times
     * this, as long as they do not help. */
    uint32_t rate_pause_ms;
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

/* Opens a guard. `d` is copied; its ctx belongs to the guard until d->close. If the file can be
 * trusted, its filter answers at once. If not, everything passes until the first build, which
 * starts now in the background (blm_guard_wait), unless BLM_GUARD_MANUAL. A file at path that is
 * not a native filter is refused (E_FORMAT) and never overwritten, unless a guard's note is beside it:
 * then it is a damaged filter. A file at path.guard that is not a note is refused too. E_BUSY: another
 * guard has it open. */
BLM_API blm_status blm_guard_open(const blm_guard_options *o, const blm_dataset *d, blm_guard **out,
                                  blm_error *err);

/* Stops a rebuild, writes the file, releases everything. No other call may be running. NULL is
 * allowed. Puts that failed must not take effect after the next open (docs/guard.md: what the guard
 * assumes). The status says whether the file was written; the guard is gone either way. */
BLM_API blm_status blm_guard_close(blm_guard *g, blm_error *err);

/* Reads a row. BLM_OK: the row is there, and `value` (may be NULL) was called with its bytes: once or
 * several times, as bool value(void *value_ctx, const void *bytes, size_t len), which returns true to
 * go on. False stops the read, which then gives E_CANCELLED; so a `value` that returns BLM_OK, which
 * is 0, stops it. BLM_E_ABSENT: there is no such row; that is an answer, and err says so too. A key that
 * is NULL with a length is E_ARGUMENT, here and below. Anything else comes from the data set. */
BLM_API blm_status blm_guard_get(blm_guard *g, const void *key, size_t len, blm_write_fn value,
                                 void *value_ctx, blm_error *err);

/* What the guard can say without the data set: false is "absent", true is "ask the data set". For
 * callers that do the reading themselves. many: maybe[i] becomes 1 or 0; returns how many are 1. */
BLM_API bool   blm_guard_maybe(blm_guard *g, const void *key, size_t len);
BLM_API size_t blm_guard_maybe_many(blm_guard *g, const blm_key *keys, size_t count,
                                    uint8_t *maybe);

/* Writes a row. BLM_OK: it is in the data set, and the law holds for it. A failure comes from the
 * data set: the row may be there or not, or appear later, so the filter lets its key through. */
BLM_API blm_status blm_guard_put(blm_guard *g, const void *key, size_t len, const void *value,
                                 size_t value_len, blm_error *err);

/* Deletes a row. Always asks the data set. BLM_OK: the row is gone. BLM_E_ABSENT: there was
 * none. */
BLM_API blm_status blm_guard_delete(blm_guard *g, const void *key, size_t len, blm_error *err);

/* Moves a row to another key: puts the new one, then deletes the old one. If the put fails, the old
 * one stays; if the delete fails, both are there, and the failure is returned. If the old one does
 * not exist, that is no failure. Equal keys: just a put. */
BLM_API blm_status blm_guard_update(blm_guard *g, const void *old_key, size_t old_len,
                                    const void *new_key, size_t new_len, const void *value,
                                    size_t value_len, blm_error *err);

/* Somebody else put, or deleted, the row of this key: for data sets that tell you so. */
BLM_API void blm_guard_note_put(blm_guard *g, const void *key, size_t len);
BLM_API void blm_guard_note_delete(blm_guard *g, const void *key, size_t len);

/* Rebuilds the filter from a scan and swaps it in, while gets and puts go on. build does it in the
 * calling thread, rebuild in a thread of its own. If a rebuild is already running, build gives
 * E_BUSY. rebuild gives BLM_PRESENT then, and another rebuild follows the one that runs. If one
 * fails, the old filter stays. It takes the memory of both filters. wait returns when no background
 * rebuild is running, with the status of the last one (BLM_OK if there was none). E_LIMIT: more than
 * 65 536 puts have failed, whose keys only the present filter has: open the guard again when none of
 * them can take effect any more, since a guard forgets them when it is closed. */
BLM_API blm_status blm_guard_build(blm_guard *g, blm_error *err);
BLM_API blm_status blm_guard_rebuild(blm_guard *g, blm_error *err);
BLM_API blm_status blm_guard_wait(blm_guard *g, blm_error *err);

/* Rows may have been written past the guard, and nobody knows which. Everything passes from now on,
 * until a rebuild that begins after this call has ended. Does not start one: blm_guard_rebuild. */
BLM_API void blm_guard_distrust(blm_guard *g);

/* Writes the filter's file to the disk, so that the next blm_guard_close takes less time. After a
 * power cut the guard is rebuilt even so. */
BLM_API blm_status blm_guard_sync(blm_guard *g, blm_error *err);

/* Why the last rebuild was started. */
typedef enum blm_guard_cause {
    BLM_CAUSE_NONE  = 0,
    BLM_CAUSE_FIRST = 1, /* there was no filter that could be trusted */
    BLM_CAUSE_ASKED = 2, /* by blm_guard_build or blm_guard_rebuild */
    BLM_CAUSE_STALE = 3, /* too many of its keys were deleted */
    BLM_CAUSE_RATE  = 4, /* it let too many absent keys through */
    /* The options ask for another hash, seed or rate than the file's filter has. That filter is
     * trusted and answers until it is rebuilt; the figures are its own. */
    BLM_CAUSE_OPTIONS = 5,
    BLM_CAUSE_FULL = 6 /* cuckoo: it had no room for a key, or more keys than it was planned for */
} blm_guard_cause;

/* Figures: since open, and for the filter since its last rebuild. If others use the guard
 * meanwhile, each figure is right, but they may be from slightly different moments. */
typedef struct blm_guard_stats {
    size_t size;
    /* Lookups = refused + remembered + passed. Reads saved = refused + remembered. */
    uint64_t lookups;
    uint64_t refused;         /* the filter said no */
    uint64_t remembered;      /* it was a remembered false positive */
    uint64_t passed;          /* went to the data set */
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
    uint64_t capacity, items, bytes; /* planned keys; keys in it; bytes that its bits take */
    double   promised;
    uint64_t absent_asked;  /* keys without a row that this filter was asked for */
    uint64_t absent_passed; /* … and let through: with deleted keys, without remembered ones */
    double   rate, rate_low, rate_high; /* their ratio, and its 95% interval (exact binomial) */
    uint64_t stale;                     /* deleted keys that the filter still has */
    double   stale_share;
    uint64_t table_keys; /* false positives remembered now */

    uint64_t        rebuilds, rebuild_failures; /* since open */
    blm_guard_cause cause;                      /* of the last one */
    double          rebuild_seconds;            /* the last one that succeeded */
    uint64_t        rebuild_keys;               /* … and how many keys its scan gave */

    char hash[16]; /* the name of the answering filter's hash, such as "xxh3"; "": there is none */
    /* The rate is rate_factor times the promise, although the filter has no more keys than planned
     * and few are stale: somebody chooses the keys that are asked for, or put. */
    bool     polluted;
    uint64_t held; /* times that a rebuild because of the rate was due but had to wait */
} blm_guard_stats;

BLM_API blm_status blm_guard_get_stats(blm_guard *g, blm_guard_stats *out);
/* The same as one JSON object, one line, the names as above. */
BLM_API blm_status blm_guard_json(blm_guard *g, blm_write_fn write, void *ctx, blm_error *err);

#ifdef __cplusplus
}
#endif
#endif
