/* SPDX-License-Identifier: MIT */
/* Waiting for the sections inside, and numbering threads: see epoch.h. */
#include "guard/epoch.h"

#include <pthread.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "guard/step.h"

_Static_assert(1u << (64 - 59) == BLM__EPOCH_STRIPES, "the shift in blm__stripe_here");

/* ---- numbers of threads ------------------------------------------------------------------ */

_Thread_local uint32_t blm__thread_number;

/* Numbers in use, and the key whose destructor gives a thread's number back. */
static struct {
    pthread_mutex_t lock;
    pthread_key_t   key;
    bool            has_key;
    uint64_t        used;
} threads = { .lock = PTHREAD_MUTEX_INITIALIZER };

_Static_assert(BLM__EPOCH_OWNED == 64, "one bit of threads.used for each");

static void thread_ends(void *number)
{
    uint64_t bit = (uint64_t)1 << ((uintptr_t)number - 1);
    pthread_mutex_lock(&threads.lock);
    threads.used &= ~bit;
    pthread_mutex_unlock(&threads.lock);
    blm__thread_number = BLM__EPOCH_OWNED + 1; /* other destructors may still call us */
}

#if defined(__GNUC__)
/* For a library that is unloaded while threads live on. */
__attribute__((destructor)) static void forget_key(void)
{
    pthread_mutex_lock(&threads.lock);
    if (threads.has_key)
        pthread_key_delete(threads.key);
    threads.has_key = false;
    threads.used    = UINT64_MAX;
    pthread_mutex_unlock(&threads.lock);
}
#endif

/* Past BLM__EPOCH_OWNED a thread has no slot of its own. */
void blm__thread_enlist(void)
{
    blm__thread_number = BLM__EPOCH_OWNED + 1;
    pthread_mutex_lock(&threads.lock);
    if (!threads.has_key && threads.used == 0)
        threads.has_key = pthread_key_create(&threads.key, thread_ends) == 0;
    for (uint32_t i = 0; i < BLM__EPOCH_OWNED && threads.has_key; i++)
        if (!(threads.used >> i & 1)) {
            if (pthread_setspecific(threads.key, (void *)(uintptr_t)(i + 1)) == 0) {
                threads.used |= (uint64_t)1 << i;
                blm__thread_number = i + 1;
            }
            break;
        }
    pthread_mutex_unlock(&threads.lock);
}

/* ---- a barrier in every thread ----------------------------------------------------------- */

#if defined(__linux__) && defined(SYS_membarrier)
enum { MEMBARRIER_GLOBAL = 1, MEMBARRIER_PRIVATE = 8, MEMBARRIER_REGISTER = 16 };

static bool membarrier_call(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }
static bool remote_barriers(void)
{
    return membarrier_call(MEMBARRIER_REGISTER) && membarrier_call(MEMBARRIER_PRIVATE);
}
static void barrier_everywhere(void)
{
    /* A forked child has to register again. The global barrier needs no registration, but is
     * slow. */
    if (!membarrier_call(MEMBARRIER_PRIVATE) &&
        !(membarrier_call(MEMBARRIER_REGISTER) && membarrier_call(MEMBARRIER_PRIVATE)))
        membarrier_call(MEMBARRIER_GLOBAL);
}
#else
static bool remote_barriers(void) { return false; }
static void barrier_everywhere(void) {}
#endif

void blm__epoch_init(struct blm__epoch *e) { e->owned = remote_barriers() ? BLM__EPOCH_OWNED : 0; }

/* ---- waiting ----------------------------------------------------------------------------- */

/* Reads out, then in. If they are equal, nobody was inside at the moment between the two: in is
 * never below out, and neither ever goes down. */
static bool empty(struct blm__epoch_slot *s, unsigned phase)
{
    uint64_t out = 0;
    for (unsigned how = 0; how < BLM__LEFT_WAYS; how++)
        out += atomic_load(&s->n[phase][1 + how]);
    return out == atomic_load(&s->n[phase][0]);
}

void blm__epoch_wait(struct blm__epoch *e)
{
    for (int turn = 0; turn < 2; turn++) {
        unsigned old = (unsigned)(atomic_fetch_add(&e->phase, 1) & 1);
        atomic_thread_fence(memory_order_seq_cst);
        if (e->owned)
            barrier_everywhere();
        for (unsigned i = 0; i < BLM__EPOCH_SLOTS; i++)
            for (unsigned tries = 0; !empty(&e->slot[i], old); tries++)
                blm__pause(tries);
    }
}

uint64_t blm__epoch_count(struct blm__epoch *e, enum blm__left how)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < BLM__EPOCH_SLOTS; i++)
        n += atomic_load(&e->slot[i].n[0][1 + how]) + atomic_load(&e->slot[i].n[1][1 + how]);
    return n;
}
