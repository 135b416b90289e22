/* SPDX-License-Identifier: MIT */
/* What the files of blm_spill_… share: spill.c (the public calls), spill_part.c (keys to records,
 * records to bits), spill_state.c (what survives a kill). */
#ifndef BLM_API_SPILL_H
#define BLM_API_SPILL_H

#include "api/claim.h"
#include "api/filter.h"
#include "bloomery/spill.h"

#define BLM__SPILL_PARTS 512u
#define BLM__SPILL_MOST  ((uint64_t)512 << 20) /* bytes of a part: positions in it take 32 bits */
#define BLM__SPILL_DIR   BLM__CLAIM_DIR
#define BLM__SPILL_PATH  BLM__CLAIM_PATH
#define BLM__SPILL_FRAME 16u   /* bytes before the records of a frame: spill_part.c */
#define BLM__SPILL_LEAST 4096u /* bytes of a part's buffer … */
#define BLM__SPILL_LARGE ((uint64_t)1 << 20)

/* One part of the filter and the file of its records. */
struct blm__spill_part {
    int      fd;
    uint64_t length; /* bytes written, or in the buffer's case to be written */
    uint64_t key;    /* of its last record: records tell how many keys further they are */
    size_t   held;   /* bytes of records in the buffer */
    uint8_t *buffer;
};

enum blm__spill_phase { BLM__SPILLING, BLM__FILLING, BLM__SAVING };

/* What is written down: all that a later run needs. */
struct blm__spill_mark {
    enum blm__spill_phase phase;
    uint64_t              keys;   /* that the files have */
    uint64_t              chain;  /* of their hashes, in order */
    uint64_t              filled; /* parts */
    uint64_t              items;  /* new keys in those parts, if each key has one record */
    /* Of each part its bytes and the key of its last record; where it is filled, the checksum of its
     * words in place of the key. */
    uint64_t length[BLM__SPILL_PARTS], key[BLM__SPILL_PARTS];
};

struct blm_spill {
    blm_filter            *filter; /* no words: to hash with, and its one shape */
    struct blm__shape      shape;
    blm_allocator          own;
    char                   dir[BLM__SPILL_DIR];
    int                    lock;
    uint64_t               part_words; /* all but the last have so many */
    uint32_t               parts;
    size_t                 buffer;  /* bytes a part */
    bool                   several; /* records a key: they say which key they are of */
    bool                   broken;  /* a call failed: only what is written down counts */
    struct blm__spill_mark mark;    /* as written down */
    uint64_t               kept;    /* mark.keys when it was opened */
    uint64_t               keys, chain;
    uint64_t               spilled; /* bytes since the mark was written down */
    blm_progress_fn        progress;
    void                  *progress_ctx;
    uint64_t               done, total; /* for it */
    blm_filter            *saved;       /* while it is being saved */
    struct blm__spill_part part[BLM__SPILL_PARTS];
};

/* ---- spill_state.c ---- */
/* The path of a file in the directory; out has BLM__SPILL_PATH bytes. */
void blm__spill_path(const blm_spill *s, const char *name, uint32_t number, char *out);
/* Reads what is written down. *there: something is. Its seed goes into the options first. */
blm_status blm__spill_peek(const char *dir, blm_options *o, bool *there, blm_seed_policy *policy,
                           blm_error *err);
blm_status blm__spill_recall(blm_spill *s, blm_error *err);
blm_status blm__spill_write_down(blm_spill *s, blm_error *err);
void       blm__spill_remove(blm_spill *s);
blm_status blm__spill_failed(int why, const char *doing, blm_error *err);
blm_status blm__spill_damaged(blm_error *err);

/* ---- spill_part.c ---- */
/* One key's records, to their parts' buffers. */
blm_status blm__spill_key(blm_spill *s, uint64_t h, blm_error *err);
blm_status blm__spill_flush(blm_spill *s, struct blm__spill_part *p, blm_error *err);
/* The words of part p, from its records. fresh: a bit for each key, or NULL if each has one record.
 * *items: how many records set a bit. */
blm_status blm__spill_fill(blm_spill *s, uint32_t p, uint64_t *words, uint8_t *fresh,
                           uint64_t *items, blm_error *err);
uint64_t   blm__spill_words(const blm_spill *s, uint32_t p);

#endif
