/* SPDX-License-Identifier: MIT */
/*
 * Near copies in files, which other processes map. A filter in one key is one native file. Shards are
 * a directory:
 *
 *   shards          the descriptor, a line of text, as the cluster has it (docs/scale.md)
 *   ID-00000.blm …  a native file for each shard, ID as in the descriptor
 *
 * Several files and not one, because no kind of one file sends a key to one of its layers by another
 * hash than its own, and layers that are all asked would add up their rates.
 *
 * The descriptor comes last, by a rename, when all shards are there; and so does another one's, if the
 * filter is sharded anew. Files that no descriptor names are then deleted. How current a copy is, is
 * the modification time of the file, or of the descriptor.
 */
#include "near.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DESCRIPTOR "shards"
#define MOST_PATH  4096
#define SLACK_US   100000 /* a date may be so far ahead of the clock */
#define NOT_A_FILE ENODEV

static blm_status fail_io(blm_error *err, const char *what, const char *path)
{
    int error = errno;
    blm__redis_fail(err, BLM_E_IO, "cannot %s %.150s: %s", what, path, strerror(error));
    err->system = error;
    return BLM_E_IO;
}

/* The file of a shard. */
static void shard_path(const blm_near *n, uint32_t shard, char out[MOST_PATH])
{
    if (n->directory)
        snprintf(out, MOST_PATH, "%s/%08x-%05u.blm", n->file, (unsigned)n->follows->id,
                 (unsigned)shard);
    else
        snprintf(out, MOST_PATH, "%s", n->file);
}

/* The file whose modification time is how current the copy is. */
static void dated_path(const blm_near *n, char out[MOST_PATH])
{
    snprintf(out, MOST_PATH, n->directory ? "%s/" DESCRIPTOR : "%s", n->file);
}

/* Can the new bits be added to the copy's, so that those who map its file need not notice? Not of a
 * kind that grows, even if this one may not: its union appends layers. */
static bool can_unite(const blm_filter *copy, const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    return copy && blm_get_params(copy, &p) == BLM_OK && p.cell_bits == 1 &&
           p.can & BLM_CAN_UNION && !(p.can & BLM_CAN_GROW) &&
           !(blm_kind_find(p.kind)->can & BLM_CAN_GROW) && blm_can_meet(copy, f, NULL) == BLM_OK;
}

/* Might the file be a copy of ours, although it could not be opened? */
static bool is_unknown(blm_status st)
{
    return st == BLM_E_IO || st == BLM_E_SPACE || st == BLM_E_MEMORY || st == BLM_E_BUSY;
}

/* A shard's file as it is, and how current that is. *out NULL: there is none, or not one of ours; then
 * saving says so. */
static blm_status open_file(blm_near *n, const char *path, blm_filter **out, blm_error *err)
{
    blm_options o = BLM_OPTIONS_INIT;
    struct stat s;
    *out    = NULL;
    o.flags = BLM_WRITE;
    if (stat(path, &s) != 0)
        return BLM_OK;
    blm_status st = blm_open(path, &o, out, err);
    if (st != BLM_OK)
        return is_unknown(st) ? st : BLM_OK;
    if (!n->directory) {
        if (!n->dated)
            n->date = (struct timespec){ .tv_sec = s.st_mtime };
        n->dated = true;
    }
    return BLM_OK;
}

blm_status blm__near_date(blm_near *n, blm_error *err)
{
    char path[MOST_PATH];
    if (!n->file || !n->dated || (n->directory && !n->told))
        return BLM_OK;
    dated_path(n, path);
    if (utimensat(AT_FDCWD, path, (struct timespec[2]){ n->date, n->date }, 0) != 0)
        return fail_io(err, "date", path);
    return BLM_OK;
}

/* Into the shard's file. */
static blm_status place_in_file(blm_near *n, uint32_t shard, blm_filter *f, blm_error *err)
{
    struct blm__copy *c = &n->copies[shard];
    blm_error         other;
    blm_options       o    = BLM_OPTIONS_INIT;
    bool              ours = c->loads > 0 || n->directory; /* the file */
    blm_status        st   = BLM_OK;
    blm_filter       *old  = c->filter;
    char              path[MOST_PATH];
    shard_path(n, shard, path);
    o.flags = BLM_WRITE;
    if (!old)
        st = open_file(n, path, &old, err);
    if (st != BLM_OK && !ours && !n->o.replace) {
        blm_free(f); /* and the file stays: nobody knows whose it is */
        return st;
    }
    if (can_unite(old, f)) {
        st        = blm_union(old, f, err);
        c->filter = old;
    } else {
        bool replaces = n->o.replace || ours || (old && blm_can_meet(old, f, NULL) == BLM_OK);
        blm_free(old);
        st        = blm_save(f, path, "native", replaces ? BLM_REPLACE : 0, err);
        c->filter = NULL;
        if (st == BLM_OK) /* readers have the old file: a new descriptor tells them to open again */
            n->told = false;
        if (st == BLM_OK)
            st = blm_open(path, &o, &c->filter, err);
        else if (ours) /* the old one is still there */
            open_file(n, path, &c->filter, &other);
    }
    blm_free(f);
    return st;
}

blm_status blm__near_place(blm_near *n, uint32_t shard, blm_filter *f, blm_error *err)
{
    struct blm__copy *c  = &n->copies[shard];
    blm_status        st = BLM_OK;
    if (n->file) {
        st = place_in_file(n, shard, f, err);
    } else {
        blm_free(c->filter);
        c->filter = f;
    }
    c->loads += st == BLM_OK;
    return st;
}

/* ---- directories ---- */

/* For reading; -1 and errno. A pipe by that name would have us wait for somebody to write to it. */
static int open_regular(const char *path, struct stat *s)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    int why = fstat(fd, s) != 0 ? errno : S_ISREG(s->st_mode) ? 0 : NOT_A_FILE;
    if (why == 0)
        return fd;
    close(fd);
    errno = why;
    return -1;
}

/* The descriptor that the directory has. False: none. */
static bool read_descriptor(const blm_near *n, char out[BLM__SHARDS_TEXT])
{
    char        path[MOST_PATH];
    struct stat s;
    dated_path(n, path);
    int   fd   = open_regular(path, &s);
    FILE *f    = fd >= 0 ? fdopen(fd, "r") : NULL;
    bool  good = f && fgets(out, BLM__SHARDS_TEXT, f) != NULL;
    if (f)
        fclose(f);
    else if (fd >= 0)
        close(fd);
    if (good)
        out[strcspn(out, "\n")] = 0;
    return good;
}

/* Is this the name of a shard's file? *id becomes that in it. */
static bool is_shard(const char *name, unsigned *id)
{
    unsigned number;
    int      used = 0;
    return sscanf(name, "%8x-%5u.blm%n", id, &number, &used) == 2 && used > 0 && !name[used];
}

/* Calls `each` with the names in the directory that do not begin with a dot, until it says false. */
static bool for_names(const blm_near *n, bool (*each)(const blm_near *n, const char *name))
{
    DIR *d = opendir(n->file);
    if (!d)
        return false;
    bool good = true;
    for (struct dirent *e; good && (e = readdir(d));)
        good = e->d_name[0] == '.' || each(n, e->d_name);
    closedir(d);
    return good;
}

static bool looks_ours(const blm_near *n, const char *name)
{
    unsigned id;
    (void)n;
    return is_shard(name, &id) || strcmp(name, DESCRIPTOR) == 0;
}

static bool delete_others(const blm_near *n, const char *name)
{
    unsigned id;
    char     path[MOST_PATH];
    if (is_shard(name, &id) && id != n->follows->id) {
        snprintf(path, sizeof path, "%s/%s", n->file, name);
        unlink(path);
    }
    return true;
}

blm_status blm__near_claim(blm_near *n, blm_error *err)
{
    char text[BLM__SHARDS_TEXT], ours[BLM__SHARDS_TEXT];
    if (!n->directory && n->shards > 1)
        return blm__redis_fail(err, BLM_E_UNSUPPORTED,
                               "the filter is in shards by now, which are not in one file: open it "
                               "again");
    n->told = false;
    if (!n->directory)
        return BLM_OK;
    if (mkdir(n->file, 0777) != 0 && errno != EEXIST)
        return fail_io(err, "make", n->file);
    blm__shards_write(n->follows, ours);
    bool any = read_descriptor(n, text);
    n->told  = any && strcmp(text, ours) == 0;
    if (n->told || n->o.replace || n->loads)
        return BLM_OK;
    return any || !for_names(n, looks_ours)
               ? blm__redis_fail(err, BLM_E_EXISTS, "what is there is not a copy of this filter")
               : BLM_OK;
}

static blm_status write_descriptor(blm_near *n, blm_error *err)
{
    char text[BLM__SHARDS_TEXT], path[MOST_PATH], other[MOST_PATH];
    dated_path(n, path);
    snprintf(other, sizeof other, "%s/." DESCRIPTOR ".%ld", n->file, (long)getpid());
    blm__shards_write(n->follows, text);
    FILE *f    = fopen(other, "we");
    bool  good = f && fprintf(f, "%s\n", text) > 0 && fflush(f) == 0 && fsync(fileno(f)) == 0;
    if (f)
        good = fclose(f) == 0 && good;
    if (good && utimensat(AT_FDCWD, other, (struct timespec[2]){ n->date, n->date }, 0) == 0 &&
        rename(other, path) == 0) {
        n->told = true;
        for_names(n, delete_others);
        return BLM_OK;
    }
    fail_io(err, "write", path);
    unlink(other);
    return BLM_E_IO;
}

void blm__near_abandon(blm_near *n)
{
    if (n->file && n->directory && !n->told && !n->reads)
        rmdir(n->file); /* if it is empty */
}

blm_status blm__near_publish(blm_near *n, const struct timespec *then, blm_error *err)
{
    if (!n->file)
        return BLM_OK;
    pthread_rwlock_wrlock(&n->lock); /* adds of our own read it */
    n->date  = *then;
    n->dated = true;
    pthread_rwlock_unlock(&n->lock);
    return n->directory && !n->told ? write_descriptor(n, err) : BLM_OK;
}

/* ---- copies that another process keeps ---- */

/* A handle for the routes alone. NULL: no memory, or that is no descriptor; err says. */
static blm_remote *routes_of(blm_near *n, blm_error *err)
{
    char        text[BLM__SHARDS_TEXT];
    blm_remote *r  = calloc(1, sizeof *r);
    blm_status  st = BLM_OK;
    if (!r || !(r->url.key = calloc(1, 1)))
        st = blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    else if (!n->directory)
        st = blm__shards_one(r, err);
    else if (!read_descriptor(n, text))
        st = blm__redis_fail(err, BLM_E_FORMAT, "this is not a copy of a filter in shards");
    else
        st = blm__shards_read(r, text, err);
    if (st == BLM_OK)
        return r;
    err->status = st;
    blm_remote_close(r);
    return NULL;
}

/* Opens the copy as it is now. */
static blm_status open_all(blm_near *n, blm_error *err)
{
    char        path[MOST_PATH];
    blm_remote *r = routes_of(n, err), *old = n->follows;
    if (!r)
        return err->status;
    struct blm__copy *copies = calloc(r->shards, sizeof *copies), *before = n->copies;
    uint32_t          count = n->shards;
    blm_status        st    = copies ? BLM_OK : blm__redis_fail(err, BLM_E_MEMORY, "out of memory");
    pthread_rwlock_wrlock(&n->lock);
    n->follows = r;
    for (uint32_t i = 0; st == BLM_OK && i < r->shards; i++) {
        shard_path(n, i, path);
        st              = blm_open(path, NULL, &copies[i].filter, err);
        copies[i].loads = 1 + (before && i < count ? before[i].loads : 0);
    }
    if (st == BLM_OK) {
        n->copies = copies;
        n->shards = r->shards;
    } else {
        n->follows = old;
    }
    pthread_rwlock_unlock(&n->lock);
    blm__near_forget(st == BLM_OK ? before : copies, st == BLM_OK ? count : r->shards, NULL);
    blm_remote_close(st == BLM_OK ? old : r);
    return st;
}

/* Opens the copy that is there now. The file that says so stays open as long as we have it: its inode's
 * number can then be no other file's, so that whoever has that number is that file. */
static blm_status open_now(blm_near *n, const char *path, blm_error *err)
{
    struct stat s;
    int         fd = open_regular(path, &s);
    blm_status  st;
    if (fd < 0 && errno == NOT_A_FILE)
        st = blm__redis_fail(err, BLM_E_UNSUPPORTED, "%.150s is not a regular file", path);
    else
        st = fd < 0 ? fail_io(err, "read", path) : open_all(n, err);
    if (st == BLM_OK) {
        blm__near_release(n);
        n->held = fd + 1;
        n->is   = s;
        atomic_fetch_add(&n->loads, n->shards);
    } else if (fd >= 0) {
        close(fd);
    }
    return st;
}

void blm__near_release(blm_near *n)
{
    if (n->held)
        close(n->held - 1);
    n->held = 0;
}

/* Since when a file of this date is as it is. 0: that is not known, since its date is still to come. */
static uint64_t since(const struct timespec *date)
{
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    uint64_t now = blm__near_now();
    double   us =
        (double)(wall.tv_sec - date->tv_sec) * 1e6 + (double)(wall.tv_nsec - date->tv_nsec) * 1e-3;
    if (us < -SLACK_US || us >= (double)now)
        return 0;
    return us > 0 ? now - (uint64_t)us : now;
}

blm_status blm__near_look(blm_near *n, blm_error *err)
{
    char        path[MOST_PATH];
    struct stat s;
    dated_path(n, path);
    atomic_store(&n->looked, blm__near_now());
    if (stat(path, &s) != 0)
        return fail_io(err, "read", path);
    if (!n->copies || s.st_ino != n->is.st_ino || s.st_dev != n->is.st_dev) {
        blm_status st = open_now(n, path, err);
        if (st != BLM_OK)
            return st;
        s = n->is;
    }
    atomic_store(&n->since, since(&s.st_mtim));
    return BLM_OK;
}
