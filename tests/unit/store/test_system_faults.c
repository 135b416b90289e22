/* SPDX-License-Identifier: MIT */
/* Every operation on files with every one of its system calls failing once: open, mmap, pwrite, pread,
 * ftruncate, posix_fallocate, fsync, msync, rename, link, unlink, close and the others. The operation
 * fails with a name, or did without; the file that was there is the old one or the new one, whole, and
 * has what was promised; nothing stays open; and with the system back it can be done. Interrupted calls
 * (EINTR) and short reads and writes are not noticed at all. */
#include "unit/support.h"

#include "bloomery/fixed.h"
#include "bloomery/guard.h"
#include "bloomery/spill.h"
#include "unit/files.h"

#include "unit/guard/rows.h"
#include "unit/system.h"

#define OLD 100u /* keys in the file before */
#define NEW 200u /* and after */

static uint64_t number[NEW];

struct operation {
    const char *name;
    void (*prepare)(void);
    blm_status (*run)(void);
    bool shows;  /* what is at "f" afterwards has NEW keys */
    bool absent; /* and before, nothing was there */
};

static blm_options plain(blm_kind kind)
{
    return file_options(kind, kind == BLM_SCALABLE ? 20 : kind == BLM_CUCKOO ? 4 * NEW : NEW);
}

static blm_kind kind; /* of the filters below */

static void old_file(void)
{
    blm_options o = plain(kind);
    o.flags |= BLM_REPLACE;
    blm_filter *f = create_at(at("f"), &o);
    add_range(f, 0, OLD);
    close_well(f);
}

/* ---- operations ---- */

static blm_status create_new(void)
{
    blm_options o  = plain(kind);
    blm_filter *f  = NULL;
    blm_status  st = blm_create_file(at("f"), &o, &f, NULL);
    if (st != BLM_OK)
        return st;
    st             = blm_add_fixed(f, number, 8, NEW, NULL, NULL);
    blm_status end = blm_close(f, NULL);
    return st < 0 ? st : end;
}

static blm_status add_and_sync(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    o.flags       = BLM_WRITE;
    blm_status st = blm_open(at("f"), &o, &f, NULL);
    if (st != BLM_OK)
        return st;
    st = blm_add_fixed(f, number, 8, NEW, NULL, NULL); /* grows, where it can */
    if (st >= 0)
        st = blm_sync(f, NULL);
    blm_status end = blm_close(f, NULL);
    return st < 0 ? st : end;
}

static blm_filter *in_memory(void)
{
    blm_options o = plain(kind);
    blm_filter *f = make(&o);
    add_range(f, 0, NEW);
    return f;
}

static blm_filter *kept; /* in memory, with all keys */

static blm_status replace(void) { return blm_save(kept, at("f"), NULL, BLM_REPLACE, NULL); }
static blm_status save_new(void) { return blm_save(kept, at("f"), NULL, 0, NULL); }

static blm_status read_it(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    o.flags       = BLM_VERIFY;
    blm_status st = blm_open(at("f"), &o, &f, NULL);
    if (st != BLM_OK)
        return st;
    blm_filter *copy = NULL;
    st               = blm_copy(f, &copy, NULL);
    if (st == BLM_OK)
        assert_int_equal(missing(copy, 0, OLD), 0);
    blm_free(copy);
    blm_free(f);
    return st;
}

static blm_status build(bool spill, blm_kind what)
{
    blm_options o = file_options(what, spill ? NEW : 0);
    blm_status  st;
    if (spill) {
        blm_spill *s = NULL;
        blm_key    keys[NEW];
        for (unsigned i = 0; i < NEW; i++)
            keys[i] = (blm_key){ &number[i], 8 };
        st = blm_spill_open(at("dir"), &o, 65536, &s, NULL);
        if (st != BLM_OK)
            return st;
        if (!blm_spill_filling(s))
            st = blm_spill_add_many(s, keys, NEW, NULL);
        if (st == BLM_OK)
            st = blm_spill_finish(s, at("f"), BLM_REPLACE, NULL);
        blm_spill_free(s);
        return st;
    }
    blm_builder *b = NULL;
    st             = blm_builder_open(at("dir"), &o, 65536, &b, NULL);
    if (st != BLM_OK)
        return st;
    st = blm_builder_add_fixed(b, number, 8, NEW);
    if (st == BLM_OK && what == BLM_CASCADE)
        st = blm_builder_exclude_fixed(b, &(uint64_t){ 1u << 20 }, 8, 1);
    if (st == BLM_OK)
        st = blm_builder_sync(b, NULL);
    if (st == BLM_OK)
        st = blm_builder_save(b, at("f"), BLM_REPLACE, NULL);
    blm_builder_free(b);
    return st;
}
static blm_status build_static(void) { return build(false, BLM_STATIC); }
static blm_status build_cascade(void) { return build(false, BLM_CASCADE); }
static blm_status build_classic(void) { return build(false, BLM_CLASSIC); }
static blm_status build_spilled(void) { return build(true, BLM_CLASSIC); }
static blm_status build_lines(void) { return build(true, BLM_BLOCKED); }

static const struct operation operations[] = {
    { "create", NULL, create_new, true, true },
    { "add and sync", old_file, add_and_sync, true, false },
    { "replace", old_file, replace, true, false },
    { "save", NULL, save_new, true, true },
    { "read", old_file, read_it, false, false },
};
static const struct operation builds[] = {
    { "static", old_file, build_static, true, false },
    { "cascade", old_file, build_cascade, true, false },
    { "classic on disk", old_file, build_classic, true, false },
    { "spilled", old_file, build_spilled, true, false },
    { "spilled lines", old_file, build_lines, true, false },
};

/* ---- the test ---- */

static int open_files(void)
{
    DIR *d = opendir("/proc/self/fd");
    int  n = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static void empty_scratch(const char *dir)
{
    DIR *d = opendir(dir);
    char path[1024];
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        if (unlink(path) != 0) {
            empty_scratch(path);
            rmdir(path);
        }
    }
    if (d)
        closedir(d);
}

static const char *what(const struct operation *op, uint64_t call)
{
    static char text[128];
    snprintf(text, sizeof text, "%s %s, call %llu (%s) failing with %d", blm_kind_name(kind),
             op->name, (unsigned long long)call, sys.failed ? sys.name : "none", sys.number);
    return text;
}

/* The file is whole, and has the old keys at least; with `all`, the new ones. */
static void check_file(const struct operation *op, uint64_t call, bool all)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    blm_error   e = { .text = "" };
    o.flags       = BLM_VERIFY;
    if (op->absent && !all && access(at("f"), F_OK) != 0)
        return;
    if (blm_open(at("f"), &o, &f, &e) != BLM_OK)
        fail_msg("%s: %s", what(op, call), e.text);
    uint64_t gone = missing(f, 0, all && op->shows ? NEW : op->absent ? 0 : OLD);
    if (gone)
        fail_msg("%s: %llu keys are gone", what(op, call), (unsigned long long)gone);
    blm_free(f);
}

/* True when the operation makes no more calls than that. */
static bool survived(const struct operation *op, uint64_t call, int errno_, bool cut)
{
    empty_scratch(scratch);
    if (op->prepare)
        op->prepare();
    int before = open_files();
    sys_arm(call, errno_, cut);
    blm_status st = op->run();
    sys_disarm();
    bool failed = sys.failed;
    if (st < 0 && (!failed || errno_ == EINTR))
        fail_msg("%s: %s", what(op, call), blm_status_name(st));
    if (st < 0 && st != BLM_E_IO && st != BLM_E_SPACE && st != BLM_E_MEMORY)
        fail_msg("%s: %s is no name for that", what(op, call), blm_status_name(st));
    if (open_files() != before)
        fail_msg("%s: %d files stay open", what(op, call), open_files() - before);
    check_file(op, call, st >= 0);
    if (st < 0) { /* the system is back */
        st = op->run();
        /* What had its name before the call that failed is there. */
        if (st != BLM_OK && !(op->absent && st == BLM_E_EXISTS))
            fail_msg("%s: when it is tried again: %s", what(op, call), blm_status_name(st));
        check_file(op, call, st >= 0);
    }
    return !failed;
}

static void all_calls(const struct operation *ops, size_t count)
{
    static const int numbers[] = { EIO, ENOSPC, EINTR };
    for (size_t o = 0; o < count; o++) {
        uint64_t calls = 0;
        for (size_t n = 0; n < COUNT_OF(numbers); n++)
            for (uint64_t call = 0;; call++) {
                if (survived(&ops[o], call, numbers[n], false))
                    break;
                calls = call + 1 > calls ? call + 1 : calls;
                assert_true(call < 2000);
            }
        survived(&ops[o], UINT64_MAX, 0, true); /* short reads and writes */
        print_message("%-9s %-16s %llu calls\n", blm_kind_name(kind), ops[o].name,
                      (unsigned long long)calls);
    }
}

static void files_of_every_kind(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_BLOCKED, BLM_SCALABLE, BLM_COUNTING, BLM_WINDOW,
                                      BLM_CUCKOO };
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        kind = kinds[k];
        kept = in_memory();
        all_calls(operations, COUNT_OF(operations));
        blm_free(kept);
    }
}

static void builds_on_disk(void **state)
{
    (void)state;
    kind = BLM_BLOCKED;
    all_calls(builds, COUNT_OF(builds));
}

/* ---- a guard and its note ---- */

static blm_status session(struct rows *rows, uint64_t from, uint64_t to, bool *acknowledged)
{
    blm_dataset       d = rows_dataset(rows);
    blm_guard_options o = BLM_GUARD_OPTIONS_INIT;
    blm_guard        *g = NULL;
    o.path              = at("guard");
    o.flags             = BLM_GUARD_MANUAL;
    o.items             = NEW;
    blm_status st       = blm_guard_open(&o, &d, &g, NULL);
    if (st != BLM_OK)
        return st;
    for (uint64_t i = from; i < to; i++) {
        if (i == (from + to) / 2) {
            blm_guard_sync(g, NULL);
            blm_guard_build(g, NULL);
        }
        acknowledged[i] = blm_guard_put(g, &i, 8, "v", 1, NULL) == BLM_OK;
    }
    return blm_guard_close(g, NULL);
}

static bool guard_survived(uint64_t call, int number_)
{
    struct rows       rows;
    bool              acknowledged[NEW] = { false };
    blm_guard_options o                 = BLM_GUARD_OPTIONS_INIT;
    blm_guard        *g                 = NULL;
    empty_scratch(scratch);
    rows_init(&rows, 4096);
    assert_status(session(&rows, 0, 40, acknowledged), BLM_OK);
    int before = open_files();
    sys_arm(call, number_, false);
    session(&rows, 40, 80, acknowledged);
    sys_disarm();
    bool failed = sys.failed;
    if (open_files() != before)
        fail_msg("guard, call %d (%s): files stay open", (int)call, sys.name);
    blm_dataset d = rows_dataset(&rows);
    o.path        = at("guard");
    o.flags       = BLM_GUARD_MANUAL;
    assert_status(blm_guard_open(&o, &d, &g, NULL), BLM_OK);
    for (uint64_t i = 0; i < 80; i++)
        if (acknowledged[i] && blm_guard_get(g, &i, 8, NULL, NULL, NULL) != BLM_OK)
            fail_msg("guard, call %d (%s): row %d is absent", (int)call, sys.name, (int)i);
    assert_status(blm_guard_close(g, NULL), BLM_OK);
    rows_free(&rows);
    return !failed;
}

static void guards(void **state)
{
    (void)state;
    static const int numbers[] = { EIO, ENOSPC, EMFILE };
    for (size_t n = 0; n < COUNT_OF(numbers); n++) {
        uint64_t call = 0;
        while (!guard_survived(call, numbers[n]))
            assert_true(++call < 2000);
        assert_true(call > 20);
        print_message("guard, %d calls\n", (int)call);
    }
}

static int begin(void **state)
{
    for (uint64_t i = 0; i < NEW; i++)
        number[i] = i;
    return scratch_make(state);
}
static int end(void **state)
{
    empty_scratch(scratch);
    return scratch_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_every_kind),
        cmocka_unit_test(builds_on_disk),
        cmocka_unit_test(guards),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
