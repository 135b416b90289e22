/* SPDX-License-Identifier: MIT */
/* Whether the file can be trusted: trust.h has the rule. */
#include "guard/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/os.h"
#include "guard/dataset.h"
#include "guard/step.h"

/* The line is less than a sector and written in one call: it is whole, or it does not count. */
#define LINE_BYTES 256
#define LIVE_AT    256 /* struct blm__live */
#define NOTE_BYTES 512

static const char *const state_name[] = { "void", "open", "closed" };
static const char *const rows_name[]  = { "all", "some" };

static blm_status fail_system(blm_error *err, int number, const char *what, const char *path)
{
    return blm__fail_system(err, number, "%.160s: cannot %s: %s", path, what, blm__os_text(number));
}

/* ---- the note ---------------------------------------------------------------------------- */

static bool read_identity(const char hex[33], uint8_t out[16])
{
    for (unsigned i = 0; i < 16; i++) {
        unsigned byte;
        if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
            return false;
        out[i] = (uint8_t)byte;
    }
    return true;
}

/* Which of the names it is; count: none. */
static unsigned which(const char *word, const char *const *names, unsigned count)
{
    unsigned i = 0;
    while (i < count && strcmp(word, names[i]) != 0)
        i++;
    return i;
}

static bool parse_note(struct blm__trust *t, const char *text)
{
    char state[8], rows[8] = "all", file[33];
    int  version = 0, at = 0, end = -1;
    if (sscanf(text, "bloomery-guard %1d %16" SCNx64 " %" SCNu64 " %7[a-z]%n", &version, &t->id,
               &t->session, state, &at) != 4 ||
        (version != 2 && version != 3))
        return false;
    t->older = version == 2;
    if (!t->older) {
        int more = 0;
        if (sscanf(text + at, " %7[a-z]%n", rows, &more) != 1)
            return false;
        at += more;
    }
    if (sscanf(text + at, " %" SCNu64 " %32[0-9a-f] %" SCNu64 " %" SCNu64 " %" SCNu64 "\n%n",
               &t->generation, file, &t->writes, &t->stale, &t->stamp, &end) != 5 ||
        end < 0 || strlen(file) != 32 || !read_identity(file, t->file))
        return false;
    unsigned s = which(state, state_name, 3), r = which(rows, rows_name, 2);
    t->state = s < 3 ? (enum blm__session)s : BLM__SESSION_VOID;
    t->some  = r != 0;
    return s < 3 && r < 2;
}

static void read_note(struct blm__trust *t)
{
    char   text[LINE_BYTES + 1] = "";
    size_t got                  = 0;
    t->known = blm__os_read_at(t->fd, text, LINE_BYTES, 0, &got) == 0 && got == LINE_BYTES &&
               text[LINE_BYTES - 1] == '\n' && parse_note(t, text);
    if (!t->known)
        t->state = BLM__SESSION_VOID;
}

/* A file at its place that no guard wrote. A note is never longer than NOTE_BYTES. It has them from the
 * beginning, of zeros, and fewer only if it is an old one or could not be written. */
static bool no_note(const struct blm__trust *t)
{
    static const char name[]            = "bloomery-guard ", none[sizeof name];
    char              head[sizeof name] = "";
    struct stat       s;
    size_t            got = 0;
    if (t->known || fstat(t->fd, &s) != 0)
        return false;
    if (!S_ISREG(s.st_mode))
        return true;
    if (s.st_size == 0 || s.st_size == NOTE_BYTES ||
        blm__os_read_at(t->fd, head, sizeof name - 1, 0, &got) != 0)
        return false;
    return memcmp(head, name, sizeof name - 1) != 0 && memcmp(head, none, sizeof name - 1) != 0;
}

static int write_note(struct blm__trust *t)
{
    char text[LINE_BYTES + 1], file[33];
    for (unsigned i = 0; i < 16; i++)
        snprintf(file + 2 * i, 3, "%02x", t->file[i]);
    int used = snprintf(text, sizeof text,
                        "bloomery-guard 3 %016" PRIx64 " %" PRIu64 " %s %s %" PRIu64 " %s %" PRIu64
                        " %" PRIu64 " %" PRIu64,
                        t->id, t->session, state_name[t->state], rows_name[t->some], t->generation,
                        file, t->writes, (uint64_t)atomic_load(&t->live->stale),
                        (uint64_t)atomic_load(&t->live->stamp));
    memset(text + used, ' ', (size_t)(LINE_BYTES - used));
    text[LINE_BYTES - 1] = '\n';
    int why              = blm__os.write_at(t->fd, text, LINE_BYTES, 0);
    return why ? why : blm__os.sync_file(t->fd);
}

/* Maps the note's second half. Without it (the file system cannot, or the note is too short and
 * cannot be made longer) a guard that is killed is not trusted. */
static void map_live(struct blm__trust *t)
{
    uint8_t rest[NOTE_BYTES - LIVE_AT] = { 0 };
    size_t  got                        = 0;
    if (blm__os_read_at(t->fd, rest, sizeof rest, LIVE_AT, &got) != 0 ||
        (got < sizeof rest && blm__os.write_at(t->fd, rest, sizeof rest, LIVE_AT) != 0))
        return;
    uint8_t *map = mmap(NULL, NOTE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
    if (map != MAP_FAILED)
        t->live = (struct blm__live *)(void *)(map + LIVE_AT);
}

static void unmap_live(struct blm__trust *t)
{
    if (t->live && t->live != &t->own)
        munmap((uint8_t *)t->live - LIVE_AT, NOTE_BYTES);
    t->live = &t->own;
}

void blm__trust_stamp(struct blm__trust *t)
{
    if (!t->path)
        return;
    uint64_t now = blm__os.now(), last = atomic_load(&t->live->stamp);
    while (last < now && !atomic_compare_exchange_weak(&t->live->stamp, &last, now))
        ;
}

/* The filter's file is the one that is there now. */
static void settle_places(struct blm__trust *t)
{
    atomic_store(&t->live->filter, blm__os.place(t->path));
    atomic_store(&t->live->note, blm__os.place(t->note));
}

static bool in_place(const struct blm__trust *t)
{
    uint64_t filter = blm__os.place(t->path), note = blm__os.place(t->note);
    return filter && note && filter == atomic_load(&t->live->filter) &&
           note == atomic_load(&t->live->note);
}

/* ---- the data set's mark ------------------------------------------------------------------- */

static size_t mark_of(const struct blm__trust *t, char out[BLM_MARK_MAX])
{
    int n = snprintf(out, BLM_MARK_MAX, "bloomery %016" PRIx64 " %" PRIu64 " %s", t->id, t->session,
                     state_name[t->state]);
    return (size_t)n;
}

/* BLM_OK: it is ours. BLM_PRESENT: it is another. E_ABSENT: there is none. */
static blm_status read_mark(const struct blm__trust *t, const blm_dataset *d, blm_error *err)
{
    char       ours[BLM_MARK_MAX], theirs[BLM_MARK_MAX];
    size_t     len = 0;
    blm_status st  = blm__data_mark_read(d, theirs, &len, err);
    if (st != BLM_OK)
        return st;
    return len == mark_of(t, ours) && memcmp(ours, theirs, len) == 0 ? BLM_OK : BLM_PRESENT;
}

static bool mark_agrees(const struct blm__trust *t, const blm_dataset *d)
{
    return read_mark(t, d, NULL) == BLM_OK;
}

void blm__trust_trouble(struct blm__trust *t)
{
    if (atomic_load(&t->claimed) == 0)
        atomic_fetch_add(&t->adrift, 1);
    atomic_fetch_add(&t->troubles, 1);
}

static bool is_claimed(struct blm__trust *t)
{
    uint64_t claimed = atomic_load(&t->claimed);
    return claimed != 0 &&
           (claimed == atomic_load(&t->troubles) + 1 || blm__mistaken(BLM__CLAIM_ONCE));
}

static blm_status write_mark(struct blm__trust *t, const blm_dataset *d, blm_error *err)
{
    char mark[BLM_MARK_MAX];
    if (!d->mark_write)
        return BLM_OK;
    uint64_t   before = atomic_load(&t->troubles) + 1;
    blm_status st     = blm__data_mark_write(d, mark, mark_of(t, mark), err);
    atomic_store(&t->claimed, st == BLM_OK ? before : 0);
    t->bare = false;
    return st;
}

static blm_status say_locked(struct blm__trust *t, const blm_dataset *d, enum blm__session state,
                             const uint8_t *file, blm_error *err);

/* Whether the mark is still ours. */
static blm_status look_locked(struct blm__trust *t, const blm_dataset *d, blm_error *err)
{
    uint64_t   before = atomic_load(&t->troubles) + 1;
    blm_status st     = read_mark(t, d, err);
    if (st == BLM_E_ABSENT)
        st = t->bare ? BLM_OK : BLM_PRESENT;
    if (st == BLM_OK)
        atomic_store(&t->claimed, before);
    if (st != BLM_PRESENT)
        return st;
    atomic_fetch_add(&t->adrift, 1);
    atomic_store(&t->claimed, 0);
    say_locked(t, d, BLM__SESSION_VOID, NULL, NULL); /* if it fails, mark and note disagree */
    return BLM_PRESENT;
}

blm_status blm__trust_look(struct blm__trust *t, const blm_dataset *d, blm_error *err)
{
    blm_status st = BLM_OK;
    if (is_claimed(t) || !d->mark_read)
        return st;
    pthread_mutex_lock(&t->lock);
    if (!is_claimed(t) && atomic_load(&t->claimed) != 0)
        st = look_locked(t, d, err);
    pthread_mutex_unlock(&t->lock);
    return st;
}

static blm_status claim_locked(struct blm__trust *t, const blm_dataset *d, blm_error *err)
{
    uint64_t before = atomic_load(&t->troubles) + 1;
    if (is_claimed(t))
        return BLM_OK;
    if (atomic_load(&t->claimed) != 0)
        return look_locked(t, d, err);
    if (t->state != BLM__SESSION_VOID || t->removes || read_mark(t, d, NULL) != BLM_E_ABSENT)
        return write_mark(t, d, err);
    t->bare = true; /* no file is trusted without a mark: nothing to void */
    atomic_store(&t->claimed, before);
    return BLM_OK;
}

blm_status blm__trust_claim(struct blm__trust *t, const blm_dataset *d, blm_error *err)
{
    if (is_claimed(t) || !d->mark_write || blm__mistaken(BLM__NO_CLAIM))
        return BLM_OK;
    pthread_mutex_lock(&t->lock);
    blm_status st = claim_locked(t, d, err);
    pthread_mutex_unlock(&t->lock);
    return st;
}

/* ---- saying -------------------------------------------------------------------------------- */

static blm_status say_locked(struct blm__trust *t, const blm_dataset *d, enum blm__session state,
                             const uint8_t *file, blm_error *err)
{
    if (!t->path)
        return BLM_OK;
    t->state = state;
    if (atomic_load(&t->claimed) != 0 && !is_claimed(t))
        atomic_fetch_add(&t->adrift, 1); /* what the mark is now is not looked at any more */
    atomic_store(&t->claimed, 0);
    if (file)
        memcpy(t->file, file, sizeof t->file);
    if (state == BLM__SESSION_OPEN) {
        t->session++;
        t->some |= t->advisory;
    }
    int why = write_note(t);
    if (why)
        return fail_system(err, why, "write it", t->note);
    return state == BLM__SESSION_VOID ? BLM_OK : write_mark(t, d, err);
}

blm_status blm__trust_say(struct blm__trust *t, const blm_dataset *d, enum blm__session state,
                          const uint8_t *file, blm_error *err)
{
    pthread_mutex_lock(&t->lock);
    blm__trust_stamp(t);
    blm_status st = say_locked(t, d, state, file, err);
    pthread_mutex_unlock(&t->lock);
    return st;
}

void blm__trust_built(struct blm__trust *t, const blm_dataset *d, bool first, uint64_t generation,
                      const uint8_t file[16])
{
    if (!t->path)
        return;
    pthread_mutex_lock(&t->lock);
    blm__trust_stamp(t);
    t->generation = generation;
    t->some       = t->advisory;
    settle_places(t);
    if (t->unsure) {
        say_locked(t, d, BLM__SESSION_VOID, NULL, NULL);
    } else if (first || t->state != BLM__SESSION_OPEN) {
        say_locked(t, d, BLM__SESSION_OPEN, file, NULL);
    } else {
        memcpy(t->file, file, sizeof t->file);
        write_note(t); /* if it fails, the note names the file that is no longer there */
    }
    pthread_mutex_unlock(&t->lock);
}

/* How the file was left, by its own account. Another file in its place is not ours. */
static bool look_at_closed(struct blm__trust *t)
{
    blm_params  p = { .size = sizeof p };
    blm_filter *f = NULL;
    if (blm_open(t->path, NULL, &f, NULL) != BLM_OK)
        return false;
    bool ours = blm_get_params(f, &p) == BLM_OK && memcmp(p.identity, t->file, 16) == 0;
    t->writes = p.writes;
    blm_free(f);
    return ours;
}

blm_status blm__trust_end(struct blm__trust *t, const blm_dataset *d, blm_error *err)
{
    if (!t->path || t->state != BLM__SESSION_OPEN)
        return BLM_OK;
    bool sure = in_place(t) && look_at_closed(t) && (!d->mark_read || mark_agrees(t, d));
    return blm__trust_say(t, d, sure ? BLM__SESSION_CLOSED : BLM__SESSION_VOID, NULL, err);
}

/* ---- opening ----------------------------------------------------------------------------- */

/* From the root: a later chdir must not lead elsewhere. 0, or errno. */
static int from_root(char out[BLM__OS_PATH], const char *path)
{
    size_t at = 0;
    if (path[0] != '/') {
        if (!getcwd(out, BLM__OS_PATH - 1))
            return errno;
        at        = strlen(out);
        out[at++] = '/';
    }
    if (strlen(path) >= BLM__OS_PATH - at)
        return ENAMETOOLONG;
    memcpy(out + at, path, strlen(path) + 1);
    return 0;
}

static char *joined(const blm_allocator *a, const char *path, size_t room, const char *ending)
{
    char *s = blm__alloc(a, room);
    if (s)
        snprintf(s, room, "%s%s", path, ending);
    return s;
}

static blm_status make_names(struct blm__trust *t, const char *path, const blm_allocator *a,
                             blm_error *err)
{
    char whole[BLM__OS_PATH];
    int  why = from_root(whole, path);
    if (!why) /* to rename over a link would put the file elsewhere, and leave an old one behind */
        why = blm__os_follow(whole);
    if (why)
        return fail_system(err, why, "find out where that is", path);
    t->room = strlen(whole) + 8;
    t->path = joined(a, whole, t->room, "");
    t->next = t->path ? joined(a, whole, t->room, ".next") : NULL;
    t->note = t->next ? joined(a, whole, t->room, ".guard") : NULL;
    return t->note ? BLM_OK : blm__fail(err, BLM_E_MEMORY, "no memory for the guard's paths");
}

static blm_status open_note(struct blm__trust *t, blm_error *err)
{
    t->fd = open(t->note, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (t->fd < 0)
        return fail_system(err, errno, "open it", t->note);
    int why = blm__lock_try(t->fd);
    if (why == EAGAIN)
        return blm__fail(err, BLM_E_BUSY, "%.160s: another guard has it open", t->path);
    if (why)
        return fail_system(err, why, "lock it", t->note);
    read_note(t);
    if (no_note(t))
        return blm__fail(err, BLM_E_FORMAT,
                         "%.160s: not a guard's note: give another path, or move the file away",
                         t->note);
    map_live(t);
    if (!t->known)
        t->id = t->fresh;
    why = blm__os_sync_parent(t->note);
    return why ? fail_system(err, why, "flush its directory", t->note) : BLM_OK;
}

blm_status blm__trust_open(struct blm__trust *t, const char *path, uint64_t fresh,
                           const blm_allocator *a, blm_error *err)
{
    pthread_mutex_init(&t->lock, NULL);
    t->fd   = -1;
    t->live = &t->own;
    t->id = t->fresh = fresh;
    if (!path)
        return BLM_OK;
    blm_status st = make_names(t, path, a, err);
    return st == BLM_OK ? open_note(t, err) : st;
}

void blm__trust_close(struct blm__trust *t, bool orphan, const blm_allocator *a)
{
    if (!t->live)
        return; /* it was never opened */
    blm__free(a, t->path, t->room);
    blm__free(a, t->next, t->room);
    blm__free(a, t->note, t->room);
    unmap_live(t);
    if (t->fd >= 0 && !orphan)
        blm__lock_drop(t->fd); /* a forked child may have it open too */
    if (t->fd >= 0)
        close(t->fd);
    pthread_mutex_destroy(&t->lock);
}

/* ---- judging ----------------------------------------------------------------------------- */

/* A file that we must not replace: it is not empty, not a native filter, and has no note beside
 * it. Or it is no file, but a device, which is empty too. */
static bool somebody_elses(const struct blm__trust *t)
{
    uint8_t     head[64];
    blm_bid     bid = { NULL, 0 };
    struct stat s;
    int         fd = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    size_t got   = 0;
    bool   plain = fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
    int    why   = blm__os_read_at(fd, head, sizeof head, 0, &got);
    close(fd);
    if (why || !plain)
        return true;
    if (got == 0)
        return false;
    return !t->known &&
           (blm_sniff(head, got, 0, &bid, 1) == 0 || strcmp(bid.format, "native") != 0);
}

static bool no_identity(const uint8_t id[16])
{
    static const uint8_t none[16];
    return memcmp(id, none, sizeof none) == 0;
}

/* Whether rows may be missing, or adds, which a guard that is not advisory relies on. */
static bool lacks_rows(const struct blm__trust *t, blm_kind kind)
{
    return !t->advisory && (t->some || (t->older && blm_kind_find(kind)->can & BLM_CAN_REMOVE));
}

/* changed: when the file was, before we opened it. */
static bool trustworthy(const struct blm__trust *t, const blm_dataset *d, const blm_options *o,
                        const blm_params *p, uint64_t changed)
{
    if (p->kind != o->kind)
        return false;
    if (blm__mistaken(BLM__TRUST_ALWAYS))
        return true;
    if (!t->known || no_identity(p->identity) || memcmp(p->identity, t->file, 16) != 0)
        return false;
    if (lacks_rows(t, p->kind))
        return false;
    bool closed =
        t->state == BLM__SESSION_CLOSED && p->writer == BLM_WRITER_LIVE && p->writes == t->writes;
    bool died = t->state == BLM__SESSION_OPEN && p->writer == BLM_WRITER_DIED;
    if (closed && d->mark_read)
        return mark_agrees(t, d);
    bool untouched =
        (in_place(t) && changed <= (closed ? t->stamp : atomic_load(&t->live->stamp))) ||
        blm__mistaken(BLM__TRUST_COPIES);
    return (closed || died) && untouched && (!d->mark_read || mark_agrees(t, d));
}

/* Before the filter is closed, which would wipe out the traces of a crash. With an id of its own:
 * sessions that were counted from an old note could be taken for others. */
static blm_status distrust(struct blm__trust *t, const blm_dataset *d, blm_error *err)
{
    t->id = t->fresh;
    memset(t->file, 0, sizeof t->file);
    atomic_store(&t->live->stale, 0);
    return blm__trust_say(t, d, BLM__SESSION_VOID, NULL, err);
}

blm_status blm__trust_filter(struct blm__trust *t, const blm_dataset *d, const blm_options *o,
                             blm_filter **out, bool *died, blm_error *err)
{
    blm_options open_it = *o;
    blm_filter *f       = NULL;
    blm_params  p       = { .size = sizeof p };
    blm_error   why;
    *out  = NULL;
    *died = false;
    if (!t->path)
        return BLM_OK;
    if (somebody_elses(t))
        return blm__fail(err, BLM_E_FORMAT,
                         "%.160s: not a native filter: give another path, or move the file away",
                         t->path);
    uint64_t changed = blm__os.changed(t->path);
    open_it.flags    = BLM_WRITE | BLM_SHARED;
    blm_status st    = blm_open(t->path, &open_it, &f, &why);
    if (st == BLM_E_BUSY || st == BLM_E_MEMORY || st == BLM_E_READONLY || st == BLM_E_LIMIT ||
        (st == BLM_E_IO && why.system != ENOENT)) {
        if (err)
            *err = why;
        return st;
    }
    if (st == BLM_OK && blm_get_params(f, &p) == BLM_OK && trustworthy(t, d, o, &p, changed)) {
        *died = p.writer == BLM_WRITER_DIED;
        if (!*died)
            atomic_store(&t->live->stale, t->stale);
        settle_places(t);
        *out = f;
        return BLM_OK;
    }
    st = distrust(t, d, err);
    blm_free(f);
    return st;
}

blm_status blm__trust_rename(struct blm__trust *t, blm_error *err)
{
    struct stat old;
    if (stat(t->path, &old) == 0) /* who could read the old one can read the new one */
        chmod(t->next, old.st_mode & 0777);
    int why = blm__os.rename_over(t->next, t->path);
    if (why)
        return fail_system(err, why, "rename it into place", t->next);
    t->unsure = blm__os_sync_parent(t->path) != 0;
    return BLM_OK;
}
