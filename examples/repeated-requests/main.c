/* SPDX-License-Identifier: MIT */
/*
 * Repeated requests: a payment, an e-mail or a webhook that comes twice within a minute is
 * intercepted. The same one tomorrow is a new one. A window forgets by itself.
 *
 *     repeated-requests [--requests 300000] [--window 60]
 *
 * The clock is simulated, 1 000 requests a second; a third of the requests repeat an earlier one.
 */
#include <bloomery/window.h>
#include <stdlib.h>
#include <string.h>

#include "common/job.h"

/* ---- the part to take home ---- */

/* Has this request been accepted within the window? Then the answer is always yes. For the slack
 * after that it may be yes. Later it is no, except at the filter's rate. If the answer is no, the
 * request counts as accepted now. */
static bool repeats(blm_filter *accepted, const void *key, size_t len)
{
    if (job_answers(blm_check(accepted, key, len)))
        return true;
    blm_add(accepted, key, len);
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

static double   now; /* seconds since the job began */
static uint64_t simulated(void *ctx)
{
    (void)ctx;
    return 1700000000000u + (uint64_t)(now * 1000);
}

static blm_filter *window(uint64_t items, double rate, double seconds)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   e;
    blm_filter *f = NULL;
    o.kind        = BLM_WINDOW;
    o.items       = items;
    o.rate        = rate;
    o.window_ms   = (uint64_t)(seconds * 1000);
    o.clock       = simulated;
    job_need(blm_create(&o, &f, &e), &e);
    return f;
}

static void tally(struct count *c, double age, double span, double slack, bool stopped)
{
    if (age < 0) {
        c->fresh++;
        c->fresh_stopped += stopped;
    } else if (age < span) {
        c->within++;
        c->within_passed += !stopped;
    } else if (age <= span + slack) {
        c->between++;
        c->between_stopped += stopped;
    } else {
        c->late++;
        c->late_stopped += stopped;
    }
}

int main(int argc, char **argv)
{
    uint64_t     requests = job_number(argc, argv, "--requests", 300000);
    double       span     = (double)job_number(argc, argv, "--window", 60);
    uint64_t     capacity = (uint64_t)(span * PER_SECOND);
    double       rate     = 0.002;
    struct count c        = { 0 };
    uint64_t     chance = 5, issued = 0;
    double      *accepted = malloc((size_t)requests * sizeof *accepted); /* the exact truth */
    blm_filter  *seen     = window(capacity, rate, span);
    blm_window   w        = { .size = sizeof w };
    blm_get_window(seen, &w);
    for (uint64_t i = 0; i < requests; i++) {
        char key[64];
        now            = (double)i / PER_SECOND;
        bool     again = issued && job_below(&chance, 3) == 0;
        uint64_t id    = again ? earlier(&chance, issued, span) : issued++;
        if (!again)
            accepted[id] = -1e9;
        int    len = snprintf(key, sizeof key, "POST /pay order=%016llx", (unsigned long long)id);
        double age = accepted[id] < 0 ? -1 : now - accepted[id];
        bool   stopped = repeats(seen, key, (size_t)len);
        tally(&c, age, span, (double)w.slack / 1000, stopped);
        if (!stopped)
            accepted[id] = now;
    }
    blm_params p = { .size = sizeof p };
    blm_get_params(seen, &p);
    blm_filter *half = job_filter(BLM_BLOCKED, capacity, rate / 2, 0); /* of two that take turns */
    blm_params  q    = { .size = sizeof q };
    blm_get_params(half, &q);
    char a[16], b[16], d[16];
    printf("%llu requests, a window of %.0f s and up to %.1f s of slack\n\n",
           (unsigned long long)requests, span, (double)w.slack / 1000);
    printf("%-34s %9s %12s\n", "request", "came", "intercepted");
    printf("%-34s %9llu %12llu\n", "new", (unsigned long long)c.fresh,
           (unsigned long long)c.fresh_stopped);
    printf("%-34s %9llu %12llu\n", "repeated within the window", (unsigned long long)c.within,
           (unsigned long long)(c.within - c.within_passed));
    printf("%-34s %9llu %12llu\n", "repeated within the slack", (unsigned long long)c.between,
           (unsigned long long)c.between_stopped);
    printf("%-34s %9llu %12llu\n", "repeated later", (unsigned long long)c.late,
           (unsigned long long)c.late_stopped);
    printf("\nmemory: %s; two filters that take turns, with a whole window of slack: %s; the keys "
           "alone: %s\n",
           job_bytes((double)p.bytes, a, sizeof a), job_bytes(2 * (double)q.bytes, b, sizeof b),
           job_bytes((double)capacity * 32, d, sizeof d));
    printf("new requests intercepted by mistake: %.4f%% (at most %.2f%% was asked for)\n",
           100 * (double)c.fresh_stopped / (double)c.fresh, 100 * rate);
    job_promise(c.within_passed == 0, "%llu repeats within the window were let through",
                (unsigned long long)c.within_passed);
    job_promise((double)c.fresh_stopped <= rate * (double)c.fresh,
                "%llu of %llu new requests were intercepted", (unsigned long long)c.fresh_stopped,
                (unsigned long long)c.fresh);
    job_promise((double)c.late_stopped <= rate * (double)c.late + 10,
                "%llu of %llu late repeats were intercepted", (unsigned long long)c.late_stopped,
                (unsigned long long)c.late);
    blm_free(seen);
    blm_free(half);
    free(accepted);
    return job_end();
}
