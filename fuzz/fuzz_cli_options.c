/* SPDX-License-Identifier: MIT */
/* The command line's options: any words after any command are taken or refused with a message, and the
 * operands are some of the words, in order. The input is the command's number, then words that end
 * with a NUL. */
#define main program_main /* the table of commands is beside it */
#include <main.c>
#undef main

#include "mute.h"

#define WORDS 24

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *argv[WORDS + 2], *words[WORDS + 2];
    int   argc = 0, count = 0;
    if (size < 1)
        return 0;
    while (commands[count])
        count++;
    const struct command *c    = commands[data[0] % count];
    char                 *text = malloc(size + 1);
    must(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    argv[argc++]   = (char *)(uintptr_t)c->name;
    for (size_t at = 0; at + 1 < size && argc <= WORDS; at += strlen(text + at) + 1)
        argv[argc++] = text + at;
    argv[argc] = NULL;
    memcpy(words, argv, sizeof argv);
    options_help  = false;
    mute_troubles = 0;
    int n         = options_parse(c, argc, argv);
    must(n < argc && (n >= 0) == (mute_troubles == 0));
    must(n < 0 || options_help || (n >= c->least && (c->most < 0 || n <= c->most)));
    for (int i = 1, from = 1; i <= n; i++, from++) {
        while (from < argc && words[from] != argv[i])
            from++;
        must(from < argc);
    }
    free(text);
    return 0;
}
