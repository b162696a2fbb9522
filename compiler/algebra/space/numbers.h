/*
 * Lists of numbers: of rules, of places in patterns, of what is alike.
 */
#ifndef COMPILER_ALGEBRA_SPACE_NUMBERS_H
#define COMPILER_ALGEBRA_SPACE_NUMBERS_H

#include <stdint.h>

/* In place, ascending. */
void numbers_sort(uint32_t *v, uint32_t n);
/* Sorted, and each once; how many there are then. */
uint32_t numbers_unique(uint32_t *v, uint32_t n);

#endif
