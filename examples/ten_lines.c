/* SPDX-License-Identifier: MIT */
/* The ten lines of the README: a filter for a million keys that is wrong for one absent key in a
 * hundred, and never for a present one. */
#include <bloomery.h>
#include <stdio.h>

int main(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.items       = 1000000;
    o.rate        = 0.01;
    blm_filter *f;
    if (blm_create(&o, &f, NULL) != BLM_OK)
        return 1;
    blm_add(f, "tuesday", 7);
    printf("tuesday: %s\n", blm_check(f, "tuesday", 7) ? "maybe" : "no");
    printf("friday:  %s\n", blm_check(f, "friday", 6) ? "maybe" : "no");
    blm_free(f);
    return 0;
}
