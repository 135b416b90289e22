/* SPDX-License-Identifier: MIT */
/* Asks a filter of ten million keys that stays where it is: a file behind a function that reads
 * ranges, as of an object store or an HTTP server. Counts what that takes, and checks the answers. */
#include <bloomery/far.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEYS  10000000u
#define BATCH 1000u

/* In your program: GET with "Range: bytes=offset-…", and its status as a blm_status. */
static blm_status read_range(void *ctx, uint64_t offset, void *bytes, size_t len, blm_error *err)
{
    const int *fd = ctx;
    ssize_t    n  = pread(*fd, bytes, len, (off_t)offset);
    if (n == (ssize_t)len)
        return BLM_OK;
    snprintf(err->text, sizeof err->text, "the range at %" PRIu64 " did not come: %s", offset,
             n < 0 ? strerror(errno) : "it is too short");
    return BLM_E_IO;
}

static blm_status make_file(const char *path)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.items       = KEYS;
    o.rate        = 0.01;
    blm_status st = blm_create(&o, &f, NULL);
    for (uint64_t i = 0; st == BLM_OK && i < KEYS; i++)
        if ((st = blm_add(f, &i, sizeof i)) == BLM_PRESENT)
            st = BLM_OK;
    if (st == BLM_OK)
        st = blm_save(f, path, "native", 0, NULL);
    blm_free(f);
    return st;
}

static void say(blm_far *far, const char *what, blm_far_reads *before)
{
    blm_far_reads now = { .size = sizeof now };
    blm_far_get_reads(far, &now);
    printf("%-28s %5" PRIu64 " reads, %8" PRIu64 " bytes\n", what, now.reads - before->reads,
           now.bytes - before->bytes);
    *before = now;
}

/* Half of the keys are in the filter. Returns how many of the others were answered "maybe"; −1: a
 * key that is there was answered "no". */
static int ask(blm_far *far, blm_error *err)
{
    static uint64_t numbers[BATCH];
    static blm_key  keys[BATCH];
    static uint8_t  maybe[BATCH];
    int             wrong = 0;
    for (uint64_t i = 0; i < BATCH; i++) {
        numbers[i] = i % 2 ? i * 9973 : KEYS + i;
        keys[i]    = (blm_key){ &numbers[i], sizeof numbers[i] };
    }
    if (blm_far_check_many(far, keys, BATCH, maybe, err) != BLM_OK)
        return -1;
    for (uint64_t i = 0; i < BATCH; i++) {
        if (i % 2 && !maybe[i])
            return -1;
        wrong += !(i % 2) && maybe[i];
    }
    return wrong;
}

static int run(int fd)
{
    struct stat   st;
    blm_far      *far;
    blm_error     err;
    blm_far_reads reads = { .size = sizeof reads };
    uint64_t      key   = 4711;
    bool          maybe;
    if (fstat(fd, &st) < 0)
        return 1;
    printf("%-28s %14" PRIu64 " bytes\n", "the file", (uint64_t)st.st_size);
    if (blm_far_open(read_range, &fd, (uint64_t)st.st_size, NULL, &far, &err) != BLM_OK)
        return fprintf(stderr, "%s\n", err.text), 1;
    say(far, "opened", &reads);
    bool good = blm_far_check(far, &key, sizeof key, &maybe, &err) == BLM_OK && maybe;
    say(far, "one key", &reads);
    int wrong = good ? ask(far, &err) : -1;
    say(far, "a batch of 1,000", &reads);
    blm_far_free(far);
    printf("%d of %u absent keys were answered \"maybe\"\n", wrong, BATCH / 2);
    return wrong >= 0 && wrong < 30 && reads.bytes < (uint64_t)st.st_size ? 0 : 1;
}

int main(void)
{
    char dir[] = "/tmp/bloomery-far-XXXXXX", path[64];
    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof path, "%s/keys.blm", dir);
    int fd     = make_file(path) == BLM_OK ? open(path, O_RDONLY) : -1;
    int status = fd < 0 ? 1 : run(fd);
    if (fd >= 0)
        close(fd);
    unlink(path);
    rmdir(dir);
    return status;
}
