/* SPDX-License-Identifier: MIT */
/* A mapped native file, for the files that handle it: file.c (open, create, close), file_load.c
 * (from bytes to layers), file_layers.c (layers that come and go), file_sync.c (what reaches the
 * disk, and in which order), file_verify.c (what the checksums say), file_undo.c (what is saved before
 * it is overwritten). */
#ifndef BLM_STORE_FILE_H
#define BLM_STORE_FILE_H

#include "core/forks.h"
#include "store/layout.h"
#include "store/store.h"

/* One layer's section, mapped. */
struct blm__part {
    struct blm__native_section s;
    uint8_t                   *map;
    size_t                     map_len;
    uint8_t                   *record; /* places in the map */
    uint64_t                  *words, *sums;
    uint8_t                   *marks;
};

/* Where a writer of cells that move saves them: file_undo.c. */
struct blm__undo {
    uint8_t *map; /* NULL: there is none */
    size_t   map_len;
    uint8_t *area; /* in the map */
    uint64_t pages, floor;
    uint8_t *saved; /* a byte for each page: it is on the disk as it was at the last commit */
    unsigned level; /* the next time 2^level pages are saved */
};

struct blm__file { /* body.store_ctx */
    int      fd;
    bool     writer;
    uint64_t begun;  /* the process that wrote in the slots that it is the writer; 0: none yet */
    bool     broken; /* a flush failed: nobody knows what is on the disk */
    int      found;  /* blm_writer: what a writer found when it opened; NONE after its next
                          sync. Atomic, since another thread may ask during that */
    struct blm__native_head head;
    struct blm__native_slot slot;  /* as the file says */
    unsigned                spare; /* the slot to write first next time */
    uint8_t                *front; /* header and slots, mapped for reading */
    size_t                  front_len;
    uint64_t                seen[2];          /* the epochs that we read in the two slots */
    uint64_t                slots_written[2]; /* … and their generations */
    struct blm__undo        undo;             /* a writer's, of an engine that moves cells */
    bool                    left;   /* a reader's: to put back what was saved, to a writer */
    bool                    sound;  /* it was verified, and nothing was found damaged. Atomic */
    uint64_t                writes; /* slot.generation when we opened it */
    struct blm__fork_watch  forks;  /* a writer's */
    uint32_t                count;  /* parts in use */
    struct blm__part        part[]; /* head.room of them */
};

static inline struct blm__file *blm__file_of(const struct blm__body *b) { return b->store_ctx; }

/* ---- file_layers.c ---- */
/* E_LIMIT: it can never be mapped here. Asked before the disk gives its space. */
blm_status blm__part_fits(const struct blm__native_section *s, blm_error *err);
blm_status blm__part_map(const struct blm__file *f, const struct blm__native_section *s,
                         struct blm__part *out, blm_error *err);
void       blm__part_unmap(struct blm__part *p);
/* Writes a new part's record and checksums; its words are all 0. */
void blm__part_format(struct blm__part *p);
/* Gives a part to the body as its next layer; f must have room for it. */
blm_status blm__part_show(struct blm__file *f, struct blm__body *b, struct blm__part *p,
                          uint64_t items, blm_error *err);
blm_status blm__file_add_layer(struct blm__body *b, const struct blm__shape *s, blm_error *err);
blm_status blm__file_drop_layers(struct blm__body *b, uint32_t keep, blm_error *err);

/* ---- file_sync.c ---- */
/* Writes both slots from the body: the spare one, then a flush, then the other. flags:
 * BLM__SLOT_… */
blm_status blm__file_commit(struct blm__file *f, const struct blm__body *b, uint32_t flags,
                            blm_error *err);
blm_status blm__file_sync(struct blm__body *b, blm_error *err);
/* The last sync: the file no longer has a writer. */
blm_status blm__file_finish(struct blm__body *b, blm_error *err);
/* E_BUSY in any process but the one that opened the file: a forked child has the handle too, but
 * must leave the file to its parent. */
blm_status blm__file_mine(const struct blm__file *f, blm_error *err);
/* Remembers that a flush failed, for good. */
blm_status blm__file_broke(struct blm__file *f, int why, blm_error *err);
uint32_t   blm__file_flags(const struct blm__body *b); /* a writer's, while it has the file open */

/* ---- file_load.c ---- */
/* Fills b from the open file: layers, parameters, store_ctx, attached bytes. On failure b has no
 * layers and no store_ctx. */
blm_status blm__file_load(int fd, const struct blm__native_head *head, bool writer,
                          struct blm__body *b, blm_error *err);
/* Releases layers and mappings, not the descriptor. */
void blm__file_release(struct blm__body *b, struct blm__file *f);
/* Reads both slots as they are in the file now; and the one that counts, into f. */
blm_status blm__file_read_slots(const struct blm__file *f, uint8_t *both, blm_error *err);
blm_status blm__file_load_slot(struct blm__file *f, blm_error *err);
blm_status blm__file_map_front(struct blm__file *f, blm_error *err);
bool       blm__file_stale(const struct blm__body *b);     /* layers came or went since we looked */
bool       blm__file_overtaken(const struct blm__body *b); /* … or a writer did */
void       blm__file_pause(void); /* a millisecond, before a second look beside a writer */

/* ---- file.c ---- */
/* Whether it has, or had, a writer; for readers also the slot that says so. */
blm_writer blm__file_state(const struct blm__body *b, struct blm__native_slot *now);
/* What a slot says if there is no live writer: none, died, or crash. */
blm_writer blm__file_judge(const struct blm__native_slot *s);

/* ---- file_undo.c ---- */
/* Reserves, behind the end `at` of a filter with so many pages of words, what its writer needs. */
blm_status blm__undo_make(const struct blm__file *f, const struct blm__body *b, uint64_t at,
                          uint64_t pages, struct blm__undo *out, blm_error *err);
void       blm__undo_free(const struct blm__body *b, struct blm__undo *u);
/* From now on it is the file's. */
void blm__undo_use(struct blm__file *f, const struct blm__body *b, struct blm__undo *u);
/* The file is closed, and as long as it would be without. */
void     blm__undo_end(struct blm__file *f, const struct blm__body *b);
uint64_t blm__undo_pages(const struct blm__native_section *s); /* of one layer */
uint64_t blm__undo_all(const struct blm__file *f);             /* of its layers */
/* Everything was flushed, and a slot says so: what was saved is of no use any more. */
void blm__undo_void(struct blm__file *f);
/* The store's save and broken. */
bool blm__file_save(const struct blm__body *b, const struct blm__layer *l, uint64_t bit,
                    uint64_t bits);
bool blm__file_broken(const struct blm__body *b);
/* After a power cut: puts back what was saved. E_CHECKSUM: keys may be lost. */
blm_status blm__file_recover(struct blm__file *f, struct blm__body *b, blm_error *err);
/* It was left to a writer to put back what its predecessor saved, and may not have been done yet. */
bool blm__file_unsettled(const struct blm__file *f);

/* ---- file_verify.c ---- */
bool       blm__file_matches(const struct blm__body *b); /* every region, its checksum */
blm_status blm__file_vouch(const struct blm__body *b, blm_error *err); /* once: blm__store.vouch */

#endif
