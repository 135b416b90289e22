/* SPDX-License-Identifier: MIT */
/* What the option rows and command structs say, in four forms. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdbool.h>

struct command;
struct option;

void help_program(void);
void help_command(const struct command *c);
/* The manual page of a command, or of the program if c is NULL, in man(7) macros. */
void manual(const struct command *c);
/* The completion script for "bash", "zsh" or "fish"; false: another shell. */
bool completion(const char *shell);

#endif
