/* What the parts of the agent do: tests/guest/actions.py has the table. */
#ifndef TESTS_GUEST_AGENT_H
#define TESTS_GUEST_AGENT_H

#include <netinet/in.h>
#include <stddef.h>

static inline void ignore(long result)
{
	(void)result;
}

/* 127.0.0.1 */
struct sockaddr_in at_port(int port);
/* The message that asks for "WHO.test", type A; its length. */
size_t question(char *to, const char *who);
void make(const char *name);
/* Not every kernel has it: this one did it. */
void works(char what);

/* By the numbers that 32-bit programs have; not every kernel has those. */
void compat(void);
/* By numbers that only few programs use: x32, and more than 32 bits. */
void numbers(void);
/* The same as everybody does, by another way. */
void ways(const char *self);
/* What an io_uring does. */
void uring(void);

#endif
