/* SPDX-License-Identifier: MIT */
/* Directories that a build may write to and remove files from. */
#include "api/claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/os.h"

#define LOCK "bloomery.lock"
static const char *const marks[] = { "bloomery.given", "bloomery.made" };

static blm_status failed(int why, const char *doing, blm_error *err)
{
    return blm__fail_system(err, why, "cannot %s the spill directory: %s", doing,
                            blm__os_text(why));
}

static const char *path_in(const char *dir, const char *name, char out[BLM__CLAIM_PATH])
{
    snprintf(out, BLM__CLAIM_PATH, "%s/%s", dir, name);
    return out;
}

static bool is_claim(const char *name)
{
    return strcmp(name, marks[0]) == 0 || strcmp(name, marks[1]) == 0 || strcmp(name, LOCK) == 0;
}

static bool marked(const char *dir)
{
    char path[BLM__CLAIM_PATH];
    return access(path_in(dir, marks[0], path), F_OK) == 0 ||
           access(path_in(dir, marks[1], path), F_OK) == 0;
}

/* Has it files, and is one of them a mark or a lock? In one look: what comes and goes meanwhile is seen
 * together with its lock, or not at all. */
static int look_in(const char *dir, bool *empty, bool *ours)
{
    DIR *d = opendir(dir);
    if (!d)
        return errno;
    *empty = true;
    *ours  = false;
    errno  = 0;
    for (struct dirent *e; (e = readdir(d));) {
        *empty = *empty && (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0);
        *ours  = *ours || is_claim(e->d_name);
    }
    int why = errno;
    closedir(d);
    return why;
}

/* What the state begins with; 0: there is none. Whether it is whole is asked later. */
static uint64_t state_of(const char *dir)
{
    char    path[BLM__CLAIM_PATH];
    uint8_t head[8];
    size_t  got = 0;
    int     fd  = open(path_in(dir, "state", path), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    int why = blm__os_read_at(fd, head, sizeof head, 0, &got);
    close(fd);
    return !why && got == sizeof head ? blm__get64le(head) : 0;
}

/* A directory that was made has a name too, which a power cut must not take with all that is flushed in
 * it. */
static blm_status set_mark(const char *dir, bool made, blm_error *err)
{
    char path[BLM__CLAIM_PATH];
    int  fd  = open(path_in(dir, marks[made], path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int  why = fd < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (!why)
        why = blm__os.sync_dir(dir);
    if (!why && made)
        why = blm__os.sync_dir(path_in(dir, "..", path));
    return why ? failed(why, "write to", err) : BLM_OK;
}

/* Whoever had the lock may have removed it before we got it: then it is a lock of nothing. */
static int lock_file(const char *path, int *lock)
{
    struct stat ours, there;
    *lock   = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    int why = *lock < 0 ? errno : blm__lock_try(*lock);
    if (!why && fstat(*lock, &ours) < 0)
        why = errno;
    if (!why && (stat(path, &there) < 0 || ours.st_ino != there.st_ino))
        why = EAGAIN;
    return why == ENOENT ? EAGAIN : why; /* the directory is gone, too */
}

static blm_status lock_dir(const char *dir, int *lock, blm_error *err)
{
    char path[BLM__CLAIM_PATH];
    int  why = lock_file(path_in(dir, LOCK, path), lock);
    if (why == 0)
        return BLM_OK;
    if (*lock >= 0)
        close(*lock);
    *lock = -1;
    return why == EAGAIN ? blm__fail(err, BLM_E_BUSY, "another process is at the spill directory")
                         : failed(why, "open", err);
}

/* A directory that was there: may we use it? */
static blm_status may_use(const char *dir, uint64_t magic, blm_error *err)
{
    bool empty = false, ours = false;
    int  why = look_in(dir, &empty, &ours);
    if (why)
        return failed(why, "open", err);
    if (empty || ours || state_of(dir) == magic) /* earlier versions set no mark */
        return BLM_OK;
    return blm__fail_with(err, BLM_E_EXISTS, "give one that is empty, or that does not exist yet",
                          "the spill directory has files in it that no build of ours wrote");
}

/* A build of the other sort is not damaged, which would say to remove it. */
static blm_status right_sort(const char *dir, uint64_t magic, blm_error *err)
{
    uint64_t there = state_of(dir);
    if (there == magic || (there != BLM__CLAIM_SPILL && there != BLM__CLAIM_BUILD))
        return BLM_OK;
    return blm__fail(err, BLM_E_MISMATCH,
                     "the spill directory is of another sort of build: finish that one, or give "
                     "another directory");
}

blm_status blm__claim(const char *dir, uint64_t magic, int *lock, blm_error *err)
{
    bool made = mkdir(dir, 0700) == 0;
    if (!made && errno != EEXIST)
        return failed(errno, "make", err);
    blm_status st = made ? BLM_OK : may_use(dir, magic, err);
    if (st == BLM_OK)
        st = lock_dir(dir, lock, err);
    if (st == BLM_OK)
        st = right_sort(dir, magic, err);
    return st == BLM_OK && !marked(dir) ? set_mark(dir, made, err) : st;
}

/* A power cut must not take the mark and leave a file. The lock goes when all is done: from then on the
 * directory may be another process's, and is not empty. */
void blm__claim_end(const char *dir)
{
    char path[BLM__CLAIM_PATH];
    unlink(path_in(dir, "lock", path)); /* an earlier version's */
    blm__os.sync_dir(dir);
    unlink(path_in(dir, marks[0], path));
    bool made = unlink(path_in(dir, marks[1], path)) == 0;
    unlink(path_in(dir, LOCK, path));
    if (made)
        rmdir(dir);
}

/* ---- names ---- */

static bool is_name_of_ours(const char *name)
{
    static const char *const whole[]    = { "lock",  "state", "state.new", "fresh",
                                            "words", "in",    "out",       "pass" };
    static const char *const numbered[] = { "part.", "in.", "out.", "level." };
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(name, whole[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        size_t n = strlen(numbered[i]);
        if (strncmp(name, numbered[i], n) == 0 &&
            strspn(name + n, "0123456789") == strlen(name + n))
            return true;
    }
    return is_claim(name);
}

blm_status blm__claim_spares(const char *dir, const char *path, blm_error *err)
{
    char        parent[BLM__CLAIM_PATH];
    struct stat a, b;
    const char *slash = strrchr(path, '/');
    if (!is_name_of_ours(slash ? slash + 1 : path))
        return BLM_OK;
    size_t n = slash ? (size_t)(slash - path) + 1 : 0;
    if (n >= sizeof parent)
        return BLM_OK; /* no directory of ours has so long a name */
    snprintf(parent, sizeof parent, "%.*s.", (int)n, path);
    if (stat(dir, &a) != 0 || stat(parent, &b) != 0 || a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return BLM_OK;
    return blm__fail_with(err, BLM_E_ARGUMENT, "save it under another name or elsewhere",
                          "a file of the spill directory has the filter's name");
}
