/* SPDX-License-Identifier: MIT */
/*
 * Threads that take turns: a fiber runs until it yields, and the scheduler, which draws from a
 * seed, says who is next. So an interleaving is a number, and a failure can be run again.
 *
 * Sanitizers are told of every switch. ThreadSanitizer is told that a switch orders nothing, so it
 * sees fibers as threads that never synchronise but by what the code under test does itself. The
 * file that includes this one, whose own data is ordered by the turns alone,
 * is then compiled without
 * -fsanitize=thread and with FIBERS_TSAN.
 */
#ifndef TESTS_MODEL_FIBERS_H
#define TESTS_MODEL_FIBERS_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#if defined(__SANITIZE_ADDRESS__)
#define FIBERS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBERS_ASAN 1
#endif
#endif
#ifdef FIBERS_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBERS_TSAN
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void  __tsan_destroy_fiber(void *fiber);
void  __tsan_switch_to_fiber(void *fiber, unsigned flags);
#define FIBERS_NO_SYNC 1u
#endif

#if defined(FIBERS_ASAN) || defined(FIBERS_TSAN)
#define FIBERS_TOLD 1
#endif

#define FIBERS      12
#define FIBER_STACK (256u * 1024)

struct fiber {
    ucontext_t context;
    jmp_buf    left;  /* where it was left */
    bool       began; /* and is to be gone back to */
    void (*run)(void *arg);
    void *arg;
    bool  live;
    char *stack;
    void *fake;   /* ASan's */
    void *shadow; /* TSan's */
};

static struct fibers {
    struct fiber fiber[FIBERS], home;
    int          count, current; /* -1: the scheduler */
    const void  *home_stack;
    size_t       home_size;
} fibers = { .current = -1 };

/* swapcontext keeps the signal mask of each side, by two system calls a switch: a quarter of the model's
 * time. So a fiber only begins by its context, and is left and gone back to without one. Sanitizers, which
 * follow swapcontext, get it. */
static void swap_fiber(struct fiber *from, struct fiber *to)
{
#ifdef FIBERS_TOLD
    swapcontext(&from->context, &to->context);
#else
    from->began = true;
    if (_setjmp(from->left) == 0) {
        if (to->began)
            _longjmp(to->left, 1);
        setcontext(&to->context);
    }
#endif
}

static void switch_fiber(struct fiber *from, struct fiber *to, bool ends)
{
    (void)ends;
#ifdef FIBERS_ASAN
    __sanitizer_start_switch_fiber(ends ? NULL : &from->fake,
                                   to == &fibers.home ? fibers.home_stack : to->stack,
                                   to == &fibers.home ? fibers.home_size : FIBER_STACK);
#endif
#ifdef FIBERS_TSAN
    __tsan_switch_to_fiber(to->shadow, ends ? 0 : FIBERS_NO_SYNC); /* an end is joined */
#endif
    swap_fiber(from, to);
#ifdef FIBERS_ASAN
    __sanitizer_finish_switch_fiber(from->fake, NULL, NULL);
#endif
}

static void fiber_main(void)
{
    struct fiber *f = &fibers.fiber[fibers.current];
#ifdef FIBERS_ASAN
    __sanitizer_finish_switch_fiber(NULL, &fibers.home_stack, &fibers.home_size);
#endif
    f->run(f->arg);
    f->live = false;
    switch_fiber(f, &fibers.home, true);
}

/* Back to the scheduler; nothing outside a fiber. */
static inline void fiber_yield(void)
{
    if (fibers.current >= 0)
        switch_fiber(&fibers.fiber[fibers.current], &fibers.home, false);
}

static inline void fiber_start(void (*run)(void *), void *arg)
{
    struct fiber *f = &fibers.fiber[fibers.count++];
    if (!f->stack) {
        f->stack = mmap(NULL, FIBER_STACK, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (f->stack == MAP_FAILED)
            abort();
    }
    f->run   = run;
    f->arg   = arg;
    f->live  = true;
    f->began = false;
    getcontext(&f->context);
    f->context.uc_stack.ss_sp   = f->stack;
    f->context.uc_stack.ss_size = FIBER_STACK;
    f->context.uc_link          = NULL;
    makecontext(&f->context, fiber_main, 0);
#ifdef FIBERS_TSAN
    f->shadow = __tsan_create_fiber(0);
#endif
}

/* One turn of a fiber chosen by the caller. */
static inline void fiber_turn(int which)
{
#ifdef FIBERS_TSAN
    fibers.home.shadow = __tsan_get_current_fiber();
#endif
    fibers.current = which;
    switch_fiber(&fibers.home, &fibers.fiber[which], false);
    fibers.current = -1;
#ifdef FIBERS_TSAN
    if (!fibers.fiber[which].live)
        __tsan_destroy_fiber(fibers.fiber[which].shadow);
#endif
}

#endif
