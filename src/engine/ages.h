/* SPDX-License-Identifier: MIT */
/* What the window kind, and the public calls about windows, ask of a layer of ages. */
#ifndef BLM_ENGINE_AGES_H
#define BLM_ENGINE_AGES_H

#include "core/ages.h"
#include "engine/engine.h"

/* What a layer by time goes by: its clock, up to the last moment that its state can hold. There time
 * stands still, and nothing is forgotten any more. */
uint64_t blm__ages_time(const struct blm__layer *l);
/* Where a layer by time stands at `now` (ms, of such a time). */
struct blm__clocked {
    uint64_t began;  /* when the turn of that moment began */
    uint64_t turn;   /* its number mod 2^20 */
    uint32_t passed; /* turns since the one that the layer has written down */
    uint64_t behind; /* by how much `now` lies before that one: then time stands still */
};
struct blm__clocked blm__ages_clock(const struct blm__layer *l, uint64_t now);
/* The turn of this moment. */
struct blm__age_turn blm__ages_now(const struct blm__layer *l);
/* After a power cut, before the first add. Reads every word. */
void blm__ages_mend(struct blm__layer *l);
/* Before the first add to what was read from elsewhere. */
void blm__ages_begin(struct blm__layer *l);
/* Keys added `age` turns ago; cells in use then, and how many keys they tell of. */
uint64_t blm__age_adds(const struct blm__layer *l, const struct blm__age_turn *t, uint32_t age);
uint64_t blm__age_look(const struct blm__layer *l, const struct blm__age_turn *t, uint32_t age,
                       blm_estimate *keys);
/* Has an age more keys than the rate is planned for? */
bool blm__ages_crowded(const struct blm__layer *l);
/* dst also has what src has, at the age that it has there. Exclusive. */
void blm__ages_unite(struct blm__layer *dst, const struct blm__layer *src);

#endif
