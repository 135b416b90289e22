/* SPDX-License-Identifier: MIT */
/* What the tests of files share: a directory of their own, whole files in and out, and the system's
 * calls wrapped so that they can be counted and made to fail. Include after support.h. */
#ifndef BLM_UNIT_FILES_H
#define BLM_UNIT_FILES_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/filter.h"
#include "core/checksum.h"
#include "core/os.h"
#include "store/file.h"
#include "unit/bytes.h"

#define UNUSED_OK __attribute__((unused))

/* ---- a directory ---- */

static char scratch[256];

/* The path of a file there; four may be in use at once. */
static inline const char *at(const char *name)
{
    static char     paths[4][512];
    static unsigned next;
    char           *p = paths[next++ % 4];
    snprintf(p, sizeof paths[0], "%s/%s", scratch, name);
    return p;
}

static struct blm__os real_os;

static int scratch_in(const char *place)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/bloomery-test-XXXXXX", tmp && *tmp ? tmp : place);
    real_os = blm__os;
    return mkdtemp(scratch) ? 0 : -1;
}

/* Where a flush costs nothing, if there is such a place; and where there is more space. */
UNUSED_OK static int scratch_make(void **state)
{
    (void)state;
    return scratch_in(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}
UNUSED_OK static int scratch_make_large(void **state)
{
    (void)state;
    return scratch_in("/var/tmp");
}

/* How many names are there, those of temporary files too. */
UNUSED_OK static int scratch_count(void)
{
    DIR *d = opendir(scratch);
    int  n = 0;
    for (struct dirent *e; d && (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    if (d)
        closedir(d);
    return n;
}

UNUSED_OK static int scratch_remove(void **state)
{
    (void)state;
    blm__os = real_os;
    DIR *d  = opendir(scratch);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            if (unlink(at(e->d_name)) != 0)
                rmdir(at(e->d_name));
    if (d)
        closedir(d);
    return rmdir(scratch);
}

#define file_test(f) cmocka_unit_test_setup_teardown(f, scratch_make, scratch_remove)

/* ---- whole files ---- */

UNUSED_OK static struct bytes slurp(const char *path)
{
    struct bytes b = { 0 };
    uint8_t      piece[65536];
    FILE        *f = fopen(path, "rb");
    if (!f)
        fail_msg("cannot open %s", path);
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        bytes_add(&b, piece, n);
    fclose(f);
    return b;
}

UNUSED_OK static void spit(const char *path, const void *p, size_t len)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, len, f), len);
    fclose(f);
}

UNUSED_OK static void flip(const char *path, uint64_t offset, uint8_t bits)
{
    int     fd = open(path, O_RDWR);
    uint8_t b;
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, &b, 1, (off_t)offset), 1);
    b ^= bits;
    assert_int_equal(pwrite(fd, &b, 1, (off_t)offset), 1);
    close(fd);
}

/* The checksums that a patch of header, slot or record needs to be believed. */
UNUSED_OK static void seal_head(uint8_t *file)
{
    blm__put64le(file + 504, blm__checksum(file, 504));
}
UNUSED_OK static void seal_slots(uint8_t *file)
{
    uint32_t block = blm__get32le(file + 48), size = blm__get32le(file + 52);
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *slot = file + block + i * size;
        blm__put64le(slot + size - 8, blm__checksum(slot, size - 8));
    }
}
UNUSED_OK static void seal_record(uint8_t *record)
{
    blm__put64le(record + 184, blm__checksum(record, 184));
}

/* ---- filters in files ---- */

UNUSED_OK static blm_options file_options(blm_kind kind, uint64_t items)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.kind        = kind;
    o.items       = items;
    o.rate        = 0.01;
    o.flags       = BLM_SEEDED;
    o.seed[0]     = 11;
    return o;
}

/* Several regions, and marks on a page of their own. */
UNUSED_OK static blm_options large_options(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = 4 * 65536 * 8;
    o.probes      = 4;
    o.flags       = BLM_SEEDED;
    return o;
}

UNUSED_OK static blm_filter *create_at(const char *path, const blm_options *o)
{
    blm_filter *f = NULL;
    blm_error   e = { .text = "" };
    if (blm_create_file(path, o, &f, &e) != BLM_OK)
        fail_msg("create_file: %s", e.text);
    return f;
}

UNUSED_OK static blm_filter *open_at(const char *path, uint32_t flags)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    blm_error   e = { .text = "" };
    o.flags       = flags;
    if (blm_open(path, &o, &f, &e) != BLM_OK)
        fail_msg("open: %s: %s", blm_status_name(e.status), e.text);
    return f;
}

UNUSED_OK static blm_status try_open(const char *path, uint32_t flags, blm_error *e)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    o.flags       = flags;
    blm_status st = blm_open(path, &o, &f, e);
    if (st == BLM_OK)
        blm_free(f);
    else
        assert_null(f);
    return st;
}

UNUSED_OK static void add_range(blm_filter *f, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++)
        if (blm_add(f, &i, sizeof i) < 0)
            fail_msg("add %llu fails", (unsigned long long)i);
}

/* How many of the keys from … to − 1 the filter denies. */
UNUSED_OK static uint64_t missing(const blm_filter *f, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (uint64_t i = from; i < to; i++)
        n += !blm_check(f, &i, sizeof i);
    return n;
}

UNUSED_OK static blm_verdict verdict_of(const blm_filter *f, blm_status want)
{
    blm_verdict v  = { .size = sizeof v };
    blm_error   e  = { .text = "" };
    blm_status  st = blm_verify(f, &v, &e);
    if (st != want)
        fail_msg("verify gives %s (%s), not %s", blm_status_name(st), e.text,
                 blm_status_name(want));
    return v;
}

UNUSED_OK static void close_well(blm_filter *f)
{
    blm_error e = { .text = "" };
    if (blm_close(f, &e) != BLM_OK)
        fail_msg("close: %s", e.text);
}

/* ---- the system ---- */

enum call { WRITE_AT, SYNC_FILE, SYNC_MAP, SYNC_DIR, RESERVE, RENAME_OVER, RENAME_NEW };

/* A letter a call, in order, and which call is to fail with which number. */
static struct {
    char   log[4096];
    size_t calls;
    size_t fail_at; /* this call, counted from 0; SIZE_MAX: none */
    int    number;
    bool   part; /* a write that fails has written half of its bytes */
} os_log;

static int os_note(enum call c)
{
    if (os_log.calls < sizeof os_log.log - 1)
        os_log.log[os_log.calls] = "wfmdron"[c];
    return os_log.calls++ == os_log.fail_at ? os_log.number : 0;
}

static int log_write_at(int fd, const void *p, size_t len, uint64_t to)
{
    int why = os_note(WRITE_AT);
    if (why && os_log.part)
        real_os.write_at(fd, p, len / 2, to);
    return why ? why : real_os.write_at(fd, p, len, to);
}
static int log_sync_file(int fd)
{
    int why = os_note(SYNC_FILE);
    return why ? why : real_os.sync_file(fd);
}
static int log_sync_map(void *map, size_t len)
{
    int why = os_note(SYNC_MAP);
    return why ? why : real_os.sync_map(map, len);
}
static int log_sync_dir(const char *path)
{
    int why = os_note(SYNC_DIR);
    return why ? why : real_os.sync_dir(path);
}
static int log_reserve(int fd, uint64_t from, uint64_t len)
{
    int why = os_note(RESERVE);
    return why ? why : real_os.reserve(fd, from, len);
}
static int log_rename_over(const char *from, const char *to)
{
    int why = os_note(RENAME_OVER);
    return why ? why : real_os.rename_over(from, to);
}
static int log_rename_new(const char *from, const char *to)
{
    int why = os_note(RENAME_NEW);
    return why ? why : real_os.rename_new(from, to);
}

/* w write, f flush file, m flush map, d flush directory, r reserve, o rename over, n rename new */
UNUSED_OK static void os_watch(size_t fail_at, int number)
{
    memset(&os_log, 0, sizeof os_log);
    os_log.fail_at      = fail_at;
    os_log.number       = number;
    blm__os             = real_os;
    blm__os.write_at    = log_write_at;
    blm__os.sync_file   = log_sync_file;
    blm__os.sync_map    = log_sync_map;
    blm__os.sync_dir    = log_sync_dir;
    blm__os.reserve     = log_reserve;
    blm__os.rename_over = log_rename_over;
    blm__os.rename_new  = log_rename_new;
}

UNUSED_OK static void os_unwatch(void) { blm__os = real_os; }

static uint8_t fake_boot[16];
static bool    boot_fake(uint8_t out[16])
{
    memcpy(out, fake_boot, 16);
    return true;
}
static bool boot_none(uint8_t out[16])
{
    (void)out;
    return false;
}
UNUSED_OK static void boot_another(void)
{
    memset(fake_boot, 0xb0, sizeof fake_boot);
    blm__os.boot_id = boot_fake;
}
UNUSED_OK static void boot_unknown(void) { blm__os.boot_id = boot_none; }

/* Runs `child` in a process of its own and returns how it ended (a status as of waitpid). */
UNUSED_OK static int in_child(void (*child)(void *), void *arg)
{
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        child(arg);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

#endif
