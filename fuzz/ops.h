/* SPDX-License-Identifier: MIT */
/*
 * Any operations in any order on two filters of one kind, beside an exact count of what is in each.
 * The input's first bytes are options, the rest operations. After each of them a key that was added
 * and not removed is answered "maybe"; where there are two ways to one result (batches and single
 * keys, the best kernel and the portable one, a filter and its bytes, file, copy or delta), both are
 * taken and compared. fuzz_ops_….c say which kinds.
 */
#ifndef BLM_FUZZ_OPS_H
#define BLM_FUZZ_OPS_H

#include <bloomery/delta.h>
#include <bloomery/embed.h>

#include "oracle.h"

struct ops_slot {
    blm_filter *f, *before; /* before: an earlier state of it, or NULL */
    uint32_t    count[OPS_KEYS];
    char        path[128];
    bool        in_file;
    bool        exact; /* a counting filter's items are the sum of the counts */
};

struct ops {
    blm_options     o;
    struct ops_slot slot[2];
    uint32_t        can;
};

/* ---- what must hold ---- */

static void ops_holds(const struct ops *w, const struct ops_slot *s)
{
    blm_key keys[OPS_KEYS];
    uint8_t maybe[OPS_KEYS], hashed[OPS_KEYS];
    size_t  yes = 0;
    for (unsigned i = 0; i < OPS_KEYS; i++)
        keys[i] = ops_key(i);
    uint64_t hashes[OPS_KEYS];
    size_t   said = blm_check_many(s->f, keys, OPS_KEYS, maybe);
    must(blm_hash_many(s->f, keys, OPS_KEYS, hashes) == BLM_OK);
    must(blm_check_hashes(s->f, hashes, OPS_KEYS, hashed) == said);
    must(memcmp(maybe, hashed, OPS_KEYS) == 0);
    for (unsigned i = 0; i < OPS_KEYS; i++) {
        bool       one = blm_check(s->f, keys[i].data, keys[i].len);
        blm_digest d;
        must(one || s->count[i] == 0);
        must(one == (maybe[i] == 1) && maybe[i] <= 1);
        must(blm_digest_of(s->f, keys[i].data, keys[i].len, &d) == BLM_OK);
        must(blm_check_digest(s->f, &d) == one);
        uint64_t most = w->o.kind == BLM_COUNTING ? 15 : 1;
        must(blm_count(s->f, keys[i].data, keys[i].len) >=
             (s->count[i] < most ? s->count[i] : most));
        yes += one;
    }
    must(said == yes);
}

static void ops_measures(const struct ops *w, const struct ops_slot *s)
{
    blm_stats st  = { .size = sizeof st };
    uint64_t  sum = 0;
    must(blm_get_stats(s->f, &st) == BLM_OK && st.fill >= 0 && st.fill <= 1);
    must(st.rate_now >= 0 && st.rate_now <= 1 && st.ones <= st.params.bits);
    for (unsigned i = 0; i < OPS_KEYS; i++)
        sum += s->count[i];
    if ((w->o.kind == BLM_COUNTING || w->o.kind == BLM_CUCKOO) && s->exact)
        must(st.params.items == sum);
    must(sum > 0 || !s->exact || st.ones == 0 || st.stuck > 0 || !(w->can & BLM_CAN_REMOVE));
}

/* ---- ways from one filter to another ---- */

static void ops_replace(struct ops_slot *s, blm_filter *f)
{
    blm_free(s->f);
    if (s->in_file)
        unlink(s->path);
    s->in_file = false;
    s->f       = f;
}

static void ops_by_bytes(const struct ops *w, struct ops_slot *s)
{
    struct fuzz_bytes b = { 0 };
    blm_filter       *f;
    blm_error         err;
    uint64_t          size;
    must(blm_encode(s->f, NULL, fuzz_append, &b, &err) == BLM_OK);
    must(blm_encoded_size(s->f, NULL, &size, &err) == BLM_OK && size == b.len);
    blm_options o = BLM_OPTIONS_INIT;
    o.flags       = BLM_VERIFY | (w->o.flags & BLM_SHARED);
    must(blm_decode(b.bytes, b.len, &o, &f, &err) == BLM_OK && blm_equal(s->f, f));
    free(b.bytes);
    ops_replace(s, f);
}

static void ops_by_file(const struct ops *w, struct ops_slot *s)
{
    blm_filter *f;
    blm_error   err;
    blm_verdict v = { .size = sizeof v };
    blm_options o = BLM_OPTIONS_INIT;
    if (s->in_file)
        ops_replace(s, ops_copy(s->f));
    must(blm_save(s->f, s->path, "native", 0, &err) == BLM_OK);
    o.flags = BLM_WRITE | (w->o.flags & BLM_SHARED);
    must(blm_open(s->path, &o, &f, &err) == BLM_OK && blm_equal(s->f, f));
    must(blm_verify(f, &v, &err) == BLM_OK && v.damaged == 0);
    ops_replace(s, f);
    s->in_file = true;
}

/* Closed, and opened again by readers and a writer. */
static void ops_reopen(const struct ops *w, struct ops_slot *s)
{
    blm_filter *copy = ops_copy(s->f), *reader;
    blm_error   err;
    blm_options o = BLM_OPTIONS_INIT;
    if (s->in_file) {
        must(blm_close(s->f, &err) == BLM_OK);
        o.flags = BLM_VERIFY;
        must(blm_open(s->path, &o, &reader, &err) == BLM_OK && blm_equal(reader, copy));
        must(blm_add(reader, "x", 1) == BLM_E_READONLY);
        o.flags = BLM_WRITE | (w->o.flags & BLM_SHARED);
        must(blm_open(s->path, &o, &s->f, &err) == BLM_OK && blm_equal(s->f, copy));
        blm_free(reader);
    }
    blm_free(copy);
}

static uint64_t ops_bytes(const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    must(blm_get_params(f, &p) == BLM_OK);
    return p.bytes;
}

static void ops_by_delta(struct ops_slot *s)
{
    struct fuzz_bytes b = { 0 };
    blm_filter       *f = NULL;
    blm_error         err;
    if (!s->before) {
        s->before = ops_copy(s->f);
        return;
    }
    blm_status st = blm_diff(s->before, s->f, fuzz_append, &b, &err);
    must(st == BLM_OK || st == BLM_E_MISMATCH); /* another number of layers, or a first one */
    struct ops_input in = { b.bytes, b.len }, again = in;
    if (st == BLM_OK) {
        st = blm_patch(s->before, ops_give, &in, &f, &err);
        must(st == BLM_OK ? blm_equal(f, s->f)
                          : st == BLM_E_LIMIT && ops_bytes(s->f) / 4096 >= ops_bytes(s->before));
    }
    if (st == BLM_OK) {
        bool same = blm_equal(s->before, f);
        ops_replace(s, f);
        st = blm_patch(s->f, ops_give, &again, &f, &err);
        must(st == (same ? BLM_OK : BLM_PRESENT) && blm_equal(f, s->f));
        blm_free(f);
    }
    free(b.bytes);
    blm_free(s->before);
    s->before = NULL;
}

/* ---- adding and removing ---- */

static uint32_t ops_layers(const blm_filter *f)
{
    blm_params p = { .size = sizeof p };
    must(blm_get_params(f, &p) == BLM_OK);
    return p.layers;
}

static void ops_add(const struct ops *w, struct ops_slot *s, struct ops_input *in)
{
    unsigned    i      = ops_byte(in) % OPS_KEYS;
    blm_key     k      = ops_key(i);
    blm_filter *before = w->can & BLM_CAN_FILL_UP ? ops_copy(s->f) : NULL;
    bool        had    = blm_check(s->f, k.data, k.len);
    blm_status  st     = blm_add(s->f, k.data, k.len);
    must(st >= 0 || st == BLM_E_FULL || st == BLM_E_LIMIT);
    must(st != BLM_OK || !had || (w->can & BLM_CAN_REMOVE));
    must(st != BLM_E_FULL ||
         (before ? blm_equal(before, s->f) : ops_layers(s->f) == BLM__MAX_LAYERS));
    s->count[i] += st >= 0;
    blm_free(before);
}

/* One key by one of the ways that there are: itself, its digest, its hash, its positions. */
static blm_status ops_add_by(const struct ops *w, blm_filter *f, blm_key k, unsigned way)
{
    blm_digest d;
    uint64_t   hash, pos[64];
    uint8_t    fresh;
    size_t     n;
    blm_status st;
    bool       cells = !(w->can & (BLM_CAN_GROW | BLM_CAN_FILL_UP));
    switch (way % 4) {
    case 0:
        must(blm_digest_of(f, k.data, k.len, &d) == BLM_OK);
        return blm_add_digest(f, &d);
    case 1:
        must(blm_hash_many(f, &k, 1, &hash) == BLM_OK);
        st = blm_add_hashes(f, &hash, 1, &fresh, &n);
        return st < 0 ? st : fresh ? BLM_OK : BLM_PRESENT;
    case 2:
        if (cells) {
            must(blm_positions(f, k.data, k.len, pos, 64, &n) == BLM_OK && n <= 64);
            return blm_add_positions(f, pos, n);
        }
        break;
    default:
        break;
    }
    return blm_add(f, k.data, k.len);
}

/* A batch by the best kernel, and its keys one by one by the portable one. */
static void ops_add_many(const struct ops *w, struct ops_slot *s, struct ops_input *in)
{
    blm_key     keys[OPS_BATCH];
    unsigned    at[OPS_BATCH];
    uint8_t     fresh[OPS_BATCH], one[OPS_BATCH];
    size_t      n = ops_batch(in, keys, at), done = 0, singles = 0;
    blm_filter *c = ops_copy(s->f);
    ops_portable(c);
    blm_status st = blm_add_many(s->f, keys, n, fresh, &done), last = BLM_OK;
    for (; singles < n; singles++) {
        last = ops_add_by(w, c, keys[singles], (unsigned)singles);
        if (last < 0)
            break;
        one[singles] = last == BLM_OK;
        s->count[at[singles]]++;
    }
    must(done == singles && (st < 0 ? st == last : singles == n));
    must(st >= 0 || (w->can & (BLM_CAN_FILL_UP | BLM_CAN_GROW)));
    must(memcmp(fresh, one, done) == 0);
    must(blm_equal(s->f, c));
    blm_free(c);
}

static void ops_remove(struct ops_slot *s, struct ops_input *in)
{
    unsigned i = ops_byte(in) % OPS_KEYS;
    blm_key  k = ops_key(i);
    if (s->count[i] == 0) {
        if (!blm_check(s->f, k.data, k.len))
            must(blm_remove(s->f, k.data, k.len) == BLM_E_ABSENT);
        return;
    }
    must(blm_remove(s->f, k.data, k.len) >= 0);
    s->count[i]--;
}

/* Only keys that are in it: the others may be answered "maybe", and would take others away. */
static void ops_remove_many(struct ops_slot *s, struct ops_input *in)
{
    blm_key     keys[OPS_BATCH];
    unsigned    at[OPS_BATCH];
    uint8_t     gone[OPS_BATCH];
    size_t      n = ops_batch(in, keys, at), kept = 0, removed;
    blm_filter *c = ops_copy(s->f);
    for (size_t i = 0; i < n; i++)
        if (s->count[at[i]]) {
            s->count[at[i]]--;
            keys[kept++] = keys[i];
            must(blm_remove(c, keys[i].data, keys[i].len) >= 0);
        }
    must(blm_remove_many(s->f, keys, kept, gone, &removed) == BLM_OK && removed == kept);
    for (size_t i = 0; i < kept; i++)
        must(gone[i] == 1);
    must(blm_equal(s->f, c));
    blm_free(c);
}

/* ---- two filters, and derived ones ---- */

static void ops_union(const struct ops *w, struct ops_slot *s, const struct ops_slot *other)
{
    blm_error  err;
    uint32_t   layers = ops_layers(s->f) + ops_layers(other->f);
    blm_status st     = blm_union(s->f, other->f, &err);
    if (w->can & BLM_CAN_UNION)
        must(st == BLM_OK || st == BLM_E_LIMIT || st == BLM_E_MISMATCH || st == BLM_E_FULL);
    else
        must(st == BLM_E_UNSUPPORTED);
    must(st != BLM_E_MISMATCH || (w->can & BLM_CAN_GROW)); /* young layers may differ in size */
    must(st != BLM_E_FULL || ((w->can & BLM_CAN_GROW) && layers > BLM__MAX_LAYERS));
    must(ops_layers(s->f) <= BLM__MAX_LAYERS);
    for (unsigned i = 0; i < OPS_KEYS && st == BLM_OK; i++)
        s->count[i] += other->count[i];
    if (st == BLM_OK)
        s->exact = false;
}

static void ops_intersect(const struct ops *w, struct ops_slot *s, const struct ops_slot *other)
{
    blm_error  err;
    blm_status st = blm_intersect(s->f, other->f, &err);
    must(st == ((w->can & BLM_CAN_INTERSECT) ? BLM_OK : BLM_E_UNSUPPORTED));
    for (unsigned i = 0; i < OPS_KEYS && st == BLM_OK; i++)
        if (other->count[i] < s->count[i])
            s->count[i] = other->count[i];
    if (st == BLM_OK)
        s->exact = false;
}

/* A derived filter must answer "maybe" to all that this one does; exactly: and to nothing else. */
static void ops_derived(const struct ops_slot *s, blm_filter *d, bool exactly)
{
    for (unsigned i = 0; i < OPS_KEYS; i++) {
        blm_key k   = ops_key(i);
        bool    had = blm_check(s->f, k.data, k.len), has = blm_check(d, k.data, k.len);
        must(has || !had);
        must(!exactly || has == had);
    }
    blm_free(d);
}

static void ops_derive(const struct ops *w, struct ops_slot *s, struct ops_input *in)
{
    blm_filter *d;
    blm_error   err;
    uint64_t    factor = 2 + ops_byte(in) % 4;
    blm_status  st     = blm_fold(s->f, factor, &d, &err);
    must((w->can & BLM_CAN_FOLD) ? st == BLM_OK || st == BLM_E_INDIVISIBLE || st == BLM_E_ARGUMENT
                                 : st == BLM_E_UNSUPPORTED);
    if (st == BLM_OK)
        ops_derived(s, d, false);
    st = blm_reduce(s->f, &d, &err);
    must(st == ((w->can & BLM_CAN_REDUCE) ? BLM_OK : BLM_E_UNSUPPORTED));
    if (st == BLM_OK)
        ops_derived(s, d, true);
}

static void ops_clear(struct ops_slot *s)
{
    must(blm_clear(s->f) == BLM_OK);
    memset(s->count, 0, sizeof s->count);
    s->exact = true;
}

static void ops_step(struct ops *w, struct ops_input *in)
{
    uint8_t          op = ops_byte(in);
    struct ops_slot *s = &w->slot[op & 1], *other = &w->slot[~op & 1];
    switch (op >> 1 & 15) {
    case 0:
    case 1:
        ops_add(w, s, in);
        break;
    case 2:
    case 3:
        ops_add_many(w, s, in);
        break;
    case 4:
        if (w->can & BLM_CAN_REMOVE)
            ops_remove(s, in);
        break;
    case 5:
        if (w->can & BLM_CAN_REMOVE)
            ops_remove_many(s, in);
        break;
    case 6:
        ops_by_bytes(w, s);
        break;
    case 7:
        ops_by_file(w, s);
        break;
    case 8:
        ops_reopen(w, s);
        break;
    case 9:
        ops_replace(s, ops_copy(s->f));
        break;
    case 10:
        ops_union(w, s, other);
        break;
    case 11:
        ops_intersect(w, s, other);
        break;
    case 12:
        ops_derive(w, s, in);
        break;
    case 13:
        ops_by_delta(s);
        break;
    case 14:
        if (op & 0x20)
            ops_clear(s);
        else
            ops_portable(s->f);
        break;
    default:
        ops_measures(w, s);
    }
    if ((op >> 6) == 0) /* not each time: most of the work is here */
        ops_holds(w, s);
}

static inline void ops_run(blm_options *o, struct ops_input *in)
{
    struct ops w = { .o = *o };
    blm_params p = { .size = sizeof p };
    w.o.flags |= BLM_SEEDED;
    for (int i = 0; i < 2; i++) {
        w.slot[i].exact = true;
        place_path(w.slot[i].path, i ? "b" : "a");
        w.slot[i].f = ops_create(&w.o);
        if (!w.slot[i].f) {
            must(i == 0);
            return;
        }
    }
    must(blm_get_params(w.slot[0].f, &p) == BLM_OK);
    w.can    = p.can;
    w.o.kind = p.kind;
    for (int steps = 0; in->left && steps < 48; steps++)
        ops_step(&w, in);
    for (int i = 0; i < 2; i++) {
        ops_holds(&w, &w.slot[i]);
        ops_measures(&w, &w.slot[i]);
        ops_replace(&w.slot[i], NULL);
        blm_free(w.slot[i].before);
    }
}

#endif
