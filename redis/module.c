/* SPDX-License-Identifier: MIT */
/*
 * bloomery on Redis and Valkey: BF.* as RedisBloom's clients know it, plus native filters. Loading
 * finds the API and creates the types, the commands, the configs and the INFO section. Start
 * reading at bf.h; growth.c says what is different about a filter that nobody reserved.
 */
#include <errno.h>

#include "bf.h"

#define NAME "bf" /* the same as RedisBloom's, because clients look for it */
#define VERSION \
    20800 /* clients compare it: the RedisBloom, 2.8.0, whose BF.* commands are all here */

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

/* ---- INFO ---- */

static uint64_t total(_Atomic uint64_t *t) { return atomic_load_explicit(t, memory_order_relaxed); }

void bf_info(InfoCtx *ctx, int crashing)
{
    (void)crashing; /* nothing here allocates */
    if (api.InfoAddSection(ctx, "filters") != API_OK)
        return;
    api.InfoAddFieldCString(ctx, "bloomery_version", blm_version());
    api.InfoAddFieldULongLong(ctx, "filters", total(&bf_totals.filters));
    api.InfoAddFieldULongLong(ctx, "items", total(&bf_totals.items) + total(&bf_totals.added));
    api.InfoAddFieldULongLong(ctx, "bytes", total(&bf_totals.bytes));
    api.InfoAddFieldULongLong(ctx, "adds", total(&bf_totals.adds));
    api.InfoAddFieldULongLong(ctx, "checks", total(&bf_totals.checks));
    api.InfoAddFieldULongLong(ctx, "refused_loads", total(&bf_totals.refused));
}

/* ---- commands ---- */

static bool create_command(Ctx *ctx, const struct bf_command *c, bool category)
{
    if (api.CreateCommand(ctx, c->name, c->fn, c->flags, 1, c->last_key, 1) != API_OK)
        return false;
    Cmd *cmd = api.GetCommand(ctx, c->name);
    if (!cmd || api.SetCommandInfo(cmd, &c->info) != API_OK)
        return false;
    if (category && api.SetCommandACLCategories)
        return api.SetCommandACLCategories(cmd, c->categories) == API_OK;
    return true;
}

static bool add_category(Ctx *ctx, const char *name)
{
    return api.AddACLCategory && (api.AddACLCategory(ctx, name) == API_OK || errno == EBUSY);
}

static bool create_commands(Ctx *ctx)
{
    bool category = add_category(ctx, "bloom") && add_category(ctx, "cuckoo");
    bf_docs_kinds();
    for (size_t i = 0; i < bf_command_count; i++)
        if (!create_command(ctx, &bf_commands[i], category)) {
            api.Log(ctx, "warning", "%s could not be created", bf_commands[i].name);
            return false;
        }
    return true;
}

/* ---- loading ---- */

EXPORT int RedisModule_OnLoad(Ctx *ctx, Str **argv, int argc);

int RedisModule_OnLoad(Ctx *ctx, Str **argv, int argc)
{
    const char *missing = api_find(ctx);
    if (missing) {
        if (api.Log)
            api.Log(ctx, "warning", "this server is too old: it has no %s", missing);
        return API_ERR;
    }
    if (api.IsModuleNameBusy(NAME)) {
        api.Log(ctx, "warning", "a module called " NAME " is already loaded");
        return API_ERR;
    }
    bf_memory_find_rule();
    api.SetModuleAttribs(ctx, NAME, VERSION, 1);
    api.SetModuleOptions(ctx,
                         API_HANDLE_IO_ERRORS | API_NO_IMPLICIT_SIGNAL | API_HANDLE_ASYNC_LOAD);
    if (!bf_type_create(ctx) || !bf_type_native_create(ctx) || !bf_type_cf_create(ctx)) {
        api.Log(ctx, "warning", "the data types could not be created: is RedisBloom loaded?");
        return API_ERR;
    }
    if (!create_commands(ctx) || !bf_config_load(ctx, argv, argc) ||
        api.RegisterInfoFunc(ctx, bf_info) != API_OK)
        return API_ERR;
    api.Log(ctx, "notice", "bloomery %s", blm_version());
    return API_OK;
}
