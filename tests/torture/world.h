/* SPDX-License-Identifier: MIT */
/*
 * What an episode is made of. The world is memory that every process of an episode shares: what was
 * promised for each key, what a data set in memory holds, and the first violation. It outlives the
 * sessions, which are processes and are killed.
 *
 * Only public headers are included here: the guard is judged by what it says.
 */
#ifndef TORTURE_WORLD_H
#define TORTURE_WORLD_H

#include <bloomery.h>
#include <bloomery/guard.h>
#include <stdatomic.h>
#include <stdio.h>

#define MOST_KEYS    80000u
#define MOST_THREADS 6u
#define KEY_ROOM     512u

/* ---- chance: one generator for each thread of a session, all drawn from the episode's seed --- */

struct chance {
    uint64_t state;
};
uint64_t draw(struct chance *c);
/* 0 … n - 1 */
uint64_t pick(struct chance *c, uint64_t n);
bool     once_in(struct chance *c, uint64_t n); /* n = 0: never */

/* ---- what was promised ---------------------------------------------------------------------- */

/* A key is written by one thread, its owner, and read by all. Its claim is a version and:
 *   HELD   a put was acknowledged, and no delete has begun since: never "absent"
 *   OPEN   a write is running, or failed: anything may be said
 *   NONE   never put, or deleted */
enum claim { NONE, OPEN, HELD };

struct key_state {
    _Atomic uint64_t claim;     /* version * 4 + enum claim */
    _Atomic uint32_t late_puts; /* that failed and will have their effect yet */
    _Atomic uint32_t late_dels;
    _Atomic uint32_t row; /* the data set in memory: 0: there is none */
};

enum tally {
    N_SESSIONS,
    N_KILLED,
    N_FORKS,
    N_OPERATIONS,
    N_PUTS,
    N_DELETES,
    N_FAULTS,
    N_LATE,
    N_ABSENT,  /* answers */
    N_AUDITED, /* answers about keys that are held, compared when nothing else ran */
    N_TRUSTED, /* sessions that began with a file that was trusted */
    N_UNTRUSTED,
    N_REBUILDS,
    N_MISCHIEF, /* files put back, damaged, removed */
    TALLIES
};

struct world {
    struct key_state key[MOST_KEYS];
    char             mark[2][BLM_MARK_MAX]; /* of the data set in memory */
    _Atomic uint32_t mark_len[2];
    _Atomic uint32_t mark_now; /* which one; 2: none */
    _Atomic uint64_t tally[TALLIES];
    _Atomic uint64_t ended;   /* operations of this session's threads */
    _Atomic int64_t  kill_in; /* calls of the data set until the session is killed; < 0: not */
    _Atomic bool     violated;
    char             violation[512];

    /* Of the episode. */
    uint64_t seed;
    unsigned keys, threads;
    unsigned variant; /* of the data set: which schema, which kind of rows */
    bool     numbers; /* keys are integers */
    char     base[200], elsewhere[220], path[220];
};

extern struct world *world;

void count_up(enum tally what, uint64_t n);
/* With --trace: what happens, one line each. */
extern bool tracing;
void        trace(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Keeps the first one. */
void violated(const char *format, ...) __attribute__((format(printf, 1, 2)));

enum claim claim_of(uint64_t claim);
uint64_t   claim_now(unsigned k);
/* By the owner. Every change makes a new version, so that a reader sees that there was one. */
void claim_set(unsigned k, enum claim c);

size_t   key_bytes(unsigned k, char out[KEY_ROOM]);
unsigned key_number(const void *key, size_t len);

/* ---- data sets ------------------------------------------------------------------------------ */

struct adapter {
    const char *name;
    bool        forks;      /* a child may use what its parent opened */
    bool        alone;      /* can be opened once at a time */
    unsigned    operations; /* of a thread in a session: as many as take a moment */
    unsigned    variants;
    void (*prepare)(void); /* a new, empty data set; between sessions */
    void (*fill)(void);    /* with a row for every key, at once; NULL: by puts */
    blm_status (*open)(blm_dataset *out, blm_error *err);
    void (*finish)(void); /* of the program */
};
extern const struct adapter        memory_adapter, sqlite_adapter, leveldb_adapter, redis_adapter;
extern const struct adapter *const adapters[];

/* The data set behind `inner`, with faults: one call in `one_in` fails (0: none), without its
 * effect, with it, or with it later. Scans take their time. Late effects happen when an owner asks
 * for them. */
struct faults {
    unsigned one_in;
    bool     late, slow_scan, no_mark, no_count;
    bool     twice;   /* what is late comes twice */
    unsigned scan_us; /* a scan takes this long for each key */
};
void       faults_wrap(const struct faults *f, const blm_dataset *inner, blm_dataset *out);
blm_status faults_inner_get(unsigned k);
blm_status faults_inner_put(unsigned k);
/* Keys that scans have given since faults_scan_watch. */
void     faults_scan_watch(void);
uint64_t faults_scanned(void);
void     faults_land(unsigned k, unsigned most); /* up to `most` late effects of this key */
void     faults_stop(void);                      /* from here on nothing fails … */
void     faults_go_on(void);
void     faults_fail_scans(int n); /* the next n scans break off */
/* Of the thread that calls: the data set draws its faults from it. */
void faults_seed(uint64_t seed);

/* ---- sessions ------------------------------------------------------------------------------- */

enum ending { END_CLOSE, END_KILL_LATER, END_KILL_AFTER, END_LEAVE, ENDINGS };

struct session {
    uint64_t          seed;
    blm_guard_options guard;
    blm_options       filter;
    struct faults     faults;
    bool              relative, moves, forks, snapshots, second, bursts;
    unsigned          operations; /* of each thread */
    unsigned          chatter;    /* per mille: asks for rebuilds, syncs, figures */
    enum ending       ending;
};

#define HANGS 240u /* seconds: far beyond what a busy machine needs */

/* Runs in a process of its own, and never returns. */
void session_run(const struct adapter *a, const struct session *s) __attribute__((noreturn));
/* Forks a session, and waits for its end. False: there was a violation. */
bool session_start(const struct adapter *a, const struct session *s);

/* Runs fn in a process of its own that must end by itself, or by SIGKILL. False: as above. */
struct errand {
    const struct adapter *adapter;
    struct session        session;
    double                number;
};
bool apart(void (*fn)(struct errand *e), struct errand *e);
/* There: the guard of its session, with its faults; or the process ends. */
blm_guard      *errand_guard(struct errand *e);
blm_guard_stats errand_stats(blm_guard *g);
void            errand_put(blm_guard *g, unsigned from, unsigned to); /* which must succeed */

/* What nobody put: answers about them may be anything. */
size_t stranger(struct chance *c, char out[KEY_ROOM]);

/* Every key that is held must pass. `where` is for the message. */
void audit(blm_guard *g, const char *where);
/* … and every row that the data set has, whoever wrote it. */
void audit_rows(blm_guard *g, const char *where);

/* ---- files ---------------------------------------------------------------------------------- */

#define SNAPSHOTS 6u
void files_forget(void); /* and removes them all */
void files_keep(unsigned slot);
/* over: into the files that are there; else as new ones. */
void files_put_back(unsigned slot, bool filter, bool note, bool over);
/* Puts a kept one back, or damages what is there. */
void files_mischief(struct chance *c);

/* ---- themes --------------------------------------------------------------------------------- */

/* What an episode is about. Each makes the break it is named after likely. */
struct theme {
    const char *name;
    const char *only; /* this adapter; NULL: every one */
    void (*run)(const struct adapter *a, struct chance *c);
};
extern const struct theme themes[];

/* A session with nothing special: two to four threads, a filter on disk, some faults. */
struct session plain(const struct adapter *a, struct chance *c);
/* Starts it, with what its options point to in place. */
bool start(const struct adapter *a, struct session *s);
void make_keys(struct chance *c, unsigned least, unsigned most);
/* An empty data set, no files, and nothing promised. */
void begin_again(const struct adapter *a);

void theme_left(const struct adapter *a, struct chance *c);
void theme_outside(const struct adapter *a, struct chance *c);
void theme_chosen(const struct adapter *a, struct chance *c);
void theme_options(const struct adapter *a, struct chance *c);
void theme_figures(const struct adapter *a, struct chance *c);
void theme_storm(const struct adapter *a, struct chance *c);
void theme_writer(const struct adapter *a, struct chance *c);
void theme_follow(const struct adapter *a, struct chance *c);
void redis_socket(char out[120]);

#endif
