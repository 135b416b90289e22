/* SPDX-License-Identifier: MIT */
/* The module with the fuzzer's server: commands on any number of keys, one after the other as key 0. */
#ifndef BLM_TESTS_UNIT_REDIS_MODULE_H
#define BLM_TESTS_UNIT_REDIS_MODULE_H

#pragma GCC diagnostic ignored "-Wunused-function"
#include "fake_redis.h"
#include "unit/support.h"

static command_fn command(const char *name)
{
    for (int i = 0; i < server.command_count; i++)
        if (strcmp(server.commands[i].name, name) == 0)
            return server.commands[i].fn;
    fail_msg("no command %s", name);
    return NULL;
}

/* A command on this key: a name and arguments with a blank between them. */
static void run(struct slot *key, const char *text)
{
    struct str *argv[20];
    int         argc = 0;
    for (size_t len; *text; text += len + (text[len] == ' ')) {
        len          = strcspn(text, " ");
        argv[argc++] = string(text, len);
        if (argc == 1)
            argv[argc++] = string("0", 1);
    }
    server.keys[0] = *key;
    server.replies = 1;
    command(argv[0]->bytes)(&server, argv, argc);
    assert_int_equal(server.replies, 0);
    *key           = server.keys[0];
    server.keys[0] = (struct slot){ NULL, NULL };
    while (argc)
        string_free(argv[--argc]);
}

static void forget(struct slot *key)
{
    if (key->type)
        key->type->m.free(key->value);
    *key = (struct slot){ NULL, NULL };
}

#endif
