/* SPDX-License-Identifier: MIT */
/* Waiting for those inside: see epoch.h. */
#include "guard/epoch.h"

#include "guard/step.h"

_Static_assert(1u << (64 - 59) == BLM__EPOCH_STRIPES, "the shift in blm__stripe_here");

/* Out is read before in. If they agree, nobody was inside when out had been read: in is never behind
 * out, neither goes back, and in has not passed the out we saw even now. */
static bool empty(struct blm_epoch_stripe *s, unsigned phase)
{
    uint64_t out = 0;
    for (unsigned how = 0; how < BLM__LEFT_WAYS; how++)
        out += atomic_load(&s->out[how][phase]);
    return out == atomic_load(&s->in[phase]);
}

void blm__epoch_wait(struct blm_epoch *e)
{
    for (int turn = 0; turn < 2; turn++) {
        unsigned old = (unsigned)(atomic_fetch_add(&e->phase, 1) & 1);
        for (unsigned i = 0; i < BLM__EPOCH_STRIPES; i++)
            for (unsigned tries = 0; !empty(&e->stripe[i], old); tries++)
                blm__pause(tries);
    }
}

uint64_t blm__epoch_count(struct blm_epoch *e, enum blm_left how)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < BLM__EPOCH_STRIPES; i++)
        n += atomic_load(&e->stripe[i].out[how][0]) + atomic_load(&e->stripe[i].out[how][1]);
    return n;
}
