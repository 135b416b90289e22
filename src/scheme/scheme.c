/* SPDX-License-Identifier: MIT */
/* The table of schemes. A new one is a file beside this one and a row here. */
#include "scheme/scheme.h"

#include <string.h>

#include "core/error.h"

static const struct blm__scheme *const schemes[] = {
    &blm__scheme_native,    &blm__scheme_guava64,    &blm__scheme_guava32,
    &blm__scheme_go,        &blm__scheme_spark1,     &blm__scheme_spark2,
    &blm__scheme_dcso,      &blm__scheme_dcso01,     &blm__scheme_bip37,
    &blm__scheme_parquet,   &blm__scheme_redisbloom, &blm__scheme_redisbloom_cf,
    &blm__scheme_byteslot,  &blm__scheme_polynomial, &blm__scheme_md5_cat,
    &blm__scheme_md5_or,    &blm__scheme_fnv_murmur, &blm__scheme_bkdr,
    &blm__scheme_js,        &blm__scheme_rs,         &blm__scheme_bkdr_js_rs,
    &blm__scheme_functions,
};

/* What people say when they do not say which version: the one that the original makes today. */
static const struct {
    const blm_scheme_row     *row;
    const struct blm__scheme *means;
} aliases[] = {
    { &blm__alias_guava, &blm__scheme_guava64 },
    { &blm__alias_spark, &blm__scheme_spark2 },
};

#define COUNT   (sizeof schemes / sizeof *schemes)
#define ALIASES (sizeof aliases / sizeof *aliases)

const struct blm__scheme *blm__scheme_find(const char *name)
{
    if (!name)
        return &blm__scheme_native;
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(schemes[i]->row.name, name) == 0)
            return schemes[i];
    for (size_t i = 0; i < ALIASES; i++)
        if (strcmp(aliases[i].row->name, name) == 0)
            return aliases[i].means;
    return NULL;
}

const blm_scheme_row *blm_scheme_at(size_t i)
{
    if (i < COUNT)
        return &schemes[i]->row;
    return i - COUNT < ALIASES ? aliases[i - COUNT].row : NULL;
}

const blm_scheme_row *blm_scheme_find(const char *name)
{
    const blm_scheme_row *row;
    for (size_t i = 0; (row = blm_scheme_at(i)) != NULL; i++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

blm_status blm__check_variant(const struct blm__scheme *s, const blm_options *o, blm_error *err)
{
    if (o->variant == 0 || s->variants)
        return BLM_OK;
    return blm__fail(err, BLM_E_ARGUMENT, "scheme %s has no variants", s->row.name);
}

uint64_t blm__modulus_m(const struct blm__shape *s) { return s->bits; }

uint64_t blm__reduce_m(const struct blm__shape *s, uint64_t raw) { return raw % s->bits; }

void blm__positions_m(const struct blm__shape *s, const blm_digest *d, uint64_t *out)
{
    s->scheme->positions_raw(s, d, out);
    for (uint32_t i = 0; i < s->probes; i++)
        out[i] %= s->bits;
}

uint64_t blm__shape_reach(const struct blm__shape *s)
{
    return s->scheme->reach ? s->scheme->reach(s) : s->bits;
}

static uint64_t absorb(uint64_t t, const char *text)
{
    for (; *text; text++)
        t = blm__mix64(t + (uint8_t)*text + 1);
    return blm__mix64(t);
}

void blm__hasher_tag(struct blm__hasher *h, const struct blm__shape *s)
{
    h->variant = s->variant & s->scheme->digest_variant;
    uint64_t t = absorb(0, s->scheme->row.name) + h->version;
    t          = absorb(t, h->name);
    t          = absorb(t, h->funnel ? h->funnel : "");
    t          = blm__mix64(t ^ h->seed[0]);
    t          = blm__mix64(t ^ h->seed[1]);
    t          = h->variant ? blm__mix64(t ^ h->variant) : t;
    h->tag     = t ? t : 1;
}
