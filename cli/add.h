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
    bool     repeated; /* some keys were sent twice: fresh is a lower bound */
    bool     counted;  /* the filter counts copies: adding keys again is not the same */
};

/* A filter that was built at once takes no more keys. False: already reported. */
bool add_possible(const struct ref *r);
/* Adds keys until the input ends. False: it stopped early (interrupted, bad line, filter full). The
 * reason has been reported, except for an interruption. The keys added so far stay added. */
bool add_all(struct ref *r, struct keys *k, struct added *a);
/* Warns when a filter now has more keys than it was planned for. */
void add_warn_overfilled(struct ref *r);
/* Says that a failover may lose keys that were added to shards, unless --wait was given. */
void add_warn_failover(const struct ref *r);
/* Prints the closing note and returns the exit status. good: what add_all returned. */
int add_report(const char *name, const struct added *a, bool good);

#endif
