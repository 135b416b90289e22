/* SPDX-License-Identifier: MIT */
/* bloomery._core.Guard: a guard over Python callables. The library calls them from any thread; each
 * call takes the GIL, and no lock of the guard is ever waited for with the GIL held. */
#include "core.h"

#include <bloomery/guard.h>
#include <stdlib.h>
#include <string.h>

enum callable { GET, PUT, DELETE, SCAN, COUNT, MARK_READ, MARK_WRITE, CALLABLES };

typedef struct {
    PyObject_HEAD blm_guard *guard; /* NULL: closed */
    PyObject                *call[CALLABLES];
    struct core_turn         turn; /* a call of the guard reads, close writes */
} core_guard;

/* ---- exceptions on their way through the library --- */

/* What a callable raised in this thread, for the call of ours that is running in it. A rebuild's
 * thread runs none: there the exception is printed, and the rebuild fails. */
static _Thread_local struct {
    unsigned  calls;
    PyObject *type, *value, *trace;
} pending;

static blm_status callable_failed(blm_error *err, const char *which)
{
    if (pending.calls == 0) {
        PyErr_WriteUnraisable(NULL);
    } else if (pending.type) { /* the first one says what went wrong */
        PyErr_Clear();
    } else {
        PyErr_Fetch(&pending.type, &pending.value, &pending.trace);
    }
    err->status = BLM_E_IO;
    err->offset = BLM_NO_OFFSET;
    PyOS_snprintf(err->text, sizeof err->text, "the data set's %s raised an exception", which);
    return BLM_E_IO;
}

static bool enter(core_guard *self)
{
    core_turn_wait(&self->turn, false);
    if (!self->guard) {
        PyErr_SetString(PyExc_ValueError, "the guard is closed");
        return false;
    }
    core_turn_take(&self->turn, false);
    return true;
}

/* Ends a call: the callable's own exception, or ours. True: neither. */
static bool settle(blm_status s, const blm_error *err)
{
    PyObject *type = pending.type, *value = pending.value, *trace = pending.trace;
    if (pending.calls == 0)
        pending.type = pending.value = pending.trace = NULL;
    if (s >= 0 || s == BLM_E_ABSENT) {
        if (pending.calls == 0) {
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(trace);
        }
        return true;
    }
    if (pending.calls == 0 && type)
        PyErr_Restore(type, value, trace);
    else
        core_raise(s, err);
    return false;
}

#define WITHOUT_GIL(statement)                  \
    do {                                        \
        pending.calls++;                        \
        Py_BEGIN_ALLOW_THREADS statement;       \
        Py_END_ALLOW_THREADS   pending.calls--; \
    } while (0)

/* ---- the data set --- */

static PyObject *bytes_of(const void *data, size_t len)
{
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)len);
}

static blm_status ds_get(void *ctx, const void *key, size_t len, blm_write_fn value,
                         void *value_ctx, blm_error *err)
{
    core_guard      *self = ctx;
    PyGILState_STATE gil  = PyGILState_Ensure();
    PyObject        *k    = bytes_of(key, len);
    PyObject        *row  = k ? PyObject_CallFunctionObjArgs(self->call[GET], k, NULL) : NULL;
    blm_status       s    = BLM_OK;
    Py_buffer        v;
    Py_XDECREF(k);
    if (!row) {
        s = callable_failed(err, "get");
    } else if (row == Py_None) {
        s = BLM_E_ABSENT;
    } else if (value) {
        if (PyObject_GetBuffer(row, &v, PyBUF_SIMPLE) < 0) {
            s = callable_failed(err, "get");
        } else {
            s = value(value_ctx, v.buf, (size_t)v.len) ? BLM_OK : BLM_E_CANCELLED;
            PyBuffer_Release(&v);
        }
    }
    Py_XDECREF(row);
    PyGILState_Release(gil);
    return s;
}

static blm_status ds_put(void *ctx, const void *key, size_t len, const void *value,
                         size_t value_len, blm_error *err)
{
    core_guard      *self = ctx;
    PyGILState_STATE gil  = PyGILState_Ensure();
    PyObject        *k = bytes_of(key, len), *v = bytes_of(value, value_len);
    PyObject        *r = k && v ? PyObject_CallFunctionObjArgs(self->call[PUT], k, v, NULL) : NULL;
    blm_status       s = r ? BLM_OK : callable_failed(err, "put");
    Py_XDECREF(r);
    Py_XDECREF(v);
    Py_XDECREF(k);
    PyGILState_Release(gil);
    return s;
}

static blm_status ds_delete(void *ctx, const void *key, size_t len, blm_error *err)
{
    core_guard      *self = ctx;
    PyGILState_STATE gil  = PyGILState_Ensure();
    PyObject        *k    = bytes_of(key, len);
    PyObject        *r    = k ? PyObject_CallFunctionObjArgs(self->call[DELETE], k, NULL) : NULL;
    if (r && !PyBool_Check(r)) {
        Py_CLEAR(r);
        PyErr_SetString(PyExc_TypeError, "delete must return True if there was a row, else False");
    }
    blm_status s = !r ? callable_failed(err, "delete") : r == Py_True ? BLM_OK : BLM_E_ABSENT;
    Py_XDECREF(r);
    Py_XDECREF(k);
    PyGILState_Release(gil);
    return s;
}

/* Keys on their way from the scan to the guard, which takes them without the GIL. */
enum { SCAN_CHUNK = 128 };

static bool hand_over(PyObject **held, size_t count, blm_key_fn each, void *each_ctx, bool *bad_key)
{
    struct core_key keys[SCAN_CHUNK];
    size_t          n    = 0;
    bool            more = true;
    while (n < count && core_key_of(held[n], &keys[n]))
        n++;
    *bad_key = n < count;
    Py_BEGIN_ALLOW_THREADS for (size_t i = 0; more && i < n; i++) more =
        each(each_ctx, keys[i].data, keys[i].len);
    Py_END_ALLOW_THREADS for (size_t i = 0; i < n; i++) core_key_release(&keys[i]);
    for (size_t i = 0; i < count; i++)
        Py_DECREF(held[i]);
    return more;
}

static blm_status ds_scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    core_guard      *self = ctx;
    PyGILState_STATE gil  = PyGILState_Ensure();
    PyObject        *rows = PyObject_CallFunctionObjArgs(self->call[SCAN], NULL);
    PyObject        *it   = rows ? PyObject_GetIter(rows) : NULL;
    PyObject        *held[SCAN_CHUNK];
    size_t           n      = 0;
    bool             failed = !it, wanted = true;
    while (!failed && wanted) {
        PyObject *key = PyIter_Next(it);
        if (key)
            held[n++] = key;
        else
            failed = PyErr_Occurred() != NULL;
        if (!key || n == SCAN_CHUNK) {
            bool      bad_key = false;
            PyObject *t = NULL, *v = NULL, *b = NULL;
            PyErr_Fetch(&t, &v, &b);
            wanted = hand_over(held, n, each, each_ctx, &bad_key);
            if (t)
                PyErr_Restore(t, v, b);
            failed = failed || bad_key;
            n      = 0;
        }
        if (!key)
            break;
    }
    blm_status s = failed ? callable_failed(err, "scan") : wanted ? BLM_OK : BLM_E_CANCELLED;
    Py_XDECREF(it);
    Py_XDECREF(rows);
    PyGILState_Release(gil);
    return s;
}

static blm_status ds_count(void *ctx, uint64_t *rows, blm_error *err)
{
    core_guard      *self = ctx;
    PyGILState_STATE gil  = PyGILState_Ensure();
    PyObject        *r    = PyObject_CallFunctionObjArgs(self->call[COUNT], NULL);
    blm_status       s    = BLM_OK;
    if (r)
        *rows = PyLong_AsUnsignedLongLong(r);
    if (PyErr_Occurred())
        s = callable_failed(err, "count");
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return s;
}

static blm_status ds_mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    core_guard      *self = ctx;
    PyGILState_STATE gil  = PyGILState_Ensure();
    PyObject        *r    = PyObject_CallFunctionObjArgs(self->call[MARK_READ], NULL);
    blm_status       s    = BLM_OK;
    Py_buffer        v;
    if (r == Py_None) {
        s = BLM_E_ABSENT;
    } else if (!r || PyObject_GetBuffer(r, &v, PyBUF_SIMPLE) < 0) {
        s = callable_failed(err, "read_mark");
    } else {
        *len = (size_t)v.len < BLM_MARK_MAX ? (size_t)v.len : BLM_MARK_MAX;
        memcpy(mark, v.buf, *len);
        PyBuffer_Release(&v);
    }
    Py_XDECREF(r);
    PyGILState_Release(gil);
    return s;
}

static blm_status ds_mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    core_guard      *self = ctx;
    PyGILState_STATE gil  = PyGILState_Ensure();
    PyObject        *m    = bytes_of(mark, len);
    PyObject        *r = m ? PyObject_CallFunctionObjArgs(self->call[MARK_WRITE], m, NULL) : NULL;
    blm_status       s = r ? BLM_OK : callable_failed(err, "write_mark");
    Py_XDECREF(r);
    Py_XDECREF(m);
    PyGILState_Release(gil);
    return s;
}

/* ---- life --- */

static void guard_close_now(core_guard *self, blm_status *s, blm_error *err)
{
    blm_guard *g = self->guard;
    self->guard  = NULL;
    *s           = BLM_OK;
    if (g)
        WITHOUT_GIL(*s = blm_guard_close(g, err));
}

/* _open((get, put, delete, scan, count, read_mark, write_mark), options, flags, path, filter) */
static PyObject *guard_open(PyObject *o, PyObject *args)
{
    PyTypeObject      *type = (PyTypeObject *)o;
    PyObject          *calls, *path, *filter, *held = NULL;
    unsigned long long items;
    double             rate, stale_share, rate_factor;
    unsigned int       flags;
    blm_options        fo = BLM_OPTIONS_INIT;
    blm_guard_options  go = BLM_GUARD_OPTIONS_INIT;
    if (!PyArg_ParseTuple(args, "O!KdddIOO!", &PyTuple_Type, &calls, &items, &rate, &stale_share,
                          &rate_factor, &flags, &path, &PyDict_Type, &filter))
        return NULL;
    if (!core_options_of(filter, &fo))
        return NULL;
    if (path != Py_None) {
        if (!PyUnicode_FSConverter(path, &held))
            return NULL;
        go.path = PyBytes_AsString(held);
    }
    go.items = items, go.rate = rate, go.flags = flags;
    go.stale_share = stale_share, go.rate_factor = rate_factor;
    go.filter = PyDict_Size(filter) > 0 ? &fo : NULL;

    core_guard *self = (core_guard *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type, 0);
    if (!self) {
        Py_XDECREF(held);
        return NULL;
    }
    core_turn_init(&self->turn);
    for (size_t i = 0; i < CALLABLES; i++) {
        PyObject *c = PyTuple_GetItem(calls, (Py_ssize_t)i);
        if (c && c != Py_None) {
            Py_INCREF(c);
            self->call[i] = c;
        }
    }
    blm_dataset d = { .size = sizeof d, .ctx = self, .get = ds_get, .scan = ds_scan };
    if (self->call[PUT])
        d.put = ds_put;
    if (self->call[DELETE])
        d.del = ds_delete;
    if (self->call[COUNT])
        d.count = ds_count;
    if (self->call[MARK_READ])
        d.mark_read = ds_mark_read, d.mark_write = ds_mark_write;
    blm_error  err = { .text = "" };
    blm_status s;
    WITHOUT_GIL(s = blm_guard_open(&go, &d, &self->guard, &err));
    Py_XDECREF(held);
    if (!settle(s, &err))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *guard_close(PyObject *o, PyObject *none)
{
    core_guard *self = (core_guard *)o;
    blm_error   err  = { .text = "" };
    blm_status  s;
    (void)none;
    core_turn_wait(&self->turn, true);
    guard_close_now(self, &s, &err);
    if (!settle(s, &err))
        return NULL;
    Py_RETURN_NONE;
}

static int guard_traverse(PyObject *o, visitproc visit, void *arg)
{
    core_guard *self = (core_guard *)o;
    for (size_t i = 0; i < CALLABLES; i++)
        Py_VISIT(self->call[i]);
    Py_VISIT(Py_TYPE(o));
    return 0;
}

static int guard_clear(PyObject *o)
{
    core_guard *self = (core_guard *)o;
    blm_status  s;
    blm_error   err;
    guard_close_now(self, &s, &err); /* before the callables: a rebuild may be calling them */
    for (size_t i = 0; i < CALLABLES; i++)
        Py_CLEAR(self->call[i]);
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
    if (!enter(self)) {
        core_key_release(&k);
        return NULL;
    }
    WITHOUT_GIL(s = blm_guard_get(self->guard, k.data, k.len, keep_value, &v, &err));
    core_turn_end(&self->turn, false);
    core_key_release(&k);
    PyObject *row = NULL;
    if (settle(s, &err)) {
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
    core_guard     *self = (core_guard *)o;
    PyObject       *key;
    Py_buffer       v;
    struct core_key k;
    blm_error       err = { .text = "" };
    blm_status      s   = BLM_OK;
    PyObject       *value;
    if (!PyArg_ParseTuple(args, "OO", &key, &value) ||
        PyObject_GetBuffer(value, &v, PyBUF_SIMPLE) < 0)
        return NULL;
    bool good = core_key_of(key, &k);
    if (good && !enter(self)) {
        core_key_release(&k);
        good = false;
    }
    if (good) {
        WITHOUT_GIL(s = blm_guard_put(self->guard, k.data, k.len, v.buf, (size_t)v.len, &err));
        core_turn_end(&self->turn, false);
        core_key_release(&k);
        good = settle(s, &err);
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
    if (!enter(self)) {
        core_key_release(&k);
        return NULL;
    }
    WITHOUT_GIL(s = blm_guard_delete(self->guard, k.data, k.len, &err));
    core_turn_end(&self->turn, false);
    core_key_release(&k);
    return settle(s, &err) ? PyBool_FromLong(s == BLM_OK) : NULL;
}

static PyObject *note(PyObject *o, PyObject *key, void (*fn)(blm_guard *, const void *, size_t))
{
    core_guard     *self = (core_guard *)o;
    struct core_key k;
    if (!core_key_of(key, &k))
        return NULL;
    bool good = enter(self);
    if (good) {
        WITHOUT_GIL(fn(self->guard, k.data, k.len));
        core_turn_end(&self->turn, false);
    }
    core_key_release(&k);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *guard_note_put(PyObject *o, PyObject *key)
{
    return note(o, key, blm_guard_note_put);
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
    if (enter(self)) {
        WITHOUT_GIL(maybe = blm_guard_maybe(self->guard, k.data, k.len));
        core_turn_end(&self->turn, false);
    }
    core_key_release(&k);
    return maybe;
}

static PyObject *do_call(PyObject *o, blm_status (*fn)(blm_guard *, blm_error *))
{
    core_guard *self = (core_guard *)o;
    blm_error   err  = { .text = "" };
    blm_status  s;
    if (!enter(self))
        return NULL;
    WITHOUT_GIL(s = fn(self->guard, &err));
    core_turn_end(&self->turn, false);
    if (!settle(s, &err))
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *guard_build(PyObject *o, PyObject *none)
{
    (void)none;
    return do_call(o, blm_guard_build);
}

static PyObject *guard_rebuild(PyObject *o, PyObject *none)
{
    (void)none;
    return do_call(o, blm_guard_rebuild);
}

static PyObject *guard_wait(PyObject *o, PyObject *none)
{
    (void)none;
    return do_call(o, blm_guard_wait);
}

static PyObject *guard_sync(PyObject *o, PyObject *none)
{
    (void)none;
    return do_call(o, blm_guard_sync);
}

static PyObject *guard_json(PyObject *o, PyObject *none)
{
    core_guard  *self = (core_guard *)o;
    struct value v    = { 0 };
    blm_error    err  = { .text = "" };
    blm_status   s;
    (void)none;
    if (!enter(self))
        return NULL;
    WITHOUT_GIL(s = blm_guard_json(self->guard, keep_value, &v, &err));
    core_turn_end(&self->turn, false);
    PyObject *text =
        settle(s, &err) ? PyUnicode_FromStringAndSize(v.bytes, (Py_ssize_t)v.len) : NULL;
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
