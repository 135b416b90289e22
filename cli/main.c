/* SPDX-License-Identifier: MIT */
/* The command table and the program's own options. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "bloomery.h"
#include "command.h"
#include "fault.h"
#include "help.h"
#include "keys.h"
#include "out.h"
#include "ref.h"
#include "say.h"

extern const struct command cmd_add, cmd_bench, cmd_bip37, cmd_build, cmd_calc, cmd_check,
    cmd_compare, cmd_convert, cmd_create, cmd_dedup, cmd_diff, cmd_follow, cmd_info, cmd_intersect,
    cmd_merge, cmd_patch, cmd_remove, cmd_schemes, cmd_verify, cmd_web;

/* In the order in which --help lists them. */
const struct command *const commands[] = {
    &cmd_dedup, &cmd_create, &cmd_build, &cmd_add,       &cmd_check,   &cmd_remove,  &cmd_calc,
    &cmd_info,  &cmd_verify, &cmd_merge, &cmd_intersect, &cmd_compare, &cmd_convert, &cmd_diff,
    &cmd_patch, &cmd_follow, &cmd_bip37, &cmd_bench,     &cmd_schemes, &cmd_web,     NULL,
};

const struct command *command_find(const char *name)
{
    for (size_t i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static const char *command_name(const void *ctx, size_t i)
{
    (void)ctx;
    return commands[i] ? commands[i]->name : NULL;
}

/* If descriptor 0, 1 or 2 is closed, the next file opened would get its number, and lines would be
 * printed into a filter. So each closed one is replaced by one that fails when used. */
static void fill_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            while (open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0 && errno == EINTR)
                ;
}

static int run(const struct command *c, int argc, char **argv)
{
    say_command(c->name);
    int n = options_parse(c, argc, argv);
    if (n < 0)
        return EXIT_TROUBLE;
    if (options_help) {
        help_command(c);
        return EXIT_YES;
    }
    return keys_options_fit() ? c->run(n, argv + 1) : EXIT_TROUBLE;
}

/* For completion scripts: the schemes or formats that this build knows. */
static bool print_names(const char *what)
{
    const char *(*names)(size_t) = strcmp(what, "schemes") == 0        ? scheme_names
                                   : strcmp(what, "made-schemes") == 0 ? made_scheme_names
                                   : strcmp(what, "formats") == 0      ? format_names
                                                                       : NULL;
    for (size_t i = 0; names && names(i); i++)
        out_print("%s\n", names(i));
    return names != NULL;
}

/* bloomery --help, --version and help CMD. Also --man, --completion and --names, for the build and
 * the shells, which --help does not list. */
static int program_option(int argc, char **argv)
{
    const char *a = argv[1], *b = argc > 2 ? argv[2] : NULL;
    if (strcmp(a, "--help") == 0 || strcmp(a, "-h") == 0 || (strcmp(a, "help") == 0 && !b)) {
        help_program();
        return EXIT_YES;
    }
    if (strcmp(a, "--version") == 0 || strcmp(a, "-V") == 0) {
        out_print("bloomery %s\n", blm_version());
        return EXIT_YES;
    }
    const struct command *c = b ? command_find(b) : NULL;
    if (strcmp(a, "help") == 0 && c) {
        help_command(c);
        return EXIT_YES;
    }
    if (strcmp(a, "--man") == 0 && (!b || c)) {
        manual(c);
        return EXIT_YES;
    }
    if (strcmp(a, "--completion") == 0 && b && completion(b))
        return EXIT_YES;
    if (strcmp(a, "--names") == 0 && b && print_names(b))
        return EXIT_YES;
    const char *near = nearest(strcmp(a, "help") == 0 && b ? b : a, command_name, NULL);
    if (a[0] == '-')
        return misuse("unknown option %s", a);
    return misuse("unknown command %s%s%s%s", strcmp(a, "help") == 0 && b ? b : a,
                  near ? ": did you mean " : "", near ? near : "", near ? "?" : "");
}

int main(int argc, char **argv)
{
    fill_descriptors();
    fault_catch();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is seen as EPIPE, and is not trouble: see out.h */
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow (ulimit -f) is seen as EFBIG */
    if (argc < 2) {
        help_program();
        return out_finish(EXIT_TROUBLE);
    }
    ref_hide_passwords(argc, argv);
    const struct command *c = command_find(argv[1]);
    return out_finish(c ? run(c, argc - 1, argv + 1) : program_option(argc, argv));
}
