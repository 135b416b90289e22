/* SPDX-License-Identifier: MIT */
/* File names and other programs' texts may hold any bytes. Before they are shown, control
 * characters (of UTF-8 too) and bytes that are no UTF-8 are written as \n, \t, \r or \x1b, so that
 * they cannot break a line or control the terminal. */
#ifndef CLI_ESCAPE_H
#define CLI_ESCAPE_H

#include <stddef.h>

/* Writes as much of the text as fits, NUL-ended, and returns its length. Async-signal-safe. */
size_t escape(const char *text, char *out, size_t room);

/* The text as it can be shown: itself, or a copy that lives as long as the process. */
const char *shown(const char *text);

#endif
