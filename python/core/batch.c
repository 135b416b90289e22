/* SPDX-License-Identifier: MIT */
/* Many keys in one call: from any iterable, or from a buffer (numpy, array, memoryview) without a
 * Python object per key. Keys go to the library in chunks, the GIL given up around each. */
#include "core.h"

#include <bloomery/embed.h>
#include <stdlib.h>
#include <string.h>

/* CHUNK: what is kept for each key of a chunk stays in the second-level cache. */
enum { CHUNK = 1 << 14, GIL_WORTH = 128 };
/* Of keys that are copied, a chunk is this many bytes, or one key. */
enum { COPIED = 1 << 20 };
/* From this size on the library sorts a batch by the part of the filter it falls into. */
enum { FIXED_CHUNK = 1 << 23 };

enum op { ADD, CHECK, REMOVE };

struct batch {
    core_filter *self;
    enum op      op;
    PyObject    *progress; /* or NULL */
    uint64_t     done, yes, total;
    bool         want;
    uint8_t     *flags; /* one byte a key, where wanted */
    size_t       room;
};

static bool op_writes(const struct batch *b)
{
    return b->op == REMOVE || (b->op == ADD && core_add_writes(b->self));
}

static size_t count_ones(const uint8_t *flags, size_t n)
{
    size_t ones = 0;
    for (size_t i = 0; i < n; i++)
        ones += flags[i];
    return ones;
}

/* A batch in the library's form: keys, hashes of keys, or one buffer of `width` bytes a key. */
struct part {
    const blm_key  *keys;
    const uint64_t *hashes;
    const void     *fixed;
    size_t          width, count;
};

static blm_status apply(const struct batch *b, const struct part *p, uint8_t *flags, size_t *yes)
{
    blm_filter *f    = b->self->filter;
    size_t      done = 0;
    blm_status  s    = BLM_OK;
    *yes             = 0;
    switch (b->op) {
    case CHECK:
        *yes = p->keys     ? blm_check_many(f, p->keys, p->count, flags)
               : p->hashes ? blm_check_hashes(f, p->hashes, p->count, flags)
                           : blm_check_fixed(f, p->fixed, p->width, p->count, flags);
        break;
    case ADD:
        s    = p->keys     ? blm_add_many(f, p->keys, p->count, flags, &done)
               : p->hashes ? blm_add_hashes(f, p->hashes, p->count, flags, &done)
                           : blm_add_fixed(f, p->fixed, p->width, p->count, flags, &done);
        *yes = count_ones(flags, done);
        break;
    case REMOVE:
        s = p->keys ? blm_remove_many(f, p->keys, p->count, flags, yes)
                    : blm_remove_fixed(f, p->fixed, p->width, p->count, flags, yes);
        break;
    }
    return s;
}

static bool run(struct batch *b, const struct part *p)
{
    uint8_t *flags = b->flags + (b->want ? b->done : 0);
    bool     write = op_writes(b);
    bool     worth = p->count >= GIL_WORTH || b->total >= GIL_WORTH;
    size_t   yes   = 0;
    if (!core_enter(b->self, write))
        return false;
    b->self->turn.mild = b->op == ADD && b->self->plain;
    blm_status s;
    if (!worth) {
        s = apply(b, p, flags, &yes);
    } else {
        Py_BEGIN_ALLOW_THREADS s = apply(b, p, flags, &yes);
        Py_END_ALLOW_THREADS
    }
    core_leave(b->self, write);
    b->yes += yes;
    b->done += p->count;
    if (s < 0) {
        core_raise_status(s, NULL);
        return false;
    }
    if (worth && PyErr_CheckSignals() < 0)
        return false;
    if (b->progress) {
        PyObject *r = b->total ? PyObject_CallFunction(b->progress, "KK", b->done, b->total)
                               : PyObject_CallFunction(b->progress, "KO", b->done, Py_None);
        if (!r)
            return false;
        bool stop = r == Py_False;
        Py_DECREF(r);
        if (stop) {
            core_raise_status(BLM_E_CANCELLED, NULL);
            return false;
        }
    }
    return true;
}

/* Room for the flags of `more` keys. */
static bool reserve(struct batch *b, size_t more)
{
    size_t need = b->want ? (size_t)b->done + more : more;
    if (need <= b->room)
        return true;
    size_t   room  = b->want && need < 2 * b->room ? 2 * b->room : need;
    uint8_t *grown = realloc(b->flags, room);
    if (!grown) {
        PyErr_NoMemory();
        return false;
    }
    b->flags = grown;
    b->room  = room;
    return true;
}

/* ---- objects --- */

struct objects {
    blm_key *keys;
    char (*own)[8];  /* integers */
    PyObject **held; /* a reference for each key, or NULL where the source holds them */
    size_t     count;
};

/* Takes the reference to o over. */
static bool take(struct objects *c, PyObject *o)
{
    blm_key        *to = &c->keys[c->count];
    struct core_key k;
    if (Py_TYPE(o) == &PyUnicode_Type) {
        Py_ssize_t len;
        to->data            = PyUnicode_AsUTF8AndSize(o, &len);
        to->len             = (size_t)len;
        c->held[c->count++] = o;
        return to->data != NULL;
    }
    if (!core_key_of(o, &k)) {
        Py_DECREF(o);
        return false;
    }
    to->len = k.len;
    if (k.data == k.own) {
        memcpy(c->own[c->count], k.own, 8);
        to->data = c->own[c->count];
    } else if (k.viewed) { /* somebody may change or free it while the GIL is given up */
        PyObject *copy = PyBytes_FromStringAndSize(k.data, (Py_ssize_t)k.len);
        core_key_release(&k);
        Py_DECREF(o);
        if (!copy)
            return false;
        to->data            = PyBytes_AsString(copy);
        c->held[c->count++] = copy;
        return true;
    } else {
        to->data = k.data;
    }
    c->held[c->count++] = o;
    return true;
}

static void let_go(struct objects *c)
{
    while (c->count > 0)
        Py_DECREF(c->held[--c->count]);
}

static bool run_objects(struct batch *b, PyObject *iterable)
{
    PyObject *it = PyObject_GetIter(iterable);
    if (!it)
        return false;
    Py_ssize_t hint = PyObject_Size(iterable);
    if (hint < 0) {
        PyErr_Clear();
        hint = 0;
    }
    b->total             = hint > 0 ? b->done + (uint64_t)hint : 0;
    size_t         chunk = hint > 0 && hint < CHUNK ? (size_t)hint : CHUNK;
    struct objects c     = { .keys = malloc(chunk * sizeof *c.keys),
                             .own  = malloc(chunk * sizeof *c.own),
                             .held = malloc(chunk * sizeof(PyObject *)) };
    bool           good  = c.keys && c.own && c.held;
    if (!good)
        PyErr_NoMemory();
    for (bool more = true; good && more;) {
        PyObject *o = PyIter_Next(it);
        if (o) {
            good = take(&c, o);
        } else {
            more = false;
            good = !PyErr_Occurred();
        }
        if (good && c.count > 0 && (c.count == chunk || !more)) {
            good =
                reserve(b, c.count) && run(b, &(struct part){ .keys = c.keys, .count = c.count });
            let_go(&c);
        }
    }
    let_go(&c);
    free(c.held);
    free(c.own);
    free(c.keys);
    Py_DECREF(it);
    return good;
}

/* ---- lists --- */

/* A list or tuple of str, bytes and int is hashed in place, with the GIL: the references of the list
 * are enough then, and of each object only its bytes are read. What is left of a key is eight bytes, and
 * the filter is asked without the GIL. What this costs is mostly objects that are far away in memory,
 * so they are asked for AHEAD of time. A list of 10^6 str of 31 bytes, count_many, ns a key: 22 by
 * iterator and references, 17.4 with groups of 64, 15.7 with 256, no less with more. Reading the
 * first word of each object and nothing else takes 7. */
enum { GROUP = 256, AHEAD = 32 };

struct items {
    PyObject *list;
    PyObject *(*at)(PyObject *list, Py_ssize_t i);
    Py_ssize_t (*size)(PyObject *list);
};

/* 1: *k is the key's bytes, and no Python code was run; 0: it is of another type; -1: it has none. */
static int plain_key(PyObject *o, blm_key *k, char own[8])
{
    const PyTypeObject *type = Py_TYPE(o);
    Py_ssize_t          len;
    if (type == &PyUnicode_Type) {
        k->data = PyUnicode_AsUTF8AndSize(o, &len);
        k->len  = (size_t)len;
        return k->data ? 1 : -1;
    }
    if (type == &PyBytes_Type) {
        k->data = PyBytes_AsString(o);
        k->len  = (size_t)PyBytes_Size(o);
        return 1;
    }
    if (type == &PyLong_Type) {
        int      overflow;
        uint64_t v = (uint64_t)PyLong_AsLongLongAndOverflow(o, &overflow);
        core_put_integer(own, v);
        *k = (blm_key){ own, 8 };
        return !overflow;
    }
    return 0;
}

/* Hashes up to `count` items from `first`. Returns how many; fewer: the next is of another type, or
 * has no bytes (then *good is false). Nothing here gives the GIL up, so borrowed pointers stay good. */
static size_t hash_items(const struct items *s, const blm_filter *f, size_t first, size_t count,
                         uint64_t *hashes, bool *good)
{
    blm_key   keys[GROUP];
    char      own[GROUP][8];
    PyObject *next[AHEAD];
    size_t    done = 0;
    for (size_t i = 0; i < AHEAD && i < count; i++)
        next[i] = s->at(s->list, (Py_ssize_t)(first + i));
    for (int kind = 1; done < count && kind == 1;) {
        size_t n = 0, here = count - done < GROUP ? count - done : GROUP;
        for (; n < here; n++) {
            size_t    i = done + n;
            PyObject *o = next[i % AHEAD];
            if (i + AHEAD < count) {
                PyObject *later = s->at(s->list, (Py_ssize_t)(first + i + AHEAD));
                __builtin_prefetch(later);
                __builtin_prefetch((const char *)later + 64);
                next[i % AHEAD] = later;
            }
            kind = plain_key(o, &keys[n], own[n]);
            if (kind != 1)
                break;
        }
        *good = kind >= 0;
        if (n > 0 && blm_hash_many(f, keys, n, hashes + done) < 0)
            return 0; /* a scheme without hashes of 64 bits */
        done += n;
    }
    return done;
}

/* Runs the items from b->done on until the end, or until one that needs run_objects. */
static bool run_items(struct batch *b, const struct items *s)
{
    size_t    size   = (size_t)s->size(s->list);
    uint64_t *hashes = malloc((size < CHUNK ? size : CHUNK) * sizeof *hashes + 1);
    bool      good = hashes != NULL, more = true;
    b->total = size;
    if (!good)
        PyErr_NoMemory();
    while (good && more) {
        good          = core_may_read(b->self);
        size          = (size_t)s->size(s->list); /* others may have changed it meanwhile */
        size_t left   = size > b->done ? size - (size_t)b->done : 0;
        size_t wanted = left < CHUNK ? left : CHUNK, n = 0;
        if (wanted > b->total)
            wanted = (size_t)b->total; /* there is room for so many */
        if (good)
            n = hash_items(s, b->self->filter, (size_t)b->done, wanted, hashes, &good);
        if (good && n > 0)
            good = reserve(b, n) && run(b, &(struct part){ .hashes = hashes, .count = n });
        more = n > 0 && n == wanted;
    }
    free(hashes);
    return good;
}

static bool run_sequence(struct batch *b, PyObject *keys)
{
    struct items s = { .list = keys };
    if (Py_TYPE(keys) == &PyList_Type)
        s = (struct items){ keys, PyList_GetItem, PyList_Size };
    else if (Py_TYPE(keys) == &PyTuple_Type)
        s = (struct items){ keys, PyTuple_GetItem, PyTuple_Size };
    if (!s.at || b->op == REMOVE)
        return run_objects(b, keys);
    if (!run_items(b, &s))
        return false;
    Py_ssize_t size = s.size(keys);
    if (b->done >= (uint64_t)size)
        return true;
    PyObject *rest = PySequence_GetSlice(keys, (Py_ssize_t)b->done, size);
    bool      good = rest && run_objects(b, rest);
    Py_XDECREF(rest);
    return good;
}

/* ---- buffers --- */

enum element {
    OTHER,
    OBJECTS,
    SIGNED,
    UNSIGNED,
    PADDED, /* bytes of one width; trailing NULs are padding, as numpy reads dtype S */
    TEXT,   /* UCS-4 of one width, padded likewise: dtype U */
    WHOLE   /* bytes of one width, all of them the key: dtype V, or rows of bytes */
};

struct array {
    enum element   what;
    const uint8_t *base;
    Py_ssize_t     stride, step; /* from key to key, and from byte to byte of a row */
    size_t         width, count;
    bool           swapped; /* the numbers are in the other byte order */
};

static bool big_endian(void)
{
    const uint16_t one = 1;
    uint8_t        first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* ctypes leaves the strides out, though they are asked for: its arrays are dense. */
static Py_ssize_t stride_of(const Py_buffer *v, int dimension)
{
    if (v->strides)
        return v->strides[dimension];
    return dimension + 1 < v->ndim ? v->shape[1] * v->itemsize : v->itemsize;
}

static struct array array_of(const Py_buffer *v)
{
    struct array a      = { .what = OTHER, .step = 1 };
    const char  *format = v->format ? v->format : "B";
    bool         big    = big_endian();
    if (*format == '>' || *format == '!')
        big = true, format++;
    else if (*format == '<')
        big = false, format++;
    else if (*format == '@' || *format == '=')
        format++;
    bool counted = *format >= '0' && *format <= '9';
    while (*format >= '0' && *format <= '9')
        format++;
    char code = *format;
    if (!code || format[1] || v->ndim < 1 || v->ndim > 2 || !v->shape)
        return a;
    a.base    = v->buf;
    a.count   = (size_t)v->shape[0];
    a.stride  = stride_of(v, 0);
    a.width   = (size_t)v->itemsize;
    a.swapped = big != big_endian();
    if (v->ndim == 2) {
        if (v->itemsize == 1 && strchr("bBc", code)) {
            a.what  = WHOLE;
            a.width = (size_t)v->shape[1];
            a.step  = a.width > 1 ? stride_of(v, 1) : 1;
        }
        return a;
    }
    bool whole = a.width == 1 || a.width == 2 || a.width == 4 || a.width == 8;
    if (code == 'O')
        a.what = OBJECTS;
    else if (code == 's')
        a.what = PADDED;
    else if (code == 'w')
        a.what = TEXT;
    else if (code == 'x' || code == 'c') /* c: one byte, which may be NUL */
        a.what = WHOLE;
    else if (!counted && whole && strchr("bhilqn", code))
        a.what = SIGNED;
    else if (!counted && whole && strchr("?BHILQN", code))
        a.what = UNSIGNED;
    return a;
}

static uint64_t integer_at(const struct array *a, const uint8_t *p)
{
    uint8_t bytes[8] = { 0 }; /* little-endian */
    bool    reverse  = a->swapped != big_endian();
    for (size_t i = 0; i < a->width; i++)
        bytes[i] = p[reverse ? a->width - 1 - i : i];
    if (a->what == SIGNED && a->width < 8 && bytes[a->width - 1] & 0x80)
        memset(bytes + a->width, 0xFF, 8 - a->width);
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++)
        v |= (uint64_t)bytes[i] << (8 * i);
    return v;
}

static bool run_dense(struct batch *b, const struct array *a)
{
    for (size_t at = 0; at < a->count; at += FIXED_CHUNK) {
        size_t      n = a->count - at < FIXED_CHUNK ? a->count - at : FIXED_CHUNK;
        struct part p = { .fixed = a->base + at * a->width, .width = a->width, .count = n };
        if (!run(b, &p))
            return false;
    }
    return true;
}

static bool run_integers(struct batch *b, const struct array *a)
{
    if (a->width == 8 && a->stride == 8 && !a->swapped && !big_endian())
        return run_dense(b, a);
    char(*wide)[8] = malloc(CHUNK * sizeof *wide);
    bool good      = wide != NULL;
    if (!good)
        PyErr_NoMemory();
    for (size_t at = 0; good && at < a->count; at += CHUNK) {
        size_t n = a->count - at < CHUNK ? a->count - at : CHUNK;
        for (size_t i = 0; i < n; i++) {
            uint64_t v = integer_at(a, a->base + (Py_ssize_t)(at + i) * a->stride);
            core_put_integer(wide[i], v);
        }
        good = run(b, &(struct part){ .fixed = wide, .width = 8, .count = n });
    }
    free(wide);
    return good;
}

static size_t utf8_of(uint32_t c, char *to)
{
    if (c < 0x80)
        return to[0] = (char)c, 1;
    if (c < 0x800)
        return to[0] = (char)(0xC0 | c >> 6), to[1] = (char)(0x80 | (c & 0x3F)), 2;
    if (c < 0x10000)
        return to[0] = (char)(0xE0 | c >> 12), to[1] = (char)(0x80 | (c >> 6 & 0x3F)),
               to[2] = (char)(0x80 | (c & 0x3F)), 3;
    return to[0] = (char)(0xF0 | c >> 18), to[1] = (char)(0x80 | (c >> 12 & 0x3F)),
           to[2] = (char)(0x80 | (c >> 6 & 0x3F)), to[3] = (char)(0x80 | (c & 0x3F)), 4;
}

/* The UTF-8 of one str, without the NULs behind it: a code point takes no more than its four bytes here. */
static bool text_key(const struct array *a, const uint8_t *p, char *text, blm_key *k)
{
    size_t out = 0, whole = 0;
    for (size_t i = 0; i + 4 <= a->width; i += 4) {
        uint32_t c;
        memcpy(&c, p + i, 4);
        if (a->swapped)
            c = c >> 24 | (c >> 8 & 0xFF00) | (c << 8 & 0xFF0000) | c << 24;
        if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
            PyErr_SetString(PyExc_ValueError, "a str in the array holds a lone surrogate, which "
                                              "has no UTF-8 form");
            return false;
        }
        out += utf8_of(c, text + out);
        if (c)
            whole = out;
    }
    *k = (blm_key){ text, whole };
    return true;
}

/* Are the keys elsewhere than in the array? */
static bool is_copied(const struct array *a) { return a->what == TEXT || a->step != 1; }

/* The key of one element of fixed width. `room` is for a.width bytes, where it is copied. */
static bool element_key(const struct array *a, const uint8_t *p, char *room, blm_key *k)
{
    size_t len = a->width;
    if (a->what == TEXT)
        return text_key(a, p, room, k);
    for (size_t i = 0; a->step != 1 && i < len; i++)
        room[i] = (char)p[(Py_ssize_t)i * a->step];
    while (a->what == PADDED && len > 0 && p[len - 1] == 0)
        len--;
    *k = (blm_key){ a->step == 1 ? (const char *)p : room, len };
    return true;
}

static size_t chunk_of(const struct array *a)
{
    size_t chunk = CHUNK;
    if (is_copied(a) && a->width > COPIED / CHUNK)
        chunk = a->width < COPIED ? COPIED / a->width : 1;
    return chunk < a->count ? chunk : a->count;
}

static bool run_elements(struct batch *b, const struct array *a)
{
    if (a->what == WHOLE && a->width > 0 && a->step == 1 && a->stride == (Py_ssize_t)a->width)
        return run_dense(b, a);
    bool     copied = is_copied(a);
    size_t   chunk  = chunk_of(a);
    blm_key *keys   = malloc(chunk * sizeof *keys + 1);
    char    *text   = malloc(copied ? chunk * a->width + 1 : 1);
    bool     good   = keys && text;
    if (!good)
        PyErr_NoMemory();
    for (size_t at = 0; good && at < a->count; at += chunk) {
        size_t n = a->count - at < chunk ? a->count - at : chunk;
        for (size_t i = 0; good && i < n; i++) {
            char *room = copied ? text + i * a->width : text;
            good       = element_key(a, a->base + (Py_ssize_t)(at + i) * a->stride, room, &keys[i]);
        }
        good = good && run(b, &(struct part){ .keys = keys, .count = n });
    }
    free(text);
    free(keys);
    return good;
}

static bool run_buffer(struct batch *b, PyObject *o, bool *objects)
{
    Py_buffer v;
    *objects = false;
    if (PyObject_GetBuffer(o, &v, PyBUF_RECORDS_RO) < 0)
        return false;
    struct array a    = array_of(&v);
    bool         good = false;
    b->total          = a.count;
    switch (a.what) {
    case OBJECTS:
        *objects = true;
        break;
    case SIGNED:
    case UNSIGNED:
        good = reserve(b, a.count) && run_integers(b, &a);
        break;
    case PADDED:
    case TEXT:
    case WHOLE:
        good = reserve(b, a.count) && run_elements(b, &a);
        break;
    case OTHER:
        PyErr_Format(PyExc_TypeError,
                     "an array of format '%s' and %d dimension(s) has no keys: integers, bytes "
                     "(dtype S or V) or str (dtype U) in one dimension, or bytes in two, one row a "
                     "key",
                     v.format ? v.format : "B", v.ndim);
        break;
    }
    PyBuffer_Release(&v);
    return good;
}

/* Where nearly all answers are the same, one answer is repeated and the others are put in: 2.4 ns a
 * key in place of 3.7. */
static PyObject *list_of(const uint8_t *flags, size_t n)
{
    size_t    ones = count_ones(flags, n);
    bool      most = ones > n / 2, same = (most ? n - ones : ones) < n / 16;
    PyObject *usual = most ? Py_True : Py_False, *other = most ? Py_False : Py_True;
    PyObject *list = PyList_New(same ? 1 : (Py_ssize_t)n);
    for (size_t i = 0; list && i < (same ? 1 : n); i++) {
        PyObject *v = same || flags[i] == most ? usual : other;
        Py_INCREF(v);
        PyList_SetItem(list, (Py_ssize_t)i, v);
    }
    if (!list || !same)
        return list;
    PyObject *all = PySequence_Repeat(list, (Py_ssize_t)n);
    Py_DECREF(list);
    const uint8_t *end = flags + n;
    for (const uint8_t *at = flags; all && (at = memchr(at, !most, (size_t)(end - at))); at++) {
        Py_INCREF(other);
        PyList_SetItem(all, at - flags, other);
    }
    return all;
}

bool core_is_many(PyObject *keys)
{
    if (!PyUnicode_Check(keys) && !PyBytes_Check(keys) && !PyByteArray_Check(keys))
        return true;
    PyErr_SetString(PyExc_TypeError, "this call takes many keys, and was given one str or "
                                     "bytes; put it into a list, or use the call for one key");
    return false;
}

/* (keys, want, progress) -> how many were "yes" (want 0), a bytearray of 0 and 1 (1), or a list of
 * bool (2) */
static PyObject *many(PyObject *self, PyObject *args, enum op op)
{
    PyObject    *keys, *progress;
    int          want;
    struct batch b = { .self = (core_filter *)self, .op = op };
    if (!PyArg_ParseTuple(args, "OiO", &keys, &want, &progress))
        return NULL;
    b.want     = want != 0;
    b.progress = progress == Py_None ? NULL : progress;
    if (!core_is_many(keys))
        return NULL;
    bool objects = true, good = true;
    if (PyObject_CheckBuffer(keys))
        good = run_buffer(&b, keys, &objects);
    if (objects)
        good = run_sequence(&b, keys);
    PyObject *result = NULL;
    if (good && want == 0)
        result = PyLong_FromUnsignedLongLong(b.yes);
    else if (good && want == 1)
        result = PyByteArray_FromStringAndSize(b.flags ? (char *)b.flags : "", (Py_ssize_t)b.done);
    else if (good)
        result = list_of(b.flags, (size_t)b.done);
    free(b.flags);
    return result;
}

PyObject *core_add_many(PyObject *self, PyObject *args) { return many(self, args, ADD); }

PyObject *core_check_many(PyObject *self, PyObject *args) { return many(self, args, CHECK); }

PyObject *core_remove_many(PyObject *self, PyObject *args) { return many(self, args, REMOVE); }
