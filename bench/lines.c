/* SPDX-License-Identifier: MIT */
/*
 * bloomery dedup of a file, beside the least that it could do: map the file, find the lines, hash
 * each of them with the library's own hash, and nothing else. Both on one thread, then on several,
 * by turns; wall time, the best of several rounds.
 *
 *   lines FILE BLOOMERY ITEMS [THREADS [ROUNDS]]
 *
 * FILE is read once before, so that it comes from the page cache. ITEMS is how many different lines
 * it has (dedup's -n); dedup runs at its default rate of 1e-6 and prints to /dev/null. The file is
 * mapped anew in every round, each thread hashes an equal part of it, and the better of two ways
 * counts: pages that are mapped when they are touched, or all at once by MAP_POPULATE (each thread
 * its own part).
 */
#include <bloomery.h>
#include <bloomery/embed.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST  64
#define BATCH 512u
#define PAGE  ((size_t)2 << 20)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

/* ---- the yardstick ---- */

struct part {
    const blm_filter *filter; /* for its seed only */
    int               fd, flags;
    size_t            from, to, size; /* of the file: lines that begin in from … to - 1 */
    uint64_t          lines, sum;
};

static void flush(struct part *p, const blm_key *keys, size_t n)
{
    uint64_t hashes[BATCH];
    blm_hash_many(p->filter, keys, n, hashes);
    for (size_t i = 0; i < n; i++)
        p->sum += hashes[i];
    p->lines += n;
}

/* Maps its own part, and the page in front of it, where its first line may begin. */
static void *hash_part(void *arg)
{
    struct part *p    = arg;
    size_t       base = p->from ? p->from - PAGE : 0, length = p->size - base, n = 0;
    blm_key      keys[BATCH];
    if (p->to < p->size) /* the last line may end behind it */
        length = (p->to - base + 2 * PAGE) < length ? p->to - base + 2 * PAGE : length;
    char *map = mmap(NULL, length, PROT_READ, MAP_SHARED | p->flags, p->fd, (off_t)base);
    if (map == MAP_FAILED)
        fail("mmap");
    const char *line = map, *end = map + (p->to - base), *all = map + length;
    if (p->from) {
        const char *before =
            memchr(map + (p->from - base) - 1, '\n', length - (p->from - base) + 1);
        line = before ? before + 1 : end;
    }
    while (line < end) {
        const char *to = memchr(line, '\n', (size_t)(all - line));
        if (!to)
            to = all;
        keys[n++] = (blm_key){ line, (size_t)(to - line) };
        line      = to + 1;
        if (n == BATCH)
            flush(p, keys, n), n = 0;
    }
    flush(p, keys, n);
    munmap(map, length);
    return NULL;
}

/* Seconds; the sums of all hashes and lines must not depend on the threads. */
static double hash_file(const blm_filter *f, int fd, size_t size, unsigned threads, int flags,
                        uint64_t *lines, uint64_t *sum)
{
    struct part part[MOST];
    pthread_t   id[MOST];
    double      begun = now();
    for (unsigned i = 0; i < threads; i++) {
        size_t from = size / threads * i / PAGE * PAGE;
        size_t to   = i + 1 == threads ? size : size / threads * (i + 1) / PAGE * PAGE;
        part[i]     = (struct part){ f, fd, flags, from, to, size, 0, 0 };
        if (i && pthread_create(&id[i], NULL, hash_part, &part[i]) != 0)
            fail("pthread_create");
    }
    hash_part(&part[0]);
    *lines = part[0].lines;
    *sum   = part[0].sum;
    for (unsigned i = 1; i < threads; i++) {
        pthread_join(id[i], NULL);
        *lines += part[i].lines;
        *sum += part[i].sum;
    }
    return now() - begun;
}

/* ---- dedup ---- */

static double dedup(char *program, char *file, char *items, unsigned threads)
{
    char   number[16], *args[] = { program, "dedup", "-n", items, "--threads", number, file, NULL };
    double begun = now();
    int    status;
    snprintf(number, sizeof number, "%u", threads);
    pid_t pid = fork();
    if (pid == 0) {
        int sink = open("/dev/null", O_WRONLY);
        dup2(sink, STDOUT_FILENO);
        execv(program, args);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
        fprintf(stderr, "lines: %s dedup failed\n", program);
        exit(2);
    }
    return now() - begun;
}

static void least(double *best, double s)
{
    if (*best == 0 || s < *best)
        *best = s;
}

int main(int argc, char **argv)
{
    unsigned    most   = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 2;
    unsigned    rounds = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 9;
    int         fd     = argc > 3 ? open(argv[1], O_RDONLY) : -1;
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0 || most < 1 || most > MOST || rounds < 1) {
        fprintf(stderr, "usage: lines FILE BLOOMERY ITEMS [THREADS [ROUNDS]]\n");
        return 2;
    }
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f;
    o.items = 1000;
    o.rate  = 0.01;
    if (blm_create(&o, &f, NULL) != BLM_OK)
        return 2;
    uint64_t lines, sum, all, first;
    hash_file(f, fd, (size_t)st.st_size, 1, 0, &all, &first);
    printf("%llu lines, %.0f MB\n", (unsigned long long)all, (double)st.st_size * 1e-6);
    for (unsigned t = 1; t <= most; t++) {
        static const int flags[] = { 0, MAP_POPULATE };
        double           bare = 0, ours = 0;
        for (unsigned r = 0; r < rounds; r++) {
            for (unsigned i = 0; i < 2; i++) {
                least(&bare, hash_file(f, fd, (size_t)st.st_size, t, flags[i], &lines, &sum));
                if (lines != all || sum != first) {
                    fprintf(stderr, "lines: %u threads find other lines\n", t);
                    return 1;
                }
            }
            least(&ours, dedup(argv[2], argv[1], argv[3], t));
        }
        printf("%u thread%s  map and hash %.3f s  dedup %.3f s  %.2fx\n", t, t > 1 ? "s" : " ",
               bare, ours, ours / bare);
    }
    blm_free(f);
    close(fd);
    return 0;
}
