/* SPDX-License-Identifier: MIT */
/* Completion for bash, zsh and fish. cli/completion/ holds what this prints, and a test checks that.
 * Schemes and formats differ from build to build, so the scripts ask the program for them. */
#include <string.h>

#include "command.h"
#include "help.h"
#include "out.h"

static void each_option(const struct command *c, void (*show)(const struct option *o))
{
    const struct option_group *groups[OPTIONS_MAX_GROUPS];
    size_t                     n = options_groups(c, groups);
    for (size_t g = 0; g < n; g++)
        for (const struct option *o = groups[g]->rows; o->into; o++)
            show(o);
}

/* The words an OPT_NAME takes, or a call that prints them. */
static void names(const struct option *o, const char *gap)
{
    if (!option_lists_names(o)) {
        out_print("$(bloomery --names %s 2>/dev/null)", option_calls_names(o));
        return;
    }
    for (size_t i = 0; o->names(i); i++)
        out_print("%s%s", i ? gap : "", o->names(i));
}

/* ---- bash ---- */

static void bash_words(const struct option *o)
{
    if (o->letter)
        out_print(" -%c", o->letter);
    if (o->name)
        out_print(" --%s", o->name);
}

static void bash_arm(const struct option *o)
{
    if (o->type == OPT_FLAG)
        return;
    out_print("            ");
    if (o->letter)
        out_print("-%c%s", o->letter, o->name ? "|" : "");
    if (o->name)
        out_print("--%s", o->name);
    if (o->type == OPT_NAME) {
        out_print(") words=\"");
        names(o, " ");
        out_print("\" ;;\n");
    } else {
        out_print(") kind=%s ;;\n", option_is_file(o) ? "file" : "none");
    }
}

/* Where = separates words (COMP_WORDBREAKS), --kind=cl is three of them. Files are left to readline,
 * which knows spaces, quotes and ~. */
static void bash(void)
{
    out_print("# Made by bloomery --completion bash: change cli/, not this.\n"
              "_bloomery()\n{\n"
              "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
              "    local words='' options='' kind=file before=''\n"
              "    COMPREPLY=()\n"
              "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
              "        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; commands[i]; i++)
        out_print("%s ", commands[i]->name);
    out_print("help --help --version' -- \"$cur\"))\n        return\n    fi\n"
              "    if [ \"$cur\" = = ]; then\n"
              "        cur=''\n"
              "    elif [ \"$prev\" = = ]; then\n"
              "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
              "    elif [[ $cur == --*=* ]]; then\n"
              "        prev=${cur%%%%=*} before=${cur%%%%=*}= cur=${cur#*=}\n"
              "    fi\n"
              "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; commands[i]; i++) {
        out_print("    %s)\n        options='", commands[i]->name);
        each_option(commands[i], bash_words);
        out_print("'\n        case $prev in\n");
        each_option(commands[i], bash_arm);
        out_print("        esac ;;\n");
    }
    out_print("    help)\n        words='");
    for (size_t i = 0; commands[i]; i++)
        out_print("%s%s", i ? " " : "", commands[i]->name);
    out_print("' ;;\n    esac\n"
              "    if [ -n \"$words\" ]; then\n"
              "        COMPREPLY=($(compgen -P \"$before\" -W \"$words\" -- \"$cur\"))\n"
              "        [ -n \"${COMPREPLY[*]}\" ] || compopt +o default 2>/dev/null\n"
              "    elif [ $kind = none ]; then\n"
              "        compopt +o default 2>/dev/null\n"
              "    elif [ \"${cur#-}\" != \"$cur\" ]; then\n"
              "        COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
              "    fi\n"
              "}\n"
              "complete -o default -F _bloomery bloomery\n");
}

/* ---- zsh ---- */

/* The first sentence, with the characters that are special to _arguments escaped. */
static void zsh_words(const char *s)
{
    for (; *s && !(s[0] == '.' && (s[1] == ' ' || s[1] == 0)); s++) {
        if (*s == '\'')
            out_print("'\\''");
        else if (strchr("[]:\\", *s))
            out_print("\\%c", *s);
        else
            out_bytes(s, 1);
    }
}

static void zsh_option(const struct option *o)
{
    out_print("        ");
    if (o->letter && o->name)
        out_print("'(-%c --%s)'{-%c%s,--%s%s}", o->letter, o->name, o->letter, o->arg ? "+" : "",
                  o->name, o->arg ? "=" : "");
    else if (o->letter)
        out_print("'-%c%s'", o->letter, o->arg ? "+" : "");
    else
        out_print("'--%s%s'", o->name, o->arg ? "=" : "");
    out_print("'[");
    zsh_words(o->help);
    out_print("]");
    if (o->arg) {
        out_print(":");
        zsh_words(o->arg);
        out_print(":");
        if (o->type == OPT_NAME && option_lists_names(o)) {
            out_print("(");
            names(o, " ");
            out_print(")");
        } else if (o->type == OPT_NAME) {
            out_print("{compadd ");
            names(o, " ");
            out_print("}");
        } else if (option_is_file(o)) {
            out_print("_files");
        }
    }
    out_print("' \\\n");
}

static void zsh(void)
{
    out_print("#compdef bloomery\n# Made by bloomery --completion zsh: change cli/, not this.\n"
              "_bloomery()\n{\n"
              "    local -a commands\n"
              "    commands=(\n");
    for (size_t i = 0; commands[i]; i++) {
        out_print("        '%s:", commands[i]->name);
        zsh_words(commands[i]->summary);
        out_print("'\n");
    }
    out_print("    )\n"
              "    if (( CURRENT == 2 )); then\n"
              "        _describe command commands\n"
              "        return\n"
              "    fi\n"
              "    local command=$words[2]\n"
              "    shift words\n"
              "    (( CURRENT-- ))\n"
              "    case $command in\n");
    for (size_t i = 0; commands[i]; i++) {
        out_print("    %s)\n        _arguments -s \\\n", commands[i]->name);
        each_option(commands[i], zsh_option);
        out_print("        '*:file:_files' ;;\n");
    }
    out_print("    help) _describe command commands ;;\n"
              "    esac\n"
              "}\n"
              "_bloomery \"$@\"\n");
}

/* ---- fish ---- */

/* The first sentence, for a text between single quotes. */
static void fish_words(const char *s)
{
    for (; *s && !(s[0] == '.' && (s[1] == ' ' || s[1] == 0)); s++) {
        if (*s == '\'' || *s == '\\')
            out_print("\\");
        out_bytes(s, 1);
    }
}

static const struct command *fish_command; /* whose options are shown */

static void fish_option(const struct option *o)
{
    out_print("complete -c bloomery -n '__fish_seen_subcommand_from %s'", fish_command->name);
    if (o->letter)
        out_print(" -s %c", o->letter);
    if (o->name)
        out_print(" -l %s", o->name);
    if (o->type == OPT_NAME) {
        out_print(" -x -a '");
        if (option_lists_names(o))
            names(o, " ");
        else
            out_print("(bloomery --names %s 2>/dev/null)", option_calls_names(o));
        out_print("'");
    } else if (option_is_file(o)) {
        out_print(" -r -F");
    } else if (o->arg) {
        out_print(" -x");
    }
    out_print(" -d '");
    fish_words(o->help);
    out_print("'\n");
}

static void fish(void)
{
    out_print(
        "# Made by bloomery --completion fish: change cli/, not this.\n"
        "complete -c bloomery -n __fish_use_subcommand -f\n"
        "complete -c bloomery -n __fish_use_subcommand -s h -l help -d 'Show the help'\n"
        "complete -c bloomery -n __fish_use_subcommand -s V -l version -d 'Show the version'\n"
        "complete -c bloomery -n __fish_use_subcommand -a help -d 'Show a command\\'s help'\n"
        "complete -c bloomery -n '__fish_seen_subcommand_from help' -f -a '");
    for (size_t i = 0; commands[i]; i++)
        out_print("%s%s", i ? " " : "", commands[i]->name);
    out_print("'\n");
    for (size_t i = 0; commands[i]; i++) {
        fish_command = commands[i];
        out_print("complete -c bloomery -n __fish_use_subcommand -a %s -d '", commands[i]->name);
        fish_words(commands[i]->summary);
        out_print("'\n");
        each_option(commands[i], fish_option);
    }
}

bool completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash();
    else if (strcmp(shell, "zsh") == 0)
        zsh();
    else if (strcmp(shell, "fish") == 0)
        fish();
    else
        return false;
    return true;
}
