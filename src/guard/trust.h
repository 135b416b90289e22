/* SPDX-License-Identifier: MIT */
/*
 * Whether a filter's file can be trusted. Beside FILTER is FILTER.guard, the note, which is locked
 * while a guard is open. It begins with one line of text:
 *
 *     bloomery-guard 3 <id> <session> <state> <rows> <generation> <file> <writes> <stale> <stamp>
 *
 *   void     the filter does not have all rows of the data set
 *   open     a guard has it open, or had
 *   closed   the guard was closed properly
 *
 *   all      since the filter was built, no guard that had it open was advisory
 *   some     one was: rows that others wrote are missing, and puts may have spared their adds because of
 *            another key. Only an advisory guard, which removes nothing, may go on with it
 *
 * file is the identity of the filter's file, writes how often its header had been written when it
 * was closed. An older copy of the file has another identity, or fewer writes. A data set that can
 * keeps id, session and state as its mark. The file is trusted
 *
 *   closed   if the filter was closed by its writer too, and has been written as often as the note
 *            says;
 *   open     if the filter's writer died in this boot: the adds it finished are in the file, and a
 *            key is added before the data set is told of its row. And if both files are where they
 *            were, and nobody has changed the filter's since the last stamp;
 *
 * and both only if it is the note's file and the data set's mark says the same. Anything else (a
 * power cut, an old copy, another guard's session in between, a filter that somebody changed) costs
 * one rebuild, under a new id. A note of version 2 does not say which rows there are; it is believed for
 * filters from which nothing is ever removed.
 *
 * Place and stamp. A guard that is killed cannot write down what the file was like, and a copy of file
 * and note from earlier in the session looks the same in everything they say. But the system knows
 * more than they say. A file that was renamed into place is another file, with another place; so the
 * note has the places of both. And whoever overwrites a file cannot set back when it was last
 * changed. So after each change to the file the guard writes the time to the note, in a page that is
 * mapped and outlives it: a file that was changed later than that is not as the guard left it. Beside
 * them stands how many keys are stale.
 *
 * The claim. A row may only be put when the data set's mark is ours: else another guard's file,
 * closed with the mark that is still there, would be trusted and lack the row. The mark stays ours until
 * somebody else writes it, or until the data set goes back to an older copy of itself, which does not
 * happen without an error (of a connection that breaks, say). So it is read again after each error. If
 * it is another then, our file must not be trusted either: others may have written meanwhile. Before
 * there is a mark of ours, an error leaves it open (adrift): keys are removed from a filter only if that
 * has not happened since its scan began.
 */
#ifndef BLM_GUARD_TRUST_H
#define BLM_GUARD_TRUST_H

#include <pthread.h>
#include <stdatomic.h>

#include "bloomery.h"
#include "bloomery/guard.h"

enum blm__session { BLM__SESSION_VOID, BLM__SESSION_OPEN, BLM__SESSION_CLOSED };

struct blm__live { /* what outlives a guard that is killed */
    _Atomic uint64_t stamp;
    _Atomic uint64_t stale;        /* deleted keys that the filter still has */
    _Atomic uint64_t filter, note; /* the places of the two files: blm__os.place */
};

struct blm__trust {
    char             *path;     /* of the filter, absolute, not a link; NULL: it is in memory */
    char             *next;     /* path.next: a generation while it is built */
    char             *note;     /* path.guard */
    size_t            room;     /* bytes of each of the three */
    int               fd;       /* of the note, locked; -1: none */
    bool              known;    /* the note was written by a guard */
    bool              unsure;   /* a power cut may bring the old file back */
    bool              advisory; /* this session's guard is */
    bool              removes;  /* … and removes keys of rows that are gone */
    bool              older;    /* the note is of version 2 */
    uint64_t          fresh;    /* a random number, for a note that needs a new id */
    uint64_t          id, session, generation;
    enum blm__session state;
    bool              some; /* of the rows only, as above */
    uint8_t           file[16];
    uint64_t          writes;
    uint64_t          stale, stamp; /* as the line says */
    struct blm__live *live;         /* in the note; without one, `own` */
    struct blm__live  own;
    pthread_mutex_t   lock;     /* of everything from state on, once the guard is open */
    bool              bare;     /* there was no mark to claim, and none was written */
    _Atomic uint64_t  troubles; /* errors of the data set */
    _Atomic uint64_t  adrift;   /* times that it may have gone back and the mark could not tell */
    _Atomic uint64_t claimed; /* 1 + troubles, before the mark was last seen to be ours; 0: never */
};

/* Makes the names, opens and locks the note. E_BUSY: another guard has it open. */
blm_status blm__trust_open(struct blm__trust *t, const char *path, uint64_t fresh,
                           const blm_allocator *a, blm_error *err);
/* orphan: in a forked child, where the lock is the parent's. */
void blm__trust_close(struct blm__trust *t, bool orphan, const blm_allocator *a);

/* The filter at path if it can be trusted, else NULL, and then the note gets the new id.
 * *died: its last writer did not close it. Fails
 * only where going on could do harm: the file is somebody else's, or cannot be written. */
blm_status blm__trust_filter(struct blm__trust *t, const blm_dataset *d, const blm_options *o,
                             blm_filter **out, bool *died, blm_error *err);

/* Writes durably which state the session is in: to the note, then (unless it is void) to the data
 * set. OPEN begins a new session. file: the filter's, if it is another than before. If only one of the two was written, they
 * disagree, and the next open trusts neither. */
blm_status blm__trust_say(struct blm__trust *t, const blm_dataset *d, enum blm__session state,
                          const uint8_t *file, blm_error *err);
/* Another generation is in this file: the session goes on with it, or (first) begins. What cannot be
 * written costs a rebuild at the next open. */
void blm__trust_built(struct blm__trust *t, const blm_dataset *d, bool first, uint64_t generation,
                      const uint8_t file[16]);
/* The filter has been closed: says CLOSED, unless somebody else has written the mark meanwhile. */
blm_status blm__trust_end(struct blm__trust *t, const blm_dataset *d, blm_error *err);

/* Before a put, and after it. Fails as the data set does if its mark cannot be read or written.
 * BLM_PRESENT: the mark was ours and is not any more. The note says VOID then, and what the filter has
 * must not be relied on; the next call claims it. */
blm_status blm__trust_claim(struct blm__trust *t, const blm_dataset *d, blm_error *err);
/* The same without claiming what was never ours: BLM_OK then. */
blm_status blm__trust_look(struct blm__trust *t, const blm_dataset *d, blm_error *err);
/* After an error of the data set. */
void blm__trust_trouble(struct blm__trust *t);

/* After the filter was changed. */
void blm__trust_stamp(struct blm__trust *t);

/* Renames path.next to path. If that may not survive a power cut, t->unsure is set: the new file is
 * right, but the old one, which may be a closed one, could come back. */
blm_status blm__trust_rename(struct blm__trust *t, blm_error *err);

#endif
