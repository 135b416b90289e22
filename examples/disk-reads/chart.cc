// SPDX-License-Identifier: MIT
// See chart.h. The vertical axis is logarithmic: each step down is ten times fewer disk reads.
#include "chart.h"

#include <cmath>
#include <cstdio>

static const double LEFT = 70, TOP = 50, WIDTH = 520, HEIGHT = 300, MOST = 1000, LEAST = 0.1,
                    DECADES = 4;

static double x_of(double bits) { return LEFT + (bits - 3) / 14 * WIDTH; }
static double y_of(double reads)
{
    return TOP + (std::log10(MOST) - std::log10(reads < LEAST ? LEAST : reads)) / DECADES * HEIGHT;
}

static void axes(FILE *f)
{
    for (double reads = MOST; reads > LEAST * 0.9; reads /= 10) {
        fprintf(f, "<path d=\"M%g %g h%g\" stroke=\"#d9d9d9\"/>\n", LEFT, y_of(reads), WIDTH);
        fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%g</text>\n", LEFT - 8,
                y_of(reads) + 4, reads);
    }
    for (int bits = 4; bits <= 16; bits += 2)
        fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">%d</text>\n", x_of(bits),
                TOP + HEIGHT + 20, bits);
    fprintf(f, "<text x=\"%g\" y=\"%g\" text-anchor=\"middle\">bits a key</text>\n",
            LEFT + WIDTH / 2, TOP + HEIGHT + 42);
    fprintf(f,
            "<text x=\"%g\" y=\"28\" font-size=\"15\">Blocks read per 1000 reads of absent keys"
            "</text>\n",
            LEFT - 50);
}

// A line with its points; its name stands at the last one, above or below.
static void line(FILE *f, const point *p, size_t n, double point::*value, const char *colour,
                 const char *name, double label)
{
    fprintf(f, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\" d=\"", colour);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%c%.1f %.1f ", i ? 'L' : 'M', x_of(p[i].bits), y_of(p[i].*value));
    fprintf(f, "\"/>\n");
    for (size_t i = 0; i < n; i++)
        fprintf(f,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%g bits: %.2f</title>"
                "</circle>\n",
                x_of(p[i].bits), y_of(p[i].*value), colour, p[i].bits, p[i].*value);
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"%s\">%s</text>\n",
            x_of(p[n - 1].bits), y_of(p[n - 1].*value) + label, colour, name);
}

bool chart_write(const char *path, const point *points, size_t count)
{
    FILE *f = fopen(path, "w");
    if (!f || !count)
        return false;
    fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 620 410\" width=\"620\" "
               "height=\"410\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#222\">\n"
               "<rect width=\"620\" height=\"410\" fill=\"#fff\"/>\n");
    axes(f);
    fprintf(f,
            "<path d=\"M%g %g h%g\" stroke=\"#222\" stroke-width=\"2.5\"/>\n"
            "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">no filter</text>\n",
            LEFT, y_of(MOST), WIDTH, LEFT + WIDTH - 4, y_of(MOST) - 8);
    line(f, points, count, &point::own, "#b3541e", "LevelDB's own", -30);
    line(f, points, count, &point::ours, "#1e6fb3", "bloomery", 20);
    fprintf(f, "</svg>\n");
    return fclose(f) == 0;
}
