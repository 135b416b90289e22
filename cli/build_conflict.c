/* SPDX-License-Identifier: MIT */
/* Which line of one list is which line of the other. The builder only has hashes, sorted. So a list in
 * a file is read again, and of one that comes from a pipe the hashes are noted in order. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build.h"
#include "memory.h"
#include "ref.h"
#include "say.h"

#define MOST_NOTED ((uint64_t)1 << 26) /* half a gigabyte of disk */

/* ---- reading ---- */

void build_hash(void *ctx, struct batch *b)
{
    b->hashed = blm_builder_hash(ctx, b->keys, b->count, b->hashes) == BLM_OK;
}

bool build_open_list(struct keys *k, blm_builder *b, const char **path)
{
    *k = (struct keys){
        .strict = true, .hashing = true, .prepare = build_hash, .ctx = b, .threads = keys_threads()
    };
    return keys_open(k, (char **)(uintptr_t)path, 1);
}

/* ---- notes ---- */

void build_order_begin(struct build_list *l, const char *dir)
{
    char path[4200];
    if (!l->path || !ref_is_stream(l->path))
        return;
    if (!dir && (dir = getenv("TMPDIR")) == NULL)
        dir = "/tmp";
    snprintf(path, sizeof path, "%s/order.XXXXXX", dir);
    int fd = mkstemp(path);
    if (fd < 0)
        return;
    unlink(path);
    l->order = (struct build_order){ .file = fdopen(fd, "w+b") };
    if (!l->order.file)
        close(fd);
}

void build_order_note(struct build_order *o, const uint64_t *hashes, size_t count)
{
    if (!o->file)
        return;
    o->count += count;
    if (o->count > MOST_NOTED || fwrite(hashes, sizeof *hashes, count, o->file) != count) {
        fclose(o->file);
        o->file = NULL;
    }
}

void build_order_end(struct build_list *l)
{
    if (l->order.file)
        fclose(l->order.file);
    l->order.file = NULL;
}

/* ---- finding ---- */

struct found {
    uint64_t line;  /* 0: not found */
    char    *bytes; /* NULL: not known */
    size_t   len;
};

static void find_noted(struct build_order *o, uint64_t wanted, struct found *out)
{
    uint64_t some[512];
    uint64_t line = 1;
    size_t   n    = 0;
    if (!o->file || fflush(o->file) != 0)
        return;
    rewind(o->file);
    while (!out->line && (n = fread(some, sizeof *some, 512, o->file)) > 0)
        for (size_t i = 0; i < n && !out->line; i++, line++)
            if (some[i] == wanted)
                out->line = line;
}

static void find_again(blm_builder *b, const char *path, uint64_t wanted, struct found *out)
{
    struct keys  k;
    struct batch some;
    if (!build_open_list(&k, b, &path))
        return;
    while (!out->line && keys_next(&k, &some)) {
        if (!some.hashed)
            build_hash(b, &some);
        for (size_t i = 0; i < some.count && !out->line; i++)
            if (some.hashes[i] == wanted) {
                out->line  = k.line - some.count + i + 1;
                out->len   = some.keys[i].len;
                out->bytes = memory_need(out->len + 1);
                if (out->len)
                    memcpy(out->bytes, some.keys[i].data, out->len);
            }
    }
    keys_stop(&k);
    keys_close(&k);
}

/* The first key of the list with this hash. */
static struct found find(blm_builder *b, struct build_list *l, uint64_t wanted)
{
    struct found f = { 0, NULL, 0 };
    if (ref_is_stream(l->path))
        find_noted(&l->order, wanted, &f);
    else
        find_again(b, l->path, wanted, &f);
    return f;
}

static const char *name_of(const struct build_list *l)
{
    return ref_is_dash(l->path) ? "standard input" : l->path;
}

bool build_conflict(blm_builder *b, struct build_list *in, struct build_list *out, bool seeded)
{
    uint64_t common = 0;
    blm_builder_conflict(b, &common);
    struct found x = find(b, in, common), y = find(b, out, common);
    bool differ = x.bytes && y.bytes && (x.len != y.len || memcmp(x.bytes, y.bytes, x.len) != 0);
    if (differ && seeded)
        trouble("line %llu of %s and line %llu of %s have the same hash: give another --seed",
                (unsigned long long)x.line, name_of(in), (unsigned long long)y.line, name_of(out));
    else if (!differ && x.line && y.line)
        trouble("%s: line %llu is also line %llu of %s: a key cannot be both in and out",
                name_of(in), (unsigned long long)x.line, (unsigned long long)y.line, name_of(out));
    else if (!differ && (x.line || y.line))
        trouble("%s: line %llu is also in the other list: a key cannot be both in and out",
                name_of(x.line ? in : out), (unsigned long long)(x.line ? x.line : y.line));
    else if (!differ)
        trouble("a key of one list is also in the other, and neither can be read again: give "
                "files");
    free(x.bytes);
    free(y.bytes);
    return differ && !seeded;
}
