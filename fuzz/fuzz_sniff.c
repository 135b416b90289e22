/* SPDX-License-Identifier: MIT */
/* Bids for the first bytes of anything: known formats, surest first, the same however many are
 * asked for. */
#include "decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { MOST = 32 };
    blm_bid  bids[MOST], one;
    uint64_t totals[] = { 0, size, (uint64_t)size * 3 + 1, UINT64_MAX };
    for (size_t t = 0; t < sizeof totals / sizeof *totals; t++) {
        size_t n = blm_sniff(data, size, totals[t], bids, MOST);
        must(n <= MOST);
        for (size_t i = 0; i < n; i++) {
            must(bids[i].bid >= 1 && bids[i].bid <= 100 && blm_format_find(bids[i].format));
            must(i == 0 || bids[i].bid <= bids[i - 1].bid);
        }
        must(blm_sniff(data, size, totals[t], NULL, 0) == n);
        must(blm_sniff(data, size, totals[t], &one, 1) == n);
        must(n == 0 || one.format == bids[0].format);
    }
    return 0;
}
