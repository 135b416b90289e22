/* SPDX-License-Identifier: MIT */
/* An option is a row of data: its names, its argument, its help text, and where its value goes. The
 * parser (options.c), --help (help.c), the manual (manual.c) and the shells' completion
 * (completion.c) all use these rows, so the four cannot disagree. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {              /* into points to */
                   OPT_FLAG,    /* bool; takes no argument */
                   OPT_TEXT,    /* const char * */
                   OPT_FILE,    /* const char *; shells complete file names */
                   OPT_KEYS,    /* the same, of keys: a second one would hide the first */
                   OPT_NAME,    /* const char *; one of names() */
                   OPT_COUNT,   /* uint64_t, at least 1: 1000000, 1e6, 1_000_000 */
                   OPT_THREADS, /* the same, and so it is called */
                   OPT_NUMBER,  /* uint64_t, 0 too */
                   OPT_SIZE,    /* uint64_t bytes, at least 1: 64M */
                   OPT_TIME,    /* uint64_t milliseconds, at least 1: 500ms, 10m */
                   OPT_RATE,    /* double, between 0 and 1: 0.01, 1e-6, 1% */
                   OPT_BYTE,    /* int: one byte, or \t */
                   OPT_SEED     /* struct option_seed */
};

struct option_seed {
    bool     given;
    uint64_t word[2];
};

struct option {
    const char      *name;   /* long, without dashes; NULL: only a letter */
    char             letter; /* 0: only a name */
    enum option_type type;
    const char      *arg; /* what --help calls the argument; NULL for flags */
    void            *into;
    const char      *help;          /* one or more sentences; the first is short */
    const char *(*names)(size_t i); /* OPT_NAME: the i-th that is valid, NULL past the end */
};
#define OPTION_END \
    {              \
        0          \
    }

struct option_group {
    const char          *title; /* "Keys" */
    const struct option *rows;  /* end with OPTION_END */
};

extern const struct option_group options_common; /* --quiet, --help: part of every command */
extern bool                      options_help;   /* --help was given */

struct command;

/* Parses the arguments from argv[1] on. Options and operands may be mixed; `--` ends the options.
 * Moves the operands to argv[1] and on, and returns how many there are. −1: trouble, already
 * reported. Stops at --help. */
int options_parse(const struct command *c, int argc, char **argv);

/* Names for OPT_NAME rows. */
const char *kind_names(size_t i);
const char *planned_kind_names(size_t i); /* calc */
const char *made_kind_names(size_t i);    /* create */
const char *hash_names(size_t i);
const char *scheme_names(size_t i);
const char *made_scheme_names(size_t i); /* create */
const char *format_names(size_t i);

/* Does a shell complete file names after it? */
static inline bool option_is_file(const struct option *o)
{
    return o->type == OPT_FILE || o->type == OPT_KEYS;
}

/* Are the names the same in every build, so that the help and the manual can list them? */
static inline bool option_lists_names(const struct option *o)
{
    return o->names && o->names != scheme_names && o->names != made_scheme_names &&
           o->names != format_names;
}

/* What --names calls those that are not. */
static inline const char *option_calls_names(const struct option *o)
{
    return o->names == scheme_names        ? "schemes"
           : o->names == made_scheme_names ? "made-schemes"
                                           : "formats";
}

/* A command's groups of options, the common one last. Returns how many. */
#define OPTIONS_MAX_GROUPS 16
size_t options_groups(const struct command *c, const struct option_group *out[OPTIONS_MAX_GROUPS]);

/* The name in a list that is nearest to a mistyped one, or NULL if none is near. */
const char *nearest(const char *typed, const char *(*name_at)(const void *ctx, size_t i),
                    const void *ctx);

#endif
