/* SPDX-License-Identifier: MIT */
/*
 * Standard output. Lines are given as spans of memory that the caller owns. Neighbouring spans
 * become one, and a batch of them goes out in one writev. So only the kernel copies a line, and a
 * run of lines that are all kept costs as much as one line.
 *
 * A reader that has gone away (EPIPE) is not trouble: output stops, out_stopped() says so, and the
 * command ends as if the input had ended. Any other failure is reported once and makes out_finish
 * fail.
 */
#ifndef CLI_OUT_H
#define CLI_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "say.h"

/* Borrows len bytes until the next out_flush. */
void out_span(const char *bytes, size_t len);
/* Copies the bytes. For text, numbers and tables. */
void out_bytes(const void *bytes, size_t len);
void out_print(const char *format, ...) SAY_FORMAT(1, 2);
/* Writes everything. False: output has stopped, and some of what was given since the last flush may
 * not have been written. */
bool out_flush(void);
bool out_stopped(void);
/* Flushes, closes. Returns `status`, or EXIT_TROUBLE when something could not be
 * written, there or as a report on standard error (say_plain). */
int out_finish(int status);
/* For blm_encode; ctx is not used. */
bool out_write(void *ctx, const void *bytes, size_t len);

#endif
