/* SPDX-License-Identifier: MIT */
/* The system's calls as they really are: what a lock keeps out, what reserving takes. */
#include "unit/support.h"

#include "unit/files.h"

static int file(const char *name)
{
    int fd = open(at(name), O_RDWR | O_CREAT, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void write_at_writes_there(void **state)
{
    (void)state;
    int fd = file("f");
    assert_int_equal(blm__os.write_at(fd, "abc", 3, 5), 0);
    assert_int_equal(blm__os.write_at(fd, NULL, 0, 100), 0);
    struct bytes b = slurp(at("f"));
    assert_int_equal(b.len, 8);
    assert_memory_equal(b.p, "\0\0\0\0\0abc", 8);
    free(b.p);
    char   got[8];
    size_t n;
    assert_int_equal(blm__os_read_at(fd, got, 8, 5, &n), 0);
    assert_int_equal(n, 3);
    assert_int_equal(blm__os_read_at(fd, got, 8, 50, &n), 0);
    assert_int_equal(n, 0);
    close(fd);
    assert_int_equal(blm__os.write_at(fd, "abc", 3, 0), EBADF);
    assert_int_equal(blm__os_read_at(fd, got, 8, 0, &n), EBADF);
    assert_int_equal(blm__os.sync_file(fd), EBADF);
    assert_true(blm__os.reserve(fd, 0, 10) != 0);
}

static void reserve_takes_space_and_changes_nothing(void **state)
{
    (void)state;
    int         fd = file("f");
    struct stat st;
    assert_int_equal(blm__os.write_at(fd, "abc", 3, 0), 0);
    assert_int_equal(blm__os.reserve(fd, 0, 100000), 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 100000);
    assert_true(st.st_blocks * 512 >= 100000);
    struct bytes b = slurp(at("f"));
    assert_memory_equal(b.p, "abc", 3);
    for (size_t i = 3; i < b.len; i++)
        assert_int_equal(b.p[i], 0);
    free(b.p);
    close(fd);
}

static void flushes(void **state)
{
    (void)state;
    int fd = file("f");
    assert_int_equal(blm__os.reserve(fd, 0, 8192), 0);
    uint8_t *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    map[5000] = 7;
    assert_int_equal(blm__os.sync_map(map, 8192), 0);
    assert_int_equal(blm__os.sync_file(fd), 0);
    assert_int_equal(blm__os.sync_dir(scratch), 0);
    assert_int_equal(blm__os.sync_dir(at("none")), ENOENT);
    assert_int_equal(blm__os.sync_dir(at("f")), ENOTDIR);
    assert_int_equal(blm__os.sync_map(map + 1, 1), EINVAL);
    munmap(map, 8192);
    if (!getenv("BLM_EMULATED")) /* qemu keeps all 32 bits of addresses mapped */
        assert_int_equal(blm__os.sync_map(map, 8192), ENOMEM);
    close(fd);
}

static void renames(void **state)
{
    (void)state;
    spit(at("a"), "a", 1);
    spit(at("b"), "b", 1);
    assert_int_equal(blm__os.rename_new(at("a"), at("b")), EEXIST);
    assert_int_equal(blm__os.rename_new(at("a"), at("c")), 0);
    assert_int_equal(blm__os.rename_over(at("c"), at("b")), 0);
    struct bytes b = slurp(at("b"));
    assert_int_equal(b.p[0], 'a');
    free(b.p);
    assert_int_equal(scratch_count(), 1);
    assert_int_equal(blm__os.rename_over(at("none"), at("b")), ENOENT);
}

static void child_tries(void *arg)
{
    int fd = open(at("f"), *(bool *)arg ? O_RDWR : O_RDONLY);
    _exit(*(bool *)arg ? blm__lock_try(fd) == EAGAIN : blm__lock_held(fd));
}

static void locks(void **state)
{
    (void)state;
    int  a = file("f"), b = file("f"), r = open(at("f"), O_RDONLY);
    bool write = true, read = false;
    assert_false(blm__lock_held(r));
    assert_int_equal(blm__lock_try(a), 0);
    assert_int_equal(blm__lock_try(a), 0); /* its own */
    assert_int_equal(blm__lock_try(b), EAGAIN);
    assert_true(blm__lock_held(b));
    assert_true(blm__lock_held(r));
    assert_int_equal(WEXITSTATUS(in_child(child_tries, &write)), 1);
    assert_int_equal(WEXITSTATUS(in_child(child_tries, &read)), 1);
    close(b); /* closing another descriptor must not drop it, as it would a POSIX lock */
    assert_true(blm__lock_held(r));
    blm__lock_drop(a);
    assert_false(blm__lock_held(r));
    assert_int_equal(WEXITSTATUS(in_child(child_tries, &read)), 0);
    close(a);
    close(r);
}

static void boots(void **state)
{
    (void)state;
    uint8_t one[16], two[16], none[16] = { 0 };
    if (!blm__os.boot_id(one))
        skip();
    assert_true(blm__os.boot_id(two));
    assert_memory_equal(one, two, 16);
    assert_memory_not_equal(one, none, 16);
}

static void numbers_have_words(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++)
        assert_true(blm__os_text(i) && blm__os_text(i)[0]);
    assert_string_equal(blm__os_text(ENOENT), "no such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(write_at_writes_there),
        file_test(reserve_takes_space_and_changes_nothing),
        file_test(flushes),
        file_test(renames),
        file_test(locks),
        file_test(boots),
        file_test(numbers_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
