/* SPDX-License-Identifier: MIT */
/*
 * Repeated requests: a payment, an e-mail or a webhook that comes twice within a minute is
 * intercepted. The same one tomorrow is a new one. Two filters take turns: requests are added to
 * the younger, both are checked, and when the younger is a minute old, the older is emptied and
 * becomes the younger.
 *
 *     repeated-requests [--requests 300000] [--window 60]
 *
 * The clock is simulated, 1 000 requests a second; a third of the requests repeat an earlier one.
 */
#include <stdlib.h>
#include <string.h>

#include "common/job.h"

/* ---- the part to take home ---- */

struct window {
    blm_filter *young, *old;
    double      began, span; /* when the young one was started; seconds it stays young */
};

/* Has this request been accepted within the last `span` seconds? Then the answer is always yes. Up
 * to 2 · span it may be yes. After that it is no, except at the filter's rate. If the answer is no,
 * the request counts as accepted now. */
static bool window_repeats(struct window *w, const void *key, size_t len, double now)
{
    if (now - w->began >= w->span) {
        blm_filter *oldest = w->old;
        blm_clear(oldest);
        w->old   = w->young;
        w->young = oldest;
        if (now - w->began >= 2 * w->span)
            blm_clear(w->old); /* nothing came for so long that this one is out of date too */
        w->began = now;
    }
    blm_digest d; /* hash once, check both */
    blm_digest_of(w->young, key, len, &d);
    if (job_answers(blm_check_digest(w->young, &d) || blm_check_digest(w->old, &d)))
        return true;
    blm_add_digest(w->young, &d);
    return false;
}

/* ---- the job ---- */

#define PER_SECOND 1000.0

struct count {
    uint64_t fresh, fresh_stopped, within, within_passed, between, between_stopped, late,
        late_stopped;
};

/* A repeat of one that was accepted a moment, a minute, or an hour ago. */
static uint64_t earlier(uint64_t *chance, uint64_t issued, double window)
{
    static const double reach[] = { 0.2, 0.8, 1.6, 4.0 };
    uint64_t            back    = 1 + (uint64_t)(reach[job_below(chance, 4)] * window * PER_SECOND *
                                   (double)job_below(chance, 1000) / 1500.0);
    return back < issued ? issued - back : 0;
}

static void tally(struct count *c, double age, double span, bool stopped)
{
    if (age < 0) {
        c->fresh++;
        c->fresh_stopped += stopped;
    } else if (age < span) {
        c->within++;
        c->within_passed += !stopped;
    } else if (age < 2 * span) {
        c->between++;
        c->between_stopped += stopped;
    } else {
        c->late++;
        c->late_stopped += stopped;
    }
}

int main(int argc, char **argv)
{
    uint64_t      requests = job_number(argc, argv, "--requests", 300000);
    double        span     = (double)job_number(argc, argv, "--window", 60);
    uint64_t      capacity = (uint64_t)(span * PER_SECOND);
    double        rate     = 0.001;
    struct window w        = { .span = span };
    struct count  c        = { 0 };
    uint64_t      chance = 5, issued = 0;
    double       *accepted = malloc(requests * sizeof *accepted); /* the exact truth */
    w.young                = job_filter(BLM_BLOCKED, capacity, rate, 0);
    w.old                  = job_filter(BLM_BLOCKED, capacity, rate, 0);
    for (uint64_t i = 0; i < requests; i++) {
        char     key[64];
        double   now   = (double)i / PER_SECOND;
        bool     again = issued && job_below(&chance, 3) == 0;
        uint64_t id    = again ? earlier(&chance, issued, span) : issued++;
        if (!again)
            accepted[id] = -1e9;
        int    len = snprintf(key, sizeof key, "POST /pay order=%016llx", (unsigned long long)id);
        double age = accepted[id] < 0 ? -1 : now - accepted[id];
        bool   stopped = window_repeats(&w, key, (size_t)len, now);
        tally(&c, age, span, stopped);
        if (!stopped)
            accepted[id] = now;
    }
    blm_params p = { .size = sizeof p };
    blm_get_params(w.young, &p);
    char a[16], b[16];
    printf("%llu requests, a window of %.0f s\n\n", (unsigned long long)requests, span);
    printf("%-34s %9s %12s\n", "request", "came", "intercepted");
    printf("%-34s %9llu %12llu\n", "new", (unsigned long long)c.fresh,
           (unsigned long long)c.fresh_stopped);
    printf("%-34s %9llu %12llu\n", "repeated within the window", (unsigned long long)c.within,
           (unsigned long long)(c.within - c.within_passed));
    printf("%-34s %9llu %12llu\n", "repeated within the next one", (unsigned long long)c.between,
           (unsigned long long)c.between_stopped);
    printf("%-34s %9llu %12llu\n", "repeated later", (unsigned long long)c.late,
           (unsigned long long)c.late_stopped);
    printf("\nmemory: %s for both filters; the keys of two windows alone are %s\n",
           job_bytes(2 * (double)p.bytes, a, sizeof a),
           job_bytes(2 * (double)capacity * 32, b, sizeof b));
    printf("new requests intercepted by mistake: %.4f%% (at most %.2f%% was asked for)\n",
           100 * (double)c.fresh_stopped / (double)c.fresh, 100 * 2 * rate);
    job_promise(c.within_passed == 0, "%llu repeats within the window were let through",
                (unsigned long long)c.within_passed);
    job_promise((double)c.fresh_stopped <= 2 * rate * (double)c.fresh,
                "%llu of %llu new requests were intercepted", (unsigned long long)c.fresh_stopped,
                (unsigned long long)c.fresh);
    job_promise((double)c.late_stopped <= 2 * rate * (double)c.late + 10,
                "%llu of %llu late repeats were intercepted", (unsigned long long)c.late_stopped,
                (unsigned long long)c.late);
    blm_free(w.young);
    blm_free(w.old);
    free(accepted);
    return job_end();
}
