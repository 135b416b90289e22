/* SPDX-License-Identifier: MIT */
/* Finds the module API: the first word of the context that a module is loaded with is a function
 * that looks up the others by name. */
#include "api.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct api api;

typedef int (*GetApi)(const char *name, void **out);

static bool find(GetApi get, const char *name, void *slot)
{
    static const char *const prefixes[] = { "RedisModule_", "ValkeyModule_" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        char  full[64];
        void *p = NULL;
        snprintf(full, sizeof full, "%s%s", prefixes[i], name);
        if (get(full, &p) == 0 && p) {
            memcpy(slot, &p, sizeof p); /* a function's address, given as an object's */
            return true;
        }
    }
    return false;
}

const char *api_find(Ctx *ctx)
{
    GetApi get;
    memcpy(&get, ctx, sizeof get);
#define API_LOOK_UP(result, name, arguments) \
    if (!find(get, #name, &api.name))        \
        return #name;
    API_REQUIRED(API_LOOK_UP)
#undef API_LOOK_UP
#define API_LOOK_UP(result, name, arguments) find(get, #name, &api.name);
    API_OPTIONAL(API_LOOK_UP)
#undef API_LOOK_UP
    return NULL;
}
