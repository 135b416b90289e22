/* SPDX-License-Identifier: MIT */
/*
 * The library as JavaScript calls it: numbers, pointers into this module's memory, and JSON.
 *
 * pkg/index.js is the only caller, and knows the order of the enums below. Of the command line it
 * takes what works out and reports (calc_work.c, report.c), so that the page prints what the
 * program prints. One call runs at a time: what a call leaves in `last` or `text` is valid until
 * the next one.
 */
#include <stdlib.h>
#include <string.h>

#include "bloomery.h"
#include "bloomery/embed.h"
#include "bloomery/maths.h"
#include "bloomery/window.h"
#include "cli/calc.h"
#include "cli/decode.h"
#include "cli/json.h"
#include "cli/memory.h"
#include "cli/numbers.h"
#include "cli/report.h"

#define EXPORT(name) __attribute__((export_name(#name))) name
#define IMPORT(name) __attribute__((import_module("host"), import_name(#name))) name

/* The host's side of streams. */
size_t IMPORT(host_read)(void *bytes, size_t len);
bool   IMPORT(host_write)(const void *bytes, size_t len);

static blm_error   last;
static struct json text;
static uint64_t    length;

/* Of a text of a few kilobytes. There is nobody to tell. */
void *memory_grow(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    if (!p)
        __builtin_trap();
    return p;
}

static void begin(void)
{
    json_free(&text);
    text = (struct json)JSON_INIT;
    last = (blm_error){ .offset = BLM_NO_OFFSET };
}

static int fail(blm_status st)
{
    if (last.status == BLM_OK)
        last.status = st;
    return (int)st;
}

void       *EXPORT(take)(size_t size) { return malloc(size); }
void        EXPORT(give)(void *p) { free(p); }
const char *EXPORT(text_at)(void) { return text.text; }
size_t      EXPORT(text_length)(void) { return text.len; }
double      EXPORT(last_length)(void) { return (double)length; }
const char *EXPORT(error_text)(void)
{
    return last.text[0] ? last.text + last.named : blm_status_text(last.status);
}
const char *EXPORT(error_name)(void) { return blm_status_name(last.status); }
double      EXPORT(error_offset)(void)
{
    return last.offset == BLM_NO_OFFSET ? -1 : (double)last.offset;
}
const char *EXPORT(version)(void) { return blm_version(); }

/* ---- options ---- */

static blm_options want;
static char        names[3][64];

enum number {
    ITEMS,
    RATE,
    BITS,
    PROBES,
    LINES,
    MEMORY,
    GROWTH,
    TIGHTENING,
    WINDOW_MS,
    SLACK,
    OFFSET,
    MAX_BYTES,
    VARIANT,
    VERSION
};
enum name { SCHEME, FORMAT, FUNNEL };

void EXPORT(want_nothing)(void) { want = blm_options_init(); }

void EXPORT(want_number)(enum number which, double v)
{
    uint64_t n = v >= 0 && v < 0x1p64 ? (uint64_t)v : 0;
    switch (which) {
    case ITEMS:
        want.items = n;
        break;
    case RATE:
        want.rate = v;
        break;
    case BITS:
        want.bits = n;
        break;
    case PROBES:
        want.probes = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
        break;
    case LINES:
        want.lines = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
        break;
    case MEMORY:
        want.memory = n;
        break;
    case GROWTH:
        want.growth = v;
        break;
    case TIGHTENING:
        want.tightening = v;
        break;
    case WINDOW_MS:
        want.window_ms = n;
        break;
    case SLACK:
        want.slack = v;
        break;
    case OFFSET:
        want.offset = n;
        break;
    case MAX_BYTES:
        want.max_bytes = n;
        break;
    case VARIANT:
        want.variant = n;
        break;
    case VERSION:
        want.version = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
        break;
    }
}

/* A name that is too long is cut, and then no name at all. */
void EXPORT(want_name)(enum name which, const char *s)
{
    const char **to[] = { &want.scheme, &want.format, &want.funnel };
    size_t       len  = strnlen(s, sizeof names[0] - 1);
    memcpy(names[which], s, len);
    names[which][len] = 0;
    *to[which]        = names[which];
}

void EXPORT(want_seed)(uint64_t low, uint64_t high)
{
    want.flags |= BLM_SEEDED;
    want.seed[0] = low;
    want.seed[1] = high;
}

void EXPORT(want_siphash)(void) { want.hash = BLM_HASH_SIPHASH; }
void EXPORT(want_verify)(void) { want.flags |= BLM_VERIFY; }
void EXPORT(want_like)(const blm_filter *f) { want.like = f; }
bool EXPORT(want_kind)(const char *name) { return blm_kind_from_name(name, &want.kind); }

/* ---- the filter ---- */

static blm_filter *got(blm_status st, blm_filter *f)
{
    fail(st);
    return st == BLM_OK ? f : NULL;
}

blm_filter *EXPORT(create)(void)
{
    blm_filter *f = NULL;
    begin();
    return got(blm_create(&want, &f, &last), f);
}

blm_filter *EXPORT(decode)(const void *bytes, size_t len)
{
    blm_filter *f = NULL;
    begin();
    return got(blm_decode(bytes, len, &want, &f, &last), f);
}

static size_t read_host(void *ctx, void *bytes, size_t len)
{
    (void)ctx;
    return host_read(bytes, len);
}

blm_filter *EXPORT(decode_stream)(void)
{
    blm_filter *f = NULL;
    begin();
    return got(blm_decode_stream(read_host, NULL, &want, &f, &last), f);
}

static bool write_host(void *ctx, const void *bytes, size_t len)
{
    (void)ctx;
    return host_write(bytes, len);
}

int EXPORT(encode)(const blm_filter *f, const char *format)
{
    begin();
    return fail(blm_encode(f, format, write_host, NULL, &last));
}

int EXPORT(encoded_size)(const blm_filter *f, const char *format)
{
    begin();
    return fail(blm_encoded_size(f, format, &length, &last));
}

void EXPORT(drop)(blm_filter *f) { blm_free(f); }

/* One key: what the library returns. */
static int one(blm_status st)
{
    if (st >= BLM_OK)
        return (int)st;
    begin();
    return fail(st);
}

int  EXPORT(add)(blm_filter *f, const void *key, size_t len) { return one(blm_add(f, key, len)); }
bool EXPORT(check)(const blm_filter *f, const void *key, size_t len)
{
    return blm_check(f, key, len);
}
int EXPORT(remove_key)(blm_filter *f, const void *key, size_t len)
{
    return one(blm_remove(f, key, len));
}
double EXPORT(count)(const blm_filter *f, const void *key, size_t len)
{
    return (double)blm_count(f, key, len);
}

/* Keys side by side: of one width, or as `lengths` says. answers: a byte for each. */
#define BATCH 512

static const char *cut(const char *at, const uint32_t *lengths, size_t n, blm_key *keys)
{
    for (size_t i = 0; i < n; i++) {
        keys[i] = (blm_key){ at, lengths[i] };
        at += lengths[i];
    }
    return at;
}

enum work { ADD, CHECK, REMOVE };

static blm_status work_many(blm_filter *f, enum work w, const blm_key *keys, size_t n, uint8_t *out)
{
    if (w == ADD)
        return blm_add_many(f, keys, n, out, NULL);
    if (w == REMOVE)
        return blm_remove_many(f, keys, n, out, NULL);
    blm_check_many(f, keys, n, out);
    return BLM_OK;
}

int EXPORT(many)(blm_filter *f, enum work w, const char *bytes, const uint32_t *lengths,
                 size_t count, uint8_t *answers)
{
    blm_key    keys[BATCH];
    blm_status st = BLM_OK;
    begin();
    for (size_t i = 0; i < count && st >= BLM_OK; i += BATCH) {
        size_t n = count - i < BATCH ? count - i : BATCH;
        bytes    = cut(bytes, lengths + i, n, keys);
        st       = work_many(f, w, keys, n, answers + i);
    }
    return fail(st);
}

/* Strings that were encoded as one: from `lengths` in UTF-16 units to lengths in bytes. False: a
 * character reaches from one into the next, half of it in each, which apart are two. */
bool EXPORT(cut_text)(const uint8_t *bytes, uint32_t *lengths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *start = bytes;
        uint32_t       units = lengths[i];
        while (units) {
            unsigned c = *bytes;
            if (c >= 0xf0 && units < 2)
                return false;
            bytes += c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
            units -= c >= 0xf0 ? 2 : 1;
        }
        lengths[i] = (uint32_t)(bytes - start);
    }
    return true;
}

int EXPORT(fixed)(blm_filter *f, enum work w, const void *bytes, size_t width, size_t count,
                  uint8_t *answers)
{
    begin();
    if (w == ADD)
        return fail(blm_add_fixed(f, bytes, width, count, answers, NULL));
    if (w == REMOVE)
        return fail(blm_remove_fixed(f, bytes, width, count, answers, NULL));
    blm_check_fixed(f, bytes, width, count, answers);
    return BLM_OK;
}

/* A line as -e reads it, in its place. Returns the key's length, or -1: it is not in this
 * encoding. */
double EXPORT(decode_key)(const char *encoding, char *line, size_t len, char *out)
{
    const struct encoding *e   = encoding_find(encoding);
    size_t                 got = len;
    if (!e || (e->decode && !e->decode(line, len, out, &got)))
        return -1;
    if (!e->decode)
        memcpy(out, line, len);
    return (double)got;
}

/* The funnel for keys in this encoding, as the command line chooses it. */
int EXPORT(set_encoding)(blm_filter *f, const char *encoding)
{
    blm_params p = { .size = sizeof p };
    begin();
    blm_get_params(f, &p);
    return fail(blm_set_funnel(f, encoding_funnel(encoding, p.scheme), &last));
}

int EXPORT(positions)(const blm_filter *f, const void *key, size_t len, uint64_t *out, size_t cap)
{
    size_t n = 0;
    begin();
    blm_status st = blm_positions(f, key, len, out, cap, &n);
    return st == BLM_OK ? (int)n : fail(st);
}

/* What each cell holds, layer after layer: a bit, a counter, or 1 for a fingerprint. Returns how many
 * there are. */
double EXPORT(cells)(const blm_filter *f, uint8_t *out, size_t cap)
{
    size_t     n = 0;
    blm_params p = { .size = sizeof p };
    for (uint32_t l = 0; blm_get_layer(f, l, &p) == BLM_OK; l++) {
        uint64_t       bytes = 0;
        const uint8_t *at    = blm_view(f, l, &bytes);
        for (uint64_t i = 0; i < p.bits && n < cap; i++, n++) {
            unsigned value = 0;
            for (uint64_t b = (i + 1) * p.cell_bits; b-- > i * p.cell_bits;)
                value = value << 1 | (at[b / 8] >> b % 8 & 1u);
            out[n] = p.cell_bits <= 4 ? (uint8_t)value : value != 0;
        }
    }
    return (double)n;
}

int EXPORT(add_positions)(blm_filter *f, const uint64_t *positions, size_t n)
{
    begin();
    return fail(blm_add_positions(f, positions, n));
}
bool EXPORT(check_positions)(const blm_filter *f, const uint64_t *positions, size_t n)
{
    return blm_check_positions(f, positions, n);
}

const void *EXPORT(view)(const blm_filter *f, uint32_t layer)
{
    length = 0;
    return blm_view(f, layer, &length);
}

int EXPORT(clear)(blm_filter *f)
{
    begin();
    return fail(blm_clear(f));
}
int EXPORT(set_funnel)(blm_filter *f, const char *name)
{
    begin();
    return fail(blm_set_funnel(f, name, &last));
}
bool EXPORT(equal)(const blm_filter *a, const blm_filter *b) { return blm_equal(a, b); }

enum joining { UNION, INTERSECT };
int EXPORT(join)(blm_filter *f, enum joining how, const blm_filter *other)
{
    begin();
    return fail((how == UNION ? blm_union : blm_intersect)(f, other, &last));
}

/* Another filter from this one. */
enum making { COPY, FOLD, REDUCE };
blm_filter *EXPORT(make)(const blm_filter *f, enum making how, double factor)
{
    blm_filter *out = NULL;
    blm_status  st;
    begin();
    if (how == COPY)
        st = blm_copy(f, &out, &last);
    else if (how == REDUCE)
        st = blm_reduce(f, &out, &last);
    else
        st = blm_fold(f, factor >= 1 && factor < 0x1p63 ? (uint64_t)factor : 0, &out, &last);
    return got(st, out);
}

int EXPORT(fingerprint)(const blm_filter *f, uint8_t *out)
{
    begin();
    return fail(blm_fingerprint(f, out));
}

/* ---- JSON: docs/json.md ---- */

#define MOST_SLICES 4096

/* As info --json, with the fill of `slices` parts. */
int EXPORT(info)(const blm_filter *f, const char *name, size_t slices)
{
    static double fill[MOST_SLICES];
    blm_stats     s = { .size = sizeof s };
    begin();
    blm_status st = blm_get_stats(f, &s);
    if (st != BLM_OK)
        return fail(st);
    slices = slices < MOST_SLICES ? slices : MOST_SLICES;
    slices = slices < s.params.bits ? slices : (size_t)s.params.bits;
    json_open(&text, NULL, '{');
    info_json(&text, name, f, &s, false);
    json_count(&text, "cell_bits", s.params.cell_bits);
    json_count(&text, "line_bytes", s.params.line_bytes);
    json_text(&text, "funnel", s.params.funnel);
    json_count(&text, "can", s.params.can);
    if (slices && blm_fill_map(f, fill, slices) == BLM_OK) {
        json_open(&text, "regions", '[');
        for (size_t i = 0; i < slices; i++)
            json_real(&text, NULL, fill[i]);
        json_close(&text, ']');
    }
    json_close(&text, '}');
    return BLM_OK;
}

int EXPORT(compare)(const blm_filter *a, const blm_filter *b, const char *a_name,
                    const char *b_name)
{
    blm_overlap o = { .size = sizeof o };
    begin();
    blm_status st = blm_compare(a, b, &o, &last);
    if (st == BLM_OK)
        compare_json(&text, a_name, b_name, &o);
    return fail(st);
}

void EXPORT(schemes)(void)
{
    begin();
    schemes_json(&text);
}

/* The formats that these first bytes of `total` may be in, best first. */
void EXPORT(sniff)(const void *head, size_t len, double total)
{
    blm_bid bids[32];
    begin();
    size_t n = blm_sniff(head, len, (uint64_t)total, bids, sizeof bids / sizeof *bids);
    json_open(&text, NULL, '[');
    for (size_t i = 0; i < n && i < sizeof bids / sizeof *bids; i++) {
        json_open(&text, NULL, '{');
        json_text(&text, "format", bids[i].format);
        json_count(&text, "bid", (uint64_t)bids[i].bid);
        json_close(&text, '}');
    }
    json_close(&text, ']');
}

int EXPORT(try_rate)(const blm_filter *f, double trials, uint64_t seed)
{
    blm_trial t = { .size = sizeof t };
    begin();
    blm_status st = blm_try_rate(f, NULL, (uint64_t)trials, seed, &t, &last);
    if (st != BLM_OK)
        return fail(st);
    json_open(&text, NULL, '{');
    json_count(&text, "trials", t.trials);
    json_count(&text, "maybe", t.hits);
    json_real(&text, "measured", t.rate);
    json_real(&text, "low", t.low);
    json_real(&text, "high", t.high);
    json_close(&text, '}');
    return BLM_OK;
}

/* ---- the calculator ---- */

static struct calc calc;

/* As calc --json, from `want`. */
int EXPORT(calculate)(void)
{
    begin();
    calc.asked        = want;
    calc.count        = 0;
    const char *wrong = calc_complete(&calc.asked);
    if (wrong) {
        last.status = BLM_E_ARGUMENT;
        strncpy(last.text, wrong, sizeof last.text - 1);
        return (int)last.status;
    }
    if (!calc_work_out(&calc, &last))
        return fail(BLM_E_ARGUMENT);
    calc_json(&text, &calc);
    return BLM_OK;
}

/* For charts around the row of that number of the last calculation. */
double EXPORT(rate_with)(size_t row, uint32_t probes, double items)
{
    const blm_plan *p = &calc.rows[row].plan;
    return calc_rate(p, probes ? probes : p->probes, (uint64_t)items);
}

double EXPORT(bytes_for)(size_t row, double rate)
{
    return (double)calc_bytes_for(calc.rows[row].plan.kind,
                                  calc.asked.items ? calc.asked.items : calc.rows[row].plan.items,
                                  rate);
}

/* Numbers as the command line reads them; below 0: it does not. */
enum reading { READ_COUNT, READ_SIZE, READ_RATE, READ_TIME };
double EXPORT(read_number)(enum reading how, const char *s)
{
    uint64_t n    = 0;
    double   rate = 0;
    if (how == READ_RATE)
        return parse_rate(s, &rate) ? rate : -1;
    bool (*parse[])(const char *, uint64_t *) = { parse_count, parse_size, NULL, parse_time };
    return parse[how](s, &n) ? (double)n : -1;
}

/* … and writes them. */
enum writing { WRITE_COUNT, WRITE_SIZE, WRITE_RATE, WRITE_SIZE_OPTION };
const char *EXPORT(write_number)(enum writing how, double v)
{
    static char out[NUMBER_TEXT];
    uint64_t    n = v >= 0 && v < 0x1p64 ? (uint64_t)v : 0;
    switch (how) {
    case WRITE_COUNT:
        return count_text(n, out);
    case WRITE_SIZE:
        return size_text(n, out);
    case WRITE_RATE:
        return rate_text(v, out);
    default:
        return size_option_text(n, out);
    }
}
