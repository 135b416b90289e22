/* SPDX-License-Identifier: MIT */
/* What the files of blm_near share:
 *
 *   near_load.c   what changed on the server, and whole loads
 *   near_file.c   copies in files, which other processes map
 *   near.c        following, opening, checks and adds
 */
#ifndef ADAPTERS_REDIS_NEAR_H
#define ADAPTERS_REDIS_NEAR_H

#include <stdatomic.h>
#include <sys/stat.h>
#include <time.h>

#include "bloomery_near.h"
#include "remote.h"

/* A shard's copy. */
struct blm__copy {
    blm_filter *filter;    /* NULL: not loaded */
    uint64_t    epoch, at; /* the server's, and the sequence number of the next change */
    uint64_t    loads;
    bool        ours;    /* native bytes: changes are hashes of 8 bytes, else digests of 16 */
    bool        whole;   /* no more changes at the moment */
    bool        old;     /* must be loaded again */
    uint8_t    *pending; /* changes that came during the load */
    size_t      pending_len, pending_room;
};

struct blm_near {
    blm_near_options      o;
    blm_remote           *follows, *adds; /* the second is opened by the first add or question */
    char                 *url;
    pthread_mutex_t       asking, adding; /* over each of them */
    pthread_rwlock_t      lock;           /* over the copies' filters, and which they are */
    struct blm__copy     *copies;
    atomic_uint_least32_t shards;
    atomic_uint_least64_t since; /* microseconds: the copy has all that was acknowledged then */
    uint64_t              own;   /* times that keys were added here, under the lock */
    atomic_uint_least64_t filters, known; /* how often the filter became another one, and how often
                                           * that was so when `adds` was opened */
    pthread_t             thread;
    pthread_mutex_t       waking;
    pthread_cond_t        wake;
    bool                  ends, started;
    blm_error             why; /* what the last question failed for; under `waking`, as `ends` */
    atomic_uint_least64_t loads, changes, failures, received, bytes;
    uint64_t              before; /* bytes received by connections that are closed */

    /* Files. */
    char                 *file;      /* NULL: in memory */
    bool                  directory; /* of shards */
    bool                  told;      /* the directory's descriptor is of these shards */
    struct timespec       date;      /* the file has all that was acknowledged then; … */
    bool                  dated;     /* … and that is known. Written under the lock */
    bool                  reads;     /* another process keeps it */
    atomic_uint_least64_t looked;    /* … and when we last looked whether it is another one */
    struct stat           is;
    int                   held; /* … its descriptor, and 1 */
};

/* Microseconds, of which the machine's sleep counts. They begin long before the machine did, so that
 * any age can be taken off, and 0 is older than anything. */
uint64_t blm__near_now(void);

/* ---- near_load.c ---- */

/* Asks for changes, takes them over, and loads what must be loaded. */
blm_status blm__near_catch_up(blm_near *n, blm_error *err);

/* ---- near_file.c ---- */

/* Makes the loaded filter the shard's copy, and takes it. Under the lock. */
blm_status blm__near_place(blm_near *n, uint32_t shard, blm_filter *f, blm_error *err);
/* May the copy be in this file or directory? */
blm_status blm__near_claim(blm_near *n, blm_error *err);
/* All copies are in their files, and have what was acknowledged then. */
blm_status blm__near_publish(blm_near *n, const struct timespec *then, blm_error *err);
/* Writing to the file has made it look newer than it is. By who asks, or under the lock. */
blm_status blm__near_date(blm_near *n, blm_error *err);
/* The end: a directory in which nothing came about goes. */
void blm__near_abandon(blm_near *n);
/* The copy that another process keeps: opens it, or another one that took its place. */
blm_status blm__near_look(blm_near *n, blm_error *err);
/* It is no longer needed. */
void blm__near_release(blm_near *n);

/* Frees so many copies. The status and err are of the first whose file could not be closed. */
blm_status blm__near_forget(struct blm__copy *copies, uint32_t count, blm_error *err);

#endif
