/* SPDX-License-Identifier: MIT */
/*
 * The few calls to the system on which durability rests, behind one table, so that a test can let
 * any of them fail, or write down the order in which they came. Nothing else changes the table.
 *
 * All return 0 or an error number (never -1 and errno), and try again after EINTR.
 */
#ifndef BLM_CORE_OS_H
#define BLM_CORE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blm_os {
    int (*write_at)(int fd, const void *bytes, size_t len, uint64_t at); /* all of it */
    int (*sync_file)(int fd); /* data, and what it takes to find it again */
    int (*sync_map)(void *map, size_t len);
    int (*sync_dir)(const char *path);
    /* Really takes the space, so that a later write cannot fail for want of it. */
    int (*reserve)(int fd, uint64_t at, uint64_t len);
    int (*rename_over)(const char *from, const char *to);
    int (*rename_new)(const char *from, const char *to); /* EEXIST when `to` is there */
    /* A file in a directory that has no name yet, and is gone with whoever has it open; and a name
     * for it, EEXIST when that is taken. EOPNOTSUPP, or another number,
     * where there is no such thing. */
    int (*open_nameless)(const char *dir, int *fd);
    int (*give_name)(int fd, const char *path);
    /* This boot of this machine; false where the system does not tell. */
    bool (*boot_id)(uint8_t out[16]);
};

extern struct blm_os blm__os;

/* One writer: an exclusive lock on the whole file that goes with the open file, not the process.
 * try: 0, EAGAIN when another has it, or an error. held: does anybody else hold it? Readers ask. */
int  blm__lock_try(int fd);
void blm__lock_drop(int fd);
bool blm__lock_held(int fd);

/* As the system's, for all of `len` (fewer only at the end of the file). */
int blm__os_read_at(int fd, void *bytes, size_t len, uint64_t at, size_t *got);

/* What an error number means, in a few English words: strerror would bring in the locale, and is
 * not promised to be safe in threads. */
const char *blm__os_text(int number);

#endif
