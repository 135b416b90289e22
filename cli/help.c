/* SPDX-License-Identifier: MIT */
/* --help: what a command is, how to call it, every option, two examples. Eighty columns without
 * colour, on standard output, so that it can be paged and searched. */
#include "help.h"

#include <stdio.h>
#include <string.h>

#include "command.h"
#include "out.h"

#define WIDTH  80
#define COLUMN 22 /* where an option's help begins */

/* Columns a UTF-8 text takes, approximately: counts the bytes that do not continue a character. */
static size_t columns(const char *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)s[i] & 0xC0) != 0x80;
    return n;
}

/* Words wrapped to WIDTH, every line but the first indented; the first begins at column `at`. */
static void wrap(const char *text, size_t indent, size_t at)
{
    while (*text) {
        size_t len = strcspn(text, " ");
        size_t w   = columns(text, len);
        if (at > indent && at + 1 + w > WIDTH) {
            out_print("\n%*s", (int)indent, "");
            at = indent;
        } else if (at > indent) {
            out_print(" ");
            at++;
        }
        out_bytes(text, len);
        at += w;
        text += len;
        text += strspn(text, " ");
    }
    out_print("\n");
}

static void show_option(const struct option *o)
{
    char   call[80];
    char   lead = o->letter ? '-' : ' ', letter = o->letter ? o->letter : ' ';
    size_t n = (size_t)snprintf(call, sizeof call, "  %c%c%s%s%s%s", lead, letter,
                                !o->name    ? ""
                                : o->letter ? ", --"
                                            : "  --",
                                o->name ? o->name : "", o->arg ? " " : "", o->arg ? o->arg : "");
    out_print("%s", call);
    if (columns(call, n) + 2 > COLUMN)
        out_print("\n%*s", COLUMN, "");
    else
        out_print("%*s", (int)(COLUMN - columns(call, n)), "");
    char   words[1200];
    size_t at = (size_t)snprintf(words, sizeof words, "%s", o->help);
    if (option_lists_names(o)) {
        for (size_t i = 0; o->names(i) && at < sizeof words; i++)
            at += (size_t)snprintf(words + at, sizeof words - at, "%s%s",
                                   i == 0 ? " One of: " : ", ", o->names(i));
        if (at < sizeof words)
            snprintf(words + at, sizeof words - at, ".");
    }
    wrap(words, COLUMN, COLUMN);
}

void help_command(const struct command *c)
{
    out_print("bloomery %s: %s\n\n", c->name, c->summary);
    for (size_t i = 0; c->usage[i]; i++)
        out_print("%s bloomery %s %s\n", i ? "      " : "Usage:", c->name, c->usage[i]);
    out_print("\n");
    wrap(c->about[0], 0, 0);
    const struct option_group *groups[OPTIONS_MAX_GROUPS];
    size_t                     n = options_groups(c, groups);
    for (size_t g = 0; g < n; g++) {
        out_print("\n%s:\n", groups[g]->title);
        for (const struct option *o = groups[g]->rows; o->into; o++)
            show_option(o);
    }
    out_print("\nExamples:\n");
    for (const struct example *e = c->examples; e->line; e++)
        out_print("  %s\n      %s\n", e->line, e->says);
    out_print("\n"
              "See also: man bloomery-%s.\n",
              c->name);
}

void help_program(void)
{
    out_print("bloomery %s: Bloom filters. Asked for a key, a filter answers no or maybe.\n\n"
              "Usage: bloomery COMMAND [OPTIONS] [OPERANDS]\n\n"
              "Commands:\n",
              blm_version());
    for (size_t i = 0; commands[i]; i++)
        out_print("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    out_print("\n"
              "Options:\n"
              "  -h, --help     show this; bloomery help COMMAND shows a command's options\n"
              "  -V, --version  show the version\n\n"
              "Keys are lines, from files or standard input; results go to standard output.\n"
              "A filter is a file, - for standard input or output, or redis://host/KEY.\n"
              "Exit status: 0 yes or done, 1 no, 2 trouble.\n\n"
              "Examples:\n"
              "  bloomery dedup crawl.log > unique.log\n"
              "      Keep the first copy of every line, in order\n"
              "  bloomery create seen.blm -n 1e6 -p 0.01 --from urls.txt\n"
              "      Add a million keys to a filter of 1.2 MiB\n\n"
              "See also: man bloomery.\n");
}
