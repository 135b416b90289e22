/* SPDX-License-Identifier: MIT */
/* Builders whose keys are in files: the bytes of the filter built in memory, after any number of
 * stops, and nothing but a named error where files are not what they were. */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bloomery/embed.h"
#include "core/bytes.h"
#include "core/checksum.h"
#include "core/os.h"
#include "unit/fixed.h"

#include "foreign.h" /* after what defines asserts */

#define IN     9000u
#define OUT    12000u
#define MEMORY 65536u /* runs of 2048 keys, 4096 merged at once */

static const struct flavour_of {
    blm_kind kind;
    double   rate;
    uint64_t out; /* excluded keys */
} flavour[] = {
    { BLM_STATIC, 0.004, 0 },    { BLM_CASCADE, 0, OUT },  { BLM_CASCADE, 1e-4, OUT },
    { BLM_CLASSIC, 1e-3, 0 },    { BLM_BLOCKED, 1e-3, 0 }, { BLM_ANY_KIND, 0.01, 0 },
    { BLM_ANY_KIND, 0.01, 500 },
};

static char     dir[64], out[96], spill[96];
static uint64_t memory = MEMORY;

static int begin(void **state)
{
    (void)state;
    strcpy(dir, "/tmp/bloomery-build-XXXXXX");
    if (!mkdtemp(dir))
        return -1;
    snprintf(out, sizeof out, "%s/out.blm", dir);
    snprintf(spill, sizeof spill, "%s/spill", dir);
    return 0;
}

static void remove_all(const char *where)
{
    char path[512];
    DIR *d = opendir(where);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", where, e->d_name);
        if (remove(path) != 0)
            remove_all(path);
    }
    if (d)
        closedir(d);
    rmdir(where);
}

static int end(void **state)
{
    (void)state;
    remove_all(spill);
    remove(out);
    return rmdir(dir);
}

/* Every third key came before. */
static uint64_t in_of(uint64_t i) { return i % 3 == 2 ? i / 2 : i; }
static uint64_t out_of(uint64_t i) { return ((uint64_t)1 << 32) + in_of(i); }

static blm_status give(blm_builder *b, uint64_t in_from, uint64_t in_to, uint64_t out_to)
{
    blm_status st = BLM_OK;
    uint64_t   k[100];
    for (uint64_t i = in_from, n; i < in_to && st == BLM_OK; i += n) {
        for (n = 0; n < 100 && i + n < in_to; n++)
            k[n] = in_of(i + n);
        st = blm_builder_add_fixed(b, k, 8, (size_t)n);
    }
    for (uint64_t i = 0; i < out_to && st == BLM_OK; i++) {
        uint64_t key  = out_of(i);
        blm_key  list = { &key, sizeof key };
        st            = blm_builder_exclude(b, &list, 1);
    }
    return st;
}

static blm_options options_of(const struct flavour_of *f)
{
    return fixed_options(f->kind, f->rate, 9);
}

static blm_builder *open_or_fail(const blm_options *o)
{
    blm_builder *b;
    blm_error    err;
    if (blm_builder_open(spill, o, MEMORY, &b, &err) != BLM_OK)
        fail_msg("%s", err.text);
    return b;
}

static blm_builder_state state_of(const blm_builder *b)
{
    blm_builder_state is = { .size = sizeof is };
    assert_status(blm_builder_get_state(b, &is), BLM_OK);
    return is;
}

static struct golden_file file_bytes(const char *path)
{
    struct golden_file f  = { malloc(1 << 24), 0, 0 };
    FILE              *in = fopen(path, "rb");
    assert_non_null(in);
    f.len = fread(f.data, 1, 1 << 24, in);
    fclose(in);
    return f;
}

static struct golden_file in_memory(const struct flavour_of *f, uint64_t in)
{
    blm_options  o = options_of(f);
    blm_builder *b = builder_of(&o);
    assert_status(give(b, 0, in, f->out), BLM_OK);
    blm_filter        *built = build_and_free(b);
    struct golden_file bytes = encode_as(built, "native");
    blm_free(built);
    return bytes;
}

static void assert_result_of(const struct flavour_of *f, uint64_t in)
{
    struct golden_file want = in_memory(f, in), got = file_bytes(out);
    struct stat        st;
    assert_same_bytes(&got, &want);
    assert_int_equal(stat(spill, &st), -1);
    golden_free_file(&want);
    golden_free_file(&got);
    remove(out);
}

static void the_bytes_are_those_of_a_build_in_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(flavour); i++)
        for (size_t many = 0; many < 3; many++) {
            static const uint64_t some[] = { 0, 1, IN };
            uint64_t              in     = some[many];
            blm_options           o      = options_of(&flavour[i]);
            blm_builder          *b      = open_or_fail(&o);
            blm_error             err;
            assert_status(give(b, 0, in, flavour[i].out), BLM_OK);
            assert_int_equal(state_of(b).included, in);
            assert_int_equal(state_of(b).excluded, flavour[i].out);
            if (blm_builder_save(b, out, 0, &err) != BLM_OK)
                fail_msg("%s", err.text);
            assert_status(blm_builder_save(b, out, 0, &err), BLM_E_ARGUMENT);
            blm_builder_free(b);
            assert_result_of(&flavour[i], in);
        }
}

/* Closed without an end after every so many keys, synced or not. */
static void a_build_that_was_left_goes_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(flavour); i++) {
        blm_options o = options_of(&flavour[i]);
        blm_error   err;
        for (uint64_t stop = 1; stop < IN; stop = stop * 3 + 700) {
            blm_builder *b = open_or_fail(&o);
            assert_status(give(b, 0, stop, stop / 2 < flavour[i].out ? stop / 2 : flavour[i].out),
                          BLM_OK);
            if (stop % 2)
                assert_status(blm_builder_sync(b, &err), BLM_OK);
            assert_true(state_of(b).kept_included < stop);
            assert_false(state_of(b).building);
            blm_builder_free(b);
        }
        blm_builder *b = open_or_fail(&o);
        assert_true(state_of(b).kept_included > 0);
        assert_status(give(b, 0, IN, flavour[i].out), BLM_OK);
        assert_status(blm_builder_save(b, out, 0, &err), BLM_OK);
        blm_builder_free(b);
        assert_result_of(&flavour[i], IN);
    }
}

/* ---- a disk that is full at any write, and flushes that fail ---- */

static struct blm__os real;
static uint64_t       calls, fail_at;
static int            fail_with;

static bool now_fails(void) { return calls++ == fail_at; }
static int  failing_write(int fd, const void *bytes, size_t len, uint64_t at)
{
    return now_fails() ? fail_with : real.write_at(fd, bytes, len, at);
}
static int failing_sync(int fd) { return now_fails() ? fail_with : real.sync_file(fd); }
static int failing_sync_map(void *map, size_t len)
{
    return now_fails() ? fail_with : real.sync_map(map, len);
}
static int failing_rename(const char *from, const char *to)
{
    return now_fails() ? fail_with : real.rename_over(from, to);
}
static int failing_reserve(int fd, uint64_t at, uint64_t len)
{
    return now_fails() ? fail_with : real.reserve(fd, at, len);
}

static int no_rename(const char *from, const char *to)
{
    (void)from, (void)to;
    return EIO;
}

/* Everything goes well, except that the file gets no name. */
static void save_in_vain(blm_builder *b)
{
    blm_error err;
    real               = blm__os;
    blm__os.rename_new = no_rename;
    assert_status(blm_builder_save(b, out, 0, &err), BLM_E_IO);
    check_error(&err, BLM_E_IO, "rename");
    blm__os = real;
}

static blm_status whole_run(const struct flavour_of *f, const blm_options *o, uint64_t in,
                            blm_error *err)
{
    blm_builder *b;
    blm_status   st = blm_builder_open(spill, o, memory, &b, err);
    if (st != BLM_OK)
        return st;
    if (!state_of(b).building)
        st = give(b, 0, in, f->out);
    blm_status said = blm_builder_sync(b, err);
    assert_true(st == BLM_OK || said == st);
    st = said;
    if (st == BLM_OK)
        st = blm_builder_save(b, out, 0, err);
    else
        assert_status(blm_builder_save(b, out, 0, NULL), st);
    blm_builder_free(b);
    return st;
}

static void a_full_disk_is_a_clean_stop(void **state)
{
    (void)state;
    static const size_t picked[] = { 0, 1, 3 };
    real                         = blm__os;
    for (size_t i = 0; i < COUNT_OF(picked); i++) {
        const struct flavour_of *f     = &flavour[picked[i]];
        blm_options              o     = options_of(f);
        bool                     ended = false;
        for (uint64_t at = 0; !ended; at += 1 + at / 8) { /* one failure after another */
            blm_error err       = { .offset = BLM_NO_OFFSET };
            calls               = 0;
            fail_at             = at;
            fail_with           = at % 2 ? ENOSPC : EIO;
            blm__os.write_at    = failing_write;
            blm__os.sync_file   = failing_sync;
            blm__os.sync_map    = failing_sync_map;
            blm__os.rename_over = failing_rename;
            blm__os.reserve     = failing_reserve;
            blm_status st       = whole_run(f, &o, IN, &err);
            blm__os             = real;
            assert_true(st == BLM_OK || (st == (at % 2 ? BLM_E_SPACE : BLM_E_IO) && err.text[0]));
            ended = st == BLM_OK;
        }
        assert_result_of(f, IN);
    }
}

static bool stop_at(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *left = ctx;
    assert_true(done <= total);
    return (*left)-- > 0;
}

/* Stopped by its progress at every place there is, one after another. */
static void stop_everywhere(const struct flavour_of *f, uint64_t in, uint64_t step)
{
    blm_options o    = options_of(f);
    uint64_t    left = 0, stops = 0;
    blm_status  st = BLM_E_CANCELLED;
    o.progress     = stop_at;
    o.progress_ctx = &left;
    for (uint64_t most = 0; st == BLM_E_CANCELLED; most += step) {
        blm_error err;
        left = most;
        st   = whole_run(f, &o, in, &err);
        stops += st == BLM_E_CANCELLED;
        assert_true(st == BLM_OK || st == BLM_E_CANCELLED);
    }
    assert_true(stops > 0);
    assert_result_of(f, in);
}

static void a_cancelled_build_goes_on(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++)
        stop_everywhere(&flavour[i], IN, 1);
}

/* Reading the lists again, which is most of what a build that goes on does at first, can be watched
 * and stopped. */
static void lists_are_read_under_progress(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        blm_options  o    = options_of(&flavour[i]);
        uint64_t     left = 0;
        blm_error    err  = { .status = BLM_OK };
        blm_builder *b    = open_or_fail(&o);
        assert_status(give(b, 0, IN, flavour[i].out), BLM_OK);
        save_in_vain(b);
        blm_builder_free(b);
        o.progress     = stop_at;
        o.progress_ctx = &left;
        for (uint64_t lists = flavour[i].out ? 2 : 1, stops = 0; stops < lists; stops++) {
            left = stops;
            b    = open_or_fail(&o);
            assert_status(blm_builder_save(b, out, 0, &err), BLM_E_CANCELLED);
            check_error(&err, BLM_E_CANCELLED, "reading the lists");
            blm_builder_free(b);
        }
        remove_all(spill);
    }
}

/* Of two parts, the first is there and the second is not. */
static void a_build_goes_on_between_parts(void **state)
{
    (void)state;
    if (quick_tests())
        return;
    struct flavour_of f = { BLM_STATIC, 0.5, 0 };
    memory              = 8 << 20;
    stop_everywhere(&f, 3300000, 7); /* 2.2 million different ones */
    memory = MEMORY;
}

/* ---- other keys, other options, other files ---- */

static void other_keys_are_refused(void **state)
{
    (void)state;
    const struct flavour_of *f   = &flavour[0];
    blm_options              o   = options_of(f);
    blm_error                err = { .status = BLM_OK };
    blm_builder             *b   = open_or_fail(&o);
    assert_status(give(b, 0, 5000, 0), BLM_OK);
    assert_status(blm_builder_sync(b, &err), BLM_OK);
    blm_builder_free(b);
    b = open_or_fail(&o);
    assert_status(give(b, 1, 6000, 0), BLM_E_MISMATCH);
    assert_status(blm_builder_sync(b, &err), BLM_E_MISMATCH);
    check_error(&err, BLM_E_MISMATCH, "not the keys");
    blm_builder_free(b);
    b = open_or_fail(&o); /* fewer */
    assert_status(give(b, 0, 4000, 0), BLM_OK);
    assert_status(blm_builder_save(b, out, 0, &err), BLM_E_MISMATCH);
    check_error(&err, BLM_E_MISMATCH, "fewer keys");
    blm_builder_free(b);
    b = open_or_fail(&o); /* all have come, and the file has no place */
    assert_status(give(b, 0, 5000, 0), BLM_OK);
    save_in_vain(b);
    blm_builder_free(b);
    b = open_or_fail(&o);
    assert_true(state_of(b).building);
    assert_status(give(b, 0, 5001, 0), BLM_E_MISMATCH);
    blm_builder_free(b);
    b = open_or_fail(&o); /* fewer, and others: none may be given, but if some are, all are */
    assert_status(give(b, 1, 4990, 0), BLM_OK);
    assert_status(blm_builder_save(b, out, 0, &err), BLM_E_MISMATCH);
    check_error(&err, BLM_E_MISMATCH, "fewer keys");
    blm_builder_free(b);
    b = open_or_fail(&o);
    assert_status(blm_builder_save(b, out, 0, &err), BLM_OK);
    blm_builder_free(b);
    assert_result_of(f, 5000);
}

static blm_status open_status(const char *where, const blm_options *o, uint64_t bytes)
{
    blm_builder *b   = NULL;
    blm_error    err = { .status = BLM_OK };
    blm_status   st  = blm_builder_open(where, o, bytes, &b, &err);
    assert_true(st == BLM_OK ? b != NULL : err.text[0] && !b);
    blm_builder_free(b);
    return st;
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    blm_options  o = options_of(&flavour[0]), other = o;
    blm_error    err;
    blm_filter  *f;
    blm_builder *b = open_or_fail(&o);
    assert_int_equal(open_status(spill, &o, MEMORY), BLM_E_BUSY);
    assert_status(blm_builder_build(b, &f, &err), BLM_E_UNSUPPORTED);
    assert_null(f);
    assert_status(blm_builder_save(b, NULL, 0, &err), BLM_E_ARGUMENT);
    blm_builder_free(b);
    other.seed[0] = 10;
    assert_int_equal(open_status(spill, &other, MEMORY), BLM_E_MISMATCH);
    other      = o;
    other.rate = 0.1;
    assert_int_equal(open_status(spill, &other, MEMORY), BLM_E_MISMATCH);
    other      = o;
    other.kind = BLM_CASCADE;
    assert_int_equal(open_status(spill, &other, MEMORY), BLM_E_MISMATCH);
    assert_int_equal(open_status(spill, &o, MEMORY * 9), BLM_OK);
    assert_int_equal(open_status(spill, &o, 100), BLM_E_ARGUMENT);
    assert_int_equal(open_status(NULL, &o, MEMORY), BLM_E_ARGUMENT);
    assert_int_equal(open_status("/nowhere/at/all", &o, MEMORY), BLM_E_IO);
    remove_all(spill);
    other = fixed_options(BLM_COUNTING, 0.01, 1);
    b     = open_or_fail(&other);
    assert_status(blm_builder_save(b, out, 0, &err), BLM_E_UNSUPPORTED);
    blm_builder_free(b);
    remove_all(spill);
}

/* A key of both lists: named, and the directory, of no use any more, goes. */
static void a_key_of_both_lists_is_found(void **state)
{
    (void)state;
    blm_options  o   = options_of(&flavour[1]);
    blm_builder *b   = open_or_fail(&o);
    uint64_t     key = in_of(77), wanted, hash = 0;
    blm_key      k = { &key, 8 };
    struct stat  st;
    blm_error    err;
    assert_status(give(b, 0, IN, OUT), BLM_OK);
    assert_status(blm_builder_exclude(b, &k, 1), BLM_OK);
    assert_status(blm_builder_hash(b, &k, 1, &wanted), BLM_OK);
    assert_status(blm_builder_save(b, out, 0, &err), BLM_E_CONFLICT);
    assert_true(blm_builder_conflict(b, &hash));
    assert_int_equal(hash, wanted);
    assert_int_equal(stat(spill, &st), -1);
    assert_int_equal(stat(out, &st), -1);
    blm_builder_free(b);
}

/* Where the highest byte of a hash is: there a change breaks the order, by which it is seen. */
#define TOP (BLM__BIG_ENDIAN ? 0 : 7)

/* Files of the directory that were cut off, changed or removed. */
static void spoil(const char *name, long at, bool cut)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", spill, name);
    if (cut) {
        assert_int_equal(truncate(path, at), 0);
        return;
    }
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, SEEK_SET);
    int was = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(was ^ 0x40, f);
    fclose(f);
}

/* Keys are kept, and nothing is built yet. */
static void stop_after_keys(const blm_options *o)
{
    blm_builder *b = open_or_fail(o);
    assert_status(give(b, 0, IN, 0), BLM_OK);
    assert_status(blm_builder_sync(b, NULL), BLM_OK);
    blm_builder_free(b);
}

static void damaged_files_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        long        at;
        bool        cut;
        blm_status  want;
    } cases[] = { { "in.1", 8, true, BLM_E_TRUNCATED },
                  { "in.1", TOP + 8 * 100, false, BLM_E_CHECKSUM },
                  { "in.1", 3 + 8 * 100, false, BLM_E_CHECKSUM },
                  { "state", 100, true, BLM_E_CHECKSUM },
                  { "state", 60, false, BLM_E_CHECKSUM },
                  { "state", 0, true, BLM_E_CHECKSUM } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        blm_options o   = options_of(&flavour[0]);
        blm_error   err = { .status = BLM_OK };
        stop_after_keys(&o);
        spoil(cases[i].name, cases[i].at, cases[i].cut);
        for (int again = 0; again < 2; again++) { /* it does not pass when it is tried again */
            assert_status(whole_run(&flavour[0], &o, IN, &err), cases[i].want);
            assert_true(err.text[0]);
        }
        remove_all(spill);
    }
}

/* A state whose checksum is right, and which says that a level was enlarged too often: that takes no more
 * memory than the keys justify. */
static void a_level_is_not_enlarged_for_ever(void **state)
{
    (void)state;
    enum { ENLARGED = 7 + 2 * 8 }; /* disk_state.c */
    static const uint64_t often[] = { 400, 511, 1000, 65536, (uint64_t)1 << 62 };
    for (size_t i = 0; i < COUNT_OF(often); i++) {
        char          path[512];
        uint8_t       bytes[8 * 200];
        struct meter  m   = { .fail_at = UINT64_MAX };
        blm_allocator a   = meter_allocator(&m);
        blm_options   o   = options_of(&flavour[0]);
        blm_error     err = { .status = BLM_OK };
        stop_after_keys(&o);
        snprintf(path, sizeof path, "%s/state", spill);
        FILE  *f   = fopen(path, "r+b");
        size_t len = f ? fread(bytes, 1, sizeof bytes, f) : 0;
        assert_true(len > 8 * (ENLARGED + 2) && len < sizeof bytes);
        blm__put64le(bytes + 8 * ENLARGED, often[i]);
        blm__put64le(bytes + len - 8, blm__checksum(bytes, len - 8));
        rewind(f);
        assert_int_equal(fwrite(bytes, 1, len, f), len);
        fclose(f);
        o.allocator = &a;
        assert_status(whole_run(&flavour[0], &o, IN, &err), BLM_E_LIMIT);
        assert_non_null(strstr(err.text, "remove it"));
        assert_true(m.peak_bytes < (int64_t)64 << 20);
        remove_all(spill);
    }
}

/* Opened again it has the same seed, which nobody gave. */
static void a_random_seed_is_kept(void **state)
{
    (void)state;
    blm_options o = options_of(&flavour[0]);
    uint64_t    hash[2];
    blm_key     k = { "key", 3 };
    blm_error   err;
    blm_filter *f;
    o.flags        = 0;
    blm_builder *b = open_or_fail(&o);
    assert_status(blm_builder_hash(b, &k, 1, &hash[0]), BLM_OK);
    blm_builder_free(b);
    b = open_or_fail(&o);
    assert_status(blm_builder_hash(b, &k, 1, &hash[1]), BLM_OK);
    assert_int_equal(hash[0], hash[1]);
    assert_status(blm_builder_add(b, &k, 1), BLM_OK);
    assert_status(blm_builder_save(b, out, 0, &err), BLM_OK);
    blm_builder_free(b);
    assert_status(blm_open(out, NULL, &f, &err), BLM_OK);
    assert_int_equal(params_of(f).seed_policy, BLM_SEED_RANDOM);
    assert_true(blm_check(f, "key", 3));
    blm_free(f);
    remove(out);
}

/* All hashes in a hundredth of their range: the stretches that are merged are made shorter. */
static uint64_t crowded(void *ctx, const void *key, size_t len, const uint64_t seed[2])
{
    uint64_t v = 0;
    (void)ctx, (void)seed;
    memcpy(&v, key, len < 8 ? len : 8);
    return v;
}

static void hashes_that_crowd_are_merged_too(void **state)
{
    (void)state;
    blm_options o = options_of(&flavour[0]);
    blm_error   err;
    blm_filter *f;
    o.hash         = BLM_HASH_CUSTOM;
    o.hash_fn      = crowded;
    o.hash_name    = "none";
    blm_builder *b = open_or_fail(&o);
    assert_status(give(b, 0, IN, 0), BLM_OK);
    if (blm_builder_save(b, out, 0, &err) != BLM_OK)
        fail_msg("%s", err.text);
    blm_builder_free(b);
    assert_status(blm_open(out, &o, &f, &err), BLM_OK);
    for (uint64_t i = 0; i < IN; i++) {
        uint64_t key = in_of(i);
        assert_true(blm_check(f, &key, 8));
    }
    blm_free(f);
    remove(out);
}

/* Builders in memory can save as well. */
static void a_builder_in_memory_saves(void **state)
{
    (void)state;
    blm_options  o = options_of(&flavour[0]);
    blm_error    err;
    blm_builder *b = builder_of(&o);
    assert_status(give(b, 0, IN, 0), BLM_OK);
    assert_int_equal(state_of(b).included, IN);
    assert_status(blm_builder_sync(b, &err), BLM_OK);
    assert_status(blm_builder_save(b, out, 0, &err), BLM_OK);
    blm_builder_free(b);
    assert_result_of(&flavour[0], IN);
}

static void make_out(void)
{
    FILE *f = fopen(out, "wb");
    assert_non_null(f);
    fclose(f);
}

/* What is wrong with the path is said before anything is done. */
static void refuse_paths(blm_builder *b)
{
    blm_error err;
    make_out();
    assert_status(blm_builder_save(b, out, 0, &err), BLM_E_EXISTS);
    check_error(&err, BLM_E_EXISTS, out);
    assert_status(blm_builder_save(b, "/nowhere/at/all", 0, &err), BLM_E_IO);
    check_error(&err, BLM_E_IO, "/nowhere/at/all");
    assert_status(blm_builder_save(b, out, 1u << 31, &err), BLM_E_ARGUMENT);
}

static void a_path_can_be_another_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(flavour); i++)
        for (int disk = 0; disk < 2; disk++) {
            blm_options  o = options_of(&flavour[i]);
            blm_builder *b = disk ? open_or_fail(&o) : builder_of(&o);
            blm_error    err;
            assert_status(give(b, 0, IN - 1, flavour[i].out), BLM_OK);
            refuse_paths(b);
            assert_false(state_of(b).building);
            assert_status(give(b, IN - 1, IN, 0), BLM_OK);
            assert_status(blm_builder_save(b, out, BLM_REPLACE, &err), BLM_OK);
            assert_status(blm_builder_save(b, out, BLM_REPLACE, &err), BLM_E_ARGUMENT);
            blm_builder_free(b);
            assert_result_of(&flavour[i], IN);
        }
}

/* In memory everything can be done again, and more keys may come. */
static void a_save_that_failed_takes_no_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(flavour); i++) {
        blm_options o    = options_of(&flavour[i]);
        uint64_t    left = 0;
        blm_error   err;
        o.progress     = stop_at;
        o.progress_ctx = &left;
        blm_builder *b = builder_of(&o);
        assert_status(give(b, 0, IN - 1, flavour[i].out), BLM_OK);
        assert_status(blm_builder_save(b, out, 0, &err), BLM_E_CANCELLED);
        left = UINT64_MAX;
        save_in_vain(b);
        assert_int_equal(state_of(b).included, IN - 1);
        assert_status(give(b, IN - 1, IN, 0), BLM_OK);
        assert_int_equal(state_of(b).included, IN);
        save_in_vain(b);
        left = 2; /* nothing is built once more, only saved */
        assert_status(blm_builder_save(b, out, 0, &err), BLM_OK);
        blm_builder_free(b);
        assert_result_of(&flavour[i], IN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_bytes_are_those_of_a_build_in_memory, begin, end),
        cmocka_unit_test_setup_teardown(a_build_that_was_left_goes_on, begin, end),
        cmocka_unit_test_setup_teardown(a_full_disk_is_a_clean_stop, begin, end),
        cmocka_unit_test_setup_teardown(a_cancelled_build_goes_on, begin, end),
        cmocka_unit_test_setup_teardown(lists_are_read_under_progress, begin, end),
        cmocka_unit_test_setup_teardown(a_build_goes_on_between_parts, begin, end),
        cmocka_unit_test_setup_teardown(other_keys_are_refused, begin, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_refused, begin, end),
        cmocka_unit_test_setup_teardown(a_key_of_both_lists_is_found, begin, end),
        cmocka_unit_test_setup_teardown(damaged_files_are_found, begin, end),
        cmocka_unit_test_setup_teardown(a_level_is_not_enlarged_for_ever, begin, end),
        cmocka_unit_test_setup_teardown(a_random_seed_is_kept, begin, end),
        cmocka_unit_test_setup_teardown(hashes_that_crowd_are_merged_too, begin, end),
        cmocka_unit_test_setup_teardown(a_builder_in_memory_saves, begin, end),
        cmocka_unit_test_setup_teardown(a_path_can_be_another_one, begin, end),
        cmocka_unit_test_setup_teardown(a_save_that_failed_takes_no_keys, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
