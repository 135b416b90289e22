/* SPDX-License-Identifier: MIT */
/*
 * A spam list with an allow-list. The addresses of known spammers are in a filter that is small
 * enough for every mail server to hold. It catches a few honest people by mistake. They are on an
 * exact allow-list, which is short because mistakes are rare. Addresses in the address book are
 * checked against the filter once, so they are on the allow-list before the first mail. A stranger
 * gets on it by complaining.
 *
 *     spam-list [--spammers 100000] [--people 100000] [--strangers 50000] [--mails 300000]
 */
#include <malloc.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "common/job.h"

/* ---- the part to take home ---- */

struct spam_list {
    blm_filter *spam;
    void       *allowed; /* a tree of addresses, by tsearch */
    uint64_t    allowed_count;
};

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

static bool list_allows(const struct spam_list *l, const char *address)
{
    return tfind(address, &l->allowed, by_text) != NULL;
}

/* Is mail from this address stopped? */
static bool list_stops(const struct spam_list *l, const char *address)
{
    return job_check(l->spam, address, strlen(address)) && !list_allows(l, address);
}

/* An honest address: if the filter catches it, it goes on the allow-list. */
static void list_honest(struct spam_list *l, const char *address)
{
    if (!list_stops(l, address))
        return;
    char *copy = strdup(address);
    if (copy && tsearch(copy, &l->allowed, by_text))
        l->allowed_count++;
    else
        job_trouble("out of memory");
}

/* A spammer: added to the filter, and removed from the allow-list, or their mail would be let
 * through for ever. */
static void list_spammer(struct spam_list *l, const char *address)
{
    void *at = tfind(address, &l->allowed, by_text);
    blm_add(l->spam, address, strlen(address));
    if (at) {
        char *copy = *(char **)at;
        tdelete(address, &l->allowed, by_text);
        free(copy);
        l->allowed_count--;
    }
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

/* What the addresses take in an exact set built like the allow-list. */
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

struct count {
    uint64_t mails[3], stopped[3], caught[3]; /* caught: would be stopped without the allow-list */
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
    c->caught[kind] += job_check(l->spam, address, strlen(address));
    if (stopped && kind == STRANGER)
        list_honest(l, address); /* they complain, and it does not happen again */
}

/* A person on the allow-list starts to send spam, and must be stopped from then on. */
static bool turncoat_is_stopped(struct spam_list *l, uint64_t people)
{
    char a[64];
    for (uint64_t i = 0; i < people; i++)
        if (list_allows(l, address_of(PERSON, i, a))) {
            list_spammer(l, a);
            return list_stops(l, a);
        }
    return true; /* the allow-list is empty */
}

int main(int argc, char **argv)
{
    const uint64_t   senders[3] = { job_number(argc, argv, "--spammers", 100000),
                                    job_number(argc, argv, "--people", 100000),
                                    job_number(argc, argv, "--strangers", 50000) };
    uint64_t         mails = job_number(argc, argv, "--mails", 300000), chance = 41;
    double           rate = 0.001;
    struct spam_list l    = { .spam = job_filter(BLM_BLOCKED, senders[SPAMMER] + 1, rate, 0) };
    struct count     c    = { 0 };
    char             a[64], b[16], d[16];
    for (uint64_t i = 0; i < senders[SPAMMER]; i++)
        list_spammer(&l, address_of(SPAMMER, i, a));
    for (uint64_t i = 0; i < senders[PERSON]; i++)
        list_honest(&l, address_of(PERSON, i, a));
    uint64_t from_book = l.allowed_count;
    for (uint64_t i = 0; i < mails; i++)
        one_mail(&l, &chance, senders, &c);

    static const char *const name[] = { "spammers", "people in the address book", "strangers" };
    printf("%llu spammers listed, %llu mails\n\n", (unsigned long long)senders[SPAMMER],
           (unsigned long long)mails);
    printf("%-28s %8s %16s %14s\n", "mail from", "came", "stopped without", "stopped with");
    printf("%-28s %8s %16s %14s\n", "", "", "the allow-list", "it");
    for (int i = 0; i < 3; i++)
        printf("%-28s %8llu %16llu %14llu\n", name[i], (unsigned long long)c.mails[i],
               (unsigned long long)c.caught[i], (unsigned long long)c.stopped[i]);
    blm_params p = { .size = sizeof p };
    blm_get_params(l.spam, &p);
    printf("\nallow-list: %llu addresses, %llu of them from the address book\n",
           (unsigned long long)l.allowed_count, (unsigned long long)from_book);
    printf("memory: filter %s, an exact set of the spammers %s\n",
           job_bytes((double)p.bytes, b, sizeof b),
           job_bytes((double)exact_bytes(senders[SPAMMER]), d, sizeof d));

    double honest = (double)(senders[PERSON] + senders[STRANGER]);
    job_promise(c.stopped[SPAMMER] == c.mails[SPAMMER], "%llu mails from spammers came through",
                (unsigned long long)(c.mails[SPAMMER] - c.stopped[SPAMMER]));
    job_promise(c.stopped[PERSON] == 0, "%llu mails from the address book were stopped",
                (unsigned long long)c.stopped[PERSON]);
    job_promise((double)l.allowed_count <= 1.3 * rate * honest,
                "%llu addresses on the allow-list where %.0f were planned",
                (unsigned long long)l.allowed_count, rate * honest);
    job_promise((double)c.stopped[STRANGER] <= 1.3 * rate * (double)senders[STRANGER] + 10,
                "%llu mails from strangers were stopped", (unsigned long long)c.stopped[STRANGER]);
    job_promise(turncoat_is_stopped(&l, senders[PERSON]), "a spammer stayed on the allow-list");
    tdestroy(l.allowed, free);
    blm_free(l.spam);
    return job_end();
}
