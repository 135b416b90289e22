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
#include <bloomery/guard.h>

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

/* ---- turns (turn.c) --- */

/* Who may use the filter now. The GIL guards these fields: a call that keeps the GIL only waits
 * for its turn, one that gives it up registers first. A shared filter's adds count as reading. */
struct core_turn {
    unsigned        readers;
    bool            writer;
    bool            mild; /* the writer only sets bits: what it leaves at any moment can be read */
    bool            torn; /* a fork has left it half changed; it stays taken in the child */
    pthread_mutex_t mutex;
    pthread_cond_t  changed;
    uint64_t        ticks;           /* guarded by mutex: calls that ended */
    uint64_t        ticket, serving; /* those who wait, in the order of coming */
    unsigned        forks;           /* core_forks as it was known here */
};
/* Counted in the child of each fork. Calls of threads that it does not have are forgotten then. */
extern unsigned core_forks;
bool            core_watch_forks(void);

void core_turn_init(struct core_turn *t);
void core_turn_destroy(struct core_turn *t);
/* False: it is torn, and BusyError is set. */
bool               core_turn_wait(struct core_turn *t, bool write);
bool               core_turn_take(struct core_turn *t, bool write);
void               core_turn_end(struct core_turn *t, bool write);
bool               core_turn_torn(struct core_turn *t);
bool               core_turn_taken(struct core_turn *t, bool write);
static inline bool core_turn_busy(const struct core_turn *t, bool write)
{
    return t->writer || (write && t->readers > 0);
}

/* ---- the filter (filter.c, and its turns in turn.c) --- */

typedef struct {
    PyObject_HEAD blm_filter *filter; /* NULL: closed */
    bool                      shared;
    bool                      plain;  /* an add sets bits and does nothing else */
    bool                      common; /* of an intersection: its items are the most there can be */
    struct core_turn          turn;
} core_filter;

/* Waits until a call that reads (or writes) may run. False: the filter is closed, and ValueError is
 * set, or torn by a fork: BusyError. */
static inline bool core_may(core_filter *self, bool write)
{
    if (core_turn_busy(&self->turn, write) && !core_turn_wait(&self->turn, write))
        return false;
    if (!self->filter)
        PyErr_SetString(PyExc_ValueError, "the filter is closed");
    return self->filter != NULL;
}
static inline bool core_may_read(core_filter *self) { return core_may(self, false); }
static inline bool core_may_write(core_filter *self) { return core_may(self, true); }
/* The same, behind those who wait already, and registers; core_leave takes it back. Between the two the
 * GIL may be given up. */
bool core_enter(core_filter *self, bool write);
void core_leave(core_filter *self, bool write);
/* Two at once; the other is read. In the order of their addresses, so that threads cannot wait for
 * each other in a ring. */
bool core_enter_both(core_filter *self, bool write, core_filter *other);
void core_leave_both(core_filter *self, bool write, core_filter *other);
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

/* False: an exception is set, since one str or bytes was given where many keys are wanted. */
bool core_is_many(PyObject *keys);

/* An integer from 0 to `most`, or a float that is one (1e6). False: an exception is set. PyArg_Parse's K
 * takes -1 for 2^64-1, and 2^64 for 0. */
bool core_whole(PyObject *value, const char *name, uint64_t most, uint64_t *out);
/* Reads a dict of options; strings are borrowed from it. False: an exception is set. */
bool core_options_of(PyObject *dict, blm_options *o);

/* ---- the callables of a guard (dataset.c) --- */

/* What the library knows of a guard's object. Apart from it, since it may go while a rebuild's thread
 * is still in one of the callables. */
struct core_dataset;
/* Of the tuple (get, put, delete, scan, count, read_mark, write_mark); None: there is no such callable.
 * *d is it for the library. NULL: an exception is set. */
struct core_dataset *core_dataset_of(PyObject *callables, blm_dataset *d);
int  core_dataset_traverse(const struct core_dataset *d, visitproc visit, void *arg);
void core_dataset_free(struct core_dataset *d); /* takes NULL */

/* A call of ours, the callable that it is in, and what one raised during it. A rebuild's thread runs none:
 * there the exception is printed, and the rebuild fails. Never on the C stack, see dataset.c. */
struct core_call {
    const void                *of;      /* the guard */
    const struct core_dataset *puts_to; /* it is a put */
    const struct core_dataset *in;      /* NULL: in the library */
    unsigned                   which;
    PyGILState_STATE           gil;
    struct core_call          *prev, *next;
    unsigned                   forks;
    PyObject                  *type, *value, *trace, *raiser;
};
/* Between the two no Python code may run but the callables. Calls of a thread may end in any order. */
void core_call_begin(struct core_call *c, const void *guard);
/* Raises the callable's own exception, or ours. True: neither. */
bool core_call_end(struct core_call *c, blm_status s, const blm_error *err);

/* Is this thread in a call of the guard? In a put? In one of these callables? In count, or one of the
 * mark's? In any greenlet: if the thread waits, all of them do. */
bool core_in_call(const void *guard);
bool core_in_put(const struct core_dataset *d);
bool core_visited(const struct core_dataset *d);
bool core_visited_by_count(const struct core_dataset *d);
bool core_visited_by_mark(const struct core_dataset *d);

/* ---- guards (guard.c) --- */

PyObject *core_wait_orphans(PyObject *module, PyObject *none);

/* ---- types --- */

extern PyType_Spec core_filter_spec, core_guard_spec;
extern PyObject   *core_filter_type;
core_filter       *core_filter_of(PyObject *o); /* NULL with TypeError if it is none */

#endif
