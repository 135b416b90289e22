/* SPDX-License-Identifier: MIT */
/* Files whose adds move what earlier ones wrote, after a power cut: every key that was synced, and not
 * removed since, is there, whatever had reached the disk; for readers and for the next writer. */
#include "unit/support.h"

#include "unit/files.h"
#include "unit/power.h"

#define MOST 24000u

/* What each key is owed: how often it is in, and whether a power cut may not take it. */
static struct {
    uint8_t in[MOST], owed[MOST];
} keys;

static blm_options options(uint64_t items, double rate)
{
    blm_options o = file_options(BLM_CUCKOO, items);
    o.rate        = rate;
    o.flags |= BLM_REPLACE;
    return o;
}

static uint64_t gone(const blm_filter *f)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < MOST; i++)
        n += keys.owed[i] && !blm_check(f, &i, 8);
    return n;
}

static bool put(blm_filter *f, uint64_t key)
{
    if (blm_add(f, &key, 8) < 0)
        return false;
    keys.in[key]++;
    return true;
}

static void take(blm_filter *f, uint64_t key)
{
    assert_status(blm_remove(f, &key, 8), BLM_OK);
    if (--keys.in[key] == 0)
        keys.owed[key] = 0;
}

static void settle(blm_filter *f)
{
    assert_status(blm_sync(f, NULL), BLM_OK);
    for (size_t i = 0; i < MOST; i++)
        keys.owed[i] = keys.in[i] > 0;
}

/* ---- every file that a cut may leave ---- */

static void check_image(const uint8_t *p, size_t len)
{
    const char *path = at("image");
    spit(path, p, len);
    boot_another();
    blm_error   e = { .text = "" };
    blm_filter *f = NULL;
    if (blm_open(path, NULL, &f, &e) != BLM_OK)
        fail_msg("after call %zu (%s): %s", os_log.calls, os_log.log, e.text);
    if (gone(f))
        fail_msg("after call %zu (%s): a reader misses %llu keys", os_log.calls, os_log.log,
                 (unsigned long long)gone(f));
    assert_int_equal(verdict_of(f, BLM_OK).damaged, 0);
    blm_free(f);
    f = open_at(path, BLM_WRITE);
    assert_int_equal(gone(f), 0);
    for (uint64_t i = 1u << 20; i < (1u << 20) + 9; i++) /* it goes on, with moves or full */
        blm_add(f, &i, 8);
    assert_int_equal(gone(f), 0);
    close_well(f);
    f = open_at(path, BLM_VERIFY);
    assert_int_equal(params_of(f).writer, BLM_WRITER_NONE);
    assert_int_equal(gone(f), 0);
    blm_free(f);
    power.cuts++;
}

/* Adds, removes, second copies and syncs at random, near the end of what the filter takes. */
static void live_on(blm_filter *f, uint64_t items, unsigned steps)
{
    struct rng r    = { 77 };
    uint64_t   next = 0;
    while (keys.in[next])
        next++;
    for (unsigned i = 0; i < steps; i++) {
        unsigned what = (unsigned)rng_below(&r, 16);
        uint64_t key  = rng_below(&r, next);
        if (what < 9 && next < MOST && next < items * 2)
            next += put(f, next);
        else if (what < 12 && keys.in[key])
            take(f, key);
        else if (what < 14 && keys.in[key] && keys.in[key] < 3 && put(f, key))
            take(f, key); /* a copy came and went: the first must still be there */
        else if (what == 14)
            seep();
        if (i % 40 == 39)
            settle(f);
        else if (i % 8 == 7)
            cut_power();
    }
}

static void begin_cuts(uint64_t seed, int mixtures)
{
    static char path[512];
    memset(&power, 0, sizeof power);
    memset(&keys, 0, sizeof keys);
    snprintf(path, sizeof path, "%s", at("f"));
    power.path      = path;
    power.check     = check_image;
    power.mixtures  = mixtures;
    power.rng.state = seed;
}

static void end_cuts(void)
{
    os_unwatch();
    assert_true(power.cuts > 100);
    free(power.disk.p);
    power.disk.p = NULL;
}

static void power_cuts_keep_what_was_synced(void **state)
{
    (void)state;
    static const struct {
        uint64_t items;
        double   rate, growth;
        uint32_t flags;
    } t[] = { { 20000, 0.01, 0, 0 },
              { 5000, 1e-7, 0, 0 }, /* cells of two words */
              { 20000, 0.01, 0, BLM_SHARED },
              { 1000, 0.001, 2, 0 } };
    if (access("/proc/self/maps", R_OK) != 0)
        skip();
    for (size_t k = 0; k < COUNT_OF(t); k++) {
        blm_options o = options(t[k].items, t[k].rate);
        o.growth      = t[k].growth;
        o.flags |= t[k].flags;
        begin_cuts(31 + k, quick_tests() ? 1 : 3);
        blm_filter *f = create_at(power.path, &o);
        for (uint64_t i = 0; i < t[k].items * 99 / 100; i++)
            assert_true(put(f, i));
        settle(f);
        flushed(0, SIZE_MAX);
        power_watch();
        live_on(f, t[k].items, 240);
        close_well(f);
        cut_power();
        end_cuts();
        if (t[k].growth == 0) /* pages were saved, by more than one flush */
            assert_true(strstr(os_log.log, "mm") != NULL);
    }
}

/* A new layer lies where pages were saved, and one that goes makes room for them there. */
static void layers_come_and_go(void **state)
{
    (void)state;
    uint64_t    next = 0;
    blm_options o    = options(5000, 0.01);
    o.growth         = 2;
    if (access("/proc/self/maps", R_OK) != 0)
        skip();
    begin_cuts(9, 24);
    blm_filter *f = create_at(power.path, &o);
    for (; next < 4900; next++)
        assert_true(put(f, next));
    settle(f);
    flushed(0, SIZE_MAX);
    power_watch();
    for (; params_of(f).layers == 1 && next < 6000; next++)
        assert_true(put(f, next));
    assert_true(params_of(f).layers == 2);
    cut_power();
    settle(f);
    for (unsigned i = 0; i < 400; i++, next++)
        assert_true(put(f, next));
    cut_power();
    memset(&keys, 0, sizeof keys);
    assert_status(blm_clear(f), BLM_OK);
    for (next = 0; next < 4900; next++)
        assert_true(put(f, next));
    settle(f);
    for (; next < 5000; next++)
        assert_true(put(f, next));
    cut_power();
    close_well(f);
    cut_power();
    end_cuts();
}

/* ---- what it costs ---- */

/* However many adds move others: one flush for each doubling, between two syncs. */
static void flushes_are_few(void **state)
{
    (void)state;
    blm_options o = options(20000, 0.01);
    blm_filter *f = create_at(at("f"), &o);
    add_range(f, 0, 10000);
    os_watch(SIZE_MAX, 0);
    add_range(f, 10000, 20000);
    uint64_t pages = blm__file_of(&f->body)->undo.pages;
    assert_true(pages >= 6 && pages <= 8);
    assert_true(*f->body.layers[0].moves > 1000);
    assert_true(os_log.calls >= 2 && os_log.calls <= 4); /* of 1, 2, 4 and 8 pages */
    assert_int_equal(strspn(os_log.log, "m"), os_log.calls);
    os_unwatch();
    close_well(f);
}

/* The area is gone when the file is closed; and what a killed writer left, when the next one is. */
static void leave_it(void *arg)
{
    blm_filter *f = open_at(at("f"), BLM_WRITE);
    add_range(f, *(uint64_t *)arg, *(uint64_t *)arg + 100);
}

static void a_closed_file_is_as_long_as_before(void **state)
{
    (void)state;
    blm_options o = options(20000, 0.01);
    blm_filter *f = create_at(at("f"), &o);
    struct stat st;
    uint64_t    from = 19000;
    add_range(f, 0, 19000);
    assert_int_equal(stat(at("f"), &st), 0);
    uint64_t length = blm__file_of(&f->body)->slot.length;
    assert_true((uint64_t)st.st_size > length);
    close_well(f);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(stat(at("f"), &st), 0);
        assert_int_equal(st.st_size, length);
        assert_true(WIFEXITED(in_child(leave_it, &from)));
        from += 100;
        assert_int_equal(stat(at("f"), &st), 0);
        assert_true((uint64_t)st.st_size > length);
        f = open_at(at("f"), BLM_WRITE);
        assert_int_equal(missing(f, 0, from), 0); /* the same boot: all that was added */
        close_well(f);
    }
}

/* ---- threads ---- */

/* Pages are flushed one by one. Meanwhile nobody adds, or a fingerprint could go from a page that will
 * be flushed to one that was. */
static struct {
    blm_filter *f;
    unsigned    flushes, free;
} turns;

static int see_turn(void *map, size_t len)
{
    turns.flushes++;
    turns.free += atomic_load(&turns.f->body.layers[0].stripes[BLM__ADDING].count) == 0;
    return real_os.sync_map(map, len);
}

static void nobody_adds_during_a_sync(void **state)
{
    (void)state;
    blm_options o = options(20000, 0.01);
    o.flags |= BLM_SHARED;
    turns.f = create_at(at("f"), &o);
    add_range(turns.f, 0, 20000);
    turns.flushes = turns.free = 0;
    blm__os.sync_map           = see_turn;
    assert_status(blm_sync(turns.f, NULL), BLM_OK);
    assert_true(turns.flushes > 0 && turns.free == 0);
    os_unwatch();
    add_range(turns.f, 20000, 20010); /* and then they do */
    close_well(turns.f);
}

/* ---- flushes that fail ---- */

static void what_cannot_be_saved_is_not_overwritten(void **state)
{
    (void)state;
    blm_options o = options(20000, 0.01);
    blm_filter *f = create_at(at("f"), &o);
    uint64_t    i = 0;
    blm_status  st;
    add_range(f, 0, 10000);
    os_watch(0, EIO);
    for (i = 10000; i < 20000 && (st = blm_add(f, &i, 8)) >= 0;)
        i++;
    assert_status(st, BLM_E_IO);
    assert_int_equal(*f->body.layers[0].moves, 0);
    size_t   done;
    uint64_t one = 5;
    assert_status(blm_add_fixed(f, &i, 8, 1, NULL, &done), BLM_E_IO);
    assert_int_equal(done, 0);
    assert_status(blm_remove(f, &one, 8), BLM_E_IO);
    assert_status(blm_remove_fixed(f, &one, 8, 1, NULL, &done), BLM_E_IO);
    assert_int_equal(done, 0);
    os_unwatch();
    assert_int_equal(missing(f, 0, i), 0);
    assert_true(params_of(f).items == i);
    assert_status(blm_sync(f, NULL), BLM_E_IO); /* for good */
    assert_status(blm_save(f, at("g"), NULL, 0, NULL), BLM_OK);
    blm_free(f);
    f = open_at(at("g"), BLM_VERIFY);
    assert_int_equal(missing(f, 0, i), 0);
    blm_free(f);
}

/* ---- readers ---- */

/* A file that was cut off while pages of it were saved: keys 0 … upto − 1 are owed. */
static void cut_file(uint64_t upto)
{
    blm_options  o = options(20000, 0.01);
    blm_filter  *f = create_at(at("f"), &o);
    struct bytes now;
    add_range(f, 0, upto);
    assert_status(blm_sync(f, NULL), BLM_OK);
    add_range(f, upto, 20000);
    now = slurp(at("f"));
    close_well(f);
    spit(at("f"), now.p, now.len);
    free(now.p);
    boot_another();
}

static void a_reader_is_told_of_a_new_writer(void **state)
{
    (void)state;
    cut_file(19000);
    blm_filter *r = open_at(at("f"), 0), *copy = NULL;
    uint64_t    absent = 0, asked[100];
    assert_true(r->body.snapshot);
    assert_int_equal(missing(r, 0, 19000), 0);
    for (uint64_t i = 0; i < 100; i++) {
        asked[i] = i + 100000;
        absent += !blm_check(r, &asked[i], 8);
    }
    assert_true(absent > 90);
    blm_filter *w = open_at(at("f"), BLM_WRITE);
    assert_int_equal(missing(w, 0, 19000), 0);
    add_range(w, 30000, 30300);
    assert_int_equal(missing(r, 30000, 30300), 0);
    assert_int_equal(blm_check_fixed(r, asked, 8, 100, NULL), 100); /* nobody knows */
    assert_status(blm_copy(r, &copy, NULL), BLM_E_BUSY);
    assert_status(blm_refresh(r, NULL), BLM_OK);
    assert_false(r->body.snapshot);
    assert_int_equal(missing(r, 0, 19000) + missing(r, 30000, 30300), 0);
    assert_true(blm_check_fixed(r, asked, 8, 100, NULL) < 10);
    blm_free(r);
    close_well(w);
}

/* Somebody has the lock and does not say that this boot has a writer: it is another machine's, and its
 * pages are not ours to judge. */
static void a_writer_elsewhere_is_left_alone(void **state)
{
    (void)state;
    cut_file(19000);
    int fd = open(at("f"), O_RDWR);
    assert_true(fd >= 0 && blm__lock_try(fd) == 0);
    blm_filter *r = NULL;
    assert_status(blm_open(at("f"), NULL, &r, NULL), BLM_E_BUSY); /* it may be putting pages back */
    blm__lock_ready(fd);
    r = open_at(at("f"), 0);
    assert_false(r->body.snapshot);
    blm_free(r);
    blm__lock_drop(fd);
    close(fd);
}

/* ---- what is refused ---- */

static void files_of_other_times_are_refused(void **state)
{
    (void)state;
    blm_error    e = { .text = "" };
    blm_filter  *f;
    struct bytes b;
    cut_file(19000);
    b             = slurp(at("f"));
    uint32_t size = blm__get32le(b.p + 52), block = blm__get32le(b.p + 48);
    uint64_t undo = blm__get64le(b.p + block + 16) + 512;
    assert_int_equal(blm__get32le(b.p + block + 32), 5);
    /* Its bytes alone do not say of which boot they are. */
    assert_status(blm_decode(b.p, b.len, NULL, &f, &e), BLM_E_BUSY);
    /* What was saved is cut off. */
    for (size_t cut = 1; cut <= 4112; cut += 4111) {
        spit(at("g"), b.p, b.len - cut);
        assert_status(try_open(at("g"), 0, &e), BLM_E_TRUNCATED);
    }
    /* It is of a later state than the slots: a copy that was made while it was written. */
    uint64_t saved = blm__get64le(b.p + undo + 8);
    assert_int_equal(saved, blm__get64le(b.p + block));
    blm__put64le(b.p + undo + 8, saved + 2);
    blm__put64le(b.p + undo, blm__checksum(b.p + undo + 8, 4104));
    spit(at("g"), b.p, b.len);
    assert_status(try_open(at("g"), 0, &e), BLM_E_CHECKSUM);
    check_error(&e, BLM_E_CHECKSUM, "different times");
    /* Its writer did not save: then only as the last sync left it. */
    for (unsigned i = 0; i < 2; i++)
        blm__put32le(b.p + block + i * size + 32, 1);
    seal_slots(b.p);
    spit(at("g"), b.p, b.len);
    for (unsigned write = 0; write < 2; write++) {
        assert_status(try_open(at("g"), write ? BLM_WRITE : 0, &e), BLM_E_CHECKSUM);
        check_error(&e, BLM_E_CHECKSUM, "machine went down");
    }
    /* A flag without a writer. */
    for (unsigned i = 0; i < 2; i++)
        blm__put32le(b.p + block + i * size + 32, 4);
    seal_slots(b.p);
    spit(at("g"), b.p, b.len);
    assert_status(try_open(at("g"), 0, &e), BLM_E_FORMAT);
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(power_cuts_keep_what_was_synced),
        file_test(layers_come_and_go),
        file_test(flushes_are_few),
        file_test(a_closed_file_is_as_long_as_before),
        file_test(nobody_adds_during_a_sync),
        file_test(what_cannot_be_saved_is_not_overwritten),
        file_test(a_reader_is_told_of_a_new_writer),
        file_test(a_writer_elsewhere_is_left_alone),
        file_test(files_of_other_times_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
