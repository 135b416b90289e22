/* SPDX-License-Identifier: MIT */
/* Lines cut into keys as commands read them (blocks, fields, carriage returns, -0, -e), beside the plain
 * reading of the same bytes. The first four bytes are the options. */
#include <command.h>
#include <decode.h>
#include <keys.h>

#include "mute.h"
#include "place.h"

const struct command *const commands[] = { NULL };
const struct command       *command_find(const char *name) { return (void)name, NULL; }

struct line {
    const char *text;
    size_t      len;
};

/* The key in a line, before it is decoded. */
static struct line key_in(struct line l)
{
    if (keys_options.crlf && l.len && l.text[l.len - 1] == '\r')
        l.len--;
    for (uint64_t field = 1; keys_options.field; field++) {
        const char *end = l.len ? memchr(l.text, keys_options.delimiter, l.len) : NULL;
        size_t      n   = end ? (size_t)(end - l.text) : l.len;
        if (field == keys_options.field)
            return (struct line){ l.text, n };
        if (!end)
            return (struct line){ l.text, 0 };
        l.text += n + 1;
        l.len -= n + 1;
    }
    return l;
}

/* Is this the key of the next line? *at moves behind it. */
static bool matches(const blm_key *k, const uint8_t *data, size_t size, size_t *at)
{
    const char  stop = keys_options.nul ? 0 : '\n';
    const char *text = (const char *)data + *at;
    must(*at < size);
    const char *end = memchr(text, stop, size - *at);
    struct line l   = { text, end ? (size_t)(end - text) : size - *at };
    *at += l.len + (end != NULL);
    l = key_in(l);
    const struct encoding *e =
        encoding_find(keys_options.encoding ? keys_options.encoding : "text");
    if (!e->decode)
        return k->len == l.len && memcmp(k->data, l.text, l.len) == 0;
    char  *out = malloc(decode_room(l.len));
    size_t n;
    bool   good = e->decode(l.text, l.len, out, &n) && k->len == n && memcmp(k->data, out, n) == 0;
    free(out);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const encodings[] = { NULL, "text", "hex", "int32", "int64", "base64" };
    char                     path[128], *inputs[1] = { path };
    struct keys              k = { .threads = 1, .strict = true };
    struct batch             b;
    size_t                   at = 0;
    if (size < 4)
        return 0;
    keys_options =
        (struct keys_options){ .nul       = data[0] & 1,
                               .crlf      = data[0] & 2,
                               .field     = data[1] % 8,
                               .delimiter = data[1] % 8 ? data[2] : -1, /* none without -f */
                               .encoding  = encodings[data[3] % 6] };
    data += 4;
    size -= 4;
    place_path(path, "keys");
    place_write(path, data, size);
    mute_troubles = 0;
    must(keys_open(&k, inputs, 1));
    while (keys_next(&k, &b))
        for (size_t i = 0; i < b.count; i++)
            must(matches(&b.keys[i], data, size, &at));
    must(k.spoiled ? mute_troubles == 1 && at < size : at == size && mute_troubles == 0);
    if (k.spoiled) { /* because the next one cannot be decoded */
        const blm_key none = { NULL, SIZE_MAX };
        must(!matches(&none, data, size, &at));
    }
    keys_stop(&k);
    keys_close(&k);
    unlink(path);
    return 0;
}
