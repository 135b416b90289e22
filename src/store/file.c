/* SPDX-License-Identifier: MIT */
/*
 * A filter in a mapped native file: opening, making and closing it.
 *
 * Opening reads the header, the slots and one record per layer (file_load.c), however large the
 * filter is. A reader takes no lock. A writer holds one on the file, and before it changes anything
 * it writes in the slots that it is the writer, with its boot and process.
 */
#include "store/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/os.h"
#include "core/random.h"
#include "engine/engine.h"
#include "kind/kind.h"
#include "store/replace.h"

#define TRIES 20 /* at a path that somebody keeps giving to other files */

static const struct blm__store store_reader, store_writer, store_parents;

/* ---- closing ----------------------------------------------------------------------------- */

/* The lock belongs to the open file, which a forked child has open too. So it is dropped here, and
 * not left to the last process that closes it. */
static void close_fd(int fd)
{
    blm__lock_drop(fd);
    close(fd);
}

static blm_status file_close(struct blm__body *b, blm_error *err)
{
    struct blm__file *f       = blm__file_of(b);
    int               fd      = f->fd;
    bool              parents = f->begun && blm__file_mine(f, NULL) != BLM_OK;
    blm__fork_unwatch(&f->forks);
    blm_status st = f->begun && !parents ? blm__file_finish(b, err) : BLM_OK;
    if (st == BLM_OK && f->begun && !parents)
        blm__undo_end(f, b);
    blm__file_release(b, f);
    if (parents)
        close(fd); /* the lock is the parent's */
    else
        close_fd(fd);
    return st;
}

/* ---- opening ----------------------------------------------------------------------------- */

static blm_status refuse_open(int why, bool write, blm_error *err)
{
    return write ? blm__fail_write(err, why, "cannot open it for writing: %s", blm__os_text(why))
                 : blm__fail_system(err, why, "cannot open it: %s", blm__os_text(why));
}

/* Opens a regular file and reads its first bytes; head is zero where there are none. */
static blm_status open_file(const char *path, bool write, int *out, uint8_t *head, size_t *got,
                            blm_error *err)
{
    struct stat st;
    int         fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return refuse_open(errno, write, err);
    blm_status status = BLM_OK;
    int        why    = fstat(fd, &st) < 0 ? errno : 0;
    memset(head, 0, BLM__HEAD_BYTES);
    if (!why && S_ISDIR(st.st_mode))
        why = EISDIR;
    if (!why && S_ISREG(st.st_mode))
        why = blm__os_read_at(fd, head, BLM__HEAD_BYTES, 0, got);
    if (why)
        status = refuse_open(why, write, err);
    else if (!S_ISREG(st.st_mode))
        status = blm__fail(err, BLM_E_UNSUPPORTED, "not a regular file");
    else if (*got == 0)
        status = blm__fail_at(err, BLM_E_TRUNCATED, 0, "the file is empty");
    else if (write && !(st.st_mode & 0222)) /* the superuser could, but should not */
        status = refuse_open(EACCES, true, err);
    if (status != BLM_OK)
        close(fd);
    else
        *out = fd;
    return status;
}

static blm_status busy(int fd, const uint8_t *bytes, blm_error *err)
{
    struct blm__file f     = { .fd = fd };
    bool             known = blm__native_get_head(bytes, &f.head, NULL) == BLM_OK &&
                 blm__file_load_slot(&f, NULL) == BLM_OK && (f.slot.flags & BLM__SLOT_WRITER);
    if (!known)
        return blm__fail(err, BLM_E_BUSY, "another writer has the file open");
    return blm__fail(err, BLM_E_BUSY, "another writer, process %llu, has the file open",
                     (unsigned long long)f.slot.pid);
}

/* Between our open and our lock the path may have been given to another file. */
static bool still_there(int fd, const char *path)
{
    struct stat ours, theirs;
    return fstat(fd, &ours) == 0 && stat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

static blm_status open_locked(const char *path, int *fd, uint8_t *head, size_t *got, blm_error *err)
{
    for (int i = 0; i < TRIES; i++) {
        blm_status st = open_file(path, true, fd, head, got, err);
        if (st != BLM_OK)
            return st;
        int why = blm__lock_try(*fd);
        if (why == 0 && still_there(*fd, path))
            return BLM_OK;
        if (why == EAGAIN)
            st = busy(*fd, head, err);
        else if (why)
            st = blm__fail_system(err, why, "cannot lock it: %s", blm__os_text(why));
        close(*fd);
        if (st != BLM_OK)
            return st;
    }
    return blm__fail(err, BLM_E_BUSY, "the file keeps being replaced");
}

/* In a forked child the mapping is still the parent's file. Adds from here would not be atomic with
 * the parent's, so there are none; and layers that the parent adds are not seen, as by a reader. */
static void leave_to_parent(void *body)
{
    struct blm__body *b = body;
    struct blm__file *f = blm__file_of(b);
    b->read_only        = true;
    b->unclosed         = true;
    b->store            = &store_parents;
    f->seen[0] = f->seen[1] = f->slot.epoch;
    blm__body_ready(b);
}

static void become_writer(struct blm__body *b)
{
    struct blm__file *f = blm__file_of(b);
    f->begun            = (uint64_t)getpid();
    blm__lock_ready(f->fd);
    blm__fork_watch(&f->forks, leave_to_parent, b);
}

static bool same_boot(const struct blm__native_slot *s)
{
    uint8_t now[16];
    return blm__os.boot_id(now) && memcmp(now, s->boot, sizeof now) == 0;
}

blm_writer blm__file_judge(const struct blm__native_slot *s)
{
    if (!(s->flags & BLM__SLOT_WRITER))
        return BLM_WRITER_NONE;
    return same_boot(s) ? BLM_WRITER_DIED : BLM_WRITER_CRASH;
}

/* A copy of a file may have holes, and an add must not find the disk full. */
static blm_status fill_holes(const struct blm__file *f, blm_error *err)
{
    struct stat st;
    if (fstat(f->fd, &st) == 0 && (uint64_t)st.st_blocks * 512 >= f->slot.length)
        return BLM_OK;
    int why = blm__os.reserve(f->fd, 0, f->slot.length);
    if (why)
        return blm__fail_system(err, why, "cannot reserve the file's %llu bytes: %s",
                                (unsigned long long)f->slot.length, blm__os_text(why));
    return BLM_OK;
}

/* Room to save what is overwritten, for engines that do. */
static blm_status begin_saving(struct blm__file *f, const struct blm__body *b, uint64_t length,
                               blm_error *err)
{
    struct blm__undo u;
    if (!b->layers[0].engine->moves)
        return BLM_OK;
    blm_status st = blm__undo_make(f, b, length, blm__undo_all(f), &u, err);
    if (st == BLM_OK)
        blm__undo_use(f, b, &u);
    return st;
}

blm_status blm__file_begin(struct blm__body *b, blm_error *err)
{
    struct blm__file *f  = blm__file_of(b);
    blm_status        st = fill_holes(f, err);
    if (st == BLM_OK)
        st = begin_saving(f, b, f->slot.length, err);
    if (st != BLM_OK)
        return st;
    if (f->found == (int)BLM_WRITER_CRASH ||
        (f->found == (int)BLM_WRITER_DIED && (f->slot.flags & BLM__SLOT_SHARED)))
        for (uint32_t i = 0; i < f->count; i++) /* its marks cannot be relied on: set all */
            memset(f->part[i].marks, 1, (size_t)f->part[i].s.regions);
    /* The last of the slots may not have reached the disk yet. We are going to write the other one,
     * and a power cut could then damage both. So flush them first. */
    int why = blm__os.sync_file(f->fd);
    if (why)
        return blm__file_broke(f, why, err);
    st = blm__file_commit(f, b, blm__file_flags(b), err);
    if (st == BLM_OK)
        become_writer(b);
    return st;
}

static blm_status open_native(int fd, const uint8_t *bytes, size_t got, uint32_t flags,
                              struct blm__body *b, blm_error *err)
{
    struct blm__native_head head;
    bool                    write = (flags & BLM_WRITE) != 0;
    if (got < BLM__HEAD_BYTES)
        return blm__fail_at(err, BLM_E_TRUNCATED, got, "the file ends within the header");
    blm_status st = blm__native_get_head(bytes, &head, err);
    b->shared     = write && (flags & BLM_SHARED);
    if (st == BLM_OK)
        st = blm__file_load(fd, &head, write, b, err);
    if (st != BLM_OK)
        return st;
    if (write)
        blm__file_of(b)->found = (int)blm__file_judge(&blm__file_of(b)->slot);
    if (flags & BLM_VERIFY || blm__kind_of(b->kind)->certain) {
        blm_verdict v = { .size = sizeof v };
        st            = blm__file_verify(b, &v, err);
    }
    if (st != BLM_OK)
        blm__file_release(b, blm__file_of(b));
    return st;
}

blm_status blm__file_open(const char *path, uint32_t flags, struct blm__body *b, bool *foreign,
                          blm_error *err)
{
    uint8_t    bytes[BLM__HEAD_BYTES];
    size_t     got   = 0;
    int        fd    = -1;
    bool       write = (flags & BLM_WRITE) != 0;
    blm_status st    = write ? open_locked(path, &fd, bytes, &got, err)
                             : open_file(path, false, &fd, bytes, &got, err);
    *foreign         = false;
    if (st != BLM_OK)
        return st;
    *foreign = blm__native_bid(bytes, got) == 0;
    if (*foreign) {
        close_fd(fd);
        return BLM_OK;
    }
    st = open_native(fd, bytes, got, flags, b, err);
    if (st != BLM_OK) {
        close_fd(fd);
        return st;
    }
    b->read_only = !write;
    b->store     = write ? &store_writer : &store_reader;
    return BLM_OK;
}

blm_status blm__file_refresh(struct blm__body *b, blm_error *err)
{
    struct blm__file *old   = blm__file_of(b);
    struct blm__body  fresh = *b;
    if (b->store == &store_parents)
        return blm__file_mine(old, err);
    if (b->store != &store_reader)
        return BLM_OK; /* a writer knows its own layers */
    fresh.layers      = NULL;
    fresh.layer_count = fresh.layer_room = 0;
    blm_status st                        = blm__file_load(old->fd, &old->head, false, &fresh, err);
    if (st != BLM_OK)
        return st;
    struct blm__hasher hasher = b->hasher; /* has the caller's function and the digests' tag */
    blm__file_release(b, old);
    *b        = fresh;
    b->hasher = hasher;
    return BLM_OK;
}

/* ---- making one -------------------------------------------------------------------------- */

static blm_status format_file(struct blm__file *f, struct blm__body *b,
                              const struct blm__shape *first, blm_error *err)
{
    struct blm__native_section s;
    struct blm__part           part;
    uint8_t                    head[BLM__HEAD_BYTES];
    if (!blm__native_place(first, blm__native_first(&f->head), f->head.block, &s))
        return blm__fail(err, BLM_E_LIMIT, "the file would be larger than 2^62 bytes");
    blm_status st = blm__part_fits(&s, err);
    if (st != BLM_OK)
        return st;
    int why = blm__os.reserve(f->fd, 0, s.end);
    if (why)
        return blm__fail_system(err, why, "cannot reserve %llu bytes: %s",
                                (unsigned long long)s.end, blm__os_text(why));
    st = blm__part_map(f, &s, &part, err);
    if (st != BLM_OK)
        return st;
    blm__part_format(&part);
    st = blm__part_show(f, b, &part, 0, err);
    if (st != BLM_OK) {
        blm__part_unmap(&part);
        return st;
    }
    blm__native_put_head(&f->head, head);
    why = blm__os.write_at(f->fd, head, sizeof head, 0);
    if (!why && b->attached_len)
        why =
            blm__os.write_at(f->fd, b->attached, b->attached_len, blm__native_slot_at(&f->head, 2));
    if (!why)
        why = blm__os.sync_map(part.map, part.map_len);
    if (why)
        return blm__fail_system(err, why, "cannot write it: %s", blm__os_text(why));
    st = begin_saving(f, b, s.end, err);
    if (st != BLM_OK)
        return st;
    f->slot.epoch = 1;
    return blm__file_commit(f, b, blm__file_flags(b), err);
}

static blm_status make_file(int fd, struct blm__body *b, const struct blm__shape *first,
                            blm_error *err)
{
    struct blm__native_head head;
    blm_status              st = blm__native_head_of(b, first, &head, err);
    if (st != BLM_OK)
        return st;
    if (!blm__random(head.uuid, sizeof head.uuid))
        return blm__fail(err, BLM_E_IO, "the system has no random bytes");
    int why = blm__lock_try(fd);
    if (why)
        return blm__fail_system(err, why, "cannot lock it: %s", blm__os_text(why));
    struct blm__file *f = blm__zalloc(b->alloc, sizeof *f + head.room * sizeof *f->part);
    if (!f)
        return blm__fail(err, BLM_E_MEMORY, "no memory to describe a file");
    f->fd        = fd;
    f->writer    = true;
    f->head      = head;
    b->store_ctx = f;
    st           = format_file(f, b, first, err);
    if (st == BLM_OK)
        st = blm__file_map_front(f, err);
    if (st != BLM_OK)
        blm__file_release(b, f);
    return st;
}

blm_status blm__file_create(const char *path, uint32_t flags, struct blm__body *b,
                            const struct blm__shape *first, blm_error *err)
{
    struct blm__temp t;
    blm_status       st =
        blm__temp_begin(path, flags | (b->scheme->native ? 0 : BLM_PUBLIC), b->alloc, &t, err);
    if (st != BLM_OK)
        return st;
    st = make_file(t.fd, b, first, err);
    if (st != BLM_OK) {
        blm__temp_abandon(&t);
        return st;
    }
    /* The commit closes its descriptor; we keep another. */
    int fd  = fcntl(t.fd, F_DUPFD_CLOEXEC, 0);
    int why = errno;
    if (fd < 0) {
        blm__temp_abandon(&t);
        st = blm__fail_system(err, why, "cannot keep it open: %s", blm__os_text(why));
    } else {
        blm__file_of(b)->fd = fd;
        st                  = blm__temp_commit(&t, err);
    }
    if (st != BLM_OK) {
        blm__file_release(b, blm__file_of(b));
        if (fd >= 0)
            close_fd(fd);
        return st;
    }
    b->store = &store_writer;
    become_writer(b);
    return BLM_OK;
}

/* ---- asking ------------------------------------------------------------------------------ */

blm_writer blm__file_state(const struct blm__body *b, struct blm__native_slot *now)
{
    const struct blm__file *f = blm__file_of(b);
    uint8_t                 both[2 * BLM__SLOT_MAX];
    unsigned                which;
    if (f->writer) { /* another thread may be syncing, so the slot must not be read */
        blm_writer found = (blm_writer)__atomic_load_n(&f->found, __ATOMIC_RELAXED);
        memset(now, 0, sizeof *now);
        return found == BLM_WRITER_NONE ? BLM_WRITER_LIVE : found;
    }
    bool live = blm__lock_held(f->fd);
    if (blm__file_read_slots(f, both, NULL) != BLM_OK ||
        blm__native_get_slot(&f->head, both, now, &which, NULL) != BLM_OK)
        *now = f->slot;
    return live ? BLM_WRITER_LIVE : blm__file_judge(now);
}

static blm_writer file_writer(const struct blm__body *b)
{
    struct blm__native_slot now;
    return blm__file_state(b, &now);
}

static void file_which(const struct blm__body *b, uint8_t identity[16], uint64_t *writes)
{
    const struct blm__file *f = blm__file_of(b);
    memcpy(identity, f->head.uuid, 16);
    *writes = f->writes;
}

bool blm__file_same(const struct blm__body *b, const char *path)
{
    return still_there(blm__file_of(b)->fd, path);
}

static blm_status reader_add(struct blm__body *b, const struct blm__shape *s, blm_error *err)
{
    (void)b;
    (void)s;
    return blm__fail(err, BLM_E_READONLY, "the file was opened for reading only");
}

static blm_status reader_drop(struct blm__body *b, uint32_t keep, blm_error *err)
{
    (void)b;
    (void)keep;
    return blm__fail(err, BLM_E_READONLY, "the file was opened for reading only");
}

static const struct blm__store store_reader = {
    .name        = "file, read-only",
    .backing     = BLM_FILE_READ,
    .add_layer   = reader_add,
    .drop_layers = reader_drop,
    .close       = file_close,
    .writer      = file_writer,
    .stale       = blm__file_stale,
    .overtaken   = blm__file_overtaken,
    .vouch       = blm__file_vouch,
    .which       = file_which,
};

static const struct blm__store store_writer = {
    .name        = "file",
    .backing     = BLM_FILE_WRITE,
    .add_layer   = blm__file_add_layer,
    .drop_layers = blm__file_drop_layers,
    .save        = blm__file_save,
    .broken      = blm__file_broken,
    .sync        = blm__file_sync,
    .close       = file_close,
    .writer      = file_writer,
    .vouch       = blm__file_vouch,
    .which       = file_which,
};

static const struct blm__store store_parents = {
    .name        = "file, the parent process's",
    .backing     = BLM_FILE_READ,
    .add_layer   = reader_add,
    .drop_layers = reader_drop,
    .sync        = blm__file_sync, /* which says whose it is */
    .close       = file_close,
    .writer      = file_writer,
    .stale       = blm__file_stale,
    .vouch       = blm__file_vouch,
    .which       = file_which,
};
