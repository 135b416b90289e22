/* SPDX-License-Identifier: MIT */
#include "from.h"

#include <string.h>

#include "ref.h"
#include "say.h"

static struct {
    const char        *format, *scheme, *column;
    uint64_t           bits, probes, variant, offset, row_group;
    struct option_seed seed;
} opt = { .row_group = FROM_ALL_GROUPS };

static const struct option rows[] = {
    { "from", 0, OPT_NAME, "F", &opt.format, "The filter's format, if its bytes fit several.",
      format_names },
    { "from-scheme", 0, OPT_NAME, "S", &opt.scheme,
      "The filter's scheme, if its format does not say (raw).", scheme_names },
    { "bits", 'm', OPT_COUNT, "BITS", &opt.bits, "The filter's bits, if its format does not say.",
      NULL },
    { "probes", 'k', OPT_COUNT, "K", &opt.probes,
      "The filter's probes, if its format does not "
      "say.",
      NULL },
    { "seed", 0, OPT_SEED, "S", &opt.seed, "The filter's seed, if its format does not say.", NULL },
    { "variant", 0, OPT_NUMBER, "V", &opt.variant,
      "The variant of the filter's scheme, if its format does not say.", NULL },
    { "offset", 0, OPT_NUMBER, "BYTE", &opt.offset, "Where in the file the filter starts.", NULL },
    { "column", 0, OPT_TEXT, "NAME", &opt.column,
      "The filter of this column of a .parquet file. Names inside a struct are joined by dots. "
      "Lines are read as values of the column's type, unless -e says otherwise.",
      NULL },
    { "row-group", 0, OPT_NUMBER, "N", &opt.row_group,
      "The filter of this row group, counted from 0. Default: check, info and verify take all.",
      NULL },
    OPTION_END,
};
const struct option_group from_group = { "Input filter", rows };

bool from_given(void)
{
    return opt.format || opt.scheme || opt.bits || opt.probes || opt.variant || opt.offset ||
           opt.seed.given || opt.column;
}

const char *from_column(void) { return opt.column; }
uint64_t    from_row_group(void) { return opt.row_group; }

/* A .parquet file says the rest. */
static bool column_alone(const char *text)
{
    if (!opt.column && opt.row_group != FROM_ALL_GROUPS)
        return misuse("--row-group is for a column of a .parquet file: give --column"), false;
    if (!opt.column)
        return true;
    if (opt.format || opt.scheme || opt.bits || opt.probes || opt.variant || opt.offset ||
        opt.seed.given)
        return misuse("--column finds a filter in a .parquet file, which says what it is: remove "
                      "--from and the options next to it"),
               false;
    if (ref_is_stream(text))
        return misuse("a .parquet file is read from its end: give a file, not a pipe"), false;
    return true;
}

bool from_options(const char *text, blm_options *o)
{
    if (from_given() && ref_is_shared(text))
        return misuse("%s: a filter on a server says what it is: remove --from and the options "
                      "next to it",
                      ref_name(text)),
               false;
    if (!column_alone(text))
        return false;
    if (opt.probes > UINT32_MAX)
        return misuse("-k %llu is more than any filter's probes: give a smaller number",
                      (unsigned long long)opt.probes),
               false;
    if (opt.format && strcmp(opt.format, "raw") == 0 && !opt.scheme)
        return misuse("raw bits do not say what they are: give --from-scheme, and -m and -k if "
                      "the scheme does not fix them"),
               false;
    o->format  = opt.format;
    o->scheme  = opt.scheme;
    o->bits    = opt.bits;
    o->probes  = (uint32_t)opt.probes;
    o->variant = opt.variant;
    o->offset  = opt.offset;
    if (opt.seed.given) {
        o->flags |= BLM_SEEDED;
        memcpy(o->seed, opt.seed.word, sizeof o->seed);
    }
    return true;
}

bool from_options_each(const char *text, blm_options *o)
{
    return ref_is_shared(text) || from_options(text, o);
}
