/* SPDX-License-Identifier: MIT */
/* Builds on the disk, and fixed sets that replace others, when the power is cut before or after any
 * call that writes, flushes or renames. The file is the old set or the new one, whole; the build goes on
 * to the bytes of a build in memory. Where names were lost out of order it may be refused instead, by
 * name. */
#include "unit/fixed.h"

#include "unit/files.h"
#include "unit/power_tree.h"

#define IN     5000u
#define OUT    3000u
#define MEMORY 65536u /* runs of 2048 keys, 4096 merged at once */

static const struct form {
    blm_kind kind;
    double   rate;
    uint64_t out;
} forms[] = {
    { BLM_STATIC, 0.004, 0 },
    { BLM_CASCADE, 0, OUT },
    { BLM_CLASSIC, 1e-3, 0 },
};

static struct {
    const struct form *form;
    struct bytes       old, want; /* files, whole */
    bool               done;      /* the call that makes the new one has returned */
    int                went_on, refused;
} now;

/* ---- sets ---- */

static blm_options options(void) { return fixed_options(now.form->kind, now.form->rate, 9); }

static blm_status give(blm_builder *b)
{
    uint64_t  *k  = numbers(0, IN + OUT);
    blm_status st = blm_builder_add_fixed(b, k, 8, IN);
    if (st == BLM_OK && now.form->out)
        st = blm_builder_exclude_fixed(b, k + IN, 8, now.form->out);
    free(k);
    return st;
}

static struct bytes built_in_memory(void)
{
    blm_options  o = options();
    blm_builder *b = builder_of(&o);
    assert_status(give(b), BLM_OK);
    blm_filter  *f     = build_and_free(b);
    struct bytes bytes = encoded(f);
    blm_free(f);
    return bytes;
}

static struct bytes some_other_set(void)
{
    blm_options  o     = fixed_options(BLM_STATIC, 0.01, 77);
    blm_filter  *f     = fixed_of(&o, 700, 0);
    struct bytes bytes = encoded(f);
    blm_free(f);
    return bytes;
}

static blm_status build(const char *root, blm_error *err)
{
    char         dir[400], path[400];
    blm_options  o = options();
    blm_builder *b = NULL;
    snprintf(dir, sizeof dir, "%s/spill", root);
    snprintf(path, sizeof path, "%s/set", root);
    blm_status st = blm_builder_open(dir, &o, MEMORY, &b, err);
    if (st != BLM_OK)
        return st;
    st = give(b);
    if (st != BLM_OK)
        blm_builder_sync(b, err);
    else
        st = blm_builder_save(b, path, BLM_REPLACE, err);
    blm_builder_free(b);
    return st;
}

/* ---- after a cut ---- */

static bool same(const struct bytes *a, const struct bytes *b)
{
    return a->len == b->len && memcmp(a->p, b->p, a->len) == 0;
}

static void check_set(const char *root)
{
    char path[400];
    snprintf(path, sizeof path, "%s/set", root);
    struct bytes is = slurp(path);
    if (!same(&is, &now.want) && (now.done || !same(&is, &now.old)))
        fail_msg("the file has %zu bytes of neither set, or of the old one after the new one was "
                 "made",
                 is.len);
    free(is.p);
}

static void check_build(const char *root, enum tree_cut how)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    check_set(root);
    blm_status st = build(root, &err);
    if (st != BLM_OK) {
        if (how != CUT_SCATTERED)
            fail_msg("%s: %s", blm_status_name(st), err.text);
        assert_true(st == BLM_E_CHECKSUM || st == BLM_E_TRUNCATED || st == BLM_E_IO);
        if (!strstr(err.text, "remove the directory and start again"))
            fail_msg("refused without a way on: %s", err.text);
        check_set(root);
        now.refused++;
        return;
    }
    bool done = now.done;
    now.done  = true;
    check_set(root);
    now.done = done;
    now.went_on++;
}

static void check_replaced(const char *root, enum tree_cut how)
{
    (void)how;
    check_set(root);
    now.went_on++;
}

/* ---- stories ---- */

static const char *begin_story(const struct form *f, void (*check)(const char *, enum tree_cut),
                               int                mixtures)
{
    static char root[300];
    char        path[400];
    memset(&now, 0, sizeof now);
    now.form = f;
    now.old  = some_other_set();
    now.want = built_in_memory();
    snprintf(root, sizeof root, "%s", at("live"));
    assert_int_equal(mkdir(root, 0700), 0);
    snprintf(path, sizeof path, "%s/set", root);
    spit(path, now.old.p, now.old.len);
    tree_watch(root, 5, mixtures, check);
    return root;
}

static void end_story(const char *root)
{
    now.done = true;
    tree_cut_power();
    tree_unwatch();
    check_set(root);
    print_message("%s: %d directories, %d went on, %d refused\n", blm_kind_name(now.form->kind),
                  tree.cuts, now.went_on, now.refused);
    assert_int_equal(now.went_on + now.refused, tree.cuts);
    tree_empty(root);
    rmdir(root);
    free(now.old.p);
    free(now.want.p);
}

static void a_build_goes_on_after_a_power_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        blm_error   err  = { .offset = BLM_NO_OFFSET };
        const char *root = begin_story(&forms[i], check_build, slow_tests() ? 5 : 1);
        if (build(root, &err) != BLM_OK)
            fail_msg("%s", err.text);
        end_story(root);
        assert_true(tree.cuts > 100);
        assert_true(now.refused * 4 < now.went_on); /* they are the exception */
    }
}

static int no_nameless(const char *dir, unsigned mode, int *fd)
{
    (void)dir, (void)mode, (void)fd;
    return EOPNOTSUPP;
}

/* i odd: on a file system whose new files have a name from the first byte on. */
static void a_replaced_set_is_the_old_or_the_new_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2 * COUNT_OF(forms); i++) {
        const char  *root = begin_story(&forms[i / 2], check_replaced, slow_tests() ? 100 : 20);
        blm_options  o    = options();
        blm_builder *b    = builder_of(&o);
        blm_error    err  = { .offset = BLM_NO_OFFSET };
        char         path[400];
        if (i % 2)
            blm__os.open_nameless = no_nameless;
        assert_status(give(b), BLM_OK);
        snprintf(path, sizeof path, "%s/set", root);
        if (blm_builder_save(b, path, BLM_REPLACE, &err) != BLM_OK)
            fail_msg("%s", err.text);
        blm_builder_free(b);
        end_story(root);
        assert_true(tree.cuts > (i % 2 ? 20 : 4));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        file_test(a_build_goes_on_after_a_power_cut),
        file_test(a_replaced_set_is_the_old_or_the_new_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
