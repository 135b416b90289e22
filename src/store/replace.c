/* SPDX-License-Identifier: MIT */
#include "store/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/os.h"
#include "core/random.h"

#define TEMP_NAME ".bloomery-0123456789abcdef.tmp" /* the digits are random */
#define TRIES     100

static void end_temp(struct blm__temp *t)
{
    if (t->fd >= 0)
        close(t->fd);
    if (t->old_fd >= 0)
        close(t->old_fd); /* drops its lock */
    blm__free(t->alloc, t->target, t->room);
    t->fd = t->old_fd = -1;
    t->target         = NULL;
}

void blm__temp_abandon(struct blm__temp *t)
{
    if (!t->target)
        return;
    if (t->named)
        unlink(t->temp);
    end_temp(t);
}

/* The name that a link gives to a file that is not there yet. */
static char *follow_to_nothing(const char *path)
{
    char   here[BLM__OS_PATH];
    size_t len = strlen(path);
    if (len >= sizeof here)
        return NULL;
    memcpy(here, path, len + 1);
    return blm__os_follow(here) ? NULL : strdup(here);
}

/* Where a symbolic link leads. What is there may have no name (the pipe behind /dev/stdout): then,
 * and if the links go round, it is NULL, and hold_old finds the link itself. A file that is not
 * there yet is made where the link says, but only for a caller who replaces: for the others the
 * name is taken. For free(). */
static char *follow(const char *path, bool replace)
{
    struct stat st;
    if (lstat(path, &st) < 0 || !S_ISLNK(st.st_mode))
        return NULL;
    char *real = realpath(path, NULL);
    if (real || !replace || stat(path, &st) == 0 || errno != ENOENT)
        return real;
    return follow_to_nothing(path);
}

/* target, its directory, and room for a temporary name there. */
static bool set_names(struct blm__temp *t, const char *path)
{
    char       *real   = follow(path, t->flags & BLM_REPLACE);
    const char *target = real ? real : path;
    size_t      len = strlen(target), dir = blm__os_parent(target);
    t->room   = 2 * len + dir + sizeof TEMP_NAME + 8;
    t->target = blm__alloc(t->alloc, t->room);
    if (t->target) {
        t->temp = t->target + len + 1;
        memcpy(t->target, target, len + 1);
        size_t prefix = dir && target[dir - 1] != '/' ? dir + 1 : dir;
        memcpy(t->temp, target, prefix);
        memcpy(t->temp + prefix, TEMP_NAME, sizeof TEMP_NAME);
        t->dir = t->temp + prefix + sizeof TEMP_NAME;
        memcpy(t->dir, dir ? target : ".", dir ? dir : 1);
        t->dir[dir ? dir : 1] = 0;
    }
    free(real);
    return t->target != NULL;
}

/* Checks that the old file may be replaced and has no writer. Keeps it locked if we can. */
static blm_status hold_old(struct blm__temp *t, struct stat *st, blm_error *err)
{
    if (lstat(t->target, st) < 0)
        return errno == ENOENT
                   ? BLM_OK
                   : blm__fail_system(err, errno, "cannot look at it: %s", blm__os_text(errno));
    t->over = true;
    if (!(t->flags & BLM_REPLACE))
        return blm__fail(err, BLM_E_EXISTS, "the file exists");
    if (S_ISDIR(st->st_mode))
        return blm__fail_system(err, EISDIR, "is a directory");
    struct stat there;
    if (S_ISLNK(st->st_mode) && stat(t->target, &there) < 0)
        return blm__fail_system(err, errno, "cannot look at what the symbolic link leads to: %s",
                                blm__os_text(errno));
    if (!S_ISREG(st->st_mode)) /* a link that is left leads to something without a name: a pipe */
        return blm__fail(err, BLM_E_UNSUPPORTED, "not a regular file");
    bool ours = true;
    t->old_fd = open(t->target, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (t->old_fd < 0) {
        ours      = false;
        t->old_fd = open(t->target, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    if (t->old_fd >= 0 && (ours ? blm__lock_try(t->old_fd) == EAGAIN : blm__lock_held(t->old_fd)))
        return blm__fail(err, BLM_E_BUSY, "a writer has the file open");
    return BLM_OK;
}

static mode_t mode_of(const struct blm__temp *t) { return t->flags & BLM_PUBLIC ? 0666 : 0600; }

/* How the temporary file gets its name. All return 0 or an error number. */
static int create_named(struct blm__temp *t)
{
    int fd = open(t->temp, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode_of(t));
    if (fd < 0)
        return errno == EINTR ? EEXIST : errno; /* EEXIST: try again */
    t->fd = fd;
    return 0;
}
static int name_it(struct blm__temp *t) { return blm__os.give_name(t->fd, t->temp); }

/* Tries names until one is free; `how` returns EEXIST if a name is taken. */
static blm_status with_name(struct blm__temp *t, int (*how)(struct blm__temp *), blm_error *err)
{
    char *digits = strrchr(t->temp, '-') + 1;
    int   why    = EEXIST;
    for (int i = 0; i < TRIES && why == EEXIST; i++) {
        uint8_t random[8];
        char    hex[17];
        if (!blm__random(random, sizeof random))
            return blm__fail(err, BLM_E_IO, "the system has no random bytes");
        for (size_t j = 0; j < sizeof random; j++)
            snprintf(hex + 2 * j, 3, "%02x", random[j]);
        memcpy(digits, hex, 16);
        why = how(t);
    }
    t->named = why == 0;
    if (t->named)
        return BLM_OK;
    return blm__fail_write(err, why, "cannot create a file in %s: %s", t->dir, blm__os_text(why));
}

static blm_status open_temp(struct blm__temp *t, blm_error *err)
{
    return blm__os.open_nameless(t->dir, mode_of(t), &t->fd) == 0 ? BLM_OK
                                                                  : with_name(t, create_named, err);
}

blm_status blm__temp_begin(const char *path, uint32_t flags, const blm_allocator *a,
                           struct blm__temp *out, blm_error *err)
{
    struct blm__temp t = { .alloc = a, .fd = -1, .old_fd = -1, .flags = flags, .owner = geteuid() };
    struct stat      old;
    *out = t;
    if (path[0] == 0)
        return blm__fail(err, BLM_E_ARGUMENT, "the path is empty");
    if (!set_names(&t, path))
        return blm__fail(err, BLM_E_MEMORY, "no memory for a file name");
    blm_status st = hold_old(&t, &old, err);
    if (st == BLM_OK)
        st = open_temp(&t, err);
    if (st != BLM_OK) {
        end_temp(&t);
        return st;
    }
    if (t.over && S_ISREG(old.st_mode)) {
        /* If we may not give files away, this file stays ours. The owner comes last, in
         * give_away. */
        t.owner = old.st_uid;
        if (fchown(t.fd, (uid_t)-1, old.st_gid) < 0)
            errno = 0;
        fchmod(t.fd, old.st_mode & 07777);
    }
    *out = t;
    return BLM_OK;
}

/* To be called when the file has its name: Linux does not link a file of somebody else
 * (protected_hardlinks) for a process that has CAP_CHOWN but not CAP_FOWNER. */
static void give_away(struct blm__temp *t)
{
    if (t->owner != geteuid() && fchown(t->fd, t->owner, (gid_t)-1) < 0)
        errno = 0;
}

static blm_status put_in_place(struct blm__temp *t, blm_error *err)
{
    blm_status st = t->named ? BLM_OK : with_name(t, name_it, err);
    if (st != BLM_OK)
        return st;
    give_away(t);
    int why =
        t->over ? blm__os.rename_over(t->temp, t->target) : blm__os.rename_new(t->temp, t->target);
    if (why == EEXIST && (t->flags & BLM_REPLACE)) {
        /* It has appeared since we began. */
        struct stat old;
        st = hold_old(t, &old, err);
        if (st != BLM_OK)
            return st;
        why = blm__os.rename_over(t->temp, t->target);
    }
    if (why == EEXIST)
        return blm__fail(err, BLM_E_EXISTS, "the file exists");
    if (why)
        return blm__fail_system(err, why, "cannot rename it into place: %s", blm__os_text(why));
    return BLM_OK;
}

blm_status blm__temp_commit(struct blm__temp *t, blm_error *err)
{
    blm_status st  = BLM_OK;
    int        why = blm__os.sync_file(t->fd);
    if (why)
        st = blm__fail_system(err, why, "cannot flush it to the disk: %s", blm__os_text(why));
    if (st == BLM_OK)
        st = put_in_place(t, err);
    if (st != BLM_OK) {
        blm__temp_abandon(t);
        return st;
    }
    why = blm__os.sync_dir(t->dir);
    end_temp(t);
    if (why)
        return blm__fail_system(err, why,
                                "the file is in place, but its directory cannot be flushed: a "
                                "power cut may still undo that: %s",
                                blm__os_text(why));
    return BLM_OK;
}
