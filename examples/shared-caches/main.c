/* SPDX-License-Identifier: MIT */
/*
 * Shared caches: three web caches that hold each other's summaries. A document that is not here may
 * be in a neighbour's cache, which is nearer than its origin. Asking every neighbour costs messages
 * for every miss. Instead each cache keeps a counting filter of what it holds (documents also
 * leave), gives a plain copy of it to the others, and sends them what changed from time to time. A
 * neighbour is asked only if its summary answers "maybe".
 *
 *     shared-caches [--requests 200000] [--documents 60000] [--room 6000] [--refresh 600]
 *
 * --refresh: a summary is sent again after that many changes of the cache.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery/delta.h"
#include "cache.h"
#include "common/job.h"

#define PEERS  3u
#define HEADER 24u /* bytes around a question or an answer, as in the Internet Cache Protocol */

struct peer {
    struct cache cache;
    blm_filter  *home;          /* counting: what is held now */
    blm_filter  *sent;          /* plain: what the others have of it */
    blm_filter  *abroad[PEERS]; /* plain: what the others hold, as last received */
    uint64_t     changes;       /* since the last refresh */
};

struct count {
    uint64_t requests, local, remote, origin;
    uint64_t questions, false_hits, stale_misses; /* with summaries */
    uint64_t asked_all;                           /* if every neighbour were asked */
    uint64_t question_bytes, asked_all_bytes;
    uint64_t deltas, delta_bytes, whole_bytes;
    uint64_t nearby; /* misses that some neighbour could have served */
};

struct delta {
    uint8_t *bytes;
    size_t   len, room, read;
};

static bool delta_write(void *ctx, const void *bytes, size_t len)
{
    struct delta *d = ctx;
    if (d->len + len > d->room) {
        d->room  = 2 * (d->len + len);
        d->bytes = realloc(d->bytes, d->room);
        if (!d->bytes)
            return false;
    }
    memcpy(d->bytes + d->len, bytes, len);
    d->len += len;
    return true;
}
static size_t delta_read(void *ctx, void *bytes, size_t len)
{
    struct delta *d = ctx;
    size_t        n = d->len - d->read < len ? d->len - d->read : len;
    memcpy(bytes, d->bytes + d->read, n);
    d->read += n;
    return n;
}

static size_t url_of(uint32_t document, char url[80])
{
    return (size_t)snprintf(url, 80, "http://site%u.example.com/articles/%u.html", document % 97,
                            document);
}

/* Sends what changed since the last time to both neighbours, which update their copies. */
static void refresh(struct peer *peers, uint32_t who, struct count *c)
{
    struct peer *p = &peers[who];
    blm_filter  *now;
    blm_error    err;
    struct delta d = { 0 };
    uint64_t     whole;
    job_need(blm_reduce(p->home, &now, &err), &err);
    job_need(blm_diff(p->sent, now, delta_write, &d, &err), &err);
    blm_view(now, 0, &whole);
    for (uint32_t i = 0; i < PEERS; i++) {
        if (i == who)
            continue;
        blm_filter *patched;
        d.read = 0;
        job_need(blm_patch(peers[i].abroad[who], delta_read, &d, &patched, &err), &err);
        job_promise(blm_equal(patched, now), "a copy abroad differs from its original");
        blm_free(peers[i].abroad[who]);
        peers[i].abroad[who] = patched;
        c->deltas++;
        c->delta_bytes += d.len;
        c->whole_bytes += whole;
    }
    blm_free(p->sent);
    p->sent    = now;
    p->changes = 0;
    free(d.bytes);
}

static void take_in(struct peer *p, uint32_t document, const char *url, size_t len)
{
    uint32_t gone = cache_insert(&p->cache, document);
    blm_add(p->home, url, len);
    p->changes++;
    if (gone != CACHE_NONE) {
        char   old[80];
        size_t old_len = url_of(gone, old);
        job_need(blm_remove(p->home, old, old_len), NULL); /* it was held: it can be removed */
        p->changes++;
    }
}

/* Not here: is it next door? */
static bool served_nearby(struct peer *peers, uint32_t who, uint32_t document, const char *url,
                          size_t len, struct count *c)
{
    bool     nearby = false, served = false, denied = false;
    uint32_t message = HEADER + (uint32_t)len;
    for (uint32_t step = 1; step < PEERS; step++) {
        uint32_t i    = (who + step) % PEERS;
        bool     held = peers[i].cache.held[document];
        nearby |= held;
        c->asked_all += 2; /* a question, an answer */
        c->asked_all_bytes += 2 * message;
        bool maybe = job_check(peers[who].abroad[i], url, len);
        denied |= held && !maybe;
        if (served || !maybe)
            continue;
        c->questions += 2;
        c->question_bytes += 2 * message;
        if (held)
            served = cache_use(&peers[i].cache, document);
        else
            c->false_hits++;
    }
    c->nearby += nearby;
    c->stale_misses += denied && !served;
    return served;
}

static void request(struct peer *peers, uint32_t who, uint32_t document, uint64_t every,
                    struct count *c)
{
    struct peer *p = &peers[who];
    char         url[80];
    size_t       len = url_of(document, url);
    c->requests++;
    if (cache_use(&p->cache, document)) {
        c->local++;
        return;
    }
    if (served_nearby(peers, who, document, url, len, c))
        c->remote++;
    else
        c->origin++;
    take_in(p, document, url, len);
    if (p->changes >= every)
        refresh(peers, who, c);
}

/* A few documents are asked for often, most of them rarely. */
static uint32_t popular(uint64_t *chance, uint64_t documents)
{
    double u = (double)(job_random(chance) >> 11) * 0x1p-53;
    return (uint32_t)((double)documents * pow(u, 2.2));
}

static void start(struct peer peers[PEERS], uint32_t documents, uint32_t room)
{
    for (uint32_t i = 0; i < PEERS; i++) {
        blm_error err;
        peers[i] = (struct peer){ .home = job_filter(BLM_COUNTING, room, 0.01, 0) };
        cache_make(&peers[i].cache, documents, room);
        job_need(blm_reduce(peers[i].home, &peers[i].sent, &err), &err);
    }
    for (uint32_t i = 0; i < PEERS; i++)
        for (uint32_t j = 0; j < PEERS; j++)
            if (i != j)
                job_need(blm_copy(peers[j].sent, &peers[i].abroad[j], NULL), NULL);
}

static void stop(struct peer peers[PEERS])
{
    for (uint32_t i = 0; i < PEERS; i++) {
        cache_free(&peers[i].cache);
        blm_free(peers[i].home);
        blm_free(peers[i].sent);
        for (uint32_t j = 0; j < PEERS; j++)
            blm_free(peers[i].abroad[j]);
    }
}

static void report(const struct count *c, const struct peer *peers)
{
    char       a[16], b[16];
    blm_params home = { .size = sizeof home }, away = { .size = sizeof away };
    blm_get_params(peers[0].home, &home);
    blm_get_params(peers[0].sent, &away);
    double misses = (double)(c->remote + c->origin), n = (double)c->requests;
    printf("%llu requests: %.1f%% served here, %.1f%% next door, %.1f%% by the origin\n\n",
           (unsigned long long)c->requests, 100 * (double)c->local / n, 100 * (double)c->remote / n,
           100 * (double)c->origin / n);
    printf("%-24s %12s %12s\n", "", "ask everyone", "summaries");
    printf("%-24s %12llu %12llu\n", "questions and answers", (unsigned long long)c->asked_all,
           (unsigned long long)c->questions);
    printf("%-24s %12d %12llu\n", "deltas", 0, (unsigned long long)c->deltas);
    printf("%-24s %12s %12s\n", "bytes", job_bytes((double)c->asked_all_bytes, a, sizeof a),
           job_bytes((double)(c->question_bytes + c->delta_bytes), b, sizeof b));
    printf("%-24s %12s %12llu\n", "false hits", "-", (unsigned long long)c->false_hits);
    printf("%-24s %12s %12llu\n", "stale misses", "-", (unsigned long long)c->stale_misses);
    printf("\nfalse hits per miss: %.2f%%; stale misses: %.2f%% of what a neighbour had\n",
           100 * (double)c->false_hits / misses, 100 * (double)c->stale_misses / (double)c->nearby);
    printf("a summary is %s at home (counting), %s abroad (plain); ",
           job_bytes((double)home.bytes, a, sizeof a), job_bytes((double)away.bytes, b, sizeof b));
    printf("a delta is %s, ", job_bytes((double)c->delta_bytes / (double)c->deltas, a, sizeof a));
    printf("%.0f%% of a whole copy\n", 100 * (double)c->delta_bytes / (double)c->whole_bytes);
}

int main(int argc, char **argv)
{
    uint64_t     requests  = job_number(argc, argv, "--requests", 200000);
    uint64_t     documents = job_number(argc, argv, "--documents", 60000);
    uint64_t     room      = job_number(argc, argv, "--room", 6000);
    uint64_t     every     = job_number(argc, argv, "--refresh", 600);
    uint64_t     chance    = 31;
    struct peer  peers[PEERS];
    struct count c = { 0 };
    start(peers, (uint32_t)documents, (uint32_t)room);
    for (uint64_t i = 0; i < requests; i++)
        request(peers, (uint32_t)job_below(&chance, PEERS), popular(&chance, documents), every, &c);
    report(&c, peers);
    job_promise(c.questions * 2 < c.asked_all, "%llu messages where asking everyone takes %llu",
                (unsigned long long)c.questions, (unsigned long long)c.asked_all);
    job_promise(c.question_bytes + c.delta_bytes < c.asked_all_bytes,
                "summaries cost more bytes than asking everyone");
    job_promise((double)c.stale_misses < 0.1 * (double)c.nearby,
                "%llu of %llu documents next door were not seen",
                (unsigned long long)c.stale_misses, (unsigned long long)c.nearby);
    stop(peers);
    return job_end();
}
