/* SPDX-License-Identifier: MIT */
/* A far file of any bytes: it is never read past its end, and where it can also be decoded, both give
 * the same answers. */
#include <bloomery/far.h>

#include "decode.h"

#define KEYS 16

struct input {
    const uint8_t *data;
    size_t         size;
};

static blm_status read_input(void *ctx, uint64_t offset, void *bytes, size_t len, blm_error *err)
{
    const struct input *in = ctx;
    (void)err;
    must(offset <= in->size && len <= in->size - offset);
    memcpy(bytes, in->data + offset, len);
    return BLM_OK;
}

static void ask(blm_far *far, const blm_filter *f)
{
    blm_key   keys[KEYS];
    unsigned  numbers[KEYS];
    uint8_t   maybe[KEYS];
    bool      one;
    blm_error err;
    for (unsigned i = 0; i < KEYS; i++) {
        numbers[i]    = i * 3; /* the seeds have 0 to 59 */
        keys[i]       = (blm_key){ &numbers[i], sizeof numbers[i] };
        blm_status st = blm_far_check(far, keys[i].data, keys[i].len, &one, &err);
        must(st == BLM_OK ? !f || one == blm_check(f, keys[i].data, keys[i].len)
                          : one && err.status == st && err.text[0]);
    }
    blm_status st = blm_far_check_many(far, keys, KEYS, maybe, &err);
    must(st == BLM_OK || (err.status == st && err.text[0]));
    for (unsigned i = 0; i < KEYS && f && st == BLM_OK; i++)
        must(maybe[i] == blm_check(f, keys[i].data, keys[i].len));
}

static void look(const struct input *in, uint32_t flags)
{
    blm_options o   = BLM_OPTIONS_INIT;
    blm_far    *far = NULL;
    blm_filter *f   = NULL;
    blm_params  p   = { .size = sizeof p };
    blm_error   err;
    o.flags       = flags;
    o.format      = "native";
    o.max_bytes   = (uint64_t)16 << 20;
    blm_status st = blm_far_open(read_input, (void *)(uintptr_t)in, in->size, &o, &far, &err);
    must(st == BLM_OK ? far != NULL : !far && err.status == st && err.text[0]);
    if (!far)
        return;
    if (blm_decode(in->data, in->size, &o, &f, &err) != BLM_OK)
        f = NULL;
    must(blm_far_get_params(far, &p) == BLM_OK);
    ask(far, f);
    blm_far_set_gap(far, 0);
    ask(far, f);
    blm_free(f);
    blm_far_free(far);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    look(&in, 0);
    look(&in, BLM_VERIFY);
    return 0;
}
