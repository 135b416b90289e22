/* SPDX-License-Identifier: MIT */
/* What build does with its lists, beside cmd_build.c: build_conflict.c names a key that both have. */
#ifndef CLI_BUILD_H
#define CLI_BUILD_H

#include <stdio.h>

#include "bloomery/fixed.h"
#include "keys.h"

/* The hashes of a list that cannot be read again, in its order, in a file without a name. */
struct build_order {
    FILE    *file; /* NULL: nothing is noted */
    uint64_t count;
};

struct build_list {
    const char        *path; /* NULL: there is no such list */
    struct build_order order;
};

/* For struct keys: hashes a batch with the builder `ctx`, in any thread. */
void build_hash(void *ctx, struct batch *b);
/* The keys keep `path`, not only what it points to. */
bool build_open_list(struct keys *k, blm_builder *b, const char **path);

/* Notes nothing for a file, which can be read again. dir: where the notes go; NULL: where temporary
 * files do. Notes are help for a message: if they cannot be written, or there are too many, there
 * are none. */
void build_order_begin(struct build_list *l, const char *dir);
void build_order_note(struct build_order *o, const uint64_t *hashes, size_t count);
void build_order_end(struct build_list *l);

/* After E_CONFLICT. True: two different keys have one hash, and another seed is worth a try. Else it
 * has said which key is in both lists. */
bool build_conflict(blm_builder *b, struct build_list *in, struct build_list *out, bool seeded);

#endif
