/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for RedisBloom in bench/redis.py, for machines without its .so. It is the same
 * algorithm in plain code of our own, not a copy of theirs. Ratios against it are ratios against
 * the stand-in: give redis.py a path to the real one if you have it.
 *
 * What it does as RedisBloom does: a chain of layers, each with twice the size and half the rate of
 * the one before; an item is looked up in every layer, newest first, and is added to the newest;
 * MurmurHash64A twice, then (a + i·b) mod bits, one probe after the other; one reply per item, and
 * the length of BF.MADD's array is set when it is known. Measured against RedisBloom's own filter
 * and command code, compiled separately (bench/results), it flatters RedisBloom a little: it takes
 * as long on a reserved filter and 8 to 12% less on a chain of 17. It has only what a benchmark
 * needs: it saves nothing and refuses to load anything.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "redis/api.h"

#define EXPORT __attribute__((visibility("default")))
#define SEED   0xc6a4a7935bd1e995u

struct layer {
    uint8_t *array;
    uint64_t bits, entries, items;
    double   error;
    uint32_t hashes;
};

struct chain {
    struct layer *layers;
    uint32_t      count;
    uint64_t      items;
};

static Type *type;

/* ---- the filter ---- */

static uint64_t murmur64a(const void *key, size_t len, uint64_t seed)
{
    const uint64_t m = 0xc6a4a7935bd1e995u;
    const uint8_t *p = key;
    uint64_t       h = seed ^ len * m;
    for (; len >= 8; p += 8, len -= 8) {
        uint64_t k;
        memcpy(&k, p, 8);
        k *= m;
        k ^= k >> 47;
        h = (h ^ k * m) * m;
    }
    if (len) {
        uint64_t tail = 0;
        memcpy(&tail, p, len);
        h = (h ^ tail) * m;
    }
    h = (h ^ h >> 47) * m;
    return h ^ h >> 47;
}

static bool add_layer(struct chain *c, uint64_t entries, double error)
{
    double        bpe    = fabs(log(error) / 0.480453013918201);
    uint64_t      bits   = (uint64_t)((double)entries * bpe);
    struct layer *layers = api.Alloc((c->count + 1) * sizeof *layers);
    bits                 = (bits + 63) / 64 * 64;
    if (c->count)
        memcpy(layers, c->layers, c->count * sizeof *layers);
    api.Free(c->layers);
    c->layers      = layers;
    uint8_t *array = api.TryAlloc(bits / 8);
    if (!array)
        return false;
    memset(array, 0, bits / 8);
    layers[c->count++] = (struct layer){ .array   = array,
                                         .bits    = bits,
                                         .entries = entries,
                                         .error   = error,
                                         .hashes  = (uint32_t)ceil(0.693147180559945 * bpe) };
    return true;
}

static bool in_layer(const struct layer *l, uint64_t a, uint64_t b)
{
    for (uint32_t i = 0; i < l->hashes; i++, a += b) {
        uint64_t x = a % l->bits;
        if (!(l->array[x / 8] >> x % 8 & 1))
            return false;
    }
    return true;
}

static bool ask(const struct chain *c, const char *item, size_t len)
{
    uint64_t a = murmur64a(item, len, SEED), b = murmur64a(item, len, a);
    for (uint32_t i = c->count; i-- > 0;)
        if (in_layer(&c->layers[i], a, b))
            return true;
    return false;
}

static bool add(struct chain *c, const char *item, size_t len)
{
    uint64_t a = murmur64a(item, len, SEED), b = murmur64a(item, len, a);
    for (uint32_t i = c->count; i-- > 0;)
        if (in_layer(&c->layers[i], a, b))
            return false;
    struct layer *l = &c->layers[c->count - 1];
    if (l->items >= l->entries) {
        if (!add_layer(c, l->entries * 2, l->error / 2))
            return false;
        l = &c->layers[c->count - 1];
    }
    for (uint32_t i = 0; i < l->hashes; i++, a += b) {
        uint64_t x = a % l->bits;
        l->array[x / 8] |= (uint8_t)(1 << x % 8);
    }
    l->items++;
    c->items++;
    return true;
}

static void chain_free(void *value)
{
    struct chain *c = value;
    for (uint32_t i = 0; i < c->count; i++)
        api.Free(c->layers[i].array);
    api.Free(c->layers);
    api.Free(c);
}

/* ---- commands ---- */

static struct chain *make(Key *key, uint64_t entries, double error)
{
    struct chain *c = api.Alloc(sizeof *c);
    *c              = (struct chain){ 0 };
    if (!add_layer(c, entries, error / 2)) {
        chain_free(c);
        return NULL;
    }
    api.ModuleTypeSetValue(key, type, c);
    return c;
}

static struct chain *find(Ctx *ctx, Str *name, int mode, Key **key)
{
    *key = api.OpenKey(ctx, name, mode);
    return *key && api.ModuleTypeGetType(*key) == type ? api.ModuleTypeGetValue(*key) : NULL;
}

static int cmd_reserve(Ctx *ctx, Str **argv, int argc)
{
    Key      *key;
    double    error;
    long long entries;
    if (argc != 4 || api.StringToDouble(argv[2], &error) != API_OK ||
        api.StringToLongLong(argv[3], &entries) != API_OK || entries < 1 || !(error > 0))
        return api.ReplyWithError(ctx, "ERR key error_rate capacity");
    bool there =
        find(ctx, argv[1], API_READ | API_WRITE, &key) || api.KeyType(key) != API_KEYTYPE_EMPTY;
    bool made = !there && make(key, (uint64_t)entries, error);
    api.CloseKey(key);
    return made ? api.ReplyWithSimpleString(ctx, "OK") : api.ReplyWithError(ctx, "ERR item exists");
}

static int cmd_add(Ctx *ctx, Str **argv, int argc)
{
    Key *key;
    if (argc < 3)
        return api.WrongArity(ctx);
    struct chain *c = find(ctx, argv[1], API_READ | API_WRITE, &key);
    if (!c && api.KeyType(key) == API_KEYTYPE_EMPTY)
        c = make(key, 100, 0.01);
    if (!c) {
        api.CloseKey(key);
        return api.ReplyWithError(ctx, "WRONGTYPE");
    }
    size_t      len;
    const char *name = api.StringPtrLen(argv[0], &len);
    bool        many = len == 7; /* BF.MADD */
    if (many)
        api.ReplyWithArray(ctx, API_POSTPONED);
    (void)name;
    for (int i = 2; i < argc; i++) {
        const char *item = api.StringPtrLen(argv[i], &len);
        api.ReplyWithLongLong(ctx, add(c, item, len));
    }
    if (many)
        api.ReplySetArrayLength(ctx, argc - 2);
    api.CloseKey(key);
    api.ReplicateVerbatim(ctx);
    return API_OK;
}

static int cmd_exists(Ctx *ctx, Str **argv, int argc)
{
    Key   *key;
    size_t len;
    if (argc < 3)
        return api.WrongArity(ctx);
    struct chain *c = find(ctx, argv[1], API_READ, &key);
    api.StringPtrLen(argv[0], &len);
    if (len == 10) /* BF.MEXISTS */
        api.ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++) {
        const char *item = api.StringPtrLen(argv[i], &len);
        api.ReplyWithLongLong(ctx, c && ask(c, item, len));
    }
    if (key)
        api.CloseKey(key);
    return API_OK;
}

static int cmd_info(Ctx *ctx, Str **argv, int argc)
{
    Key          *key;
    uint64_t      bytes = 0, entries = 0;
    struct chain *c = argc == 2 ? find(ctx, argv[1], API_READ, &key) : NULL;
    if (!c)
        return api.ReplyWithError(ctx, "ERR not found");
    for (uint32_t i = 0; i < c->count; i++) {
        bytes += c->layers[i].bits / 8;
        entries += c->layers[i].entries;
    }
    const struct {
        const char *name;
        uint64_t    value;
    } rows[] = { { "Capacity", entries },
                 { "Size", 32 + 64 * (uint64_t)c->count + bytes },
                 { "Number of filters", c->count },
                 { "Number of items inserted", c->items },
                 { "Expansion rate", 2 } };
    api.ReplyWithArray(ctx, 10);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        api.ReplyWithSimpleString(ctx, rows[i].name);
        api.ReplyWithLongLong(ctx, (long long)rows[i].value);
    }
    api.CloseKey(key);
    return API_OK;
}

/* ---- loading ---- */

static void *refuse(IO *io, int encver)
{
    (void)io, (void)encver;
    return NULL;
}

static void save_nothing(IO *io, void *value) { (void)io, (void)value; }
static void rewrite_nothing(IO *io, Str *key, void *value) { (void)io, (void)key, (void)value; }

EXPORT int RedisModule_OnLoad(Ctx *ctx, Str **argv, int argc);

int RedisModule_OnLoad(Ctx *ctx, Str **argv, int argc)
{
    static TypeMethods methods = { .version     = 1,
                                   .rdb_load    = refuse,
                                   .rdb_save    = save_nothing,
                                   .aof_rewrite = rewrite_nothing,
                                   .free        = chain_free };
    static const struct {
        const char *name, *flags;
        CommandFn   run;
    } commands[] = {
        { "bf.reserve", "write deny-oom", cmd_reserve },
        { "bf.add", "write deny-oom", cmd_add },
        { "bf.madd", "write deny-oom", cmd_add },
        { "bf.exists", "readonly fast", cmd_exists },
        { "bf.mexists", "readonly fast", cmd_exists },
        { "bf.info", "readonly fast", cmd_info },
    };
    (void)argv, (void)argc;
    if (api_find(ctx))
        return API_ERR;
    api.SetModuleAttribs(ctx, "bf-plain", 1, 1);
    type = api.CreateDataType(ctx, "plainblom", 0, &methods);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (api.CreateCommand(ctx, commands[i].name, commands[i].run, commands[i].flags, 1, 1, 1) !=
            API_OK)
            return API_ERR;
    return type ? API_OK : API_ERR;
}
