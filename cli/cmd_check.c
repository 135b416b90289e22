/* SPDX-License-Identifier: MIT */
/* check: like grep, with a filter instead of a pattern. */
#include <string.h>

#include "command.h"
#include "except.h"
#include "from.h"
#include "json.h"
#include "keys.h"
#include "memory.h"
#include "out.h"
#include "parquet.h"
#include "progress.h"
#include "ref.h"
#include "say.h"

static struct {
    const char *except;
    bool        absent, count, silent, numbers, groups, json, line_buffered;
} opt;

static const struct option rows[] = {
    { "invert", 'v', OPT_FLAG, NULL, &opt.absent,
      "Print the lines that are certainly not in the filter instead.", NULL },
    { "except", 0, OPT_KEYS, "KEYS", &opt.except,
      "Keys that are certainly not in the filter, whatever it says: an allow-list. It is read "
      "whole, "
      "with the same options for keys.",
      NULL },
    { "count", 'c', OPT_FLAG, NULL, &opt.count, "Print only the number of lines.", NULL },
    { "silent", 'q', OPT_FLAG, NULL, &opt.silent,
      "Print nothing and stop at the first line found. The exit status is the answer.", NULL },
    { "line-number", 'n', OPT_FLAG, NULL, &opt.numbers,
      "Print the number of each line in its input and a colon before it.", NULL },
    { "groups", 0, OPT_FLAG, NULL, &opt.groups,
      "With --column: print the row groups that may hold the line's key, separated by commas, and "
      "a colon before it.",
      NULL },
    { "json", 0, OPT_FLAG, NULL, &opt.json,
      "Print only the numbers of lines checked and found, as JSON.", NULL },
    { "line-buffered", 0, OPT_FLAG, NULL, &opt.line_buffered,
      "Write output after every read. Rarely needed, because output is always written before "
      "waiting for input.",
      NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, &keys_group, &from_group, &threads_group,
                                                     NULL };

/* If another process is adding to the file, it may have new layers since we opened it. */
static void recycle(void *ctx)
{
    struct ref *r = ctx;
    out_flush();
    ref_refresh(r);
}

/* Called by several threads at once. It only checks keys. */
static void ask(void *ctx, struct batch *b)
{
    struct ref *r = ctx;
    blm_check_many(r->filter, b->keys, b->count, b->flags);
    except_drop(b);
    b->flagged = true;
}

/* Other threads cannot check a filter whose layers may have to be refreshed meanwhile. A filter on
 * a server is checked there. */
static bool stays(const struct ref *r)
{
    blm_params p = { .size = sizeof p };
    return !r->remote && blm_get_params(r->filter, &p) == BLM_OK && !(p.can & BLM_CAN_GROW);
}

/* As batch_print_picked, each line after its row groups and its number. */
static void print_labelled(const struct ref *r, const struct batch *b, uint8_t value,
                           uint64_t first)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->flags[i] == value) {
            if (opt.groups)
                out_print("%s:", parquet_where(r, i));
            if (opt.numbers)
                out_print("%llu:", (unsigned long long)(first + i));
            batch_print(b, i, i + 1);
        }
}

static void print(const struct ref *r, const struct keys *k, const struct batch *b)
{
    if (opt.numbers || opt.groups)
        print_labelled(r, b, !opt.absent, k->line - b->count + 1);
    else
        batch_print_picked(b, b->flags, !opt.absent);
}

static void show_json(const struct ref *r, const struct keys *k, uint64_t found)
{
    struct json j     = JSON_INIT;
    uint64_t    maybe = opt.absent ? k->lines - found : found;
    json_open(&j, NULL, '{');
    json_text(&j, "filter", r->name);
    json_count(&j, "lines", k->lines);
    json_count(&j, "maybe", maybe);
    json_count(&j, "no", k->lines - maybe);
    if (parquet_asked())
        parquet_json(&j, r);
    json_close(&j, '}');
    out_bytes(j.text, j.len);
    json_free(&j);
}

/* False: no answer could be had; already reported. */
static bool check_all(struct ref *r, struct keys *k, uint64_t *found)
{
    struct batch b;
    size_t       hits = 0;
    while (keys_next(k, &b)) {
        if (!b.flagged && !ref_check(r, b.keys, b.count, b.flags, &hits))
            return false;
        if (!b.flagged)
            except_drop(&b);
        if (b.flagged || opt.except)
            hits = batch_count(&b);
        *found += opt.absent ? b.count - hits : hits;
        if (opt.silent && *found)
            break;
        if (!opt.silent && !opt.count && !opt.json)
            print(r, k, &b);
        if (opt.line_buffered)
            out_flush();
        progress_tick(k->lines, k->bytes);
    }
    return true;
}

static int run(int count, char **operands)
{
    struct ref  r;
    blm_options o     = BLM_OPTIONS_INIT;
    uint64_t    found = 0;
    struct keys k     = {
            .recycle = recycle, .ctx = &r, .eager = opt.line_buffered, .threads = keys_threads()
    };
    if (opt.json && opt.silent)
        return misuse("-q prints nothing: remove it, or --json");
    if (opt.groups && (!parquet_asked() || opt.absent))
        return misuse(opt.absent ? "-v prints keys that no row group has: remove it, or --groups"
                                 : "--groups is for a column of a .parquet file: give --column");
    if (ref_is_stdin(operands[0]) && ref_keys_from_stdin(count, operands))
        return misuse("the filter is read from standard input: give the keys as files");
    if (opt.except && ref_is_stdin(opt.except) && ref_is_stdin(operands[0]))
        return misuse("the filter and --except are both standard input: give one as a file");
    if (opt.except && ref_is_stdin(opt.except) && ref_keys_from_stdin(count, operands))
        return misuse("--except and the keys are both standard input: give one of them as a file");
    if (opt.except && !except_read(opt.except))
        return EXIT_TROUBLE;
    if (!from_options(operands[0], &o) || !ref_open_keys(&r, operands[0], &o))
        return EXIT_TROUBLE;
    if (stays(&r))
        k.prepare = ask;
    keys_open(&k, operands + 1, count - 1);
    progress_start("lines", k.total);
    bool good = check_all(&r, &k, &found);
    progress_stop();
    if (opt.json && good)
        show_json(&r, &k, found);
    else if (opt.count && !opt.silent && good)
        out_print("%llu\n", (unsigned long long)found);
    out_flush();
    bool failed = (k.failed || !good) && !(opt.silent && found);
    keys_close(&k);
    except_free();
    ref_drop(&r);
    return failed ? EXIT_TROUBLE : found ? EXIT_YES : EXIT_NO;
}

static const char *const usage[] = {
    "FILTER [INPUT...] [-v] [-n] [-c] [-q] [--except KEYS]",
    "FILTER [INPUT...] --from F [--from-scheme S] [--offset BYTE]",
    "FILE.parquet [INPUT...] --column NAME [--row-group N] [--groups]",
    NULL,
};
static const char *const about[] = {
    "Prints the lines whose key may be in the filter, unchanged and in order. A line that is not "
    "printed is certainly not in it. A line that is printed may be wrong, at the filter's rate.",
    "Output is written before every wait for input, so check can follow tail -f in a pipe. It can "
    "check a filter while another process is adding to it.",
    "With --except, a key of that list is never found. So a block list needs no exact copy of its "
    "keys, and still stops nobody whom you know: give it the customers. bloomery build --exclude "
    "makes one filter of both lists.",
    "Filters of other systems can be checked directly: the format is detected from the bytes. If "
    "the bytes fit several formats, or are only bits (raw), say what they are with --from and the "
    "options next to it.",
    "In a .parquet file, --column checks the column's filters in all row groups, or in one. A line "
    "is printed if any of them may hold it, and a row group without a filter may hold anything. "
    "Lines are values of the column's physical type: text for BYTE_ARRAY and "
    "FIXED_LEN_BYTE_ARRAY, whole numbers for INT32 and INT64 (dates, times and decimals too, as "
    "Parquet stores them), numbers for FLOAT and DOUBLE, and -e hex for INT96.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery check seen.blm urls.txt > maybe-seen.txt",
      "Print the URLs that may have been seen" },
    { "tail -f access.log | bloomery check -v -f 1 -d ' ' known.blm",
      "Print requests from addresses never seen before, as they come" },
    { "bloomery check spammers.blm senders.txt --except customers.txt",
      "Print the senders that are stopped, and never a customer" },
    { "bloomery check --json seen.blm urls.txt | jq .maybe", "Get one number for a script" },
    { "bloomery check -q leaked.blm password.txt && echo 'choose another'",
      "Use the exit status as the answer" },
    { "bloomery check --from raw --from-scheme go -m 9586 -k 7 bits.raw names.txt",
      "Check keys against bits without a header" },
    { "bloomery check orders.parquet --column customer --groups names.txt",
      "Print which row groups may have each customer" },
    { NULL, NULL },
};

const struct command cmd_check = {
    .name     = "check",
    .summary  = "print the lines that may be in a filter",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .status   = "0 a line was found, 1 none was, 2 trouble.",
    .operand  = "filter",
    .least    = 1,
    .most     = -1,
    .run      = run,
};
