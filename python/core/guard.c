/* SPDX-License-Identifier: MIT */
/* bloomery._core.Guard: a guard over Python callables, which dataset.c calls. No lock of the guard is ever
 * waited for with the GIL held. */
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LONGEST_SLICE = 20000000 }; /* nanoseconds between two looks at a rebuild */

typedef struct {
    PyObject_HEAD blm_guard *guard; /* NULL: closed */
    struct core_dataset     *data;
    struct core_turn         turn; /* a call of the guard reads, close writes */
    unsigned         closing;      /* threads in close() that wait for the others' calls to end */
    struct core_call life;         /* opens it, closes it: an end needs no memory */
} core_guard;

#define WITHOUT_GIL(statement)            \
    do {                                  \
        Py_BEGIN_ALLOW_THREADS statement; \
        Py_END_ALLOW_THREADS              \
    } while (0)

/* Is this thread in a call of the guard, or its rebuild in a callable? */
static bool is_inside(const core_guard *self)
{
    return core_in_call(self) || (self->data && core_visited(self->data));
}

/* Who waits for the end of either there waits for itself. True: RuntimeError is set. */
static bool waits_for_itself(const core_guard *self, const char *what)
{
    if (!is_inside(self))
        return false;
    PyErr_Format(PyExc_RuntimeError, "%s inside a call of the same guard would wait for itself",
                 what);
    return true;
}

/* The library has locked the mark while it reads or writes it. */
static bool in_a_mark(const core_guard *self, const char *what)
{
    return core_visited_by_mark(self->data) && waits_for_itself(self, what);
}

/* A rebuild waits for the puts that are under way. */
static bool in_a_put(const core_guard *self)
{
    return core_in_put(self->data) && waits_for_itself(self, "build");
}

/* It does so after count, and whether another greenlet's put will have ended by then is not known. */
static bool in_count(const core_guard *self)
{
    if (!core_visited_by_count(self->data))
        return false;
    PyErr_SetString(PyExc_RuntimeError,
                    "put inside count of the same guard: the rebuild may wait for it, "
                    "and so for itself");
    return true;
}

/* NULL: an exception is set. */
static struct core_call *enter(core_guard *self)
{
    if (!core_turn_wait(&self->turn, false))
        return NULL;
    if (!self->guard || (self->closing && !is_inside(self))) {
        PyErr_SetString(PyExc_ValueError, "the guard is closed");
        return NULL;
    }
    struct core_call *c = PyMem_Malloc(sizeof *c);
    if (!c) {
        PyErr_NoMemory();
        return NULL;
    }
    core_turn_take(&self->turn, false);
    core_call_begin(c, self);
    return c;
}

/* In the child of a callable that forked, the turn has forgotten this call. */
static bool leave(core_guard *self, struct core_call *c, blm_status s, const blm_error *err)
{
    if (c->forks == core_forks)
        core_turn_end(&self->turn, false);
    bool good = core_call_end(c, s, err);
    PyMem_Free(c);
    return good;
}

/* ---- life --- */

struct orphan {
    blm_guard           *guard;
    struct core_dataset *data;
};

static unsigned orphans, orphans_forks; /* being closed; in a process that had forked so often */

static void *close_orphan(void *arg)
{
    struct orphan *o = arg;
    blm_error      err;
    blm_guard_close(o->guard, &err);
    PyGILState_STATE gil = PyGILState_Ensure();
    core_dataset_free(o->data);
    free(o);
    orphans--;
    PyGILState_Release(gil);
    return NULL;
}

/* Before the interpreter ends: no thread may come back to it then. */
PyObject *core_wait_orphans(PyObject *module, PyObject *none)
{
    struct timespec slice = { .tv_nsec = 1000000 };
    (void)module;
    (void)none;
    while (orphans > 0 && orphans_forks == core_forks) {
        WITHOUT_GIL(nanosleep(&slice, NULL));
        if (PyErr_CheckSignals() < 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

/* The object's end came in its rebuild's own thread, where the collector can run as anywhere. To close
 * the guard is to wait for that thread, so another one does it. */
static void close_elsewhere(blm_guard *g, struct core_dataset *d)
{
    struct orphan *o = malloc(sizeof *o);
    pthread_t      thread;
    if (!o)
        return; /* it stays open */
    *o = (struct orphan){ g, d };
    if (pthread_create(&thread, NULL, close_orphan, o) != 0) {
        free(o);
        return;
    }
    pthread_detach(thread);
    orphans       = orphans_forks == core_forks ? orphans + 1 : 1;
    orphans_forks = core_forks;
}

/* The guard is open. Others find it closed from now on. The caller ends the call, which is self->life, and
 * frees the callables last: a rebuild may have been calling them, and finalizers may run. */
static struct core_dataset *close_now(core_guard *self, blm_status *s, blm_error *err)
{
    blm_guard           *g = self->guard;
    struct core_dataset *d = self->data;
    self->guard            = NULL;
    self->data             = NULL;
    core_call_begin(&self->life, self);
    WITHOUT_GIL(*s = blm_guard_close(g, err));
    return d;
}

/* _open((get, put, delete, scan, count, read_mark, write_mark), options, flags, path, filter) */
static PyObject *guard_open(PyObject *o, PyObject *args)
{
    PyTypeObject     *type = (PyTypeObject *)o;
    PyObject         *callables, *items, *path, *filter, *held = NULL;
    double            rate, stale_share, rate_factor;
    unsigned int      flags;
    blm_options       fo = BLM_OPTIONS_INIT;
    blm_guard_options go = BLM_GUARD_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "O!OdddIOO!", &PyTuple_Type, &callables, &items, &rate,
                          &stale_share, &rate_factor, &flags, &path, &PyDict_Type, &filter))
        return NULL;
    if (!core_whole(items, "items", UINT64_MAX, &go.items) || !core_options_of(filter, &fo))
        return NULL;
    if (path != Py_None) {
        if (!PyUnicode_FSConverter(path, &held))
            return NULL;
        go.path = PyBytes_AsString(held);
    }
    go.rate = rate, go.flags = flags;
    go.stale_share = stale_share, go.rate_factor = rate_factor;
    go.filter = PyDict_Size(filter) > 0 ? &fo : NULL;

    core_guard *self = (core_guard *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) {
        Py_XDECREF(held);
        return NULL;
    }
    core_turn_init(&self->turn);
    blm_dataset d;
    self->data = core_dataset_of(callables, &d);
    if (!self->data) {
        Py_XDECREF(held);
        Py_DECREF(self);
        return NULL;
    }
    blm_error  err   = { .text = "" };
    blm_guard *guard = NULL;
    blm_status s;
    core_call_begin(&self->life, self);
    WITHOUT_GIL(s = blm_guard_open(&go, &d, &guard, &err));
    bool good   = core_call_end(&self->life, s, &err);
    self->guard = guard;
    Py_XDECREF(held);
    if (!good)
        Py_CLEAR(self);
    return (PyObject *)self;
}

/* Until no other thread is in a call of the guard. Calls that come now are refused: else one thread that
 * calls again and again would keep it open for ever. Not in line, where nobody hears a signal: a callable
 * may never come back, and then Ctrl-C must. */
static bool others_have_left(core_guard *self)
{
    struct timespec slice = { .tv_nsec = 1000000 };
    bool            good  = true;
    self->closing++;
    while (good && core_turn_taken(&self->turn, true)) {
        WITHOUT_GIL(nanosleep(&slice, NULL));
        good = PyErr_CheckSignals() == 0;
    }
    self->closing--;
    return good;
}

static PyObject *guard_close(PyObject *o, PyObject *none)
{
    core_guard *self = (core_guard *)o;
    blm_error   err  = { .text = "" };
    blm_status  s    = BLM_OK;
    (void)none;
    if (self->guard && waits_for_itself(self, "close"))
        return NULL;
    if (!others_have_left(self))
        return NULL;
    if (self->guard) {
        struct core_dataset *rest = close_now(self, &s, &err);
        bool                 good = core_call_end(&self->life, s, &err);
        core_dataset_free(rest);
        if (!good)
            return NULL;
    }
    Py_RETURN_NONE;
}

static int guard_traverse(PyObject *o, visitproc visit, void *arg)
{
    core_guard *self = (core_guard *)o;
    int         stop = core_dataset_traverse(self->data, visit, arg);
    if (stop)
        return stop;
    Py_VISIT(Py_TYPE(o));
    return 0;
}

/* Nobody is told how it went, so what a callable raises is printed. */
static int guard_clear(PyObject *o)
{
    core_guard          *self = (core_guard *)o;
    struct core_dataset *rest = self->data;
    PyObject            *type, *value, *trace;
    blm_error            err = { .text = "" };
    blm_status           unheard;
    PyErr_Fetch(&type, &value, &trace); /* of whoever let the object go */
    if (self->guard && core_visited(self->data)) {
        close_elsewhere(self->guard, self->data);
        self->guard = NULL;
        rest        = NULL;
    } else if (self->guard) {
        close_now(self, &unheard, &err);
        if (!core_call_end(&self->life, BLM_OK, &err))
            PyErr_WriteUnraisable(NULL);
    }
    self->data = NULL;
    core_dataset_free(rest);
    PyErr_Restore(type, value, trace);
    return 0;
}

static void guard_dealloc(PyObject *o)
{
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    guard_clear(o);
    core_turn_destroy(&((core_guard *)o)->turn);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

/* ---- calls --- */

struct value {
    char  *bytes;
    size_t len;
};

static bool keep_value(void *ctx, const void *bytes, size_t len)
{
    struct value *v     = ctx;
    char         *grown = realloc(v->bytes, v->len + len + 1);
    if (!grown)
        return false;
    memcpy(grown + v->len, bytes, len);
    v->bytes = grown;
    v->len += len;
    return true;
}

static PyObject *guard_get(PyObject *o, PyObject *key)
{
    core_guard     *self = (core_guard *)o;
    struct core_key k;
    struct value    v   = { 0 };
    blm_error       err = { .text = "" };
    blm_status      s   = BLM_OK;
    if (!core_key_of(key, &k))
        return NULL;
    struct core_call *c = enter(self);
    if (!c) {
        core_key_release(&k);
        return NULL;
    }
    WITHOUT_GIL(s = blm_guard_get(self->guard, k.data, k.len, keep_value, &v, &err));
    bool good = leave(self, c, s, &err);
    core_key_release(&k);
    PyObject *row = NULL;
    if (good) {
        if (s == BLM_E_ABSENT) {
            row = Py_None;
            Py_INCREF(row);
        } else {
            row = PyBytes_FromStringAndSize(v.bytes ? v.bytes : "", (Py_ssize_t)v.len);
        }
    }
    free(v.bytes);
    return row;
}

static PyObject *guard_put(PyObject *o, PyObject *args)
{
    core_guard       *self = (core_guard *)o;
    PyObject         *key;
    Py_buffer         v;
    struct core_key   k;
    struct core_call *c   = NULL;
    blm_error         err = { .text = "" };
    blm_status        s   = BLM_OK;
    PyObject         *value;
    if (!PyArg_ParseTuple(args, "OO", &key, &value) ||
        PyObject_GetBuffer(value, &v, PyBUF_SIMPLE) < 0)
        return NULL;
    bool good = core_key_of(key, &k);
    if (good && (in_a_mark(self, "put") || in_count(self) || !(c = enter(self)))) {
        core_key_release(&k);
        good = false;
    }
    if (good) {
        c->puts_to = self->data;
        WITHOUT_GIL(s = blm_guard_put(self->guard, k.data, k.len, v.buf, (size_t)v.len, &err));
        good = leave(self, c, s, &err);
        core_key_release(&k);
    }
    PyBuffer_Release(&v);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *guard_delete(PyObject *o, PyObject *key)
{
    core_guard     *self = (core_guard *)o;
    struct core_key k;
    blm_error       err = { .text = "" };
    blm_status      s   = BLM_OK;
    if (!core_key_of(key, &k))
        return NULL;
    struct core_call *c = in_a_mark(self, "delete") ? NULL : enter(self);
    if (!c) {
        core_key_release(&k);
        return NULL;
    }
    WITHOUT_GIL(s = blm_guard_delete(self->guard, k.data, k.len, &err));
    bool good = leave(self, c, s, &err);
    core_key_release(&k);
    return good ? PyBool_FromLong(s == BLM_OK) : NULL;
}

static PyObject *note(PyObject *o, PyObject *key, void (*fn)(blm_guard *, const void *, size_t))
{
    core_guard     *self = (core_guard *)o;
    struct core_key k;
    if (!core_key_of(key, &k))
        return NULL;
    struct core_call *c    = enter(self);
    bool              good = c != NULL;
    if (good) {
        WITHOUT_GIL(fn(self->guard, k.data, k.len));
        good = leave(self, c, BLM_OK, NULL);
    }
    core_key_release(&k);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *guard_note_put(PyObject *o, PyObject *key)
{
    return in_a_mark((core_guard *)o, "note_put") ? NULL : note(o, key, blm_guard_note_put);
}

static PyObject *guard_note_delete(PyObject *o, PyObject *key)
{
    return note(o, key, blm_guard_note_delete);
}

static int guard_contains(PyObject *o, PyObject *key)
{
    core_guard     *self = (core_guard *)o;
    struct core_key k;
    int             maybe = -1;
    if (!core_key_of(key, &k))
        return -1;
    struct core_call *c = enter(self);
    if (c) {
        WITHOUT_GIL(maybe = blm_guard_maybe(self->guard, k.data, k.len));
        if (!leave(self, c, BLM_OK, NULL))
            maybe = -1;
    }
    core_key_release(&k);
    return maybe;
}

static PyObject *do_call(PyObject *o, blm_status (*fn)(blm_guard *, blm_error *))
{
    core_guard       *self = (core_guard *)o;
    struct core_call *c    = enter(self);
    blm_error         err  = { .text = "" };
    blm_status        s;
    if (!c)
        return NULL;
    WITHOUT_GIL(s = fn(self->guard, &err));
    if (!leave(self, c, s, &err))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *guard_build(PyObject *o, PyObject *none)
{
    core_guard *self = (core_guard *)o;
    (void)none;
    return in_a_put(self) || in_a_mark(self, "build") ? NULL : do_call(o, blm_guard_build);
}

static PyObject *guard_rebuild(PyObject *o, PyObject *none)
{
    (void)none;
    return do_call(o, blm_guard_rebuild);
}

/* 1: a rebuild is running; 0: none is; -1: an exception is set. */
static int rebuilding(core_guard *self)
{
    blm_guard_stats   now = { .size = sizeof now };
    struct core_call *c   = enter(self);
    if (!c)
        return -1;
    WITHOUT_GIL(blm_guard_get_stats(self->guard, &now));
    return leave(self, c, BLM_OK, NULL) ? now.rebuilding : -1;
}

/* In slices, because the library's wait hears no signal. Nothing is held between two of them: a
 * handler may close the guard. */
static PyObject *guard_wait(PyObject *o, PyObject *none)
{
    core_guard     *self  = (core_guard *)o;
    struct timespec slice = { .tv_nsec = 200000 };
    int             running;
    (void)none;
    if (waits_for_itself(self, "wait"))
        return NULL;
    while ((running = rebuilding(self)) == 1) {
        WITHOUT_GIL(nanosleep(&slice, NULL));
        if (PyErr_CheckSignals() < 0)
            return NULL;
        if (slice.tv_nsec < LONGEST_SLICE)
            slice.tv_nsec *= 2;
    }
    return running < 0 ? NULL : do_call(o, blm_guard_wait);
}

static PyObject *guard_sync(PyObject *o, PyObject *none)
{
    (void)none;
    return in_a_mark((core_guard *)o, "sync") ? NULL : do_call(o, blm_guard_sync);
}

static PyObject *guard_json(PyObject *o, PyObject *none)
{
    core_guard       *self = (core_guard *)o;
    struct core_call *c    = enter(self);
    struct value      v    = { 0 };
    blm_error         err  = { .text = "" };
    blm_status        s;
    (void)none;
    if (!c)
        return NULL;
    WITHOUT_GIL(s = blm_guard_json(self->guard, keep_value, &v, &err));
    PyObject *text =
        leave(self, c, s, &err) ? PyUnicode_FromStringAndSize(v.bytes, (Py_ssize_t)v.len) : NULL;
    free(v.bytes);
    return text;
}

static PyObject *get_closed(PyObject *o, void *none)
{
    (void)none;
    return PyBool_FromLong(!((core_guard *)o)->guard);
}

/* clang-format off */
static PyMethodDef methods[] = {
    { "_open", guard_open, METH_VARARGS | METH_CLASS, NULL },
    { "get", guard_get, METH_O,
      "get($self, key, /)\n--\n\nThe row's value, or None if there is no such row." },
    { "put", guard_put, METH_VARARGS,
      "put($self, key, value, /)\n--\n\nWrites a row: filter first, then data set." },
    { "delete", guard_delete, METH_O,
      "delete($self, key, /)\n--\n\nDeletes a row. False: there was none." },
    { "note_put", guard_note_put, METH_O,
      "note_put($self, key, /)\n--\n\nSomebody else wrote the row of this key." },
    { "note_delete", guard_note_delete, METH_O,
      "note_delete($self, key, /)\n--\n\nSomebody else deleted the row of this key." },
    { "build", guard_build, METH_NOARGS,
      "build($self, /)\n--\n\nRebuilds the filter from a scan, now." },
    { "rebuild", guard_rebuild, METH_NOARGS,
      "rebuild($self, /)\n--\n\nRebuilds the filter from a scan, in a thread of its own." },
    { "wait", guard_wait, METH_NOARGS,
      "wait($self, /)\n--\n\nReturns when no rebuild is running; raises what the last one failed with." },
    { "sync", guard_sync, METH_NOARGS,
      "sync($self, /)\n--\n\nWrites the filter's file to the disk." },
    { "close", guard_close, METH_NOARGS,
      "close($self, /)\n--\n\nStops a rebuild, writes the file, frees the memory." },
    { "_json", guard_json, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};
/* clang-format on */

static PyGetSetDef getset[] = {
    { "closed", get_closed, NULL, "True after close().", NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, guard_dealloc },
    { Py_tp_traverse, guard_traverse },
    { Py_tp_clear, guard_clear },
    { Py_tp_methods, methods },
    { Py_tp_getset, getset },
    { Py_sq_contains, guard_contains },
    { 0, NULL },
};

PyType_Spec core_guard_spec = {
    .name      = "bloomery._core.Guard",
    .basicsize = sizeof(core_guard),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots     = slots,
};
