/* SPDX-License-Identifier: MIT */
/* Room for bytes that are appended to others. Small ones get exactly what they need, and a byte, so that
 * sanitizers see who reads past the end; large ones grow by doubling, since a sanitizer's realloc always
 * copies, and an encoder's thousands of pieces took ten seconds. */
#ifndef BLM_TESTS_APPEND_H
#define BLM_TESTS_APPEND_H

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

#define APPEND_EXACT ((size_t)1 << 16)

/* What is to be kept in place of `old`, with room for `wanted` bytes and one more; NULL: no memory. Inlined,
 * gcc 12 takes it to write out of bounds where `old` is seen to be NULL. */
__attribute__((noinline, unused)) static void *append_room(void *old, size_t wanted)
{
    size_t room = wanted + 1;
    if (room > APPEND_EXACT) {
        if (old && malloc_usable_size(old) >= room)
            return old;
        room *= 2;
    }
    return realloc(old, room);
}

#endif
