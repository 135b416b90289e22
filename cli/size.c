/* SPDX-License-Identifier: MIT */
#include "size.h"

#include "bloomery/maths.h"
#include "numbers.h"
#include "say.h"

struct size_options size_options;

static const struct option rows[] = {
    { "items", 'n', OPT_COUNT, "N", &size_options.items, "How many keys to expect.", NULL },
    { "rate", 'p', OPT_RATE, "P", &size_options.rate,
      "The share of absent keys that may be "
      "answered \"maybe\".",
      NULL },
    { "bits", 'm', OPT_COUNT, "BITS", &size_options.bits,
      "How many bits the filter has (for counting: counters).", NULL },
    { "probes", 'k', OPT_COUNT, "K", &size_options.probes, "Probes: how many bits a key sets.",
      NULL },
    { "memory", 0, OPT_SIZE, "SIZE", &size_options.memory, "Bytes the filter may take, like 64M.",
      NULL },
    OPTION_END,
};
const struct option_group size_group = { "Size", rows };

bool size_given(void)
{
    const struct size_options *s = &size_options;
    return s->items || s->rate > 0 || s->bits || s->probes || s->memory;
}

bool size_fill(blm_options *o)
{
    const struct size_options *s = &size_options;
    if (s->probes > UINT32_MAX) {
        misuse("-k %llu is more than any filter's probes: give a smaller number",
               (unsigned long long)s->probes);
        return false;
    }
    o->items  = s->items;
    o->rate   = s->rate;
    o->bits   = s->bits;
    o->probes = (uint32_t)s->probes;
    o->memory = s->memory;
    if (s->kind)
        blm_kind_from_name(s->kind, &o->kind);
    return true;
}

bool size_fits(const blm_options *o, double usual, const char *things, blm_plan *out)
{
    blm_plan    need = { .size = sizeof need };
    blm_error   err;
    blm_options strict = *o;
    char        size[NUMBER_TEXT], items[NUMBER_TEXT], rate[NUMBER_TEXT], more[NUMBER_TEXT];
    *out = (blm_plan){ .size = sizeof *out };
    if (blm_plan_for(o, out, &err) != BLM_OK)
        return filter_trouble(NULL, &err), false;
    strict.memory = 0;
    strict.rate   = o->rate > 0 ? o->rate : usual;
    if (!o->items || blm_plan_for(&strict, &need, &err) != BLM_OK)
        return true;
    out->bytes_needed = need.bytes;
    if (out->fits && (o->rate > 0 || out->rate <= SIZE_WORST))
        return true;
    trouble("%s cannot hold %s %s at a rate of %s: give --memory %s, or a %s",
            size_text(o->memory, size), count_text(o->items, items), things,
            rate_text(strict.rate, rate), size_option_text(need.bytes, more),
            o->kind == BLM_WINDOW && !o->window_ms ? "shorter window" : "smaller -n");
    return false;
}
