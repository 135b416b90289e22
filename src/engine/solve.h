/* SPDX-License-Identifier: MIT */
/*
 * Works out the cells of a small part of a fuse layer where taking keys away (engine/peel.h) stops short:
 * with fewer cells, some keys share all of theirs with others. Such a key is set aside, and the
 * taking away goes on without it. In the end every cell that was taken follows from those that were not,
 * and the keys set aside are equations between the latter alone: few enough to be solved by
 * elimination. So 1.04 to 1.15 cells a key do, at any number of keys, where taking away alone needs 1.2
 * to 2.4. The filter is asked in the same way, whichever of the two found its cells.
 *
 * It takes time and memory that grow faster than the keys: 20,000 of them take 2 ms a try and 5 MB.
 */
#ifndef BLM_ENGINE_SOLVE_H
#define BLM_ENGINE_SOLVE_H

#include "engine/peel.h"

#define BLM__SOLVE_NONE BLM_E_FULL /* with this factor there is no solution */

/* Memory for tries of one part, which the next try uses again. Begins as zeroes. */
struct blm__solve_room {
    struct blm__block block[3];
    uint64_t          bytes[3];
};
void blm__solve_free(const blm_allocator *a, struct blm__solve_room *room);

/* The cells' values, by cell, for a part with fingerprints of `bits` bits. BLM_E_MEMORY, or
 * BLM__SOLVE_NONE: `values` is then anything. */
blm_status blm__solve_part(const blm_allocator *a, struct blm__solve_room *room,
                           const struct blm__fuse_keys *k, struct blm__fuse_size size,
                           uint64_t parts, uint32_t bits, uint64_t factor, uint32_t *values);

#endif
