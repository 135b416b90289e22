/* SPDX-License-Identifier: MIT */
/*
 * Our side of the interoperability tests; Peer.java and peer.go speak the same language. Each line
 * of the script on standard input is one command, fields divided by tabs:
 *
 *   make    FORMAT SCHEME FUNNEL N P KEYS OUT    a filter for N keys at rate P, KEYS added, saved
 *   new     FORMAT SCHEME FUNNEL M K KEYS OUT    the same with M bits and K probes
 *   answer  FORMAT FUNNEL FILTER KEYS OUT        a line 0 or 1 for each key
 *   merge   FORMAT A B OUT                       the union of two files
 *   rate    M K N OUT                            Go's EstimateFalsePositiveRate
 *
 * KEYS is a file with a key in hex a line; FUNNEL is - where a scheme has none.
 */
#include <bloomery.h>
#ifndef BLOOMERY_MATHS_H /* the two-file form has it in bloomery.h */
#include <bloomery/maths.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 8

static char *command[FIELDS];

static void die(const char *what, const blm_error *err)
{
    fprintf(stderr, "peer: %s", command[0]);
    for (int i = 1; i < FIELDS && command[i]; i++)
        fprintf(stderr, " %s", command[i]);
    fprintf(stderr, ": %s%s%s\n", what, err ? ": " : "", err ? err->text : "");
    exit(1);
}

static FILE *open_or_die(const char *path, const char *mode)
{
    FILE *f = fopen(path, mode);
    if (!f)
        die(path, NULL);
    return f;
}

/* The next key of a file, in bytes; NULL at the end. */
static uint8_t *next_key(FILE *in, size_t *len)
{
    static char  *line;
    static size_t room;
    ssize_t       n = getline(&line, &room, in);
    if (n < 0)
        return NULL;
    *len = 0;
    for (char *p = line; p[0] > ' ' && p[1] > ' '; p += 2) {
        char pair[3]   = { p[0], p[1], 0 };
        line[(*len)++] = (char)strtoul(pair, NULL, 16);
    }
    return (uint8_t *)line;
}

static const char *funnel_of(const char *name) { return strcmp(name, "-") ? name : NULL; }

static void make(bool by_size)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   err;
    blm_filter *f;
    uint8_t    *key;
    size_t      len;
    o.scheme = command[2];
    o.funnel = funnel_of(command[3]);
    if (by_size) {
        o.bits   = strtoull(command[4], NULL, 10);
        o.probes = (uint32_t)strtoul(command[5], NULL, 10);
    } else {
        o.items = strtoull(command[4], NULL, 10);
        o.rate  = strtod(command[5], NULL);
    }
    if (strncmp(o.scheme, "guava", 5) == 0)
        o.variant = 1; /* Debian's Guava is older than 33.4 */
    if (blm_create(&o, &f, &err) != BLM_OK)
        die("create", &err);
    FILE *in = open_or_die(command[6], "r");
    while ((key = next_key(in, &len)))
        if (blm_add(f, key, len) < 0)
            die("add", NULL);
    fclose(in);
    if (blm_save(f, command[7], command[1], BLM_REPLACE, &err) != BLM_OK)
        die("save", &err);
    blm_free(f);
}

static blm_filter *load(const char *path, const char *format, const char *funnel)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_error   err;
    blm_filter *f, *sniffed;
    o.format = format;
    o.funnel = funnel;
    if (blm_open(path, &o, &f, &err) != BLM_OK)
        die("open", &err);
    o.format = NULL; /* and without being told what it is */
    if (blm_open(path, &o, &sniffed, &err) != BLM_OK)
        die("open, format not told", &err);
    if (!blm_equal(f, sniffed))
        die("another filter when the format is not told", NULL);
    blm_free(sniffed);
    return f;
}

static void answer(void)
{
    blm_filter *f  = load(command[3], command[1], funnel_of(command[2]));
    FILE       *in = open_or_die(command[4], "r"), *out = open_or_die(command[5], "w");
    uint8_t    *key;
    size_t      len;
    while ((key = next_key(in, &len)))
        fprintf(out, "%d\n", blm_check(f, key, len));
    fclose(in);
    if (fclose(out) != 0)
        die("write", NULL);
    blm_free(f);
}

static void merge(void)
{
    blm_error   err;
    blm_filter *a = load(command[2], command[1], NULL), *b = load(command[3], command[1], NULL);
    if (blm_union(a, b, &err) != BLM_OK)
        die("union", &err);
    if (blm_save(a, command[4], NULL, BLM_REPLACE, &err) != BLM_OK)
        die("save", &err);
    blm_free(a);
    blm_free(b);
}

static void rate(void)
{
    blm_options o = BLM_OPTIONS_INIT;
    blm_trial   t = { .size = sizeof t };
    blm_error   err;
    o.scheme = "go";
    o.bits   = strtoull(command[1], NULL, 10);
    o.probes = (uint32_t)strtoul(command[2], NULL, 10);
    if (blm_try_options(&o, strtoull(command[3], NULL, 10), &t, &err) != BLM_OK)
        die("rate", &err);
    FILE *out = open_or_die(command[4], "w");
    fprintf(out, "%llu\n", (unsigned long long)t.hits);
    fclose(out);
}

int main(void)
{
    char  *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        size_t n = 0;
        memset(command, 0, sizeof command);
        line[strcspn(line, "\n")] = 0;
        for (char *p = line; p && n < FIELDS; n++) {
            command[n] = p;
            p          = strchr(p, '\t');
            if (p)
                *p++ = 0;
        }
        if (strcmp(command[0], "make") == 0 || strcmp(command[0], "new") == 0)
            make(command[0][0] == 'n');
        else if (strcmp(command[0], "answer") == 0)
            answer();
        else if (strcmp(command[0], "merge") == 0)
            merge();
        else if (strcmp(command[0], "rate") == 0)
            rate();
        else
            die("no such command", NULL);
    }
    free(line);
    return 0;
}
