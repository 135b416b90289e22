/* SPDX-License-Identifier: MIT */
/* The funnel of a filter that is there already: most files do not say through which their keys
 * came, and whoever opens one learns its scheme, and with it the funnels, only then. */
#include "api/filter.h"

blm_status blm_set_funnel(blm_filter *f, const char *name, blm_error *err)
{
    struct blm__hasher *h   = &f->body.hasher;
    const char         *was = h->funnel;
    h->funnel               = NULL; /* so that NULL is the scheme's first */
    blm_status st           = blm__choose_funnel(h, f->body.scheme, name, err);
    if (st != BLM_OK)
        h->funnel = was;
    else
        blm__hasher_tag(h, &f->body.layers[0].shape);
    return st;
}
