/* SPDX-License-Identifier: MIT */
/* The kit finds each way in which a data set can be wrong, and nothing in one that is right. */
#include "../support.h"

#include "bloomery/guard.h"
#include "guards.h"

static enum wrong {
    RIGHT,
    PAGES,    /* the scan skips the first row of each page of 256 */
    FEW,      /* … stops after 900 */
    UNSTOP,   /* … does not stop when it is told to */
    MUTE,     /* … and says nothing of it */
    TWICE,    /* del says twice that it deleted a row */
    FORGETS,  /* del says that it did, and did not */
    OLD,      /* get gives the value that was put first */
    INVENTED, /* get finds rows that nobody put */
    NO_MARK,  /* mark_read gives half of it */
    WRONGS
} wrong;

struct filtered {
    blm_key_fn each;
    void      *ctx;
    uint64_t   n;
    bool       stopped;
};

static bool pass_on(void *ctx, const void *key, size_t len)
{
    struct filtered *f = ctx;
    uint64_t         n = f->n++;
    if ((wrong == PAGES && n % 256 == 255) || (wrong == FEW && n >= 900))
        return true;
    bool more = f->each(f->ctx, key, len);
    f->stopped |= !more;
    return more || wrong == UNSTOP;
}

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    struct filtered f  = { each, each_ctx, 0, false };
    blm_status      st = rows_scan(ctx, pass_on, &f, err);
    return wrong == MUTE ? BLM_OK : f.stopped ? BLM_E_CANCELLED : st;
}

static blm_status del(void *ctx, const void *key, size_t len, blm_error *err)
{
    if (wrong == FORGETS)
        return BLM_OK;
    blm_status st = rows_del(ctx, key, len, err);
    return wrong == TWICE ? BLM_OK : st;
}

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    if (wrong == OLD && value)
        value(value_ctx, "0.0", 3);
    return rows_get(ctx, key, len, NULL, NULL, err) == BLM_OK || wrong == INVENTED ? BLM_OK
                                                                                   : BLM_E_ABSENT;
}

static blm_status mark_read(void *ctx, void *mark, size_t *len, blm_error *err)
{
    blm_status st = rows_mark_read(ctx, mark, len, err);
    if (wrong == NO_MARK)
        *len /= 2;
    return st;
}

static void test_each_wrong(void **state)
{
    (void)state;
    static const char *const words[WRONGS] = {
        [PAGES]    = "the scan at rest does not name it",
        [FEW]      = "rows in all",
        [UNSTOP]   = "goes on after its callback",
        [MUTE]     = "does not give BLM_E_CANCELLED",
        [TWICE]    = "a second del",
        [FORGETS]  = "a second del",
        [OLD]      = "another value",
        [INVENTED] = "nobody put it",
        [NO_MARK]  = "mark_write",
    };
    for (wrong = RIGHT; wrong < WRONGS; wrong++) {
        blm_dataset d   = rows_dataset(&rows);
        blm_error   err = { .status = BLM_OK };
        rows.mark_len   = 0;
        d.scan          = scan;
        d.del           = del;
        d.get           = get;
        d.mark_read     = mark_read;
        blm_status st   = blm_dataset_try(&d, 1000, NULL, NULL, &err);
        if (st != (wrong == RIGHT ? BLM_OK : BLM_E_MISMATCH))
            fail_msg("%d: %s: %s", (int)wrong, blm_status_name(st), err.text);
        if (wrong != RIGHT && !strstr(err.text, words[wrong]))
            fail_msg("%d: %s", (int)wrong, err.text);
        rows_free(&rows);
        rows_init(&rows, 1u << 16);
    }
}

static void test_what_it_needs(void **state)
{
    (void)state;
    blm_dataset d = rows_dataset(&rows);
    assert_int_equal(blm_dataset_try(NULL, 0, NULL, NULL, NULL), BLM_E_ARGUMENT);
    assert_int_equal(blm_dataset_try(&d, (uint64_t)1 << 30, NULL, NULL, NULL), BLM_E_ARGUMENT);
    d.put = NULL;
    assert_int_equal(blm_dataset_try(&d, 0, NULL, NULL, NULL), BLM_E_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = { ROWS(test_each_wrong), ROWS(test_what_it_needs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
