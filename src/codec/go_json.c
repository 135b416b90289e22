/* SPDX-License-Identifier: MIT */
/*
 * Go's bloom as JSON: {"m":96,"k":7,"b":"…"} without any space. b is base64 (URL-safe, padded) of L
 * and the words of the plain form (go.h). We read any spacing and order, ignore other members, and
 * accept the other base64 alphabet.
 */
#include "codec/go.h"

#include <inttypes.h>
#include <stdio.h>

#include "codec/base64.h"
#include "codec/words.h"

#ifdef BLOOMERY_WITH_JANSSON
#include <jansson.h>

/* The text of a filter has three members. With more commas, colons and brackets than this it is not
 * a filter, and must not take the memory of all those values. */
#define VALUES_MOST 64u
/* The longest text if there is no max_bytes: it is in memory as a whole while it is parsed. */
#define TEXT_MOST   ((uint64_t)1 << 30)

struct json_text {
    uint8_t *text;
    size_t   len, room;
    uint64_t start; /* its offset in the input */
};

/* The first value of an input in which more may follow: it ends with the bracket that closes it, or if
 * there is none, at once. */
struct first_value {
    struct blm__source *in;
    uint64_t            depth; /* brackets that are open */
    bool                quoted, escaped, ended;
};

static void take_character(struct first_value *v, char c)
{
    if (v->quoted) {
        v->quoted  = v->escaped || c != '"';
        v->escaped = !v->escaped && c == '\\';
        return;
    }
    v->quoted = c == '"';
    v->depth += c == '{' || c == '[';
    v->depth -= v->depth && (c == '}' || c == ']');
    v->ended = v->depth == 0 && c != ' ' && c != '\t' && c != '\r' && c != '\n';
}

/* A blm_read_fn. Of what follows it takes less than a piece. */
static size_t read_value(void *ctx, void *bytes, size_t len)
{
    enum { PIECE = 4096 };
    struct first_value *v    = ctx;
    bool                more = !v->ended && !v->in->failed;
    size_t              n = more ? blm__read(v->in, bytes, len < PIECE ? len : PIECE) : 0, i = 0;
    while (i < n && !v->ended)
        take_character(v, ((const char *)bytes)[i++]);
    return i == 0 && !v->ended && v->in->failed ? SIZE_MAX : i;
}

static blm_status read_text(struct blm__source *in, const blm_options *o, const struct blm__body *b,
                            struct json_text *t, blm_error *err)
{
    struct first_value v    = { .in = in };
    struct blm__source some = { .read = read_value, .ctx = &v, .at = in->at };
    uint64_t           cap  = b->max_bytes ? 4096 : TEXT_MOST;
    if (b->max_bytes) /* base64 of the words, and a little around them */
        cap = b->max_bytes > UINT64_MAX / 2 - 4096 ? UINT64_MAX : b->max_bytes / 3 * 4 + 4096;
    t->start = in->at;
    blm_status st =
        blm__read_all(o->offset ? &some : in, b->alloc, cap, &t->text, &t->len, &t->room, err);
    if (st != BLM_OK)
        return st;
    size_t values = 0;
    for (size_t i = 0; i < t->len; i++) {
        values += strchr(",:[{", t->text[i]) && t->text[i];
        if (values > VALUES_MOST)
            return blm__fail_at(err, BLM_E_FORMAT, t->start + i,
                                "more JSON values than a filter has");
    }
    return BLM_OK;
}

/* Where a member's name is, for errors: the parser does not keep offsets. */
static uint64_t place_of(const struct json_text *t, const char *name)
{
    char quoted[8];
    int  n = snprintf(quoted, sizeof quoted, "\"%s\"", name);
    for (size_t i = 0; i + (size_t)n <= t->len; i++)
        if (memcmp(t->text + i, quoted, (size_t)n) == 0)
            return t->start + i;
    return t->start;
}

static blm_status get_number(const json_t *root, const char *name, const struct json_text *t,
                             uint64_t *v, uint64_t *at, blm_error *err)
{
    const json_t *j = json_object_get(root, name);
    *at             = place_of(t, name);
    if (!json_is_integer(j) || json_integer_value(j) < 0)
        return blm__fail_at(err, BLM_E_FORMAT, *at, "member %s is %s", name,
                            !j ? "missing" : "not a whole number, 0 or more");
    *v = (uint64_t)json_integer_value(j);
    return BLM_OK;
}

/* Reads b's bytes, L and the words, as in the plain form. */
static blm_status read_bits(const json_t *b, const struct json_text *t, struct blm__go *g,
                            struct blm__body *out, blm_error *err)
{
    size_t   len = json_string_length(b), room = len / 4 * 3 + 3, bad = 0;
    uint64_t at  = place_of(t, "b");
    uint8_t *raw = blm__alloc(out->alloc, room);
    if (!raw)
        return blm__fail(err, BLM_E_MEMORY, "no memory for %zu bytes of base64", room);
    struct blm__source in = { .data = raw };
    blm_status         st = BLM_OK;
    in.len                = blm__base64_decode(json_string_value(b), len, raw, &bad);
    if (in.len == SIZE_MAX)
        st = blm__fail_at(err, BLM_E_FORMAT, at, "member b is not base64 from character %zu on",
                          bad);
    else if (in.len < 8)
        st = blm__fail_at(err, BLM_E_TRUNCATED, at, "member b is too short for a bit set's length");
    if (st == BLM_OK) {
        g->length    = blm__get64be(raw);
        g->at_length = at;
        in.at        = 8;
        st           = blm__go_check(g, err);
    }
    /* Offsets inside the base64 would tell the user nothing, so check the length here. */
    if (st == BLM_OK && in.len - 8 != blm__go_words(g->length) * 8)
        st = blm__fail_at(
            err, in.len - 8 < blm__go_words(g->length) * 8 ? BLM_E_TRUNCATED : BLM_E_FORMAT, at,
            "member b has %zu bytes of words, but a bit set of %" PRIu64 " bits takes %" PRIu64,
            in.len - 8, g->length, blm__go_words(g->length) * 8);
    if (st == BLM_OK) {
        st = blm__go_read(&in, g, NULL, 0, out, err);
        if (st != BLM_OK && err && err->offset != BLM_NO_OFFSET)
            err->offset = at;
    }
    blm__free(out->alloc, raw, room);
    return st;
}

static blm_status read_object(const json_t *root, const struct json_text *t, struct blm__body *out,
                              blm_error *err)
{
    struct blm__go g  = { 0 };
    blm_status     st = BLM_OK;
    if (!json_is_object(root))
        return blm__fail_at(err, BLM_E_FORMAT, t->start, "the JSON value is not an object");
    st = get_number(root, "m", t, &g.m, &g.at_m, err);
    if (st == BLM_OK)
        st = get_number(root, "k", t, &g.k, &g.at_k, err);
    if (st != BLM_OK)
        return st;
    const json_t *b = json_object_get(root, "b");
    if (!json_is_string(b))
        return blm__fail_at(err, BLM_E_FORMAT, place_of(t, "b"), "member b is %s",
                            b ? "not a string" : "missing");
    return read_bits(b, t, &g, out, err);
}

static blm_status read_once(const struct json_text *t, struct blm__body *out, blm_error *err)
{
    json_error_t e;
    json_t      *root = json_loadb((const char *)t->text, t->len, JSON_REJECT_DUPLICATES, &e);
    blm_status   st   = root ? read_object(root, t, out, err)
                             : blm__fail_at(err, BLM_E_FORMAT,
                                            t->start + (e.position > 0 ? (uint64_t)e.position : 0),
                                            "not JSON: %.120s", e.text);
    json_decref(root);
    return st;
}

/* When jansson's own memory fails it blames the text, or loses a character of a string. Good bytes
 * must not be called bad ones for that: so bad ones are read again, and then jansson is asked for as
 * much memory as they take. */
static blm_status read_twice(const struct json_text *t, struct blm__body *out, blm_error *err)
{
    blm_status st = read_once(t, out, err);
    if (st == BLM_E_FORMAT)
        st = read_once(t, out, err);
    if (st != BLM_E_FORMAT)
        return st;
    json_t *room = json_stringn_nocheck((const char *)t->text, t->len);
    if (!room)
        return blm__fail(err, BLM_E_MEMORY, "no memory to read JSON of %zu bytes", t->len);
    json_decref(room);
    return st;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *out,
                         blm_error *err)
{
    struct json_text t  = { 0 };
    blm_status       st = read_text(in, o, out, &t, err);
    if (st == BLM_OK)
        st = read_twice(&t, out, err);
    blm__free(out->alloc, t.text, t.room);
    return st;
}
#define READS true

#else

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *out,
                         blm_error *err)
{
    (void)in;
    (void)o;
    (void)out;
    return blm__fail(err, BLM_E_UNSUPPORTED,
                     "reading go-json needs jansson, and this build was made without it");
}
#define READS false

#endif

static size_t skip_space(const uint8_t *p, size_t len, size_t at)
{
    while (at < len && (p[at] == ' ' || p[at] == '\t' || p[at] == '\n' || p[at] == '\r'))
        at++;
    return at;
}

static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    (void)total;
    size_t at = skip_space(head, len, 0);
    if (at >= len || head[at] != '{')
        return 0;
    at = skip_space(head, len, at + 1);
    if (len - at < 3 || head[at] != '"' || head[at + 2] != '"')
        return 0;
    size_t colon = skip_space(head, len, at + 3);
    if (colon < len && head[colon] != ':')
        return 0;
    return head[at + 1] == 'm' || head[at + 1] == 'k' || head[at + 1] == 'b' ? 85 : 0;
}

static blm_status encode(const struct blm__body *b, struct blm__sink *out, blm_error *err)
{
    struct blm__go g;
    char           text[80];
    blm_status     st = blm__go_of(b, "go-json", &g, err);
    if (st != BLM_OK)
        return st;
    int n = snprintf(text, sizeof text, "{\"m\":%" PRIu64 ",\"k\":%" PRIu64 ",\"b\":\"", g.m, g.k);
    struct blm__base64 base64;
    blm__base64_begin(&base64, out);
    st = blm__write_bytes(out, text, (size_t)n, err);
    if (st == BLM_OK)
        st = blm__go_write(b, &g, &base64.sink, err);
    if (st == BLM_OK)
        blm__base64_end(&base64); /* if it fails, so does the next write */
    return st == BLM_OK ? blm__write_bytes(out, "\"}", 2, err) : st;
}

const struct blm__codec blm__codec_go_json = {
    .row    = { sizeof(blm_format_row), "go-json", "Go bloom, MarshalJSON", READS, true,
                .sniffs = true, .schemes = (const char *const[]){ "go", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
