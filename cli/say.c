/* SPDX-License-Identifier: MIT */
/* Every message is one line, whatever it quotes (escape.h). */
#include "say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "memory.h"
#include "out.h"
#include "progress.h"

bool say_quiet;

static const char *command;

void say_command(const char *name) { command = name; }

bool say_colour(void)
{
    static int known = -1;
    if (known < 0) {
        const char *no   = getenv("NO_COLOR");
        const char *term = getenv("TERM");
        known = isatty(STDERR_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
    }
    return known;
}

/* A message is one write, so that the lines of two processes do not mix. 0, or the error number:
 * standard error is gone. */
static int put(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(STDERR_FILENO, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : EIO;
        text += n;
        len -= (size_t)n;
    }
    return 0;
}

static void line(const char *colour, const char *text, const char *tail)
{
    char   whole[1600];
    bool   dye = colour && say_colour();
    int    n   = snprintf(whole, sizeof whole, "%sbloomery%s%s:%s ", dye ? colour : "",
                     command ? " " : "", command ? command : "", dye ? "\033[0m" : "");
    size_t at  = (size_t)n;
    at += escape(text, whole + at, sizeof whole - 200 - at);
    n = snprintf(whole + at, sizeof whole - at, "%s\n", tail);
    progress_hide();
    put(whole, at + (size_t)n);
}

void say_at_once(const char *name, const char *text)
{
    char        whole[1600];
    size_t      at      = 0;
    const char *parts[] = { "bloomery ", command ? command : "", ": ", name, text };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        at += escape(parts[i], whole + at, sizeof whole - 1 - at);
    whole[at++] = '\n';
    put(whole, at);
}

/* When standard output has failed, what a note would say was written was not. */
void say(const char *format, ...)
{
    if (say_quiet || out_stopped())
        return;
    char    text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    line("\033[1m", text, "");
}

int trouble(const char *format, ...)
{
    char    text[1200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    line("\033[1;31m", text, "");
    return EXIT_TROUBLE;
}

int misuse(const char *format, ...)
{
    char    text[1200], tail[120];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(tail, sizeof tail, " (see bloomery%s%.60s --help)", command ? " " : "",
             command ? command : "");
    line("\033[1;31m", text, tail);
    return EXIT_TROUBLE;
}

/* The library names its own options and calls. Here they are called otherwise, and
 * nothing is longer. */
static const struct {
    const char *library, *here;
} spellings[] = {
    { "options.like (--like)", "--like" },
    { "options.like", "--like" },
    { "options.offset", "--offset" },
    { "options.scheme", "--from-scheme" },
    { "options.bits", "-m" },
    { "options.probes", "-k" },
    { "options.funnel", "--funnel" },
    { "options.seed", "--seed" },
    { "options.variant", "--variant" },
    { "options.lines", "--lines" },
    { "options.format", "--from" },
    { "call blm_refresh first", "run the command again" },
    { "call blm_refresh on it first", "run the command again" },
    { "read it, change it, and blm_save it", "convert it to the native format" },
    { "raise rate_cap, or build", "build" }, /* there is no option for it */
};

static void respell(char *text)
{
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        size_t from = strlen(spellings[i].library), to = strlen(spellings[i].here);
        for (char *at = text; (at = strstr(at, spellings[i].library)) != NULL; at += to) {
            memmove(at + to, at + from, strlen(at + from) + 1);
            memcpy(at, spellings[i].here, to);
        }
    }
}

const char *filter_words(const blm_error *err)
{
    static char words[sizeof err->text];
    snprintf(words, sizeof words, "%s",
             err->text[0] ? err->text + err->named : blm_status_text(err->status));
    respell(words);
    return words;
}

int filter_trouble(const char *name, const blm_error *err)
{
    const char *text = filter_words(err);
    if (!name && err->named)
        return trouble("%.*s%s", (int)err->named, err->text, text);
    if (!name || err->status == BLM_E_ARGUMENT)
        return trouble("%s", text);
    return trouble("%s: %s", name, text);
}

int system_trouble(const char *name, int error, const char *remedy)
{
    const char *what = strerror(error);
    char        text[128];
    snprintf(text, sizeof text, "%s", what);
    if (text[0] >= 'A' && text[0] <= 'Z' && !(text[1] >= 'A' && text[1] <= 'Z'))
        text[0] = (char)(text[0] - 'A' + 'a');
    return remedy ? trouble("%s: %s: %s", name, text, remedy) : trouble("%s: %s", name, text);
}

static bool lost;

bool say_lost(void) { return lost; }

/* A reader that has gone away is not trouble, as on standard output. */
void say_plain(const char *format, ...)
{
    char    small[1024];
    int     error = ENOMEM;
    size_t  n;
    va_list args;
    va_start(args, format);
    char *text = memory_text(small, sizeof small, &n, format, args);
    va_end(args);
    if (text) {
        progress_hide();
        error = put(text, n);
    }
    lost |= error && error != EPIPE;
    if (text != small)
        free(text);
}
