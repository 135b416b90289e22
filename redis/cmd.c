/* SPDX-License-Identifier: MIT */
/* What every command does first and last: find the value, notify of the change. */
#include "bf.h"

static enum bf_found value_of(Key *key, bool alone, struct value **out)
{
    *out       = NULL;
    Type *type = api.ModuleTypeGetType(key);
    if (!type || (type != bf_type && type != bf_type_native))
        return BF_OTHER;
    *out = api.ModuleTypeGetValue(key);
    bf_value_wake(*out, alone);
    return BF_OURS;
}

static enum bf_found find(Ctx *ctx, Str *name, bool alone, struct value **out)
{
    *out     = NULL;
    Key *key = api.OpenKey(ctx, name, API_READ);
    if (!key)
        return BF_MISSING;
    enum bf_found found = value_of(key, alone, out);
    api.CloseKey(key);
    return found;
}

enum bf_found bf_find(Ctx *ctx, Str *name, struct value **out)
{
    return find(ctx, name, true, out);
}

enum bf_found bf_find_beside(Ctx *ctx, Str *name, struct value **out)
{
    return find(ctx, name, false, out);
}

enum bf_found bf_open(Ctx *ctx, Str *name, Key **key, struct value **out)
{
    *key                = api.OpenKey(ctx, name, API_READ | API_WRITE);
    enum bf_found found = value_of(*key, true, out);
    return found == BF_OTHER && api.KeyType(*key) == API_KEYTYPE_EMPTY ? BF_MISSING : found;
}

void bf_attach(Key *key, struct value *v)
{
    api.ModuleTypeSetValue(key, v->native ? bf_type_native : bf_type, v);
    bf_value_rest(v); /* and up again, in one of the places for those in use */
    bf_value_wake(v, true);
}

void bf_put(Ctx *ctx, Str *name, struct value *v)
{
    Key  *key  = api.OpenKey(ctx, name, API_READ | API_WRITE);
    Type *type = v->native ? bf_type_native : bf_type;
    void *old  = NULL;
    if (api.ModuleTypeReplaceValue(key, type, v, &old) == API_OK) /* keeps the time to live */
        bf_value_free(old), bf_value_rest(v);
    else
        bf_attach(key, v);
    api.CloseKey(key);
}

void bf_changed(Ctx *ctx, Str *name, const char *event)
{
    api.SignalModifiedKey(ctx, name);
    api.NotifyKeyspaceEvent(ctx, API_NOTIFY_MODULE, event, name);
}

int bf_wrong_type(Ctx *ctx)
{
    return api.ReplyWithError(ctx,
                              "WRONGTYPE Operation against a key holding the wrong kind of value");
}

int bf_not_found(Ctx *ctx) { return api.ReplyWithError(ctx, "ERR not found"); }

int bf_still_arriving(Ctx *ctx) { return api.ReplyWithError(ctx, "ERR filter is being loaded"); }

/* ---- items through a filter ---- */

size_t bf_items_next(void *ctx, blm_key *keys, size_t room)
{
    struct bf_items *t = ctx;
    size_t           n = t->left < room ? t->left : room;
    for (size_t i = 0; i < n; i++)
        keys[i].data = api.StringPtrLen(t->item[i], &keys[i].len);
    t->item += n;
    t->left -= n;
    return n;
}

void bf_items_reply(void *ctx, const uint8_t *answers, size_t n)
{
    struct bf_items *t = ctx;
    for (size_t i = 0; i < n; i++) {
        t->yes += answers[i];
        api.ReplyWithBool(t->ctx, answers[i]);
    }
}
