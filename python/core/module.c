/* SPDX-License-Identifier: MIT */
#include "core.h"

/* clang-format off */
static PyMethodDef functions[] = {
    { "set_errors", core_set_errors, METH_O, NULL },
    { "calc", core_calc, METH_O, NULL },
    { "rows", core_rows, METH_NOARGS, NULL },
    { "wait_orphans", core_wait_orphans, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};
/* clang-format on */

/* Types and the maker of exceptions are kept in static variables: one interpreter per process. */
static bool is_main_interpreter(void)
{
    return PyInterpreterState_GetID(PyInterpreterState_Get()) == 0;
}

static PyObject *add_type(PyObject *m, const char *name, PyType_Spec *spec)
{
    PyObject *type = PyType_FromSpec(spec);
    if (type && PyModule_AddObject(m, name, type) < 0)
        Py_CLEAR(type);
    return type; /* borrowed from the module */
}

static int exec(PyObject *m)
{
    if (!is_main_interpreter()) {
        PyErr_SetString(PyExc_ImportError,
                        "bloomery works in the main interpreter only, not in subinterpreters");
        return -1;
    }
    if (!core_watch_forks()) {
        PyErr_NoMemory();
        return -1;
    }
    core_filter_type = add_type(m, "Filter", &core_filter_spec);
    if (!core_filter_type || !add_type(m, "Guard", &core_guard_spec))
        return -1;
    return PyModule_AddStringConstant(m, "version", blm_version());
}

static PyModuleDef_Slot slots[] = {
    { Py_mod_exec, exec },
    { 0, NULL },
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name    = "bloomery._core",
    .m_methods = functions,
    .m_slots   = slots,
};

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&module); }
