/* SPDX-License-Identifier: MIT */
/* OWN_MALLOC: can a test put its own malloc in the C library's place? The sanitizers have one of their own,
 * which stays. */
#ifndef BLM_TESTS_OWN_MALLOC_H
#define BLM_TESTS_OWN_MALLOC_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_MALLOC 0
#endif
#endif
#ifndef OWN_MALLOC
#define OWN_MALLOC 1
#endif

#endif
