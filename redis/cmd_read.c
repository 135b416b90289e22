/* SPDX-License-Identifier: MIT */
/* BF.EXISTS, BF.MEXISTS, BF.INFO, BF.CARD, BF.DEBUG: questions. */
#include <stdio.h>
#include <string.h>

#include "bf.h"
#include "bloomery/embed.h"
#include "bloomery/window.h"

/* ---- BF.EXISTS key item · BF.MEXISTS key item [item …] ---- */

/* NULL: there is no filter, and the answer is no. A filter that is still arriving might have the
 * item, so the answer must not be no: *maybe is set. */
static const struct value *to_ask(Ctx *ctx, Str *name, bool *maybe)
{
    struct value *v;
    bf_find(ctx, name, &v);
    *maybe = v && v->arriving;
    return v && v->filter ? v : NULL;
}

int bf_cmd_exists(Ctx *ctx, Str **argv, int argc)
{
    bool maybe;
    if (argc != 3)
        return api.WrongArity(ctx);
    const struct value *v = to_ask(ctx, argv[1], &maybe);
    if (v) {
        size_t      len;
        const char *key = api.StringPtrLen(argv[2], &len);
        maybe           = blm_check(v->filter, key, len);
        bf_tick(&bf_totals.checks, 1);
    }
    return api.ReplyWithBool(ctx, maybe);
}

int bf_cmd_mexists(Ctx *ctx, Str **argv, int argc)
{
    bool maybe;
    if (argc < 3)
        return api.WrongArity(ctx);
    const struct value *v = to_ask(ctx, argv[1], &maybe);
    size_t              n = (size_t)argc - 2;
    api.ReplyWithArray(ctx, (long)n);
    if (!v) {
        for (size_t i = 0; i < n; i++)
            api.ReplyWithBool(ctx, maybe);
        return API_OK;
    }
    struct bf_items items = { .ctx = ctx, .item = argv + 2, .left = n };
    blm_check_flow(v->filter, &(blm_flow){ bf_items_next, bf_items_reply, &items });
    bf_tick(&bf_totals.checks, n);
    return API_OK;
}

/* The value to report on. NULL: the error has been replied. */
static const struct value *to_tell_of(Ctx *ctx, Str *name)
{
    struct value *v;
    enum bf_found found = bf_find(ctx, name, &v);
    if (found == BF_MISSING)
        bf_not_found(ctx);
    else if (found == BF_OTHER)
        bf_wrong_type(ctx);
    else if (v->arriving)
        bf_still_arriving(ctx);
    return v && v->filter ? v : NULL;
}

/* ---- BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION] ---- */

static void reply_expansion(Ctx *ctx, const struct value *v, const blm_params *p)
{
    if (v->fixed)
        api.ReplyWithNull(ctx);
    else
        api.ReplyWithLongLong(ctx, (long long)p->growth);
}

static const struct {
    const char *word, *name;
} fields[] = {
    { "CAPACITY", "Capacity" },         { "SIZE", "Size" },
    { "FILTERS", "Number of filters" }, { "ITEMS", "Number of items inserted" },
    { "EXPANSION", "Expansion rate" },
};
#define FIELDS (sizeof fields / sizeof *fields)

static void reply_field(Ctx *ctx, const struct value *v, const blm_params *p, size_t field)
{
    switch (field) {
    case 0:
        api.ReplyWithLongLong(ctx, (long long)p->capacity);
        break;
    case 1:
        api.ReplyWithLongLong(ctx, (long long)bf_value_size(v));
        break;
    case 2:
        api.ReplyWithLongLong(ctx, (long long)p->layers);
        break;
    case 3:
        api.ReplyWithLongLong(ctx, (long long)p->items);
        break;
    default:
        reply_expansion(ctx, v, p);
        break;
    }
}

int bf_cmd_info(Ctx *ctx, Str **argv, int argc)
{
    if (argc != 2 && argc != 3)
        return api.WrongArity(ctx);
    const struct value *v = to_tell_of(ctx, argv[1]);
    if (!v)
        return API_OK;
    blm_params p     = bf_params(v);
    size_t     field = 0;
    if (argc == 3) {
        while (field < FIELDS && !bf_word(argv[2], fields[field].word))
            field++;
        if (field == FIELDS)
            return api.ReplyWithError(ctx, "Invalid information value");
        if (!(api.GetContextFlags(ctx) & API_CTX_RESP3)) {
            api.ReplyWithArray(ctx, 1); /* as RedisBloom does: an array, not a bare number */
        } else {
            api.ReplyWithMap(ctx, 1);
            api.ReplyWithSimpleString(ctx, fields[field].name);
        }
        reply_field(ctx, v, &p, field);
        return API_OK;
    }
    blm_window w      = { .size = sizeof w };
    bool       window = blm_get_window(v->filter, &w) == BLM_OK;
    api.ReplyWithMap(ctx, (long)FIELDS + (v->native ? 2 : 0) + (window ? 2 : 0));
    for (field = 0; field < FIELDS; field++) {
        api.ReplyWithSimpleString(ctx, fields[field].name);
        reply_field(ctx, v, &p, field);
    }
    if (v->native) {
        api.ReplyWithSimpleString(ctx, "Kind");
        api.ReplyWithSimpleString(ctx, blm_kind_name(p.kind));
        api.ReplyWithSimpleString(ctx, "Error rate");
        api.ReplyWithDouble(ctx, p.rate);
    }
    if (window) {
        api.ReplyWithSimpleString(ctx, w.by_time ? "Window in milliseconds" : "Window in items");
        api.ReplyWithLongLong(ctx, (long long)w.length);
        api.ReplyWithSimpleString(ctx, "Slack");
        api.ReplyWithLongLong(ctx, (long long)w.slack);
    }
    return API_OK;
}

/* ---- BF.CARD key ---- */

int bf_cmd_card(Ctx *ctx, Str **argv, int argc)
{
    struct value *v;
    if (argc != 2)
        return api.WrongArity(ctx);
    enum bf_found found = bf_find(ctx, argv[1], &v);
    if (found == BF_OTHER)
        return bf_wrong_type(ctx);
    if (v && v->arriving)
        return bf_still_arriving(ctx);
    return api.ReplyWithLongLong(ctx, v ? (long long)bf_params(v).items : 0);
}

/* ---- BF.DEBUG key ---- */

int bf_cmd_debug(Ctx *ctx, Str **argv, int argc)
{
    char line[256];
    if (argc != 2)
        return api.WrongArity(ctx);
    const struct value *v = to_tell_of(ctx, argv[1]);
    if (!v)
        return API_OK;
    blm_params all = bf_params(v);
    api.ReplyWithArray(ctx, 1 + (long)all.layers);
    snprintf(line, sizeof line, "size:%llu", (unsigned long long)all.items);
    api.ReplyWithCString(ctx, line);
    for (uint32_t i = 0; i < all.layers; i++) {
        blm_params      p     = bf_layer(v, i);
        int             width = v->native || p.variant & BLM_CHAIN_FORCE64 ? 64 : 32;
        blm_chain_layer l     = { .bytes = p.bytes, .bits = p.bits };
        if (!v->native) /* those of p are a whole number of words */
            blm_chain_get_layer(v->filter, i, &l);
        snprintf(line, sizeof line,
                 "bytes:%llu bits:%llu hashes:%lu hashwidth:%d capacity:%llu size:%llu ratio:%g",
                 (unsigned long long)l.bytes, (unsigned long long)l.bits, (unsigned long)p.probes,
                 width, (unsigned long long)p.capacity, (unsigned long long)p.items, p.rate);
        api.ReplyWithCString(ctx, line);
    }
    return API_OK;
}
