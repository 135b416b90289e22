/* SPDX-License-Identifier: MIT */
#include "from.h"

#include <string.h>

#include "ref.h"
#include "say.h"

static struct {
    const char        *format, *scheme;
    uint64_t           bits, probes, variant, offset;
    struct option_seed seed;
} opt;

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
    OPTION_END,
};
const struct option_group from_group = { "Input filter", rows };

static bool any(void)
{
    return opt.format || opt.scheme || opt.bits || opt.probes || opt.variant || opt.offset ||
           opt.seed.given;
}

bool from_options(const char *text, blm_options *o)
{
    if (any() && ref_is_shared(text))
        return misuse("%s: a filter on a server says what it is: remove --from and the options "
                      "next to it",
                      ref_name(text)),
               false;
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
