/* SPDX-License-Identifier: MIT */
/*
 * Whether a filter's file may be believed. Beside FILTER lies FILTER.guard, one line of text that
 * is locked while a guard is open and says in which state its session is:
 *
 *     bloomery-guard 1 <id> <session> <state> <generation>
 *
 *   void     the filter does not cover the data set (yet)
 *   open     a guard is, or was, at work
 *   closed   it ended as it should
 *
 * The data set, where it can, holds the same id, session and state as its mark.
 * The file is believed
 *
 *   closed   when the filter was closed by its writer too,
 *   open     when the filter's writer died in this boot: completed adds are in the file, and a put
 *            is added before the data set hears of it;
 *
 * and both only when the data set's mark says the same. Anything else (a power cut, a copy from
 * yesterday, another guard's session between, a filter somebody edited) costs one rebuild.
 */
#ifndef BLM_GUARD_TRUST_H
#define BLM_GUARD_TRUST_H

#include "bloomery.h"
#include "bloomery/guard.h"

enum blm_session { BLM__SESSION_VOID, BLM__SESSION_OPEN, BLM__SESSION_CLOSED };

struct blm_trust {
    char            *path; /* the filter's; NULL: it lives in memory */
    char            *next; /* path.next: a generation while it is built */
    char            *note; /* path.guard */
    size_t           path_len;
    int              fd;     /* of the note, locked; -1: none */
    bool             known;  /* the note was one of ours */
    bool             unsure; /* which file a power cut would leave at path */
    uint64_t         id, session, generation;
    enum blm_session state;
};

/* Names, note and lock; `id` (random) is for a new note. E_BUSY: another guard has it. */
blm_status blm__trust_open(struct blm_trust *t, const char *path, uint64_t id,
                           const blm_allocator *a, blm_error *err);
void       blm__trust_close(struct blm_trust *t, const blm_allocator *a);

/* The filter at path if it may be believed, else NULL; a failure only where going on could do harm
 * (the file is somebody else's, or cannot be written). */
blm_status blm__trust_filter(struct blm_trust *t, const blm_dataset *d, const blm_options *o,
                             blm_filter **out, blm_error *err);

/* Says durably what state the session is in: to the note, then to the data set. OPEN begins a new
 * session. When only one of the two hears it, they disagree, and the next open does not believe. */
blm_status blm__trust_say(struct blm_trust *t, const blm_dataset *d, enum blm_session state,
                          blm_error *err);

/* Writes the generation's number to the note. */
void blm__trust_generation(struct blm_trust *t);

/* path.next becomes path. When it cannot be known whether that lasts through a power cut, t->unsure
 * is set: the new file is right, but the old one might come back, and be closed. */
blm_status blm__trust_rename(struct blm_trust *t, blm_error *err);

#endif
