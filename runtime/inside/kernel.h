/*
 * System calls and a few bytes' worth of text, without any library: what runs
 * in this room runs in whichever image there is.
 */
#ifndef RUNTIME_INSIDE_KERNEL_H
#define RUNTIME_INSIDE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* The result; from -4095 to -1 a negative errno. A fifth word is 0. */
static inline long call_kernel(long number, long first, long second, long third,
			       long fourth)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = fourth;
	register long r8 __asm__("r8") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second), "d"(third),
			   "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = first;
	register long x1 __asm__("x1") = second;
	register long x2 __asm__("x2") = third;
	register long x3 __asm__("x3") = fourth;
	register long x4 __asm__("x4") = 0;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			 : "memory");
	return x0;
#else
#error "what runs inside knows no system calls of this machine"
#endif
}

static inline long address(const void *p)
{
	return (long)(intptr_t)p;
}

static inline size_t text_length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

/* What stands behind the beginning, or NULL. */
static inline const char *text_behind(const char *s, const char *beginning)
{
	size_t i = 0;

	while (beginning[i] && s[i] == beginning[i])
		i++;
	return beginning[i] ? NULL : s + i;
}

static inline bool text_is(const char *s, const char *other)
{
	const char *rest = text_behind(s, other);

	return rest && !*rest;
}

#endif
