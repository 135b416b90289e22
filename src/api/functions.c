/* SPDX-License-Identifier: MIT */
/* What the caller brings of a filter's hashing: the functions of scheme "functions", and whole
 * lists of positions. */
#include "api/filter.h"
#include "bloomery/embed.h"

bool blm__name_fits(const char *name)
{
    size_t len = 0;
    while (name && len < 16 && name[len] > 0x20 && name[len] < 0x7f)
        len++;
    return len > 0 && len < 16 && !name[len];
}

blm_status blm__new_functions(struct blm__hasher *h, const blm_options *o, blm_error *err)
{
    if (!o->probe_fn)
        return blm__fail(err, BLM_E_ARGUMENT,
                         "scheme functions needs options.probe_fn: only a program can make it");
    if (!blm__name_fits(o->hash_name))
        return blm__fail(
            err, BLM_E_ARGUMENT,
            "scheme functions needs options.hash_name, 1 to 15 printable characters of "
            "ASCII without spaces, so that files can say which functions they are");
    h->id = BLM_HASH_CUSTOM;
    strcpy(h->name, o->hash_name);
    h->probe = o->probe_fn;
    h->ctx   = o->probe_ctx;
    return BLM_OK;
}

blm_status blm__old_functions(struct blm__hasher *h, const blm_options *o, blm_error *err)
{
    /* Bits alone have no name: the caller's is as good as any. */
    bool same = blm__name_fits(o->hash_name) && (!h->name[0] || strcmp(o->hash_name, h->name) == 0);
    if (!o->probe_fn || !same)
        return blm__fail(err, BLM_E_HASH,
                         "the filter was made with the functions %s: give them in "
                         "options.probe_fn and hash_name",
                         h->name[0] ? h->name : "of somebody's own");
    return blm__new_functions(h, o, err);
}

/* ---- positions ---- */

blm_status blm_add_positions(blm_filter *f, const uint64_t *pos, size_t count)
{
    struct blm__body  *b      = &f->body;
    struct blm__layer *l      = &b->layers[0];
    unsigned           is_new = 0;
    if (!pos && count)
        return BLM_E_ARGUMENT;
    if (b->read_only)
        return BLM_E_READONLY;
    if (blm__grows(b) || !l->engine->use) /* which layer a key goes to is not the caller's to say */
        return BLM_E_UNSUPPORTED;
    for (size_t i = 0; i < count; i++)
        if (pos[i] >= l->shape.bits)
            return BLM_E_ARGUMENT;
    if (count == 0)
        return BLM_PRESENT;
    for (size_t i = 0; i < count; i++)
        is_new |= l->engine->use(b, l, pos[i]);
    if (is_new || l->engine->remove) /* every add counts where every add can be taken back */
        blm__layer_count(l, 1);
    return is_new ? BLM_OK : BLM_PRESENT;
}
