/* SPDX-License-Identifier: MIT */
/* The note and its directory when the system fails. A guard is opened, built, written to, rebuilt
 * and closed, and one of its system calls fails, without effect or in the middle: the first, the
 * second, … Or the machine loses its power at any of them. Whatever became of note and file, the next guard has every row that a put
 * acknowledged. */
#include "../support.h"

#include "../files.h"
#include "bloomery/guard.h"
#include "guards.h"

#define ROWS_PUT 60u

static bool acknowledged[ROWS_PUT];

static blm_guard_options filed(void)
{
    blm_guard_options o = plain();
    o.path              = at("rows.blm");
    o.flags             = BLM_GUARD_MANUAL;
    o.items             = ROWS_PUT;
    return o;
}

static bool no_mark; /* the data set keeps none */

static blm_dataset session_dataset(void)
{
    blm_dataset d = rows_dataset(&rows);
    if (no_mark)
        d.mark_read = NULL, d.mark_write = NULL;
    return d;
}

static void put_some(blm_guard *g, unsigned from, unsigned to)
{
    char key[32];
    for (unsigned i = from; i < to; i++) {
        key_of(key, i);
        if (blm_guard_put(g, key, strlen(key), "v", 1, NULL) == BLM_OK)
            acknowledged[i] = true;
    }
}

/* All of a session, whatever fails. */
static void live(void)
{
    blm_guard_options o = filed();
    blm_dataset       d = session_dataset();
    blm_guard        *g = NULL;
    if (blm_guard_open(&o, &d, &g, NULL) != BLM_OK)
        return;
    put_some(g, 0, 20);
    blm_guard_build(g, NULL);
    put_some(g, 20, 40);
    blm_guard_sync(g, NULL);
    blm_guard_build(g, NULL);
    put_some(g, 40, ROWS_PUT);
    blm_guard_close(g, NULL);
}

static void assert_rows(const char *when, size_t call)
{
    blm_guard *g = open_guard(filed());
    for (unsigned i = 0; i < ROWS_PUT; i++)
        if (acknowledged[i] && get_key(g, i) != BLM_OK)
            fail_msg("%s call %zu (%c), row %u is absent", when, call, os_log.log[call], i);
    close_guard(g);
}

/* Returns how many calls a session makes. */
static size_t with_failure(size_t call, int number, bool power_cut, bool part)
{
    memset(acknowledged, 0, sizeof acknowledged);
    blm_guard *g = open_guard(filed());
    assert_int_equal(blm_guard_build(g, NULL), BLM_OK);
    close_guard(g);
    struct bytes old = slurp(at("rows.blm"));
    os_watch(call, number);
    os_log.part = part;
    live();
    size_t calls = os_log.calls;
    os_unwatch();
    if (power_cut) { /* of the filter, nothing that came later had reached the disk */
        spit(at("rows.blm"), old.p, old.len);
        boot_another();
    }
    free(old.p);
    assert_rows(power_cut ? "after a power cut and the failure of" : "after the failure of", call);
    os_unwatch();
    unlink(at("rows.blm"));
    unlink(at("rows.blm.guard"));
    unlink(at("rows.blm.next"));
    rows_free(&rows);
    rows_init(&rows, 1u << 10);
    return calls;
}

static void test_every_call_fails_once(void **state)
{
    (void)state;
    static const int numbers[] = { EIO, ENOSPC };
    assert_int_equal(scratch_make(NULL), 0);
    size_t calls = with_failure(SIZE_MAX, 0, false, false);
    assert_true(calls > 20);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
        for (size_t call = 0; call < calls; call++) {
            for (int how = 0; how < 4; how++)
                with_failure(call, numbers[n], how & 1, how & 2);
        }
    assert_int_equal(scratch_remove(NULL), 0);
}

/* A power cut may leave any part of the line that was being written. */
static void test_a_torn_note(void **state)
{
    (void)state;
    assert_int_equal(scratch_make(NULL), 0);
    memset(acknowledged, 0, sizeof acknowledged);
    live();
    struct bytes old = slurp(at("rows.blm.guard"));
    blm_guard   *g   = open_guard(filed());
    put_some(g, 0, ROWS_PUT);
    struct bytes new = slurp(at("rows.blm.guard"));
    close_guard(g);
    assert_int_equal(old.len, new.len);
    for (size_t cut = 0; cut <= new.len; cut += cut < 256 ? 1 : 64) {
        memcpy(old.p, new.p, cut);
        spit(at("rows.blm.guard"), old.p, old.len);
        assert_rows("with a torn note,", 0);
    }
    free(old.p);
    free(new.p);
    assert_int_equal(scratch_remove(NULL), 0);
}

/* ---- power cuts -----------------------------------------------------------------------------
 *
 * The disk after a power cut, at any call: a name leads to the file it led to when the directory was
 * last flushed, or to the one it leads to now; and a file has what its last flush left, sector by
 * sector mixed with what was written since. The rows and the mark are as the data set has them. */

#define SECTOR 512u
#define FILES  24u

static const char *const names[] = { "rows.blm", "rows.blm.guard", "rows.blm.next" };

static struct {
    struct {
        ino_t        inode;
        struct bytes now, disk; /* what was written; what a flush has left */
    } file[FILES];
    unsigned   files;
    ino_t      dir[2]; /* the names' files, when the directory was last flushed */
    struct rng rng;
    unsigned   cuts, trusted;
} power;

static unsigned file_of(ino_t inode)
{
    unsigned i = 0;
    while (i < power.files && power.file[i].inode != inode)
        i++;
    if (i == power.files) {
        assert_true(power.files < FILES);
        power.file[power.files++].inode = inode;
    }
    return i;
}

static ino_t inode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* What all files have now. */
static void look_at_files(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ino_t inode = inode_of(at(names[i]));
        if (!inode)
            continue;
        unsigned f = file_of(inode);
        free(power.file[f].now.p);
        power.file[f].now = slurp(at(names[i]));
    }
}

static struct bytes mixed(unsigned f, unsigned way)
{
    const struct bytes *now = &power.file[f].now, *disk = &power.file[f].disk;
    struct bytes        mix = { .p = calloc(1, now->len + disk->len + SECTOR) };
    assert_non_null(mix.p);
    mix.len = way == 0 || (way > 1 && rng_below(&power.rng, 2)) ? disk->len : now->len;
    for (size_t from = 0; from < mix.len; from += SECTOR) {
        bool                written = way == 1 || (way > 1 && rng_below(&power.rng, 2));
        const struct bytes *b       = written ? now : disk;
        if (from < b->len)
            memcpy(mix.p + from, b->p + from, b->len - from < SECTOR ? b->len - from : SECTOR);
    }
    return mix;
}

/* Every row that was acknowledged is there, whatever the guard makes of the two files. */
static void check_image(void)
{
    blm_guard_options o = filed();
    blm_dataset       d = session_dataset();
    blm_guard        *g = NULL;
    blm_error         err;
    struct rows       were = rows;
    o.path                 = at("image.blm");
    if (blm_guard_open(&o, &d, &g, &err) != BLM_OK)
        fail_msg("after call %zu (%s): %s", os_log.calls, os_log.log, err.text);
    power.trusted += figures_of(g).trusted;
    for (unsigned i = 0; i < ROWS_PUT; i++)
        if (acknowledged[i] && get_key(g, i) != BLM_OK)
            fail_msg("after call %zu (%s), row %u is absent", os_log.calls, os_log.log, i);
    close_guard(g);
    memcpy(rows.mark, were.mark, sizeof rows.mark);
    rows.mark_len = were.mark_len;
    power.cuts++;
}

static int no_sync(int fd)
{
    (void)fd;
    return 0;
}

/* Copies are not judged by their places and times here: after a power cut these are the same. */
static uint64_t one_place(const char *path)
{
    (void)path;
    return 1;
}

static void cut_power(void)
{
    static const char *const images[] = { "image.blm", "image.blm.guard" };
    struct blm__os           watched  = blm__os;
    struct blm__os           after    = real_os;
    after.place = after.changed = one_place;
    after.sync_file             = no_sync;
    look_at_files();
    for (unsigned way = 0; way < 8; way++) {
        for (unsigned i = 0; i < 2; i++) {
            ino_t now = inode_of(at(names[i])), inode = way & 1 ? now : power.dir[i];
            unlink(at(images[i]));
            if (!inode)
                continue;
            struct bytes b = mixed(file_of(inode), way / 2);
            spit(at(images[i]), b.p, b.len);
            free(b.p);
        }
        blm__os = after;
        boot_another();
        check_image();
        blm__os = watched;
    }
}

/* Bytes from … to − 1 of a file, and its length, have reached the disk. */
static void flushed(ino_t inode, size_t from, size_t to)
{
    unsigned      f    = file_of(inode);
    struct bytes *disk = &power.file[f].disk, *now = &power.file[f].now;
    look_at_files();
    disk->p = realloc(disk->p, now->len + 1);
    assert_non_null(disk->p);
    if (now->len > disk->len)
        memset(disk->p + disk->len, 0, now->len - disk->len);
    disk->len = now->len;
    to        = to < now->len ? to : now->len;
    if (from < to)
        memcpy(disk->p + from, now->p + from, to - from);
}

static int cut_write_at(int fd, const void *p, size_t len, uint64_t to)
{
    cut_power();
    return log_write_at(fd, p, len, to);
}
static int cut_sync_file(int fd)
{
    struct stat st;
    cut_power();
    int why = log_sync_file(fd);
    assert_int_equal(fstat(fd, &st), 0);
    flushed(st.st_ino, 0, SIZE_MAX);
    return why;
}
static int cut_sync_map(void *map, size_t len)
{
    FILE         *maps = fopen("/proc/self/maps", "r");
    char          line[1024];
    unsigned long begin, end, offset, inode, from = 0, found = 0;
    cut_power();
    int why = log_sync_map(map, len);
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*s %lx %*s %lu", &begin, &end, &offset, &inode) == 4 &&
            (uintptr_t)map >= begin && (uintptr_t)map < end) {
            from  = offset + ((uintptr_t)map - begin);
            found = inode;
        }
    if (maps)
        fclose(maps);
    assert_true(found != 0);
    flushed((ino_t)found, from, from + len);
    return why;
}
static int cut_sync_dir(const char *path)
{
    cut_power();
    int why = log_sync_dir(path);
    for (unsigned i = 0; i < 2; i++)
        power.dir[i] = inode_of(at(names[i]));
    return why;
}
static int cut_rename_over(const char *from, const char *to)
{
    cut_power();
    int why = log_rename_over(from, to);
    cut_power();
    return why;
}

static void power_watch(void)
{
    os_watch(SIZE_MAX, 0);
    blm__os.place       = one_place;
    blm__os.changed     = one_place;
    blm__os.write_at    = cut_write_at;
    blm__os.sync_file   = cut_sync_file;
    blm__os.sync_map    = cut_sync_map;
    blm__os.sync_dir    = cut_sync_dir;
    blm__os.rename_over = cut_rename_over;
}

/* Two sessions, with a power cut at every call. */
static void test_power_cuts(void **state)
{
    (void)state;
    for (int mark = 0; mark < 2; mark++) {
        assert_int_equal(scratch_make(NULL), 0);
        memset(acknowledged, 0, sizeof acknowledged);
        memset(&power, 0, sizeof power);
        power.rng = (struct rng){ 31 };
        no_mark   = !mark;
        power_watch();
        live();
        live();
        cut_power();
        os_unwatch();
        assert_true(power.cuts > 300);
        assert_true(power.trusted > 0); /* closed, and all of it flushed */
        for (unsigned i = 0; i < power.files; i++) {
            free(power.file[i].now.p);
            free(power.file[i].disk.p);
        }
        assert_int_equal(scratch_remove(NULL), 0);
        rows_free(&rows);
        rows_init(&rows, 1u << 10);
        no_mark = false;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { ROWS(test_every_call_fails_once), ROWS(test_a_torn_note),
                                        ROWS(test_power_cuts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
