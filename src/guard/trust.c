/* SPDX-License-Identifier: MIT */
/* Whether the file can be trusted: trust.h has the rule. */
#include "guard/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/os.h"
#include "guard/step.h"

/* The note is less than a sector and written in one call: it is whole, or it does not count. */
#define NOTE_BYTES 128

static const char *const state_name[] = { "void", "open", "closed" };

static blm_status fail_system(blm_error *err, int number, const char *what, const char *path)
{
    return blm__fail_system(err, number, "%.160s: cannot %s: %s", path, what, blm__os_text(number));
}

/* ---- the note ---------------------------------------------------------------------------- */

static bool parse_note(struct blm__trust *t, const char *text)
{
    char state[8];
    int  end = -1;
    if (sscanf(text, "bloomery-guard 1 %16" SCNx64 " %" SCNu64 " %7[a-z] %" SCNu64 "\n%n", &t->id,
               &t->session, state, &t->generation, &end) != 4 ||
        end < 0)
        return false;
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(state, state_name[i]) == 0) {
            t->state = (enum blm__session)i;
            return true;
        }
    return false;
}

static void read_note(struct blm__trust *t)
{
    char   text[NOTE_BYTES + 1] = "";
    size_t got                  = 0;
    t->known = blm__os_read_at(t->fd, text, NOTE_BYTES, 0, &got) == 0 && got == NOTE_BYTES &&
               text[NOTE_BYTES - 1] == '\n' && parse_note(t, text);
    if (!t->known)
        t->state = BLM__SESSION_VOID;
}

static int write_note(struct blm__trust *t)
{
    char text[NOTE_BYTES + 1];
    int  used =
        snprintf(text, sizeof text, "bloomery-guard 1 %016" PRIx64 " %" PRIu64 " %s %" PRIu64,
                 t->id, t->session, state_name[t->state], t->generation);
    memset(text + used, ' ', (size_t)(NOTE_BYTES - used));
    text[NOTE_BYTES - 1] = '\n';
    int why              = blm__os.write_at(t->fd, text, NOTE_BYTES, 0);
    return why ? why : blm__os.sync_file(t->fd);
}

static size_t mark_of(const struct blm__trust *t, char out[BLM_MARK_MAX])
{
    int n = snprintf(out, BLM_MARK_MAX, "bloomery %016" PRIx64 " %" PRIu64 " %s", t->id, t->session,
                     state_name[t->state]);
    return (size_t)n;
}

blm_status blm__trust_say(struct blm__trust *t, const blm_dataset *d, enum blm__session state,
                          blm_error *err)
{
    char      mark[BLM_MARK_MAX];
    blm_error unwanted;
    if (!t->path)
        return BLM_OK;
    t->state = state;
    if (state == BLM__SESSION_OPEN)
        t->session++;
    int why = write_note(t);
    if (why)
        return fail_system(err, why, "write it", t->note);
    if (!d->mark_write || state == BLM__SESSION_VOID)
        return BLM_OK;
    return d->mark_write(d->ctx, mark, mark_of(t, mark), err ? err : &unwanted);
}

void blm__trust_generation(struct blm__trust *t)
{
    if (t->path)
        write_note(t); /* if it fails, the number is an older one, and only people read it */
}

/* ---- opening ----------------------------------------------------------------------------- */

static char *joined(const blm_allocator *a, const char *path, size_t len, const char *ending)
{
    size_t room = len + 8; /* the same for all three: close frees as much */
    char  *s    = blm__alloc(a, room);
    if (s)
        snprintf(s, room, "%s%s", path, ending);
    return s;
}

static blm_status open_note(struct blm__trust *t, uint64_t id, blm_error *err)
{
    t->fd = open(t->note, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (t->fd < 0)
        return fail_system(err, errno, "open it", t->note);
    int why = blm__lock_try(t->fd);
    if (why == EAGAIN)
        return blm__fail(err, BLM_E_BUSY, "%.160s: another guard has it open", t->path);
    if (why)
        return fail_system(err, why, "lock it", t->note);
    read_note(t);
    if (!t->known)
        t->id = id;
    why = blm__os_sync_parent(t->note);
    return why ? fail_system(err, why, "flush its directory", t->note) : BLM_OK;
}

blm_status blm__trust_open(struct blm__trust *t, const char *path, uint64_t id,
                           const blm_allocator *a, blm_error *err)
{
    t->fd = -1;
    if (!path)
        return BLM_OK;
    t->path_len = strlen(path);
    t->path     = joined(a, path, t->path_len, "");
    t->next     = joined(a, path, t->path_len, ".next");
    t->note     = joined(a, path, t->path_len, ".guard");
    if (!t->path || !t->next || !t->note)
        return blm__fail(err, BLM_E_MEMORY, "no memory for the guard's paths");
    return open_note(t, id, err);
}

void blm__trust_close(struct blm__trust *t, const blm_allocator *a)
{
    blm__free(a, t->path, t->path_len + 8);
    blm__free(a, t->next, t->path_len + 8);
    blm__free(a, t->note, t->path_len + 8);
    if (t->fd >= 0) {
        blm__lock_drop(t->fd); /* a forked child may have it open too */
        close(t->fd);
    }
}

/* ---- judging ----------------------------------------------------------------------------- */

/* A file that we must not replace: it is not empty, not a native filter, and has no note beside
 * it. */
static bool somebody_elses(const struct blm__trust *t)
{
    uint8_t head[64];
    blm_bid bid = { NULL, 0 };
    int     fd  = open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    size_t got = 0;
    int    why = blm__os_read_at(fd, head, sizeof head, 0, &got);
    close(fd);
    if (why)
        return true; /* a directory, a device */
    if (got == 0)
        return false;
    return !t->known &&
           (blm_sniff(head, got, 0, &bid, 1) == 0 || strcmp(bid.format, "native") != 0);
}

static bool marks_agree(const struct blm__trust *t, const blm_dataset *d)
{
    char      ours[BLM_MARK_MAX], theirs[BLM_MARK_MAX];
    size_t    len = 0;
    blm_error err;
    if (!d->mark_read)
        return true;
    return d->mark_read(d->ctx, theirs, &len, &err) == BLM_OK && len == mark_of(t, ours) &&
           memcmp(ours, theirs, len) == 0;
}

static bool trustworthy(const struct blm__trust *t, const blm_dataset *d, const blm_options *o,
                        const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    if (blm_get_params(f, &p) != BLM_OK || p.kind != o->kind)
        return false;
    if (blm__mistaken(BLM__TRUST_ALWAYS))
        return true;
    bool pairs = (t->state == BLM__SESSION_CLOSED && p.writer == BLM_WRITER_LIVE) ||
                 (t->state == BLM__SESSION_OPEN && p.writer == BLM_WRITER_DIED);
    return t->known && pairs && marks_agree(t, d);
}

blm_status blm__trust_filter(struct blm__trust *t, const blm_dataset *d, const blm_options *o,
                             blm_filter **out, blm_error *err)
{
    blm_options open_it = *o;
    blm_filter *f       = NULL;
    blm_error   why;
    *out = NULL;
    if (!t->path)
        return BLM_OK;
    if (somebody_elses(t))
        return blm__fail(err, BLM_E_FORMAT,
                         "%.160s: not a native filter: give another path, or move the file away",
                         t->path);
    open_it.flags = BLM_WRITE | BLM_SHARED;
    blm_status st = blm_open(t->path, &open_it, &f, &why);
    if (st == BLM_E_BUSY || st == BLM_E_MEMORY || st == BLM_E_READONLY || st == BLM_E_LIMIT ||
        (st == BLM_E_IO && why.system != ENOENT)) {
        if (err)
            *err = why;
        return st;
    }
    if (st == BLM_OK && trustworthy(t, d, o, f)) {
        *out = f;
        return BLM_OK;
    }
    /* Before closing the filter, which would wipe out the traces of a crash. */
    st = blm__trust_say(t, d, BLM__SESSION_VOID, err);
    blm_free(f);
    return st;
}

blm_status blm__trust_rename(struct blm__trust *t, blm_error *err)
{
    int why = blm__os.rename_over(t->next, t->path);
    if (why)
        return fail_system(err, why, "rename it into place", t->next);
    t->unsure = blm__os_sync_parent(t->path) != 0;
    return BLM_OK;
}
