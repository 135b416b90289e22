/* SPDX-License-Identifier: MIT */
/*
 * The guard's law against random interleavings.
 *
 *     guard [-m MISTAKE] [SCHEDULES [FIRST-SEED]]      (default 10 000; BLM_SLOW=1: 100 000)
 *
 * Fibers put, delete, update, get, rebuild, sync and distrust a dozen keys through one guard, whose
 * every step hands over to whichever fiber the seed draws. The data set behind it is exact, and fails: a
 * call returns an error without effect, with its effect, or with its effect some time later, and
 * several such effects of one key may be on their way at once; a scan ends half way; any call takes
 * as long as it likes. At a random moment the process dies, or the machine does: the filter's file is
 * taken as it is at that moment (or as it was synced last; or somebody puts back file and note as
 * they were earlier), and a second guard goes on with it and with the rows there are. In between, a
 * guard that keeps no file may have put rows, and the data set may come back from before that. Or
 * somebody writes a row past the guard, and has it distrusted and rebuilt.
 *
 * The oracle: a get that says "absent" is wrong if some put of that key was acknowledged before the
 * get began, and no delete of the key overlaps or follows that put. And when everything has come to
 * rest, every row in the data set must be found, whoever wrote it and however late.
 *
 * With -m 1 … 18 the guard makes one of the classic mistakes, and this program succeeds when it
 * finds it.
 */
#include <stdio.h>
#include <unistd.h>

#include "bloomery.h"
#include "bloomery/guard.h"
#include "core/os.h"
#include "guard/epoch.h"
#include "guard/step.h"
#include "model/fibers.h"

#define KEYS     10
#define EVENTS   64
#define LATES    5 /* effects of one key on their way */
#define NEVER    UINT64_MAX
#define PATIENCE 400000u /* turns: more is a schedule that gets nowhere */

/* ---- chance ------------------------------------------------------------------------------ */

static uint64_t chance_state;

static uint64_t chance(uint64_t n)
{
    uint64_t v = chance_state += 0x9e3779b97f4a7c15u;
    v          = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v          = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return (v ^ v >> 31) % n;
}

/* ---- the world: rows, what happened to them, and the guard in front ------------------------ */

struct span { /* of a call, in the model's clock */
    uint64_t begin, end;
};

struct record {                           /* what happened to one key */
    struct span put[EVENTS], del[EVENTS]; /* acknowledged puts; deletes, whatever came of them */
    unsigned    puts, dels;
};

struct late { /* a call that "failed" and will have its effect yet */
    bool     del;
    unsigned at; /* … which delete that was */
};

struct world {
    bool          there[KEYS];
    struct late   late[KEYS][LATES];
    unsigned      lates[KEYS];
    struct record record[KEYS];
    char          mark[BLM_MARK_MAX];
    size_t        mark_len;
    bool          faults; /* may the data set fail? */
    bool          away;   /* it fails, without effect */
    bool          storm;  /* … and does every other write, of which most take effect later? */
    blm_guard    *guard;
    char          path[128];
    unsigned      deleting[FIBERS + 1]; /* which delete of its key each fiber's call is */
};

static uint64_t clock_now; /* every begin and end of a call has its own time */
static uint64_t seed_now;
static char     violation[256];
static char     folder[64];

static void violated(const char *what, unsigned key)
{
    if (!violation[0])
        snprintf(violation, sizeof violation, "seed %llu: key %u: %s", (unsigned long long)seed_now,
                 key, what);
}

void blm__model_step(void) { fiber_yield(); }

/* The data set takes its time. */
static void delay(void)
{
    for (uint64_t n = chance(3); n > 0; n--)
        fiber_yield();
}

/* An answer may be on its way for as long as a rebuild takes. */
static void long_delay(void)
{
    for (uint64_t n = chance(6) ? chance(3) : chance(300); n > 0; n--)
        fiber_yield();
}

static bool fails(struct world *w)
{
    return w->away || (w->faults && chance(w->storm ? 2 : 6) == 0);
}

/* A write that fails takes effect now, or later, or never. */
enum effect { NOW, LATER, NEVER_AT_ALL };

static enum effect effect_of(const struct world *w, unsigned k, bool f)
{
    if (!f || (!w->away && chance(w->storm ? 8 : 3) == 0))
        return NOW;
    return !w->away && w->lates[k] < LATES && chance(w->storm ? 8 : 2) ? LATER : NEVER_AT_ALL;
}

/* ---- the data set ------------------------------------------------------------------------ */

static void key_name(char out[8], unsigned k) { snprintf(out, 8, "key%u", k); }

static unsigned key_number(const void *key) { return (unsigned)(((const char *)key)[3] - '0'); }

static blm_status broken(blm_error *err)
{
    err->status = BLM_E_IO;
    strcpy(err->text, "a fault was injected");
    return BLM_E_IO;
}

static blm_status world_get(void *ctx, const void *key, size_t len, blm_write_fn value,
                            void *value_ctx, blm_error *err)
{
    struct world *w = ctx;
    (void)len;
    (void)value;
    (void)value_ctx;
    delay();
    bool there = w->there[key_number(key)], f = fails(w);
    long_delay();
    return f ? broken(err) : there ? BLM_OK : BLM_E_ABSENT;
}

static blm_status world_put(void *ctx, const void *key, size_t len, const void *value,
                            size_t value_len, blm_error *err)
{
    struct world *w = ctx;
    unsigned      k = key_number(key);
    (void)len;
    (void)value;
    (void)value_len;
    delay();
    bool        f = fails(w);
    enum effect e = effect_of(w, k, f);
    if (e == NOW)
        w->there[k] = true;
    else if (e == LATER)
        w->late[k][w->lates[k]++] = (struct late){ .del = false };
    delay();
    return f ? broken(err) : BLM_OK;
}

/* Of the fiber that runs, or of the scheduler. */
static unsigned *deleting(struct world *w) { return &w->deleting[fibers.current + 1]; }

static blm_status world_del(void *ctx, const void *key, size_t len, blm_error *err)
{
    struct world *w = ctx;
    unsigned      k = key_number(key);
    (void)len;
    delay();
    bool        f = fails(w), there = w->there[k];
    enum effect e = effect_of(w, k, f);
    if (e == NOW)
        w->there[k] = false;
    else if (e == LATER)
        w->late[k][w->lates[k]++] = (struct late){ true, *deleting(w) };
    delay();
    return f ? broken(err) : there ? BLM_OK : BLM_E_ABSENT;
}

static blm_status world_scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    struct world *w    = ctx;
    bool          more = true;
    char          key[8];
    for (unsigned k = 0; k < KEYS && more; k++) {
        delay();
        bool     f     = w->faults && chance(60) == 0;
        unsigned times = w->there[k] ? 1 + (unsigned)(chance(8) == 0) : 0; /* some twice */
        key_name(key, k);
        if (f)
            return broken(err);
        for (; times && more; times--)
            more = each(each_ctx, key, 4);
    }
    return more ? BLM_OK : BLM_E_CANCELLED;
}

static blm_status world_mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    struct world *w = ctx;
    bool          f = fails(w);
    *len            = w->mark_len;
    for (size_t i = 0; i < w->mark_len; i++)
        ((char *)mark)[i] = w->mark[i];
    return f ? broken(err) : *len ? BLM_OK : BLM_E_ABSENT;
}

/* Byte by byte: ThreadSanitizer looks into memcpy, and does not know that fibers take turns. */
static void keep_mark(struct world *w, const char *mark, size_t len)
{
    for (size_t i = 0; i < len; i++)
        w->mark[i] = mark[i];
    w->mark_len = len;
}

static blm_status world_mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    struct world *w = ctx;
    bool          f = fails(w);
    if (!f || (!w->away && chance(2)))
        keep_mark(w, mark, len);
    return f ? broken(err) : BLM_OK;
}

/* One effect that was reported as a failure comes about, or (lost) never will. */
static void settle_one(struct world *w, unsigned k, bool lost)
{
    unsigned    i    = (unsigned)chance(w->lates[k]);
    struct late late = w->late[k][i];
    w->late[k][i]    = w->late[k][--w->lates[k]];
    if (!lost)
        w->there[k] = !late.del;
    if (late.del)
        w->record[k].del[late.at].end = clock_now++;
}

static void settle_late(struct world *w, unsigned k)
{
    while (w->lates[k])
        settle_one(w, k, false);
}

/* ---- calls, with the oracle looking on ----------------------------------------------------- */

static void check_absence(const struct world *w, unsigned k, uint64_t asked_at)
{
    const struct record *r = &w->record[k];
    for (unsigned i = 0; i < r->puts; i++) {
        bool excused = r->put[i].end >= asked_at;
        for (unsigned j = 0; j < r->dels; j++)
            excused |= r->del[j].end > r->put[i].begin;
        if (!excused)
            violated("an acknowledged put was answered absent", k);
    }
}

static void call_get(struct world *w, unsigned k)
{
    char key[8];
    key_name(key, k);
    uint64_t   begin = clock_now++;
    blm_status st    = blm_guard_get(w->guard, key, 4, NULL, NULL, NULL);
    if (st == BLM_E_ABSENT)
        check_absence(w, k, begin);
}

static blm_status call_put(struct world *w, unsigned k)
{
    char key[8];
    key_name(key, k);
    uint64_t       begin = clock_now++;
    blm_status     st    = blm_guard_put(w->guard, key, 4, NULL, 0, NULL);
    struct record *r     = &w->record[k];
    if (st == BLM_OK && r->puts < EVENTS)
        r->put[r->puts++] = (struct span){ begin, clock_now++ };
    return st;
}

/* A delete is written down when it begins, and ends when its effect can no longer come. */
static unsigned delete_begins(struct world *w, unsigned k)
{
    struct record *r  = &w->record[k];
    unsigned       at = r->dels < EVENTS ? r->dels++ : EVENTS - 1;
    r->del[at]        = (struct span){ clock_now++, NEVER };
    return at;
}

static void delete_ends(struct world *w, unsigned k, unsigned at)
{
    for (unsigned i = 0; i < w->lates[k]; i++)
        if (w->late[k][i].del && w->late[k][i].at == at)
            return;
    w->record[k].del[at].end = clock_now++;
}

static void call_delete(struct world *w, unsigned k)
{
    char key[8];
    key_name(key, k);
    unsigned at  = delete_begins(w, k);
    *deleting(w) = at;
    blm_guard_delete(w->guard, key, 4, NULL);
    delete_ends(w, k, at);
}

/* The put of an update counts as acknowledged when the whole did;
 * its delete has begun all along. */
static void call_update(struct world *w, unsigned from, unsigned to)
{
    char old[8], new[8];
    key_name(old, from);
    key_name(new, to);
    uint64_t begin = clock_now++;
    unsigned at    = from == to ? 0 : delete_begins(w, from);
    *deleting(w)   = at;
    blm_status st  = blm_guard_update(w->guard, old, 4, new, 4, NULL, 0, NULL);
    if (from != to)
        delete_ends(w, from, at);
    struct record *r = &w->record[to];
    if (st == BLM_OK && r->puts < EVENTS)
        r->put[r->puts++] = (struct span){ begin, clock_now++ };
}

/* ---- fibers -------------------------------------------------------------------------------- */

static unsigned hot; /* half of the calls are about one key */

static unsigned some_key(void) { return chance(2) ? hot : (unsigned)chance(KEYS); }

static void client(void *arg)
{
    struct world *w = arg;
    for (uint64_t n = 2 + chance(w->storm ? 10 : 5); n > 0 && !violation[0]; n--) {
        unsigned what = (unsigned)chance(12), k = some_key(), other = some_key();
        if (what < 4)
            call_put(w, k);
        else if (what < 8)
            call_get(w, k);
        else if (what < 10)
            call_delete(w, k);
        else if (what < 11)
            call_update(w, k, other);
        else if (chance(3))
            blm_guard_sync(w->guard, NULL);
        else
            blm_guard_distrust(w->guard);
    }
}

static void builder(void *arg)
{
    struct world *w = arg;
    for (uint64_t n = 1 + chance(2); n > 0 && !violation[0]; n--)
        blm_guard_build(w->guard, NULL);
}

/* Late effects come about at any time. */
static void network(void *arg)
{
    struct world *w = arg;
    for (uint64_t n = 10 + chance(60); n > 0; n--) {
        fiber_yield();
        unsigned k = (unsigned)chance(KEYS);
        if (w->lates[k] && chance(4) == 0)
            settle_one(w, k, false);
    }
}

static bool outside; /* somebody writes past the guard, and has not ended yet */

/* Somebody writes a row past the guard, says so, and has it rebuilt: from then on it counts as put. */
static void outsider(void *arg)
{
    struct world  *w = arg;
    struct record *r = &w->record[hot];
    for (uint64_t n = chance(100); n > 0; n--)
        fiber_yield();
    uint64_t begin = clock_now++;
    w->there[hot]  = true;
    blm_guard_distrust(w->guard);
    if (r->puts < EVENTS)
        r->put[r->puts++] = (struct span){ begin, clock_now++ };
    for (unsigned tries = 0; tries < 5 && blm_guard_build(w->guard, NULL) != BLM_OK; tries++)
        fiber_yield();
    outside = false;
}

static void reader(void *arg)
{
    for (unsigned n = 0; outside && n < 100 && !violation[0]; n++)
        call_get(arg, hot);
}

/* ---- crash and reopening ------------------------------------------------------------------- */

static uint8_t boot = 1;

static bool model_boot(uint8_t out[16])
{
    memset(out, boot, 16);
    return true;
}

/* Files are as the guard left them, or somebody has put old ones back. */
static bool put_back;

static uint64_t model_now(void) { return 1; }

static uint64_t model_place(const char *path)
{
    (void)path;
    return 1; /* copies are judged by when they came: model_changed */
}

static uint64_t model_changed(const char *path)
{
    (void)path;
    return put_back ? 2 : 1;
}

static const char *named(const char *path, const char *ending)
{
    static char     names[4][160];
    static unsigned next;
    char           *p = names[next++ % 4];
    snprintf(p, sizeof names[0], "%s%s", path, ending);
    return p;
}

static void copy_file(const char *from, const char *to)
{
    char   bytes[65536];
    size_t n;
    FILE  *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    while (in && out && (n = fread(bytes, 1, sizeof bytes, in)) > 0)
        fwrite(bytes, 1, n, out);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
}

static void remove_files(const char *path)
{
    const char *endings[] = { "", ".guard", ".next", ".disk", ".old", ".old.guard" };
    for (unsigned i = 0; i < sizeof endings / sizeof *endings; i++)
        unlink(named(path, endings[i]));
}

/* File and note as they are now, for somebody to put back later. */
static void keep_old(const struct world *w)
{
    copy_file(w->path, named(w->path, ".old"));
    copy_file(named(w->path, ".guard"), named(w->path, ".old.guard"));
}

/* The world as a crash leaves it, on copies of the files. Calls under way end without an answer; a
 * late effect has come about, or never will: the connection that carried it is gone. */
static void crash_into(const struct world *w, struct world *after, bool machine)
{
    *after = *w;
    snprintf(after->path, sizeof after->path, "%s/after", folder);
    put_back = chance(3) == 0 && access(named(w->path, ".old"), F_OK) == 0;
    copy_file(named(w->path, put_back ? ".old.guard" : ".guard"), named(after->path, ".guard"));
    /* What the disk had of the filter may be as old as its last sync. */
    copy_file(named(w->path, put_back ? ".old" : machine ? ".disk" : ""), after->path);
    for (unsigned k = 0; k < KEYS; k++) {
        while (after->lates[k])
            settle_one(after, k, chance(2));
        for (unsigned j = 0; j < after->record[k].dels; j++)
            if (after->record[k].del[j].end == NEVER)
                after->record[k].del[j].end = clock_now++;
    }
}

/* ---- a schedule ---------------------------------------------------------------------------- */

static void open_world(struct world *w, blm_kind kind, bool filed)
{
    blm_options       f = BLM_OPTIONS_INIT;
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_error         err;
    blm_dataset       d = { .size       = sizeof d,
                            .ctx        = w,
                            .get        = world_get,
                            .put        = world_put,
                            .del        = world_del,
                            .scan       = world_scan,
                            .mark_read  = world_mark_read,
                            .mark_write = world_mark_write };
    f.kind              = kind;
    /* Ten keys: crowded, so that false positives are common; in a storm the other way round, so that
     * a key that is removed once too often is missed. */
    f.items    = w->storm ? 100 : 8;
    f.rate     = 0.3;
    f.flags    = BLM_SEEDED;
    f.seed[0]  = seed_now;
    o.filter   = &f;
    o.remember = 128;
    o.flags    = BLM_GUARD_MANUAL;
    o.path     = filed ? w->path : NULL;
    if (blm_guard_open(&o, &d, &w->guard, &err) != BLM_OK) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed_now, err.text);
        exit(2);
    }
}

/* That the mark could not be written is the next open's business. */
static void close_world(struct world *w) { blm_guard_close(w->guard, NULL); }

/* At rest: what is in the data set is found. */
static void check_all(struct world *w)
{
    w->faults = false;
    blm_guard_sync(w->guard, NULL); /* what waits to be removed is removed now */
    for (unsigned k = 0; k < KEYS; k++)
        settle_late(w, k);
    for (unsigned k = 0; k < KEYS && !violation[0]; k++) {
        char key[8];
        key_name(key, k);
        blm_status st = blm_guard_get(w->guard, key, 4, NULL, NULL, NULL);
        if (w->there[k] && st != BLM_OK)
            violated("a row is there and is answered absent", k);
        if (!w->there[k] && st == BLM_E_ABSENT)
            check_absence(w, k, clock_now++);
    }
    w->faults = true;
}

/* After a storm: a rebuild, then one late effect after the other, and deletes in between. What is
 * still on its way comes last (check_all). */
static void aftermath(struct world *w)
{
    w->faults = false;
    blm_guard_build(w->guard, NULL);
    for (unsigned k = 0; k < KEYS; k++)
        while (w->lates[k] && chance(4)) {
            settle_one(w, k, false);
            if (w->there[k])
                call_delete(w, k);
        }
    w->faults = true;
}

/* Turns until all have ended, or, with crash_at, until so many are over: then the world after the
 * crash is taken, and the old one runs to its end. */
static void run_fibers(struct world *w, uint64_t crash_at, struct world *after, bool machine)
{
    uint64_t turns = 0, sticky = chance(4);
    int      last = 0;
    for (int live = fibers.count; live > 0;) {
        int which = last;
        if (!fibers.fiber[last].live || chance(1 + sticky) == 0)
            do
                which = (int)chance((uint64_t)fibers.count);
            while (!fibers.fiber[which].live);
        if (crash_at != NEVER && turns == crash_at / 2)
            keep_old(w);
        if (turns++ == crash_at)
            crash_into(w, after, machine);
        if (turns > PATIENCE) {
            fprintf(stderr, "seed %llu: no end in sight\n", (unsigned long long)seed_now);
            exit(2);
        }
        /* A fiber is a thread to the guard: with a slot of its own, or (every third) without. */
        blm__thread_number = which % 3 == 2 ? BLM__EPOCH_OWNED + 1 : (uint32_t)which + 2;
        fiber_turn(which);
        blm__thread_number = 1;
        live -= !fibers.fiber[which].live;
        last = which;
    }
    fibers.count = 0;
}

static void start_fibers(struct world *w)
{
    hot = (unsigned)chance(KEYS);
    for (uint64_t n = 2 + chance(3); n > 0; n--)
        fiber_start(client, w);
    if (chance(5))
        fiber_start(builder, w);
    fiber_start(network, w);
}

/* His row was there once, so the filter lets it pass. */
static void invite_outsider(struct world *w)
{
    w->faults = false;
    call_put(w, hot);
    blm_guard_build(w->guard, NULL);
    call_delete(w, hot);
    w->faults = true;
    outside   = true;
    fiber_start(outsider, w);
    fiber_start(reader, w);
}

static void put_some(struct world *w)
{
    for (uint64_t n = 1 + chance(4); n > 0; n--)
        call_put(w, (unsigned)chance(KEYS));
}

/* The data set dies, and comes back as it was: rows, mark and what they are compared with. Its guard sees
 * that one call fails. */
static void come_back(struct world *w, const struct world *saved)
{
    w->away = true;
    if (chance(2))
        call_get(w, (unsigned)chance(KEYS));
    call_put(w, (unsigned)chance(KEYS));
    w->away = false;
    memcpy(w->there, saved->there, sizeof w->there);
    memcpy(w->record, saved->record, sizeof w->record);
    keep_mark(w, saved->mark, saved->mark_len);
    for (unsigned k = 0; k < KEYS; k++) {
        memcpy(w->late[k], saved->late[k], sizeof w->late[k]);
        w->lates[k] = saved->lates[k];
    }
}

/* A guard without a file puts a few rows; the data set may come back from before that, and it puts
 * more. */
static void stranger(struct world *w, blm_kind kind)
{
    static struct world saved;
    saved = *w;
    open_world(w, kind, false);
    put_some(w);
    if (chance(2)) {
        come_back(w, &saved);
        put_some(w);
    }
    close_world(w);
}

static void schedule(uint64_t seed)
{
    static struct world w, after;
    blm_kind            kinds[] = { BLM_BLOCKED, BLM_COUNTING, BLM_COUNTING,
                                    BLM_CUCKOO,  BLM_CUCKOO,   BLM_CLASSIC };
    memset(&w, 0, sizeof w);
    seed_now = chance_state = seed;
    clock_now               = 1;
    boot                    = 1;
    put_back                = false;
    blm__model_ids          = 0;
    blm_kind kind           = kinds[chance(6)];
    bool     filed = chance(4) == 0, machine = chance(2);
    uint64_t crash_at = filed && chance(3) ? chance(120) : NEVER;
    snprintf(w.path, sizeof w.path, "%s/before", folder);
    w.storm = chance(4) == 0;
    open_world(&w, kind, filed);
    for (unsigned k = 0; k < KEYS; k++)
        if (chance(3) == 0)
            call_put(&w, k);
    if (chance(4))
        blm_guard_build(w.guard, NULL);
    if (filed)
        copy_file(w.path, named(w.path, ".disk"));
    w.faults = true;
    start_fibers(&w);
    /* Rows that nobody has told the guard of yet must not be deleted through a filter that removes,
     * nor be left behind by a crash. */
    if (crash_at == NEVER && !(blm_kind_find(kind)->can & BLM_CAN_REMOVE) && chance(2))
        invite_outsider(&w);
    memset(&after, 0, sizeof after);
    run_fibers(&w, crash_at, &after, machine);
    bool crashed = after.path[0] != 0;
    if (w.storm && !violation[0])
        aftermath(&w);
    if (!violation[0])
        check_all(&w);
    if (!crashed && filed)
        after = w;
    close_world(&w);
    if (filed && !violation[0]) {
        if (!crashed)
            keep_mark(&after, w.mark, w.mark_len);
        boot = machine ? 2 : 1;
        if (chance(3) == 0)
            stranger(&after, kind);
        open_world(&after, kind, true);
        for (unsigned k = 0; k < KEYS; k++)
            call_get(&after, k);
        check_all(&after);
        start_fibers(&after);
        run_fibers(&after, NEVER, NULL, false);
        if (!violation[0])
            check_all(&after);
        close_world(&after);
    }
    if (filed) {
        remove_files(w.path);
        remove_files(after.path);
    }
}

static const char *const mistake_name[BLM__MISTAKES] = {
    [BLM__DATA_SET_FIRST] = "the data set before the filter",
    [BLM__ONE_GENERATION] = "a swap without double writes",
    [BLM__EARLY_SCAN]     = "a scan begun too early",
    [BLM__STALE_TABLE]    = "a stale false-positive entry",
    [BLM__KEPT_ABSENCE]   = "a false-positive entry that a put leaves behind",
    [BLM__REMOVE_UNSURE]  = "a counting removal on a failed delete",
    [BLM__REMOVE_ACROSS]  = "a counting removal from the next generation",
    [BLM__FORGET_DOUBT]   = "a failed put forgotten",
    [BLM__TRUST_ALWAYS]   = "a file believed after a crash",
    [BLM__REMOVE_DOUBT]   = "a counting removal of a key in doubt",
    [BLM__TRUST_COPIES]   = "an old copy believed after a crash",
    [BLM__NO_CLAIM]       = "a put while the mark is another guard's",
    [BLM__SPARE_QUIETLY]  = "an add spared, and a delete that does not know",
    [BLM__SPARE_BLINDLY]  = "an add spared because of another key",
    [BLM__FULL_UNHEARD]   = "a full filter that goes on answering",
    [BLM__KEPT_TICKETS]   = "an absence read before a rebuild and remembered after it",
    [BLM__LATE_CLEAR]     = "a new filter shown beside the old one's absences",
    [BLM__CLAIM_ONCE]     = "a put after the data set went back to another guard's mark",
};

#ifdef FIBERS_TSAN
#define SCHEDULES 2000 /* a tenth of the speed */
#else
#define SCHEDULES 10000
#endif

int      blm__model_mistake;
uint64_t blm__model_ids;

static int report(uint64_t schedules)
{
    unsigned long long n = schedules;
    if (blm__model_mistake == 0) {
        printf("%llu schedules: %s\n", n, violation[0] ? violation : "the law holds");
        return violation[0] ? 1 : 0;
    }
    const char *what = mistake_name[blm__model_mistake];
    if (violation[0])
        printf("%s is found after %llu schedules (%s)\n", what, n, violation);
    else
        printf("%s is NOT found in %llu schedules\n", what, n);
    return violation[0] ? 0 : 1;
}

int main(int argc, char **argv)
{
    const char *slow = getenv("BLM_SLOW");
    if (argc > 2 && strcmp(argv[1], "-m") == 0) {
        blm__model_mistake = atoi(argv[2]);
        if (blm__model_mistake < 1 || blm__model_mistake >= BLM__MISTAKES)
            return 2;
        argc -= 2;
        argv += 2;
    }
    uint64_t many  = argc > 1               ? strtoull(argv[1], NULL, 10)
                     : slow && *slow == '1' ? 50000
                                            : SCHEDULES;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, i;
    snprintf(folder, sizeof folder, "%s/blm-model-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder))
        return 2;
    blm__os.boot_id    = model_boot;
    blm__os.now        = model_now;
    blm__os.changed    = model_changed;
    blm__os.place      = model_place;
    blm__thread_number = 1;
    for (i = 0; i < many && !violation[0]; i++)
        schedule(first + i);
    rmdir(folder);
    return report(i);
}
