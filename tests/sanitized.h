/* SPDX-License-Identifier: MIT */
/* SANITIZED: is this test built with ASan or TSan, by whichever compiler? OWN_MALLOC: can a test put its own
 * malloc in the C library's place? The sanitizers have one of their own, which stays. */
#ifndef BLM_TESTS_SANITIZED_H
#define BLM_TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#if defined(__GLIBC__) && !SANITIZED
#define OWN_MALLOC 1
#else
#define OWN_MALLOC 0
#endif

#endif
