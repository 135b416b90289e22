/* SPDX-License-Identifier: MIT */
/* Filters that forget, for the commands that make, fill and show them. */
#ifndef CLI_WINDOW_H
#define CLI_WINDOW_H

#include "bloomery.h"
#include "bloomery/window.h"
#include "ref.h"

/* "1e6" is a number of keys, "10m" a time. False: neither. */
bool window_parse(const char *text, uint64_t *keys, uint64_t *ms);

/* "the last 1,000,000 keys" or "the last 10:00"; NULL: the filter forgets nothing. */
const char *window_text(const blm_filter *f, char *out);
/* By time, when more keys came in one age than its share: how many, in 4 * NUMBER_TEXT; else NULL. */
const char *window_burst(const blm_filter *f, char *out);
/* Options for a window as long as this one: of as many keys, or, by time, for as many in each age as are in
 * the fullest (0: all is forgotten). False: the filter forgets nothing. */
bool window_plan(const blm_filter *f, blm_options *o);
/* May more keys be in the filter than it was planned for? A window that is only full is not. */
bool window_overfilled(const struct ref *r, const blm_params *p);

/* For info: rows of words, and bars by age. Neither does anything for other kinds. */
void window_show(const blm_filter *f);
bool window_plot(const blm_filter *f);

#endif
