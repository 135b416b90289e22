/* SPDX-License-Identifier: MIT */
/* The line is drawn at most five times a second. Other code calls progress_hide to erase it before
 * it writes to the terminal. */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "interrupt.h"
#include "numbers.h"
#include "say.h"

#define FIRST 1.0 /* seconds before the first line */
#define EVERY 0.2

static struct {
    bool        on, shown;
    const char *unit;
    uint64_t    total;
    double      start, next;
    double      last_time; /* for the rate: over the last few seconds, not since the start */
    uint64_t    last_units;
    double      rate;
} line;

double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void put(const char *text, size_t len)
{
    ssize_t n = write(STDERR_FILENO, text, len);
    (void)n; /* if the terminal is gone, nobody needs progress */
}

/* Draws `text` cut to the terminal's width. */
static void draw(const char *text)
{
    struct winsize w;
    size_t         width = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 1)
        width = w.ws_col;
    char whole[260];
    int  n = snprintf(whole, sizeof whole, "\r%.*s\033[K", (int)(width - 1), text);
    put(whole, (size_t)n < sizeof whole ? (size_t)n : sizeof whole - 1);
    line.shown = true;
}

void progress_start(const char *unit, uint64_t total)
{
    memset(&line, 0, sizeof line);
    line.on    = !say_quiet && isatty(STDERR_FILENO);
    line.unit  = unit;
    line.total = total;
    line.start = line.last_time = now();
    line.next                   = line.start + FIRST;
}

/* Seconds left. Only from 1% on: less is not enough to go by. */
static double left(double past, double share)
{
    return share >= 0.01 ? past * (1 - share) / share : -1;
}

void progress_tick(uint64_t units, uint64_t bytes)
{
    if (!line.on)
        return;
    double t = now();
    if (t < line.next)
        return;
    line.next   = t + EVERY;
    double past = t - line.last_time;
    line.rate   = (double)(units - line.last_units) / past;
    if (past > 5) { /* move the window */
        line.last_time  = t - 2.5;
        line.last_units = units - (uint64_t)(line.rate * 2.5);
    }
    char count[NUMBER_TEXT], rate[NUMBER_TEXT], eta[NUMBER_TEXT], text[200];
    int  n = snprintf(text, sizeof text, "%s %s  %s/s", count_text(units, count), line.unit,
                      short_text(line.rate, rate));
    if (line.total && bytes <= line.total && bytes) {
        double share = (double)bytes / (double)line.total;
        snprintf(text + n, sizeof text - (size_t)n, "  %.0f%%  ETA %s", share * 100,
                 time_text(left(t - line.start, share), eta));
    }
    draw(text);
}

void progress_hide(void)
{
    if (!line.shown)
        return;
    put("\r\033[K", 4);
    line.shown = false;
}

void progress_stop(void)
{
    progress_hide();
    line.on = false;
}

bool progress_library(void *ctx, uint64_t done, uint64_t total)
{
    static double      begun, next;
    static const char *what;
    if (say_quiet || !isatty(STDERR_FILENO))
        return !interrupted();
    double t = now();
    if (what != ctx || done == 0) {
        what  = ctx;
        begun = t;
        next  = t + FIRST;
    }
    if (t >= next && total) {
        char   text[120], eta[NUMBER_TEXT];
        double share = (double)done / (double)total;
        next         = t + EVERY;
        snprintf(text, sizeof text, "%s  %.0f%%  ETA %s", what ? what : "working", share * 100,
                 time_text(left(t - begun, share), eta));
        draw(text);
    }
    return !interrupted();
}

bool progress_to_the_end(void *ctx, uint64_t done, uint64_t total)
{
    progress_library(ctx, done, total);
    return true;
}
