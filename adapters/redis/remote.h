/* SPDX-License-Identifier: MIT */
/* What the files of blm_remote share:
 *
 *   remote_url.c     parses URLs
 *   remote_node.c    a connection to one node, and what is on its way there and back
 *   remote_run.c     sends commands to the nodes that have their keys, until all are answered
 *   remote_keys.c    checks, adds and removes keys
 *   remote_chunks.c  whole filters in chunks, and new ones
 *   remote_shards.c  one filter in many keys
 *   remote.c         opening, closing, parameters
 *   near.h           copies in this process
 */
#ifndef ADAPTERS_REDIS_REMOTE_H
#define ADAPTERS_REDIS_REMOTE_H

#include "bloomery_remote.h"
#include "connection.h"
#include "remote_url.h"

/* ---- nodes ---- */

/* What a reply on its way answers: the number of a command, or one of these. */
#define BLM__ASKING SIZE_MAX
#define BLM__WAIT   (SIZE_MAX - 1)

struct blm__remote_node {
    char         *host; /* NULL: the URL's socket */
    int           port;
    redisContext *c; /* NULL: not connected */
    char         *out;
    size_t        out_at, out_len, out_room; /* bytes that are not sent yet */
    size_t       *queue;                     /* what the replies to come answer */
    size_t        queue_at, queue_len, queue_room;
    double        heard;     /* when something came, or the first command went out */
    bool          writes;    /* adds in this round, for WAIT */
    unsigned      down;      /* the round in which it could not be reached */
    char          why[100];  /* … or was lost */
    bool          slow, met; /* it said nothing for too long; it has answered before */
};

struct blm_remote {
    struct blm__remote_url    url;
    blm_remote_options        o;
    struct blm__remote_node **nodes; /* the first is the one the URL names */
    size_t                    node_count;
    int16_t                   owner[BLM__SLOTS]; /* the node that has a slot */
    unsigned                  round;
    bool                      was_open; /* some node has answered: worth trying again */
    bool                      counting; /* an add sent twice counts twice */
    bool                      ours;     /* a shard is of our own type, native bytes */
    blm_remote_stats          stats;

    /* Shards: one key, or what the descriptor says (remote_shards.c). */
    uint32_t                  shards;
    struct blm__remote_shard *shard;
    blm_filter               *route;   /* hashes keys; NULL: there is one shard */
    uint64_t                  seed[2]; /* of the route */
    uint32_t                  id;      /* in the shards' names */
    uint64_t                  items;   /* planned for, of all shards; 0: not known */
    double                    rate;
};

struct blm__remote_shard {
    char    *key;
    size_t   key_len;
    uint16_t slot;
};

double blm__remote_now(void);
void   blm__remote_pause(double seconds);
/* Longest wait for a node's answer, in seconds. */
double blm__remote_patience(const blm_remote *r);

/* The node with this address, made if it is not known. Negative: no memory. */
int  blm__node_at(blm_remote *r, const char *host, size_t len, int port);
void blm__node_free(struct blm__remote_node *n);
/* Connects and logs in, if it is not connected. */
blm_status blm__node_dial(blm_remote *r, struct blm__remote_node *n, blm_error *err);
void       blm__node_hang_up(struct blm__remote_node *n);
blm_status blm__node_lost(const blm_remote *r, const struct blm__remote_node *n, blm_error *err);
/* Puts a command on its way. False: no memory. */
bool blm__node_say(struct blm__remote_node *n, size_t what, size_t argc, const char *const *argv,
                   const size_t *len);
/* Sends and reads what can be at this moment. False: lost; n->why says how. */
bool               blm__node_send(blm_remote *r, struct blm__remote_node *n);
bool               blm__node_read(blm_remote *r, struct blm__remote_node *n);
static inline bool blm__node_busy(const struct blm__remote_node *n)
{
    return n->c && n->queue_at < n->queue_len;
}

/* ---- commands ---- */

enum blm__command_state { BLM__WAITING, BLM__SENT, BLM__ANSWERED, BLM__DONE };

struct blm__remote_command {
    size_t                  argc;
    const char            **argv;
    size_t                 *len;
    uint16_t                slot;
    enum blm__command_state state;
    int                     node;  /* that it was sent to */
    int                     ask;   /* the node that an ASK named; −1: none */
    bool                    again; /* it may have been done before */
};

/* Takes the reply to command i; not BLM_OK: stop, with err filled. A command that is sent again has
 * several replies. */
typedef blm_status (*blm__reply_fn)(void *ctx, size_t i, const redisReply *reply, blm_error *err);

#define BLM__AGAIN 1u /* commands without a reply may be sent once more */
#define BLM__WRITE 2u /* they are done when options.wait replicas have them */

/* Sends the commands to all nodes at once and hands each reply to `take`. Follows redirections,
 * and waits for nodes that are not ready. On return the commands' states say which were done. */
blm_status blm__remote_run(blm_remote *r, struct blm__remote_command *commands, size_t count,
                           unsigned how, blm__reply_fn take, void *ctx, blm_error *err);
/* Sends one command to the node that has the slot. BLM_OK: *out is a reply and no error, to be
 * freed. */
blm_status blm__remote_call(blm_remote *r, uint16_t slot, const struct blm_redis_command *c,
                            unsigned how, redisReply **out, blm_error *err);
/* Where the cluster's slots are now. */
blm_status blm__remote_map(blm_remote *r, blm_error *err);
/* Fills err from an error reply, with what to do about it if we know. */
blm_status blm__remote_refusal(const char *text, blm_error *err);
uint16_t   blm__remote_crc16(uint16_t crc, const char *bytes, size_t len);
uint16_t   blm__remote_slot(const char *key, size_t len);
/* Does {…} in the key say which part of it decides the slot, and where is that? */
bool blm__remote_tag(const char *key, size_t len, const char **tag, size_t *tag_len);

/* ---- whole filters ---- */

/* Makes an empty filter like f under a shard's key, from the options that f was made from. */
blm_status blm__remote_reserve(blm_remote *r, const struct blm__remote_shard *s,
                               const blm_options *o, const blm_filter *f, bool replace,
                               blm_error *err);
blm_status blm__remote_push(blm_remote *r, const struct blm__remote_shard *s, const blm_filter *f,
                            const char *format, bool replace, blm_error *err);

/* One try to fetch a shard. `between` is called after each chunk. */
typedef blm_status (*blm__between_fn)(void *ctx, blm_error *err);
blm_status blm__remote_fetch_while(blm_remote *r, uint32_t shard, const blm_options *f,
                                   blm__between_fn between, void *ctx, blm_filter **out,
                                   blm_error *err);

/* Of which type is a shard's filter by now? In r->ours. */
blm_status blm__remote_look(blm_remote *r, uint32_t shard, blm_error *err);

/* ---- shards ---- */

/* One key: the URL's. */
blm_status blm__shards_one(blm_remote *r, blm_error *err);
/* Reads the descriptor. E_ABSENT: there is none. */
blm_status blm__shards_find(blm_remote *r, blm_error *err);
/* Is the descriptor still that of these shards? E_ABSENT: there is none. */
blm_status blm__shards_same(blm_remote *r, bool *same, blm_error *err);
/* The descriptor as a line of text, and shards from one. */
#define BLM__SHARDS_TEXT 256
void       blm__shards_write(const blm_remote *r, char out[BLM__SHARDS_TEXT]);
blm_status blm__shards_read(blm_remote *r, const char *text, blm_error *err);
blm_status blm__shards_create(blm_remote *r, const blm_options *o, blm_error *err);
blm_status blm__shards_merge(blm_remote *r, blm_remote *const *from, size_t count, bool replace,
                             blm_error *err);
void       blm__shards_free(blm_remote *r);
/* Sends a command of two words, the second a shard's key, to all of them. */
blm_status blm__shards_ask(blm_remote *r, const char *word, unsigned how, blm__reply_fn take,
                           void *ctx, blm_error *err);

#endif
