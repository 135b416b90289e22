/* SPDX-License-Identifier: MIT */
/* Statuses as text, and the only place where a blm_error is filled. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"

const char *blm_status_text(blm_status s)
{
    switch ((int)s) {
#define ROW(name, value, text) \
    case value:                \
        return text;
        BLM_STATUS_MAP(ROW)
#undef ROW
    default:
        return "unknown status";
    }
}

const char *blm_status_name(blm_status s)
{
    switch ((int)s) {
#define ROW(name, value, text) \
    case value:                \
        return "BLM_" #name;
        BLM_STATUS_MAP(ROW)
#undef ROW
    default:
        return "BLM_UNKNOWN";
    }
}

const char *blm_version(void) { return BLM_VERSION; }

static void fill(blm_error *err, blm_status s, int number, uint64_t offset, const char *fmt,
                 va_list args)
{
    if (!err)
        return;
    err->status = s;
    err->system = number;
    err->offset = offset;
    err->named  = 0;
    vsnprintf(err->text, sizeof err->text, fmt, args);
    err->wrong = (uint16_t)strlen(err->text);
}

blm_status blm__fail(blm_error *err, blm_status s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fill(err, s, 0, BLM_NO_OFFSET, fmt, args);
    va_end(args);
    return s;
}

blm_status blm__fail_with(blm_error *err, blm_status s, const char *remedy, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fill(err, s, 0, BLM_NO_OFFSET, fmt, args);
    va_end(args);
    if (err)
        snprintf(err->text + err->wrong, sizeof err->text - err->wrong, "; %s", remedy);
    return s;
}

blm_status blm__fail_at(blm_error *err, blm_status s, uint64_t offset, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fill(err, s, 0, offset, fmt, args);
    va_end(args);
    return s;
}

static blm_status status_of(int number)
{
    return number == ENOSPC || number == EDQUOT ? BLM_E_SPACE
           : number == ENOMEM                   ? BLM_E_MEMORY
                                                : BLM_E_IO;
}

blm_status blm__fail_system(blm_error *err, int number, const char *fmt, ...)
{
    blm_status s = status_of(number);
    va_list    args;
    va_start(args, fmt);
    fill(err, s, number, BLM_NO_OFFSET, fmt, args);
    va_end(args);
    return s;
}

blm_status blm__fail_write(blm_error *err, int number, const char *fmt, ...)
{
    bool       denied = number == EACCES || number == EPERM || number == EROFS || number == ETXTBSY;
    blm_status s      = denied ? BLM_E_READONLY : status_of(number);
    va_list    args;
    va_start(args, fmt);
    fill(err, s, number, BLM_NO_OFFSET, fmt, args);
    va_end(args);
    return s;
}
