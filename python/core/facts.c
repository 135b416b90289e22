/* SPDX-License-Identifier: MIT */
/* The library's structs as dicts, and a dict as its options. */
#include "core.h"

#include <bloomery/maths.h>
#include <stdlib.h>

/* ---- options --- */

enum field_type { U64, U32, REAL, TEXT, SEED, KIND, HASH, YES, FLAG };

struct field {
    const char     *name;
    enum field_type type;
    size_t          offset; /* FLAG: the flag */
};

#define AT(member) offsetof(blm_options, member)
static const struct field fields[] = {
    { "capacity", U64, AT(items) },      { "rate", REAL, AT(rate) },
    { "bits", U64, AT(bits) },           { "probes", U32, AT(probes) },
    { "lines", U32, AT(lines) },         { "memory", U64, AT(memory) },
    { "kind", KIND, AT(kind) },          { "scheme", TEXT, AT(scheme) },
    { "hash", HASH, AT(hash) },          { "seed", SEED, AT(seed) },
    { "growth", REAL, AT(growth) },      { "tightening", REAL, AT(tightening) },
    { "rate_cap", REAL, AT(rate_cap) },  { "layer_classic", YES, AT(layer_classic) },
    { "window_ms", U64, AT(window_ms) }, { "slack", REAL, AT(slack) },
    { "version", U32, AT(version) },     { "public", FLAG, BLM_PUBLIC },
    { "variant", U64, AT(variant) },     { "format", TEXT, AT(format) },
    { "funnel", TEXT, AT(funnel) },      { "max_bytes", U64, AT(max_bytes) },
    { "offset", U64, AT(offset) },       { "threads", U32, AT(threads) },
    { "shared", FLAG, BLM_SHARED },      { "write", FLAG, BLM_WRITE },
    { "verify", FLAG, BLM_VERIFY },      { "replace", FLAG, BLM_REPLACE },
};

static bool read_seed(PyObject *value, blm_options *o)
{
    PyObject *low = NULL, *high = NULL, *bits = PyLong_FromLong(64);
    PyObject *mask = PyLong_FromUnsignedLongLong(UINT64_MAX);
    if (bits && mask) {
        low  = PyNumber_And(value, mask);
        high = PyNumber_Rshift(value, bits);
    }
    if (low && high) {
        o->seed[0] = PyLong_AsUnsignedLongLong(low);
        o->seed[1] = PyLong_AsUnsignedLongLong(high);
        o->flags |= BLM_SEEDED;
        if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_OverflowError)) {
            PyErr_Clear();
            PyErr_SetString(PyExc_OverflowError, "a seed is an int from 0 to 2**128-1");
        }
    }
    Py_XDECREF(high);
    Py_XDECREF(low);
    Py_XDECREF(mask);
    Py_XDECREF(bits);
    return !PyErr_Occurred();
}

static bool read_hash(const char *name, blm_hash *out)
{
    if (!strcmp(name, "xxh3"))
        *out = BLM_HASH_XXH3;
    else if (!strcmp(name, "siphash"))
        *out = BLM_HASH_SIPHASH;
    else
        return PyErr_Format(PyExc_ValueError, "no hash '%s': xxh3 or siphash", name), false;
    return true;
}

bool core_whole(PyObject *value, const char *name, uint64_t most, uint64_t *out)
{
    PyObject *number = NULL;
    if (PyFloat_Check(value)) {
        double d = PyFloat_AsDouble(value);
        if (d >= 0 && d < 18446744073709551616.0 && d == (double)(uint64_t)d)
            number = PyLong_FromDouble(d);
        else
            PyErr_Format(PyExc_ValueError, "%s is a whole number, 0 or more", name);
    } else {
        number = PyNumber_Index(value);
    }
    if (!number)
        return false;
    *out = PyLong_AsUnsignedLongLong(number);
    Py_DECREF(number);
    if (!PyErr_Occurred() && *out <= most)
        return true;
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "%s is a whole number from 0 to %llu", name,
                     (unsigned long long)most);
    }
    return false;
}

static bool read_field(const struct field *f, PyObject *value, blm_options *o)
{
    char    *at = (char *)o + f->offset;
    uint64_t n  = 0;
    switch (f->type) {
    case U64:
        return core_whole(value, f->name, UINT64_MAX, (uint64_t *)at);
    case U32:
        if (!core_whole(value, f->name, UINT32_MAX, &n))
            return false;
        *(uint32_t *)at = (uint32_t)n;
        return true;
    case REAL:
        *(double *)at = PyFloat_AsDouble(value);
        return !PyErr_Occurred();
    case YES:
    case FLAG: {
        int yes = PyObject_IsTrue(value);
        if (f->type == YES)
            *(bool *)at = yes > 0;
        else if (yes > 0)
            o->flags |= (uint32_t)f->offset;
        return yes >= 0;
    }
    case SEED:
        return read_seed(value, o);
    case TEXT:
    case KIND:
    case HASH:
        break;
    }
    const char *text = PyUnicode_AsUTF8AndSize(value, NULL);
    if (!text)
        return false;
    if (f->type == HASH)
        return read_hash(text, (blm_hash *)at);
    if (f->type == KIND) {
        if (blm_kind_from_name(text, (blm_kind *)at))
            return true;
        PyErr_Format(PyExc_ValueError, "no kind '%s'; bloomery.kinds() lists them", text);
        return false;
    }
    *(const char **)at = text;
    return true;
}

bool core_options_of(PyObject *dict, blm_options *o)
{
    PyObject  *name, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(dict, &at, &name, &value)) {
        const char *text  = PyUnicode_AsUTF8AndSize(name, NULL);
        size_t      i     = 0;
        size_t      count = sizeof fields / sizeof *fields;
        if (!text)
            return false;
        while (i < count && strcmp(fields[i].name, text) != 0)
            i++;
        if (i == count) {
            PyErr_Format(PyExc_TypeError, "no option '%s'", text);
            return false;
        }
        if (!read_field(&fields[i], value, o))
            return false;
    }
    return true;
}

/* ---- dicts --- */

/* Takes the reference to value, which may be NULL (then so is the result). */
static bool put(PyObject *dict, const char *name, PyObject *value)
{
    bool good = dict && value && PyDict_SetItemString(dict, name, value) == 0;
    Py_XDECREF(value);
    return good;
}

static PyObject *text_or_none(const char *text)
{
    if (text)
        return PyUnicode_FromString(text);
    Py_RETURN_NONE;
}

static PyObject *whole(uint64_t n) { return PyLong_FromUnsignedLongLong(n); }

static PyObject *seed_of(const blm_params *p)
{
    if (p->seed_policy == BLM_SEED_NONE)
        Py_RETURN_NONE;
    PyObject *low = whole(p->seed[0]), *high = whole(p->seed[1]), *bits = PyLong_FromLong(64);
    PyObject *up  = high && bits ? PyNumber_Lshift(high, bits) : NULL;
    PyObject *all = up && low ? PyNumber_Or(up, low) : NULL;
    Py_XDECREF(up);
    Py_XDECREF(bits);
    Py_XDECREF(high);
    Py_XDECREF(low);
    return all;
}

static PyObject *dict_or_null(PyObject *d, bool good)
{
    if (!good)
        Py_CLEAR(d);
    return d;
}

/* Into `d`, which was made before the filter was looked at: to make one may run the collector, and so
 * code that closes the filter, whose texts these are. */
static PyObject *params_dict(PyObject *d, const blm_params *p)
{
    bool good =
        put(d, "kind", text_or_none(blm_kind_name(p->kind))) &&
        put(d, "scheme", text_or_none(p->scheme)) &&
        put(d, "scheme_version", whole(p->scheme_version)) &&
        put(d, "hash", text_or_none(p->hash)) && put(d, "bits", whole(p->bits)) &&
        put(d, "probes", whole(p->probes)) && put(d, "lines", whole(p->lines)) &&
        put(d, "layers", whole(p->layers)) && put(d, "capacity", whole(p->capacity)) &&
        put(d, "items", whole(p->items)) && put(d, "rate", PyFloat_FromDouble(p->rate)) &&
        put(d, "bytes", whole(p->bytes)) && put(d, "seed", seed_of(p)) &&
        put(d, "shared", PyBool_FromLong(p->shared)) &&
        put(d, "mapped",
            PyBool_FromLong(p->backing == BLM_FILE_READ || p->backing == BLM_FILE_WRITE)) &&
        put(d, "writable",
            PyBool_FromLong(p->backing != BLM_FILE_READ && (p->can & BLM_CAN_ADD) != 0)) &&
        put(d, "growth", PyFloat_FromDouble(p->growth)) &&
        put(d, "tightening", PyFloat_FromDouble(p->tightening)) &&
        put(d, "kernel", text_or_none(p->kernel)) && put(d, "format", text_or_none(p->format)) &&
        put(d, "funnel", text_or_none(p->funnel)) && put(d, "notice", text_or_none(p->notice)) &&
        put(d, "threads", whole(p->threads)) && put(d, "cell_bits", whole(p->cell_bits));
    return dict_or_null(d, good);
}

static PyObject *estimate_of(const blm_estimate *e)
{
    return Py_BuildValue("(dddO)", e->value, e->low, e->high, e->saturated ? Py_True : Py_False);
}

PyObject *core_params(PyObject *o, PyObject *none)
{
    blm_params p = { .size = sizeof p };
    PyObject  *d = PyDict_New();
    (void)none;
    if (!d || !core_may_read((core_filter *)o))
        return dict_or_null(d, false);
    blm_get_params(((core_filter *)o)->filter, &p);
    return params_dict(d, &p);
}

PyObject *core_layer(PyObject *o, PyObject *index)
{
    blm_params    p = { .size = sizeof p };
    unsigned long i = PyLong_AsUnsignedLong(index);
    PyObject     *d = PyErr_Occurred() ? NULL : PyDict_New();
    if (!d || !core_may_read((core_filter *)o))
        return dict_or_null(d, false);
    blm_status s = blm_get_layer(((core_filter *)o)->filter, (uint32_t)i, &p);
    if (s >= 0)
        return params_dict(d, &p);
    Py_DECREF(d);
    return core_raise_status(s, NULL);
}

PyObject *core_stats(PyObject *o, PyObject *none)
{
    core_filter *self = (core_filter *)o;
    blm_stats    t    = { .size = sizeof t, .params.size = sizeof t.params };
    PyObject    *d    = PyDict_New();
    (void)none;
    if (!d || !core_enter(self, false))
        return dict_or_null(d, false);
    blm_status             s;
    Py_BEGIN_ALLOW_THREADS s = blm_get_stats(self->filter, &t);
    Py_END_ALLOW_THREADS   d = s >= 0 ? params_dict(d, &t.params) : d;
    core_leave(self, false);
    if (s < 0) {
        Py_DECREF(d);
        return core_raise_status(s, NULL);
    }
    bool good = put(d, "ones", whole(t.ones)) && put(d, "fill", PyFloat_FromDouble(t.fill)) &&
                put(d, "estimate", estimate_of(&t.estimated)) &&
                put(d, "rate_now", PyFloat_FromDouble(t.rate_now)) &&
                put(d, "stuck", whole(t.stuck)) &&
                put(d, "overfilled", PyBool_FromLong(t.overfilled));
    return dict_or_null(d, good);
}

PyObject *core_fill_map(PyObject *o, PyObject *slices)
{
    core_filter *self = (core_filter *)o;
    Py_ssize_t   n    = PyLong_AsSsize_t(slices);
    if (PyErr_Occurred())
        return NULL;
    if (n < 1 || n > 1 << 24) {
        PyErr_SetString(PyExc_ValueError, "slices is from 1 to 2**24");
        return NULL;
    }
    double *fill = malloc((size_t)n * sizeof *fill);
    if (!fill)
        return PyErr_NoMemory();
    PyObject *list = NULL;
    if (core_enter(self, false)) {
        blm_status             s;
        Py_BEGIN_ALLOW_THREADS s = blm_fill_map(self->filter, fill, (size_t)n);
        Py_END_ALLOW_THREADS   core_leave(self, false);
        const char *why = s == BLM_E_ARGUMENT ? "more slices than the filter has cells" : NULL;
        list            = s < 0 ? core_raise_status(s, why) : PyList_New(n);
    }
    for (Py_ssize_t i = 0; list && i < n; i++) {
        PyObject *v = PyFloat_FromDouble(fill[i]);
        if (!v || PyList_SetItem(list, i, v) < 0)
            Py_CLEAR(list);
    }
    free(fill);
    return list;
}

PyObject *core_compare(PyObject *o, PyObject *other)
{
    core_filter *self = (core_filter *)o, *that = core_filter_of(other);
    blm_overlap  v   = { .size = sizeof v };
    blm_error    err = { .text = "" };
    if (!that || !core_enter_both(self, false, that))
        return NULL;
    blm_status             s;
    Py_BEGIN_ALLOW_THREADS s = blm_compare(self->filter, that->filter, &v, &err);
    Py_END_ALLOW_THREADS   core_leave_both(self, false, that);
    if (s < 0)
        return core_raise(s, &err);
    PyObject *d    = PyDict_New();
    bool      good = put(d, "a", estimate_of(&v.a)) && put(d, "b", estimate_of(&v.b)) &&
                put(d, "both", estimate_of(&v.both)) && put(d, "either", estimate_of(&v.either)) &&
                put(d, "jaccard", estimate_of(&v.jaccard));
    return dict_or_null(d, good);
}

PyObject *core_try_rate(PyObject *o, PyObject *args)
{
    core_filter *self = (core_filter *)o;
    PyObject    *trials, *start;
    uint64_t     count, seed;
    blm_trial    t   = { .size = sizeof t };
    blm_error    err = { .text = "" };
    if (!PyArg_ParseTuple(args, "OO", &trials, &start) ||
        !core_whole(trials, "trials", UINT64_MAX, &count) ||
        !core_whole(start, "seed", UINT64_MAX, &seed) || !core_enter(self, false))
        return NULL;
    blm_status             s;
    Py_BEGIN_ALLOW_THREADS s = blm_try_rate(self->filter, NULL, count, seed, &t, &err);
    Py_END_ALLOW_THREADS   core_leave(self, false);
    if (s < 0)
        return core_raise(s, &err);
    PyObject *d    = PyDict_New();
    bool      good = put(d, "trials", whole(t.trials)) && put(d, "hits", whole(t.hits)) &&
                put(d, "rate", PyFloat_FromDouble(t.rate)) &&
                put(d, "low", PyFloat_FromDouble(t.low)) &&
                put(d, "high", PyFloat_FromDouble(t.high)) &&
                put(d, "promised", PyFloat_FromDouble(t.promised)) &&
                put(d, "modelled", PyFloat_FromDouble(t.modelled)) &&
                put(d, "holds", PyBool_FromLong(t.holds));
    return dict_or_null(d, good);
}

PyObject *core_verify(PyObject *o, PyObject *none)
{
    core_filter *self = (core_filter *)o;
    blm_verdict  v    = { .size = sizeof v };
    blm_error    err  = { .text = "" };
    (void)none;
    if (!core_enter(self, false))
        return NULL;
    blm_status             s;
    Py_BEGIN_ALLOW_THREADS s = blm_verify(self->filter, &v, &err);
    Py_END_ALLOW_THREADS   core_leave(self, false);
    if (s < 0)
        return core_raise(s, &err);
    Py_RETURN_NONE;
}

PyObject *core_calc(PyObject *module, PyObject *options)
{
    blm_options o   = BLM_OPTIONS_INIT;
    blm_plan    p   = { .size = sizeof p };
    blm_error   err = { .text = "" };
    (void)module;
    if (!PyDict_Check(options)) {
        PyErr_SetString(PyExc_TypeError, "a dict of options");
        return NULL;
    }
    if (!core_options_of(options, &o))
        return NULL;
    blm_status s = blm_plan_for(&o, &p, &err);
    if (s < 0)
        return core_raise(s, &err);
    PyObject *d    = PyDict_New();
    bool      good = put(d, "kind", text_or_none(blm_kind_name(p.kind))) &&
                put(d, "capacity", whole(p.items)) && put(d, "rate", PyFloat_FromDouble(p.rate)) &&
                put(d, "bits", whole(p.bits)) && put(d, "probes", whole(p.probes)) &&
                put(d, "lines", whole(p.lines)) && put(d, "bytes", whole(p.bytes)) &&
                put(d, "fits", PyBool_FromLong(p.fits)) &&
                put(d, "bytes_needed", whole(p.bytes_needed)) &&
                put(d, "bits_per_key", PyFloat_FromDouble(p.bits_per_item));
    return dict_or_null(d, good);
}

static PyObject *texts(const char *const *list)
{
    PyObject *out = PyList_New(0);
    for (; out && list && *list; list++) {
        PyObject *text = PyUnicode_FromString(*list);
        if (!text || PyList_Append(out, text) < 0)
            Py_CLEAR(out);
        Py_XDECREF(text);
    }
    return out;
}

/* {"kinds": {name: summary}, "schemes": {name: {…}}, "formats": {name: {…}}} */
PyObject *core_rows(PyObject *module, PyObject *none)
{
    (void)module;
    (void)none;
    PyObject *kinds = PyDict_New(), *schemes = PyDict_New(), *formats = PyDict_New();
    bool      good = kinds && schemes && formats;
    for (size_t i = 0; good && blm_kind_at(i); i++)
        good = put(kinds, blm_kind_at(i)->name, text_or_none(blm_kind_at(i)->summary));
    for (size_t i = 0; good && blm_scheme_at(i); i++) {
        const blm_scheme_row *r = blm_scheme_at(i);
        PyObject             *d = PyDict_New();
        good                    = put(d, "summary", text_or_none(r->summary)) &&
               put(d, "funnels", texts(r->funnels)) &&
               put(d, "creates", PyBool_FromLong(r->creates)) &&
               put(d, "seeded", PyBool_FromLong(r->seeded)) &&
               put(d, "format", text_or_none(r->format));
        good = put(schemes, r->name, dict_or_null(d, good));
    }
    for (size_t i = 0; good && blm_format_at(i); i++) {
        const blm_format_row *r = blm_format_at(i);
        PyObject             *d = PyDict_New();
        good                    = put(d, "summary", text_or_none(r->summary)) &&
               put(d, "reads", PyBool_FromLong(r->reads)) &&
               put(d, "writes", PyBool_FromLong(r->writes));
        good = put(formats, r->name, dict_or_null(d, good));
    }
    PyObject *all =
        good ? Py_BuildValue("{sOsOsO}", "kinds", kinds, "schemes", schemes, "formats", formats)
             : NULL;
    Py_XDECREF(kinds);
    Py_XDECREF(schemes);
    Py_XDECREF(formats);
    return all;
}
