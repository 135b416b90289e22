/* SPDX-License-Identifier: MIT */
/* The manual pages, in man(7) macros. docs/man/ holds what this prints;
 * a test sees that it does. */
#include <string.h>

#include "command.h"
#include "help.h"
#include "out.h"

/* Text with what troff would take for itself made harmless: backslashes, hyphens that are meant as
 * typed, and a dot or quote at the beginning of a line. */
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

static void heading(const char *page, const char *summary)
{
    out_print(".\\\" Made by bloomery --man: change cli/, not this.\n.TH ");
    upper(page);
    out_print(" 1 \"\" \"bloomery %s\" \"bloomery manual\"\n.SH NAME\n", BLM_VERSION);
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
        out_print(".\n");
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
    heading("bloomery", "is this key in the set? A filter answers without the set");
    out_print(".SH SYNOPSIS\n.B bloomery\n.I COMMAND\n[\\fIOPTIONS\\fR] [\\fIOPERANDS\\fR]\n"
              ".SH DESCRIPTION\n"
              "A filter stands for a set of keys in a few bits each. Asked for a key, it answers\n"
              "\\fIno\\fR, and that is certain, or \\fImaybe\\fR, and that is wrong at a rate "
              "chosen when the\nfilter is made.\n");
    out_print(".SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++) {
        out_print(".TP\n.BR bloomery\\-%s (1)\n", commands[i]->name);
        text(commands[i]->summary);
        out_print("\n");
    }
    out_print(
        ".SH KEYS\n"
        "Keys are lines. The newline is not part of the key; a last line without one counts. A\n"
        "carriage return is part of the key unless \\fB\\-\\-crlf\\fR is given. Keys may hold any\n"
        "bytes and be of any length; \\fB\\-0\\fR reads keys that end with a NUL byte instead.\n"
        "\\fB\\-e\\fR says what a line encodes, \\fB\\-f\\fR and \\fB\\-d\\fR take one field\n"
        "of it as the key; what is printed is always the whole line as it was read.\n"
        "Inputs are files; \\fB\\-\\fR, or none, is standard input.\n"
        ".SH FILTERS\n"
        "A filter reference is a path, or \\fB\\-\\fR: standard input where a filter is read,\n"
        "standard output where one is written. Nothing is overwritten without\n"
        "\\fB\\-\\-force\\fR, and a command that is interrupted or fails "
        "leaves the old file whole.\n"
        ".SH FILTERS ON REDIS\n"
        "A filter can also be a key of a Redis or Valkey server that has bloomery's module, or\n"
        "RedisBloom:\n"
        ".TP\n\\fBredis://\\fR[\\fIuser\\fB:\\fIpassword\\fB@\\fR]\\fIhost\\fR[\\fB:\\fIport\\fR]"
        "\\fB/\\fR[\\fIdb\\fB/\\fR]\\fIKEY\\fR[\\fB?timeout=\\fISECONDS\\fR]\n"
        "The port is 6379, the database 0 and the timeout 30 when they are not given. "
        "The key goes\n"
        "on to the end; digits and a slash before it are the database.\n"
        ".TP\n\\fBunix://\\fR[\\fIuser\\fB:\\fIpassword\\fB@\\fR]\\fI/path/of/socket\\fR"
        "[\\fB?db=\\fIN\\fR]\\fB#\\fIKEY\\fR\nA socket of this machine; \\fBredis+unix://\\fR "
        "is the same.\n"
        ".PP\nIn every part %%2F stands for a slash, and so on. A path that begins like these is\n"
        "written \\fB./unix:\\fR...; TLS is not spoken.\n"
        ".PP\n\\fBadd\\fR, \\fBcheck\\fR, \\fBremove\\fR and \\fBdedup \\-\\-state\\fR send "
        "the keys to the server, thousands\nat a time, and the filter stays there. When the "
        "connection is lost they connect again and go\non; only to a counting filter nothing is "
        "sent twice. \\fBinfo\\fR, \\fBverify\\fR, \\fBconvert\\fR, \\fBcompare\\fR, "
        "\\fBdiff\\fR,\n\\fBmerge\\fR and \\fBintersect\\fR read the whole filter first. A "
        "filter that is written is loaded\nunder another name and renamed at the end, so that "
        "nobody sees half of it; keys\nthat others "
        "add to the old filter meanwhile are not in it. Other commands\nrefuse. In a cluster "
        "any of its servers can be named: the key is found.\n"
        ".PP\nA native filter needs bloomery's module; one of scheme redisbloom is what RedisBloom "
        "makes and\nreads too.\n"
        ".SH NUMBERS\n"
        "Counts take 1000000, 1_000_000 and 1e6; sizes are bytes, or take K, M, G or T (1024);\n"
        "rates take 0.01, 1e\\-6 and 1%%.\n"
        ".SH ENVIRONMENT\n"
        ".TP\n.B NO_COLOR\nWhen set and not empty, no colour is used. Otherwise colour is used "
        "for words on a terminal.\n"
        ".TP\n.B REDISCLI_AUTH\n"
        "The password for filters on Redis whose reference has none, as for\n"
        ".BR redis\\-cli (1).\n"
        ".SH EXIT STATUS\n"
        "0 yes or done, 1 no, 2 trouble, as\n.BR grep (1).\n"
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
