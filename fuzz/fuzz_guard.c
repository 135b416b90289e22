/* SPDX-License-Identifier: MIT */
/*
 * A guard in front of a data set in memory, and any calls in any order: rows put, moved, deleted and
 * announced; rebuilds; sessions that end and begin again. The input also says which calls of the data
 * set fail: before they had an effect, after it, or with an effect that comes later. A row that is
 * there is never answered "absent", whatever came before.
 */
#include <bloomery/guard.h>

#include "oracle.h"

#define KEYS 64u

enum fault { NONE, BEFORE, AFTER, LATE };

static struct {
    bool              row[KEYS], late[KEYS];
    char              mark[BLM_MARK_MAX];
    size_t            mark_len;
    struct ops_input *in;
    bool              faulty;
    uint8_t           how; /* of the first session */
    char              path[128], note[140];
    blm_guard        *g;
} w;

static unsigned number(const void *key, size_t len)
{
    must(len == 8);
    return *(const uint8_t *)key % KEYS;
}

static void key_of(unsigned i, uint8_t key[8])
{
    memset(key, 'k', 8);
    key[0] = (uint8_t)(i % KEYS);
}

static enum fault fault(void)
{
    uint8_t b = w.faulty ? ops_byte(w.in) : 0;
    return b < 160 ? NONE : b < 200 ? BEFORE : b < 230 ? AFTER : LATE;
}

static blm_status broken(blm_error *err)
{
    *err = (blm_error){ .status = BLM_E_IO, .offset = BLM_NO_OFFSET, .text = "broken" };
    return BLM_E_IO;
}

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    (void)ctx, (void)value, (void)value_ctx;
    if (fault() != NONE)
        return broken(err);
    return w.row[number(key, len)] ? BLM_OK : BLM_E_ABSENT;
}

static blm_status put(void *ctx, const void *key, size_t len, const void *value, size_t value_len,
                      blm_error *err)
{
    enum fault f = fault();
    unsigned   i = number(key, len);
    (void)ctx, (void)value, (void)value_len;
    if (f == NONE || f == AFTER)
        w.row[i] = true;
    if (f == LATE)
        w.late[i] = true;
    return f == NONE ? BLM_OK : broken(err);
}

static blm_status del(void *ctx, const void *key, size_t len, blm_error *err)
{
    enum fault f   = fault();
    unsigned   i   = number(key, len);
    bool       had = w.row[i];
    (void)ctx;
    if (f == NONE || f == AFTER)
        w.row[i] = false;
    return f != NONE ? broken(err) : had ? BLM_OK : BLM_E_ABSENT;
}

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    (void)ctx;
    for (unsigned i = 0; i < KEYS; i++) {
        uint8_t key[8];
        key_of(i, key);
        if (w.row[i] && !each(each_ctx, key, 8))
            return BLM_E_CANCELLED;
        if (i % 16 == 0 && fault() != NONE)
            return broken(err);
    }
    return BLM_OK;
}

static blm_status mark_read(void *ctx, void *out, size_t *len, blm_error *err)
{
    (void)ctx;
    if (fault() != NONE)
        return broken(err);
    memcpy(out, w.mark, w.mark_len);
    *len = w.mark_len;
    return w.mark_len ? BLM_OK : BLM_E_ABSENT;
}

static blm_status mark_write(void *ctx, const void *bytes, size_t len, blm_error *err)
{
    enum fault f = fault();
    (void)ctx;
    must(len <= BLM_MARK_MAX);
    if (f == NONE || f == AFTER) {
        memcpy(w.mark, bytes, len);
        w.mark_len = len;
    }
    return f == NONE ? BLM_OK : broken(err);
}

/* ---- sessions ---- */

static void open_guard(uint8_t how)
{
    static const blm_kind kinds[] = { BLM_BLOCKED, BLM_COUNTING, BLM_CUCKOO, BLM_CLASSIC };
    const blm_dataset     d       = { .size       = sizeof d,
                                      .get        = get,
                                      .put        = put,
                                      .del        = del,
                                      .scan       = scan,
                                      .mark_read  = how & 4 ? NULL : mark_read,
                                      .mark_write = how & 4 ? NULL : mark_write };
    blm_guard_options     o       = BLM_GUARD_OPTIONS_INIT;
    blm_options           f       = BLM_OPTIONS_INIT;
    blm_error             err;
    f.kind      = kinds[how & 3];
    f.flags     = BLM_SEEDED;
    o.filter    = &f;
    o.items     = how & 16 ? 4 : 200; /* 4: it is overfull, or full, soon */
    o.path      = how & 32 ? NULL : w.path;
    o.flags     = BLM_GUARD_MANUAL | (how & 64 ? BLM_GUARD_ADVISORY : 0);
    o.remember  = how & 128 ? 4 : 0;
    bool faulty = w.faulty;
    if (blm_guard_open(&o, &d, &w.g, &err) != BLM_OK) { /* only because of the data set */
        must(faulty && err.text[0]);
        w.faulty = false;
        must(blm_guard_open(&o, &d, &w.g, &err) == BLM_OK);
        w.faulty = faulty;
    }
}

/* With other options. But whether there is a mark, and a file, stays: without a mark no guard can know
 * what another one has put meanwhile. Nor can one know of puts that failed before it was opened, so those
 * take effect now or never (docs/guard.md, the last of the assumptions). */
static void reopen(uint8_t how)
{
    blm_error err;
    blm_guard_close(w.g, &err);
    for (unsigned i = 0; i < KEYS; i++) {
        w.row[i] |= w.late[i] && how & 8;
        w.late[i] = false;
    }
    open_guard((uint8_t)((how & ~36) | (w.how & 36)));
}

/* ---- the law ---- */

static void holds(void)
{
    blm_key keys[KEYS];
    uint8_t bytes[KEYS][8], maybe[KEYS];
    for (unsigned i = 0; i < KEYS; i++) {
        key_of(i, bytes[i]);
        keys[i] = (blm_key){ bytes[i], 8 };
    }
    size_t many = blm_guard_maybe_many(w.g, keys, KEYS, maybe), yes = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        must(!w.row[i] || maybe[i]);
        must(!w.row[i] || blm_guard_maybe(w.g, bytes[i], 8));
        yes += maybe[i];
    }
    must(many == yes);
    blm_guard_stats s = { .size = sizeof s };
    must(blm_guard_get_stats(w.g, &s) == BLM_OK);
    must(s.lookups == s.refused + s.remembered + s.passed);
    must(s.found + s.false_positives <= s.passed);
}

static void read_row(unsigned i)
{
    uint8_t   key[8];
    blm_error err;
    key_of(i, key);
    blm_status st = blm_guard_get(w.g, key, 8, NULL, NULL, &err);
    must(st == BLM_OK ? w.row[i % KEYS] : st == BLM_E_ABSENT ? !w.row[i % KEYS] : w.faulty);
}

static void write_row(unsigned i)
{
    uint8_t   key[8];
    blm_error err;
    key_of(i, key);
    blm_status st = blm_guard_put(w.g, key, 8, "", 0, &err);
    must(st == BLM_OK ? w.row[i % KEYS] : w.faulty && err.text[0]);
}

static void delete_row(unsigned i)
{
    uint8_t   key[8];
    blm_error err;
    key_of(i, key);
    blm_status st = blm_guard_delete(w.g, key, 8, &err);
    must(st == BLM_OK || st == BLM_E_ABSENT ? !w.row[i % KEYS] : w.faulty);
}

static void move_row(unsigned i, unsigned j)
{
    uint8_t   old[8], key[8];
    blm_error err;
    key_of(i, old);
    key_of(j, key);
    blm_status st = blm_guard_update(w.g, old, 8, key, 8, "", 0, &err);
    must(st == BLM_OK ? w.row[j % KEYS] && (i % KEYS == j % KEYS || !w.row[i % KEYS]) : w.faulty);
}

/* Somebody else's row, announced before anybody asks for it. */
static void tell(unsigned i, bool there)
{
    uint8_t key[8];
    key_of(i, key);
    w.row[i % KEYS] = there;
    if (there)
        blm_guard_note_put(w.g, key, 8);
    else
        blm_guard_note_delete(w.g, key, 8);
}

static void step(struct ops_input *in)
{
    uint8_t    op = ops_byte(in);
    blm_error  err;
    blm_status st;
    switch (op % 16) {
    case 0:
    case 1:
    case 2:
        write_row(ops_byte(in));
        break;
    case 3:
    case 4:
        delete_row(ops_byte(in));
        break;
    case 5:
        move_row(ops_byte(in), ops_byte(in));
        break;
    case 6:
    case 7:
        read_row(ops_byte(in));
        break;
    case 8:
    case 9:
        st = blm_guard_build(w.g, &err);
        must(st == BLM_OK || (w.faulty && err.text[0]));
        break;
    case 10:
        reopen(ops_byte(in));
        break;
    case 11:
        blm_guard_distrust(w.g);
        break;
    case 12:
        st = blm_guard_sync(w.g, &err);
        must(st == BLM_OK || err.text[0]);
        break;
    case 13: /* what a failed put said is true after all */
        for (unsigned i = 0, j = ops_byte(in); i < KEYS; i++)
            if (w.late[(i + j) % KEYS]) {
                w.row[(i + j) % KEYS]  = true;
                w.late[(i + j) % KEYS] = false;
                break;
            }
        break;
    case 14:
        w.faulty = op & 16;
        break;
    default:
        tell(ops_byte(in), op & 16);
    }
    holds();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ops_input in = { data, size };
    memset(&w, 0, sizeof w);
    w.in = &in;
    place_path(w.path, "rows");
    snprintf(w.note, sizeof w.note, "%s.guard", w.path);
    w.how = ops_byte(&in);
    open_guard(w.how);
    for (int steps = 0; in.left && steps < 64; steps++)
        step(&in);
    w.faulty = false;
    must(blm_guard_build(w.g, NULL) == BLM_OK);
    holds();
    must(blm_guard_close(w.g, NULL) == BLM_OK);
    unlink(w.path);
    unlink(w.note);
    return 0;
}
