/* SPDX-License-Identifier: MIT */
/* The table of commands: handler, flags, keys, and what COMMAND INFO and COMMAND DOCS show. */
#include "bf.h"

static const InfoVersion version = { 1, sizeof(HistoryEntry), sizeof(KeySpec), sizeof(CommandArg) };

/* ---- keys ---- */

#define ONE_KEY(what)                                                         \
    {                                                                         \
        .flags = (what), .begin_search = API_SEARCH_INDEX, .bs.index.pos = 1, \
        .find_keys = API_FIND_RANGE, .fk.range = {                            \
            0,                                                                \
            1,                                                                \
            0                                                                 \
        }                                                                     \
    }

static KeySpec reads[]   = { ONE_KEY(API_KEY_RO | API_KEY_ACCESS), { 0 } };
static KeySpec creates[] = { ONE_KEY(API_KEY_RW | API_KEY_INSERT), { 0 } };
/* The answer tells what was there before: who may only write must not ask this way. */
static KeySpec adds[]     = { ONE_KEY(API_KEY_RW | API_KEY_ACCESS | API_KEY_INSERT), { 0 } };
static KeySpec removes[]  = { ONE_KEY(API_KEY_RW | API_KEY_ACCESS | API_KEY_UPDATE), { 0 } };
static KeySpec two_read[] = { { .flags        = API_KEY_RO | API_KEY_ACCESS,
                                .begin_search = API_SEARCH_INDEX,
                                .bs.index.pos = 1,
                                .find_keys    = API_FIND_RANGE,
                                .fk.range     = { -1, 1, 0 } },
                              { 0 } };
static KeySpec merges[]   = { ONE_KEY(API_KEY_RW | API_KEY_ACCESS | API_KEY_UPDATE),
                              { .flags        = API_KEY_RO | API_KEY_ACCESS,
                                .begin_search = API_SEARCH_INDEX,
                                .bs.index.pos = 2,
                                .find_keys    = API_FIND_RANGE,
                                .fk.range     = { -1, 1, 0 } },
                              { 0 } };

/* ---- arguments ---- */

#define KEY(text)                                                \
    {                                                            \
        .name = (text), .type = API_ARG_KEY, .key_spec_index = 0 \
    }
#define ARG(kind, text)                                              \
    {                                                                \
        .name = (text), .type = API_ARG_##kind, .key_spec_index = -1 \
    }
#define MANY(kind, text)                                                                        \
    {                                                                                           \
        .name = (text), .type = API_ARG_##kind, .key_spec_index = -1, .flags = API_ARG_MULTIPLE \
    }
#define MAYBE(kind, text, word)                                                        \
    {                                                                                  \
        .name = (text), .type = API_ARG_##kind, .key_spec_index = -1, .token = (word), \
        .flags = API_ARG_OPTIONAL                                                      \
    }
#define WORD(text, word)                                                             \
    {                                                                                \
        .name = (text), .type = API_ARG_TOKEN, .key_spec_index = -1, .token = (word) \
    }
#define MAYBE_BLOCK(text, word, parts)                                                \
    {                                                                                 \
        .name = (text), .type = API_ARG_BLOCK, .key_spec_index = -1, .token = (word), \
        .flags = API_ARG_OPTIONAL, .subargs = (parts)                                 \
    }
#define END \
    {       \
        0   \
    }

#define ONE_MORE(NAME, value, name) +1
static CommandArg kinds[1 BLM_KIND_MAP(ONE_MORE)]; /* bf_docs_kinds */
static CommandArg reserve_args[] = { KEY("key"),
                                     ARG(DOUBLE, "error_rate"),
                                     ARG(INTEGER, "capacity"),
                                     MAYBE(INTEGER, "expansion", "EXPANSION"),
                                     MAYBE(TOKEN, "nonscaling", "NONSCALING"),
                                     MAYBE(TOKEN, "saturate", "SATURATE"),
                                     { .name           = "kind",
                                       .type           = API_ARG_ONEOF,
                                       .key_spec_index = -1,
                                       .token          = "KIND",
                                       .flags          = API_ARG_OPTIONAL,
                                       .subargs        = kinds },
                                     MAYBE(DOUBLE, "seconds", "WINDOW"),
                                     MAYBE(DOUBLE, "slack_seconds", "SLACK"),
                                     MAYBE(STRING, "seed", "SEED"),
                                     END };
static CommandArg insert_args[]  = { KEY("key"),
                                     MAYBE(INTEGER, "capacity", "CAPACITY"),
                                     MAYBE(DOUBLE, "error", "ERROR"),
                                     MAYBE(INTEGER, "expansion", "EXPANSION"),
                                     MAYBE(TOKEN, "nocreate", "NOCREATE"),
                                     MAYBE(TOKEN, "nonscaling", "NONSCALING"),
                                     { .name           = "item",
                                       .type           = API_ARG_STRING,
                                       .key_spec_index = -1,
                                       .token          = "ITEMS",
                                       .flags          = API_ARG_MULTIPLE },
                                     END };
static CommandArg key_args[]     = { KEY("key"), END };
static CommandArg item_args[]    = { KEY("key"), ARG(STRING, "item"), END };
static CommandArg at_args[]      = { KEY("key"), ARG(INTEGER, "milliseconds"), MANY(STRING, "item"),
                                     END };
static CommandArg items_args[]   = { KEY("key"), MANY(STRING, "item"), END };
static CommandArg fields[]       = { WORD("capacity", "CAPACITY"),   WORD("size", "SIZE"),
                                     WORD("filters", "FILTERS"),     WORD("items", "ITEMS"),
                                     WORD("expansion", "EXPANSION"), END };
static CommandArg info_args[]    = { KEY("key"),
                                     { .name           = "single_value",
                                       .type           = API_ARG_ONEOF,
                                       .key_spec_index = -1,
                                       .flags          = API_ARG_OPTIONAL,
                                       .subargs        = fields },
                                     END };
static CommandArg dump_args[]    = { KEY("key"), ARG(INTEGER, "iterator"), END };
static CommandArg since_args[]   = { ARG(INTEGER, "epoch"), ARG(INTEGER, "sequence"), END };
static CommandArg changes_args[] = { KEY("key"),
                                     { .name           = "since",
                                       .type           = API_ARG_BLOCK,
                                       .key_spec_index = -1,
                                       .flags          = API_ARG_OPTIONAL,
                                       .subargs        = since_args },
                                     END };
static CommandArg load_args[]  = { KEY("key"), ARG(INTEGER, "iterator"), ARG(STRING, "data"), END };
static CommandArg merge_args[] = {
    KEY("destination"),
    { .name = "source", .type = API_ARG_KEY, .key_spec_index = 1, .flags = API_ARG_MULTIPLE },
    END
};
static CommandArg estimate_args[] = {
    KEY("key"),
    { .name = "other", .type = API_ARG_KEY, .key_spec_index = 0, .flags = API_ARG_OPTIONAL },
    END
};

/* Blocks where BF.RESERVE has plain arguments, and two forms of them: RedisBloom describes them so. */
static CommandArg bucketsize[]    = { ARG(INTEGER, "bucketsize"), END };
static CommandArg maxiterations[] = { ARG(INTEGER, "maxiterations"), END };
static CommandArg expansion[]     = { ARG(INTEGER, "expansion"), END };
static CommandArg capacity[]      = { WORD("capacity", "CAPACITY"), ARG(INTEGER, "capacity"), END };
static CommandArg cf_reserve_args[] = { KEY("key"),
                                        ARG(INTEGER, "capacity"),
                                        MAYBE_BLOCK("bucketsize", "BUCKETSIZE", bucketsize),
                                        MAYBE_BLOCK("maxiterations", "MAXITERATIONS",
                                                    maxiterations),
                                        MAYBE_BLOCK("expansion", "EXPANSION", expansion),
                                        END };
static CommandArg cf_insert_args[]  = { KEY("key"),
                                        MAYBE_BLOCK("capacity", NULL, capacity),
                                        MAYBE(TOKEN, "nocreate", "NOCREATE"),
                                        WORD("items", "ITEMS"),
                                        MANY(STRING, "item"),
                                        END };

/* Those that BF.RESERVE makes: others are built elsewhere, and loaded. */
void bf_docs_kinds(void)
{
    const blm_kind_row *row;
    CommandArg         *next = kinds;
    for (size_t i = 0; (row = blm_kind_at(i)); i++)
        if (row->can & BLM_CAN_ADD)
            *next++ = (CommandArg)WORD(row->name, row->name);
}

/* ---- the table ---- */

#define WRITES "write deny-oom"
#define READS  "readonly fast"
#define INFO(words, cost, from, hints, count, keys, arguments)                          \
    {                                                                                   \
        .version = &version, .summary = (words), .complexity = (cost), .since = (from), \
        .tips = (hints), .arity = (count), .key_specs = (keys), .args = (arguments)     \
    }

#define PER_ITEM  "O(k) per item, where k is the number of hash functions"
#define CF_COST   "O(k + i), where k is the number of layers and i the most exchanges"
#define CF_COSTS  "O(n * (k + i)), where n is the number of items, k of layers, i the most exchanges"
#define PER_LAYER "O(k * n), where k is the number of hash functions and n the number of items"

const struct bf_command bf_commands[] = {
    { "bf.reserve", bf_cmd_reserve, WRITES, "write fast bloom", 1,
      INFO("Makes an empty filter", "O(1)", "1.0.0", NULL, -4, creates, reserve_args) },
    { "bf.add", bf_cmd_add, WRITES, "write bloom", 1,
      INFO("Adds an item to a filter. Makes the filter if it does not exist", PER_ITEM, "1.0.0",
           NULL, 3, adds, item_args) },
    { "bf.madd", bf_cmd_madd, WRITES, "write bloom", 1,
      INFO("Adds items to a filter. Makes the filter if it does not exist", PER_LAYER, "1.0.0",
           NULL, -3, adds, items_args) },
    { "bf.insert", bf_cmd_insert, WRITES, "write bloom", 1,
      INFO("Adds items to a filter. Makes the filter with the given parameters if it does not "
           "exist",
           PER_LAYER, "1.0.0", NULL, -4, adds, insert_args) },
    { "bf.exists", bf_cmd_exists, READS, "read bloom", 1,
      INFO("Says whether an item may be in a filter", PER_ITEM, "1.0.0", NULL, 3, reads,
           item_args) },
    { "bf.mexists", bf_cmd_mexists, READS, "read bloom", 1,
      INFO("Says for each item whether it may be in a filter", PER_LAYER, "1.0.0", NULL, -3, reads,
           items_args) },
    { "bf.info", bf_cmd_info, READS, "read fast bloom", 1,
      INFO("Shows a filter's capacity, size, layers, items and expansion", "O(1)", "1.0.0",
           "dont_cache", -2, reads, info_args) },
    { "bf.card", bf_cmd_card, READS, "read fast bloom", 1,
      INFO("Counts the items that were new when they were added", "O(1)", "2.4.4", NULL, 2, reads,
           key_args) },
    { "bf.debug", bf_cmd_debug, READS, "read bloom", 1,
      INFO("Describes each layer of a filter", "O(n), where n is the number of layers", "1.0.0",
           "dont_cache", 2, reads, key_args) },
    { "bf.scandump", bf_cmd_scandump, READS, "read bloom", 1,
      INFO("Reads a filter in chunks", "O(n), where n is the size of the chunk", "1.0.0",
           "dont_cache", 3, reads, dump_args) },
    { "bf.loadchunk", bf_cmd_loadchunk, WRITES, "write bloom", 1,
      INFO("Writes a filter in chunks", "O(n), where n is the size of the chunk", "1.0.0", NULL, 4,
           creates, load_args) },
    { "bf.changes", bf_cmd_changes, "readonly", "read bloom", 1,
      INFO("Shows what was added to a filter lately, for copies of it",
           "O(n), where n is the number of items", BLM_VERSION, "dont_cache", -2, reads,
           changes_args) },
    { "bf.del", bf_cmd_del, "write fast", "write bloom", 1,
      INFO("Removes items from a counting or cuckoo filter", PER_ITEM, BLM_VERSION, NULL, -3,
           removes, items_args) },
    { "bf.addat", bf_cmd_addat, WRITES, "write bloom", 1,
      INFO("Adds items to a window as of a time, on replicas and from the append-only file",
           PER_ITEM, BLM_VERSION, NULL, -4, removes, at_args) },
    { "bf.merge", bf_cmd_merge, WRITES, "write bloom", -1,
      INFO("Merges several filters into one", "O(n), where n is the size of all filters",
           BLM_VERSION, NULL, -3, merges, merge_args) },
    { "bf.estimate", bf_cmd_estimate, "readonly", "read bloom", -1,
      INFO("Estimates from the bits how many items a filter holds, or how many two filters share",
           "O(n), where n is the size of the filters", BLM_VERSION, "dont_cache", -2, two_read,
           estimate_args) },
    { "cf.reserve", bf_cmd_cf_reserve, WRITES, "write fast cuckoo", 1,
      INFO("Makes an empty cuckoo filter", "O(1)", "1.0.0", NULL, -3, creates, cf_reserve_args) },
    { "cf.add", bf_cmd_cf_add, WRITES, "write cuckoo", 1,
      INFO("Adds an item to a cuckoo filter. Makes the filter if it does not exist", CF_COST,
           "1.0.0", NULL, 3, adds, item_args) },
    { "cf.addnx", bf_cmd_cf_addnx, WRITES, "write cuckoo", 1,
      INFO(
          "Adds an item to a cuckoo filter unless it may be there. Makes the filter if it does not "
          "exist",
          CF_COST, "1.0.0", NULL, 3, adds, item_args) },
    { "cf.insert", bf_cmd_cf_insert, WRITES, "write cuckoo", 1,
      INFO("Adds items to a cuckoo filter. Makes the filter if it does not exist", CF_COSTS,
           "1.0.0", NULL, -4, adds, cf_insert_args) },
    { "cf.insertnx", bf_cmd_cf_insertnx, WRITES, "write cuckoo", 1,
      INFO("Adds those items to a cuckoo filter that may not be there. Makes the filter if it does "
           "not exist",
           CF_COSTS, "1.0.0", NULL, -4, adds, cf_insert_args) },
    { "cf.exists", bf_cmd_cf_exists, READS, "read cuckoo", 1,
      INFO("Says whether an item may be in a cuckoo filter", CF_COST, "1.0.0", NULL, 3, reads,
           item_args) },
    { "cf.mexists", bf_cmd_cf_mexists, READS, "read cuckoo", 1,
      INFO("Says for each item whether it may be in a cuckoo filter", CF_COSTS, "1.0.0", NULL, -3,
           reads, items_args) },
    { "cf.count", bf_cmd_cf_count, READS, "read cuckoo", 1,
      INFO("Counts how often an item may be in a cuckoo filter", CF_COST, "1.0.0", NULL, 3, reads,
           item_args) },
    { "cf.del", bf_cmd_cf_del, "write fast", "write cuckoo", 1,
      INFO("Removes an item from a cuckoo filter once", CF_COST, "1.0.0", NULL, 3, removes,
           item_args) },
    { "cf.compact", bf_cmd_cf_compact, "write fast", "write cuckoo", 1,
      INFO("Moves items from newer layers to free places of older ones",
           "O(n), where n is the size of the filter", BLM_VERSION, NULL, 2, removes, key_args) },
    { "cf.info", bf_cmd_cf_info, READS, "read fast cuckoo", 1,
      INFO("Shows a cuckoo filter's size, buckets, layers and items", "O(1)", "1.0.0", "dont_cache",
           2, reads, key_args) },
    { "cf.debug", bf_cmd_cf_debug, READS, "read cuckoo", 1,
      INFO("Describes a cuckoo filter in one line", "O(1)", "1.0.0", "dont_cache", 2, reads,
           key_args) },
    { "cf.scandump", bf_cmd_cf_scandump, READS, "read cuckoo", 1,
      INFO("Reads a cuckoo filter in chunks", "O(n), where n is the size of the chunk", "1.0.0",
           "dont_cache", 3, reads, dump_args) },
    { "cf.loadchunk", bf_cmd_cf_loadchunk, WRITES, "write cuckoo", 1,
      INFO("Writes a cuckoo filter in chunks", "O(n), where n is the size of the chunk", "1.0.0",
           NULL, 4, creates, load_args) },
};
const size_t bf_command_count = sizeof bf_commands / sizeof *bf_commands;
