/* SPDX-License-Identifier: MIT */
/* A file that appears whole or not at all: written without a name (or where the file system has no
 * such thing, under a temporary one) in the directory where it will be, flushed, then given a
 * temporary name and renamed; and the directory flushed. Where files can be nameless, a process
 * that is killed leaves its temporary file only in the instant between naming and renaming.
 * A name is a hard link, which a system may forbid (AppArmor): that shows only when all is written,
 * and then fails the whole, E_READONLY, with nothing changed. */
#ifndef BLM_STORE_REPLACE_H
#define BLM_STORE_REPLACE_H

#include <sys/types.h>

#include "core/alloc.h"
#include "core/error.h"

struct blm_temp {
    const blm_allocator *alloc;
    int      fd;     /* of the temporary file, read-write; the caller may take it and put -1 */
    int      old_fd; /* of the file to be replaced, locked against writers; -1: none */
    uint32_t flags;
    uid_t    owner;               /* of the target, when it was a regular file; else ours */
    bool     over;                /* the target was there */
    bool     named;               /* the temporary file can be seen, as `temp` */
    char    *target, *temp, *dir; /* in one allocation that starts at target */
    size_t   room;
};

/* Begins. E_EXISTS when there is such a file and flags lack BLM_REPLACE; E_BUSY when it has a live
 * writer. A symbolic link is followed, so that it stays one. The new file gets the old one's mode
 * (and, where we may, owner), else what the umask leaves of 0666. */
blm_status blm__temp_begin(const char *path, uint32_t flags, const blm_allocator *a,
                           struct blm_temp *out, blm_error *err);
/* Flushes, renames, flushes the directory, and ends. On failure nothing is left of the temporary
 * file and the old one is as it was, but for one case, which err names: when only the last flush
 * failed, the new file is in place and may not survive a power cut. */
blm_status blm__temp_commit(struct blm_temp *t, blm_error *err);
/* Ends without a trace. */
void blm__temp_abandon(struct blm_temp *t);

#endif
