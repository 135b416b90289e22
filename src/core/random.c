/* SPDX-License-Identifier: MIT */
/* Nobody may be able to guess a seed: whoever knows it can make keys that collide. */
#include "core/random.h"

#include <errno.h>
#include <stdio.h>
#if defined(__linux__)
#include <sys/random.h>
#elif defined(__wasi__)
#include <unistd.h>
#endif

#if defined(__wasi__)
/* There is no device; the host gives at most 256 bytes at a time. */
static bool from_device(unsigned char *p, size_t len)
{
    size_t n = 0;
    while (len > 0 && getentropy(p, n = len < 256 ? len : 256) == 0) {
        p += n;
        len -= n;
    }
    return len == 0;
}
#else
static bool from_device(unsigned char *p, size_t len)
{
    FILE *f = fopen("/dev/urandom", "rb");
    if (!f)
        return false;
    setvbuf(f, NULL, _IONBF, 0);
    size_t got = fread(p, 1, len, f);
    fclose(f);
    return got == len;
}
#endif

bool blm__random(void *out, size_t len)
{
    int            saved = errno; /* the library does not change it */
    bool           ok    = false;
    unsigned char *p     = out;
#if defined(__linux__)
    while (len > 0) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        p += n;
        len -= (size_t)n;
    }
#endif
    ok    = len == 0 || from_device(p, len);
    errno = saved;
    return ok;
}
