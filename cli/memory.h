/* SPDX-License-Identifier: MIT */
/* Memory for the command line's own buffers. If there is none, the program reports it and ends. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

void *memory_need(size_t size);
void *memory_grow(void *old, size_t size);

/* What printf would print, and its length. It is in `small` if it fits there, else in new memory
 * (free it if it is not `small`). NULL: no memory. */
char *memory_text(char *small, size_t room, size_t *len, const char *format, va_list args);

#endif
