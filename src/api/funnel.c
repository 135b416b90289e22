/* SPDX-License-Identifier: MIT */
/* The funnel of a filter that is there already: most files do not say through which their keys
 * came, and whoever opens one learns its scheme, and with it the funnels, only then. */
#include "api/filter.h"

blm_status blm__keeps_funnel(const struct blm__body *b, const char *recorded, blm_error *err)
{
    const char *const *all = b->scheme->row.funnels;
    if (!recorded && all)
        recorded = all[0];
    if (b->store->backing != BLM_FILE_WRITE || b->hasher.funnel == recorded)
        return BLM_OK;
    return blm__fail_with(err, BLM_E_UNSUPPORTED,
                          "open it to read, choose the funnel, and save it as another file "
                          "(bloomery convert --to native --funnel NAME)",
                          "keys that are added to this file go by the funnel that it records, %s, "
                          "not by %s",
                          recorded, b->hasher.funnel);
}

blm_status blm_set_funnel(blm_filter *f, const char *name, blm_error *err)
{
    struct blm__hasher *h   = &f->body.hasher;
    const char         *was = h->funnel;
    h->funnel               = NULL; /* so that NULL is the scheme's first */
    blm_status st           = blm__choose_funnel(h, f->body.scheme, name, err);
    if (st == BLM_OK)
        st = blm__keeps_funnel(&f->body, was, err);
    if (st != BLM_OK)
        h->funnel = was;
    else
        blm__hasher_tag(h, &f->body.layers[0].shape);
    return st;
}
