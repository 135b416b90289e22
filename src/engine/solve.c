/* SPDX-License-Identifier: MIT */
#include "engine/solve.h"

#include <string.h>

#include "core/kernel/fuse.h"

/* A key's number stands for it. Of each cell: the numbers of the keys that still have it,
 * exclusive-ored, and how many they are. */
struct solve {
    uint32_t n, cells;
    uint32_t (*cell)[BLM__FUSE_PROBES]; /* by key */
    uint32_t *print;                    /* by key: what its cells must add up to */
    uint32_t *order;                    /* keys by their first cell */
    uint32_t *sum, *count;              /* by cell */
    uint32_t *alone;                    /* a stack of cells that one key has */
    uint32_t *taken_cell, *taken_key;   /* in the order in which they were taken away */
    uint32_t *aside;                    /* keys */
    uint32_t *column;                   /* by cell: its place among those that were not taken … */
    uint32_t  stacked, taken, set_aside, columns;
    uint8_t  *gone; /* by key */
};

#define TAKEN  UINT32_MAX       /* a column: the cell follows from others */
#define NOBODY (UINT32_MAX - 1) /* … no key has the cell */

/* ---- memory ---- */

/* Zeroes; NULL: no memory. A little more than asked for, as the next try may take more. */
static uint64_t *room_for(const blm_allocator *a, struct blm__solve_room *room, unsigned i,
                          uint64_t bytes)
{
    if (room->bytes[i] >= bytes) {
        memset(room->block[i].words, 0, (size_t)bytes);
        return room->block[i].words;
    }
    blm__block_free(a, &room->block[i]);
    room->block[i] = (struct blm__block){ 0 };
    room->bytes[i] = 0;
    if (!blm__block_alloc(a, bytes + bytes / 4, &room->block[i]))
        return NULL;
    room->bytes[i] = bytes + bytes / 4;
    return room->block[i].words;
}

void blm__solve_free(const blm_allocator *a, struct blm__solve_room *room)
{
    for (unsigned i = 0; i < 3; i++)
        blm__block_free(a, &room->block[i]);
}

/* ---- taking away ---- */

static void place(struct solve *s, const struct blm__fuse_keys *k, struct blm__fuse_size size,
                  uint64_t parts, uint32_t bits, uint64_t factor)
{
    struct blm__fuse_part part = blm__fuse_part_of(size.cells, size.segment);
    uint32_t              mask = UINT32_MAX >> (32 - bits), at = 0;
    for (unsigned list = 0; list < 2; list++)
        for (size_t i = 0; i < k->n[list]; i++, at++) {
            struct blm__fuse_key key = blm__fuse_key_of(part, k->of[list][i] * parts, factor);
            s->print[at]             = (uint32_t)(key.print >> (64 - bits)) ^ (list ? mask : 0);
            for (unsigned j = 0; j < BLM__FUSE_PROBES; j++) {
                uint32_t c     = (uint32_t)key.cell[j];
                s->cell[at][j] = c;
                s->sum[c] ^= at;
                s->count[c]++;
            }
        }
}

/* By counting; column[] lends the room. Keys set aside in this order leave what lies before them
 * empty, so that few are. */
static void sort_by_first(struct solve *s)
{
    uint32_t *from = s->column, sum = 0;
    memset(from, 0, s->cells * sizeof *from);
    for (uint32_t i = 0; i < s->n; i++)
        from[s->cell[i][0]]++;
    for (uint32_t c = 0; c < s->cells; c++) {
        uint32_t here = from[c];
        from[c]       = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < s->n; i++)
        s->order[from[s->cell[i][0]]++] = i;
}

static void remove_key(struct solve *s, uint32_t key)
{
    s->gone[key] = 1;
    for (unsigned j = 0; j < BLM__FUSE_PROBES; j++) {
        uint32_t c = s->cell[key][j];
        s->sum[c] ^= key;
        if (--s->count[c] == 1)
            s->alone[s->stacked++] = c; /* once for each cell: counts only fall */
    }
}

static void take_alone(struct solve *s)
{
    while (s->stacked > 0) {
        uint32_t c = s->alone[--s->stacked];
        if (s->count[c] != 1)
            continue; /* its key was taken away by another cell */
        s->taken_cell[s->taken]  = c;
        s->taken_key[s->taken++] = s->sum[c];
        remove_key(s, s->sum[c]);
    }
}

static void take_all(struct solve *s)
{
    for (uint32_t c = 0; c < s->cells; c++)
        if (s->count[c] == 1)
            s->alone[s->stacked++] = c;
    for (uint32_t i = 0; i < s->n; i++) {
        take_alone(s);
        if (!s->gone[s->order[i]]) {
            s->aside[s->set_aside++] = s->order[i];
            remove_key(s, s->order[i]);
        }
    }
    take_alone(s);
}

/* ---- the keys that were set aside ---- */

/* Numbers the cells that were not taken and that some key has. */
static void number_columns(struct solve *s)
{
    for (uint32_t c = 0; c < s->cells; c++)
        s->column[c] = NOBODY;
    for (uint32_t i = 0; i < s->n; i++)
        for (unsigned j = 0; j < BLM__FUSE_PROBES; j++)
            s->column[s->cell[i][j]] = 0;
    for (uint32_t i = 0; i < s->taken; i++)
        s->column[s->taken_cell[i]] = TAKEN;
    for (uint32_t c = 0; c < s->cells; c++)
        if (s->column[c] == 0)
            s->column[c] = s->columns++;
}

/* What a cell, or an equation, is made of: the columns in it, and a value. */
struct sums {
    uint64_t *bits;
    uint32_t *value;
    size_t    words; /* a row */
};

static uint64_t *row(const struct sums *m, uint32_t i) { return m->bits + i * m->words; }

static void add_row(const struct sums *to, uint32_t i, const struct sums *from, uint32_t j)
{
    uint64_t       *a = row(to, i);
    const uint64_t *b = row(from, j);
    for (size_t w = 0; w < to->words; w++)
        a[w] ^= b[w];
    to->value[i] ^= from->value[j];
}

static bool has(const struct sums *m, uint32_t i, uint32_t column)
{
    return row(m, i)[column / 64] >> (column % 64) & 1;
}

static void express_cells(const struct solve *s, const struct sums *cells)
{
    for (uint32_t c = 0; c < s->cells; c++)
        if (s->column[c] < NOBODY)
            row(cells, c)[s->column[c] / 64] |= (uint64_t)1 << (s->column[c] % 64);
    for (uint32_t i = s->taken; i-- > 0;) {
        uint32_t c = s->taken_cell[i], key = s->taken_key[i];
        cells->value[c] = s->print[key];
        for (unsigned j = 0; j < BLM__FUSE_PROBES; j++)
            if (s->cell[key][j] != c)
                add_row(cells, c, cells, s->cell[key][j]);
    }
}

static void express_aside(const struct solve *s, const struct sums *cells, const struct sums *out)
{
    for (uint32_t i = 0; i < s->set_aside; i++) {
        uint32_t key  = s->aside[i];
        out->value[i] = s->print[key];
        for (unsigned j = 0; j < BLM__FUSE_PROBES; j++)
            add_row(out, i, cells, s->cell[key][j]);
    }
}

/* The first column of a row. False: it has none. */
static bool first_column(const struct sums *m, uint32_t i, uint32_t *out)
{
    for (size_t w = 0; w < m->words; w++)
        if (row(m, i)[w]) {
            *out = (uint32_t)(w * 64) + (uint32_t)__builtin_ctzll(row(m, i)[w]);
            return true;
        }
    return false;
}

/* Each row loses the first columns of those before it. False: two of them contradict. */
static bool eliminate(const struct sums *m, uint32_t rows)
{
    for (uint32_t i = 0, column; i < rows; i++) {
        if (!first_column(m, i, &column)) {
            if (m->value[i] != 0)
                return false;
            continue;
        }
        for (uint32_t j = i + 1; j < rows; j++)
            if (has(m, j, column))
                add_row(m, j, m, i);
    }
    return true;
}

/* From the last row to the first: its first column is whatever the others leave. Columns that are
 * nobody's first stay 0. */
static void substitute(const struct sums *m, uint32_t rows, uint32_t *of_column)
{
    for (uint32_t i = rows, column; i-- > 0;) {
        if (!first_column(m, i, &column))
            continue;
        uint32_t v = m->value[i];
        for (size_t w = 0; w < m->words; w++)
            for (uint64_t b = row(m, i)[w]; b; b &= b - 1)
                v ^= of_column[w * 64 + (size_t)__builtin_ctzll(b)];
        of_column[column] = v; /* was 0 */
    }
}

static bool make_sums(const blm_allocator *a, struct blm__solve_room *room, unsigned block,
                      uint64_t rows, uint32_t columns, struct sums *out)
{
    out->words     = columns / 64 + 1;
    uint64_t words = rows * out->words;
    out->bits =
        rows > SIZE_MAX / 32 / out->words ? NULL : room_for(a, room, block, words * 8 + rows * 4);
    out->value = out->bits ? (uint32_t *)(void *)(out->bits + words) : NULL;
    return out->bits != NULL;
}

/* The values of columns, such that the keys set aside have what they need. */
static blm_status solve_aside(const blm_allocator *a, struct blm__solve_room *room, struct solve *s,
                              uint32_t *of_column)
{
    struct sums cells, aside;
    if (!make_sums(a, room, 1, s->cells, s->columns, &cells) ||
        !make_sums(a, room, 2, s->set_aside, s->columns, &aside))
        return BLM_E_MEMORY;
    express_cells(s, &cells);
    express_aside(s, &cells, &aside);
    if (!eliminate(&aside, s->set_aside))
        return BLM__SOLVE_NONE;
    substitute(&aside, s->set_aside, of_column);
    return BLM_OK;
}

/* ---- the whole ---- */

static void set_values(const struct solve *s, const uint32_t *of_column, uint32_t *values)
{
    for (uint32_t c = 0; c < s->cells; c++)
        values[c] = s->column[c] < NOBODY ? of_column[s->column[c]] : 0;
    for (uint32_t i = s->taken; i-- > 0;) {
        uint32_t c = s->taken_cell[i], key = s->taken_key[i], v = s->print[key];
        for (unsigned j = 0; j < BLM__FUSE_PROBES; j++)
            v ^= s->cell[key][j] == c ? 0 : values[s->cell[key][j]];
        values[c] = v;
    }
}

/* All of it from one block. */
static bool make(const blm_allocator *a, struct blm__solve_room *room, uint32_t n, uint32_t cells,
                 struct solve *s)
{
    uint64_t numbers = (uint64_t)n * (BLM__FUSE_PROBES + 5) + (uint64_t)cells * 4;
    *s               = (struct solve){ .n = n, .cells = cells };
    uint32_t *at     = (uint32_t *)(void *)room_for(a, room, 0, numbers * 4 + n);
    if (!at)
        return false;
    s->cell = (uint32_t(*)[BLM__FUSE_PROBES])(void *)at;
    at += (size_t)n * BLM__FUSE_PROBES;
    s->print      = at;
    s->order      = s->print + n;
    s->taken_cell = s->order + n;
    s->taken_key  = s->taken_cell + n;
    s->aside      = s->taken_key + n;
    s->sum        = s->aside + n;
    s->count      = s->sum + cells;
    s->alone      = s->count + cells;
    s->column     = s->alone + cells;
    s->gone       = (uint8_t *)(s->column + cells);
    return true;
}

blm_status blm__solve_part(const blm_allocator *a, struct blm__solve_room *room,
                           const struct blm__fuse_keys *k, struct blm__fuse_size size,
                           uint64_t parts, uint32_t bits, uint64_t factor, uint32_t *values)
{
    struct solve s;
    blm_status   st = BLM_OK;
    if (!make(a, room, (uint32_t)(k->n[0] + k->n[1]), (uint32_t)size.cells, &s))
        return BLM_E_MEMORY;
    place(&s, k, size, parts, bits, factor);
    sort_by_first(&s);
    take_all(&s);
    number_columns(&s);
    uint32_t *of_column = s.sum; /* every key is gone: these are 0 */
    if (s.set_aside)
        st = solve_aside(a, room, &s, of_column);
    if (st == BLM_OK)
        set_values(&s, of_column, values);
    return st;
}
