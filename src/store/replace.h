/* SPDX-License-Identifier: MIT */
/* Writes a file that appears whole or not at all. It is written without a name (or under a
 * temporary one, if the file system cannot do that) in the directory where it will be, flushed,
 * given a temporary name, and renamed; then the directory is flushed. Where files can be nameless,
 * a process that is killed leaves a temporary file only between naming and renaming. To name a file
 * is to make a hard link, which a system may forbid (AppArmor). That only shows when everything is
 * written; then it fails with E_READONLY, and nothing has changed. */
#ifndef BLM_STORE_REPLACE_H
#define BLM_STORE_REPLACE_H

#include <sys/types.h>

#include "core/alloc.h"
#include "core/error.h"

struct blm__temp {
    const blm_allocator *alloc;
    int      fd;     /* of the temporary file, read-write; the caller may take it and put -1 */
    int      old_fd; /* of the file to be replaced, locked against writers; -1: none */
    uint32_t flags;
    uid_t    owner;               /* of the target if it was a regular file; else ours */
    bool     over;                /* the target exists */
    bool     named;               /* the temporary file has a name, `temp` */
    char    *target, *temp, *dir; /* in one allocation that starts at target */
    size_t   room;
};

/* Begins. E_EXISTS if there is such a file and flags do not have BLM_REPLACE; E_BUSY if it has a
 * live writer; E_UNSUPPORTED if it is no regular file. A symbolic link is followed, so that it stays
 * one; with BLM_REPLACE also to a file that is not there yet, which is then made. The new file gets the
 * old one's mode (and its owner, if we may set that), else what the umask leaves of 0600, or of 0666
 * with BLM_PUBLIC. */
blm_status blm__temp_begin(const char *path, uint32_t flags, const blm_allocator *a,
                           struct blm__temp *out, blm_error *err);
/* Flushes, renames, flushes the directory, and ends. If it fails, the temporary file is gone and
 * the old one is as it was, with one exception, which err names: if only the last flush failed, the
 * new file is in place and may not survive a power cut. */
blm_status blm__temp_commit(struct blm__temp *t, blm_error *err);
/* Ends without a trace. */
void blm__temp_abandon(struct blm__temp *t);

#endif
