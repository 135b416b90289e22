/* SPDX-License-Identifier: MIT */
/* Filters in mapped files: making, opening, refusing; when memory or space runs out. Who writes and
 * reads them at the same time: test_file_writers.c. */
#include "unit/support.h"

#include "bloomery/embed.h"
#include "unit/files.h"

#include <sys/resource.h>

/* ---- there and back ---- */

static void every_kind_lives_in_a_file(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_options o = flavour_options(v, 5000, 0.01, 1);
        blm_filter *m = make(&o), *f = create_at(at("f"), &o);
        assert_int_equal(params_of(f).backing, BLM_FILE_WRITE);
        assert_int_equal(params_of(f).writer, BLM_WRITER_LIVE);
        add_range(m, 0, 3000);
        add_range(f, 0, 3000);
        assert_true(same_bits(m, f));
        close_well(f);

        f = open_at(at("f"), BLM_VERIFY);
        assert_int_equal(params_of(f).backing, BLM_FILE_READ);
        assert_int_equal(params_of(f).writer, BLM_WRITER_NONE);
        assert_int_equal(params_of(f).items, params_of(m).items);
        assert_int_equal(params_of(f).layers, params_of(m).layers);
        assert_true(same_bits(m, f));
        uint64_t k = 1;
        assert_status(blm_add(f, &k, 8), BLM_E_READONLY);
        assert_status(blm_clear(f), BLM_E_READONLY);
        blm_verdict good = verdict_of(f, BLM_OK);
        assert_true(good.regions > 0 && good.good == good.regions);
        close_well(f);

        f = open_at(at("f"), BLM_WRITE | BLM_VERIFY | (v->flags & BLM_SHARED));
        add_range(m, 3000, 5000);
        add_range(f, 3000, 5000);
        assert_true(same_bits(m, f));
        assert_int_equal(params_of(f).items, params_of(m).items);
        close_well(f);

        /* What is mapped is what is encoded, but for who made it and how often it was changed. */
        f                = open_at(at("f"), 0);
        struct bytes one = encoded(m), two = encoded(f), file = slurp(at("f"));
        assert_int_equal(one.len, two.len);
        assert_memory_equal(one.p, two.p, one.len);
        assert_int_equal(one.len, file.len);
        size_t first = (size_t)blm__get64le(one.p + blm__get32le(one.p + 48) + 128);
        assert_memory_equal(one.p + first, file.p + first, one.len - first);
        blm_filter *d = NULL;
        assert_status(blm_decode(file.p, file.len, NULL, &d, NULL), BLM_OK);
        assert_true(same_bits(m, d));
        assert_int_equal(params_of(d).items, params_of(m).items);
        blm_free(d);
        free(one.p);
        free(two.p);
        free(file.p);
        close_well(f);
        blm_free(m);
        unlink(at("f"));
    }
}

static void counting_forgets_in_a_file(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_COUNTING, 1000);
    blm_filter *f = create_at(at("f"), &o);
    add_range(f, 0, 1000);
    for (uint64_t i = 0; i < 500; i++)
        assert_status(blm_remove(f, &i, 8), BLM_OK);
    close_well(f);
    f = open_at(at("f"), BLM_VERIFY);
    assert_int_equal(params_of(f).items, 500);
    assert_int_equal(missing(f, 500, 1000), 0);
    assert_true(missing(f, 0, 500) > 450);
    close_well(f);
}

static void cleared_and_grown_again(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_SCALABLE, 100);
    blm_filter *f = create_at(at("f"), &o), *m = make(&o);
    add_range(f, 0, 5000);
    uint32_t layers = params_of(f).layers;
    assert_true(layers > 3);
    struct stat grown, after;
    assert_int_equal(stat(at("f"), &grown), 0);
    assert_status(blm_clear(f), BLM_OK);
    assert_int_equal(params_of(f).layers, 1);
    assert_int_equal(params_of(f).items, 0);
    assert_int_equal(stat(at("f"), &after), 0);
    assert_true(after.st_size == grown.st_size); /* a reader may have the end mapped */
    add_range(f, 7000, 12000);
    add_range(m, 7000, 12000);
    assert_true(same_bits(f, m)); /* what lay behind the end was cleared first */
    close_well(f);
    f = open_at(at("f"), BLM_VERIFY);
    assert_true(same_bits(f, m));
    close_well(f);
    blm_free(m);
}

static void a_shorter_filter_in_a_longer_file(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_SCALABLE, 100);
    blm_filter *f = create_at(at("f"), &o);
    add_range(f, 0, 5000);
    assert_status(blm_clear(f), BLM_OK);
    add_range(f, 0, 50);
    close_well(f);
    f = open_at(at("f"), BLM_VERIFY);
    assert_int_equal(params_of(f).layers, 1);
    assert_int_equal(missing(f, 0, 50), 0);
    close_well(f);
}

static void union_into_a_file(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_SCALABLE, 100), like = BLM_OPTIONS_INIT;
    blm_filter *f = create_at(at("f"), &o), *g;
    like.like     = f;
    g             = make(&like);
    add_range(f, 0, 900);
    add_range(g, 900, 2500);
    uint32_t had = params_of(f).layers, more = params_of(g).layers;
    double   rate = params_of(f).rate + params_of(g).rate;
    assert_status(blm_union(f, g, NULL), BLM_OK);
    add_range(f, 2500, 3000);
    close_well(f);
    f = open_at(at("f"), BLM_VERIFY | BLM_WRITE);
    assert_true(params_of(f).layers >= had + more);
    assert_true(params_of(f).rate == rate);
    assert_int_equal(missing(f, 0, 3000), 0);
    add_range(f, 3000, 4000); /* goes on where its own layers were, not behind the union's */
    assert_int_equal(missing(f, 0, 4000), 0);
    close_well(f);
    blm_free(g);
}

static void a_file_takes_its_space(void **state)
{
    (void)state;
    blm_options o = large_options();
    blm_filter *f = create_at(at("f"), &o);
    struct stat st;
    assert_int_equal(stat(at("f"), &st), 0);
    assert_true(st.st_blocks * 512 >= st.st_size);
    close_well(f);
    /* A copy with holes is filled when a writer opens it. */
    struct bytes b  = slurp(at("f"));
    int          fd = open(at("g"), O_CREAT | O_RDWR, 0600);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, b.p, 20000, 0), 20000);
    size_t sums = (size_t)blm__get64le(b.p + 3 * 4096 + 104);
    assert_int_equal(pwrite(fd, b.p + sums, b.len - sums, (off_t)sums), (ssize_t)(b.len - sums));
    assert_int_equal(fstat(fd, &st), 0);
    bool sparse = st.st_blocks * 512 < st.st_size; /* not every file system has holes */
    close(fd);
    f = open_at(at("g"), BLM_VERIFY);
    close_well(f);
    f = open_at(at("g"), BLM_WRITE);
    assert_int_equal(stat(at("g"), &st), 0);
    assert_true(!sparse || st.st_blocks * 512 >= st.st_size);
    close_well(f);
    free(b.p);
}

/* ---- refusals ---- */

static void what_cannot_be_opened(void **state)
{
    (void)state;
    blm_error e;
    assert_status(try_open(at("missing"), 0, &e), BLM_E_IO);
    assert_int_equal(e.system, ENOENT);
    assert_non_null(strstr(e.text, "missing"));
    assert_status(try_open(at("missing"), BLM_WRITE, &e), BLM_E_IO);
    assert_status(try_open(scratch, 0, &e), BLM_E_IO);
    assert_int_equal(e.system, EISDIR);
    assert_status(try_open(scratch, BLM_WRITE, &e), BLM_E_IO);
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    assert_status(try_open(at("fifo"), 0, &e), BLM_E_UNSUPPORTED); /* and does not wait */
    assert_status(try_open(at("fifo"), BLM_WRITE, &e), BLM_E_UNSUPPORTED);
    assert_status(try_open("/dev/null", 0, &e), BLM_E_UNSUPPORTED);
    spit(at("empty"), "", 0);
    assert_status(try_open(at("empty"), BLM_WRITE, &e), BLM_E_TRUNCATED);
    assert_status(try_open(at("empty"), 0, &e), BLM_E_TRUNCATED);
    assert_int_equal(e.offset, 0);
    spit(at("text"), "\001not a filter at all, of no format, for no system known to man", 60);
    assert_true(try_open(at("text"), 0, &e) < 0);
    assert_status(blm_open(NULL, NULL, NULL, &e), BLM_E_ARGUMENT);
}

static void every_truncation_of_a_file(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 20);
    blm_filter *f = create_at(at("f"), &o);
    close_well(f);
    struct bytes b = slurp(at("f"));
    for (size_t len = 0; len < b.len; len++) {
        blm_error e = { .text = "" };
        spit(at("cut"), b.p, len);
        blm_status st = try_open(at("cut"), len % 2 ? BLM_WRITE : 0, &e);
        assert_int_equal(st, BLM_E_TRUNCATED);
        assert_int_equal(e.offset, len);
    }
    free(b.p);
}

/* Without BLM_VERIFY opening reads header and records only; with it, the words too. What neither
 * notices is listed in docs/formats/native.md, "What is not protected". */
static void every_bit_flip_of_a_file(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 20);
    blm_filter *f = create_at(at("f"), &o);
    add_range(f, 0, 20);
    close_well(f);
    struct bytes b      = slurp(at("f"));
    uint64_t     record = blm__get64le(b.p + 512 + 128);
    uint64_t     words = blm__get64le(b.p + record + 80), len = blm__get64le(b.p + record + 88);
    uint64_t     sums = words + len, marks = sums + 8;
    for (size_t i = 0; i < b.len; i++) {
        blm_error e = { .text = "" };
        b.p[i] ^= (uint8_t)(1u << i % 8);
        spit(at("bad"), b.p, b.len);
        blm_status quick = try_open(at("bad"), 0, &e), full = try_open(at("bad"), BLM_VERIFY, &e);
        bool       head = i < 512, slot = i >= 512 && i < record;
        bool       rec  = i >= record && i < record + 192;
        bool       body = i >= words && i < marks;
        if ((head || rec) != (quick != BLM_OK))
            fail_msg("byte %zu, opened: %s", i, blm_status_name(quick));
        if ((head || rec || body) != (full != BLM_OK))
            fail_msg("byte %zu, verified: %s", i, blm_status_name(full));
        if (body) {
            assert_int_equal(full, BLM_E_CHECKSUM);
            assert_int_equal(e.offset, words);
        }
        if (quick == BLM_OK && !body) {
            blm_filter *g = open_at(at("bad"), 0);
            assert_int_equal(verdict_of(g, BLM_OK).unverified, slot);
            assert_int_equal(missing(g, 0, 20), 0);
            assert_int_equal(params_of(g).items, 20);
            blm_free(g);
        }
        b.p[i] ^= (uint8_t)(1u << i % 8);
    }
    free(b.p);
}

static void a_damaged_slot_is_mended(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 20);
    for (unsigned which = 0; which < 2; which++) {
        blm_filter *f = create_at(at("f"), &o);
        add_range(f, 0, 20);
        close_well(f);
        flip(at("f"), 512 + which * 512 + 100, 1);
        f             = open_at(at("f"), 0);
        blm_verdict v = verdict_of(f, BLM_OK);
        assert_int_equal(v.regions, 2);
        assert_int_equal(v.good, 1);
        assert_int_equal(v.unverified, 1);
        assert_int_equal(missing(f, 0, 20), 0);
        close_well(f);
        f = open_at(at("f"), BLM_WRITE);
        close_well(f);
        f = open_at(at("f"), BLM_VERIFY);
        assert_int_equal(params_of(f).items, 20);
        v = verdict_of(f, BLM_OK);
        assert_int_equal(v.good, 1);
        assert_int_equal(v.regions, 1);
        close_well(f);
        unlink(at("f"));
    }
}

static void existing_files_stay(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 100);
    blm_filter *f = create_at(at("f"), &o), *g = NULL;
    blm_error   e;
    add_range(f, 0, 100);
    assert_status(blm_create_file(at("f"), &o, &g, &e), BLM_E_EXISTS);
    o.flags |= BLM_REPLACE;
    assert_status(blm_create_file(at("f"), &o, &g, &e), BLM_E_BUSY); /* it has a writer */
    close_well(f);
    o.flags &= ~BLM_REPLACE;
    assert_status(blm_create_file(at("f"), &o, &g, &e), BLM_E_EXISTS);
    f = open_at(at("f"), BLM_VERIFY);
    assert_int_equal(missing(f, 0, 100), 0);
    /* A reader keeps the file it has, whatever comes in its place. */
    o.flags |= BLM_REPLACE;
    g = create_at(at("f"), &o);
    assert_int_equal(missing(f, 0, 100), 0);
    assert_int_equal(missing(g, 0, 100), 100);
    blm_free(f);
    close_well(g);
    assert_int_equal(scratch_count(), 1);
}

static void try_as_nobody(void *arg)
{
    blm_error e;
    int      *want = arg;
    if (setgid(65534) != 0 || setuid(65534) != 0)
        _exit(77);
    _exit(try_open(at("f"), BLM_WRITE, &e) == (blm_status)*want ? 0 : 1);
}

static void read_only_files(void **state)
{
    (void)state;
    blm_options o = file_options(BLM_CLASSIC, 100);
    blm_filter *f = create_at(at("f"), &o);
    blm_error   e;
    close_well(f);
    chmod(at("f"), 0444);
    assert_status(try_open(at("f"), BLM_WRITE, &e), BLM_E_READONLY); /* even for the superuser */
    assert_non_null(strstr(e.text, "/f: "));
    assert_status(try_open(at("f"), 0, &e), BLM_OK);
    chmod(at("f"), 0644);
    chmod(scratch, 0755);
    if (geteuid() == 0) { /* somebody else's file */
        int want = BLM_E_READONLY, status = in_child(try_as_nobody, &want);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* ---- memory and space ---- */

static void memory_may_fail_anywhere(void **state)
{
    (void)state;
    EACH_FLAVOUR(v)
    {
        blm_options o = flavour_options(v, 1000, 0.01, 3);
        o.items       = v->kind == BLM_CUCKOO ? 1000 : 100; /* the scalable ones grow */
        for (int way = 0; way < 3; way++)
            for (uint64_t n = 0;; n++) {
                struct meter  m = { .fail_at = n };
                blm_allocator a = meter_allocator(&m);
                blm_options   p = o;
                blm_filter   *f = NULL;
                blm_error     e = { .text = "" };
                p.allocator     = &a;
                if (way) {
                    p           = (blm_options)BLM_OPTIONS_INIT;
                    p.flags     = (way == 1 ? 0 : BLM_WRITE) | (v->flags & BLM_SHARED);
                    p.allocator = &a;
                }
                blm_status st =
                    way ? blm_open(at("f"), &p, &f, &e) : blm_create_file(at("f"), &p, &f, &e);
                uint64_t key = 0;
                if (st == BLM_OK && way != 1)
                    for (; key < 300 && st >= 0; key++)
                        st = blm_add(f, &key, 8);
                if (st >= 0 && way == 1)
                    st = blm_refresh(f, &e);
                bool opened = f != NULL;
                blm_free(f);
                assert_int_equal(m.live, 0);
                if (st >= 0) {
                    assert_true(n > 0);
                    break;
                }
                assert_int_equal(st, BLM_E_MEMORY);
                if (!opened && way == 0)
                    assert_int_equal(scratch_count(), 0);
                blm_filter *whole = opened || way ? open_at(at("f"), BLM_VERIFY) : NULL;
                blm_free(whole);
                if (way == 0)
                    unlink(at("f"));
            }
        unlink(at("f"));
    }
}

static void space_may_run_out_anywhere(void **state)
{
    (void)state;
    for (size_t n = 0;; n++) { /* making one */
        blm_options o = file_options(BLM_SCALABLE, 100);
        blm_filter *f = NULL;
        blm_error   e = { .text = "" };
        os_watch(n, ENOSPC);
        blm_status st = blm_create_file(at("f"), &o, &f, &e);
        os_unwatch();
        if (st == BLM_OK) {
            assert_true(n > 6);
            close_well(f);
            break;
        }
        assert_int_equal(st, BLM_E_SPACE);
        assert_int_equal(e.system, ENOSPC);
        assert_null(f);
        bool placed = strchr(os_log.log, 'd') != NULL; /* only its directory was not flushed */
        assert_int_equal(scratch_count(), placed);
        unlink(at("f"));
    }
    for (size_t n = 0; n < 8; n++) { /* growing, in six calls: what was there stays */
        blm_filter *f      = open_at(at("f"), BLM_WRITE);
        uint64_t    before = params_of(f).items, key = before * 2;
        uint32_t    layers = params_of(f).layers;
        blm_status  st     = BLM_OK;
        os_watch(n, ENOSPC);
        for (; st >= 0 && params_of(f).layers == layers; key++)
            st = blm_add(f, &key, 8);
        os_unwatch();
        assert_int_equal(st < 0, n < 6);
        if (st < 0) {
            assert_int_equal(st, BLM_E_SPACE);
            assert_int_equal(params_of(f).layers, layers);
            bool       broken = blm__file_of(&f->body)->broken;
            blm_error  e      = { .text = "" };
            blm_status closed = blm_close(f, &e);
            assert_int_equal(closed, broken ? BLM_E_IO : BLM_OK);
        } else {
            close_well(f);
        }
        f = open_at(at("f"), BLM_VERIFY);
        assert_true(params_of(f).items >= before);
        blm_free(f);
    }
}

static void a_full_disk(void **state)
{
    (void)state;
    if (geteuid() != 0 || mkdir(at("disk"), 0700) != 0)
        skip();
    char command_line[600];
    snprintf(command_line, sizeof command_line, "mount -t tmpfs -o size=1m none %s 2>/dev/null",
             at("disk"));
    if (system(command_line) != 0) {
        print_message("no tmpfs can be mounted here: the full disk is not tried\n");
        skip();
    }
    blm_options o = file_options(BLM_CLASSIC, 0), s = file_options(BLM_SCALABLE, 1000);
    blm_filter *f = NULL, *m;
    blm_error   e;
    o.items          = 2000000; /* 2.4 MB */
    blm_status made  = blm_create_file(at("disk/f"), &o, &f, &e);
    DIR       *d     = opendir(at("disk"));
    int        names = 0;
    while (readdir(d))
        names++;
    closedir(d);
    blm_status grown = BLM_OK, saved, reopened = BLM_OK;
    uint64_t   key = 0;
    if (blm_create_file(at("disk/s"), &s, &f, &e) == BLM_OK) {
        for (; grown >= 0 && key < 10000000; key++)
            grown = blm_add(f, &key, 8);
        uint64_t absent = missing(f, 0, key - 1);
        if (absent || blm_close(f, &e) != BLM_OK)
            reopened = BLM_E_IO;
        else if ((reopened = try_open(at("disk/s"), BLM_VERIFY, &e)) == BLM_OK) {
            f                 = open_at(at("disk/s"), 0);
            reopened          = missing(f, 0, key - 1) ? BLM_E_IO : BLM_OK;
            struct bytes old  = slurp(at("disk/s"));
            m                 = make(&o);
            saved             = blm_save(m, at("disk/s"), NULL, BLM_REPLACE, &e);
            struct bytes now  = slurp(at("disk/s"));
            bool         same = old.len == now.len && memcmp(old.p, now.p, old.len) == 0;
            blm_free(m);
            blm_free(f);
            free(old.p);
            free(now.p);
            if (saved != BLM_E_SPACE || !same)
                reopened = BLM_E_MISMATCH;
        }
    }
    snprintf(command_line, sizeof command_line, "umount -l %s", at("disk"));
    assert_int_equal(system(command_line), 0);
    assert_status(made, BLM_E_SPACE);
    assert_int_equal(names, 2); /* . and .. */
    assert_status(grown, BLM_E_SPACE);
    assert_status(reopened, BLM_OK);
}

/* ---- large ---- */

/* A tebibyte of bits, all of them holes: opening and asking touch a few pages, not the words nor
 * the half mebibyte of checksums. (Whoever reads it all here does not come back.) */
static void opening_does_not_read_the_bits(void **state)
{
    (void)state;
    blm_options                    o     = file_options(BLM_CLASSIC, 20);
    blm_filter                    *f     = make(&o);
    struct blm__shape              shape = f->body.layers[0].shape;
    struct blm__native_head        head;
    static struct blm__native_slot slot;
    struct blm__native_section     section;
    uint8_t                        bytes[BLM__SLOT_MAX];
    if (getenv("BLM_EMULATED")) { /* tools/machines: qemu keeps a record of every page of a map */
        blm_free(f);
        skip();
    }
    shape.bits = (uint64_t)1 << 43;
    assert_status(blm__native_head_of(&f->body, &shape, &head, NULL), BLM_OK);
    assert_true(blm__native_place(&shape, blm__native_first(&head), head.block, &section));
    assert_int_equal(section.regions, 65536);
    blm__native_slot_of(&f->body, &slot);
    slot.generation  = 1;
    slot.length      = section.end;
    slot.layer[0].at = section.at;
    int fd           = open(at("f"), O_CREAT | O_RDWR, 0600);
    assert_true(fd >= 0);
    if (ftruncate(fd, (off_t)section.end) != 0) {
        close(fd);
        blm_free(f);
        skip(); /* no such files here */
    }
    blm__native_put_head(&head, bytes);
    assert_int_equal(real_os.write_at(fd, bytes, BLM__HEAD_BYTES, 0), 0);
    blm__native_put_slot(&head, &slot, bytes);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(
            real_os.write_at(fd, bytes, head.slot_bytes, blm__native_slot_at(&head, i)), 0);
    blm__native_put_record(&section, bytes);
    assert_int_equal(real_os.write_at(fd, bytes, BLM__RECORD_BYTES, section.at), 0);
    close(fd);
    blm_free(f);
    if (section.end > SIZE_MAX / 2) {
        assert_status(blm_open(at("f"), NULL, &f, NULL), BLM_E_LIMIT);
        return;
    }

    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    f = open_at(at("f"), 0);
    assert_int_equal(params_of(f).bits, (uint64_t)1 << 43);
    assert_int_equal(missing(f, 0, 20), 20);
    blm_free(f);
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt < 1000);
}

static void past_four_gigabytes(void **state)
{
    (void)state;
    if (!slow_tests())
        skip();
    blm_options o = BLM_OPTIONS_INIT;
    o.bits        = ((uint64_t)1 << 35) + ((uint64_t)1 << 30); /* 4.125 GiB */
    o.probes      = 3;
    blm_filter *f = NULL;
    blm_error   e;
    blm_status  st = blm_create_file(at("f"), &o, &f, &e);
    if (st == BLM_E_SPACE) {
        print_message("no space for a file of 4 GiB here\n");
        skip();
    }
    assert_int_equal(st, BLM_OK);
    add_range(f, 0, 2000);
    uint64_t pos[3], high = 0;
    size_t   n;
    for (uint64_t i = 0; i < 2000; i++) {
        assert_status(blm_positions(f, &i, 8, pos, 3, &n), BLM_OK);
        high += pos[0] >= (uint64_t)1 << 35;
    }
    assert_true(high > 20); /* bits past 4 GiB are really in use */
    close_well(f);
    f = open_at(at("f"), BLM_WRITE);
    assert_int_equal(missing(f, 0, 2000), 0);
    assert_int_equal(params_of(f).items, 2000);
    close_well(f);
    struct stat s;
    assert_int_equal(stat(at("f"), &s), 0);
    flip(at("f"), (uint64_t)s.st_size - 1024 * 1024, 0x10);
    f             = open_at(at("f"), 0);
    blm_verdict v = verdict_of(f, BLM_E_CHECKSUM);
    assert_int_equal(v.damaged, 1);
    assert_true(v.damaged_offset > (uint64_t)1 << 32);
    assert_int_equal(missing(f, 0, 2000), 0);
    blm_free(f);
}

/* ---- options.max_bytes ---- */

static void a_file_does_not_grow_past_the_limit(void **state)
{
    (void)state;
    static const blm_kind kinds[] = { BLM_CUCKOO, BLM_SCALABLE };
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        blm_options o = BLM_OPTIONS_INIT;
        o.kind        = kinds[i];
        o.items       = 1000;
        o.rate        = 0.01;
        o.growth      = 2;
        o.flags       = BLM_SEEDED;
        o.max_bytes   = 10000;
        blm_filter *m = make(&o), *f = create_at(at("grown"), &o);
        blm_status  st = BLM_OK, in_file = BLM_OK;
        for (uint64_t k = 0; k < 100000 && st >= 0; k++) { /* as in memory, key by key */
            st      = blm_add(m, &k, 8);
            in_file = blm_add(f, &k, 8);
            assert_status(in_file, st);
        }
        assert_status(st, BLM_E_LIMIT);
        assert_true(params_of(f).bytes <= o.max_bytes && params_of(f).layers > 1);
        assert_true(same_bits(m, f));
        blm_free(m);
        close_well(f);
        unlink(at("grown"));
    }
}

static void a_union_does_not_pass_the_limit(void **state)
{
    (void)state;
    blm_options o   = BLM_OPTIONS_INIT;
    blm_error   e   = { .status = BLM_OK };
    o.kind          = BLM_SCALABLE;
    o.items         = 1000;
    o.rate          = 0.01;
    o.flags         = BLM_SEEDED;
    o.max_bytes     = 6000;
    blm_filter *f   = create_at(at("f"), &o);
    uint64_t    had = params_of(f).bytes;
    o.max_bytes     = 0;
    o.items         = 100000;
    blm_filter *g   = make(&o);
    add_range(g, 0, 1000);
    assert_status(blm_union(f, g, &e), BLM_E_LIMIT);
    check_error(&e, BLM_E_LIMIT, "6000");
    assert_int_equal(params_of(f).bytes, had);
    assert_int_equal(params_of(f).layers, 1);
    blm_free(g);
    close_well(f);
}

static void a_file_larger_than_the_limit_is_not_opened(void **state)
{
    (void)state;
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e = { .status = BLM_OK };
    blm_filter *f, *w;
    o.kind           = BLM_SCALABLE;
    o.items          = 1000;
    o.rate           = 0.01;
    o.growth         = 2;
    w                = create_at(at("f"), &o);
    blm_options read = BLM_OPTIONS_INIT;
    read.max_bytes   = params_of(w).bytes;
    assert_status(blm_open(at("f"), &read, &f, &e), BLM_OK);
    add_range(w, 0, 2000);
    assert_status(blm_refresh(f, &e), BLM_E_LIMIT); /* it has grown: everything is maybe */
    assert_true(blm_check(f, "absent", 6));
    blm_free(f);
    close_well(w);
    for (uint32_t flags = 0; flags <= BLM_WRITE; flags += BLM_WRITE) {
        read.flags = flags;
        assert_status(blm_open(at("f"), &read, &f, &e), BLM_E_LIMIT);
        check_error(&e, BLM_E_LIMIT, "more than the limit");
    }
    f              = open_at(at("f"), 0);
    read.max_bytes = params_of(f).bytes;
    close_well(f);
    assert_status(blm_open(at("f"), &read, &f, &e), BLM_OK);
    close_well(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(every_kind_lives_in_a_file),
        file_test(counting_forgets_in_a_file),
        file_test(cleared_and_grown_again),
        file_test(a_shorter_filter_in_a_longer_file),
        file_test(union_into_a_file),
        file_test(a_file_takes_its_space),
        file_test(what_cannot_be_opened),
        file_test(every_truncation_of_a_file),
        file_test(every_bit_flip_of_a_file),
        file_test(a_damaged_slot_is_mended),
        file_test(existing_files_stay),
        file_test(read_only_files),
        file_test(memory_may_fail_anywhere),
        file_test(space_may_run_out_anywhere),
        file_test(a_full_disk),
        file_test(opening_does_not_read_the_bits),
        file_test(a_file_does_not_grow_past_the_limit),
        file_test(a_union_does_not_pass_the_limit),
        file_test(a_file_larger_than_the_limit_is_not_opened),
        cmocka_unit_test_setup_teardown(past_four_gigabytes, scratch_make_large, scratch_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
