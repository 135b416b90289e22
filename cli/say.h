/* SPDX-License-Identifier: MIT */
/* Messages for the user. All of them go to standard error, one line each. */
#ifndef CLI_SAY_H
#define CLI_SAY_H

#include "bloomery.h"

enum { EXIT_YES = 0, EXIT_NO = 1, EXIT_TROUBLE = 2 };

#if defined(__GNUC__)
#define SAY_FORMAT(a, b) __attribute__((format(printf, a, b)))
#else
#define SAY_FORMAT(a, b)
#endif

extern bool say_quiet; /* --quiet: only errors and what was asked for */

/* The command's name, for the front of every line; NULL: only the program's name. */
void say_command(const char *name);
/* May messages be coloured? Standard error is a terminal and NO_COLOR is not set. */
bool say_colour(void);

/* Something worth knowing. Silent with --quiet, and after standard output has failed. */
void say(const char *format, ...) SAY_FORMAT(1, 2);
/* What went wrong, and what to do about it. Returns EXIT_TROUBLE. */
int trouble(const char *format, ...) SAY_FORMAT(1, 2);
/* The same for a mistake in the command line. Adds where to look it up. */
int misuse(const char *format, ...) SAY_FORMAT(1, 2);
/* The library's message, without the name that it may begin with, and with options as they are
 * called here. Valid until the next call. */
const char *filter_words(const blm_error *err);
/* For a call of the library that failed on the filter called `name`. */
int filter_trouble(const char *name, const blm_error *err);
/* For a system call that failed on `name` with this error number. */
int system_trouble(const char *name, int error, const char *remedy);

/* A message for signal handlers: name and text, one line, async-signal-safe. */
void say_at_once(const char *name, const char *text);

/* Lines that were asked for (statistics, progress), printed as they are, even with --quiet. */
void say_plain(const char *format, ...) SAY_FORMAT(1, 2);
/* Could some of them not be written? Then the command ends with EXIT_TROUBLE: there is nowhere to
 * say so. */
bool say_lost(void);

#endif
