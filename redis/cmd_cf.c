/* SPDX-License-Identifier: MIT */
/*
 * CF.*: RedisBloom's cuckoo filters, with its replies. Where RedisBloom would crash, or let master
 * and replica differ, this does something else (docs/redis.md, "Cuckoo filters").
 */
#include <stdio.h>
#include <string.h>

#include "bf.h"

#define MOST_CAPACITY BF_MAX_CAPACITY

/* ---- keys ---- */

static enum bf_found value_of(Key *key, struct value **out)
{
    *out = NULL;
    if (!key || api.KeyType(key) == API_KEYTYPE_EMPTY)
        return BF_MISSING;
    if (api.ModuleTypeGetType(key) != bf_type_cf)
        return BF_OTHER;
    *out = api.ModuleTypeGetValue(key);
    return BF_OURS;
}

static enum bf_found find(Ctx *ctx, Str *name, struct value **out)
{
    Key          *key   = api.OpenKey(ctx, name, API_READ);
    enum bf_found found = value_of(key, out);
    if (key)
        api.CloseKey(key);
    return found;
}

/* For writing. The value stays valid as long as the command runs. */
static enum bf_found find_to_change(Ctx *ctx, Str *name, struct value **out)
{
    Key          *key   = api.OpenKey(ctx, name, API_READ | API_WRITE);
    enum bf_found found = value_of(key, out);
    api.CloseKey(key);
    return found;
}

static void attach(Ctx *ctx, Str *name, struct value *v)
{
    Key *key = api.OpenKey(ctx, name, API_READ | API_WRITE);
    api.ModuleTypeSetValue(key, bf_type_cf, v);
    api.CloseKey(key);
}

static void changed(Ctx *ctx, Str *name, struct value *v, const char *event)
{
    bf_value_tally(v);
    api.ReplicateVerbatim(ctx);
    bf_changed(ctx, name, event);
}

static blm_key item_of(const Str *s)
{
    blm_key k;
    k.data = api.StringPtrLen(s, &k.len);
    return k;
}

/* ---- making one ---- */

struct wanted {
    long long capacity, bucket, iterations, expansion;
};

static struct wanted defaults(void)
{
    return (struct wanted){ bf_config.cf_capacity, bf_config.cf_bucket, bf_config.cf_iterations,
                            bf_config.cf_expansion };
}

static uint64_t power_from(uint64_t v)
{
    uint64_t p = 1;
    while (p < v)
        p *= 2;
    return p;
}

/* NULL: there is no memory, or it would be too large. */
static struct value *make(Ctx *ctx, const struct wanted *w)
{
    blm_options o = bf_options(bf_cap(ctx));
    blm_filter *f = NULL;
    blm_cf      c = { .size           = sizeof c,
                      .buckets        = power_from((uint64_t)(w->capacity / w->bucket)),
                      .layers         = 1,
                      .bucket_size    = (uint32_t)w->bucket,
                      .max_iterations = (uint32_t)w->iterations,
                      .expansion = (uint32_t)(w->expansion ? power_from((uint64_t)w->expansion) : 0) };
    return blm_cf_create(&c, &o, &f, NULL) == BLM_OK ? bf_value(f, false) : NULL;
}

#define NO_FILTER_MEMORY "ERR Insufficient memory to create filter"

/* CF.RESERVE key capacity [BUCKETSIZE b] [MAXITERATIONS m] [EXPANSION e]
 *
 * As in RedisBloom, words are looked for among all arguments, the first counts, and unknown ones are
 * ignored. */
static const char *read_word(Str **argv, int argc, const char *word, long long min, long long max,
                             long long *out, char *text, size_t room)
{
    for (int i = 1; i < argc; i++) {
        if (!bf_word(argv[i], word))
            continue;
        if (i + 1 == argc)
            return "";
        if (api.StringToLongLong(argv[i + 1], out) != API_OK)
            snprintf(text, room, "Couldn't parse %s", word);
        else if (*out < min || *out > max)
            snprintf(text, room, "%s: value must be in the range [%lld, %lld]", word, min, max);
        else
            return NULL;
        return text;
    }
    return NULL;
}

int bf_cmd_cf_reserve(Ctx *ctx, Str **argv, int argc)
{
    char          text[96];
    struct value *v;
    struct wanted w   = defaults();
    const char   *why = NULL;
    if (argc < 3 || argc % 2 == 0)
        return api.WrongArity(ctx);
    if (api.StringToLongLong(argv[2], &w.capacity) != API_OK)
        return api.ReplyWithError(ctx, "Bad capacity");
    why = read_word(argv, argc, "MAXITERATIONS", 1, 65535, &w.iterations, text, sizeof text);
    if (!why)
        why = read_word(argv, argc, "BUCKETSIZE", 1, 255, &w.bucket, text, sizeof text);
    if (!why)
        why = read_word(argv, argc, "EXPANSION", 0, 32768, &w.expansion, text, sizeof text);
    if (why)
        return *why ? api.ReplyWithError(ctx, why) : api.WrongArity(ctx);
    if (w.capacity < 2 * w.bucket || w.capacity > MOST_CAPACITY)
        return api.ReplyWithError(ctx,
                                  "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]");
    enum bf_found found = find_to_change(ctx, argv[1], &v);
    if (found != BF_MISSING)
        return found == BF_OTHER ? bf_wrong_type(ctx) : api.ReplyWithError(ctx, "ERR item exists");
    v = make(ctx, &w);
    if (!v)
        return api.ReplyWithError(ctx, NO_FILTER_MEMORY);
    attach(ctx, argv[1], v);
    /* With everything in it, so that a replica's own configs do not matter. */
    api.Replicate(ctx, "CF.RESERVE", "slclclcl", argv[1], w.capacity, "BUCKETSIZE", w.bucket,
                  "MAXITERATIONS", w.iterations, "EXPANSION", w.expansion);
    bf_changed(ctx, argv[1], "cf.reserve");
    return api.ReplyWithSimpleString(ctx, "OK");
}

/* ---- CF.ADD key item · CF.ADDNX key item ---- */

/* How a filter that an add made reaches replicas and the append-only file: as a header, which is
 * exact, whatever the configs of the receiver. CF.RESERVE would look for its words in the key's name
 * too. */
static void replicate_make(Ctx *ctx, Str *name, const struct value *v)
{
    uint8_t header[BLM_CF_HEADER];
    blm_cf_write_header(v->filter, header);
    api.Replicate(ctx, "CF.LOADCHUNK", "slb", name, 1LL, (const char *)header, sizeof header);
}

/* The value to add to, made if need be. NULL: the error has been replied. */
static struct value *to_add_to(Ctx *ctx, Str *name, const struct wanted *w, bool create)
{
    struct value *v;
    enum bf_found found = find_to_change(ctx, name, &v);
    if (found == BF_OTHER)
        return bf_wrong_type(ctx), NULL;
    if (found == BF_MISSING && !create)
        return bf_not_found(ctx), NULL;
    if (found == BF_MISSING) {
        v = make(ctx, w);
        if (!v)
            return api.ReplyWithError(ctx, NO_FILTER_MEMORY), NULL;
        attach(ctx, name, v);
        replicate_make(ctx, name, v);
    } else if (!bf_repeated(ctx) && bf_params(v).layers >= (uint64_t)bf_config.cf_max_expansions) {
        return api.ReplyWithError(ctx, "Maximum expansions reached"), NULL;
    }
    blm_set_max_bytes(v->filter, bf_cap(ctx));
    return v;
}

/* 1: added; 0: it may be there already (only where nx); negative: there is no room. */
static int add_item(struct value *v, const Str *item, bool nx, blm_status *st)
{
    blm_key k = item_of(item);
    if (nx && blm_check(v->filter, k.data, k.len))
        return 0;
    *st = blm_add(v->filter, k.data, k.len);
    return *st >= 0 ? 1 : -1;
}

static int add(Ctx *ctx, Str **argv, int argc, bool nx)
{
    blm_status    st = BLM_OK;
    struct wanted w  = defaults();
    if (argc != 3)
        return api.WrongArity(ctx);
    struct value *v = to_add_to(ctx, argv[1], &w, true);
    if (!v)
        return API_OK;
    int added = add_item(v, argv[2], nx, &st);
    bf_tick(&bf_totals.adds, 1);
    if (added < 0)
        return api.ReplyWithError(ctx,
                                  st == BLM_E_FULL ? "Filter is full" : "ERR Insufficient memory");
    changed(ctx, argv[1], v, "cf.add");
    return api.ReplyWithBool(ctx, added);
}

int bf_cmd_cf_add(Ctx *ctx, Str **argv, int argc) { return add(ctx, argv, argc, false); }
int bf_cmd_cf_addnx(Ctx *ctx, Str **argv, int argc) { return add(ctx, argv, argc, true); }

/* ---- CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item [item …] · CF.INSERTNX ---- */

/* NULL, or what is wrong with CAPACITY. The range goes by our bucket size. What is repeated has been
 * done with the bucket size of another server, and must not be refused: the capacity only matters if
 * there is no key, and is then moved into the range. */
static const char *read_capacity(const Str *s, bool repeated, struct wanted *w)
{
    if (api.StringToLongLong(s, &w->capacity) != API_OK)
        return "Bad capacity";
    long long least = 2 * w->bucket, given = w->capacity;
    w->capacity = given < least ? least : given > MOST_CAPACITY ? MOST_CAPACITY : given;
    return repeated || given == w->capacity
               ? NULL
               : "Capacity must be in the range [cf-bucket-size * 2, 1073741824]";
}

/* Where the items begin; 0: the error has been replied. Only the first letter of a word counts.
 * *sized: there was a CAPACITY. */
static int read_insert(Ctx *ctx, Str **argv, int argc, struct wanted *w, bool *create, bool *sized)
{
    bool repeated = bf_repeated(ctx);
    for (int i = 2; i < argc; i++) {
        size_t      len;
        const char *word   = api.StringPtrLen(argv[i], &len);
        int         letter = len ? word[0] | 32 : 0;
        if (letter == 'i' && i + 1 < argc)
            return i + 1;
        if (letter == 'n') {
            *create = false;
        } else if (letter == 'c' && i + 1 < argc) {
            const char *why = read_capacity(argv[++i], repeated, w);
            if (why)
                return api.ReplyWithError(ctx, why), 0;
            *sized = true;
        } else if (letter != 'i' && letter != 'c') {
            return api.ReplyWithError(ctx, "Unknown argument received"), 0;
        }
    }
    return api.WrongArity(ctx), 0;
}

/* cf-max-expansions is looked at once a command, and one command can bring very many items. A tiny
 * filter would get tens of thousands of layers from it, and each item is looked for in all. From this
 * many on it grows no more: what has no place gets -1. */
#define MOST_LAYERS 1024u

static bool bound_growth(Ctx *ctx, struct value *v)
{
    uint64_t most = MOST_LAYERS;
    if ((uint64_t)bf_config.cf_max_expansions > most)
        most = (uint64_t)bf_config.cf_max_expansions;
    if (bf_repeated(ctx) || !blm_view(v->filter, (uint32_t)most - 1, NULL))
        return false;
    blm_set_max_bytes(v->filter, bf_params(v).bytes);
    return true;
}

static int insert(Ctx *ctx, Str **argv, int argc, bool nx)
{
    struct wanted w      = defaults();
    bool          create = true, sized = false;
    if (argc < 4)
        return api.WrongArity(ctx);
    int at = read_insert(ctx, argv, argc, &w, &create, &sized);
    if (!at)
        return API_OK;
    struct value *v = to_add_to(ctx, argv[1], &w, create);
    if (!v)
        return API_OK;
    /* Items that memory or a bound refused here must not be added by replicas, which have no bounds. */
    Str **kept  = api.Alloc((size_t)(argc - at) * sizeof(Str *));
    int   keep  = 0;
    bool  bound = false;
    api.ReplyWithArray(ctx, argc - at);
    for (int i = at; i < argc; i++) {
        blm_status st = BLM_OK;
        bound         = bound || bound_growth(ctx, v);
        int added     = add_item(v, argv[i], nx, &st);
        if (st >= 0 || st == BLM_E_FULL)
            kept[keep++] = argv[i];
        if (!nx && api.GetContextFlags(ctx) & API_CTX_RESP3)
            api.ReplyWithBool(ctx, added > 0);
        else
            api.ReplyWithLongLong(ctx, added);
    }
    bf_tick(&bf_totals.adds, (uint64_t)(argc - at));
    if (keep == argc - at && !sized) /* a CAPACITY would be judged again, by other configs */
        api.ReplicateVerbatim(ctx);
    else if (keep)
        api.Replicate(ctx, nx ? "CF.INSERTNX" : "CF.INSERT", "sccv", argv[1], "NOCREATE", "ITEMS",
                      kept, (size_t)keep);
    api.Free(kept);
    bf_value_tally(v);
    bf_changed(ctx, argv[1], "cf.insert");
    return API_OK;
}

int bf_cmd_cf_insert(Ctx *ctx, Str **argv, int argc) { return insert(ctx, argv, argc, false); }
int bf_cmd_cf_insertnx(Ctx *ctx, Str **argv, int argc) { return insert(ctx, argv, argc, true); }

/* ---- CF.EXISTS key item · CF.MEXISTS key item [item …] · CF.COUNT key item ---- */

static bool has(const struct value *v, const Str *item)
{
    blm_key k = item_of(item);
    return v && blm_check(v->filter, k.data, k.len);
}

int bf_cmd_cf_exists(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    if (argc != 3)
        return api.WrongArity(ctx);
    find(ctx, argv[1], &v);
    bf_tick(&bf_totals.checks, 1);
    return api.ReplyWithBool(ctx, has(v, argv[2]));
}

int bf_cmd_cf_mexists(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    if (argc < 3)
        return api.WrongArity(ctx);
    find(ctx, argv[1], &v);
    bf_tick(&bf_totals.checks, (uint64_t)(argc - 2));
    api.ReplyWithArray(ctx, argc - 2);
    struct bf_items items = { .ctx = ctx, .item = argv + 2, .left = (size_t)argc - 2 };
    for (int i = 2; !v && i < argc; i++)
        api.ReplyWithBool(ctx, 0);
    if (v)
        blm_check_flow(v->filter, &(blm_flow){ bf_items_next, bf_items_reply, &items });
    return API_OK;
}

int bf_cmd_cf_count(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    if (argc != 3)
        return api.WrongArity(ctx);
    find(ctx, argv[1], &v);
    blm_key k = item_of(argv[2]);
    return api.ReplyWithLongLong(ctx, v ? (long long)blm_count(v->filter, k.data, k.len) : 0);
}

/* ---- CF.DEL key item · CF.COMPACT key ---- */

int bf_cmd_cf_del(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    if (argc != 3)
        return api.WrongArity(ctx);
    if (find_to_change(ctx, argv[1], &v) != BF_OURS)
        return api.ReplyWithError(ctx, "Not found");
    blm_key k    = item_of(argv[2]);
    bool    gone = blm_remove(v->filter, k.data, k.len) == BLM_OK;
    changed(ctx, argv[1], v, "cf.del");
    return api.ReplyWithBool(ctx, gone);
}

int bf_cmd_cf_compact(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    if (argc != 2)
        return api.WrongArity(ctx);
    if (find_to_change(ctx, argv[1], &v) != BF_OURS)
        return api.ReplyWithError(ctx, "Cuckoo filter was not found");
    blm_cf_compact(v->filter);
    changed(ctx, argv[1], v, "cf.compact");
    return api.ReplyWithSimpleString(ctx, "OK");
}

/* ---- CF.INFO key · CF.DEBUG key ---- */

/* The value to tell of. NULL: the error has been replied. */
static struct value *to_tell_of(Ctx *ctx, Str *name)
{
    struct value *v;
    enum bf_found found = find(ctx, name, &v);
    if (found == BF_MISSING)
        bf_not_found(ctx);
    if (found == BF_OTHER)
        bf_wrong_type(ctx);
    return v;
}

int bf_cmd_cf_info(Ctx *ctx, Str **argv, int argc)
{
    if (argc != 2)
        return api.WrongArity(ctx);
    struct value *v = to_tell_of(ctx, argv[1]);
    if (!v)
        return API_OK;
    blm_cf c = bf_cf(v);
    const struct {
        const char *name;
        uint64_t    value;
    } rows[] = { { "Size", 40 + 16 * c.layers + bf_params(v).bits },
                 { "Number of buckets", c.buckets },
                 { "Number of filters", c.layers },
                 { "Number of items inserted", c.items },
                 { "Number of items deleted", c.deletes },
                 { "Bucket size", c.bucket_size },
                 { "Expansion rate", c.expansion },
                 { "Max iterations", c.max_iterations } };
    api.ReplyWithMap(ctx, sizeof rows / sizeof *rows);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        api.ReplyWithSimpleString(ctx, rows[i].name);
        api.ReplyWithLongLong(ctx, (long long)rows[i].value);
    }
    return API_OK;
}

int bf_cmd_cf_debug(Ctx *ctx, Str **argv, int argc)
{
    char text[256];
    if (argc != 2)
        return api.WrongArity(ctx);
    struct value *v = to_tell_of(ctx, argv[1]);
    if (!v)
        return API_OK;
    blm_cf c   = bf_cf(v);
    int    len = snprintf(text, sizeof text,
                          "bktsize:%lu buckets:%llu items:%llu deletes:%llu filters:%llu "
                             "max_iterations:%lu expansion:%lu",
                          (unsigned long)c.bucket_size, (unsigned long long)c.buckets,
                          (unsigned long long)c.items, (unsigned long long)c.deletes,
                          (unsigned long long)c.layers, (unsigned long)c.max_iterations,
                          (unsigned long)c.expansion);
    return api.ReplyWithStringBuffer(ctx, text, (size_t)len);
}

/* ---- CF.SCANDUMP key iterator ---- */

static int reply_end(Ctx *ctx)
{
    api.ReplyWithArray(ctx, 2);
    api.ReplyWithLongLong(ctx, 0);
    return api.ReplyWithNull(ctx);
}

static int reply_chunk(Ctx *ctx, long long next, const void *bytes, size_t len)
{
    api.ReplyWithArray(ctx, 2);
    api.ReplyWithLongLong(ctx, next);
    return api.ReplyWithStringBuffer(ctx, bytes, len);
}

/* A layer of up to a chunk is always sent whole. */
static int dump_from(Ctx *ctx, const struct value *v, uint64_t at, long long iterator)
{
    uint32_t layers = bf_params(v).layers;
    for (uint32_t i = 0; i < layers; i++) {
        uint64_t    bytes;
        const char *slots = blm_view(v->filter, i, &bytes);
        if (at < bytes) {
            uint64_t from = bytes <= BF_CHUNK ? 0 : at;
            size_t   some = (size_t)(bytes - from < BF_CHUNK ? bytes - from : BF_CHUNK);
            return reply_chunk(ctx, iterator + (long long)some, slots + from, some);
        }
        at -= bytes;
    }
    return reply_end(ctx);
}

int bf_cmd_cf_scandump(Ctx *ctx, Str **argv, int argc)
{
    long long iterator;
    uint8_t   header[BLM_CF_HEADER];
    if (argc != 3)
        return api.WrongArity(ctx);
    if (api.StringToLongLong(argv[2], &iterator) != API_OK || iterator < 0)
        return api.ReplyWithError(ctx, "Invalid position");
    struct value *v = to_tell_of(ctx, argv[1]);
    if (!v)
        return API_OK;
    if (bf_cf(v).items == 0)
        return reply_end(ctx);
    if (iterator > 0)
        return dump_from(ctx, v, (uint64_t)iterator - 1, iterator);
    blm_cf_write_header(v->filter, header);
    return reply_chunk(ctx, 1, header, sizeof header);
}

/* ---- CF.LOADCHUNK key iterator data ---- */

static const char *begin(Ctx *ctx, Str *name, const void *data, size_t len)
{
    blm_options o = bf_options(bf_cap(ctx));
    blm_cf      c = { .size = sizeof c };
    blm_filter *f = NULL;
    if (len != BLM_CF_HEADER)
        return "Invalid header";
    struct value *v = NULL;
    if (blm_cf_read_header(data, len, &c, NULL) == BLM_OK &&
        blm_cf_create(&c, &o, &f, NULL) == BLM_OK)
        v = bf_value(f, false);
    if (!v) {
        bf_total(&bf_totals.refused, 1);
        return "Couldn't create filter!";
    }
    attach(ctx, name, v);
    return NULL;
}

static const char *write_chunk(struct value *v, long long iterator, const void *data, size_t len)
{
    uint32_t layers = bf_params(v).layers;
    if (len == 0 || iterator <= 0 || (uint64_t)iterator - 1 < len)
        return "Couldn't load chunk!";
    uint64_t at = (uint64_t)iterator - 1 - len;
    for (uint32_t i = 0; i < layers; i++) {
        uint64_t bytes;
        blm_view(v->filter, i, &bytes);
        if (at < bytes)
            return len <= bytes - at && blm_write_bits(v->filter, i, at, data, len) == BLM_OK
                       ? NULL
                       : "Couldn't load chunk!";
        at -= bytes;
    }
    return "Couldn't load chunk!";
}

int bf_cmd_cf_loadchunk(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    long long     iterator;
    size_t        len;
    const char   *why;
    if (argc != 4)
        return api.WrongArity(ctx);
    if (api.StringToLongLong(argv[2], &iterator) != API_OK || iterator == 0)
        return api.ReplyWithError(ctx, "Invalid position");
    const void   *data  = api.StringPtrLen(argv[3], &len);
    enum bf_found found = find_to_change(ctx, argv[1], &v);
    if (found == BF_OTHER)
        return bf_wrong_type(ctx);
    if (iterator == 1)
        why = found == BF_OURS ? "ERR item exists" : begin(ctx, argv[1], data, len);
    else
        why = found == BF_MISSING ? "ERR not found" : write_chunk(v, iterator, data, len);
    if (why)
        return api.ReplyWithError(ctx, why);
    if (v)
        bf_value_tally(v);
    api.ReplicateVerbatim(ctx);
    bf_changed(ctx, argv[1], "cf.loadchunk");
    return api.ReplyWithSimpleString(ctx, "OK");
}
