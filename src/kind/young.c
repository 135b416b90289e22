/* SPDX-License-Identifier: MIT */
/*
 * Young filters: a scalable filter in memory, told nothing of how many keys will come, keeps the
 * hashes of its first keys beside the bits. When its layer is full it is made anew, larger, from
 * the hashes, in place of getting a second layer; then the hashes go, and it grows by layers as
 * others do.
 *
 * A layer costs every question a line, for ever: at 10^7 keys three layers (what a filter has that
 * grows by layers from 131 072) took 2.2 to 2.8 times as long as one, and reading their lines alone
 * 2.0 times. Young filters have one layer then, of 12 bits a key in place of 16 (docs/maths.md,
 * "Scalable"). The price is 73 to 146 bits a key up to 917 504 of them, 8 MiB at most, told in
 * blm_params.kept.
 *
 * The layer is full when there are as many hashes as keys it was planned for, whatever its bits say
 * of them. So how large it is, and every bit of it, follow from the set of keys alone, not from
 * their order, and 7/8 of a table of 2^20 slots are all that is ever kept.
 *
 * The hashes are a help, never a need. Whatever goes wrong with them (no memory, a cap, hashes that
 * are none), or changes bits behind their back (a union, blm_write_bits), ends the youth, and
 * nothing else.
 */
#include "kind/young.h"

#include <string.h>

struct young {
    bool              zero;  /* this hash too */
    uint64_t         *slots; /* 0: free. NULL: none yet */
    uint64_t          count; /* taken */
    unsigned          shift; /* slots: 2^(64 − shift) */
    struct blm__block block;
};

static struct young *young_of(const struct blm__body *b) { return b->state; }

/* Keys of which a table of 2^n slots is as full as it gets. */
#define FULL(n)     ((uint64_t)7 << ((n)-3))
#define FIRST_SHIFT 54u    /* 1024 slots */
#define FARTHEST    16384u /* slots from where a hash belongs; by chance some 1 600 */
#define AHEAD       16u    /* keys between asking for a slot and using it */

/* Keys of the layer, each time it is made. With the last one the hashes go. */
static const uint64_t sizes[] = { FULL(14), FULL(17), FULL(20), (uint64_t)10 << 20 };
#define SIZES (sizeof sizes / sizeof *sizes)

uint64_t blm__young_first(void) { return sizes[0]; }

uint64_t blm__young_next(uint64_t capacity)
{
    for (size_t i = 0; i < SIZES; i++)
        if (sizes[i] > capacity)
            return sizes[i];
    return 0;
}

/* Without memory for it the filter is as old as any other. */
void blm__young_begin(struct blm__body *b)
{
    if (b->store->supplant && !b->state)
        b->state = blm__zalloc(b->alloc, sizeof(struct young));
}

void blm__young_end(struct blm__body *b)
{
    struct young *y = young_of(b);
    if (!y)
        return;
    blm__block_free(b->alloc, &y->block);
    blm__free(b->alloc, y, sizeof *y);
    b->state = NULL;
}

static uint64_t slots_of(const struct young *y)
{
    return y->slots ? (uint64_t)1 << (64 - y->shift) : 0;
}

uint64_t blm__young_kept(const struct blm__body *b)
{
    return blm__young(b) ? slots_of(young_of(b)) * 8 : 0;
}

uint64_t blm__young_memory(const struct blm__body *b)
{
    return blm__young(b) ? sizeof(struct young) + young_of(b)->block.size : 0;
}

void blm__young_clear(struct blm__body *b)
{
    struct young *y = young_of(b);
    if (!y)
        return;
    y->count = 0;
    y->zero  = false;
    if (y->slots)
        memset(y->slots, 0, (size_t)slots_of(y) * 8);
}

/* ---- the table: hashes are their own hashes, and lie in it nearly in order ---- */

/* False: too many lie where it should. Not by chance: somebody knows the seed. */
static bool insert(struct young *y, uint64_t h)
{
    uint64_t mask = slots_of(y) - 1, at = h >> y->shift;
    if (h == 0) {
        y->zero = true;
        return true;
    }
    for (uint64_t walked = 0; walked < FARTHEST; walked++, at = (at + 1) & mask) {
        if (y->slots[at] == h)
            return true;
        if (y->slots[at] == 0) {
            y->slots[at] = h;
            y->count++;
            return true;
        }
    }
    return false;
}

static bool insert_all(struct young *y, const struct young *from)
{
    bool good = true;
    y->zero   = from->zero;
    for (uint64_t i = 0; good && i < slots_of(from); i++)
        good = from->slots[i] == 0 || insert(y, from->slots[i]);
    return good;
}

static bool has_room(const struct young *y, uint64_t more)
{
    return y->count + more <= slots_of(y) / 8 * 7;
}

bool blm__young_may_take(const struct blm__body *b, uint64_t bytes)
{
    uint64_t held = blm__body_bytes(b) + blm__young_kept(b);
    return b->max_bytes == 0 || (held <= b->max_bytes && bytes <= b->max_bytes - held);
}

/* For `more` hashes. False: it cannot, and nothing has changed. */
static bool make_room(struct blm__body *b, uint64_t more)
{
    struct young *y = young_of(b), wide = *y;
    wide.count = 0;
    wide.shift = y->slots ? y->shift : FIRST_SHIFT;
    wide.slots = NULL;
    while ((y->count + more) > ((uint64_t)1 << (64 - wide.shift)) / 8 * 7)
        wide.shift--;
    uint64_t bytes = (uint64_t)8 << (64 - wide.shift);
    if (!blm__young_may_take(b, bytes) || !blm__block_alloc(b->alloc, bytes, &wide.block))
        return false;
    wide.slots = wide.block.words;
    if (!insert_all(&wide, y)) {
        blm__block_free(b->alloc, &wide.block);
        return false;
    }
    blm__block_free(b->alloc, &y->block);
    *y = wide;
    return true;
}

uint64_t blm__young_count(const struct blm__body *b)
{
    return young_of(b)->count + young_of(b)->zero;
}

static bool has(const struct young *y, uint64_t h)
{
    uint64_t slots = slots_of(y), at = h >> y->shift;
    if (h == 0)
        return y->zero;
    for (uint64_t walked = 0; walked < FARTHEST && walked < slots; walked++) {
        if (y->slots[at] == h || y->slots[at] == 0)
            return y->slots[at] == h;
        at = (at + 1) & (slots - 1);
    }
    return false;
}

size_t blm__young_known(const struct blm__body *b, const uint64_t *h, size_t n)
{
    size_t i = 0;
    while (i < n && has(young_of(b), h[i]))
        i++;
    return i;
}

/* All of them, new to the layer or not: what its bits cover by chance, a larger one's would not. */
void blm__young_keep(struct blm__body *b, const uint64_t *h, size_t n)
{
    struct young *y    = young_of(b);
    bool          good = has_room(y, n) || make_room(b, n);
    for (size_t i = 0; good && i < n; i++) {
        if (i + AHEAD < n)
            BLM__PREFETCH_W(&y->slots[h[i + AHEAD] >> y->shift]);
        good = insert(y, h[i]);
    }
    if (!good)
        blm__young_end(b);
}

void blm__young_copy(struct blm__body *to, const struct blm__body *from)
{
    const struct young *y = young_of(from);
    if (!y)
        return;
    blm__young_begin(to);
    if (blm__young(to) && y->slots && (!make_room(to, y->count) || !insert_all(young_of(to), y)))
        blm__young_end(to);
}

void blm__young_move(struct blm__body *b, const struct blm__mover *m)
{
    struct young *y = young_of(b);
    if (!y)
        return;
    y->slots = blm__moved_block(m, &y->block, y->slots, (size_t)slots_of(y) * 8);
    b->state = blm__moved(m, y);
}

/* ---- growing ---- */

bool blm__young_replaced(const struct blm__shape *earlier, const struct blm__shape *later)
{
    return earlier->scheme->native && earlier->rule == BLM__LINES && later->rule == BLM__LINES &&
           earlier->aux[0] == BLM__HALF && later->aux[0] == BLM__HALF &&
           later->capacity > earlier->capacity;
}

/* Fills the newest layer, its lines nearly in order. */
static void add_kept(struct blm__body *b)
{
    const struct young *y = young_of(b);
    struct blm__layer  *l = &b->layers[b->layer_count - 1];
    uint64_t            h[BLM__BATCH];
    uint8_t             fresh[BLM__BATCH];
    struct blm__keys    k = { .hashes = h };
    if (y->zero)
        h[k.n++] = 0;
    for (uint64_t i = 0, end = slots_of(y); i < end; i++) {
        h[k.n] = y->slots[i];
        k.n += y->slots[i] != 0;
        if (k.n == BLM__BATCH || i + 1 == end) {
            if (k.n)
                l->engine->add(b, l, &k, fresh);
            k.n = 0;
        }
    }
}

bool blm__young_grow(struct blm__body *b, const struct blm__shape *larger)
{
    uint64_t items = blm__layer_items(&b->layers[0]);
    if (!blm__young_may_take(b, blm__shape_words(larger) * 8) ||
        b->store->add_layer(b, larger, NULL) != BLM_OK)
        return false;
    add_kept(b);
    b->store->supplant(b);
    /* Not what was new to the larger layer: a key that its bits cover by chance is a key. */
    blm__layer_recount(&b->layers[0], items);
    if (blm__young_next(larger->capacity) == 0)
        blm__young_end(b);
    return true;
}
