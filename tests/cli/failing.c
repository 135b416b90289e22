/* SPDX-License-Identifier: MIT */
/* Loaded before the C library (LD_PRELOAD), it lets one call of a program fail:
 *
 *     FAIL_WHAT=memory|calls|short  allocations; calls that open, map, write, flush, rename and talk to
 *                                   others; or none, and every write and read does only part of what
 *                                   it was asked
 *     FAIL_AT=N                     which, counted from 1 at main
 *     FAIL_WITH=NUMBER              the error number of a call
 *     FAIL_ON=1                     all from there on fail (memory)
 *     FAIL_OWN=1                    only allocations that the program itself asks for, not its libraries
 *     FAIL_MARK=PATH                this file is made when the call fails, with its name in it
 *     FAIL_HURRY=N                  clocks run N times as fast, but for the time of day
 *
 * The program cannot tell this from a machine without memory, or with a broken disk or network. Standard
 * error always works: what is said there is what a test looks at.
 *
 * With AddressSanitizer too: its memory is given then. It has to be told that this library may come before
 * its own (ASAN_OPTIONS=verify_asan_link_order=0), or it ends the program at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NOTHING, MEMORY, CALLS, SHORT };

static int         what, number;
static long        fail_at;
static bool        from_there_on, own_only;
static atomic_long calls;
static const char *mark;
static int (*real_main)(int, char **, char **);

static void leave_mark(const char *name)
{
    if (mark) {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT, 0600);
        if (fd >= 0) {
            syscall(SYS_write, fd, name, strlen(name));
            syscall(SYS_close, fd);
        }
    }
}

static bool fails(int of, const char *name)
{
    if (what != of)
        return false;
    long n = atomic_fetch_add(&calls, 1) + 1;
    if (n != fail_at && !(from_there_on && n > fail_at))
        return false;
    leave_mark(name);
    errno = of == MEMORY ? ENOMEM : number;
    return true;
}

/* ---- main ---- */

static int armed_main(int argc, char **argv, char **env)
{
    const char *w = getenv("FAIL_WHAT"), *n = getenv("FAIL_AT"), *e = getenv("FAIL_WITH");
    fail_at       = n ? atol(n) : 0;
    number        = e ? atoi(e) : EIO;
    mark          = getenv("FAIL_MARK");
    from_there_on = getenv("FAIL_ON") != NULL;
    own_only      = getenv("FAIL_OWN") != NULL;
    what          = !w                         ? NOTHING
                    : strcmp(w, "memory") == 0 ? MEMORY
                    : strcmp(w, "calls") == 0  ? CALLS
                                               : SHORT;
    return real_main(argc, argv, env);
}

int __libc_start_main(int (*of)(int, char **, char **), int argc, char **argv,
                      int (*init)(int, char **, char **), void (*fini)(void), void (*rtld)(void),
                      void *stack);
int __libc_start_main(int (*of)(int, char **, char **), int argc, char **argv,
                      int (*init)(int, char **, char **), void (*fini)(void), void (*rtld)(void),
                      void *stack)
{
    __typeof__(&__libc_start_main) real;
    *(void **)&real = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main       = of;
    return real(armed_main, argc, argv, init, fini, rtld, stack);
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

/* AddressSanitizer's, if it is there. */
#pragma weak __interceptor_malloc
#pragma weak __interceptor_calloc
#pragma weak __interceptor_realloc
#pragma weak __interceptor_memalign
extern void *__interceptor_malloc(size_t), *__interceptor_calloc(size_t, size_t),
    *__interceptor_realloc(void *, size_t), *__interceptor_memalign(size_t, size_t);

#define GIVE(name) (__interceptor_##name ? __interceptor_##name : __libc_##name)

/* Is this the program's own code? Its main is in the same object. */
static bool own(const void *caller)
{
    Dl_info a, b;
    if (!own_only)
        return true;
    if (what != MEMORY) /* before main dladdr may not be used */
        return false;
    int wanted = what;
    what       = NOTHING; /* dladdr must not count */
    bool same =
        dladdr(caller, &a) && dladdr(*(void **)&real_main, &b) && a.dli_fbase == b.dli_fbase;
    what = wanted;
    return same;
}

#define MAY_FAIL (what == MEMORY && own(__builtin_return_address(0)) && fails(MEMORY, __func__))

void *malloc(size_t n) { return MAY_FAIL ? NULL : GIVE(malloc)(n); }
void *calloc(size_t n, size_t each) { return MAY_FAIL ? NULL : GIVE(calloc)(n, each); }
void *realloc(void *p, size_t n) { return MAY_FAIL ? NULL : GIVE(realloc)(p, n); }
void *aligned_alloc(size_t to, size_t n) { return MAY_FAIL ? NULL : GIVE(memalign)(to, n); }
void *memalign(size_t to, size_t n) { return MAY_FAIL ? NULL : GIVE(memalign)(to, n); }
int   posix_memalign(void **out, size_t to, size_t n)
{
    void *p = MAY_FAIL ? NULL : GIVE(memalign)(to, n);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

/* ---- calls ---- */

#define REAL(name)                 \
    static __typeof__(&name) real; \
    if (!real)                     \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

#define CALL(type, name, parameters, given, failure)                  \
    type name parameters                                              \
    {                                                                 \
        REAL(name);                                                   \
        return fails(CALLS, __func__) ? (type)(failure) : real given; \
    }

/* A call that opens, under both its names. */
#define OPENS(name)                                                                            \
    int name(const char *path, int flags, ...)                                                 \
    {                                                                                          \
        va_list args;                                                                          \
        va_start(args, flags);                                                                 \
        int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, int) : 0;                      \
        va_end(args);                                                                          \
        return fails(CALLS, __func__) ? -1                                                     \
                                      : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode); \
    }
OPENS(open)
OPENS(open64)

/* Part of it: a third, and one byte at least. */
static size_t part(size_t n) { return what == SHORT && n > 1 ? n / 3 + 1 : n; }

ssize_t write(int fd, const void *p, size_t n)
{
    return fd != 2 && fails(CALLS, __func__) ? -1
                                             : syscall(SYS_write, fd, p, fd == 2 ? n : part(n));
}
ssize_t writev(int fd, const struct iovec *v, int n)
{
    if (what == SHORT && n > 0)
        return syscall(SYS_write, fd, v[0].iov_base, part(v[0].iov_len));
    return fails(CALLS, __func__) ? -1 : syscall(SYS_writev, fd, v, n);
}
ssize_t read(int fd, void *p, size_t n) { return syscall(SYS_read, fd, p, part(n)); }

#define PARTLY(name, number_of, type)                                                \
    ssize_t name(int fd, type p, size_t n, off_t at)                                 \
    {                                                                                \
        return fails(CALLS, __func__) ? -1 : syscall(number_of, fd, p, part(n), at); \
    }
PARTLY(pwrite, SYS_pwrite64, const void *)
PARTLY(pwrite64, SYS_pwrite64, const void *)
PARTLY(pread, SYS_pread64, void *)
PARTLY(pread64, SYS_pread64, void *)

CALL(int, fsync, (int fd), (fd), -1)
CALL(int, fdatasync, (int fd), (fd), -1)
CALL(int, msync, (void *p, size_t n, int flags), (p, n, flags), -1)
CALL(int, ftruncate, (int fd, off_t n), (fd, n), -1)
CALL(int, ftruncate64, (int fd, off64_t n), (fd, n), -1)
CALL(int, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n), number)
CALL(int, posix_fallocate64, (int fd, off64_t at, off64_t n), (fd, at, n), number)
CALL(int, rename, (const char *a, const char *b), (a, b), -1)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), -1)
CALL(int, utimensat, (int at, const char *path, const struct timespec t[2], int flags),
     (at, path, t, flags), -1)
CALL(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
CALL(int, fflush, (FILE * f), (f), EOF)
CALL(int, renameat2, (int a, const char *b, int c, const char *d, unsigned e), (a, b, c, d, e), -1)
CALL(int, link, (const char *a, const char *b), (a, b), -1)
CALL(int, linkat, (int a, const char *b, int c, const char *d, int e), (a, b, c, d, e), -1)
CALL(void *, mmap, (void *p, size_t n, int a, int b, int fd, off_t at), (p, n, a, b, fd, at),
     MAP_FAILED)
CALL(void *, mmap64, (void *p, size_t n, int a, int b, int fd, off64_t at), (p, n, a, b, fd, at),
     MAP_FAILED)

/* ---- the network ---- */

CALL(int, socket, (int a, int b, int c), (a, b, c), -1)
CALL(int, bind, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), -1)
CALL(int, listen, (int fd, int n), (fd, n), -1)
CALL(int, connect, (int fd, const struct sockaddr *a, socklen_t n), (fd, a, n), -1)
CALL(int, accept, (int fd, struct sockaddr *a, socklen_t *n), (fd, a, n), -1)

ssize_t send(int fd, const void *p, size_t n, int flags)
{
    REAL(send);
    return fails(CALLS, __func__) ? -1 : real(fd, p, part(n), flags);
}
ssize_t recv(int fd, void *p, size_t n, int flags)
{
    REAL(recv);
    return fails(CALLS, __func__) ? -1 : real(fd, p, part(n), flags);
}

/* ---- time ---- */

int clock_gettime(clockid_t id, struct timespec *t)
{
    static uint64_t hurry;
    int             n = (int)syscall(SYS_clock_gettime, id, t);
    if (!hurry)
        hurry = getenv("FAIL_HURRY") ? strtoull(getenv("FAIL_HURRY"), NULL, 10) : 1;
    if (n == 0 && hurry > 1 && id != CLOCK_REALTIME) {
        uint64_t ns = ((uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec) * hurry;
        *t          = (struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
    }
    return n;
}

/* Some systems report a failed write only when standard output is closed. */
int close(int fd)
{
    bool failed = fd == 1 && fails(CALLS, __func__);
    int  n      = (int)syscall(SYS_close, fd);
    if (failed)
        errno = number;
    return failed ? -1 : n;
}

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *ctx)
{
    REAL(pthread_create);
    return fails(CALLS, __func__) ? EAGAIN : real(t, a, run, ctx);
}
