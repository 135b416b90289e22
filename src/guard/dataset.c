/* SPDX-License-Identifier: MIT */
#include "guard/dataset.h"

#include <string.h>

#include "core/error.h"

#define NO_ROW "there is no such row"

/* Copied rather than printed: refused gets end with it. */
blm_status blm__data_absent(blm_error *err)
{
    static const blm_error absent = {
        .status = BLM_E_ABSENT, .offset = BLM_NO_OFFSET, .wrong = sizeof NO_ROW - 1, .text = NO_ROW
    };
    if (err)
        memcpy(err, &absent, offsetof(blm_error, text) + sizeof NO_ROW);
    return BLM_E_ABSENT;
}

/* Where a function of the data set may write its sentence: nothing is there yet. */
static blm_error *empty(blm_error *err, blm_error *own)
{
    blm_error *said = err ? err : own;
    said->status    = BLM_OK;
    said->system    = 0;
    said->offset    = BLM_NO_OFFSET;
    said->named     = 0;
    said->wrong     = 0;
    said->text[0]   = 0;
    return said;
}

/* What it left out, after it gave st. */
static blm_status complete(blm_status st, blm_error *said, const char *doing)
{
    if (st == BLM_OK)
        return st;
    if (said->text[0]) {
        said->status = st;
        if (said->wrong == 0)
            said->wrong = (uint16_t)strlen(said->text);
    } else if (st == BLM_E_ABSENT) {
        blm__data_absent(said);
    } else {
        int number = said->system;
        blm__fail_at(said, st, said->offset, "the data set could not %s: %s", doing,
                     blm_status_text(st));
        said->system = number;
    }
    return st;
}

blm_status blm__data_get(const blm_dataset *d, const void *key, size_t len, blm_write_fn value,
                         void *value_ctx, blm_error *err)
{
    blm_error own, *said = empty(err, &own);
    return complete(d->get(d->ctx, key, len, value, value_ctx, said), said, "read a row");
}

blm_status blm__data_put(const blm_dataset *d, const void *key, size_t len, const void *value,
                         size_t value_len, blm_error *err)
{
    blm_error own, *said = empty(err, &own);
    return complete(d->put(d->ctx, key, len, value, value_len, said), said, "write a row");
}

blm_status blm__data_del(const blm_dataset *d, const void *key, size_t len, blm_error *err)
{
    blm_error own, *said = empty(err, &own);
    return complete(d->del(d->ctx, key, len, said), said, "delete a row");
}

blm_status blm__data_scan(const blm_dataset *d, blm_key_fn each, void *each_ctx, blm_error *err)
{
    blm_error own, *said = empty(err, &own);
    return complete(d->scan(d->ctx, each, each_ctx, said), said, "scan its rows");
}

blm_status blm__data_count(const blm_dataset *d, uint64_t *rows, blm_error *err)
{
    blm_error own, *said = empty(err, &own);
    return complete(d->count(d->ctx, rows, said), said, "count its rows");
}

blm_status blm__data_mark_read(const blm_dataset *d, void *mark, size_t *len, blm_error *err)
{
    blm_error own, *said = empty(err, &own);
    return complete(d->mark_read(d->ctx, mark, len, said), said, "read its mark");
}

blm_status blm__data_mark_write(const blm_dataset *d, const void *mark, size_t len, blm_error *err)
{
    blm_error own, *said = empty(err, &own);
    return complete(d->mark_write(d->ctx, mark, len, said), said, "write its mark");
}
