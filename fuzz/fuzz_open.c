/* SPDX-License-Identifier: MIT */
/* A file of any bytes, opened in every way: to read, verified, to write. What opens can be asked,
 * added to, synced and opened again, and then has the key. */
#include "decode.h"
#include "place.h"

static void look(const char *path, uint32_t flags)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    blm_verdict v = { .size = sizeof v };
    blm_stats   s = { .size = sizeof s };
    blm_error   err;
    o.flags       = flags;
    o.clock       = fuzz_clock;
    o.max_bytes   = (uint64_t)16 << 20;
    blm_status st = blm_open(path, &o, &f, &err);
    must(st == BLM_OK || (st < 0 && !f && err.status == st && err.text[0]));
    if (st != BLM_OK)
        return;
    st = blm_verify(f, &v, &err);
    must(st == BLM_OK || st == BLM_E_CHECKSUM);
    must(v.good + v.unverified + v.damaged == v.regions);
    must(blm_get_stats(f, &s) == BLM_OK && s.fill >= 0 && s.fill <= 1);
    blm_check(f, "key", 3);
    blm_refresh(f, &err);
    blm_free(f);
}

static void change(const char *path)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_filter *f = NULL;
    blm_error   err;
    o.max_bytes = (uint64_t)16 << 20;
    o.clock     = fuzz_clock;
    o.flags     = BLM_WRITE;
    if (blm_open(path, &o, &f, &err) != BLM_OK)
        return;
    bool added = blm_add(f, "key", 3) >= 0;
    must(!added || blm_check(f, "key", 3));
    bool synced = blm_sync(f, &err) == BLM_OK;
    must(blm_close(f, &err) == BLM_OK || !synced);
    o.flags = 0;
    if (!added || !synced)
        return;
    must(blm_open(path, &o, &f, &err) == BLM_OK);
    must(blm_check(f, "key", 3));
    blm_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128];
    place_path(path, "filter");
    place_write(path, data, size);
    look(path, 0);
    look(path, BLM_VERIFY);
    look(path, BLM_SHARED);
    change(path);
    unlink(path);
    return 0;
}
