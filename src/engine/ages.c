/* SPDX-License-Identifier: MIT */
/*
 * Ages (core/ages.h): words that say of which turn they are, so that nothing need be swept when a
 * window moves on. What the window kind is made of.
 *
 * Tags repeat after 256·S turns. Before that, each span is visited once in 64·S turns, and its words
 * that are no longer valid are emptied: with each turn a few, of which the number of spans divided by
 * 64·S is the most.
 */
#include "engine/ages.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "bloomery/maths.h"
#include "core/kernel/ages.h"
#include "engine/bits.h"
#include "engine/runs.h"
#include "maths/sizing.h"

#define VISITS     64u /* a span is visited once in so many rounds of turns */
#define COUNT_BITS 44u /* of a state word: what stands beside, or above, the number of a turn */
#define COUNT_MASK (((uint64_t)1 << COUNT_BITS) - 1)
#define CLOCK_MOST COUNT_MASK /* ms, in the year 2527: there time stands still */
#define LOOKS      3u         /* again, while turns begin */
#define SURE       2.5        /* times as far out as 95% is one in a million */
#define TALLY_MOST 64u        /* adds that a stripe of a shared filter may keep to itself */

/* ---- state ---- */

static uint64_t state_at(const struct blm__layer *l, uint32_t i)
{
    return l->shape.line_count * blm__ages_of(&l->shape) + i;
}
static uint64_t state(const struct blm__layer *l, uint32_t i)
{
    return blm__le64(blm__load(&l->words[state_at(l, i)]));
}
/* False: somebody else was there first, and *was is what they left. */
static bool state_put(struct blm__layer *l, uint32_t i, uint64_t *was, uint64_t now)
{
    uint64_t at = state_at(l, i), seen = blm__le64(*was);
    if (l->marks)
        blm__mark(l, at);
    bool put = __atomic_compare_exchange_n(&l->words[at], &seen, blm__le64(now), false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* a turn is seen before what is written in it */
    if (l->marks)
        blm__mark(l, at);
    *was = blm__le64(seen);
    return put;
}

#define CLOCK 0u /* state words: see core/ages.h */
#define ADDS  1u

uint64_t blm__ages_time(const struct blm__layer *l)
{
    uint64_t now = blm__clock_now(&l->clock);
    return now < CLOCK_MOST ? now : CLOCK_MOST;
}

struct blm__clocked blm__ages_clock(const struct blm__layer *l, uint64_t now)
{
    uint64_t s = state(l, CLOCK), length = l->turn_length, ages = blm__ages_of(&l->shape);
    struct blm__clocked c = { s >> 20, s & (BLM__TURNS - 1), 0, 0 };
    if (now < c.began) {
        c.behind = c.began - now;
        return c;
    }
    uint64_t passed = (now - c.began) / length;
    if (passed < ages) {
        c.passed = (uint32_t)passed;
        c.began += passed * length;
    } else { /* everything is forgotten: no need to go through all the turns nobody saw */
        c.passed = (uint32_t)ages;
        c.began  = now - now % length;
    }
    c.turn = (c.turn + c.passed) & (BLM__TURNS - 1);
    return c;
}

struct blm__age_turn blm__ages_now(const struct blm__layer *l)
{
    uint32_t ages = blm__ages_of(&l->shape);
    if (!blm__by_time(&l->shape))
        return blm__age_turn(state(l, ADDS) / l->turn_length, ages);
    return blm__age_turn(blm__ages_clock(l, blm__ages_time(l)).turn, ages);
}

/* ---- turns ---- */

/* Empties the words of a span that are of no turn any more. Another thread may be a turn or more ahead
 * of t: what is younger stays. */
static void empty_old(struct blm__layer *l, uint64_t at, const struct blm__age_turn *t)
{
    for (uint32_t j = 0; j < blm__ages_of(&l->shape); j++) {
        uint64_t *w = &l->words[at + j], seen = blm__load(w), v = blm__le64(seen);
        if (v == 0 || (int8_t)(((v & BLM__AGE_TAG) - blm__age_tag(t, j)) >> 56) >= 0)
            continue;
        if (l->marks)
            blm__mark(l, at + j);
        __atomic_compare_exchange_n(w, &seen, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        if (l->marks)
            blm__mark(l, at + j);
    }
}

/* A turn has begun: the spans whose time for a visit it is. */
static void visit(struct blm__layer *l, const struct blm__age_turn *t)
{
    uint32_t ages  = blm__ages_of(&l->shape);
    uint64_t spans = l->shape.line_count, parts = (uint64_t)VISITS * ages, part = t->number % parts;
    uint64_t from = spans / parts * part + spans % parts * part / parts;
    uint64_t to   = spans / parts * (part + 1) + spans % parts * (part + 1) / parts;
    for (; from < to; from++)
        empty_old(l, from * ages, t);
}

static struct blm__age_turn turn_at(struct blm__layer *l, uint64_t now)
{
    uint32_t            ages = blm__ages_of(&l->shape);
    uint64_t            was;
    struct blm__clocked c;
    do {
        was = state(l, CLOCK);
        c   = blm__ages_clock(l, now);
    } while (c.passed && !state_put(l, CLOCK, &was, c.began << 20 | c.turn));
    for (uint32_t i = c.passed; i-- > 0;) {
        struct blm__age_turn t = blm__age_turn(c.turn - i, ages);
        visit(l, &t);
    }
    return blm__age_turn(c.turn, ages);
}

static struct blm__age_turn turn_by_time(struct blm__layer *l)
{
    return turn_at(l, blm__ages_time(l));
}

/* After a power cut the state may be older than words. Their turns count, too: otherwise the next
 * adds would go to words that look younger than they are. */
void blm__ages_mend(struct blm__layer *l)
{
    uint32_t             ages = blm__ages_of(&l->shape), ahead = 0;
    struct blm__age_turn t = blm__ages_now(l);
    for (uint64_t i = 0; i < l->shape.line_count * ages; i++) {
        uint32_t j = (uint32_t)(i % ages);
        uint64_t v = blm__le64(blm__load(&l->words[i]));
        /* NOLINTNEXTLINE(bugprone-signed-char-misuse,cert-str34-c): less than 0 too */
        int rounds = (int8_t)((v - blm__age_tag(&t, j)) >> 56);
        if (v == 0 || rounds <= 0)
            continue;
        uint32_t turns = (uint32_t)rounds * ages - (t.at + (j <= t.at ? 0 : ages) - j);
        ahead          = turns > ahead ? turns : ahead;
    }
    uint64_t clock = state(l, CLOCK), adds = state(l, ADDS), length = l->turn_length;
    uint64_t turn = (clock + ahead) & (BLM__TURNS - 1);
    if (ahead && blm__by_time(&l->shape))
        state_put(l, CLOCK, &clock, (clock & ~(BLM__TURNS - 1)) | turn);
    else if (ahead)
        state_put(l, ADDS, &adds, (adds / length + ahead) * length);
}

/* More adds than there can be are damage. The number would go from 2^64 − 1 to 0, and with it the turn
 * of a key that was just added. */
void blm__ages_begin(struct blm__layer *l)
{
    uint64_t adds = state(l, ADDS);
    if (!blm__by_time(&l->shape) && adds >> 63)
        state_put(l, ADDS, &adds, 0);
}

/* ---- keys ---- */

/* Does the kernel hash these keys by itself? */
static bool eights(const struct blm__body *b, const struct blm__layer *l, const struct blm__keys *k)
{
    return blm__run_eights(b, k) && b->kernel->ages->check8 && l->shape.line_count >> 32 == 0;
}

/* Keys at … at + n − 1 of k, which are hashes or such. */
static size_t add_some(const struct blm__body *b, struct blm__layer *l,
                       const struct blm__age_turn *t, const struct blm__keys *k, size_t at,
                       size_t n, uint8_t *fresh)
{
    const struct blm__ages *a = b->kernel->ages;
    if (!k->hashes)
        return a->add8(l, t, blm__hasher_flip(&b->hasher), k->fixed + 8 * at, n, fresh + at);
    return (b->shared ? a->add_shared : a->add)(l, t, k->hashes + at, n, fresh + at);
}

/* The adds of a turn. Threads count apart, and tell each other now and then. */
static void count_by_time(struct blm__layer *l, const struct blm__age_turn *t, uint64_t n)
{
    uint64_t unit = l->shape.capacity / blm__ages_of(&l->shape) / 4096;
    uint64_t told = blm__layer_tally(l, n, unit < 1 ? 1 : unit > TALLY_MOST ? TALLY_MOST : unit);
    uint64_t was  = state(l, BLM__AGE_STATE + t->at), now;
    if (told == 0)
        return;
    do {
        bool same = was >> COUNT_BITS == t->number;
        now       = (uint64_t)t->number << COUNT_BITS | (((same ? was : 0) + told) & COUNT_MASK);
    } while (!state_put(l, BLM__AGE_STATE + t->at, &was, now));
}

/* Takes n numbers for the keys of a shared filter: each key then knows its turn. */
static uint64_t take_numbers(struct blm__layer *l, size_t n)
{
    uint64_t was = state(l, ADDS);
    while (!state_put(l, ADDS, &was, was + n))
        ;
    return was;
}

static size_t add_by_number(const struct blm__body *b, struct blm__layer *l,
                            const struct blm__keys *k, uint8_t *fresh)
{
    uint64_t length = l->turn_length;
    uint64_t number = b->shared ? take_numbers(l, k->n) : state(l, ADDS);
    size_t   count  = 0;
    for (size_t at = 0, n; at < k->n; at += n, number += n) {
        uint64_t             left = length - number % length;
        struct blm__age_turn t    = blm__age_turn(number / length, blm__ages_of(&l->shape));
        n                         = k->n - at < left ? k->n - at : (size_t)left;
        if (left == length)
            visit(l, &t);
        count += add_some(b, l, &t, k, at, n, fresh);
        uint64_t was = number;
        if (!b->shared)
            state_put(l, ADDS, &was, number + n);
    }
    blm__layer_count(l, (int64_t)k->n);
    return count;
}

/* Adds of a shared window take turns. A thread that is stopped between its turn and its words would
 * find words of many rounds later, whose tags have come round: it could not tell them from older ones,
 * and would take them away. Small windows go through 256 rounds while a thread sleeps. */
static void lock(const struct blm__body *b, struct blm__layer *l)
{
    while (b->shared &&
           atomic_exchange_explicit(&l->stripes[BLM__ADDING].count, 1, memory_order_acquire))
        sched_yield();
}

static void unlock(const struct blm__body *b, struct blm__layer *l)
{
    if (b->shared)
        atomic_store_explicit(&l->stripes[BLM__ADDING].count, 0, memory_order_release);
}

static size_t add(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                  uint8_t *fresh)
{
    size_t count;
    lock(b, l);
    if (blm__by_time(&l->shape)) {
        struct blm__age_turn t = turn_by_time(l);
        count                  = add_some(b, l, &t, k, 0, k->n, fresh);
        count_by_time(l, &t, k->n);
    } else {
        count = add_by_number(b, l, k, fresh);
    }
    unlock(b, l);
    return count;
}

/* May others add while we look? Threads, or the process that writes the file. */
static bool beside(const struct blm__body *b) { return b->shared || b->store->stale; }

/* Before looking at words: not after them. (Nothing on x86-64, as below.) */
static struct blm__age_turn turn_now(const struct blm__layer *l)
{
    struct blm__age_turn t = blm__ages_now(l);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return t;
}

/* After looking at words: is it still turn t? */
static bool same_turn(const struct blm__layer *l, const struct blm__age_turn *t)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return blm__ages_now(l).number == t->number;
}

/* One key, again and again. A reader that is too late each time does not know, so it says maybe. */
static bool look_again(const struct blm__body *b, const struct blm__layer *l, uint64_t h)
{
    uint8_t maybe;
    for (unsigned again = 0; again < LOOKS; again++) {
        struct blm__age_turn t = turn_now(l);
        if (b->kernel->ages->check(l, &t, &h, 1, &maybe))
            return true;
        if (same_turn(l, &t))
            return false;
    }
    return true;
}

/* Turns may begin between the look at the turn and the look at the words. What was renewed in such a
 * turn, and is gone from where it was, would be missed: then it looks again, at what it missed. */
static size_t check_hashes(const struct blm__body *b, const struct blm__layer *l, const uint64_t *h,
                           size_t n, uint8_t *maybe)
{
    struct blm__age_turn t    = turn_now(l);
    size_t               hits = b->kernel->ages->check(l, &t, h, n, maybe);
    if (hits == n || !beside(b) || same_turn(l, &t))
        return hits;
    for (size_t i = 0; i < n; i++)
        if (!maybe[i])
            hits += maybe[i] = look_again(b, l, h[i]);
    return hits;
}

static size_t check(const struct blm__body *b, const struct blm__layer *l,
                    const struct blm__keys *k, uint8_t *maybe)
{
    return check_hashes(b, l, k->hashes, k->n, maybe);
}

/* ---- many keys ----
 *
 * In runs, so that the turn is never far from the moment of an add. */

static bool takes(const struct blm__body *b, const struct blm__layer *l, const struct blm__keys *k)
{
    return !b->shared && blm__run_takes(b, l, k);
}

static size_t add_raw(const struct blm__body *b, struct blm__layer *l, const struct blm__keys *k,
                      uint8_t *fresh)
{
    uint64_t h[BLM__RUN];
    size_t   count = 0;
    for (size_t at = 0; at < k->n;) {
        struct blm__keys run = blm__run_of(b, k, at, eights(b, l, k), h);
        count += add(b, l, &run, fresh + at);
        at += run.n;
    }
    return count;
}

/* Keys that the kernel hashed by itself, of a run that was looked at in turn t. */
static size_t eights_again(const struct blm__body *b, const struct blm__layer *l,
                           const struct blm__age_turn *t, const struct blm__keys *run,
                           uint8_t *maybe)
{
    uint64_t h;
    size_t   more = 0;
    if (same_turn(l, t))
        return 0;
    for (size_t i = 0; i < run->n; i++)
        if (!maybe[i]) {
            blm__run_hash(b, run, i, 1, &h);
            more += maybe[i] = look_again(b, l, h);
        }
    return more;
}

static size_t check_eights(const struct blm__body *b, const struct blm__layer *l,
                           const struct blm__keys *run, uint8_t *maybe)
{
    struct blm__age_turn t = turn_now(l);
    size_t               hits =
        b->kernel->ages->check8(l, &t, blm__hasher_flip(&b->hasher), run->fixed, run->n, maybe);
    return hits < run->n && beside(b) ? hits + eights_again(b, l, &t, run, maybe) : hits;
}

static size_t check_raw(const struct blm__body *b, const struct blm__layer *l,
                        const struct blm__keys *k, uint8_t *maybe)
{
    uint64_t h[BLM__RUN];
    size_t   hits = 0;
    for (size_t at = 0; at < k->n;) {
        struct blm__keys run = blm__run_of(b, k, at, eights(b, l, k), h);
        hits += run.hashes ? check_hashes(b, l, run.hashes, run.n, maybe + at)
                           : check_eights(b, l, &run, maybe + at);
        at += run.n;
    }
    return hits;
}

static bool check_one(const struct blm__body *b, const struct blm__layer *l, uint64_t h)
{
    uint8_t maybe;
    return check_hashes(b, l, &h, 1, &maybe) != 0;
}

static void ready(struct blm__layer *l)
{
    l->turn_length = blm__turn_length(blm__ages_window(&l->shape), blm__ages_of(&l->shape));
}

/* ---- numbers ---- */

/* The word of a span that is `age` turns old. */
static uint32_t word_of(const struct blm__age_turn *t, uint32_t ages, uint32_t age)
{
    return (t->at + ages - age) % ages;
}

uint64_t blm__age_adds(const struct blm__layer *l, const struct blm__age_turn *t, uint32_t age)
{
    uint32_t ages = blm__ages_of(&l->shape);
    if (!blm__by_time(&l->shape)) {
        uint64_t adds = state(l, ADDS), turn = adds / l->turn_length;
        return age > turn ? 0 : age == 0 ? adds % l->turn_length : l->turn_length;
    }
    uint64_t s = state(l, BLM__AGE_STATE + word_of(t, ages, age));
    return s >> COUNT_BITS == ((t->number - age) & (BLM__TURNS - 1)) ? s & COUNT_MASK : 0;
}

/* The cells of an age that are in use, and the chance that one span of a question passes there. */
static uint64_t look(const struct blm__layer *l, const struct blm__age_turn *t, uint32_t age,
                     double *pass)
{
    uint32_t ages = blm__ages_of(&l->shape), j = word_of(t, ages, age);
    uint64_t tag = blm__age_tag(t, j), ones = 0;
    double   sum = 0, fill[8];
    for (uint64_t i = 0; i < l->shape.line_count; i++) {
        uint64_t v = blm__le64(blm__load(&l->words[i * ages + j]));
        if ((v & BLM__AGE_TAG) != tag || (v & ~BLM__AGE_TAG) == 0)
            continue;
        ones += BLM__POPCOUNT64(v & ~BLM__AGE_TAG);
        if (!pass)
            continue;
        for (unsigned g = 0; g < 8; g++)
            fill[g] = BLM__POPCOUNT64(v >> 7 * g & 127) / 7.0;
        sum += blm__pass_chance(fill, l->shape.probes);
    }
    if (pass)
        *pass = sum / (double)l->shape.line_count;
    return ones;
}

/* How many keys have `ones` cells in use, of one age or of all. */
static void keys_of(const struct blm__layer *l, uint64_t ones, blm_estimate *keys)
{
    uint64_t cells = l->shape.line_count * BLM__AGE_CELLS;
    uint32_t k     = blm__shape_probes(&l->shape);
    blm_estimate_items(cells, k, ones, keys);
    blm__estimate_in_lines(BLM__AGE_CELLS, cells, k, l->shape.lines, ones, keys);
}

uint64_t blm__age_look(const struct blm__layer *l, const struct blm__age_turn *t, uint32_t age,
                       blm_estimate *keys)
{
    uint64_t ones = look(l, t, age, NULL);
    keys_of(l, ones, keys);
    return ones;
}

/* Adds may be of known keys. By number no turn gets more than its share, but a union puts those of another
 * window on top. */
bool blm__ages_crowded(const struct blm__layer *l)
{
    struct blm__age_turn t = blm__ages_now(l);
    double most            = (double)blm__turn_length(l->shape.capacity, blm__ages_of(&l->shape));
    for (uint32_t age = 0; age < blm__ages_of(&l->shape); age++) {
        blm_estimate e;
        blm__age_look(l, &t, age, &e);
        double adds = (double)blm__age_adds(l, &t, age);
        if (e.value - SURE * (e.value - e.low) > most ||
            (adds > most && adds <= e.value + SURE * (e.high - e.value)))
            return true;
    }
    return false;
}

/* The cells that are in use in some age. */
static uint64_t in_some_age(const struct blm__layer *l, const struct blm__age_turn *t)
{
    uint32_t ages = blm__ages_of(&l->shape);
    uint64_t sum  = 0;
    for (uint64_t i = 0; i < l->shape.line_count; i++) {
        uint64_t any = 0;
        for (uint32_t j = 0; j < ages; j++) {
            uint64_t v = blm__le64(blm__load(&l->words[i * ages + j]));
            any |= (v & BLM__AGE_TAG) == blm__age_tag(t, j) ? v : 0;
        }
        sum += BLM__POPCOUNT64(any & ~BLM__AGE_TAG);
    }
    return sum;
}

static uint64_t ones(const struct blm__layer *l, const struct blm__kernel *v)
{
    struct blm__age_turn t   = blm__ages_now(l);
    uint64_t             sum = 0;
    (void)v;
    for (uint32_t age = 0; age < blm__ages_of(&l->shape); age++)
        sum += look(l, &t, age, NULL);
    return sum;
}

static uint64_t cells(const struct blm__shape *s)
{
    return s->line_count * blm__ages_of(s) * BLM__AGE_CELLS;
}

static uint64_t items(const struct blm__layer *l)
{
    struct blm__age_turn t   = blm__ages_now(l);
    uint64_t             sum = 0;
    for (uint32_t age = 0; age < blm__ages_of(&l->shape); age++)
        sum += blm__age_adds(l, &t, age);
    return sum;
}

/* A key that came back is in several ages, by the same cells: in all ages laid over each other it is one
 * key. The keys of each age, added up, are the most there can be; and how many there are, unless the cells
 * say that keys came back. Where hardly a cell is free in all ages, they cannot. The lower one of two upper
 * ends is too low nearly twice as often, so that both are farther out: 2.5% for the two. */
static void estimate(const struct blm__layer *l, blm_estimate *out)
{
    const double farther      = 2.2414 / 1.9600; /* standard deviations for 1.25%, and for 2.5% */
    struct blm__age_turn t    = blm__ages_now(l);
    blm_estimate         most = { 0 };
    for (uint32_t age = 0; age < blm__ages_of(&l->shape); age++) {
        blm_estimate e = { 0 };
        blm__age_look(l, &t, age, &e);
        blm__estimate_add(&most, &e);
    }
    keys_of(l, in_some_age(l, &t), out);
    out->high = out->value + farther * (out->high - out->value);
    most.high = most.value + farther * (most.high - most.value);
    if (out->high < most.high)
        return;
    most.low = fmin(out->low, most.value);
    *out     = most;
}

static double rate_now(const struct blm__layer *l, uint64_t used)
{
    struct blm__age_turn t      = blm__ages_now(l);
    double               absent = 0; /* ln of the chance that no age passes */
    (void)used;
    for (uint32_t age = 0; age < blm__ages_of(&l->shape); age++) {
        double pass;
        look(l, &t, age, &pass);
        absent += log1p(-pow(pass, l->shape.lines));
    }
    return -expm1(absent);
}

/* By number it is known how n keys lie: turn after turn, until all are full. By time they may come as
 * they like: evenly, when the turn ends. */
static double rate_at(const struct blm__shape *s, uint64_t n)
{
    uint32_t ages = blm__ages_of(s);
    uint64_t turn = blm__turn_length(blm__by_time(s) ? n : blm__ages_window(s), ages);
    if (blm__by_time(s) || n >= blm__ages_window(s))
        return blm__rate_ages(s->line_count, s->probes, s->lines, turn, ages);
    double full = blm__rate_ages(s->line_count, s->probes, s->lines, turn, (uint32_t)(n / turn));
    double last = blm__rate_ages(s->line_count, s->probes, s->lines, n % turn, 1);
    return full + last - full * last;
}

/* ---- two layers ---- */

/* How many turns old in dst is what is `age` turns old in src? By time both count the same turns,
 * so it is a difference. By number, what src has added in its turn must be no less than what dst
 * has: otherwise dst would forget early. */
static uint32_t age_there(const struct blm__layer *dst, const struct blm__layer *src, uint64_t now,
                          uint32_t age)
{
    uint64_t length = dst->turn_length;
    if (!blm__by_time(&dst->shape)) {
        bool earlier = state(src, ADDS) % length < state(dst, ADDS) % length;
        return earlier && age > 0 ? age - 1 : age;
    }
    uint64_t a = blm__ages_clock(dst, now).began, b = blm__ages_clock(src, now).began;
    if (b >= a) /* one of them has not been told the time for a while */
        return age > (b - a) / length ? age - (uint32_t)((b - a) / length) : 0;
    uint64_t older = age + (a - b) / length;
    return older < BLM__AGES_MOST ? (uint32_t)older : BLM__AGES_MOST;
}

/* When two layers by time meet: at the later of their last adds, not at this moment. So the result is
 * the same whenever it is made, also by who repeats it later, and later adds as of a time before this
 * moment find their turn. What has become too old since is forgotten with the next turn as ever. Not
 * past our clock, of which src's may be ahead: dst would forget what it must have. */
static uint64_t meeting(const struct blm__layer *dst, const struct blm__layer *src)
{
    uint64_t mine = state(dst, CLOCK) >> 20, theirs = state(src, CLOCK) >> 20;
    uint64_t now = blm__ages_time(dst);
    theirs       = theirs < now ? theirs : now;
    return mine > theirs ? mine : theirs;
}

void blm__ages_unite(struct blm__layer *dst, const struct blm__layer *src)
{
    uint32_t             ages = blm__ages_of(&dst->shape);
    uint64_t             now  = blm__by_time(&dst->shape) ? meeting(dst, src) : 0;
    struct blm__age_turn to   = blm__by_time(&dst->shape) ? turn_at(dst, now) : blm__ages_now(dst);
    struct blm__age_turn from = blm__by_time(&src->shape)
                                    ? blm__age_turn(blm__ages_clock(src, now).turn, ages)
                                    : blm__ages_now(src);
    for (uint32_t age = 0; age < ages; age++) {
        uint32_t there = age_there(dst, src, now, age);
        if (there >= ages)
            continue;
        uint32_t i = word_of(&from, ages, age), j = word_of(&to, ages, there);
        uint64_t mine = blm__age_tag(&to, j), theirs = blm__age_tag(&from, i);
        for (uint64_t at = 0; at < dst->shape.line_count * ages; at += ages) {
            uint64_t v = blm__le64(blm__load(&src->words[at + i]));
            if ((v & BLM__AGE_TAG) == theirs && (v & ~BLM__AGE_TAG) != 0)
                blm__age_put(dst, at + j, mine, v & ~BLM__AGE_TAG, false);
        }
        if (blm__by_time(&dst->shape)) {
            struct blm__age_turn t = blm__age_turn(to.number - there, ages);
            count_by_time(dst, &t, blm__age_adds(src, &from, age));
        }
    }
}

const struct blm__engine blm__engine_ages = {
    .name      = "ages",
    .rule      = BLM__AGES,
    .cell_bits = 1,
    .kinds     = 1u << BLM_WINDOW,
    .native    = true,
    .model     = BLM_MODEL_WINDOW,
    .ready     = ready,
    .add       = add,
    .check     = check,
    .check_one = check_one,
    .takes     = takes,
    .add_raw   = add_raw,
    .check_raw = check_raw,
    .ones      = ones,
    .cells     = cells,
    .items     = items,
    .estimate  = estimate,
    .rate_now  = rate_now,
    .rate_at   = rate_at,
};
