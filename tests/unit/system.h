/* SPDX-License-Identifier: MIT */
/* The system itself, failing: open, mmap, pwrite, rename and the others are defined here, so that the
 * library in this program calls these. While armed, one call fails, or every one of a name from there
 * on, or writes and reads are cut short. (files.h wraps the library's own table of system calls; here
 * is everything below it, and what never went by the table.) Include after files.h, in one program's
 * only source. */
#ifndef BLM_UNIT_SYSTEM_H
#define BLM_UNIT_SYSTEM_H

#include <dlfcn.h>
#include <stdarg.h>

static _Thread_local struct {
    bool        on;
    uint64_t    calls;   /* while on */
    uint64_t    fail_at; /* this one, counted from 0 */
    int         number;  /* with this errno */
    bool        cut;     /* pread and pwrite do half of what was asked; none fails */
    bool        failed;
    const char *name; /* of the call that failed */
} sys;

/* What a signal may interrupt on a local disk. */
static bool sys_waits(const char *name)
{
    static const char *const names[] = { "pread",     "pwrite", "fsync",
                                         "fdatasync", "msync",  "posix_fallocate" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static bool sys_fails(const char *name)
{
    if (sys.number == EINTR && !sys_waits(name))
        return false;
    if (!sys.on || sys.calls++ != sys.fail_at)
        return false;
    sys.failed = true;
    sys.name   = name;
    errno      = sys.number;
    return true;
}

/* The C library's own, by the name that large files have there. */
static void *sys_real(const char *name)
{
    char large[32];
    snprintf(large, sizeof large, "%s64", name);
    void *f = dlsym(RTLD_NEXT, large);
    return f ? f : dlsym(RTLD_NEXT, name);
}

#define SYS_PUBLIC __attribute__((visibility("default")))
/* A call that fails by −1: its type, name, parameters, and those again. */
#define SYS_CALL(type, name, parameters, given)    \
    SYS_PUBLIC type name parameters                \
    {                                              \
        static type(*real) parameters;             \
        if (!real)                                 \
            *(void **)&real = sys_real(#name);     \
        return sys_fails(#name) ? -1 : real given; \
    }

SYS_CALL(int, ftruncate, (int fd, off_t len), (fd, len))
SYS_CALL(int, truncate, (const char *path, off_t len), (path, len))
SYS_CALL(int, fsync, (int fd), (fd))
SYS_CALL(int, fdatasync, (int fd), (fd))
SYS_CALL(int, msync, (void *map, size_t len, int flags), (map, len, flags))
SYS_CALL(int, rename, (const char *from, const char *to), (from, to))
SYS_CALL(int, link, (const char *from, const char *to), (from, to))
SYS_CALL(int, unlink, (const char *path), (path))
SYS_CALL(int, mkdir, (const char *path, mode_t mode), (path, mode))
SYS_CALL(int, fstat, (int fd, struct stat *out), (fd, out))
SYS_CALL(int, renameat2, (int a, const char *from, int b, const char *to, unsigned flags),
         (a, from, b, to, flags))
SYS_CALL(int, linkat, (int a, const char *from, int b, const char *to, int flags),
         (a, from, b, to, flags))

/* What is allowed to fail only after it was done. */
SYS_PUBLIC int close(int fd)
{
    static int (*real)(int);
    if (!real)
        *(void **)&real = sys_real("close");
    int n = real(fd);
    return sys_fails("close") ? -1 : n;
}

SYS_PUBLIC int posix_fallocate(int fd, off_t at_, off_t len)
{
    static int (*real)(int, off_t, off_t);
    if (!real)
        *(void **)&real = sys_real("posix_fallocate");
    return sys_fails("posix_fallocate") ? sys.number : real(fd, at_, len);
}

SYS_PUBLIC int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list args;
    va_start(args, flags);
    unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, unsigned) : 0;
    va_end(args);
    if (!real)
        *(void **)&real = sys_real("open");
    return sys_fails("open") ? -1 : real(path, flags, mode);
}

SYS_PUBLIC void *mmap(void *to, size_t len, int protect, int flags, int fd, off_t from)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real)
        *(void **)&real = sys_real("mmap");
    if (!(flags & MAP_ANONYMOUS) && sys_fails("mmap"))
        return MAP_FAILED;
    return real(to, len, protect, flags, fd, from);
}

static size_t sys_some(size_t len) { return sys.on && sys.cut && len > 1 ? len / 2 : len; }

SYS_PUBLIC ssize_t pwrite(int fd, const void *bytes, size_t len, off_t to)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real)
        *(void **)&real = sys_real("pwrite");
    return sys_fails("pwrite") ? -1 : real(fd, bytes, sys_some(len), to);
}

SYS_PUBLIC ssize_t pread(int fd, void *bytes, size_t len, off_t from)
{
    static ssize_t (*real)(int, void *, size_t, off_t);
    if (!real)
        *(void **)&real = sys_real("pread");
    return sys_fails("pread") ? -1 : real(fd, bytes, sys_some(len), from);
}

/* Call number `at_` fails with this errno; SIZE_MAX: none. */
UNUSED_OK static void sys_arm(uint64_t at_, int number, bool cut)
{
    memset(&sys, 0, sizeof sys);
    sys.fail_at = at_;
    sys.number  = number;
    sys.cut     = cut;
    sys.on      = true;
}
UNUSED_OK static void sys_disarm(void) { sys.on = false; }

#endif
