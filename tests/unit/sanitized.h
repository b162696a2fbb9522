/* Whether a program is built with a sanitizer: its own calls fail with those
 * that a test lets fail, and its memory is none that can be looked through. */
#ifndef TESTS_UNIT_SANITIZED_H
#define TESTS_UNIT_SANITIZED_H

#include <stdbool.h>

#if defined(__SANITIZE_ADDRESS__)
#define STEPS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define STEPS_SANITIZED true
#endif
#endif
#ifndef STEPS_SANITIZED
#define STEPS_SANITIZED false
#endif

#endif
