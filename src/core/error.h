/* SPDX-License-Identifier: MIT */
/* Fills a caller's blm_error. Every failure goes through one of these, so that the status that a
 * call returns and the one in its error are the same. err may be NULL everywhere. */
#ifndef BLM_CORE_ERROR_H
#define BLM_CORE_ERROR_H

#include "bloomery.h"

#if defined(__GNUC__)
#define BLM__PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define BLM__PRINTF(fmt, args)
#endif

/* Returns s. A text that is too long is cut. */
blm_status blm__fail(blm_error *err, blm_status s, const char *fmt, ...) BLM__PRINTF(3, 4);
blm_status blm__fail_at(blm_error *err, blm_status s, uint64_t offset, const char *fmt, ...)
    BLM__PRINTF(4, 5);
/* With what to do about it, which comes after "; ". */
blm_status blm__fail_with(blm_error *err, blm_status s, const char *remedy, const char *fmt, ...)
    BLM__PRINTF(4, 5);
/* From a system's error number: ENOSPC and EDQUOT become E_SPACE, ENOMEM E_MEMORY, all others
 * E_IO. */
blm_status blm__fail_system(blm_error *err, int number, const char *fmt, ...) BLM__PRINTF(3, 4);
/* The same for an attempt to write: a number that says that we may not becomes E_READONLY. */
blm_status blm__fail_write(blm_error *err, int number, const char *fmt, ...) BLM__PRINTF(3, 4);

#endif
