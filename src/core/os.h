/* SPDX-License-Identifier: MIT */
/*
 * The few system calls that durability depends on, behind one table, so that a test can make any of
 * them fail, or record their order. Nothing else changes the table.
 *
 * All return 0 or an error number (never -1 and errno), and try again after EINTR.
 */
#ifndef BLM_CORE_OS_H
#define BLM_CORE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct blm__os {
    int (*write_at)(int fd, const void *bytes, size_t len, uint64_t at); /* all of it */
    int (*sync_file)(int fd); /* data, and what it takes to find it again */
    int (*sync_map)(void *map, size_t len);
    int (*sync_dir)(const char *path);
    /* Allocates the space, so that no later write fails because the disk is full. */
    int (*reserve)(int fd, uint64_t at, uint64_t len);
    int (*rename_over)(const char *from, const char *to);
    int (*rename_new)(const char *from, const char *to); /* EEXIST when `to` is there */
    /* Makes a file in a directory without a name, which is gone when nobody has it open any more;
     * and gives it a name (EEXIST: the name is taken). An error, such as EOPNOTSUPP, where the
     * system cannot do this. */
    int (*open_nameless)(const char *dir, unsigned mode, int *fd);
    int (*give_name)(int fd, const char *path);
    /* Identifies this boot of this machine; false where the system does not say. */
    bool (*boot_id)(uint8_t out[16]);
    /* Nanoseconds since 1970: now, and when anything about this file was last changed (UINT64_MAX
     * where the system does not say). Nobody can set the second, except by setting the clock. */
    uint64_t (*now)(void);
    uint64_t (*changed)(const char *path);
    /* A number of the file itself, whatever its name and its bytes: a copy has another one. 0: there
     * is no such file. */
    uint64_t (*place)(const char *path);
};

extern struct blm__os blm__os;

/* One writer: an exclusive lock on the whole file, held by the open file, not by the process. try:
 * 0, or EAGAIN if another has it, or an error. held: does anybody else have it? For readers. */
int  blm__lock_try(int fd);
void blm__lock_drop(int fd);
bool blm__lock_held(int fd);
/* Whoever has the lock puts the file right first, and then is ready: it gives back the last byte's. For
 * readers: is somebody at that? Where locks have no bytes, whoever has one is. */
void blm__lock_ready(int fd);
bool blm__lock_preparing(int fd);

/* Reads all of `len`; *got is less only at the end of the file. */
int blm__os_read_at(int fd, void *bytes, size_t len, uint64_t at, size_t *got);

/* The directory part of a path: its length, without a slash at the end, except for "/". 0: there is
 * none, which means the current directory. */
size_t blm__os_parent(const char *path);
/* The path becomes the one that its symbolic links lead to, though nothing may be there yet. 0, or
 * ELOOP or ENAMETOOLONG. */
#define BLM__OS_PATH 4096 /* longer ones the system does not take */
int blm__os_follow(char path[BLM__OS_PATH]);
/* sync_dir for the directory that a file is in: after this its name survives a power cut. */
int blm__os_sync_parent(const char *path);

/* What an error number means, in a few English words. strerror would bring in the locale, and need
 * not be safe in threads. */
const char *blm__os_text(int number);

#endif
