/* SPDX-License-Identifier: MIT */
/*
 * Replies to many items without calling the server for each. ReplyWithBool looks up the client for
 * every item: 140 of the 450 instructions that an item of BF.MEXISTS took, and a tenth of the time.
 * Only ReplyWithCallReply takes ready bytes: it sends another command's reply as it is. So at load
 * time we ask the server to echo as many bytes as a block of answers has. The module keeps that
 * reply and uses it to send every block. If the reply is not usable (ECHO was renamed, or the
 * server hands out copies of its replies), items are answered one by one, as are those that do not
 * fill a block.
 */
#include <string.h>

#include "bf.h"

#define BLOCK 16u
#define EACH  4u /* ":1\r\n", or "#t\r\n" in RESP3 */
#define BYTES (BLOCK * EACH)
#define INNER (BYTES - 7u) /* with "$57\r\n" before and "\r\n" after */

static Reply *carrier; /* NULL: there is none */
static char  *carried; /* its bytes */

void bf_replies_find(Ctx *ctx)
{
    char   want[BYTES + 1] = "$57\r\n", *inner = want + 5;
    size_t len = 0;
    memset(inner, ' ', INNER);
    memcpy(inner + INNER, "\r\n", 3);
    if (!api.Call || !api.CallReplyProto || !api.ReplyWithCallReply || !api.FreeCallReply)
        return;
    Reply *reply = api.Call(ctx, "ECHO", "b", inner, (size_t)INNER);
    if (!reply)
        return;
    char *bytes = (char *)api.CallReplyProto(reply, &len);
    if (!bytes || bytes != api.CallReplyProto(reply, &len) || len != BYTES ||
        memcmp(bytes, want, BYTES) != 0) {
        api.FreeCallReply(reply);
        return;
    }
    for (size_t i = 0; i < BLOCK; i++)
        memcpy(bytes + EACH * i, ":0\r\n", EACH);
    carrier = reply;
    carried = bytes;
}

void bf_replies_begin(struct bf_replies *r, Ctx *ctx, size_t n)
{
    *r = (struct bf_replies){ .ctx = ctx, .blocks = carrier && n >= BLOCK };
    if (!r->blocks)
        return;
    bool three = api.GetContextFlags(ctx) & API_CTX_RESP3;
    r->word    = three ? "ft" : "01";
    for (size_t i = 0; i < BLOCK; i++)
        carried[EACH * i] = three ? '#' : ':';
}

void bf_replies_end(struct bf_replies *r)
{
    for (size_t i = 0; i < r->n; i++)
        api.ReplyWithBool(r->ctx, carried[EACH * i + 1] == r->word[1]);
    r->n = 0;
}

void bf_replies_put(struct bf_replies *r, const uint8_t *answers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        r->yes += answers[i];
        if (!r->blocks) {
            api.ReplyWithBool(r->ctx, answers[i]);
            continue;
        }
        carried[EACH * r->n + 1] = r->word[answers[i]];
        if (++r->n < BLOCK)
            continue;
        if (api.ReplyWithCallReply(r->ctx, carrier) == API_OK)
            r->n = 0;
        else
            bf_replies_end(r);
    }
}
