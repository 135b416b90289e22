/* SPDX-License-Identifier: MIT */
/* Fuse in plain C: the oracle for other kernels. */
#include "core/kernel/fuse.h"

static size_t check(const struct blm__layer *l, const uint64_t *h, size_t n, uint8_t *maybe)
{
    switch (blm__fuse_width(l->shape.cell_bits)) { /* each a loop of its own */
    case 1:
        return blm__fuse_check(l, h, n, maybe, 1);
    case 2:
        return blm__fuse_check(l, h, n, maybe, 2);
    case 4:
        return blm__fuse_check(l, h, n, maybe, 4);
    default:
        return blm__fuse_check(l, h, n, maybe, 8);
    }
}

const struct blm__fuse blm__fuse_portable = { .check = check };
