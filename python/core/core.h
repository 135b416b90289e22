/* SPDX-License-Identifier: MIT */
/* The extension module bloomery._core, on CPython's stable ABI of 3.9. */
#ifndef BLOOMERY_PYTHON_CORE_H
#define BLOOMERY_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include <bloomery.h>

/* Exported by every CPython since 3.3 with this layout, and declared in the stable ABI's headers
 * only since 3.10 and 3.11. */
#if Py_LIMITED_API < 0x030a0000
PyAPI_FUNC(const char *) PyUnicode_AsUTF8AndSize(PyObject *unicode, Py_ssize_t *size);
#endif
#if Py_LIMITED_API < 0x030b0000
typedef struct {
    void       *buf;
    PyObject   *obj;
    Py_ssize_t  len;
    Py_ssize_t  itemsize;
    int         readonly;
    int         ndim;
    char       *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void       *internal;
} Py_buffer;
PyAPI_FUNC(int) PyObject_CheckBuffer(PyObject *obj);
PyAPI_FUNC(int) PyObject_GetBuffer(PyObject *obj, Py_buffer *view, int flags);
PyAPI_FUNC(void) PyBuffer_Release(Py_buffer *view);
#define PyBUF_SIMPLE     0
#define PyBUF_FORMAT     0x0004
#define PyBUF_ND         0x0008
#define PyBUF_STRIDES    (0x0010 | PyBUF_ND)
#define PyBUF_RECORDS_RO (PyBUF_STRIDES | PyBUF_FORMAT)
#endif

/* ---- errors (error.c): each sets a Python exception and returns NULL --- */

PyObject *core_raise(blm_status s, const blm_error *err);
/* A status without a text of its own. */
PyObject *core_raise_status(blm_status s, const char *what);
/* bloomery.errors.make, which turns a status into an exception; set once, by set_errors. */
PyObject *core_set_errors(PyObject *module, PyObject *make);

/* ---- one key (key.c) --- */

/* A key's bytes: inside the Python object where it has them, else in `own` or in the buffer. */
struct core_key {
    const char *data;
    size_t      len;
    char        own[8]; /* an integer: 64 bits, little-endian, as `bloomery -e int64` */
    Py_buffer   view;
    bool        viewed;
};
static inline void core_put_integer(char out[8], uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    memcpy(out, &v, 8); /* one store: the hash reads them as one word a moment later */
}
/* False: a TypeError or OverflowError is set. Give it back with core_key_release. */
bool               core_key_of(PyObject *o, struct core_key *k);
static inline void core_key_release(struct core_key *k)
{
    if (k->viewed)
        PyBuffer_Release(&k->view);
}

/* ---- the filter (filter.c) --- */

/* Who may use the filter now. The GIL guards these fields: a call that keeps the GIL only waits
 * for its turn, one that gives it up registers first. A shared filter's adds count as reading. */
struct core_turn {
    unsigned        readers;
    bool            writer;
    pthread_mutex_t mutex;
    pthread_cond_t  changed;
    uint64_t        ticks;           /* guarded by mutex: calls that ended */
    uint64_t        ticket, serving; /* those who wait, in the order of coming */
    pid_t           pid;
};
void core_turn_init(struct core_turn *t);
void core_turn_destroy(struct core_turn *t);
void core_turn_wait(struct core_turn *t, bool write);
void core_turn_take(struct core_turn *t, bool write);
void core_turn_end(struct core_turn *t, bool write);

typedef struct {
    PyObject_HEAD blm_filter *filter; /* NULL: closed */
    bool                      shared;
    struct core_turn          turn;
} core_filter;

/* Waits until a call that reads (or writes) may run. False: the filter is closed, and ValueError is
 * set. */
bool core_may_read(core_filter *self);
bool core_may_write(core_filter *self);
/* The same, and registers; core_leave takes it back. Between the two the GIL may be given up. */
bool core_enter(core_filter *self, bool write);
/* … behind those who wait already: for batches, whose next part comes at once. */
bool core_enter_in_line(core_filter *self, bool write);
void core_leave(core_filter *self, bool write);
/* An add changes bits; on a shared filter others may meanwhile. */
static inline bool core_add_writes(const core_filter *self) { return !self->shared; }

/* A new object over the filter, which it owns. NULL: an exception is set, and the filter is freed. */
PyObject *core_filter_wrap(PyTypeObject *type, blm_filter *f);

/* ---- built at once (build.c) --- */

PyObject *core_build(PyObject *type, PyObject *args);

/* ---- many keys (batch.c) --- */

PyObject *core_add_many(PyObject *self, PyObject *args);
PyObject *core_check_many(PyObject *self, PyObject *args);
PyObject *core_remove_many(PyObject *self, PyObject *args);

/* ---- figures (facts.c) --- */

PyObject *core_params(PyObject *self, PyObject *none);
PyObject *core_layer(PyObject *self, PyObject *index);
PyObject *core_stats(PyObject *self, PyObject *none);
PyObject *core_fill_map(PyObject *self, PyObject *slices);
PyObject *core_compare(PyObject *self, PyObject *other);
PyObject *core_try_rate(PyObject *self, PyObject *args);
PyObject *core_verify(PyObject *self, PyObject *none);
PyObject *core_calc(PyObject *module, PyObject *options);
PyObject *core_rows(PyObject *module, PyObject *none);

/* Reads a dict of options; strings are borrowed from it. False: an exception is set. */
bool core_options_of(PyObject *dict, blm_options *o);

/* ---- types --- */

extern PyType_Spec core_filter_spec, core_guard_spec;
extern PyObject   *core_filter_type;
core_filter       *core_filter_of(PyObject *o); /* NULL with TypeError if it is none */

#endif
