/* SPDX-License-Identifier: MIT */
/* A command as data. What --help, the manual page and the completions say about it is written once,
 * next to the function that runs it. cmd_NAME.c defines `const struct command cmd_NAME`; main.c
 * lists them. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "options.h"

struct example {
    const char *line; /* what to type */
    const char *says; /* what it does, one sentence without a full stop */
};

struct command {
    const char        *name;
    const char        *summary; /* after the name: "print each line the first time it is seen" */
    const char *const *usage;   /* what follows the name, one per line, NULL-ended */
    const char *const *about;   /* paragraphs, NULL-ended: --help shows the first, the manual all */
    const struct option_group *const *options; /* NULL-ended; --quiet and --help are always there */
    const struct example             *examples; /* at least two; ends with a NULL line */
    const char *status;      /* exit status if it is not "0 done, 2 trouble"; else NULL */
    const char *operand;     /* what to call the first missing operand: "filter" */
    int         least, most; /* operands; most −1: any number */
    int (*run)(int count, char **operands); /* returns the exit status */
};

extern const struct command *const commands[];                     /* main.c; NULL-ended */
const struct command              *command_find(const char *name); /* NULL: there is none */

#endif
