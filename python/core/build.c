/* SPDX-License-Identifier: MIT */
/* Filters that are built at once from all their keys: bloomery.build. */
#include <bloomery/fixed.h>

#include "core.h"

#define SOME 1024u /* hashes that are given to the builder together */

typedef blm_status (*take_fn)(blm_builder *b, const uint64_t *hashes, size_t count);

/* The keys of any iterable. False: an exception is set. */
static bool take_keys(blm_builder *b, PyObject *keys, take_fn take)
{
    uint64_t   h[SOME];
    size_t     n    = 0;
    blm_status s    = BLM_OK;
    PyObject  *each = core_is_many(keys) ? PyObject_GetIter(keys) : NULL, *key;
    if (!each)
        return false;
    while (s == BLM_OK && (key = PyIter_Next(each))) {
        struct core_key k;
        bool            good = core_key_of(key, &k);
        if (good) {
            blm_key one = { k.data, k.len };
            s           = blm_builder_hash(b, &one, 1, &h[n++]);
            core_key_release(&k);
        }
        Py_DECREF(key);
        if (!good)
            break;
        /* An iterator written in C neither lets other threads run nor hears Ctrl-C. */
        if (s == BLM_OK && n == SOME) {
            Py_BEGIN_ALLOW_THREADS s = take(b, h, n);
            Py_END_ALLOW_THREADS   n = 0;
            if (PyErr_CheckSignals() < 0)
                break;
        }
    }
    Py_DECREF(each);
    if (PyErr_Occurred())
        return false;
    if (s == BLM_OK)
        s = take(b, h, n);
    return s == BLM_OK || core_raise_status(s, NULL);
}

/* Filter._build(options, include, exclude or None) */
PyObject *core_build(PyObject *type, PyObject *args)
{
    PyObject    *dict, *include, *exclude, *made = NULL;
    blm_options  o   = BLM_OPTIONS_INIT;
    blm_builder *b   = NULL;
    blm_filter  *f   = NULL;
    blm_error    err = { .text = "" };
    if (!PyArg_ParseTuple(args, "O!OO", &PyDict_Type, &dict, &include, &exclude) ||
        !core_options_of(dict, &o))
        return NULL;
    blm_status s = blm_builder_new(&o, &b, &err);
    if (s < 0)
        return core_raise(s, &err);
    if (take_keys(b, include, blm_builder_add_hashes) &&
        (exclude == Py_None || take_keys(b, exclude, blm_builder_exclude_hashes))) {
        Py_BEGIN_ALLOW_THREADS s = blm_builder_build(b, &f, &err);
        Py_END_ALLOW_THREADS   made =
            s < 0 ? core_raise(s, &err) : core_filter_wrap((PyTypeObject *)type, f);
    }
    blm_builder_free(b);
    return made;
}
