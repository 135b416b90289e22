/* SPDX-License-Identifier: MIT */
/* The memory of the library under an adapter. A library may end the program when it has none: hiredis 0.14
 * calls abort, and LevelDB, which is C++, throws what C cannot catch, or writes to what malloc did not
 * give. So each trial of failing.h is a process of its own here. The call answers as it must there, or
 * the process dies in the call, inside that library and not in the adapter. The rows are then as they
 * were, or as the call would have left them. */
#ifndef BLM_ADAPTERS_FAILING_LIBRARY_H
#define BLM_ADAPTERS_FAILING_LIBRARY_H

#include "adapters/failing.h"

#if OWN_MALLOC
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FRAMES 64

enum { TRIED = 40, NONE_LEFT, DIED_THERE, DIED_HERE };

static const char *library; /* in the name of its file */

/* The nearest caller that is the adapter or the library; what both call does not count. */
static void on_death(int number)
{
    void   *frames[FRAMES];
    Dl_info at;
    (void)number;
    memory.on = false;
    int n     = backtrace(frames, FRAMES);
    for (int i = 1; i < n; i++) { /* the first is this function */
        const char *code = frames[i];
        if (code >= &__executable_start && code < &etext)
            _exit(DIED_HERE);
        if (dladdr(frames[i], &at) && at.dli_fname && strstr(at.dli_fname, library))
            _exit(DIED_THERE);
    }
    _exit(DIED_HERE);
}

static int in_child(open_fn open, const struct story *s, const char *key, uint64_t at, bool once)
{
    int state;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int quiet = freopen("/dev/null", "w", stderr) != NULL; /* the library's last words */
        signal(SIGABRT, on_death);
        signal(SIGSEGV, on_death);
        _exit(quiet && fail_in(open, s, key, at, once) ? TRIED : NONE_LEFT);
    }
    assert_int_equal(waitpid(pid, &state, 0), pid);
    return WIFEXITED(state) ? WEXITSTATUS(state) : DIED_HERE;
}

/* Every row as it was, but that of this key, which may also be as the call leaves it. */
static bool rows_kept(const blm_dataset *d, const struct story *s, const char *key)
{
    bool kept = true;
    for (size_t i = 0; i < OLD_KEYS; i++) {
        struct row r;
        blm_status st   = get_row(d, old_keys[i], &r);
        bool       mine = s && strcmp(old_keys[i], key) == 0;
        kept            = kept && ((st == BLM_OK && row_is(&r, "old")) ||
                        (mine && s->call == call_put && st == BLM_OK && row_is(&r, "new")) ||
                        (mine && s->call == call_del && st == BLM_E_ABSENT));
    }
    return kept;
}

/* One process; `leave` closes what `open` has opened besides. Did an allocation fail in it? */
static bool trial(open_fn open, void (*leave)(void), const struct story *s, const char *key,
                  uint64_t at, bool once, uint64_t *died)
{
    blm_dataset d   = { .size = sizeof d };
    blm_error   err = { .status = BLM_OK };
    assert_int_equal(open(&d, &err), BLM_OK);
    put_rows(&d);
    d.close(d.ctx);
    leave();
    *returned = false;
    int how   = in_child(open, s, key, at, once);
    if (how != TRIED && how != NONE_LEFT && (how != DIED_THERE || *returned))
        fail_msg("%s, allocation %llu: %s", s ? s->name : "opening", (unsigned long long)at,
                 how == DIED_HERE ? "died in the adapter"
                 : *returned      ? "died after the call"
                                  : "a wrong answer");
    *died += how == DIED_THERE;
    assert_int_equal(open(&d, &err), BLM_OK);
    if (how == DIED_THERE && !rows_kept(&d, s, key))
        fail_msg("%s, allocation %llu: rows are lost", s->name, (unsigned long long)at);
    d.close(d.ctx);
    leave();
    return how != NONE_LEFT;
}
#endif

/* Returns how many allocations failed; *died: in how many of these the library ended the program. */
static uint64_t fail_in_library(const char *name, open_fn open, void (*leave)(void), uint64_t *died)
{
    uint64_t all = 0;
    *died        = 0;
#if OWN_MALLOC
    void *unused[1];
    library = name;
    returned =
        mmap(NULL, sizeof *returned, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(returned != MAP_FAILED);
    backtrace(unused, 1); /* loads what it needs */
    memory.own = false;
    for (int once = getenv("BLM_SLOW") == NULL; once < 2; once++) {
        for (uint64_t at = 0; trial(open, leave, NULL, NULL, at, once, died); at++)
            all++;
        for (size_t i = 0; i < sizeof stories / sizeof *stories; i++)
            for (size_t k = 0; k < OLD_KEYS; k++)
                for (uint64_t at = 0; trial(open, leave, &stories[i], old_keys[k], at, once, died);
                     at++)
                    all++;
    }
    munmap(returned, sizeof *returned);
    returned = NULL;
    print_message("%llu allocations failed, in %llu of them %s ended the program\n",
                  (unsigned long long)all, (unsigned long long)*died, name);
#else
    (void)name, (void)open, (void)leave, (void)fail_in;
#endif
    return all;
}

#endif
