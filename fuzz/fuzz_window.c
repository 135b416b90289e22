/* SPDX-License-Identifier: MIT */
/*
 * Two windows, by number or by time, and any operations on them: adds, times that pass, clocks that
 * go back, bytes, files, copies, unions. The oracle knows when each key was added last: inside the
 * window it is answered "maybe", and after window and slack "no" (the rate is so small that the few
 * keys here do not meet by chance).
 */
#include <bloomery/delta.h>
#include <bloomery/window.h>

#include "oracle.h"

#define NEVER INT64_MIN

struct slot {
    blm_filter *f;
    int64_t     adds;
    int64_t last[OPS_KEYS]; /* add that a key was at the latest, by number or time; at least … */
    int64_t most[OPS_KEYS]; /* … and at most, where the filter's time is not the clock's */
    char    path[128];
    bool    in_file, united;
};

static struct slot slots[2];
static uint64_t    clock_now, clock_most; /* most: that was ever shown */
static uint64_t    length, slack;
static bool        by_time;

static uint64_t clock_of(void *ctx)
{
    (void)ctx;
    return clock_now;
}

static int64_t now_of(const struct slot *s, bool least)
{
    return !by_time ? s->adds : (int64_t)(least ? clock_now : clock_most);
}

static void holds(const struct slot *s)
{
    blm_key keys[OPS_KEYS];
    uint8_t maybe[OPS_KEYS];
    for (unsigned i = 0; i < OPS_KEYS; i++)
        keys[i] = ops_key(i);
    blm_check_many(s->f, keys, OPS_KEYS, maybe);
    for (unsigned i = 0; i < OPS_KEYS; i++) {
        bool one = blm_check(s->f, keys[i].data, keys[i].len);
        must(one == (maybe[i] == 1));
        /* by number, the key itself is one of those that are remembered */
        if (s->last[i] != NEVER && now_of(s, false) - s->last[i] <= (int64_t)length - !by_time)
            must(one);
        if (s->most[i] == NEVER && !s->united)
            must(!one);
        if (s->most[i] != NEVER && !s->united && clock_now == clock_most &&
            now_of(s, true) - s->most[i] > (int64_t)(length + slack))
            must(!one);
    }
}

static void knows(const struct slot *s)
{
    blm_window w = { .size = sizeof w };
    blm_age    ages[64];
    uint64_t   sum = 0;
    must(blm_get_window(s->f, &w) == BLM_OK && w.by_time == by_time && w.length == length);
    size_t n = blm_get_ages(s->f, ages, 64);
    must(n == w.ages && w.busiest <= w.adds);
    for (size_t i = 0; i < n; i++)
        sum += ages[i].adds;
    must(sum == w.adds);
}

static void added(struct slot *s, unsigned key)
{
    s->adds++;
    s->last[key] = now_of(s, true);
    s->most[key] = now_of(s, false);
}

/* A batch by the best kernel, and its keys one by one by the portable one. */
static void add(struct slot *s, struct ops_input *in, bool many)
{
    blm_key     keys[OPS_BATCH];
    unsigned    at[OPS_BATCH];
    uint8_t     fresh[OPS_BATCH];
    size_t      n = many ? ops_batch(in, keys, at) : 1, done;
    blm_filter *c = ops_copy(s->f);
    if (!many) {
        at[0]   = ops_byte(in) % OPS_KEYS;
        keys[0] = ops_key(at[0]);
    }
    blm_set_clock(c, clock_of, NULL);
    ops_portable(c);
    must(blm_add_many(s->f, keys, n, fresh, &done) >= 0 && done == n);
    for (size_t i = 0; i < n; i++) {
        must((blm_add(c, keys[i].data, keys[i].len) == BLM_OK) == (fresh[i] == 1));
        added(s, at[i]);
    }
    must(blm_equal(s->f, c));
    blm_free(c);
}

static void replace(struct slot *s, blm_filter *f)
{
    blm_free(s->f);
    if (s->in_file)
        unlink(s->path);
    s->in_file = false;
    s->f       = f;
}

static blm_options opening(uint32_t flags)
{
    blm_options o = BLM_OPTIONS_INIT;
    o.flags       = flags;
    o.clock       = clock_of;
    return o;
}

static void by_bytes(struct slot *s)
{
    struct fuzz_bytes b = { 0 };
    blm_options       o = opening(BLM_VERIFY);
    blm_filter       *f;
    must(blm_encode(s->f, NULL, fuzz_append, &b, NULL) == BLM_OK);
    must(blm_decode(b.bytes, b.len, &o, &f, NULL) == BLM_OK);
    free(b.bytes);
    replace(s, f);
}

static void by_file(struct slot *s)
{
    blm_options o = opening(BLM_WRITE);
    blm_filter *f;
    if (s->in_file) {
        must(blm_close(s->f, NULL) == BLM_OK);
        must(blm_open(s->path, &o, &s->f, NULL) == BLM_OK);
        return;
    }
    must(blm_save(s->f, s->path, "native", 0, NULL) == BLM_OK);
    must(blm_open(s->path, &o, &f, NULL) == BLM_OK);
    replace(s, f);
    s->in_file = true;
}

static void by_delta(struct slot *s, struct ops_input *in)
{
    struct fuzz_bytes b      = { 0 };
    blm_filter       *before = ops_copy(s->f), *f;
    add(s, in, true);
    must(blm_diff(before, s->f, fuzz_append, &b, NULL) == BLM_OK);
    struct ops_input delta = { b.bytes, b.len };
    must(blm_patch(before, ops_give, &delta, &f, NULL) >= 0 && blm_equal(f, s->f));
    blm_set_clock(f, clock_of, NULL);
    replace(s, f);
    blm_free(before);
    free(b.bytes);
}

static void unite(struct slot *s, const struct slot *other)
{
    must(blm_union(s->f, other->f, NULL) == BLM_OK);
    for (unsigned i = 0; i < OPS_KEYS; i++) {
        if (other->last[i] == NEVER)
            continue;
        int64_t last = by_time ? other->last[i] : other->last[i] + s->adds - other->adds;
        if (by_time &&
            last > (int64_t)clock_now) /* as of now, if it was before the clock went back: */
            last = (int64_t)clock_now; /* s need not have seen that time */
        s->last[i] = last > s->last[i] ? last : s->last[i];
    }
    s->united = true; /* what came from there is forgotten at another moment */
}

static void step(struct ops_input *in)
{
    static const uint32_t waits[] = { 1, 7, 60, 400, 1000, 7001, 100000, 4000000 };
    uint8_t               op      = ops_byte(in);
    struct slot          *s = &slots[op & 1], *other = &slots[~op & 1];
    blm_filter           *copy;
    switch (op >> 1 & 15) {
    case 0:
    case 1:
        add(s, in, false);
        break;
    case 2:
    case 3:
        add(s, in, true);
        break;
    case 4:
    case 5:
        clock_now += waits[ops_byte(in) % 8];
        break;
    case 6: /* a clock that was set back */
        clock_now -= clock_now > 5000 ? waits[ops_byte(in) % 5] : 0;
        break;
    case 7:
        by_bytes(s);
        break;
    case 8:
        by_file(s);
        break;
    case 9:
        by_delta(s, in);
        break;
    case 10:
        unite(s, other);
        break;
    case 11:
        copy = ops_copy(s->f);
        blm_set_clock(copy, clock_of, NULL);
        replace(s, copy);
        break;
    case 12:
        ops_portable(s->f);
        break;
    case 13:
        if (op & 0x20) {
            must(blm_clear(s->f) == BLM_OK);
            s->united = false;
            for (unsigned i = 0; i < OPS_KEYS; i++)
                s->last[i] = s->most[i] = NEVER;
        }
        break;
    default:
        knows(s);
    }
    clock_most = clock_now > clock_most ? clock_now : clock_most;
    if ((op >> 6) < 2)
        holds(s);
}

static bool begin(struct ops_input *in)
{
    static const double slacks[] = { 0, 0.15, 0.1, 0.04, 0.02 };
    uint8_t             how      = ops_byte(in);
    blm_options         o        = BLM_OPTIONS_INIT;
    blm_window          w        = { .size = sizeof w };
    by_time                      = how & 1;
    clock_now = clock_most = 1700000000000u;
    o.kind                 = BLM_WINDOW;
    o.flags                = BLM_SEEDED | (how & 2 ? BLM_SHARED : 0);
    o.items     = by_time ? 7 * OPS_KEYS : ops_items(ops_byte(in)); /* one turn may have all keys */
    o.window_ms = by_time ? 7 * ops_items(ops_byte(in)) * ops_items(how >> 5) : 0;
    o.rate      = 1e-12;
    o.slack     = slacks[(how >> 2) % 5];
    o.version   = how & 64 ? 1 : 0;
    o.clock     = clock_of;
    for (int i = 0; i < 2; i++) {
        slots[i] = (struct slot){ .adds = 0 };
        place_path(slots[i].path, i ? "b" : "a");
        slots[i].f = ops_create(&o);
        if (!slots[i].f)
            return false;
        for (unsigned k = 0; k < OPS_KEYS; k++)
            slots[i].last[k] = slots[i].most[k] = NEVER;
    }
    must(blm_get_window(slots[0].f, &w) == BLM_OK);
    length = w.length;
    slack  = w.slack;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ops_input in = { data, size };
    if (begin(&in)) {
        for (int steps = 0; in.left && steps < 64; steps++)
            step(&in);
        holds(&slots[0]);
        holds(&slots[1]);
    }
    for (int i = 0; i < 2; i++)
        replace(&slots[i], NULL);
    return 0;
}
