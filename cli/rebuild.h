/* SPDX-License-Identifier: MIT */
/* Rebuilds a filter from its keys in another scheme, kind or size, for convert when the bits are
 * not enough. */
#ifndef CLI_REBUILD_H
#define CLI_REBUILD_H

#include "ref.h"

struct rebuild {
    const char *to;      /* format */
    const char *scheme;  /* NULL: the one that is usual for the format */
    const char *kind;    /* NULL: the old filter's, where the scheme is native */
    const char *members; /* file of its keys */
    uint64_t    items;   /* 0: as many as the old one was for */
    double      rate;    /* 0: the old one's */
    bool        force;
};

/* Can a format hold this filter as it is? False: err says why not. */
bool format_fits(const blm_filter *f, const char *format, blm_error *err);

/* The scheme that a name stands for: guava64 for guava. */
const char *scheme_called(const char *name);

/* s: the old filter's. Returns the exit status. Nothing is written unless every given key was in
 * the old filter and is in the new one, and no key seems to be missing. */
int rebuild(const struct rebuild *w, const struct ref *in, const blm_stats *s, const char *text);

#endif
