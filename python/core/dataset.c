/* SPDX-License-Identifier: MIT */
/* A guard's data set: callables, and the exceptions on their way from them through the library to the
 * call of ours that needed them. The library calls from any thread; each call takes the GIL. */
#include "core.h"

#include <stdlib.h>

enum callable { GET, PUT, DELETE, SCAN, COUNT, MARK_READ, MARK_WRITE, CALLABLES };

static const char *const callable_names[CALLABLES] = { "get",   "put",       "delete",    "scan",
                                                       "count", "read_mark", "write_mark" };

struct core_dataset {
    PyObject *call[CALLABLES];
};

/* ---- what runs in this thread --- */

/* Calls of one thread need not nest: a callable may give way to another greenlet, whose calls begin and
 * end while ours waits, and whose bytes are on the C stack where ours were. So what others may look at
 * of a call is not on the stack.
 *
 * For which call does the library call us back? Another greenlet, a signal's handler or a finalizer can
 * run only where Python does, and between core_call_begin and core_call_end that is in callables alone.
 * So of the calls that this thread has begun, all but one at most are in a callable; that one is
 * `current`. If there is none, the library is here on its own errand, a rebuild or the end of an orphan:
 * such a thread has only one, and is in one callable of it at a time. */
static _Thread_local struct core_call *calls, *current, errand;

static struct core_call *visit_begin(void *data, enum callable which)
{
    struct core_call *c = current ? current : &errand;
    current             = NULL;
    c->in               = data;
    c->which            = which;
    c->gil              = PyGILState_Ensure();
    return c;
}

/* Letting a thread's state go may end the guard's object: that is still in the visit. */
static void visit_end(struct core_call *c)
{
    PyGILState_Release(c->gil);
    c->in   = NULL;
    current = c == &errand ? NULL : c;
}

/* The callables are bits, 1 << PUT. */
static bool visited_by(const struct core_dataset *d, unsigned callables)
{
    if (errand.in == d && callables >> errand.which & 1)
        return true;
    const struct core_call *c = calls;
    while (c && (c->in != d || !(callables >> c->which & 1)))
        c = c->next;
    return c != NULL;
}

bool core_visited(const struct core_dataset *d) { return d && visited_by(d, ~0u); }

bool core_visited_by_count(const struct core_dataset *d) { return d && visited_by(d, 1u << COUNT); }

bool core_visited_by_mark(const struct core_dataset *d)
{
    return d && visited_by(d, 1u << MARK_READ | 1u << MARK_WRITE);
}

bool core_in_call(const void *guard)
{
    const struct core_call *c = calls;
    while (c && c->of != guard)
        c = c->next;
    return c != NULL;
}

bool core_in_put(const struct core_dataset *d)
{
    const struct core_call *c = calls;
    while (c && c->puts_to != d)
        c = c->next;
    return d && c;
}

/* ---- exceptions on their way through the library --- */

static bool must_come_out(const struct core_call *c)
{
    return c->type && !PyErr_GivenExceptionMatches(c->type, PyExc_Exception);
}

/* The last exception is the one that the call fails with; one before it, the guard did without. But
 * Ctrl-C is never done without. */
static blm_status callable_failed(struct core_call *c, blm_error *err)
{
    PyObject *type, *value, *trace, *raiser = c->in->call[c->which];
    Py_INCREF(raiser);
    if (c != &errand && !must_come_out(c)) {
        PyObject *before = c->raiser;
        PyErr_Fetch(&type, &value, &trace);
        PyErr_Restore(c->type, c->value, c->trace);
        c->type = type, c->value = value, c->trace = trace;
        c->raiser = raiser;
        raiser    = before;
    }
    if (PyErr_Occurred())
        PyErr_WriteUnraisable(raiser);
    Py_XDECREF(raiser);
    err->status = BLM_E_IO;
    err->offset = BLM_NO_OFFSET;
    PyOS_snprintf(err->text, sizeof err->text, "the data set's %s raised an exception",
                  callable_names[c->which]);
    return BLM_E_IO;
}

void core_call_begin(struct core_call *c, const void *guard)
{
    *c = (struct core_call){ .of = guard, .next = calls, .forks = core_forks };
    if (calls)
        calls->prev = c;
    calls = current = c;
}

bool core_call_end(struct core_call *c, blm_status s, const blm_error *err)
{
    bool good = s >= 0 || s == BLM_E_ABSENT, out = !good || must_come_out(c);
    if (c->next)
        c->next->prev = c->prev;
    *(c->prev ? &c->prev->next : &calls) = c->next;
    current                              = NULL;
    if (c->type)
        PyErr_Restore(c->type, c->value, c->trace);
    else if (out)
        core_raise(s, err);
    if (!out && c->type)
        PyErr_WriteUnraisable(c->raiser); /* the guard did without */
    Py_XDECREF(c->raiser);
    return !out;
}

/* ---- the data set --- */

static PyObject *bytes_of(const void *data, size_t len)
{
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)len);
}

static blm_status ds_get(void *ctx, const void *key, size_t len, blm_write_fn value,
                         void *value_ctx, blm_error *err)
{
    struct core_dataset *self = ctx;
    struct core_call    *here = visit_begin(ctx, GET);
    PyObject            *k    = bytes_of(key, len);
    PyObject            *row  = k ? PyObject_CallFunctionObjArgs(self->call[GET], k, NULL) : NULL;
    blm_status           s    = BLM_OK;
    Py_buffer            v;
    Py_XDECREF(k);
    if (!row) {
        s = callable_failed(here, err);
    } else if (row == Py_None) {
        s = BLM_E_ABSENT;
    } else if (value) {
        if (PyObject_GetBuffer(row, &v, PyBUF_SIMPLE) < 0) {
            s = callable_failed(here, err);
        } else {
            s = value(value_ctx, v.buf, (size_t)v.len) ? BLM_OK : BLM_E_CANCELLED;
            PyBuffer_Release(&v);
        }
    }
    Py_XDECREF(row);
    visit_end(here);
    return s;
}

static blm_status ds_put(void *ctx, const void *key, size_t len, const void *value,
                         size_t value_len, blm_error *err)
{
    struct core_dataset *self = ctx;
    struct core_call    *here = visit_begin(ctx, PUT);
    PyObject            *k = bytes_of(key, len), *v = bytes_of(value, value_len);
    PyObject  *r = k && v ? PyObject_CallFunctionObjArgs(self->call[PUT], k, v, NULL) : NULL;
    blm_status s = r ? BLM_OK : callable_failed(here, err);
    Py_XDECREF(r);
    Py_XDECREF(v);
    Py_XDECREF(k);
    visit_end(here);
    return s;
}

static blm_status ds_delete(void *ctx, const void *key, size_t len, blm_error *err)
{
    struct core_dataset *self = ctx;
    struct core_call    *here = visit_begin(ctx, DELETE);
    PyObject            *k    = bytes_of(key, len);
    PyObject            *r = k ? PyObject_CallFunctionObjArgs(self->call[DELETE], k, NULL) : NULL;
    if (r && !PyBool_Check(r)) {
        Py_CLEAR(r);
        PyErr_SetString(PyExc_TypeError, "delete must return True if there was a row, else False");
    }
    blm_status s = !r ? callable_failed(here, err) : r == Py_True ? BLM_OK : BLM_E_ABSENT;
    Py_XDECREF(r);
    Py_XDECREF(k);
    visit_end(here);
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
    struct core_dataset *self = ctx;
    struct core_call    *here = visit_begin(ctx, SCAN);
    PyObject            *rows = PyObject_CallFunctionObjArgs(self->call[SCAN], NULL);
    PyObject            *it   = rows && core_is_many(rows) ? PyObject_GetIter(rows) : NULL;
    PyObject            *held[SCAN_CHUNK];
    size_t               n      = 0;
    bool                 failed = !it, wanted = true;
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
            failed = failed || bad_key || PyErr_CheckSignals() < 0;
            n      = 0;
        }
        if (!key)
            break;
    }
    /* If there are more rows than were planned for, the rebuild begins again and waits for the puts. */
    if (!failed && wanted && core_in_put(self)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "a put of another greenlet has begun in this thread during the scan, and "
                        "build would wait for it: use rebuild");
        failed = true;
    }
    blm_status s = failed ? callable_failed(here, err) : wanted ? BLM_OK : BLM_E_CANCELLED;
    Py_XDECREF(it);
    Py_XDECREF(rows);
    visit_end(here);
    return s;
}

static blm_status ds_count(void *ctx, uint64_t *rows, blm_error *err)
{
    struct core_dataset *self = ctx;
    struct core_call    *here = visit_begin(ctx, COUNT);
    PyObject            *r    = PyObject_CallFunctionObjArgs(self->call[COUNT], NULL);
    blm_status           s    = BLM_OK;
    if (r)
        *rows = PyLong_AsUnsignedLongLong(r);
    if (PyErr_Occurred())
        s = callable_failed(here, err);
    Py_XDECREF(r);
    visit_end(here);
    return s;
}

static blm_status ds_mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    struct core_dataset *self = ctx;
    struct core_call    *here = visit_begin(ctx, MARK_READ);
    PyObject            *r    = PyObject_CallFunctionObjArgs(self->call[MARK_READ], NULL);
    blm_status           s    = BLM_OK;
    Py_buffer            v;
    if (r == Py_None) {
        s = BLM_E_ABSENT;
    } else if (!r || PyObject_GetBuffer(r, &v, PyBUF_SIMPLE) < 0) {
        s = callable_failed(here, err);
    } else {
        *len = (size_t)v.len < BLM_MARK_MAX ? (size_t)v.len : BLM_MARK_MAX;
        memcpy(mark, v.buf, *len);
        PyBuffer_Release(&v);
    }
    Py_XDECREF(r);
    visit_end(here);
    return s;
}

static blm_status ds_mark_write(void *ctx, const void *mark, size_t len, blm_error *err)
{
    struct core_dataset *self = ctx;
    struct core_call    *here = visit_begin(ctx, MARK_WRITE);
    PyObject            *m    = bytes_of(mark, len);
    PyObject  *r = m ? PyObject_CallFunctionObjArgs(self->call[MARK_WRITE], m, NULL) : NULL;
    blm_status s = r ? BLM_OK : callable_failed(here, err);
    Py_XDECREF(r);
    Py_XDECREF(m);
    visit_end(here);
    return s;
}

/* ---- life --- */

static bool take_callables(struct core_dataset *self, PyObject *callables)
{
    for (size_t i = 0; i < CALLABLES; i++) {
        PyObject *c = PyTuple_GetItem(callables, (Py_ssize_t)i);
        if (c == Py_None && i != GET && i != SCAN)
            continue;
        if (!c || !PyCallable_Check(c)) {
            if (c)
                PyErr_Format(PyExc_TypeError, "%s must be callable", callable_names[i]);
            return false;
        }
        Py_INCREF(c);
        self->call[i] = c;
    }
    return true;
}

struct core_dataset *core_dataset_of(PyObject *callables, blm_dataset *d)
{
    struct core_dataset *self = calloc(1, sizeof *self);
    if (!self) {
        PyErr_NoMemory();
        return NULL;
    }
    if (!take_callables(self, callables)) {
        core_dataset_free(self);
        return NULL;
    }
    PyObject *const *has = self->call;
    *d                   = (blm_dataset){ .size  = sizeof *d,
                                          .ctx   = self,
                                          .get   = ds_get,
                                          .scan  = ds_scan,
                                          .put   = has[PUT] ? ds_put : NULL,
                                          .del   = has[DELETE] ? ds_delete : NULL,
                                          .count = has[COUNT] ? ds_count : NULL };
    if (has[MARK_READ])
        d->mark_read = ds_mark_read, d->mark_write = ds_mark_write;
    return self;
}

int core_dataset_traverse(const struct core_dataset *d, visitproc visit, void *arg)
{
    for (size_t i = 0; d && i < CALLABLES; i++)
        Py_VISIT(d->call[i]);
    return 0;
}

void core_dataset_free(struct core_dataset *d)
{
    for (size_t i = 0; d && i < CALLABLES; i++)
        Py_CLEAR(d->call[i]);
    free(d);
}
