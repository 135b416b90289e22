/* SPDX-License-Identifier: MIT */
/* Golden vectors: files another program wrote, and what it answered. tests/golden/README.md says
 * how they are laid out. Everything here fails the running test when a file is missing or odd, so
 * callers need no error path. Include after cmocka.h. */
#ifndef BLM_TESTS_GOLDEN_H
#define BLM_TESTS_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomery.h"

#if defined(__GNUC__)
#define GOLDEN_FN static __attribute__((unused))
#else
#define GOLDEN_FN static
#endif

/* A whole file, with a NUL behind it; golden_free_file takes it. */
struct golden_file {
    char  *data;
    size_t len, at; /* at: where golden_line reads next */
};

GOLDEN_FN void golden_free_file(struct golden_file *f) { free(f->data); }

/* `path` is below tests/golden/. */
GOLDEN_FN struct golden_file golden_read(const char *path)
{
    struct golden_file f = { NULL, 0, 0 };
    char               full[1024];
    snprintf(full, sizeof full, TEST_DATA "/golden/%s", path);
    FILE *in = fopen(full, "rb");
    if (!in)
        fail_msg("cannot open %s", full);
    size_t room = 1 << 16;
    f.data      = malloc(room + 1);
    for (size_t n; (n = fread(f.data + f.len, 1, room - f.len, in)) > 0;) {
        f.len += n;
        if (f.len == room)
            f.data = realloc(f.data, (room *= 2) + 1);
    }
    fclose(in);
    f.data[f.len] = 0;
    return f;
}

/* dir/name below tests/golden/. */
GOLDEN_FN struct golden_file golden_read_in(const char *dir, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return golden_read(path);
}

/* The next line, ended by a NUL in place of its LF; NULL at the end. Its length goes to *len (may
 * be NULL). */
GOLDEN_FN char *golden_line(struct golden_file *f, size_t *len)
{
    if (f->at >= f->len)
        return NULL;
    char  *line = f->data + f->at;
    char  *end  = memchr(line, '\n', f->len - f->at);
    size_t n    = end ? (size_t)(end - line) : f->len - f->at;
    line[n]     = 0;
    f->at += n + 1;
    if (len)
        *len = n;
    return line;
}

/* Cuts a line at its tabs; returns how many fields there are, at most max. Those that are not there
 * are empty. */
GOLDEN_FN size_t golden_fields(char *line, char **field, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < max; i++)
        field[i] = line + strlen(line);
    while (n < max) {
        field[n++] = line;
        line       = strchr(line, '\t');
        if (!line)
            break;
        *line++ = 0;
    }
    return n;
}

/* Hex to bytes, in place (it gets shorter); returns how many. */
GOLDEN_FN size_t golden_unhex(char *text)
{
    size_t n = strlen(text);
    assert_int_equal(n % 2, 0);
    for (size_t i = 0; i < n; i += 2) {
        char pair[3] = { text[i], text[i + 1], 0 }, *end;
        text[i / 2]  = (char)strtoul(pair, &end, 16);
        assert_ptr_equal(end, pair + 2);
    }
    return n / 2;
}

/* ---- keys and answers ---- */

/* A vector's meta.json is one flat object with a member a line: enough for a search by line. The
 * value's text, cut at the line's end and without quotes and comma; false: no such member. */
GOLDEN_FN bool golden_meta_text(const char *dir, const char *name, char *out, size_t size)
{
    struct golden_file f = golden_read_in(dir, "meta.json");
    char               start[128];
    bool               found = false;
    snprintf(start, sizeof start, " \"%s\": ", name);
    for (char *line; !found && (line = golden_line(&f, NULL));) {
        if (strncmp(line, start, strlen(start)) != 0)
            continue;
        line += strlen(start) + (line[strlen(start)] == '"');
        size_t n = strcspn(line, "\",");
        assert_true(n < size);
        memcpy(out, line, n);
        out[n] = 0;
        found  = true;
    }
    free(f.data);
    return found;
}

GOLDEN_FN double golden_meta(const char *dir, const char *name)
{
    char text[128], *end;
    if (!golden_meta_text(dir, name, text, sizeof text))
        fail_msg("%s/meta.json has no member %s", dir, name);
    double v = strtod(text, &end);
    assert_true(end != text && *end == 0);
    return v;
}

struct golden_keys {
    blm_key           *key;
    uint8_t           *answer; /* of probes: 1 where the original says "maybe" */
    size_t             count;
    struct golden_file text; /* keys point into it, … */
    uint8_t (*ints)[8];      /* … or, integers, here */
};

GOLDEN_FN void golden_free_keys(struct golden_keys *k)
{
    free(k->key);
    free(k->answer);
    free(k->text.data);
    free(k->ints);
}

/* One key per line, or one key, a tab and its answer. Integers become their two's complement,
 * little-endian, in 4 or 8 bytes. */
GOLDEN_FN struct golden_keys golden_read_keys(const char *dir, const char *name, bool answers)
{
    struct golden_keys k = { NULL, NULL, 0, golden_read_in(dir, name), NULL };
    char               how[16];
    size_t             lines = 1, len;
    assert_true(golden_meta_text(dir, "key_encoding", how, sizeof how));
    for (size_t i = 0; i < k.text.len; i++)
        lines += k.text.data[i] == '\n';
    k.key     = calloc(lines, sizeof *k.key);
    k.answer  = calloc(lines, 1);
    k.ints    = calloc(lines, 8);
    bool text = strcmp(how, "utf8") == 0, hex = strcmp(how, "hex") == 0;
    bool wide = strcmp(how, "int64") == 0;
    assert_true(text || hex || wide || strcmp(how, "int32") == 0);
    if (!text && k.text.len) { /* a header line names the encoding */
        char *line = golden_line(&k.text, NULL);
        assert_true(line[0] == '#' && strncmp(line + 1, how, strlen(how)) == 0);
    }
    for (char *line; (line = golden_line(&k.text, &len)); k.count++) {
        if (answers) {
            char *tab = strrchr(line, '\t');
            assert_non_null(tab);
            assert_true((tab[1] == '0' || tab[1] == '1') && tab[2] == 0);
            k.answer[k.count] = tab[1] == '1';
            *tab              = 0;
            len               = (size_t)(tab - line);
        }
        blm_key *key = &k.key[k.count];
        if (text || hex) {
            *key = (blm_key){ line, hex ? golden_unhex(line) : len };
            continue;
        }
        char    *end;
        uint64_t v = (uint64_t)strtoll(line, &end, 10);
        assert_ptr_equal(end, line + len);
        for (size_t i = 0; i < 8; i++)
            k.ints[k.count][i] = (uint8_t)(v >> (8 * i));
        *key = (blm_key){ k.ints[k.count], wide ? 8 : 4 };
    }
    return k;
}

GOLDEN_FN struct golden_keys golden_members(const char *dir)
{
    return golden_read_keys(dir, "members.txt", false);
}

GOLDEN_FN struct golden_keys golden_probes(const char *dir)
{
    return golden_read_keys(dir, "probes.tsv", true);
}

#endif
