/* SPDX-License-Identifier: MIT */
/*
 * A very small server for the fuzzer: enough of the module API for the module to load, take
 * commands, and read and write values. It is written from the same facts as redis/api.h but shares
 * no declarations with it. tests/redis uses the real server; here, inputs per second count.
 *
 * Keys are the bytes '0' to '7'. An RDB stream is a list of values. If it ends, or holds another
 * kind of value than is asked for, that is an I/O error, as with the real server.
 */
#ifndef BLM_FUZZ_FAKE_REDIS_H
#define BLM_FUZZ_FAKE_REDIS_H

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct str {
    size_t len;
    char  *bytes; /* and a NUL */
};

struct methods { /* the first three blocks of the real one and the fourth, in memory order */
    uint64_t version;
    void *(*rdb_load)(void *io, int encver);
    void (*rdb_save)(void *io, void *value);
    void (*aof_rewrite)(void *io, struct str *key, void *value);
    size_t (*mem_usage)(const void *value);
    void (*digest)(void *md, void *value);
    void (*free)(void *value);
    void *aux_load, *aux_save;
    int   aux_triggers;
    void *free_effort, *unlink, *copy;
    int (*defrag)(void *ctx, struct str *key, void **value);
    size_t (*mem_usage2)(void *ctx, const void *value, size_t samples);
    size_t (*free_effort2)(void *ctx, const void *value);
    void *unlink2;
    void *(*copy2)(void *ctx, const void *value);
    void *aux_save2;
};

struct type {
    struct methods m;
    int            encver;
};

#define KEYS 8
struct slot {
    struct type *type;
    void        *value;
};

typedef int (*command_fn)(void *ctx, struct str **argv, int argc);

static struct {
    int (*get_api)(const char *name, void **out); /* first: that is how a module finds the rest */
    struct type types[3];
    int         type_count;
    struct slot keys[KEYS];
    struct {
        char       name[32];
        command_fn fn;
    } commands[64];
    int       command_count;
    int       replies; /* that the running command still has to give */
    int       flags;   /* of its context: does its client speak RESP3? */
    long long said; /* the last large number that was replied: an epoch, which nobody can guess */
} server;

/* ---- streams ---- */

struct stream {
    const uint8_t *in; /* to read from: the fuzzer's bytes */
    size_t         left;
    bool           failed;
    uint8_t       *out; /* or written before, to be read back */
    size_t         len, room;
    size_t         at;
};

enum { V_UNSIGNED = 'u', V_DOUBLE = 'd', V_STRING = 's' };

static void stream_put(struct stream *s, const void *bytes, size_t len)
{
    if (s->len + len > s->room) {
        s->room = (s->len + len) * 2 + 64;
        s->out  = realloc(s->out, s->room);
        if (!s->out)
            abort();
    }
    if (len)
        memcpy(s->out + s->len, bytes, len);
    s->len += len;
}

static bool stream_take(struct stream *s, void *out, size_t len)
{
    if (s->failed || len > s->left) {
        s->failed = true;
        memset(out, 0, len);
        return false;
    }
    memcpy(out, s->in, len);
    s->in += len;
    s->left -= len;
    return true;
}

static uint64_t stream_number(struct stream *s, char kind)
{
    uint8_t  tag = 0;
    uint64_t v   = 0;
    stream_take(s, &tag, 1);
    if (tag == 'b' &&
        kind == V_UNSIGNED) { /* short form, so that the fuzzer need not guess zeros */
        uint8_t b;
        stream_take(s, &b, 1);
        return b;
    }
    if (tag != kind)
        s->failed = true;
    stream_take(s, &v, sizeof v);
    return s->failed ? 0 : v;
}

static void f_SaveUnsigned(struct stream *s, uint64_t v)
{
    stream_put(s, "u", 1);
    stream_put(s, &v, sizeof v);
}
static void f_SaveDouble(struct stream *s, double v)
{
    stream_put(s, "d", 1);
    stream_put(s, &v, sizeof v);
}
static void f_SaveStringBuffer(struct stream *s, const char *p, size_t len)
{
    uint64_t n = len;
    stream_put(s, "s", 1);
    stream_put(s, &n, sizeof n);
    stream_put(s, p, len);
}
static uint64_t f_LoadUnsigned(struct stream *s) { return stream_number(s, V_UNSIGNED); }
static double   f_LoadDouble(struct stream *s)
{
    uint64_t v = stream_number(s, V_DOUBLE);
    double   d;
    memcpy(&d, &v, sizeof d);
    return d;
}
static char *f_LoadStringBuffer(struct stream *s, size_t *len)
{
    uint64_t n = stream_number(s, V_STRING);
    if (s->failed || n > s->left) {
        s->failed = true;
        return NULL;
    }
    char *p = malloc(n ? (size_t)n : 1);
    if (!p || !stream_take(s, p, (size_t)n)) {
        free(p);
        return NULL;
    }
    *len = (size_t)n;
    return p;
}
static int  f_IsIOError(struct stream *s) { return s->failed; }
static void f_LogIOError(void *io, const char *level, const char *fmt, ...)
{
    (void)io, (void)level, (void)fmt;
}
static void f_EmitAOF(void *io, const char *cmd, const char *fmt, ...)
{
    (void)io, (void)cmd, (void)fmt;
}
static void f_DigestAddLongLong(void *md, long long v) { (void)md, (void)v; }
static void f_DigestAddStringBuffer(void *md, const char *p, size_t n)
{
    uint8_t x = 0;
    for (size_t i = 0; i < n; i++) /* every byte must be readable */
        x ^= (uint8_t)p[i];
    *(uint8_t *)md ^= x;
}
static void f_DigestEndSequence(void *md) { (void)md; }

/* ---- memory and strings ---- */

static void  *f_Alloc(size_t n) { return malloc(n ? n : 1); }
static void  *f_TryAlloc(size_t n) { return n > (64u << 20) ? NULL : malloc(n ? n : 1); }
static void   f_Free(void *p) { free(p); }
static size_t f_MallocSize(void *p) { return p ? 16 : 0; }

/* Moves everything, so that every stale pointer is found. */
static unsigned moves;
static void    *f_DefragAlloc(void *ctx, void *p)
{
    (void)ctx;
    size_t size = malloc_usable_size(p);
    void  *to   = malloc(size);
    if (!to)
        abort();
    memcpy(to, p, size);
    free(p);
    moves++;
    return to;
}

static struct str *string(const void *bytes, size_t len)
{
    struct str *s = malloc(sizeof *s);
    if (!s || !(s->bytes = malloc(len + 1)))
        abort();
    if (len)
        memcpy(s->bytes, bytes, len);
    s->bytes[len] = 0;
    s->len        = len;
    return s;
}
static void string_free(struct str *s)
{
    free(s->bytes);
    free(s);
}
static struct str *f_CreateString(void *ctx, const char *p, size_t len)
{
    (void)ctx;
    return string(p, len);
}
static void        f_FreeString(void *ctx, struct str *s) { (void)ctx, string_free(s); }
static const char *f_StringPtrLen(const struct str *s, size_t *len)
{
    if (len)
        *len = s->len;
    return s->bytes;
}
static int f_StringToLongLong(const struct str *s, long long *out)
{
    char *end;
    errno = 0;
    *out  = strtoll(s->bytes, &end, 10);
    return s->len == 0 || end != s->bytes + s->len || errno || s->bytes[0] == ' ';
}
static int f_StringToDouble(const struct str *s, double *out)
{
    char *end;
    *out = strtod(s->bytes, &end);
    return s->len == 0 || end != s->bytes + s->len;
}

/* ---- keys ---- */

static struct slot *slot_of(const struct str *name)
{
    return &server.keys[name->len ? (uint8_t)name->bytes[0] % KEYS : 0];
}
static void slot_clear(struct slot *k)
{
    if (k->type)
        k->type->m.free(k->value);
    k->type  = NULL;
    k->value = NULL;
}
static void *f_OpenKey(void *ctx, struct str *name, int mode)
{
    struct slot *k = slot_of(name);
    (void)ctx;
    return mode & 2 || k->type ? k : NULL;
}
static void  f_CloseKey(void *key) { (void)key; }
static int   f_KeyType(struct slot *k) { return k && k->type ? 6 : 0; }
static void *f_ModuleTypeGetType(struct slot *k) { return k ? k->type : NULL; }
static void *f_ModuleTypeGetValue(struct slot *k) { return k ? k->value : NULL; }
static int   f_ModuleTypeSetValue(struct slot *k, struct type *t, void *value)
{
    slot_clear(k);
    k->type  = t;
    k->value = value;
    return 0;
}
static int f_ModuleTypeReplaceValue(struct slot *k, struct type *t, void *value, void **old)
{
    if (k->type != t)
        return 1;
    *old     = k->value;
    k->value = value;
    return 0;
}
static int f_DeleteKey(struct slot *k) { return slot_clear(k), 0; }

/* ---- replies: counted, so that none is missing or given twice ---- */

static int replied(void)
{
    server.replies--;
    return 0;
}
static int f_WrongArity(void *c) { return (void)c, replied(); }
static int f_ReplyWithLongLong(void *c, long long v)
{
    (void)c;
    server.said = v > INT32_MAX ? v : server.said;
    return replied();
}
static int f_ReplyWithText(void *c, const char *s) { return (void)c, (void)strlen(s), replied(); }
static int f_ReplyWithStringBuffer(void *c, const char *p, size_t n)
{
    uint8_t md = 0;
    (void)c;
    f_DigestAddStringBuffer(&md, p, n);
    return replied();
}
static int f_ReplyWithNull(void *c) { return (void)c, replied(); }
static int f_ReplyWithDouble(void *c, double d) { return (void)c, (void)d, replied(); }
static int f_ReplyWithBool(void *c, int b) { return (void)c, (void)b, replied(); }
static int f_ReplyWithArray(void *c, long n)
{
    (void)c;
    server.replies += (int)n;
    return replied();
}
static int f_ReplyWithMap(void *c, long n) { return f_ReplyWithArray(c, 2 * n); }

/* The reply to an ECHO. The module keeps it, and returns it with answers instead of the echoed
 * bytes. */
struct echo {
    size_t len;
    char   bytes[128];
};
static void *f_Call(void *c, const char *cmd, const char *fmt, ...)
{
    static struct echo e;
    va_list            args;
    (void)c;
    if (strcmp(cmd, "ECHO") != 0 || strcmp(fmt, "b") != 0)
        abort();
    va_start(args, fmt);
    const char *p = va_arg(args, const char *);
    size_t      n = va_arg(args, size_t);
    va_end(args);
    e.len = (size_t)snprintf(e.bytes, sizeof e.bytes, "$%zu\r\n%.*s\r\n", n, (int)n, p);
    return &e;
}
static const char *f_CallReplyProto(struct echo *e, size_t *len) { return *len = e->len, e->bytes; }
static void        f_FreeCallReply(struct echo *e) { (void)e; }
static int         f_ReplyWithCallReply(void *c, struct echo *e)
{
    (void)c;
    for (size_t i = 0; i < e->len; i += 4) {
        if (memcmp(e->bytes + i, ":0\r\n", 4) != 0 && memcmp(e->bytes + i, ":1\r\n", 4) != 0)
            abort();
        replied();
    }
    return 0;
}

/* ---- the rest ---- */

static int  f_zero(void) { return 0; }
static void f_SetModuleAttribs(void *c, const char *n, int v, int a)
{
    (void)c, (void)n, (void)v, (void)a;
}
static void f_SetModuleOptions(void *c, int o) { (void)c, (void)o; }
static void f_Log(void *c, const char *level, const char *fmt, ...)
{
    (void)c, (void)level, (void)fmt;
}
static int f_GetContextFlags(void *c) { return (void)c, server.flags; }
static int f_Nothing(void *c) { return (void)c, 0; }
static int f_CreateCommand(void *c, const char *name, command_fn fn, const char *flags, int first,
                           int last, int step)
{
    (void)c, (void)flags, (void)first, (void)last, (void)step;
    snprintf(server.commands[server.command_count].name, 32, "%s", name);
    server.commands[server.command_count++].fn = fn;
    return 0;
}
static void *f_GetCommand(void *c, const char *name) { return (void)c, (void)name, &server; }
static int   f_SetCommandInfo(void *cmd, const void *info) { return (void)cmd, (void)info, 0; }
static void *f_CreateDataType(void *c, const char *name, int encver, struct methods *m)
{
    (void)c, (void)name;
    struct type *t = &server.types[server.type_count++];
    t->m           = *m;
    t->encver      = encver;
    return t;
}
static int f_Signal(void *c, struct str *s) { return (void)c, (void)s, 0; }
static int f_Replicate(void *c, const char *cmd, const char *fmt, ...)
{
    return (void)c, (void)cmd, (void)fmt, 0;
}
static int f_Notify(void *c, int k, const char *e, struct str *s)
{
    return (void)c, (void)k, (void)e, (void)s, 0;
}
static int f_RegisterNumericConfig(void *c, const char *n, long long d, unsigned f, long long lo,
                                   long long hi, void *g, void *s, void *a, void *p)
{
    return (void)c, (void)n, (void)d, (void)f, (void)lo, (void)hi, (void)g, (void)s, (void)a,
           (void)p, 0;
}
static int f_RegisterConfig(void *c, const char *n, intptr_t d, unsigned f, void *g, void *s,
                            void *a, void *p)
{
    return (void)c, (void)n, (void)d, (void)f, (void)g, (void)s, (void)a, (void)p, 0;
}
static int f_RegisterInfoFunc(void *c, void *cb) { return (void)c, (void)cb, 0; }
static int f_InfoAddSection(void *c, const char *n) { return (void)c, (void)n, 1; }
static int f_InfoAddField(void *c, const char *n, unsigned long long v)
{
    return (void)c, (void)n, (void)v, 0;
}

/* The module asks for these by name. It must do without those that are missing, or refuse to
 * load. */
static int get_api(const char *name, void **out)
{
    static const struct {
        const char *name;
        void (*fn)(void);
    } known[] = {
#define F(x) { #x, (void (*)(void))f_##x }
#define AS(x, y)                  \
    {                             \
#x, (void (*)(void))f_##y \
    }
        F(SetModuleAttribs),
        AS(IsModuleNameBusy, zero),
        F(SetModuleOptions),
        F(GetContextFlags),
        F(Log),
        F(LogIOError),
        F(WrongArity),
        F(ReplyWithLongLong),
        AS(ReplyWithError, ReplyWithText),
        AS(ReplyWithSimpleString, ReplyWithText),
        F(ReplyWithArray),
        AS(ReplySetArrayLength, SetModuleOptions),
        F(ReplyWithStringBuffer),
        AS(ReplyWithCString, ReplyWithText),
        F(ReplyWithNull),
        F(ReplyWithDouble),
        F(ReplyWithMap),
        F(ReplyWithBool),
        F(Call),
        F(CallReplyProto),
        F(ReplyWithCallReply),
        F(FreeCallReply),
        F(CreateCommand),
        F(GetCommand),
        F(SetCommandInfo),
        F(OpenKey),
        F(CloseKey),
        F(KeyType),
        F(ModuleTypeGetType),
        F(ModuleTypeGetValue),
        F(ModuleTypeSetValue),
        F(ModuleTypeReplaceValue),
        F(DeleteKey),
        AS(SignalModifiedKey, Signal),
        F(StringPtrLen),
        F(StringToLongLong),
        F(StringToDouble),
        F(CreateString),
        F(FreeString),
        F(Alloc),
        F(Free),
        F(TryAlloc),
        F(MallocSize),
        F(CreateDataType),
        F(SaveUnsigned),
        F(LoadUnsigned),
        F(SaveDouble),
        F(LoadDouble),
        F(SaveStringBuffer),
        F(LoadStringBuffer),
        F(IsIOError),
        F(EmitAOF),
        F(DigestAddLongLong),
        F(DigestAddStringBuffer),
        F(DigestEndSequence),
        AS(ReplicateVerbatim, Nothing),
        F(Replicate),
        AS(NotifyKeyspaceEvent, Notify),
        F(RegisterNumericConfig),
        AS(RegisterBoolConfig, RegisterConfig),
        AS(RegisterStringConfig, RegisterConfig),
        AS(LoadConfigs, Nothing),
        F(RegisterInfoFunc),
        F(InfoAddSection),
        AS(InfoAddFieldULongLong, InfoAddField),
        AS(InfoAddFieldCString, InfoAddField),
        F(DefragAlloc),
#undef F
#undef AS
    };
    if (strncmp(name, "RedisModule_", 12) != 0)
        return 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name + 12) == 0) {
            memcpy(out, &known[i].fn, sizeof *out);
            return 0;
        }
    return 1;
}

int RedisModule_OnLoad(void *ctx, struct str **argv, int argc);

/* Loads the module, also once more: its types and commands are then made anew, and are the same. */
static bool server_load(struct str **argv, int argc)
{
    server.type_count    = 0;
    server.command_count = 0;
    return RedisModule_OnLoad(&server, argv, argc) == 0;
}

static void server_load_words(const char *const *words, int count)
{
    struct str *args[32];
    for (int i = 0; i < count; i++)
        args[i] = string(words[i], strlen(words[i]));
    if (!server_load(args, count) || server.type_count != 3)
        abort();
    for (int i = 0; i < count; i++)
        string_free(args[i]);
}

/* What every input starts with. A filter has at most a megabyte. */
static void server_reset(void)
{
    static const char *const defaults[] = {
        "bf-error-rate",       "0.01", "bf-initial-size",   "100",     "bf-expansion-factor", "2",
        "bf-changes-length",   "64",   "bf-max-bytes",      "1048576", "bf-auto-growth",      "yes",
        "bf-huge-pages",       "yes",  "cf-initial-size",   "1024",    "cf-bucket-size",      "2",
        "cf-expansion-factor", "1",    "cf-max-iterations", "20",      "cf-max-expansions",   "32",
    };
    server_load_words(defaults, sizeof defaults / sizeof *defaults);
}

static void server_start(void)
{
    if (server.get_api)
        return;
    server.get_api = get_api;
    server_reset();
}

static void server_flush(void)
{
    for (int i = 0; i < KEYS; i++)
        slot_clear(&server.keys[i]);
}

#endif
