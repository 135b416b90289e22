/* SPDX-License-Identifier: MIT */
/* A directory of this process for targets whose input is a file; in memory where there is such a
 * place. */
#ifndef BLM_FUZZ_PLACE_H
#define BLM_FUZZ_PLACE_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char place[64];

static void place_leave(void)
{
    if (rmdir(place) != 0)
        perror(place);
}

static inline void place_path(char out[128], const char *name)
{
    if (!place[0]) {
        snprintf(place, sizeof place, "%s/fuzz-XXXXXX",
                 access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp");
        if (!mkdtemp(place))
            abort();
        atexit(place_leave);
    }
    snprintf(out, 128, "%s/%s", place, name);
}

static inline void place_write(const char *path, const uint8_t *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
        abort();
    close(fd);
}

#endif
