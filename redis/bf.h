/* SPDX-License-Identifier: MIT */
/*
 * What the files of the module share. One value struct serves both data types: MBbloom-- (a
 * RedisBloom chain, which RedisBloom can read) and bloomery1 (any native filter). Commands parse,
 * act and reply. They use the filter only through bloomery.h.
 */
#ifndef BF_BF_H
#define BF_BF_H

#include <stdatomic.h>
#include <stdbool.h>

#include "api.h"
#include "bloomery.h"
#include "bloomery/embed.h"
#include "bloomery/redisbloom.h"

/* ---- values (value.c) ---- */

struct arrival; /* native bytes that are still arriving: native.c */

struct bf_asleep; /* a layer of a filter at rest: asleep.c */

struct value {
    blm_filter       *filter;       /* NULL: still arriving, or asleep */
    struct arrival   *arriving;     /* NULL: the filter is complete */
    struct bf_asleep *asleep;       /* its layers, if it is small enough to sleep; or NULL */
    uint64_t          items, bytes; /* as counted in the module's totals */
    uint64_t          room; /* keys that the filter, or its newest layer, takes before it is full */
    bool              native : 1;   /* of the type bloomery1 */
    bool              counts : 1;   /* every add changes it, not only new keys: counters, windows */
    bool              forgets : 1;  /* a window, which is never full … */
    bool              timed : 1;    /* … by time */
    bool              fixed : 1;    /* may not grow; adds to a full filter are errors */
    bool              may_fail : 1; /* may have no place for an item before it is full */
    bool     automatic : 1;         /* made by an add, not reserved, so it grows as growth.c says */
    bool     saturate : 1;          /* native and of fixed size: takes keys past its capacity */
    bool     named : 1;             /* only while BF.MERGE looks for filters named twice */
    bool     followed : 1;          /* its changes are kept (changes.c) */
    uint8_t  place;                 /* where it is awake (asleep.c); 0: nowhere */
    uint16_t layers;                /* of `asleep`, with the … */
    uint32_t growth;                /* … chain's growth */
};

/* Takes ownership of the filter. NULL: it failed, and the filter is freed. */
struct value *bf_value(blm_filter *f, bool native);
void          bf_value_complete(struct value *v); /* its filter is complete: fills in the rest */
void          bf_value_free(struct value *v);
struct value *bf_value_copy(struct value *v);
/* Updates the totals after the filter changed. The second is for n new keys only, and does not look
 * at the filter if they had room. */
void   bf_value_tally(struct value *v);
void   bf_value_added(struct value *v, uint64_t n);
size_t bf_value_memory(const struct value *v);
/* Above 64: worth freeing in the background thread. */
size_t bf_value_effort(const struct value *v);
int    bf_value_defrag(DefragCtx *ctx, struct value **v);
/* Parameters of the whole, or of one layer. */
blm_params bf_params(const struct value *v);
blm_params bf_layer(const struct value *v, uint32_t layer);
/* What BF.INFO calls Size, computed as RedisBloom does. */
uint64_t bf_value_size(const struct value *v);

/* ---- small filters at rest (asleep.c) ---- */

/* Makes v->filter. alone: no other filter is used by this command, so that others may go to sleep
 * for it. */
void bf_value_wake(struct value *v, bool alone);
/* After a command that made it larger: it shall take no more than it needs. */
void bf_value_grown(struct value *v);
/* Lets it sleep from now on, if it is small. Not while a command uses it. */
void bf_value_rest(struct value *v);
/* The same for what saves or copies a value. True: to be ended by unpeek. */
bool bf_value_peek(struct value *v);
void bf_value_unpeek(struct value *v);
/* Frees the filter of any value, awake or asleep; also in the background. */
void bf_asleep_free(struct value *v);
/* Parts of bf_value_memory and _defrag, for values with `asleep`. The last is false if the value no
 * longer has it. */
size_t bf_asleep_memory(const struct value *v);
bool   bf_asleep_defrag(DefragCtx *ctx, struct value *v);

/* ---- memory (memory.c) ---- */

/* Options with Redis' allocator, which fails instead of aborting, and a cap on the filter's
 * size. */
extern const blm_allocator bf_allocator;
blm_options                bf_options(uint64_t max_bytes);
/* Bytes from Redis' allocator; NULL: no memory. */
void *bf_try_alloc(size_t size);
/* Hands an array that Redis allocated and filled over to a filter. */
void bf_memory_filled(void *p, size_t size);
/* Between true and false, no memory is the end of the process, as for Redis' own commands: what saves
 * a value has no way to say that it could not, and half a value in a file is worse. */
void bf_memory_must(bool must);
/* At load time: may programs ask for huge pages here? */
void bf_memory_find_rule(void);

/* ---- configuration and totals (config.c, value.c, module.c) ---- */

struct bf_config {
    double    rate;
    long long capacity;
    long long expansion;
    long long max_bytes;
    long long changes; /* hashes that are kept of a filter with near copies */
    int       auto_growth, huge_pages;
    long long cf_capacity, cf_bucket, cf_iterations, cf_expansion, cf_max_expansions;
};
extern struct bf_config bf_config;
/* Reads the load arguments, then the configs. False: the log says why, and the load must fail. */
bool bf_config_load(Ctx *ctx, Str **argv, int argc);

struct bf_totals {
    _Atomic uint64_t filters, items, bytes, adds, checks, refused;
    _Atomic uint64_t added; /* also items, counted by commands that changed nothing else */
};
extern struct bf_totals bf_totals;
void                    bf_info(InfoCtx *ctx, int crashing);
static inline void      bf_total(_Atomic uint64_t *t, uint64_t n)
{
    atomic_fetch_add_explicit(t, n, memory_order_relaxed);
}
/* The same for a total that only commands change. They run one at a time, so no locked
 * instruction. */
static inline void bf_tick(_Atomic uint64_t *t, uint64_t n)
{
    atomic_store_explicit(t, atomic_load_explicit(t, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* Is this a command that our master, or the writer of the append-only file, has already done? */
bool bf_repeated(Ctx *ctx);
/* The cap that applies to a command. What a master or the append-only file already accepted is not
 * judged again, because a replica with a smaller cap would lose keys. */
uint64_t bf_cap(Ctx *ctx);

/* ---- types (type.c, type_native.c) ---- */

extern Type *bf_type, *bf_type_native, *bf_type_cf;
/* Callbacks that the two types share: memory, effort, copies, defrag, free. */
TypeMethods bf_methods(void);
bool        bf_type_create(Ctx *ctx);
bool        bf_type_native_create(Ctx *ctx);
bool        bf_type_cf_create(Ctx *ctx);
/* The cap that applies to an RDB value. */
uint64_t bf_load_cap(void);
blm_cf   bf_cf(const struct value *v);

/* The description of a RedisBloom chain, from the header chunk of a dump or from an RDB value. */
struct bf_chain {
    uint64_t         items;
    uint32_t         layers, options, growth;
    uint32_t         room;    /* layers that there is memory for */
    blm_chain_layer *layer;   /* bf_chain_room */
    bool             starved; /* there was no memory for its layers */
};
#define BF_CHUNK ((uint64_t)16 << 20) /* the most bytes in a chunk of a dump */

/* Sets the number of layers to n (1 to BLM_CHAIN_MAX_LAYERS, never fewer than before) and zeroes the
 * new ones. False: n is out of range, or no memory. */
bool bf_chain_room(struct bf_chain *c, uint64_t n);
void bf_chain_free(struct bf_chain *c);
/* What is wrong with it, as far as can be seen before memory is allocated; NULL: nothing. */
const char *bf_chain_fault(const struct bf_chain *c, uint64_t max_bytes);
/* Makes a value of it. The layers' words go to the filter. NULL: *why says why. */
struct value *bf_chain_value(struct bf_chain *c, uint64_t max_bytes, const char **why);
/* To and from the header chunk. What bf_header returns is valid until the next call. */
const uint8_t *bf_header(const struct value *v, size_t *len);
bool           bf_header_get(struct bf_chain *c, const uint8_t *in, size_t len);

/* ---- native bytes in chunks (native.c) ---- */

#define BF_NATIVE_HEADER BLM_DUMP_HEADER              /* of a native value's dump */
bool bf_native_header(const uint8_t *in, size_t len); /* is this the start of one? */
void bf_native_header_put(const struct value *v, uint64_t total, uint8_t *out);
/* Makes a value that waits for its bytes. NULL: *why says why. */
struct value *bf_native_begin(const uint8_t *in, size_t len, uint64_t max_bytes, const char **why);
/* Takes the next bytes, which belong at `at`. 1: complete, 0: more to come, -1: *why says why
 * not. */
int bf_native_take(struct value *v, uint64_t at, const void *bytes, size_t len, const char **why);
/* Up to `room` bytes of the encoded filter from `at` on. Returns how many: fewer if it ends, or if
 * there was no memory for its checksums. */
size_t bf_native_read(const struct value *v, uint64_t at, void *out, size_t room);
/* Bytes of the encoded filter, also of one that is still arriving. 0: no memory. */
uint64_t bf_native_length(const struct value *v);
/* How many bytes of an arriving value are here. `each` (or NULL) is called with them, in order. */
typedef void (*bf_part_fn)(void *ctx, const void *bytes, size_t len);
uint64_t bf_native_arrived(const struct value *v, bf_part_fn each, void *ctx);
void     bf_native_drop(struct value *v); /* frees v->arriving */

/* ---- growth (growth.c) ---- */

/* The rate that marks a filter as made by an add, not reserved, and whether a first layer has that
 * mark. */
double bf_auto_rate(double rate);
bool   bf_is_auto(double first_error);
/* Takes the mark from a first layer, if it has one. */
void bf_unmark(blm_chain_layer *first, uint32_t options);

enum bf_outcome { BF_ADDED, BF_FULL, BF_FAILED };
/* Adds keys in order. fresh[i] becomes 1 if key i was new. If the result is not BF_ADDED, *done
 * keys were taken, and the next one is new but there is no room for it. */
enum bf_outcome bf_add(struct value *v, const blm_key *keys, size_t n, uint8_t *fresh,
                       size_t *done);

/* ---- time (clock.c) ---- */

/* What windows go by: the wall clock, except between these two. A command that adds takes the time
 * once, and replicas get it with the items, so that all of them forget at the same moment. */
uint64_t bf_clock(void *ctx);
uint64_t bf_clock_hold(uint64_t ms); /* 0: the wall clock's; returns it */
void     bf_clock_release(void);

/* ---- what was added lately (changes.c) ---- */

/* For values with `followed`: items were added, those with fresh[i] were new. */
void bf_changes_add(struct value *v, Str **items, const uint8_t *fresh, size_t n);
/* The filter has changed otherwise, or is freed: near copies must load it again. */
void bf_changes_end(struct value *v);
void bf_changes_moved(const struct value *from, struct value *to);

/* ---- keys and replies (cmd.c) ---- */

enum bf_found { BF_MISSING, BF_OURS, BF_OTHER };
/* Finds a value and its key. Read-only keys are closed at once: the value stays valid as long as
 * the command runs. Beside: values that the command found before are still in use. */
enum bf_found bf_find(Ctx *ctx, Str *name, struct value **out);
enum bf_found bf_find_beside(Ctx *ctx, Str *name, struct value **out);
enum bf_found bf_open(Ctx *ctx, Str *name, Key **key, struct value **out);
/* Sets a new value on an empty key that is open for writing. */
void bf_attach(Key *key, struct value *v);
/* Replaces what a key holds by a value, or makes the key. */
void bf_put(Ctx *ctx, Str *name, struct value *v);
/* Notifies watchers, clients that cache, and subscribers of a change. */
void bf_changed(Ctx *ctx, Str *name, const char *event);

/* Sends the items of a command through a filter (blm_flow) and replies to each as it comes out,
 * while others still wait for memory. */
struct bf_items {
    Ctx   *ctx;
    Str  **item;
    size_t left; /* still to come */
    size_t yes;  /* answers of 1 */
};
size_t bf_items_next(void *ctx, blm_key *keys, size_t room);
void   bf_items_reply(void *ctx, const uint8_t *answers, size_t n);

#define BF_STARVED   "no memory" /* why a value was refused */
#define BF_TOO_LARGE "ERR the filter is larger than bf-max-bytes allows"
#define BF_NO_LAYER  "ERR invalid offset - no link found" /* RedisBloom's words */
int bf_wrong_type(Ctx *ctx);
int bf_not_found(Ctx *ctx);
int bf_still_arriving(Ctx *ctx);

/* ---- arguments (args.c) ---- */

bool bf_word(const Str *s, const char *word); /* compares without regard to case */
/* NULL, or what is wrong, in the words of BF.RESERVE. */
const char *bf_read_rate(const Str *s, double *out);
const char *bf_read_capacity(const Str *s, long long *out);
const char *bf_read_expansion(const Str *s, long long *out);
bool        bf_read_seconds(const Str *s, uint64_t *ms); /* above 0, in whole milliseconds */
bool bf_read_seed(const Str *s, uint64_t out[2]); /* decimal to 64 bits, or 0x and hex to 128 */

#define BF_MAX_CAPACITY      1073741824LL
#define BF_MAX_EXPANSION     32768LL
#define BF_DEFAULT_EXPANSION 2LL
#define BF_MAX_GROWTH        1024LL /* of a native scalable filter */
#define BF_MAX_RATE          0.25   /* higher rates are taken as this */

/* How a filter is to be made. */
struct bf_wanted {
    double    rate;
    long long capacity, expansion; /* 0: does not scale */
    bool      explicit_;           /* any of them was given */
    bool      nonscaling, saturate, native, seeded;
    blm_kind  kind;
    uint64_t  seed[2];
    uint64_t  window_ms, slack_ms; /* 0: none */
};
struct bf_wanted bf_defaults(void);
/* Do the filters of this kind grow by themselves? */
static inline bool bf_grows(blm_kind k) { return blm_kind_find(k)->can & BLM_CAN_GROW; }
/* Fills in what was not given: the mark of a filter that grows by itself, a native filter's seed.
 * False: the system has no random bytes. */
bool bf_complete_wanted(struct bf_wanted *w);
/* Makes the filter. NULL: *why is the error reply. */
struct value *bf_make(Ctx *ctx, const struct bf_wanted *w, const char **why);
/* Replicates the command that made it, so that a replica gets the same filter. */
void bf_replicate_make(Ctx *ctx, Str *key, const struct bf_wanted *w);

/* ---- commands ---- */

int bf_cmd_reserve(Ctx *ctx, Str **argv, int argc);
int bf_cmd_add(Ctx *ctx, Str **argv, int argc);
int bf_cmd_addat(Ctx *ctx, Str **argv, int argc);
int bf_cmd_madd(Ctx *ctx, Str **argv, int argc);
int bf_cmd_insert(Ctx *ctx, Str **argv, int argc);
int bf_cmd_exists(Ctx *ctx, Str **argv, int argc);
int bf_cmd_mexists(Ctx *ctx, Str **argv, int argc);
int bf_cmd_info(Ctx *ctx, Str **argv, int argc);
int bf_cmd_card(Ctx *ctx, Str **argv, int argc);
int bf_cmd_debug(Ctx *ctx, Str **argv, int argc);
int bf_cmd_scandump(Ctx *ctx, Str **argv, int argc);
int bf_cmd_changes(Ctx *ctx, Str **argv, int argc);
int bf_cmd_loadchunk(Ctx *ctx, Str **argv, int argc);
int bf_cmd_del(Ctx *ctx, Str **argv, int argc);
int bf_cmd_merge(Ctx *ctx, Str **argv, int argc);
int bf_cmd_estimate(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_reserve(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_add(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_addnx(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_insert(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_insertnx(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_exists(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_mexists(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_count(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_del(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_compact(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_info(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_debug(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_scandump(Ctx *ctx, Str **argv, int argc);
int bf_cmd_cf_loadchunk(Ctx *ctx, Str **argv, int argc);

/* The table of commands, with what COMMAND DOCS shows (docs.c). */
struct bf_command {
    const char *name;
    CommandFn   fn;
    const char *flags, *categories;
    int         last_key; /* 1, or -1: all arguments from the first on */
    CommandInfo info;
};
extern const struct bf_command bf_commands[];
extern const size_t            bf_command_count;
void                           bf_docs_kinds(void); /* before the commands are created */

#endif
