/* SPDX-License-Identifier: MIT */
/* A mapped native file, between the files that handle it: file.c (open, create, close), file_load.c
 * (from bytes to layers), file_layers.c (layers that come and go), file_sync.c (what reaches the
 * disk, and in which order), file_verify.c (what the checksums say). */
#ifndef BLM_STORE_FILE_H
#define BLM_STORE_FILE_H

#include "store/layout.h"
#include "store/store.h"

/* One layer's section, mapped. */
struct blm_part {
    struct blm_native_section s;
    uint8_t                  *map;
    size_t                    map_len;
    uint8_t                  *record; /* places in the map */
    uint64_t                 *words, *sums;
    uint8_t                  *marks;
};

struct blm_file { /* body.store_ctx */
    int      fd;
    bool     writer;
    uint64_t begun;  /* the process that said in the slots that it writes; 0: nobody yet */
    bool     broken; /* a flush failed: nobody knows what is on the disk */
    int      found;  /* blm_writer: what a writer found when it opened; NONE after its next
                          sync. Atomic: stats are read beside that */
    struct blm_native_head head;
    struct blm_native_slot slot;  /* as the file says */
    unsigned               spare; /* the slot to be written first next time */
    uint8_t               *front; /* header and slots, mapped for reading */
    size_t                 front_len;
    uint64_t               seen[2]; /* epochs in the two slots when we read them */
    uint32_t               count;   /* parts in use */
    struct blm_part        part[];  /* head.room of them */
};

static inline struct blm_file *blm__file_of(const struct blm_body *b) { return b->store_ctx; }

/* ---- file_layers.c ---- */
blm_status blm__part_map(const struct blm_file *f, const struct blm_native_section *s,
                         struct blm_part *out, blm_error *err);
void       blm__part_unmap(struct blm_part *p);
/* A new part's record and checksums, over words that are all 0. */
void blm__part_format(struct blm_part *p);
/* Shows a part to the body as its next layer; the room for it must be there. */
blm_status blm__part_show(struct blm_file *f, struct blm_body *b, struct blm_part *p,
                          uint64_t items, blm_error *err);
blm_status blm__file_add_layer(struct blm_body *b, const struct blm_shape *s, blm_error *err);
blm_status blm__file_drop_layers(struct blm_body *b, uint32_t keep, blm_error *err);

/* ---- file_sync.c ---- */
/* Writes both slots from the body: the spare one, flush, the other. flags: BLM__SLOT_… */
blm_status blm__file_commit(struct blm_file *f, const struct blm_body *b, uint32_t flags,
                            blm_error *err);
blm_status blm__file_sync(struct blm_body *b, blm_error *err);
/* The last sync, and the file is closed: no writer. */
blm_status blm__file_finish(struct blm_body *b, blm_error *err);
/* E_BUSY in any process but the one that opened the file: a child that was forked has the handle
 * too, but the file is its parent's to close. */
blm_status blm__file_mine(const struct blm_file *f, blm_error *err);
/* Notes that a flush failed, for good. */
blm_status blm__file_broke(struct blm_file *f, int why, blm_error *err);
uint32_t   blm__file_flags(const struct blm_body *b); /* a writer's, while it has the file open */

/* ---- file_load.c ---- */
/* Fills b from the open file: layers, parameters, store_ctx, attached bytes. On failure b has no
 * layers and no store_ctx. */
blm_status blm__file_load(int fd, const struct blm_native_head *head, bool writer,
                          struct blm_body *b, blm_error *err);
/* Layers and maps; not the descriptor. */
void blm__file_release(struct blm_body *b, struct blm_file *f);
/* Both slots as they are in the file now; and the one that counts, into f. */
blm_status blm__file_read_slots(const struct blm_file *f, uint8_t *both, blm_error *err);
blm_status blm__file_load_slot(struct blm_file *f, blm_error *err);
blm_status blm__file_map_front(struct blm_file *f, blm_error *err);
bool       blm__file_stale(const struct blm_body *b); /* layers came or went since we looked */
void       blm__file_pause(void); /* a millisecond, before a second look beside a writer */

/* ---- file.c ---- */
/* Who writes it, or did; and, for readers, the slot that says so. */
blm_writer blm__file_state(const struct blm_body *b, struct blm_native_slot *now);
/* What a slot says of a writer that does not live: none, died, or crash. */
blm_writer blm__file_judge(const struct blm_native_slot *s);

#endif
