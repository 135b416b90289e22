/* SPDX-License-Identifier: MIT */
#include "core/checksum.h"

#include <string.h>

#include "core/hash/xxh3.h"

#define BUFFER_WORDS 2048u /* 16 KiB: stays in the first-level cache between copy and hash */

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
bool blm__any_sum;
#endif

uint64_t blm__checksum(const void *bytes, size_t len) { return XXH64(bytes, len, 0); }

bool blm__words_out(const uint64_t *words, uint64_t count, blm_write_fn write, void *ctx)
{
    uint64_t buffer[BUFFER_WORDS];
    while (count > 0) {
        size_t n = count < BUFFER_WORDS ? (size_t)count : BUFFER_WORDS;
        for (size_t i = 0; i < n; i++)
            buffer[i] = __atomic_load_n(&words[i], __ATOMIC_SEQ_CST);
        if (!write(ctx, buffer, n * 8))
            return false;
        words += n;
        count -= n;
    }
    return true;
}

struct summing {
    XXH64_state_t state;
    blm_write_fn  write;
    void         *ctx;
};

static bool sum_and_write(void *ctx, const void *bytes, size_t len)
{
    struct summing *s = ctx;
    XXH64_update(&s->state, bytes, len);
    return !s->write || s->write(s->ctx, bytes, len);
}

bool blm__checksum_words(const uint64_t *words, uint64_t count, blm_write_fn write, void *ctx,
                         uint64_t *out)
{
    struct summing s = { .write = write, .ctx = ctx };
    XXH64_reset(&s.state, 0);
    if (!blm__words_out(words, count, sum_and_write, &s))
        return false;
    *out = XXH64_digest(&s.state);
    return true;
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct blm__print), "an XXH3 state fits");
_Static_assert(_Alignof(XXH3_state_t) <= _Alignof(struct blm__print), "and is aligned");

static XXH3_state_t *state_of(struct blm__print *p) { return (XXH3_state_t *)(void *)p->state; }

void blm__print_begin(struct blm__print *p)
{
    XXH3_INITSTATE(state_of(p));
    XXH3_128bits_reset(state_of(p));
}

void blm__print_add(struct blm__print *p, const void *bytes, size_t len)
{
    XXH3_128bits_update(state_of(p), bytes, len);
}

void blm__print_end(struct blm__print *p, uint8_t out[16])
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits_digest(state_of(p)));
    memcpy(out, c.digest, 16);
}
