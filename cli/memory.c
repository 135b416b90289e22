/* SPDX-License-Identifier: MIT */
/* A command that runs out of memory for its input (a line of many gigabytes) can only say so and
 * end. Files are safe: a file that is being changed is valid after every batch. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "numbers.h"
#include "progress.h"
#include "say.h"

#define LONG_LINE ((size_t)16 << 20) /* nothing else is so large: a block of input has 640 KiB */

void *memory_grow(void *old, size_t size)
{
    void *p = realloc(old, size ? size : 1);
    if (!p) {
        char text[NUMBER_TEXT];
        progress_hide();
        exit(trouble("out of memory: could not get %s more%s", size_text(size, text),
                     size < LONG_LINE ? "" : ": if the input has very long lines, see -0"));
    }
    return p;
}

void *memory_need(size_t size) { return memory_grow(NULL, size); }

char *memory_text(char *small, size_t room, size_t *len, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int   n    = vsnprintf(small, room, format, args);
    char *text = small;
    *len       = n < 0 ? 0 : (size_t)n;
    if (*len >= room && (text = malloc(*len + 1)) != NULL)
        vsnprintf(text, *len + 1, format, again);
    va_end(again);
    return text;
}
