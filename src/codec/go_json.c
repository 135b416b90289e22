/* SPDX-License-Identifier: MIT */
/*
 * Go's bloom as JSON: {"m":96,"k":7,"b":"…"} without any space. b is base64 (URL-safe, padded) of L
 * and the words of the plain form (go.h). We read what Go's encoding/json reads: any spacing and order,
 * names in either case, the last of several members of one name, and whatever members there are beside
 * them. And the other base64 alphabet.
 */
#include "codec/go.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "codec/base64.h"
#include "codec/json.h"
#include "codec/words.h"

/* The longest text if there is no max_bytes: it is in memory as a whole while it is read. */
#define TEXT_MOST ((uint64_t)1 << 30)

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
    return blm__read_all(o->offset ? &some : in, b->alloc, cap, &t->text, &t->len, &t->room, err);
}

/* ---- members ---- */

/* Where m, k and b are in the text, and the numbers. */
struct members {
    struct blm__go g;
    bool           has_m, has_k;
    size_t         b, b_len; /* between its quotes; 0: there is none */
    uint64_t       at_b;     /* its name, as at_m and at_k */
};

/* Four digits, which were checked. */
static unsigned hex4(const uint8_t *p)
{
    unsigned v = 0;
    for (int i = 0; i < 4; i++)
        v = v << 4 | ((p[i] & 15u) + (p[i] > '9' ? 9 : 0)); /* letters end in 1 to 6 */
    return v;
}

/* m, k or b, as Go compares names: in either case, and by Unicode's simple folding, in which the sign
 * of the kelvin is a k. 0: another name. */
static char which(const struct blm__json_member *x)
{
    static const char kelvin[] = "\xe2\x84\xaa";
    unsigned          c        = 0;
    if (!x->name)
        return 0;
    if (x->name_len == 1)
        c = x->name[0];
    else if (x->name_len == 6 && memcmp(x->name, "\\u", 2) == 0)
        c = hex4(x->name + 2);
    if (c == 0x212a || (x->name_len == 3 && memcmp(x->name, kelvin, 3) == 0))
        c = 'k';
    c |= c >= 'A' && c <= 'Z' ? 0x20 : 0;
    return c == 'm' || c == 'k' || c == 'b' ? (char)c : 0;
}

static bool is_null(const struct blm__json_member *x)
{
    return x->value_len == 4 && memcmp(x->value, "null", 4) == 0;
}

/* Only digits: Go takes neither 64.0 nor 6.4e1 for a number of bits. */
static bool whole_number(const struct blm__json_member *x, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < x->value_len; i++) {
        unsigned digit = x->value[i] - (unsigned)'0';
        if (digit > 9 || *v > (UINT64_MAX - digit) / 10)
            return false;
        *v = *v * 10 + digit;
    }
    return true;
}

/* null leaves a number as it was, and takes the bits away. Every member must be of its type, also one
 * that another of the same name follows. */
static blm_status take_member(const struct json_text *t, const struct blm__json_member *x,
                              struct members *all, blm_error *err)
{
    char     c  = which(x);
    uint64_t at = t->start + x->at;
    if (c == 'b') {
        if (x->value[0] != '"' && !is_null(x))
            return blm__fail_at(err, BLM_E_FORMAT, at, "member b is not a string");
        all->at_b  = at;
        all->b     = is_null(x) ? 0 : (size_t)(x->value - t->text) + 1;
        all->b_len = x->value_len - 2;
    } else if (c && !is_null(x)) {
        if (!whole_number(x, c == 'm' ? &all->g.m : &all->g.k))
            return blm__fail_at(err, BLM_E_FORMAT, at,
                                "member %c is not a whole number of 0 to 2^64 - 1", c);
        *(c == 'm' ? &all->g.at_m : &all->g.at_k) = at;
        *(c == 'm' ? &all->has_m : &all->has_k)   = true;
    }
    return BLM_OK;
}

static blm_status read_members(const struct json_text *t, struct members *all, blm_error *err)
{
    struct blm__json        j  = { .text = t->text, .len = t->len };
    struct blm__json_member x  = { .name = NULL };
    blm_status              st = BLM_OK;
    if (blm__json_open(&j))
        while (st == BLM_OK && blm__json_next(&j, &x))
            st = take_member(t, &x, all, err);
    if (st != BLM_OK)
        return st;
    if (j.wrong || !blm__json_end(&j))
        return blm__fail_at(err, BLM_E_FORMAT, t->start + j.at, "not a JSON object: %s", j.wrong);
    const char *missing = !all->has_m ? "m" : !all->has_k ? "k" : !all->b ? "b" : NULL;
    if (missing)
        return blm__fail_at(err, BLM_E_FORMAT, t->start,
                            "member %s is missing: a filter in JSON has m, k and b", missing);
    return BLM_OK;
}

/* ---- bits ---- */

/* The string, in its own place, without its escapes. All that stands for no letter of base64 becomes one
 * that is none; but ends of lines are left out, as Go's decoder does. Returns its new length. */
static size_t unescape(uint8_t *s, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        uint8_t c = s[i];
        if (c == '\\') {
            c = s[++i];
            if (c == 'n' || c == 'r')
                continue;
            unsigned v = c == '/' ? '/' : '*';
            if (c == 'u') {
                v = hex4(s + i + 1);
                i += 4;
            }
            if (v == '\n' || v == '\r')
                continue;
            c = v < 0x80 ? (uint8_t)v : '*';
        }
        s[n++] = c;
    }
    return n;
}

/* b's bytes, L and the words, as in the plain form. */
static blm_status read_words(struct blm__source *in, struct members *all, struct blm__body *out,
                             blm_error *err)
{
    struct blm__go *g = &all->g;
    if (in->len < 8)
        return blm__fail_at(err, BLM_E_TRUNCATED, all->at_b,
                            "member b is too short for a bit set's length");
    g->length     = blm__get64be(in->data);
    g->at_length  = all->at_b;
    in->at        = 8;
    blm_status st = blm__go_check(g, err);
    if (st != BLM_OK)
        return st;
    /* Offsets inside the base64 would tell the user nothing, so check the length here. */
    uint64_t want = blm__go_words(g->length) * 8;
    if (in->len - 8 != want)
        return blm__fail_at(err, in->len - 8 < want ? BLM_E_TRUNCATED : BLM_E_FORMAT, all->at_b,
                            "member b has %zu bytes of words, but a bit set of %" PRIu64
                            " bits takes %" PRIu64,
                            in->len - 8, g->length, want);
    st = blm__go_read(in, g, NULL, 0, out, err);
    if (st != BLM_OK && err && err->offset != BLM_NO_OFFSET)
        err->offset = all->at_b;
    return st;
}

static blm_status read_bits(const struct json_text *t, struct members *all, struct blm__body *out,
                            blm_error *err)
{
    size_t   len = unescape(t->text + all->b, all->b_len), room = len / 4 * 3 + 3, bad = 0;
    uint8_t *raw = blm__alloc(out->alloc, room);
    if (!raw)
        return blm__fail(err, BLM_E_MEMORY, "no memory for %zu bytes of base64", room);
    struct blm__source in = { .data = raw };
    in.len                = blm__base64_decode((const char *)t->text + all->b, len, raw, &bad);
    blm_status st         = in.len == SIZE_MAX
                                ? blm__fail_at(err, BLM_E_FORMAT, all->at_b,
                                               "member b is not base64 from character %zu on", bad)
                                : read_words(&in, all, out, err);
    blm__free(out->alloc, raw, room);
    return st;
}

static blm_status decode(struct blm__source *in, const blm_options *o, struct blm__body *out,
                         blm_error *err)
{
    struct json_text t   = { 0 };
    struct members   all = { .b = 0 };
    blm_status       st  = read_text(in, o, out, &t, err);
    if (st == BLM_OK)
        st = read_members(&t, &all, err);
    if (st == BLM_OK)
        st = read_bits(&t, &all, out, err);
    blm__free(out->alloc, t.text, t.room);
    return st;
}

/* ---- which format ---- */

#define HEAD 64u /* as much as is there of a stream, so that its bytes in a buffer fare no better */

/* Other members may come first, and be so long that ours are further on. */
static int sniff(const uint8_t *head, size_t len, uint64_t total)
{
    struct blm__json        j     = { .text = head, .len = len < HEAD ? len : HEAD };
    struct blm__json_member x     = { .name = NULL };
    bool                    named = false;
    (void)total;
    if (!blm__json_open(&j))
        return 0;
    for (bool more = true; more && !which(&x); named |= x.value != NULL)
        more = blm__json_next(&j, &x);
    if (which(&x))
        return x.value || j.at == j.len ? 85 : 0;
    return named && j.wrong && j.at == j.len ? 60 : 0;
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
    .row = { sizeof(blm_format_row), "go-json", "Go bloom, MarshalJSON", true, true, .sniffs = true,
             .schemes = (const char *const[]){ "go", NULL } },
    .sniff  = sniff,
    .decode = decode,
    .encode = encode,
};
