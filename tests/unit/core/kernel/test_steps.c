/* SPDX-License-Identifier: MIT */
/* Double hashing without division, judged by its rule with division: every position, every answer,
 * every bit, in cache and out of it, plain, marked and shared, in plain C and in vectors. */
#include "core/hash/murmur2.h"
#include "core/hash/murmur3.h"
#include "core/kernel/flow.h"
#include "core/kernel/hands.h"
#include "unit/core/kernel/compare.h"

static uint64_t by_rule(uint64_t a, uint64_t b, uint64_t i, unsigned wrap, uint64_t m)
{
    uint64_t c = a + i * b;
    return (wrap == 64 ? c : c & (((uint64_t)1 << wrap) - 1)) % m;
}

/* Words where turns are 0, nearly 0, nearly 1, and where sums wrap at once or never. */
static uint64_t some_word(struct rng *r, uint64_t m)
{
    switch (rng_below(r, 10)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX - rng_below(r, 3);
    case 2:
        return m * rng_below(r, 5) + rng_below(r, 3);
    case 3:
        return m * rng_below(r, 5) - 1;
    case 4:
        return ((uint64_t)1 << 63) - 1 + rng_below(r, 3);
    case 5:
        return UINT64_MAX / m * m - 1 + rng_below(r, 3);
    case 6:
        return rng_next(r) >> 32;
    default:
        return rng_next(r);
    }
}

/* ---- positions ---- */

static void turns_are_exact(void **state)
{
    (void)state;
    const uint64_t largest = BLM__MAX_BITS;
    struct rng     r       = { 1 };
    for (int i = 0; i < 3000; i++) {
        uint64_t          m    = i < 70    ? (uint64_t)i + 1
                                 : i < 120 ? largest - (uint64_t)(i - 70)
                                 : i < 1000 ? 1 + rng_below(&r, (uint64_t)1 << (1 + rng_below(&r, 48)))
                                            : largest - rng_below(&r, largest >> rng_below(&r, 40));
        unsigned          wrap = i % 2 ? 63 : 64;
        struct blm__steps s    = blm__steps_of(m, wrap);
        uint64_t          a = some_word(&r, m), b = some_word(&r, m);
        struct blm__turn  t = blm__turn_first(&s, a, b);
        for (uint64_t j = 0; j < BLM__MAX_PROBES; j++)
            if (blm__turn_next(&s, &t) != by_rule(a, b, j, wrap, m))
                fail_msg("m %llu, wrap %u, a %llx, b %llx, probe %llu", (unsigned long long)m, wrap,
                         (unsigned long long)a, (unsigned long long)b, (unsigned long long)j);
    }
}

/* ---- hashes ---- */

/* Of keys that end where their memory does, so that a sanitizer sees a byte read beyond. */
static void four_murmurs_are_one_by_one(void **state)
{
    (void)state;
    struct rng                r     = { 5 };
    size_t                    taken = 0;
    const struct blm__kernel *v     = blm__kernel_best();
    if (v->stepper->murmur4 == blm__murmur4_none)
        skip();
    for (int round = 0; round < 20000; round++) {
        blm_key  k[4];
        uint64_t start[4] = { 1, 2, 3, 4 }, step[4] = { 5, 6, 7, 8 }, seed = rng_next(&r);
        uint8_t *bytes[4];
        bool     alike = true;
        size_t   base  = rng_size(&r, 5) * 8; /* 0 to 39 bytes; half of the time the same words */
        for (unsigned i = 0; i < 4; i++) {
            k[i].len = round % 2 ? base + rng_size(&r, 8) : rng_size(&r, 40);
            bytes[i] = malloc(k[i].len + !k[i].len);
            for (size_t j = 0; j < k[i].len; j++)
                bytes[i][j] = (uint8_t)rng_next(&r);
            k[i].data = k[i].len ? bytes[i] : NULL;
            alike     = alike && k[i].len / 8 == k[0].len / 8;
        }
        bool taken_now = v->stepper->murmur4(k, seed, start, step);
        assert_int_equal(taken_now, alike && k[0].len >= 8 && k[0].len < 32);
        for (unsigned i = 0; i < 4; i++) {
            uint64_t once  = taken_now ? blm__murmur64a(k[i].data, k[i].len, seed) : i + 1;
            uint64_t again = taken_now ? blm__murmur64a(k[i].data, k[i].len, once) : i + 5;
            assert_true(start[i] == once && step[i] == again);
            free(bytes[i]);
        }
        taken += taken_now;
    }
    assert_in_range(taken, 5000, 10000);
}

/* ---- whole batches ---- */

static struct blm__layer step_layer(uint64_t m, uint32_t k, unsigned wrap)
{
    struct blm__shape s = {
        .kind = BLM_CLASSIC, .rule = BLM__POSITIONS, .bits = m, .probes = k, .cell_bits = 1
    };
    struct blm__layer l = bare_layer(s, true);
    l.steps             = blm__steps_of(m, wrap);
    return l;
}

static unsigned rule_add(struct blm__layer *l, uint64_t a, uint64_t b, unsigned wrap)
{
    unsigned fresh = 0;
    for (uint32_t i = 0; i < l->shape.probes; i++) {
        uint64_t p = by_rule(a, b, i, wrap, l->shape.bits);
        fresh |= !(blm__le64(l->words[p / 64]) >> p % 64 & 1);
        l->words[p / 64] |= blm__le64((uint64_t)1 << p % 64);
    }
    return fresh;
}

static unsigned rule_check(const struct blm__layer *l, uint64_t a, uint64_t b, unsigned wrap)
{
    unsigned all = 1;
    for (uint32_t i = 0; i < l->shape.probes; i++) {
        uint64_t p = by_rule(a, b, i, wrap, l->shape.bits);
        all &= (unsigned)(blm__le64(l->words[p / 64]) >> p % 64) & 1;
    }
    return all;
}

struct pairs {
    uint64_t a[BLM__BATCH], b[BLM__BATCH];
    uint8_t  got[BLM__BATCH + 1];
};

/* Some of them twice, some next to one another. */
static void some_pairs(struct rng *r, uint64_t m, size_t n, struct pairs *p)
{
    for (size_t i = 0; i < n; i++) {
        bool again = i && rng_below(r, 8) == 0;
        p->a[i]    = again ? p->a[i - 1 - rng_below(r, i < 6 ? i : 6)] : some_word(r, m);
        p->b[i]    = again ? p->b[i - 1] : some_word(r, m);
    }
}

static void judge_batch(const struct blm__stepper *v, struct rng *r, uint64_t m, uint32_t k,
                        size_t n, int way)
{
    unsigned          wrap = rng_below(r, 2) ? 64 : 63;
    struct blm__layer l = step_layer(m, k, wrap), rule = step_layer(m, k, wrap);
    struct pairs      p;
    uint8_t          *marks = calloc(1, (size_t)l.word_count);
    l.marks                 = way ? marks : NULL;
    for (int round = 0; round < 3; round++) {
        size_t count = 0;
        some_pairs(r, m, n, &p);
        p.got[n]     = 77;
        size_t fresh = v->add(&l, p.a, p.b, n, p.got, way == 2);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(p.got[i], rule_add(&rule, p.a[i], p.b[i], wrap));
            fresh -= p.got[i];
        }
        assert_int_equal(fresh, 0);
        assert_int_equal(p.got[n], 77);
        assert_memory_equal(l.words, rule.words, (size_t)l.word_count * 8);
        for (uint64_t i = 0; way && i < l.word_count; i++)
            assert_true(!l.words[i] == !marks[i]);
        if (round == 1)
            some_pairs(r, m, n, &p); /* else keys that are in */
        size_t hits = v->check(&l, p.a, p.b, n, p.got);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(p.got[i], rule_check(&rule, p.a[i], p.b[i], wrap));
            assert_int_equal(p.got[i], blm__steps_check_one(&l, p.a[i], p.b[i]));
            count += p.got[i];
        }
        assert_int_equal(hits, count);
        assert_int_equal(p.got[n], 77);
    }
    free(marks);
    bare_free(&l);
    bare_free(&rule);
}

static void judge(const struct blm__stepper *v)
{
    static const uint32_t ks[]   = { 1, 2, 3, 4, 5, 7, 8, 13, 32, 33, 64, 65, 129, 257, 512 };
    static const size_t   ns[]   = { 1, 2, 3, 4, 5, 8, 31, 36, 37, 100, 255, 256 };
    static const uint64_t ms[]   = { 1, 2, 63, 64, 65, 1000, 4096, 10007, 262144, 1000003 };
    struct rng            r      = { 2 };
    uint64_t              before = atomic_load(&blm__in_cache_bytes);
    for (int far = 0; far < 2; far++) {
        atomic_store(&blm__in_cache_bytes, far ? 0 : before);
        for (size_t i = 0; i < COUNT_OF(ks); i++)
            for (size_t j = 0; j < COUNT_OF(ns); j++)
                judge_batch(v, &r, ms[rng_below(&r, COUNT_OF(ms))], ks[i], ns[j],
                            (int)((i + j) % 3));
        for (size_t i = 0; i < COUNT_OF(ms); i++)
            for (int way = 0; way < 3; way++)
                judge_batch(v, &r, ms[i], 7, 256, way);
    }
    atomic_store(&blm__in_cache_bytes, before);
}

/* In runs as an engine gives them. */
static void by_hands(const struct blm__stepper *v, const struct blm__layer *l, const uint64_t *a,
                     const uint64_t *b, size_t n, uint8_t *maybe)
{
    struct blm__hands s;
    blm__hands_begin(&s, l, l->steps.m, maybe);
    for (size_t at = 0, run; at < n; at += run) {
        run = n - at < BLM__HANDS_RUN ? n - at : BLM__HANDS_RUN;
        memcpy(s.a + blm__hands_next(&s), a + at, run * sizeof *a);
        memcpy(s.b + blm__hands_next(&s), b + at, run * sizeof *b);
        v->follow(&s, run);
    }
    v->follow(&s, 0);
}

/* Many keys, in layers of any fill: stretches pass, others do not. */
static void judge_hands(const struct blm__stepper *v, uint64_t m, uint32_t k, unsigned wrap)
{
    enum { MANY = 2000 };
    struct rng        r = { m + k };
    struct blm__layer l = step_layer(m, k, wrap);
    uint64_t          a[MANY], b[MANY];
    uint8_t           got[MANY + 1];
    for (int fill = 0; fill < 6; fill++) {
        size_t n = MANY - (size_t)fill * 37;
        for (size_t i = 0; i < n; i++) {
            a[i] = rng_below(&r, 8) ? rng_next(&r) : UINT64_MAX;
            b[i] = rng_below(&r, 8) ? rng_next(&r) : rng_below(&r, 2);
            if (i / 300 % 2)
                blm__steps_add_one(&l, a[i], b[i], false);
        }
        got[n] = 77;
        by_hands(v, &l, a, b, n, got);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(got[i], blm__steps_check_one(&l, a[i], b[i]));
        assert_int_equal(got[n], 77);
    }
    bare_free(&l);
}

static void judge_all_hands(const struct blm__stepper *v)
{
    for (uint32_t k = 1; k <= BLM__HANDS_MOST; k++)
        judge_hands(v, k % 2 ? 40009 : 65536, k, k % 3 ? 64 : 63);
    judge_hands(v, 1, 3, 64);
    judge_hands(v, BLM__STEPS_NARROW, 7, 64);
    judge_hands(v, BLM__STEPS_NARROW - 1, 7, 63);
    judge_hands(v, 95850592, 7, 31);
}

/* With AVX-512 those of AVX2 as well. */
static void hands_keep_the_rule(void **state)
{
    (void)state;
    const struct blm__stepper *v = blm__kernel_best()->stepper;
    if (v->follow == blm__hands_none)
        skip();
    judge_all_hands(v);
#ifdef BLM__HAVE_AVX2
    if (v != &blm__stepper_avx2)
        judge_all_hands(&blm__stepper_avx2);
#endif
}

/* Keys of 8 bytes, hashed side by side: as one by one. */
static void pairs_of_numbers_are_those_of_keys(void **state)
{
    (void)state;
    const struct blm__stepper *v = blm__kernel_best()->stepper;
    struct rng                 r = { 5 };
    uint64_t                   keys[20], start[21], step[21];
    for (size_t n = 0; n <= 20; n++) {
        uint64_t seed = rng_next(&r), w[2];
        for (size_t i = 0; i < n; i++)
            keys[i] = rng_next(&r);
        start[n] = step[n] = 77;
        v->murmur_8((const uint8_t *)keys, n, seed, start, step);
        for (size_t i = 0; i < n; i++) {
            assert_true(start[i] == blm__murmur64a(&keys[i], 8, seed));
            assert_true(step[i] == blm__murmur64a(&keys[i], 8, start[i]));
        }
        v->murmur3_8((const uint8_t *)keys, n, start, step);
        for (size_t i = 0; i < n; i++) {
            blm__murmur3_128(&keys[i], 8, 0, w);
            assert_true(start[i] == w[0] && step[i] == w[1]);
        }
        assert_true(start[n] == 77 && step[n] == 77);
    }
}

static void plain_batches_keep_the_rule(void **state)
{
    (void)state;
    judge(&blm__stepper_portable);
}

static const struct blm__stepper *stepper_of(const char *kernel)
{
    const struct blm__kernel *v = blm__kernel_named(kernel);
    return v ? v->stepper : NULL;
}
static const struct blm__stepper *vectors(void) { return stepper_of("avx2"); }
/* Its chains are its own, the rest is that of AVX2. */
static const struct blm__stepper *wide_vectors(void) { return stepper_of("avx512"); }

static void vector_batches_keep_the_rule(void **state)
{
    (void)state;
    if (!vectors())
        skip();
    judge(vectors());
}

/* A batch as a flow: the words of its keys come by four, its answers go where they belong. */
struct stream {
    struct blm__steps_flow w; /* first: it is what come and go get */
    const struct pairs    *p;
    size_t                 n, at, told;
    uint8_t               *to;
    uint64_t               room[2][16];
};

static size_t come(struct blm__steps_flow *w, uint64_t *a, uint64_t *b)
{
    struct stream *s   = (struct stream *)w;
    size_t         got = s->n - s->at < 4 ? s->n - s->at : 4;
    for (size_t i = 0; i < got; i++, s->at++) {
        a[i] = s->p->a[s->at];
        b[i] = s->p->b[s->at];
    }
    return got;
}

static void go(struct blm__steps_flow *w, const uint8_t *answer, size_t n)
{
    struct stream *s = (struct stream *)w;
    memcpy(s->to + s->told, answer, n);
    s->told += n;
}

static size_t flow(const struct blm__stepper *v, struct blm__layer *l, const struct pairs *p,
                   size_t n, uint8_t *to, bool add)
{
    struct stream s   = { .p = p, .n = n, .to = to };
    size_t        sum = 0;
    s.w               = (struct blm__steps_flow){ l, come, go, s.room[0], s.room[1], 4 };
    if (add)
        v->add_flow(&s.w);
    else
        v->check_flow(&s.w);
    assert_int_equal(s.told, n);
    for (size_t i = 0; i < n; i++)
        sum += to[i];
    return sum;
}

/* Around 2^32 bits, where vectors stop; the words are only mapped, and mostly never touched. */
static void agree_around_2_32(const struct blm__stepper *v)
{
    static const uint64_t ms[] = { UINT32_MAX, (uint64_t)1 << 32, ((uint64_t)1 << 32) + 15,
                                   4294967291u, 3000000019u };
    struct rng            r    = { 3 };
    for (size_t i = 0; i < COUNT_OF(ms); i++) {
        size_t            bytes = (size_t)(ms[i] / 64 + 1) * 8;
        struct blm__layer l     = { .shape = { .kind      = BLM_CLASSIC,
                                               .rule      = BLM__POSITIONS,
                                               .bits      = ms[i],
                                               .probes    = 9,
                                               .cell_bits = 1 } };
        l.steps                 = blm__steps_of(ms[i], 63);
        l.word_count            = blm__shape_words(&l.shape);
        l.words                 = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_true(l.words != MAP_FAILED);
        for (int round = 0; round < 8; round++) {
            struct pairs p;
            some_pairs(&r, ms[i], BLM__BATCH, &p);
            if (round % 2)
                flow(v, &l, &p, BLM__BATCH, p.got, true);
            else
                v->add(&l, p.a, p.b, BLM__BATCH, p.got, false);
            for (size_t j = 0; j < BLM__BATCH; j++) /* the bits it should have set, and then … */
                assert_int_equal(rule_check(&l, p.a[j], p.b[j], 63), 1);
            assert_int_equal(v->check(&l, p.a, p.b, BLM__BATCH, p.got), BLM__BATCH);
            assert_int_equal(flow(v, &l, &p, BLM__BATCH, p.got, false), BLM__BATCH);
            for (size_t j = 0; j < BLM__BATCH; j++) /* … not one beside them */
                for (uint32_t c = 0; c < 9; c++)
                    l.words[by_rule(p.a[j], p.b[j], c, 63, ms[i]) / 64] = 0;
            some_pairs(&r, ms[i], BLM__BATCH, &p);
            assert_int_equal(v->check(&l, p.a, p.b, BLM__BATCH, p.got), 0);
            assert_int_equal(flow(v, &l, &p, BLM__BATCH, p.got, false), 0);
        }
        munmap(l.words, bytes);
    }
}

static void both_agree_around_2_32_bits(void **state)
{
    (void)state;
    agree_around_2_32(&blm__stepper_portable);
    if (vectors())
        agree_around_2_32(vectors());
}

/* ---- chains ---- */

#define LAYERS 40u

/* Layers of any size and number of probes, some with no place in vectors; half full, as layers of a
 * chain are. */
static void some_chain(struct rng *r, uint32_t count, struct blm__layer *l, struct blm__layer *rule)
{
    static const uint64_t ms[] = { 64, 65, 1000, 4096, 10007, 65536, 1000003 };
    static const uint32_t ks[] = { 1, 3, 4, 5, 8, 16, 32, 33, 513 };
    for (uint32_t i = 0; i < count; i++) {
        uint64_t m    = ms[rng_below(r, COUNT_OF(ms))];
        uint32_t k    = ks[rng_below(r, COUNT_OF(ks))];
        unsigned wrap = rng_below(r, 12) ? 64 : 63;
        l[i]          = step_layer(m, k, wrap);
        rule[i]       = step_layer(m, k, wrap);
        for (uint64_t j = 0; j < m / k; j++) {
            uint64_t a = some_word(r, m), b = some_word(r, m);
            rule_add(&rule[i], a, b, wrap);
        }
        memcpy(l[i].words, rule[i].words, (size_t)l[i].word_count * 8);
    }
}

static unsigned rule_chain(const struct blm__layer *rule, uint32_t count, uint32_t without,
                           uint64_t a, uint64_t b)
{
    unsigned any = 0;
    for (uint32_t i = 0; i < count; i++)
        any |= i != without && rule_check(&rule[i], a, b, 64 - rule[i].steps.spare);
    return any;
}

static void judge_chain(const struct blm__stepper *v, struct rng *r, uint32_t count, size_t n)
{
    struct blm__layer l[LAYERS], rule[LAYERS];
    struct pairs      p;
    some_chain(r, count, l, rule);
    for (int round = 0; round < 4; round++) {
        uint32_t to = (uint32_t)rng_below(r, count), without = round % 2 ? to : count;
        some_pairs(r, rule[to].shape.bits, n, &p);
        p.got[n]    = 77;
        size_t news = v->add_chain(l, count, to, p.a, p.b, n, p.got);
        for (size_t i = 0; i < n; i++) {
            unsigned fresh = rule_chain(rule, count, to, p.a[i], p.b[i])
                                 ? 0
                                 : rule_add(&rule[to], p.a[i], p.b[i], 64 - rule[to].steps.spare);
            assert_int_equal(p.got[i], fresh);
            news -= fresh;
        }
        assert_int_equal(news, 0);
        for (uint32_t i = 0; i < count; i++)
            assert_memory_equal(l[i].words, rule[i].words, (size_t)l[i].word_count * 8);
        if (round > 1)
            some_pairs(r, rule[to].shape.bits, n, &p); /* else keys that are in */
        size_t hits = v->check_chain(l, count, without, p.a, p.b, n, p.got);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(p.got[i], rule_chain(rule, count, without, p.a[i], p.b[i]));
            hits -= p.got[i];
        }
        assert_int_equal(hits, 0);
        assert_int_equal(p.got[n], 77);
    }
    for (uint32_t i = 0; i < count; i++) {
        bare_free(&l[i]);
        bare_free(&rule[i]);
    }
}

static void judge_chains(const struct blm__stepper *v)
{
    static const uint32_t counts[] = { 1, 2, 3, 7, 12, 17, LAYERS };
    static const size_t   ns[]     = { 1, 7, 8, 9, 15, 16, 17, 100, 255, 256 };
    /* Which layers are taken to be in cache: all, those of a few words, none. */
    static const uint64_t near[] = { UINT64_MAX, 1000, 0 };
    struct rng            r      = { 6 };
    uint64_t              before = atomic_load(&blm__in_cache_bytes);
    for (size_t i = 0; i < COUNT_OF(near); i++) {
        atomic_store(&blm__in_cache_bytes, near[i]);
        for (size_t j = 0; j < COUNT_OF(counts); j++)
            for (size_t k = 0; k < COUNT_OF(ns) - (quick_tests() ? 3 : 0); k++)
                judge_chain(v, &r, counts[j], ns[k]);
    }
    atomic_store(&blm__in_cache_bytes, before);
}

static void chains_keep_the_rule(void **state)
{
    (void)state;
    judge_chains(&blm__stepper_portable);
    if (vectors())
        judge_chains(vectors());
    if (wide_vectors())
        judge_chains(wide_vectors());
}

/* Up to the largest that fit the vectors' remainders, and the first that do not. The words are only
 * mapped. */
static void judge_large_layers(const struct blm__stepper *v)
{
    static const uint64_t ms[] = { (uint64_t)5 << 28,      ((uint64_t)5 << 28) - 1, 1342177273,
                                   (uint64_t)1 << 30,      ((uint64_t)1 << 30) + 3, 805306457,
                                   ((uint64_t)5 << 28) + 1 };
    struct rng            r    = { 7 };
    for (size_t i = 0; i < COUNT_OF(ms); i++) {
        size_t            bytes = (size_t)(ms[i] / 64 + 1) * 8;
        struct blm__layer l     = { .shape = { .kind      = BLM_CLASSIC,
                                               .rule      = BLM__POSITIONS,
                                               .bits      = ms[i],
                                               .probes    = 17,
                                               .cell_bits = 1 } };
        l.steps                 = blm__steps_of(ms[i], 64);
        l.word_count            = blm__shape_words(&l.shape);
        l.words                 = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert_true(l.words != MAP_FAILED);
        for (int round = 0; round < 20; round++) {
            struct pairs p;
            some_pairs(&r, ms[i], BLM__BATCH, &p);
            v->add_chain(&l, 1, 0, p.a, p.b, BLM__BATCH, p.got);
            for (size_t j = 0; j < BLM__BATCH; j++)
                assert_int_equal(rule_check(&l, p.a[j], p.b[j], 64), 1);
            assert_int_equal(v->check_chain(&l, 1, 1, p.a, p.b, BLM__BATCH, p.got), BLM__BATCH);
            for (size_t j = 0; j < BLM__BATCH; j++) /* none beside them */
                for (uint32_t c = 0; c < 17; c++)
                    l.words[by_rule(p.a[j], p.b[j], c, 64, ms[i]) / 64] = 0;
        }
        for (uint64_t j = 0; j < 1000; j++) { /* near both ends of a turn */
            struct pairs p;
            uint64_t     top = UINT64_MAX / ms[i];
            for (size_t c = 0; c < 8; c++) {
                p.a[c] = ms[i] * (top - rng_below(&r, 1u << 20)) - (c & 1);
                p.b[c] = ms[i] * rng_below(&r, top) - (c >> 1 & 1);
            }
            v->add_chain(&l, 1, 0, p.a, p.b, 8, p.got);
            for (size_t c = 0; c < 8; c++)
                assert_int_equal(rule_check(&l, p.a[c], p.b[c], 64), 1);
            for (size_t c = 0; c < 8; c++)
                for (uint32_t q = 0; q < 17; q++)
                    l.words[by_rule(p.a[c], p.b[c], q, 64, ms[i]) / 64] = 0;
        }
        munmap(l.words, bytes);
    }
}

static void large_layers_keep_the_rule(void **state)
{
    (void)state;
    if (!vectors())
        skip();
    judge_large_layers(vectors());
    if (wide_vectors())
        judge_large_layers(wide_vectors());
}

/* Lone keys, and more probes than a batch has room for. */
static void single_keys_keep_the_rule(void **state)
{
    (void)state;
    static const uint32_t ks[] = { 1, 3, 4, 5, 8, 11, 513, 2048 };
    struct rng            r    = { 4 };
    for (size_t i = 0; i < COUNT_OF(ks); i++)
        for (int shared = 0; shared < 2; shared++) {
            struct blm__layer l = step_layer(50021, ks[i], 64), rule = step_layer(50021, ks[i], 64);
            for (int j = 0; j < 300; j++) {
                uint64_t a = some_word(&r, 50021), b = some_word(&r, 50021);
                assert_int_equal(blm__steps_check_one(&l, a, b), rule_check(&rule, a, b, 64));
                if (j % 2)
                    assert_int_equal(blm__steps_add_one(&l, a, b, shared),
                                     rule_add(&rule, a, b, 64));
            }
            assert_memory_equal(l.words, rule.words, (size_t)l.word_count * 8);
            bare_free(&l);
            bare_free(&rule);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_exact),
        cmocka_unit_test(four_murmurs_are_one_by_one),
        cmocka_unit_test(hands_keep_the_rule),
        cmocka_unit_test(pairs_of_numbers_are_those_of_keys),
        cmocka_unit_test(plain_batches_keep_the_rule),
        cmocka_unit_test(vector_batches_keep_the_rule),
        cmocka_unit_test(both_agree_around_2_32_bits),
        cmocka_unit_test(chains_keep_the_rule),
        cmocka_unit_test(large_layers_keep_the_rule),
        cmocka_unit_test(single_keys_keep_the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
