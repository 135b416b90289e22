/* SPDX-License-Identifier: MIT */
/*
 * The Redis module against a fake server: untrusted RDB values, chunks in any order, any arguments.
 * An input is a list of steps. After each step, every value must be savable and load again, and
 * every command must have given exactly one reply.
 */
#include "fake_redis.h"

struct input {
    const uint8_t *p;
    size_t         left;
};

static uint8_t byte(struct input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->p++;
}

/* Words that arguments rarely match by chance. */
static struct str *argument(struct input *in)
{
    static const char *const words[] = {
        "0",        "1",         "2",          "17",      "100",        "0.01",
        "0.25",     "1e-9",      "nan",        "-1",      "ITEMS",      "CAPACITY",
        "ERROR",    "EXPANSION", "NONSCALING", "KIND",    "blocked",    "SEED",
        "SATURATE", "counting",  "scalable",   "classic", "NOCREATE",   "a",
        "b",        "",          "1073741824", "SIZE",    "BUCKETSIZE", "MAXITERATIONS",
        "cuckoo",   "window",    "WINDOW",     "SLACK",
    };
    uint8_t how = byte(in);
    if (how == 127) { /* an epoch of BF.CHANGES */
        char said[24];
        return string(said, (size_t)snprintf(said, sizeof said, "%lld", server.said));
    }
    if (how < 128)
        return string(words[how % (sizeof words / sizeof *words)],
                      strlen(words[how % (sizeof words / sizeof *words)]));
    size_t len = how < 240 ? how - 128u : (size_t)byte(in) | (size_t)(how & 15) << 8;
    if (len > in->left)
        len = in->left;
    struct str *s = string(in->p, len);
    in->p += len;
    in->left -= len;
    return s;
}

/* Inputs name a command by its place here, so a new one goes to the end, or what was found before
 * means something else. */
static const char *const names[] = {
    "bf.reserve", "bf.add",      "bf.madd",     "bf.insert",   "bf.exists",    "bf.mexists",
    "bf.info",    "bf.card",     "bf.debug",    "bf.scandump", "bf.loadchunk", "bf.del",
    "bf.addat",   "bf.merge",    "bf.estimate", "cf.reserve",  "cf.add",       "cf.addnx",
    "cf.insert",  "cf.insertnx", "cf.exists",   "cf.mexists",  "cf.count",     "cf.del",
    "cf.compact", "cf.info",     "cf.debug",    "cf.scandump", "cf.loadchunk", "bf.changes",
};
#define NAMES ((int)(sizeof names / sizeof *names))

static command_fn command(const char *name)
{
    if (server.command_count != NAMES)
        abort(); /* one is missing above */
    for (int i = 0; i < NAMES; i++)
        if (strcmp(server.commands[i].name, name) == 0)
            return server.commands[i].fn;
    abort();
}

static void run_command(struct input *in)
{
    struct str *argv[20];
    const char *name = names[byte(in) % NAMES];
    int         argc = 1 + byte(in) % 19;
    argv[0]          = string(name, strlen(name));
    for (int i = 1; i < argc; i++)
        argv[i] = argument(in);
    server.replies = 1;
    command(name)(&server, argv, argc);
    if (server.replies != 0)
        abort();
    for (int i = 0; i < argc; i++)
        string_free(argv[i]);
}

/* Loads the module with any arguments, whatever they name; filters stay within a megabyte. */
static void configure(struct input *in)
{
    static const char *const settings[] = {
        "bf-error-rate",
        "ERROR_RATE",
        "bf-initial-size",
        "INITIAL_SIZE",
        "bf-max-bytes",
        "bf-auto-growth",
        "bf-changes-length",
        "bf-expansion-factor",
        "cf-initial-size",
        "cf-bucket-size",
        "cf-max-iterations",
        "cf-expansion-factor",
        "bf-huge-pages",
        "yes",
        "no",
        "CF_MAX_EXPANSIONS",
    };
    static const char *const cap[] = { "bf-max-bytes", "1048576", "bf-changes-length", "64" };
    struct str              *argv[8];
    int                      argc = byte(in) % 9;
    for (int i = 0; i < argc; i++) {
        uint8_t     how  = byte(in);
        const char *name = settings[how % 16];
        argv[i]          = how < 128 ? string(name, strlen(name)) : argument(in);
    }
    if (server_load(argv, argc))
        server_load_words(cap, 4);
    else /* the server unloads it, settings and all */
        server_reset();
    for (int i = 0; i < argc; i++)
        string_free(argv[i]);
}

/* Loads a value from the input, and sets it on a key if it is valid. */
static void restore(struct input *in)
{
    struct type  *t      = &server.types[byte(in) % 3];
    int           encver = byte(in) % 6;
    struct slot  *k      = &server.keys[byte(in) % KEYS];
    struct stream s      = { .in = in->p, .left = in->left };
    void         *value  = t->m.rdb_load(&s, encver);
    in->p                = s.in;
    in->left             = s.left;
    if (value)
        f_ModuleTypeSetValue(k, t, value);
}

/* Every value can be saved, and what was saved is a valid value. */
static void keep(struct slot *k)
{
    struct stream s    = { 0 };
    struct str   *name = string("0", 1);
    uint8_t       md   = 0;
    k->type->m.rdb_save(&s, k->value);
    s.in        = s.out;
    s.left      = s.len;
    void *again = k->type->m.rdb_load(&s, k->type->encver);
    if (!again || s.left)
        abort();
    k->type->m.free(again);
    free(s.out);
    k->type->m.aof_rewrite(&s, name, k->value);
    k->type->m.digest(&md, k->value);
    k->type->m.mem_usage2(NULL, k->value, 0);
    k->type->m.free_effort2(NULL, k->value);
    k->type->m.defrag(NULL, name, &k->value);
    void *copy = k->type->m.copy2(NULL, k->value);
    if (copy)
        k->type->m.free(copy);
    string_free(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in         = { data, size };
    bool         configured = false;
    server_start();
    server.said = 0;
    for (int steps = 0; in.left && steps < 24; steps++) {
        uint8_t how  = byte(&in);
        server.flags = how & 64 ? 1 << 22 : 0; /* RESP3 */
        if (how % 4 == 0)
            restore(&in);
        else if (how % 64 == 63)
            configured = true, configure(&in);
        else
            run_command(&in);
    }
    for (int i = 0; i < KEYS; i++)
        if (server.keys[i].type)
            keep(&server.keys[i]);
    server_flush();
    if (configured)
        server_reset();
    return 0;
}
