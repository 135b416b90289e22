/* SPDX-License-Identifier: MIT */
/*
 * Lists of hashes that are larger than memory. What comes is gathered in a buffer; a full one is
 * sorted, and becomes a file, a run. When all have come, one stretch of all hashes after the other
 * is read from all runs, sorted and appended to the merged list. Runs are sorted, so the place where
 * a stretch begins is found by halving, after a kill too. How even the hashes are does not matter: a
 * stretch with too many of them is made shorter.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "api/disk.h"
#include "core/checksum.h"
#include "core/os.h"

static const char *const names[2] = { "in", "out" };

/* ---- taking ---- */

static blm_status other_keys(blm_error *err)
{
    return blm__fail(err, BLM_E_MISMATCH,
                     "these are not the keys that the spill directory has: give them again in the "
                     "same order, or remove the directory");
}

static blm_status write_run(struct blm__disk *d, int list, blm_error *err)
{
    struct blm__hashes *h = &d->buffer[list];
    char                path[BLM__DISK_PATH];
    blm__disk_path(d, names[list], d->mark.list[list].runs, path);
    int fd  = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int why = fd < 0 ? errno : blm__os.write_at(fd, h->of, h->n * 8, 0);
    if (!why)
        why = blm__os.sync_file(fd);
    if (fd >= 0)
        close(fd);
    return why ? blm__disk_failed(why, "write to", err) : BLM_OK;
}

static blm_status flush_list(struct blm__disk *d, int list, blm_error *err)
{
    struct blm__list_mark *m = &d->mark.list[list];
    struct blm__hashes    *h = &d->buffer[list];
    if (h->n == 0)
        return BLM_OK;
    if (m->runs == BLM__DISK_RUNS)
        return blm__fail(
            err, BLM_E_LIMIT,
            "so many keys need more memory to be sorted: remove the directory and start again "
            "with twice as much");
    blm__hashes_sort(h, d->threads);
    m->sums[m->runs] = blm__disk_sum(h->of, h->n);
    blm_status st    = write_run(d, list, err);
    if (st != BLM_OK)
        return st;
    m->length[m->runs++] = h->n;
    m->keys              = d->given[list];
    m->chain             = d->chain[list];
    h->n                 = 0;
    return BLM_OK;
}

blm_status blm__disk_flush(struct blm__disk *d, const struct blm__hasher *h, blm_error *err)
{
    bool       any = d->buffer[0].n || d->buffer[1].n;
    blm_status st  = flush_list(d, 0, err);
    if (st == BLM_OK)
        st = flush_list(d, 1, err);
    return st == BLM_OK && any ? blm__disk_write_down(d, h, err) : st;
}

/* Hashes that an earlier run of the program has taken are only compared, all together. */
static size_t compare(struct blm__disk *d, int list, const uint64_t *hashes, size_t n)
{
    size_t i = 0;
    for (; i < n && d->given[list] < d->kept[list]; i++, d->given[list]++)
        d->chain[list] = (d->chain[list] ^ hashes[i]) * BLM__C + 1;
    return i;
}

blm_status blm__disk_take(struct blm__disk *d, int list, const struct blm__hasher *h,
                          const uint64_t *hashes, size_t n, blm_error *err)
{
    struct blm__hashes *b    = &d->buffer[list];
    size_t              room = (size_t)(d->memory / 4 / sizeof *hashes);
    size_t              i    = compare(d, list, hashes, n);
    if (i && d->given[list] == d->kept[list] && d->chain[list] != d->mark.list[list].chain)
        return other_keys(err);
    if (i < n && d->mark.phase != BLM__TAKING)
        return other_keys(err);
    if (i < n && b->room == 0 && !blm__hashes_room(b, d->a, room))
        return blm__fail(err, BLM_E_MEMORY, "no memory to gather %zu hashes in", room);
    for (; i < n; i++) {
        d->chain[list] = (d->chain[list] ^ hashes[i]) * BLM__C + 1;
        b->of[b->n++]  = hashes[i];
        d->given[list]++;
        if (b->n < room)
            continue;
        blm_status st = flush_list(d, list, err);
        if (st == BLM_OK)
            st = blm__disk_write_down(d, h, err);
        if (st != BLM_OK)
            return st;
    }
    return BLM_OK;
}

/* ---- merging ---- */

struct merge {
    struct blm__disk  *d;
    int                list, out;
    uint64_t           at[BLM__DISK_RUNS]; /* where the next stretch begins in each run */
    uint64_t           to[BLM__DISK_RUNS]; /* … and ends */
    struct blm__hashes some;
    uint64_t           taken; /* the sum of what was brought for this stretch */
    blm_error         *err;
};

static blm_status open_run(const struct merge *m, uint64_t run, int *fd)
{
    char path[BLM__DISK_PATH];
    blm__disk_path(m->d, names[m->list], run, path);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd < 0 ? blm__disk_gone(errno, "read", m->err) : BLM_OK;
}

static blm_status read_hashes(const struct merge *m, int fd, uint64_t at, uint64_t *to, size_t n)
{
    size_t got = 0;
    int    why = blm__os_read_at(fd, to, n * 8, at * 8, &got);
    if (why)
        return blm__disk_failed(why, "read", m->err);
    return got == n * 8 ? BLM_OK
                        : blm__fail(m->err, BLM_E_TRUNCATED,
                                    "a file of the spill directory has become shorter: remove the "
                                    "directory and start again");
}

/* The first place in a run, from `low` on, whose hash is above `bound`. */
static blm_status above(const struct merge *m, int fd, uint64_t run, uint64_t low, uint64_t bound,
                        uint64_t *out)
{
    uint64_t   high = m->d->mark.list[m->list].length[run], h = 0;
    blm_status st = BLM_OK;
    while (low < high && st == BLM_OK) {
        uint64_t mid = low + (high - low) / 2;
        st           = read_hashes(m, fd, mid, &h, 1);
        if (h <= bound)
            low = mid + 1;
        else
            high = mid;
    }
    *out = low;
    return st;
}

/* For each run, where hashes above `bound` begin, in `out`; *sum: how many that is after `at`. */
static blm_status bounds(const struct merge *m, uint64_t bound, uint64_t *out, uint64_t *sum)
{
    blm_status st = BLM_OK;
    *sum          = 0;
    for (uint64_t r = 0; r < m->d->mark.list[m->list].runs && st == BLM_OK; r++) {
        int fd;
        st = open_run(m, r, &fd);
        if (st != BLM_OK)
            return st;
        st = above(m, fd, r, m->at[r], bound, &out[r]);
        close(fd);
        *sum += out[r] - m->at[r];
    }
    return st;
}

/* The end of a stretch that fits: as long as it should be, and shorter if it must. */
static blm_status stretch(struct merge *m, uint64_t total, uint64_t *last)
{
    uint64_t from = m->d->mark.list[m->list].next, room = m->some.room, sum;
    uint64_t many = total / (room - room / 8) + 1, width = UINT64_MAX / many;
    *last = many == 1 || UINT64_MAX - from < width ? UINT64_MAX : from + width;
    for (;; *last = from + (*last - from) / 2) {
        blm_status st = bounds(m, *last, m->to, &sum);
        if (st != BLM_OK || sum <= room)
            return st;
        if (*last == from) /* a hash is once in each run */
            return blm__disk_damaged(m->err);
    }
}

/* One run's hashes of the stretch; all must be within it, and sorted. */
static blm_status bring(struct merge *m, uint64_t run, uint64_t from, uint64_t last)
{
    int        fd;
    size_t     n   = (size_t)(m->to[run] - m->at[run]);
    uint64_t  *to  = m->some.of + m->some.n;
    bool       bad = false;
    blm_status st  = n ? open_run(m, run, &fd) : BLM_OK;
    if (n == 0 || st != BLM_OK)
        return st;
    st = read_hashes(m, fd, m->at[run], to, n);
    close(fd);
    for (size_t i = 0; i < n; i++)
        bad |= to[i] < from || to[i] > last || (i && to[i] <= to[i - 1]);
    if (st == BLM_OK && bad)
        st = blm__disk_damaged(m->err);
    m->taken += blm__disk_sum(to, n);
    m->some.n += n;
    return st;
}

static blm_status append(struct merge *m, const struct blm__hasher *h, uint64_t last)
{
    struct blm__list_mark *k   = &m->d->mark.list[m->list];
    size_t                 n   = m->some.n;
    uint64_t               sum = blm__disk_sum(m->some.of, n);
    int                    why = n ? blm__os.write_at(m->out, m->some.of, n * 8, k->sorted * 8) : 0;
    if (!why)
        why = blm__os.sync_file(m->out);
    if (why)
        return blm__disk_failed(why, "write to", m->err);
    k->sorted += n;
    k->sum += sum;
    k->taken += m->taken;
    k->next   = last + 1;
    k->merged = last == UINT64_MAX;
    for (uint64_t r = 0; r < k->runs; r++)
        m->at[r] = m->to[r];
    return blm__disk_write_down(m->d, h, m->err);
}

bool blm__disk_all_taken(const struct blm__list_mark *k)
{
    uint64_t sum = 0;
    for (uint64_t r = 0; r < k->runs; r++)
        sum += k->sums[r];
    return blm__sum_matches(k->taken, sum);
}

static blm_status merge_stretches(struct merge *m, struct blm__body *b,
                                  struct blm__fuse_progress *p, uint64_t total)
{
    struct blm__list_mark *k    = &m->d->mark.list[m->list];
    uint64_t               last = 0, sum = 0;
    blm_status             st = k->next ? bounds(m, k->next - 1, m->to, &sum) : BLM_OK;
    if (k->next)
        memcpy(m->at, m->to, sizeof m->at);
    p->done += sum;
    while (st == BLM_OK && !k->merged) {
        uint64_t from = k->next;
        m->some.n     = 0;
        m->taken      = 0;
        st            = stretch(m, total, &last);
        for (uint64_t r = 0; r < k->runs && st == BLM_OK; r++)
            st = bring(m, r, from, last);
        if (st != BLM_OK)
            break;
        p->done += m->some.n;
        blm__hashes_sort(&m->some, m->d->threads);
        st = append(m, &b->hasher, last);
        if (st == BLM_OK && !blm__go_on(b, p->done, p->total))
            st = blm__fail(m->err, BLM_E_CANCELLED, "cancelled while sorting");
    }
    return st == BLM_OK && !blm__disk_all_taken(k) ? blm__disk_damaged(m->err) : st;
}

static void remove_runs(struct merge *m)
{
    char path[BLM__DISK_PATH];
    for (uint64_t r = 0; r < m->d->mark.list[m->list].runs; r++) {
        blm__disk_path(m->d, names[m->list], r, path);
        unlink(path);
    }
}

static blm_status merge_list(struct blm__disk *d, int list, struct blm__body *b,
                             struct blm__fuse_progress *p, blm_error *err)
{
    char                   path[BLM__DISK_PATH];
    struct blm__list_mark *k     = &d->mark.list[list];
    uint64_t               total = 0;
    struct merge          *m     = blm__zalloc(d->a, sizeof *m);
    for (uint64_t r = 0; r < k->runs; r++)
        total += k->length[r];
    size_t room = (size_t)(d->memory / 2 / sizeof(uint64_t));
    if (total < room) /* all at once */
        room = (size_t)total + 1 > BLM__DISK_RUNS ? (size_t)total + 1 : BLM__DISK_RUNS;
    if (!m || !blm__hashes_room(&m->some, d->a, room)) {
        blm__free(d->a, m, sizeof *m);
        return blm__fail(err, BLM_E_MEMORY, "no memory to sort %zu hashes in", room);
    }
    m->d    = d;
    m->list = list;
    m->err  = err;
    blm__disk_path(d, names[list], BLM__DISK_ONLY, path);
    m->out = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    blm_status st =
        m->out < 0 ? blm__disk_failed(errno, "write to", err) : merge_stretches(m, b, p, total);
    if (m->out >= 0)
        close(m->out);
    if (st == BLM_OK)
        remove_runs(m);
    blm__hashes_free(&m->some, d->a);
    blm__free(d->a, m, sizeof *m);
    return st;
}

blm_status blm__disk_merge(struct blm__disk *d, struct blm__body *b, struct blm__fuse_progress *p,
                           blm_error *err)
{
    blm_status st = BLM_OK;
    for (int i = 0; i < 2; i++)
        blm__hashes_free(&d->buffer[i], d->a);
    for (int i = 0; i < 2 && st == BLM_OK; i++)
        if (!d->mark.list[i].merged)
            st = merge_list(d, i, b, p, err);
        else
            p->done += d->mark.list[i].keys;
    return st;
}
