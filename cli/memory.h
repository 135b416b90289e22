/* SPDX-License-Identifier: MIT */
/* Memory for the command line's own buffers: having none is trouble, and the end. */
#ifndef CLI_MEMORY_H
#define CLI_MEMORY_H

#include <stddef.h>

void *memory_need(size_t size);
void *memory_grow(void *old, size_t size);

#endif
