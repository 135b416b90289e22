/* SPDX-License-Identifier: MIT */
/* Builds on the disk, and fixed sets that replace others, when the power is cut before or after any
 * call that writes, flushes or renames, and once more while the build goes on. The file is the old set or the
 * new one, whole; the build goes on to the bytes of a build in memory. Where names were lost out of order
 * it may be refused instead, by name. */
#ifndef BLM_UNIT_BUILDER_POWER_H
#define BLM_UNIT_BUILDER_POWER_H

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
    enum tree_cut      first; /* what the first cut was, during the second one's */
    unsigned every;        /* of so many directories one is cut again while it goes on; 0: none */
    int      again, twice; /* such builds; directories that their second cuts left */
} now;

/* ---- sets ---- */

static blm_options options(void) { return fixed_options(now.form->kind, now.form->rate, 9); }

static blm_status give(blm_builder *b)
{
    uint64_t  *k  = numbers(0, IN + OUT);
    blm_status st = blm_builder_add_fixed(b, k, 8, IN);
    if (st == BLM_OK && now.form->out)
        st = blm_builder_exclude_fixed(b, k + IN, 8, (size_t)now.form->out);
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

static void check_build(const char *root, enum tree_cut how);

/* After a second cut, while the build of the first one's directory went on. */
static void check_twice(const char *root, enum tree_cut how)
{
    unsigned every = now.every;
    now.every      = 0;
    check_build(root, now.first == CUT_SCATTERED ? now.first : how);
    now.every = every;
    now.twice++;
}

/* The same build goes on under a second watch: what the first cut left is what is on the disk. */
static blm_status build_again(const char *root, enum tree_cut how, blm_error *err)
{
    static struct tree first;
    now.first = how;
    char here[sizeof tree.image];
    snprintf(here, sizeof here, "%s", root); /* it is the first one's */
    first                = tree;
    struct blm__os plain = blm__os;
    blm__os              = real_os;
    tree_watch(here, 11 + (uint64_t)first.cuts, 1, check_twice);
    blm_status st   = build(here, err);
    bool       done = now.done;
    now.done        = done || st == BLM_OK;
    tree_cut_power();
    now.done = done;
    tree_unwatch();
    blm__os = plain;
    tree    = first;
    now.again++;
    return st;
}

static void check_build(const char *root, enum tree_cut how)
{
    blm_error err = { .offset = BLM_NO_OFFSET };
    check_set(root);
    bool       cut_again = now.every && (unsigned)tree.cuts % now.every == now.every / 2;
    blm_status st        = cut_again ? build_again(root, how, &err) : build(root, &err);
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

UNUSED_OK static void check_replaced(const char *root, enum tree_cut how)
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
    print_message("%s: %d directories, %d after a second cut in %d builds; %d refused\n",
                  blm_kind_name(now.form->kind), tree.cuts + now.twice, now.twice, now.again,
                  now.refused);
    assert_int_equal(now.went_on + now.refused, tree.cuts + now.twice);
    tree_empty(root);
    rmdir(root);
    free(now.old.p);
    free(now.want.p);
}

/* The first forms; of `every` directories one is cut again. */
static void builds_go_on(size_t count, unsigned every)
{
    for (size_t i = 0; i < count; i++) {
        blm_error   err  = { .offset = BLM_NO_OFFSET };
        const char *root = begin_story(&forms[i], check_build,
                                       long_tests()   ? 5
                                       : slow_tests() ? 2
                                                      : 1);
        now.every        = every;
        if (build(root, &err) != BLM_OK)
            fail_msg("%s", err.text);
        end_story(root);
        assert_true(tree.cuts > 100);
        assert_true(now.refused * 4 < now.went_on); /* they are the exception */
        assert_true(now.again > 1 && now.twice > 50);
    }
}

#endif
