/* SPDX-License-Identifier: MIT */
/* The JSON keys and their order are part of the contract: see the manual page. */
#include "figures.h"

#include <math.h>
#include <stdio.h>

#include "json.h"
#include "numbers.h"
#include "say.h"

void figures_print(const struct figures *f)
{
    char a[NUMBER_TEXT], least[NUMBER_TEXT + 16];
    say_plain("lines            %16s\n", count_text(f->lines, a));
    say_plain("unique           %16s\n", count_text(f->unique, a));
    say_plain("duplicates       %16s\n", count_text(f->lines - f->unique, a));
    say_plain("bytes            %16s\n", count_text(f->bytes, a));
    say_plain("seconds          %16.2f\n", f->seconds);
    say_plain("lines/s          %16s\n", short_text((double)f->lines / f->seconds, a));
    say_plain("filter           %16s\n", size_text(f->filter_bytes, a));
    say_plain("memory           %16s\n", size_text(f->peak, a));
    if (f->unknown) {
        say_plain("rate now         %16s  (the filter is on a server: use bloomery info)\n",
                  "not known");
        return;
    }
    say_plain("rate now         %16s\n", rate_text(f->rate, a));
    if (f->at_least) {
        snprintf(least, sizeof least, "at least %.0f", floor(f->wrong));
        say_plain("wrongly dropped  %16s  (the filter is too full to say how many more)\n", least);
    } else if (f->wrong > 0 && f->wrong < 0.01)
        say_plain("wrongly dropped  %16s  (expected)\n", "below 0.01");
    else
        say_plain("wrongly dropped  %16.*f  (expected)\n", f->wrong > 0 && f->wrong < 100 ? 2 : 0,
                  f->wrong);
}

void figures_json(const struct figures *f)
{
    struct json j = JSON_INIT;
    json_open(&j, NULL, '{');
    json_count(&j, "lines", f->lines);
    json_count(&j, "unique", f->unique);
    json_count(&j, "duplicates", f->lines - f->unique);
    json_count(&j, "bytes", f->bytes);
    json_real(&j, "seconds", f->seconds);
    json_real(&j, "lines_per_second", (double)f->lines / f->seconds);
    json_count(&j, "filter_bytes", f->filter_bytes);
    json_count(&j, "memory_bytes", f->peak);
    if (f->unknown) {
        json_text(&j, "rate_now", NULL);
        json_text(&j, "expected_wrongly_dropped", NULL);
        json_text(&j, "expected_at_least", NULL);
    } else {
        json_real(&j, "rate_now", f->rate);
        json_real(&j, "expected_wrongly_dropped", f->wrong);
        json_bool(&j, "expected_at_least", f->at_least);
    }
    json_close(&j, '}');
    say_plain("%s", j.text);
    json_free(&j);
}
