/* SPDX-License-Identifier: MIT */
/* Reads arguments: words, numbers and their ranges, with the same error replies as RedisBloom. */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "bf.h"

bool bf_word(const Str *s, const char *word)
{
    size_t      len;
    const char *text = api.StringPtrLen(s, &len);
    return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

const char *bf_read_rate(const Str *s, double *out)
{
    if (api.StringToDouble(s, out) != API_OK || isnan(*out))
        return "ERR bad error rate";
    if (!(*out > 0 && *out < 1))
        return "ERR error rate must be in the range (0.000000, 1.000000)";
    if (*out > BF_MAX_RATE)
        *out = BF_MAX_RATE;
    return NULL;
}

const char *bf_read_capacity(const Str *s, long long *out)
{
    if (api.StringToLongLong(s, out) != API_OK)
        return "ERR bad capacity";
    if (*out < 1 || *out > BF_MAX_CAPACITY)
        return "ERR capacity must be in the range [1, 1073741824]";
    return NULL;
}

const char *bf_read_expansion(const Str *s, long long *out)
{
    if (api.StringToLongLong(s, out) != API_OK)
        return "ERR bad expansion";
    if (*out < 0 || *out > BF_MAX_EXPANSION)
        return "ERR expansion must be in the range [0, 32768]";
    return NULL;
}

bool bf_read_seconds(const Str *s, uint64_t *ms)
{
    double seconds;
    if (api.StringToDouble(s, &seconds) != API_OK || !(seconds >= 0.001 && seconds <= 1e9))
        return false;
    *ms = (uint64_t)(seconds * 1000 + 0.5);
    return true;
}

static bool read_hex(const char *text, size_t len, uint64_t out[2])
{
    uint64_t v[2] = { 0, 0 };
    if (len < 1 || len > 32)
        return false;
    for (size_t i = 0; i < len; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char       *at       = memchr(digits, text[i], sizeof digits - 1);
        if (!at)
            return false;
        uint64_t digit = (uint64_t)(at - digits);
        v[1]           = v[1] << 4 | v[0] >> 60;
        v[0]           = v[0] << 4 | (digit < 16 ? digit : digit - 6);
    }
    memcpy(out, v, sizeof v);
    return true;
}

bool bf_read_seed(const Str *s, uint64_t out[2])
{
    size_t      len;
    const char *text = api.StringPtrLen(s, &len);
    uint64_t    v    = 0;
    if (len > 2 && text[0] == '0' && text[1] == 'x')
        return read_hex(text + 2, len - 2, out);
    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    out[0] = v;
    out[1] = 0;
    return len > 0;
}
