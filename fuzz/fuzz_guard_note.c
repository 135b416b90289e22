/* SPDX-License-Identifier: MIT */
/*
 * The guard's note and the data set's mark, of any bytes, beside a filter that is whole. The first
 * byte is a quarter of the note's length; what follows the note is the mark. Whatever they say, the
 * guard opens or gives a reason, does not lose a row, and leaves files that the next guard can use.
 */
#include <bloomery/guard.h>

#include "decode.h"
#include "place.h"

static char   mark[BLM_MARK_MAX];
static size_t mark_len;
static char   path[128], note[140];
static bool   rows[2]; /* of the keys "0" and "1" */

static unsigned number(const void *key) { return *(const char *)key == '1'; }

static blm_status get(void *ctx, const void *key, size_t len, blm_write_fn value, void *value_ctx,
                      blm_error *err)
{
    (void)ctx, (void)len, (void)value, (void)value_ctx, (void)err;
    return rows[number(key)] ? BLM_OK : BLM_E_ABSENT;
}

static blm_status put(void *ctx, const void *key, size_t len, const void *value, size_t value_len,
                      blm_error *err)
{
    (void)ctx, (void)len, (void)value, (void)value_len, (void)err;
    rows[number(key)] = true;
    return BLM_OK;
}

static blm_status scan(void *ctx, blm_key_fn each, void *each_ctx, blm_error *err)
{
    (void)ctx, (void)err;
    return (!rows[0] || each(each_ctx, "0", 1)) && (!rows[1] || each(each_ctx, "1", 1))
               ? BLM_OK
               : BLM_E_CANCELLED;
}

static blm_status mark_read(void *ctx, void *out, size_t *len, blm_error *err)
{
    (void)ctx, (void)err;
    if (mark_len)
        memcpy(out, mark, mark_len);
    *len = mark_len;
    return mark_len ? BLM_OK : BLM_E_ABSENT;
}

static blm_status mark_write(void *ctx, const void *bytes, size_t len, blm_error *err)
{
    (void)ctx, (void)err;
    must(len <= BLM_MARK_MAX);
    memcpy(mark, bytes, len);
    mark_len = len;
    return BLM_OK;
}

static blm_guard *open_guard(void)
{
    const blm_dataset data   = { .size       = sizeof data,
                                 .get        = get,
                                 .put        = put,
                                 .scan       = scan,
                                 .mark_read  = mark_read,
                                 .mark_write = mark_write };
    blm_guard_options o      = BLM_GUARD_OPTIONS_INIT;
    blm_options       filter = BLM_OPTIONS_INIT;
    blm_guard        *g      = NULL;
    blm_error         err;
    filter.kind   = BLM_CLASSIC; /* its size is worked out fastest, and a note knows no kind */
    o.items       = 10;
    o.filter      = &filter;
    o.path        = path;
    o.flags       = BLM_GUARD_MANUAL;
    blm_status st = blm_guard_open(&o, &data, &g, &err);
    must(st == BLM_OK || (err.status == st && err.text[0]));
    return g;
}

static bool use(const char *key)
{
    blm_guard *g = open_guard();
    if (!g)
        return false;
    must(!rows[0] || blm_guard_get(g, "0", 1, NULL, NULL, NULL) == BLM_OK);
    must(blm_guard_put(g, key, 1, "", 0, NULL) == BLM_OK);
    must(blm_guard_get(g, key, 1, NULL, NULL, NULL) == BLM_OK);
    must(blm_guard_build(g, NULL) == BLM_OK);
    must(blm_guard_get(g, key, 1, NULL, NULL, NULL) == BLM_OK);
    must(blm_guard_close(g, NULL) == BLM_OK);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t note_len = (size_t)*data * 4;
    data++;
    size--;
    note_len = note_len < size ? note_len : size;
    place_path(path, "rows");
    snprintf(note, sizeof note, "%s.guard", path);
    rows[0] = rows[1] = false;
    mark_len          = 0;
    must(use("0")); /* a filter that has every row */
    place_write(note, data, note_len);
    mark_len = size - note_len < BLM_MARK_MAX ? size - note_len : BLM_MARK_MAX;
    memcpy(mark, data + note_len, mark_len);
    if (use("1"))
        must(use("1"));
    unlink(path);
    unlink(note);
    return 0;
}
