/* SPDX-License-Identifier: MIT */
/*
 * Tortures a guard: a row that was put and not deleted is never answered "absent".
 *
 *     torture.law [--adapter NAME] [--theme NAME] [--seed N] [--episodes N | --seconds N]
 *                 [--trace] [--quiet]
 *
 * An episode is a data set and a few sessions, each a process of its own with threads: faults, late
 * effects, rebuilds, kills, forks, changes of directory, other options; and between the sessions
 * older files put back. Everything it does is drawn from its seed. Threads still meet as they like,
 * so a violation may need several runs of its seed to come again.
 *
 * This program knows the public headers and nothing of how the guard works. Exit 0: no violation;
 * 1: there was one, and its seed was printed; 2: trouble of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

const struct adapter *const adapters[] = { &memory_adapter,
#ifdef TORTURE_SQLITE
                                           &sqlite_adapter,
#endif
#ifdef TORTURE_LEVELDB
                                           &leveldb_adapter,
#endif
#ifdef TORTURE_REDIS
                                           &redis_adapter,
#endif
                                           NULL };

static struct {
    const char *adapter, *theme;
    uint64_t    seed, episodes, seconds;
    bool        quiet;
} wanted = { .seed = 1, .episodes = 0 };

/* TMPDIR; or in memory if there is such a place: kills need no disk, and fsync costs nothing there. */
static char root[64];

static void die(const char *what)
{
    fprintf(stderr, "torture: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void clean_up(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command) != 0)
        fprintf(stderr, "torture: %s is left\n", root);
    for (const struct adapter *const *a = adapters; *a; a++)
        if ((*a)->finish)
            (*a)->finish();
}

void begin_again(const struct adapter *a)
{
    for (unsigned k = 0; k < MOST_KEYS; k++) {
        atomic_store(&world->key[k].claim, NONE);
        atomic_store(&world->key[k].late_puts, 0);
        atomic_store(&world->key[k].late_dels, 0);
    }
    files_forget();
    a->prepare();
}

static void episode(const struct adapter *a, const struct theme *t, uint64_t seed)
{
    struct chance c = { seed };
    world->seed     = seed;
    world->numbers  = false;
    world->variant  = (unsigned)(seed % a->variants);
    begin_again(a);
    t->run(a, &c);
}

static bool broken(const struct adapter *a, const struct theme *t)
{
    if (!atomic_load(&world->violated))
        return false;
    printf("VIOLATED: %s\n  again: torture.law --adapter %s --theme %s --seed %" PRIu64
           " --episodes 1\n",
           world->violation, a->name, t->name, world->seed);
    return true;
}

static bool wants(const char *name, const char *asked)
{
    return !asked || strcmp(name, asked) == 0;
}

/* Every theme of every adapter wanted, one episode each, until enough is done. */
static bool torture(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    time_t   end  = t.tv_sec + (time_t)wanted.seconds;
    uint64_t done = 0, seed = wanted.seed;
    for (bool any = true; any; seed++) {
        any = false;
        for (const struct adapter *const *a = adapters; *a; a++)
            for (const struct theme *theme = themes; theme->name; theme++) {
                if (!wants((*a)->name, wanted.adapter) || !wants(theme->name, wanted.theme) ||
                    (theme->only && strcmp(theme->only, (*a)->name) != 0))
                    continue;
                clock_gettime(CLOCK_MONOTONIC, &t);
                if (wanted.seconds ? t.tv_sec >= end : seed - wanted.seed >= wanted.episodes)
                    continue;
                if (!wanted.quiet)
                    fprintf(stderr, "%s %s %" PRIu64 "\n", (*a)->name, theme->name, seed);
                any = true;
                done++;
                episode(*a, theme, seed);
                if (broken(*a, theme))
                    return false;
            }
    }
    printf("%" PRIu64 " episodes, seeds %" PRIu64 " … %" PRIu64 "\n", done, wanted.seed, seed - 2);
    return done > 0;
}

static void say_tallies(void)
{
    static const char *const names[TALLIES] = { "sessions",
                                                "killed",
                                                "forks",
                                                "operations",
                                                "puts",
                                                "deletes",
                                                "faults",
                                                "late effects",
                                                "answers \"absent\"",
                                                "audited",
                                                "trusted files",
                                                "files not trusted",
                                                "rebuilds",
                                                "files put back or damaged" };
    for (int i = 0; i < TALLIES; i++)
        printf("%12" PRIu64 " %s\n", atomic_load(&world->tally[i]), names[i]);
}

static uint64_t number(const char *text)
{
    char *end;
    errno      = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (*end || errno)
        die(text);
    return n;
}

static void read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--quiet") == 0) {
            wanted.quiet = true;
            continue;
        }
        if (strcmp(argv[i], "--trace") == 0) {
            tracing = true;
            continue;
        }
        errno = EINVAL;
        if (!value)
            die(argv[i]);
        if (strcmp(argv[i], "--adapter") == 0)
            wanted.adapter = value;
        else if (strcmp(argv[i], "--theme") == 0)
            wanted.theme = value;
        else if (strcmp(argv[i], "--seed") == 0)
            wanted.seed = number(value);
        else if (strcmp(argv[i], "--episodes") == 0)
            wanted.episodes = number(value);
        else if (strcmp(argv[i], "--seconds") == 0)
            wanted.seconds = number(value);
        else
            die(argv[i]);
        i++;
    }
    if (!wanted.seconds && !wanted.episodes)
        wanted.episodes = 2;
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *place = getenv("TMPDIR");
    if (!place)
        place = access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(root, sizeof root, "%.40s/torture-XXXXXX", place);
    if (world == MAP_FAILED || !mkdtemp(root))
        die("no place to work in");
    atexit(clean_up);
    snprintf(world->base, sizeof world->base, "%s/here", root);
    snprintf(world->elsewhere, sizeof world->elsewhere, "%s/there", root);
    snprintf(world->path, sizeof world->path, "%s/rows.blm", world->base);
    if (mkdir(world->base, 0700) != 0 || mkdir(world->elsewhere, 0700) != 0)
        die(root);
    bool well = torture();
    if (well)
        say_tallies();
    return well ? 0 : 1;
}
