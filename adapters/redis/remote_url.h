/* SPDX-License-Identifier: MIT */
/* URLs of filters on Redis, in parts. */
#ifndef ADAPTERS_REDIS_REMOTE_URL_H
#define ADAPTERS_REDIS_REMOTE_URL_H

#include "bloomery_remote.h"

#define BLM__SLOTS 16384u

struct blm__remote_seed {
    char *host;
    int   port;
};

struct blm__remote_url {
    bool                     cluster;
    char                    *socket; /* NULL: hosts */
    struct blm__remote_seed *seeds;  /* one, unless `cluster` */
    size_t                   seed_count;
    char                    *user, *password; /* NULL: none */
    uint64_t                 db;
    char                    *key; /* its bytes; NUL-ended too */
    size_t                   key_len;
    double                   timeout; /* seconds without an answer */
    uint32_t                 shards;  /* 0: not given */
};

blm_status blm__remote_url_parse(const char *text, struct blm__remote_url *u, blm_error *err);
void       blm__remote_url_free(struct blm__remote_url *u);

#endif
