/* SPDX-License-Identifier: MIT */
/* bloomery._core.Filter: what bloomery.Filter is made of. Options come as a dict that the Python
 * side has written; see facts.c. */
#include "core.h"

#include <bloomery/embed.h>
#include <stdlib.h>
#include <string.h>

PyObject *core_filter_type;

/* ---- life --- */

core_filter *core_filter_of(PyObject *o)
{
    int is = PyObject_IsInstance(o, core_filter_type);
    if (is == 0)
        PyErr_SetString(PyExc_TypeError, "a bloomery.Filter is needed");
    return is == 1 ? (core_filter *)o : NULL;
}

static PyObject *wrap(PyTypeObject *type, blm_filter *f)
{
    allocfunc    alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    core_filter *self  = (core_filter *)alloc(type, 0);
    if (!self) {
        blm_free(f);
        return NULL;
    }
    blm_params p = { .size = sizeof p };
    blm_get_params(f, &p);
    self->filter = f;
    self->shared = p.shared;
    self->plain  = !(p.can & (BLM_CAN_GROW | BLM_CAN_FORGET | BLM_CAN_FILL_UP));
    core_turn_init(&self->turn);
    return (PyObject *)self;
}

PyObject *core_filter_wrap(PyTypeObject *type, blm_filter *f) { return wrap(type, f); }

/* The calls that make a filter: what they read is in `give`, the work is done without the GIL. */
struct give {
    const char *path;
    const void *bytes;
    size_t      len;
    blm_options o;
    blm_filter *from;
    uint64_t    factor;
};
typedef blm_status (*give_fn)(const struct give *g, blm_filter **out, blm_error *err);

/* `used` (may be NULL) is left before there is a Python object: making one may run the collector, and
 * so anybody's code, which must not wait for this call. */
static PyObject *make(PyTypeObject *type, give_fn fn, const struct give *g, core_filter *used)
{
    blm_filter            *f   = NULL;
    blm_error              err = { .text = "" };
    blm_status             s;
    Py_BEGIN_ALLOW_THREADS s = fn(g, &f, &err);
    Py_END_ALLOW_THREADS if (used) core_leave(used, false);
    return s < 0 ? core_raise(s, &err) : wrap(type, f);
}

static blm_status do_create(const struct give *g, blm_filter **out, blm_error *err)
{
    return g->path ? blm_create_file(g->path, &g->o, out, err) : blm_create(&g->o, out, err);
}

static blm_status do_open(const struct give *g, blm_filter **out, blm_error *err)
{
    return blm_open(g->path, &g->o, out, err);
}

static blm_status do_decode(const struct give *g, blm_filter **out, blm_error *err)
{
    return blm_decode(g->bytes, g->len, &g->o, out, err);
}

static blm_status do_copy(const struct give *g, blm_filter **out, blm_error *err)
{
    return blm_copy(g->from, out, err);
}

static blm_status do_fold(const struct give *g, blm_filter **out, blm_error *err)
{
    return blm_fold(g->from, g->factor, out, err);
}

static blm_status do_reduce(const struct give *g, blm_filter **out, blm_error *err)
{
    return blm_reduce(g->from, out, err);
}

/* A path in the file system's encoding: what os.fspath gives. NULL: an exception is set. */
static const char *path_of(PyObject *path, PyObject **held)
{
    if (!PyUnicode_FSConverter(path, held))
        return NULL;
    return PyBytes_AsString(*held);
}

static PyObject *filter_create(PyObject *type, PyObject *args)
{
    PyObject   *path, *dict, *like, *held = NULL;
    struct give g = { .o = BLM_OPTIONS_INIT };
    if (!PyArg_ParseTuple(args, "OO!O", &path, &PyDict_Type, &dict, &like) ||
        !core_options_of(dict, &g.o))
        return NULL;
    if (path != Py_None && !(g.path = path_of(path, &held)))
        return NULL;
    PyObject    *made  = NULL;
    core_filter *model = like == Py_None ? NULL : core_filter_of(like);
    if (like == Py_None || (model && core_enter(model, false))) {
        g.o.like = model ? model->filter : NULL;
        made     = make((PyTypeObject *)type, do_create, &g, model);
    }
    Py_XDECREF(held);
    return made;
}

static PyObject *filter_open(PyObject *type, PyObject *args)
{
    PyObject   *path, *dict, *held = NULL, *made = NULL;
    struct give g = { .o = BLM_OPTIONS_INIT };
    if (!PyArg_ParseTuple(args, "OO!", &path, &PyDict_Type, &dict) || !core_options_of(dict, &g.o))
        return NULL;
    g.path = path_of(path, &held);
    if (g.path)
        made = make((PyTypeObject *)type, do_open, &g, NULL);
    Py_XDECREF(held);
    return made;
}

/* (bytes, options) */
static PyObject *filter_decode(PyObject *type, PyObject *args)
{
    PyObject   *bytes, *dict;
    Py_buffer   v;
    struct give g = { .o = BLM_OPTIONS_INIT };
    if (!PyArg_ParseTuple(args, "OO!", &bytes, &PyDict_Type, &dict) ||
        !core_options_of(dict, &g.o) || PyObject_GetBuffer(bytes, &v, PyBUF_SIMPLE) < 0)
        return NULL;
    g.bytes        = v.buf;
    g.len          = (size_t)v.len;
    PyObject *made = make((PyTypeObject *)type, do_decode, &g, NULL);
    PyBuffer_Release(&v);
    return made;
}

static PyObject *derived(PyObject *o, give_fn fn, uint64_t factor)
{
    core_filter *self = (core_filter *)o;
    if (!core_enter(self, false))
        return NULL;
    struct give g      = { .from = self->filter, .factor = factor };
    bool        common = self->common;
    PyObject   *made   = make(Py_TYPE(o), fn, &g, self);
    if (made)
        ((core_filter *)made)->common = common;
    return made;
}

static PyObject *filter_copy(PyObject *self, PyObject *none)
{
    (void)none;
    return derived(self, do_copy, 0);
}

static PyObject *filter_fold(PyObject *self, PyObject *factor)
{
    unsigned long long n = PyLong_AsUnsignedLongLong(factor);
    return PyErr_Occurred() ? NULL : derived(self, do_fold, n);
}

static PyObject *filter_reduce(PyObject *self, PyObject *none)
{
    (void)none;
    return derived(self, do_reduce, 0);
}

static PyObject *filter_close(PyObject *o, PyObject *none)
{
    core_filter *self = (core_filter *)o;
    (void)none;
    bool torn = core_turn_torn(&self->turn);
    if (!torn)
        core_turn_wait(&self->turn, true);
    blm_filter *f   = self->filter;
    blm_error   err = { .text = "" };
    blm_status  s   = BLM_OK;
    self->filter    = NULL;
    if (f && !torn) { /* a torn one is left to the end of the process */
        Py_BEGIN_ALLOW_THREADS s = blm_close(f, &err);
        Py_END_ALLOW_THREADS
    }
    if (s < 0)
        return core_raise(s, &err);
    Py_RETURN_NONE;
}

static void filter_dealloc(PyObject *o)
{
    core_filter  *self = (core_filter *)o;
    PyTypeObject *type = Py_TYPE(o);
    if (!core_turn_torn(&self->turn))
        blm_free(self->filter);
    core_turn_destroy(&self->turn);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(o);
    Py_DECREF(type);
}

/* ---- one key --- */

/* Exact str, bytes and int first, without a struct core_key: bench/python.py owes a set's speed here. */
static int filter_contains(PyObject *o, PyObject *key)
{
    core_filter    *self = (core_filter *)o;
    struct core_key k;
    if (Py_TYPE(key) == &PyUnicode_Type) {
        Py_ssize_t  len;
        const char *text = PyUnicode_AsUTF8AndSize(key, &len);
        return text && core_may(self, false) ? blm_check(self->filter, text, (size_t)len) : -1;
    }
    if (Py_TYPE(key) == &PyBytes_Type)
        return core_may(self, false)
                   ? blm_check(self->filter, PyBytes_AsString(key), (size_t)PyBytes_Size(key))
                   : -1;
    if (Py_TYPE(key) == &PyLong_Type) {
        int      overflow;
        uint64_t v = (uint64_t)PyLong_AsLongLongAndOverflow(key, &overflow);
        if (!overflow) {
            char bytes[8];
            core_put_integer(bytes, v);
            return core_may(self, false) ? blm_check(self->filter, bytes, 8) : -1;
        }
    }
    if (!core_key_of(key, &k))
        return -1;
    int maybe = -1;
    if (core_may_read(self))
        maybe = blm_check(self->filter, k.data, k.len);
    core_key_release(&k);
    return maybe;
}

static PyObject *filter_add(PyObject *o, PyObject *key)
{
    core_filter    *self = (core_filter *)o;
    struct core_key k;
    if (!core_key_of(key, &k))
        return NULL;
    PyObject *fresh = NULL;
    if (core_add_writes(self) ? core_may_write(self) : core_may_read(self)) {
        blm_status s = blm_add(self->filter, k.data, k.len);
        fresh        = s < 0 ? core_raise_status(s, NULL) : PyBool_FromLong(s == BLM_OK);
    }
    core_key_release(&k);
    return fresh;
}

/* True: an add was taken back. False: it was never added. */
static PyObject *filter_discard(PyObject *o, PyObject *key)
{
    core_filter    *self = (core_filter *)o;
    struct core_key k;
    if (!core_key_of(key, &k))
        return NULL;
    PyObject *gone = NULL;
    if (core_may_write(self)) {
        blm_status s = blm_remove(self->filter, k.data, k.len);
        gone = s < 0 && s != BLM_E_ABSENT ? core_raise_status(s, NULL) : PyBool_FromLong(s >= 0);
    }
    core_key_release(&k);
    return gone;
}

static PyObject *filter_count(PyObject *o, PyObject *key)
{
    core_filter    *self = (core_filter *)o;
    struct core_key k;
    if (!core_key_of(key, &k))
        return NULL;
    PyObject *n = NULL;
    if (core_may_read(self))
        n = PyLong_FromUnsignedLongLong(blm_count(self->filter, k.data, k.len));
    core_key_release(&k);
    return n;
}

/* The 64 bits that a native filter makes of a key: shards are chosen by them. */
static PyObject *filter_hash(PyObject *o, PyObject *key)
{
    core_filter    *self = (core_filter *)o;
    struct core_key k;
    uint64_t        hash = 0;
    if (!core_key_of(key, &k))
        return NULL;
    PyObject *n = NULL;
    if (core_may_read(self)) {
        blm_key    one = { k.data, k.len };
        blm_status s   = blm_hash_many(self->filter, &one, 1, &hash);
        n              = s < 0 ? core_raise_status(s, NULL) : PyLong_FromUnsignedLongLong(hash);
    }
    core_key_release(&k);
    return n;
}

static PyObject *filter_positions(PyObject *o, PyObject *key)
{
    core_filter    *self = (core_filter *)o;
    struct core_key k;
    size_t          count = 0;
    if (!core_key_of(key, &k))
        return NULL;
    PyObject *list = NULL;
    uint64_t *pos  = NULL;
    if (core_may_read(self)) {
        blm_status s = blm_positions(self->filter, k.data, k.len, NULL, 0, &count);
        if (s >= 0) {
            pos = malloc((count + 1) * sizeof *pos);
            s = pos ? blm_positions(self->filter, k.data, k.len, pos, count, &count) : BLM_E_MEMORY;
        }
        list = s < 0 ? core_raise_status(s, NULL) : PyList_New((Py_ssize_t)count);
    }
    for (size_t i = 0; list && i < count; i++) {
        PyObject *n = PyLong_FromUnsignedLongLong(pos[i]);
        if (!n || PyList_SetItem(list, (Py_ssize_t)i, n) < 0)
            Py_CLEAR(list);
    }
    free(pos);
    core_key_release(&k);
    return list;
}

/* ---- two filters --- */

static PyObject *combine(PyObject *o, PyObject *other, bool common,
                         blm_status (*fn)(blm_filter *, const blm_filter *, blm_error *))
{
    core_filter *self = (core_filter *)o, *from = core_filter_of(other);
    if (!from)
        return NULL;
    if (from == self) { /* with itself: nothing changes; a counting filter must not double */
        if (!core_may_read(self))
            return NULL;
        Py_RETURN_NONE;
    }
    if (!core_enter_both(self, true, from))
        return NULL;
    blm_error              err = { .text = "" };
    blm_status             s;
    Py_BEGIN_ALLOW_THREADS s                      = fn(self->filter, from->filter, &err);
    Py_END_ALLOW_THREADS if (s >= 0) self->common = self->common || common || from->common;
    core_leave_both(self, true, from);
    if (s < 0)
        return core_raise(s, &err);
    Py_RETURN_NONE;
}

static PyObject *filter_union(PyObject *self, PyObject *other)
{
    return combine(self, other, false, blm_union);
}

static PyObject *filter_intersect(PyObject *self, PyObject *other)
{
    return combine(self, other, true, blm_intersect);
}

static PyObject *filter_equal(PyObject *o, PyObject *other)
{
    core_filter *self = (core_filter *)o, *that = core_filter_of(other);
    if (!that || !core_enter_both(self, false, that))
        return NULL;
    bool                   same;
    Py_BEGIN_ALLOW_THREADS same = blm_equal(self->filter, that->filter);
    Py_END_ALLOW_THREADS   core_leave_both(self, false, that);
    return PyBool_FromLong(same);
}

/* ---- the whole --- */

static PyObject *filter_clear(PyObject *o, PyObject *none)
{
    core_filter *self = (core_filter *)o;
    (void)none;
    if (!core_enter(self, true))
        return NULL;
    blm_status             s;
    Py_BEGIN_ALLOW_THREADS s                      = blm_clear(self->filter);
    Py_END_ALLOW_THREADS if (s >= 0) self->common = false;
    core_leave(self, true);
    if (s < 0)
        return core_raise_status(s, NULL);
    Py_RETURN_NONE;
}

static PyObject *whole(PyObject *o, blm_status (*fn)(blm_filter *, blm_error *), bool write)
{
    core_filter *self = (core_filter *)o;
    blm_error    err  = { .text = "" };
    if (!core_enter(self, write))
        return NULL;
    blm_status             s;
    Py_BEGIN_ALLOW_THREADS s = fn(self->filter, &err);
    Py_END_ALLOW_THREADS   core_leave(self, write);
    if (s < 0)
        return core_raise(s, &err);
    Py_RETURN_NONE;
}

static PyObject *filter_sync(PyObject *self, PyObject *none)
{
    (void)none;
    return whole(self, blm_sync, true);
}

static PyObject *filter_refresh(PyObject *self, PyObject *none)
{
    (void)none;
    return whole(self, blm_refresh, true);
}

static PyObject *filter_set_threads(PyObject *o, PyObject *threads)
{
    unsigned long n = PyLong_AsUnsignedLong(threads);
    if (PyErr_Occurred() || !core_may_write((core_filter *)o))
        return NULL;
    blm_set_threads(((core_filter *)o)->filter, n > 64 ? 64 : (uint32_t)n);
    Py_RETURN_NONE;
}

static PyObject *filter_set_funnel(PyObject *o, PyObject *name)
{
    blm_error   err  = { .text = "" };
    const char *text = NULL;
    if (name != Py_None && !(text = PyUnicode_AsUTF8AndSize(name, NULL)))
        return NULL;
    if (!core_may_write((core_filter *)o))
        return NULL;
    blm_status s = blm_set_funnel(((core_filter *)o)->filter, text, &err);
    if (s < 0)
        return core_raise(s, &err);
    Py_RETURN_NONE;
}

static PyObject *filter_save(PyObject *o, PyObject *args)
{
    core_filter *self = (core_filter *)o;
    PyObject    *path, *held = NULL;
    const char  *format;
    int          replace;
    if (!PyArg_ParseTuple(args, "Ozp", &path, &format, &replace))
        return NULL;
    const char *name = path_of(path, &held);
    if (!name || !core_enter(self, false)) {
        Py_XDECREF(held);
        return NULL;
    }
    blm_error              err = { .text = "" };
    blm_status             s;
    Py_BEGIN_ALLOW_THREADS s =
        blm_save(self->filter, name, format, replace ? BLM_REPLACE : 0, &err);
    Py_END_ALLOW_THREADS core_leave(self, false);
    Py_DECREF(held);
    if (s < 0)
        return core_raise(s, &err);
    Py_RETURN_NONE;
}

struct sink {
    char  *at;
    size_t room;
};

static bool into_sink(void *ctx, const void *bytes, size_t len)
{
    struct sink *k = ctx;
    if (len > k->room)
        return false;
    memcpy(k->at, bytes, len);
    k->at += len;
    k->room -= len;
    return true;
}

static PyObject *filter_encode(PyObject *o, PyObject *args)
{
    core_filter *self = (core_filter *)o;
    const char  *format;
    if (!PyArg_ParseTuple(args, "z", &format) || !core_enter(self, false))
        return NULL;
    blm_error  err  = { .text = "" };
    uint64_t   size = 0;
    PyObject  *out  = NULL;
    blm_status s    = blm_encoded_size(self->filter, format, &size, &err);
    if (s >= 0 && size > PY_SSIZE_T_MAX)
        s = BLM_E_LIMIT;
    if (s >= 0)
        out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    if (out) {
        struct sink            k = { .at = PyBytes_AsString(out), .room = (size_t)size };
        Py_BEGIN_ALLOW_THREADS s = blm_encode(self->filter, format, into_sink, &k, &err);
        Py_END_ALLOW_THREADS if (s >= 0 &&
                                 k.room > 0) /* a shared filter may have changed meanwhile */
            s = BLM_E_IO;
    }
    core_leave(self, false);
    if (s < 0) {
        Py_CLEAR(out);
        core_raise(s, &err);
    }
    return out;
}

static PyObject *filter_fingerprint(PyObject *o, PyObject *none)
{
    core_filter *self = (core_filter *)o;
    uint8_t      print[16];
    (void)none;
    if (!core_enter(self, false))
        return NULL;
    blm_status             s;
    Py_BEGIN_ALLOW_THREADS s = blm_fingerprint(self->filter, print);
    Py_END_ALLOW_THREADS   core_leave(self, false);
    return s < 0 ? core_raise_status(s, NULL) : PyBytes_FromStringAndSize((char *)print, 16);
}

static PyObject *get_closed(PyObject *o, void *none)
{
    (void)none;
    return PyBool_FromLong(!((core_filter *)o)->filter);
}

static PyObject *get_common(PyObject *o, void *none)
{
    (void)none;
    return PyBool_FromLong(((core_filter *)o)->common);
}

/* What a pickle says. */
static int set_common(PyObject *o, PyObject *value, void *none)
{
    int yes = value ? PyObject_IsTrue(value) : 0;
    (void)none;
    if (yes >= 0)
        ((core_filter *)o)->common = yes;
    return yes < 0 ? -1 : 0;
}

static Py_ssize_t filter_length(PyObject *o)
{
    core_filter *self = (core_filter *)o;
    blm_params   p    = { .size = sizeof p };
    if (!core_may_read(self))
        return -1;
    blm_get_params(self->filter, &p);
    return p.items > PY_SSIZE_T_MAX ? PY_SSIZE_T_MAX : (Py_ssize_t)p.items;
}

/* clang-format off */
static PyMethodDef methods[] = {
    { "_create", filter_create, METH_VARARGS | METH_CLASS, NULL },
    { "_open", filter_open, METH_VARARGS | METH_CLASS, NULL },
    { "_build", core_build, METH_VARARGS | METH_CLASS, NULL },
    { "_decode", filter_decode, METH_VARARGS | METH_CLASS, NULL },
    { "_copy", filter_copy, METH_NOARGS, NULL },
    { "_fold", filter_fold, METH_O, NULL },
    { "_reduce", filter_reduce, METH_NOARGS, NULL },
    { "add", filter_add, METH_O,
      "add($self, key, /)\n--\n\nAdds a key. True: it is new. False: the filter may already have had it." },
    { "discard", filter_discard, METH_O,
      "discard($self, key, /)\n--\n\nTakes back one add of the key, where the kind can. True: it did. False: the key was\n"
      "never added. Only remove keys that you know were added: another one that is answered\n"
      "\"maybe\" can take others with it." },
    { "count", filter_count, METH_O,
      "count($self, key, /)\n--\n\nHow often the key may have been added, less removed: never fewer. Kinds that do not\n"
      "count say 0 or 1." },
    { "positions", filter_positions, METH_O,
      "positions($self, key, /)\n--\n\nThe cells that the key's probes go to." },
    { "_hash", filter_hash, METH_O, NULL },
    { "_add_many", core_add_many, METH_VARARGS, NULL },
    { "_check_many", core_check_many, METH_VARARGS, NULL },
    { "_remove_many", core_remove_many, METH_VARARGS, NULL },
    { "_union", filter_union, METH_O, NULL },
    { "_intersect", filter_intersect, METH_O, NULL },
    { "_equal", filter_equal, METH_O, NULL },
    { "clear", filter_clear, METH_NOARGS,
      "clear($self, /)\n--\n\nForgets every key. Parameters and seed stay." },
    { "close", filter_close, METH_NOARGS,
      "close($self, /)\n--\n\nWrites what changed, unmaps the file, frees the memory. Closing twice is fine." },
    { "sync", filter_sync, METH_NOARGS,
      "sync($self, /)\n--\n\nWrites what changed to the disk: adds made before survive a power cut." },
    { "refresh", filter_refresh, METH_NOARGS,
      "refresh($self, /)\n--\n\nFor a growing file opened to read: takes in the layers its writer has added." },
    { "_set_threads", filter_set_threads, METH_O, NULL },
    { "_set_funnel", filter_set_funnel, METH_O, NULL },
    { "_save", filter_save, METH_VARARGS, NULL },
    { "_encode", filter_encode, METH_VARARGS, NULL },
    { "fingerprint", filter_fingerprint, METH_NOARGS,
      "fingerprint($self, /)\n--\n\n16 bytes that two filters share if and only if they are equal." },
    { "_params", core_params, METH_NOARGS, NULL },
    { "_layer", core_layer, METH_O, NULL },
    { "_stats", core_stats, METH_NOARGS, NULL },
    { "_fill_map", core_fill_map, METH_O, NULL },
    { "_compare", core_compare, METH_O, NULL },
    { "_try_rate", core_try_rate, METH_VARARGS, NULL },
    { "_verify", core_verify, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};
/* clang-format on */

static PyGetSetDef getset[] = {
    { "closed", get_closed, NULL, "True after close().", NULL },
    { "_common", get_common, set_common, NULL, NULL },
    { NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_dealloc, filter_dealloc },   { Py_tp_methods, methods },      { Py_tp_getset, getset },
    { Py_sq_contains, filter_contains }, { Py_sq_length, filter_length }, { 0, NULL },
};

PyType_Spec core_filter_spec = {
    .name      = "bloomery._core.Filter",
    .basicsize = sizeof(core_filter),
    .flags     = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots     = slots,
};
