/* SPDX-License-Identifier: MIT */
#include "core.h"

static PyObject *make_error; /* one interpreter only: see module.c */

PyObject *core_set_errors(PyObject *module, PyObject *make)
{
    (void)module;
    Py_INCREF(make);
    Py_XDECREF(make_error);
    make_error = make;
    Py_RETURN_NONE;
}

static PyObject *raise_it(blm_status s, const char *text, uint64_t offset, int system)
{
    PyObject *where;
    if (offset == BLM_NO_OFFSET) {
        where = Py_None;
        Py_INCREF(where);
    } else {
        where = PyLong_FromUnsignedLongLong(offset);
    }
    PyObject *name  = PyUnicode_FromString(blm_status_name(s));
    PyObject *words = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "backslashreplace");
    PyObject *e     = NULL;
    if (where && name && words)
        e = PyObject_CallFunction(make_error, "OOOi", name, words, where, system);
    if (e)
        PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    Py_XDECREF(e);
    Py_XDECREF(words);
    Py_XDECREF(name);
    Py_XDECREF(where);
    return NULL;
}

PyObject *core_raise(blm_status s, const blm_error *err)
{
    if (PyErr_Occurred()) /* a callback of ours has said it better */
        return NULL;
    return raise_it(s, err->text[0] ? err->text : blm_status_text(s), err->offset, err->system);
}

PyObject *core_raise_status(blm_status s, const char *what)
{
    char text[256];
    if (what)
        PyOS_snprintf(text, sizeof text, "%s: %s", what, blm_status_text(s));
    else
        PyOS_snprintf(text, sizeof text, "%s", blm_status_text(s));
    return raise_it(s, text, BLM_NO_OFFSET, 0);
}
