/* SPDX-License-Identifier: MIT */
/* Adding a whole input to a filter: the work of add, of create --from, and of every command that
 * rebuilds a filter from its keys. */
#ifndef CLI_ADD_H
#define CLI_ADD_H

#include "keys.h"
#include "ref.h"

struct added {
    uint64_t keys;     /* added */
    uint64_t fresh;    /* of those, new to the filter */
    bool     repeated; /* some were sent twice, and are not new the second time: fresh is a bound */
};

/* Adds until the input ends. False: it did not end well (interrupted, bad line, filter full); what
 * can be said has been said, but for an interruption. What was added stays added. */
bool add_all(struct ref *r, struct keys *k, struct added *a);
/* Says so when a filter now has more keys than it was made for. */
void add_warn_overfilled(struct ref *r);
/* The closing words, and the exit status. good: what add_all returned. */
int add_report(const char *name, const struct added *a, bool good);

#endif
