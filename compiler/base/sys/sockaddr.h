/* Addresses as system calls have them: ip(7), ipv6(7). */
#ifndef COMPILER_BASE_SYS_SOCKADDR_H
#define COMPILER_BASE_SYS_SOCKADDR_H

#include "compiler/base/addr.h"

#include <stdbool.h>
#include <sys/socket.h>

/* The bytes of *out that bind(2) and connect(2) are told of. */
socklen_t sockaddr_put(const struct addr *a, uint16_t port,
		       struct sockaddr_storage *out);
/* sa: of the size that its family has; may be NULL. False: none of IP. */
bool sockaddr_get(const struct sockaddr *sa, struct addr *out);

#endif
