/* SPDX-License-Identifier: MIT */
/* The command line's messages, counted instead of printed: stands in for cli/say.c. */
#ifndef BLM_FUZZ_MUTE_H
#define BLM_FUZZ_MUTE_H

#include <say.h>
#include <stdarg.h>
#include <stdio.h>

#include "decode.h"

bool          say_quiet;
static size_t mute_troubles;

/* A message is at most a few lines, and ends. */
static void mute_count(const char *format, va_list args)
{
    char text[4096];
    must(vsnprintf(text, sizeof text, format, args) >= 0);
    mute_troubles++;
}

void say_command(const char *name) { (void)name; }
bool say_colour(void) { return false; }
void say(const char *format, ...) { (void)format; }
void say_plain(const char *format, ...) { (void)format; }
bool say_lost(void) { return false; }
void say_at_once(const char *name, const char *text) { (void)name, (void)text; }

int trouble(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mute_count(format, args);
    va_end(args);
    return EXIT_TROUBLE;
}

int misuse(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    mute_count(format, args);
    va_end(args);
    return EXIT_TROUBLE;
}

const char *filter_words(const blm_error *err) { return err->text; }
int         filter_trouble(const char *name, const blm_error *err)
{
    return trouble("%s%s", name, err->text);
}
int system_trouble(const char *name, int error, const char *remedy)
{
    return trouble("%s: %d %s", name, error, remedy ? remedy : "");
}

#endif
