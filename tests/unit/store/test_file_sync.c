/* SPDX-License-Identifier: MIT */
/* What reaches the disk and in which order: the calls themselves, what a power cut between any two
 * of them leaves, flushes that fail, and marks that are set in time. */
#include "unit/support.h"

#include "bloomery/embed.h"
#include "unit/files.h"
#include "unit/power.h"

/* ---- the order of calls ---- */

static void called(const char *want)
{
    os_unwatch();
    if (strcmp(os_log.log, want) != 0)
        fail_msg("the calls were %s, not %s", os_log.log, want);
}

static void calls_come_in_order(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_SCALABLE, 50);
    os_watch(SIZE_MAX, 0);
    blm_filter *f = create_at(at("f"), &o);
    /* space, header, words, a slot, flush, the other; then flush, rename, flush the directory */
    called("rwmwfwfnd");
    os_watch(SIZE_MAX, 0);
    add_range(f, 0, 50);
    called("");
    uint64_t key = 50;
    while (params_of(f).layers == 1 && key < 100) {
        os_watch(SIZE_MAX, 0);
        add_range(f, key, key + 1);
        key++;
    }
    called("rmfwfw"); /* the layer is on the disk before a slot names it */
    os_watch(SIZE_MAX, 0);
    assert_status(blm_sync(f, NULL), BLM_OK);
    called("mmwfw"); /* both layers' words before the slots */
    os_watch(SIZE_MAX, 0);
    close_well(f);
    called("mmwfw");
    os_watch(SIZE_MAX, 0);
    f = open_at(at("f"), BLM_WRITE);
    called("fwfw"); /* both slots are on the disk; then "being written", before anything changes */
    close_well(f);
    os_watch(SIZE_MAX, 0);
    f = open_at(at("f"), 0);
    assert_status(blm_save(f, at("copy"), NULL, 0, NULL), BLM_OK);
    called("wfnd");
    os_watch(SIZE_MAX, 0);
    assert_status(blm_save(f, at("copy"), NULL, BLM_REPLACE, NULL), BLM_OK);
    called("wfod");
    blm_free(f);
}

/* ---- power cuts ---- */

static void check_image(const uint8_t *p, size_t len)
{
    const char *path = at("image");
    spit(path, p, len);
    boot_another();
    blm_error   e = { .text = "" };
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    if (blm_open(path, &o, &f, &e) != BLM_OK)
        fail_msg("after call %zu (%s): %s", os_log.calls, os_log.log, e.text);
    uint64_t gone = missing(f, 0, power.promised);
    if (gone)
        fail_msg("after call %zu (%s): %llu keys of %llu are gone", os_log.calls, os_log.log,
                 (unsigned long long)gone, (unsigned long long)power.promised);
    blm_verdict v = verdict_of(f, BLM_OK);
    if (v.writer == BLM_WRITER_NONE)
        /* It says that it was closed: so it must be, but for a slot that was being written. */
        assert_true(v.good + 1 >= v.regions && v.good >= f->body.layer_count);
    else
        assert_int_equal(v.writer, BLM_WRITER_CRASH);
    blm_free(f);
    f = open_at(path, BLM_WRITE); /* and whoever comes next can go on */
    assert_int_equal(missing(f, 0, power.promised), 0);
    add_range(f, 1u << 20, (1u << 20) + 20);
    close_well(f);
    f = open_at(path, BLM_VERIFY);
    assert_int_equal(missing(f, 0, power.promised), 0);
    assert_int_equal(missing(f, 1u << 20, (1u << 20) + 20), 0);
    blm_free(f);
    power.cuts++;
}

static void power_sync(blm_filter *f, uint64_t keys)
{
    assert_status(blm_sync(f, NULL), BLM_OK);
    power.promised = keys;
    cut_power();
}

static void power_cuts_between_all_calls(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CLASSIC,  BLM_BLOCKED, BLM_COUNTING,
                                      BLM_SCALABLE, BLM_CUCKOO,  BLM_WINDOW };
    if (access("/proc/self/maps", R_OK) != 0)
        skip();
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        blm_options o = file_options(kinds[k], kinds[k] == BLM_SCALABLE ? 20 : 200);
        memset(&power, 0, sizeof power);
        power.rng.state = 5 + k;
        static char path[512];
        snprintf(path, sizeof path, "%s", at("f"));
        power.path    = path;
        power.check   = check_image;
        blm_filter *f = create_at(path, &o);
        flushed(0, SIZE_MAX);
        power_watch();
        add_range(f, 0, 15);
        power_sync(f, 15);
        add_range(f, 15, 70);
        cut_power();
        power_sync(f, 70);
        power_sync(f, 70);
        add_range(f, 70, 100);
        close_well(f);
        power.promised = 100;
        cut_power();
        f = open_at(path, BLM_WRITE);
        add_range(f, 100, 150);
        cut_power();
        power_sync(f, 150);
        power.promised = 0; /* whoever clears does not want them back */
        assert_status(blm_clear(f), BLM_OK);
        add_range(f, 0, 60);
        power_sync(f, 60);
        close_well(f);
        cut_power();
        os_unwatch();
        assert_true(power.cuts > 100);
        free(power.disk.p);
        power.disk.p = NULL;
        unlink(path);
    }
}

/* ---- flushes that fail ---- */

static void a_failed_flush_is_final(void **state)
{
    (void)state;
    for (size_t n = 0; n < 4; n++) { /* m w f w */
        blm_options o = file_options(BLM_CLASSIC, 100);
        blm_filter *f = create_at(at("f"), &o);
        blm_error   e = { .text = "" };
        add_range(f, 0, 100);
        os_watch(n, EIO);
        assert_status(blm_sync(f, &e), BLM_E_IO);
        assert_int_equal(e.system, EIO);
        os_unwatch();
        assert_status(blm_sync(f, &e), BLM_E_IO); /* the system would say yes by now */
        assert_int_equal(missing(f, 0, 100), 0);
        assert_status(blm_save(f, at("g"), NULL, 0, &e), BLM_OK);
        assert_status(blm_close(f, &e), BLM_E_IO);
        f = open_at(at("f"), 0);
        assert_int_equal(params_of(f).writer, BLM_WRITER_DIED); /* not closed, and says so */
        blm_free(f);
        f = open_at(at("g"), BLM_VERIFY);
        assert_int_equal(missing(f, 0, 100), 0);
        blm_free(f);
        unlink(at("f"));
        unlink(at("g"));
    }
}

static void opening_may_fail_to_say_so(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 100);
    blm_filter *f = create_at(at("f"), &o);
    blm_error   e;
    add_range(f, 0, 100);
    close_well(f);
    for (size_t n = 0; n < 4; n++) { /* f w f w */
        os_watch(n, EIO);
        assert_status(try_open(at("f"), BLM_WRITE, &e), BLM_E_IO);
        os_unwatch();
        f = open_at(at("f"), BLM_WRITE);
        assert_int_equal(missing(f, 0, 100), 0);
        close_well(f);
    }
}

struct stopping {
    int left;
};

static bool stop(void *ctx, uint64_t done, uint64_t total)
{
    assert_true(done <= total);
    return ((struct stopping *)ctx)->left-- > 0;
}

static void a_sync_may_be_cancelled(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 4 * 65536 * 8;
    o.probes      = 4;
    blm_filter *f = create_at(at("f"), &o);
    add_range(f, 0, 1000);
    struct stopping s = { 2 };
    blm_set_progress(f, stop, &s);
    assert_status(blm_sync(f, NULL), BLM_E_CANCELLED);
    blm_set_progress(f, NULL, NULL);
    blm_verdict v = verdict_of(f, BLM_OK);
    assert_int_equal(v.good, 2);
    assert_int_equal(v.unverified, 2);
    add_range(f, 1000, 1010);
    s.left = 0;
    blm_set_progress(f, stop, &s);
    assert_status(blm_close(f, NULL), BLM_OK); /* closing can be watched, not stopped */
    f = open_at(at("f"), BLM_VERIFY);
    assert_int_equal(params_of(f).writer, BLM_WRITER_NONE);
    assert_int_equal(missing(f, 0, 1010), 0);
    blm_free(f);
}

/* ---- marks ---- */

static void only_marked_regions_are_read(void **state)
{
    (void)state;
    blm_options o       = BLM_OPTIONS_INIT;
    o.bits              = 4 * 65536 * 8;
    o.probes            = 4;
    blm_filter       *f = create_at(at("f"), &o);
    struct blm__part *p = &blm__file_of(&f->body)->part[0];
    assert_int_equal(p->s.regions, 4);
    /* A change behind the library's back, in a region without a mark, stays damage. */
    p->words[65536 / 8 * 2 + 5] ^= 4;
    p->words[65536 / 8 * 3 + 5] ^= 4;
    p->marks[3] = 1;
    assert_status(blm_sync(f, NULL), BLM_OK);
    blm_verdict v = verdict_of(f, BLM_E_CHECKSUM);
    assert_int_equal(v.good, 3);
    assert_int_equal(v.damaged, 1);
    assert_int_equal(v.first_damaged, 2);
    assert_int_equal(v.damaged_offset, p->s.words_at + 2 * 65536);
    assert_int_equal(v.damaged_bytes, 65536);
    blm_free(f);
}

/* Elsewhere it would get checksums that vouch for the damage. */
static void damage_is_not_written_elsewhere(void **state)
{
    (void)state;
    static const uint32_t ways[] = { 0, BLM_WRITE };
    blm_options           o      = BLM_OPTIONS_INIT;
    o.bits                       = 4 * 65536 * 8;
    o.probes                     = 4;
    for (size_t i = 0; i < 2; i++) {
        blm_filter  *f   = create_at(at("f"), &o), *copy;
        struct bytes out = { 0 };
        blm_error    e   = { .text = "" };
        add_range(f, 0, 1000);
        uint64_t words = blm__file_of(&f->body)->part[0].s.words_at;
        blm_free(f);
        f = open_at(at("f"), ways[i]);
        assert_status(blm_save(f, at("copy"), NULL, BLM_REPLACE, &e), BLM_OK);
        blm_free(f);
        flip(at("f"), words + 2 * 65536 + 100, 1);
        f = open_at(at("f"), ways[i]);
        assert_status(blm_save(f, at("other"), NULL, 0, &e), BLM_E_CHECKSUM);
        assert_non_null(strstr(e.text, "other: the filter's own file: region 2"));
        assert_int_equal(e.offset, words + 2 * 65536);
        assert_int_equal(access(at("other"), F_OK), -1);
        assert_status(blm_encode(f, NULL, bytes_add, &out, &e), BLM_E_CHECKSUM);
        assert_int_equal(out.len, 0);
        assert_status(blm_copy(f, &copy, NULL), BLM_OK); /* in memory, it has no checksums */
        blm_free(copy);
        blm_free(f);
        unlink(at("f"));
    }
}

static void marks_say_what_changed(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 4 * 65536 * 8;
    o.probes      = 1;
    for (uint64_t i = 0; i < 64; i++) {
        blm_filter *f = create_at(at("f"), &o);
        uint64_t    pos;
        size_t      n;
        assert_status(blm_positions(f, &i, 8, &pos, 1, &n), BLM_OK);
        add_range(f, i, i + 1);
        for (uint64_t r = 0; r < 4; r++)
            assert_int_equal(blm__file_of(&f->body)->part[0].marks[r], pos / (65536 * 8) == r);
        assert_status(blm_sync(f, NULL), BLM_OK);
        for (uint64_t r = 0; r < 4; r++)
            assert_int_equal(blm__file_of(&f->body)->part[0].marks[r], 0);
        assert_status(blm_add(f, &i, 8), BLM_PRESENT); /* changes nothing, marks nothing */
        for (uint64_t r = 0; r < 4; r++)
            assert_int_equal(blm__file_of(&f->body)->part[0].marks[r], 0);
        blm_free(f);
        unlink(at("f"));
    }
}

/* Beside every flavour: keys that are taken back, and the cells of another scheme. */
static const struct {
    struct flavour v;
    const char    *scheme;
} more[] = { { { "remove", BLM_COUNTING, 0, 0, false }, NULL },
             { { "remove", BLM_COUNTING, 0, 0, false }, "js" },
             { { "counting, js", BLM_COUNTING, 0, 0, false }, "js" },
             { { "counting shared, js", BLM_COUNTING, BLM_SHARED, 0, false }, "js" },
             { { "classic, js", BLM_CLASSIC, 0, 0, false }, "js" },
             { { "classic shared, js", BLM_CLASSIC, BLM_SHARED, 0, false }, "js" } };

/* The page with the marks cannot be written, so whoever sets one dies there. If words change first,
 * the file has a region that differs from its checksum without a mark. */
static void die_marking(void *arg)
{
    const struct flavour *v    = arg;
    blm_filter           *f    = open_at(at("f"), BLM_WRITE | (v->flags & BLM_SHARED));
    struct blm__part     *p    = &blm__file_of(&f->body)->part[0];
    uintptr_t             page = (uintptr_t)p->marks & ~(uintptr_t)4095;
    if (page <= (uintptr_t)p->words + p->s.words_len - 1 || p->s.regions > 4096)
        _exit(2);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    if (mprotect((void *)page, 4096, PROT_READ) != 0)
        _exit(3);
    if (v->kind == BLM_COUNTING && strcmp(v->name, "remove") == 0) {
        uint64_t key = 0;
        blm_remove(f, &key, 8);
    } else {
        add_range(f, 1000, 1001);
    }
    _exit(1);
}

static void marks_are_set_before_the_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(flavours) + COUNT_OF(more); i++) {
        const struct flavour *v =
            i < COUNT_OF(flavours) ? &flavours[i] : &more[i - COUNT_OF(flavours)].v;
        const char *scheme = i < COUNT_OF(flavours) ? NULL : more[i - COUNT_OF(flavours)].scheme;
        if (v->kind == BLM_SCALABLE || !is_bits(v))
            continue; /* its layers are blocked or classic; or it has words of state */
        blm_options o = BLM_OPTIONS_INIT;
        o.kind        = v->kind;
        o.lines       = v->lines;
        o.bits        = v->kind == BLM_COUNTING ? 65536 * 2 : 65536 * 8;
        o.probes      = scheme ? 1 : v->lines ? 6 * v->lines : 6;
        o.flags       = scheme ? 0 : BLM_SEEDED;
        o.scheme      = scheme;
        blm_filter *f = create_at(at("f"), &o);
        add_range(f, 0, 10);
        close_well(f);
        struct bytes before = slurp(at("f"));
        int          status = in_child(die_marking, (void *)(uintptr_t)v);
        if (!WIFSIGNALED(status))
            fail_msg("%s: the mark was not set at all (%d)", v->name, WEXITSTATUS(status));
        struct bytes after = slurp(at("f"));
        uint64_t     words = 4 * 4096;
        assert_int_equal(blm__get64le(before.p + 3 * 4096 + 80), words);
        if (memcmp(before.p + words, after.p + words, 65536) != 0)
            fail_msg("%s: words change before their mark is set", v->name);
        free(before.p);
        free(after.p);
        unlink(at("f"));
    }
}

/* The other way round: the words cannot be written, so an add to a shared filter stops right
 * between its first mark and its bit. There a sync comes in, clears the mark, and reads the words;
 * then the add goes on. Its second mark must say that the checksum is old. */
static struct {
    blm_filter           *f;
    blm_status            synced;
    volatile sig_atomic_t stops;
} gap;

static int words_may(int protection)
{
    struct blm__part *p = &blm__file_of(&gap.f->body)->part[0];
    return mprotect(p->words, (size_t)p->s.words_len, protection);
}

static void sync_in_the_gap(int signal_number)
{
    (void)signal_number;
    gap.stops++;
    gap.synced = blm_sync(gap.f, NULL); /* not a thing to do in a handler, outside of a test */
    if (words_may(PROT_READ | PROT_WRITE) != 0)
        _exit(9);
}

static void a_sync_between_mark_and_bit(void **state)
{
    (void)state;
    struct sigaction on = { .sa_handler = sync_in_the_gap }, was, was_bus;
    for (size_t i = 0; i < COUNT_OF(flavours) + COUNT_OF(more); i++) {
        const struct flavour *v =
            i < COUNT_OF(flavours) ? &flavours[i] : &more[i - COUNT_OF(flavours)].v;
        if (!(v->flags & BLM_SHARED) || !is_bits(v))
            continue;
        blm_options o = BLM_OPTIONS_INIT;
        o.scheme      = i < COUNT_OF(flavours) ? NULL : more[i - COUNT_OF(flavours)].scheme;
        o.kind        = v->kind;
        o.lines       = v->lines;
        o.bits        = v->kind == BLM_COUNTING ? 65536 * 2 : 65536 * 8;
        o.probes      = v->lines ? v->lines : 1;
        o.flags       = BLM_SHARED | (o.scheme ? 0 : BLM_SEEDED);
        gap.f         = create_at(at("f"), &o);
        for (int way = 0; way < 3; way++) {
            blm__mark_all(&gap.f->body.layers[0]); /* an add of a moment ago */
            gap.stops = 0;
            sigaction(SIGSEGV, &on, &was);
            sigaction(SIGBUS, &on, &was_bus);
            assert_int_equal(words_may(PROT_READ), 0);
            uint64_t keys[3] = { 100 + 7u * (unsigned)way, 200, 300 };
            if (way == 0)
                add_range(gap.f, keys[0], keys[0] + 1);
            else
                blm_add_fixed(gap.f, keys, 8, (size_t)way, NULL, NULL);
            sigaction(SIGSEGV, &was, NULL);
            sigaction(SIGBUS, &was_bus, NULL);
            assert_int_equal(gap.stops, 1);
            assert_int_equal(gap.synced, BLM_OK);
            assert_int_equal(blm__file_of(&gap.f->body)->part[0].marks[0], 1);
            assert_int_equal(verdict_of(gap.f, BLM_OK).unverified, 1);
        }
        close_well(gap.f);
        blm_free(open_at(at("f"), BLM_VERIFY));
        unlink(at("f"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(calls_come_in_order),
        file_test(power_cuts_between_all_calls),
        file_test(a_failed_flush_is_final),
        file_test(opening_may_fail_to_say_so),
        file_test(a_sync_may_be_cancelled),
        file_test(only_marked_regions_are_read),
        file_test(damage_is_not_written_elsewhere),
        file_test(marks_say_what_changed),
        file_test(marks_are_set_before_the_words),
        file_test(a_sync_between_mark_and_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
