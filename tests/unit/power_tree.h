/* SPDX-License-Identifier: MIT */
/* Power cuts of whole directories. What of each file has been flushed, and which names each directory
 * had at its last flush, is recorded below blm__os; directories as any cut may leave them are made
 * before and after each call. Include after files.h.
 *
 * A cut keeps of each file the flushed sectors mixed with what was written since, with the old length or
 * the new one; and the names as they were at the last flush or are now, or each name by itself the one or
 * the other. The last is more than journals allow: they keep the order of names. */
#ifndef BLM_UNIT_POWER_TREE_H
#define BLM_UNIT_POWER_TREE_H

#include "unit/files.h"

#define TREE_FILES 400
#define TREE_NAMES 200
#define TREE_SEEN  20000
#define SECTOR     512u

/* Of names and files what was flushed; what was written; names all of one time, and files mixed; and
 * every name by itself. */
enum tree_cut { CUT_FLUSHED, CUT_WRITTEN, CUT_MIXED, CUT_SCATTERED };

struct tree_file {
    int          fd; /* ours: while it is open, no other file gets its number. −1: unused */
    ino_t        number;
    struct bytes disk;
};

struct tree_names {
    char   path[TREE_NAMES][64]; /* below the root */
    int    file[TREE_NAMES];
    size_t count;
};

static struct tree {
    char              root[300], image[340];
    struct tree_file  file[TREE_FILES];
    struct tree_names flushed, now;
    struct rng        rng;
    int               mixtures; /* of each sort, in each cut */
    bool              late;     /* this mixture has the names of now */
    int               cuts;     /* directories that were looked at */
    uint64_t          seen[TREE_SEEN];
    void (*check)(const char *root, enum tree_cut how);
} tree;

/* ---- files and names ---- */

static int tree_of(int fd)
{
    struct stat is;
    int         unused = -1;
    assert_int_equal(fstat(fd, &is), 0);
    for (int i = 0; i < TREE_FILES; i++) {
        if (tree.file[i].fd >= 0 && tree.file[i].number == is.st_ino)
            return i;
        if (tree.file[i].fd < 0 && unused < 0)
            unused = i;
    }
    assert_true(unused >= 0);
    char name[40];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    tree.file[unused] = (struct tree_file){ .fd = open(name, O_RDONLY), .number = is.st_ino };
    assert_true(tree.file[unused].fd >= 0);
    return unused;
}

static struct bytes tree_content(int i)
{
    struct bytes b = { 0 };
    struct stat  is;
    assert_int_equal(fstat(tree.file[i].fd, &is), 0);
    b.len = (size_t)is.st_size;
    b.p   = malloc(b.len + 1);
    assert_non_null(b.p);
    assert_int_equal(pread(tree.file[i].fd, b.p, b.len, 0), (ssize_t)b.len);
    return b;
}

static void tree_scan(const char *below, struct tree_names *out)
{
    char path[1000], name[300];
    snprintf(path, sizeof path, "%s/%s", tree.root, below);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat is;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", e->d_name);
        snprintf(path, sizeof path, "%s/%s", tree.root, name);
        assert_int_equal(stat(path, &is), 0);
        if (S_ISDIR(is.st_mode)) {
            tree_scan(name, out);
            continue;
        }
        assert_true(out->count < TREE_NAMES && strlen(name) < sizeof out->path[0]);
        int fd = open(path, O_RDONLY);
        assert_true(fd >= 0);
        strcpy(out->path[out->count], name);
        out->file[out->count++] = tree_of(fd);
        close(fd);
    }
    if (d)
        closedir(d);
}

static int tree_find(const struct tree_names *n, const char *path)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->path[i], path) == 0)
            return n->file[i];
    return -1;
}

/* Files that no name leads to any more, now or after a cut, are let go of. */
static void tree_look(void)
{
    tree.now.count = 0;
    tree_scan("", &tree.now);
}

static void tree_forget(void)
{
    bool used[TREE_FILES] = { 0 };
    for (size_t i = 0; i < tree.now.count; i++)
        used[tree.now.file[i]] = true;
    for (size_t i = 0; i < tree.flushed.count; i++)
        used[tree.flushed.file[i]] = true;
    for (int i = 0; i < TREE_FILES; i++)
        if (!used[i] && tree.file[i].fd >= 0) {
            close(tree.file[i].fd);
            free(tree.file[i].disk.p);
            tree.file[i] = (struct tree_file){ .fd = -1 };
        }
}

/* ---- cuts ---- */

static struct bytes tree_mix(int i, enum tree_cut how)
{
    const struct bytes *disk = &tree.file[i].disk;
    struct bytes        now  = tree_content(i), mix;
    size_t              most = now.len > disk->len ? now.len : disk->len;
    mix.len                  = how == CUT_FLUSHED                              ? disk->len
                               : how == CUT_WRITTEN || rng_next(&tree.rng) & 1 ? now.len
                                                                               : disk->len;
    mix.p                    = calloc(1, most + SECTOR);
    assert_non_null(mix.p);
    unsigned bias = 1 + (unsigned)rng_below(&tree.rng, 7); /* of 8: much, or little, got through */
    for (size_t at = 0; at < most; at += SECTOR) {
        bool new = how == CUT_WRITTEN ||
                   (how >= CUT_MIXED && rng_below(&tree.rng, 8) < bias && at < now.len);
        const struct bytes *b = new ? &now : disk;
        if (at < b->len)
            memcpy(mix.p + at, b->p + at, b->len - at < SECTOR ? b->len - at : SECTOR);
    }
    free(now.p);
    return mix;
}

static void tree_empty(const char *where)
{
    char path[1000];
    DIR *d = opendir(where);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", where, e->d_name);
        if (unlink(path) != 0) {
            tree_empty(path);
            rmdir(path);
        }
    }
    if (d)
        closedir(d);
}

static void tree_write(const char *name, const struct bytes *b)
{
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", tree.image, name);
    for (char *slash = path + strlen(tree.image) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    spit(path, b->p, b->len);
}

/* Which file a name leads to after the cut; −1: there is no such name. */
static int tree_led(const char *name, enum tree_cut how)
{
    int  was = tree_find(&tree.flushed, name), is = tree_find(&tree.now, name);
    bool late = how == CUT_WRITTEN || (how == CUT_MIXED && tree.late) ||
                (how == CUT_SCATTERED && rng_next(&tree.rng) & 1);
    return late ? is : was;
}

/* Makes a directory as a cut may leave it. A digest of it. */
static uint64_t tree_image(enum tree_cut how)
{
    uint64_t digest = 1;
    tree_empty(tree.image);
    mkdir(tree.image, 0700);
    for (int which = 0; which < 2; which++) {
        const struct tree_names *n = which ? &tree.now : &tree.flushed;
        for (size_t i = 0; i < n->count; i++) {
            if (which && tree_find(&tree.flushed, n->path[i]) >= 0)
                continue; /* had its turn */
            int file = tree_led(n->path[i], how);
            if (file < 0)
                continue;
            struct bytes b = tree_mix(file, how);
            tree_write(n->path[i], &b);
            digest ^= blm__checksum(n->path[i], strlen(n->path[i])) * 3 + blm__checksum(b.p, b.len);
            digest *= 0x9e3779b97f4a7c15u;
            free(b.p);
        }
    }
    return digest;
}

static bool tree_known(uint64_t digest)
{
    size_t i = (size_t)(digest % TREE_SEEN);
    for (; tree.seen[i]; i = (i + 1) % TREE_SEEN)
        if (tree.seen[i] == digest)
            return true;
    tree.seen[i] = digest;
    return false;
}

/* A disk that is never cut, and so need not be waited for. */
static int at_once_file(int fd) { return fd < 0 ? EBADF : 0; }
static int at_once_map(void *map, size_t len) { return map && len ? 0 : EINVAL; }
static int at_once_dir(const char *path) { return access(path, F_OK) ? errno : 0; }

static void tree_cut_power(void)
{
    struct blm__os watched = blm__os;
    tree_look();
    blm__os           = real_os;
    blm__os.sync_file = at_once_file;
    blm__os.sync_map  = at_once_map;
    blm__os.sync_dir  = at_once_dir;
    for (int i = 0; i < 2 + 2 * tree.mixtures; i++) {
        enum tree_cut how = i < 2 ? (enum tree_cut)i : i % 2 ? CUT_SCATTERED : CUT_MIXED;
        tree.late         = rng_next(&tree.rng) & 1;
        if (tree_known(tree_image(how) + how))
            continue;
        tree.check(tree.image, how);
        tree.cuts++;
    }
    blm__os = watched;
}

/* ---- the system's calls ---- */

static void tree_flush(int i, size_t from, size_t to)
{
    struct bytes now = tree_content(i), *disk = &tree.file[i].disk;
    disk->p = realloc(disk->p, now.len + 1);
    assert_non_null(disk->p);
    if (now.len > disk->len)
        memset(disk->p + disk->len, 0, now.len - disk->len);
    disk->len = now.len;
    to        = to < now.len ? to : now.len;
    if (from < to)
        memcpy(disk->p + from, now.p + from, to - from);
    free(now.p);
}

static int tree_write_at(int fd, const void *p, size_t len, uint64_t to)
{
    tree_cut_power();
    int why = real_os.write_at(fd, p, len, to);
    tree_cut_power();
    return why;
}
static int tree_sync_file(int fd)
{
    tree_cut_power();
    tree_flush(tree_of(fd), 0, SIZE_MAX);
    tree_cut_power();
    return 0;
}

/* Which file is mapped there, and which part of it? */
static int tree_mapped(const void *map, size_t *offset)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char  line[1024];
    int   found = -1;
    while (maps && found < 0 && fgets(line, sizeof line, maps)) {
        unsigned long begin, end, from, number;
        if (sscanf(line, "%lx-%lx %*s %lx %*s %lu", &begin, &end, &from, &number) != 4 ||
            (uintptr_t)map < begin || (uintptr_t)map >= end)
            continue;
        *offset = from + ((uintptr_t)map - begin);
        for (int i = 0; i < TREE_FILES; i++)
            if (tree.file[i].fd >= 0 && tree.file[i].number == (ino_t)number)
                found = i;
    }
    if (maps)
        fclose(maps);
    return found;
}

static int tree_sync_map(void *map, size_t len)
{
    size_t from = 0;
    tree_cut_power(); /* looks at all files, so this one is known */
    int i = tree_mapped(map, &from);
    assert_true(i >= 0);
    tree_flush(i, from, from + len);
    tree_cut_power();
    return 0;
}

/* Is the name in a directory, inside the one of the first `len` bytes, that is not there any more? */
static bool tree_lost(const char *name, size_t len)
{
    char        path[1000];
    const char *slash = strchr(name + len + (len > 0), '/');
    if (!slash)
        return false;
    snprintf(path, sizeof path, "%s/%.*s", tree.root, (int)(slash - name), name);
    return access(path, F_OK) != 0;
}

/* Names of the directory that have changed since its last flush have reached the disk, those of
 * directories too: what one that was removed had is gone with it. */
static int tree_sync_dir(const char *path)
{
    const char *below = path + strlen(tree.root);
    size_t      kept  = 0, len;
    tree_cut_power();
    assert_int_equal(strncmp(path, tree.root, strlen(tree.root)), 0);
    below += *below == '/';
    len                  = strlen(below);
    struct tree_names *n = &tree.flushed, *now = &tree.now;
#define THERE(name)                                                      \
    (strncmp(name, below, len) == 0 && (len == 0 || name[len] == '/') && \
     (!strchr(name + len + (len > 0), '/') || tree_lost(name, len)))
    for (size_t i = 0; i < n->count; i++)
        if (!THERE(n->path[i])) {
            memmove(n->path[kept], n->path[i], sizeof n->path[0]);
            n->file[kept++] = n->file[i];
        }
    n->count = kept;
    for (size_t i = 0; i < now->count; i++)
        if (THERE(now->path[i])) {
            assert_true(n->count < TREE_NAMES);
            memcpy(n->path[n->count], now->path[i], sizeof n->path[0]);
            n->file[n->count++] = now->file[i];
        }
#undef THERE
    tree_forget();
    tree_cut_power();
    return 0;
}
static int tree_reserve(int fd, uint64_t from, uint64_t len)
{
    tree_cut_power();
    int why = real_os.reserve(fd, from, len);
    tree_cut_power();
    return why;
}
static int tree_rename_over(const char *from, const char *to)
{
    tree_cut_power();
    int why = real_os.rename_over(from, to);
    tree_cut_power();
    return why;
}
static int tree_rename_new(const char *from, const char *to)
{
    tree_cut_power();
    int why = real_os.rename_new(from, to);
    tree_cut_power();
    return why;
}
/* Flushed before it has a name: it must be known from then on. */
static int tree_open_nameless(const char *dir, unsigned mode, int *fd)
{
    int why = real_os.open_nameless(dir, mode, fd);
    if (!why)
        tree_of(*fd);
    return why;
}
static int tree_give_name(int fd, const char *path)
{
    tree_cut_power();
    int why = real_os.give_name(fd, path);
    tree_cut_power();
    return why;
}

/* From now on; what is below `root` has been flushed. Images are made beside it. */
static void tree_watch(const char *root, uint64_t seed, int mixtures,
                       void (*check)(const char *root, enum tree_cut how))
{
    memset(&tree, 0, sizeof tree);
    for (int i = 0; i < TREE_FILES; i++)
        tree.file[i].fd = -1;
    snprintf(tree.root, sizeof tree.root, "%s", root);
    snprintf(tree.image, sizeof tree.image, "%s.image", root);
    tree.rng.state = seed;
    tree.mixtures  = mixtures;
    tree.check     = check;
    tree_look();
    tree.flushed = tree.now;
    for (size_t i = 0; i < tree.now.count; i++)
        tree_flush(tree.now.file[i], 0, SIZE_MAX);
    blm__os.write_at      = tree_write_at;
    blm__os.sync_file     = tree_sync_file;
    blm__os.sync_map      = tree_sync_map;
    blm__os.sync_dir      = tree_sync_dir;
    blm__os.reserve       = tree_reserve;
    blm__os.rename_over   = tree_rename_over;
    blm__os.rename_new    = tree_rename_new;
    blm__os.open_nameless = tree_open_nameless;
    blm__os.give_name     = tree_give_name;
}

static void tree_unwatch(void)
{
    blm__os            = real_os;
    tree.flushed.count = tree.now.count = 0;
    tree_forget();
    tree_empty(tree.image);
    rmdir(tree.image);
}

#endif
