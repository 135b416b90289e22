/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "numbers.h"
#include "out.h"

#define USUAL   72
#define LEAST   40
#define ROWS    8     /* of text; a bar has 8 steps in each, a curve 4 */
#define DEEPEST 1e-12 /* rates below it are drawn at the bottom */

size_t plot_width(void)
{
    struct winsize w;
    if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col == 0)
        return USUAL;
    return w.ws_col < LEAST ? LEAST : w.ws_col > PLOT_MOST ? PLOT_MOST : w.ws_col;
}

/* Does the user's locale say UTF-8? The first of the three variables that is set decides. */
static bool speaks_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const char              *locale  = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !(locale && *locale); i++)
        locale = getenv(names[i]);
    return locale && (strcasestr(locale, "utf-8") || strcasestr(locale, "utf8"));
}

/* What stands for a letter where there is only ASCII. */
static char in_ascii(unsigned code)
{
    const unsigned upper = 0x01 | 0x08 | 0x02 | 0x10; /* dots of a Braille letter */
    if (code > 0x2800)
        return (code & upper) == 0 ? '.' : (code & 0xFF & ~upper) == 0 ? '\'' : ':';
    if (code > 0x2580)
        return code == 0x2588 ? '#' : code > 0x2584 ? ':' : '.';
    return code == 0x2500 ? '-' : code == 0x2502 || code == 0x250A ? '|' : '+';
}

/* Prints a character from U+2500 on or U+2800 on in UTF-8: three bytes. */
static void put_letter(unsigned code)
{
    static int utf8_known = -1;
    if (utf8_known < 0)
        utf8_known = speaks_utf8();
    if (!utf8_known) {
        char letter = in_ascii(code);
        out_bytes(&letter, 1);
        return;
    }
    char utf8[3] = { (char)(0xE0 | code >> 12), (char)(0x80 | (code >> 6 & 0x3F)),
                     (char)(0x80 | (code & 0x3F)) };
    out_bytes(utf8, 3);
}

/* The line below the picture, and the labels under its two ends. */
static void put_floor(size_t width, const char *label, const char *first, const char *last)
{
    out_print("%*s ", PLOT_LABEL - 2, label);
    put_letter(0x2514); /* └ */
    for (size_t i = 0; i < width; i++)
        put_letter(0x2500); /* ─ */
    size_t used = strlen(first) + strlen(last);
    out_print("\n%*s%s%*s%s\n", PLOT_LABEL, "", first, used < width ? (int)(width - used) : 1, "",
              last);
}

/* How many eighths of a row a bar fills: 0 … 8. */
static unsigned eighths(double height, int row)
{
    long steps = lround(height * ROWS * 8) - row * 8;
    if (height > 0 && row == 0 && steps < 1)
        return 1; /* a small value must not look like zero */
    return steps < 0 ? 0 : steps > 8 ? 8 : (unsigned)steps;
}

void plot_bars(const double *height, size_t count, const char *first, const char *last)
{
    for (int row = ROWS - 1; row >= 0; row--) {
        bool   full = row == ROWS - 1, half = row == ROWS / 2 - 1;
        size_t end = count;
        out_print("%*s ", PLOT_LABEL - 2, full ? "100%" : half ? "50%" : "");
        put_letter(full || half ? 0x2524 : 0x2502); /* ┤ │ */
        while (end > 0 && eighths(height[end - 1], row) == 0)
            end--;
        for (size_t i = 0; i < end; i++) {
            unsigned n = eighths(height[i], row);
            if (n == 0)
                out_bytes(" ", 1);
            else
                put_letter(0x2580u + n); /* ▁ … █ */
        }
        out_print("\n");
    }
    put_floor(count, "0%", first, last);
}

/* ---- curves ---- */

struct canvas {
    size_t  columns;
    uint8_t dots[ROWS][PLOT_MOST]; /* the eight dots of a Braille letter */
    double  top, bottom;           /* log10 of the rates */
};

static void dot(struct canvas *c, size_t x, size_t y)
{
    static const uint8_t bit[4][2] = {
        { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
    };
    if (x < c->columns * 2 && y < ROWS * 4)
        c->dots[y / 4][x / 2] |= bit[y % 4][x % 2];
}

static size_t height_of(const struct canvas *c, double rate)
{
    double l = rate > 0 ? log10(rate) : c->bottom;
    double y = (c->top - l) / (c->top - c->bottom) * (ROWS * 4 - 1);
    return y <= 0 ? 0 : y >= ROWS * 4 - 1 ? ROWS * 4 - 1 : (size_t)lround(y);
}

/* Whole powers of ten around all values, at least two apart. */
static void scale(struct canvas *c, const struct curve *k)
{
    double low = 1, high = DEEPEST;
    for (size_t i = 0; i < k->count; i++) {
        double r = k->rate[i] < DEEPEST ? DEEPEST : k->rate[i];
        low      = r < low ? r : low;
        high     = r > high ? r : high;
    }
    c->top    = ceil(log10(high) - 1e-9);
    c->bottom = floor(log10(low) + 1e-9);
    if (c->top - c->bottom < 2)
        c->bottom = c->top - 2;
}

static void draw(struct canvas *c, const struct curve *k)
{
    size_t last = 0, width = c->columns * 2;
    for (size_t i = 0; i < k->count; i++) {
        size_t x = k->count > 1 ? i * (width - 1) / (k->count - 1) : 0;
        size_t y = height_of(c, k->rate[i]);
        dot(c, x, y);
        if (k->dots) { /* two dots, so that a single point can be seen */
            dot(c, x ^ 1, y);
            continue;
        }
        /* Steep parts are joined. */
        for (size_t j = last; i > 0 && j != y; j += j < y ? 1 : (size_t)-1)
            dot(c, x, j);
        last = y;
    }
}

/* The label of a row: its rate, if a labelled power of ten lies in this row. */
static void label(const struct canvas *c, int row, char *out)
{
    out[0]         = 0;
    double decades = c->top - c->bottom, step = decades > ROWS ? ceil(decades / 4) : 1;
    for (double l = c->top; l >= c->bottom - 1e-9; l -= step)
        if (height_of(c, pow(10, l)) / 4 == (size_t)row)
            l > -4 ? (void)snprintf(out, NUMBER_TEXT, "%.*f%%", l < -2 ? (int)(-l - 2) : 0,
                                    pow(10, l + 2))
                   : (void)snprintf(out, NUMBER_TEXT, "1e%.0f", l);
}

void plot_curve(const struct curve *k)
{
    struct canvas c = { .columns = plot_width() - PLOT_LABEL };
    char          text[NUMBER_TEXT];
    scale(&c, k);
    draw(&c, k);
    size_t mark = k->at >= 0 ? (size_t)(k->at * (double)(c.columns * 2 - 1)) / 2 : SIZE_MAX;
    out_print("%*s%s\n", PLOT_LABEL, "", k->title);
    for (int row = 0; row < ROWS; row++) {
        label(&c, row, text);
        out_print("%*s ", PLOT_LABEL - 2, text);
        put_letter(text[0] ? 0x2524 : 0x2502); /* ┤ │ */
        size_t end = c.columns;
        while (end > 0 && c.dots[row][end - 1] == 0 && (mark == SIZE_MAX || end - 1 > mark))
            end--;
        for (size_t i = 0; i < end; i++) {
            if (c.dots[row][i])
                put_letter(0x2800u + c.dots[row][i]);
            else if (i == mark)
                put_letter(0x250A); /* ┊ */
            else
                out_bytes(" ", 1);
        }
        out_print("\n");
    }
    put_floor(c.columns, "", k->first, k->last);
}
