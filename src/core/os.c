/* SPDX-License-Identifier: MIT */
#include "core/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int os_write_at(int fd, const void *bytes, size_t len, uint64_t at)
{
    const char *p = bytes;
    while (len > 0) {
        size_t  some = len < (size_t)1 << 30 ? len : (size_t)1 << 30;
        ssize_t n    = pwrite(fd, p, some, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0)
            return EIO; /* a regular file never does this */
        p += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return 0;
}

static int os_sync_file(int fd)
{
    int n;
    do {
#if defined(F_FULLFSYNC)
        n = fcntl(fd, F_FULLFSYNC); /* macOS: fsync stops at the drive's cache */
        if (n < 0 && errno != EINTR)
            n = fsync(fd);
#elif defined(_POSIX_SYNCHRONIZED_IO) && _POSIX_SYNCHRONIZED_IO > 0
        n = fdatasync(fd);
#else
        n = fsync(fd);
#endif
    } while (n < 0 && errno == EINTR);
    return n < 0 ? errno : 0;
}

static int os_sync_map(void *map, size_t len)
{
    int n;
    do
        n = msync(map, len, MS_SYNC);
    while (n < 0 && errno == EINTR);
    return n < 0 ? errno : 0;
}

static int os_sync_dir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int n;
    do
        n = fsync(fd);
    while (n < 0 && errno == EINTR);
    int why = n < 0 ? errno : 0;
    close(fd);
    return why == EINVAL ? 0 : why; /* a file system that cannot fsync a directory */
}

/* For file systems that cannot reserve: writes zeroes past the end of the file. What is already
 * there, between `at` and `at + len`, was written by us and is written again unchanged. */
static int os_fill(int fd, uint64_t at, uint64_t len)
{
    char    page[4096];
    int64_t end = lseek(fd, 0, SEEK_END);
    if (end < 0)
        return errno;
    while (len > 0) {
        size_t some = len < sizeof page ? (size_t)len : sizeof page, got = 0;
        memset(page, 0, sizeof page);
        int why = at < (uint64_t)end ? blm__os_read_at(fd, page, some, at, &got) : 0;
        if (!why)
            why = os_write_at(fd, page, some, at);
        if (why)
            return why;
        at += some;
        len -= some;
    }
    return 0;
}

static int os_reserve(int fd, uint64_t at, uint64_t len)
{
#if defined(__APPLE__)
    return os_fill(fd, at, len);
#else
    int why;
    do
        why = posix_fallocate(fd, (off_t)at, (off_t)len);
    while (why == EINTR);
    return why == EOPNOTSUPP || why == EINVAL || why == ENOSYS ? os_fill(fd, at, len) : why;
#endif
}

static int os_rename_over(const char *from, const char *to)
{
    return rename(from, to) < 0 ? errno : 0;
}

static int os_rename_new(const char *from, const char *to)
{
#if defined(RENAME_NOREPLACE)
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
#endif
    if (link(from, to) < 0)
        return errno;
    unlink(from);
    return 0;
}

#if defined(O_TMPFILE)
/* The name by which linkat finds an open file. AT_EMPTY_PATH would need privileges. */
static const char *proc_name(int fd, char out[32])
{
    snprintf(out, 32, "/proc/self/fd/%d", fd);
    return out;
}

static int os_open_nameless(const char *dir, unsigned mode, int *fd)
{
    char name[32];
    int  n = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, (mode_t)mode);
    if (n < 0)
        return errno;
    if (access(proc_name(n, name), F_OK) < 0) { /* no /proc: it could never be named */
        close(n);
        return EOPNOTSUPP;
    }
    *fd = n;
    return 0;
}

static int os_give_name(int fd, const char *path)
{
    char name[32];
    return linkat(AT_FDCWD, proc_name(fd, name), AT_FDCWD, path, AT_SYMLINK_FOLLOW) < 0 ? errno : 0;
}
#else
static int os_open_nameless(const char *dir, unsigned mode, int *fd)
{
    (void)dir;
    (void)mode;
    (void)fd;
    return EOPNOTSUPP;
}

static int os_give_name(int fd, const char *path)
{
    (void)fd;
    (void)path;
    return EOPNOTSUPP;
}
#endif

/* /proc/sys/kernel/random/boot_id: 36 characters of a UUID. */
static bool os_boot_id(uint8_t out[16])
{
    char   text[36];
    size_t got = 0, n = 0;
    int    fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t len = read(fd, text, sizeof text);
    close(fd);
    memset(out, 0, 16);
    for (; len > 0 && got < (size_t)len; got++) {
        char     c = text[got];
        unsigned v = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                            : 16;
        if (v > 15)
            continue;
        if (n == 32)
            return false;
        out[n / 2] = (uint8_t)((unsigned)out[n / 2] << 4 | v);
        n++;
    }
    return n == 32;
}

static uint64_t nanoseconds(struct timespec t)
{
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t os_now(void)
{
    struct timespec t = { 0, 0 };
    clock_gettime(CLOCK_REALTIME, &t);
    return nanoseconds(t);
}

static uint64_t os_changed(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return UINT64_MAX;
#if defined(__APPLE__)
    return nanoseconds(st.st_ctimespec);
#else
    return nanoseconds(st.st_ctim);
#endif
}

/* Numbers of inodes are used again, but not with the same time of birth, where the system keeps
 * one. */
static uint64_t os_place(const char *path)
{
#if defined(STATX_BTIME)
    struct statx st;
    if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &st) < 0)
        return 0;
    uint64_t inode = st.stx_ino, born = 0;
    if (st.stx_mask & STATX_BTIME)
        born = (uint64_t)st.stx_btime.tv_sec * 1000000000u + st.stx_btime.tv_nsec;
#else
    struct stat st;
    if (stat(path, &st) < 0)
        return 0;
    uint64_t inode = (uint64_t)st.st_ino, born = 0;
#endif
    uint64_t place = inode * 0x9e3779b97f4a7c15u + born;
    return place ? place : 1;
}

struct blm__os blm__os = {
    .write_at      = os_write_at,
    .sync_file     = os_sync_file,
    .sync_map      = os_sync_map,
    .sync_dir      = os_sync_dir,
    .reserve       = os_reserve,
    .rename_over   = os_rename_over,
    .rename_new    = os_rename_new,
    .open_nameless = os_open_nameless,
    .give_name     = os_give_name,
    .boot_id       = os_boot_id,
    .now           = os_now,
    .changed       = os_changed,
    .place         = os_place,
};

#if defined(F_OFD_SETLK)
#define LAST_BYTE ((off_t)((uint64_t)1 << (sizeof(off_t) * 8 - 2))) /* past the end of every file */

static int ofd_lock(int fd, int command, short type, off_t from, short *found)
{
    struct flock l;
    memset(&l, 0, sizeof l); /* OFD locks want l_pid = 0 */
    l.l_type   = type;
    l.l_whence = SEEK_SET;
    l.l_start  = from;
    int n;
    do
        n = fcntl(fd, command, &l);
    while (n < 0 && errno == EINTR);
    if (found)
        *found = l.l_type;
    return n < 0 ? errno : 0;
}

int blm__lock_try(int fd)
{
    int why = ofd_lock(fd, F_OFD_SETLK, F_WRLCK, 0, NULL);
    return why == EACCES ? EAGAIN : why;
}
void blm__lock_drop(int fd) { ofd_lock(fd, F_OFD_SETLK, F_UNLCK, 0, NULL); }
bool blm__lock_held(int fd)
{
    short found = F_UNLCK;
    return ofd_lock(fd, F_OFD_GETLK, F_WRLCK, 0, &found) == 0 && found != F_UNLCK;
}
void blm__lock_ready(int fd) { ofd_lock(fd, F_OFD_SETLK, F_UNLCK, LAST_BYTE, NULL); }
bool blm__lock_preparing(int fd)
{
    short found = F_UNLCK;
    return ofd_lock(fd, F_OFD_GETLK, F_WRLCK, LAST_BYTE, &found) == 0 && found != F_UNLCK;
}
#else
int blm__lock_try(int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno == EWOULDBLOCK ? EAGAIN : errno;
}
void blm__lock_drop(int fd) { flock(fd, LOCK_UN); }
/* flock cannot ask without taking the lock: for a moment a new writer may get "busy". */
bool blm__lock_held(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) < 0)
        return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
}
void blm__lock_ready(int fd) { (void)fd; }
bool blm__lock_preparing(int fd) { return blm__lock_held(fd); }
#endif

int blm__os_read_at(int fd, void *bytes, size_t len, uint64_t at, size_t *got)
{
    char *p = bytes;
    *got    = 0;
    while (*got < len) {
        ssize_t n = pread(fd, p + *got, len - *got, (off_t)(at + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return 0;
}

size_t blm__os_parent(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
}

int blm__os_follow(char path[BLM__OS_PATH])
{
    char    to[BLM__OS_PATH];
    ssize_t n;
    for (int links = 0; (n = readlink(path, to, sizeof to - 1)) > 0; links++) {
        const char *slash  = strrchr(path, '/');
        size_t      folder = to[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - path);
        if (links == 40) /* as Linux does */
            return ELOOP;
        if ((size_t)n >= BLM__OS_PATH - folder)
            return ENAMETOOLONG;
        to[n] = 0;
        memcpy(path + folder, to, (size_t)n + 1);
    }
    return 0;
}

int blm__os_sync_parent(const char *path)
{
    char   dir[BLM__OS_PATH];
    size_t len = blm__os_parent(path);
    if (len >= sizeof dir)
        return ENAMETOOLONG;
    memcpy(dir, len ? path : ".", len ? len : 1);
    dir[len ? len : 1] = 0;
    return blm__os.sync_dir(dir);
}

const char *blm__os_text(int number)
{
    switch (number) {
    case EACCES:
    case EPERM:
        return "permission denied";
    case EBUSY:
        return "in use";
    case EDQUOT:
        return "disk quota exceeded";
    case EEXIST:
        return "the file exists";
    case EFBIG:
        return "larger than files may be";
    case EINVAL:
        return "not possible here";
    case EIO:
        return "input/output error";
    case EISDIR:
        return "is a directory";
    case ELOOP:
        return "too many symbolic links";
    case EMFILE:
    case ENFILE:
        return "too many open files";
    case ENAMETOOLONG:
        return "the name is too long";
    case ENODEV:
    case ENXIO:
        return "no such device";
    case ENOENT:
        return "no such file or directory";
    case ENOLCK:
        return "no locks available";
    case ENOMEM:
        return "out of memory";
    case ENOSPC:
        return "no space left on the device";
    case ENOTDIR:
        return "a part of the path is not a directory";
    case EROFS:
        return "the file system is read-only";
    case ESTALE:
        return "the file server lost the file";
    case ETXTBSY:
        return "the file is being executed";
    case EXDEV:
        return "another file system";
    default:
        return "the system refused";
    }
}
