/* SPDX-License-Identifier: MIT */
/*
 * A spam list that never stops anybody in the address book. The addresses of known spammers and of
 * known people are built into one filter, a cascade, that is small enough for every mail server to
 * hold and makes no error on either list. It catches a few strangers by mistake. A stranger who
 * complains goes on a short, exact list, until the filter is built again without him.
 *
 *     spam-list [--spammers 100000] [--people 100000] [--strangers 50000] [--mails 300000]
 */
#include <bloomery/fixed.h>
#include <malloc.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "common/job.h"

/* ---- the part to take home ---- */

struct spam_list {
    blm_filter *spam;
    void       *allowed; /* strangers who complained: a tree of addresses, by tsearch */
    uint64_t    allowed_count;
};

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* Is mail from this address stopped? */
static bool list_stops(const struct spam_list *l, const char *address)
{
    return job_check(l->spam, address, strlen(address)) && !tfind(address, &l->allowed, by_text);
}

/* A stranger who was stopped complains. */
static void list_allow(struct spam_list *l, const char *address)
{
    char *copy = strdup(address);
    if (copy && tsearch(copy, &l->allowed, by_text))
        l->allowed_count++;
    else
        job_trouble("out of memory");
}

/* Takes the filter that was built from both lists. Who complained is excluded in it. */
static void list_renew(struct spam_list *l, blm_builder *b)
{
    blm_error err;
    blm_free(l->spam);
    job_need(blm_builder_build(b, &l->spam, &err), &err);
    blm_builder_free(b);
    tdestroy(l->allowed, free);
    l->allowed       = NULL;
    l->allowed_count = 0;
}

/* ---- the job ---- */

enum sender { SPAMMER, PERSON, STRANGER };

static const char *address_of(enum sender kind, uint64_t i, char out[64])
{
    static const char *const form[] = { "win-%llu@offers%u.example", "user.%llu@mail%u.example",
                                        "info%llu@company%u.example" };
    snprintf(out, 64, form[kind], (unsigned long long)i, (unsigned)(i % 211));
    return out;
}

static uint64_t heap(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* What the addresses take in an exact set built like the list of those who complained. */
static uint64_t exact_bytes(uint64_t spammers)
{
    uint64_t before = heap();
    void    *root   = NULL;
    char     a[64];
    for (uint64_t i = 0; i < spammers; i++)
        tsearch(strdup(address_of(SPAMMER, i, a)), &root, by_text);
    uint64_t bytes = heap() - before;
    tdestroy(root, free);
    return bytes;
}

/* The first `spammers` spammers and, as one of them, person number `turned`; everybody else in the
 * address book, and who complained. */
struct lists {
    uint64_t    spammers, people, turned;
    const void *complained;
};

static blm_builder *adding_to;

static void exclude_node(const void *node, VISIT visit, int depth)
{
    (void)depth;
    const char *address = *(const char *const *)node;
    blm_key     key     = { address, strlen(address) };
    if (visit == postorder || visit == leaf)
        job_need(blm_builder_exclude(adding_to, &key, 1), NULL);
}

static blm_builder *builder_of(const struct lists *w, double rate)
{
    blm_options  o = BLM_OPTIONS_INIT;
    blm_builder *b;
    blm_error    err;
    char         a[64];
    o.kind = BLM_CASCADE;
    o.rate = rate;
    job_need(blm_builder_new(&o, &b, &err), &err);
    for (uint64_t i = 0; i < w->spammers; i++) {
        blm_key key = { address_of(SPAMMER, i, a), strlen(a) };
        job_need(blm_builder_add(b, &key, 1), NULL);
    }
    for (uint64_t i = 0; i < w->people; i++) {
        blm_key key = { address_of(PERSON, i, a), strlen(a) };
        job_need(i == w->turned ? blm_builder_add(b, &key, 1) : blm_builder_exclude(b, &key, 1),
                 NULL);
    }
    adding_to = b;
    twalk(w->complained, exclude_node);
    return b;
}

struct count {
    uint64_t mails[3], stopped[3];
};

static void one_mail(struct spam_list *l, uint64_t *chance, const uint64_t senders[3],
                     struct count *c)
{
    char        a[64];
    enum sender kind    = (enum sender)(job_below(chance, 10) < 5   ? SPAMMER
                                        : job_below(chance, 10) < 8 ? PERSON
                                                                    : STRANGER);
    const char *address = address_of(kind, job_below(chance, senders[kind]), a);
    bool        stopped = list_stops(l, address);
    c->mails[kind]++;
    c->stopped[kind] += stopped;
    if (stopped && kind == STRANGER)
        list_allow(l, address); /* it does not happen again */
}

int main(int argc, char **argv)
{
    const uint64_t   senders[3] = { job_number(argc, argv, "--spammers", 100000),
                                    job_number(argc, argv, "--people", 100000),
                                    job_number(argc, argv, "--strangers", 50000) };
    uint64_t         mails = job_number(argc, argv, "--mails", 300000), chance = 41;
    double           rate = 0.001;
    struct spam_list l    = { .spam = NULL };
    struct lists     w    = { senders[SPAMMER], senders[PERSON], UINT64_MAX, NULL };
    struct count     c    = { 0 };
    char             a[64], b[16], d[16];
    list_renew(&l, builder_of(&w, rate));
    for (uint64_t i = 0; i < mails; i++)
        one_mail(&l, &chance, senders, &c);

    static const char *const name[] = { "spammers", "people in the address book", "strangers" };
    printf("%llu spammers and %llu people listed, %llu mails\n\n",
           (unsigned long long)senders[SPAMMER], (unsigned long long)senders[PERSON],
           (unsigned long long)mails);
    printf("%-28s %8s %8s\n", "mail from", "came", "stopped");
    for (int i = 0; i < 3; i++)
        printf("%-28s %8llu %8llu\n", name[i], (unsigned long long)c.mails[i],
               (unsigned long long)c.stopped[i]);
    blm_params p = { .size = sizeof p };
    blm_get_params(l.spam, &p);
    printf("\ncomplaints: %llu\n", (unsigned long long)l.allowed_count);
    printf("memory: filter %s, an exact set of the spammers %s\n",
           job_bytes((double)p.bytes, b, sizeof b),
           job_bytes((double)exact_bytes(senders[SPAMMER]), d, sizeof d));

    job_promise(c.stopped[SPAMMER] == c.mails[SPAMMER], "%llu mails from spammers came through",
                (unsigned long long)(c.mails[SPAMMER] - c.stopped[SPAMMER]));
    job_promise(c.stopped[PERSON] == 0, "%llu mails from the address book were stopped",
                (unsigned long long)c.stopped[PERSON]);
    job_promise((double)l.allowed_count <= 1.3 * rate * (double)senders[STRANGER] + 10,
                "%llu strangers complained", (unsigned long long)l.allowed_count);
    /* The next build: somebody in the address book has become a spammer, and who complained is
     * known. */
    w.turned     = 0;
    w.complained = l.allowed;
    list_renew(&l, builder_of(&w, rate));
    job_promise(senders[PERSON] == 0 || list_stops(&l, address_of(PERSON, 0, a)),
                "a spammer stayed in the address book");
    tdestroy(l.allowed, free);
    blm_free(l.spam);
    return job_end();
}
