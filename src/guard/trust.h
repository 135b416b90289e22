/* SPDX-License-Identifier: MIT */
/*
 * Whether a filter's file can be trusted. Beside FILTER is FILTER.guard, the note: one line of text
 * that is locked while a guard is open and says which state its session is in:
 *
 *     bloomery-guard 1 <id> <session> <state> <generation>
 *
 *   void     the filter does not have all rows of the data set
 *   open     a guard has it open, or had
 *   closed   the guard was closed properly
 *
 * A data set that can keeps the same id, session and state as its mark. The file is trusted
 *
 *   closed   if the filter was closed by its writer too,
 *   open     if the filter's writer died in this boot: the adds it finished are in the file, and a
 *            key is added before the data set is told of its row;
 *
 * and both only if the data set's mark says the same. Anything else (a power cut, an old copy,
 * another guard's session in between, a filter that somebody changed) costs one rebuild.
 */
#ifndef BLM_GUARD_TRUST_H
#define BLM_GUARD_TRUST_H

#include "bloomery.h"
#include "bloomery/guard.h"

enum blm__session { BLM__SESSION_VOID, BLM__SESSION_OPEN, BLM__SESSION_CLOSED };

struct blm__trust {
    char             *path; /* of the filter; NULL: it is in memory */
    char             *next; /* path.next: a generation while it is built */
    char             *note; /* path.guard */
    size_t            path_len;
    int               fd;     /* of the note, locked; -1: none */
    bool              known;  /* the note was written by a guard */
    bool              unsure; /* a power cut may bring the old file back */
    uint64_t          id, session, generation;
    enum blm__session state;
};

/* Makes the names, opens and locks the note. A new note gets `id`, a random number. E_BUSY: another
 * guard has it open. */
blm_status blm__trust_open(struct blm__trust *t, const char *path, uint64_t id,
                           const blm_allocator *a, blm_error *err);
void       blm__trust_close(struct blm__trust *t, const blm_allocator *a);

/* The filter at path if it can be trusted, else NULL. Fails only where going on could do harm: the
 * file is somebody else's, or cannot be written. */
blm_status blm__trust_filter(struct blm__trust *t, const blm_dataset *d, const blm_options *o,
                             blm_filter **out, blm_error *err);

/* Writes durably which state the session is in: to the note, then to the data set. OPEN begins a
 * new session. If only one of the two was written, they disagree, and the next open trusts
 * neither. */
blm_status blm__trust_say(struct blm__trust *t, const blm_dataset *d, enum blm__session state,
                          blm_error *err);

/* Writes the generation's number to the note. */
void blm__trust_generation(struct blm__trust *t);

/* Renames path.next to path. If that may not survive a power cut, t->unsure is set: the new file is
 * right, but the old one, which may be a closed one, could come back. */
blm_status blm__trust_rename(struct blm__trust *t, blm_error *err);

#endif
