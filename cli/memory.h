/* SPDX-License-Identifier: MIT */
/* Memory for the command line's own buffers: having none is trouble, and the end. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

void *memory_need(size_t size);
void *memory_grow(void *old, size_t size);

/* What printf would print, and how long it is: in `small`, or where that has no room in memory of
 * its own (free it if it is not `small`). NULL: there is no memory for it. */
char *memory_text(char *small, size_t room, size_t *len, const char *format, va_list args);

#endif
