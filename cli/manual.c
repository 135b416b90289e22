/* SPDX-License-Identifier: MIT */
/* The manual pages, in man(7) macros. docs/man/ holds what this prints, and a test checks that. */
#include <string.h>

#include "command.h"
#include "help.h"
#include "out.h"

/* Prints text with the characters that are special to troff escaped: backslashes, literal hyphens,
 * and a dot or quote at the beginning of a line. */
static void text(const char *s)
{
    bool start = true;
    for (; *s; s++) {
        if (start && (*s == '.' || *s == '\''))
            out_print("\\&");
        if (*s == '\\')
            out_print("\\e");
        else if (*s == '-')
            out_print("\\-");
        else
            out_bytes(s, 1);
        start = *s == '\n';
    }
}

static void upper(const char *s)
{
    for (; *s; s++) {
        char c = *s >= 'a' && *s <= 'z' ? (char)(*s - 'a' + 'A') : *s;
        if (c == '-')
            out_print("\\-");
        else
            out_bytes(&c, 1);
    }
}

/* Of BLM_VERSION; CONTRIBUTING.md, Release, says where else. */
#define RELEASED "2026-11-18"

static void heading(const char *page, const char *summary)
{
    out_print(".\\\" Made by bloomery --man: change cli/, not this.\n.TH ");
    upper(page);
    out_print(" 1 \"" RELEASED "\" \"bloomery %s\" \"bloomery manual\"\n.SH NAME\n", BLM_VERSION);
    text(page);
    out_print(" \\- ");
    text(summary);
    out_print("\n");
}

static void show_option(const struct option *o)
{
    out_print(".TP\n");
    if (o->letter)
        out_print("\\fB\\-%c\\fR", o->letter);
    if (o->letter && o->name)
        out_print(", ");
    if (o->name) {
        out_print("\\fB\\-\\-");
        text(o->name);
        out_print("\\fR");
    }
    if (o->arg) {
        out_print(" \\fI");
        text(o->arg);
        out_print("\\fR");
    }
    out_print("\n");
    text(o->help);
    if (option_lists_names(o)) {
        out_print(" One of: ");
        for (size_t i = 0; o->names(i); i++)
            out_print("%s%s", i ? ", " : "", o->names(i));
        out_print(".");
    }
    out_print("\n");
}

static void examples(const struct example *e)
{
    out_print(".SH EXAMPLES\n");
    for (; e->line; e++) {
        out_print(".TP\n.B ");
        text(e->line);
        out_print("\n");
        text(e->says);
        out_print("%s\n", e->says[strlen(e->says) - 1] == '?' ? "" : ".");
    }
}

static void see_also(const struct command *self)
{
    out_print(".SH SEE ALSO\n");
    if (self)
        out_print(".BR bloomery (1)");
    for (size_t i = 0, n = 0; commands[i]; i++)
        if (commands[i] != self)
            out_print("%s.BR bloomery\\-%s (1)", self || n++ ? ",\n" : "", commands[i]->name);
    out_print("\n");
}

static void command_page(const struct command *c)
{
    char page[64] = "bloomery-";
    strncat(page, c->name, sizeof page - strlen(page) - 1);
    heading(page, c->summary);
    out_print(".SH SYNOPSIS\n");
    for (size_t i = 0; c->usage[i]; i++) {
        out_print("%s.B bloomery %s\n", i ? ".br\n" : "", c->name);
        text(c->usage[i]);
        out_print("\n");
    }
    out_print(".SH DESCRIPTION\n");
    for (size_t i = 0; c->about[i]; i++) {
        out_print("%s", i ? ".PP\n" : "");
        text(c->about[i]);
        out_print("\n");
    }
    out_print(".SH OPTIONS\n");
    const struct option_group *groups[OPTIONS_MAX_GROUPS];
    size_t                     n = options_groups(c, groups);
    for (size_t g = 0; g < n; g++) {
        out_print(".SS ");
        text(groups[g]->title);
        out_print("\n");
        for (const struct option *o = groups[g]->rows; o->into; o++)
            show_option(o);
    }
    examples(c->examples);
    out_print(".SH EXIT STATUS\n");
    text(c->status ? c->status : "0 done, 2 trouble.");
    out_print("\n");
    see_also(c);
}

static void program_page(void)
{
    heading("bloomery", "Bloom filters: asked for a key, a filter answers no or maybe");
    out_print(".SH SYNOPSIS\n"
              ".B bloomery\n"
              ".I COMMAND\n"
              "[\\fIOPTIONS\\fR] [\\fIOPERANDS\\fR]\n"
              ".br\n"
              ".B bloomery help\n"
              "[\\fICOMMAND\\fR]\n"
              ".br\n"
              ".B bloomery \\-\\-version\n"
              ".SH DESCRIPTION\n"
              "A filter remembers keys in a few bits each. Asked for a key, it answers "
              "\\fIno\\fR, which is\n"
              "certain, or \\fImaybe\\fR, which can be wrong: for absent keys, at a rate chosen "
              "when the filter\n"
              "is made.\n");
    out_print(".SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++) {
        out_print(".TP\n.BR bloomery\\-%s (1)\n", commands[i]->name);
        text(commands[i]->summary);
        out_print("\n");
    }
    out_print(".SH OPTIONS\n"
              ".TP\n"
              "\\fBhelp\\fR [\\fICOMMAND\\fR], \\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
              "List the commands, or show what \\fICOMMAND\\fR does, its options and examples. "
              "\\fBbloomery\\fR\n"
              "\\fICOMMAND\\fR \\fB\\-\\-help\\fR shows the same.\n"
              ".TP\n"
              "\\fB\\-V\\fR, \\fB\\-\\-version\\fR\n"
              "Show the version.\n");
    out_print(
        ".SH KEYS\n"
        "Keys are lines. The newline is not part of the key, and a last line without one counts. "
        "A\n"
        "carriage return is part of the key unless \\fB\\-\\-crlf\\fR is given. A key can hold "
        "any\n"
        "bytes and have any length. \\fB\\-0\\fR reads keys that end with a NUL byte instead.\n"
        "\\fB\\-e\\fR says how lines are encoded; \\fB\\-f\\fR and \\fB\\-d\\fR take one field of "
        "the\n"
        "line as the key. Output is always the whole line as it was read.\n"
        "Inputs are files. \\fB\\-\\fR, or no input, means standard input.\n"
        ".SH FILTERS\n"
        "A filter reference is a path, or \\fB\\-\\fR, which is standard input to read a filter "
        "and\n"
        "standard output to write one. A path may also lead to a pipe: a FIFO, "
        "\\fI/dev/stdin\\fR,\n"
        "or \\fB<(\\fR...\\fB)\\fR of the shell. It is read like standard input, and a command "
        "that\n"
        "changes the filter writes it to standard output. Nothing is overwritten without "
        "\\fB\\-\\-force\\fR, and a "
        "command\n"
        "that is interrupted or fails leaves the old file intact.\n"
        ".SH FILTERS ON REDIS\n"
        "A filter can also be a key on a Redis or Valkey server with bloomery's module or\n"
        "RedisBloom:\n"
        ".TP\n"
        "\\fBredis://\\fR[\\fIuser\\fB:\\fIpassword\\fB@\\fR]\\fIhost\\fR[\\fB:\\fIport\\fR]\\fB/"
        "\\fR[\\fIdb\\fB/\\fR]\\fIKEY\\fR[\\fB?timeout=\\fISECONDS\\fR]\n"
        "Defaults: port 6379, database 0, timeout 30. The key is everything up to the end;\n"
        "digits and a slash before it are the database.\n"
        ".TP\n"
        "\\fBunix://\\fR[\\fIuser\\fB:\\fIpassword\\fB@\\fR]\\fI/path/of/"
        "socket\\fR[\\fB?db=\\fIN\\fR]\\fB#\\fIKEY\\fR\n"
        "A socket on this machine; \\fBredis+unix://\\fR is the same.\n"
        ".TP\n"
        "\\fBredis+cluster://"
        "\\fR[\\fIuser\\fB:\\fIpassword\\fB@\\fR]\\fIhost\\fR[\\fB:\\fIport\\fR]"
        "\\fB,\\fIhost\\fR...\\fB/\\fIKEY\\fR[\\fB?shards=\\fIN\\fR]\n"
        "One filter in \\fIN\\fR keys, spread over the masters of a cluster. \\fBshards\\fR "
        "matters "
        "only when it\n"
        "is made. Not for \\fBconvert\\fR, \\fBcompare\\fR, \\fBdiff\\fR and \\fBintersect\\fR.\n"
        ".TP\n"
        "\\fBnear+redis://\\fR...\n"
        "For \\fBcheck\\fR: a copy that is loaded once, follows the server, and answers here.\n"
        ".PP\n"
        "Every part is percent\\-encoded: %%2F is a slash. To use a file whose name begins like "
        "these,\n"
        "write \\fB./unix:\\fR... TLS is not supported.\n"
        ".PP\n"
        "\\fBadd\\fR, \\fBcheck\\fR, \\fBremove\\fR and \\fBdedup \\-\\-state\\fR send the keys "
        "to the server, thousands\n"
        "at a time, and the filter stays there. If the connection is lost, they connect again "
        "and\n"
        "continue. Changes to a counting filter are never sent twice, so there a lost connection "
        "is trouble.\n"
        "\\fBinfo\\fR, \\fBverify\\fR, \\fBconvert\\fR, \\fBcompare\\fR, \\fBdiff\\fR,\n"
        "\\fBmerge\\fR and \\fBintersect\\fR first read the whole filter. A new filter is loaded "
        "under another\n"
        "name and renamed at the end, so nobody sees half of it. Keys that others add to the "
        "old\n"
        "filter meanwhile are not in the new one. Other commands do not work on a server. In a\n"
        "cluster, name any of its servers.\n"
        ".PP\n"
        "A native filter needs bloomery's module. RedisBloom can read filters of scheme "
        "redisbloom too.\n"
        ".SH NUMBERS\n"
        "Counts can be written 1000000, 1_000_000 or 1e6. Sizes are in bytes, or end in K, M, G "
        "or T\n"
        "(powers of 1024). Rates can be written 0.01, 1e\\-6 or 1%%.\n"
        ".SH ENVIRONMENT\n"
        ".TP\n"
        ".B NO_COLOR\n"
        "If set and not empty, no colour is used. Otherwise messages on a terminal are "
        "coloured.\n"
        ".TP\n"
        ".B REDISCLI_AUTH\n"
        "The password for filters on Redis if the reference has none, as for\n"
        ".BR redis\\-cli (1).\n"
        ".SH EXIT STATUS\n"
        "0 yes or done, 1 no, 2 trouble, as\n"
        ".BR grep (1).\n"
        "A reader that closes the pipe early is not trouble.\n");
    see_also(NULL);
}

void manual(const struct command *c)
{
    if (c)
        command_page(c);
    else
        program_page();
}
