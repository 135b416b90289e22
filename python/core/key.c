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

static bool is_bytes_format(const char *format)
{
    return !format || ((format[0] == 'B' || format[0] == 'b' || format[0] == 'c') && !format[1]);
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
    if (PyIndex_Check(o)) { /* numpy's integers */
        PyObject *number = PyNumber_Index(o);
        bool      good   = number && of_integer(number, k);
        Py_XDECREF(number);
        return good;
    }
    if (PyObject_CheckBuffer(o)) {
        if (PyObject_GetBuffer(o, &k->view, PyBUF_RECORDS_RO) < 0)
            return false;
        Py_ssize_t dense = 1;
        if (k->view.ndim == 1 && k->view.strides && k->view.strides[0] != 1 && k->view.len > 1)
            dense = 0;
        if (!is_bytes_format(k->view.format) || k->view.ndim != 1 || !dense) {
            PyBuffer_Release(&k->view);
            return refuse(o);
        }
        k->viewed = true;
        k->data   = k->view.buf;
        k->len    = (size_t)k->view.len;
        return true;
    }
    return refuse(o);
}
