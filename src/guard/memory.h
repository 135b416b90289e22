/* SPDX-License-Identifier: MIT */
/* Memory and failures, for the guard, which like any user sees nothing of the library's inside. */
#ifndef BLM_GUARD_MEMORY_H
#define BLM_GUARD_MEMORY_H

#include "bloomery.h"

/* The caller's, or malloc and free. It is called from any thread. */
extern const blm_allocator blm__guard_allocator;

void *blm__guard_alloc(const blm_allocator *a, size_t size);
void *blm__guard_zalloc(const blm_allocator *a, size_t size);
void  blm__guard_free(const blm_allocator *a, void *p, size_t size); /* p may be NULL */

/* Fills *err (may be NULL) and returns s. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
blm_status
blm__guard_fail(blm_error *err, blm_status s, const char *fmt, ...);
/* The same for a system's error number, whose name follows the text. */
blm_status blm__guard_fail_system(blm_error *err, int number, const char *what, const char *path);

#endif
