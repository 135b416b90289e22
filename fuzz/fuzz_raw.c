/* SPDX-License-Identifier: MIT */
/* Bits without a header: everything else comes from the options, which are the input's first 24
 * bytes: scheme, probes, size, seed, variant. */
#include "decode.h"

static uint64_t field(const uint8_t *p, size_t bytes)
{
    uint64_t v = 0;
    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blm_options o       = BLM_OPTIONS_INIT;
    size_t      schemes = 0;
    if (size < 24)
        return 0;
    while (blm_scheme_at(schemes))
        schemes++;
    o.scheme    = blm_scheme_at(data[0] % schemes)->name;
    o.format    = data[0] & 0x80 ? "byteslot" : "raw";
    o.probes    = (uint32_t)field(data + 1, 2);
    o.bits      = field(data + 3, 5);
    o.seed[0]   = field(data + 8, 8);
    o.flags     = data[1] & 1 ? BLM_SEEDED : 0;
    o.variant   = field(data + 16, 2);
    o.items     = field(data + 18, 2);
    o.rate      = (double)field(data + 20, 2) / 65536;
    o.offset    = data[22];
    o.max_bytes = (uint64_t)16 << 20;
    data += 24;
    size -= 24;
    blm_error   err;
    blm_filter *f  = NULL;
    blm_status  st = blm_decode(data, size, &o, &f, &err);
    if (st != BLM_OK) {
        must(st < 0 && !f && err.status == st && err.text[0]);
        return 0;
    }
    struct fuzz_bytes b = { 0 };
    blm_params        p = { .size = sizeof p };
    must(blm_get_params(f, &p) == BLM_OK && p.bits <= (uint64_t)size * 8);
    st = blm_encode(f, o.format, fuzz_append, &b, &err);
    must(st != BLM_OK || b.len == (p.bits + 7) / 8);
    fuzz_use(f);
    free(b.bytes);
    blm_free(f);
    return 0;
}
