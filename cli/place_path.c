/* SPDX-License-Identifier: MIT */
/* Filters in files. A native file is mapped and changed in place. A file in another system's format
 * is read, changed in memory and replaced as a whole. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "say.h"

static bool path_exists(const char *text)
{
    struct stat st;
    return stat(text, &st) == 0;
}

static blm_status path_open(struct ref *r, blm_error *err)
{
    struct stat st;
    bool        there = stat(r->text, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        return place_fail(err, BLM_E_IO, EISDIR, NULL);
    r->size = there ? (uint64_t)st.st_size : 0;
    return blm_open(r->text, &r->options, &r->filter, err);
}

/* Layers are appended, so the file is longer if there are new ones. Mapping it again for nothing
 * would cost a fault for every page that is already mapped. */
static void path_refresh(struct ref *r)
{
    struct stat st;
    if (stat(r->text, &st) < 0 || (uint64_t)st.st_size == r->size)
        return;
    r->size = (uint64_t)st.st_size;
    blm_refresh(r->filter, NULL);
}

/* For a file that is rewritten as a whole. Two processes must not read the same old file and each
 * write a new one, or the keys of the first are lost. The lock is on the old file. After getting it
 * we test that the name still leads to that file; if not, it has been replaced meanwhile. */
static blm_status lock(struct ref *r, blm_error *err)
{
    for (;;) {
        struct stat mine, named;
        int         fd = open(r->text, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
            int error = errno;
            if (fd >= 0)
                close(fd);
            return place_fail(err, error == EWOULDBLOCK ? BLM_E_BUSY : BLM_E_IO, error, NULL);
        }
        if (fstat(fd, &mine) == 0 && stat(r->text, &named) == 0 && mine.st_ino == named.st_ino &&
            mine.st_dev == named.st_dev) {
            r->lock = fd;
            return BLM_OK;
        }
        close(fd);
    }
}

static blm_status path_change(struct ref *r, blm_error *err)
{
    blm_error first = { .offset = BLM_NO_OFFSET };
    r->options.flags |= BLM_WRITE;
    r->native     = true;
    blm_status st = path_open(r, &first);
    *err          = first;
    if (st != BLM_E_UNSUPPORTED)
        return st;
    /* Another system's format: read it, change it in memory, save it as a whole. */
    r->native = false;
    r->options.flags &= ~BLM_WRITE;
    if (r->lock < 0 && lock(r, err) != BLM_OK)
        return err->status;
    st = path_open(r, err);
    return st == BLM_E_UNSUPPORTED ? (*err = first, first.status) : st;
}

static blm_status path_create(struct ref *r, bool whole, blm_error *err)
{
    bool native = !r->options.scheme || strcmp(r->options.scheme, "native") == 0;
    if (path_exists(r->text) && !(r->options.flags & BLM_REPLACE))
        return place_fail(err, BLM_E_EXISTS, 0, NULL);
    if (r->options.like) {
        blm_params p = { .size = sizeof p };
        native = blm_get_params(r->options.like, &p) == BLM_OK && strcmp(p.format, "native") == 0;
    }
    r->native = native && !whole;
    if (r->native)
        return blm_create_file(r->text, &r->options, &r->filter, err);
    return blm_create(&r->options, &r->filter, err);
}

static blm_status path_sync(struct ref *r, blm_error *err)
{
    return r->native ? blm_sync(r->filter, err) : BLM_OK;
}

/* Some formats have no magic number, and their first bytes may be another format's too. Says so
 * now, when the format is known. */
static void tell_if_unsure(const struct ref *r, const char *format)
{
    uint8_t     head[64];
    blm_bid     bids[2] = { { NULL, 0 } };
    struct stat st;
    int         fd  = open(r->text, O_RDONLY | O_CLOEXEC);
    ssize_t     got = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
    if (got > 0 && fstat(fd, &st) == 0)
        blm_sniff(head, (size_t)got, (uint64_t)st.st_size, bids, 2);
    if (fd >= 0)
        close(fd);
    bool other = bids[0].format && strcmp(bids[0].format, format) != 0;
    if (other || (bids[0].format && bids[1].bid == bids[0].bid))
        say("%s: its bytes fit format %s too: give --from %s to the commands that read it", r->name,
            other ? bids[0].format : bids[1].format, format);
}

/* A file that was changed keeps its format, which --from may have named only roughly (gzip). */
static blm_status path_save(struct ref *r, blm_error *err)
{
    bool        changed = r->lock >= 0;
    const char *format  = changed ? NULL : r->options.format;
    blm_params  p       = { .size = sizeof p };
    if (r->native)
        return BLM_OK;
    uint32_t flags = (changed ? BLM_REPLACE : 0) | (r->options.flags & (BLM_REPLACE | BLM_PUBLIC));
    blm_status st  = blm_save(r->filter, r->text, format, flags, err);
    if (st == BLM_OK && blm_get_params(r->filter, &p) == BLM_OK)
        tell_if_unsure(r, format ? format : p.format);
    return st;
}

const struct place place_path = {
    .exists  = path_exists,
    .open    = path_open,
    .change  = path_change,
    .refresh = path_refresh,
    .create  = path_create,
    .sync    = path_sync,
    .save    = path_save,
};
