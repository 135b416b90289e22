/* SPDX-License-Identifier: MIT */
/* URLs of filters on Redis: understood or refused with a sentence. A password is never in what is shown
 * of one, and no part lies outside the text. */
#include <bloomery_remote.h>

#include "decode.h"
#include <remote_url.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const prefixes[] = { "",      "redis://",      "redis+cluster://",
                                            "unix:", "redis+unix://", "rediss://" };
    struct blm__remote_url   u;
    blm_error                err  = { .status = BLM_OK };
    size_t                   at   = 0;
    const char              *head = size ? prefixes[data[0] % 6] : "";
    char                    *text = malloc(size + 20);
    must(text != NULL);
    size_t n = strlen(head);
    memcpy(text, head, n);
    if (size > 1)
        memcpy(text + n, data + 1, size - 1);
    text[n + (size ? size - 1 : 0)] = 0;
    size_t     secret               = blm_remote_secret(text, &at);
    size_t     len                  = strlen(text);
    blm_status st                   = blm__remote_url_parse(text, &u, &err);
    must(secret == 0 || (at <= len && secret <= len - at && text[at + secret - 1] == '@'));
    must(st == BLM_OK || (err.status == st && err.text[0]));
    if (st == BLM_OK) {
        must(u.key && u.timeout > 0 && (!u.password || secret > 0 || getenv("REDISCLI_AUTH")));
        blm__remote_url_free(&u);
    }
    free(text);
    return 0;
}
