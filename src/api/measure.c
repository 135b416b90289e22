/* SPDX-License-Identifier: MIT */
/* The public calls that tell what a filter is and what is in it. */
#include <math.h>
#include <string.h>

#include "api/filter.h"
#include "bloomery/maths.h"
#include "engine/ages.h"
#include "maths/sizing.h"

/* Layers whose probes in step are counted: later ones are stricter, and take longer. */
#define MODELLED  32u
#define FREE_BITS 14.0 /* by chance none of them is free once in a million times */

/* ---- parameters ---- */

static void layer_params(const blm_filter *f, const struct blm__layer *l, blm_params *p)
{
    const struct blm__body *b = &f->body;
    memset(p, 0, sizeof *p);
    p->kind           = l->shape.kind;
    p->scheme         = f->body.scheme->row.name;
    p->scheme_version = f->body.hasher.version;
    p->hash           = f->body.scheme->native || f->body.scheme->row.by_caller ? b->hasher.name
                                                                                : f->body.scheme->row.name;
    p->bits           = l->shape.bits;
    p->probes         = blm__shape_probes(&l->shape);
    p->lines          = l->shape.lines;
    p->layers         = 1;
    p->capacity       = l->shape.capacity;
    p->items          = blm__layer_holds(l);
    p->rate           = l->shape.rate;
    p->bytes          = l->word_count * 8;
    memcpy(p->seed, b->hasher.seed, sizeof p->seed);
    p->seed_policy = b->hasher.policy;
    p->shared      = b->shared;
    p->huge_pages  = l->block.huge;
    p->backing     = b->store->backing;
    p->writer      = b->store->writer ? b->store->writer(b) : BLM_WRITER_NONE;
    p->unclosed    = blm__body_unclosed(b);
    p->kernel      = b->kernel->name;
    p->format      = b->format ? b->format : "native";
    p->variant     = l->shape.variant;
    p->notice      = f->body.scheme->notice ? f->body.scheme->notice(&l->shape) : NULL;
    p->threads     = f->threads ? f->threads : 1;
    p->line_bytes  = blm__line_cells(l->shape.rule) * l->shape.cell_bits / 8;
    p->can         = blm__filter_can(f);
    p->cell_bits   = l->shape.cell_bits;
    p->funnel      = b->hasher.funnel;
    if (b->store->which)
        b->store->which(b, p->identity, &p->writes);
}

static void body_params(const blm_filter *f, blm_params *p)
{
    const struct blm__body *b = &f->body;
    layer_params(f, &b->layers[b->active], p);
    p->kind       = b->kind;
    p->layers     = b->layer_count;
    p->rate       = b->rate;
    p->growth     = b->ops->growth ? b->ops->growth(b) : b->growth;
    p->tightening = b->tightening;
    p->rate_cap   = b->rate_cap;
    p->kept       = b->ops->kept ? b->ops->kept(b) : 0;
    p->bits = p->capacity = p->items = p->bytes = 0;
    for (uint32_t i = 0; i < b->layer_count; i++) {
        const struct blm__layer *l = &b->layers[i];
        p->bits += l->shape.bits;
        p->capacity += l->shape.capacity;
        p->items += blm__layer_holds(l);
        p->bytes += l->word_count * 8;
        p->huge_pages |= l->block.huge;
    }
    if (b->ops->totals)
        b->ops->totals(b, p, NULL);
}

blm_status blm_get_params(const blm_filter *f, blm_params *out)
{
    blm_params p;
    body_params(f, &p);
    return blm__emit(out, &p, sizeof p);
}

blm_status blm_get_layer(const blm_filter *f, uint32_t layer, blm_params *out)
{
    if (layer >= f->body.layer_count)
        return BLM_E_ARGUMENT;
    blm_params p;
    layer_params(f, &f->body.layers[layer], &p);
    return blm__emit(out, &p, sizeof p);
}

/* ---- contents ---- */

/* From throws to keys, of a scheme in which keys have fewer different hashes than probes, and not all
 * of them as many: those of n keys vary as well. */
static void throws_to_keys(const struct blm__shape *s, uint64_t ones, double most, blm_estimate *e)
{
    double spread, each = s->scheme->throws(s, &spread);
    blm__estimate_scale(e, 1 / each);
    blm__estimate_widen(e, e->value * spread, (double)ones / s->probes, most);
}

/* Where some bits get more probes than others: the keys that set as many of them as e's would if all got as
 * many. How many bits a key adds varies as well. Returns that spread. */
static double as_probes_lie(const struct blm__shape *s, uint64_t ones, blm_estimate *e)
{
    const double m = (double)blm__shape_reach(s), k = s->probes;
    double       spread = 0;
    e->low              = s->scheme->keys(s, -expm1(-e->low * k / m), NULL);
    e->high             = s->scheme->keys(s, -expm1(-e->high * k / m), NULL);
    e->value            = s->scheme->keys(s, -expm1(-e->value * k / m), &spread);
    e->saturated |= spread < 0;
    spread = fmax(spread, 0);
    if (e->saturated)
        e->high = INFINITY;
    e->low = fmin(e->low, e->value);
    blm__estimate_widen(e, e->value * spread, (double)ones / k, INFINITY);
    return spread;
}

/* How many keys are in a layer. Keys that crowd their probes into lines, or have fewer hashes than
 * probes, spread their bits differently. */
static void estimate_layer(const struct blm__layer *l, uint64_t reach, uint64_t ones,
                           blm_estimate *e)
{
    const struct blm__shape *s = &l->shape;
    if (l->engine->estimate) {
        l->engine->estimate(l, e);
        return;
    }
    if (s->scheme->throws) {
        blm_estimate_items(reach, 1, ones, e);
        throws_to_keys(s, ones, INFINITY, e);
        return;
    }
    blm_estimate_items(reach, blm__shape_probes(s), ones, e);
    if (s->scheme->keys)
        as_probes_lie(s, ones, e);
    if (s->lines)
        blm__estimate_in_lines(blm__line_cells(s->rule), s->bits, blm__shape_probes(s), s->lines,
                               ones, e);
}

/* Some schemes promise less than their filters give with as many keys as planned: that is not the keys' fault. */
static double planned_rate(const struct blm__body *b, const blm_params *p)
{
    double rate = 0;
    if (b->scheme->native || b->ops->rate_at(b, p->capacity, &rate) != BLM_OK)
        return p->rate;
    return rate;
}

/* At the planned number of keys the bits' own rate lies around the promise: half of all honest
 * filters are a little above. Three standard deviations of the fill, and then twice that because
 * the probes of a key are not spread quite independently, are no alarm. */
static bool beyond_chance(const struct blm__body *b, const blm_stats *s)
{
    if (!(s->params.rate > 0) || s->ones == 0)
        return false;
    double fill  = s->fill < 1 ? s->fill : 1;
    double slack = 6 * s->params.probes * sqrt((1 - fill) / (fill * (double)s->params.bits));
    return s->rate_now > s->params.rate * (1 + slack) &&
           s->rate_now > planned_rate(b, &s->params) * (1 + slack);
}

/* Fewer keys than planned are not too many, whatever the rate: of few keys in lines it varies by chance
 * several times over. Is it more, by the count or for sure by the bits? A window may have too many at once. */
static bool too_many(const struct blm__body *b, const blm_stats *s)
{
    const blm_params *p    = &s->params;
    double            sure = s->estimated.value - 3 * (s->estimated.value - s->estimated.low);
    if (b->ops->row.can & BLM_CAN_FORGET)
        return blm__ages_crowded(&b->layers[0]);
    if (s->estimated.saturated) /* as planned, if hardly a bit was to stay free */
        return (1 - pow(p->rate, 1.0 / p->probes)) * (double)p->bits > FREE_BITS;
    return p->capacity == 0 || p->items > p->capacity || sure > (double)p->capacity;
}

/* The chance that a layer says maybe to a key that is not there; `bits`: what its fill says of that. */
static double layer_rate(const struct blm__layer *l, uint64_t ones, double bits, uint32_t layer)
{
    double more = layer < MODELLED && bits < 1 ? blm__in_step_now(&l->shape, ones) : 0;
    return fmin(bits + more, 1);
}

/* Two keys with one 64-bit hash are one key. The rates of buckets and fuse filters have that in them. */
static double with_collisions(const struct blm__body *b, const blm_stats *s)
{
    blm_model model = blm__shape_model(&b->layers[0].shape);
    if (!b->scheme->native || s->ones == 0 || s->estimated.saturated ||
        model == BLM_MODEL_BUCKETS || model == BLM_MODEL_FUSE)
        return s->rate_now;
    return blm__with_collisions(s->rate_now, (uint64_t)fmin(fmax(s->estimated.value, 1), 0x1p60));
}

/* What happens by chance, `mean` times on average, happens no oftener, but for 2.5%. */
static double at_most(double mean)
{
    double count = 0, chance = exp(-mean), sum = chance;
    for (; sum < 0.975 && mean < 100; sum += chance) /* above, a normal distribution is as good */
        chance *= mean / ++count;
    return count;
}

/* A fingerprint is a key. One that is there again is a key that was added again, or, as often as chance has
 * it, another key: of n keys each meets one of those before it at half of the rate. */
static blm_estimate keys_by_prints(const struct blm__layer *l, uint64_t ones, double rate)
{
    struct blm__prints p = { 0 };
    double             n = (double)ones, differ, same, spread = 0;
    l->engine->prints(l, &p);
    differ = p.all < n && p.all > 0 ? n * p.differ / p.all : fmin(rint(p.differ), n);
    if (p.all < n && p.all > 0) /* some: the shares of one that is there again fall together */
        spread = 2 * differ * (n - differ) / p.all;
    same           = differ < n ? differ * rate / 2 : 0;
    blm_estimate e = { fmin(differ + same, n), 0, 0, false };
    e.low = e.high = e.value;
    blm__estimate_widen(&e, same + spread, spread > 0 ? 0 : differ, n);
    e.high = fmin(fmax(e.high, differ + at_most(same)), n);
    return e;
}

/* How many keys came when this was the youngest layer. Those that an older one claimed (all but the share
 * `absent`, as coins fall) set no bits here. */
static blm_estimate layer_keys(const struct blm__layer *l, uint64_t reach, uint64_t ones,
                               double rate, double absent)
{
    blm_estimate e = { 0, 0, INFINITY, true }; /* of no probes nothing can be said */
    if (l->engine->prints)
        return keys_by_prints(l, ones, rate);
    if (l->shape.probes == 0)
        return e;
    estimate_layer(l, reach, ones, &e);
    if (absent < 1 && absent > 0) {
        blm__estimate_scale(&e, 1 / absent);
        blm__estimate_widen(&e, e.value * (1 - absent) / absent,
                            (double)ones / blm__shape_probes(&l->shape), INFINITY);
    }
    return e;
}

/* Layers grow. One that is no larger than the one before was put there by a union: its keys were added
 * without asking the layers before it, and may be in those too. */
static bool from_elsewhere(const blm_params *p, const struct blm__layer *l, uint32_t i)
{
    return i > 0 && p->growth > 1 && l[i].shape.capacity <= l[i - 1].shape.capacity &&
           !l[i].engine->prints;
}

/* The keys of all filters that were united are not fewer than those of one of them. */
struct united {
    blm_estimate one;
    double       low, absent; /* of the layers of this one, chance that no bits say maybe */
};

static void begin_another(struct united *u)
{
    u->low    = fmax(u->low, u->one.low);
    u->one    = (blm_estimate){ 0 };
    u->absent = 1;
}

blm_status blm_get_stats(const blm_filter *f, blm_stats *out)
{
    const struct blm__body *b = &f->body;
    blm_stats               s;
    uint64_t                cells = 0;
    double                  none  = 0; /* ln of the chance that no layer says maybe */
    struct united           u     = { .absent = 1 };
    memset(&s, 0, sizeof s);
    body_params(f, &s.params);
    s.params.size = sizeof s.params;
    for (uint32_t i = 0; i < b->layer_count; i++) {
        const struct blm__layer *l = &b->layers[i];
        uint64_t ones = blm__layer_ones(l, b->kernel), reach = blm__shape_reach(&l->shape);
        if (ones > reach) /* bits past m set in a caller's own words, or where no key leads */
            ones = reach;
        s.ones += ones;
        cells += l->engine->cells ? l->engine->cells(&l->shape) : l->shape.bits;
        if (from_elsewhere(&s.params, b->layers, i))
            begin_another(&u);
        double       bits = blm__layer_rate_now(l, ones);
        blm_estimate e    = layer_keys(l, reach, ones, bits, u.absent);
        blm__estimate_add(&s.estimated, &e);
        blm__estimate_add(&u.one, &e);
        s.rate_now = layer_rate(l, ones, bits, i);
        u.absent *= 1 - bits;
        none += log1p(-s.rate_now);
        if (l->engine->stuck)
            s.stuck += l->engine->stuck(l);
    }
    if (u.low > 0) /* more than one: how many keys they share is not known */
        s.estimated.low = fmin(fmax(u.low, u.one.low), s.estimated.value);
    s.fill     = (double)s.ones / (double)cells;
    s.rate_now = b->layer_count == 1 ? s.rate_now : -expm1(none);
    s.rate_now = with_collisions(b, &s);
    if (b->ops->totals)
        b->ops->totals(b, &s.params, &s);
    s.overfilled      = beyond_chance(b, &s) && too_many(b, &s);
    s.params.unclosed = blm__body_unclosed(b); /* a writer may have come while bits were counted */
    return blm__emit(out, &s, sizeof s);
}

blm_status blm_fill_map(const blm_filter *f, double *out, size_t slices)
{
    const struct blm__body *b     = &f->body;
    uint64_t                total = 0, base = 0;
    if (!out || slices == 0)
        return BLM_E_ARGUMENT;
    for (uint32_t i = 0; i < b->layer_count; i++)
        total += b->layers[i].shape.bits;
    if (slices > total)
        return BLM_E_ARGUMENT;
    if (!b->ops->add)
        return BLM_E_UNSUPPORTED; /* whether a cell is in use does not say whether a key has it */
    if (b->ops->row.can & BLM_CAN_FORGET)
        return BLM_E_UNSUPPORTED; /* its cells are in use only for a while: blm_get_ages */
    uint32_t layer = 0;
    for (size_t s = 0; s < slices; s++) {
        /* Cells [from, to) of all layers laid end to end; the slices differ by one cell at most. */
        uint64_t q = total / slices, r = total % slices;
        uint64_t from = q * s + (s < r ? s : r), to = from + q + (s < r), sum = 0;
        for (uint64_t at = from; at < to;) {
            while (at >= base + b->layers[layer].shape.bits)
                base += b->layers[layer++].shape.bits;
            uint64_t end = base + b->layers[layer].shape.bits;
            if (end > to)
                end = to;
            sum += blm__cells_used(&b->layers[layer], at - base, end - base);
            at = end;
        }
        out[s] = (double)sum / (double)(to - from);
    }
    return BLM_OK;
}

/* ---- two filters ---- */

/* The same for two filters. Jaccard's index is a share of throws already, and only gets less certain. */
static void overlap_to_keys(const struct blm__shape *s, uint64_t of_a, uint64_t of_b,
                            uint64_t of_or, blm_overlap *o)
{
    double spread, j = o->jaccard.value;
    s->scheme->throws(s, &spread);
    throws_to_keys(s, of_a, INFINITY, &o->a);
    throws_to_keys(s, of_b, INFINITY, &o->b);
    throws_to_keys(s, of_or, INFINITY, &o->either);
    throws_to_keys(s, 0, fmin(o->a.high, o->b.high), &o->both);
    if (o->either.value > 0)
        blm__estimate_widen(&o->jaccard, j * (1 - j) * spread / o->either.value, 0, 1);
}

static void move_to(blm_estimate *e, double value, double most)
{
    const double by = value - e->value;
    e->value        = value;
    e->low          = fmax(e->low + by, 0);
    e->high         = fmin(fmax(e->high + by, value), most);
}

/* The same where probes lie unevenly. What two have in common is what one of them and the other have, less what
 * either has. */
static void overlap_as_probes_lie(const struct blm__shape *s, uint64_t of_a, uint64_t of_b,
                                  uint64_t of_or, blm_overlap *o)
{
    const double even = o->either.value;
    as_probes_lie(s, of_a, &o->a);
    as_probes_lie(s, of_b, &o->b);
    const double spread = as_probes_lie(s, of_or, &o->either);
    const double most = fmin(o->a.high, o->b.high), either = o->either.value;
    if (!(even > 0))
        return;
    blm__estimate_scale(&o->both, either / even);
    move_to(&o->both, fmin(fmax(o->a.value + o->b.value - either, 0), fmin(o->a.value, o->b.value)),
            most);
    blm__estimate_widen(&o->both, o->both.value * spread, 0, most);
    move_to(&o->jaccard, o->both.value / either, 1);
    const double j = o->jaccard.value;
    blm__estimate_widen(&o->jaccard, j * (1 - j) * spread / either, 0, 1);
    if (!o->either.saturated)
        return;
    o->both    = (blm_estimate){ o->both.value, 0, most, true };
    o->jaccard = (blm_estimate){ o->jaccard.value, 0, 1, true };
}

blm_status blm_compare(const blm_filter *a, const blm_filter *b, blm_overlap *out, blm_error *err)
{
    if (!(a->body.ops->row.can & b->body.ops->row.can & BLM_CAN_COMPARE))
        return blm__fail(err, BLM_E_UNSUPPORTED, "%s filters cannot be compared bit by bit",
                         a->body.ops->row.can & BLM_CAN_COMPARE ? b->body.ops->row.name
                                                                : a->body.ops->row.name);
    blm_status st = blm__filter_same(a, b, err);
    if (st != BLM_OK)
        return st;
    const struct blm__layer *x = &a->body.layers[0], *y = &b->body.layers[0];
    blm_overlap              o     = { .size = sizeof o };
    uint64_t                 of_a  = blm__layer_ones(x, a->body.kernel);
    uint64_t                 of_b  = blm__layer_ones(y, b->body.kernel);
    uint64_t                 of_or = x->engine->ones_or(x, y, a->body.kernel);
    if (of_or > of_a + of_b) /* bits that came between the counts, on a shared filter */
        of_or = of_a + of_b;
    uint32_t cells = x->shape.lines ? blm__line_cells(x->shape.rule) : 0;
    uint32_t each  = x->shape.scheme->throws ? 1 : blm__shape_probes(&x->shape);

    st = blm__estimate_overlap(cells, blm__shape_reach(&x->shape), each, x->shape.lines, of_a, of_b,
                               of_or, &o);
    if (st != BLM_OK)
        return blm__fail(err, st, "the bits give no estimate");
    if (x->shape.scheme->throws)
        overlap_to_keys(&x->shape, of_a, of_b, of_or, &o);
    if (x->shape.scheme->keys)
        overlap_as_probes_lie(&x->shape, of_a, of_b, of_or, &o);
    st = blm__emit(out, &o, sizeof o);
    return st == BLM_OK ? st : blm__fail(err, st, "overlap.size is not set");
}

/* ---- the rate, tried ---- */

#define TRY 4096u

/* `n` keys of 16 bytes, from number `from` of the stream that seed names: the same on every machine. */
static void absent_keys(uint64_t seed, uint64_t from, size_t n, uint64_t *out)
{
    for (size_t i = 0; i < 2 * n; i++)
        blm__put64le(out + i, blm__mix64(seed + (from * 2 + i + 1) * 0x9e3779b97f4a7c15u));
}

blm_status blm_try_rate(const blm_filter *f, const blm_key *keys, uint64_t count, uint64_t seed,
                        blm_trial *out, blm_error *err)
{
    blm_trial t = { .size = sizeof t, .trials = count };
    uint64_t  made[2 * 256];
    if (count == 0)
        return blm__fail(err, BLM_E_ARGUMENT, "a rate needs at least one key to try");
    for (uint64_t at = 0; at < count;) {
        size_t most = keys ? TRY : 256, n = count - at < most ? (size_t)(count - at) : most;
        if (keys) {
            t.hits += blm_check_many(f, keys + at, n, NULL);
        } else {
            absent_keys(seed, at, n, made);
            t.hits += blm_check_fixed(f, made, 16, n, NULL);
        }
        at += n;
        if (at % (1u << 16) < most && !blm__go_on(&f->body, at, count))
            return blm__fail(err, BLM_E_CANCELLED, "cancelled after %llu of %llu keys",
                             (unsigned long long)at, (unsigned long long)count);
    }
    blm_stats s = { .size = sizeof s };
    blm_get_stats(f, &s);
    t.rate     = (double)t.hits / (double)count;
    t.promised = s.params.rate;
    t.modelled = s.rate_now;
    blm_binomial_interval(t.hits, count, 0.95, &t.low, &t.high);
    t.holds       = !(t.promised > 0) || t.low <= t.promised;
    blm_status st = blm__emit(out, &t, sizeof t);
    return st == BLM_OK ? st : blm__fail(err, st, "trial.size is not set");
}

/* ---- plans ---- */

/* A foreign scheme sizes as its original does. */
static blm_status plan_scheme(const blm_options *o, blm_plan *p, blm_error *err)
{
    blm_filter       *f = NULL;
    struct blm__shape s;
    blm_status        st = blm__filter_sized(o, &f, &s, err);
    if (st != BLM_OK)
        return st;
    memset(p, 0, sizeof *p);
    p->kind          = f->body.kind;
    p->items         = s.capacity;
    p->rate          = s.capacity ? blm__shape_rate(&s, s.capacity) : 0;
    p->asked         = o->rate;
    p->bits          = s.bits;
    p->probes        = blm__shape_probes(&s);
    p->lines         = s.lines;
    p->bytes         = blm__shape_words(&s) * 8;
    p->fits          = true;
    p->bytes_needed  = o->rate > 0 ? p->bytes : 0;
    p->bits_per_item = s.capacity ? (double)(s.bits * s.cell_bits) / (double)s.capacity : 0;
    p->model         = blm__shape_model(&s);
    blm_free(f);
    return BLM_OK;
}

blm_status blm_plan_for(const blm_options *options, blm_plan *out, blm_error *err)
{
    blm_options o;
    blm_plan    p  = { .size = sizeof p };
    blm_status  st = blm__options_read(options, false, &o, err);
    if (st != BLM_OK)
        return st;
    const struct blm__scheme *scheme = blm__scheme_find(o.scheme);
    if (!scheme)
        return blm__fail(err, BLM_E_ARGUMENT, "unknown scheme %s", o.scheme);
    st = o.like ? BLM_OK : blm__check_variant(scheme, &o, err);
    if (st != BLM_OK)
        return st;
    if (scheme->plan || o.like) {
        st = plan_scheme(&o, &p, err);
    } else {
        blm_kind                id   = o.kind ? o.kind : blm__usual_kind(scheme, &o);
        const struct blm__kind *kind = blm__kind_of(id);
        if (!kind)
            return blm__fail(err, BLM_E_ARGUMENT, "unknown kind %d", (int)o.kind);
        st     = kind->plan(&o, &p, err);
        p.kind = id;
    }
    if (st != BLM_OK)
        return st;
    st = blm__emit(out, &p, sizeof p);
    return st == BLM_OK ? st : blm__fail(err, st, "plan.size is not set");
}
