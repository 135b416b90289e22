/* SPDX-License-Identifier: MIT */
/* What a key may be: bytes-like, str (UTF-8), int (64 bits). Anything else is a TypeError. */
#include "core.h"

static bool of_integer(PyObject *number, struct core_key *k)
{
    int       overflow;
    long long v = PyLong_AsLongLongAndOverflow(number, &overflow);
    uint64_t  u = (uint64_t)v;
    if (v == -1 && PyErr_Occurred())
        return false;
    if (overflow > 0) { /* 2^63 … 2^64−1: what an array of uint64 holds */
        u = PyLong_AsUnsignedLongLong(number);
        if (u == UINT64_MAX && PyErr_Occurred()) {
            if (!PyErr_ExceptionMatches(PyExc_OverflowError))
                return false;
            PyErr_Clear();
        } else {
            overflow = 0;
        }
    }
    if (overflow) {
        PyErr_SetString(PyExc_OverflowError,
                        "an int key has 64 bits (-2**63 to 2**64-1); give a larger one as bytes, "
                        "for instance n.to_bytes(32, 'little')");
        return false;
    }
    core_put_integer(k->own, u);
    k->data = k->own;
    k->len  = 8;
    return true;
}

/* Bytes in a row, as ctypes ("<B"), array and numpy describe them. Without a dimension: numpy's void. */
static bool is_bytes(const Py_buffer *v)
{
    const char *format = v->format ? v->format : "B";
    if (v->ndim == 1 && v->itemsize == 1) {
        format += strspn(format, "@=<>!");
        return *format && strchr("Bbc", *format) && !format[1];
    }
    format += strspn(format, "0123456789");
    return v->ndim == 0 && !strcmp(format, "x");
}

static bool refuse(PyObject *o)
{
    PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
    if (name)
        PyErr_Format(PyExc_TypeError,
                     "a key is bytes, str or int, not %U; turn it into one of them, always in the "
                     "same way (hash() differs from run to run and will not do)",
                     name);
    Py_XDECREF(name);
    return false;
}

/* Every other byte, say: they come together in bytes of their own. False: an exception is set. */
static bool view_dense(Py_buffer *v)
{
    Py_ssize_t step = v->ndim == 1 && v->strides ? v->strides[0] : 1;
    if (step == 1 || v->len < 2)
        return true;
    PyObject *dense = PyBytes_FromStringAndSize(NULL, v->len);
    char     *to    = dense ? PyBytes_AsString(dense) : NULL;
    for (Py_ssize_t i = 0; to && i < v->len; i++)
        to[i] = ((const char *)v->buf)[i * step];
    PyBuffer_Release(v);
    bool good = dense && PyObject_GetBuffer(dense, v, PyBUF_SIMPLE) == 0;
    Py_XDECREF(dense);
    return good;
}

static bool of_buffer(PyObject *o, struct core_key *k)
{
    if (PyObject_GetBuffer(o, &k->view, PyBUF_RECORDS_RO) < 0)
        return false;
    if (!is_bytes(&k->view)) {
        PyBuffer_Release(&k->view);
        return refuse(o);
    }
    if (!view_dense(&k->view))
        return false;
    k->viewed = true;
    k->data   = k->view.buf;
    k->len    = (size_t)k->view.len;
    return true;
}

/* numpy gives its arrays and its numbers both a buffer and an __index__, which arrays refuse with a
 * TypeError. */
static bool of_index(PyObject *o, struct core_key *k)
{
    PyObject *number = PyNumber_Index(o);
    if (!number && PyObject_CheckBuffer(o) && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        return of_buffer(o, k);
    }
    bool good = number && of_integer(number, k);
    Py_XDECREF(number);
    return good;
}

bool core_key_of(PyObject *o, struct core_key *k)
{
    k->viewed = false;
    if (PyUnicode_Check(o)) {
        Py_ssize_t len;
        k->data = PyUnicode_AsUTF8AndSize(o, &len);
        k->len  = (size_t)len;
        return k->data != NULL; /* a lone surrogate: UnicodeEncodeError */
    }
    if (PyBytes_Check(o)) {
        char      *data;
        Py_ssize_t len;
        if (PyBytes_AsStringAndSize(o, &data, &len) < 0)
            return false;
        k->data = data;
        k->len  = (size_t)len;
        return true;
    }
    if (PyLong_Check(o))
        return of_integer(o, k);
    if (PyIndex_Check(o))
        return of_index(o, k);
    return PyObject_CheckBuffer(o) ? of_buffer(o, k) : refuse(o);
}
