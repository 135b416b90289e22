/* SPDX-License-Identifier: MIT */
/*
 * What the files of the module share. One value struct serves both data types: MBbloom-- (a
 * RedisBloom chain, which its peers read) and bloomery1 (any native filter). Commands parse, act,
 * reply; they meet the filter through bloomery.h alone.
 */
#ifndef BF_BF_H
#define BF_BF_H

#include <stdatomic.h>
#include <stdbool.h>

#include "api.h"
#include "bloomery.h"
#include "bloomery/redisbloom.h"

/* ---- values (value.c) ---- */

struct arrival; /* native bytes on their way in: native.c */

struct value {
    blm_filter     *filter;       /* NULL: still arriving */
    struct arrival *arriving;     /* NULL: it is there */
    bool            native;       /* of the second type */
    bool            counts;       /* of counters: every add changes it, not only new keys */
    bool            fixed;        /* may not grow: when it is full it says so */
    bool            automatic;    /* made without being asked for, so it grows as growth.c says */
    bool            saturate;     /* native and of fixed size: takes keys past its capacity */
    bool            named;        /* only while BF.MERGE looks for what it was given twice */
    uint64_t        items, bytes; /* as counted in the module's totals */
    uint64_t        room; /* keys that the filter, or its newest layer, takes before it is full */
};

/* Takes the filter, also when it fails: then NULL, and the filter is freed. */
struct value *bf_value(blm_filter *f, bool native);
void          bf_value_settle(struct value *v); /* its filter is there: what follows from it */
void          bf_value_free(struct value *v);
struct value *bf_value_copy(const struct value *v);
/* After the filter changed, in whatever way: keeps the totals true. After n new keys only: the
 * same, but without looking at the filter where they had room. */
void   bf_value_tally(struct value *v);
void   bf_value_added(struct value *v, uint64_t n);
size_t bf_value_memory(const struct value *v);
/* Larger than 64: worth the background thread. */
size_t bf_value_effort(const struct value *v);
int    bf_value_defrag(DefragCtx *ctx, struct value **v);
/* Parameters of the whole, or of one layer. */
blm_params bf_params(const struct value *v);
blm_params bf_layer(const struct value *v, uint32_t layer);
/* What BF.INFO calls Size: the peer's arithmetic. */
uint64_t bf_value_size(const struct value *v);

/* ---- memory (memory.c) ---- */

/* Redis' allocator, refusing instead of aborting, and the cap of the filter to be made. */
extern const blm_allocator bf_allocator;
blm_options                bf_options(uint64_t max_bytes);
/* Bytes from Redis' allocator; NULL when there are none. */
void *bf_try_alloc(size_t size);
/* An array that Redis allocated and filled is now a filter's. */
void bf_memory_filled(void *p, size_t size);
/* At loading: may programs ask for huge pages here? */
void bf_memory_find_rule(void);

/* ---- configuration and totals (config.c, info.c) ---- */

struct bf_config {
    double    rate;
    long long capacity;
    long long expansion;
    long long max_bytes;
    int       auto_growth, huge_pages;
};
extern struct bf_config bf_config;
/* Load arguments, then configs. False: said in the log, the load must fail. */
bool bf_config_load(Ctx *ctx, Str **argv, int argc);

struct bf_totals {
    _Atomic uint64_t filters, items, bytes, adds, checks, refused;
    _Atomic uint64_t added; /* items too, of commands that had no more to say: a tick each */
};
extern struct bf_totals bf_totals;
void                    bf_info(InfoCtx *ctx, int crashing);
static inline void      bf_total(_Atomic uint64_t *t, uint64_t n)
{
    atomic_fetch_add_explicit(t, n, memory_order_relaxed);
}
/* The same for a total that only commands change, which run one at a time: no locked instruction. */
static inline void bf_tick(_Atomic uint64_t *t, uint64_t n)
{
    atomic_store_explicit(t, atomic_load_explicit(t, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* The command was done before, by our master or by whoever wrote the append-only file. */
bool bf_repeated(Ctx *ctx);
/* The cap that applies to a command: what a master or the append-only file already accepted is
 * not judged again, or a replica with a smaller cap would lose keys. */
uint64_t bf_cap(Ctx *ctx);

/* ---- types (type.c, type_native.c) ---- */

extern Type *bf_type, *bf_type_native;
/* What the two types have in common: memory, effort, copies, defrag, free. */
TypeMethods bf_methods(void);
bool        bf_type_create(Ctx *ctx);
bool        bf_type_native_create(Ctx *ctx);

/* A chain's description: the header chunk of a dump, and what an RDB value says. */
struct bf_chain {
    uint64_t         items;
    uint32_t         layers, options, growth;
    uint32_t         room;  /* layers that there is memory for */
    blm_chain_layer *layer; /* bf_chain_room */
};
#define BF_CHUNK ((uint64_t)16 << 20) /* the most a chunk of a dump carries */

/* It has n layers from now on (1 to BLM_CHAIN_MAX_LAYERS, never fewer than before), the new ones zeroed.
 * False: no such number, or no memory. */
bool bf_chain_room(struct bf_chain *c, uint64_t n);
void bf_chain_free(struct bf_chain *c);
/* What is wrong with it, or NULL: everything that can be told before memory is taken. */
const char *bf_chain_fault(const struct bf_chain *c, uint64_t max_bytes);
/* A value of it; the layers' words go to the filter. NULL: *why says. */
struct value *bf_chain_value(struct bf_chain *c, uint64_t max_bytes, const char **why);
/* To and from the header chunk. What bf_header gives stays as it is until the next call. */
const uint8_t *bf_header(const struct value *v, size_t *len);
bool           bf_header_get(struct bf_chain *c, const uint8_t *in, size_t len);

/* ---- native bytes piece by piece (native.c) ---- */

#define BF_NATIVE_HEADER 24u /* of a native value's dump: magic, version, flags, total */
bool bf_native_header(const uint8_t *in, size_t len); /* is this the start of one? */
void bf_native_header_put(const struct value *v, uint8_t *out);
/* A value that waits for its bytes; NULL: *why says. */
struct value *bf_native_begin(const uint8_t *in, size_t len, uint64_t max_bytes, const char **why);
/* The next bytes, which belong at `at`. 1: complete, 0: more to come, -1: *why says. */
int bf_native_take(struct value *v, uint64_t at, const void *bytes, size_t len, const char **why);
/* Up to `room` bytes of the encoded filter from `at` on. Returns how many. */
size_t   bf_native_read(const struct value *v, uint64_t at, void *out, size_t room);
uint64_t bf_native_length(const struct value *v);
/* How much of an arriving value is here; `each` (or NULL) is shown it, in order. */
typedef void (*bf_piece_fn)(void *ctx, const void *bytes, size_t len);
uint64_t bf_native_arrived(const struct value *v, bf_piece_fn each, void *ctx);
void     bf_native_drop(struct value *v); /* frees v->arriving */

/* ---- growth (growth.c) ---- */

/* The rate that marks a filter as made without being asked for, and whether a first link has it. */
double bf_auto_rate(double rate);
bool   bf_is_auto(double first_error);
/* How much larger the next link will be than the newest. */
uint64_t bf_auto_factor(uint64_t entries);

enum bf_outcome { BF_ADDED, BF_FULL, BF_FAILED };
/* Adds in order. fresh[i] is 1 where key i was new. *done keys were taken when it is not
 * BF_ADDED: the next one is new and there is no room for it. */
enum bf_outcome bf_add(struct value *v, const blm_key *keys, size_t n, uint8_t *fresh,
                       size_t *done);

/* ---- keys and replies (cmd.c) ---- */

enum bf_found { BF_MISSING, BF_OURS, BF_OTHER };
/* A value, and the key it hangs on. Read-only keys are closed at once: the value stays as long as
 * the command runs. */
enum bf_found bf_find(Ctx *ctx, Str *name, struct value **out);
enum bf_found bf_open(Ctx *ctx, Str *name, Key **key, struct value **out);
/* Hangs a new value on an empty key that is open for writing. */
void bf_attach(Key *key, struct value *v);
/* Puts a value in place of what a key holds, or on a new one. */
void bf_put(Ctx *ctx, Str *name, struct value *v);
/* Tells watchers, clients that cache, and subscribers. */
void bf_changed(Ctx *ctx, Str *name, const char *event);

/* Answers, 0 or 1 each, replied as ReplyWithBool does. Between begin and end nothing else is, and
 * no other command runs. (reply.c) */
struct bf_replies {
    Ctx        *ctx;
    size_t      yes; /* answers of 1 */
    bool        blocks;
    size_t      n; /* of a block */
    const char *word;
};
void bf_replies_find(Ctx *ctx);                                  /* at loading */
void bf_replies_begin(struct bf_replies *r, Ctx *ctx, size_t n); /* n of them, or fewer */
void bf_replies_put(struct bf_replies *r, const uint8_t *answers, size_t n);
void bf_replies_end(struct bf_replies *r);

/* The items of a command on their way through a filter (blm_flow): replied to as they come out,
 * while others still wait for memory. */
struct bf_items {
    Str             **item;
    size_t            left; /* yet to come */
    struct bf_replies replies;
};
size_t bf_items_next(void *ctx, blm_key *keys, size_t room);
void   bf_items_reply(void *ctx, const uint8_t *answers, size_t n);

#define BF_TOO_LARGE "ERR the filter is larger than bf-max-bytes allows"
int bf_wrong_type(Ctx *ctx);
int bf_not_found(Ctx *ctx);
int bf_still_arriving(Ctx *ctx);

/* ---- arguments (args.c) ---- */

bool bf_word(const Str *s, const char *word); /* the same but for case */
/* NULL, or what is wrong, as BF.RESERVE words it. */
const char *bf_read_rate(const Str *s, double *out);
const char *bf_read_capacity(const Str *s, long long *out);
const char *bf_read_expansion(const Str *s, long long *out);
bool        bf_read_seed(const Str *s, uint64_t *out); /* decimal, 64 bits */

#define BF_MAX_CAPACITY      1073741824LL
#define BF_MAX_EXPANSION     32768LL
#define BF_DEFAULT_EXPANSION 2LL
#define BF_MAX_GROWTH        1024LL /* of a native scalable filter */
#define BF_MAX_RATE          0.25   /* what is above is taken as this */

/* How a filter is to be made. */
struct bf_wanted {
    double    rate;
    long long capacity, expansion; /* 0: does not scale */
    bool      explicit_;           /* any of them was given */
    bool      nonscaling, saturate, native, seeded;
    blm_kind  kind;
    uint64_t  seed;
};
struct bf_wanted bf_defaults(void);
/* Do the filters of this kind grow by themselves? */
static inline bool bf_grows(blm_kind k) { return blm_kind_find(k)->can & BLM_CAN_GROW; }
/* Fills in what was left open: the mark of a filter that grows by itself, a native one's seed.
 * False: the system gives no random bytes. */
bool bf_settle_wanted(struct bf_wanted *w);
/* Makes it. NULL: *why says (an error reply). */
struct value *bf_make(Ctx *ctx, const struct bf_wanted *w, const char **why);
/* Replicates the making so that whoever repeats it gets the same filter. */
void bf_replicate_make(Ctx *ctx, Str *key, const struct bf_wanted *w);

/* ---- commands ---- */

int bf_cmd_reserve(Ctx *ctx, Str **argv, int argc);
int bf_cmd_add(Ctx *ctx, Str **argv, int argc);
int bf_cmd_madd(Ctx *ctx, Str **argv, int argc);
int bf_cmd_insert(Ctx *ctx, Str **argv, int argc);
int bf_cmd_exists(Ctx *ctx, Str **argv, int argc);
int bf_cmd_mexists(Ctx *ctx, Str **argv, int argc);
int bf_cmd_info(Ctx *ctx, Str **argv, int argc);
int bf_cmd_card(Ctx *ctx, Str **argv, int argc);
int bf_cmd_debug(Ctx *ctx, Str **argv, int argc);
int bf_cmd_scandump(Ctx *ctx, Str **argv, int argc);
int bf_cmd_loadchunk(Ctx *ctx, Str **argv, int argc);
int bf_cmd_del(Ctx *ctx, Str **argv, int argc);
int bf_cmd_merge(Ctx *ctx, Str **argv, int argc);
int bf_cmd_estimate(Ctx *ctx, Str **argv, int argc);

/* The table of commands, with what COMMAND DOCS tells (docs.c). */
struct bf_command {
    const char *name;
    CommandFn   fn;
    const char *flags, *categories;
    int         last_key; /* 1, or -1: all arguments from the first on */
    CommandInfo info;
};
extern const struct bf_command bf_commands[];
extern const size_t            bf_command_count;

#endif
