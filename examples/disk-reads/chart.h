// SPDX-License-Identifier: MIT
// The chart of disk-reads: blocks read per 1000 absent keys against bits a key, as an SVG.
#ifndef DISK_READS_CHART_H
#define DISK_READS_CHART_H

#include <cstddef>

struct point {
    double bits, own, ours;
};

bool chart_write(const char *path, const point *points, size_t count);

#endif
