/* SPDX-License-Identifier: MIT */
/*
 * The part of the Redis module API that this module uses, declared from the facts of its binary
 * interface: names, argument types, numbers, the order of fields. There is no library to link and
 * no header to include. The module asks the server for each function by name when it is loaded.
 *
 * There are two lists: functions a server must have (everything up to Redis 7.0), and functions it
 * may have. A pointer of the second list is NULL if the server is older, and is tested before each
 * use. Valkey has the same names, but one of its versions only as ValkeyModule_…, so that is tried
 * too.
 */
#ifndef BF_API_H
#define BF_API_H

#include <stddef.h>
#include <stdint.h>

/* Opaque types: only passed around. */
typedef struct RedisCtx    Ctx;
typedef struct RedisString Str;
typedef struct RedisKey    Key;
typedef struct RedisIO     IO; /* an RDB or AOF stream */
typedef struct RedisType   Type;
typedef struct RedisCmd    Cmd;
typedef struct RedisOpt    OptCtx;
typedef struct RedisDefrag DefragCtx;
typedef struct RedisInfo   InfoCtx;
typedef struct RedisDigest Digest;

#define API_OK  0
#define API_ERR 1

#define API_READ      1 /* OpenKey */
#define API_WRITE     2
#define API_POSTPONED (-1L) /* ReplyWithArray */

#define API_KEYTYPE_EMPTY 0 /* KeyType */

#define API_CTX_SLAVE      (1 << 3)
#define API_CTX_OOM        (1 << 10) /* GetContextFlags: more memory is used than maxmemory */
#define API_CTX_REPLICATED (1 << 12) /* GetContextFlags: the command came from our master */
#define API_CTX_LOADING    (1 << 13) /* … or from the append-only file */
#define API_CTX_RESP3      (1 << 22)

#define API_HANDLE_IO_ERRORS   (1 << 0) /* SetModuleOptions */
#define API_NO_IMPLICIT_SIGNAL (1 << 1)
#define API_HANDLE_ASYNC_LOAD  (1 << 2)

#define API_NOTIFY_GENERIC (1 << 2) /* NotifyKeyspaceEvent */
#define API_NOTIFY_MODULE  (1 << 13)

#define API_CONFIG_MEMORY     (1u << 7) /* Register…Config */
#define API_CONFIG_UNPREFIXED (1u << 9)

/* A data type's callbacks, in memory order; a server reads as many as it knows. */
typedef struct TypeMethods {
    uint64_t version;
    void *(*rdb_load)(IO *io, int encver);
    void (*rdb_save)(IO *io, void *value);
    void (*aof_rewrite)(IO *io, Str *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(Digest *md, void *value);
    void (*free)(void *value);
    int (*aux_load)(IO *io, int encver, int when);
    void (*aux_save)(IO *io, int when);
    int aux_save_triggers;
    size_t (*free_effort)(Str *key, const void *value);
    void (*unlink)(Str *key, const void *value);
    void *(*copy)(Str *from, Str *to, const void *value);
    int (*defrag)(DefragCtx *ctx, Str *key, void **value);
    size_t (*mem_usage2)(OptCtx *ctx, const void *value, size_t samples);
    size_t (*free_effort2)(OptCtx *ctx, const void *value);
    void (*unlink2)(OptCtx *ctx, const void *value);
    void *(*copy2)(OptCtx *ctx, const void *value);
    void (*aux_save2)(IO *io, int when);
} TypeMethods;
#define API_TYPE_METHODS 5

/* What COMMAND INFO and COMMAND DOCS show. The server uses the struct sizes it is given. */
typedef struct InfoVersion {
    int    version;
    size_t sizeof_history, sizeof_keyspec, sizeof_arg;
} InfoVersion;

typedef struct HistoryEntry {
    const char *since, *changes;
} HistoryEntry;

typedef struct KeySpec {
    const char *notes;
    uint64_t    flags;
    int         begin_search;
    union {
        struct {
            int pos;
        } index;
        struct {
            const char *keyword;
            int         startfrom;
        } keyword;
    } bs;
    int find_keys;
    union {
        struct {
            int lastkey, keystep, limit;
        } range;
        struct {
            int keynumidx, firstkey, keystep;
        } keynum;
    } fk;
} KeySpec;

typedef struct CommandArg {
    const char        *name;
    int                type;
    int                key_spec_index; /* -1: no key */
    const char        *token, *summary, *since;
    int                flags;
    const char        *deprecated_since;
    struct CommandArg *subargs;
    const char        *display_text;
} CommandArg;

typedef struct CommandInfo {
    const InfoVersion *version;
    const char        *summary, *complexity, *since;
    HistoryEntry      *history;
    const char        *tips;
    int                arity;
    KeySpec           *key_specs;
    CommandArg        *args;
} CommandInfo;

#define API_KEY_RO     (1u << 0) /* KeySpec.flags */
#define API_KEY_RW     (1u << 1)
#define API_KEY_ACCESS (1u << 4)
#define API_KEY_UPDATE (1u << 5)
#define API_KEY_INSERT (1u << 6)
#define API_KEY_DELETE (1u << 7)

#define API_SEARCH_INDEX 2
#define API_FIND_RANGE   2

enum {
    API_ARG_STRING,
    API_ARG_INTEGER,
    API_ARG_DOUBLE,
    API_ARG_KEY,
    API_ARG_TOKEN = 6,
    API_ARG_ONEOF,
    API_ARG_BLOCK
};
#define API_ARG_OPTIONAL 1
#define API_ARG_MULTIPLE 2

typedef int (*CommandFn)(Ctx *ctx, Str **argv, int argc);
typedef long long (*NumericGet)(const char *name, void *priv);
typedef int (*NumericSet)(const char *name, long long v, void *priv, Str **err);
typedef int (*BoolGet)(const char *name, void *priv);
typedef int (*BoolSet)(const char *name, int v, void *priv, Str **err);
typedef Str *(*StringGet)(const char *name, void *priv);
typedef int (*StringSet)(const char *name, Str *v, void *priv, Str **err);
typedef int (*ConfigApply)(Ctx *ctx, void *priv, Str **err);

#if defined(__GNUC__)
#define API_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define API_PRINTF(fmt, args)
#endif

/* X(result, name, arguments). Functions that every server has from Redis 7.0 on. */
#define API_REQUIRED(X)                                                                       \
    X(void, SetModuleAttribs, (Ctx *, const char *name, int ver, int apiver))                 \
    X(int, IsModuleNameBusy, (const char *name))                                              \
    X(void, SetModuleOptions, (Ctx *, int options))                                           \
    X(int, GetContextFlags, (Ctx *))                                                          \
    X(void, Log, (Ctx *, const char *level, const char *fmt, ...)API_PRINTF(3, 4))            \
    X(void, LogIOError, (IO *, const char *level, const char *fmt, ...)API_PRINTF(3, 4))      \
    X(int, WrongArity, (Ctx *))                                                               \
    X(int, ReplyWithLongLong, (Ctx *, long long v))                                           \
    X(int, ReplyWithError, (Ctx *, const char *err))                                          \
    X(int, ReplyWithSimpleString, (Ctx *, const char *msg))                                   \
    X(int, ReplyWithArray, (Ctx *, long len))                                                 \
    X(void, ReplySetArrayLength, (Ctx *, long len))                                           \
    X(int, ReplyWithStringBuffer, (Ctx *, const char *buf, size_t len))                       \
    X(int, ReplyWithCString, (Ctx *, const char *buf))                                        \
    X(int, ReplyWithNull, (Ctx *))                                                            \
    X(int, ReplyWithDouble, (Ctx *, double d))                                                \
    X(int, ReplyWithMap, (Ctx *, long pairs))                                                 \
    X(int, ReplyWithBool, (Ctx *, int b))                                                     \
    X(int, CreateCommand,                                                                     \
      (Ctx *, const char *name, CommandFn fn, const char *flags, int firstkey, int lastkey,   \
       int keystep))                                                                          \
    X(Cmd *, GetCommand, (Ctx *, const char *name))                                           \
    X(int, SetCommandInfo, (Cmd *, const CommandInfo *info))                                  \
    X(Key *, OpenKey, (Ctx *, Str * name, int mode))                                          \
    X(void, CloseKey, (Key *))                                                                \
    X(int, KeyType, (Key *))                                                                  \
    X(Type *, ModuleTypeGetType, (Key *))                                                     \
    X(void *, ModuleTypeGetValue, (Key *))                                                    \
    X(int, ModuleTypeSetValue, (Key *, Type *, void *value))                                  \
    X(int, ModuleTypeReplaceValue, (Key *, Type *, void *value, void **old))                  \
    X(int, DeleteKey, (Key *))                                                                \
    X(int, SignalModifiedKey, (Ctx *, Str * name))                                            \
    X(const char *, StringPtrLen, (const Str *, size_t *len))                                 \
    X(int, StringToLongLong, (const Str *, long long *out))                                   \
    X(int, StringToDouble, (const Str *, double *out))                                        \
    X(Str *, CreateString, (Ctx *, const char *p, size_t len))                                \
    X(void, FreeString, (Ctx *, Str *))                                                       \
    X(void *, Alloc, (size_t))                                                                \
    X(void, Free, (void *))                                                                   \
    X(void *, TryAlloc, (size_t))                                                             \
    X(size_t, MallocSize, (void *))                                                           \
    X(Type *, CreateDataType, (Ctx *, const char *name9, int encver, TypeMethods *))          \
    X(void, SaveUnsigned, (IO *, uint64_t))                                                   \
    X(uint64_t, LoadUnsigned, (IO *))                                                         \
    X(void, SaveDouble, (IO *, double))                                                       \
    X(double, LoadDouble, (IO *))                                                             \
    X(void, SaveStringBuffer, (IO *, const char *, size_t))                                   \
    X(char *, LoadStringBuffer, (IO *, size_t * len))                                         \
    X(int, IsIOError, (IO *))                                                                 \
    X(void, EmitAOF, (IO *, const char *cmd, const char *fmt, ...))                           \
    X(void, DigestAddLongLong, (Digest *, long long))                                         \
    X(void, DigestAddStringBuffer, (Digest *, const char *, size_t))                          \
    X(void, DigestEndSequence, (Digest *))                                                    \
    X(int, ReplicateVerbatim, (Ctx *))                                                        \
    X(int, Replicate, (Ctx *, const char *cmd, const char *fmt, ...))                         \
    X(int, NotifyKeyspaceEvent, (Ctx *, int klass, const char *event, Str *key))              \
    X(int, RegisterNumericConfig,                                                             \
      (Ctx *, const char *name, long long dflt, unsigned flags, long long min, long long max, \
       NumericGet, NumericSet, ConfigApply, void *priv))                                      \
    X(int, RegisterBoolConfig,                                                                \
      (Ctx *, const char *name, int dflt, unsigned flags, BoolGet, BoolSet, ConfigApply,      \
       void *priv))                                                                           \
    X(int, RegisterStringConfig,                                                              \
      (Ctx *, const char *name, const char *dflt, unsigned flags, StringGet, StringSet,       \
       ConfigApply, void *priv))                                                              \
    X(int, LoadConfigs, (Ctx *))                                                              \
    X(int, RegisterInfoFunc, (Ctx *, void (*cb)(InfoCtx *, int crashing)))                    \
    X(int, InfoAddSection, (InfoCtx *, const char *name))                                     \
    X(int, InfoAddFieldCString, (InfoCtx *, const char *field, const char *))                 \
    X(int, InfoAddFieldULongLong, (InfoCtx *, const char *field, unsigned long long))         \
    X(void *, DefragAlloc, (DefragCtx *, void *p))

/* Functions that only newer servers have. */
#define API_OPTIONAL(X)                                                   \
    X(int, SetCommandACLCategories, (Cmd *, const char *names)) /* 7.2 */ \
    X(int, AddACLCategory, (Ctx *, const char *name))           /* 7.4 */ \
    X(void *, TryCalloc, (size_t n, size_t size))               /* 7.4 */ \
    X(int, LoadDefaultConfigs, (Ctx *))                         /* 8.0 */

#define API_MEMBER(result, name, arguments) result(*name) arguments;
struct api {
    API_REQUIRED(API_MEMBER)
    API_OPTIONAL(API_MEMBER)
};
#undef API_MEMBER

extern struct api api;

/* Fills `api`. NULL, or the name of a required function that the server does not have. */
const char *api_find(Ctx *ctx);

#endif
