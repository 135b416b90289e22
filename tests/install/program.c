/* SPDX-License-Identifier: MIT */
/* A user's program, built against the installed tree: as C, and renamed .cc as C++. */
#include <bloomery.h>
#include <stdio.h>

int main(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.items       = 1000;
    o.rate        = 0.001;
    blm_filter *f;
    if (blm_create(&o, &f, NULL) != BLM_OK || blm_add(f, "key", 3) != BLM_OK)
        return 1;
    printf("%s %d\n", blm_version(), blm_check(f, "key", 3));
    blm_free(f);
    return 0;
}
