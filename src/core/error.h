/* SPDX-License-Identifier: MIT */
/* Filling a caller's blm_error. Every failure leaves through one of these, so that the status a
 * call returns and the one in its error cannot differ. err may be NULL everywhere. */
#ifndef BLM_CORE_ERROR_H
#define BLM_CORE_ERROR_H

#include "bloomery.h"

#if defined(__GNUC__)
#define BLM__PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define BLM__PRINTF(fmt, args)
#endif

/* Returns s. The text is cut, never overrun. */
blm_status blm__fail(blm_error *err, blm_status s, const char *fmt, ...) BLM__PRINTF(3, 4);
blm_status blm__fail_at(blm_error *err, blm_status s, uint64_t offset, const char *fmt, ...)
    BLM__PRINTF(4, 5);
/* With what to do about it, which comes after "; ". */
blm_status blm__fail_with(blm_error *err, blm_status s, const char *remedy, const char *fmt, ...)
    BLM__PRINTF(4, 5);
/* From a system error number: ENOSPC and EDQUOT become E_SPACE, ENOMEM E_MEMORY, EROFS and
 * EACCES E_READONLY only where the caller says so; anything else E_IO. */
blm_status blm__fail_system(blm_error *err, int number, const char *fmt, ...) BLM__PRINTF(3, 4);

#endif
