/* SPDX-License-Identifier: MIT */
/* info: shows what a filter is, what is in it, and what state it is in. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bloomery/fixed.h"
#include "command.h"
#include "decode.h"
#include "escape.h"
#include "from.h"
#include "json.h"
#include "memory.h"
#include "numbers.h"
#include "out.h"
#include "parquet.h"
#include "plot.h"
#include "ref.h"
#include "report.h"
#include "say.h"
#include "spread.h"
#include "window.h"

static struct {
    bool json, plot;
} opt;

static const struct option rows[] = {
    { "json", 0, OPT_FLAG, NULL, &opt.json,
      "Print JSON instead of text, an object for each filter.", NULL },
    { "plot", 0, OPT_FLAG, NULL, &opt.plot,
      "Draw how full each part of the filter is. A healthy filter is even.", NULL },
    OPTION_END,
};
static const struct option_group        own      = { "Output", rows };
static const struct option_group *const groups[] = { &own, &from_group, NULL };

static const char *writer_words(const struct ref *r, const blm_params *p)
{
    switch (p->writer) {
    case BLM_WRITER_LIVE:
        return "a process has it open for writing";
    case BLM_WRITER_DIED:
        return "a process died while writing; the keys it added are in the file";
    case BLM_WRITER_CRASH:
        return "the machine went down while a process was writing; the keys before its last sync "
               "are in the file";
    default:
        if (strcmp(p->format, "native") != 0 && !ref_is_shared(r->text))
            return "none: this format has no writers";
        if (p->unclosed)
            return "none; it may have keys that are not counted: a writer did not close it, or was "
                   "there while it was read, or it came from a format without a count";
        return ref_is_shared(r->text)        ? "none: it is a key on a server"
               : p->backing == BLM_FILE_READ ? "closed properly"
                                             : "none: it was read from a stream";
    }
}

/* Share of a layer's bits that are set. */
static double layer_fill(const blm_filter *f, uint32_t layer, uint64_t bits)
{
    uint64_t    bytes = 0, ones = 0;
    const char *p = blm_view(f, layer, &bytes);
    for (uint64_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, p + i, bytes - i < 8 ? (size_t)(bytes - i) : 8);
        ones += (unsigned)__builtin_popcountll(word);
    }
    return (double)ones / (double)bits;
}

/* ---- words ---- */

static void row(const char *label) { out_print("  %-12s", label); }

/* What a node adds to the filter when it matches. */
static void show_flags(const blm_params *p)
{
    static const char *const adds[] = { "nothing", "every matched output",
                                        "matched outputs that pay to a key or to several" };
    if (strcmp(p->scheme, "bip37") != 0)
        return;
    row("flags");
    out_print("%llu: a match adds %s\n", (unsigned long long)p->variant,
              (p->variant & 3) < 3 ? adds[p->variant & 3] : "nothing (unknown flags)");
}

/* Are its cells counters? */
static bool counts(const blm_params *p)
{
    return p->cell_bits > 1 && p->can & BLM_CAN_REMOVE && !(p->can & BLM_CAN_FILL_UP);
}

static void show_size(const blm_filter *f, const blm_params *p)
{
    char bits[NUMBER_TEXT], size[NUMBER_TEXT], keys[NUMBER_TEXT], rate[NUMBER_TEXT];
    if (!(p->can & BLM_CAN_ADD)) {
        row("size");
        out_print("%s, %s cells, %.2f bits a key\n", size_text(p->bytes, size),
                  count_text(p->bits, bits),
                  p->items ? 8 * (double)p->bytes / (double)p->items : 0);
        return;
    }
    row("size");
    out_print("%s, %s ", size_text(p->bytes, size), count_text(p->bits, bits));
    if (p->cell_bits > 1)
        out_print("%s of %u bits\n", counts(p) ? "counters" : "fingerprints",
                  (unsigned)p->cell_bits);
    else
        out_print("bits\n");
    row("probes");
    out_print("%u", (unsigned)p->probes);
    if (p->lines)
        out_print(" in %u line%s of %u bytes", (unsigned)p->lines, p->lines == 1 ? "" : "s",
                  (unsigned)p->line_bytes);
    out_print("\n");
    row("planned for");
    if (p->capacity)
        out_print("%s", plural_text(p->capacity, "key", keys));
    else
        out_print("not known");
    if (p->rate > 0)
        out_print(" at a rate of %s", rate_text(p->rate, rate));
    double broken = broken_rate(f, p);
    if (broken > 0)
        out_print(", but then it is about %s", rate_text(broken, rate));
    if (p->can & BLM_CAN_GROW)
        out_print(", then grows by %.3g", p->growth);
    out_print("\n");
}

/* A filter that was built at once: from what, and what it answers for other keys. */
static void show_fixed(const blm_filter *f, const blm_stats *s)
{
    blm_fixed x = { .size = sizeof x };
    char      in[NUMBER_TEXT], out[NUMBER_TEXT], rate[NUMBER_TEXT], promised[NUMBER_TEXT];
    blm_get_fixed(f, &x);
    row("built from");
    out_print("%s", plural_text(x.included, "key", in));
    if (s->params.kind == BLM_CASCADE)
        out_print(" and %s excluded: no errors on either", plural_text(x.excluded, "key", out));
    out_print("\n");
    row("levels");
    if (x.print_bits)
        out_print("fingerprints of %u bit%s%s", (unsigned)x.print_bits,
                  x.print_bits == 1 ? "" : "s", x.levels > 1 ? ", then " : "\n");
    if (s->params.kind == BLM_CASCADE)
        out_print("one bit for each of %s\n", plural_text(x.included + x.passed, "key", out));
    row("other keys");
    out_print("maybe at a rate of %s", rate_text(x.rate, rate));
    if (s->params.rate > 0 && s->params.rate != x.rate)
        out_print(", promised %s", rate_text(s->params.rate, promised));
    out_print("\n");
}

static void show_contents(const blm_stats *s)
{
    const blm_params   *p = &s->params;
    const blm_estimate *e = &s->estimated;
    char                count[NUMBER_TEXT], low[NUMBER_TEXT], high[NUMBER_TEXT], rate[NUMBER_TEXT];
    row("keys");
    if ((p->items || s->ones == 0) && p->probes)
        out_print("%s added, ", count_text(p->items, count));
    if (e->saturated && p->probes == 0)
        out_print("not known: it asks for no bit\n");
    else if (e->saturated)
        out_print("at least %s: every bit is set, so the bits do not say how many\n",
                  count_text((uint64_t)fmax(e->low, 0), low));
    else
        out_print("%s from the bits (%s to %s, 95%%)\n",
                  count_text((uint64_t)llround(e->value), count),
                  count_text((uint64_t)llround(fmax(e->low, 0)), low),
                  count_text((uint64_t)llround(e->high), high));
    row("fill");
    out_print("%.4g%%", s->fill * 100);
    if (s->stuck)
        out_print(", %s counters are full and never count down", count_text(s->stuck, count));
    out_print("\n");
    row("rate now");
    out_print("%s", rate_text(s->rate_now, rate));
    if (p->rate > 0)
        out_print(s->overfilled ? ", above the promised %s: it holds too many keys"
                                : ", promised %s",
                  rate_text(p->rate, rate));
    out_print("\n");
}

static void show_machinery(const struct ref *r, const blm_params *p)
{
    row("seed");
    if (p->seed_policy == BLM_SEED_FIXED && ref_is_shared(r->text))
        out_print("not shown: the server may have drawn it\n");
    else if (p->seed_policy == BLM_SEED_FIXED && p->seed[1])
        out_print("fixed, 0x%016llx%016llx\n", (unsigned long long)p->seed[1],
                  (unsigned long long)p->seed[0]);
    else if (p->seed_policy == BLM_SEED_FIXED)
        out_print("fixed, 0x%llx\n", (unsigned long long)p->seed[0]);
    else if (p->seed_policy == BLM_SEED_RANDOM)
        out_print("random%s\n",
                  p->can & BLM_CAN_ADD ? "; create --like gives another filter the same seed" : "");
    else
        out_print("none\n");
    row("format");
    out_print("%s%s\n", p->format, p->backing == BLM_FILE_READ ? ", mapped" : "");
    row("writer");
    out_print("%s\n", writer_words(r, p));
    row("kernel");
    out_print("%s, %shuge pages\n", p->kernel, p->huge_pages ? "" : "no ");
}

static void show_layers(const blm_filter *f, const blm_params *whole)
{
    if (!(blm_kind_find(whole->kind)->can & BLM_CAN_GROW))
        return;
    out_print("\n  %5s  %-8s  %10s  %14s  %14s  %6s  %8s  %6s\n", "layer", "kind", "size", "keys",
              "of", "probes", "rate", "fill");
    for (uint32_t i = 0; i < whole->layers; i++) {
        blm_params p = { .size = sizeof p };
        char       size[NUMBER_TEXT], keys[NUMBER_TEXT], room[NUMBER_TEXT], rate[NUMBER_TEXT];
        if (blm_get_layer(f, i, &p) != BLM_OK)
            return;
        out_print("  %5u  %-8s  %10s  %14s  %14s  %6u  %8s  %5.1f%%\n", (unsigned)i + 1,
                  blm_kind_name(p.kind), size_text(p.bytes, size), count_text(p.items, keys),
                  count_text(p.capacity, room), (unsigned)p.probes, rate_text(p.rate, rate),
                  layer_fill(f, i, p.bits) * 100);
    }
}

static void show(const struct ref *r, const blm_stats *s)
{
    const blm_params     *p      = &s->params;
    const blm_scheme_row *scheme = blm_scheme_find(p->scheme);
    out_print("%s\n", shown(r->name));
    row("kind");
    out_print("%s: %s\n", blm_kind_name(p->kind), blm_kind_find(p->kind)->summary);
    row("scheme");
    out_print("%s, version %u%s%s%s%s\n", p->scheme, (unsigned)p->scheme_version,
              strcmp(p->hash, p->scheme) == 0 ? "" : ", hash ",
              strcmp(p->hash, p->scheme) == 0 ? "" : p->hash, funnel_said(p) ? ", funnel " : "",
              funnel_said(p) ? p->funnel : "");
    show_flags(p);
    show_size(r->filter, p);
    window_show(r->filter);
    if (p->can & BLM_CAN_ADD)
        show_contents(s);
    else
        show_fixed(r->filter, s);
    show_machinery(r, p);
    if (p->notice) {
        row("notice");
        out_print("%s\n", p->notice);
    }
    if (scheme && scheme->faults) {
        row("faults");
        out_print("%s\n", scheme->faults);
    }
    if (scheme_warning(p->scheme)) {
        row("warning");
        out_print("%s\n", scheme_warning(p->scheme));
    }
    show_layers(r->filter, p);
}

static void show_plot(const double *fill, size_t count, const blm_params *p)
{
    char size[NUMBER_TEXT];
    out_print("\n%*sfill over the filter\n", PLOT_LABEL, "");
    plot_bars(fill, count, "0", size_text(p->bytes, size));
}

/* ---- JSON: docs/json.md ---- */

static void show_json(const struct ref *r, const blm_stats *s, const double *fill, size_t count)
{
    struct json j = JSON_INIT;
    json_open(&j, NULL, '{');
    info_json(&j, r->name, r->filter, s, ref_is_shared(r->text));
    if (fill) {
        json_open(&j, "regions", '[');
        for (size_t i = 0; i < count; i++)
            json_real(&j, NULL, fill[i]);
        json_close(&j, ']');
    }
    json_close(&j, '}');
    out_bytes(j.text, j.len);
    json_free(&j);
}

/* ---- the command ---- */

static bool info(const char *text, bool first)
{
    struct ref  r;
    blm_options o = BLM_OPTIONS_INIT;
    blm_stats   s = { .size = sizeof s };
    double      fill[PLOT_MOST];
    size_t      slices = plot_width() - PLOT_LABEL;
    if (spread_is(text))
        return spread_info(text, opt.json);
    if (!from_options(text, &o))
        return false;
    if (parquet_lists(text, &o)) {
        if (!first && !opt.json)
            out_print("\n");
        return parquet_list(text, opt.json);
    }
    if (!ref_open(&r, text, &o))
        return false;
    blm_get_stats(r.filter, &s);
    if (slices > s.params.bits)
        slices = (size_t)s.params.bits;
    bool map = opt.plot && blm_fill_map(r.filter, fill, slices) == BLM_OK;
    if (opt.json) {
        show_json(&r, &s, map ? fill : NULL, slices);
    } else {
        if (!first)
            out_print("\n");
        show(&r, &s);
        if (opt.plot && !window_plot(r.filter) && map)
            show_plot(fill, slices, &s.params);
    }
    ref_drop(&r);
    return true;
}

static int run(int count, char **operands)
{
    int shown_before = 0, dashes = 0;
    for (int i = 0; i < count; i++)
        dashes += ref_is_stdin(operands[i]);
    if (dashes > 1)
        return misuse("only one filter can come from standard input: give the others as files");
    for (int i = 0; i < count; i++)
        shown_before += info(operands[i], shown_before == 0);
    return shown_before == count ? EXIT_YES : EXIT_TROUBLE;
}

static const char *const usage[] = {
    "FILTER... [--plot] [--json]",
    "FILTER... --from F [--from-scheme S] [--offset BYTE]",
    "FILE.parquet [--column NAME [--row-group N]]",
    NULL,
};
static const char *const about[] = {
    "Shows what a filter is and what is in it: its kind, scheme and size, how many keys were "
    "added and how many the bits suggest, how full it is, and its rate now.",
    "The number of keys from the bits is an estimate with its 95% interval. The rate now is "
    "computed from the bits, not the promised rate. info says so if a filter holds more keys than "
    "it was planned for. A warning says where a filter's scheme has no secret seed, so that "
    "whoever can "
    "choose keys can fill it or make keys that pass.",
    "Of several filters each is shown, with --json as one object after another. One that cannot be "
    "read is named, the others are shown, and the exit status is 2.",
    "info reads every bit once. It can be used while another process is writing to the filter.",
    "The format is detected from the bytes. If they fit several formats, or are only bits (raw), "
    "say what they are with --from and the options next to it.",
    "Of a .parquet file info lists the columns and their filters: row group, rows, and where in "
    "the file the filter is. --column lists one column, and --row-group then shows one filter.",
    NULL,
};
static const struct example examples[] = {
    { "bloomery info seen.blm", "Show everything" },
    { "bloomery info --json seen.blm | jq .rate_now", "Get one number for a script" },
    { "bloomery info --plot seen.blm", "See whether it is evenly filled" },
    { "bloomery info --from guava --offset 512 archive", "Show a filter inside another file" },
    { "bloomery info orders.parquet", "List the filters of a Parquet file" },
    { NULL, NULL },
};

const struct command cmd_info = {
    .name     = "info",
    .summary  = "show what a filter is and what is in it",
    .usage    = usage,
    .about    = about,
    .options  = groups,
    .examples = examples,
    .operand  = "filter",
    .least    = 1,
    .most     = -1,
    .run      = run,
};
