/* SPDX-License-Identifier: MIT */
#include "add.h"

#include "interrupt.h"
#include "numbers.h"
#include "progress.h"
#include "say.h"

bool add_all(struct ref *r, struct keys *k, struct added *a)
{
    struct batch b;
    uint8_t      fresh[KEYS_BATCH];
    bool         good = true;
    *a                = (struct added){ 0 };
    progress_start("keys", k->total);
    while (good && keys_next(k, &b)) {
        size_t done = 0;
        good        = ref_add(r, b.keys, b.count, fresh, &done);
        a->keys += done;
        for (size_t i = 0; i < done; i++)
            a->fresh += fresh[i];
        progress_tick(a->keys, k->bytes);
    }
    progress_stop();
    return good && !k->failed && !interrupted();
}

void add_warn_overfilled(struct ref *r)
{
    blm_params p = { .size = sizeof p };
    blm_stats  s = { .size = sizeof s };
    if (r->remote || blm_get_params(r->filter, &p) != BLM_OK || p.kind == BLM_SCALABLE ||
        p.capacity == 0 || p.items <= p.capacity || say_quiet ||
        blm_get_stats(r->filter, &s) != BLM_OK || !(s.rate_now > p.rate) || p.rate == 0)
        return;
    char items[NUMBER_TEXT], room[NUMBER_TEXT], was[NUMBER_TEXT], is[NUMBER_TEXT];
    say("%s has %s keys and was made for %s: its rate is %s now, not %s: make a larger one",
        r->name, count_text(p.items, items), count_text(p.capacity, room),
        rate_text(s.rate_now, is), rate_text(p.rate, was));
}

int add_report(const char *name, const struct added *a, bool good)
{
    char keys[NUMBER_TEXT], fresh[NUMBER_TEXT];
    plural_text(a->keys, "key", keys);
    count_text(a->fresh, fresh);
    if (interrupted())
        return trouble("interrupted after %s; %s is valid and has what was added: the same input "
                       "can be added again",
                       keys, name);
    if (!good)
        return trouble("stopped after %s; %s is valid and has what was added", keys, name);
    say("%s: %s added, %s new", name, keys, fresh);
    return EXIT_YES;
}
