/* SPDX-License-Identifier: MIT */
/* BF.RESERVE, BF.ADD, BF.MADD, BF.INSERT: the commands that make filters and fill them. */
#include <stdio.h>
#include <string.h>

#include "bf.h"
#include "bloomery/embed.h"

#define FULL    "ERR non scaling filter is full"
#define PROBLEM "ERR problem inserting into filter"

/* ---- BF.RESERVE key rate capacity [EXPANSION n] [NONSCALING]
 *                 [KIND k] [SATURATE] [WINDOW seconds [SLACK seconds]] [SEED n] ---- */

/* The error reply for a KIND that we do not know. */
static const char *no_such_kind(void)
{
    static char         text[128];
    const blm_kind_row *row;
    size_t              len  = (size_t)snprintf(text, sizeof text, "ERR KIND must be ");
    const char         *last = NULL;
    for (size_t i = 0; (row = blm_kind_at(i)) && len < sizeof text; i++) {
        if (!(row->can & BLM_CAN_ADD))
            continue; /* built elsewhere, and loaded */
        if (last)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s, ", last);
        last = row->name;
    }
    if (len < sizeof text)
        snprintf(text + len - 2, sizeof text - len + 2, " or %s", last);
    return text;
}

static bool read_kind(const Str *s, blm_kind *out)
{
    const blm_kind_row *row;
    for (size_t i = 0; (row = blm_kind_at(i)); i++)
        if (row->can & BLM_CAN_ADD && bf_word(s, row->name)) {
            *out = row->kind;
            return true;
        }
    return false;
}

/* Parses the words that RedisBloom does not have. Returns how many arguments were used; 0: not one
 * of these words. */
static int extra_word(Str **argv, int left, struct bf_wanted *w, const char **why)
{
    if (bf_word(argv[0], "SATURATE")) {
        w->saturate = true;
        return 1;
    }
    if (bf_word(argv[0], "KIND")) {
        if (left < 2 || !read_kind(argv[1], &w->kind))
            *why = no_such_kind();
        w->native = true;
        return 2;
    }
    bool window = bf_word(argv[0], "WINDOW");
    if (window || bf_word(argv[0], "SLACK")) {
        if (left < 2 || !bf_read_seconds(argv[1], window ? &w->window_ms : &w->slack_ms))
            *why = "ERR WINDOW and SLACK must be seconds, from 0.001 to 1000000000";
        return 2;
    }
    if (bf_word(argv[0], "SEED")) {
        if (left < 2 || !bf_read_seed(argv[1], w->seed))
            *why = "ERR SEED must be a number from 0 to 18446744073709551615, or 0x and up to 32 "
                   "hexadecimal digits";
        w->seeded = true;
        return 2;
    }
    return 0;
}

/* `loose`: skips unknown words, as RedisBloom did when the command was first done. */
static const char *reserve_words(Str **argv, int argc, struct bf_wanted *w, bool *expands,
                                 bool loose)
{
    const char *why = NULL;
    *expands        = false;
    for (int i = 4; i < argc && !why;) {
        int used = 0;
        if (bf_word(argv[i], "NONSCALING")) {
            w->nonscaling = true;
            used          = 1;
        } else if (bf_word(argv[i], "EXPANSION") && !*expands) { /* the first counts */
            *expands = true;
            why = i + 1 < argc ? bf_read_expansion(argv[i + 1], &w->expansion) : "ERR no expansion";
            used = 2;
        } else {
            used = extra_word(argv + i, argc - i, w, &why);
        }
        if (used == 0 && !loose)
            return "ERR unknown argument received";
        i += used ? used : 1;
    }
    return why;
}

/* Checks which words go together, and what follows from them. */
static const char *reserve_sense(struct bf_wanted *w, bool expands)
{
    if (w->nonscaling && expands && w->expansion > 0)
        return "Nonscaling filters cannot expand";
    if (w->window_ms && !w->native) {
        w->native = true;
        w->kind   = BLM_WINDOW;
    }
    if (w->saturate && !w->native) { /* RedisBloom's layout has no flag for it: native */
        if (!w->nonscaling && !(expands && w->expansion == 0))
            return "ERR SATURATE needs a filter that does not scale: give NONSCALING too";
        w->native = true;
        w->kind   = blm_kind_find(BLM_ANY_KIND)->kind;
    }
    bool window = w->native && blm_kind_find(w->kind)->can & BLM_CAN_FORGET;
    if ((w->window_ms || w->slack_ms) && !window)
        return "ERR WINDOW and SLACK need KIND window, or no KIND";
    if (w->slack_ms && !w->window_ms)
        return "ERR SLACK needs WINDOW: without it a window goes by the number of items";
    if (window && w->saturate)
        return "ERR KIND window is never full: remove SATURATE";
    if (w->native && w->saturate && blm_kind_find(w->kind)->can & BLM_CAN_FILL_UP)
        return "ERR KIND cuckoo has no room past its cells: remove SATURATE";
    bool scalable = w->native && bf_grows(w->kind);
    if (scalable && (w->saturate || w->nonscaling || (expands && w->expansion == 0)))
        return "ERR KIND scalable cannot have NONSCALING, EXPANSION 0 or SATURATE";
    if (scalable && expands && (w->expansion < 2 || w->expansion > BF_MAX_GROWTH))
        return "ERR EXPANSION of KIND scalable must be from 2 to 1024";
    if (w->native && !scalable && expands && w->expansion > 0)
        return "Nonscaling filters cannot expand";
    if (w->seeded && !w->native)
        return "ERR SEED needs KIND: RedisBloom's filters have no seed";
    return NULL;
}

/* Seven arguments are enough for RedisBloom's words, and more are its error. Ours may need more. */
static bool has_own_word(Str **argv, int argc)
{
    struct bf_wanted unused;
    const char      *why;
    for (int i = 4; i < argc; i++)
        if (extra_word(argv + i, argc - i, &unused, &why) > 0)
            return true;
    return false;
}

int bf_cmd_reserve(Ctx *ctx, Str **argv, int argc)
{
    struct bf_wanted w = bf_defaults();
    struct value    *v;
    Key             *key;
    bool             expands = false;
    if (argc < 4 || (argc > 7 && !has_own_word(argv, argc)))
        return api.WrongArity(ctx);
    w.explicit_     = true;
    const char *why = bf_read_rate(argv[2], &w.rate);
    if (!why)
        why = bf_read_capacity(argv[3], &w.capacity);
    if (!why)
        why = reserve_words(argv, argc, &w, &expands, bf_repeated(ctx));
    if (!why)
        why = reserve_sense(&w, expands);
    if (why)
        return api.ReplyWithError(ctx, why);
    enum bf_found found = bf_open(ctx, argv[1], &key, &v);
    if (found != BF_MISSING) {
        api.CloseKey(key);
        return found == BF_OURS ? api.ReplyWithError(ctx, "ERR item exists") : bf_wrong_type(ctx);
    }
    v = bf_complete_wanted(&w) ? bf_make(ctx, &w, &why) : NULL;
    if (v)
        bf_attach(key, v);
    api.CloseKey(key);
    if (!v)
        return api.ReplyWithError(ctx, why ? why : "ERR the system has no random bytes for a seed");
    bf_replicate_make(ctx, argv[1], &w);
    bf_changed(ctx, argv[1], "bf.reserve");
    return api.ReplyWithSimpleString(ctx, "OK");
}

/* ---- adding ---- */

/* The outcome of the items of one command. */
struct results {
    uint8_t        *fresh;
    size_t          done; /* items taken; the next one is new and there was no room for it */
    size_t          news; /* how many of them were new */
    enum bf_outcome outcome;
};

#define BATCH 256u /* keys on the stack at once */

static void add_items(struct value *v, Str **items, size_t n, struct results *r)
{
    blm_key keys[BATCH];
    r->outcome = BF_ADDED;
    for (r->done = 0; r->done < n && r->outcome == BF_ADDED;) {
        size_t some = n - r->done < BATCH ? n - r->done : BATCH, took = 0;
        for (size_t i = 0; i < some; i++)
            keys[i].data = api.StringPtrLen(items[r->done + i], &keys[i].len);
        r->outcome = bf_add(v, keys, some, r->fresh + r->done, &took);
        r->done += took;
    }
    for (size_t i = 0; i < r->done; i++)
        r->news += r->fresh[i];
    bf_tick(&bf_totals.adds, r->done);
    if (v->followed)
        bf_changes_add(v, items, r->fresh, r->done);
}

/* The value to add n items to, made now if it is missing. NULL: the error has been replied. */
static struct value *to_add_to(Ctx *ctx, Str *name, size_t n, struct bf_wanted *w, bool create,
                               bool *made)
{
    Key          *key;
    struct value *v;
    const char   *why   = "ERR the system has no random bytes for a seed";
    enum bf_found found = bf_open(ctx, name, &key, &v);
    *made               = false;
    if (found == BF_MISSING && create) {
        v = bf_complete_wanted(w) ? bf_make(ctx, w, &why) : NULL;
        if (v)
            bf_attach(key, v);
        *made = v != NULL;
    }
    api.CloseKey(key);
    if (found == BF_OTHER)
        bf_wrong_type(ctx);
    else if (!v && create)
        api.ReplyWithError(ctx, why);
    else if (!v)
        bf_not_found(ctx);
    else if (v->arriving)
        bf_still_arriving(ctx);
    else if (n > v->room) /* it may grow */
        blm_set_max_bytes(v->filter, bf_cap(ctx));
    return v && v->filter ? v : NULL;
}

/* Counting filters and windows change with every add, any other only with new items. */
static bool changed(const struct value *v, const struct results *r)
{
    return r->news || (v->counts && r->done);
}

/* Must replicas, and the append-only file, get adds that changed nothing here? Those of a client,
 * yes: from Redis 7.2 on, WAIT waits for what the connection has written only if its commands were
 * replicated. A client that repeats an add, because it got no reply, must not hear from WAIT that
 * the replicas have it while they do not.
 *
 * Those that are repeated here, only if RedisBloom as a replica may grow the filter in other steps
 * than we do. Then an item that is there for us only by chance, because other items have set its
 * bits, is not there for it, and must be added. Native filters and those that do not grow are the
 * same everywhere. What counts adds must not get one twice: each of its adds is a change. */
static bool replicates_all(Ctx *ctx, const struct value *v)
{
    return !v->counts && (!bf_repeated(ctx) || (!v->native && !v->fixed));
}

/* Replicas must do exactly what was done here: add the items up to the one without room. If the
 * command was a BF.ADD or BF.MADD and all of it was done, it is replicated as it is, which costs
 * nothing while there are no replicas. */
static void replicate_adds(Ctx *ctx, Str *name, const struct value *v, Str **items, size_t n,
                           bool whole)
{
    if (v->timed)
        api.Replicate(ctx, "BF.ADDAT", "slv", name, (long long)bf_clock(NULL), items, n);
    else if (whole)
        api.ReplicateVerbatim(ctx);
    else
        api.Replicate(ctx, "BF.MADD", "sv", name, items, n);
}

static void replicate_items(Ctx *ctx, Str *name, const struct value *v, Str **items, bool whole,
                            const struct results *r)
{
    if (r->done && (changed(v, r) || replicates_all(ctx, v)))
        replicate_adds(ctx, name, v, items, r->done, whole);
    if (changed(v, r))
        bf_changed(ctx, name, "bf.add");
}

/* The filter could not grow. Items that are there need no room and were answered with 0, so they
 * are replicated too; new ones were answered with an error. */
static void replicate_present(Ctx *ctx, Str *name, const struct value *v, Str **items, size_t n)
{
    for (size_t i = 0; replicates_all(ctx, v) && i < n; i++) {
        size_t      len;
        const char *key = api.StringPtrLen(items[i], &len);
        if (blm_check(v->filter, key, len))
            api.Replicate(ctx, "BF.ADD", "ss", name, items[i]);
    }
}

/* If the filter is full, the first item without room ends the array, as with RedisBloom. If the
 * filter could not grow, each new item gets an error, and the array continues. */
static void reply_items(Ctx *ctx, const struct value *v, Str **items, size_t n,
                        const struct results *r)
{
    api.ReplyWithArray(ctx, (long)(r->outcome == BF_FULL ? r->done + 1 : n));
    for (size_t i = 0; i < r->done; i++)
        api.ReplyWithBool(ctx, r->fresh[i]);
    if (r->outcome == BF_FULL)
        api.ReplyWithError(ctx, FULL);
    if (r->outcome != BF_FAILED)
        return;
    for (size_t i = r->done; i < n; i++) {
        size_t      key_len;
        const char *key = api.StringPtrLen(items[i], &key_len);
        if (blm_check(v->filter, key, key_len))
            api.ReplyWithBool(ctx, 0);
        else
            api.ReplyWithError(ctx, PROBLEM);
    }
}

/* There is room for all items, so nothing can fail, and each is replied to as it is added. */
static void add_with_room(Ctx *ctx, struct value *v, Str **items, size_t n, struct results *r)
{
    struct bf_items t = { .ctx = ctx, .item = items, .left = n };
    api.ReplyWithArray(ctx, (long)n);
    blm_add_flow(v->filter, &(blm_flow){ bf_items_next, bf_items_reply, &t }, &r->done);
    for (size_t i = r->done; i < n; i++)
        api.ReplyWithError(ctx, PROBLEM);
    r->news = t.yes;
    bf_value_added(v, r->news);
    bf_tick(&bf_totals.adds, r->done);
}

static void add_and_reply(Ctx *ctx, struct value *v, Str **items, size_t n, struct results *r)
{
    uint8_t some[1024];
    if (n <= v->room && !v->followed && !v->may_fail) {
        add_with_room(ctx, v, items, n, r);
        return;
    }
    r->fresh = n > sizeof some ? api.Alloc(n) : some; /* less than the arguments already take */
    add_items(v, items, n, r);
    reply_items(ctx, v, items, n, r);
    if (r->fresh != some)
        api.Free(r->fresh);
    r->fresh = NULL; /* it was here, or is gone */
}

/* `madd`: the command has only a name and items. */
static int add_all(Ctx *ctx, Str *name, struct bf_wanted *w, bool create, Str **items, size_t n,
                   bool madd)
{
    struct results r = { .fresh = NULL };
    bool           made;
    struct value  *v = to_add_to(ctx, name, n, w, create, &made);
    if (!v)
        return API_OK;
    if (made) {
        bf_replicate_make(ctx, name, w);
        bf_changed(ctx, name, "bf.reserve");
    }
    if (v->timed)
        bf_clock_hold(0);
    uint64_t bytes = v->bytes;
    add_and_reply(ctx, v, items, n, &r);
    replicate_items(ctx, name, v, items, madd && r.done == n, &r);
    if (r.outcome == BF_FAILED)
        replicate_present(ctx, name, v, items + r.done, n - r.done);
    if (v->bytes != bytes)
        bf_value_grown(v);
    bf_clock_release();
    return API_OK;
}

/* ---- BF.ADD key item ---- */

int bf_cmd_add(Ctx *ctx, Str **argv, int argc)
{
    struct bf_wanted w = bf_defaults();
    uint8_t          fresh;
    struct results   r = { .fresh = &fresh };
    bool             made;
    if (argc != 3)
        return api.WrongArity(ctx);
    struct value *v = to_add_to(ctx, argv[1], 1, &w, true, &made);
    if (!v)
        return API_OK;
    if (made) {
        bf_replicate_make(ctx, argv[1], &w);
        bf_changed(ctx, argv[1], "bf.reserve");
    }
    if (v->timed)
        bf_clock_hold(0);
    uint64_t bytes = v->bytes;
    add_items(v, argv + 2, 1, &r);
    if (r.outcome == BF_ADDED)
        api.ReplyWithBool(ctx, fresh);
    else
        api.ReplyWithError(ctx, r.outcome == BF_FULL ? FULL : PROBLEM);
    replicate_items(ctx, argv[1], v, argv + 2, true, &r);
    if (v->bytes != bytes)
        bf_value_grown(v);
    bf_clock_release();
    return API_OK;
}

/* ---- BF.ADDAT key milliseconds item [item …] ---- */

/* How adds to a window by time reach replicas and the append-only file. */
int bf_cmd_addat(Ctx *ctx, Str **argv, int argc)
{
    Key           *key;
    struct value  *v;
    long long      ms;
    struct results r = { .fresh = NULL };
    if (argc < 4)
        return api.WrongArity(ctx);
    if (!bf_repeated(ctx))
        return api.ReplyWithError(ctx, "ERR BF.ADDAT is how servers replicate adds: use BF.MADD");
    if (api.StringToLongLong(argv[2], &ms) != API_OK || ms <= 0)
        return api.ReplyWithError(ctx, "ERR the time must be a number of milliseconds");
    enum bf_found found = bf_open(ctx, argv[1], &key, &v);
    api.CloseKey(key);
    if (found != BF_OURS || !v->filter)
        return found == BF_OTHER ? bf_wrong_type(ctx) : bf_not_found(ctx);
    bf_clock_hold((uint64_t)ms);
    add_and_reply(ctx, v, argv + 3, (size_t)argc - 3, &r);
    bf_clock_release();
    api.ReplicateVerbatim(ctx);
    bf_changed(ctx, argv[1], "bf.add");
    return API_OK;
}

/* ---- BF.MADD key item [item …] ---- */

int bf_cmd_madd(Ctx *ctx, Str **argv, int argc)
{
    struct bf_wanted w = bf_defaults();
    if (argc < 3)
        return api.WrongArity(ctx);
    return add_all(ctx, argv[1], &w, true, argv + 2, (size_t)(argc - 2), true);
}

/* ---- BF.INSERT key [CAPACITY n] [ERROR r] [EXPANSION n] [NOCREATE] [NONSCALING] ITEMS i … ---- */

/* Which word an argument is. RedisBloom goes by first letters. For a client an error is better, but
 * commands from RedisBloom's append-only file, or from RedisBloom as a master, have already been
 * done: then `loose` is set. */
static const char *insert_option(const Str *s, bool loose)
{
    static const char *const words[] = { "ITEMS",    "ERROR",    "EXPANSION",
                                         "CAPACITY", "NOCREATE", "NONSCALING" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bf_word(s, words[i]))
            return words[i];
    size_t      len;
    const char *text = api.StringPtrLen(s, &len);
    switch (loose && len ? text[0] | 32 : 0) {
    case 'i':
        return words[0];
    case 'e':
        return words[len > 1 && (text[1] | 32) == 'r' ? 1 : 2];
    case 'c':
        return words[3];
    case 'n':
        return words[len > 2 && (text[2] | 32) == 'c' ? 4 : 5];
    default:
        return NULL;
    }
}

/* Parses one option of BF.INSERT. Returns how many arguments were used; 0: a value is missing. */
static int insert_word(const char *word, Str **argv, int left, struct bf_wanted *w, bool *create,
                       const char **why)
{
    if (strcmp(word, "NOCREATE") == 0) {
        *create = false;
        return 1;
    }
    w->explicit_ = true;
    if (strcmp(word, "NONSCALING") == 0) {
        w->nonscaling = true;
        return 1;
    }
    if (left < 2)
        return 0;
    if (strcmp(word, "CAPACITY") == 0)
        *why = bf_read_capacity(argv[1], &w->capacity) ? "Bad capacity" : NULL;
    else if (strcmp(word, "ERROR") == 0)
        *why = bf_read_rate(argv[1], &w->rate) ? "Bad error rate" : NULL;
    else
        *why = bf_read_expansion(argv[1], &w->expansion) ? "Bad expansion" : NULL;
    return 2;
}

int bf_cmd_insert(Ctx *ctx, Str **argv, int argc)
{
    struct bf_wanted w      = bf_defaults();
    bool             create = true, loose = bf_repeated(ctx);
    const char      *why = NULL;
    int              at  = 2;
    if (argc < 4)
        return api.WrongArity(ctx);
    while (at < argc) {
        const char *word = insert_option(argv[at], loose);
        if (!word)
            return api.ReplyWithError(ctx, "Unknown argument received");
        if (strcmp(word, "ITEMS") == 0)
            break;
        int used = insert_word(word, argv + at, argc - at, &w, &create, &why);
        if (why)
            return api.ReplyWithError(ctx, why);
        if (used == 0)
            return api.WrongArity(ctx);
        at += used;
    }
    if (at + 1 >= argc)
        return api.WrongArity(ctx);
    return add_all(ctx, argv[1], &w, create, argv + at + 1, (size_t)(argc - at - 1), false);
}
